"""The types of the package `dogged`.

Aim: the package is typed throughout, a user's typed program passes, and so do
the programs of docs/PYTHON.md; a value of another type than the package takes
is found before the program runs. Method: mypy, strictly.

usage: types_test.py MYPY PACKAGE_DIR
"""

import os
import re
import subprocess
import sys
import tempfile

MYPY, PACKAGE = sys.argv[1], os.path.abspath(sys.argv[2])
GOOD = """\
from typing import Any

import numpy as np

import dogged

heat: dogged.Program = dogged.load("heat.dog", N=401, want=["u"])
b = dogged.Builder("chain")
N = b.param("N", 10)
(t,) = b.indices("t")
u = b.array("u")
b.boundary(u[0], 1.0)
b.task(u[t], u[t - 1] + 1.0, over={t: (1, N)})
b.result(u[N])
chain: dogged.Program = b.program(N=20)
dogged.program(chain.text, kernels="int f(void);")
dogged.load("heat.dog", kernels={"mine.so": "int f(void);"}, N=3)

# NumPy's functions of formulas, wherever a formula may stand.
dt = b.param("dt", np.float32(0.5))
i, j = b.indices("i j")
v = b.array("v")
over = {i: (1, N - 2), j: (1, N)}
b.boundary(v[0, j], np.sin(1.0*j), where=np.less(j, 3))
b.task(v[i, 0], np.exp(-0.1*i), over=over)
b.task(v[i, j], 2*np.exp(-0.1*i), over=over, where=np.exp(i) > 1)
b.task(v[i, j], np.sqrt(v[i, j-1]**2 + 1), over=over)
b.task({v[i, j]: np.maximum(v[i, j-1], 0)}, over=over)
b.task(v[i, j], v[i, j-1]*np.exp(-0.1*i) - np.cos(v[i, 0])/2, over=over)
b.task(v[i, j], -np.exp(i) + abs(np.exp(i))**2 % 3, over=over)
b.task(v[i, j], dogged.where((i > 3) & (np.exp(i) > 2), np.abs(i), 0),
       over=over)
b.task(v[i, j], v[i-1, j].where(np.exp(i) > 0, np.hypot(i, j)), over=over)
b.task(v[np.minimum(i, 3), j], np.float64(2.5)*v[i, 0], over=over)
b.task(v[i, j], np.int64(1), over=over)
b.input(v[i, 0], over=over, otherwise=np.exp(i))
b.reduce("max", u[j], v[i, j], over=over, where=np.exp(i) > 3)
b.until(np.sqrt(u[N]) < 1e-3)


async def ended(run: dogged.Run) -> float:
    await run
    return run.progress


with dogged.agents(4, workers=1) as c:
    run: dogged.Run = c.submit(heat, inputs={"v": np.zeros(3)})
    x: np.ndarray[Any, Any] = run["u"]
    steps = [event["event"] for event in run]
    y = c.run(chain).wait(timeout=1.5)["u"]
    for loss in y.shape:
        print(loss, run.done, c.status())
report: dogged.SimResult = dogged.sim(heat, seeds=range(10), crash=2, drop=0.05)
try:
    dogged.connect("host:7070", key_file="key")
except dogged.NoAgents as error:
    print(error)
"""
BAD = """\
import dogged
c = dogged.agents("4")
run = c.submit("heat.dog")
run.wait(timeout="1")
dogged.sim(dogged.load(3), seeds=5.5)
run["u"] = 3
c.summit(run)
dogged.program("", kernels=3)
dogged.Builder().indices("x")[0] + "1"
"""


def checked(*words, folder):
    done = subprocess.run(
        (MYPY, "--strict", "--no-incremental", *words), cwd=folder,
        capture_output=True, text=True, timeout=240,
        env={**os.environ, "MYPYPATH": PACKAGE})
    return done.returncode, done.stdout + done.stderr


def page_blocks():
    with open(os.path.join(PACKAGE, "..", "..", "docs", "PYTHON.md"),
              encoding="utf-8") as page:
        return re.findall(r"^```python\n(.*?)^```", page.read(), re.M | re.S)


def main():
    with tempfile.TemporaryDirectory() as folder:
        for name, text in (("good.py", GOOD), ("bad.py", BAD)):
            with open(os.path.join(folder, name), "w") as file:
                file.write(text)
        status, words = checked("-p", "dogged", folder=folder)
        assert status == 0, words
        status, words = checked("good.py", folder=folder)
        assert status == 0, words
        names = []
        for number, text in enumerate(page_blocks()):
            names.append(f"block{number}.py")
            with open(os.path.join(folder, names[-1]), "w") as file:
                file.write(text)
        # A test function has no types, Matplotlib may not be there.
        status, words = checked("--allow-untyped-defs", "--allow-untyped-calls",
                                "--ignore-missing-imports", *names,
                                folder=folder)
        assert status == 0 and names, words
        status, words = checked("bad.py", folder=folder)
        lines = {int(line) for line in re.findall(r"bad\.py:(\d+): error", words)}
        assert status == 1 and lines == set(range(2, 10)), words


main()
