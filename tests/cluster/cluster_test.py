"""Real processes, real sockets, kill -9: results equal to the serial run.

Aim: whoever dies or joins on the way, `dogged run` ends with the bits of a run
without agents. Method: the binary itself, on free ports, victims and moments
drawn from a seed that is printed with every failure.

usage: cluster_test.py DOGGED SOURCE_DIR CASE
"""

import json
import os
import signal
import subprocess
import sys
import tempfile

DOGGED, SOURCE, CASE = sys.argv[1:4]
SEEDS = range(1, int(os.environ.get("DOGGED_TEST_TRIALS", "3")) + 1)


def app(name):
    return os.path.join(SOURCE, "apps", name, name + ".dog")


def run(*arguments, expect=0, timeout=240):
    """Runs `dogged run` and returns its report; fails on another status."""
    command = [DOGGED, "run", *map(str, arguments), "--json"]
    done = subprocess.run(command, capture_output=True, text=True,
                          timeout=timeout)
    if done.returncode != expect:
        raise SystemExit(
            f"exit status {done.returncode}, not {expect}: "
            f"{' '.join(command)}\n{done.stdout}\n{done.stderr}")
    return json.loads(done.stdout) if done.stdout.strip() else {}


def check_equal(what, got, expected, report):
    if got != expected:
        raise SystemExit(f"{what}: {got}, not {expected}\n{report}")


def digest_survives(program, *extra, agents=(2, 4)):
    """The digest of one agent's run, whatever happens to several."""
    serial = run(program, *extra)["result_digest"]
    for seed in SEEDS:
        for count in agents:
            share = (seed * 37 + count * 11) % 70 + 10
            for replicas in (1, 2):
                report = run(program, *extra, "--agents", count,
                             "--replicas", replicas, "--kill-at",
                             f"{share}%", "--join-at", f"{share // 2}%",
                             "--seed", seed)
                check_equal(f"digest, {count} agents, seed {seed}",
                            report["result_digest"], serial, report)
                check_equal("agents lost", report["agents_lost"], 1, report)


def case_stencil():
    digest_survives(app("heat1d"), "-D", "N=400001", "-D", "T=1000")


def case_points():
    digest_survives(app("heat1d"), "-D", "N=1001", "-D", "T=40",
                    "--coalesce", "off", agents=(4,))


def case_cholesky():
    digest_survives(app("cholesky"), "-D", "N=2048", "-D", "NB=128",
                    agents=(4,))


def case_search():
    program = (app("heat1d"), "-D", "N=2001", "-D", "T=20",
               "--coalesce", "off")
    serial = run(*program)["result_digest"]
    for seed in SEEDS:
        report = run(*program, "--agents", 4, "--search-only", "--seed", seed)
        check_equal("digest", report["result_digest"], serial, report)


def case_all_but_one():
    program = (app("heat1d"), "-D", "N=400001", "-D", "T=1000")
    serial = run(*program)["result_digest"]
    for seed in SEEDS:
        report = run(*program, "--agents", 4, "--seed", seed,
                     "--kill-at", "20%,40%,60%")
        check_equal("digest", report["result_digest"], serial, report)
        check_equal("agents lost", report["agents_lost"], 3, report)


def case_cluster():
    """A cluster that stands: submit, lose the agent one talks to, ask again,
    leave on SIGTERM, nothing left."""
    agents = []
    try:
        addresses = []
        for _ in range(3):
            command = [DOGGED, "agent", "--listen", "127.0.0.1:0",
                       "--workers", "1"]
            if addresses:
                command += ["--join", addresses[0]]
            agent = subprocess.Popen(command, stdout=subprocess.PIPE,
                                     text=True)
            agents.append(agent)
            line = agent.stdout.readline()
            if not line.startswith("listening "):
                raise SystemExit(f"an agent said {line!r}")
            addresses.append(line.split()[1])
        program = (app("heat1d"), "-D", "N=20001")
        serial = run(*program)["result_digest"]
        report = run(*program, "--cluster", addresses[0])
        check_equal("digest", report["result_digest"], serial, report)
        agents[0].kill()
        agents[0].wait()
        report = run(*program, "-D", "T=101", "--cluster", addresses[1])
        status = json.loads(subprocess.run(
            [DOGGED, "status", "--cluster", addresses[2], "--json"],
            capture_output=True, text=True, check=True).stdout)
        alive = [a for a in status["agents"] if a["state"] == "alive"]
        check_equal("agents alive", len(alive), 2, status)
        agents[1].send_signal(signal.SIGTERM)
        check_equal("exit status after SIGTERM", agents[1].wait(timeout=60),
                    0, "")
    finally:
        for agent in agents:
            agent.kill()
            agent.wait()


def case_bad_input():
    with tempfile.TemporaryDirectory() as folder:
        bad = os.path.join(folder, "bad.dog")
        with open(bad, "w") as file:
            file.write("task t creates a(x)(t) as n for x = 1:\n")
        run(bad, expect=3)
        run(os.path.join(folder, "none.dog"), expect=2)
        run(app("heat1d"), "-D", "M=3", expect=3)
        run(app("heat1d"), "-D", "N=x", expect=3)
        run(app("heat1d"), "--cluster", "127.0.0.1:1", expect=4)
        run(app("heat1d"), "--agents", "2", "--kill-at", "99s", expect=2)
        run(app("heat1d"), "--nonsense", expect=2)
        run(app("heat1d"), "--output", "psi(:)(100)=x.npy", expect=3)


globals()["case_" + CASE]()
