"""Certificates of a site's CA in place of keys, as users have them.

Aim: a certificate of the CA, for the right use, makes a member, client or
agent, beside members with keys; others are told whose certificate was wrong and
why, and change nothing; nothing can be read on its way, nor said again. Method:
certificates that `openssl` makes for the test; the binary itself, a proxy that
records, and `openssl s_client` as an attacker who speaks TLS by the book.

usage: certificates_test.py DOGGED SOURCE_DIR CASE
"""

import contextlib
import datetime
import json
import os
import shutil
import subprocess
import sys
import tempfile

import keys_test
from standing import (Standing, await_address, begin_agent, end_agent, until)

DOGGED, SOURCE, CASE = os.path.abspath(sys.argv[1]), *sys.argv[2:4]
HEAT = os.path.join(SOURCE, "apps", "heat1d", "heat1d.dog")
SKIPPED = 77
BOTH, CLIENT, SERVER = "clientAuth,serverAuth", "clientAuth", "serverAuth"
# The settings of `openssl ca`, which alone can date a certificate.
CONFIG = """
[ca]
default_ca = site
[site]
database = index
new_certs_dir = .
rand_serial = yes
unique_subject = no
default_md = sha256
policy = names
[names]
commonName = supplied
"""


def fail(words):
    raise SystemExit(words)


class Site:
    """CAs, the certificates that they made, and agents."""

    def __init__(self):
        self.folder = tempfile.mkdtemp()
        self.agents = []
        with open(self.path("config"), "w") as file:
            file.write(CONFIG)
        with open(self.path("index"), "w"):
            pass
        self.authority("ca", "Site CA")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for agent in self.agents:
            end_agent(agent)
        shutil.rmtree(self.folder)

    def path(self, name):
        return os.path.join(self.folder, name)

    def openssl(self, *words, text=None):
        done = subprocess.run(["openssl", *words], cwd=self.folder, input=text,
                              capture_output=True, text=True, timeout=60)
        if done.returncode != 0:
            fail(f"{words}: {done.stderr}")

    def authority(self, name, subject):
        self.openssl("req", "-x509", "-newkey", "ec", "-pkeyopt",
                     "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
                     "-subj", f"/CN={subject}", "-keyout", f"{name}.key",
                     "-out", f"{name}.pem", "-addext",
                     "basicConstraints=critical,CA:TRUE")

    def issue(self, name, usage, ca="ca", begins=-3600, ends=86400):
        """A certificate and its key; a `usage` of None: it says none. The times
        are seconds from now."""
        self.openssl("req", "-newkey", "ec", "-pkeyopt",
                     "ec_paramgen_curve:P-256", "-nodes", "-subj",
                     f"/CN={name}", "-keyout", f"{name}.key", "-out",
                     f"{name}.csr")
        with open(self.path(f"{name}.ext"), "w") as file:
            file.write("basicConstraints=CA:FALSE\n")
            if usage:
                file.write(f"extendedKeyUsage={usage}\n")
        now = datetime.datetime.now(datetime.timezone.utc)
        dates = [(now + datetime.timedelta(seconds=at)).strftime(
            "%Y%m%d%H%M%SZ") for at in (begins, ends)]
        self.openssl("ca", "-batch", "-notext", "-config", "config", "-cert",
                     f"{ca}.pem", "-keyfile", f"{ca}.key", "-in",
                     f"{name}.csr", "-extfile", f"{name}.ext", "-startdate",
                     dates[0], "-enddate", dates[1], "-out", f"{name}.pem")
        os.chmod(self.path(f"{name}.key"), 0o600)
        return self.flags(name)

    def flags(self, name, ca="ca"):
        return ["--ca-file", self.path(f"{ca}.pem"), "--cert-file",
                self.path(f"{name}.pem"), "--cert-key-file",
                self.path(f"{name}.key")]

    def variables(self, name):
        """The same by variables."""
        ca, own, key = self.flags(name)[1::2]
        return {"DOGGED_CA_FILE": ca, "DOGGED_CERT_FILE": own,
                "DOGGED_CERT_KEY_FILE": key}

    def key(self, name="key"):
        path = self.path(name)
        if not os.path.exists(path):
            subprocess.run([DOGGED, "key", "new", "--file", path], check=True,
                           stdout=subprocess.DEVNULL)
        return ["--key-file", path]

    def start(self, *arguments):
        log = self.path(f"log{len(self.agents)}")
        agent = begin_agent(DOGGED, "--workers", 1, *arguments, log=log,
                            env=self.environment())
        self.agents.append(agent)
        await_address(agent)
        return agent

    def environment(self):
        return {"HOME": self.folder}  # without a key

    def dogged(self, *words, **variables):
        done = subprocess.run(
            [DOGGED, *words], capture_output=True, text=True, timeout=60,
            env={**os.environ, **self.environment(), **variables})
        # No private key of this folder is in its words.
        for name in os.listdir(self.folder):
            if not name.endswith(".key"):
                continue
            with open(self.path(name)) as file:
                secret = file.read().split("\n")[1]
            if secret and secret in done.stdout + done.stderr:
                fail(f"{words} tells {name}")
        return done


def said(agent):
    with open(agent.log) as log:
        return log.read()


def ends(done, status, *words):
    for one in words:
        if done.returncode != status or one not in done.stderr:
            fail(f"{done.args}: {done.returncode}, not {status} and {one!r}:\n"
                 f"{done.stdout}{done.stderr}")


def alive(done):
    if done.returncode != 0:
        return None
    return sorted(agent["address"]
                  for agent in json.loads(done.stdout)["agents"]
                  if agent["state"] == "alive")


def case_members():
    """Agents with a certificate, a key, and both are one cluster; a client with
    either has the bits of a serial run."""
    with Site() as site:
        node, alice = site.issue("node", BOTH), site.issue("alice", CLIENT)
        both = site.start(*node, *site.key())
        other = site.start(*node, "--join", both.address)
        third = site.start(*site.key(), "--join", both.address)
        for credential in (alice, site.key()):
            until("all are one cluster", lambda: alive(site.dogged(
                "status", "--json", "--cluster", both.address, *credential))
                == sorted([both.address, other.address, third.address]))
            program = (HEAT, "-D", f"N={2001 + len(credential)}", "-D", "T=100")
            done = site.dogged("run", *program, "--json", "--cluster",
                               both.address, *credential)
            serial = site.dogged("run", *program, "--json", "--agents", "1")
            ends(done, 0, "")
            if (json.loads(done.stdout)["result_digest"]
                    != json.loads(serial.stdout)["result_digest"]):
                fail("other bits")
        # Each sort alone says which one it wants.
        ends(site.dogged("status", "--cluster", third.address, *alice), 4,
             "takes keys and no certificates")
        ends(site.dogged("status", "--cluster", other.address, *site.key()), 4,
             "takes certificates and no keys")
        ends(site.dogged("status", "--cluster", other.address), 4,
             "takes certificates and no keys")
        ends(site.dogged("status", "--cluster", both.address), 4,
             "takes nobody without its key")
        # An agent without them finds them with keys of its own.
        alone = site.start()
        ends(site.dogged("status", "--cluster", alone.address, *alice), 4,
             "has neither a key nor a certificate", "--insecure here")
        # An unknown key beside a certificate is no harm.
        ends(site.dogged("status", "--cluster", both.address, *alice,
                         *site.key("new")), 0, "")
        ends(site.dogged("status", "--cluster", both.address,
                         *site.key("new")), 4, "does not take our key (theirs ")


def case_sealed():
    """Agents that seal what they send each other know each other by the key: one
    with a certificate of the CA and another key is told so, and the others go
    on. A client needs the certificate alone."""
    with Site() as site:
        node, alice = site.issue("node", BOTH), site.issue("alice", CLIENT)
        seals = ("--wire", "sealed", "--arena", "off", *node)
        one = site.start(*seals, *site.key())
        site.start(*seals, *site.key(), "--join", one.address)
        ask = ("status", "--json", "--cluster", one.address, *alice)
        until("two agents", lambda: len(alive(site.dogged(*ask)) or []) == 2)
        other = site.start(*seals, *site.key("other"), "--join", one.address)
        until("it is told", lambda: f"{one.address} does not take our key "
              "(theirs " in said(other))
        job = (HEAT, "-D", "N=20001", "-D", "T=1000", "--json")
        done = site.dogged("run", *job, "--cluster", one.address, *alice)
        serial = site.dogged("run", *job, "--agents", "1")
        ends(done, 0, "")
        if (json.loads(done.stdout)["result_digest"]
                != json.loads(serial.stdout)["result_digest"]):
            fail("other bits")
        if len(alive(site.dogged(*ask))) != 2:
            fail("not two agents")


def case_refused():
    """Certificates of another CA, of no CA, expired, of another use: told to
    the client with subject and issuer, to the agent's log, and nothing else."""
    with Site() as site:
        agent = site.start(*site.issue("node", BOTH))
        good = site.issue("alice", CLIENT)
        site.authority("other", "Other CA")
        site.issue("mallory", CLIENT, ca="other")
        site.issue("www", SERVER)
        site.issue("plain", None)
        site.issue("past", CLIENT, begins=-7200, ends=-60)
        site.issue("early", CLIENT, begins=7200)
        site.authority("alone", "alone")
        ask = ("status", "--json", "--cluster", agent.address)
        cases = (("mallory", "CN = Other CA", "unable to get local issuer"),
                 ("www", "CN = Site CA", "has no clientAuth"),
                 ("plain", "CN = Site CA", "has no clientAuth"),
                 ("past", "CN = Site CA", "certificate has expired"),
                 ("early", "CN = Site CA", "certificate is not yet valid"),
                 ("alone", "CN = alone", "self-signed certificate"))
        for name, issuer, why in cases:
            # Trouble that the client sees in its own files is said before.
            whose = f"CN = {name}, issued by {issuer}"
            ends(site.dogged(*ask, *site.flags(name)), 2, whose, why)
            # With s_client nobody looks but the agent.
            heard = attack(site, agent, name)
            if whose not in heard or why not in heard:
                fail(f"{name} was told {heard!r}")
        for name, words, what in (
                (None, (), "neither a key nor a certificate was shown"),
                ("alice", (), ""), ("alice", ("-alpn", "h2"), ""),
                ("alice", ("-tls1_2",), ""), (None, ("-alpn", "h2"), "")):
            heard = attack(site, agent, name, *words)
            if what not in heard or (not what and heard):
                fail(f"{name} {words} was told {heard!r}")
        if "issued by CN = Other CA" not in said(agent):
            fail(said(agent))
        if refusals(site, agent, good) < len(cases) + 4:
            fail("not all of them are counted")
        # The other way: an agent whose certificate is not an agent's.
        server = subprocess.Popen(
            ["openssl", "s_server", "-accept", "127.0.0.1:0", "-cert",
             site.path("alice.pem"), "-key", site.path("alice.key"), "-tls1_3"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL, text=True)
        try:
            line = server.stdout.readline()
            while not line.startswith("ACCEPT"):
                line = server.stdout.readline()
            ends(site.dogged("status", "--cluster", line.split()[1], *good), 4,
                 "CN = alice, issued by CN = Site CA", "has no serverAuth")
        finally:
            server.kill()
            server.wait()
            server.stdin.close()
            server.stdout.close()
        ends(site.dogged(*ask, *good), 0, "")


def case_files():
    """Files that can't be end the command, with status 2 and words."""
    with Site() as site:
        node = site.issue("node", BOTH)
        site.issue("bob", CLIENT)
        site.issue("www", SERVER)
        ca, own, key = (node[i] for i in (1, 3, 5))

        def given(one=ca, two=own, three=key):
            return ["status", "--cluster", "127.0.0.1:1", "--ca-file", one,
                    "--cert-file", two, "--cert-key-file", three]
        empty, folder = site.path("empty"), site.path("folder")
        os.mkdir(folder)
        with open(empty, "w"):
            pass
        for words, what in (
                (given(one=site.path("none")), "none: is not there"),
                (given(two=site.path("none")), "none: is not there"),
                (given(three=site.path("none")), "none: is not there"),
                (given(one=folder), "is a folder"), (given(two=empty),
                                                     "is empty"),
                (given(one=own), "CN = node, issued by CN = Site CA, is no CA"),
                (given(two=key), "has no certificate in PEM"),
                (given(three=own), "others may read"),
                (given(three=site.path("bob.key")),
                 "is not that of the certificate"),
                (given()[:-2], "go together"),
                ([*given(), "--insecure"], "say one of them"),
                (["run", HEAT, *given()[3:]], "--cluster")):
            ends(site.dogged(*words), 2, what)
        os.chmod(key, 0o640)
        ends(site.dogged(*given()), 2, f"{key}: others may read", "chmod 600")
        os.chmod(key, 0o600)
        os.chmod(ca, 0o666)
        ends(site.dogged(*given()), 2, f"{ca}: others may change", "chmod 644")
        os.chmod(ca, 0o644)
        ends(site.dogged(*given()), 4, "Connection refused")
        # Variables name them, too; empty ones are a mistake. Own agents of a
        # run have none of them.
        named = site.variables("node")
        ask = ("status", "--cluster", "127.0.0.1:1")
        ends(site.dogged(*ask, **named), 4, "Connection refused")
        for name in named:
            ends(site.dogged(*ask, **{**named, name: ""}), 2,
                 f"{name} is empty")
            ends(site.dogged(*ask, **{**named, name: folder}), 2, "is a folder")
        ends(site.dogged("run", HEAT, "--agents", "1", **named), 0, "")
        # An agent wants a certificate for both, and a key beyond loopback.
        ends(site.dogged("agent", *site.flags("bob")), 2, "has no serverAuth")
        ends(site.dogged("agent", *site.flags("www")), 2, "has no clientAuth")
        ends(site.dogged("agent", "--listen", "0.0.0.0:0", "--advertise",
                         "127.0.0.1:0", *node), 2, "is sealed by a key")


def case_renewed():
    """Files that change are read again: a certificate that goes and one that
    comes, and another CA, while an agent runs."""
    with Site() as site:
        agent = site.start(*site.issue("node", BOTH))
        ask = ("status", "--cluster", agent.address)
        alice = site.issue("alice", CLIENT)
        ends(site.dogged(*ask, *alice), 0, "")
        site.authority("next", "Next CA")
        site.issue("carol", CLIENT, ca="next")
        site.issue("new", BOTH, ca="next")
        with open(site.path("both.pem"), "w") as both:
            for name in ("ca.pem", "next.pem"):
                with open(site.path(name)) as file:
                    both.write(file.read())
        carol = site.flags("carol", ca="both")
        ends(site.dogged(*ask, *carol), 4, "CN = carol, issued by CN = Next CA")
        os.replace(site.path("both.pem"), site.path("ca.pem"))
        shutil.copy(site.path("ca.pem"), site.path("both.pem"))
        until("carol is taken",
              lambda: site.dogged(*ask, *carol).returncode == 0)
        ends(site.dogged(*ask, *alice), 0, "")
        os.replace(site.path("new.key"), site.path("node.key"))
        until("it says so", lambda: "goes on being used" in said(agent))
        os.replace(site.path("new.pem"), site.path("node.pem"))
        until("it has another", lambda: "certificate from now on: CN = new"
              in said(agent))
        ends(site.dogged(*ask, *alice), 0, "")


def case_expires():
    """A certificate that ends while its agent runs: clients say so, and so does
    the agent's log; its job goes on being known once it has another."""
    with Site() as site:
        soon = site.issue("node", BOTH, ends=10)
        agent = site.start(*soon)
        ask = ("status", "--cluster", agent.address)
        alice = site.issue("alice", CLIENT)
        ends(site.dogged(*ask, *alice), 0, "")
        until("clients say so",
              lambda: site.dogged(*ask, *alice).returncode == 4)
        ends(site.dogged(*ask, *alice), 4, agent.address,
             "CN = node, issued by CN = Site CA: certificate has expired")
        until("the agent says so", lambda: (
            "node.pem: CN = node, issued by CN = Site CA: certificate has "
            "expired") in said(agent))
        site.issue("new", BOTH)
        for name in ("key", "pem"):
            os.replace(site.path(f"new.{name}"), site.path(f"node.{name}"))
        until("it is heard again",
              lambda: site.dogged(*ask, *alice).returncode == 0)


@contextlib.contextmanager
def certified():
    """A home in which all agents and clients have a certificate."""
    with keys_test.Home() as home, Site() as site:
        site.issue("node", BOTH)
        os.environ.update(site.variables("node"))
        yield home


def case_captured():
    """Captured bytes of the control port have no label's name, kernel, address
    or certificate in them; said again, they do nothing."""
    with keys_test.Home() as home:
        plain, _ = keys_test.record(
            home, ["--insecure"], home.write("named.dog", keys_test.NAMED))
    with certified() as home:
        program = home.write("named.dog", keys_test.NAMED)
        sealed, sessions = keys_test.record(home, [], program)
        if len(sealed) < len(plain) / 2:
            fail(f"{len(sealed)} bytes, and plain {len(plain)}")
        for word in (b"zebra", b"okapi", b"127.0.0.1:", b"0.125"):
            if word not in plain or word in sealed:
                fail(f"{word}: {word in plain} {word in sealed}")
        for word in (b"dgd2", b"Site CA", b"node"):
            if word in sealed:
                fail(f"{word} is in the captured bytes")
        with Standing(DOGGED) as cluster:
            cluster.start()
            for sent in sessions:
                keys_test.say_again(cluster.addresses[0], sent)
            status = cluster.status()
            if (status["jobs"] or len(status["agents"]) != 1
                    or status["agents"][0]["refused"] < len(sessions)):
                fail(status)


def case_hostile():
    """As cluster.keys_hostile, of agents with certificates."""
    with certified() as home:
        keys_test.withstand(home)


def refusals(site, agent, good):
    done = site.dogged("status", "--json", "--cluster", agent.address, *good)
    return json.loads(done.stdout)["agents"][0]["refused"]


def attack(site, agent, name, *words):
    """What comes back to a client that speaks TLS by the book, with the
    certificate of `name`, and says that it has one as dogged does."""
    client = ["openssl", "s_client", "-connect", agent.address, "-quiet",
              *(words if "-alpn" in words else
                ("-alpn", "dogged certificate", *words))]
    if name:
        client += ["-cert", site.path(f"{name}.pem"), "-key",
                   site.path(f"{name}.key")]
    done = subprocess.run(client, input=b"no frame of dogged",
                          capture_output=True, timeout=60)
    return done.stdout.decode(errors="replace")


if shutil.which("openssl") is None:
    print("skipped: no openssl here")
    sys.exit(SKIPPED)
globals()["case_" + CASE]()
