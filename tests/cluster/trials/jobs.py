"""Jobs: a cluster that stands, hundreds of jobs, an agent killed and replaced
now and then: memory and descriptors after 100 jobs and after 300."""

import os
import random
import signal

from fleet import AFTERWARDS, Wrong, program

OWN_NETWORK = False
FIRST, LAST, KILLS = 100, 300, 10  # jobs; after each tenth one a kill
SLACK = 1.03
IDLE = 8  # seconds until what jobs held is given back


def jobs():
    """As many as there are, all different, in an order without a trend."""
    all_of_them = [program("heat2d", f"N={n}", f"T={t}")
                   for n in range(400, 600, 20) for t in range(60, 80)]
    all_of_them += [program("cholesky", f"N={n}", "NB=96")
                    for n in range(900, 1000)]
    random.Random(1).shuffle(all_of_them)
    return all_of_them[:LAST]


def usage(agent):
    """Bytes of its memory, and how many descriptors."""
    sizes = {}
    with open(f"/proc/{agent.process.pid}/smaps_rollup") as file:
        for line in list(file)[1:]:
            words = line.split()
            sizes[words[0][:-1]] = int(words[1]) << 10
    return {"pss": sizes["Pss"], "rss": sizes["Rss"],
            "anonymous": sizes["Anonymous"],
            "descriptors": len(os.listdir(f"/proc/{agent.process.pid}/fd"))}


def measure(trial, count):
    trial.wait(IDLE)
    found = [usage(agent) for agent in trial.agents]
    for agent, one in zip(trial.agents, found):
        trial.log(f"after {count} jobs {agent.address}: {one}")
        if count in (FIRST, LAST):
            with open(f"/proc/{agent.process.pid}/smaps") as file:
                with open(trial.file(f"{count}.smaps"), "w") as copy:
                    copy.write(file.read())
    return found


def standing(trial, directories):
    def start(place):
        extra = (["--dir", os.path.join(trial.folder, f"dir{place}")]
                 if directories else [])
        agent = trial.start(trial.agents[:1], extra=extra)
        # At the place of the one before.
        trial.agents.remove(agent)
        trial.agents.insert(place, agent)

    for place in range(3):
        start(place)
    trial.await_views({agent: trial.agents for agent in trial.agents})
    first = None
    for count, job in enumerate(jobs(), 1):
        # The first agent lives for all of them, the others in turns.
        place = 1 + count // KILLS % 2
        client = trial.run(job, trial.agents[(count % 2) * (3 - place)])
        if count % KILLS == 5:
            trial.await_progress(client, trial.agents[0], 0.05)
            trial.end(trial.agents[place], signal.SIGKILL)
            start(place)
        client.await_end(60)
        if count % 20 == 0 and count not in (FIRST, LAST):
            measure(trial, count)
        if count == FIRST:
            first = measure(trial, count)
    last = measure(trial, LAST)
    grown = []
    for place in range(3):
        for what in ("pss", "rss", "descriptors"):
            before, after = first[place][what], last[place][what]
            trial.notes.append(f"{what} {before >> (0 if what[0] == 'd' else 10)}"
                               f" -> {after / before:.3f}")
            if after > before * SLACK and what != "rss":
                grown.append(f"agent {place}: {what} {before} -> {after}")
    if grown:
        raise Wrong("; ".join(grown))
    trial.await_views({agent: trial.agents for agent in trial.agents})


CASES = {
    "memory": (lambda trial: standing(trial, False), [AFTERWARDS, *jobs()]),
    "directories": (lambda trial: standing(trial, True),
                    [AFTERWARDS, *jobs()]),
}
