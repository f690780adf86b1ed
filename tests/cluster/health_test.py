"""The health endpoint of an agent, as schedulers ask it.

Aim: /readyz says when an agent takes part and when it was told to leave, /livez
when its loop is stuck; strangers there cost neither the agent nor a probe.
Method: real agents on free ports; a loop is stuck because a debugger holds its
thread. Nothing waits for a time to pass, but for what it waits for.

usage: health_test.py DOGGED SOURCE_DIR CASE
"""

import ctypes
import http.client
import json
import os
import re
import socket
import subprocess
import sys
import tempfile
import time

from standing import await_address, begin_agent, end_agent, until

DOGGED, SOURCE, CASE = os.path.abspath(sys.argv[1]), *sys.argv[2:4]
HEAT = os.path.join(SOURCE, "apps", "heat1d", "heat1d.dog")
SEIZE, INTERRUPT, DETACH = 0x4206, 0x4207, 17  # of ptrace()


def fail(words):
    raise SystemExit(words)


class Probed:
    """An agent that is asked how it is."""

    def __init__(self, *arguments):
        self.folder = tempfile.TemporaryDirectory()
        self.agent = begin_agent(DOGGED, "--workers", 1, "--health",
                                 "127.0.0.1:0", *arguments,
                                 log=os.path.join(self.folder.name, "log"))
        self.health = until("it says where", self.find_health, seconds=60)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        end_agent(self.agent)
        self.folder.cleanup()

    def said(self):
        with open(self.agent.log) as log:
            return log.read()

    def find_health(self):
        found = re.search(r"health are answered at (\S+)", self.said())
        return found and found[1]

    def ask(self, path):
        """Status and words."""
        connection = http.client.HTTPConnection(self.health, timeout=10)
        connection.request("GET", path)
        answer = connection.getresponse()
        words = answer.read().decode()
        connection.close()
        return answer.status, words.strip()

    def await_answer(self, path, status, words):
        def has():
            got = self.ask(path)
            return got[0] == status and words in got[1]
        until(f"{path}: {status} {words}", has, seconds=60)


def case_life():
    """Ready from its first line on; not when it was told to leave, but alive."""
    with Probed("--leave-within", "1h") as probed:
        await_address(probed.agent)
        probed.await_answer("/readyz", 200, "ok")
        probed.await_answer("/livez", 200, "ok")
        if probed.ask("/metrics")[0] != 404:
            fail("it answers more than was asked for")
        # With the values of a job and no heir it stays for a while.
        job = subprocess.run(
            [DOGGED, "submit", HEAT, "-D", "N=400001", "-D", "T=300000",
             "--agents", "2", "--cluster", probed.agent.address],
            capture_output=True, text=True, timeout=60)
        if job.returncode != 0:
            fail(job.stderr)

        def runs():
            status = subprocess.run(
                [DOGGED, "status", "--json", "--cluster", probed.agent.address],
                capture_output=True, text=True, timeout=60)
            return json.loads(status.stdout)["jobs"][0]["tasks_executed"] > 4
        until("the job runs", runs)
        probed.agent.terminate()
        probed.await_answer("/readyz", 503, "it was told to leave")
        if probed.ask("/livez") != (200, "ok"):
            fail("one that leaves is ended")


def case_starts():
    """Not ready while it looks for the others, and alive."""
    with socket.create_server(("127.0.0.1", 0)) as mute:
        where = "127.0.0.1:%d" % mute.getsockname()[1]
        with Probed("--join", where) as probed:
            if probed.ask("/readyz") != (503, "it starts"):
                fail("it is ready before it has looked")
            if probed.ask("/livez") != (200, "ok"):
                fail("one that starts is ended")
            probed.await_answer("/readyz", 200, "ok")


def ptrace(request, pid):
    libc = ctypes.CDLL(None, use_errno=True)
    libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_int, ctypes.c_void_p,
                            ctypes.c_void_p]
    if libc.ptrace(request, pid, None, None) != 0:
        fail(f"ptrace: {os.strerror(ctypes.get_errno())}")


def case_stuck():
    """A loop that does not turn is told of, and so is that it turns again."""
    with Probed() as probed:
        await_address(probed.agent)
        probed.await_answer("/livez", 200, "ok")
        pid = probed.agent.pid
        ptrace(SEIZE, pid)
        ptrace(INTERRUPT, pid)
        os.waitpid(pid, os.WUNTRACED)
        probed.await_answer("/livez", 503, "its loop has not turned for 10s")
        if probed.ask("/readyz")[0] != 503:
            fail("one that is stuck is ready")
        ptrace(DETACH, pid)
        probed.await_answer("/livez", 200, "ok")
        probed.await_answer("/readyz", 200, "ok")


def case_strangers():
    """Silent, slow and loud ones in hundreds: a job has its bits, probes their
    answers, and the agent the descriptors that it had."""
    def descriptors():
        return len(os.listdir(f"/proc/{probed.agent.pid}/fd"))

    with Probed() as probed:
        await_address(probed.agent)
        probed.await_answer("/readyz", 200, "ok")
        before = descriptors()
        address = ("127.0.0.1", int(probed.health.rsplit(":", 1)[1]))
        client = subprocess.Popen(
            [DOGGED, "run", HEAT, "-D", "N=200001", "-D", "T=20000",
             "--agents", "2", "--cluster", probed.agent.address, "--json"],
            stdout=subprocess.PIPE, text=True)
        held, garbage = [], os.urandom(8192)
        answered = 0
        while client.poll() is None:
            for words in (b"", b"G", garbage, b"GET /livez HTTP/1.1\r\nHost: x"):
                stranger = socket.create_connection(address, timeout=10)
                held.append(stranger)
                try:
                    stranger.sendall(words)
                except OSError:
                    pass
            for stranger in held[:-500]:
                stranger.close()
            del held[:-500]
            if probed.ask("/livez") != (200, "ok"):
                fail("a probe had no answer beside strangers")
            answered += 1
            if descriptors() > before + 100:
                fail(f"{descriptors()} descriptors, {before} before")
        report = json.loads(client.communicate()[0])
        print(f"{answered} probes beside {4 * answered} strangers")
        for stranger in held:
            stranger.close()
        until("they are gone", lambda: descriptors() <= before + 1, seconds=60)
        serial = subprocess.run(
            [DOGGED, "run", HEAT, "-D", "N=200001", "-D", "T=20000",
             "--agents", "1", "--json"], capture_output=True, text=True)
        if report["result_digest"] != json.loads(
                serial.stdout)["result_digest"]:
            fail("other bits")


def case_words():
    """Addresses that can't be end the agent, with words."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        address = "127.0.0.1:%d" % taken.getsockname()[1]
        for given, status, words in (
                ("nowhere", 2, "is not HOST:PORT"),
                (address, 4, "Address already in use")):
            done = subprocess.run(
                [DOGGED, "agent", "--health", given], capture_output=True,
                text=True, timeout=60)
            if (done.returncode != status or words not in done.stderr
                    or "--health" not in done.stderr):
                fail(f"{given}: {done.returncode} {done.stderr}")
    began = time.monotonic()
    with Probed() as probed:
        await_address(probed.agent)
        probed.agent.terminate()
        if probed.agent.wait(timeout=60) != 0 or time.monotonic() - began > 30:
            fail(f"ended with {probed.agent.returncode}:\n{probed.said()}")


globals()["case_" + CASE]()
