"""Processes whose addresses are limited (ulimit -v).

Aim: whatever the limit, a command works, or ends at once with one error that
says what is lacking, and exit status 5; the limit that it names does; nothing
hangs, dies by abort() or by a signal, and SIGTERM ends every agent. Method: the
binary itself under a sweep of limits; nothing waits for a time to pass, but for
what it waits for.

usage: scarcity_test.py DOGGED SOURCE_DIR CASE
"""

import os
import re
import resource
import select
import subprocess
import sys
import tempfile

from standing import Standing

DOGGED, SOURCE, CASE = os.path.abspath(sys.argv[1]), *sys.argv[2:4]
HEAT = os.path.join(SOURCE, "apps", "heat1d", "heat1d.dog")
CHOLESKY = os.path.join(SOURCE, "apps", "cholesky", "cholesky.dog")
# A process that has not ended by then hangs.
LATEST = 120
LIMITS = [mb << 20 for mb in (*range(40, 200, 10), *range(200, 601, 50))]


def check(what, holds, report=""):
    if not holds:
        raise SystemExit(f"{what}\n{report}")


def limited(limit):
    return lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit))


def error_of(what, words):
    """The one error; that of a run, if its agents had some before."""
    errors = [line for line in words.split("\n") if line.startswith("error: ")]
    own = [line for line in errors if "words are on standard error" not in line]
    check(f"{what}: no error", own, words)
    check(f"{what}: several errors",
          len(own) == 1 or len(own) < len(errors), words)
    check(f"{what}: no resource named",
          all(re.search("memory|address|thread|room", e) for e in own), words)
    return own[0]


def ends_well_or_says_why(limit, *arguments):
    """The exit status of a command under `limit`."""
    what = f"{arguments[0]} of {limit >> 20} MB"
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            [DOGGED, *map(str, arguments)], capture_output=True, text=True,
            timeout=LATEST, preexec_fn=limited(limit),
            env={**os.environ, "TMPDIR": folder})
    check(f"{what}: exit status {done.returncode}", done.returncode in (0, 5),
          done.stderr)
    if done.returncode == 5:
        error_of(what, done.stderr)
    return done.returncode


def sweep(*arguments):
    statuses = [ends_well_or_says_why(limit, *arguments) for limit in LIMITS]
    print(f"{' '.join(map(str, arguments[:2]))}: the least limit that works: "
          f"{LIMITS[statuses.index(0)] >> 20} MB")
    # More is never worse.
    check(f"{arguments}: {statuses}", statuses == sorted(statuses)[::-1])


def case_commands():
    sweep("--help")
    sweep("check", HEAT, "-D", "N=1001", "-D", "T=10")
    with Standing(DOGGED) as cluster:
        cluster.start()
        sweep("status", "--cluster", cluster.addresses[0])


def case_runs():
    """A single process, and agents that inherit the limit."""
    sweep("run", HEAT, "-D", "N=1001", "-D", "T=10", "--workers", 2)
    sweep("run", CHOLESKY, "-D", "N=256", "-D", "NB=64", "--workers", 2)
    sweep("run", HEAT, "-D", "N=1001", "-D", "T=10", "--agents", 2,
          "--workers", 2)
    sweep("run", CHOLESKY, "-D", "N=256", "-D", "NB=64", "--agents", 2,
          "--workers", 2)


def agent(limit, *arguments):
    return subprocess.Popen(
        [DOGGED, "agent", "--listen", "127.0.0.1:0", *map(str, arguments)],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        preexec_fn=limited(limit))


def started(limit, *arguments):
    """True if an agent listens, and SIGTERM ends it; else what it said."""
    process = agent(limit, *arguments)
    try:
        ready, _, _ = select.select([process.stdout], [], [], LATEST)
        check(f"agent of {limit >> 20} MB: neither listens nor ends", ready)
        listens = process.stdout.readline().startswith("listening ")
        process.terminate()
        _, words = process.communicate(timeout=LATEST)
    finally:
        process.kill()
        process.wait()
    what = f"agent {arguments} of {limit >> 20} MB"
    if listens:
        check(f"{what}: exit status {process.returncode} after SIGTERM",
              process.returncode == 0, words)
        return True
    check(f"{what}: exit status {process.returncode}",
          process.returncode == 5, words)
    return error_of(what, words)


def case_agents():
    """Alone and with a directory; the limit that the words name is enough."""
    for workers in (1, 2, 8):
        for stores in (False, True):
            with tempfile.TemporaryDirectory() as folder:
                extra = ("--dir", folder) if stores else ()
                outcomes = [started(limit, "--workers", workers, *extra)
                            for limit in LIMITS]
                would_do = {int(re.search(r"`ulimit -v (\d+)`", words)[1])
                            for words in outcomes if words is not True}
                check(f"more than one number: {would_do}", len(would_do) == 1)
                limit = would_do.pop() << 10
                check(f"{limit} bytes would not do",
                      started(limit, "--workers", workers, *extra) is True)
                print(f"{workers} workers, {'with' if stores else 'no'} "
                      f"directory: {limit >> 20} MB")


def ends_with(expected, says, redirection, *arguments):
    """A command whose streams the shell redirects."""
    done = subprocess.run(
        ["sh", "-c", f'exec "$0" "$@" {redirection}', DOGGED,
         *map(str, arguments)],
        capture_output=True, text=True, timeout=LATEST)
    what = f"{arguments} {redirection}"
    check(f"{what}: exit status {done.returncode}",
          done.returncode == expected, done.stderr)
    check(f"{what}: no {says!r}", says in done.stderr, done.stderr)


def case_streams():
    """Standard streams that are full or closed, and few descriptors: words that
    can't be written are an error, and nothing else goes wrong."""
    run = ("run", HEAT, "-D", "N=1001", "-D", "T=10")
    for command in (("--help",), ("--version",), ("explain", "D001"),
                    ("check", HEAT), run, (*run, "--json")):
        ends_with(5, "standard output: cannot write", ">/dev/full", *command)
        ends_with(2, "standard output: cannot write", ">&-", *command)
        ends_with(0, "", "<&-", *command)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "phi.npy")
        ends_with(2, "", "<&- >&- 2>&-", *run, "--agents", 2,
                  "--output", f"phi={path}")
        check("no output", os.path.getsize(path) > 8000)
    for descriptors in (5, 6, 8, 12, 16):
        done = subprocess.run(
            [DOGGED, *run, "--agents", "2"], capture_output=True, text=True,
            timeout=LATEST, preexec_fn=lambda: resource.setrlimit(
                resource.RLIMIT_NOFILE, (descriptors, descriptors)))
        check(f"{descriptors} descriptors: exit status {done.returncode}",
              done.returncode in (4, 5) and "error: " in done.stderr,
              done.stderr)


globals()["case_" + CASE]()
