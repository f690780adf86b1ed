"""Agents as jobs of a real Slurm, preempted at random.

Aim: docs/recipes/slurm/agents.sbatch as it stands: preempted agents hand over,
are requeued, and come back as new members, and a job that runs meanwhile has the
bits of a serial run. Method: munged, slurmctld and slurmd's of the test's own on
this computer (box.py), as root; the grace of the partition is 5 s or none, and
who is preempted is drawn from a seed, which is printed. A preemption begins once
all agents are back from the one before; with --every at its time, whoever is
there, until the job has ended: a storm.

usage: preempt_test.py DOGGED SOURCE_DIR GRACE [--agents 3] [--preemptions 3]
                       [--every SECONDS] [--points 1024] [--steps 20000]
"""

import argparse
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

HERE = os.path.dirname(os.path.abspath(__file__))
SKIPPED = 77
HOUR = 3600
# Tasks that run by those that are needed, at most; a death's work is made again.
LIMITS = {"5": 1.15, "0": 1.5}


def parse():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("dogged", type=os.path.abspath)
    parser.add_argument("source")
    parser.add_argument("grace", choices=LIMITS)
    parser.add_argument("--agents", type=int, default=3)
    parser.add_argument("--preemptions", type=int, default=3)
    parser.add_argument("--every", type=float, metavar="SECONDS")
    parser.add_argument("--points", type=int, default=1024,
                        help="of each side of heat2d")
    parser.add_argument("--steps", type=int, default=20000)
    return parser.parse_args()


OPTIONS = parse()
DOGGED, SOURCE, GRACE = OPTIONS.dogged, OPTIONS.source, OPTIONS.grace
AGENTS = OPTIONS.agents
RECIPE = os.path.join(SOURCE, "docs", "recipes", "slurm", "agents.sbatch")
PROGRAM = (os.path.join(SOURCE, "apps", "heat2d", "heat2d.dog"), "-D",
           f"N={OPTIONS.points}", "-D", f"T={OPTIONS.steps}")


def fail(words):
    raise SystemExit(words)


def sh(*command, timeout=60, env=None):
    return subprocess.run(command, capture_output=True, text=True, check=True,
                          timeout=timeout, env=env).stdout


def until(what, wanted, seconds=120):
    deadline = time.monotonic() + seconds
    while True:
        got = wanted()
        if got:
            return got
        if time.monotonic() > deadline:
            fail(f"not in {seconds} s: {what}\n" + sh("squeue", "-a"))


class Storm:
    def __init__(self, folder, choice):
        self.folder = folder
        self.choice = choice
        self.taken = 0  # nodes, until now
        self.pool = os.path.join(folder, "pool")
        self.point = "file:" + self.pool

    def submit(self):
        """Agents as jobs; they are one cluster after this."""
        exports = {"DOGGED": DOGGED, "POOL": self.pool, "LISTEN": "127.0.0.1:0",
                   "LEAVE_WITHIN": "4s"}
        # With --export Slurm asks a login shell for the rest, at each start.
        sh("sbatch", "-p", "low", f"--array=1-{AGENTS}", "-o",
           f"{self.folder}/%A_%a.out", RECIPE, env={**os.environ, **exports})
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

    def draw(self):
        return self.choice.choice(until("an agent runs", self.running))

    def take_node(self, job, node):
        """Takes the node of an agent away."""
        sh("sbatch", "-Q", "-p", "high", "-w", node, "-n1", "-o", "/dev/null",
           "--wrap", "true")
        self.taken += 1
        print(f"{time.strftime('%T')} preempts job {job} on {node}", flush=True)

    def preempt(self):
        """Takes a node away once all agents are there; its job is requeued."""
        until("all agents are there", self.is_whole)
        job, node = self.draw()
        before = self.restarts(job)
        self.take_node(job, node)
        until(f"job {job} of {node} is requeued",
              lambda: self.restarts(job) > before)

    def rage(self, client, every):
        """Takes a node away at each turn of the clock, until the client ends;
        agents that are about to leave or to start as well."""
        turn = time.monotonic()
        while True:
            turn += every
            try:
                client.wait(max(0, turn - time.monotonic()))
                return
            except subprocess.TimeoutExpired:
                self.take_node(*self.draw())

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
    seed = int(os.environ.get("DOGGED_TEST_SEEDS",
                              str(random.randrange(10**9))).split(":")[0])
    print(f"seed: DOGGED_TEST_SEEDS={seed}", flush=True)
    here = Storm(folder, random.Random(seed))
    sh("scontrol", "update", "PartitionName=low", f"GraceTime={GRACE}")
    here.submit()
    founders = here.alive()
    words = os.path.join(folder, "client.err")
    with open(words, "w") as err:
        client = subprocess.Popen(
            [DOGGED, "run", *PROGRAM, "--cluster", here.point, "--agents",
             str(AGENTS), "--workers", "1", "--patience", "5m", "--json"],
            stdout=subprocess.PIPE, stderr=err, text=True)
    try:
        if OPTIONS.every:
            here.rage(client, OPTIONS.every)
        else:
            for _ in range(OPTIONS.preemptions):
                here.preempt()
        out = client.communicate(timeout=HOUR)[0]
    finally:
        client.kill()
        client.wait()
    if client.returncode != 0:
        with open(words) as err:
            fail(f"the run: {client.returncode}\n{err.read()}\n{here.logs()}")
    until("all agents are back", here.is_whole)
    judge(here, json.loads(out), founders)


def judge(here, report, founders):
    logs = here.logs()
    told = logs.count("told to leave by SIGTERM")
    share = report["tasks_executed"] / report["tasks_needed"]
    print(f"{report['wall_seconds']:.0f} s, {here.taken} preemptions, {told} "
          f"agents told, executed/needed {share:.3f}, submissions "
          f"{report['submissions']}, left {report['agents_left']}, lost "
          f"{report['agents_lost']}, joined {report['agents_joined']}",
          flush=True)
    # Slurm warns no step that does not run yet.
    if told < (here.taken / 2 if OPTIONS.every else here.taken):
        fail(f"{told} agents were told:\n{logs}")
    if here.taken and "handed over" not in logs:
        fail(f"nobody handed over:\n{logs}")
    if here.taken and here.alive() == founders:
        fail(f"nobody came back as a new member:\n{logs}")
    if share > LIMITS[GRACE]:
        fail(f"executed/needed {share:.3f}, not {LIMITS[GRACE]}:\n{logs}")
    serial = json.loads(sh(DOGGED, "run", *PROGRAM, "--agents", "1", "--json",
                           timeout=HOUR))
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
