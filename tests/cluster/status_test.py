"""Rows of `dogged status` for jobs, and jobs that `dogged cancel` ends.

Aim: a job has one row, whoever knows it and however often it was submitted; a
row says how the job ended, and how far it had come. Method: the binary itself
on free ports; nothing waits for a time to pass, but for what it waits for.

usage: status_test.py DOGGED SOURCE_DIR CASE
"""

import json
import os
import re
import signal
import struct
import subprocess
import sys
import tempfile

from standing import Standing

DOGGED, SOURCE, CASE = os.path.abspath(sys.argv[1]), *sys.argv[2:4]
HEAT = os.path.join(SOURCE, "apps", "heat1d", "heat1d.dog")
CHOLESKY = os.path.join(SOURCE, "apps", "cholesky", "cholesky.dog")


def check(what, got, expected, report=""):
    if got != expected:
        raise SystemExit(f"{what}: {got}, not {expected}\n{report}")


def client(cluster, *arguments, at=0):
    return subprocess.Popen(
        [DOGGED, "run", *arguments, "--cluster", cluster.addresses[at]],
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)


def children(pid):
    """Children of a process, in the order of their start."""
    found = []
    for name in os.listdir("/proc"):
        if not name.isdigit():
            continue
        try:
            with open(f"/proc/{name}/stat") as file:
                fields = file.read().rsplit(")", 1)[1].split()
        except OSError:
            continue
        if int(fields[1]) == pid:
            found.append((int(fields[19]), int(name)))
    return [child for _, child in sorted(found)]


def row(cluster, at=0):
    """The one job, as the table and as JSON have it."""
    jobs = cluster.status(at)["jobs"]
    check("jobs", len(jobs), 1, jobs)
    done = subprocess.run(
        [DOGGED, "status", "--cluster", cluster.addresses[at]],
        capture_output=True, text=True, check=True, timeout=60)
    rows = [line for line in done.stdout.split("\n")
            if line.startswith(jobs[0]["job"][:12])]
    check("rows", len(rows), 1, done.stdout)
    return rows[0].split(), jobs[0]


def case_lost():
    """Done is 100 %, also if some of what was done died with an agent, and
    also if the job is submitted again."""
    program = (HEAT, "-D", "N=400001", "-D", "T=2000", "--agents", "8")
    with Standing(DOGGED) as cluster:
        for _ in range(3):
            cluster.start()
        first = client(cluster, *program, at=1)
        cluster.await_status("some of it done", at=1, wanted=lambda s:
                             s["jobs"] and s["jobs"][0]["progress"] > 0.2)
        cluster.agents[0].kill()
        _, words = first.communicate(timeout=120)
        check("exit status", first.returncode, 0, words)
        for submissions in (1, 2):
            if submissions == 2:
                cluster.run(*program, at=2)
            cells, job = row(cluster, at=1)
            check("row", cells[1:5], ["heat1d", "done", "100", "%"])
            check("progress", (job["state"], job["progress"]), ("done", 1))
            check("submissions", job["submissions"], submissions, job)
            check("words", (job["message"], job["note"]), ("", ""))


def case_failed():
    """A job that failed stays where it was, and says why."""
    n = 512
    header = "{'descr': '<f8', 'fortran_order': False, 'shape': (%d, %d), }" % (
        n, n)
    header += " " * (63 - (10 + len(header)) % 64) + "\n"
    with tempfile.TemporaryDirectory() as folder, Standing(DOGGED) as cluster:
        matrix = os.path.join(folder, "matrix.npy")
        with open(matrix, "wb") as file:
            file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) +
                       header.encode())
            for i in range(n):
                line = [0.0] * n
                line[i] = -1.0 if i == n - 1 else 1.0
                file.write(struct.pack(f"<{n}d", *line))
        cluster.start()
        _, words = cluster.run(CHOLESKY, "-D", f"N={n}", "-D", "NB=64",
                               "--input", f"A={matrix}", expect=1)
        cells, job = row(cluster)
        check("state", (cells[2], job["state"]), ("failed", "failed"))
        # All but the last tile's factor were done.
        needed = job["tasks_needed"]
        check("progress", job["progress"], (needed - 1) / needed, job)
        check("share", cells[3], str(100 * (needed - 1) // needed), cells)
        check("tasks", job["tasks_executed"], needed - 1, job)
        if not job["message"] or job["message"] not in words:
            raise SystemExit(f"the row says {job['message']!r}, and the client "
                             f"{words!r}")


def case_left():
    """The work of an agent that leaves in the middle is in every account."""
    with Standing(DOGGED) as cluster:
        for _ in range(3):
            cluster.start()
        done = subprocess.Popen(
            [DOGGED, "run", HEAT, "-D", "N=100001", "-D", "T=100000",
             "--cluster", cluster.addresses[0], "--json"],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        cluster.await_status(
            "a part of the tasks has run",
            lambda s: s["jobs"] and s["jobs"][0]["progress"] > 0.3)
        cluster.agents[1].terminate()
        check("exit status of the leaver", cluster.agents[1].wait(60), 0)
        check("the job, which goes on", done.poll(), None)
        out, words = done.communicate(timeout=240)
        check("exit status", done.returncode, 0, words)
        report = json.loads(out)
        # Tasks that are run again do not make up for the share of one agent.
        shares = report["tasks_per_agent"]
        check("agents", len(shares), 3, report)
        if sum(shares) - min(shares) >= report["tasks_needed"]:
            raise SystemExit(f"one of them did not count: {report}")
        _, job = row(cluster)
        for counts in (report, job):
            if counts["tasks_executed"] < counts["tasks_needed"]:
                raise SystemExit(f"tasks are missing: {counts}")
        check("lost agents", report["agents_lost"], 0, report)
        check("agents that left", report["agents_left"], 1, report)
    # An agent that the run has started is no loss, either.
    run = subprocess.Popen(
        [DOGGED, "run", HEAT, "-D", "N=2001", "-D", "T=800", "--coalesce",
         "off", "--agents", "3", "--json"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    words = ""
    for line in run.stderr:  # the first line of progress
        words += line
        if "alive 3/3" in line:
            break
    os.kill(children(run.pid)[1], signal.SIGTERM)
    out, more = run.communicate(timeout=240)
    words += more
    check("exit status", run.returncode, 0, words)
    report = json.loads(out)
    check("own agents", (report["agents_left"], report["agents_lost"],
                         report["losses"]), (1, 0, []), words)
    if "agent-2 left" not in words or "lost" in words:
        raise SystemExit(words)


def case_gone():
    """The client of a job whose last agent goes, or dies, says what to do."""
    for sign in (signal.SIGTERM, signal.SIGKILL):
        with Standing(DOGGED) as cluster:
            cluster.start()
            run = client(cluster, HEAT, "-D", "N=100001", "-D", "T=1000000")
            cluster.await_status("the job runs", lambda s: s["jobs"])
            cluster.agents[0].send_signal(sign)
            _, words = run.communicate(timeout=120)
            check("exit status", run.returncode, 4, words)
            for part in ("no agent answers any more: ", cluster.addresses[0],
                         "run the same command"):
                if part not in words:
                    raise SystemExit(f"no {part!r} in {words!r}")


def case_silent():
    """An agent that does not answer may be slow, and is alive for all that one
    knows."""
    run = subprocess.Popen(
        [DOGGED, "run", HEAT, "-D", "N=400001", "-D", "T=1000000", "--agents",
         "3"], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    stopped = None
    words = ""
    try:
        for line in run.stderr:
            words += line
            if "alive 3/3, 1 silent" in line:
                break
            if "alive 3/3" in line and stopped is None:
                stopped = children(run.pid)[1]
                os.kill(stopped, signal.SIGSTOP)
        else:
            raise SystemExit(f"the run has ended\n{words}")
    finally:
        if stopped is not None:
            os.kill(stopped, signal.SIGCONT)
        run.terminate()
        run.communicate(timeout=60)


def case_needed():
    """Tasks that no result needs are not counted as needed."""
    with tempfile.TemporaryDirectory() as folder, Standing(DOGGED) as cluster:
        some = os.path.join(folder, "some.dog")
        with open(CHOLESKY) as file, open(some, "w") as to:
            to.write(re.sub("result .*", "result L(1)(0)", file.read()))
        for _ in range(2):
            cluster.start()
        report, _ = cluster.run(some, "-D", "N=1024", "-D", "NB=128")
        # Two tiles of the matrix, one factor, one triangular system.
        check("report", report["tasks_needed"], 4, report)
        for at in range(2):
            _, job = row(cluster, at)
            check("needed", job["tasks_needed"], 4, job)


def case_cancelled():
    """Cancelling a job ends all of its submissions, and says so once."""
    program = (HEAT, "-D", "N=400001", "-D", "T=1000000")
    with Standing(DOGGED) as cluster:
        cluster.start()
        cluster.start()
        clients = [client(cluster, *program, at=at) for at in range(2)]
        status = cluster.await_status(
            "both submissions, and some of it done", lambda s:
            s["jobs"] and s["jobs"][0]["submissions"] == 2 and
            s["jobs"][0]["tasks_executed"] > 0)
        name = status["jobs"][0]["job"]
        done = subprocess.run(
            [DOGGED, "cancel", "--cluster", cluster.addresses[0], name[:12]],
            capture_output=True, text=True, timeout=60)
        check("words", (done.returncode, done.stdout),
              (0, f"cancelled {name} (heat1d)\n"), done.stderr)
        for each in clients:
            _, words = each.communicate(timeout=60)
            check("exit status of a cancelled run", each.returncode, 1, words)
        cells, job = row(cluster)
        check("state", (cells[2], job["state"]), ("cancelled", "cancelled"))
        if not 0 < job["progress"] < 1 or job["tasks_executed"] == 0:
            raise SystemExit(f"not as it was: {job}")


def case_many():
    """The last 20 jobs that ended are shown, and all others counted; all are
    listed on demand, whichever agent is asked, one that came late included. A
    job that still runs is always there."""
    running = (HEAT, "-D", "N=400001", "-D", "T=1000000")
    with Standing(DOGGED) as cluster:
        cluster.start()
        cluster.start()
        names = []
        for i in range(23):
            report, _ = cluster.run(HEAT, "-D", f"N={1001 + i}", "-D", "T=2",
                                    at=i % 2)
            names.append(report["job"])
        cluster.start()
        endless = client(cluster, *running)
        for at in range(3):
            cluster.await_status("one that runs", at=at, wanted=lambda s:
                                 s["jobs"] and
                                 s["jobs"][0]["state"] == "running")
            status = cluster.status(at)
            check("the last ones", [job["job"] for job in status["jobs"][1:]],
                  names[:2:-1])
            check("left out", status["jobs_left_out"], 3)
            done = subprocess.run(
                [DOGGED, "status", "--cluster", cluster.addresses[at]],
                capture_output=True, text=True, check=True, timeout=60)
            check("last line", done.stdout.split("\n")[-2],
                  "3 more that ended: --all", done.stdout)
            done = subprocess.run(
                [DOGGED, "status", "--cluster", cluster.addresses[at], "--all",
                 "--json"],
                capture_output=True, text=True, check=True, timeout=60)
            status = json.loads(done.stdout)
            check("all", [job["job"] for job in status["jobs"][1:]],
                  names[::-1])
            check("none left out", status["jobs_left_out"], 0)
        # A job that ended long ago is attached to, with its tiles.
        again, _ = cluster.run(HEAT, "-D", "N=1001", "-D", "T=2")
        check("the same job", again["job"], names[0], again)
        endless.terminate()
        endless.communicate(timeout=60)


globals()["case_" + CASE]()
