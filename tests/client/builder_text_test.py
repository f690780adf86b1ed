"""Programs made in C++ have the text of those made in Python.

Aim: the same statements, the same text, to the letter. Method: builder_programs
prints its programs; here they are once more.

usage: builder_text_test.py PROGRAMS SOURCE_DIR
"""

import difflib
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(sys.argv[2], "apps", "python"))

import numpy as np  # noqa: E402

import dogged  # noqa: E402


def rod():
    b = dogged.Builder("rod")
    N, T = b.param("N", 101), b.param("T")
    x, t = b.indices("x t")
    u = b.array("u")
    b.boundary(u[0, t], 1)
    b.boundary(u[N-1, t], 0, where=t >= 0)
    b.task(u[x, 0], np.exp(-0.1*x), over={x: (1, N-2)})
    b.task(u[x, t], u[x, t-1] + 0.25*(u[x-1, t-1] - 2*u[x, t-1] + u[x+1, t-1]),
           over={x: (1, N-2), t: (1, T)}, name="step")
    b.result(u[:, T])
    b.result(u[x, t], over={x: (0, N-1, 4), t: (0, T, 2)})
    return b.text


def ring():
    b = dogged.Builder("ring")
    N = b.param("N", 20)
    x, t = b.indices("x t")
    h = b.array("h", "int64", over={x: (0, N-1), t: (0, 3)})
    v, w = b.array("v"), b.array("w")
    b.input(v[x], over={x: (0, N-1)}, otherwise=2.0*x)
    b.periodic(h[x, t], x)
    b.task(h[x, 0], x, over={x: (0, N-1)})
    b.task({h[x, t]: h[x-1, t-1] + x//7, w[x, t]: v[x] + 1.0*x/N},
           over={x: (0, N-1), t: (1, 3)}, where=x >= 0)
    b.result(h[:, 3])
    return b.text


def loop():
    b = dogged.Builder("loop")
    N, bound = b.param("N", 12), b.param("bound", 1e-5)
    x, t = b.indices("x t")
    u, d, change, total, s = map(b.array, ("u", "d", "change", "total", "s"))
    T = b.repeat("T", (20, 4000, 20))
    b.input(s[x], over={x: (0, N)})
    b.task(u[x, t], 0.5*(u[x-1, t-1].where(x > 0, 1)
                         + u[x+1, t-1].where(x < N-1, 0)),
           over={x: (0, N-1), t: (1, T)})
    b.task(d[x, t], u[x, t] - u[x, t-1], over={x: (0, N-1), t: (20, T, 20)})
    b.reduce("normmax", change[t], d[x, t], over={x: (0, N-1)},
             at={t: (20, T, 20)})
    b.reduce("sum", total[()], s[x], over={x: (0, N)}, where=x % 2 == 0)
    b.until(change[T] < bound)
    b.result(u[:, T])
    return b.text


def formulas():
    b = dogged.Builder("formulas")
    N, c = b.param("N", 11), b.param("c", 100000.0)
    x, = b.indices("x")
    f, g = b.array("f"), b.array("g")
    for at, one in enumerate((
            1 - (x - (x - 1)),
            -(x + 1)*2,
            x - (-3),
            dogged.where((x < 3) | (~(x > 4) & (x == 5)), 1, 0.5),
            np.maximum(x, 3)*np.minimum(0.1, c),
            np.hypot(1e16*x, -0.0)**1e-4,
            np.fmod(abs(g[x]), 0.3) + (g[x] + 1.5e300)*(-g[x]),
            2.5/(x*1.0/N),
            (x % 3)*(x + N) - (x*4)//(2 + N),
            np.arctan2(np.sqrt(g[x]*g[x]), +np.tanh(np.cbrt(0.00001*x))))):
        b.task(f[at, x], one, over={x: (0, N-1)})
    return b.text


ours = "".join(make() + "---\n" for make in (rod, ring, loop, formulas))
theirs = subprocess.run([sys.argv[1]], check=True, capture_output=True,
                        text=True).stdout
if ours != theirs:
    sys.exit("".join(difflib.unified_diff(
        ours.splitlines(True), theirs.splitlines(True), "Python", "C++")))
