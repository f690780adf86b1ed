"""Hosts of a test's own: network namespaces on a bridge, whose links it cuts."""

import os
import socket
import struct
import subprocess
import sys


SKIPPED = 77  # an exit status that ctest knows


def enter_own_network():
    """Goes on in a network of this process's own, as root of that alone."""
    if os.environ.get("DOGGED_OWN_NETWORK"):
        return
    as_root = [] if os.getuid() == 0 else ["--user", "--map-root-user"]
    tried = subprocess.run(["unshare", *as_root, "--net", "--uts", "true"],
                           capture_output=True, text=True)
    if tried.returncode != 0:
        print(f"skipped, no hosts can be made here: {tried.stderr.strip()}")
        sys.exit(SKIPPED)
    os.environ["DOGGED_OWN_NETWORK"] = "1"
    os.execvp("unshare", ["unshare", *as_root, "--net", "--", sys.executable,
                          "-B", *sys.argv])


def ip(*words):
    subprocess.run(["ip", *words], check=True)


class Hosts:
    """`count` of them, 10.124.0.1 and so on; this process reaches all."""

    def __init__(self, count):
        ip("link", "set", "lo", "up")
        ip("link", "add", "bridge", "type", "bridge")
        ip("link", "set", "bridge", "up")
        ip("addr", "add", "10.124.0.254/24", "dev", "bridge")
        self.keepers = []  # each holds a host's namespace
        for i in range(count):
            keeper = self.keep_namespace()
            ip("link", "add", f"host{i}", "type", "veth", "peer", "name",
               "eth0", "netns", str(keeper.pid))
            ip("link", "set", f"host{i}", "master", "bridge", "up")
            self.set_up(i)

    def keep_namespace(self):
        """A process that holds the next host's namespaces: a network, and a
        name, by which agents tell hosts apart."""
        keeper = subprocess.Popen(
            ["unshare", "--net", "--uts", "sh", "-c",
             f"hostname host{len(self.keepers)}; echo; exec cat >/dev/null"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.keepers.append(keeper)
        keeper.stdout.readline()
        return keeper

    def set_up(self, i):
        """Brings a host up whose link is there."""
        self.inside(i, "ip", "link", "set", "lo", "up")
        self.inside(i, "ip", "addr", "add", f"{self.address(i)}/24", "dev",
                    "eth0")
        self.inside(i, "ip", "link", "set", "eth0", "up")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        # Links that end with their namespaces end a moment later, and their
        # names are wanted by the next hosts.
        for i in range(len(self.keepers)):
            ip("link", "del", f"host{i}")
        self.end_keepers()
        ip("link", "del", "bridge")

    def end_keepers(self):
        for keeper in self.keepers:
            keeper.kill()
            keeper.wait()
            keeper.stdin.close()
            keeper.stdout.close()

    @staticmethod
    def address(i):
        return f"10.124.0.{i + 1}"

    def command(self, i, *words):
        """`words` as they run on host `i`."""
        spaces = f"/proc/{self.keepers[i].pid}/ns"
        return ["nsenter", f"--net={spaces}/net", f"--uts={spaces}/uts", "--",
                *words]

    def inside(self, i, *words):
        subprocess.run(self.command(i, *words), check=True)

    def cut(self, sender, receiver):
        """Messages from one to the other are lost, without a word."""
        self.inside(sender, "ip", "neigh", "replace", self.address(receiver),
                    "lladdr", "02:00:00:00:00:99", "dev", "eth0", "nud",
                    "permanent")

    def mend(self, sender, receiver):
        self.inside(sender, "ip", "neigh", "del", self.address(receiver),
                    "dev", "eth0")

    def unplug(self, i):
        """Nothing reaches host `i`, nor leaves it."""
        ip("link", "set", f"host{i}", "down")

    def plug_in(self, i):
        ip("link", "set", f"host{i}", "up")

    def limit(self, i, mbit):
        """Host `i` sends and gets so many million bits a second at most."""
        rate = ["root", "tbf", "rate", f"{mbit}mbit", "burst", "16kb",
                "latency", "400ms"]
        self.inside(i, "tc", "qdisc", "add", "dev", "eth0", *rate)
        subprocess.run(["tc", "qdisc", "add", "dev", f"host{i}", *rate],
                       check=True)

    def cut_large(self, sender, receiver, size):
        """Packets of more bytes from one to the other are lost."""
        self.inside(sender, "ip", "link", "add", "lost", "type", "ifb")
        self.inside(sender, "tc", "qdisc", "add", "dev", "eth0", "clsact")
        words = struct.unpack("!I", socket.inet_aton(self.address(receiver)))
        frame, to = size + 14, 14 + 16  # Ethernet's header comes before
        bytecode = ",".join(("6", "128 0 0 0", f"37 0 3 {frame}", f"32 0 0 {to}",
                             f"21 0 1 {words[0]}", "6 0 0 4294967295",
                             "6 0 0 0"))
        # An interface that is down is where they go.
        self.inside(sender, "tc", "filter", "add", "dev", "eth0", "egress",
                    "bpf", "bytecode", bytecode, "action", "mirred", "egress",
                    "redirect", "dev", "lost")

    def mend_large(self, sender):
        self.inside(sender, "tc", "qdisc", "del", "dev", "eth0", "clsact")
        self.inside(sender, "ip", "link", "del", "lost")
