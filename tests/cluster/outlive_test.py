"""Jobs that outlive every agent.

Aim: a job that was submitted once goes on by itself after all agents were
killed and some came back with their directories, and a client that has nothing
but its hash gets the same bits; one that has ended does not begin again; and a
directory that makes no sense here costs words. Method: the binary itself on
free ports, SIGKILL; nothing waits for a time to pass, but for what it waits
for.

usage: outlive_test.py DOGGED SOURCE_DIR CASE
       outlive_test.py DOGGED SOURCE_DIR generations GENERATIONS WALLTIME SHARE
SHARE: of the time of all generations, how much the job takes one agent
"""

import array
import glob
import json
import os
import signal
import subprocess
import sys
import tempfile
import time

from standing import Standing, bytes_in, until

DOGGED, SOURCE, CASE = os.path.abspath(sys.argv[1]), *sys.argv[2:4]
HEAT1D = os.path.join(SOURCE, "apps", "heat1d", "heat1d.dog")
N = 1500
READS = f"""
param N = {N}
param T = 400
input S(i)(j) for i = 0:N-1 j = 0:N-1
task start
  creates u(i)(j)(0) as n
  for i = 0:N-1 j = 0:N-1
  using S(i)(j) as s
  code
    n = s
  end code
end task
boundary u(0)(j)(t) = 0
boundary u(N-1)(j)(t) = 0
task step
  creates u(i)(j)(t) as n
  for i = 1:N-2 j = 0:N-1 t = 1:T
  using
    u(i-1)(j)(t-1) as a
    u(i+1)(j)(t-1) as b
    S(i)(j) as s
  code
    n = 0.49*(a + b) + 0.001*s
  end code
end task
result u(:)(:)(T)
"""


def check(what, holds, report=""):
    if not holds:
        raise SystemExit(f"{what}\n{report}")


def call(*arguments, expect=0, timeout=240, env=None):
    """A command's output and words."""
    done = subprocess.run([DOGGED, *map(str, arguments)], capture_output=True,
                          text=True, timeout=timeout,
                          env={**os.environ, **(env or {})})
    expected = expect if isinstance(expect, tuple) else (expect,)
    check(f"exit status {done.returncode}, not {expect}: {arguments}",
          done.returncode in expected, f"{done.stdout}\n{done.stderr}")
    return done.stdout, done.stderr, done.returncode


def alone(*program, timeout=240):
    return json.loads(call("run", *program, "--agents", 1, "--json",
                           timeout=timeout)[0])


def write_input(path):
    head = f"{{'descr': '<f8', 'fortran_order': False, 'shape': ({N}, {N}), }}"
    head += " " * (63 - (10 + len(head)) % 64) + "\n"
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + len(head).to_bytes(2, "little"))
        file.write(head.encode())
        row = array.array("d", [float(i * 31 % 997) for i in range(2 * N)])
        for i in range(N):
            file.write(row[i % N:i % N + N].tobytes())


class Life(Standing):
    """Agents of one life of a cluster, each with a directory."""

    def __init__(self, folder):
        super().__init__(DOGGED)
        self.folder = folder

    def begin(self, *names, **options):
        for name in names:
            self.start("--dir", os.path.join(self.folder, str(name)),
                       **options)
        return self

    def call(self, command, *arguments, at=0, **options):
        return call(command, *arguments, "--cluster", self.addresses[at],
                    **options)

    def job(self, job, at=0):
        found = [j for j in self.status(at)["jobs"] if j["job"] == job]
        check(f"no job {job}", found, self.status(at))
        return found[0]

    def await_share(self, share=0.3):
        return self.await_status(
            f"{share} of the job",
            lambda s: any(j["progress"] > share for j in s["jobs"]))


def case_outage():
    """All are killed, two of three come back; no client in between."""
    program = (HEAT1D, "-D", "N=400001", "-D", "T=12000")
    expected = alone(*program)["result_digest"]
    with tempfile.TemporaryDirectory() as folder:
        with Life(folder).begin(0, 1, 2) as life:
            job = life.call("submit", *program)[0].strip()
            life.await_share()
        with Life(folder).begin(2, 0) as life:
            check("not listed as running",
                  life.job(job)["state"] in ("running", "done"))
            answer = json.loads(life.call("wait", job, "--json")[0])
            check("other bits", answer["result_digest"] == expected, answer)
            # Each directory has the end.
            for at in range(2):
                life.await_status("the end", lambda s: all(
                    j["state"] == "done" for j in s["jobs"]), at=at)
        # Results that were there are there.
        with Life(folder).begin(0, 1, 2) as life:
            out = os.path.join(folder, "u.npy")
            words = json.loads(life.call("fetch", job, f"phi(:)(T)={out}",
                                         "--json")[0])
            check("other bits", words["result_digest"] == expected, words)
            found = life.job(job)
            check("results were made again", found["tasks_executed"] == 0,
                  found)
            life.call("forget", job)
            life.await_status("the job's end", lambda s: all(
                j.get("kept_bytes", 0) == 0 for j in s["jobs"]))
        with Life(folder).begin(0, 1) as life:
            call("fetch", job, "--cluster", life.addresses[0], expect=1)


def case_told():
    """All are told to leave, at once: nobody is waited for, and the directories
    have all that was made."""
    program = (HEAT1D, "-D", "N=400001", "-D", "T=12000")
    expected = alone(*program)
    with tempfile.TemporaryDirectory() as folder:
        words = os.path.join(folder, "words")
        with open(words, "w") as file, Life(folder) as life:
            life.begin(0, 1, 2, stderr=file)
            job = life.call("submit", *program)[0].strip()
            # Those that come back begin before all are there, and run some of it
            # again: more than is asked for below has to be there.
            life.await_share(0.5)
            for agent in life.agents:
                agent.send_signal(signal.SIGTERM)
            left = [agent.wait(60) for agent in life.agents]
        with open(words) as file:
            said = file.read()
        check(f"not left when asked: {left}", not any(left), said)
        check("waits for an agent", "waits up to" not in said, said)
        check("nothing stays", "values stay in its directory" in said and
              "go with it" not in said, said)
        with Life(folder).begin(0, 1, 2) as life:
            needed = life.job(job)["tasks_needed"]

            def counts(status):
                """What the directories have, with all that led to it."""
                found = status["jobs"][0]
                check("the job does not go on",
                      found["state"] in ("running", "done"), found)
                return (found["progress"] * needed - found["tasks_executed"]
                        > 0.2 * needed)

            life.await_status("progress from before", counts)
            answer = json.loads(life.call("wait", job, "--json")[0])
            check("other bits", answer["result_digest"]
                  == expected["result_digest"], answer)
            executed = life.job(job)["tasks_executed"]
            # Half was done before.
            check(f"{executed} of {needed} tasks were run", executed <
                  0.75 * needed)
            # Results that nobody has fetched stay, too.
            for agent in life.agents:
                agent.send_signal(signal.SIGTERM)
            for agent in life.agents:
                check("not left when asked", agent.wait(60) == 0)
        with Life(folder).begin(0, 1, 2) as life:
            answer = json.loads(life.call("wait", job, "--json")[0])
            check("other bits", answer["result_digest"]
                  == expected["result_digest"], answer)
            executed = life.job(job)["tasks_executed"]
            check(f"{executed} tasks were run again", executed == 0)


def case_early():
    """A client that asks before the agent has read its directory waits."""
    with tempfile.TemporaryDirectory() as folder:
        with Life(folder).begin(0) as life:
            address = life.addresses[0]
            job = life.call("submit", HEAT1D, "-D", "N=2001")[0].strip()
            life.call("wait", job)
        agent = subprocess.Popen(
            [DOGGED, "agent", "--workers", "1", "--listen", address, "--dir",
             os.path.join(folder, "0")], stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL)
        try:
            until("the agent answers", lambda: call(
                "wait", job, "--cluster", address, expect=(0, 4))[2] == 0)
        finally:
            agent.kill()
            agent.wait()


def case_inputs():
    """The job reads a large input, which its client gave and that went."""
    with tempfile.TemporaryDirectory() as folder:
        program = os.path.join(folder, "reads.dog")
        with open(program, "w") as file:
            file.write(READS)
        data = os.path.join(folder, "s.npy")
        write_input(data)
        expected = alone(program, "--input", f"S={data}")["result_digest"]
        with Life(folder).begin(0, 1, 2) as life:
            job = life.call("submit", program, "--input",
                            f"S={data}")[0].strip()
            os.remove(data)
            life.await_share()
        with Life(folder).begin(0, 1, 2) as life:
            answer = json.loads(life.call("wait", job, "--json")[0])
            check("other bits", answer["result_digest"] == expected, answer)


def case_ended():
    """A cancelled job does not begin again, nor what an old disk has of a
    job that others have ended."""
    program = (HEAT1D, "-D", "N=400001", "-D", "T=1000000")
    with tempfile.TemporaryDirectory() as folder:
        with Life(folder).begin(0, 1) as life:
            job = life.call("submit", *program)[0].strip()
            life.await_status("some of the job", lambda s: any(
                j["progress"] > 0 for j in s["jobs"]))
            # The second one does not hear of the end.
            life.agents[1].kill()
            life.agents[1].wait()
            life.call("cancel", job)
            # Its record is on disk once a later one is.
            life.call("submit", HEAT1D, "-D", "N=4001", "-D", "T=10")
        with Life(folder).begin(0, 1) as life:
            check("it began again", life.job(job)["state"] == "cancelled")
            check("it began again", life.job(job, at=1)["state"] == "cancelled")
            kept = os.path.join(folder, "1")
            deadline = time.monotonic() + 60
            while bytes_in(kept) > 4 << 20:
                check(f"{bytes_in(kept)} bytes are kept of it",
                      time.monotonic() < deadline)
                time.sleep(0.1)


def case_foreign():
    """Directories of another cluster, and bytes that make no sense."""
    program = (HEAT1D, "-D", "N=400001", "-D", "T=100000")
    with tempfile.TemporaryDirectory() as folder:
        keys = [os.path.join(folder, f"key{i}") for i in range(2)]
        for key in keys:
            call("key", "new", "--file", key)
        mine = os.path.join(folder, "mine")
        words = os.path.join(folder, "words")
        os.environ["DOGGED_KEY_FILE"] = keys[0]
        with Life(folder).begin("mine") as life:
            job = life.call("submit", *program)[0].strip()
        os.environ["DOGGED_KEY_FILE"] = keys[1]
        with open(words, "w") as file, Life(folder) as life:
            life.begin("mine", stderr=file)
            found = life.status()["jobs"]
            check("another cluster's job runs", not found, found)
        with open(words) as file:
            text = file.read()
        check("no words", "another cluster" in text and
              "serves without a directory" in text, text)
        check("others may read it", os.stat(
            os.path.join(mine, "values")).st_mode & 0o77 == 0)
        os.environ["DOGGED_KEY_FILE"] = keys[0]
        with Life(folder).begin("mine") as life:
            found = life.status()["jobs"]
            check("it does not go on", [j["job"] for j in found] == [job],
                  found)


def case_generations():
    """A job submitted once; agents live for some seconds, others take their
    places; once all are killed. No command until the end."""
    words = sys.argv[4:] or ("3", "6", "0.2")
    generations, walltime, share = int(words[0]), *map(float, words[1:3])
    probe = alone(HEAT1D, "-D", "N=400001", "-D", "T=2000")
    step = probe["compute_seconds"] / 2000
    steps = int(generations * walltime * share / step)
    program = (HEAT1D, "-D", "N=400001", "-D", f"T={steps}")
    with tempfile.TemporaryDirectory() as folder:
        pool = os.path.join(folder, "pool")
        os.mkdir(pool)
        slots = [None, None]
        lives = [walltime * 7 / 12, walltime * 5 / 6]  # until told to leave
        started = 0

        def start(slot):
            nonlocal started
            started += 1
            slots[slot] = subprocess.Popen(
                [DOGGED, "agent", "--workers", "1", "--listen", "127.0.0.1:0",
                 "--dir", os.path.join(folder, f"slot{slot}"), "--join",
                 f"file:{pool}", "--lifetime", f"{lives[slot]:.1f}s",
                 "--leave-within", f"{walltime / 6:.1f}s"],
                stdout=subprocess.PIPE, text=True)
            # An agent whose life was too short to begin is followed by another.
            slots[slot].stdout.readline()

        def refill():
            for slot, agent in enumerate(slots):
                if agent is None or agent.poll() is not None:
                    start(slot)

        def wait():
            return subprocess.Popen(
                [DOGGED, "wait", job, "--json", "--cluster", f"file:{pool}"],
                stdout=subprocess.PIPE, text=True)

        try:
            refill()
            job = call("submit", *program, "--agents", 2, "--workers", 1,
                       "--cluster", f"file:{pool}")[0].strip()
            began = time.monotonic()
            founders = list(slots)
            had_outage = False
            while started < 2 * generations:
                refill()
                if not had_outage and started >= generations:
                    had_outage = True
                    for agent in slots:
                        agent.send_signal(signal.SIGKILL)
                    for agent in slots:
                        agent.wait()
                time.sleep(0.05)
            check("a founder lives",
                  all(f.poll() is not None for f in founders))
            told = subprocess.run(
                [DOGGED, "status", "--cluster", f"file:{pool}"],
                capture_output=True, text=True).stdout
            print(f"{started} agents, {time.monotonic() - began:.0f} s, "
                  f"{steps} steps:\n{told}", flush=True)
            waiter = wait()
            while waiter.poll() is None:
                refill()
                time.sleep(0.05)
                if waiter.poll() == 4:  # for a moment no agent was there
                    waiter.communicate()
                    waiter = wait()
            answer = json.loads(waiter.stdout.read())
            print(f"done: {started} agents, {time.monotonic() - began:.0f} s",
                  flush=True)
        finally:
            for agent in slots:
                if agent is not None:
                    agent.kill()
                    agent.wait()
    expected = alone(*program, timeout=3600)["result_digest"]
    check("other bits", answer["result_digest"] == expected, answer)


globals()[f"case_{CASE}"]()
