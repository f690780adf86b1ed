"""Jobs: a cluster that stands, hundreds of jobs: memory and descriptors after
100 jobs and after 200, or after 300 with an agent killed and replaced now and
then."""

import collections
import os
import random
import signal

from fleet import AFTERWARDS, Wrong, program

OWN_NETWORK = False
FIRST = 100  # jobs, until memory is measured that is to stay
KILLS = 10   # after each tenth job, where agents are killed
Plan = collections.namedtuple("Plan", "last slack kills directories")
PLANS = {"standing": Plan(200, 1.02, kills=False, directories=False),
         "memory": Plan(300, 1.03, kills=True, directories=False),
         "directories": Plan(300, 1.03, kills=True, directories=True)}
RESERVE = 40 << 20  # bytes of an arena without values; no more than a job's
IDLE = 8  # seconds until what jobs held is given back
# Seconds for a trial: hundreds of jobs, one after the other, take 3 s each where
# others use the computer, too.
LIMIT = 3600


def jobs(count):
    """All different, in an order without a trend."""
    all_of_them = [program("heat2d", f"N={n}", f"T={t}")
                   for n in range(400, 600, 20) for t in range(60, 80)]
    all_of_them += [program("cholesky", f"N={n}", "NB=96")
                    for n in range(900, 1000)]
    random.Random(1).shuffle(all_of_them)
    return all_of_them[:count]


def usage(agent):
    """Bytes of its memory, and how many descriptors. Its own: pages of files on
    disk are shared with whoever else runs them. The arena apart: from the start
    it has pages in reserve, and gives them back once it has used them."""
    sizes = {}
    with open(f"/proc/{agent.process.pid}/smaps_rollup") as file:
        for line in list(file)[1:]:
            words = line.split()
            sizes[words[0][:-1]] = int(words[1]) << 10
    return {"memory": sizes["Pss_Anon"], "arena": sizes["Pss_Shmem"],
            "rss": sizes["Rss"],
            "descriptors": len(os.listdir(f"/proc/{agent.process.pid}/fd"))}


def measure(trial, count, keeps=False):
    trial.wait(IDLE)
    found = [usage(agent) for agent in trial.agents]
    for agent, one in zip(trial.agents, found):
        trial.log(f"after {count} jobs {agent.address}: {one}")
        if keeps:
            with open(f"/proc/{agent.process.pid}/smaps") as file:
                with open(trial.file(f"{count}.smaps"), "w") as copy:
                    copy.write(file.read())
    return found


def standing(trial, plan):
    def start(place):
        extra = (["--dir", os.path.join(trial.folder, f"dir{place}")]
                 if plan.directories else [])
        agent = trial.start(trial.agents[:1], extra=extra)
        # At the place of the one before.
        trial.agents.remove(agent)
        trial.agents.insert(place, agent)

    for place in range(3):
        start(place)
    trial.await_views({agent: trial.agents for agent in trial.agents})
    first = None
    for count, job in enumerate(jobs(plan.last), 1):
        # The first agent lives for all of them, the others in turns.
        place = 1 + count // KILLS % 2
        client = trial.run(job, trial.agents[(count % 2) * (3 - place)])
        if plan.kills and count % KILLS == 5:
            trial.await_progress(client, trial.agents[0], 0.05)
            trial.end(trial.agents[place], signal.SIGKILL)
            start(place)
        client.await_end(60)
        if count % 20 == 0 and count not in (FIRST, plan.last):
            measure(trial, count)
        if count == FIRST:
            first = measure(trial, count, keeps=True)
    last = measure(trial, plan.last, keeps=True)
    grown = []
    for place in range(3):
        for what in ("memory", "arena", "descriptors"):
            before, after = first[place][what], last[place][what]
            if what == "arena":
                before = max(before, RESERVE)
            trial.notes.append(f"{what} {before >> (0 if what[0] == 'd' else 10)}"
                               f" -> {after / before:.3f}")
            if after > before * plan.slack:
                grown.append(f"agent {place}: {what} {before} -> {after}")
    if grown:
        raise Wrong("; ".join(grown))
    trial.await_views({agent: trial.agents for agent in trial.agents})


CASES = {name: (lambda trial, plan=plan: standing(trial, plan),
                [AFTERWARDS, *jobs(plan.last)])
         for name, plan in PLANS.items()}
