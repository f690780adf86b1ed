"""Values that agents of one host lend each other, in real processes.

Aim: large values are not sent; kill -9 of lenders and of borrowers costs no
bit, nor does a lender that leaves; an agent that can't map, or must not, gets
bytes; nothing is left.
Method: the binary itself; the victim is drawn, and the job runs until it has
been killed.

usage: lending_test.py DOGGED SOURCE_DIR CASE
"""

import filecmp
import glob
import json
import os
import random
import re
import resource
import signal
import subprocess
import sys
import tempfile

from standing import Standing

DOGGED, SOURCE, CASE = sys.argv[1:4]
CHOLESKY = os.path.join(SOURCE, "apps", "cholesky", "cholesky.dog")
# Tiles of 128 KB.
SMALL = [CHOLESKY, "-D", "N=1024", "-D", "NB=128"]


def check(what, holds, report=""):
    if not holds:
        raise SystemExit(f"{what}\n{report}")


def arenas():
    """Processes that map an arena, whose ever it is."""
    out = set()
    for path in glob.glob("/proc/[0-9]*/maps"):
        try:
            with open(path, encoding="utf-8") as maps:
                if "memfd:dogged-arena" in maps.read():
                    out.add(int(path.split("/")[2]))
        except OSError:
            pass
    return out


def has_pool(pid):
    """If values of the process lie in a pool of its own, on huge pages where
    the system grants them: a mapping that was advised so, with pages."""
    with open(f"/proc/{pid}/smaps", encoding="utf-8") as file:
        mappings = re.split(r"^(?=[0-9a-f]+-[0-9a-f]+ )", file.read(),
                            flags=re.MULTILINE)
    return any(re.search(r"^VmFlags:.* hg\b", mapping, re.MULTILINE) and
               int(re.search(r"^Size: +(\d+)", mapping, re.MULTILINE)[1]) >
               1 << 20 and not re.search(r"^Rss: +0 kB", mapping, re.MULTILINE)
               for mapping in mappings)


def serial_digest(*program):
    done = subprocess.run([DOGGED, "run", *program, "--json"], check=True,
                          capture_output=True, text=True, timeout=200)
    return json.loads(done.stdout)["result_digest"]


def values_are_not_sent():
    expected = serial_digest(*SMALL)
    sent = {}
    for arena in ("on", "off"):
        with Standing(DOGGED) as agents:
            for _ in range(2):
                agents.start("--arena", arena)
            report, _ = agents.run(*SMALL, "--replicas", 2)
            check(f"arena {arena}: other bits",
                  report["result_digest"] == expected, report)
            sent[arena] = report["bytes_sent"]
            tiles = 36 if arena == "on" else 0
            check(f"arena {arena}: not {tiles} results lent to the client",
                  report["results_lent"] == tiles, report)
            if arena == "off":
                check("values without a pool", all(
                    has_pool(agent.pid) for agent in agents.agents))
    check("lending sends as much as copying", sent["on"] < sent["off"] / 5,
          sent)


def mixed_agents_understand_each_other():
    """An agent without an arena lends nothing and borrows nothing."""
    expected = serial_digest(*SMALL)
    with Standing(DOGGED) as agents:
        for arena in ("on", "off", "on"):
            agents.start("--arena", arena)
        report, _ = agents.run(*SMALL, "--replicas", 2)
        check("other bits", report["result_digest"] == expected, report)


def kill_costs_no_bit():
    """SIGKILL of an agent that lends and borrows, whoever it is."""
    program = [CHOLESKY, "-D", "N=6144", "-D", "NB=128"]  # some seconds
    expected = serial_digest(*program)
    seed = int(os.environ.get("DOGGED_TEST_SEED", random.randrange(1 << 31)))
    rng = random.Random(seed)
    for replicas in (1, 2):
        shares = sorted(rng.sample(range(10, 60), 2))
        command = [DOGGED, "run", *program, "--agents", "3", "--replicas",
                   str(replicas), "--kill-at",
                   ",".join(f"{share}%" for share in shares), "--seed",
                   str(rng.randrange(1, 1 << 31)), "--json"]
        done = subprocess.run(command, capture_output=True, text=True,
                              timeout=200)
        check(f"seed {seed}: exit status {done.returncode}: {command}",
              done.returncode == 0, done.stderr)
        report = json.loads(done.stdout)
        check(f"seed {seed}: two were to be killed: {command}",
              report["agents_lost"] == 2, report)
        check(f"seed {seed}: other bits: {command}",
              report["result_digest"] == expected, report)


def leaving_costs_no_bit():
    """An agent leaves that has lent more than an arena keeps free pages of."""
    program = [CHOLESKY, "-D", "N=6144", "-D", "NB=256"]
    expected = serial_digest(*program)
    with Standing(DOGGED) as agents:
        for _ in range(2):
            agents.start()
        with subprocess.Popen(
                [DOGGED, "run", *program, "--replicas", "1", "--cluster",
                 agents.addresses[1], "--json"], stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL, text=True) as client:
            agents.await_status("most tasks ran", at=1, wanted=lambda s: any(
                job["tasks_executed"] > 2000 for job in s["jobs"]))
            agents.agents[0].send_signal(signal.SIGTERM)
            status = agents.agents[0].wait(timeout=100)
            words, _ = client.communicate(timeout=100)
        check(f"exit status {status} of who left, {client.returncode}",
              (status, client.returncode) == (0, 0), words)
        check("other bits", json.loads(words)["result_digest"] == expected,
              words)


# 64 MB in blocks of one; all else that a client needs is less than the limit,
# however late it is in taking what was sent.
LARGE = [os.path.join(SOURCE, "apps", "heat1d", "heat1d.dog"), "-D",
         "N=8000001", "-D", "T=2"]
DATA_MAX = 48 << 20


def data_max(more):
    """More where OpenBLAS takes a block of 128 MB as it is loaded, and by what
    all else takes beyond DATA_MAX there."""
    done = subprocess.run(
        [DOGGED, "check", *LARGE], capture_output=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_DATA,
                                              (DATA_MAX, DATA_MAX)))
    return DATA_MAX if done.returncode == 0 else DATA_MAX + (128 << 20) + more


def more_results_than_memory():
    """Results that a client has no memory for lie in a file on their way."""
    limit = data_max(more=16 << 20)

    def limit_data():
        resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))

    with tempfile.TemporaryDirectory() as folder:
        whole = os.path.join(folder, "whole.npy")
        subprocess.run([DOGGED, "run", *LARGE, "--output", f"phi(:)(2)={whole}"],
                       check=True, capture_output=True, timeout=200)
        for arena in ("on", "off"):
            with Standing(DOGGED) as agents:
                for _ in range(2):
                    agents.start("--arena", arena)
                path = os.path.join(folder, arena + ".npy")
                done = subprocess.run(
                    [DOGGED, "run", *LARGE, "--output", f"phi(:)(2)={path}",
                     "--cluster", agents.addresses[0]], capture_output=True,
                    text=True, timeout=200, preexec_fn=limit_data)
                check(f"arena {arena}: exit status {done.returncode}",
                      done.returncode == 0, done.stderr)
            check(f"arena {arena}: another file",
                  filecmp.cmp(whole, path, shallow=False), path)
        check("more files than outputs", sorted(os.listdir(folder)) ==
              ["off.npy", "on.npy", "whole.npy"], os.listdir(folder))


def no_room_for_results():
    """A client that has neither memory nor disk for what comes says how much
    has come."""
    limit = data_max(more=0)

    def limit_data():
        resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
        resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20))

    for arena in ("on", "off"):
        with Standing(DOGGED) as agents:
            for _ in range(2):
                agents.start("--arena", arena)
            done = subprocess.run(
                [DOGGED, "run", *LARGE, "--cluster", agents.addresses[0]],
                capture_output=True, text=True, timeout=200,
                preexec_fn=limit_data)
            words = re.search(r"error: no memory for the \d+ results: beyond "
                              r"the (\d+) bytes", done.stderr)
            check(f"arena {arena}: exit status {done.returncode}, or words",
                  done.returncode == 5 and words, done.stderr)
            check(f"arena {arena}: more than there is room for",
                  int(words[1]) < limit, done.stderr)
            check(f"arena {arena}: no word of the disk",
                  "cannot write results: File too large" in done.stderr,
                  done.stderr)


def nothing_is_left():
    """SIGKILL of all, in the middle of a job."""
    before = arenas()
    with Standing(DOGGED) as agents:
        for _ in range(3):
            agents.start()
        pids = {agent.pid for agent in agents.agents}
        check("an agent without an arena", pids <= arenas(), arenas())
        client = subprocess.Popen(
            [DOGGED, "run", CHOLESKY, "-D", "N=4096", "-D", "NB=128",
             "--cluster", agents.addresses[0]], stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL)
        agents.await_status("a task ran", lambda s: any(
            job["tasks_executed"] > 0 for job in s["jobs"]))
        for agent in agents.agents:
            agent.send_signal(signal.SIGKILL)
        for agent in agents.agents:
            agent.wait()
        client.wait(timeout=100)
    check("somebody maps an arena of theirs", not (arenas() & pids), before)


CASES = {
    "not_sent": values_are_not_sent,
    "mixed": mixed_agents_understand_each_other,
    "kill": kill_costs_no_bit,
    "leave": leaving_costs_no_bit,
    "more_than_memory": more_results_than_memory,
    "no_room": no_room_for_results,
    "nothing_left": nothing_is_left,
}
CASES[CASE]()
