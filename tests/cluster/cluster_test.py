"""Real processes, real sockets, kill -9: results equal to the serial run.

Aim: agents may die or join on the way, and `dogged run` ends with the bits of a
run without agents. Method: the binary itself, on free ports, victims and
moments drawn from a seed that is printed with every failure.

usage: cluster_test.py DOGGED SOURCE_DIR CASE
"""

import json
import os
import signal
import struct
import subprocess
import sys
import tempfile

from standing import await_address, begin_agent, end_agent

DOGGED, SOURCE, CASE = sys.argv[1:4]
SEEDS = range(1, int(os.environ.get("DOGGED_TEST_TRIALS", "3")) + 1)


def app(name):
    return os.path.join(SOURCE, "apps", name, name + ".dog")


def run(*arguments, expect=0, timeout=240, cwd=None):
    """Runs `dogged run` and returns its report; fails on another status."""
    command = [DOGGED, "run", *map(str, arguments), "--json"]
    done = subprocess.run(command, capture_output=True, text=True,
                          timeout=timeout, cwd=cwd)
    if done.returncode != expect:
        raise SystemExit(
            f"exit status {done.returncode}, not {expect}: "
            f"{' '.join(command)}\n{done.stdout}\n{done.stderr}")
    return json.loads(done.stdout) if done.stdout.strip() else {}


def check_equal(what, got, expected, report):
    if got != expected:
        raise SystemExit(f"{what}: {got}, not {expected}\n{report}")


def digest_survives(program, *extra, agents=(2, 4)):
    """The digest of one agent's run, whatever happens to several."""
    serial = run(program, *extra)["result_digest"]
    for seed in SEEDS:
        for count in agents:
            share = (seed * 37 + count * 11) % 70 + 10
            for replicas in (1, 2):
                report = run(program, *extra, "--agents", count,
                             "--replicas", replicas, "--kill-at",
                             f"{share}%", "--join-at", f"{share // 2}%",
                             "--seed", seed)
                check_equal(f"digest, {count} agents, seed {seed}",
                            report["result_digest"], serial, report)
                check_equal("agents lost", report["agents_lost"], 1, report)


def case_stencil():
    digest_survives(app("heat1d"), "-D", "N=400001", "-D", "T=1000")


def case_points():
    digest_survives(app("heat1d"), "-D", "N=1001", "-D", "T=40",
                    "--coalesce", "off", agents=(4,))


def case_reductions():
    digest_survives(app("jacobi"), "-D", "N=256", "-D", "T=4000",
                    agents=(4,))


def case_cholesky():
    digest_survives(app("cholesky"), "-D", "N=2048", "-D", "NB=128",
                    agents=(4,))


def case_factors():
    """LU and QR, odd shapes of all three, and matrices that have no factors."""
    for name in ("lu", "qr"):
        digest_survives(app(name), "-D", "N=1024", "-D", "NB=64", agents=(4,))
    with tempfile.TemporaryDirectory() as folder:
        single = os.path.join(folder, "single.dog")
        with open(app("cholesky")) as file, open(single, "w") as out:
            out.write(file.read().replace(": double", ": float"))
        digest_survives(single, "-D", "N=2048", "-D", "NB=128", agents=(4,))
    for name in ("cholesky", "lu", "qr"):
        for n, nb in ((1, 128), (5, 128), (130, 64)):
            sizes = ("-D", f"N={n}", "-D", f"NB={nb}")
            serial = run(app(name), *sizes)
            report = run(app(name), *sizes, "--agents", 3, "--check")
            check_equal(f"digest of {name}, N={n}", report["result_digest"],
                        serial["result_digest"], report)
            for sort in ("residual", "solve_error"):
                if not report[sort] < 1:
                    raise SystemExit(f"{name}, N={n}: {sort} {report[sort]}")
    with tempfile.TemporaryDirectory() as folder:
        # Parts of a matrix of 130 x 130 in blocks of 64, and still a residual.
        parts = {"L(:)(:)": (130, 130), "L(2)(1)": (2, 64),
                 "L(1:2)(0:1)": (66, 128), "L(1:2)(0)": (2, 64, 64)}
        outputs = [("--output", f"{part}={folder}/{i}.npy")
                   for i, part in enumerate(parts)]
        report = run(app("cholesky"), "-D", "N=130", "-D", "NB=64", "--check",
                     *sum(outputs, ()))
        if not report["residual"] < 1:
            raise SystemExit(f"residual {report['residual']}")
        for i, (part, shape) in enumerate(parts.items()):
            with open(f"{folder}/{i}.npy", "rb") as file:
                check_equal(f"shape of {part}", f"'shape': {shape}," in
                            file.read(128).decode("latin-1"), True, report)
        for name, word in (("cholesky", "factor(1): pivot 2 "),
                           ("lu", "panel(1): pivot 2 "),
                           ("qr", "panel(1): column 2 ")):
            path = os.path.join(folder, name + ".npy")
            matrix = [[float(i * 7 % 5 + j * j % 3 + 20 * (i == j))
                       for j in range(12)] for i in range(12)]
            for i in range(12):
                matrix[i][6] = {"lu": 0.0, "qr": float("nan")}.get(
                    name, -1.0 if i == 6 else matrix[6][i])
            write_npy(path, matrix)
            for agents in ((), ("--agents", 2)):
                refuse(word, app(name), "-D", "N=12", "-D", "NB=4", "--input",
                       "A=" + path, *agents)


def write_npy(path, rows):
    """A matrix of doubles as NumPy writes it."""
    header = ("{'descr': '<f8', 'fortran_order': False, "
              f"'shape': ({len(rows)}, {len(rows[0])}), }}")
    header += " " * (-(len(header) + 11) % 64) + "\n"
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00")
        file.write(struct.pack("<H", len(header)) + header.encode())
        for row in rows:
            file.write(struct.pack(f"<{len(row)}d", *row))


def refuse(word, *arguments, status=1):
    """The run must fail with `status`, and say `word`."""
    command = [DOGGED, "run", *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=240)
    if done.returncode != status or word not in done.stderr:
        raise SystemExit(f"exit status {done.returncode}, not {status} with "
                         f"{word!r}: {' '.join(command)}\n{done.stderr}")


def case_search():
    program = (app("heat1d"), "-D", "N=2001", "-D", "T=20",
               "--coalesce", "off")
    serial = run(*program)["result_digest"]
    for seed in SEEDS:
        report = run(*program, "--agents", 4, "--search-only", "--seed", seed)
        check_equal("digest", report["result_digest"], serial, report)


def case_all_but_one():
    program = (app("heat1d"), "-D", "N=400001", "-D", "T=1000")
    serial = run(*program)["result_digest"]
    for seed in SEEDS:
        report = run(*program, "--agents", 4, "--seed", seed,
                     "--kill-at", "20%,40%,60%")
        check_equal("digest", report["result_digest"], serial, report)
        check_equal("agents lost", report["agents_lost"], 3, report)


def case_loop():
    """A share of the tasks of a loop is one of its rounds so far: a loop that
    ends long before its last round has its kill, too."""
    program = (app("jacobi"), "-D", "N=400", "-D", "bound=0.008")
    serial = run(*program)["result_digest"]
    for seed in SEEDS:
        report = run(*program, "--agents", 3, "--seed", seed, "--kill-at",
                     "40%", "--join-at", "60%")
        check_equal("digest", report["result_digest"], serial, report)
        check_equal("agents lost", report["agents_lost"], 1, report)
        check_equal("agents joined", report["agents_joined"], 1, report)
        end = report["loop"]
        check_equal("parameter", end["parameter"], "T", report)
    # Where it ended: the same in one process, and as a program without a loop.
    alone = run(*program)
    check_equal("loop", alone["loop"], end, alone)
    check_equal("last value", end["is_last"], False, alone)
    given = run(*program, "-D", f"T={end['value']}")
    check_equal("digest", given["result_digest"], serial, given)
    check_equal("a loop", "loop" in given, False, given)
    cut = run(app("jacobi"), "-D", "N=40", "-D", "bound=0")
    check_equal("last value", cut["loop"]["is_last"], True, cut)


def case_replicas():
    """More copies than agents can't be; that is said."""
    for agents, replicas, kept in ((3, 4, 3), (1, 2, 1), (3, 3, 3)):
        done = subprocess.run(
            [DOGGED, "run", app("heat1d"), "--agents", str(agents),
             "--replicas", str(replicas), "--json"],
            capture_output=True, text=True, timeout=240)
        check_equal("exit status", done.returncode, 0, done.stderr)
        report = json.loads(done.stdout)
        check_equal("replicas", report["replicas"], kept, report)
        check_equal("warning", f"warning: --replicas {replicas} with" in
                    done.stderr, kept < replicas, done.stderr)
    # A later agent changes nothing of the job's submission.
    report = run(app("heat1d"), "-D", "N=2001", "--coalesce", "off",
                 "--join-at", "0s")
    check_equal("agents joined", report["agents_joined"], 1, report)
    check_equal("replicas", report["replicas"], 1, report)


def case_cluster():
    """A cluster that stands: submit, lose the agent one talks to, ask again,
    leave on SIGTERM, nothing left."""
    agents = []
    try:
        addresses = []
        for _ in range(3):
            joins = ["--join", addresses[0]] if addresses else []
            agents.append(begin_agent(DOGGED, "--workers", 1, *joins))
            addresses.append(await_address(agents[-1]))
        program = (app("heat1d"), "-D", "N=20001")
        serial = run(*program)["result_digest"]
        report = run(*program, "--cluster", addresses[0])
        check_equal("digest", report["result_digest"], serial, report)
        agents[0].kill()
        agents[0].wait()
        report = run(*program, "-D", "T=101", "--cluster", addresses[1])
        status = json.loads(subprocess.run(
            [DOGGED, "status", "--cluster", addresses[2], "--json"],
            capture_output=True, text=True, check=True).stdout)
        alive = [a for a in status["agents"] if a["state"] == "alive"]
        check_equal("agents alive", len(alive), 2, status)
        agents[1].send_signal(signal.SIGTERM)
        check_equal("exit status after SIGTERM", agents[1].wait(timeout=60),
                    0, "")
    finally:
        for agent in agents:
            end_agent(agent)


LOOP = """
repeat T = 4:40:4 until m(T) > 40
boundary u(0)(t) = 1
boundary u(9)(t) = 2 where t > 0
boundary u(x)(0) = 1 where x > 0
task s
  creates u(x)(t) as n
  for x = 1:8  t = 1:T
  using
    u(x-1)(t-1) as a
    u(x+1)(t-1) as b
  code
    n = 0.625*(a + b)
  end code
end task
reduce m(t) = sum(u(x)(t)) for t = 4:T:4 over x = 1:8
result u(:)(T)
result u(3:6)(T) to "%s"
result m to "m.npy"
"""


def case_result_files():
    """`result ... to "file"` writes what --output of the same selection does,
    wherever the program runs; --output of the same file comes first."""
    with tempfile.TemporaryDirectory() as folder:
        def content(name):
            with open(os.path.join(folder, name), "rb") as file:
                return file.read()

        def write(name, target):
            path = os.path.join(folder, name)
            with open(path, "w") as file:
                file.write(LOOP % target)
            return path

        program = write("loop.dog", "u.npy")
        agent = begin_agent(DOGGED)
        try:
            address = await_address(agent)
            reports = []
            for place in ([], ["--agents", 2], ["--cluster", address]):
                reports.append(run(
                    program, *place, "--output", "u(3:6)(T)=a.npy",
                    "--output", "m(:)=b.npy", cwd=folder))
                check_equal("u.npy", content("u.npy"), content("a.npy"), place)
                check_equal("m.npy", content("m.npy"), content("b.npy"), place)
                os.remove(os.path.join(folder, "u.npy"))
            # The name of a file makes no other job.
            other = run(write("loop.dog", "longer.npy"), "--output",
                        "u(3:6)(T)=a.npy", "--output", "m(:)=b.npy",
                        cwd=folder)
            check_equal("longer.npy", content("longer.npy"), content("a.npy"),
                        other)
            check_equal("job", other["job"], reports[0]["job"], other)
        finally:
            end_agent(agent)
        program = write("loop.dog", "u.npy")
        run(program, "--output", "u(5)(T)=c.npy", cwd=folder)
        if content("u.npy") == content("c.npy"):
            raise SystemExit("the result was not written beside c.npy")
        run(program, "--output", "u(5)(T)=u.npy", cwd=folder)
        check_equal("u.npy", content("u.npy"), content("c.npy"), "precedence")
        # As with --output, before anything runs; the ending always.
        run(write("bad.dog", "none/u.npy"), expect=2, cwd=folder)
        run(write("bad.dog", "u.apng"), expect=2, cwd=folder)
        bad = write("bad.dog", "u.txt")
        run(bad, expect=3, cwd=folder)
        for command, target, status in (("check", "none/u.npy", 0),
                                        ("sim", "none/u.npy", 0),
                                        ("check", "u.txt", 3)):
            more = ["--seeds", "1:1"] if command == "sim" else []
            done = subprocess.run(
                [DOGGED, command, write("bad.dog", target), *more],
                capture_output=True, text=True, timeout=240, cwd=folder)
            check_equal(f"{command} {target}", done.returncode, status,
                        done.stderr)
        if "bad.dog:18:21: error[D003]" not in done.stderr:
            raise SystemExit(done.stderr)


def case_numbers():
    text = """input c(x) for x = 0:3 else 0.1*x
reduce total = sum(c(x)) over x = 0:3
reduce greatest(t) = max(c(x)) for t = 5:5 over x = 0:3
result total
result greatest(5)
result c
"""
    with tempfile.TemporaryDirectory() as folder:
        program = os.path.join(folder, "numbers.dog")
        with open(program, "w") as file:
            file.write(text)
        for agents in [], ["--agents", "2"]:
            done = subprocess.run([DOGGED, "run", program, *agents],
                                  capture_output=True, text=True, timeout=240)
            lines = done.stdout.splitlines()
            check_equal("printed", lines[:2],
                        ["total = 0.6000000000000001",
                         "greatest(5) = 0.30000000000000004"], done)
            check_equal("lines", len(lines), 3, done)


def case_emitted_c():
    done = subprocess.run([DOGGED, "check", app("heat2d"), "--emit-c"],
                          capture_output=True, text=True, timeout=240)
    compiled = subprocess.run(
        ["cc", "-x", "c", "-c", "-o", os.devnull, "-"], input=done.stdout,
        capture_output=True, text=True, timeout=240)
    check_equal("cc", compiled.returncode, 0, compiled.stderr)
    if "tile" not in done.stderr or "void " not in done.stdout:
        raise SystemExit(done.stdout + done.stderr)


def case_bad_input():
    with tempfile.TemporaryDirectory() as folder:
        bad = os.path.join(folder, "bad.dog")
        with open(bad, "w") as file:
            file.write("task t creates a(x)(t) as n for x = 1:\n")
        run(bad, expect=3)
        run(os.path.join(folder, "none.dog"), expect=2)
        refuse("is no file", folder, status=2)
        run(app("heat1d"), "-D", "M=3", expect=3)
        run(app("heat1d"), "-D", "N=x", expect=3)
        refuse("error: no agent answers at 127.0.0.1:1: ", app("heat1d"),
               "--cluster", "127.0.0.1:1", status=4)
        run(app("heat1d"), "--agents", "2", "--kill-at", "99s", expect=2)
        run(app("heat1d"), "--nonsense", expect=2)
        # More points, more results than there can be; more than fit here.
        run(app("heat1d"), "-D", "N=3000000000", "-D", "T=3000000000",
            expect=3)
        run(app("heat1d"), "-D", "N=1000000000000", "-D", "T=1", expect=3)
        run(app("heat1d"), "-D", "N=110000000000", "-D", "T=1", expect=5)
        run(app("heat1d"), "--output", "psi(:)(100)=x.npy", expect=2)


BLOWS_UP = """
param N = 50
param T = 400
input u(x)(0) for x = 0:N else x*1.0
boundary u(0)(t) = 0
boundary u(N)(t) = 0
task step
  creates u(x)(t) as n
  for x = 1:N-1  t = 1:T
  using u(x-1)(t-1) as l  u(x)(t-1) as c  u(x+1)(t-1) as r
  code
    n = c + 90.0*(l + r - 2*c)
  end code
end task
result u(:)(T) to "u.npy"
result u(3:9)(t) for t = 0:T:10 to "u.apng"
"""


BLOCKS = """
array a(i = 0:1) : double [3]
input a(i) for i = 0:1
result a(:)
"""


def case_told():
    """A run says of itself what it made for want of a file, what it wrote
    where, and that its numbers are not finite."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "it.dog")
        with open(path, "w") as file:
            file.write(BLOWS_UP)
        for agents in (1, 2):
            command = [os.path.abspath(DOGGED), "run", path, "--agents",
                       str(agents), "--output", "u(7)(T)=one.npy", "--output",
                       "u(5:20)(T)=u.png", "--json"]
            done = subprocess.run(command, capture_output=True, text=True,
                                  cwd=folder, timeout=240)
            check_equal("status", done.returncode, 0, done.stderr)
            report = json.loads(done.stdout)
            for line in ("u: made by what stands behind its 'else', for there "
                         "is no --input u=FILE",
                         "warning: u: 49 of 51 numbers are not finite, the "
                         "first u(1)(400)",
                         "u -> u.npy: u(0:50)(400), 51 doubles",
                         "u -> u.apng: u(3:9)(0:400:10), 7 x 41 doubles, "
                         "from -6.11e+297 to 3.038e+297",
                         "u -> u.png: u(5:20)(400), 16 doubles",
                         "u -> one.npy: u(7)(400), 1 double"):
                check_equal(line, line in done.stderr.splitlines(), True,
                            done.stderr)
            written = {one["file"]: one for one in report["outputs"]}
            check_equal("u.npy", written["u.npy"],
                        {"file": "u.npy", "labels": "u(0:50)(400)",
                         "shape": [51], "type": "double"}, report)
            check_equal("inputs made", report["inputs_made"], {"u": ""},
                        report)
            if not report["results_not_finite"] > 49:
                raise SystemExit(f"results_not_finite\n{report}")
        # Point by point, and in blocks, of which no array is made.
        blocks = os.path.join(folder, "blocks.dog")
        with open(blocks, "w") as file:
            file.write(BLOCKS)
        values = os.path.join(folder, "values.npy")
        write_npy(values, [[1.0, 2.0, 3.0], [4.0, 5.0, float("inf")]])
        for arguments, line in (
                ((path, "-D", "T=200", "--coalesce", "off"),
                 "warning: u: 49 of 51 numbers are not finite, the first "
                 "u(1)(200)"),
                ((blocks, "--input", "a=" + values),
                 "warning: a: 1 of 6 numbers is not finite, the first a(1) at "
                 "(2)")):
            done = subprocess.run(
                [os.path.abspath(DOGGED), "run", *arguments],
                capture_output=True, text=True, cwd=folder, timeout=240)
            check_equal(line, line in done.stderr, True, done.stderr)
        # An input that is not finite; a calm run.
        path = os.path.join(folder, "A.npy")
        write_npy(path, [[1.0, 2.0], [float("nan"), 3.0]])
        done = subprocess.run(
            [DOGGED, "run", app("qr"), "-D", "N=2", "--input", "A=" + path],
            capture_output=True, text=True, timeout=240)
        line = ("warning: input A: 1 of 4 numbers is not finite, the first at "
                "(1)(0)")
        check_equal(line, line in done.stderr, True, done.stderr)
        report = run(app("heat1d"), "-D", "N=101", "-D", "T=10")
        check_equal("not finite", report["results_not_finite"], 0, report)


globals()["case_" + CASE]()
