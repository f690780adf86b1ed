"""Aim: between hosts, who listens on the network of agents with a key learns
nothing of values, labels and code; a job has the bits of one agent. Method: real
processes on hosts of their own, whose bridge this process listens at. That the
same is seen with --wire plain and signed shows that it would be seen.

    wire_test.py DOGGED SOURCE CASE
"""

import json
import os
import select
import socket
import struct
import subprocess
import sys
import tempfile
import threading

from agents import Fleet
from hosts import Hosts, enter_own_network

PROGRAM = """
param N = 400001
param T = 400
array quetzal(x = 0:N-1)(t = 0:T) : double

task start
  creates quetzal(x)(0) as n
  for x = 0:N-1
  code
    n = 12345.678
  end code
end task

boundary quetzal(0)(t)   = 12345.678
boundary quetzal(N-1)(t) = 12345.678

task step
  creates quetzal(x)(t) as n
  for
    x = 1:N-2
    t = 1:T
  using
    quetzal(x)(t-1)   as c
    quetzal(x-1)(t-1) as l
    quetzal(x+1)(t-1) as r
  code
    n = c + 0.0371*(l + r - 2*c)
  end code
end task

result quetzal(:)(T)
"""

# Names of labels, a constant of the code, two values one behind the other.
SECRETS = {"label": b"quetzal", "code": struct.pack("<d", 0.0371),
           "values": 2 * struct.pack("<d", 12345.678)}

EVERYTHING = 3  # ETH_P_ALL


class Listener:
    """All frames at the bridge, while it runs."""

    def __init__(self):
        self.socket = socket.socket(socket.AF_PACKET, socket.SOCK_RAW,
                                    socket.htons(EVERYTHING))
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 64 << 20)
        self.socket.settimeout(0.1)
        self.frames, self.is_over = [], False
        self.thread = threading.Thread(target=self.listen)

    def listen(self):
        while not self.is_over:
            try:
                self.frames.append(self.socket.recv(1 << 17))
            except TimeoutError:
                pass

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.is_over = True
        self.thread.join()
        self.socket.close()

    def seen(self):
        heard = b"".join(self.frames)
        print(f"{len(self.frames)} frames, {len(heard)} bytes")
        assert len(heard) > 100000, "nothing was sent"
        return {name for name, secret in SECRETS.items() if secret in heard}


def run(dogged, wire):
    """What a listener sees of a job on three hosts, two of which joined."""
    with tempfile.TemporaryDirectory() as folder:
        key, program = os.path.join(folder, "key"), os.path.join(folder, "q.dog")
        subprocess.run([dogged, "key", "new", "--file", key], check=True,
                       stdout=subprocess.DEVNULL)
        with open(program, "w") as file:
            file.write(PROGRAM)
        alone = subprocess.run([dogged, "run", program, "--json"], check=True,
                               capture_output=True, text=True)
        expected = json.loads(alone.stdout)["result_digest"]
        with Hosts(3) as hosts, Listener() as listener, Fleet(
                dogged, hosts, 3, key=key, wire=wire) as fleet:
            fleet.await_views({i: [0, 1, 2] for i in range(3)})
            report = fleet.run(program).report()
            assert report["result_digest"] == expected, report
            assert min(report["tasks_per_agent"]) > 0, report
            return listener.seen()


def sealed(dogged):
    seen = run(dogged, "sealed")
    assert not seen, seen


def signed(dogged):
    assert run(dogged, "signed") == set(SECRETS)


def plain(dogged):
    assert run(dogged, "plain") == set(SECRETS)


def connections(fleet, count):
    """As many to the fabric port of each agent, from outside of all hosts."""
    opened = []
    for agent in fleet.status(0)["agents"]:
        host, port = agent["fabric_address"].rsplit(":", 1)
        for _ in range(count):
            one = socket.socket()
            one.setblocking(False)
            one.connect_ex((host, int(port)))
            opened.append(one)
    return opened


def strangers(dogged):
    """Where agents have a key, no stranger connects to a fabric port, before,
    while and after agents do, and a job has its bits. That they do connect
    where agents have none shows that they try."""
    with tempfile.TemporaryDirectory() as folder:
        key, program = os.path.join(folder, "key"), os.path.join(folder, "q.dog")
        subprocess.run([dogged, "key", "new", "--file", key], check=True,
                       stdout=subprocess.DEVNULL)
        with open(program, "w") as file:
            file.write(PROGRAM)
        connected, digests = {}, set()
        for having, count in ((key, 100), (None, 3)):
            with Hosts(3) as hosts, Fleet(dogged, hosts, 3, key=having) as fleet:
                opened = connections(fleet, count)
                fleet.await_views({i: [0, 1, 2] for i in range(3)})
                client = fleet.run(program)
                fleet.await_progress(client, 0.01)
                opened += connections(fleet, count)
                digests.add(client.report()["result_digest"])
                # A job later, its packets have had their time.
                digests.add(fleet.run(program, "-D", "N=400001").report()
                            ["result_digest"])
                answers = select.poll()
                for one in opened:
                    answers.register(one, select.POLLOUT)
                connected[having] = len(answers.poll(0)) / len(opened)
                for one in opened:
                    one.close()
        assert connected == {key: 0, None: 1}, connected
        assert len(digests) == 1, digests


def mixed(dogged):
    """Who says another --wire is told so, and the others go on without it."""
    with tempfile.TemporaryDirectory() as folder:
        key = os.path.join(folder, "key")
        subprocess.run([dogged, "key", "new", "--file", key], check=True,
                       stdout=subprocess.DEVNULL)
        for wire in ("plain", "signed"):
            with Hosts(3) as hosts, Fleet(dogged, hosts, 2, key=key) as fleet:
                fleet.await_views({0: [0, 1], 1: [0, 1]})
                other = subprocess.Popen(
                    hosts.command(2, dogged, "agent", "--listen",
                                  fleet.address(2), "--join", fleet.address(0),
                                  "--key-file", key, "--wire", wire),
                    stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
                try:
                    words = next(line for line in other.stderr
                                 if "can't join" in line)
                finally:
                    other.kill()
                    other.wait()
                    other.stderr.close()
                assert "start it with --wire sealed" in words, words
                assert wire in words and fleet.address(0) in words, words
                fleet.await_views({0: [0, 1], 1: [0, 1]})


def main():
    enter_own_network()
    dogged, _, case = sys.argv[1:4]
    {"sealed": sealed, "signed": signed, "plain": plain,
     "mixed": mixed, "strangers": strangers}[case](dogged)


if __name__ == "__main__":
    main()
