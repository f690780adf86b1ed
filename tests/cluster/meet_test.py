"""Agents and clients that find each other somewhere: a folder, a name.

Aim: agents that are given nothing but a meeting point become one cluster,
whatever lies there of others; clients find them by the same words; bad points
end in words. Method: the binary itself, on free ports and in folders of the
test; names are looked up at a resolver of the test's own, in namespaces. Nothing
waits for a time to pass, but for what it waits for.

usage: meet_test.py DOGGED SOURCE_DIR CASE
"""

import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

from resolver import Resolver
from standing import await_address, begin_agent, end_agent, until

DOGGED, SOURCE, CASE = os.path.abspath(sys.argv[1]), *sys.argv[2:4]
HEAT = os.path.join(SOURCE, "apps", "heat1d", "heat1d.dog")
HOST = socket.gethostname()
SKIPPED = 77


def fail(words):
    raise SystemExit(words)


class Pool:
    """Agents of a test, and the folder where they meet."""

    def __init__(self, name="pool"):
        self.base = tempfile.mkdtemp()
        self.folder = os.path.join(self.base, name)
        self.point = "file:" + self.folder
        self.agents = []
        self.logs = 0

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for agent in self.agents:
            end_agent(agent)
        shutil.rmtree(self.base)

    def begin(self, *join, arguments=(), listen="127.0.0.1:0", env=None):
        """Starts an agent; await_address() waits for it."""
        self.logs += 1
        log = os.path.join(self.base, f"log{self.logs}")
        joins = [word for point in join or (self.point,)
                 for word in ("--join", point)]
        agent = begin_agent(DOGGED, "--workers", 1, "--listen", listen,
                            *arguments, *joins, log=log, env=env)
        self.agents.append(agent)
        return agent

    def start(self, *join, **options):
        agent = self.begin(*join, **options)
        await_address(agent)
        return agent

    def entries(self):
        with contextlib.suppress(FileNotFoundError):
            return sorted(f for f in os.listdir(self.folder)
                          if f.endswith(".agent"))
        return []

    def addresses(self):
        out = []
        for name in self.entries():
            with contextlib.suppress(FileNotFoundError):
                with open(os.path.join(self.folder, name)) as file:
                    out.append(file.readline().split()[1])
        return sorted(out)

    def write(self, digits, address, age=100, host=HOST, keys=""):
        os.makedirs(self.folder, exist_ok=True)
        place = os.path.join(self.folder, f"{digits:016x}.agent")
        with open(place, "w") as file:
            file.write(f"address {address}\nhost {host}\n{keys}")
        os.utime(place, (time.time() - age,) * 2)


def words_of(agent):
    with open(agent.log) as log:
        return log.read()


def status(cluster, *arguments, env=None):
    done = subprocess.run(
        [DOGGED, "status", "--json", "--cluster", cluster, *arguments],
        capture_output=True, text=True, timeout=60,
        env={**os.environ, **(env or {})})
    return json.loads(done.stdout) if done.returncode == 0 else None


def alive(cluster, **options):
    known = status(cluster, **options)
    return sorted(a["address"] for a in known["agents"]
                  if a["state"] == "alive") if known else None


def is_one(agents, **options):
    """Each of the agents knows all of them, and nobody else."""
    wanted = sorted(agent.address for agent in agents)
    return all(alive(agent.address, **options) == wanted for agent in agents)


def ends(expect, words, *command, env=None, cwd=None):
    done = subprocess.run([DOGGED, *map(str, command)], capture_output=True,
                          text=True, timeout=60, cwd=cwd,
                          env={**os.environ, **(env or {})})
    if done.returncode != expect or words not in done.stderr:
        fail(f"{command}: {done.returncode}, not {expect} and {words!r}:\n"
             f"{done.stdout}{done.stderr}")
    return done


def stop(agent, number):
    agent.send_signal(number)
    if agent.wait(timeout=60) != (0 if number != signal.SIGKILL
                                  else -signal.SIGKILL):
        fail(f"ended with {agent.returncode}: {words_of(agent)}")


def case_folder():
    """Four that start at once, in a folder that is not there yet, are one
    cluster. Entries of those that leave go at once, those of killed ones when
    others find nobody there."""
    with Pool() as pool:
        agents = [pool.begin() for _ in range(4)]
        for agent in agents:
            await_address(agent)
        until("one cluster of four", lambda: is_one(agents))
        if pool.addresses() != sorted(a.address for a in agents):
            fail(f"entries: {pool.addresses()}")
        done = ends(0, "", "run", HEAT, "--cluster", pool.point, "--json")
        serial = ends(0, "", "run", HEAT, "--json")
        digests = [json.loads(d.stdout)["result_digest"]
                   for d in (done, serial)]
        if digests[0] != digests[1]:
            fail(f"digests {digests}")
        stop(agents[0], signal.SIGTERM)
        if agents[0].address in pool.addresses():
            fail("the entry of an agent that left is still there")
        stop(agents[1], signal.SIGKILL)
        late = pool.start()
        rest = [*agents[2:], late]
        until("the rest is one cluster", lambda: is_one(rest))
        until("entries of the rest alone",
              lambda: pool.addresses() == sorted(a.address for a in rest))
        # An entry that somebody removes comes back.
        for name in pool.entries():
            os.unlink(os.path.join(pool.folder, name))
        until("entries come back",
              lambda: pool.addresses() == sorted(a.address for a in rest))


def case_apart():
    """Two that began apart, for neither saw the other's entry, become one when
    one of them hears of the other."""
    with Pool() as pool, Pool() as other:
        first = pool.start()
        second = other.start()
        if not is_one([first]) or not is_one([second]):
            fail("they know each other, by what?")
        name, = pool.entries()
        shutil.copy(os.path.join(pool.folder, name), other.folder)
        until("one cluster", lambda: is_one([first, second]))


def case_stale():
    """A thousand entries of killed agents keep nobody from the live one, and
    go."""
    with Pool() as pool, socket.socket() as silent:
        # Bound and not listening: whoever connects is refused.
        silent.bind(("127.0.0.1", 0))
        port = silent.getsockname()[1]
        for i in range(1000):
            pool.write(i + 1, f"127.0.{i // 250}.{i % 250 + 1}:{port}")
        first = pool.start()
        second = pool.start()
        until("one cluster of two", lambda: is_one([first, second]))
        if alive(pool.point) != sorted([first.address, second.address]):
            fail("a client does not find them")
        until("all stale entries are cleared", seconds=180, wanted=lambda: (
            pool.addresses() == sorted([first.address, second.address])))


def case_foreign():
    """A folder that two clusters use: neither asks the other's agents, nor
    clears their entries; both say so. Without keys in the entry the agent that
    is asked refuses, and its entry stays as well."""
    with Pool() as pool:
        env = []
        for name in ("a", "b"):
            home = os.path.join(pool.base, name)
            os.mkdir(home)
            env.append({"HOME": home})
            ends(0, "", "key", "new", env=env[-1])
        ours = pool.start(env=env[0])
        theirs = pool.start(env=env[1])
        second = pool.start(env=env[0])
        until("one cluster of two", lambda: is_one([ours, second], env=env[0]))
        if not is_one([theirs], env=env[1]):
            fail("the other cluster has more")
        until("they say so", lambda: "of another cluster" in words_of(ours)
              and "of another cluster" in words_of(theirs))
        for keys, agents in ((env[0], [ours, second]), (env[1], [theirs])):
            got = alive(pool.point, env=keys)
            if got != sorted(a.address for a in agents):
                fail(f"a client found {got}")
        ends(4, "of another cluster", "status", "--cluster", pool.point,
             "--insecure")
        # An entry that lies about its keys.
        name = next(n for n in pool.entries() if theirs.address in open(
            os.path.join(pool.folder, n)).read())
        with open(os.path.join(pool.folder, name)) as file:
            text = file.read()
        other = next(n for n in pool.entries() if n != name)
        with open(os.path.join(pool.folder, other)) as file:
            keys = next(line for line in file if line.startswith("keys"))

        def is_refused():
            # Again and again, for its agent puts it right.
            place = os.path.join(pool.folder, name)
            with open(place + ".lie", "w") as file:
                file.write(text[:text.index("keys")] + keys)
            os.replace(place + ".lie", place)
            return "does not take our key" in words_of(ours)

        until("it is refused", is_refused)
        until("it is put right", lambda: open(os.path.join(
            pool.folder, name)).read() == text)


def case_peers_leave():
    """An agent whose only peer leaves before it answers stays, tries the
    others, and then all again."""
    with Pool() as pool, socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        peer = "127.0.0.1:%d" % silent.getsockname()[1]
        agent = pool.start(peer)
        if "no agent answers at" not in words_of(agent):
            fail(f"it said {words_of(agent)!r}")
        silent.close()
        back = pool.start(agent.address, listen=peer)
        until("one cluster", lambda: is_one([agent, back]))
        stop(back, signal.SIGTERM)
        again = pool.begin("127.0.0.1:1", listen=peer)
        await_address(again)
        until("one again", lambda: is_one([agent, again]))
        # A list, in one word.
        late = pool.start(f"127.0.0.1:1,{agent.address}")
        until("a third", lambda: is_one([agent, again, late]))
        if alive(f"127.0.0.1:1,{late.address}") is None:
            fail("a client does not try the others")


def alive_at(address):
    done = subprocess.run([DOGGED, "status", "--cluster", address, "--json"],
                          capture_output=True, text=True, timeout=60)
    if done.returncode != 0:
        return set()
    return {agent["address"] for agent in json.loads(done.stdout)["agents"]
            if agent["state"] == "alive"}


def case_strangers():
    """An agent that has the address of a dead member by chance is of another
    cluster, and stays so; one that looks for its own, in vain, is found."""
    with contextlib.ExitStack() as ends, tempfile.TemporaryDirectory() as logs:
        count = iter(range(100))

        def start(*arguments):
            agent = begin_agent(DOGGED, "--workers", 1, *arguments,
                                log=os.path.join(logs, str(next(count))))
            ends.callback(end_agent, agent)
            await_address(agent)
            return agent

        def start_and_lose():
            dead = start("--join", first.address)
            until("two agents", lambda: len(alive_at(first.address)) == 2)
            dead.kill()
            dead.wait()
            until("one agent", lambda: len(alive_at(first.address)) == 1)
            return dead.address

        first = start()
        stranger = start("--listen", start_and_lose())

        def said():
            with open(first.log) as file:
                return file.read()

        until("words of the stranger",
              lambda: f"{stranger.address} was the address" in said())
        second = start("--join", stranger.address)
        for at in (stranger, second):
            until("the stranger's cluster", lambda at=at: alive_at(at.address)
                  == {stranger.address, second.address})
        if alive_at(first.address) != {first.address}:
            fail(f"strangers have met: {alive_at(first.address)}")
        # Started again by those who don't know where the others are now.
        again = start("--listen", start_and_lose(), "--join", "127.0.0.1:1")
        until("the agent that looks for others", lambda: alive_at(first.address)
              == {first.address, again.address} == alive_at(again.address))


def case_words():
    """Points that can't be end the command with what to do."""
    with Pool() as pool:
        with open(os.path.join(pool.base, "file"), "w") as file:
            file.write("x")
        for point, words in (
                ("file:", "write file:DIR"), ("dns:name", "dns:NAME:PORT"),
                ("dns:name:0", "dns:NAME:PORT"), ("name", "is not HOST:PORT"),
                ("127.0.0.1:1,", "is not HOST:PORT")):
            ends(2, words, "agent", "--join", point)
            ends(2, words, "status", "--cluster", point)
            ends(2, words, "run", HEAT, "--cluster", point)
        for path in ("file", "file/pool", "none/pool"):
            ends(2, path, "agent", "--join",
                 "file:" + os.path.join(pool.base, path))
        ends(2, "can't write its address there", "agent", "--join",
             "file:/proc/self")
        for command in (("status",), ("run", HEAT), ("submit", HEAT)):
            ends(4, "No such file", *command, "--cluster", pool.point)
        os.mkdir(pool.folder)
        ends(4, "no address of an agent is there", "status", "--cluster",
             pool.point)
        pool.write(1, "127.0.0.1:1")
        ends(4, "127.0.0.1:1: Connection refused", "status", "--cluster",
             pool.point)
        ends(4, "no agent answers at dns:nowhere.invalid:1", "status",
             "--cluster", "dns:nowhere.invalid:1")


LONG = (HEAT, "-D", "N=400001", "-D", "T=30000", "--agents", "4")


def submit(pool):
    """A job of some seconds that runs, and its client."""
    client = subprocess.Popen(
        [DOGGED, "run", *LONG, "--cluster", pool.point, "--json"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def runs():
        known = status(pool.point)
        return known and any(
            j["tasks_executed"] > 4 and j["state"] == "running"
            for j in known["jobs"])
    until("the job runs", runs)
    return client


def check_bits(client):
    out, err = client.communicate(timeout=240)
    serial = ends(0, "", "run", *LONG[:5], "--json")
    wanted = json.loads(serial.stdout)["result_digest"]
    if client.returncode != 0 or json.loads(out)["result_digest"] != wanted:
        fail(f"{client.returncode}, not {wanted}:\n{out}{err}")
    return json.loads(out)


def case_signals():
    """All four signals mean the same: hand over, say so, end with 0. SIGHUP
    that is ignored, as under nohup, means nothing."""
    with Pool() as pool:
        stays = pool.start()
        numbers = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP,
                   signal.SIGUSR1)
        leavers = [pool.start() for _ in numbers]
        client = submit(pool)
        for agent, number in zip(leavers, numbers):
            stop(agent, number)
            said = words_of(agent)
            name = number.name
            if (f"told to leave by {name}, with " not in said
                    or "leaves after " not in said):
                fail(f"{name}: it said {said!r}")
        handed = [a for a in leavers
                  if " of heat1d (" in words_of(a)
                  and f") to {stays.address}" in words_of(a)]
        if not handed:
            fail("nobody handed over to the one that stays:\n"
                 + "".join(map(words_of, leavers)))
        report = check_bits(client)
        if report["agents_lost"] != 0 or report["agents_left"] != 4:
            fail(f"not all left: {report}")
        before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
        ignores = pool.start()
        signal.signal(signal.SIGHUP, before)
        ignores.send_signal(signal.SIGHUP)
        until("one cluster", lambda: is_one([stays, ignores]))
        stop(ignores, signal.SIGUSR1)
        if "by SIGUSR1" not in words_of(ignores):
            fail(f"it said {words_of(ignores)!r}")


def case_lifetime():
    """An agent whose lifetime is over leaves as if it were told to."""
    with Pool() as pool:
        agent = pool.start(arguments=("--lifetime", "1s"))
        if agent.wait(timeout=60) != 0:
            fail(f"ended with {agent.returncode}")
        if "by the end of its --lifetime" not in words_of(agent):
            fail(f"it said {words_of(agent)!r}")
        if pool.entries():
            fail(f"entries: {pool.entries()}")
        for flag in ("--lifetime", "--leave-within"):
            for time_ in ("0s", "5", "x", "31d"):
                ends(2, flag, "agent", flag, time_)


def case_hurry():
    """An agent that waits for an heir goes when it is told again, by SIGTERM or
    SIGINT, but not by the same signal that came twice, or by others."""
    with Pool() as pool:
        for number in (signal.SIGTERM, signal.SIGINT):
            agent = pool.start(arguments=("--leave-within", "1h"))
            client = submit(pool)
            for _ in range(2):  # to it and to its group
                agent.send_signal(signal.SIGTERM)
            until("it waits", lambda: "nobody else can take the values of heat1d"
                  in words_of(agent))
            if "again" in words_of(agent):
                fail(f"it was told once: {words_of(agent)!r}")

            def again(other):
                agent.send_signal(other)
                return agent.poll() is not None
            deadline = time.monotonic() + 1.5
            until("a while", lambda: again(signal.SIGUSR1)
                  or time.monotonic() > deadline)
            if agent.poll() is not None:
                fail(f"SIGUSR1 ended it: {words_of(agent)!r}")
            until(f"{number.name} ends it", lambda: again(number), seconds=20)
            if (agent.returncode != 0 or words_of(agent).count(
                    "told to leave again: waits for nobody any more") != 1):
                fail(f"ended with {agent.returncode}: {words_of(agent)!r}")
            client.kill()
            client.communicate()


def case_last():
    """The last agent waits for one that joins, and hands over to it; without
    one it goes before it must."""
    with Pool() as pool:
        first = pool.start(arguments=("--leave-within", "60s"))
        client = submit(pool)
        first.send_signal(signal.SIGTERM)
        until("it waits", lambda: "nobody else can take the values of heat1d"
              in words_of(first))
        second = pool.start()
        if first.wait(timeout=30) != 0:
            fail(f"ended with {first.returncode}")
        if f") to {second.address}" not in words_of(first):
            fail(f"it said {words_of(first)!r}")
        report = check_bits(client)
        if (report["agents_lost"], report["tasks_recomputed"]) != (0, 0):
            fail(f"work was lost: {report}")
    with Pool() as pool:
        alone = pool.start(arguments=("--leave-within", "2s"))
        client = submit(pool)
        began = time.monotonic()
        stop(alone, signal.SIGTERM)
        took = time.monotonic() - began
        said = words_of(alone)
        if took > 10 or "values go with it" not in said:
            fail(f"after {took:.1f} s: {said!r}")
        _, err = client.communicate(timeout=60)
        if client.returncode != 4:
            fail(f"its client: {client.returncode} {err}")


def case_together():
    """All agents that are told at once wait for one that joins, not for each
    other, and all of them hand over to it."""
    with Pool() as pool:
        agents = [pool.start(arguments=("--leave-within", "60s"))
                  for _ in range(3)]
        until("one cluster", lambda: is_one(agents))
        client = submit(pool)
        for agent in agents:
            agent.send_signal(signal.SIGTERM)
        until("they wait", lambda: all(
            "nobody else can take the values of heat1d" in words_of(a)
            for a in agents))
        late = pool.start()
        for agent in agents:
            if agent.wait(timeout=60) != 0:
                fail(f"ended with {agent.returncode}: {words_of(agent)}")
        if not any(f") to {late.address}" in words_of(a) for a in agents):
            fail("nobody handed over:\n" + "".join(map(words_of, agents)))
        report = check_bits(client)
        if (report["agents_lost"], report["tasks_recomputed"]) != (0, 0):
            fail(f"work was lost: {report}\n"
                 + "".join(map(words_of, [*agents, late])))


def case_patience():
    """A run that comes before its agents, and outlives all of them, ends with
    the bits, and counts what was run for nothing."""
    with Pool() as pool:
        command = [DOGGED, "run", *LONG, "--workers", "1", "--cluster",
                   pool.point, "--patience", "2m", "--json"]
        client = subprocess.Popen(command, stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE, text=True)
        line = client.stderr.readline()
        if "for agents to come" not in line:
            fail(f"it said {line!r}")
        first = pool.start()
        until("the job runs", lambda: any(
            j["tasks_executed"] > 4 for j in (status(first.address) or
                                              {"jobs": []})["jobs"]))
        # The client has heard of these tasks, too.
        time_ = time.monotonic() + 1
        until("a second", lambda: time.monotonic() > time_)
        stop(first, signal.SIGKILL)
        agents = [pool.start(), pool.start()]
        report = check_bits(client)
        if (report["submissions"], report["agents_lost"]) != (2, 1):
            fail(f"not counted: {report}")
        if report["tasks_executed"] <= report["tasks_needed"]:
            fail(f"lost work is not counted: {report}")
        if len(report["tasks_per_agent"]) != 3:
            fail(f"agents: {report}")
        until("one cluster", lambda: is_one(agents))
        ends(2, "--patience", "run", HEAT, "--cluster", pool.point,
             "--patience", "5")
    with Pool() as pool:
        os.mkdir(pool.folder)
        ends(4, "no agent answers at file:", "run", HEAT, "--cluster",
             pool.point, "--patience", "1s")


def enter_own_names():
    """Goes on in a network and with a resolver of this process's own."""
    if os.environ.get("DOGGED_OWN_NAMES"):
        subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
        return
    as_root = [] if os.getuid() == 0 else ["--user", "--map-root-user"]
    with tempfile.TemporaryDirectory() as folder:
        for name, text in (("resolv.conf", "nameserver 127.0.0.1\noptions "
                            "timeout:30 attempts:1\n"),
                           ("nsswitch.conf", "hosts: files dns\n"),
                           ("hosts", "127.0.0.1 localhost\n127.0.1.1 node5\n")):
            with open(os.path.join(folder, name), "w") as file:
                file.write(text)
        mounts = "".join(
            f"touch /etc/{name}; mount --bind {folder}/{name} /etc/{name} && "
            for name in ("resolv.conf", "nsswitch.conf", "hosts"))
        command = ["unshare", *as_root, "--net", "--mount", "--", "sh", "-c",
                   mounts + 'exec "$@"', "sh"]
        tried = subprocess.run([*command, "true"], capture_output=True,
                               text=True)
        if tried.returncode != 0:
            print(f"skipped, no namespaces here: {tried.stderr.strip()}")
            sys.exit(SKIPPED)
        done = subprocess.run(
            [*command, sys.executable, "-B", *sys.argv],
            env={**os.environ, "DOGGED_OWN_NAMES": "1"})
        sys.exit(done.returncode)


def case_names():
    """Agents of a name: without records they start alone; records that come,
    change each second, or lead nowhere are followed; a resolver that does not
    answer holds up nobody."""
    enter_own_names()
    resolver = Resolver()
    resolver.start()
    name = "dns:pool.test:7070"
    with Pool() as pool:
        agents = [pool.start(name, listen=f"127.0.0.{i}:7070",
                             arguments=("--insecure",)) for i in (1, 2)]
        if not is_one(agents[:1]) or not is_one(agents[1:]):
            fail("they know each other, by what?")
        ends(4, "no agent answers at dns:pool.test:7070", "status", "--cluster",
             name)
        until("words", lambda: "pool.test" in words_of(agents[0]))
        # A record more each time, and most lead nowhere.
        def records():
            turn = resolver.questions % 250
            return [f"127.0.1.{turn + 1}", f"127.0.0.{turn % 2 + 1}"]
        resolver.records = records
        until("one cluster", lambda: is_one(agents))
        until("a client finds them", lambda: alive(name) == sorted(
            a.address for a in agents))
        # From now on nobody hears from the resolver, for 30 s a question.
        resolver.records = lambda: None
        began = time.monotonic()
        third = pool.start(name, listen="127.0.0.3:7070")
        if time.monotonic() - began > 15:
            fail("an agent waited for the resolver")
        for _ in range(20):
            if alive(third.address) is None:
                fail("an agent that looks for names does not answer")
        began = time.monotonic()
        stop(third, signal.SIGTERM)
        if time.monotonic() - began > 10:
            fail("it waited for the resolver as it left")
    # A name that means loopback leads others to themselves.
    for words in (("--listen", "node5:0", "--join", "dns:pool.test:7070"),
                  ("--insecure", "--listen", "0.0.0.0:0", "--advertise",
                   "node5:0")):
        ends(2, "here that name means 127.0.1.1", "agent", *words)


globals()["case_" + CASE]()
