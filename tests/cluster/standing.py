"""Agents that stand, for tests that bring their own: started, asked, ended."""

import json
import os
import subprocess
import time


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
            agent.kill()
            agent.wait()
            agent.stdout.close()

    def start(self, *arguments, env=None, workers=1, stderr=None):
        """Starts an agent, which joins the others; its address."""
        command = [self.dogged, "agent", "--workers", str(workers), *arguments]
        if "--listen" not in arguments:
            command += ["--listen", "127.0.0.1:0"]
        for address in self.addresses:
            command += ["--join", address]
        agent = subprocess.Popen(command, stdout=subprocess.PIPE, text=True,
                                 stderr=stderr,
                                 env={**os.environ, **(env or {})})
        self.agents.append(agent)
        line = agent.stdout.readline()
        if not line.startswith("listening "):
            raise SystemExit(f"an agent said {line!r}: {command}")
        self.addresses.append(line.split()[1])
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
        deadline = time.monotonic() + 120
        while True:
            status = self.status(at)
            if wanted(status):
                return status
            if time.monotonic() > deadline:
                raise SystemExit(f"not in 120 s: {what}\n{status}")

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
