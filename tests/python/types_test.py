"""The types of the package `dogged`.

Aim: the package is typed throughout, a user's typed program passes, and a value
of another type than the package takes is found before the program runs. Method:
mypy, strictly.

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
"""


def checked(*words, folder):
    done = subprocess.run(
        (MYPY, "--strict", "--no-incremental", *words), cwd=folder,
        capture_output=True, text=True, timeout=240,
        env={**os.environ, "MYPYPATH": PACKAGE})
    return done.returncode, done.stdout + done.stderr


def main():
    with tempfile.TemporaryDirectory() as folder:
        for name, text in (("good.py", GOOD), ("bad.py", BAD)):
            with open(os.path.join(folder, name), "w") as file:
                file.write(text)
        status, words = checked("-p", "dogged", folder=folder)
        assert status == 0, words
        status, words = checked("good.py", folder=folder)
        assert status == 0, words
        status, words = checked("bad.py", folder=folder)
        lines = {int(line) for line in re.findall(r"bad\.py:(\d+): error", words)}
        assert status == 1 and lines == set(range(2, 8)), words


main()
