"""Programs made in Python. Their text is what the compiler sees: Builder.text.

    heat = dogged.Builder("heat")
    N, T = heat.param("N", 101), heat.param("T", 50)
    x, t = heat.indices("x t")
    u = heat.array("u")
    heat.boundary(u[0, t], 0)
    heat.boundary(u[N-1, t], 0)
    heat.task(u[x, 0], x*(N-1-x), over={x: (1, N-2)})
    heat.task(u[x, t], u[x, t-1] + 0.25*(u[x-1, t-1] + u[x+1, t-1]
                                         - 2*u[x, t-1]),
              over={x: (1, N-2), t: (1, T)})
    heat.result(u[:, T])
    program = heat.program(N=401)
"""

from __future__ import annotations

import linecache
import math
import re
import sys
from typing import (Any, Callable, Dict, List, Mapping, NoReturn, Optional,
                    Sequence, Tuple, Union)

import numpy as np

from ._errors import ProgramError
from ._program import Parameter, Program

_TERNARY, _OR, _AND, _COMPARISON, _SUM, _PRODUCT, _UNARY, _ATOM = range(8)
_NAME = re.compile(r"[A-Za-z_]\w*\Z")
_RESERVED = frozenset(
    "include param repeat until array place input kernel from in out boundary "
    "periodic task creates as for where using else code call cost priority end "
    "reduce over result to by fastmath and or not double float int64".split())
# Functions of NumPy that are ours, of one or two numbers.
_FUNCTIONS = {
    "absolute": "abs", "arccos": "acos", "arcsin": "asin", "arctan": "atan",
    "arctan2": "atan2", "cbrt": "cbrt", "ceil": "ceil", "cos": "cos",
    "cosh": "cosh", "exp": "exp", "floor": "floor", "fmod": "fmod",
    "hypot": "hypot", "log": "log", "log10": "log10", "log2": "log2",
    "maximum": "max", "minimum": "min", "power": "pow", "sin": "sin",
    "sinh": "sinh", "sqrt": "sqrt", "tan": "tan", "tanh": "tanh"}
_OPERATORS: Dict[str, Callable[[Any, Any], Any]] = {
    "add": lambda a, b: a + b, "subtract": lambda a, b: a - b,
    "multiply": lambda a, b: a * b, "divide": lambda a, b: a / b,
    "true_divide": lambda a, b: a / b, "floor_divide": lambda a, b: a // b,
    "remainder": lambda a, b: a % b, "less": lambda a, b: a < b,
    "less_equal": lambda a, b: a <= b, "greater": lambda a, b: a > b,
    "greater_equal": lambda a, b: a >= b, "equal": lambda a, b: a == b,
    "not_equal": lambda a, b: a != b}

# To type checkers a function of NumPy returns an array whatever it takes, also
# an Expr, which it is then. A true array is a TypeError, of _expr().
Value = Union["Expr", int, float, "np.generic", "np.ndarray[Any, Any]"]
Condition = Union["Expr", "np.ndarray[Any, Any]"]
Range = Sequence[Any]
Over = Mapping["Index", Range]


class Expr:
    """A formula. NumPy's functions take it: np.exp(u[x, t])."""

    def __init__(self, parts: Sequence[Union[str, "Label"]], level: int,
                 is_integer: bool):
        self._parts = list(parts)  # text, and labels that stand in it
        self._level = level
        self._is_integer = is_integer

    def _text(self, name_of: Callable[["Label"], str]) -> str:
        return "".join(part if isinstance(part, str) else name_of(part)
                       for part in self._parts)

    def _labels(self) -> List["Label"]:
        return [part for part in self._parts if isinstance(part, Label)]

    def _at(self, level: int) -> List[Union[str, "Label"]]:
        if self._level >= level:
            return self._parts
        return ["(", *self._parts, ")"]

    __hash__ = object.__hash__

    def __bool__(self) -> NoReturn:
        raise TypeError("a condition is not known before the program runs: "
                        "write & | ~ for and or not, (0 < x) & (x < N) for "
                        "0 < x < N, and dogged.where(c, a, b) for a if c else b")

    def __iter__(self) -> NoReturn:
        raise TypeError("a formula is one number")

    def __array__(self, *_: Any, **__: Any) -> NoReturn:
        # np.sinc and others would take it for an object, and leave parts out.
        raise TypeError("a formula is no array; of NumPy's functions it takes "
                        + ", ".join(sorted(_FUNCTIONS)))

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any,
                        **options: Any) -> "Expr":
        name = ufunc.__name__
        if method == "__call__" and not options:
            if name in _OPERATORS:
                a, b = (_expr(one) for one in inputs)
                return _OPERATORS[name](a, b)  # type: ignore[no-any-return]
            if name == "negative":
                return -_expr(inputs[0])
            if name in _FUNCTIONS:
                return call(_FUNCTIONS[name], *inputs)
        raise TypeError(f"np.{name} is no function of the language, which has "
                        f"{', '.join(sorted(_FUNCTIONS))}")

    def __add__(self, other: Value) -> "Expr":
        return _join(self, "+", other, _SUM)

    def __radd__(self, other: Value) -> "Expr":
        return _join(other, "+", self, _SUM)

    def __sub__(self, other: Value) -> "Expr":
        return _join(self, "-", other, _SUM)

    def __rsub__(self, other: Value) -> "Expr":
        return _join(other, "-", self, _SUM)

    def __mul__(self, other: Value) -> "Expr":
        return _join(self, "*", other, _PRODUCT)

    def __rmul__(self, other: Value) -> "Expr":
        return _join(other, "*", self, _PRODUCT)

    def __truediv__(self, other: Value) -> "Expr":
        return _divide(self, other)

    def __rtruediv__(self, other: Value) -> "Expr":
        return _divide(other, self)

    def __floordiv__(self, other: Value) -> "Expr":
        return _whole(self, "/", other)

    def __rfloordiv__(self, other: Value) -> "Expr":
        return _whole(other, "/", self)

    def __mod__(self, other: Value) -> "Expr":
        return _whole(self, "%", other)

    def __rmod__(self, other: Value) -> "Expr":
        return _whole(other, "%", self)

    def __pow__(self, other: Value) -> "Expr":
        return call("pow", self, other)

    def __rpow__(self, other: Value) -> "Expr":
        return call("pow", other, self)

    def __neg__(self) -> "Expr":
        return Expr(["-", *self._at(_UNARY)], _UNARY, self._is_integer)

    def __pos__(self) -> "Expr":
        return self

    def __abs__(self) -> "Expr":
        return call("abs", self)

    def __lt__(self, other: Value) -> "Expr":
        return _join(self, "<", other, _COMPARISON)

    def __le__(self, other: Value) -> "Expr":
        return _join(self, "<=", other, _COMPARISON)

    def __gt__(self, other: Value) -> "Expr":
        return _join(self, ">", other, _COMPARISON)

    def __ge__(self, other: Value) -> "Expr":
        return _join(self, ">=", other, _COMPARISON)

    def __eq__(self, other: object) -> "Expr":  # type: ignore[override]
        return _join(self, "==", other, _COMPARISON)

    def __ne__(self, other: object) -> "Expr":  # type: ignore[override]
        return _join(self, "!=", other, _COMPARISON)

    def __and__(self, other: Value) -> "Expr":
        return _join(self, "and", other, _AND)

    def __or__(self, other: Value) -> "Expr":
        return _join(self, "or", other, _OR)

    def __invert__(self) -> "Expr":
        return Expr(["not ", *self._at(_COMPARISON)], _UNARY, True)

    def __repr__(self) -> str:
        return self._text(lambda label: label.text)


class Index(Expr):
    """An index of tasks and labels, as x and t."""

    def __init__(self, name: str):
        super().__init__([name], _ATOM, True)
        self.name = name


class Label(Expr):
    """u[x, t-1]: what is read, created or wanted."""

    def __init__(self, array: "Array", at: Tuple[Any, ...],
                 guard: Optional[Tuple[Expr, Expr]] = None):
        super().__init__([self], _ATOM, array.type == "int64")
        self.array = array
        self.at = at
        self._guard = guard
        # Labels in indices are a matter of the compiler, which says so.
        self.text: str = array.name + "".join(
            f"({':' if isinstance(one, slice) else _plain(one)})" for one in at)
        if any(isinstance(one, slice) for one in at) and guard is not None:
            raise TypeError(f"{self.text} is no single label")

    def where(self, condition: Condition, otherwise: Value) -> "Label":
        """The label where the condition holds, and elsewhere `otherwise`."""
        return Label(self.array, self.at, (_expr(condition), _expr(otherwise)))

    def _name(self) -> str:
        if self._guard is not None:
            raise TypeError(f"{self.text}.where(...) is for what a task reads")
        return self.text

    def _reading(self) -> str:
        if self._guard is None:
            return ""
        condition, otherwise = self._guard
        return f" where {_plain(condition)} else {_plain(otherwise)}"

    __hash__ = object.__hash__


class Array:
    """A family of labels: u[x, t]. In results u[:, T] has all of an index."""

    def __init__(self, name: str, kind: str):
        self.name = name
        self.type = kind

    def __getitem__(self, at: Any) -> Label:
        indices = at if isinstance(at, tuple) else (at,)
        for one in indices:
            if isinstance(one, slice) and one != slice(None):
                raise TypeError(f"{self.name}[...] has ':' alone, for all of an "
                                f"index; ranges are for over={{x: (1, N-2)}}")
        return Label(self, tuple(one if isinstance(one, slice) else _expr(one)
                                 for one in indices))

    def __iter__(self) -> NoReturn:
        raise TypeError(f"{self.name} has no values before the program runs")

    def __repr__(self) -> str:
        return f"<array {self.name}>"


def _expr(value: Any) -> Expr:
    if isinstance(value, Expr):
        return value
    if isinstance(value, np.ndarray) and value.ndim > 0:
        raise TypeError(f"a number or a formula is wanted here, not an array of "
                        f"shape {value.shape}: submit(inputs=...) takes arrays, "
                        f"for input()")
    if hasattr(value, "item") and getattr(value, "ndim", 0) == 0:
        value = value.item()
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise TypeError(f"a number or a formula is wanted here, not "
                        f"{type(value).__name__}")
    if not math.isfinite(value):
        raise TypeError(f"the language has no number {value}")
    is_negative = math.copysign(1.0, value) < 0
    return Expr([repr(value)], _TERNARY if is_negative else _ATOM,
                isinstance(value, int))


def _plain(value: Any) -> str:
    """Where labels are no more than their names."""
    return _expr(value)._text(lambda label: label._name())


def _join(left: Any, sign: str, right: Any, level: int) -> Expr:
    a, b = _expr(left), _expr(right)
    # On the right also of the same level: a - (b - c), and bits of a + (b + c).
    both = [*a._at(level + (level == _COMPARISON)), f" {sign} ",
            *b._at(level + 1)]
    return Expr(both, level, level <= _COMPARISON
                or (a._is_integer and b._is_integer))


def _divide(left: Any, right: Any) -> Expr:
    a, b = _expr(left), _expr(right)
    if a._is_integer and b._is_integer:
        a = 1.0 * a  # as in Python: the language would round down
    return _join(a, "/", b, _PRODUCT)


def _whole(left: Any, sign: str, right: Any) -> Expr:
    a, b = _expr(left), _expr(right)
    if not (a._is_integer and b._is_integer):
        raise TypeError("// and % are of integers; np.floor(a/b) and "
                        "np.fmod(a, b) take others")
    return _join(a, sign, b, _PRODUCT)


def call(function: str, *arguments: Value) -> Expr:
    """A function of the language by its name: call("tanh", u[x, t])."""
    parts: List[Union[str, Label]] = [f"{function}("]
    for position, one in enumerate(arguments):
        parts += [", "] if position else []
        parts += _expr(one)._parts
    whole = function in ("abs", "min", "max", "int64") and all(
        _expr(one)._is_integer for one in arguments)
    return Expr([*parts, ")"], _ATOM, whole or function == "int64")


def where(condition: Condition, then: Value, otherwise: Value) -> Expr:
    """`then` where the condition holds, else `otherwise`; both are computed."""
    a, b = _expr(then), _expr(otherwise)
    return Expr([*_expr(condition)._at(_OR), " ? ", *a._at(_OR), " : ",
                 *b._at(_OR)], _TERNARY, a._is_integer and b._is_integer)


class Builder:
    """Collects a program; each method adds to its text."""

    def __init__(self, name: str = "program"):
        self.name = self._new_name(name, set())
        self._lines: List[Tuple[str, str, int]] = []  # with the place in Python
        self._names: set[str] = set()
        self._repeat: Optional[Tuple[int, str]] = None
        self._tasks = 0

    def param(self, name: str,
              default: Optional[Union[Parameter, "np.generic"]] = None) -> Expr:
        """A parameter; real if its default is. Without one it is to be given."""
        self._claim(name)
        if isinstance(default, np.generic):
            default = default.item()
        is_real = isinstance(default, float)
        text = f"param {name}{' : double' if is_real else ''}"
        if default is not None:
            text += f" = {default if isinstance(default, str) else _plain(default)}"
        self._add(text)
        return Expr([name], _ATOM, not is_real)

    def indices(self, names: str) -> Tuple[Index, ...]:
        """Indices by their names: x, t = b.indices("x t")."""
        split = names.replace(",", " ").split()
        for name in split:
            self._claim(name)
        return tuple(Index(name) for name in split)

    def array(self, name: str, type: str = "double",
              over: Optional[Over] = None) -> Array:
        """An array. Other types than double are declared, with their ranges."""
        self._claim(name)
        if type not in ("double", "float", "int64"):
            raise TypeError(f"an array is double, float or int64, not {type}")
        if over is None and type != "double":
            raise TypeError(f"an array of {type} is declared with its ranges: "
                            f"over={{x: (0, N-1)}}")
        if over is not None:
            dims = "".join(f"({one})" for one in self._dims(over).split("  "))
            self._add(f"array {name}{dims} : {type}")
        return Array(name, type)

    def task(self, creates: Union[Label, Mapping[Label, Value]],
             value: Optional[Value] = None, *, over: Over,
             where: Optional[Condition] = None, name: str = "") -> None:
        """A task that creates u[x, t] with a value, for each point of `over`.

        Several labels at once: task({u[x, t]: a, v[x, t]: b}, over=...).
        """
        made = ({creates: value} if isinstance(creates, Label)
                else dict(creates))
        if not made or any(one is None for one in made.values()):
            raise TypeError("a task creates labels, each with a value: "
                            "task(u[x, t], 0.5*u[x, t-1], over=...)")
        self._tasks += 1
        used = set(self._names)
        names: Dict[str, str] = {}  # by what is read

        def fresh(stem: str) -> str:
            number = 1
            while f"{stem}{number}" in used:
                number += 1
            used.add(f"{stem}{number}")
            return f"{stem}{number}"

        def name_of(label: Label) -> str:
            key = label.text + "\n" + label._reading()
            if key not in names:
                names[key] = fresh(f"{label.array.name}_")
            return names[key]

        outputs = [(label, fresh(f"new_{label.array.name}_"))
                   for label in made]
        code = [f"    {output} = {_expr(made[label])._text(name_of)}"
                for label, output in outputs]
        title = self._new_name(name, self._names) if name else fresh(
            f"make_{outputs[0][0].array.name}_")
        self._names.add(title)
        text = [f"task {title}",
                "  creates " + "  ".join(f"{label._name()} as {output}"
                                         for label, output in outputs),
                f"  for {self._dims(over)}"]
        if where is not None:
            text.append(f"  where {_plain(where)}")
        if names:
            text.append("  using")
            for key, read in names.items():
                label_text, reading = key.split("\n")
                text.append(f"    {label_text} as {read}{reading}")
        self._add("\n".join([*text, "  code", *code, "  end code",
                             "end task"]))

    def boundary(self, label: Label, value: Value,
                 where: Optional[Condition] = None) -> None:
        """A value of all labels of this form that no task creates."""
        self._add(f"boundary {label._name()} = {_plain(value)}"
                  + self._condition(where))

    def periodic(self, label: Label, index: Index) -> None:
        """Makes a ring of an index: beyond its ends it begins anew."""
        self._add(f"boundary {label._name()} = periodic({index.name})")

    def input(self, label: Label, *, over: Over,
              otherwise: Optional[Value] = None) -> None:
        """An array that submit() gets; where it gets none, `otherwise`."""
        self._add(f"input {label._name()} for {self._dims(over)}" + (
            "" if otherwise is None else f" else {_plain(otherwise)}"))

    def reduce(self, how: str, into: Label, of: Label, *, over: Over,
               at: Optional[Over] = None,
               where: Optional[Condition] = None) -> None:
        """One number of many: sum, min, max, norm2 or normmax.

        reduce("max", top[t], u[x, t], over={x: (0, N-1)}, at={t: (0, T)})
        """
        stays = f" for {self._dims(at)}" if at else ""
        self._add(f"reduce {into._name()} = {how}({of._name()}){stays} over "
                  f"{self._dims(over)}" + self._condition(where))

    def repeat(self, name: str, range: Range) -> Expr:
        """A parameter that is found as the program runs: the first value of
        the range for which until() holds, else the last."""
        self._claim(name)
        if self._repeat is not None:
            raise TypeError("a program repeats one parameter")
        self._repeat = (len(self._lines), f"repeat {name} = "
                        f"{self._range(range)} until ")
        self._add(self._repeat[1])
        return Expr([name], _ATOM, True)

    def until(self, condition: Condition) -> None:
        """When repeat() ends: until(change[T] < 1e-6)."""
        if self._repeat is None:
            raise TypeError("repeat() comes first")
        at, head = self._repeat
        _, file, line = self._place("")
        self._lines[at] = (head + _plain(condition), file, line)

    def result(self, label: Label, *, over: Optional[Over] = None) -> None:
        """Labels that are wanted: result(u[:, T])."""
        self._add(f"result {label._name()}"
                  + (f" for {self._dims(over)}" if over else ""))

    @property
    def text(self) -> str:
        """The .dog text."""
        return "\n".join(text for text, _, _ in self._lines) + "\n"

    def program(self, *, want: Sequence[str] = (),
                **parameters: Any) -> Program:
        """Compiles it. A ProgramError has python_file and python_line, too."""
        try:
            return Program(self.text, f"{self.name}.dog", parameters, want,
                           where=self._origin)
        except ProgramError as error:
            place = self._origin(error.line) if error.line else None
            if place is None:
                raise
            error.python_file, error.python_line = place
            source = linecache.getline(*place).strip()
            error.args = (f'\n  File "{place[0]}", line {place[1]}\n    '
                          f'{source}{error.args[0]}',)
            raise

    def _origin(self, line: int) -> Optional[Tuple[str, int]]:
        at = 1
        for text, file, python_line in self._lines:
            at += text.count("\n") + 1
            if line < at:
                return file, python_line
        return None

    def _add(self, text: str) -> None:
        self._lines.append(self._place(text))

    @staticmethod
    def _place(text: str) -> Tuple[str, str, int]:
        frame = sys._getframe(1)
        while frame.f_back is not None and frame.f_globals is globals():
            frame = frame.f_back
        return text, frame.f_code.co_filename, frame.f_lineno

    def _claim(self, name: str) -> None:
        self._names.add(self._new_name(name, self._names))

    @staticmethod
    def _new_name(name: str, taken: set[str]) -> str:
        if not isinstance(name, str) or not _NAME.match(name):
            raise TypeError(f"a name is a word of letters, digits and _, not "
                            f"{name!r}")
        if name in _RESERVED:
            raise TypeError(f"{name} is a word of the language")
        if name in taken:
            raise TypeError(f"there is a {name} already")
        return name

    @staticmethod
    def _condition(condition: Optional[Condition]) -> str:
        return "" if condition is None else f" where {_plain(condition)}"

    @staticmethod
    def _range(range: Range) -> str:
        if not isinstance(range, (tuple, list)) or len(range) not in (2, 3):
            raise TypeError("a range is (first, last), both included, or "
                            "(first, last, step)")
        return ":".join(_plain(one) for one in range)

    def _dims(self, over: Over) -> str:
        if not isinstance(over, Mapping) or not over:
            raise TypeError("over= has ranges by index: {x: (1, N-2), t: (1, T)}")
        for index in over:
            if not isinstance(index, Index):
                raise TypeError(f"over= has {index!r}, which is no index of "
                                f"indices()")
        return "  ".join(f"{index.name} = {self._range(range)}"
                         for index, range in over.items())
