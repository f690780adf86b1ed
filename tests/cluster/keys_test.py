"""Keys: of files, and of a cluster that takes members alone.

Aim: `dogged key` makes and changes key files that nobody else can read; no
command goes on with a key file that is not as it should be; with a key agents
and clients hear each other, and others are told why not, at once, and change
nothing; what they say can't be read on its way, nor said again.
Method: the binary itself, with a home of its own; a proxy that records. A job
that runs meanwhile gives the bits of a serial run.

usage: keys_test.py DOGGED SOURCE_DIR CASE
"""

import contextlib
import json
import os
import re
import socket
import subprocess
import sys
import tempfile
import threading
import time

from standing import Standing, until

DOGGED, SOURCE, CASE = os.path.abspath(sys.argv[1]), *sys.argv[2:4]


HEAT = os.path.join(SOURCE, "apps", "heat1d", "heat1d.dog")
# A job of some seconds, of several agents.
LONG = (HEAT, "-D", "N=400001", "-D", "T=60000", "--agents", "8")
# Words that stand in the job, and in wishes for its results.
NAMED = """
param N = 2000
input zebra(x)(0) for x = 0:N-1 else sin(0.25*x)
boundary zebra(0)(t) = 0
boundary zebra(N-1)(t) = 0
task okapi
  creates zebra(x)(t) as n
  for x = 1:N-2  t = 1:3
  using zebra(x-1)(t-1) as l  zebra(x)(t-1) as c  zebra(x+1)(t-1) as r
  code
    n = c + 0.125*(l - 2*c + r)
  end code
end task
result zebra(:)(3)
"""


class Home:
    """A home folder without keys; that of this process, too."""

    def __enter__(self):
        self.folder = tempfile.TemporaryDirectory()
        self.path = self.folder.name
        os.environ["HOME"] = self.path
        os.environ.pop("DOGGED_KEY_FILE", None)
        self.key = os.path.join(self.path, ".dogged", "key")
        return self

    def __exit__(self, *_):
        self.folder.cleanup()

    def env(self, **more):
        return {**os.environ, **more}

    def dogged(self, *arguments, expect=0, word="", timeout=60, **env):
        """Runs a command; its output, and that no key is in its words."""
        done = subprocess.run([DOGGED, *arguments], capture_output=True,
                              text=True, timeout=timeout, env=self.env(**env))
        said = done.stdout + done.stderr
        if done.returncode != expect or word not in said:
            raise SystemExit(f"dogged {' '.join(arguments)}: status "
                             f"{done.returncode}, not {expect}, or no "
                             f"{word!r}:\n{said}")
        if re.search(r"\b[0-9a-fA-F]{64}\b", said):
            raise SystemExit(f"dogged {' '.join(arguments)} tells a key")
        return done.stdout

    def make(self, name):
        """A new key file; its path."""
        path = os.path.join(self.path, name)
        self.dogged("key", "new", "--file", path)
        return path

    def write(self, name, text):
        path = os.path.join(self.path, name)
        with open(path, "w") as file:
            file.write(text)
        return path

    def keys(self, *arguments):
        """Ids of the keys, the used one first."""
        return re.findall(r"^  (\w{4})  ",
                          self.dogged("key", "list", *arguments), re.M)


def case_files():
    """Keys are made, added, used and removed; nothing is overwritten; modes are
    0600 and 0700 whatever the umask."""
    with Home() as home:
        home.dogged("key", "list", expect=2, word="dogged key new")
        former = os.umask(0)
        home.dogged("key", "new", word="used")
        os.umask(former)
        for path, mode in ((home.key, 0o600),
                           (os.path.dirname(home.key), 0o700)):
            if os.stat(path).st_mode & 0o7777 != mode:
                raise SystemExit(f"{path}: {os.stat(path).st_mode:o}")
        first = home.keys()
        home.dogged("key", "new", expect=2, word="is not overwritten")
        home.dogged("key", "add", word="accepted")
        both = home.keys()
        if both[:1] != first or len(both) != 2:
            raise SystemExit(f"{first} and then {both}")
        home.dogged("key", "remove", both[0], expect=2, word="in use")
        home.dogged("key", "use", both[1])
        home.dogged("key", "remove", both[0])
        if home.keys() != both[1:]:
            raise SystemExit(f"{both} and then {home.keys()}")
        # Another file, by a flag and by a variable; its keys join the first's.
        other = os.path.join(home.path, "other")
        home.dogged("key", "new", "--file", other)
        home.dogged("key", "list", DOGGED_KEY_FILE=other,
                    word=home.keys("--file", other)[0])
        home.dogged("key", "add", other)
        if home.keys() != both[1:] + home.keys("--file", other):
            raise SystemExit(f"{home.keys()}")
        home.dogged("key", "add", other, expect=2, word="there already")
        for words in ((), ("lst",), ("list", "--fil", "x"), ("use",),
                      ("new", "word")):
            home.dogged("key", *words, expect=2, word="error: ")


def unfit(home):
    """Key files that are refused: name and the word that says why."""
    def write(name, text, mode=0o600):
        path = os.path.join(home.path, name)
        with open(path, "w") as file:
            file.write(text)
        os.chmod(path, mode)
        return path
    home.dogged("key", "new", "--file", os.path.join(home.path, "good"))
    with open(os.path.join(home.path, "good")) as file:
        good = file.read()
    key = re.search(r"[0-9a-f]{64}", good).group(0)
    return [(write("empty", ""), "is empty"),
            (write("comment", "# nothing\n"), "no key is in it"),
            (write("two", f"use {key}\nuse {'0' * 64}\n"), "a second key"),
            (write("bare", key), "neither"),
            (write("short", f"use {key[:40]}\n"), "64 hex digits"),
            (write("group", good, 0o640), "chmod 600"),
            (write("world", good, 0o604), "chmod 600"),
            (home.path, "is a folder"),
            (os.path.join(home.path, "none"), "is not there"),
            (os.path.join(home.path, "good", "none"), "is not there"),
            (key, "a key stands where"),
            ("/dev/zero", "is no file")]


def case_unfit():
    """No key file that is unfit is used, or passed over, by any command."""
    with Home() as home:
        commands = (("agent",), ("status", "--cluster", "127.0.0.1:1"),
                    ("cancel", "--cluster", "127.0.0.1:1", "3f"),
                    ("run", HEAT, "--agents", "2"),
                    ("run", HEAT, "--cluster", "127.0.0.1:1"))
        for path, word in unfit(home):
            home.dogged("key", "list", "--file", path, expect=2, word=word)
            for command in commands:
                home.dogged(*command, "--key-file", path, expect=2, word=word)
                home.dogged(*command, expect=2, word=word,
                            DOGGED_KEY_FILE=path)
        for command in (("key", "list"), *commands):
            home.dogged(*command, expect=2, word="DOGGED_KEY_FILE is empty",
                        DOGGED_KEY_FILE="")
        for command in commands:
            home.dogged(*command, "--insecure", "--key-file", "any", expect=2,
                        word="say one of them")
        # The file that nobody named, if it is there.
        home.dogged("key", "new")
        os.chmod(home.key, 0o644)
        for command in commands:
            if command == ("run", HEAT, "--agents", "2"):
                continue  # its own agents have no keys that nobody named
            home.dogged(*command, expect=2, word="chmod 600")
        home.dogged("status", "--cluster", "127.0.0.1:1", "--insecure",
                    expect=4, word="Connection refused")
        # Beyond loopback with a key or on purpose.
        os.remove(home.key)
        home.dogged("agent", "--listen", "0.0.0.0:0", expect=2,
                    word="dogged key new")


def check(what, got, expected, report=""):
    if got != expected:
        raise SystemExit(f"{what}: {got}, not {expected}\n{report}")


def serial(*arguments):
    done = subprocess.run([DOGGED, "run", *arguments, "--json"],
                          capture_output=True, text=True, check=True)
    return json.loads(done.stdout)["result_digest"]


@contextlib.contextmanager
def long_job(cluster, digest):
    """Gives a client whose job runs; it has the right bits at the end."""
    client = subprocess.Popen(
        [DOGGED, "run", *LONG, "--cluster", cluster.addresses[0], "--json"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        cluster.await_status("some of it done", lambda s: s["jobs"] and
                             s["jobs"][-1]["progress"] > 0.01)
        yield client
        out, words = client.communicate(timeout=240)
    finally:
        client.kill()
    check("exit status", client.returncode, 0, words)
    report = json.loads(out)
    check("digest", report["result_digest"], digest, report)
    check("lost", report["agents_lost"], 0, report)


@contextlib.contextmanager
def agent(*arguments):
    """Another agent; yields a function that awaits a word of it."""
    process = subprocess.Popen([DOGGED, "agent", "--workers", "1", *arguments],
                               stdout=subprocess.DEVNULL, text=True,
                               stderr=subprocess.PIPE)
    begun = time.monotonic()

    def says(word, within):
        for line in process.stderr:
            if word in line:
                break
        else:
            raise SystemExit(f"an agent never said {word!r}")
        if time.monotonic() - begun > within:
            raise SystemExit(f"{word!r} took {time.monotonic() - begun} s")
        return line
    try:
        yield says
    finally:
        process.kill()
        process.wait()
        process.stderr.close()


def case_members():
    """With the cluster's key one is a member; without it, or with another one,
    clients and agents are told so in two seconds, by both keys' ids, while a
    job runs and is not disturbed; so are members at an agent without keys."""
    with Home() as home:
        digest = serial(*LONG[:5])
        key, other = home.make("key"), home.make("other")
        ours = home.keys("--file", key)[0]
        theirs = home.keys("--file", other)[0]
        os.environ["DOGGED_KEY_FILE"] = key
        with Standing(DOGGED) as cluster:
            for _ in range(3):
                cluster.start()
            at = ("--cluster", cluster.addresses[0])
            strangers = ((("--key-file", other),
                          f"theirs {ours}, ours {theirs}"),
                         (("--insecure",), f"theirs {ours}, ours none"))
            # An agent takes half a second to start, more beside a job.
            for flags, words in strangers:
                with agent("--join", cluster.addresses[0], *flags) as says:
                    says(words, within=2)
            with long_job(cluster, digest):
                for flags, words in strangers:
                    for command in (("status",), ("cancel", "3f"),
                                    ("run", HEAT)):
                        begun = time.monotonic()
                        home.dogged(*command, *at, *flags, expect=4, word=words)
                        if time.monotonic() - begun > 2:
                            raise SystemExit(f"{words!r} came late")
                    with agent("--join", cluster.addresses[0], *flags) as says:
                        says(words, within=60)
                home.dogged("status", *at)
            status = cluster.status()
            check("agents", len(status["agents"]), 3, status)
            check("refused", status["agents"][0]["refused"] >= 8 or
                  max(a["refused"] for a in status["agents"]) >= 8, True,
                  status)
            # An agent that lends results, and one that gives them in frames.
            report, _ = cluster.run(HEAT, "-D", "N=200001")
            check("lent", report["results_lent"] > 0, True, report)
        with Standing(DOGGED) as cluster:
            del os.environ["DOGGED_KEY_FILE"]
            cluster.start()
            os.environ["DOGGED_KEY_FILE"] = key
            home.dogged("status", "--cluster", cluster.addresses[0],
                        expect=4, word=f"theirs none, ours {ours}")
            with agent("--join", cluster.addresses[0]) as says:
                says(f"theirs none, ours {ours}", within=2)


def case_rotation():
    """A cluster gets another key while a job runs: added at all, used by all,
    the former one removed. Nobody is lost, and the former one is refused."""
    with Home() as home:
        digest = serial(*LONG[:5])
        key = home.make("key")
        with open(key) as file:
            old_alone = home.write("old", file.read())
        os.chmod(old_alone, 0o600)
        os.environ["DOGGED_KEY_FILE"] = key
        with Standing(DOGGED) as cluster:
            for _ in range(3):
                cluster.start()
            status = ("status", "--cluster", cluster.addresses[0])
            with long_job(cluster, digest):
                # Agents look once a second.
                home.dogged("key", "add")
                old, new = home.keys()
                cluster.await_status("both", lambda s: all(
                    a.get("keys") == [old, new] for a in s["agents"]))
                home.dogged(*status, word=f"keys {old}, {new}")
                home.dogged(*status, "--key-file", old_alone)
                home.dogged("key", "use", new)
                cluster.await_status("the new one", lambda s: all(
                    a.get("keys") == [new, old] for a in s["agents"]))
                home.dogged(*status, "--key-file", old_alone)
                home.dogged("key", "remove", old)
                cluster.await_status("that alone", lambda s: all(
                    a.get("keys") == [new] for a in s["agents"]))
            home.dogged(*status, "--key-file", old_alone, expect=4,
                        word=f"theirs {new}, ours {old}")
            cluster.start()
            agents = cluster.status()["agents"]
            check("agents", [a["state"] for a in agents], ["alive"] * 4, agents)


def case_refused():
    """An agent that has the cluster's new key alone is a member; a client with
    the old one is told by others that it is alive, and why it says nothing
    itself."""
    with Home() as home:
        key = home.make("key")
        with open(key) as file:
            text = file.read()
        home.dogged("key", "add", "--file", key)
        old, new = home.keys("--file", key)
        with open(key) as file:
            both = file.read()
        other, old_alone = home.write("other", both), home.write("old", text)
        for path in (other, old_alone):
            os.chmod(path, 0o600)
        os.environ["DOGGED_KEY_FILE"] = key
        with Standing(DOGGED) as cluster:
            for path in (key, other):
                cluster.start("--key-file", path)
            home.dogged("key", "use", new, "--file", other)
            home.dogged("key", "remove", old, "--file", other)
            until("it takes the old key no more", lambda: subprocess.run(
                [DOGGED, "status", "--cluster", cluster.addresses[1],
                 "--key-file", old_alone], capture_output=True,
                check=False).returncode != 0)
            at = ("status", "--cluster", cluster.addresses[0], "--key-file",
                  old_alone)
            said = home.dogged(*at)
            words = (f"{cluster.addresses[1]} does not take our key (theirs "
                     f"{new}, ours {old})")
            check("refused ones", [line.startswith(cluster.addresses[1])
                                   for line in said.splitlines()
                                   if "alive: " + words in line], [True], said)
            agents = {a["address"]: a for a in json.loads(
                home.dogged(*at, "--json"))["agents"]}
            check("states", [agents[a]["state"] for a in cluster.addresses],
                  ["alive"] * 2, agents)
            check("causes", ["cause" in agents[cluster.addresses[0]],
                             words in agents[cluster.addresses[1]]["cause"]],
                  [False, True], agents)


class Recorder:
    """Passes connections on to an agent, and keeps each one's bytes."""

    def __init__(self, address):
        host, port = address.rsplit(":", 1)
        self.to = (host, int(port))
        self.sent = []  # by those that connected, a connection each
        self.all = []
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.address = "127.0.0.1:%d" % self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.listener.close()

    def accept(self):
        while True:
            try:
                near, _ = self.listener.accept()
            except OSError:
                return
            far = socket.create_connection(self.to)
            self.sent.append(bytearray())
            for source, target, kept in ((near, far, self.sent[-1]),
                                         (far, near, bytearray())):
                threading.Thread(target=self.copy, daemon=True,
                                 args=(source, target, kept)).start()

    def copy(self, source, target, kept):
        with contextlib.suppress(OSError):
            while piece := source.recv(65536):
                kept += piece
                self.all.append(piece)
                target.sendall(piece)
        for end in (source, target):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)

    def text(self):
        return b"".join(self.all)


def record(home, flags, program):
    """Bytes of a run, a status and a join through a proxy."""
    with Standing(DOGGED) as cluster:
        cluster.start(*flags)
        with Recorder(cluster.addresses[0]) as proxy:
            at = ("--cluster", proxy.address, *flags)
            home.dogged("run", program, *at, "--json", word="result_digest")
            home.dogged("status", *at)
            with agent("--join", proxy.address, *flags):
                cluster.await_status("two agents", lambda s:
                                     len(s["agents"]) == 2)
            return proxy.text(), [bytes(sent) for sent in proxy.sent]


def case_captured():
    """Captured bytes of the control port have no label's name, kernel, address
    or key in them, which those without keys have; said again, they do
    nothing."""
    words = (b"zebra", b"okapi", b"127.0.0.1:", b"0.125")
    with Home() as home:
        program = home.write("named.dog", NAMED)
        plain, _ = record(home, ["--insecure"], program)
        missing = [word for word in words if word not in plain]
        check("what the proxy did not see", missing, [])
        key = home.make("key")
        os.environ["DOGGED_KEY_FILE"] = key
        sealed, sessions = record(home, ["--key-file", key], program)
        if len(sealed) < len(plain) / 2:
            raise SystemExit(f"{len(sealed)} bytes, and plain {len(plain)}")
        with open(key) as file:
            secret = re.search(r"use (\w{64})", file.read()).group(1)
        found = [word for word in (*words, b"dgd2", secret.encode(),
                                   bytes.fromhex(secret)) if word in sealed]
        check("found in the bytes", found, [])
        # Another cluster with the same key: the job would be news to it.
        with Standing(DOGGED) as cluster:
            cluster.start()
            for sent in sessions:
                say_again(cluster.addresses[0], sent)
            status = cluster.status()
            check("jobs", status["jobs"], [], status)
            check("agents", len(status["agents"]), 1, status)
            check("refused", status["agents"][0]["refused"] >= len(sessions),
                  True, status)


def say_again(address, sent):
    host, port = address.rsplit(":", 1)
    with socket.create_connection((host, int(port)), timeout=60) as connection:
        with contextlib.suppress(OSError):
            connection.sendall(sent)
            while connection.recv(65536):
                pass


def case_hostile():
    """Garbage, handshakes that are recorded, cut or never end, and connections
    that say nothing, by the hundred, while a job runs: it ends with its bits,
    and members are answered."""
    with Home() as home:
        os.environ["DOGGED_KEY_FILE"] = home.make("key")
        withstand(home)


def withstand(home):
    """Agents and clients as the environment says."""
    digest = serial(*LONG[:5])
    _, sessions = record(home, [], HEAT)
    with Standing(DOGGED) as cluster:
        for _ in range(3):
            cluster.start()
        host, port = cluster.addresses[0].rsplit(":", 1)
        silent, count = [], 0
        with long_job(cluster, digest) as client:
            while client.poll() is None or not silent:
                for i, sent in enumerate((
                        b"", b"\x16", b"\x16\x03\x01\x40\x00",
                        sessions[0][:100], sessions[0][:-1],
                        b"GET / HTTP/1.1\r\n\r\n", bytes(20000),
                        b"dgd2" + bytes(9))):
                    count += 1
                    connection = socket.create_connection((host, int(port)))
                    with contextlib.suppress(OSError):
                        connection.sendall(sent)
                    if len(silent) < 500 and i < 5:
                        silent.append(connection)
                    else:
                        connection.close()
        print(count, "connections")
        status = cluster.status()
        check("agents", [a["state"] for a in status["agents"]],
              ["alive"] * 3, status)
        # Each of them ends, within some seconds.
        for connection in silent:
            connection.settimeout(60)
            with contextlib.suppress(ConnectionError):
                while connection.recv(65536):
                    pass
            connection.close()


if __name__ == "__main__":
    globals()["case_" + CASE]()
