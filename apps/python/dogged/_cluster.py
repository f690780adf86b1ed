"""Clusters: own agents, or those that others have started."""

from __future__ import annotations

import html
import os
import warnings
import weakref
from typing import Any, Dict, Iterable, List, Mapping, Optional, Tuple, Union

from ._door import Answer, Door
from ._errors import DoggedError, DoggedWarning, Mistyped
from ._program import Program, check_program, listed
from ._run import Run, _forget
from ._values import to_descriptor

Path = Union[str, "os.PathLike[str]"]
_SECONDS_MAX = 30 * 24 * 3600


def send_inputs(door: Door, do: str, program: Program,
                inputs: Mapping[str, Any], *, want: Iterable[str] = (),
                **fields: Any) -> Answer:
    """The answer to a request about a program, with its inputs in memory."""
    if not isinstance(inputs, Mapping):
        raise TypeError("inputs are arrays by name: inputs={'v': array}, not "
                        f"{type(inputs).__name__}")
    sent = program.fields(want)
    about, memory = _inputs_of(program, inputs)
    return door.ask(do, memory, inputs=about, **sent, **fields)


def _inputs_of(program: Program, inputs: Mapping[str, Any]
               ) -> Tuple[List[Dict[str, Any]], List[int]]:
    """Inputs in words; their descriptors, and those of libraries."""
    about: List[Dict[str, Any]] = []
    memory: List[int] = []
    try:
        for name, value in inputs.items():
            one, descriptor = to_descriptor(str(name), value,
                                            program.input_type(str(name)))
            about.append(one)
            memory.append(descriptor)
        for name, (kind, shape) in program.inputs.items():
            # The compiler has better words where a name is wrong.
            if name in inputs or set(inputs) - set(program.inputs):
                continue
            of_shape = "" if shape is None else f"of shape {shape}, "
            raise Mistyped(f"input {name} is wanted, {of_shape}{kind}: "
                           f"inputs={{{name!r}: array}}")
        memory += program.libraries()
    except BaseException:
        for descriptor in memory:
            os.close(descriptor)
        raise
    return about, memory


class Cluster:
    """Where jobs run; made by agents(), connect() and join_file()."""

    def __init__(self, where: str, **opened: Any):
        self._where = where
        self._door = Door()
        try:
            self._own: List[Answer] = self._door.ask("open", **opened)["agents"]
        except BaseException:
            self._door.close()
            raise
        self._door.follow(
            "; its own agents end with it" if self._own else
            "; its agents and their jobs go on: job() of a new connection "
            "comes back for them")

    def submit(self, program: Program, inputs: Optional[Mapping[str, Any]] = None,
               *, want: Iterable[str] = (), replicas: int = 0,
               keep: float = 0.0, redo_at_most: float = 0.0) -> Run:
        """Compiles the program for the agents, gives it to them, and returns
        while it runs.

        inputs        arrays by name; anything that NumPy takes. Order and byte
                      order are converted, and types where no value changes.
        want          more results, as "u(:)(10)"; what there is follows from
                      the shapes of the inputs that are given here
        replicas      copies of each value (0: 2, or 1 with one agent)
        keep          seconds that results stay with the agents afterwards
        redo_at_most  seconds of work that one lost agent may cost
        """
        check_program(program)
        for name, seconds in (("keep", keep), ("redo_at_most", redo_at_most)):
            if not isinstance(seconds, (int, float)):
                raise TypeError(f"{name} is a number of seconds, not "
                                f"{seconds!r}")
            if not 0 <= seconds <= _SECONDS_MAX:
                raise Mistyped(f"{name} is seconds, from 0 to 30 days, not "
                               f"{seconds!r}")
        self._door.check()
        options: Dict[str, Any] = {"keep_seconds": float(keep),
                                   "redo_seconds": float(redo_at_most)}
        if replicas:
            options["replicas"] = replicas
        door = weakref.ref(self._door)
        pid = os.getpid()
        answer = send_inputs(
            self._door, "submit", program, {} if inputs is None else inputs,
            want=want,
            on_abandon=lambda late: _forget(door, late["run"], pid), **options)
        if "warning" in answer:
            warnings.warn(answer["warning"], DoggedWarning, stacklevel=2)
        return self._run_of(answer, program)

    def job(self, digits: str, *, want: Iterable[str] = ()) -> Run:
        """Comes back for a job, which this process or any other has submitted.

        digits  of its hash, run.job, from the first on; as many as tell it
                from others
        want    parts of its results, as "u(0:9)(10)"

        It needs neither the program nor its inputs. Results stay with the agents
        for as long as submit(keep=...) said, also once they are here. Raises
        Mistyped if there is no such job, and what a job failed of that did.
        """
        if not isinstance(digits, str):
            raise TypeError("the first digits of a job's hash are wanted, as "
                            f"text, not {digits!r}")
        self._door.check()
        door = weakref.ref(self._door)
        pid = os.getpid()
        answer = self._door.ask(
            "attach", job=digits.strip(), want=listed(want),
            on_abandon=lambda late: _forget_results(door, late["run"], pid))
        return self._run_of(answer, None)

    def _run_of(self, answer: Answer, program: Optional[Program]) -> Run:
        run = Run(self._door, program, answer)
        weakref.finalize(run, _forget_results, weakref.ref(self._door),
                         answer["run"], os.getpid())
        return run

    def run(self, program: Program, inputs: Optional[Mapping[str, Any]] = None,
            **options: Any) -> Run:
        """submit(), and waits."""
        return self.submit(program, inputs, **options).wait()

    def start(self, count: int = 1) -> None:
        """More own agents. They join running jobs."""
        self._own = self._door.ask("start", agents=count)["agents"]

    @property
    def own_agents(self) -> List[Answer]:
        """Own agents that live: name, address, pid."""
        return list(self.status()["own_agents"])

    def status(self) -> Answer:
        """Agents as they say of themselves: address, host, workers, state; and
        jobs that they know: job (its hash), program, state."""
        answer = self._door.ask("status")
        return {key: answer[key] for key in ("agents", "own_agents", "jobs")}

    def close(self) -> None:
        """Own agents end, and jobs with them; jobs of other agents go on."""
        self._door.check()
        self._door.close()

    def __enter__(self) -> "Cluster":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<dogged cluster {self._where}>"

    def _repr_html_(self) -> str:
        try:
            rows = self.status()["agents"]
        except DoggedError as error:
            return f"<p>{html.escape(repr(self))}: {html.escape(str(error))}</p>"
        body = "".join(
            "<tr>" + "".join(f"<td>{html.escape(str(row.get(key, '')))}</td>"
                             for key in ("address", "host", "workers", "state"))
            + "</tr>" for row in rows)
        return (f"<table><caption>{html.escape(repr(self))}</caption><tr>"
                f"<th>address</th><th>host</th><th>workers</th><th>state</th>"
                f"</tr>{body}</table>")


def _forget_results(door_ref: "weakref.ref[Door]", number: int,
                    pid: int) -> None:
    door = door_ref()
    if door is None or os.getpid() != pid:
        return
    try:
        door.say("forget", lambda *_: None, run=number)
    except DoggedError:
        pass


def agents(count: int = 2, *, workers: int = 0,
           key_file: Optional[Path] = None) -> Cluster:
    """Agents of this host, which end with the cluster, or with this process.

    workers: threads of each (0: processors / agents).
    """
    fields: Dict[str, Any] = {"agents": count}
    if workers:
        fields["workers"] = workers
    if key_file is not None:
        fields["key_file"] = os.path.abspath(os.fspath(key_file))
    return Cluster(f"of {count} agents", **fields)


def connect(where: str, *, key_file: Optional[Path] = None,
            insecure: bool = False) -> Cluster:
    """Agents at "host:7070", "dns:NAME:PORT" or "file:DIR"; several with commas.

    key_file: of the cluster (default: DOGGED_KEY_FILE, or ~/.dogged/key).
    """
    fields: Dict[str, Any] = {"cluster": where, "insecure": insecure}
    if key_file is not None:
        fields["key_file"] = os.path.abspath(os.fspath(key_file))
    return Cluster(f"at {where}", **fields)


def join_file(folder: Path, *, key_file: Optional[Path] = None,
              insecure: bool = False) -> Cluster:
    """Agents that meet in a folder (`dogged agent --join file:DIR`)."""
    return connect(f"file:{os.path.abspath(os.fspath(folder))}",
                   key_file=key_file, insecure=insecure)
