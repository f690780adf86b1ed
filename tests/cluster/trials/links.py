"""Links: two that don't reach each other during a job, though all others do."""

import time

from fleet import AFTERWARDS, Wrong, program

OWN_NETWORK = True
# About as long as the link is down, on two processors without another trial: a
# link that is down is noticed after some seconds, whatever the job.
JOBS = [program("heat2d", "N=4096", "T=12000"),
        program("cholesky", "N=16384", "NB=256")]
LIMIT = 600   # seconds for a job, also beside another trial
DOWN = 60     # seconds for which it is down at least
LARGE = 600   # bytes
CLIENT = 3    # the host of clients


def during_a_job(trial, cut, mend, contact):
    """The same job first without and then with the cut."""
    job = trial.rng.choice(JOBS)
    client = trial.run(job, contact, CLIENT)
    client.await_end(LIMIT)
    without = time.monotonic() - client.began
    # Agents forget a job two seconds after its last client.
    trial.wait(5)
    client = trial.run(job, contact, CLIENT)
    trial.await_progress(client, contact, trial.rng.uniform(0.02, 0.1))
    began = time.monotonic()
    cut()
    trial.log("cut")
    try:
        report = client.await_end(LIMIT)
        took = time.monotonic() - client.began
        trial.log(f"job done: {report}")
        trial.notes.append(f"{took:.1f} s, {took / without:.2f} times as long "
                           f"as without")
        if report["tasks_executed"] < report["tasks_needed"] / 2:
            raise Wrong("the second job had not been forgotten")
        trial.wait(began + DOWN - time.monotonic())
        trial.note_views()
    finally:
        mend()
        trial.log("mended")
    trial.await_one_view(time.monotonic())
    trial.finish(None)


def begin(trial):
    trial.make_hosts(CLIENT + 1)
    trial.start_on_hosts(CLIENT)
    ends = trial.rng.sample(range(CLIENT), 2)
    return ends, trial.rng.choice(trial.agents)


def cuts_of(trial, links):
    def cut():
        for link in links:
            trial.hosts.cut(*link)

    def mend():
        for link in links:
            trial.hosts.mend(*link)
    return cut, mend


def both_ways(trial):
    (a, b), contact = begin(trial)
    during_a_job(trial, *cuts_of(trial, [(a, b), (b, a)]), contact)


def one_way(trial):
    (a, b), contact = begin(trial)
    during_a_job(trial, *cuts_of(trial, [(a, b)]), contact)


def large(trial):
    """Frames beyond some bytes are lost, both ways: a link of a smaller MTU
    than its ends believe."""
    (a, b), contact = begin(trial)

    def cut():
        trial.hosts.cut_large(a, b, LARGE)
        trial.hosts.cut_large(b, a, LARGE)

    def mend():
        trial.hosts.mend_large(a)
        trial.hosts.mend_large(b)
    during_a_job(trial, cut, mend, contact)


def client(trial):
    """The client and the agent that it talks to."""
    _, contact = begin(trial)
    links = [(CLIENT, contact.host), (contact.host, CLIENT)]
    links = trial.rng.choice((links, links[:1], links[1:]))
    trial.notes.append(f"{len(links)} ways")
    during_a_job(trial, *cuts_of(trial, links), contact)


CASES = {kind.__name__: (kind, [AFTERWARDS, *JOBS])
         for kind in (both_ways, one_way, large, client)}
