"""Kernels of a user's own that crash, write where they must not, or never
return.

Aim: whatever such a kernel does, its job fails with the name of the task and
what happened, and nothing else does: agents live, other jobs get their bits,
no process is left behind.
Method: the binary itself, with a library compiled here. Kernels say through a
pipe that they have begun, so nothing waits for a time to pass.

usage: poison_test.py DOGGED SOURCE_DIR CASE
"""

import fcntl
import hashlib
import json
import os
import signal
import subprocess
import sys
import tempfile

from standing import Standing, until

DOGGED, SOURCE, CASE = os.path.abspath(sys.argv[1]), *sys.argv[2:4]
HEAT = os.path.join(SOURCE, "apps", "heat1d", "heat1d.dog")

LIBRARY = r"""
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <iconv.h>
#include <locale.h>
#include <unistd.h>
struct value {
  void* data; int64_t rank; const int64_t* extents; int64_t type;
};
static int twice(const value* in, value* out, const double* numbers, bool& bad) {
  bad = numbers[0] == 3 && numbers[1] == 1;
  const double* a = static_cast<const double*>(in[0].data);
  double* b = static_cast<double*>(out[0].data);
  for (int i = 0; i < 20; ++i) b[i] = 2 * a[i];
  return 0;
}
// Says who it is to whoever reads the pipe, and waits until somebody does.
static void speak() {
  const int pipe = open(getenv("POISON_PIPE"), O_WRONLY);
  dprintf(pipe, "%d\n", getpid());
  close(pipe);
}
// A library may misbehave before any kernel runs.
__attribute__((constructor)) static void begin() {
  const char* how = getenv("POISON_LOAD");
  if (how == nullptr) return;
  if (*how == 'a') abort();
  if (*how == 's') {
    socket(AF_INET, SOCK_STREAM, 0);
    return;
  }
  if (*how == 'd') {  // no call comes through any more, where they come from
    shutdown(3, SHUT_RD);
    return;
  }
  if (*how == 'f') {  // the end that it announces does not come
    const char fault[10] = {3};
    send(3, fault, sizeof(fault), 0);
    for (;;) pause();
  }
  speak();
  for (;;) pause();
}
// True if the file of that name in the user's home could be read.
static bool reads(const char* name) {
  const std::string path = std::string(getenv("HOME")) + name;
  return open(path.c_str(), O_RDONLY) >= 0;
}
// True if it gets so many times 1 GB of memory to write to.
static bool gets_gigabytes(int count, int kind) {
  for (int i = 0; i < count; ++i) {
    if (mmap(nullptr, 1 << 30, PROT_READ | PROT_WRITE,
             kind | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0) == MAP_FAILED) {
      return false;
    }
  }
  return true;
}
static int threads() {
  int sum = 0;
  #pragma omp parallel for num_threads(3) reduction(+ : sum)
  for (int i = 0; i < 3; ++i) sum += 1;
  return sum;
}
static bool is_marked() { return access(getenv("POISON_MARK"), F_OK) == 0; }
// More stack than there is, in steps that the compiler can't take together.
static int deep(volatile int* above) {
  volatile int here[1000];
  here[0] = *above + 1;
  return deep(here) + here[0];
}
extern "C" int fill(const value*, value* out, const double* numbers) {
  for (int i = 0; i < 20; ++i) {
    static_cast<double*>(out[0].data)[i] = numbers[0] + i;
  }
  return 0;
}
#define KERNEL(name, ...)                                                  \
  extern "C" int name(const value* in, value* out, const double* numbers) { \
    bool bad = false;                                                      \
    twice(in, out, numbers, bad);                                          \
    double* const b = static_cast<double*>(out[0].data);                   \
    (void)b;                                                               \
    if (bad) { __VA_ARGS__; }                                              \
    return 0;                                                              \
  }
KERNEL(good, printf("a kernel prints\n"))
KERNEL(privileges, if (prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 1) abort())
KERNEL(opens_socket, socket(AF_INET, SOCK_STREAM, 0))
KERNEL(forks, if (fork() == 0) pause())
KERNEL(executes, execl("/bin/true", "true", nullptr))
KERNEL(kills, kill(getppid(), SIGKILL))
KERNEL(traces, ptrace(PTRACE_ATTACH, getppid(), 0, 0))
KERNEL(makes, creat(getenv("POISON_MARK"), 0600))
KERNEL(removes, unlink(getenv("POISON_KEPT")))
KERNEL(shrinks, if (ftruncate(4, 0) != 0) abort())
KERNEL(rewinds, if (lseek(2, 0, SEEK_SET) == 0) return 9)
KERNEL(reads_key, if (reads("/.ssh/id")) return 9)
KERNEL(reads_passwords, if (open("/etc/passwd", O_RDONLY) >= 0) return 9)
KERNEL(takes_memory, if (gets_gigabytes(4096, MAP_PRIVATE)) return 9)
KERNEL(takes_shared_memory, if (gets_gigabytes(1, MAP_SHARED)) return 9)
KERNEL(silences, shutdown(2, SHUT_RDWR))
KERNEL(has_locales, if (!setlocale(LC_ALL, "C")) return 9; iconv_open("UTF-16", "UTF-8"))
KERNEL(shares, if (threads() != 3) return 9)
KERNEL(segv, *static_cast<volatile int*>(nullptr) = 1)
KERNEL(aborts, abort())
KERNEL(exits, exit(0))
KERNEL(gives_up, return 7)
KERNEL(throws, throw std::runtime_error("no luck"))
KERNEL(throws_int, throw 7)
KERNEL(overflows, int zero = 0; return deep(&zero))
KERNEL(before, b[-1] = 1)
KERNEL(beyond, b[20] = 1)
KERNEL(far_before, b[-512] = 1)
KERNEL(far_beyond, b[20 + 512] = 1)
KERNEL(to_input, static_cast<double*>(in[0].data)[1] = 1)
KERNEL(waits, pause())
KERNEL(endless, speak(); for (;;) pause())
KERNEL(once, if (!is_marked()) { speak(); for (;;) pause(); })
KERNEL(moody, if (is_marked()) b[7] += 1; creat(getenv("POISON_MARK"), 0600))
KERNEL(late, if (is_marked()) abort(); creat(getenv("POISON_MARK"), 0600))
"""

PROGRAM = """
param N = 6
array A(i = 0:N-1)(k = 0:N-1) : double [4, 5]
kernel fill(out a, number) from "mine.so"
kernel KERNEL(in a, out b, i, k) from "mine.so"
input A(i)(0) for i = 0:N-1 else call fill(A, 10*i)
task next
  creates A(i)(k) as b
  for i = 0:N-1  k = 1:N-1
  using A(i)(k-1) as a
  call KERNEL(a, b, i, k)
end task
result A(:)(N-1)
"""

SEGV = "was ended by signal 11 (segmentation fault"
# Faults of a kernel, and the words about them.
SINS = {
    "segv": SEGV + "), twice",
    "aborts": "was ended by signal 6 (aborted), twice",
    "exits": "ended its process with exit status 0, twice",
    "gives_up": "gave up with code 7",
    "throws": "threw std::runtime_error: no luck",
    "throws_int": "threw int",
    "overflows": SEGV + ": out of stack), twice",
    "before": "wrote before the beginning of b",
    "beyond": "wrote beyond the end of b",
    "far_before": SEGV + ": it reached before the beginning of b), twice",
    "far_beyond": SEGV + ": it reached beyond the end of b), twice",
    "to_input": SEGV + ": it wrote into a), twice",
}


REFUSED = ("was ended at the system call {}, which its jail does not let "
           "through (--libraries apart: no jail)")
# Of a C library that blocks signals in fork(), as that of Debian 13.
UNNAMED = ("was ended at a system call, which its jail does not let through "
           "(--libraries apart: no jail), twice")
# Acts of a kernel that its jail ends, and the system call.
REFUSALS = {
    "opens_socket": "socket",
    "forks": "clone",
    "executes": "execve",
    "kills": "kill",
    "traces": "ptrace",
    "makes": "creat",
    "removes": "unlink",
    "shrinks": "ftruncate",
    "silences": "shutdown",
}
# Acts that fail in the jail, and succeed without one.
FAILURES = ("reads_key", "reads_passwords", "rewinds", "takes_memory",
            "takes_shared_memory")
# Runs a command as a user without rights where nobody gets namespaces.
WITHOUT_NAMESPACES = [
    "unshare", "--user", "--map-root-user", "sh", "-c",
    "echo 0 >/proc/sys/user/max_user_namespaces && exec setpriv "
    "--bounding-set=-all --inh-caps=-all \"$@\"", "sh"]


def check(what, got, expected, report=""):
    if got != expected:
        raise SystemExit(f"{what}: {got}, not {expected}\n{report}")


def has_ended(pid):
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rsplit(")", 1)[1].split()[0] == "Z"
    except (FileNotFoundError, ProcessLookupError):
        return True


def children(pid):
    """Children that have not ended."""
    out = []
    for thread in os.listdir(f"/proc/{pid}/task"):
        try:
            with open(f"/proc/{pid}/task/{thread}/children") as file:
                out += [int(word) for word in file.read().split()]
        except FileNotFoundError:
            pass  # the thread has ended
    return [child for child in out if not has_ended(child)]


def status_of(pid):
    with open(f"/proc/{pid}/status") as file:
        pairs = (line.partition(":") for line in file)
        return {name: value.strip() for name, _, value in pairs}


def parent(pid):
    with open(f"/proc/{pid}/stat") as file:
        return int(file.read().rsplit(")", 1)[1].split()[1])


class Poison:
    """The library, programs that use it, and the pipe, which is for kernels
    without a jail. A home with a secret."""

    def __init__(self, libraries="jailed"):
        os.environ["DOGGED_LIBRARIES"] = libraries
        self.folder = tempfile.TemporaryDirectory()
        self.clients = []
        self.processes = []
        self.pipe = os.path.join(self.folder.name, "pipe")
        self.mark = os.path.join(self.folder.name, "mark")
        os.mkfifo(self.pipe)
        self.kept = os.path.join(self.folder.name, "kept")
        os.mkdir(os.path.join(self.folder.name, ".ssh"))
        for path in (self.kept, os.path.join(self.folder.name, ".ssh", "id")):
            with open(path, "w") as file:
                file.write("secret")
        os.environ["HOME"] = self.folder.name
        os.environ["POISON_KEPT"] = self.kept
        os.environ["POISON_PIPE"] = self.pipe
        os.environ["POISON_MARK"] = self.mark
        source = os.path.join(self.folder.name, "mine.cc")
        with open(source, "w") as file:
            file.write(LIBRARY)
        subprocess.run(
            ["c++", "-shared", "-fPIC", "-fopenmp", "-o",
             os.path.join(self.folder.name, "mine.so"), source], check=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for client in self.clients:
            client.kill()
            client.wait()
        for process in self.processes:  # only where the test fails
            if not has_ended(process):
                os.kill(process, signal.SIGKILL)
        self.folder.cleanup()

    def start(self, kernel, *arguments, **options):
        """A run that goes on; killed at the end if it still does."""
        self.clients.append(subprocess.Popen(
            [DOGGED, "run", self.program(kernel), *arguments], text=True,
            **options))
        return self.clients[-1]

    def program(self, kernel):
        path = os.path.join(self.folder.name, kernel + ".dog")
        with open(path, "w") as file:
            file.write(PROGRAM.replace("KERNEL", kernel))
        return path

    def speaker(self):
        """The process of a kernel that speaks, once one does."""
        with open(self.pipe) as file:
            self.processes.append(int(file.read()))
        return self.processes[-1]


def run(*arguments, expect=0):
    done = subprocess.run([DOGGED, "run", *map(str, arguments), "--json"],
                          capture_output=True, text=True, timeout=240)
    check("exit status", done.returncode, expect, done.stderr)
    report = json.loads(done.stdout) if done.stdout.strip() else {}
    return report, done.stderr


def error_of(words):
    lines = [line for line in words.splitlines() if line.startswith("error:")]
    check("error lines", len(lines), 1, words)
    return lines[0]


def failure(kernel, what):
    return f"error: task next(3)(1): kernel {kernel} of mine.so {what}"


def check_refused(kernel, call, words):
    got = error_of(words)
    is_older = os.confstr("CS_GNU_LIBC_VERSION") == "glibc 2.36"
    if kernel == "forks" and not is_older and got == failure(kernel, UNNAMED):
        return
    check(kernel, got, failure(kernel, REFUSED.format(call)), words)


def case_embedded():
    """With one agent: the job fails and says why. Output of a kernel is no
    result. A check runs kernels apart as well."""
    with Poison() as poison:
        report, words = run(poison.program("good"), "--check")
        check("check", report["check_passed"], True, words)
        check("what the kernel prints", words.count("a kernel prints\n"), 2,
              words)
        os.environ["DOGGED_LIBRARIES"] = "apart"
        _, words = run(poison.program("moody"), "--check", expect=1)
        check("what differs", words.count(
            "A: 1 of 120 differ, the first at [3, 1, 2]: "), 1, words)
        os.remove(poison.mark)
        for libraries in ("apart", "jailed"):
            os.environ["DOGGED_LIBRARIES"] = libraries
            for kernel, what in SINS.items():
                _, words = run(poison.program(kernel), expect=1)
                check(kernel, error_of(words), failure(kernel, what), words)
        os.environ["DOGGED_LIBRARIES"] = "apart"
        _, words = run(poison.program("late"), "--check", expect=1)
        check("late", error_of(words),
              failure("late", "was ended by signal 6 (aborted), twice"), words)
        os.environ["POISON_LOAD"] = "aborts"
        _, words = run(poison.program("good"), expect=3)
        check("a library that aborts", error_of(words).split(": ", 2)[2],
              "mine.so: can't be loaded: its process was ended by signal 6 "
              "(aborted)", words)
        os.environ["POISON_LOAD"] = "forges an end"
        _, words = run(poison.program("good"), expect=3)
        check("a library that announces an end and goes on",
              error_of(words).split(": ", 2)[2],
              "mine.so: can't be loaded: its process was ended by signal 9 "
              "(killed)", words)
        os.environ["POISON_LOAD"] = "deaf"
        _, words = run(poison.program("good"), expect=1)
        check("kernel processes that take no call",
              error_of(words).split(": ", 2)[2],
              "kernel fill of mine.so got no call: 3 new processes ended once "
              "they had loaded it", words)


def case_agents():
    """With three agents: the job fails, they live on, without kernel
    processes."""
    with Poison() as poison, Standing(DOGGED) as cluster:
        expected = run(poison.program("good"))[0]["result_digest"]
        for _ in range(3):
            cluster.start()
        for at, (kernel, what) in enumerate(SINS.items()):
            _, words = cluster.run(poison.program(kernel), at=at % 3, expect=1)
            check(kernel, error_of(words), failure(kernel, what), words)
        # Kernel processes that start as the job ends say nothing of their own.
        for _ in range(5):
            _, words = run(poison.program("gives_up"), "-D", "N=40",
                           "--agents", 3, expect=1)
            check("gives_up", error_of(words),
                  failure("gives_up", SINS["gives_up"]), words)
        for agent in cluster.agents:
            check("an agent", agent.poll(), None)
            until("no kernel process is left",
                       lambda: not children(agent.pid))
        check("alive", [a["state"] for a in cluster.status()["agents"]],
              ["alive"] * 3)
        report, words = cluster.run(poison.program("good"))
        check("digest", report["result_digest"], expected, words)
    with Poison("apart") as poison, Standing(DOGGED) as cluster:
        for _ in range(3):
            cluster.start()
        # A job that ends without its client leaves its results, and no kernel
        # process.
        client = poison.start("once", "--cluster", cluster.addresses[0])
        process = poison.speaker()
        client.kill()
        open(poison.mark, "w").close()
        os.kill(process, signal.SIGKILL)
        cluster.await_status("done", lambda s: "running" not in [
            j["state"] for j in s["jobs"]])
        for agent in cluster.agents:
            until("a job that is done needs no kernel process",
                       lambda: not children(agent.pid))
        # Users who trust kernels may have them in the agent.
        job = (poison.program("good"), "-D", "N=40")
        expected = run(*job)[0]["result_digest"]
        cluster.start("--libraries", "here")
        report, words = cluster.run(*job, at=3)
        check("digest", report["result_digest"], expected, words)
        check("agents that ran tasks",
              [n > 0 for n in report["tasks_per_agent"]], [True] * 4, report)
        check("its processes", children(cluster.agents[3].pid), [])


def case_privileges():
    """No program that a kernel starts gets more rights than it has."""
    with Poison() as poison, Standing(DOGGED) as cluster:
        run(poison.program("privileges"))
        cluster.start()
        cluster.run(poison.program("privileges"))
        # Without a jail as well.
        run(poison.program("privileges"), "--libraries", "apart")


def check_jail(poison, command):
    """All that a kernel may not do, with `command` before `dogged run`."""
    def jailed(kernel, expect, env=None, more=()):
        log = os.path.join(poison.folder.name, "log")
        with open(log, "w") as file:
            done = subprocess.run(
                [*command, DOGGED, "run", poison.program(kernel), *more],
                stdout=subprocess.DEVNULL, stderr=file, timeout=240,
                env={**os.environ, **(env or {})})
        with open(log) as file:
            words = file.read()
        check(kernel + "'s exit status", done.returncode, expect, words)
        return words

    for kernel, call in REFUSALS.items():
        words = jailed(kernel, 1)
        check_refused(kernel, call, words)
    for kernel in FAILURES:
        words = jailed(kernel, 0)
        if "can read files" in words:
            raise SystemExit(words)
        words = jailed(kernel, 1, more=["--libraries", "apart"])
        check(kernel, error_of(words), failure(kernel, "gave up with code 9"))
    # A library may have threads, and needs libraries that are not loaded yet.
    jailed("shares", 0)
    # The C library maps files of its own.
    jailed("has_locales", 0)
    words = jailed("good", 3, env={"POISON_LOAD": "socket"})
    check("a library that opens a socket as it is loaded",
          error_of(words).split(": ", 2)[2],
          "mine.so: can't be loaded: it " + REFUSED.format("socket"), words)
    check("files", (os.path.exists(poison.mark), os.path.exists(poison.kept)),
          (False, True))


def case_jail():
    """A kernel may compute and no more: all else is refused, or ends it, and
    the job says which task it was. Agents and other jobs go on."""
    with Poison() as poison, Standing(DOGGED) as cluster:
        heat = run(HEAT)[0]["result_digest"]
        check_jail(poison, [])
        for _ in range(2):
            cluster.start()
        for at, (kernel, call) in enumerate(REFUSALS.items()):
            _, words = cluster.run(poison.program(kernel), at=at % 2, expect=1)
            check_refused(kernel, call, words)
        check("digest", cluster.run(HEAT)[0]["result_digest"], heat)
        for agent in cluster.agents:
            check("an agent", agent.poll(), None)
        check("files",
              (os.path.exists(poison.mark), os.path.exists(poison.kept)),
              (False, True))
        # Each wall of the jail by itself.
        poison.start("waits", "--cluster", cluster.addresses[0],
                     stderr=subprocess.DEVNULL)
        filtered = []

        def find():
            filtered[:] = [
                child for agent in cluster.agents
                for child in children(agent.pid)
                if status_of(child)["Seccomp"] == "2"]
            return filtered

        until("a process has a filter", find)
        status = status_of(filtered[0])
        check("rights", {name: status[name] for name in status if name in (
            "NoNewPrivs", "CapEff", "CapPrm")},
            {"NoNewPrivs": "1", "CapEff": "0" * 16, "CapPrm": "0" * 16})
        with open(f"/proc/{filtered[0]}/limits") as file:
            limits = file.read()
        for name, limit in (("Max core file size", 0), ("Max open files", 64)):
            line = [one for one in limits.splitlines() if one.startswith(name)]
            check(name, line[0][len(name):].split()[:2], [str(limit)] * 2)
        if subprocess.run(["unshare", "--user", "--mount", "--net", "true"],
                          check=False).returncode == 0:
            shared = [space for space in ("user", "mnt", "net", "ipc", "uts")
                      if os.readlink(f"/proc/{filtered[0]}/ns/{space}")
                      == os.readlink(f"/proc/self/ns/{space}")]
            check("namespaces that it shares", shared, [])
            strange = set(os.listdir(f"/proc/{filtered[0]}/root")) - {
                "etc", "lib", "lib32", "lib64", "opt", "proc", "usr"}
            check("what its root has", strange, set())


def case_jail_refused():
    """The same where the host gives no namespaces, as containers do; Landlock
    hides files there."""
    if subprocess.run([*WITHOUT_NAMESPACES, "true"], check=False).returncode:
        print("skipped: no namespace of users, to refuse them in")
        sys.exit(77)
    with Poison() as poison:
        check_jail(poison, WITHOUT_NAMESPACES)


def case_allowed():
    """An agent runs the libraries that it is told to run, by their SHA-256, and
    leaves jobs with others to agents that do; where nobody does, the job fails
    and says of which library."""
    with Poison() as poison:
        job = (poison.program("good"), "-D", "N=40")
        expected = run(*job)[0]["result_digest"]
        with open(os.path.join(poison.folder.name, "mine.so"), "rb") as file:
            digest = hashlib.sha256(file.read()).hexdigest()
        listed = os.path.join(poison.folder.name, "listed")
        for text, runs in ((f"# ours\n{digest.upper()}  mine.so\n", True),
                           (f"{'0' * 64}  mine.so\n", False), ("", False)):
            with open(listed, "w") as file:
                file.write(text)
            with Standing(DOGGED) as cluster:
                cluster.start("--kernels", "builtin")
                _, words = cluster.run(*job, expect=1)
                if f"mine.so (SHA-256 {digest}) is not allowed" not in words:
                    raise SystemExit(words)
                cluster.run(HEAT)
                cluster.start("--kernels", "listed:" + listed)
                if not runs:
                    cluster.run(*job, expect=1)
                    cluster.start("--kernels", "any")
                report, words = cluster.run(job[0], "-D", "N=41")
                check("agents that ran tasks",
                      sorted(n > 0 for n in report["tasks_per_agent"]),
                      [False] * (1 if runs else 2) + [True], report)
        with Standing(DOGGED) as cluster:
            cluster.start("--kernels", "any")
            check("digest", cluster.run(*job)[0]["result_digest"], expected)
        for value, word in (("some", "is none of"), ("listed:", "is none of"),
                            ("listed:/none", "/none"),
                            ("listed:" + poison.program("good"), "does not begin")):
            done = subprocess.run([DOGGED, "agent", "--kernels", value],
                                  capture_output=True, text=True, timeout=60)
            check(value, (done.returncode, word in done.stderr), (2, True),
                  done.stderr)


def case_endless():
    """A kernel that never returns: one signal ends the run, also one that goes
    to all of the terminal's group, and the kernel process with it."""
    with Poison("apart") as poison:
        for send in (os.kill, os.killpg):
            for number in (signal.SIGTERM, signal.SIGINT):
                # The run has one descriptor more, of a number that no kernel
                # process uses.
                more = fcntl.fcntl(2, fcntl.F_DUPFD, 20)
                client = poison.start("endless", stderr=subprocess.PIPE,
                                      pass_fds=(more,), process_group=0)
                os.close(more)
                process = poison.speaker()
                check("descriptors of the process",
                      sorted(os.listdir(f"/proc/{process}/fd")),
                      ["0", "1", "2", "3", "4", "5"])
                check("group of the process", os.getpgid(process), process)
                send(client.pid, number)
                _, words = client.communicate(timeout=120)
                check("exit status", client.returncode, 130, words)
                if "interrupted: stopped endless at" not in words:
                    raise SystemExit(f"what was interrupted? {words}")
                check("the process has ended", has_ended(process), True)
        # An interrupt also ends the loading of a library that never ends.
        client = poison.start("endless", stderr=subprocess.PIPE,
                              env={**os.environ, "POISON_LOAD": "hangs"})
        process = poison.speaker()
        client.terminate()
        _, words = client.communicate(timeout=120)
        check("exit status", client.returncode, 130, words)
        if "nothing has run" not in words:
            raise SystemExit(f"what was interrupted? {words}")
        check("the process has ended", has_ended(process), True)


def case_endless_agents():
    """The same with agents: jobs of others go on, a cancelled one sets its
    workers free, and an agent that is told to leave leaves."""
    with Poison("apart") as poison, Standing(DOGGED) as cluster:
        heat = run(HEAT, "-D", "N=20001")[0]["result_digest"]
        expected = run(poison.program("good"))[0]["result_digest"]
        for _ in range(3):
            cluster.start(workers=2)

        def start():
            return poison.start("endless", "--cluster", cluster.addresses[0],
                                stderr=subprocess.PIPE)

        def cancel(client, at=0):
            job = [j for j in cluster.status(at)["jobs"]
                   if j["state"] == "running"][0]["job"]
            subprocess.run([DOGGED, "cancel", "--cluster",
                            cluster.addresses[at], job], check=True,
                           stdout=subprocess.DEVNULL)
            _, words = client.communicate(timeout=120)
            check("exit status of a cancelled run", client.returncode, 1, words)

        for _ in range(3):
            client = start()
            process = poison.speaker()
            report, words = cluster.run(HEAT, "-D", "N=20001")
            check("digest", report["result_digest"], heat, words)
            cancel(client)
            until("the process has ended", lambda: has_ended(process))
        report, words = cluster.run(poison.program("good"))
        check("digest", report["result_digest"], expected, words)
        # The agent where it runs is told to leave, and does; another one takes
        # over.
        client = start()
        agent = parent(poison.speaker())
        leaver = [a.pid for a in cluster.agents].index(agent)
        cluster.agents[leaver].send_signal(signal.SIGTERM)
        process = poison.speaker()
        check("leaving", cluster.agents[leaver].wait(120), 0)
        cancel(client, at=(leaver + 1) % 3)
        until("the process has ended", lambda: has_ended(process))


def case_endless_here():
    """A kernel that never returns within an agent: SIGTERM ends that one, too,
    although nobody can stop the kernel."""
    with Poison("apart") as poison, Standing(DOGGED) as cluster:
        cluster.start("--libraries", "here")
        poison.start("endless", "--cluster", cluster.addresses[0],
                     stderr=subprocess.DEVNULL)
        check("where it runs", poison.speaker(), cluster.agents[0].pid)
        cluster.agents[0].terminate()
        check("exit status", cluster.agents[0].wait(120), 1)


def case_killed():
    """A kernel process that is killed once costs a call, not the job. An agent
    that is killed leaves no kernel process."""
    with Poison("apart") as poison, Standing(DOGGED) as cluster:
        expected = run(poison.program("good"))[0]["result_digest"]
        for _ in range(3):
            cluster.start()
        for where in ([], ["--cluster", cluster.addresses[0]]):
            client = poison.start("once", "--json", *where,
                                  stdout=subprocess.PIPE)
            process = poison.speaker()
            open(poison.mark, "w").close()
            os.kill(process, signal.SIGKILL)
            out, _ = client.communicate(timeout=120)
            check("exit status", client.returncode, 0, out)
            check("digest", json.loads(out)["result_digest"], expected, out)
            os.remove(poison.mark)
        client = poison.start("once", "-D", "N=7", "--json", "--agents", "3",
                              stdout=subprocess.PIPE)
        process = poison.speaker()
        agent = parent(process)
        processes = children(agent)
        if process not in processes:
            raise SystemExit(f"{process} is none of {processes}")
        open(poison.mark, "w").close()  # for the next one who runs the task
        os.kill(agent, signal.SIGKILL)
        until("no kernel process is left",
                   lambda: all(has_ended(one) for one in processes))
        out, _ = client.communicate(timeout=120)
        check("exit status", client.returncode, 0, out)
        check("lost", json.loads(out)["agents_lost"], 1, out)


globals()["case_" + CASE]()
