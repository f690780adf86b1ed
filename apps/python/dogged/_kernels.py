"""Kernels from C text: compiled once, kept in memory, in a folder for as long
as the client reads them."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import tempfile
from contextlib import contextmanager
from functools import lru_cache
from typing import Dict, Iterator, List, Mapping, Tuple, Union

from ._errors import Mistyped, ProgramError

Sources = Union[str, Mapping[str, str]]
_ONLY_NAME = "kernels.so"
_NAME = re.compile(r"\w[\w.+-]*\.so\Z")
_ERROR = re.compile(r"^[^\n:]+:(\d+):(?:(\d+):)? (?:fatal )?error: (.*)$", re.M)
_DECLARED = re.compile(r"\bstruct\s+value\s*\{")
_INCLUDE = re.compile(r'^\s*include\s*"([^"\n]+)"', re.M)
_KERNEL = re.compile(r'\bkernel\s+(\w+)\s*\([^)]*\)\s*from\s*"([^"\n]+)"')
_VALUE = """\
#include <stdint.h>
struct value {
  void* data; int64_t rank; const int64_t* extents; int64_t type;
};
"""


class Kernels:
    """Shared libraries by the names under which a program takes them.

    warnings  of the C compiler, in its words
    """

    def __init__(self, given: Sources):
        sources = {_ONLY_NAME: given} if isinstance(given, str) else given
        if not isinstance(sources, Mapping):
            raise TypeError("kernels is C text, or texts by the names of their "
                            f"libraries, not {type(given).__name__}")
        compiler = tuple(shlex.split(os.environ.get("CC", ""))) or ("cc",)
        self.warnings: List[str] = []
        self._libraries: Dict[str, bytes] = {}
        for name, source in sources.items():
            if not isinstance(name, str) or not _NAME.match(name):
                raise TypeError("kernels are of libraries with names as "
                                f"\"mine.so\", not {name!r}")
            if not isinstance(source, str) or "(" not in source:
                raise TypeError(f"the kernels of {name} are C text, not "
                                f"{source!r:.80}; of a file it is "
                                "open(\"mine.c\").read()")
            self._libraries[name], words = _compiled(compiler, name, source)
            self.warnings += [words] if words else []

    def may_lack(self, file: str, text: str) -> bool:
        """False only if each kernel that the text takes from here is here."""
        _, declared = _read(text, os.path.dirname(os.path.abspath(file)))
        return not all(b"\0" + kernel.encode() + b"\0" in self._libraries[name]
                       for kernel, name in declared if name in self._libraries)

    @contextmanager
    def placed(self, file: str, text: str) -> Iterator[Tuple[str, str]]:
        """The path of a copy of the program's file beside which the libraries
        lie, and what words about the program have too much for that.

        All else that the text names by a path is found from there.
        """
        folder = os.path.dirname(os.path.abspath(file))
        included, declared = _read(text, folder)
        taken = [name for _, name in declared]
        for name in self._libraries:
            if name not in taken:
                raise Mistyped(f"the program takes no kernel from {name}; in "
                               f"its text:  kernel f(in a, out b) from "
                               f"\"{name}\"")
        # Agents compare texts, so these name no folder of one process: the
        # client sees the program's own one below another root.
        root = tempfile.mkdtemp(prefix="dogged-kernels-")
        try:
            beside = root + folder
            os.makedirs(beside, exist_ok=True)
            own = {os.path.basename(file): text.encode("utf-8", "replace"),
                   **self._libraries}
            for name, content in own.items():
                with open(os.path.join(beside, name), "wb") as out:
                    out.write(content)
            libraries = [os.path.normpath(os.path.join(folder, name))
                         for name in taken if not os.path.isabs(name)]
            for path in included + libraries:
                if not os.path.lexists(root + path):
                    os.makedirs(os.path.dirname(root + path), exist_ok=True)
                    os.symlink(path, root + path)
            yield (os.path.join(beside, os.path.basename(file)),
                   root if os.path.isabs(file) else os.path.join(beside, ""))
        finally:
            shutil.rmtree(root, ignore_errors=True)


def _read(text: str, folder: str) -> Tuple[List[str], List[Tuple[str, str]]]:
    """Absolute paths of files that a program includes, by relative ones; and
    its kernels, each with what it says of the library."""
    included: List[str] = []
    declared: List[Tuple[str, str]] = []

    def read(text: str, folder: str) -> None:
        declared.extend(_KERNEL.findall(text))
        for named in _INCLUDE.findall(text):
            path = os.path.normpath(os.path.join(folder, named))
            if os.path.isabs(named) or path in included:
                continue
            included.append(path)
            try:
                with open(path, encoding="utf-8") as file:
                    read(file.read(), os.path.dirname(path))
            except (OSError, UnicodeDecodeError):
                pass  # the compiler has better words

    read(text, folder)
    return included, declared


@lru_cache(maxsize=64)
def _compiled(compiler: Tuple[str, ...], name: str,
              source: str) -> Tuple[bytes, str]:
    """The shared library, and warnings."""
    source_name = os.path.splitext(name)[0] + ".c"
    # As docs/LANGUAGE.md says. The value of a function that is not declared is
    # none, so that is an error; -s leaves the names that others can call alone,
    # for may_lack().
    flags = ["-O2", "-ffp-contract=off", "-shared", "-fPIC", "-s",
             "-Werror=implicit-function-declaration", "-o", name]
    with tempfile.TemporaryDirectory(prefix="dogged-kernels-") as folder:
        files = {source_name: source}
        if not _DECLARED.search(source):
            files["value.h"] = _VALUE
            flags += ["-include", "value.h"]
        for file_name, text in files.items():
            with open(os.path.join(folder, file_name), "w",
                      encoding="utf-8") as file:
                file.write(text)
        try:
            done = subprocess.run(
                [*compiler, *flags, source_name, "-lm"], cwd=folder,
                stdin=subprocess.DEVNULL, capture_output=True, text=True,
                errors="replace", env={**os.environ, "LC_ALL": "C"})
        except OSError as error:
            raise Mistyped(
                f"kernels in C want a compiler, and {compiler[0]} can't be "
                f"started: {error.strerror}; install one, or set CC to its "
                f"path") from error
        words = done.stderr.rstrip()
        if done.returncode != 0:
            raise _error(source_name, words or
                         f"{compiler[0]} ended with status {done.returncode}")
        with open(os.path.join(folder, name), "rb") as made:
            return made.read(), words


def _error(source_name: str, words: str) -> ProgramError:
    """What is wrong with a C text, at the place of the first error."""
    error: Dict[str, object] = {"kind": "wrong", "severity": "error",
                                "file": source_name, "text": f"{words}\n"}
    first = _ERROR.search(words)
    message = words
    if first is not None:
        line, column, message = first.groups()
        error["line"] = int(line)
        error["column"] = int(column) if column else None
    error["message"] = message
    return ProgramError(message, {"error": error, "diagnostics": [error]})
