"""The package dogged for Python.

Aim: programs, inputs and results as docs/PYTHON.md says, with NumPy's numbers;
errors, Ctrl-C, forks and lost agents as a user meets them. Method: the package
from the sources over the binary itself; a process of its own where it is to be
interrupted or forked; nothing waits for a time to pass.

usage: door_test.py DOGGED SOURCE_DIR CASE
"""

import asyncio
import gc
import json
import os
import re
import select
import signal
import subprocess
import sys
import tempfile
import time
import types
import warnings

DOGGED, SOURCE = (os.path.abspath(path) for path in sys.argv[1:3])
CASE = sys.argv[3]
os.environ["DOGGED"] = DOGGED
sys.path.insert(0, os.path.join(SOURCE, "apps", "python"))

import numpy as np  # noqa: E402

import dogged  # noqa: E402

HEAT = os.path.join(SOURCE, "apps", "heat2d", "heat2d.dog")
CHOLESKY = os.path.join(SOURCE, "apps", "cholesky", "cholesky.dog")
COPY = """\
param N = 5
param M = 4
input v(i)(j) for i = 0:N-1 j = 0:M-1
task copy
  creates u(i)(j) as n
  for i = 0:N-1 j = 0:M-1
  using v(i)(j) as s
  code
    n = s
  end code
end task
result u(:)(:)
"""


def check(what, holds, report=""):
    if not holds:
        raise SystemExit(f"{what}\n{report}")


def raises(kind, call, *words):
    """The exception of `call`, whose text has these words."""
    try:
        got = call()
    except kind as error:
        for word in words:
            check(f"no word of {word!r}", word in str(error), str(error))
        return error
    raise SystemExit(f"no {kind.__name__}, but {got!r}")


def heat(n, steps):
    x, y = np.meshgrid(np.arange(n), np.arange(n), indexing="ij")
    inner = (x > 0) & (x < n - 1) & (y > 0) & (y < n - 1)
    u = np.where(inner, np.sin(3.0 * x / n) * np.cos(5.0 * y / n), 0)
    for _ in range(steps):
        v = u.copy()
        v[1:-1, 1:-1] += 0.2 * (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2]
                                + u[1:-1, 2:] - 4 * u[1:-1, 1:-1])
        u = v
    return u


def long_heat():
    return dogged.load(HEAT, N=1000, T=2_000_000)


def case_results():
    """Numbers, shapes, memory; an agent more, and one that is killed."""
    program = dogged.load(HEAT, N=90, T=40)
    check("program", program.results == ("u",) and program.name == "heat2d"
          and program.text.startswith("# The 2-D"), program)
    with dogged.agents(2, workers=1) as cluster:
        run = cluster.submit(program, want=["u(:)(7)(0:40)", "u(3)(4)(5)"])
        u = run["u"]
        check("other numbers", np.allclose(u, heat(90, 40), 0, 1e-14), u)
        check("form", u.dtype == np.float64 and u.flags.c_contiguous
              and u.flags.writeable and not u.flags.owndata)
        u[0, 0] = 7
        check("another array", run["u"] is u and run["u"][0, 0] == 7)
        check("wanted", run["u(:)(7)(0:40)"].shape == (90, 41))
        check("its own memory", run["u(:)(7)(0:40)"][0, 0] == 0)
        check("scalar", run["u(3)(4)(5)"].shape == ()
              and np.isclose(run["u(3)(4)(5)"], heat(90, 5)[3, 4]))
        raises(KeyError, lambda: run["v"], "no result")
        check("report", run.report["job"] == run.job and run.done())
        shares = run.report["tasks_per_agent"]
        check("shares", len(shares) == 2
              and sum(shares) == run.report["tasks_executed"], run.report)
        run = cluster.submit(dogged.load(HEAT, N=600, T=4000))
        for event in run:
            if event["event"] == "progress":
                break
        victim = cluster.own_agents[0]
        os.kill(victim["pid"], signal.SIGKILL)
        cluster.start(1)
        expected = subprocess.run(
            [DOGGED, "run", HEAT, "-D", "N=600", "-D", "T=4000", "--json"],
            capture_output=True, text=True, check=True).stdout
        run.wait()
        check("other bits", run.report["result_digest"] in expected, run.report)
        check("losses", [(loss["who"], loss["cause"]) for loss in run.losses]
              == [(victim["name"], "killed by signal 9")], run.losses)
        names = [event["event"] for event in run]
        check("events", names[0] == "submitted" and names[-1] == "done"
              and "lost" in names and "joined" in names, names)
        run = cluster.submit(long_heat())
        victims = cluster.own_agents
        for victim in victims:
            os.kill(victim["pid"], signal.SIGKILL)
        raises(dogged.NoAgents, run.wait)
        check("all are lost", sorted(loss["who"] for loss in run.losses)
              == sorted(one["name"] for one in victims), run.losses)


def anonymous():
    with open("/proc/self/status", encoding="ascii") as file:
        return int(re.search(r"RssAnon:\s*(\d+)", file.read()).group(1)) << 10


def case_no_copy():
    """A result takes no memory of this process beside what the client made."""
    program = dogged.program(COPY.replace(
        "input v(i)(j) for i = 0:N-1 j = 0:M-1\n", "").replace(
        "  using v(i)(j) as s\n", "").replace("n = s", "n = 1.0*i + j"),
        N=4000, M=2000)
    with dogged.agents(1) as cluster:
        run = cluster.run(program)
        gc.collect()
        before = anonymous()
        u = run["u"]
        taken = anonymous() - before
        check("bytes copied", taken < u.nbytes // 16, taken)
        check("numbers", u[3999, 1999] == 5998 and u[1, 0] == 1)


def case_inputs():
    """Orders, byte orders and types: converted, or an error in words."""
    program = dogged.program(COPY)
    check("inputs", program.inputs == {"v": ("double", (5, 4))}, program.inputs)
    whole = np.arange(20.0).reshape(5, 4)
    with dogged.agents(1) as cluster:
        def sent(array):
            return cluster.submit(program, {"v": array})["u"]

        for same in (whole, np.asfortranarray(whole), whole.astype(">f8"),
                     whole.astype("f4"), whole.astype("i2"),
                     whole.astype(">i8"), whole.astype("u8"),
                     np.arange(40.0).reshape(5, 8)[:, ::2] / 2,
                     whole[::-1][::-1], whole.tolist()):
            check("other numbers", np.array_equal(sent(same), whole), same)
        strange = np.array(whole)
        strange[0] = [np.nan, np.inf, -0.0, 5e-324]
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            run = cluster.submit(program, {"v": strange})
            check("bits", run["u"].tobytes() == strange.tobytes())
            run.wait()
        check("NaNs", [f"{one.message}".split(": ", 1)[-1] for one in caught] == [
            "2 of 20 numbers are not finite, the first at (0)(0)",
            "u: 2 of 20 numbers are not finite, the first u(0)(0)"],
              [f"{one.message}" for one in caught])
        check("of which run", run.job[:12] in f"{caught[1].message}"
              and caught[1].filename == __file__, vars(caught[1]))
        for wrong, word in ((whole + 1j, "a.real"), (whole.astype("O"), "object"),
                            (whole.astype("U5"), "U5"), (whole > 3, "bool"),
                            (np.full((5, 4), 2**53 + 1), "2^53"),
                            (whole.astype("g"), "float128"),
                            (np.ma.masked_array(whole), "masked")):
            raises(TypeError, lambda: sent(wrong), "input v", word)
        raises(dogged.ProgramError, lambda: sent(whole.T), "(4)(5)", "(5)(4)")
        raises(dogged.Mistyped, lambda: cluster.submit(program), "input v",
               "inputs={'v'")
        raises(dogged.ProgramError, lambda: cluster.submit(
            program, {"v": whole, "w": whole}), "input w: the program has no")
        raises(dogged.ProgramError, lambda: cluster.submit(
            program, {"V": whole}), "no input V; did you mean v?")
        for unnamed in ([whole], whole):
            raises(TypeError, lambda: cluster.submit(program, unnamed),
                   "inputs={'v': array}")
        cholesky = dogged.load(CHOLESKY, N=60, NB=16)
        spd = whole @ whole.T
        spd = np.kron(np.eye(12), spd + 9 * np.eye(5))
        L = np.tril(cluster.submit(cholesky, {"A": spd})["L"])
        check("factor", np.allclose(L @ L.T, spd), L)
        single = dogged.program(open(CHOLESKY).read().replace(
            ": double", ": float"), N=60, NB=16)
        F = np.tril(cluster.submit(single, {"A": spd.astype("f4")})["L"])
        check("a factor of floats", F.dtype == np.float32 and
              np.allclose(F, L, rtol=1e-5), F)
        raises(TypeError, lambda: cluster.submit(single, {"A": spd}),
               "input A: the array is float64, the program wants float",
               "a.astype('float32')")
        raises(TypeError, lambda: cluster.submit(program, {"v": None}),
               "input v: None is no array")
        raises(TypeError, lambda: cluster.submit(program, {"v": whole},
                                                 keep="10m"),
               "keep is a number of seconds, not '10m'")
        error = raises(dogged.Mistyped,
                       lambda: dogged.program(COPY, want=["u(3"]), "u(3")
        check("no file was meant", "any.npy" not in str(error), error)
        # Converted though the program would make it itself.
        for same in (spd.astype("f4"), spd.astype("i4"), spd.tolist()):
            again = np.tril(cluster.submit(cholesky, {"A": same})["L"])
            check("of another type", np.allclose(again @ again.T, spd), again)
        error = raises(dogged.JobFailed,
                       lambda: cluster.run(cholesky, {"A": -spd}))
        check("task", error.task == "factor(0)" and error.status == 1, error)


def case_taken():
    """Parameters from shapes: whatever follows from them is judged once the
    arrays are there."""
    program = dogged.program(COPY.replace("param N = 5", "param N from v")
                             .replace("param M = 4", "param M from v"))
    check("inputs", program.inputs == {"v": ("double", None)}, program.inputs)
    check("results", program.results == () and "wants inputs v" in
          repr(program), program)
    raises(dogged.ProgramError, lambda: program.with_(Q=3),
           "there is no parameter Q")
    raises(dogged.ProgramError, lambda: program.with_(N="x"), "an integer")
    default = dogged.program(COPY.replace("N = 5", "N from v = 5")
                             .replace("M = 4", "M from v = 4"))
    whole = np.arange(42.0).reshape(7, 6)
    with dogged.agents(1) as cluster:
        for one in (program, default):
            run = cluster.submit(one, {"v": whole}, want=["u(6)(5)"])
            check("names", sorted(run.keys()) == ["u", "u(6)(5)"], run.keys())
            check("all", np.array_equal(run["u"], whole), run["u"])
            check("one of it", run["u(6)(5)"] == 41, run["u(6)(5)"])
            error = raises(dogged.Mistyped, lambda: cluster.submit(
                one, {"v": whole}, want="u(7)(0)"), "want: error[D014]")
            check("words of flags", "--" not in str(error), error)
        raises(dogged.Mistyped, lambda: cluster.submit(program),
               "input v is wanted, double: inputs={'v'")
        error = raises(dogged.ProgramError, lambda: cluster.submit(
            program.with_(N=3), {"v": whole}), "it does with  N=7")
        check("words of flags", "-D" not in str(error), error)


def case_errors():
    """An exception for each status, with its parts."""
    error = raises(dogged.ProgramError, lambda: dogged.program(
        COPY.replace("= s", "= q"), name="mine"), "mine.dog:9:9", "^", "= help")
    check("parts", (error.code, error.line, error.column, error.status)
          == ("D006", 9, 9, 3) and error.help and "^" in error.text
          and error.file == "mine.dog" and error.label is None, vars(error))
    raises(dogged.ProgramError, lambda: dogged.program(COPY, Q=3), "Q")
    raises(TypeError, lambda: dogged.program(COPY, N=[3]), "parameter N")
    raises(FileNotFoundError, lambda: dogged.load("/none.dog"))
    raises(ConnectionError, lambda: dogged.connect("127.0.0.1:1"), "127.0.0.1:1")
    raises(dogged.Mistyped, lambda: dogged.connect("nonsense"), "nonsense")
    raises(ValueError, lambda: dogged.agents(0))
    raises(dogged.Mistyped, lambda: dogged.agents(1, key_file="/none/key"),
           "/none/key")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        dogged.program(COPY.replace("as s\n", "as s  v(i)(j) as idle\n"))
    check("warning", any(w.category is dogged.DoggedWarning
                         and "idle" in str(w.message)
                         and w.filename == __file__ for w in caught), caught)
    with dogged.agents(1) as cluster:
        raises(TypeError, lambda: cluster.submit(COPY), "dogged.program")
        for call in (cluster.submit, cluster.run, dogged.sim):
            raises(TypeError, lambda: call(plate()),
                   "call .program() of the Builder")
        run = cluster.submit(long_heat())
        os.kill(cluster._door.pid, signal.SIGKILL)
        raises(dogged.ClientGone, run.wait, "client was ended by signal 9 "
               "(SIGKILL)", "its own agents end")
        check("state", run.state == "closed", run)
        raises(dogged.ClientGone, lambda: run["u"])
        raises(dogged.ClientGone, lambda: cluster.submit(long_heat()))
        check("shown", "ended" in cluster._repr_html_())
    os.environ["DOGGED"] = "/none/dogged"
    raises(dogged.Mistyped, lambda: dogged.agents(1), "/none/dogged")
    os.environ["DOGGED"] = DOGGED


SPEAKER = """\
#!/bin/sh
printf '%b' "$SAYS" >&"$3"
[ -n "$STAYS" ] && exec sleep 1000
exit 3
"""


def case_command():
    """A command that is another one, or of another release, is told so."""
    def opened(path, *words):
        os.environ["DOGGED"] = path
        raises(dogged.Mistyped, lambda: dogged.agents(1), path, *words)
        raises(dogged.Mistyped, lambda: dogged.program(COPY), path, *words)

    for path, status in (("/bin/cat", 1), ("/bin/true", 0), ("/bin/false", 1)):
        opened(path, f"ended with status {status} before it said a word",
               "is it the dogged command")
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "speaker")
        with open(path, "w", encoding="utf-8") as file:
            file.write(SPEAKER)
        opened(path, "can't be started")
        os.chmod(path, 0o700)
        os.environ["SAYS"] = "no line"
        opened(path, "ended with status 3 before it said a word")
        os.environ["STAYS"] = "yes"
        for says in ("no object\\n", "[1]\\n", '{"hello": 3}\\n', "x" * 100_000):
            os.environ["SAYS"] = says
            opened(path, "does not speak as a dogged client does")
        hello = '{"schema": 2, "hello": "dogged client", "descriptors": true}'
        os.environ["SAYS"] = hello + "\\n"
        opened(path, "this dogged command speaks schema 2, and this package "
               "speaks 1: take both of one release")
        os.environ["SAYS"] = ""
        dogged._door._HELLO_SECONDS = 0.1
        opened(path, "has said nothing")


def case_events():
    """await, cancel, waiting with a limit; what notebooks show."""
    endings = []
    with dogged.agents(2, workers=1) as cluster:
        async def both():
            short = cluster.submit(dogged.load(HEAT, N=40, T=10))
            endless = cluster.submit(long_heat())
            done = await short
            check("done", done is short and short.state == "done")
            raises(TimeoutError, lambda: endless.wait(0), "0 s")
            endless.cancel()
            try:
                await endless
            except dogged.Cancelled as error:
                endings.append(endless.state)
                return error
            raise SystemExit("not cancelled")

        error = asyncio.run(asyncio.wait_for(both(), 120))
        check("report", error.report["program"] == "heat2d", error.report)
        check("cancelled", endings == ["cancelled"], endings)
        run = cluster.run(dogged.load(HEAT, N=40, T=10))
        check("as often as one likes", list(run) == list(run))
        check("progress", run.progress == 1.0)
        check("results", "u" in run and "v" not in run and 3 not in run)
        run.cancel()  # which changes nothing any more
        check("still", run["u"].shape == (40, 40))
        program = dogged.program("# <script>\n" + COPY)
        for shown in (run._repr_html_(), cluster._repr_html_(),
                      program._repr_html_()):
            check("script", "<script" not in shown and "<" in shown, shown)
        check("escaped", "&lt;script&gt;" in program._repr_html_())


CHILD = """
import os, signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
sys.path.insert(0, os.path.join({source!r}, "apps", "python"))
import dogged
cluster = dogged.agents(1)
run = cluster.submit(dogged.load({heat!r}, N=1000, T=2_000_000))
for event in run:
    if event["event"] == "progress" and event["done"] > 0:
        break
pid = cluster.own_agents[0]["pid"]
try:
    print("waiting", pid, flush=True)
    run["u"]
except KeyboardInterrupt:
    print("interrupted", run.state, flush=True)
small = cluster.run(dogged.load({heat!r}, N=40, T=10))
run.cancel()
try:
    run.wait()
except dogged.Cancelled:
    print("cancelled", small["u"].shape, flush=True)
"""


FORKING = """
import os, signal, sys
sys.path.insert(0, os.path.join({source!r}, "apps", "python"))
import dogged
cluster = dogged.agents(1)
child = os.fork()
if child == 0:
    os.close(1)
    signal.pause()
print(cluster._door.pid, child, flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""


def case_interrupt():
    """Ctrl-C of a whole group reaches Python alone, at once; all goes on."""
    child = subprocess.Popen(
        [sys.executable, "-B", "-c", CHILD.format(source=SOURCE, heat=HEAT)],
        stdout=subprocess.PIPE, text=True, start_new_session=True)
    words = child.stdout.readline().split()
    check("waiting", words[:1] == ["waiting"], words)
    agent = os.pidfd_open(int(words[1]))
    start = time.monotonic()
    os.killpg(child.pid, signal.SIGINT)
    check("interrupted", child.stdout.readline() == "interrupted running\n")
    check("at once", time.monotonic() - start < 5, time.monotonic() - start)
    check("goes on", child.stdout.readline() == "cancelled (40, 40)\n")
    check("status", child.wait(60) == 0)
    ready, _, _ = select.select([agent], [], [], 60)
    check("an agent is left", ready)


def case_fork():
    """A child is told, in words; the parent goes on, and its client ends."""
    cluster = dogged.agents(1)
    run = cluster.submit(dogged.load(HEAT, N=40, T=10))
    u = run["u"]
    child = os.fork()
    if child == 0:
        status = 1
        try:
            for call in (lambda: run["u"], run.wait, lambda: next(iter(run)),
                         cluster.status, cluster.close,
                         lambda: cluster.submit(dogged.load(HEAT, N=40))):
                raises(dogged.ForkedError, call, "fork", str(os.getpid()))
            check("array", u.shape == (40, 40))
            with dogged.agents(1) as own:  # its own is no trouble
                check("own", own.run(dogged.load(HEAT, N=40, T=10)).done())
            status = 0
        finally:
            os._exit(status)
    _, status = os.waitpid(child, 0)
    check("child", status == 0, status)
    check("parent", cluster.run(dogged.load(HEAT, N=41, T=10)).done())
    cluster.close()
    raises(dogged.ClientGone, cluster.status, "this cluster is closed")
    # A child that lives on holds nothing that the client waits for.
    parent = subprocess.run(
        [sys.executable, "-B", "-c", FORKING.format(source=SOURCE)],
        stdout=subprocess.PIPE, text=True, timeout=120)
    client, child = (int(pid) for pid in parent.stdout.split())
    try:
        ready, _, _ = select.select([os.pidfd_open(client)], [], [], 20)
    except ProcessLookupError:
        ready = True
    os.kill(child, signal.SIGKILL)
    check("the client stays", ready)


def case_jobs():
    """Comes back for a job by its hash, from another client and without the
    program, running or done; and what is no job."""
    program = dogged.load(HEAT, N=90, T=40)
    with tempfile.TemporaryDirectory() as folder:
        agent = subprocess.Popen(
            [DOGGED, "agent", "--listen", "127.0.0.1:0", "--workers", "1",
             "--insecure"], stdout=subprocess.PIPE, text=True)
        try:
            address = agent.stdout.readline().split()[1]
            with dogged.connect(address, insecure=True) as cluster:
                first = cluster.submit(program, keep=600)
                digits = first.job[:8]
                check("numbers", np.allclose(first["u"], heat(90, 40), 0,
                                             1e-14))
                # A closed cluster's runs are closed, and their job goes on.
                with dogged.connect(address, insecure=True) as other:
                    left = other.submit(long_heat(), keep=600)
                raises(dogged.ClientGone, left.wait, "closed",
                       "their jobs go on: job() of a new connection")
                check("state", left.state == "closed", left)
                check("event", list(left)[-1]["event"] == "closed", left)
                run = cluster.job(left.job)
                check("goes on", run.state == "running", run)
                run.cancel()
                had = cluster.run(dogged.load(HEAT, N=30, T=9))
                raises(dogged.JobFailed, lambda: cluster.job(had.job),
                       "gone: its client has them")
                # It runs when others come for it.
                long_run = cluster.submit(long_heat())
                with dogged.connect(address, insecure=True) as other:
                    run = other.job(long_run.job)
                    check("runs", run.state == "running", run)
                    run.cancel()
                    raises(dogged.Cancelled, run.wait)
                raises(dogged.Cancelled, long_run.wait)
            for _ in range(2):  # what was fetched stays
                with dogged.connect(address, insecure=True) as cluster:
                    jobs = {one["job"]: one["state"]
                            for one in cluster.status()["jobs"]}
                    check("listed", jobs[first.job] == "done"
                          and jobs[long_run.job] == "cancelled", jobs)
                    run = cluster.job(digits, want=["u(3:5)(:)(40)"])
                    check("keys", run.keys() == ["u(3:5)(:)(40)", "u"],
                          run.keys())
                    check("bits", np.array_equal(run["u"], first["u"]))
                    check("part", np.array_equal(run["u(3:5)(:)(40)"],
                                                 first["u"][3:6]))
                    check("name", run.name == "heat2d" and run.program is None)
                    events = [event["event"] for event in run]
                    check("events", events[0] == "attached"
                          and events[-1] == "done", events)
                    check("digest", run.report["result_digest"]
                          == first.report["result_digest"])
            with dogged.connect(address, insecure=True) as cluster:
                raises(dogged.Mistyped, lambda: cluster.job("zz"), "zz", "0 to 9")
                raises(dogged.Mistyped, lambda: cluster.job(""), "which job")
                raises(TypeError, lambda: cluster.job(None), "hash", "None")
                raises(TypeError, lambda: cluster.job(digits, want=5), "want")
                raises(dogged.Mistyped,
                       lambda: cluster.job(digits, want=["v(3)"]),
                       "want: error[D012]")
                for keep in (float("nan"), float("inf"), -1):
                    raises(dogged.Mistyped,
                           lambda keep=keep: cluster.submit(program, keep=keep),
                           "keep is seconds, from 0 to 30 days", repr(keep))
                check("digits from a file",
                      cluster.job(f" {digits}\n").job == first.job)
                raises(dogged.Mistyped,
                       lambda: cluster.job(digits, want=["u(3)(4)(7)"]),
                       "u(3)(4)(7)", "no result")
                raises(dogged.Cancelled, lambda: cluster.job(long_run.job))
        finally:
            agent.kill()
            agent.wait()
            agent.stdout.close()


def case_clusters():
    """Agents of others: at an address with a key, and in a folder."""
    with tempfile.TemporaryDirectory() as folder:
        key = os.path.join(folder, "key")
        subprocess.run([DOGGED, "key", "new", "--file", key], check=True,
                       capture_output=True)
        pool = os.path.join(folder, "pool")
        agents = []
        try:
            for arguments in (["--key-file", key],
                              ["--insecure", "--join", f"file:{pool}"]):
                agents.append(subprocess.Popen(
                    [DOGGED, "agent", "--listen", "127.0.0.1:0", "--workers",
                     "1", *arguments], stdout=subprocess.PIPE, text=True))
            address = agents[0].stdout.readline().split()[1]
            agents[1].stdout.readline()
            program = dogged.load(HEAT, N=90, T=40)
            with dogged.connect(address, key_file=key) as cluster:
                check("numbers", np.allclose(cluster.submit(program)["u"],
                                             heat(90, 40), 0, 1e-14))
                check("own", cluster.own_agents == [])
                raises(dogged.Mistyped, cluster.start, "own")
            with dogged.join_file(pool, insecure=True) as cluster:
                run = cluster.submit(program, keep=600)
                check("numbers", np.allclose(run["u"], heat(90, 40), 0, 1e-14))
                check("there", cluster.status()["agents"][0]["state"]
                      == "alive")
            raises(dogged.NoAgents, lambda: dogged.connect(address,
                                                           insecure=True))
        finally:
            for agent in agents:
                agent.kill()
                agent.wait()
                agent.stdout.close()


def case_page():
    """Each block of docs/PYTHON.md does what it says, without Matplotlib."""
    drawn = []
    pyplot = types.ModuleType("matplotlib.pyplot")
    pyplot.imsave = lambda path, array: drawn.append((path, array))
    sys.modules["matplotlib"] = types.ModuleType("matplotlib")
    sys.modules["matplotlib.pyplot"] = pyplot
    sys.modules["matplotlib"].pyplot = pyplot
    os.chdir(SOURCE)
    with open(os.path.join("docs", "PYTHON.md"), encoding="utf-8") as page:
        blocks = re.findall(r"^```python\n(.*?)^```", page.read(), re.M | re.S)
    check("blocks", len(blocks) == 8, len(blocks))
    solved = {}
    for block in blocks:
        names = {}
        exec(compile(block, "docs/PYTHON.md", "exec"), names)
        solved = names if "cholesky" in names else solved
    check("picture", drawn[0][0] == "heat.png" and drawn[0][1].shape
          == (401, 401) and 0 < drawn[0][1].max() < 100, drawn)
    check("residual",
          abs(solved["a"] @ solved["x"] - solved["b"]).max() < 1e-9)


SQUARE = r"""
#include <math.h>
int square(const struct value* in, struct value* out, const double* numbers) {
  for (int i = 0; i < 4; ++i)
    ((double*)out[0].data)[i] = pow(((double*)in[0].data)[i], numbers[0]);
  return 0;
}
"""
SQUARING = """\
param P = 2
array A(i = 0:1) : double [4]
array B(i = 0:1) : double [4]
kernel square(in a, power, out b) from "kernels.so"
input A(i) for i = 0:1
task next
  creates B(i) as b
  for i = 0:1
  using A(i) as a
  call square(a, P, b)
end task
result B(:)
"""
CRASH = """
int square(const struct value* in, struct value* out, const double* numbers) {
  *(volatile int*)8 = 1;
  return 0;
}
"""
LATER = """
import os, sys
sys.path.insert(0, os.path.join({source!r}, "apps", "python"))
import numpy as np
import dogged
program = dogged.program({text!r}, name="square", kernels={kernels!r})
with dogged.agents(1) as cluster:
    print(cluster.run(program, {{"A": np.arange(8.0)}}).job)
"""


def case_kernels():
    """Kernels from C text: their numbers, files and mistakes."""
    with tempfile.TemporaryDirectory(prefix="d\u00f6g ") as folder:
        temporary = os.path.join(folder, "temporary")
        os.mkdir(temporary)
        tempfile.tempdir = os.environ["TMPDIR"] = temporary
        compiler = os.path.join(folder, "compiler")
        with open(compiler, "w", encoding="utf-8") as file:
            file.write(f'#!/bin/sh\necho >> "{folder}/calls"\nexec cc "$@"\n')
        os.chmod(compiler, 0o700)
        os.environ["CC"] = f"'{compiler}' -g0"
        try:
            kernels_in(folder)
        finally:
            tempfile.tempdir = None
            del os.environ["TMPDIR"]
        check("folders are left", not [
            one for one in os.listdir(temporary) if "kernels" in one],
            os.listdir(temporary))
    os.environ["CC"] = "/none/cc"
    raises(dogged.Mistyped, lambda: dogged.program(
        SQUARING, kernels=SQUARE + "\n"), "/none/cc", "set CC")


def kernels_in(folder):
    inputs = {"A": np.arange(8.0)}
    program = dogged.program(SQUARING, name="square", kernels=SQUARE)
    with dogged.agents(2, workers=1) as cluster:
        run = cluster.submit(program, inputs)
        check("numbers", np.array_equal(run["B"], inputs["A"]**2), run["B"])
        cubed = cluster.submit(program.with_(P=3), inputs)["B"]
        check("cubes", np.array_equal(cubed, inputs["A"]**3), cubed)
        # A child has it, too, with a cluster of its own.
        child = os.fork()
        if child == 0:
            status = 1
            try:
                with dogged.agents(1) as own:
                    own.run(program, inputs)
                status = 0
            finally:
                os._exit(status)
        check("child", os.waitpid(child, 0)[1] == 0)
        # Beside what the program's file includes, and a library there.
        os.makedirs(os.path.join(folder, "a", "parts"))
        path = os.path.join(folder, "a", "mine.dog")
        with open(path, "w", encoding="utf-8") as file:
            file.write('include "parts/head.dog"\n' + SQUARING[11:])
        with open(os.path.join(folder, "a", "parts", "head.dog"), "w",
                  encoding="utf-8") as file:
            file.write('include "../../size.dog"\n')
        with open(os.path.join(folder, "size.dog"), "w",
                  encoding="utf-8") as file:
            file.write("param P = 2\n")
        loaded = dogged.load(path, kernels={"kernels.so": SQUARE})
        check("numbers", np.array_equal(cluster.submit(loaded, inputs)["B"],
                                        run["B"]))
        with open(os.path.join(folder, "calls"), encoding="utf-8") as calls:
            check("compiled once", len(calls.readlines()) == 1)
        with open(path, encoding="utf-8") as file:
            text = file.read()
        check("the same text", loaded.text == text)
    later = subprocess.run(
        [sys.executable, "-B", "-c", LATER.format(
            source=SOURCE, text=SQUARING, kernels=SQUARE)],
        capture_output=True, text=True, check=True).stdout.strip()
    check("the same job in another process", later == run.job, later)
    check("seeds", dogged.sim(program, inputs, seeds=range(3)).seeds == 3)
    crash = dogged.program(SQUARING, kernels=CRASH)
    raises(dogged.ClientGone, lambda: dogged.sim(crash, inputs, seeds=1),
           "was ended by signal 11 (SIGSEGV)", "kernels of your own")
    error = raises(dogged.ProgramError, lambda: dogged.program(
        SQUARING, kernels=SQUARE.replace("numbers[0]", "number[0]")),
        "kernels.c:5:63: error: ", "^")
    check("place", (error.file, error.line, error.column, error.code)
          == ("kernels.c", 5, 63, None), vars(error))
    for text, words in (
            (SQUARING.replace("square(", "squared("),
             ("wrong.dog:4:8: error[D017]", "kernels.so has no function")),
            (SQUARING.replace("in a, power", "in a"), ("D017",)),
            (SQUARING.replace("= 2", "= 2 3"), ("wrong.dog:1:",)),
            (SQUARING.replace("kernels.so", "mine.so"),
             ("mine.so can't be read",)),
            (SQUARING.replace(' from "kernels.so"', ""), ("D017",)),
            (SQUARING.replace("call square(a, P, b)", "call subtract(a, a, a, b)")
             .replace('kernel square(in a, power, out b) from "kernels.so"',
                      "kernel subtract(in c, in a, in b, out r)"),
             ("takes no kernel from kernels.so", "kernel f(in a, out b)"))):
        error = raises(dogged.DoggedError, lambda: dogged.program(
            text, name="wrong", kernels=SQUARE), *words)
        check("folder", "dogged-kernels" not in str(vars(error)), vars(error))
    raises(dogged.ProgramError, lambda: dogged.program(
        SQUARING, kernels=SQUARE.replace("int square", "static int square")),
        "kernels.so has no function")
    raises(dogged.ProgramError, lambda: dogged.program(
        SQUARING, kernels=SQUARE.replace("<math.h>", "<errno.h>")
        .replace("pow(", "power(")), "implicit declaration")
    with open(path, "a", encoding="utf-8") as file:
        file.write("x")
    error = raises(dogged.ProgramError, lambda: dogged.load(
        path, kernels=SQUARE), f"{path}:")
    check("file", error.file == path, error.file)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        dogged.program(SQUARING, kernels=SQUARE.replace(
            "return 0", "return \"0\""))
    check("warning", [(w.category, w.filename) for w in caught]
          == [(dogged.DoggedWarning, __file__)]
          and "kernels.c:6:" in str(caught[0].message), caught)
    for wrong in (3, {"mine": SQUARE}, {"../mine.so": SQUARE}, "mine.c",
                  {"kernels.so": b"(x)"}):
        raises(TypeError, lambda: dogged.program(SQUARING, kernels=wrong),
               "kernel")


# Counts its calls, so no run agrees with another.
DRIFT = r"""
#include <stdint.h>
struct value { void* data; int64_t rank; const int64_t* extents; int64_t type; };
int drift(const struct value* in, struct value* out, const double* numbers) {
  static int calls = 0;
  ++calls;
  for (int i = 0; i < 4; ++i)
    ((double*)out[0].data)[i] = ((const double*)in[0].data)[i] + calls;
  return 0;
}
"""
DRIFTING = """\
param STEPS = 2
array A(i = 0:1)(k = 0:STEPS) : double [4]
kernel drift(in a, out b) from "drift.so"
input A(i)(0) for i = 0:1
task next
  creates A(i)(k) as b
  for i = 0:1  k = 1:STEPS
  using A(i)(k-1) as a
  call drift(a, b)
end task
result A(:)(STEPS)
"""


def case_sim():
    """Seeds under faults: counts, replay of one that fails, mistakes."""
    program = dogged.load(HEAT, N=40, T=12)
    how = {"agents": 4, "crash": 1, "pause": 1, "drop": 0.02}
    result = dogged.sim(program, seeds=range(3, 7), **how)
    check("counts", result.seeds == 4 and result.faults >= 8
          and result.tasks_executed >= result.tasks_needed > 0
          and result.held_labels_max > 0 and result.virtual_seconds > 0, result)
    check("again", dogged.sim(program, seeds=range(3, 7), **how) == result)
    check("one seed", dogged.sim(program, seeds=[6], **how).trace_digest
          == result.trace_digest)
    said = subprocess.run(
        [DOGGED, "sim", HEAT, "-D", "N=40", "-D", "T=12", "--agents", "4",
         "--seeds", "6:6", "--faults", "crash=1,pause=1,drop=0.02", "--json"],
        capture_output=True, text=True, check=True).stdout
    check("the command", result.trace_digest in said, said)
    v = np.arange(20.0).reshape(5, 4)
    check("input", dogged.sim(dogged.program(COPY), {"v": v}, seeds=range(2),
                              crash=1).seeds == 2)
    raises(dogged.Mistyped, lambda: dogged.sim(dogged.program(COPY)), "input v")
    raises(dogged.Mistyped, lambda: dogged.sim(program, crush=2), "crush=2")
    raises(dogged.Mistyped, lambda: dogged.sim(program, seeds=[]), "seeds")
    raises(dogged.Mistyped, lambda: dogged.sim(program, seeds=[-1]), "seeds")
    raises(dogged.Mistyped, lambda: dogged.sim(program, agents=0), "agents")
    raises(TypeError, lambda: dogged.sim(COPY), "dogged.program")
    with tempfile.TemporaryDirectory(prefix="it's ") as folder:
        with open(os.path.join(folder, "drift.c"), "w") as file:
            file.write(DRIFT)
        subprocess.run(["cc", "-shared", "-fPIC", "-o", "drift.so", "drift.c"],
                       cwd=folder, check=True)
        path = os.path.join(folder, "a drift.dog")
        with open(path, "w") as file:
            file.write(DRIFTING)
        program = dogged.load(path, STEPS=3)
        inputs = {"A": np.arange(8.0)}
        call = "agents=5, replicas=2, search_only=False, claims=True, crash=1)"
        error = raises(
            dogged.SimFailed, lambda: dogged.sim(
                program, inputs, seeds=range(7, 99), agents=5, crash=1),
            "seed 7: ", "replay: " + error_call(True, call))
        check("parts", (error.seed, error.command, error.status,
                        error.report["seeds"]) == (7, None, 1, 1), vars(error))
        again = raises(dogged.SimFailed, lambda: eval(
            error.replay, {"dogged": dogged, "program": program,
                           "inputs": inputs}))
        check("again", str(again) == str(error), str(again))
        # Without an input, the command is told besides.
        with open(path, "w") as file:
            file.write(DRIFTING.replace("i = 0:1\n", "i = 0:1 else call "
                                        "general(A, i, 0)\n", 1)
                       .replace("\nkernel", "\nkernel general(out a, row, "
                                "column)\nkernel", 1).replace("[4]", "[2, 2]"))
        program = dogged.load(path)
        error = raises(dogged.SimFailed, lambda: dogged.sim(
            program, seeds=[2**64 - 1], agents=5, crash=1), "dogged sim ",
            "replay: " + error_call(False, call, 2**64 - 1))
        done = subprocess.run(
            'dogged() { "$DOGGED" "$@"; }; ' + error.command, shell=True,
            capture_output=True, text=True)
        check("the command", done.returncode == 1
              and f"seed {2**64 - 1}: " in done.stderr, done)


def error_call(has_inputs, rest, seed=7):
    return (f"dogged.sim(program{', inputs' if has_inputs else ''}, "
            f"seeds=[{seed}], {rest}")


def plate():
    """apps/jacobi, made here."""
    b = dogged.Builder("plate")
    N, bound = b.param("N", 24), b.param("bound", 1e-3)
    x, y, t = b.indices("x y t")
    u, d, change = b.array("u"), b.array("d"), b.array("change")
    T = b.repeat("T", (50, 20000, 50))
    b.boundary(u[x, y, 0], 0)
    b.boundary(u[x, 0, t], 0, where=t > 0)
    b.boundary(u[x, N-1, t], 0, where=t > 0)
    inner = (t > 0) & (y > 0) & (y < N-1)
    b.boundary(u[0, y, t], 1, where=inner)
    b.boundary(u[N-1, y, t], 0, where=inner)
    space = {x: (1, N-2), y: (1, N-2)}
    b.task(u[x, y, t], 0.25*(u[x-1, y, t-1] + u[x+1, y, t-1]
                             + u[x, y-1, t-1] + u[x, y+1, t-1]),
           over={**space, t: (1, T)})
    b.task(d[x, y, t], u[x, y, t] - u[x, y, t-1],
           over={**space, t: (50, T, 50)}, name="move")
    b.reduce("norm2", change[t], d[x, y, t], over=space, at={t: (50, T, 50)})
    b.until(change[T] < bound)
    b.result(u[x, y, T], over={x: (0, N-1), y: (1, N-2)})
    b.result(change[T])
    return b


def case_builder():
    """The bits of a program that was written; errors at the Python line."""
    serial = subprocess.run([DOGGED, "run", os.path.join(
        SOURCE, "apps", "jacobi", "jacobi.dog"), "--json"], check=True,
        capture_output=True, text=True).stdout
    with dogged.agents(2, workers=1) as cluster:
        run = cluster.run(plate().program())
        check("other bits", run.report["result_digest"] in serial, run.report)
        check("where it ended", run.report["loop"]
              == json.loads(serial)["loop"], run.report)
        b = dogged.Builder("ring")
        N = b.param("N", 20)
        x, t = b.indices("x t")
        h = b.array("h", "int64", over={x: (0, N-1), t: (0, 3)})
        v, w = b.array("v"), b.array("w")
        b.input(v[x], over={x: (0, N-1)}, otherwise=2.0*x)
        b.periodic(h[x, t], x)
        b.task(h[x, 0], x, over={x: (0, N-1)})
        b.task({h[x, t]: h[x-1, t-1] + x//7, w[x, t]: v[x] + x/N},
               over={x: (0, N-1), t: (1, 3)}, where=x >= 0)
        b.result(h[:, 3])
        b.result(w[:, 3])
        run = cluster.submit(b.program(N=30), {"v": np.ones(30)})
        at = np.arange(30)
        h = at.copy()
        for _ in range(3):
            h = np.roll(h, 1) + at//7
        check("integers", np.array_equal(run["h"], h), run["h"])
        check("quotient", np.array_equal(run["w"], 1.0 + at/30), run["w"])
    b = dogged.Builder("wrong")
    x, t = b.indices("x t")
    u = b.array("u")
    b.boundary(u[0, t], 0)
    line = sys._getframe().f_lineno + 1
    b.task(u[x, t],
           u[x-1, t-1], over={x: (1, 9), t: (1, 9)})
    b.result(u[:, 9])
    error = raises(dogged.ProgramError, b.program, "^^^",
                   f'File "{__file__}", line {line}', "b.task(u[x, t],")
    check("place", (error.python_file, error.python_line, error.code)
          == (__file__, line, "D012"), vars(error))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        b = dogged.Builder("idle")
        b.task(b.array("u")[(x := b.indices("x")[0])], 1, over={x: (0, 9)})
        b.task(b.array("v")[x], 1.5, over={x: (0, 9)})
        line = sys._getframe().f_lineno - 1
        b.result(dogged.builder.Array("u", "double")[:])
        b.program()
    check("warning", [(w.filename, w.lineno) for w in caught]
          == [(__file__, line)], [str(w) for w in caught])


def case_formulas():
    """Formulas as Python means them, also their bits; mistakes in words."""
    b = dogged.Builder("f")
    N = b.param("N", np.int32(11))
    b.param("R", np.float32(0.5))
    check("real", "param R : double = 0.5\n" in b.text, b.text)
    x, = b.indices("x")
    one, made = b.array("one"), b.array("made")
    for formula, text in (
            (1 - (x - (x - 1)), "1 - (x - (x - 1))"),
            (-(x + 1)*2, "-(x + 1) * 2"), (x - (-3), "x - (-3)"),
            ((x < 3) | ~(x > 4) & (x == 5), "x < 3 or not x > 4 and x == 5"),
            (x/N, "1.0 * x / N"), (x//N % 3, "x / N % 3"),
            (dogged.where(x < 3, x, 2)*2, "(x < 3 ? x : 2) * 2"),
            (np.float32(2)*np.maximum(one[x], 0), "2.0 * max(one(x), 0)"),
            (2**np.arctan2(x, 1e-5), "pow(2, atan2(x, 1e-05))")):
        check("text", repr(formula) == text, repr(formula))
    at = np.arange(11)
    formulas = [
        (lambda s: 0.1 + (0.2 + 0.3*s) - (s - (0.7 - s)), 0),
        (lambda s: -s*0.1/(1 + s)/3.0, 0), (lambda s: s - (-2.5)*s, 0),
        (lambda s: np.sqrt(abs(s - 4))*2 - np.floor(s/3), 0),
        (lambda s: np.minimum(s, 3.5)*np.maximum(4, s) - 3/(s + 1), 0),
        (lambda s: (s*s + 1)**2 + np.exp(-s)*np.cos(s), 1e-13)]
    b.input(one[x], over={x: (0, N-1)})
    k, = b.indices("k")
    for number, (formula, _) in enumerate(formulas):
        b.task(made[x, number], formula(one[x].where(x >= 0, 0)),
               over={x: (0, N-1)})
    b.result(made[x, k], over={x: (0, N-1), k: (0, len(formulas) - 1)})
    with dogged.agents(1) as cluster:
        got = cluster.submit(b.program(), {"one": 1.0*at})["made"]
    for number, (formula, error) in enumerate(formulas):
        wanted = formula(1.0*at)
        check(f"formula {number}", np.allclose(got[:, number], wanted, error, 0)
              if error else np.array_equal(got[:, number], wanted),
              (got[:, number], wanted))
    for wrong, words in (
            (lambda: 0 < x < N, "dogged.where"), (lambda: one[1:3], "':' alone"),
            (lambda: x//2.0, "np.floor"), (lambda: np.sinc(1.0*x), "no array"),
            (lambda: np.hypot.reduce([x, x]), "no array"),
            (lambda: np.isnan(x), "language"),
            (lambda: x + np.ones(3), "array of shape (3,)"),
            (lambda: np.ones(3)*x, "array of shape (3,)"),
            (lambda: b.boundary(one[x], np.ones(3)), "array of shape (3,)"),
            (lambda: x + "1", "str"), (lambda: x + float("nan"), "nan"),
            (lambda: b.boundary(one[x].where(x > 1, 0), 0), "reads"),
            (lambda: b.task(one[x], over={x: (0, 1)}), "each with a value"),
            (lambda: b.task(one[x], 1, over={"x": (0, 1)}), "no index"),
            (lambda: b.task(one[x], 1, over={x: 3}), "both included"),
            (lambda: b.array("one"), "already"), (lambda: b.array("1"), "word"),
            (lambda: b.array("task"), "word of the language"),
            (lambda: b.array("i", "int64"), "over="),
            (lambda: b.until(x < 3), "repeat"), (lambda: list(one), "values"),
            (lambda: list(one[x]), "one number")):
        raises(TypeError, wrong, words)


if __name__ == "__main__":
    globals()[f"case_{CASE}"]()
