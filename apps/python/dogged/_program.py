"""Programs: text, parameters, and what the compiler says about them."""

from __future__ import annotations

import html
import os
import warnings
import zlib
from typing import (Any, Callable, Dict, Iterable, List, Mapping, Optional,
                    Tuple, Union)

from ._door import checker
from ._errors import DoggedWarning
from ._kernels import Kernels, Sources

Parameter = Union[int, float, str]
# The place in Python of a line of the text.
Where = Callable[[int], Optional[Tuple[str, int]]]


def parameter_text(name: str, value: Any) -> str:
    """As -D takes it."""
    if hasattr(value, "item"):  # of NumPy
        value = value.item()
    if isinstance(value, bool):
        return str(int(value))
    if isinstance(value, (int, float, str)):
        return repr(value) if isinstance(value, float) else str(value)
    raise TypeError(f"parameter {name} is a number, or text for one, not "
                    f"{type(value).__name__}")


def listed(want: Iterable[str]) -> List[str]:
    if isinstance(want, str):
        return [want]
    try:
        return list(want)
    except TypeError:
        raise TypeError("want is labels as text, or several: "
                        f"want=['u(:)(10)'], not {want!r}") from None


class Program:
    """A program with its parameters, compiled and proved.

    text        the .dog text
    name        of jobs that run it
    parameters  as given
    results     names of its results, for run[name]
    inputs      arrays that submit() wants: {"v": ("double", (401,))}, those
                that the program makes itself where none is given left out
    tasks, lowering   how it runs: tasks, and tiles or points in words

    A program that takes parameters from the shapes of its inputs, and has no
    defaults for them, is proved as it is submitted: until then these shapes
    are None, and there are no results, tasks and lowering.
    """

    def __init__(self, text: str, file: str, parameters: Mapping[str, Any],
                 want: Iterable[str], stacklevel: int = 3,
                 where: Optional[Where] = None,
                 kernels: Optional[Kernels] = None):
        if not isinstance(text, str):
            raise TypeError("a program is text; dogged.load() takes a path")
        self.text = text
        self._file = file
        self.parameters: Dict[str, Parameter] = dict(parameters)
        self._want = listed(want)
        self._kernels = kernels
        sent = self.fields()
        answer = checker().ask("check", self.libraries(), **sent)
        self.name: str = answer["program"]
        self.results: Tuple[str, ...] = tuple(answer.get("results", ()))
        self.tasks: int = answer.get("tasks", 0)
        self.lowering: str = answer.get("lowering", "")
        self.inputs: Dict[str, Tuple[str, Optional[Tuple[int, ...]]]] = {
            one["array"]: (one["type"], None if one["shape"] is None
                           else tuple(one["shape"]))
            for one in answer["inputs"]}
        self._types: Dict[str, str] = {
            one["array"]: one["type"]
            for one in [*answer["inputs"], *answer.get("inputs_made", ())]}
        self.warnings: List[str] = [
            one["text"] for one in answer.get("diagnostics", [])]
        for one in answer.get("diagnostics", []):
            place = where(one["line"]) if where and "line" in one else None
            words = DoggedWarning("\n" + one["text"])
            if place is None:
                warnings.warn(words, stacklevel=stacklevel)
            else:
                warnings.warn_explicit(words, DoggedWarning, *place)

    def fields(self, want: Iterable[str] = ()) -> Dict[str, Any]:
        """Of a request, with more results."""
        out = {"file": self._file, "text": self.text,
               "want": [*self._want, *listed(want)],
               "parameters": {name: parameter_text(name, value)
                              for name, value in self.parameters.items()}}
        if self._kernels is not None:
            out["libraries"] = self._kernels.names()
        return out

    def libraries(self) -> List[int]:
        """Descriptors that go with fields(), behind those of inputs."""
        return [] if self._kernels is None else self._kernels.descriptors()

    @property
    def has_kernels(self) -> bool:
        """It came with kernels in C."""
        return self._kernels is not None

    def input_type(self, name: str) -> Optional[str]:
        """The type of an input, also of one that the program can make itself;
        None of a name that is no input."""
        return self._types.get(name)

    def with_(self, want: Iterable[str] = (), **parameters: Any) -> "Program":
        """The same with other parameters, or more results."""
        return Program(self.text, self._file,
                       {**self.parameters, **parameters},
                       [*self._want, *listed(want)], kernels=self._kernels)

    def __repr__(self) -> str:
        given = "".join(f", {name}={value!r}"
                        for name, value in self.parameters.items())
        if not self.results:
            return (f"<dogged program {self.name}{given}: wants inputs "
                    f"{', '.join(self.inputs)}>")
        return (f"<dogged program {self.name}{given}: {self.tasks} tasks, "
                f"results {', '.join(self.results)}>")

    def _repr_html_(self) -> str:
        return (f"<div><b>{html.escape(self.name)}</b> "
                f"{html.escape(self.lowering)}; results "
                f"{html.escape(', '.join(self.results))}"
                f"<pre>{html.escape(self.text)}</pre></div>")


def check_program(given: Any) -> None:
    """TypeError unless it is a program, compiled."""
    if isinstance(given, Program):
        return
    # Anything that makes one, above all a Builder.
    if callable(getattr(given, "program", None)):
        raise TypeError(f"a program is wanted: call .program() of the "
                        f"{type(given).__name__}, with its parameters")
    raise TypeError(f"a program is wanted: dogged.load('heat.dog'), or "
                    f"dogged.program(text), not {type(given).__name__}")


def _kernels_of(given: Optional[Sources]) -> Optional[Kernels]:
    if given is None:
        return None
    out = Kernels(given)
    for words in out.warnings:
        warnings.warn(DoggedWarning("\n" + words), stacklevel=3)
    return out


def program(text: str, *, name: str = "", want: Iterable[str] = (),
            kernels: Optional[Sources] = None, **parameters: Any) -> Program:
    """A program from its text.

    want     more results, as "u(:)(10)"
    kernels  C text of its kernels, which are  kernel f(in a, out b) from
             "kernels.so"; or texts by the names of their libraries. They are
             compiled here, by cc or $CC, and `struct value` is declared

    Raises ProgramError with place, carets and help where it is wrong, also of
    the C text.
    """
    # Jobs of one name and another text refuse each other in a cluster.
    digits = zlib.crc32(text.encode("utf-8", "replace")) if isinstance(
        text, str) else 0
    return Program(text, f"{name or f'program_{digits:08x}'}.dog", parameters,
                   want, stacklevel=3, kernels=_kernels_of(kernels))


def load(path: Union[str, "os.PathLike[str]"], *, want: Iterable[str] = (),
         kernels: Optional[Sources] = None, **parameters: Any) -> Program:
    """A program from its file, heat.dog; else as program()."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    return Program(text, os.path.abspath(os.fspath(path)), parameters, want,
                   stacklevel=3, kernels=_kernels_of(kernels))
