"""The README's commands, as they stand there.

Aim: whoever copies a command from the README gets what it says. Method: every
line that begins with `dogged` is run in a folder that has `apps/` and a matrix;
only ports are other ones, and JOB is a job.

usage: readme_test.py DOGGED SOURCE_DIR
"""

import os
import re
import shlex
import subprocess
import sys
import tempfile

from standing import Standing

DOGGED, SOURCE = map(os.path.abspath, sys.argv[1:3])


def commands():
    with open(os.path.join(SOURCE, "README.md")) as file:
        text = file.read().replace("\\\n", " ")
    for line in text.split("\n"):
        if line.startswith("    dogged "):
            yield shlex.split(line, comments=True)


def matrix(path, n):
    """n on the diagonal, 1 beside it: positive definite."""
    header = "{'descr': '<f8', 'fortran_order': False, 'shape': (%d, %d), }" % (
        n, n)
    header += " " * (63 - (10 + len(header)) % 64) + "\n"
    one = (0x3FF0000000000000).to_bytes(8, "little")
    large = (0x40A0000000000000).to_bytes(8, "little")  # 2048
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little")
                   + header.encode())
        for i in range(n):
            file.write(one * i + large + one * (n - 1 - i))


def main():
    count = 0
    with tempfile.TemporaryDirectory() as folder, Standing(DOGGED) as cluster:
        os.symlink(os.path.join(SOURCE, "apps"), os.path.join(folder, "apps"))
        matrix(os.path.join(folder, "matrix.npy"), 2048)
        for words in commands():
            count += 1
            if words[1] == "agent":
                cluster.start(*[w for w in words[2:] if ":" not in w
                                and w not in ("--listen", "--join")])
                continue
            words = [re.sub(r"^127\.0\.0\.1:7070$",
                            lambda _: cluster.addresses[0], w) for w in words]
            if "JOB" in words:
                job = cluster.status()["jobs"][0]["job"]
                words[words.index("JOB")] = job[:12]
            done = subprocess.run([DOGGED, *words[1:]], cwd=folder, text=True,
                                  capture_output=True, timeout=300)
            # The job that the README cancels may have ended by then.
            expect = (0, 2) if words[1] == "cancel" else (0,)
            if done.returncode not in expect:
                raise SystemExit(f"{words}: exit status {done.returncode}\n"
                                 f"{done.stdout}{done.stderr}")
            for word in words:
                if word.endswith(".png") or word.endswith("heat.npy"):
                    path = os.path.join(folder, word.split("=")[-1])
                    if os.path.getsize(path) < 1000:
                        raise SystemExit(f"{path} is empty")
    if count < 8:
        raise SystemExit(f"only {count} commands found")


main()
