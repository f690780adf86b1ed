"""Answers of commands with --json, and events.

Aim: whatever a command with --json comes to, standard output is one object that
says so: status, kind, place, message, help, what was written; --json-events
gives a line for each event. Method: the binary itself, mistaken on purpose.

usage: answers_test.py DOGGED SOURCE_DIR CASE
"""

import array
import json
import os
import resource
import signal
import subprocess
import sys
import tempfile

from standing import Standing

DOGGED, SOURCE = (os.path.abspath(path) for path in sys.argv[1:3])
CASE = sys.argv[3]
# A vector for each point.
VECTORS = """kernel general(out a, row, column)
array v(i = 0:9) : double [1, 3]
task make
  creates v(i) as n
  for i = 0:9
  call general(n, i, 0)
end task
result v(:)
"""
HEAT = os.path.join(SOURCE, "apps", "heat1d", "heat1d.dog")
CHOLESKY = os.path.join(SOURCE, "apps", "cholesky", "cholesky.dog")
WRONG = """\
param N = 10
task step
  creates u(i)(t) as n
  for i = 0:N-1 t = 1:N
  using u(i)(t-1) as c
  code
    n = c
  end code
end task
result u(:)(N)
"""
NOBODY = ("--cluster", "127.0.0.1:1")
KINDS = {0: None, 1: "failed", 2: "mistyped", 3: "wrong", 4: "no_agents",
         5: "no_room", 130: "interrupted"}


def check(what, holds, report=""):
    if not holds:
        raise SystemExit(f"{what}\n{report}")


def objects(done, arguments):
    """The lines of standard output, each an object of the schema."""
    check("no answer", done.stdout.endswith("\n"), (arguments, done.stderr))
    out = [json.loads(line) for line in done.stdout.splitlines()]
    for one in out:
        check("schema", one["schema"] == 1, one)
    last = out[-1]
    check("command", last["command"] == arguments[0], last)
    check("status", last["status"] == done.returncode, (arguments, last))
    kind = last.get("error", {}).get("kind")
    check("kind", kind == KINDS[done.returncode], (arguments, last))
    return out


def answer(expect, *arguments, **options):
    """The one object that a command answers with."""
    arguments = [*map(str, arguments), "--json"]
    done = subprocess.run([DOGGED, *arguments], capture_output=True, text=True,
                          timeout=240, **options)
    check(f"exit status {done.returncode}, not {expect}: {arguments}",
          done.returncode == expect, done.stdout + done.stderr)
    lines = objects(done, arguments)
    check("more than one object", len(lines) == 1, done.stdout)
    if expect != 0:
        check("no message", lines[0]["error"]["message"], lines)
    return lines[0]


def case_wrong(folder):
    """A wrong program: code, place, carets and help, of each command."""
    path = os.path.join(folder, "wrong.dog")
    with open(path, "w", encoding="utf-8") as file:
        file.write(WRONG)
    for command in (("run", path), ("check", path),
                    ("submit", path, "--agents", 1, "--workers", 1, *NOBODY)):
        out = answer(3, *command)
        error = out["error"]
        check("place", (error["code"], error["file"], error["line"],
                        error["column"], error["end_column"])
              == ("D012", path, 5, 9, 18), error)
        check("carets", "^^^^^^^^^" in error["text"], error)
        check("help", "boundary u(i)(0)" in error["help"], error)
        check("diagnostics", out["diagnostics"][0]["severity"] == "error", out)
    out = answer(0, "check", HEAT)
    check("check", out["program"] == "heat1d" and out["tasks"] > 0, out)
    # Tiles of a program's own are what it means, and lack nothing.
    for name in ("cholesky/cholesky", "lu/lu", "qr/qr", "solve/lu_solve"):
        out = answer(0, "check", os.path.join(SOURCE, "apps", name + ".dog"))
        check(name, out["lowering"] ==
              "a task for each block, as the program cuts them", out)
    path = os.path.join(folder, "vectors.dog")
    with open(path, "w", encoding="utf-8") as file:
        file.write(VECTORS)
    out = answer(0, "check", path)
    check("vectors", out["lowering"].startswith("point by point: "), out)


def case_forms(folder):
    """`fmt`: the form of each file, before a wrong one as well."""
    path = {name: os.path.join(folder, name + ".dog")
            for name in ("tidy", "untidy", "wrong", "behind")}
    with open(HEAT, encoding="utf-8") as file:
        tidy = file.read()
    for name, text in (("tidy", tidy), ("untidy", tidy + "\n\n"),
                       ("behind", tidy + "\n\n"),
                       ("wrong", "param N = 10\nparam M = = 3\n")):
        with open(path[name], "w", encoding="utf-8") as file:
            file.write(text)

    def text_of(name):
        with open(path[name], encoding="utf-8") as file:
            return file.read()

    def states(out):
        return [(one["file"], one["state"]) for one in out["files"]]

    both = (path["tidy"], path["untidy"])
    out = answer(1, "fmt", "--check", *both)
    check("checked", states(out) == [(both[0], "canonical"),
                                     (both[1], "other")], out)
    check("words", both[1] in out["error"]["message"]
          and both[0] not in out["error"]["message"], out)
    check("--check writes", text_of("untidy") == tidy + "\n\n")
    check("checked alone",
          states(answer(0, "fmt", "--check", both[0])) ==
          [(both[0], "canonical")])

    out = answer(3, "fmt", *both, path["wrong"], path["behind"])
    check("before the wrong one", states(out) == [(both[0], "canonical"),
                                                  (both[1], "changed")], out)
    error = out["error"]
    check("place", (error["code"], error["file"], error["line"],
                    error["column"]) == ("D003", path["wrong"], 2, 11), error)
    check("carets", "^" in error["text"], error)
    check("written", text_of("untidy") == tidy)
    check("behind the wrong one", text_of("behind") != tidy)

    out = answer(0, "fmt", *both, path["behind"])
    check("again", [state for _, state in states(out)] ==
          ["canonical", "canonical", "changed"], out)
    out = answer(2, "fmt", both[0], os.path.join(folder, "none.dog"))
    check("none there", states(out) == [(both[0], "canonical")]
          and "none.dog" in out["error"]["message"], out)


def case_mistyped(folder):
    """Flags, files and clusters that are not there."""
    answer(2, "run", HEAT, "--nonsense")
    answer(2, "run")
    answer(2, "check", os.path.join(folder, "none.dog"))
    answer(2, "run", HEAT, "--output", "phi=/nowhere/at/all.npy")
    answer(2, "run", HEAT, "-D", "N")
    for command in (("submit", HEAT), ("wait", "ab"), ("get", "ab", "u(1)"),
                    ("fetch", "ab", "u=u.npy"), ("status",)):
        out = answer(4, *command, *NOBODY)
        check("words", "127.0.0.1:1" in out["error"]["message"], out)
    answer(2, "wait", "no digits", *NOBODY)


def case_failed(folder):
    """A task that fails, and a file that can't be written beside one that was."""
    matrix = os.path.join(folder, "a.npy")
    head = "{'descr': '<f8', 'fortran_order': False, 'shape': (4, 4), }"
    head += " " * (63 - (10 + len(head)) % 64) + "\n"
    with open(matrix, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + len(head).to_bytes(2, "little"))
        file.write(head.encode() + array.array("d", [-1.0] * 16).tobytes())
    out = answer(1, "run", CHOLESKY, "-D", "N=4", "-D", "NB=2", "--input",
                 f"A={matrix}")
    check("task", out["error"]["task"] == "factor(0)", out)

    def small_files():
        resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))

    small, large = (os.path.join(folder, name) for name in ("s.npy", "l.npy"))
    out = answer(5, "run", HEAT, "-D", "N=20001", "-D", "T=2", "--kernels",
                 "interpreted", "--output", f"phi(0:9)(T)={small}", "--output",
                 f"phi(:)(T)={large}", preexec_fn=small_files)
    check("written", [o["file"] for o in out["outputs"]] == [small], out)
    check("not written", out["outputs_failed"] == [large], out)
    check("named", "l.npy" in out["error"]["message"], out)


def case_events(_):
    """A line for each thing that happens, and the answer last."""
    arguments = ["run", HEAT, "-D", "N=200001", "-D", "T=3000", "--agents", "2",
                 "--workers", "1", "--kill-at", "20%", "--join-at", "10%",
                 "--output", "phi(:)(T)=phi.npy", "--json-events"]
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run([DOGGED, *arguments], capture_output=True,
                              text=True, timeout=240, cwd=folder)
    check("status", done.returncode == 0, done.stdout + done.stderr)
    lines = objects(done, arguments)
    names = [one["event"] for one in lines]
    check("first and last", (names[0], names[-1]) == ("submitted", "done"),
          names)
    for name in ("progress", "joined", "lost", "written"):
        check(name, name in names, names)
    job = lines[-1]["job"]
    check("job", lines[0]["job"] == job and len(job) == 32, lines[0])
    lost = lines[names.index("lost")]
    check("lost", lost["who"].startswith("agent-")
          and lost["cause"] == "killed by signal 9" and lost["when"] > 0, lost)
    check("cost", lines[-1]["losses"][0]["redone"] >= 0, lines[-1])
    progress = [one["done"] for one in lines if one["event"] == "progress"]
    check("progress", progress[-1] <= lines[-1]["tasks_needed"], progress)
    check("written", lines[names.index("written")]["shape"] == [200001], lines)


def case_waits(_):
    """`wait` tells of agents of the cluster, and how the job ended."""
    with Standing(DOGGED) as cluster:
        for _ in range(2):
            cluster.start()
        at = ("--cluster", cluster.addresses[0])
        job = answer(0, "submit", HEAT, "-D", "N=400001", "-D", "T=1000000",
                     *at)["job"]
        arguments = ["wait", job, *at, "--json-events"]
        wait = subprocess.Popen([DOGGED, *arguments], text=True,
                                stdout=subprocess.PIPE,
                                stderr=subprocess.DEVNULL)

        def until(event):
            while True:
                one = json.loads(wait.stdout.readline())
                if one["event"] == event:
                    return one

        check("submitted", until("submitted")["job"] == job)
        until("progress")
        cluster.agents[1].kill()
        lost = until("lost")
        check("lost", lost["who"] == cluster.addresses[1] and lost["cause"],
              lost)
        joined = cluster.start()
        check("joined", until("joined")["who"] == joined)
        cluster.agents[2].terminate()
        check("left", until("left")["who"] == joined)
        subprocess.run([DOGGED, "cancel", job, *at], check=True,
                       stdout=subprocess.DEVNULL)
        last = until("failed")
        check("end", wait.wait(60) == last["status"] == 1
              and last["state"] == "cancelled"
              and last["error"]["kind"] == "failed", last)


def case_interrupted(_):
    """An interrupt has an answer, too, the second one at once as well."""
    arguments = ["run", HEAT, "-D", "N=400001", "-D", "T=1000000", "--agents",
                 "1", "--json-events"]
    run = subprocess.Popen([DOGGED, *arguments], text=True,
                           stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    head = run.stdout.readline()
    while json.loads(head)["event"] != "progress":
        head = run.stdout.readline()
    run.send_signal(signal.SIGINT)
    rest, _ = run.communicate(timeout=60)
    check("status", run.returncode == 130, rest)
    last = json.loads(rest.splitlines()[-1])
    check("answer", last["event"] == "failed" and last["status"] == 130
          and last["error"]["kind"] == "interrupted", last)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as here:
        globals()[f"case_{CASE}"](here)
