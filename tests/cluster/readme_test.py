"""The commands of a page, as they stand there.

Aim: lines copied from the README or the tutorial do what these say. Method:
every line that begins with `dogged` is run, in the order of the page, in a
folder that has `apps/`, a matrix, and the programs that the page tells to
write; only ports are other ones, folders in `/shared` lie in that one, and JOB is the job that was submitted last, for
`cancel` one that runs. A command that has
"# refused" behind it ends with 3, and says the lines that follow it; words
behind "It says" are said by the command before. Promises of options are looked
for in the words and files of a command. Python runs what is for it, where there
is no numpy with one that loads doubles of one dimension.

usage: readme_test.py DOGGED SOURCE_DIR PAGE COMMANDS_MIN
"""

import os
import re
import shlex
import subprocess
import sys
import tempfile

from standing import Standing

DOGGED, SOURCE, PAGE = map(os.path.abspath, sys.argv[1:4])
COMMANDS_MIN = int(sys.argv[4])
SUBMITTED = []  # hashes


def steps():
    """("run", words, is_refused), ("says", text), ("file", name, text,
    is_added) or ("python", text), in the order of the page."""
    with open(PAGE) as file:
        text = file.read().replace("\\\n", " ")
    before = ""
    for part in re.split(r"(^```\w+\n.*?^```$)", text, flags=re.M | re.S):
        block = re.match(r"```(\w+)\n(.*)```$", part, flags=re.S)
        if block is None:
            is_refused = False
            for line in part.split("\n"):
                if line.startswith("    dogged "):
                    is_refused = line.endswith("# refused")
                    yield ("run", shlex.split(line, comments=True), is_refused)
                elif line.startswith("    ") and is_refused:
                    yield ("says", line[4:])
                elif line.startswith("It says `"):
                    yield ("says", line.split("`")[1])
            before = part
        elif block[1] == "python":
            yield ("python", block[2])
        else:
            paragraph = before.rstrip().split("\n\n")[-1]
            name = re.search(r"(add\s+to|Put\s+this\s+into)\s+`(\w+\.dog)`:$",
                             paragraph)
            if name is None:
                raise SystemExit(f"which file is this?\n{part}")
            yield ("file", name[2], block[2], name[1][0] == "a")


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


NUMPY = """import array

class Array(array.array):
    shape = property(lambda self: (len(self),))

def load(path):
    with open(path, "rb") as file:
        content = file.read()
    header = 10 + int.from_bytes(content[8:10], "little")
    if b"'descr': '<f8'" not in content[:header]:
        raise ValueError(content[:header])
    return Array("d", content[header:])
"""


def run(words, is_refused, cluster, folder):
    words = [w.replace("file:/shared", f"file:{folder}") for w in words]
    if words[1] == "agent":
        points = [w for w in words if w.startswith("file:")]
        cluster.start(*[w for w in words[2:] if ":" not in w
                        and w not in ("--listen", "--join")],
                      *["--join=" + point for point in points])
        return ""
    words = [re.sub(r"^127\.0\.0\.1:7070$",
                    lambda _: cluster.addresses[0], w) for w in words]
    endless = None
    if "JOB" in words:
        if words[1] == "cancel":
            endless, job = start_endless(cluster, folder)
        else:
            job = SUBMITTED[-1]
        words[words.index("JOB")] = job[:12]
    done = subprocess.run([DOGGED, *words[1:]], cwd=folder, text=True,
                          capture_output=True, timeout=300)
    said = done.stdout + done.stderr
    if done.returncode != (3 if is_refused else 0):
        raise SystemExit(f"{words}: exit status {done.returncode}\n{said}")
    if words[1] == "submit":
        SUBMITTED.append(done.stdout.strip())
    for part in promised(words, cluster):
        if re.search(part, said) is None:
            raise SystemExit(f"{words} does not say {part!r}\n{said}")
    for option, word in zip(words, words[1:]):
        if option == "--output":
            look_at(os.path.join(folder, word.split("=")[-1]))
    if endless is not None:
        endless.communicate(timeout=60)
        state = cluster.status()["jobs"][0]["state"]
        if endless.returncode != 1 or state != "cancelled":
            raise SystemExit(f"{words}: the job is {state}, and its client "
                             f"ended with {endless.returncode}")
    return said


def start_endless(cluster, folder):
    """A job that somebody has to cancel, once it runs, and its client."""
    client = subprocess.Popen(
        [DOGGED, "run", "apps/heat1d/heat1d.dog", "-D", "N=400001", "-D",
         "T=1000000", "--cluster", cluster.addresses[0]], cwd=folder,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    status = cluster.await_status("a job that runs", lambda s: any(
        job["state"] == "running" and job["tasks_executed"] > 0
        for job in s["jobs"]))
    return client, status["jobs"][0]["job"]


def promised(words, cluster):
    """Words of a command that does what the page says of it."""
    if words[1] == "sim":
        first, last = words[words.index("--seeds") + 1].split(":")
        yield f"{int(last) - int(first) + 1} seeds, 0 failed; [1-9]"
    if words[1] == "status":
        yield from map(re.escape, cluster.addresses)
        yield r"heat2d +done +100 %"
    if words[1] == "wait":
        yield f"^done {words[-1]}"
    if words[1] == "fetch":
        yield r"^phi -> phi\.npy: phi\(0:5000\)\(100\), 5001 doubles"
    if words[1] == "cancel":
        yield f"^cancelled {words[-1]}"
    if "--check" in words:
        yield "matches the serial run bit for bit"
    if "--kill-at" in words:
        yield r"lost agent-\d+ \(killed by signal 9"
    if "--join-at" in words:
        yield r"agent-\d+ joined"


def look_at(path):
    """A file of the kind that its name says, with something in it."""
    kinds = {".npy": b"\x93NUMPY", ".png": b"\x89PNG", ".apng": b"\x89PNG"}
    with open(path, "rb") as file:
        content = file.read()
    kind = kinds[os.path.splitext(path)[1]]
    if not content.startswith(kind) or len(content) < 1000:
        raise SystemExit(f"{path}: {len(content)} bytes, {content[:8]}")


def main():
    count = 0
    has_numpy = subprocess.run(["/usr/bin/python3", "-c", "import numpy"],
                               capture_output=True).returncode == 0
    with tempfile.TemporaryDirectory() as folder, Standing(DOGGED) as cluster:
        os.symlink(os.path.join(SOURCE, "apps"), os.path.join(folder, "apps"))
        matrix(os.path.join(folder, "matrix.npy"), 2048)
        if not has_numpy:
            with open(os.path.join(folder, "numpy.py"), "w") as file:
                file.write(NUMPY)
        for kind, *step in steps():
            if kind == "run":
                count += 1
                said = run(*step, cluster, folder)
            elif kind == "says":
                if step[0] not in said:
                    raise SystemExit(f"not said: {step[0]}\n{said}")
            elif kind == "file":
                name, text, is_added = step
                path = os.path.join(folder, name)
                if os.path.exists(path) != is_added:
                    raise SystemExit(f"{name}: to write, or to add to?")
                with open(path, "a") as file:
                    file.write(text)
            else:
                subprocess.run(["/usr/bin/python3", "-B", "-c", step[0]],
                               cwd=folder, check=True, timeout=60)
    if count < COMMANDS_MIN:
        raise SystemExit(f"only {count} commands found")


main()
