"""Simulated clusters: a program from many seeds, under faults, in one thread."""

from __future__ import annotations

import os
import re
import shlex
from dataclasses import dataclass
from itertools import islice
from typing import Any, Dict, Iterable, List, Mapping, Optional

from ._cluster import send_inputs
from ._door import Answer, Door
from ._errors import SimFailed
from ._program import Program, check_program, parameter_text

_SEEDS_PER_REQUEST = 1000
_LIBRARY = re.compile(r'\)\s*from\s*"')


@dataclass(frozen=True)
class SimResult:
    """Totals of seeds that all gave the results of a serial run.

    seeds             how many ran
    faults            injected, over all seeds
    tasks_needed      over all seeds; tasks_executed more, where losses or
                      disagreement made agents run some again
    held_labels_max   labels that one agent held at once, at most
    virtual_seconds   of simulated time, over all seeds
    trace_digest      of all that happened under the last seed, 16 digits: the
                      same seed, program and faults give the same
    """

    seeds: int
    faults: int
    tasks_needed: int
    tasks_executed: int
    held_labels_max: int
    virtual_seconds: float
    trace_digest: str


def sim(program: Program, inputs: Optional[Mapping[str, Any]] = None, *,
        seeds: Iterable[int] = range(100), agents: int = 8, replicas: int = 2,
        search_only: bool = False, claims: bool = True,
        **faults: float) -> SimResult:
    """Runs the program by a simulated cluster, once from each seed, and
    compares all results bit for bit with those of a serial run.

    dogged.sim(program, seeds=range(100), crash=2, drop=0.05)

    inputs       as of Cluster.submit()
    seeds        whole numbers from 0; each decides all that happens in its run
    agents       of the simulated cluster, each with a worker
    replicas     copies of each value
    search_only  no notification, only the backward search; with claims=False
                 searchers run what others run already
    faults       how many in each run: crash, pair, restart, pause, join, leave,
                 regrow, exchange, founders, partition, blackout, stop, split,
                 deaf, mute, link, large, slow, sick; or a message's chance of
                 it, below 1: drop, duplicate, reorder, corrupt

    Raises SimFailed at the first seed whose run fails, or has other bits.
    """
    check_program(program)
    how: Dict[str, Any] = {
        "agents": agents, "replicas": replicas, "search_only": search_only,
        "claims": claims, "faults": ",".join(
            f"{name}={parameter_text(name, value)}"
            for name, value in faults.items())}
    numbers = iter([seeds] if isinstance(seeds, int) else seeds)
    answers: List[Answer] = []
    door = Door()
    if _LIBRARY.search(program.text):
        door.follow("; a simulation runs kernels of your own in it")
    try:
        while True:
            some = [int(seed) for seed in islice(numbers, _SEEDS_PER_REQUEST)]
            if not some and answers:
                break
            answers.append(send_inputs(door, "sim", program, inputs or {},
                                       seeds=some, **how))
            if "failure" in answers[-1]:
                break
    except BaseException:
        door.kill()  # it may be at a long seed
        raise
    finally:
        door.close()
    result = _total(answers)
    failure = answers[-1].get("failure")
    if failure is None:
        return result
    seed = failure["seed"]
    given: Dict[str, float] = {
        "agents": agents, "replicas": replicas,
        "search_only": search_only, "claims": claims, **faults}
    call = "".join(f", {name}={value!r}" for name, value in given.items())
    replay = (f"dogged.sim(program{', inputs' if inputs else ''}, "
              f"seeds=[{seed}]{call})")
    words = [f"seed {seed}: {failure['message']}", f"  replay: {replay}"]
    command = None if inputs else _command(program, seed, how)
    if command is not None:
        words.append(f"  or:     {command}")
    raise SimFailed("\n".join(words),
                    {"seed": seed, "replay": replay, "command": command,
                     "report": vars(result)})


def _total(answers: List[Answer]) -> SimResult:
    def total(key: str) -> Any:
        return sum(answer[key] for answer in answers)

    return SimResult(
        seeds=total("seeds"), faults=total("faults_injected"),
        tasks_needed=total("tasks_needed"),
        tasks_executed=total("tasks_executed"),
        held_labels_max=max(one["held_labels_max"] for one in answers),
        virtual_seconds=total("virtual_seconds"),
        trace_digest=answers[-1]["trace_digest"])


def _command(program: Program, seed: int,
             how: Mapping[str, Any]) -> Optional[str]:
    """The same in a shell; None where the text is in no file."""
    fields = program.fields()
    if program.has_kernels:
        return None
    try:
        with open(fields["file"], encoding="utf-8") as file:
            is_same = file.read() == program.text
    except (OSError, UnicodeDecodeError):
        return None
    if not is_same or fields["want"]:
        return None
    words = ["dogged", "sim", os.path.relpath(fields["file"])]
    for name, value in fields["parameters"].items():
        words += ["-D", f"{name}={value}"]
    words += ["--agents", str(how["agents"]), "--replicas",
              str(how["replicas"]), "--seeds", f"{seed}:{seed}"]
    if how["faults"]:
        words += ["--faults", how["faults"]]
    if how["search_only"]:
        words.append("--search-only")
    if not how["claims"]:
        words += ["--claims", "off"]
    return shlex.join(words)
