"""Linear systems of one's own matrices: apps/solve.

Aim: the solutions of LU, Cholesky and least squares have a small residual, and
LU's F and P are LAPACK's, whatever the blocks; a matrix that has no solution is
named. Method: the binary itself, on one process and two agents, against plain
loops.

usage: solve_test.py DOGGED SOURCE_DIR CASE
"""

import itertools
import os
import random
import re
import struct
import subprocess
import sys
import tempfile

DOGGED, SOURCE, CASE = os.path.abspath(sys.argv[1]), *sys.argv[2:4]
EPS = {"double": 2.0 ** -52, "float": 2.0 ** -23}
SIZES = ((1, 1, 8), (9, 2, 4), (30, 70, 8), (40, 3, 64))


def check(what, holds, report=""):
    if not holds:
        raise SystemExit(f"{what}\n{report}")


def write_npy(path, rows, element="double"):
    """A matrix of that type; of rows that are numbers a vector."""
    descr, letter = {"double": ("<f8", "d"), "float": ("<f4", "f")}[element]
    if not isinstance(rows[0], list):
        shape, rows = f"({len(rows)},)", [rows]
    else:
        shape = f"({len(rows)}, {len(rows[0])})"
    head = (f"{{'descr': '{descr}', 'fortran_order': False, 'shape': "
            f"{shape}, }}\n").encode()
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head)
        for row in rows:
            file.write(struct.pack(f"<{len(row)}{letter}", *row))


def read_npy(path):
    """Rows, of one number each if there is one dimension."""
    with open(path, "rb") as file:
        data = file.read()
    begin = 10 + struct.unpack("<H", data[8:10])[0]
    head = data[10:begin].decode()
    shape = [int(n) for n in re.findall(r"\d+", head.split("shape")[1])]
    code = "q" if "<i8" in head else "f" if "<f4" in head else "d"
    count = (len(data) - begin) // struct.calcsize(code)
    numbers = struct.unpack(f"<{count}{code}", data[begin:])
    width = shape[1] if len(shape) > 1 else 1
    return [list(numbers[i:i + width]) for i in range(0, len(numbers), width)]


def matrix(rows, columns, seed):
    numbers = random.Random(seed)
    return [[numbers.uniform(-1, 1) for _ in range(columns)]
            for _ in range(rows)]


def product(a, b):
    columns = list(zip(*b))
    return [[sum(map(float.__mul__, row, column)) for column in columns]
            for row in a]


def transposed(a):
    return [list(row) for row in zip(*a)]


def largest(a):
    return max(abs(x) for row in a for x in row)


def apart(a, b):
    return max(abs(x - y) for r, s in zip(a, b) for x, y in zip(r, s))


class Folder:
    def __init__(self):
        self.at = tempfile.TemporaryDirectory()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.at.cleanup()

    def path(self, name):
        return os.path.join(self.at.name, name)

    def run(self, program, output, inputs, *arguments, expect=0,
            element="double"):
        """The arrays of `output`, which names some; the words. `element`: the
        type of all matrices."""
        path = os.path.join(SOURCE, "apps", "solve", program + ".dog")
        with open(path) as file:
            text = file.read().replace(": double", ": " + element)
        with open(self.path(program + ".dog"), "w") as file:
            file.write(text)
        command = [DOGGED, "run", self.path(program + ".dog")]
        for name, rows in inputs.items():
            write_npy(self.path(name + ".npy"), rows, element)
            command += ["--input", f"{name}={self.path(name)}.npy"]
        for name in output:
            command += ["--output", f"{name}={self.path(name)}-out.npy"]
        done = subprocess.run([*command, *map(str, arguments)],
                              capture_output=True, text=True, timeout=120)
        check(f"exit status {done.returncode}, not {expect}: {command}",
              done.returncode == expect, done.stderr)
        arrays = [] if expect else [
            read_npy(self.path(name) + "-out.npy") for name in output]
        return arrays, done.stderr


def solved(folder, program, a, b, *arguments, element="double"):
    return folder.run(program, ["X"], {"A": a, "B": b}, *arguments,
                      element=element)[0][0]


def rounded(a, element):
    """What a file of that type holds of `a`."""
    letter = "f" if element == "float" else "d"
    return [list(struct.unpack(f"{len(row)}{letter}",
                               struct.pack(f"{len(row)}{letter}", *row)))
            for row in a]


def case_square():
    """LU of any matrix, Cholesky of a positive definite one."""
    with Folder() as folder:
        for n, m, width in SIZES:
            sizes = ("-D", f"N={n}", "-D", f"M={m}", "-D", f"NB={width}",
                     "-D", "MB=33")
            a, b = matrix(n, n, 1), matrix(n, m, 2)
            definite = product(a, transposed(a))
            for i in range(n):
                definite[i][i] += 1
            for program, element, agents in itertools.product(
                    ("lu_solve", "cholesky_solve"), EPS,
                    ((), ("--agents", "2"))):
                left = rounded(a if program == "lu_solve" else definite,
                               element)
                x = solved(folder, program, left, b, *sizes, *agents,
                           element=element)
                bound = 64 * n * EPS[element] * largest(left) * largest(x)
                rest = apart(product(left, x), rounded(b, element))
                check(f"{program}, {element}, {sizes}: {rest} beyond {bound}",
                      rest <= bound)


def case_least_squares():
    """More rows than columns: the residual is orthogonal to the columns."""
    with Folder() as folder:
        for n, m, width in SIZES:
            for rows, element in itertools.product((n, n + 7), EPS):
                a = rounded(matrix(rows, n, 3), element)
                b = rounded(matrix(rows, m, 4), element)
                x = solved(folder, "least_squares", a, b, "-D", f"R={rows}",
                           "-D", f"N={n}", "-D", f"M={m}", "-D",
                           f"NB={width}", "-D", "MB=33", element=element)
                check("rows", len(x) == n)
                ax = product(a, x)
                rest = [[s - t for s, t in zip(u, v)] for u, v in zip(ax, b)]
                off = largest(product(transposed(a), rest))
                check(f"{rows} x {n}, {element}: {off}", off <=
                      256 * rows * EPS[element] * max(1, largest(x)))


def case_judged():
    """--check judges solutions by A and B, and says where it can't."""
    with Folder() as folder:
        a, b = matrix(40, 40, 1), matrix(40, 3, 2)
        definite = product(a, transposed(a))
        for i in range(40):
            definite[i][i] += 1
        lower = [[x if j <= i else 0.0 for j, x in enumerate(row)]
                 for i, row in enumerate(definite)]
        skew = [list(row) for row in definite]
        skew[2][7] += 1
        tall = matrix(60, 40, 3), matrix(60, 3, 4)
        for element in EPS:
            eps = "eps of float" if element == "float" else "eps"
            for program, left, right, words in (
                    ("lu_solve", a, b, f"solve ||A X - B|| / (n ||A|| ||X|| {eps}) = "),
                    ("cholesky_solve", definite, b, "solve ||A X - B||"),
                    ("cholesky_solve", lower, b, "solve ||A X - B||"),
                    # Judged by the matrix that it has solved with.
                    ("cholesky_solve", skew, b, "solve ||A X - B||"),
                    ("least_squares", *tall, "least squares ||A'(A X - B)||")):
                said = folder.run(program, ["X"], {"A": left, "B": right},
                                  "-D", "NB=16", "--check",
                                  element=element)[1]
                found = re.search(re.escape(words) + r".*?([0-9.e-]+)\n",
                                  said + "\n")
                check(f"{program} is not judged", found, said)
                check(f"{program} is not sound",
                      0 < float(found.group(1)) < 1, said)
            said = folder.run("lu_lapack", ["F", "P"], {"A": a}, "-D", "NB=16",
                              "--check", element=element)[1]
            check("LAPACK's order", "the factorisation is not judged: not all "
                  "of its factors are results" in said, said)
        said = folder.run("lu_solve", ["X"], {}, "-D", "N=40", "--check")[1]
        check("none given", "the solution is not judged: the program makes A "
              "itself" in said, said)


def case_condition():
    """A matrix that is nearly singular has a small residual, and a warning."""
    with Folder() as folder:
        b = matrix(12, 2, 2)
        hilbert = [[1 / (i + j + 1) for j in range(12)] for i in range(12)]
        ridge = [[x + (i == j) for j, x in enumerate(row)]
                 for i, row in enumerate(hilbert)]
        # Of condition 4e9: right in doubles, and lost in floats.
        between = [[x + 1e-9 * (i == j) for j, x in enumerate(row)]
                   for i, row in enumerate(hilbert)]
        for program, left, element, words in (
                ("lu_solve", hilbert, "double", "no digit of the solution"),
                ("lu_solve", ridge, "double", ""),
                ("cholesky_solve", ridge, "float", ""),
                ("cholesky_solve", between, "double", ""),
                ("lu_solve", between, "float", "no digit of the solution")):
            said = folder.run(program, ["X"], {"A": left, "B": b}, "-D",
                              "NB=5", "--check", element=element)[1]
            check("a small residual", re.search(r"= [0-9.e-]+\n", said), said)
            check(f"{program}, {element}: a warning", ("nearly singular" in said)
                  == bool(words) and words in said, said)
        # Powers of nearly the same numbers, of condition 8e6. X of ones fits,
        # but for rows in which A has zeros: what is left does not change X.
        powers = [[(1 + i / 1e3) ** j for j in range(4)] for i in range(40)]
        powers += [[0] * 4] * 10
        for left, words in ((0, ""), (100, "digit of the solution")):
            rest = [[sum(row) or left] for row in powers]
            said = folder.run("least_squares", ["X"], {"A": powers, "B": rest},
                              "--check")[1]
            check(f"least squares, {left} left", ("nearly singular" in said)
                  == bool(words) and words in said, said)
        said = folder.run("least_squares", ["X"], {"A": powers,
                          "B": [[0] for _ in powers]}, "--check")[1]
        check("nothing is left of nothing", "nearly singular" not in said, said)


def case_lapack():
    """F and P are those of getrf: the exchanges make A the product."""
    with Folder() as folder:
        for (n, _, width), element in itertools.product(SIZES, EPS):
            a = rounded(matrix(n, n, 5), element)
            (f, p), words = folder.run("lu_lapack", ["F", "P"], {"A": a}, "-D",
                                       f"N={n}", "-D", f"NB={width}",
                                       element=element)
            check("words of other files", "LAPACK" not in words, words)
            for row, (other,) in enumerate(p):
                a[row], a[other] = a[other], a[row]
            lower = [[f[i][j] if j < i else float(i == j) for j in range(n)]
                     for i in range(n)]
            upper = [[f[i][j] if j >= i else 0.0 for j in range(n)]
                     for i in range(n)]
            check(f"{n}, {width}, {element}", apart(product(lower, upper), a)
                  <= 64 * n * EPS[element] * largest(f))


def case_taken():
    """Numbers that are taken from the files, which have to fit each other."""
    with Folder() as folder:
        for n, m, _ in SIZES:
            a, b = matrix(n, n, 1), matrix(n, m, 2)
            definite = product(a, transposed(a))
            for i in range(n):
                definite[i][i] += 1
            for program, left in (("lu_solve", a), ("cholesky_solve", definite)):
                (x,), words = folder.run(program, ["X"], {"A": left, "B": b})
                check("words", f"N = {n}, by the shape of A\nM = {m}, by the "
                      "shape of B\n" in words, words)
                check("shape", (len(x), len(x[0])) == (n, m))
                check(program, apart(product(left, x), b)
                      <= 64 * n * EPS["double"] * largest(left) * largest(x))
            (f, p), _ = folder.run("lu_lapack", ["F", "P"], {"A": a})
            check("factors", len(f) == len(p) == n)
            tall, right = matrix(n + 7, n, 3), matrix(n + 7, m, 4)
            x = solved(folder, "least_squares", tall, right)
            check("least squares", (len(x), len(x[0])) == (n, m))
        # B's rows alone say N, and A is made.
        _, words = folder.run("lu_solve", ["X"], {"B": matrix(9, 2, 2)})
        check("rows", "N = 9, by the shape of B" in words
              and "A: made by general" in words, words)
        _, words = folder.run("lu_solve", ["X"], {"A": a, "B": b}, "-D",
                              "N=77", expect=3)
        check("given", "wants (77)(77)" in words, words)
        _, words = folder.run("lu_solve", ["X"], {
            "A": matrix(6, 6, 1), "B": matrix(5, 1, 2)}, expect=3)
        check("both places", "N is 6 by dimension 1 of input A (line 24), whose "
              "file has shape (6)(6), and 5 by dimension 1 of input B (line 28)"
              in words, words)


def case_wide():
    """A factorisation of fewer rows than columns: told before it runs, with the
    task, also where blocks end evenly."""
    with Folder() as folder:
        for (r, n), element in itertools.product(((50, 80), (48, 49)), EPS):
            _, words = folder.run("least_squares", ["X"], {
                "A": matrix(r, n, 1), "B": matrix(r, 1, 2)}, expect=3,
                element=element)
            check("the kernel", f"error[D017]: geqrt: a has {r} rows, too few "
                  f"for {n - 48} columns from row 48 on" in words, words)
            check("the place", re.search(r"least_squares.dog:\d+:6: error", words)
                  and "task panel\n" in words and "at k = 1" in words, words)
            check("no way out", "at least as many rows as columns" in words,
                  words)
            check("it has run", "job " not in words, words)


def case_words():
    """No solution, and arrays that do not fit."""
    with Folder() as folder:
        n = 12
        sizes = ("-D", f"N={n}", "-D", "NB=5")
        a, b = matrix(n, n, 6), matrix(n, 1, 7)
        for row in a:
            row[7] = 0.0
        for program, more, words in (
                ("lu_solve", (), "pivot 2 of the tile (column 7) is zero"),
                ("least_squares", ("-D", f"R={n}"), "element (7, 7) of the "
                 "triangle is zero: there is no solution, or more than one"),
                ("cholesky_solve", (), "the matrix is not positive definite")):
            _, said = folder.run(program, ["X"], {"A": a, "B": b}, *sizes,
                                 *more, expect=1)
            check(program, words in said, said)
        # A vector is no matrix of one column.
        _, said = folder.run("lu_solve", ["X"], {"A": a, "B": sum(b, [])},
                             *sizes, expect=3)
        check("no way out", "has shape (12), the program wants (12)(1); "
              "NumPy's reshape((12, 1)) makes it so" in said, said)


globals()["case_" + CASE]()
