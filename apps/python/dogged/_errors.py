"""What can go wrong, an exception for each exit status of the command."""

from __future__ import annotations

import re
from typing import Any, Dict, List, Mapping, Optional

_TASK = re.compile(r"\btask (\w+(?:\([^()]*\))+|\w+(?=:))")
_LABEL = re.compile(r"\blabel (\w+(?:\([^()]*\))+)")
_AGENT = re.compile(r"(?<![\w.])((?:\d+\.){3}\d+:\d+|\[[0-9a-f:]+\]:\d+)")


class DoggedError(Exception):
    """An error of dogged; its text is the message with carets and help.

    status       exit status of the command for this, kind the same in a word
    code         of a diagnostic, as "D012", file, line, column (from 1), note
                 and help with it; else None
    python_file, python_line   the statement of a Builder
    text         the diagnostic as it is shown, with the line and carets
    diagnostics  all messages about the program, dictionaries (docs/JSON.md)
    task, label, agent   that the message names, else None
    report       figures of the run that failed, as of `dogged run --json`
    """

    status = 1

    def __init__(self, message: str, answer: Optional[Mapping[str, Any]] = None):
        answer = answer or {}
        error: Mapping[str, Any] = answer.get("error", {})
        self.message = message
        self.kind: str = error.get("kind", "failed")
        self.code: Optional[str] = error.get("code")
        self.file: Optional[str] = error.get("file")
        self.line: Optional[int] = error.get("line")
        self.column: Optional[int] = error.get("column")
        self.note: Optional[str] = error.get("note")
        self.help: Optional[str] = error.get("help")
        self.text: Optional[str] = error.get("text")
        self.diagnostics: List[Dict[str, Any]] = list(
            answer.get("diagnostics", []))
        # Places of a Builder's statement; else None.
        self.python_file: Optional[str] = None
        self.python_line: Optional[int] = None
        self.report: Dict[str, Any] = dict(answer.get("report", {}))
        self.task: Optional[str] = error.get("task") or _first(_TASK, message)
        self.label: Optional[str] = _first(_LABEL, message)
        self.agent: Optional[str] = _first(_AGENT, message)
        shown = [one["text"] for one in self.diagnostics
                 if one.get("severity") == "error"]
        super().__init__("\n" + "".join(shown) if shown else message)


class JobFailed(DoggedError):
    """The job failed: a kernel, a matrix that is not positive definite, ..."""


class Cancelled(JobFailed):
    """The job was cancelled."""


class SimFailed(JobFailed):
    """sim(): a seed whose run failed, or gave other bits than a serial run.

    seed     the first one
    replay   the call that runs it again; command the same for a shell, or None
    report   totals up to it, as of a SimResult
    """

    def __init__(self, message: str, answer: Optional[Mapping[str, Any]] = None):
        super().__init__(message, answer)
        answer = answer or {}
        self.seed: Optional[int] = answer.get("seed")
        self.replay: Optional[str] = answer.get("replay")
        self.command: Optional[str] = answer.get("command")


class Mistyped(DoggedError, ValueError):
    """Something that is not there: a file, a result, a flag, an address."""

    status = 2


class ProgramError(DoggedError):
    """The program is wrong, or does not fit its parameters and inputs."""

    status = 3


class NoAgents(DoggedError, ConnectionError):
    """No agent could be reached or started, or takes our key."""

    status = 4


class NoRoom(DoggedError, MemoryError):
    """Out of memory or disk, here or at the agents."""

    status = 5


class Interrupted(DoggedError):
    """The client was interrupted."""

    status = 130


class ClientGone(DoggedError):
    """The cluster was closed, or its client process has ended. Own agents end
    with it; those of others go on with their jobs."""


class ForkedError(DoggedError, RuntimeError):
    """A cluster or run of the parent is used in a child after a fork."""


class DoggedWarning(UserWarning):
    """A warning of the compiler, or about memory."""


_KINDS = {1: JobFailed, 2: Mistyped, 3: ProgramError, 4: NoAgents, 5: NoRoom,
          130: Interrupted}


def _first(pattern: "re.Pattern[str]", message: str) -> Optional[str]:
    found = pattern.search(message)
    return found.group(1) if found else None


def error_of(answer: Mapping[str, Any]) -> DoggedError:
    """The exception for an answer, or an event, with "status" and "error"."""
    message = str(answer.get("error", {}).get("message", "it failed"))
    kind = _KINDS.get(int(answer.get("status", 1)), JobFailed)
    if kind is JobFailed and message == "the job was cancelled":
        kind = Cancelled
    return kind(message, answer)
