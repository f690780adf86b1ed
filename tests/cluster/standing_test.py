"""A cluster that stands: many jobs, many clients, agents of every sort.

Aim: the contract of `dogged run --cluster`, `agent`, `status` and `cancel`.
Method: the binary itself on free ports; nothing waits for a time to pass, but
for what it waits for.

usage: standing_test.py DOGGED SOURCE_DIR CASE
"""

import json
import os
import signal
import subprocess
import sys
import tempfile

from standing import Standing

DOGGED, SOURCE, CASE = sys.argv[1:4]
HEAT = os.path.join(SOURCE, "apps", "heat1d", "heat1d.dog")
HEAT2D = os.path.join(SOURCE, "apps", "heat2d", "heat2d.dog")


def check(what, got, expected, report=""):
    if got != expected:
        raise SystemExit(f"{what}: {got}, not {expected}\n{report}")


def serial(*arguments):
    done = subprocess.run([DOGGED, "run", *arguments, "--json"],
                          capture_output=True, text=True, check=True)
    return json.loads(done.stdout)["result_digest"]


def case_numeric_class():
    """Agents whose BLAS computes otherwise run nothing, but serve: a client
    that talks to one of them gets the job's bits all the same."""
    program = (HEAT, "-D", "N=20001")
    expected = serial(*program)
    other = {"OPENBLAS_CORETYPE": "Prescott"}
    with Standing(DOGGED) as cluster:
        cluster.start(env=other)
        cluster.start()
        cluster.start(env=other)
        report, _ = cluster.run(*program, at=0)
        check("digest", report["result_digest"], expected, report)
        busy = sorted(report["tasks_per_agent"])
        check("agents that ran tasks", [n > 0 for n in busy],
              [False, False, True], report)
        # Without the one agent of its class a job waits, and says for whom;
        # tests/sim/cluster_test.cc waits until it fails.
        cluster.agents[1].kill()
        cluster.agents[1].wait()
        command = [DOGGED, "run", HEAT, "-D", "N=20002", "--cluster",
                   cluster.addresses[2]]
        client = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        status = cluster.await_status(
            "a job that waits", at=2,
            wanted=lambda s: any(j["note"] for j in s["jobs"]))
        job = [j for j in status["jobs"] if j["note"]][0]
        if "numeric class" not in job["note"]:
            raise SystemExit(f"no word of the numeric class: {job}")
        for line in client.stderr:
            if "numeric class" in line:
                break
        else:
            raise SystemExit("the client has no word of the numeric class")
        subprocess.run([DOGGED, "cancel", "--cluster", cluster.addresses[0],
                        job["job"]], check=True, stdout=subprocess.DEVNULL)
        _, words = client.communicate(timeout=60)
        check("exit status of a cancelled run", client.returncode, 1, words)


def case_slow_compiler():
    """An agent whose compiler hangs answers and is not taken for dead; the job
    waits for it. One that is told to leave leaves at once."""
    with tempfile.TemporaryDirectory() as folder, Standing(DOGGED) as cluster:
        gate = os.path.join(folder, "gate")
        os.mkfifo(gate)
        compiler = os.path.join(folder, "slow-cc")
        with open(compiler, "w") as file:
            file.write("#!/bin/sh\n"
                       '[ "$1" = --version ] || read line < ' + gate + "\n"
                       'exec cc "$@"\n')
        os.chmod(compiler, 0o755)
        slow = {"DOGGED_CC": compiler,
                "XDG_CACHE_HOME": os.path.join(folder, "slow")}
        quick = {"XDG_CACHE_HOME": os.path.join(folder, "quick")}
        cluster.start(env=quick)
        cluster.start(env=slow)
        # Tiles for eight agents: each of the two has some.
        command = [DOGGED, "run", HEAT, "-D", "N=20001", "--agents", "8",
                   "--cluster", cluster.addresses[0], "--json"]
        client = subprocess.Popen(command, stdout=subprocess.PIPE, text=True,
                                  env={**os.environ, **quick})
        # It has the job and compiles: only then somebody reads the gate.
        with open(gate, "w") as open_gate:
            status = cluster.status(at=1)
            check("agents alive while one compiles",
                  [a["state"] for a in status["agents"]], ["alive"] * 2)
            check("the client waits", client.poll(), None)
            open_gate.write("go\n")
        out, _ = client.communicate(timeout=120)
        check("exit status", client.returncode, 0, out)

        # Another program, so another source.
        command[2:5] = [HEAT2D, "-D", "N=257", "-D", "T=10"]
        client = subprocess.Popen(command, stdout=subprocess.PIPE, text=True,
                                  env={**os.environ, **quick})
        with open(gate, "w"):
            cluster.agents[1].send_signal(signal.SIGTERM)
            check("leaving while compiling", cluster.agents[1].wait(60), 0)
        out, _ = client.communicate(timeout=120)
        check("exit status", client.returncode, 0, out)
        left = [f for f in os.listdir(os.path.join(folder, "slow", "dogged"))
                if not f.endswith((".c", ".so")) or f.count(".") > 1]
        check("files of an interrupted compiler", left, [])


globals()["case_" + CASE]()
