"""The client process, and the lines and descriptors between it and this one.

A thread reads, another one writes, so that Ctrl-C never leaves half a line
behind, and takes effect at once: the main thread only waits for events.
"""

from __future__ import annotations

import itertools
import json
import os
import queue
import shutil
import signal
import socket
import subprocess
import threading
import weakref
from typing import Any, Callable, Deque, Dict, List, Optional, Sequence, Tuple
from collections import deque

from ._errors import ClientGone, ForkedError, Mistyped, error_of

Answer = Dict[str, Any]
# Takes the answer and its descriptors, in the reader's thread.
OnReply = Callable[[Answer, List[int]], None]

# Of docs/JSON.md; the client's first line has it.
_SCHEMA = 1
_HELLO_SECONDS = 20.0
_HELLO_BYTES_MAX = 1 << 16

_wires: "weakref.WeakSet[_Wire]" = weakref.WeakSet()


def command() -> str:
    """Path of the `dogged` command: $DOGGED, or that of this installation, or
    the first on PATH."""
    named = os.environ.get("DOGGED")
    if named:
        return named
    # lib/python3/dist-packages/dogged stands beside bin.
    here = os.path.dirname(os.path.abspath(__file__))
    prefix = os.path.normpath(os.path.join(here, *[os.pardir] * 4))
    beside = os.path.join(prefix, "bin", "dogged")
    if os.access(beside, os.X_OK):
        return beside
    found = shutil.which("dogged")
    if found is None:
        raise Mistyped(f"there is no dogged command, neither in {prefix}/bin nor "
                       f"on PATH: install dogged, or set DOGGED to its path")
    return found


def _ending(process: "subprocess.Popen[bytes]") -> str:
    """How a process has ended, in words."""
    try:
        # The kernel closes its socket a moment before.
        code = process.wait(5)
    except subprocess.TimeoutExpired:
        return "has closed its socket"
    if code >= 0:
        return f"has ended with status {code}"
    try:
        name = f" ({signal.Signals(-code).name})"
    except ValueError:  # one of real time
        name = ""
    return f"was ended by signal {-code}{name}"


class _Wire:
    """The socket and both threads. Knows nothing that holds it in turn."""

    def __init__(self, sock: socket.socket,
                 process: "subprocess.Popen[bytes]"):
        self.sock = sock
        self.process = process
        self.pid = os.getpid()
        # Reentrant: the end of a run, by the garbage collector, says something.
        self.lock = threading.RLock()
        self.waiting: Dict[int, OnReply] = {}
        self.runs: "weakref.WeakValueDictionary[int, Any]" = (
            weakref.WeakValueDictionary())
        # Events of runs that submit() has not returned yet.
        self.early: Dict[int, List[Answer]] = {}
        self.last_run = 0
        self.numbers = itertools.count(1)
        self.out: "queue.SimpleQueue[Optional[Tuple[bytes, Sequence[int]]]]" \
            = queue.SimpleQueue()
        self.end: Optional[ClientGone] = None
        self.is_closed = False  # by this process
        self.what_follows = ""  # of its end, in words
        # The client's first line; empty if it was none of a client's.
        self.hello: Optional[Answer] = None
        self.has_spoken = threading.Event()  # or ended
        _wires.add(self)
        for work in (self._read, self._write):
            threading.Thread(target=work, name="dogged", daemon=True).start()

    def say(self, fields: Answer, descriptors: Sequence[int],
            on_reply: OnReply) -> None:
        """Sends a request; the descriptors are closed once they are sent."""
        with self.lock:
            if self.end is not None:
                for one in descriptors:
                    os.close(one)
                raise self.end
            number = next(self.numbers)
            try:
                # NaN is no JSON.
                line = json.dumps({"id": number, **fields},
                                  allow_nan=False) + "\n"
            except ValueError:
                for one in descriptors:
                    os.close(one)
                raise
            self.waiting[number] = on_reply
        self.out.put((line.encode("utf-8", "replace"), descriptors))

    def _write(self) -> None:
        while True:
            item = self.out.get()
            if item is None:
                return
            line, descriptors = item
            try:
                if descriptors:
                    sent = socket.send_fds(self.sock, [line], descriptors)
                    line = line[sent:]
                self.sock.sendall(line)
            except OSError:
                pass  # the reader finds the end
            finally:
                for one in descriptors:
                    os.close(one)

    def _read(self) -> None:
        rest = b""
        came: Deque[int] = deque()
        while True:
            try:
                data, descriptors, _, _ = socket.recv_fds(self.sock, 1 << 16,
                                                          64)
            except OSError:
                data, descriptors = b"", []
            came.extend(descriptors)
            if not data:
                break
            *lines, rest = (rest + data).split(b"\n")
            if not self.has_spoken.is_set():
                if not lines and len(rest) <= _HELLO_BYTES_MAX:
                    continue
                self._greet(lines.pop(0) if lines else b"")
                if not self.hello:
                    break  # nothing else that it says has a meaning
            for line in lines:
                answer: Answer = json.loads(line)
                count = answer.get("descriptors", 0)
                taken = [came.popleft() for _ in range(
                    count if isinstance(count, int)
                    and not isinstance(count, bool) else 0)]
                self._deliver(answer, taken)
        for one in came:
            os.close(one)
        self._finish()

    def _greet(self, line: bytes) -> None:
        try:
            said = json.loads(line)
        except ValueError:
            said = None
        is_hello = isinstance(said, dict) and (
            said.get("hello") == "dogged client")
        self.hello = said if is_hello else {}
        self.has_spoken.set()

    def _deliver(self, answer: Answer, descriptors: List[int]) -> None:
        if "id" in answer:
            with self.lock:
                # A line that could not be read is answered in its turn.
                number = answer["id"]
                if number is None:
                    number = min(self.waiting, default=None)
                on_reply = self.waiting.pop(number, None)
            if on_reply is not None:
                on_reply(answer, descriptors)
            return
        number = answer.get("run")
        if number is None:
            return
        with self.lock:
            run = self.runs.get(number)
            if run is None and number > self.last_run:
                self.early.setdefault(number, []).append(answer)
        if run is not None:
            run._note(answer)

    def add_run(self, number: int, run: Any) -> None:
        """Events of this run go to it, also those that came already."""
        with self.lock:
            self.last_run = max(self.last_run, number)
            early = self.early.pop(number, [])
            for answer in early:
                run._note(answer)
            self.runs[number] = run
            if self.end is not None:
                run._lose(self.end)

    def _finish(self) -> None:
        how = "" if self.is_closed else _ending(self.process)
        with self.lock:
            self.end = ClientGone(
                ("this cluster is closed" if self.is_closed else
                 f"the dogged client {how}; if it said why, that is on standard "
                 "error") + self.what_follows)
            waiting, self.waiting = self.waiting, {}
            runs = list(self.runs.values())
        for on_reply in waiting.values():
            on_reply({"status": 1, "gone": True}, [])
        for run in runs:
            run._lose(self.end)
        self.out.put(None)
        self.has_spoken.set()


def _close_after_fork() -> None:
    # The parent's client is to see the parent's end, not ours.
    for wire in list(_wires):
        try:
            os.close(wire.sock.detach())
        except OSError:
            pass


os.register_at_fork(after_in_child=_close_after_fork)


def _end(sock: socket.socket, process: "subprocess.Popen[bytes]",
         pid: int) -> None:
    if os.getpid() != pid:
        return
    try:
        sock.shutdown(socket.SHUT_RDWR)
    except OSError:
        pass
    try:
        process.wait(5)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


class Door:
    """A client process. Ends with this object, and with this process."""

    def __init__(self) -> None:
        path = command()
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
        with theirs:
            try:
                # A session of its own: Ctrl-C is for this process alone.
                self._process = subprocess.Popen(
                    [path, "client", "--socket-fd",
                     str(theirs.fileno())],
                    pass_fds=[theirs.fileno()], stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL, start_new_session=True)
            except OSError as error:
                ours.close()
                raise Mistyped(f"{path} can't be started: "
                               f"{error.strerror}") from error
        self._wire = _Wire(ours, self._process)
        self._finalizer = weakref.finalize(self, _end, ours, self._process,
                                           os.getpid())
        try:
            self._expect_hello(path)
        except BaseException:
            self.kill()
            self.close()
            raise

    def _expect_hello(self, path: str) -> None:
        """Mistyped unless the process is a client of this schema."""
        has_spoken = self._wire.has_spoken.wait(_HELLO_SECONDS)
        hello = self._wire.hello
        if not hello:
            if hello is not None:
                how = "does not speak as a dogged client does"
            elif has_spoken:
                how = f"{_ending(self._process)} before it said a word"
            else:
                how = f"has said nothing for {_HELLO_SECONDS:.0f} s"
            raise Mistyped(f"{path} {how}: is it the dogged command of this "
                           f"package's release? DOGGED names another one")
        if hello.get("schema") != _SCHEMA:
            raise Mistyped(f"{path}: this dogged command speaks schema "
                           f"{hello.get('schema')}, and this package speaks "
                           f"{_SCHEMA}: take both of one release")

    @property
    def pid(self) -> int:
        return self._process.pid

    def check(self) -> None:
        """ForkedError in a process that did not make this."""
        if os.getpid() != self._wire.pid:
            raise ForkedError(
                f"this was made in process {self._wire.pid}, and a fork has "
                f"made this one, {os.getpid()}: connect or start agents anew "
                f"here")

    def say(self, do: str, on_reply: OnReply, memory: Sequence[int] = (),
            **fields: Any) -> None:
        self.check()
        if memory:
            fields["descriptors"] = len(memory)
        self._wire.say({"do": do, **fields}, memory, on_reply)

    def ask(self, do: str, memory: Sequence[int] = (),
            on_abandon: Optional[Callable[[Answer], None]] = None,
            **fields: Any) -> Answer:
        """The answer to a request. `on_abandon` gets it if Ctrl-C came first."""
        self.check()
        came = threading.Event()
        lock = threading.Lock()
        box: List[Answer] = []
        is_abandoned = False

        def on_reply(answer: Answer, taken: List[int]) -> None:
            for one in taken:
                os.close(one)
            with lock:
                box.append(answer)
                came.set()
                late = is_abandoned
            if late and on_abandon is not None and answer.get("status") == 0:
                on_abandon(answer)

        self.say(do, on_reply, memory, **fields)
        try:
            came.wait()
        except BaseException:
            with lock:
                is_abandoned = True
                late = bool(box)
            if late and on_abandon is not None and box[0].get("status") == 0:
                on_abandon(box[0])
            raise
        answer = box[0]
        if answer.get("gone"):
            assert self._wire.end is not None
            raise self._wire.end
        if answer.get("status") != 0:
            raise error_of(answer)
        return answer

    def add_run(self, number: int, run: Any) -> None:
        self._wire.add_run(number, run)

    def follow(self, words: str) -> None:
        """Words for those who wait as this ends: what becomes of agents."""
        self._wire.what_follows = words

    def kill(self) -> None:
        """Ends the process at once, whatever it does."""
        if os.getpid() == self._wire.pid:
            self._process.kill()

    def close(self) -> None:
        self._wire.is_closed = True
        self._finalizer()


_checker: Optional[Door] = None
_checker_lock = threading.Lock()


def checker() -> Door:
    """A client without a cluster, for compiling; one a process."""
    global _checker
    with _checker_lock:
        if (_checker is None or _checker._wire.pid != os.getpid()
                or _checker._wire.end is not None):
            _checker = Door()
        return _checker
