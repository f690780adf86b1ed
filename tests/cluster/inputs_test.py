"""Aim: inputs longer than any queue reach the agents that read them, and no
agent gets more than it reads; an agent that dies with the only copy leaves
words, no job that runs for ever. Method: real agents, an input of 77 MB, kills
as soon as it is taken.
"""

import array
import json
import os
import signal
import subprocess
import sys
import tempfile

from standing import Standing

DOGGED = sys.argv[1]
N = 3100
PROGRAM = """
param N = 3100
param T = 4
input S(i)(j) for i = 0:N-1 j = 0:N-1
task start
  creates u(i)(j)(0) as n
  for i = 0:N-1 j = 0:N-1
  using S(i)(j) as s
  code
    n = s
  end code
end task
task step
  creates u(i)(j)(t) as n
  for i = 0:N-1 j = 0:N-1 t = 1:T
  using u(i)(j)(t-1) as c
  code
    n = 0.5*c
  end code
end task
result u(:)(:)(T)
"""

# All of it is read long before half of it is done.
SPREADING = """
param N = 3100
param T = 200
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
  code
    n = 0.5*(a + b)
  end code
end task
result u(:)(:)(T)
"""


def check(what, holds, report=""):
    if not holds:
        raise SystemExit(f"{what}\n{report}")


def write_input(path):
    head = f"{{'descr': '<f8', 'fortran_order': False, 'shape': ({N}, {N}), }}"
    head += " " * (63 - (10 + len(head)) % 64) + "\n"
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + len(head).to_bytes(2, "little"))
        file.write(head.encode())
        row = array.array("d", [float(i * 31 % 997) for i in range(2 * N)])
        for i in range(N):
            file.write(row[i % N:i % N + N].tobytes())


def files(folder, text=PROGRAM):
    program = os.path.join(folder, "reads.dog")
    with open(program, "w") as file:
        file.write(text)
    data = os.path.join(folder, "s.npy")
    write_input(data)
    return program, f"S={data}"


def run(program, data, *arguments, env=None):
    done = subprocess.run(
        [DOGGED, "run", program, "--input", data, "--json", *arguments],
        capture_output=True, text=True, timeout=240,
        env={**os.environ, **(env or {})})
    check(f"exit status {done.returncode}", done.returncode == 0, done.stderr)
    return json.loads(done.stdout)


def case_large():
    """The same results as in one process; of the input each agent gets what
    its tasks read, also where memory is bounded."""
    with tempfile.TemporaryDirectory() as folder:
        program, data = files(folder)
        alone = run(program, data, "--agents", "1")
        for env in ({}, {"DOGGED_MEMORY": "100M"}):
            report = run(program, data, "--agents", "3", env=env)
            check("other results", report["result_digest"]
                  == alone["result_digest"], report)
            check("the client gave more than there is",
                  report["input_bytes_supplied"] == 8 * N * N, report)
            check("agents got more than they read",
                  report["input_bytes_received"]
                  <= 1.2 * report["input_bytes_read"], report)
            check("agents read all", report["input_bytes_read"]
                  >= 8 * N * N, report)


def submit(agents, program, data):
    return subprocess.Popen(
        [DOGGED, "run", program, "--input", data, "--cluster",
         agents.addresses[0], "--json"],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def running(status):
    return [job for job in status["jobs"] if job["state"] == "running"]


def case_lost():
    """The client and its contact are killed as soon as others know of the job:
    it ends, in words, and the same command runs it."""
    with tempfile.TemporaryDirectory() as folder, Standing(DOGGED) as agents:
        program, data = files(folder)
        for _ in range(3):
            agents.start()
        client = submit(agents, program, data)
        agents.await_status("a job", running, at=1)
        client.send_signal(signal.SIGKILL)
        agents.agents[0].send_signal(signal.SIGKILL)
        client.wait()
        agents.agents[0].wait()
        ended = agents.await_status(
            "no job runs", at=1, wanted=lambda s: not running(s))
        for job in ended["jobs"]:
            check("words of a lost input", job["state"] == "done"
                  or "run the same command again" in job["message"], ended)
        report, _ = agents.run(program, "--input", data, at=1)
        check("all tasks", report["tasks_needed"] > 0, report)


def case_client_goes():
    """The client is killed once agents have all of the input: the job ends by
    itself, and the agent that took it may leave, too."""
    with tempfile.TemporaryDirectory() as folder, Standing(DOGGED) as agents:
        program, data = files(folder, SPREADING)
        for _ in range(2):
            agents.start()
        client = submit(agents, program, data)
        agents.await_status("a job", lambda s: s["jobs"], at=1)
        agents.await_status("all of the input", lambda s: s["jobs"][0][
            "input_bytes_supplied"] == 8 * N * N or not running(s))
        client.kill()
        client.wait()
        agents.agents[0].send_signal(signal.SIGTERM)
        check("left", agents.agents[0].wait(timeout=60) == 0)
        ended = agents.await_status(
            "the end", at=1, wanted=lambda s: not running(s))
        check("done", ended["jobs"][0]["state"] == "done", ended)


CASES = {name[len("case_"):]: case for name, case in list(globals().items())
         if name.startswith("case_")}

if __name__ == "__main__":
    CASES[sys.argv[3]]()
