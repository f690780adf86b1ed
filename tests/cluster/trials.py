#!/usr/bin/env python3
"""Many random trials of one promise: whoever is killed, the bits are the same.

Aim: agents of real processes, some killed with SIGKILL at any share of the
work, some joining, one or two copies: every run has the serial run's digest.
Method: everything is drawn from --seed; a failing trial prints its command.

usage: trials.py build/release/dogged [--count 100] [--seed 1]
                 [--case stencil|points|search|cholesky]
"""

import argparse
import json
import os
import random
import statistics
import subprocess
import sys

SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))))
CASES = {
    # program, parameters, agents to draw from, flags
    "stencil": ("heat1d", ["N=20001", "T=40000"], (1, 2, 4, 8), []),
    "points": ("heat1d", ["N=20001", "T=20"], (1, 2, 4, 8),
               ["--coalesce", "off"]),
    "search": ("heat1d", ["N=20001", "T=4"], (2, 4, 8),
               ["--coalesce", "off", "--search-only"]),
    "cholesky": ("cholesky", ["N=2048", "NB=256"], (1, 2, 4), []),
}


def trial(rng, agents):
    """The flags of one trial and how many deaths they ask for."""
    flags = ["--agents", agents, "--seed", rng.randrange(1, 1 << 31)]
    if agents == 1:
        return flags, 0
    deaths = rng.choice((1, 1, 1, agents - 1))  # all but one, now and then
    kills = sorted(rng.randrange(5, 90) for _ in range(deaths))
    joins = sorted(rng.randrange(3, 80) for _ in range(rng.randrange(0, 3)))
    # More deaths than copies are survived too, by running again what is lost.
    flags += ["--replicas", rng.choice((1, 2)),
              "--kill-at", ",".join(f"{share}%" for share in kills)]
    if joins:
        flags += ["--join-at", ",".join(f"{share}%" for share in joins)]
    return flags, deaths


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("dogged")
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--case", choices=CASES, default="stencil")
    parser.add_argument("--timeout", type=float, default=300)
    options = parser.parse_args()
    name, parameters, agent_counts, extra = CASES[options.case]
    program = [options.dogged, "run",
               os.path.join(SOURCE, "apps", name, name + ".dog"), "--json"]
    for parameter in parameters:
        program += ["-D", parameter]
    serial = json.loads(subprocess.run(
        program, capture_output=True, text=True, check=True).stdout)
    rng = random.Random(options.seed)
    ratios, passed = [], 0
    for index in range(options.count):
        flags, deaths = trial(rng, rng.choice(agent_counts))
        command = [*program, *extra, *map(str, flags)]
        try:
            done = subprocess.run(command, capture_output=True, text=True,
                                  timeout=options.timeout)
            report = json.loads(done.stdout) if done.stdout.strip() else {}
            status, talk = done.returncode, done.stderr
        except subprocess.TimeoutExpired:
            report, status, talk = {}, "timeout", ""
        ok = (status == 0 and report["agents_lost"] == deaths
              and report["result_digest"] == serial["result_digest"])
        passed += ok
        if ok:
            ratios.append(report["tasks_executed"] / report["tasks_needed"])
            print(f"{index + 1}: {' '.join(map(str, flags))}: "
                  f"{report['wall_seconds']:.1f} s, "
                  f"executed/needed {ratios[-1]:.3f}", flush=True)
        else:
            print(f"{index + 1}: FAILED, status {status}, lost "
                  f"{report.get('agents_lost')}, digest "
                  f"{report.get('result_digest')}\n  {' '.join(command)}\n"
                  f"{talk[-2000:]}", flush=True)
    if ratios:
        print(f"executed/needed: median {statistics.median(ratios):.3f}, "
              f"worst {max(ratios):.3f}")
    print(f"{passed} of {options.count} with the serial digest "
          f"{serial['result_digest']}")
    return 0 if passed == options.count else 1


sys.exit(main())
