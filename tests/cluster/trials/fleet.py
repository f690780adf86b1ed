"""Agents of a trial: started, stopped, replaced, asked for what they see."""

import concurrent.futures
import json
import os
import signal
import subprocess
import time

from hosts import Hosts

SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__)))))
GIVE_UP = 120  # seconds after which what has not come is "never"
ON_TIME = 10   # seconds within which one view is promised


class Wrong(Exception):
    """A promise that was not kept."""


class Agent:
    """A process, its address and the host it is on, if it has one of its own."""

    def __init__(self, process, address, host):
        self.process, self.address, self.host = process, address, host


def program(name, *parameters):
    """The arguments of `dogged run` for a program of `apps/`."""
    words = [os.path.join(SOURCE, "apps", name, name + ".dog")]
    for parameter in parameters:
        words += ["-D", parameter]
    return words


def serial_digest(dogged, words):
    done = subprocess.run([dogged, "run", *words, "--json"], check=True,
                          capture_output=True, text=True)
    return json.loads(done.stdout)["result_digest"]


class Client:
    """`dogged run` on a cluster, while the trial goes on."""

    def __init__(self, trial, words, contact, host=None):
        self.trial, self.words = trial, words
        self.began = time.monotonic()
        self.out = trial.file("client.json")
        self.said = trial.file("client.err")
        command = [trial.dogged, "run", *words, "--cluster", contact.address,
                   "--json"]
        if host is not None:
            command = trial.hosts.command(host, *command)
        self.process = subprocess.Popen(
            command, stdout=open(self.out, "w"), stderr=open(self.said, "w"))
        trial.children.append(self.process)

    def await_end(self, limit=GIVE_UP * 2):
        """The report; its digest must be that of one agent."""
        try:
            status = self.process.wait(limit)
        except subprocess.TimeoutExpired:
            raise Wrong(f"the job hangs, {limit} s after that: "
                        f"{self.last_words()}") from None
        if status != 0:
            raise Wrong(f"the client ended with {status}: {self.last_words()}")
        with open(self.out) as file:
            report = json.load(file)
        expected = self.trial.digests[" ".join(self.words)]
        if report["result_digest"] != expected:
            raise Wrong(f"digest {report['result_digest']}, not {expected}")
        return report

    def last_words(self):
        with open(self.said) as file:
            return file.read()[-300:]


class Trial:
    """A trial: a random stream, a folder for its logs, agents and clients."""

    def __init__(self, dogged, folder, rng, digests):
        self.dogged, self.folder, self.rng = dogged, folder, rng
        self.digests = digests
        self.hosts = None
        self.agents, self.children, self.notes = [], [], []
        self.files = 0
        self.began = time.monotonic()

    def __enter__(self):
        return self

    def __exit__(self, kind, error, _):
        if kind is not None:
            self.keep_status()
        for process in self.children:
            process.kill()
            process.wait()
        if self.hosts is not None:
            self.hosts.__exit__()

    def make_hosts(self, count):
        """Hosts of the trial's own, on which agents start."""
        self.hosts = Hosts(count)

    def file(self, name):
        self.files += 1
        return os.path.join(self.folder, f"{self.files:02}-{name}")

    def log(self, words):
        with open(os.path.join(self.folder, "trial.log"), "a") as file:
            file.write(f"{time.monotonic() - self.began:7.2f} {words}\n")

    def keep_status(self):
        for agent in self.live():
            with open(self.file("status.json"), "w") as file:
                try:
                    json.dump(self.status(agent), file, indent=1)
                except Exception as error:
                    file.write(f"{agent.address}: {error}\n")

    def start(self, joins=(), host=None, extra=()):
        """Starts an agent; `joins` are agents or addresses."""
        command = [self.dogged, "agent", "--workers", "1", *extra]
        if host is None:
            command += ["--listen", "127.0.0.1:0"]
        else:
            command += ["--listen", f"{self.hosts.address(host)}:7070",
                        "--insecure", "--arena", "off"]
        for join in joins:
            command += ["--join", getattr(join, "address", join)]
        if host is not None:
            command = self.hosts.command(host, *command)
        process = subprocess.Popen(
            command, stdout=subprocess.PIPE, text=True,
            stderr=open(self.file("agent.err"), "w"))
        self.children.append(process)
        line = process.stdout.readline()
        if not line.startswith("listening "):
            raise Wrong(f"an agent said {line!r}: {command}")
        agent = Agent(process, line.split()[1], host)
        self.log(f"agent {process.pid} at {agent.address}, file {self.files}")
        self.agents.append(agent)
        return agent

    def start_on_hosts(self, count):
        """An agent on each host; each but the first is told of the first."""
        for host in range(count):
            self.start(self.agents[:1], host)
        self.await_views({agent: self.agents for agent in self.agents})

    def end(self, agent, how=signal.SIGKILL):
        """Ends an agent on purpose, and waits for that."""
        self.log(f"ends {agent.address} by {how.name}")
        self.agents.remove(agent)
        agent.process.send_signal(how)
        try:
            agent.process.wait(60)
        except subprocess.TimeoutExpired:
            raise Wrong(f"{agent.address} does not end by {how.name}") from None

    def live(self):
        return [a for a in self.agents if a.process.poll() is None]

    def status(self, agent):
        """None if it gives no answer."""
        done = subprocess.run(
            [self.dogged, "status", "--cluster", agent.address, "--json"],
            capture_output=True, text=True, timeout=60)
        return json.loads(done.stdout) if done.returncode == 0 else None

    def alive_at(self, agent):
        status = self.status(agent)
        return status and sorted(a["address"] for a in status["agents"]
                                 if a["state"] in ("alive", "suspect"))

    def await_views(self, views, limit=GIVE_UP):
        """Until each agent says that just those of its list live."""
        deadline = time.monotonic() + limit
        views = {agent: sorted(m.address for m in members)
                 for agent, members in views.items()}
        with concurrent.futures.ThreadPoolExecutor(len(views)) as pool:
            while True:
                seen = dict(zip(views, pool.map(self.alive_at, views)))
                if seen == views:
                    return
                self.check_processes()
                if time.monotonic() > deadline:
                    raise Wrong(f"not one view in {limit} s: " + "; ".join(
                        f"{agent.address} sees {seen[agent]}"
                        for agent in views if seen[agent] != views[agent]))

    def note_views(self):
        """How many views there are as a fault ends; one: nobody noticed."""
        views = {agent.address: self.alive_at(agent) for agent in self.agents}
        self.log(f"views: {views}")
        count = len({str(view) for view in views.values()})
        self.notes.append(f"{count} views" if count > 1 else "never apart")

    def await_one_view(self, since):
        """How long after `since` all agents had the same view, of all."""
        self.await_views({agent: self.agents for agent in self.agents})
        took = time.monotonic() - since
        self.log(f"one view after {took:.1f} s")
        self.notes.append(f"one view after {took:.1f} s")
        if took > 2 * ON_TIME:
            raise Wrong(f"one view only after {took:.1f} s")
        if took > ON_TIME:
            self.notes.append("(late)")

    def check_processes(self):
        for agent in self.agents:
            if agent.process.poll() is not None:
                raise Wrong(f"the agent at {agent.address} ended with "
                            f"{agent.process.returncode}")

    def run(self, words, contact, host=None):
        return Client(self, words, contact, host)

    def await_progress(self, client, contact, share):
        """Until a job has come so far, or its client has ended."""
        deadline = time.monotonic() + GIVE_UP
        while client.process.poll() is None:
            status = self.status(contact)
            running = [j for j in (status or {}).get("jobs", [])
                       if j["state"] == "running"]
            if any(j["progress"] >= share for j in running):
                break
            if time.monotonic() > deadline:
                raise Wrong(f"not {share:.0%} in {GIVE_UP} s: {running}")
        self.log(f"progress of {share:.0%}")

    def wait(self, seconds):
        """Lets a fault last."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self.check_processes()
            time.sleep(min(0.5, max(0, end - time.monotonic())))

    def finish(self, client):
        """The job right, no process ended, still one view, which works."""
        if client is not None:
            report = client.await_end()
            self.notes.append(
                f"job {time.monotonic() - client.began:.1f} s, executed/needed "
                f"{report['tasks_executed'] / report['tasks_needed']:.2f}, "
                f"{report['bytes_resent'] / 1e6:.0f} MB sent again, of values "
                f"of {report['bytes_moved'] / 1e6:.0f} MB homes changed")
            self.log(f"job done: {json.dumps(report)}")
        self.await_views({agent: self.agents for agent in self.agents})
        self.run(AFTERWARDS, self.rng.choice(self.agents)).await_end(60)
        self.check_processes()


AFTERWARDS = program("heat2d", "N=300", "T=50")
# Jobs that run on while something happens.
WORK = [program("heat2d", "N=3000", "T=3000"),
        program("cholesky", "N=4096", "NB=64")]
