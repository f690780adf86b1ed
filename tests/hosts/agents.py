"""Agents on hosts of a test's own: started, asked for what they see, ended."""

import json
import subprocess
import time

DEADLINE = 120  # seconds, for whatever is waited for


class Fleet:
    """An agent on each host; each but the first is told of the first alone.
    With a `key` file all have that, and the clients, too."""

    def __init__(self, dogged, hosts, count, key=None, wire="sealed"):
        self.dogged, self.hosts, self.agents = dogged, hosts, []
        self.of_clients = ["--key-file", key] if key else []
        self.of_agents = (["--key-file", key, "--wire", wire] if key
                          else ["--insecure"])
        for _ in range(count):
            self.start()

    def start(self):
        """Starts an agent on the next host."""
        i = len(self.agents)
        command = [self.dogged, "agent", "--listen", self.address(i),
                   "--workers", "1", "--arena", "off", *self.of_agents]
        if i > 0:
            command += ["--join", self.address(0)]
        agent = subprocess.Popen(self.hosts.command(i, *command), text=True,
                                 stdout=subprocess.PIPE)
        self.agents.append(agent)
        line = agent.stdout.readline()
        assert line.startswith("listening "), line

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for agent in self.agents:
            agent.kill()
            agent.wait()
            agent.stdout.close()

    def address(self, i):
        return f"{self.hosts.address(i)}:7070"

    def status(self, i):
        done = subprocess.run(
            [self.dogged, "status", "--cluster", self.address(i), "--json",
             *self.of_clients],
            capture_output=True, text=True, timeout=DEADLINE)
        return json.loads(done.stdout) if done.returncode == 0 else None

    def alive_at(self, i):
        """Hosts of the agents that live, as that on host `i` says."""
        status = self.status(i)
        if status is None:
            return None
        return sorted(a["address"] for a in status["agents"]
                      if a["state"] in ("alive", "suspect"))

    def await_views(self, views):
        """Until the agent of each host says that just those of its list live."""
        for i, members in views.items():
            wanted = sorted(self.address(m) for m in members)
            deadline = time.monotonic() + DEADLINE
            while self.alive_at(i) != wanted:
                assert time.monotonic() < deadline, (
                    f"host {i}: {self.alive_at(i)}, not {wanted}")
        for i, agent in enumerate(self.agents):
            assert agent.poll() is None, f"agent {i} ended: {agent.returncode}"

    def run(self, *arguments):
        """A client of the first agent, while the test goes on."""
        return Client([self.dogged, "run", *arguments, "--cluster",
                       self.address(0), "--json", *self.of_clients])

    def await_progress(self, client, share):
        """Until the only job has come so far, or its client has ended."""
        deadline = time.monotonic() + DEADLINE
        while client.process.poll() is None:
            jobs = self.status(0)["jobs"]
            if jobs and jobs[0]["progress"] >= share:
                return
            assert time.monotonic() < deadline, jobs


class Client:
    def __init__(self, command):
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE,
                                        text=True)

    def report(self):
        words = self.process.communicate(timeout=DEADLINE)[0]
        assert self.process.returncode == 0, self.process.returncode
        return json.loads(words)
