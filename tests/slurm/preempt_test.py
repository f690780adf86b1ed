"""Agents as jobs of a real Slurm, preempted at random.

Aim: docs/recipes/slurm/agents.sbatch as it stands: preempted agents hand over,
are requeued, and come back as new members, and a job that runs meanwhile has the
bits of a serial run. Method: munged, slurmctld and slurmd's of the test's own on
this computer (box.py), as root; the grace of the partition is 5 s or none, and
who is preempted is drawn from a seed, which is printed.

usage: preempt_test.py DOGGED SOURCE_DIR GRACE
"""

import contextlib
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time

DOGGED, SOURCE, GRACE = os.path.abspath(sys.argv[1]), *sys.argv[2:4]
HERE = os.path.dirname(os.path.abspath(__file__))
RECIPE = os.path.join(SOURCE, "docs", "recipes", "slurm", "agents.sbatch")
PROGRAM = (os.path.join(SOURCE, "apps", "heat2d", "heat2d.dog"),
           "-D", "N=1024", "-D", "T=20000")
AGENTS = 3
PREEMPTIONS = 3
SKIPPED = 77


def fail(words):
    raise SystemExit(words)


def sh(*command, check=True):
    return subprocess.run(command, capture_output=True, text=True, check=check,
                          timeout=60).stdout


def until(what, wanted, seconds=120):
    deadline = time.monotonic() + seconds
    while True:
        got = wanted()
        if got:
            return got
        if time.monotonic() > deadline:
            fail(f"not in {seconds} s: {what}\n" + sh("squeue", "-a"))


class Storm:
    def __init__(self, folder):
        self.folder = folder
        self.pool = os.path.join(folder, "pool")
        self.point = "file:" + self.pool

    def submit(self):
        """Agents as jobs; they are one cluster after this."""
        exports = {"DOGGED": DOGGED, "POOL": self.pool, "LISTEN": "127.0.0.1:0",
                   "LEAVE_WITHIN": "4s"}
        words = ",".join(f"{name}={value}" for name, value in exports.items())
        sh("sbatch", "-p", "low", f"--array=1-{AGENTS}", f"--export=ALL,{words}",
           "-o", f"{self.folder}/%A_%a.out", RECIPE)
        until("all agents are one cluster", self.is_whole)

    def alive(self):
        done = subprocess.run(
            [DOGGED, "status", "--json", "--cluster", self.point],
            capture_output=True, text=True, timeout=60)
        if done.returncode != 0:
            return set()
        return {a["id"] for a in json.loads(done.stdout)["agents"]
                if a["state"] == "alive"}

    def is_whole(self):
        return len(self.alive()) == AGENTS

    def running(self):
        """(job, node) of agents that run."""
        lines = sh("squeue", "-h", "-r", "-p", "low", "-t", "R", "-o", "%i|%N")
        return [tuple(line.split("|")) for line in lines.splitlines()]

    def preempt(self, choice):
        """Takes the node of an agent away, once all are there; its job is
        requeued."""
        until("all agents are there", self.is_whole)
        job, node = choice.choice(until("an agent runs", self.running))
        before = self.restarts(job)
        sh("sbatch", "-Q", "-p", "high", "-w", node, "-n1", "-o", "/dev/null",
           "--wrap", "true")
        until(f"job {job} of {node} is requeued",
              lambda: self.restarts(job) > before)
        print(f"{time.strftime('%T')} preempted job {job} on {node}; alive "
              f"{len(self.alive())}", flush=True)

    @staticmethod
    def restarts(job):
        known = sh("scontrol", "-o", "show", "job", job)
        return int(re.search(r"Restarts=(\d+)", known)[1])

    def logs(self):
        out = ""
        for name in sorted(os.listdir(self.folder)):
            if name.endswith(".out"):
                with open(os.path.join(self.folder, name)) as log:
                    out += f"--- {name}\n{log.read()}"
        return out


def storm(folder):
    here = Storm(folder)
    seed = int(os.environ.get("DOGGED_TEST_SEEDS",
                              str(random.randrange(10**9))).split(":")[0])
    print(f"seed: DOGGED_TEST_SEEDS={seed}", flush=True)
    choice = random.Random(seed)
    sh("scontrol", "update", "PartitionName=low", f"GraceTime={GRACE}")
    here.submit()
    founders = here.alive()
    client = subprocess.Popen(
        [DOGGED, "run", *PROGRAM, "--cluster", here.point, "--agents",
         str(AGENTS), "--workers", "1", "--patience", "5m", "--json"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    for _ in range(PREEMPTIONS):
        here.preempt(choice)
    out, err = client.communicate(timeout=300)
    if client.returncode != 0:
        fail(f"the run: {client.returncode}\n{err}\n{here.logs()}")
    report = json.loads(out)
    until("all agents are back", here.is_whole)
    logs = here.logs()
    told = logs.count("told to leave by SIGTERM")
    if told < PREEMPTIONS or "handed over" not in logs:
        fail(f"{told} agents were told:\n{logs}")
    if here.alive() == founders:
        fail(f"nobody came back as a new member:\n{logs}")
    serial = json.loads(sh(DOGGED, "run", *PROGRAM, "--agents", "1", "--json"))
    share = report["tasks_executed"] / report["tasks_needed"]
    print(f"executed/needed {share:.3f}, submissions {report['submissions']}, "
          f"left {report['agents_left']}, lost {report['agents_lost']}",
          flush=True)
    if report["result_digest"] != serial["result_digest"]:
        fail(f"digest {report['result_digest']}")


def main():
    tools = ("slurmctld", "slurmd", "munged", "sbatch")
    paths = os.environ["PATH"] + ":/usr/sbin"
    lacks = [tool for tool in tools if shutil.which(tool, path=paths) is None]
    if lacks or os.getuid() != 0:
        print("skipped: " + (f"no {', '.join(lacks)} here, see scripts/setup"
                             if lacks else "box.py wants root"))
        sys.exit(SKIPPED)
    if "SLURM_CONF" not in os.environ:
        done = subprocess.run([sys.executable, "-B",
                               os.path.join(HERE, "box.py"), "run",
                               str(AGENTS), sys.executable, "-B", *sys.argv])
        sys.exit(done.returncode)
    folder = tempfile.mkdtemp()
    try:
        storm(folder)
    finally:
        with contextlib.suppress(OSError):
            shutil.rmtree(folder)


main()
