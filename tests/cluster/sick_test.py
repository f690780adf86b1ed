"""Agents that are sick or poor beside healthy ones.

Aim: a fault of one agent is no verdict on the job: it leaves its share to
others, says so with its cause, and costs them little; only if nobody is left
the job fails, and the words name each agent and its cause. Method: the binary
itself on free ports, tasks that mostly sleep, so that times say who waited for
whom; nothing waits for a time to pass, but for what it waits for.

usage: sick_test.py DOGGED SOURCE_DIR CASE
"""

import json
import os
import re
import socket
import subprocess
import sys
import tempfile
import time

from standing import Standing

DOGGED, SOURCE, CASE = os.path.abspath(sys.argv[1]), *sys.argv[2:4]

LIBRARY = r"""
#include <stdint.h>
#include <unistd.h>
struct value {
  void* data; int64_t rank; const int64_t* extents; int64_t type;
};
int slow(const struct value* in, struct value* out, const double* numbers) {
  const double* a = in[0].data;
  const double* b = in[1].data;
  double* c = out[0].data;
  for (int64_t i = 0; i < out[0].extents[0]; ++i)
    c[i] = 0.5 * a[i] + 0.25 * b[i] + 1;
  usleep((useconds_t)(numbers[0] * 1000));
  return 0;
}
int first(const struct value* in, struct value* out, const double* numbers) {
  double* c = out[0].data;
  for (int64_t i = 0; i < out[0].extents[0]; ++i) c[i] = numbers[0] + 0.001 * i;
  return 0;
}
"""

PROGRAM = """
param N  = 8
param T  = 60
param ms = 20
param B  = 20000
array v(x = 0:N-1)(t = 0:T) : double [B]
array w(t = 0:T) : double
kernel first(out c, x) from "slow.so"
kernel slow(in a, in b, out c, ms) from "slow.so"
task start
  creates v(x)(0) as c
  for x = 0:N-1
  call first(c, x)
end task
task seam
  creates v(0)(t) as c
  for t = 1:T
  using
    v(0)(t-1) as a
    v(N-1)(t-1) as b
  call slow(a, b, c, ms)
end task
task step
  creates v(x)(t) as c
  for x = 1:N-1  t = 1:T
  using
    v(x)(t-1) as a
    v(x-1)(t-1) as b
  call slow(a, b, c, ms)
end task
task beginning
  creates w(0) as n
  code
    n = 1
  end code
end task
task compiled
  creates w(t) as n
  for t = 1:T
  using
    w(t-1) as o
  code
    n = o + sqrt(o) * 0.5
  end code
end task
result v(:)(T)
result w(T)
"""


def check(what, holds, report=""):
    if not holds:
        raise SystemExit(f"{what}\n{report}")


class Sick:
    """A folder with the program and every way to be sick."""

    def __init__(self, folder):
        self.folder = folder
        with open(self.path("slow.c"), "w") as file:
            file.write(LIBRARY)
        subprocess.run(["gcc", "-O1", "-shared", "-fPIC", "-o",
                        self.path("slow.so"), self.path("slow.c")], check=True)
        self.program = self.path("sick.dog")
        with open(self.program, "w") as file:
            file.write(PROGRAM)

    def path(self, name):
        return os.path.join(self.folder, name)

    def script(self, name, text):
        path = self.path(name)
        with open(path, "w") as file:
            file.write("#!/bin/bash\n" + text)
        os.chmod(path, 0o755)
        return path

    def compiler(self, name, text):
        """A compiler that answers --version, then does `text`; nothing is
        cached."""
        path = self.script(
            name, f'[ "$1" = --version ] && exec cc "$@"\n{text}\n')
        return {"DOGGED_CC": path, "XDG_CACHE_HOME": self.path(name + "-cache")}

    def limited(self, name, limit):
        return self.script(name, f'ulimit {limit}\nexec {DOGGED} "$@"\n')

    def with_disk_of(self, size, folder):
        """A `dogged` that sees a file system of `size` at `folder`; none
        where this user may not mount one."""
        os.mkdir(folder)
        as_root = "" if os.getuid() == 0 else "--user --map-root-user"
        inside = f"mount -t tmpfs -o size={size} none {folder}"
        if subprocess.run(f'unshare {as_root} --mount sh -c "{inside}"',
                          shell=True).returncode != 0:
            return None
        return self.script("small-disk", (
            f"exec unshare {as_root} --mount sh -c "
            f"'{inside} && exec \"$0\" \"$@\"' {DOGGED} \"$@\"\n"))

    def ways(self):
        """Name; arguments, environment and binary of an agent; the cause."""
        disk = self.path("full")
        return {
            "memory": (["--memory", "200K"], {}, DOGGED,
                       "needs .* would do"),
            "killed_compiler": (
                [], self.compiler("killed-cc", "kill -9 $$"), DOGGED,
                r"ended by signal 9 \(Killed\), without a word"),
            "full_temporary": (
                [], self.compiler("full-cc", 'ulimit -f 0\nexec cc "$@"'),
                DOGGED, "interpreted: .*(exit status|signal)"),
            "no_compiler": ([], {"DOGGED_CC": "/nonexistent/cc"}, DOGGED,
                            "interpreted: /nonexistent/cc"),
            "disk": (["--dir", disk], {}, self.with_disk_of("1m", disk),
                     "goes on without its disk: .* takes no more: .*No space"),
        }


def run_with_joiner(sick, way, expected, alone):
    """The job on two healthy agents, which the sick one joins at 10 %."""
    arguments, env, binary, cause = way
    with Standing(DOGGED) as cluster:
        for _ in range(2):
            cluster.start()
        command = [DOGGED, "run", sick.program, "--cluster",
                   cluster.addresses[0], "--json"]
        begin = time.monotonic()
        client = subprocess.Popen(command, stdout=subprocess.PIPE, text=True,
                                  stderr=subprocess.PIPE)
        cluster.await_status("10 %", lambda s: s["jobs"] and
                             s["jobs"][0]["progress"] >= 0.1)
        cluster.dogged = binary
        cluster.start(*arguments, env=env)
        cluster.dogged = DOGGED
        address = cluster.addresses[2]
        out, words = client.communicate(timeout=240)
        took = time.monotonic() - begin
        check(f"exit status {client.returncode}", client.returncode == 0, words)
        report = json.loads(out)
        check("another digest", report["result_digest"] == expected, report)
        check(f"took {took:.1f} s, {alone:.1f} s without the sick one",
              took < 2 * alone + 3, report)
        check("not who, or not why", any(
            address in line and re.search(cause, line)
            for line in words.split("\n")), words)
        check("no trouble in the report", any(
            re.search(cause, t) for t in report.get("troubles", [])), report)
        status = cluster.status()
        check("no word of it in `status`", any(
            address in line and re.search(cause, line)
            for job in status["jobs"] for line in job["troubles"]), status)
        check("agents", [a["state"] for a in status["agents"]] == 3 * ["alive"],
              status)
        return took


def case_joins():
    with tempfile.TemporaryDirectory() as folder:
        sick = Sick(folder)
        with Standing(DOGGED) as cluster:
            for _ in range(2):
                cluster.start()
            # Once for the caches.
            cluster.run(sick.program, "-D", "T=2")
            begin = time.monotonic()
            expected = cluster.run(sick.program)[0]["result_digest"]
            alone = time.monotonic() - begin
        print(f"two healthy ones: {alone:.1f} s")
        for name, way in sick.ways().items():
            if not way[2]:
                print(f"{name}: left out, no file system can be mounted here")
                continue
            took = run_with_joiner(sick, way, expected, alone)
            print(f"{name}: {took:.1f} s, {took / alone:.2f} of it")


def case_nobody_left():
    """Each agent's cause, and the number that would do."""
    with tempfile.TemporaryDirectory() as folder:
        sick = Sick(folder)
        with Standing(DOGGED) as cluster:
            cluster.start("--memory", "200K")
            _, words = cluster.run(sick.program, "-D", "T=5", expect=5)
            check("no number", re.search(r"error: .*\d+ would do", words),
                  words)
            cluster.start("--memory", "190K")
            _, words = cluster.run(sick.program, "-D", "T=4", expect=5)
            error = [l for l in words.split("\n") if l.startswith("error")][0]
            for address in cluster.addresses:
                check(f"no {address}", address in error, words)
            check("no number", len(re.findall(r"\d+ would do", error)) == 2,
                  words)
            # A single healthy agent is enough.
            cluster.start()
            cluster.run(sick.program, "-D", "T=4")
        # Slow is better than nobody.
        with Standing(DOGGED) as cluster:
            broken = sick.compiler("killed", "kill -9 $$")
            for _ in range(2):
                cluster.start(env=broken)
            cluster.run(sick.program, "-D", "T=4")
            status = cluster.status()
            check("two causes", len(status["jobs"][0]["troubles"]) == 2,
                  status)


def case_hanging_compiler():
    """A compiler that hangs: agents that have kernels don't wait for it."""
    with tempfile.TemporaryDirectory() as folder:
        sick = Sick(folder)
        gate = sick.path("gate")
        os.mkfifo(gate)
        env = sick.compiler("hanging-cc", f"read line < {gate}")
        with Standing(DOGGED) as cluster:
            for _ in range(2):
                cluster.start()
            cluster.start(env=env)
            report, words = cluster.run(sick.program, "-D", "T=20")
            check("no word of it", "its kernels take long to make" in words and
                  cluster.addresses[2] in words, words)
            check("nobody waited", 0 in report["tasks_per_agent"], report)


def processor_seconds(process):
    """Processor time of a process so far."""
    with open(f"/proc/{process.pid}/stat") as file:
        fields = file.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def case_few_descriptors():
    """More silent clients than there are descriptors: newcomers are heard, jobs
    run, members stay, and nobody spins. Too few are refused."""
    with tempfile.TemporaryDirectory() as folder:
        sick = Sick(folder)
        with Standing(sick.limited("few", "-n 64")) as cluster:
            for _ in range(3):
                cluster.start(stderr=subprocess.PIPE)
            cluster.dogged = DOGGED
            expected = cluster.run(sick.program, "-D", "T=4")[0]
            silent = []
            try:
                for address in cluster.addresses:
                    host, port = address.split(":")
                    for _ in range(150):
                        silent.append(
                            socket.create_connection((host, int(port)), 60))
                for at in range(3):
                    states = [a["state"] for a in cluster.status(at)["agents"]]
                    check(f"agents: {states}", states == 3 * ["alive"])
                again, _ = cluster.run(sick.program, "-D", "T=4", "-D", "ms=21")
                check("another digest", again["result_digest"] ==
                      expected["result_digest"], again)
                spent = [processor_seconds(a) for a in cluster.agents]
                begin = time.monotonic()
                cluster.await_status(
                    "a while", lambda _: time.monotonic() > begin + 2)
                spent = [processor_seconds(a) - s
                         for a, s in zip(cluster.agents, spent)]
                print(f"of two seconds: {spent}")
                check(f"they spin: {spent}", max(spent) < 1)
            finally:
                for one in silent:
                    one.close()
            for agent in cluster.agents:
                agent.kill()
                words = agent.stderr.read()
                check("no word of it, or not once",
                      words.count("raise `ulimit -n`") == 1, words)
                agent.stderr.close()
        refused = subprocess.run(
            [sick.limited("too-few", "-n 24"), "agent", "--listen",
             "127.0.0.1:0"], capture_output=True, text=True, timeout=60)
        check(f"exit status {refused.returncode}", refused.returncode == 5 and
              "descriptors are limited to 24" in refused.stderr,
              refused.stderr)


globals()["case_" + CASE]()
