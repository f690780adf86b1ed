#!/usr/bin/env python3
"""Trials of one kind of living badly, over real processes.

Aim: agents that are stopped, cut off, badly linked or long at work are of one
view within ten seconds of the fault's end, their job has the bits of one
agent, and no process ends. Method: everything is drawn from a seed that is
printed; logs of failing trials are kept. Nothing here is compared in time but
for the ten seconds, twice as long on computers that others use, too.

usage: trials.py KIND [--trials 10] [--case NAME ...] [--parallel 1] [--seed 1]
                 [--dogged build/release/dogged] [--logs FOLDER]
kinds: stops cuts links delays jobs strangers
"""

import argparse
import concurrent.futures
import importlib
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import traceback

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(HERE)), "hosts"))

import fleet  # noqa: E402
from hosts import enter_own_network  # noqa: E402

KINDS = ("stops", "cuts", "links", "delays", "jobs", "strangers")
LIMIT = 900  # seconds for one trial, unless its kind says otherwise


def one_trial(kind, options):
    """In a process of its own; the last line says how it went."""
    if kind.OWN_NETWORK:
        enter_own_network()
    os.environ["XDG_CACHE_HOME"] = os.path.join(options.logs, "cache")
    digests = json.loads(os.environ["DOGGED_TRIAL_DIGESTS"])
    rng = random.Random(options.seed)
    run, _ = kind.CASES[options.one]
    with fleet.Trial(options.dogged, options.logs, rng, digests) as trial:
        try:
            run(trial)
            print("ok: " + ", ".join(trial.notes))
            return 0
        except fleet.Wrong as wrong:
            trial.keep_status()
            print("FAILED: " + ", ".join([*trial.notes, str(wrong)])
                  .replace("\n", " "))
        except Exception as error:
            trial.log(traceback.format_exc())
            print(f"FAILED: {type(error).__name__} {error}")
    return 1


def spawn(options, case, seed, environment):
    """Runs a trial; whether it passed, and in which words."""
    logs = os.path.join(options.logs, f"{options.kind}-{case}-{seed}")
    os.makedirs(logs, exist_ok=True)
    command = [sys.executable, "-B", os.path.abspath(__file__), options.kind,
               "--one", case, "--seed", str(seed), "--logs", logs, "--dogged",
               options.dogged]
    child = subprocess.Popen(command, stdout=subprocess.PIPE, text=True,
                             env=environment, start_new_session=True)
    limit = getattr(importlib.import_module(options.kind), "LIMIT", LIMIT)
    try:
        words = child.communicate(timeout=limit)[0].strip().splitlines()
        passed, words = child.returncode == 0, (words or ["nothing said"])[-1]
    except subprocess.TimeoutExpired:
        passed, words = False, f"FAILED: no end within {limit} s"
    try:
        os.killpg(child.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    child.wait()
    if passed and "(late)" not in words:
        shutil.rmtree(logs)
    print(f"{options.kind} {case} seed {seed}: {words}"
          + ("" if passed else f" [{logs}]"), flush=True)
    return passed


def main():
    parser = argparse.ArgumentParser(
        description=__doc__.splitlines()[0],
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kind", choices=KINDS)
    parser.add_argument("--trials", type=int, default=10)
    parser.add_argument("--case", action="append")
    parser.add_argument("--parallel", type=int, default=1)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--dogged", default=os.path.join(
        fleet.SOURCE, "build/release/dogged"))
    parser.add_argument("--logs", help="for failing trials")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    options = parser.parse_args()
    options.dogged = os.path.abspath(options.dogged)
    kind = importlib.import_module(options.kind)
    if options.one:
        return one_trial(kind, options)
    options.logs = os.path.abspath(options.logs or tempfile.mkdtemp())
    cases = options.case or list(kind.CASES)
    programs = {" ".join(words): words for case in cases
                for words in kind.CASES[case][1]}
    digests = {name: fleet.serial_digest(options.dogged, words)
               for name, words in programs.items()}
    environment = {**os.environ, "DOGGED_TRIAL_DIGESTS": json.dumps(digests)}
    with concurrent.futures.ThreadPoolExecutor(options.parallel) as pool:
        results = {case: [pool.submit(spawn, options, case, seed, environment)
                          for seed in range(options.seed,
                                            options.seed + options.trials)]
                   for case in cases}
        counts = {case: sum(result.result() for result in results[case])
                  for case in cases}
    for case, count in counts.items():
        print(f"{options.kind} {case}: {count} of {options.trials} passed")
    return 0 if sum(counts.values()) == len(cases) * options.trials else 1


if __name__ == "__main__":
    sys.exit(main())
