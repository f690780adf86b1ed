"""Runs: jobs on their way, and their results."""

from __future__ import annotations

import asyncio
import html
import os
import threading
import time
import warnings
import weakref
from typing import (TYPE_CHECKING, Any, Callable, Dict, Generator, Iterator,
                    List, Optional, Tuple)

from ._door import Answer, Door
from ._errors import (Cancelled, ClientGone, DoggedError, DoggedWarning,
                      error_of)
from ._program import Program
from ._values import from_descriptor

if TYPE_CHECKING:
    import numpy as np

_EVENTS_MAX = 100_000  # of progress, the oldest are dropped


def _forget(door_ref: "weakref.ref[Door]", number: int, pid: int) -> None:
    door = door_ref()
    if door is None or os.getpid() != pid:
        return
    try:
        door.say("cancel", lambda *_: None, run=number)
        door.say("forget", lambda *_: None, run=number)
    except DoggedError:
        pass


class Run:
    """A job. run["u"] waits and is an array; iteration gives events.

    Events are dictionaries with "event": submitted or attached, progress (done,
    needed), joined, left, lost (who, when, cause), note, done, failed
    (docs/JSON.md), closed.
    """

    def __init__(self, door: Door, program: Optional[Program],
                 submitted: Answer):
        self.program = program  # None of a job that one has come back for
        self.name: str = program.name if program else submitted["program"]
        self.job: str = submitted["job"]  # its hash
        self._door = door
        self._number: int = submitted["run"]
        self._names: List[str] = submitted["results"]
        self._changed = threading.Condition()
        self._events: List[Answer] = []
        self._warnings: List[str] = []  # that nobody was told yet
        self._dropped = 0
        self._end: Optional[Answer] = None
        self._error: Optional[DoggedError] = None
        self._arrays: Dict[str, Any] = {}  # or a DoggedError
        self._asked: Dict[str, bool] = {}
        self._on_end: List[Callable[[], None]] = []
        door.add_run(self._number, self)

    # --- in the thread that reads

    def _note(self, event: Answer) -> None:
        event.pop("run", None)
        with self._changed:
            self._events.append(event)
            if event.get("is_warning"):
                self._warnings.append(f"{self.name} {self.job[:12]}: "
                                      f"{event['words']}")
            if len(self._events) > _EVENTS_MAX:
                del self._events[0]
                self._dropped += 1
            if event["event"] in ("done", "failed"):
                if event["event"] == "failed":
                    self._error = error_of(event)
                self._finish(event)
            self._changed.notify_all()

    def _lose(self, error: DoggedError) -> None:
        with self._changed:
            if self._end is None:
                self._error = error
                event: Answer = {
                    "event": "closed", "status": error.status, "report": {},
                    "error": {"kind": error.kind, "message": error.message}}
                self._events.append(event)
                self._finish(event)
            for name in self._asked:
                self._arrays.setdefault(name, error)
            self._changed.notify_all()

    def _finish(self, event: Answer) -> None:
        self._end = event
        calls, self._on_end = self._on_end, []
        for call in calls:
            call()

    # --- for users

    @property
    def state(self) -> str:
        """"running", "done", "cancelled" or "failed"; "closed" if its cluster
        was closed before, or the client has gone."""
        with self._changed:
            if self._end is None:
                return "running"
            if isinstance(self._error, Cancelled):
                return "cancelled"
            if isinstance(self._error, ClientGone):
                return "closed"
            return "failed" if self._error else "done"

    def done(self) -> bool:
        """It has ended, well or not."""
        return self.state != "running"

    def wait(self, timeout: Optional[float] = None) -> "Run":
        """Until it has ended. Raises what it failed of; TimeoutError.

        Warns of results with NaNs or infinities.
        """
        return self._wait(timeout)

    def _wait(self, timeout: Optional[float] = None) -> "Run":
        self._door.check()
        limit = None if timeout is None else time.monotonic() + timeout
        with self._changed:
            while self._end is None:
                left = None if limit is None else limit - time.monotonic()
                if left is not None and left <= 0:
                    raise TimeoutError(f"{self!r} has not ended in {timeout} s")
                self._changed.wait(left)
            untold, self._warnings = self._warnings, []
            error = self._error
        for words in untold:
            warnings.warn(words, DoggedWarning, stacklevel=3)
        if error is not None:
            raise error
        return self

    def __getitem__(self, name: str) -> "np.ndarray[Any, Any]":
        """The result, C order, writable, in memory of its own; no copy is made.

        Its dimensions are the indices of the result that vary: u(:)(:)(T) has
        two. The same array each time.
        """
        self._wait()
        name = self._result_name(name)
        with self._changed:
            is_first = not self._asked.setdefault(name, False)
            self._asked[name] = True
        if is_first:
            # Another wait() may take what Ctrl-C keeps this one from.
            self._door.say("result", lambda answer, descriptors: self._keep(
                name, answer, descriptors), run=self._number, name=name)
        with self._changed:
            while name not in self._arrays:
                self._changed.wait()
            out = self._arrays[name]
        if isinstance(out, DoggedError):
            raise out
        array: "np.ndarray[Any, Any]" = out
        return array

    def _keep(self, name: str, answer: Answer, descriptors: List[int]) -> None:
        out: Any
        try:
            if answer.get("status") != 0 or len(descriptors) != 1:
                out = error_of(answer)
            else:
                out = from_descriptor(descriptors.pop(), answer["type"],
                                      answer["shape"])
        except OSError as error:
            out = error_of({"status": 5, "error": {
                "kind": "no_room",
                "message": f"no addresses for result {name}: {error}"}})
        for one in descriptors:
            os.close(one)
        with self._changed:
            self._arrays.setdefault(name, out)
            self._changed.notify_all()

    def _result_name(self, name: str) -> str:
        assert self._end is not None
        results = self._end["results"]
        names = [one["name"] for one in results]
        if name in names:
            return name
        squeezed = name.replace(" ", "") if isinstance(name, str) else name
        alike = [one["name"] for one in results
                 if squeezed in (one["name"].replace(" ", ""), one["array"])]
        if len(alike) == 1:
            return str(alike[0])
        raise KeyError(f"{name!r} is no result of {self.name}, which "
                       f"has {', '.join(names)}; more are given as want=")

    @property
    def results(self) -> Dict[str, Tuple[int, ...]]:
        """Shapes of the results by name, once it is done."""
        self._wait()
        assert self._end is not None
        return {one["name"]: tuple(one["shape"])
                for one in self._end["results"]}

    def keys(self) -> List[str]:
        return list(self._names)

    def __contains__(self, name: object) -> bool:
        """A result of this name, or one that run[name] would take for it."""
        if self._end is None:
            return name in self._names
        try:
            return isinstance(name, str) and bool(self._result_name(name))
        except KeyError:
            return False

    def __iter__(self) -> Iterator[Answer]:
        """Events from the first on, as they come, until it has ended."""
        self._door.check()
        at = 0
        while True:
            with self._changed:
                while at - self._dropped >= len(self._events):
                    if self._end is not None:
                        return
                    self._changed.wait()
                at = max(at, self._dropped)
                event = dict(self._events[at - self._dropped])
                at += 1
            yield event

    def __await__(self) -> Generator[Any, None, "Run"]:
        self._door.check()
        loop = asyncio.get_running_loop()
        ended: "asyncio.Future[None]" = loop.create_future()

        def set_ended() -> None:
            if not ended.done():
                ended.set_result(None)

        def tell() -> None:
            if not loop.is_closed():
                loop.call_soon_threadsafe(set_ended)

        with self._changed:
            if self._end is None:
                self._on_end.append(tell)
            else:
                set_ended()
        yield from ended.__await__()
        return self._wait()

    @property
    def progress(self) -> float:
        """Share of its tasks that are done, from 0 to 1."""
        with self._changed:
            if self._end is not None and self._error is None:
                return 1.0
            for event in reversed(self._events):
                if event["event"] == "progress" and event["needed"] > 0:
                    return float(event["done"]) / float(event["needed"])
        return 0.0

    @property
    def losses(self) -> List[Answer]:
        """Agents lost so far: who, when (s), cause; redone once it has ended."""
        with self._changed:
            if self._end is not None and self._end.get("report"):
                return list(self._end["report"]["losses"])
            return [{key: event[key] for key in ("who", "when", "cause")}
                    for event in self._events if event["event"] == "lost"]

    @property
    def report(self) -> Answer:
        """Figures, as of `dogged run --json`, once it has ended."""
        with self._changed:
            return dict(self._end.get("report", {})) if self._end else {}

    def cancel(self) -> None:
        """Ends it: wait() raises Cancelled then. Nothing, if it has ended."""
        if not self.done():
            self._door.ask("cancel", run=self._number)

    def __repr__(self) -> str:
        return (f"<dogged run {self.name} {self.job[:12]}: "
                f"{self.state}, {self.progress:.0%}>")

    def _repr_html_(self) -> str:
        rows = [("job", self.job), ("state", self.state),
                ("progress", f"{self.progress:.0%}")]
        if self._error is not None:
            rows.append(("error", str(self._error).strip()))
        for loss in self.losses:
            rows.append(("lost", f"{loss['who']}: {loss['cause']}"))
        body = "".join(f"<tr><th>{html.escape(name)}</th>"
                       f"<td><pre>{html.escape(words)}</pre></td></tr>"
                       for name, words in rows)
        return (f"<table><caption>{html.escape(self.name)}</caption>"
                f"{body}</table>")
