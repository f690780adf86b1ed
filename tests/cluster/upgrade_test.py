"""Rolling upgrade.

Aim: agents of today's release and of the next one work at one job, with the
bits of one agent, also where they are replaced one by one while it runs, and
where one goes on from the directory of the other; a release that is too far
away is told so in words that name both, and disturbs nobody. Method: the binary
itself, and the same objects with other versions of the wire, which say more than
today's knows (tests/wire/next_release.cc).

usage: upgrade_test.py DOGGED SOURCE_DIR CASE NEXT FAR
"""

import json
import os
import signal
import subprocess
import sys
import tempfile

from standing import Standing, begin_agent, end_agent, until

DOGGED, SOURCE, CASE = os.path.abspath(sys.argv[1]), *sys.argv[2:4]
NEXT, FAR = map(os.path.abspath, sys.argv[4:6])
HEAT1D = os.path.join(SOURCE, "apps", "heat1d", "heat1d.dog")
STEPS = 48000


def program(steps=STEPS):
    return HEAT1D, "-D", "N=200001", "-D", f"T={steps}"


def check(what, holds, report=""):
    if not holds:
        raise SystemExit(f"{what}\n{report}")


def call(dogged, *arguments, expect=0, timeout=240):
    """A command's output and words."""
    done = subprocess.run([dogged, *map(str, arguments)], capture_output=True,
                          text=True, timeout=timeout)
    check(f"exit status {done.returncode}, not {expect}: {arguments}",
          done.returncode == expect, f"{done.stdout}\n{done.stderr}")
    return done.stdout, done.stderr


def alone(steps=STEPS):
    """The bits that one agent gives."""
    return json.loads(call(DOGGED, "run", *program(steps), "--agents", 1,
                           "--json")[0])["result_digest"]


class Cluster(Standing):
    """Agents of several releases; status is asked of the one at `at`."""

    def __init__(self):
        super().__init__(DOGGED)

    def begin(self, dogged, *arguments, **options):
        """An agent of that release, which joins the others that live."""
        self.dogged = dogged
        everyone = self.agents, self.addresses
        living = [(agent, address) for agent, address in zip(*everyone)
                  if agent.poll() is None]
        self.agents = [agent for agent, _ in living]
        self.addresses = [address for _, address in living]
        for agent in everyone[0]:
            if agent not in self.agents:
                agent.stdout.close()
        return self.start(*arguments, **options)

    def leave(self, at):
        """The agent leaves when told."""
        agent = self.agents.pop(at)
        self.addresses.pop(at)
        agent.send_signal(signal.SIGTERM)
        check("it did not leave well", agent.wait(timeout=120) == 0)
        agent.stdout.close()

    def progress(self, at=0):
        return [(j["state"], j["progress"]) for j in self.status(at)["jobs"]]

    def refused(self, at):
        return next(a["refused"] for a in self.status(at)["agents"]
                    if a["address"] == self.addresses[at])


def case_rolling():
    """Three agents are replaced one by one while the job runs."""
    wire = json.loads(call(DOGGED, "version", "--json")[0])["wire"]
    later = json.loads(call(NEXT, "version", "--json")[0])["wire"]
    check("no later release", wire["newest"] < later["newest"] and
          later["oldest"] <= wire["newest"], (wire, later))
    check("no words", f"wire          version {wire['newest']}" in
          call(DOGGED, "version")[0])
    steps = STEPS
    while not replaced(steps, later):
        steps *= 2
        check("no job is long enough", steps < 20 * STEPS)
    replaced_back()


def replaced(steps, later):
    """Whether a job of `steps` went on until its three agents were replaced."""
    with Cluster() as cluster:
        for _ in range(3):
            cluster.begin(DOGGED)
        job = call(DOGGED, "submit", *program(steps), "--cluster",
                   cluster.addresses[0])[0].strip()
        for i in range(3):
            cluster.await_status("some of the job", lambda s: any(
                j["progress"] > 0.1 * i for j in s["jobs"]))
            cluster.begin(NEXT)
            if i == 0:
                # Today's agents are told of things that they do not know.
                until("unknown kinds are counted",
                      lambda: cluster.refused(0) > 0)
            cluster.leave(0)
        state, progress = cluster.progress()[0]
        speaks = [a["wire"] for a in cluster.status()["agents"]
                  if a["state"] == "alive"]
        check("other agents", speaks == 3 * [later], speaks)
        # Clients of both ask the new agents.
        for client in DOGGED, NEXT:
            words, _ = call(client, "status", "--cluster",
                            cluster.addresses[0], "--json")
            check("no job", json.loads(words)["jobs"][0]["job"] == job, words)
        answer = json.loads(call(DOGGED, "wait", job, "--cluster",
                                 cluster.addresses[0], "--json")[0])
        check("other bits", answer["result_digest"] == alone(steps), answer)
        check("another state", state in ("running", "done"), (state, progress))
        return state == "running"


def replaced_back():
    """A release that does not please is replaced by the former."""
    expected = alone()
    with Cluster() as cluster:
        cluster.begin(NEXT)
        cluster.begin(DOGGED)
        job = call(NEXT, "submit", *program(), "--cluster",
                   cluster.addresses[1])[0].strip()
        cluster.await_status("some of the job", lambda s: any(
            j["progress"] > 0.1 for j in s["jobs"]))
        cluster.leave(0)
        answer = json.loads(call(NEXT, "wait", job, "--cluster",
                                 cluster.addresses[0], "--json")[0])
        check("other bits", answer["result_digest"] == expected, answer)


def case_too_far():
    """An agent and a client of a release too far away, beside a job."""
    expected = alone()
    with tempfile.TemporaryDirectory() as folder, Cluster() as cluster:
        log = os.path.join(folder, "log")
        with open(log, "w") as file:
            cluster.begin(DOGGED, stderr=file)
        cluster.begin(DOGGED)
        address = cluster.addresses[0]
        job = call(DOGGED, "submit", *program(), "--cluster",
                   address)[0].strip()
        cluster.await_status("some of the job", lambda s: any(
            j["progress"] > 0 for j in s["jobs"]))
        for _ in range(3):
            _, words = call(FAR, "agent", "--listen", "127.0.0.1:0", "--join",
                            address, expect=2, timeout=60)
            check("other words", "speaks version 1 of the wire (dogged 0."
                  in words and "this program 3 to 4 (dogged 99.0)" in words and
                  "releases in between" in words and address in words, words)
        _, words = call(FAR, "status", "--cluster", address, expect=4)
        check("other words", "this program 3 to 4" in words, words)
        _, words = call(FAR, "run", *program(), "--cluster", address, expect=4)
        check("other words", "this program 3 to 4" in words, words)
        with open(log) as file:
            lines = [line for line in file if "3 to 4" in line]
        refused = cluster.refused(0)
        check("refusals are not counted", refused >= 5, refused)
        check(f"{len(lines)} lines of {refused} refusals",
              0 < len(lines) < refused, lines)
        check("other words in the log", "too far apart" in lines[0], lines)
        status = cluster.status()
        check("somebody came or went", [a["state"] for a in status["agents"]]
              == 2 * ["alive"], status)
        answer = json.loads(call(DOGGED, "wait", job, "--cluster", address,
                                 "--json")[0])
        check("other bits", answer["result_digest"] == expected, answer)
        # The other way round: today's come to a cluster that is ahead of them.
        far = begin_agent(FAR)
        try:
            ahead = far.stdout.readline().split()[1]
            _, words = call(DOGGED, "agent", "--listen", "127.0.0.1:0",
                            "--join", ahead, expect=2, timeout=60)
            check("other words", "this program 1 (dogged 0." in words and
                  "use a release here that is as new" in words, words)
        finally:
            end_agent(far)


def case_directories():
    """A job goes on from directories that the other release wrote."""
    expected = alone()
    with tempfile.TemporaryDirectory() as folder:
        def life(release, act):
            with Cluster() as cluster:
                for i in range(2):
                    cluster.begin(release, "--dir", os.path.join(folder, str(i)))
                return act(cluster)

        def begin(cluster):
            job = call(DOGGED, "submit", *program(), "--cluster",
                       cluster.addresses[0])[0].strip()
            some(cluster, 0.2)
            return job

        def some(cluster, part):
            cluster.await_status("some of the job", lambda s: any(
                j["progress"] > part for j in s["jobs"]))

        def wait(cluster):
            answer = json.loads(call(DOGGED, "wait", job, "--cluster",
                                     cluster.addresses[0], "--json")[0])
            check("other bits", answer["result_digest"] == expected, answer)

        job = life(DOGGED, begin)
        life(NEXT, lambda cluster: some(cluster, 0.4))
        life(DOGGED, wait)


globals()[f"case_{CASE}"]()
