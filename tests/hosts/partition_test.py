"""Aim: agents that are cut off from one another, in whatever way, end nobody,
hold no job up, and are of one view again once the network is whole. Method:
real processes on hosts of their own, whose links are cut until the agents have
noticed, and mended; nothing is timed, everything is waited for.

    partition_test.py DOGGED SOURCE CASE
"""

import json
import os
import subprocess
import sys
import tempfile
import time

from agents import DEADLINE, Fleet
from hosts import Hosts, enter_own_network

def sever(hosts, links):
    for sender, receiver in links:
        hosts.cut(sender, receiver)


def restore(hosts, links):
    for sender, receiver in links:
        hosts.mend(sender, receiver)


def both_ways(ones, others):
    return [link for a in ones for b in others for link in ((a, b), (b, a))]


def split(dogged, count, ones):
    """`ones` apart from the others, until each side is a cluster of its own."""
    others = [i for i in range(count) if i not in ones]
    with Hosts(count) as hosts, Fleet(dogged, hosts, count) as fleet:
        every = list(range(count))
        fleet.await_views({i: every for i in every})
        links = both_ways(ones, others)
        sever(hosts, links)
        fleet.await_views({**{i: ones for i in ones},
                           **{i: others for i in others}})
        restore(hosts, links)
        fleet.await_views({i: every for i in every})


def one(dogged, _):
    split(dogged, 3, [2])


def halves(dogged, _):
    split(dogged, 4, [0, 1])


def mute(dogged, _):
    """The last of three hears the others, and is not heard."""
    with Hosts(3) as hosts, Fleet(dogged, hosts, 3) as fleet:
        fleet.await_views({i: [0, 1, 2] for i in range(3)})
        links = [(2, 0), (2, 1)]
        sever(hosts, links)
        fleet.await_views({0: [0, 1], 1: [0, 1]})
        restore(hosts, links)
        fleet.await_views({i: [0, 1, 2] for i in range(3)})


def link(dogged, source):
    """A job ends while two of three agents don't reach each other."""
    program = os.path.join(source, "apps/heat2d/heat2d.dog")
    arguments = [program, "-D", "N=1000", "-D", "T=400", "--json"]
    alone = subprocess.run([dogged, "run", *arguments], check=True,
                           capture_output=True, text=True)
    with Hosts(3) as hosts, Fleet(dogged, hosts, 3) as fleet:
        fleet.await_views({i: [0, 1, 2] for i in range(3)})
        links = both_ways([1], [2])
        sever(hosts, links)
        run = subprocess.Popen(
            [dogged, "run", *arguments, "--cluster", fleet.address(0)],
            stdout=subprocess.PIPE, text=True)
        words = json.loads(run.communicate(timeout=DEADLINE)[0])
        assert run.returncode == 0
        assert words["result_digest"] == json.loads(
            alone.stdout)["result_digest"]
        fleet.await_views({i: [0, 1, 2] for i in range(3)})
        deadline = time.monotonic() + DEADLINE
        while True:
            causes = [a.get("cause", "") for a in fleet.status(0)["agents"]]
            if sum("no direct link from" in cause for cause in causes) == 2:
                break
            assert time.monotonic() < deadline, causes
        restore(hosts, links)


def heat(source, steps):
    return [os.path.join(source, "tests/cluster/programs/heat_sum.dog"),
            "-D", "N=1200", "-D", f"T={steps}", "--json"]


def report(run):
    words = json.loads(run.communicate(timeout=DEADLINE)[0])
    assert run.returncode == 0
    return words


def copies(dogged, source):
    """Between hosts a short job sends hardly more for having two copies."""
    sent = {}
    with Hosts(3) as hosts, Fleet(dogged, hosts, 3) as fleet:
        fleet.await_views({i: [0, 1, 2] for i in range(3)})
        # Jobs of their own: one that is known is not computed again. What
        # agents have sent counts from their start.
        for replicas, steps in (("1", 400), ("2", 401)):
            run = subprocess.Popen(
                [dogged, "run", *heat(source, steps), "--cluster",
                 fleet.address(0), "--replicas", replicas],
                stdout=subprocess.PIPE, text=True)
            sent[replicas] = report(run)["bytes_sent"]
    assert sent["2"] - sent["1"] < 1.3 * sent["1"], sent


def loss(dogged, source):
    """An agent dies before any cut: the work of that agent is made again, and
    no other's."""
    arguments = heat(source, 3000)
    alone = subprocess.run([dogged, "run", *arguments], check=True,
                           capture_output=True, text=True)
    with Hosts(3) as hosts, Fleet(dogged, hosts, 3) as fleet:
        fleet.await_views({i: [0, 1, 2] for i in range(3)})
        run = subprocess.Popen(
            [dogged, "run", *arguments, "--cluster", fleet.address(0)],
            stdout=subprocess.PIPE, text=True)
        deadline = time.monotonic() + DEADLINE
        while True:
            jobs = fleet.status(0)["jobs"]
            if jobs and jobs[0]["tasks_executed"] * 2 > jobs[0]["tasks_needed"]:
                break
            assert time.monotonic() < deadline and run.poll() is None, jobs
        fleet.agents[2].kill()
        words = report(run)
        assert words["result_digest"] == json.loads(
            alone.stdout)["result_digest"]
        assert words["agents_lost"] == 1, words
        # A third of what was done, and what ran where homes have moved.
        needed = words["tasks_needed"]
        assert words["tasks_executed"] < 1.5 * needed, words


def main():
    enter_own_network()
    dogged, source, case = sys.argv[1:4]
    with tempfile.TemporaryDirectory() as folder:
        os.environ["XDG_CACHE_HOME"] = folder
        {"one": one, "halves": halves, "mute": mute, "link": link,
         "copies": copies, "loss": loss}[case](dogged, source)


if __name__ == "__main__":
    main()
