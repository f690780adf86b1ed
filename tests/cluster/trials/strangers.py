"""Strangers: connections without a key at both ports of an agent, while it works
alone with one worker: idle ones, ones that say a byte a second, and garbage."""

import os
import signal
import socket
import ssl
import statistics
import subprocess
import time

from fleet import Wrong, program

OWN_NETWORK = False
JOB = program("heat2d", "N=3000", "T=500")
SLOWER = 1.05  # times, at most
PAIRS = 5      # of jobs, with strangers and without
IDLE = 500     # connections, to each port
RATE = 1000    # connections of garbage in a second


def ports(trial, agent):
    told = trial.status(agent)["agents"][0]
    return [(address.rsplit(":", 1)[0], int(address.rsplit(":", 1)[1]))
            for address in (told["address"], told["fabric_address"])]


def connect(to):
    one = socket.socket()
    one.setblocking(False)
    one.connect_ex(to)
    return one


def say(one, words):
    try:
        one.send(words)
    except OSError:
        pass


def annoy(targets, how):
    """Until it is killed; this process does nothing else."""
    idle = {to: [] for to in targets}
    hello = ssl.MemoryBIO(), ssl.MemoryBIO()
    try:
        ssl.create_default_context().wrap_bio(*hello, server_hostname="x"
                                              ).do_handshake()
    except ssl.SSLWantReadError:
        pass
    hello = hello[1].read()
    noise = [b"GET / HTTP/1.0\r\n\r\n", os.urandom(5000), b"", hello,
             hello[:100], b"dgd2" + b"\xff" * 9]
    number = 0
    while True:
        begin = time.monotonic()
        if how in ("idle", "slow"):
            for to, open_now in idle.items():
                open_now += [connect(to) for _ in range(IDLE - len(open_now))]
                if how == "slow":
                    for one in open_now:
                        say(one, hello[:1])
                alive = [one for one in open_now if not ended(one)]
                for one in set(open_now) - set(alive):
                    one.close()
                idle[to] = alive
        else:
            opened = [connect(targets[i % len(targets)]) for i in range(RATE)]
            time.sleep(0.2)
            for one in opened:
                number += 1
                say(one, noise[number % len(noise)])
                one.close()
        time.sleep(max(0, begin + 1 - time.monotonic()))


def ended(one):
    try:
        return one.recv(4096) == b""
    except BlockingIOError:
        return False
    except OSError:
        return True


def trial_of(trial, how):
    key = trial.file("key")
    subprocess.run([trial.dogged, "key", "new", "--file", key], check=True,
                   stdout=subprocess.DEVNULL)
    os.environ["DOGGED_KEY_FILE"] = key
    seconds = {False: [], True: []}
    for pair in range(PAIRS):
        for annoyed in ((False, True) if pair % 2 else (True, False)):
            # Another agent each time: one that has run the job has its results.
            agent = trial.start(extra=["--arena", "off"])
            targets = ports(trial, agent)
            strangers = None
            if annoyed:
                strangers = os.fork()
                if strangers == 0:
                    try:
                        annoy(targets, how)
                    finally:
                        os._exit(1)
            try:
                report = trial.run(JOB, agent).await_end()
            finally:
                if strangers:
                    os.kill(strangers, signal.SIGKILL)
                    os.waitpid(strangers, 0)
            trial.check_processes()
            trial.end(agent)
            seconds[annoyed].append(report["compute_seconds"])
            trial.log(f"{annoyed}: {report['compute_seconds']:.2f} s")
    took = statistics.median(seconds[True]) / statistics.median(seconds[False])
    trial.notes.append(
        f"{statistics.median(seconds[False]):.2f} s, with strangers "
        f"{took:.3f} times as long")
    if took > SLOWER:
        raise Wrong(f"{took:.3f} times as long")


CASES = {how: (lambda trial, how=how: trial_of(trial, how), [JOB])
         for how in ("idle", "slow", "garbage")}
