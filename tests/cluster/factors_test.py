"""Factorisations as a user runs them, and programs that only look like one.

Aim: with `--check` a factorisation is judged, found by its kernels whatever its
arrays are called; nothing else is; the judge's failure is not the run's.
Method: the binary itself; matrices written and read here.

usage: factors_test.py DOGGED SOURCE_DIR CASE
"""

import json
import math
import os
import re
import struct
import subprocess
import sys
import tempfile
from fractions import Fraction

DOGGED, SOURCE, CASE = os.path.abspath(sys.argv[1]), *sys.argv[2:4]

LIBRARY = r"""
#include <stdint.h>
struct value { void* data; int64_t rank; const int64_t* extents; int64_t type; };
static int64_t Count(const struct value* v) {
  int64_t n = 1;
  for (int64_t d = 0; d < v->rank; ++d) n *= v->extents[d];
  return n;
}
int twice(const struct value* in, struct value* out, const double* numbers) {
  (void)numbers;
  for (int64_t i = 0; i < Count(in); ++i)
    ((double*)out[0].data)[i] = 2 * ((const double*)in[0].data)[i];
  return 0;
}
int potrf(const struct value* in, struct value* out, const double* numbers) {
  return twice(in, out, numbers);
}
int both(const struct value* in, struct value* out, const double* numbers) {
  for (int64_t i = 0; i < Count(&out[1]); ++i) ((double*)out[1].data)[i] = i;
  return twice(in, out, numbers);
}
int lines(const struct value* in, struct value* out, const double* numbers) {
  for (int64_t i = 0; i < Count(&out[1]); ++i) ((int64_t*)out[1].data)[i] = i;
  return twice(in, out, numbers);
}
/* Is there the first time, and never again. */
int once(const struct value* in, struct value* out, const double* numbers) {
  static int calls = 0;
  (void)in; (void)numbers;
  for (int64_t i = 0; i < Count(out); ++i)
    ((double*)out[0].data)[i] = i % (out[0].extents[1] + 1) == 0;
  return calls++ == 1;
}
"""

TRIANGLE = """
param NT = 3
param B = 4
array A(i = 0:NT-1)(j = 0:i)(k = 0:0) : double [B, B]
array L(i = 0:NT-1)(j = 0:i) : double [B, B]
kernel KERNEL(in a, out b) from "mine.so"
input A(i)(j)(0) for j = 0:NT-1  i = j:NT-1
task d
  creates L(i)(j) as b
  for i = 0:NT-1  j = 0:i
  using A(i)(j)(0) as a
  call KERNEL(a, b)
end task
result L(i)(j) for i = 0:NT-1  j = 0:i
"""

COLUMNS = """
param M = 6
param C = 2
param K = 2
array A(i = 0:0)(j = 0:K-1)(k = 0:0) : double [M, C]
array V(i = 0:0)(j = 0:K-1) : double [M, C]
array T(k = 0:K-1) : TYPE
kernel KERNEL(in a, out v, out t) from "mine.so"
input A(i)(j)(0) for i = 0:0  j = 0:K-1
task s
  creates V(0)(k) as v  T(k) as t
  for k = 0:K-1
  using A(0)(k)(0) as a
  call KERNEL(a, v, t)
end task
result V(:)(:)
result T(:)
"""

# The matrix comes from a kernel of the user's own.
ONCE = """
array B(i = 0:0) : double [5, 5]
array R(i = 0:0) : double [5, 5]
kernel once(out a) from "mine.so"
kernel potrf(in a, out l)
task make
  creates B(i) as a
  for i = 0:0
  call once(a)
end task
task factor
  creates R(i) as l
  for i = 0:0
  using B(i) as a
  call potrf(a, l)
end task
result R(:)
"""


def app(name, element="double", of=None):
    """The program; over floats if that is `element`."""
    with open(os.path.join(SOURCE, "apps", of or name, name + ".dog")) as file:
        return file.read().replace(": double", ": " + element)


def write_npy(path, rows, element="double"):
    """A matrix of doubles or floats."""
    descr, letter = ("<f8", "d") if element == "double" else ("<f4", "f")
    head = (f"{{'descr': '{descr}', 'fortran_order': False, "
            f"'shape': ({len(rows)}, {len(rows[0])}), }}")
    head += " " * (63 - (len(head) + 10) % 64) + "\n"
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) +
                   head.encode())
        for row in rows:
            file.write(struct.pack(f"<{len(row)}{letter}", *row))


def random_matrix(rows, columns, scale=1.0):
    state, out = 1, []
    for _ in range(rows * columns):
        state = state * 6364136223846793005 % 2**64 + 1442695040888963407
        out.append((state % 2**64 / 2**64 - 0.5) * scale)
        state %= 2**64
    return [out[i * columns:(i + 1) * columns] for i in range(rows)]


def read_npy(path):
    """Numbers of the file, row by row."""
    with open(path, "rb") as file:
        content = file.read()
    (size,) = struct.unpack("<H", content[8:10])
    head, data = content[:10 + size], content[10 + size:]
    letter = "q" if b"<i8" in head else "f" if b"<f4" in head else "d"
    count = len(data) // struct.calcsize(letter)
    return list(struct.unpack(f"<{count}{letter}", data))


def norm(numbers):
    """The Euclidean one of fractions, as a fraction."""
    square = sum(x * x for x in numbers)
    digits = 1
    while square * digits < 1 and square:
        digits *= 16**16
    return Fraction(math.isqrt(int(square * digits * 4**80)),
                    2**80) / Fraction(math.isqrt(digits))


def residual(a, product, eps=2.0**-52):
    """The judge's number, without rounding."""
    n = math.isqrt(len(a))
    return float(norm([x - y for x, y in zip(a, product)]) /
                 (n * norm(a) * Fraction(eps)))


class Folder:
    """A folder to run programs in."""

    def __init__(self):
        self.folder = tempfile.TemporaryDirectory()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.folder.cleanup()

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def run(self, text, *arguments, expect=0, json_too=False):
        """The report, or nothing, and the words of `dogged run`."""
        with open(self.path("it.dog"), "w") as file:
            file.write(text)
        command = [DOGGED, "run", "it.dog", *map(str, arguments)]
        if json_too:
            command.append("--json")
        done = subprocess.run(command, capture_output=True, text=True,
                              cwd=self.folder.name, timeout=240)
        if done.returncode != expect:
            raise SystemExit(
                f"exit status {done.returncode}, not {expect}: "
                f"{' '.join(command)}\n{text}\n{done.stdout}\n{done.stderr}")
        report = json.loads(done.stdout) if json_too and done.stdout else {}
        return report, done.stderr

    def library(self):
        with open(self.path("mine.c"), "w") as file:
            file.write(LIBRARY)
        subprocess.run(["cc", "-O2", "-shared", "-fPIC", "-o",
                        self.path("mine.so"), self.path("mine.c")], check=True)


def check(what, got, expected, words=""):
    if got != expected:
        raise SystemExit(f"{what}: {got}, not {expected}\n{words}")


def judged(words):
    return "residual" in words or "judged" in words


def case_own_programs():
    """Arrays, and a kernel of the user's own, that are called as those of a
    factorisation are."""
    matrix = "[C, C]"
    programs = [
        (TRIANGLE.replace("KERNEL", "twice"), 12, 12),
        (TRIANGLE.replace("KERNEL", "potrf"), 12, 12),
        (COLUMNS.replace("KERNEL", "both").replace("TYPE", "double " + matrix),
         6, 4),
        (COLUMNS.replace("KERNEL", "lines").replace("TYPE", "int64 [C]")
         .replace("V(", "F(").replace("T(", "P("), 6, 4)]
    with Folder() as folder:
        folder.library()
        for text, rows, columns in programs:
            write_npy(folder.path("A.npy"), random_matrix(rows, columns))
            for more in ((), ("--check",), ("--check", "--agents", 2)):
                report, words = folder.run(text, "--input", "A=A.npy", *more,
                                           json_too=True)
                check("a word of the judge", judged(words), False, words)
                check("a residual", "residual" in report, False, report)


def case_judged():
    """With --check, whatever the arrays are called, whatever else is made."""
    names = {"cholesky": ("L", "A"), "lu": ("F", "P", "A"),
             "qr": ("V", "T", "A")}
    with Folder() as folder:
        for name, arrays in names.items():
            renamed = app(name)
            for array in arrays:
                renamed = re.sub(rf"\b{array}\b", array.lower() * 2, renamed)
            sizes = ("-D", "N=130", "-D", "NB=32")
            single = app(name, "float")
            for text in (app(name), renamed, single):
                report, words = folder.run(text, *sizes, json_too=True)
                check("judged without --check", judged(words), False, words)
                check("a residual", "residual" in report, False, report)
                for agents in (1, 2):
                    report, words = folder.run(text, *sizes, "--agents",
                                               agents, "--check",
                                               json_too=True)
                    for sort in ("residual", "solve_error"):
                        if not 0 < report.get(sort, -1) < 1:
                            raise SystemExit(f"{name}: {sort}\n{report}")
                    check("the unit", words.count("eps of float"),
                          2 if text is single else 0, words)
        # More rows than columns: there is nothing to solve.
        for name in ("lu", "qr"):
            text = re.sub(r"double \[N\b", "double [M", app(name))
            text = "param M = 70\n" + text
            write_npy(folder.path("A.npy"), random_matrix(70, 30))
            report, words = folder.run(
                text, "-D", "N=30", "-D", "NB=8", "--input", "A=A.npy",
                "--check", json_too=True)
            if not 0 < report.get("residual", -1) < 1:
                raise SystemExit(f"{name}: residual\n{report}")
            check("a solve", "solve_error" in report, False, report)
            check("why not", "no solve: the matrix is not square" in words,
                  True, words)


def case_asymmetric():
    """A matrix of which the half is not read: a warning, unless it is rounding,
    or zeros."""
    n = 50
    with Folder() as folder:
        a = random_matrix(n, n)
        spd = [[sum(map(float.__mul__, a[i], a[j])) + n * (i == j)
                for j in range(n)] for i in range(n)]
        lower = [[x if j <= i else 0.0 for j, x in enumerate(row)]
                 for i, row in enumerate(spd)]
        skew = [list(row) for row in spd]
        skew[3][8] += 2
        rounded = [list(row) for row in spd]
        rounded[3][8] *= 1 + 2.0**-50
        for matrix, warned in ((spd, False), (lower, False), (rounded, False),
                               (skew, True)):
            write_npy(folder.path("A.npy"), matrix)
            write_npy(folder.path("B.npy"), random_matrix(n, 2))
            solve = app("cholesky_solve", of="solve")
            for program, *more in ((app("cholesky"),),
                                   (solve, "--input", "B=B.npy")):
                report, words = folder.run(program, "-D", "NB=16",
                                           "--input", "A=A.npy", *more,
                                           "--check", json_too=True)
                error = report.get("residual", report.get("solve_error"))
                check("error", 0 < error < 1, True, report)
                check("in JSON", "A(3)(8) = " in report.get("not_judged", ""),
                      warned, report)
                check("in words",
                      "warning: the matrix is not symmetric" in words, warned,
                      words)


def case_judge_fails():
    """A matrix that can't be made a second time."""
    with Folder() as folder:
        folder.library()
        report, words = folder.run(ONCE, "--check", json_too=True)
        check("why", "kernel once" in report.get("not_judged", ""), True,
              report)
        check("in words", "is not judged: task make(0): kernel once" in words,
              True, words)
        check("the check itself", report.get("check_passed"), True, report)


def lu_product(n, f, p):
    """The matrix of factors that are one block column."""
    f = [Fraction(x) for x in f]
    rows = [[sum((f[i * n + k] if k < i else 1) * f[k * n + j]
                 for k in range(min(i, j) + 1)) for j in range(n)]
            for i in range(n)]
    for i in reversed(range(n)):
        rows[i], rows[p[i]] = rows[p[i]], rows[i]
    return sum(rows, [])


def cholesky_product(n, l):
    l = [Fraction(x) for x in l]
    return [sum(l[i * n + k] * l[j * n + k] for k in range(n))
            for i in range(n) for j in range(n)]


def case_scaled():
    """Residuals of the smallest and largest matrices, against fractions."""
    n = 6
    cases = [("double", 2.0**-52, exponent) for exponent in
             (-1060, -1050, -1000, -700, 0, 700, 1000, 1022)]
    cases += [("float", 2.0**-23, exponent)
              for exponent in (-138, -126, -100, -60, 0, 60, 100, 126)]
    with Folder() as folder:
        for element, eps, exponent in cases:
            general = [[math.ldexp(x, exponent) for x in row]
                       for row in random_matrix(n, n)]
            definite = [[math.ldexp(random_matrix(n, n)[max(i, j)][min(i, j)] +
                                    n * (i == j), exponent - 3)
                         for j in range(n)] for i in range(n)]
            for name, matrix in (("lu", general), ("cholesky", definite)):
                write_npy(folder.path("A.npy"), matrix, element)
                flat = read_npy(folder.path("A.npy"))  # as it was rounded
                files = {"lu": ("F", "P"), "cholesky": ("L",)}[name]
                outputs = [("--output", f"{x}(:)(:)={x}.npy"
                            if x != "P" else "P=P.npy") for x in files]
                report, words = folder.run(
                    app(name, element), "-D", f"N={n}", "--input", "A=A.npy",
                    *sum(outputs, ()), "--check", json_too=True)
                found = [read_npy(folder.path(x + ".npy")) for x in files]
                product = (lu_product(n, *found) if name == "lu" else
                           cholesky_product(n, *found))
                expected = residual([Fraction(x) for x in flat], product,
                                    eps)
                # The judge rounds, too.
                if abs(report["residual"] - expected) > 0.2 + expected / 100:
                    raise SystemExit(f"{element} {name} times 2^{exponent}: "
                                     f"{report['residual']}, not {expected}")
                if not 0 < report["solve_error"] < 1 + 4 * expected:
                    raise SystemExit(f"{element} {name} times 2^{exponent}: "
                                     "solve\n"
                                     f"{report}")


def case_words():
    """A matrix is said to be only what it is."""
    large, small = 1.7e308, 5e-324
    matrices = [
        ("lu", [[1, 2], [2, 4]], "is zero: the matrix is singular\n"),
        ("lu", [[2 * small, 3 * small], [3 * small, 4 * small]],
         "is zero: the matrix is singular, or too small to tell: scale it"),
        ("lu", [[large, large], [-large, large]],
         "is not finite: scale the matrix, unless numbers of its own are not"),
        ("cholesky", [[1, 2], [2, 1]],
         "is not positive: the matrix is not positive definite\n"),
        ("cholesky", [[small, small], [small, 2 * small]], None),
        ("cholesky", [[1e-300, 1e300], [1e300, 1e300]],
         "the matrix is not positive definite"),
        ("qr", [[large, 1], [large, 1]],
         "column 0 of the tile (column 0 of the matrix) is longer than the "
         "largest double: scale the matrix"),
        ("qr", [[1, large], [1, large]],
         "column 1 of the tile (column 1 of the matrix) is longer than the "
         "largest double: scale the matrix"),
        ("qr", [[0.6 * large, 0], [0.6 * large, 1]], None)]
    large, small = 3.4e38, 2.0**-149
    floats = [
        ("lu", [[1, 2], [2, 4]], "is zero: the matrix is singular\n"),
        ("lu", [[2 * small, small], [small, small]],
         "is zero as a float: the matrix is singular, or too small to tell: "
         "scale it"),
        ("lu", [[large, large], [-large, large]],
         "of f is larger than the largest float: scale the matrix"),
        ("cholesky", [[1, 2], [2, 1]],
         "is not positive: the matrix is not positive definite\n"),
        ("cholesky", [[2 * small, small], [small, 2 * small]], None),
        ("cholesky", [[1e-38, 1e38], [1e38, 1e38]],
         "the matrix is not positive definite"),
        ("qr", [[large, 1], [large, 1]],
         "element (0, 0) of v is larger than the largest float: scale the "
         "matrix"),
        ("qr", [[1, large], [1, large]],
         "element (0, 1) of v is larger than the largest float: scale the "
         "matrix"),
        ("qr", [[0.6 * large, 0], [0.6 * large, 1]], None)]
    with Folder() as folder:
        for element, name, matrix, words in (
                [("double", *it) for it in matrices] +
                [("float", *it) for it in floats]):
            for columns in (1, 2):
                write_npy(folder.path("A.npy"), matrix, element)
                _, said = folder.run(
                    app(name, element), "-D", "N=2", "-D", f"NB={columns}", "--input",
                    "A=A.npy", "--check", expect=1 if words else 0)
                if words and columns == 2:
                    check("words", words in said, True, said)
                for word in ("NaN", "infinite", "nan", "inf "):
                    check(word, word in said, False, said)


def convert(f, p, n, width):
    """The first lines of what is said of an LU's files."""
    rows = [f[i * n:(i + 1) * n] for i in range(n)]
    for r, q in enumerate(p):
        end = r // width * width
        rows[r][:end], rows[q][:end] = rows[q][:end], rows[r][:end]
    return sum(rows, [])


def case_lu_files():
    """The lines that are said of F and P make them LAPACK's, and solve."""
    n, width = 23, 5
    matrix = random_matrix(n, n)
    with Folder() as folder:
        write_npy(folder.path("A.npy"), matrix)
        arguments = ("-D", f"N={n}", "-D", f"NB={width}", "--input", "A=A.npy")
        _, words = folder.run(app("lu"), *arguments, "--output", "F=f.npy",
                              "--output", "P=p.npy")
        lines = [line[2:] for line in words.splitlines()
                 if line.startswith("  ")]
        check("lines", lines, [
            'F, P, x = np.load("f.npy"), np.load("p.npy"), b.copy()',
            "for r, p in enumerate(P):",
            f"  F[[r, p], :r//{width}*{width}] = F[[p, r], "
            f":r//{width}*{width}]",
            "  x[[r, p]] = x[[p, r]]",
            "x = np.linalg.solve(np.tril(F, -1) + np.eye(len(x)), x)",
            "x = np.linalg.solve(np.triu(F), x)"], words)
        f, p = read_npy(folder.path("f.npy")), read_npy(folder.path("p.npy"))
        a = [Fraction(x) for x in sum(matrix, [])]
        if residual(a, lu_product(n, f, p)) < 1e6:
            raise SystemExit("F and P are LAPACK's as they are")
        if residual(a, lu_product(n, convert(f, p, n, width), p)) > 1:
            raise SystemExit("F and P are not LAPACK's after these lines")
        try:
            import numpy as np
        except ImportError:
            return
        names = {"np": np, "b": np.array(matrix) @ np.arange(n)}
        os.chdir(folder.folder.name)
        exec("\n".join(lines), names)
        check("solution", np.allclose(names["x"], np.arange(n)), True, names)


def case_lu_files_that_are_lapacks():
    """A single block column; other programs."""
    with Folder() as folder:
        for name, output, more in (("lu", "F", ("-D", "NB=64")),
                                   ("qr", "V", ()), ("cholesky", "L", ())):
            _, words = folder.run(app(name), "-D", "N=40", *more, "--output",
                                  output + "=out.npy")
            check("a word of LAPACK", "LAPACK" in words, False, words)


if __name__ == "__main__":
    globals()["case_" + CASE]()
