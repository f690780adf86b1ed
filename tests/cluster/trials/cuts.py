"""Cuts: agents on hosts of their own that a network keeps apart for a while."""

import time

from fleet import AFTERWARDS, WORK, program

OWN_NETWORK = True


def both_ways(ones, others):
    return [link for a in ones for b in others for link in ((a, b), (b, a))]


def cut(trial, links):
    trial.log(f"cut: {links}")
    for sender, receiver in links:
        trial.hosts.cut(sender, receiver)


def mend(trial, links):
    for sender, receiver in links:
        trial.hosts.mend(sender, receiver)
    trial.log("mended")
    return time.monotonic()


def begin(trial, count, work):
    """Agents that know each other, and a job that has begun, or none."""
    trial.make_hosts(count)
    trial.start_on_hosts(count)
    if work is None:
        return None
    contact = trial.rng.choice(trial.agents)
    client = trial.run(work, contact)
    trial.await_progress(client, contact, trial.rng.uniform(0.05, 0.2))
    return client


def cut_for(trial, count, links, seconds, work):
    client = begin(trial, count, work)
    cut(trial, links)
    trial.wait(seconds)
    trial.note_views()
    trial.await_one_view(mend(trial, links))
    trial.finish(client)


def rest(trial, count=3):
    """A host at random, and the others."""
    one = trial.rng.randrange(count)
    return one, [i for i in range(count) if i != one]


def send_only(trial, work):
    """A host that is heard and hears nobody."""
    one, others = rest(trial)
    cut_for(trial, 3, [(other, one) for other in others], 12, work)


def receive_only(trial, work):
    """A host that hears and is not heard."""
    one, others = rest(trial)
    cut_for(trial, 3, [(one, other) for other in others], 12, work)


def halves(trial, work, seconds=12):
    some = trial.rng.sample(range(4), 2)
    others = [i for i in range(4) if i not in some]
    cut_for(trial, 4, both_ways(some, others), seconds, work)


def one(trial, work):
    one, others = rest(trial)
    cut_for(trial, 3, both_ways([one], others), 12, work)


def flapping(trial, work):
    """A cut of a minute, whole now and then for a moment: the one that was cut
    off is just about to come back, and is cut off again."""
    one, others = rest(trial)
    client = begin(trial, 3, work)
    links = both_ways([one], others)
    until = time.monotonic() + 60
    while True:
        cut(trial, links)
        trial.wait(min(trial.rng.uniform(4, 12),
                       max(0, until - time.monotonic())))
        healed = mend(trial, links)
        if healed >= until:
            break
        trial.wait(trial.rng.uniform(0.1, 2))
    trial.await_one_view(healed)
    trial.finish(client)


def apart(trial, work):
    """Two clusters that began without each other, and then meet."""
    trial.make_hosts(4)
    links = both_ways([0, 1], [2, 3])
    cut(trial, links)
    first = [trial.start([], 0)]
    first.append(trial.start(first, 1))
    second = [trial.start(first[:1], 2)]  # which it does not reach
    second.append(trial.start(second, 3))
    trial.await_views({**{a: first for a in first},
                       **{a: second for a in second}})
    clients = []
    if work is not None:
        # The same job in both, or another one.
        works = [work, trial.rng.choice(WORK)]
        clients = [trial.run(works[0], trial.rng.choice(first)),
                   trial.run(works[1], trial.rng.choice(second))]
        trial.await_progress(clients[0], first[0], 0.05)
        trial.await_progress(clients[1], second[0], 0.05)
    trial.wait(trial.rng.uniform(2, 12))
    trial.note_views()
    trial.await_one_view(mend(trial, links))
    for client in clients[1:]:
        client.await_end()
    trial.finish(clients[0] if clients else None)


# Jobs that outlive the cut by far, and the seconds of the cut.
LONG = {"halves_10_s": (10, program("heat2d", "N=3000", "T=9000")),
        "halves_60_s": (60, program("heat2d", "N=3000", "T=24000"))}

CASES = {}
for kind in (send_only, receive_only, halves, one, flapping, apart):
    CASES[kind.__name__ + "_idle"] = (
        lambda trial, kind=kind: kind(trial, None), [AFTERWARDS])
    CASES[kind.__name__ + "_working"] = (
        lambda trial, kind=kind: kind(trial, trial.rng.choice(WORK)),
        [AFTERWARDS, *WORK])
for name, (seconds, work) in LONG.items():
    CASES[name] = (
        lambda trial, seconds=seconds, work=work: halves(trial, work, seconds),
        [AFTERWARDS, work])
