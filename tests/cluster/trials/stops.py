"""Stops: one of three is stopped while the others are replaced one by one."""

import signal
import time

from fleet import AFTERWARDS, WORK

OWN_NETWORK = False
STOP = 20  # seconds


def replaced(trial, work):
    rng = trial.rng
    for _ in range(3):
        trial.start(trial.agents[:1])
    trial.await_views({agent: trial.agents for agent in trial.agents})
    client = None
    stopped = rng.choice(trial.agents)
    old = [agent for agent in trial.agents if agent is not stopped]
    rng.shuffle(old)
    if work is not None:
        client = trial.run(work, rng.choice(trial.agents))
        trial.await_progress(client, old[0], rng.uniform(0.05, 0.2))
    trial.log(f"stops {stopped.address}")
    stopped.process.send_signal(signal.SIGSTOP)
    began = time.monotonic()
    pauses = [rng.uniform(0.5, 4) for _ in range(4)]
    for agent in old:
        trial.wait(pauses.pop())
        trial.start([a for a in trial.live() if a is not stopped])
        trial.wait(pauses.pop())
        trial.end(agent, rng.choice((signal.SIGKILL, signal.SIGTERM)))
    trial.wait(began + STOP - time.monotonic())
    trial.log("goes on")
    stopped.process.send_signal(signal.SIGCONT)
    trial.await_one_view(time.monotonic())
    trial.finish(client)


def idle(trial):
    replaced(trial, None)


def working(trial):
    replaced(trial, trial.rng.choice(WORK))


CASES = {"idle": (idle, [AFTERWARDS]), "working": (working, [AFTERWARDS, *WORK])}
