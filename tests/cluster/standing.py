"""Agents that stand, for tests that bring their own: started, asked, ended."""

import contextlib
import json
import os
import subprocess
import time


def until(what, wanted, seconds=120):
    """Asks until `wanted()` holds, and returns that."""
    deadline = time.monotonic() + seconds
    while True:
        got = wanted()
        if got:
            return got
        if time.monotonic() > deadline:
            raise SystemExit(f"not in {seconds} s: {what}")


def bytes_in(folder):
    """Bytes of all files below the folder, also while they come and go."""
    total = 0
    for path, _, names in os.walk(folder):
        for name in names:
            try:
                total += os.path.getsize(os.path.join(path, name))
            except FileNotFoundError:
                pass
    return total


def begin_agent(dogged, *arguments, log=None, env=None, **options):
    """Starts an agent, on a free port unless the arguments name one;
    await_address() waits for it. Its words go to the file `log`."""
    command = [dogged, "agent", *map(str, arguments)]
    if "--listen" not in arguments:
        command += ["--listen", "127.0.0.1:0"]
    with contextlib.ExitStack() as files:
        if log is not None:
            options["stderr"] = files.enter_context(open(log, "w"))
        agent = subprocess.Popen(command, stdout=subprocess.PIPE, text=True,
                                 env={**os.environ, **(env or {})}, **options)
    agent.log = log
    return agent


def await_address(agent):
    """The address of an agent that has begun, which is `agent.address` too."""
    line = agent.stdout.readline()
    if not line.startswith("listening "):
        agent.wait()
        words = ""
        if agent.log is not None:
            with open(agent.log) as log:
                words = log.read()
        raise SystemExit(f"an agent said {line!r}: {agent.args}\n{words}")
    agent.address = line.split()[1]
    return agent.address


def end_agent(agent):
    agent.kill()
    agent.wait()
    agent.stdout.close()


class Standing:
    """Agents on free ports; the rest is killed at the end."""

    def __init__(self, dogged):
        self.dogged = dogged
        self.agents = []
        self.addresses = []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for agent in self.agents:
            end_agent(agent)

    def start(self, *arguments, env=None, workers=1, stderr=None):
        """Starts an agent, which joins the others; its address."""
        joins = [word for address in self.addresses
                 for word in ("--join", address)]
        agent = begin_agent(self.dogged, "--workers", workers, *arguments,
                            *joins, env=env, stderr=stderr)
        self.agents.append(agent)
        self.addresses.append(await_address(agent))
        # The others hear of it a moment later.
        for at, address in enumerate(self.addresses):
            if self.agents[at - len(self.addresses)].poll() is None:
                self.await_status(
                    f"{self.addresses[-1]} at {address}", at=at,
                    wanted=lambda s: self.addresses[-1] in [
                        a["address"] for a in s["agents"]
                        if a["state"] == "alive"])
        return self.addresses[-1]

    def status(self, at=0):
        done = subprocess.run(
            [self.dogged, "status", "--cluster", self.addresses[at], "--json"],
            capture_output=True, text=True, timeout=60)
        if done.returncode != 0:
            raise SystemExit(f"status: {done.returncode} {done.stderr}")
        return json.loads(done.stdout)

    def await_status(self, what, wanted, at=0):
        """Asks until `wanted(status)` holds."""
        status = {}

        def holds():
            nonlocal status
            status = self.status(at)
            return wanted(status)

        try:
            until(what, holds)
        except SystemExit as late:
            raise SystemExit(f"{late}\n{status}") from None
        return status

    def run(self, *arguments, at=0, expect=0, timeout=240, env=None):
        """`dogged run` on these agents; its report and its words."""
        command = [self.dogged, "run", *map(str, arguments), "--cluster",
                   self.addresses[at], "--json"]
        done = subprocess.run(command, capture_output=True, text=True,
                              timeout=timeout,
                              env={**os.environ, **(env or {})})
        if done.returncode != expect:
            raise SystemExit(
                f"exit status {done.returncode}, not {expect}: "
                f"{' '.join(command)}\n{done.stdout}\n{done.stderr}")
        report = json.loads(done.stdout) if done.stdout.strip() else {}
        return report, done.stderr
