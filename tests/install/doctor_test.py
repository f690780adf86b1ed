"""What `dogged version` and `dogged doctor` say.

Aim: the version names the commit that was built and the libraries that are used;
the doctor finds what keeps agents from running, each as an error with a way out
and exit status 1, and what makes them slow, as a warning; an agent under the same
conditions agrees. Method: the binary itself, in environments with one thing broken.

usage: doctor_test.py DOGGED SOURCE_DIR CASE
"""

import json
import os
import resource
import shutil
import socket
import subprocess
import sys
import tempfile

DOGGED, SOURCE, CASE = os.path.abspath(sys.argv[1]), *sys.argv[2:4]


# A host that refuses namespaces and Landlock.
NO_WALLS = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <sys/syscall.h>
int unshare(int spaces) { errno = EPERM; return -1; }
long syscall(long number, long a, long b, long c, long d, long e, long f) {
  if (number == SYS_landlock_create_ruleset) { errno = EOPNOTSUPP; return -1; }
  long (*next)(long, ...) = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall");
  return next(number, a, b, c, d, e, f);
}
"""


# A host whose sockets have no filters.
NO_PORT_FILTER = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <sys/socket.h>
int setsockopt(int fd, int level, int name, const void* value, socklen_t size) {
  if (name == SO_ATTACH_FILTER) { errno = EPERM; return -1; }
  int (*next)(int, int, int, const void*, socklen_t) = dlsym(RTLD_NEXT, "setsockopt");
  return next(fd, level, name, value, size);
}
"""


def check(what, holds, report=""):
    if not holds:
        raise SystemExit(f"{what}\n{report}")


def dogged(*arguments, env=None, program=DOGGED, limit=None):
    """`limit`: a resource and how much of it there is."""
    return subprocess.run(
        [program, *arguments], capture_output=True, text=True, timeout=60,
        env={**os.environ, **(env or {})},
        preexec_fn=limit and (lambda: resource.setrlimit(
            limit[0], (limit[1], limit[1]))))


def finding(subject, level, words, *arguments, **conditions):
    """Doctor's finding on that subject; its text and its status agree with it."""
    done = dogged("doctor", "--json", *arguments, **conditions)
    report = json.loads(done.stdout)
    found = {one["subject"]: one for one in report["findings"]}
    check(f"nothing about {subject}", subject in found, done.stdout)
    one = found[subject]
    check(f"{subject}: not {level} with {words!r}",
          one["level"] == level and words in one["words"], one)
    check(f"{subject}: no way out", level == "ok" or one["way_out"]
          or subject == "key file", one)
    for kind in ("error", "warning"):
        count = sum(f["level"] == kind for f in report["findings"])
        check(f"count of {kind}s", report[kind + "s"] == count, done.stdout)
    check("exit status", done.returncode == (report["errors"] > 0),
          f"{done.returncode} {done.stdout}")
    text = dogged("doctor", *arguments, **conditions).stdout
    lines = [line for line in text.split("\n")
             if line[9:].split("  ")[0] == subject]
    check("not in the text", len(lines) == 1
          and lines[0].split()[0] == level, text)
    return one


def refuses(words, *arguments, **conditions):
    """An agent does not start, and says why."""
    done = dogged("agent", *arguments, **conditions)
    check(f"the agent did not say {words!r}",
          done.returncode != 0 and words in done.stderr, done.stderr)


def case_version():
    facts = json.loads(dogged("version", "--json").stdout)
    text = dogged("version").stdout
    check("--version says something else", dogged("--version").stdout == text)
    check("--version --json", json.loads(dogged("--version", "--json").stdout)
          == facts)
    head = [facts.pop(key) for key in ("schema", "command", "status")]
    check("head", head == [1, "version", 0], head)
    wire = facts.pop("wire")
    check("wire", 1 <= wire["oldest"] <= wire["newest"], wire)
    check("wire is not in the text", str(wire["newest"]) in next(
        line for line in text.splitlines() if line.startswith("wire")), text)
    for key, value in facts.items():
        words = value if isinstance(value, list) else [value]
        check(f"{key} is empty", words and all(words), facts)
        check(f"{key} is not in the text", all(w in text for w in words), text)
    with open(os.path.join(SOURCE, "CMakeLists.txt")) as file:
        check("version", f"VERSION {facts['version']} " in file.read(), facts)
    git = subprocess.run(["git", "-C", SOURCE, "rev-parse", "HEAD"],
                         capture_output=True, text=True)
    if git.returncode == 0:
        # A build may be older than the last commit, but is of some commit.
        commit = facts["commit"].rstrip("+")
        known = subprocess.run(["git", "-C", SOURCE, "cat-file", "-t", commit],
                               capture_output=True, text=True)
        check("no such commit", known.stdout == "commit\n", facts)
    check("features", {"transport", "storage", "tile kernels"}
          <= set(facts["features"]), facts)
    with tempfile.TemporaryDirectory() as folder:
        lonely = shutil.copy(DOGGED, folder)
        done = dogged("version", program=lonely)
        check("without modules", done.returncode == 0
              and "libfabric     none; `dogged doctor` says why" in done.stdout,
              done.stdout + done.stderr)


def case_healthy():
    """Where agents of the tests run there is no error."""
    with tempfile.TemporaryDirectory() as home:
        env = {"HOME": home, "XDG_CACHE_HOME": home}
        one = finding("libfabric", "ok", ".", env=env)
        facts = json.loads(dogged("version", "--json").stdout)
        check("another libfabric", one["words"] == facts["libfabric"], one)
        taken = finding(f"provider {facts['provider']}", "ok", "taken: ",
                        env=env)
        check("refused", "refused" not in taken["words"], taken)
        finding("compiler", "ok", "cc, kernels are kept in", env=env)
        done = dogged("doctor", env=env)
        check("errors where agents run", done.returncode == 0, done.stdout)
        check("one provider is taken", done.stdout.count("  taken: ") == 1,
              done.stdout)
        refused = [line for line in done.stdout.split("\n")
                   if "refused: " in line]
        check("no provider is refused", refused, done.stdout)
        check("no reason", all(len(line.split("refused: ")[1]) > 10
                               for line in refused), done.stdout)


def case_limits():
    few = (resource.RLIMIT_NOFILE, 40)
    finding("descriptors", "error", "limited to 40", limit=few)
    refuses("descriptors are limited to 40", limit=few)
    finding("descriptors", "warning", "limited to 200",
            limit=(resource.RLIMIT_NOFILE, 200))
    finding("addresses", "warning", "limited to 1048576 KB",
            limit=(resource.RLIMIT_AS, 1 << 30))


def case_modules():
    with tempfile.TemporaryDirectory() as folder:
        lonely = shutil.copy(DOGGED, folder)
        for subject in ("transport", "storage", "libfabric"):
            finding(subject, "error", "is neither beside", program=lonely)
        refuses("is neither beside", program=lonely)
    env = {"FI_PROVIDER": "shm"}
    finding("libfabric", "error", "no provider serves at 127.0.0.1", env=env)
    finding("provider tcp", "ok", "refused: ", env=env)
    refuses("no libfabric provider", env=env)


def case_compiler():
    with tempfile.TemporaryDirectory() as folder:
        env = {"DOGGED_CC": "/no/such/cc", "XDG_CACHE_HOME": folder}
        finding("compiler", "warning", "/no/such/cc", env=env)


def case_jail():
    """Kernels of users can compute alone; a host that refuses a wall of their
    jail is told of."""
    finding("jail", "ok", "can compute")
    with tempfile.TemporaryDirectory() as folder:
        for name, words, code in (
                ("filters", "can't be jailed: no filter of system calls",
                 "int seccomp_load(void* filter) { return -22; }"),
                ("walls", "can read files of this user here (no namespaces: "
                 "Operation not permitted; no Landlock: Operation not",
                 NO_WALLS)):
            path = os.path.join(folder, name)
            subprocess.run(["cc", "-shared", "-fPIC", "-x", "c", "-", "-o",
                            path], input=code, text=True, check=True)
            finding("jail", "warning", words, env={
                "LD_PRELOAD": path, "ASAN_OPTIONS": "verify_asan_link_order=0"})


def case_variables():
    """A variable that no agent starts with is a finding, and keeps no command
    from running that does not use it."""
    for name, value, words in (
            ("DOGGED_WORKERS", "abc", "DOGGED_WORKERS: abc is no whole number"),
            ("DOGGED_MEMORY", "lots", "DOGGED_MEMORY"),
            ("DOGGED_LIBRARIES", "there", "--libraries: there not in")):
        env = {name: value}
        finding("environment", "error", words, env=env)
        refuses(words, env=env)
        for command in (["version"], ["key", "--help"]):
            done = dogged(*command, env=env)
            check(command, done.returncode == 0, done.stderr)
    done = dogged("doctor", env={"DOGGED_WORKERS": "2", "DOGGED_MEMORY": "all"})
    check("good ones are no finding", "environment" not in done.stdout,
          done.stdout)


def case_verdict():
    """The last line says whether all is well, or what to mend."""
    done = dogged("doctor", "--json")
    report = json.loads(done.stdout)
    found = [one["subject"] for one in report["findings"]
             if one["level"] != "ok"]
    text = dogged("doctor").stdout.splitlines()
    if found:
        check("verdict", report["verdict"] ==
              f"agents can run here; {len(found)} "
              f"thing{'s' if len(found) > 1 else ''} to mend: "
              + ", ".join(found), report)
    else:
        check("verdict", report["verdict"] == "all is well", report)
    check("the last line", text[-1] == report["verdict"], text)
    finding("port filter", "ok", "SO_ATTACH_FILTER")
    done = dogged("doctor", env={"DOGGED_WORKERS": "abc", "DOGGED_CC": "/no/cc",
                                 "XDG_CACHE_HOME": "/tmp/none-of-these"})
    last = done.stdout.splitlines()[-1]
    check("verdict", last.startswith("agents can't run here; ")
          and "things to mend: environment, compiler" in last, done.stdout)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "filters")
        subprocess.run(["cc", "-shared", "-fPIC", "-x", "c", "-", "-o", path],
                       input=NO_PORT_FILTER, text=True, check=True)
        finding("port filter", "warning", "SO_ATTACH_FILTER: Operation not",
                env={"LD_PRELOAD": path,
                     "ASAN_OPTIONS": "verify_asan_link_order=0"})


def case_port():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        finding("port", "error", address, "--listen", address)
        refuses(address, "--listen", address)
    finding("port", "error", "192.0.2.1", "--listen", "192.0.2.1:0",
            "--insecure")


def case_keys():
    with tempfile.TemporaryDirectory() as home:
        env = {"HOME": home, "XDG_CACHE_HOME": home}
        finding("key file", "ok", "none: agents listen on loopback", env=env)
        finding("key file", "error", "beyond loopback", "--listen",
                "0.0.0.0:0", env=env)
        check("a key", dogged("key", "new", env=env).returncode == 0)
        path = os.path.join(home, ".dogged", "key")
        one = finding("key file", "ok", path, "--listen", "0.0.0.0:0", env=env)
        with open(path) as file:
            check("tells the key", file.read().split()[-1] not in one["words"])
        os.chmod(path, 0o644)
        finding("key file", "error", path, env=env)
        refuses(path, env=env)


def case_disk():
    with tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, "file")
        with open(file, "w"):
            pass
        finding("disk, values", "error", file, env={"DOGGED_DIR": file})
        finding("disk, spilling", "warning", file, env={"TMPDIR": file})
        finding("disk, values", "ok" if shutil.disk_usage(folder).free >> 30
                else "warning", "are free",
                env={"DOGGED_DIR": os.path.join(folder, "new", "one")})
    finding("disk, spilling", "warning", "memory itself",
            env={"TMPDIR": "/dev/shm"})


globals()["case_" + CASE]()
