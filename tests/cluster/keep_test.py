"""Results and values that are to outlast the agents that made them.

Aim: agents that leave after a job's end hand what no client has fetched to
whoever joins, or wait for one, and say so; and the same command goes on from
directories whatever the number of agents its tiles were cut for. Method: the
binary itself on free ports; nothing waits for a time to pass, but for what it
waits for.

usage: keep_test.py DOGGED SOURCE_DIR CASE
"""

import json
import os
import signal
import subprocess
import sys
import tempfile
import time

from standing import Standing

DOGGED, SOURCE, CASE = os.path.abspath(sys.argv[1]), *sys.argv[2:4]
HEAT = os.path.join(SOURCE, "apps", "heat1d", "heat1d.dog")
PROGRAM = (HEAT, "-D", "N=400001", "-D", "T=2000")


def check(what, holds, report=""):
    if not holds:
        raise SystemExit(f"{what}\n{report}")


def serial(*arguments):
    done = subprocess.run([DOGGED, "run", *arguments, "--json"],
                          capture_output=True, text=True, check=True)
    return json.loads(done.stdout)["result_digest"]


def done_without_client(cluster):
    """The job on these agents, whose client was killed: done, not fetched.
    How many tasks they ran."""
    client = subprocess.Popen(
        [DOGGED, "run", *PROGRAM, "--cluster", cluster.addresses[0]],
        stderr=subprocess.DEVNULL)
    cluster.await_status("the job", lambda s: s["jobs"])
    client.kill()
    client.wait()
    status = cluster.await_status(
        "done", lambda s: [j["state"] for j in s["jobs"]] == ["done"])
    return status["jobs"][0]["tasks_executed"]


def leave(agents):
    for agent in agents:
        agent.send_signal(signal.SIGTERM)
    for agent in agents:
        check("exit status", agent.wait(60) == 0)


def check_nothing_ran(cluster, expected, executed, at):
    """The same command on what is left; all agents together ran no more."""
    report, words = cluster.run(*PROGRAM, at=at)
    check("another digest", report["result_digest"] == expected, report)
    check(f"the job ran again: {executed} tasks before",
          report["tasks_executed"] <= executed, f"{report}\n{words}")


def case_replaced():
    """Two that hold the results leave at once, for one that came later."""
    expected = serial(*PROGRAM)
    with Standing(DOGGED) as cluster:
        for _ in range(2):
            cluster.start()
        executed = done_without_client(cluster)
        cluster.start()
        begin = time.monotonic()
        leave(cluster.agents[:2])
        print(f"left in {time.monotonic() - begin:.1f} s")
        check("they waited to the last", time.monotonic() - begin < 9)
        check_nothing_ran(cluster, expected, executed, at=2)


def told_to_wait(agent):
    """SIGTERM; returns what it says once it waits."""
    agent.send_signal(signal.SIGTERM)
    line = agent.stderr.readline()
    check("no word of what told it", "by SIGTERM, with " in line, line)
    line = agent.stderr.readline()
    check("no word of what it keeps", "heat1d" in line and
          "no client has fetched" in line, line)


def case_told_together():
    """All that hold the results are told at once: they wait for one that
    joins, and none of them counts on the other."""
    expected = serial(*PROGRAM)
    with Standing(DOGGED) as cluster:
        for _ in range(2):
            cluster.start(stderr=subprocess.PIPE)
        executed = done_without_client(cluster)
        for agent in cluster.agents:
            agent.send_signal(signal.SIGTERM)
        for agent in cluster.agents:
            words = ""
            for line in agent.stderr:
                words += line
                if "nobody else has the results" in line:
                    break
            check("one of them waits for nobody",
                  "nobody else has the results" in line, words)
        cluster.start()
        for agent in cluster.agents[:2]:
            check("exit status", agent.wait(60) == 0)
        check_nothing_ran(cluster, expected, executed, at=2)


def case_joiner_in_time():
    """The last one waits, for an agent or for the client."""
    expected = serial(*PROGRAM)
    for who in ("agent", "client", "nobody"):
        with Standing(DOGGED) as cluster:
            cluster.start(stderr=subprocess.PIPE)
            executed = done_without_client(cluster)
            told_to_wait(cluster.agents[0])
            if who == "agent":
                cluster.start()
            elif who == "client":
                check_nothing_ran(cluster, expected, executed, at=0)
            begin = time.monotonic()
            check("exit status", cluster.agents[0].wait(60) == 0)
            words = cluster.agents[0].stderr.read()
            took = time.monotonic() - begin
            print(f"{who}: left after {took:.1f} s")
            check("it waited to the last", who == "nobody" or took < 9)
            if who == "agent":
                check_nothing_ran(cluster, expected, executed, at=1)
            elif who == "nobody":
                check("no word of what is lost",
                      "leaves with results of heat1d" in words, words)
            cluster.agents[0].stderr.close()


def case_other_number():
    """All three are killed, two come back with their directories."""
    program = (HEAT, "-D", "N=400001", "-D", "T=6000")
    expected = serial(*program)
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
            for i in range(2):
                cluster.start("--dir", os.path.join(folder, str(i)))
            report, _ = cluster.run(*program)
            check("another digest", report["result_digest"] == expected,
                  report)
            # It runs by then, out of the directories: the client attaches.
            check("another job", report["job"] == before["job"], report)
            needed = report["tasks_needed"]
            made = report["tasks_executed"] - report["tasks_duplicated"]
            print(f"{before['progress']:.2f} done before, "
                  f"{made} of {needed} made after")
            check("nothing was found again", made < needed, report)
            # Other numbers are another job, of which nothing is said.
            _, words = cluster.run(HEAT, "-D", "N=400001", "-D", "T=200")
            check("of another job", "directories hold" not in words, words)


globals()["case_" + CASE]()
