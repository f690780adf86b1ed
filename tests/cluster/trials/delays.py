"""Delays: 100 ms each way between agents, for a job of seconds."""

import time

from delayed_hosts import DelayedHosts
from fleet import AFTERWARDS, Wrong, program

OWN_NETWORK = True
DELAY = 0.1
SLOWER = 10  # times
JOBS = {"heat2d": program("heat2d", "N=1000", "T=4000"),
        "cholesky": program("cholesky", "N=3072", "NB=192"),
        "points": program("heat1d", "N=20001", "T=20") + ["--coalesce", "off"]}


def timed(trial, job, delay):
    with DelayedHosts(3, delay) as hosts:
        trial.hosts, trial.agents = hosts, []
        trial.start_on_hosts(3)
        client = trial.run(job, trial.rng.choice(trial.agents))
        report = client.await_end()
        trial.log(f"{delay} s: {report}")
        trial.check_processes()
        for agent in trial.agents:
            agent.process.kill()
            agent.process.wait()
        trial.hosts = None
    return report


def slow(trial, job):
    near, far = timed(trial, job, 0), timed(trial, job, DELAY)
    took = far["compute_seconds"] / near["compute_seconds"]
    trial.notes += [
        f"{near['compute_seconds']:.1f} s, with {DELAY * 1000:.0f} ms each way "
        f"{far['compute_seconds']:.1f} s",
        f"bytes {far['bytes_sent'] / near['bytes_sent']:.2f} times",
        f"sent again {near['bytes_resent']} and {far['bytes_resent']} of "
        f"{far['bytes_sent']}"]
    if took > SLOWER:
        raise Wrong(f"{took:.1f} times as long")


CASES = {name: (lambda trial, job=job: slow(trial, job), [job])
         for name, job in JOBS.items()}
