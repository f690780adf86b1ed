"""Hosts whose frames to each other arrive some time later, all in order: taps in
their namespaces, and a process that carries frames between them."""

import fcntl
import heapq
import os
import selectors
import signal
import struct
import time

from hosts import Hosts, ip

OWN = 254  # the host that this process is; frames from and to it are not delayed
BROADCAST = b"\xff" * 6


def mac(i):
    return "02:00:00:00:00:%02x" % i


class DelayedHosts(Hosts):
    """As `Hosts`, with seconds of delay between any two of them."""

    def __init__(self, count, delay):
        self.carrier = None
        self.delay = delay
        self.taps = {}
        ip("link", "set", "lo", "up")
        self.keepers = []
        for i in range(count):
            keeper = self.keep_namespace()
            self.taps[i] = make_tap(f"host{i}")
            ip("link", "set", f"host{i}", "address", mac(i), "netns",
               str(keeper.pid), "name", "eth0", "mtu", "9000")
            self.set_up(i)
        self.taps[OWN] = make_tap("own")
        ip("link", "set", "own", "address", mac(OWN), "mtu", "9000", "up")
        ip("addr", "add", "10.124.0.254/24", "dev", "own")
        self.carrier = os.fork()
        if self.carrier == 0:
            try:
                carry(self.taps, delay)
            finally:
                os._exit(1)

    def __exit__(self, *_):
        os.kill(self.carrier, signal.SIGKILL)
        os.waitpid(self.carrier, 0)
        for tap in self.taps.values():
            os.close(tap)
        self.end_keepers()


def make_tap(name):
    tap = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
    without_header, is_tap, set_interface = 0x1000, 0x0002, 0x400454ca
    fcntl.ioctl(tap, set_interface, struct.pack(
        "16sH22s", name.encode(), is_tap | without_header, b""))
    return tap


def receivers(taps, sender, frame):
    if frame[:6] == BROADCAST:
        return [i for i in taps if i != sender]
    return [frame[5]] if frame[5] in taps else []


def carry(taps, delay):
    """Until it is killed."""
    selector = selectors.DefaultSelector()
    for i, tap in taps.items():
        selector.register(tap, selectors.EVENT_READ, i)
    under_way, number = [], 0
    while True:
        patience = under_way[0][0] - time.monotonic() if under_way else None
        for key, _ in selector.select(patience and max(0, patience)):
            for _ in range(64):
                try:
                    frame = os.read(key.fd, 65536)
                except BlockingIOError:
                    break
                for to in receivers(taps, key.data, frame):
                    near = OWN in (to, key.data)
                    number += 1
                    heapq.heappush(under_way, (
                        time.monotonic() + (0 if near else delay), number, to,
                        frame))
        now = time.monotonic()
        while under_way and under_way[0][0] <= now:
            _, _, to, frame = heapq.heappop(under_way)
            try:
                os.write(taps[to], frame)
            except OSError:
                pass  # lost, as by any network
