"""Kernels from C text: compiled once, and given to the client in memory."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import tempfile
from functools import lru_cache
from typing import Dict, List, Mapping, Tuple, Union

from ._errors import Mistyped, ProgramError

Sources = Union[str, Mapping[str, str]]
_ONLY_NAME = "kernels.so"
_NAME = re.compile(r"\w[\w.+-]*\.so\Z")
_ERROR = re.compile(r"^[^\n:]+:(\d+):(?:(\d+):)? (?:fatal )?error: (.*)$", re.M)
_DECLARED = re.compile(r"\bstruct\s+value\s*\{")
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

    def names(self) -> List[str]:
        return list(self._libraries)

    def descriptors(self) -> List[int]:
        """Memory descriptors with the libraries, in the order of names()."""
        out: List[int] = []
        try:
            for name, content in self._libraries.items():
                out.append(os.memfd_create(name[:200], os.MFD_CLOEXEC))
                with open(out[-1], "wb", closefd=False) as memory:
                    memory.write(content)
        except BaseException:
            for one in out:
                os.close(one)
            raise
        return out


@lru_cache(maxsize=64)
def _compiled(compiler: Tuple[str, ...], name: str,
              source: str) -> Tuple[bytes, str]:
    """The shared library, and warnings."""
    source_name = os.path.splitext(name)[0] + ".c"
    # As docs/LANGUAGE.md says. The value of a function that is not declared is
    # none, so that is an error.
    flags = ["-O2", "-ffp-contract=off", "-shared", "-fPIC",
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
