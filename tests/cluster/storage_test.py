"""Disks and memory of real agents.

Aim: agents that were all killed go on where they were, given their directories;
a directory that can't be used is an error; short memory costs time or ends the
job with the number that would do. Method: the binary itself on free ports;
nothing waits for a time to pass, but for what it waits for.

usage: storage_test.py DOGGED SOURCE_DIR CASE
"""

import json
import os
import re
import subprocess
import sys
import tempfile

from standing import (Standing, await_address, begin_agent, bytes_in, end_agent,
                      until)

DOGGED, SOURCE, CASE = sys.argv[1:4]
CHOLESKY = os.path.join(SOURCE, "apps", "cholesky", "cholesky.dog")
HEAT1D = os.path.join(SOURCE, "apps", "heat1d", "heat1d.dog")
HEAT2D = os.path.join(SOURCE, "apps", "heat2d", "heat2d.dog")
QR = os.path.join(SOURCE, "apps", "qr", "qr.dog")


def check(what, holds, report=""):
    if not holds:
        raise SystemExit(f"{what}\n{report}")


def attempt(*arguments, env=None):
    """Exit status, report and words of a run that may end either way."""
    command = [DOGGED, "run", *map(str, arguments), "--json"]
    done = subprocess.run(command, capture_output=True, text=True,
                          env={**os.environ, **(env or {})}, timeout=280)
    report = json.loads(done.stdout) if done.stdout.strip() else {}
    return done.returncode, report, done.stderr


def run(*arguments, expect=0, env=None):
    status, report, words = attempt(*arguments, env=env)
    check(f"exit status {status}, not {expect}: {arguments}",
          status == expect, f"{report}\n{words}")
    return report, words


def refused(expect, words, *arguments, shell=""):
    """An agent that does not start."""
    command = [DOGGED, "agent", *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    check(f"exit status {done.returncode}, not {expect}",
          done.returncode == expect, done.stderr)
    check(f"no {words!r} in its words", words in done.stderr, done.stderr)


def case_comeback():
    """All agents of a cluster are killed and come back."""
    program = (HEAT1D, "-D", "N=400001", "-D", "T=15000")
    expected = run(*program)[0]["result_digest"]
    with tempfile.TemporaryDirectory() as folder:
        with Standing(DOGGED) as cluster:
            for i in range(3):
                cluster.start("--dir", os.path.join(folder, str(i)))
            client = subprocess.Popen(
                [DOGGED, "run", *program, "--cluster", cluster.addresses[0]],
                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            status = cluster.await_status(
                "half of the job",
                lambda s: any(j["progress"] > 0.5 for j in s["jobs"]))
            client.kill()
            client.wait()
            before = status["jobs"][0]
        with Standing(DOGGED) as cluster:
            for i in range(3):
                cluster.start("--dir", os.path.join(folder, str(i)))
            cluster.await_status(
                "all agents",
                lambda s: [a["state"] for a in s["agents"]] == 3 * ["alive"])
            report, _ = cluster.run(*program)
            check("another digest", report["result_digest"] == expected,
                  report)
            needed = report["tasks_needed"]
            print(f"{before['progress']:.2f} done before, "
                  f"{report['tasks_executed']} of {needed} executed after")
            # Values that were not written yet are lost, and how many depends on
            # the disk, some tenths of a second behind: of a job that takes
            # longer at least a quarter of the work is there again.
            check("what was on disk was run again",
                  report["tasks_executed"] <
                  needed * (1 - before["progress"] / 4), report)
            # Data of a job that has ended goes, a second after its client has
            # the results.
            until("nothing is kept of jobs that ended",
                  lambda: bytes_in(folder) < 8 << 20)
            cluster.run(CHOLESKY, "-D", "N=256", "-D", "NB=128")


def case_directories():
    with tempfile.TemporaryDirectory() as folder:
        mine = os.path.join(folder, "mine")
        with Standing(DOGGED) as cluster:
            cluster.start("--dir", mine)
            refused(2, "in use by another agent", "--dir", mine)
        with open(os.path.join(mine, "format"), "w") as file:
            file.write("dogged values 0\n")
        refused(2, '"dogged values 0"', "--dir", mine)
        other = os.path.join(folder, "other")
        os.mkdir(other)
        with open(os.path.join(other, "thesis"), "w") as file:
            file.write("words")
        refused(2, "thesis", "--dir", other)
        refused(5, "can't be made", "--dir", os.path.join(other, "thesis/d"))
        # Agents that `run` starts say the same.
        _, words = run(CHOLESKY, "-D", "N=256", "-D", "NB=128", "--agents", 2,
                       expect=5,
                       env={"DOGGED_DIR": os.path.join(other, "thesis/d")})
        check("no reason", "can't be made" in words, words)


def case_own_agents():
    """A run that is stopped keeps what its own agents have on disk, and the
    same command goes on there; one that ends well leaves nothing behind."""
    program = (HEAT1D, "-D", "N=400001", "-D", "T=6000")
    expected = run(*program, "--agents", 2)[0]["result_digest"]
    with tempfile.TemporaryDirectory() as folder:
        env = {"DOGGED_DIR": os.path.join(folder, "d")}
        os.mkdir(env["DOGGED_DIR"])
        mine = os.path.join(env["DOGGED_DIR"], "mine")
        with open(mine, "w") as file:
            file.write("words")
        client = subprocess.Popen(
            [DOGGED, "run", *program, "--agents", "2"], text=True,
            stderr=subprocess.PIPE, env={**os.environ, **env})
        until("values on disk, or its end", lambda: client.poll() is not None or
              bytes_in(env["DOGGED_DIR"]) >= 1 << 20)
        check("it ended before", client.poll() is None)
        client.terminate()
        _, words = client.communicate(timeout=60)
        check(f"exit status {client.returncode}, not 130",
              client.returncode == 130, words)
        kept = [name for name in os.listdir(env["DOGGED_DIR"])
                if name != "mine"]
        check(f"kept: {kept}", len(kept) == 1)
        check("agents' folders", sorted(os.listdir(os.path.join(
            env["DOGGED_DIR"], kept[0]))) == ["agent-1", "agent-2"])
        check("no word of it", os.path.join(env["DOGGED_DIR"], kept[0])
              in words, words)
        # Another job has folders of its own.
        run(CHOLESKY, "-D", "N=256", "-D", "NB=128", env=env)
        check("what is left", sorted(os.listdir(env["DOGGED_DIR"])) ==
              sorted([kept[0], "mine"]))
        report, words = run(*program, "--agents", 2, env=env)
        check("another digest", report["result_digest"] == expected, report)
        print(f"{report['tasks_executed']} of {report['tasks_needed']} "
              "executed in the second run")
        check("left behind", os.listdir(env["DOGGED_DIR"]) == ["mine"])


def case_full():
    """Files that may not grow stand for a disk that is full; the memory is
    too small for the job to end before the disk is needed."""
    with tempfile.TemporaryDirectory() as folder:
        script = os.path.join(folder, "limited")
        with open(script, "w") as file:
            file.write(f'#!/bin/bash\nulimit -f 4000\nexec {DOGGED} "$@"\n')
        os.chmod(script, 0o755)
        with Standing(script) as cluster:
            cluster.start("--dir", os.path.join(folder, "full"),
                          "--memory", str(24 << 20))
            cluster.dogged = DOGGED
            _, words = cluster.run(CHOLESKY, "-D", "N=4096", "-D", "NB=128",
                                   expect=5)
            check("no reason", "takes no more" in words, words)
            # The agent lives, and other jobs are not disturbed.
            cluster.run(CHOLESKY, "-D", "N=256", "-D", "NB=128")


def case_memory():
    """A third of what the tiles take, without a directory and with one."""
    program = (CHOLESKY, "-D", "N=2048", "-D", "NB=128")
    expected = run(*program)[0]["result_digest"]
    with tempfile.TemporaryDirectory() as folder:
        for agents, memory in ((1, 24 << 20), (2, 12 << 20), (4, 6 << 20)):
            for env in ({}, {"DOGGED_DIR": os.path.join(folder, str(agents))}):
                report, _ = run(*program, "--agents", agents,
                                env={"DOGGED_MEMORY": str(memory),
                                     "TMPDIR": folder, **env})
                check("another digest", report["result_digest"] == expected,
                      report)
        _, words = run(*program, expect=5,
                       env={"DOGGED_MEMORY": "1000", "TMPDIR": folder})
        check("no number", "would do" in words, words)
        program = (HEAT2D, "-D", "N=2048", "-D", "T=50")
        expected = run(*program)[0]["result_digest"]
        report, _ = run(*program, "--agents", 2,
                        env={"DOGGED_MEMORY": str(24 << 20), "TMPDIR": folder})
        check("another digest", report["result_digest"] == expected, report)
        left = [name for name in os.listdir(folder) if "spill" in name]
        check(f"{left} was left behind", not left)


def case_memory_too_small():
    """No program runs, and with the number that the words name all do."""
    programs = ((CHOLESKY, "-D", "N=1024", "-D", "NB=256"),
                (CHOLESKY, "-D", "N=300", "-D", "NB=7"),
                (QR, "-D", "N=300", "-D", "NB=60"),
                (HEAT2D, "-D", "N=600", "-D", "T=40"))
    with tempfile.TemporaryDirectory() as folder:
        for program in programs:
            expected = run(*program)[0]["result_digest"]
            for agents in (1, 3):
                env = {"TMPDIR": folder, "DOGGED_MEMORY": "1000"}
                begin = (*program, "--agents", agents, "--workers", 1)
                _, words = run(*begin, expect=5, env=env)
                would_do = re.search(r"(\d+) would do", words)
                check("no number", would_do is not None, words)
                env["DOGGED_MEMORY"] = would_do[1]
                report, _ = run(*begin, env=env)
                check("another digest", report["result_digest"] == expected,
                      report)


def case_little_memory():
    """An agent that was given less than tiles of most programs take says so as
    it starts, with a number; with that number it does not."""
    with tempfile.TemporaryDirectory() as folder:
        def words_with(memory):
            log = os.path.join(folder, memory)
            agent = begin_agent(DOGGED, "--workers", 2, "--memory", memory,
                                log=log, env={"TMPDIR": folder})
            try:
                await_address(agent)
            finally:
                end_agent(agent)
            with open(log) as file:
                return file.read()

        for memory, said in (("1K", "1024 bytes"), ("1", "1 byte "),
                             ("7M", str(7 << 20))):
            words = words_with(memory)
            check(f"no word of {memory}", f"--memory of {said}" in words
                  and "give 8M or more" in words, words)
        for memory in ("8M", "all"):
            words = words_with(memory)
            check(f"a word of {memory}", "--memory" not in words, words)


globals()["case_" + CASE]()
