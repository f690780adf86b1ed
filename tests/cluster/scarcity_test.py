"""Processes whose addresses are limited (ulimit -v).

Aim: whatever the limit, a command works, or ends at once with one error that
says what is lacking, and exit status 5; what it says would do, does; nothing
hangs, dies by abort() or by a signal, and SIGTERM ends every agent. Method:
the binary itself under a sweep of limits; nothing waits for a time to pass,
but for what it waits for.

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
    own = [line for line in errors if "words are above" not in line]
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
    """One process, and agents that inherit the limit."""
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


globals()["case_" + CASE]()
