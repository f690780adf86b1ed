"""Jobs that are submitted, left, and fetched with nothing but their hash.

Aim: what `fetch` writes is what `run` writes, on a host that has neither the
program nor its inputs, from whichever agents are left; results stay as long as
--keep says, and what is gone says so. Method: the binary itself on free ports,
commands in empty folders; nothing waits for a time to pass, but for what it
waits for.

usage: doors_test.py DOGGED SOURCE_DIR CASE
"""

import array
import json
import os
import resource
import subprocess
import sys
import tempfile

from standing import Standing

DOGGED, SOURCE, CASE = os.path.abspath(sys.argv[1]), *sys.argv[2:4]
HEAT = os.path.join(SOURCE, "apps", "heat1d", "heat1d.dog")
CHOLESKY = os.path.join(SOURCE, "apps", "cholesky", "cholesky.dog")
JACOBI = os.path.join(SOURCE, "apps", "jacobi", "jacobi.dog")
LONG = (HEAT, "-D", "N=400001", "-D", "T=1000000")
BAR = """
param N from S = 9001
param T = 3
input S(i) for i = 0:N-1
task start
  creates u(i)(0) as n
  for i = 0:N-1
  using S(i) as s
  code
    n = s
  end code
end task
task step
  creates u(i)(t) as n
  for i = 0:N-1 t = 1:T
  using u(i)(t-1) as c
  code
    n = 0.5*c
  end code
end task
result u(:)(T)
"""


def check(what, holds, report=""):
    if not holds:
        raise SystemExit(f"{what}\n{report}")


def call(*arguments, expect=0, cwd=None, timeout=240):
    """A command's output and words."""
    done = subprocess.run([DOGGED, *map(str, arguments)], capture_output=True,
                          text=True, timeout=timeout, cwd=cwd)
    check(f"exit status {done.returncode}, not {expect}: {arguments}",
          done.returncode == expect, f"{done.stdout}\n{done.stderr}")
    return done.stdout, done.stderr


class Cluster(Standing):
    """Agents, and commands about them in an empty folder."""

    def __enter__(self):
        self.folder = tempfile.TemporaryDirectory()
        return self

    def __exit__(self, *arguments):
        super().__exit__(*arguments)
        self.folder.cleanup()

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def call(self, command, *arguments, at=0, **options):
        return call(command, *arguments, "--cluster", self.addresses[at],
                    cwd=self.folder.name, **options)

    def submit(self, *arguments, at=0):
        words, _ = self.call("submit", *arguments, at=at)
        check("no hash", len(words) == 33 and words[-1] == "\n", words)
        return words[:-1]

    def fetched(self, job, *outputs, at=0):
        words, errors = self.call("fetch", job, *outputs, "--json", at=at)
        return json.loads(words), errors

    def refused(self, expect, *arguments, says, at=0):
        words, errors = self.call(*arguments, expect=expect, at=at)
        for part in says:
            check(f"no word of {part!r}", part in errors, words + errors)
        check("more than an error", errors.startswith("error: "), errors)


def write_numbers(path, count):
    head = f"{{'descr': '<f8', 'fortran_order': False, 'shape': ({count},), }}"
    head += " " * (63 - (10 + len(head)) % 64) + "\n"
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + len(head).to_bytes(2, "little"))
        file.write(head.encode())
        file.write(array.array("d", [i * 31 % 997 for i in range(count)])
                   .tobytes())


def read(path):
    with open(path, "rb") as file:
        return file.read()


def case_fetch():
    """The same bits as `run` writes, by a hash prefix, whichever agent is
    asked; also of a loop, whose end nobody knew."""
    with Cluster(DOGGED) as cluster:
        for _ in range(2):
            cluster.start()
        program = (HEAT, "-D", "N=20001", "-D", "T=50")
        expected = json.loads(call(
            "run", *program, "--agents", 2, "--workers", 1, "--json",
            "--output", f"phi={cluster.path('own.npy')}")[0])
        job = cluster.submit(*program, "--want", "phi(7:9)(T-1)")
        out, _ = cluster.call("wait", job[:10])
        check("wait", out == f"done {job} (heat1d)\n", out)
        for at in range(2):
            cluster.fetched(job[:10], "phi(:)(T)=all.npy", "phi(7:8)(T-1)=part.npy",
                            "phi(0:99)(T)=map.png", at=at)
            check("other bits", read(cluster.path("all.npy"))
                  == read(cluster.path("own.npy")))
        report, words = cluster.fetched(job[:10], "phi(7:8)(T-1)=part.npy")
        check("labels", "phi -> part.npy: phi(7:8)(49), 2 doubles" in words,
              words)
        check("report", report["job"] == job and report["outputs"][0]["shape"]
              == [2], report)
        # Without the labels that were wanted besides.
        plain = cluster.submit(*program)
        cluster.call("wait", plain)
        report, _ = cluster.fetched(plain)
        check("another digest",
              report["result_digest"] == expected["result_digest"], report)
        cluster.refused(2, "fetch", plain, "phi(3)(7)=a.npy", says=[
            "phi(3)(7) is no result of this job, which keeps phi(0:20000)(50)",
            "--want 'phi(3)(7)'"])
        cluster.refused(2, "fetch", plain, "phi(3)(51)=a.npy", says=[
            "fetch: error[D014]"])
        cluster.refused(2, "fetch", plain, "phl=a.npy",
                        says=["no result phl"])
        cluster.refused(2, "fetch", plain, "phi=nowhere/a.npy",
                        says=["nowhere/a.npy"])
        loop = json.loads(call("run", JACOBI, "--json")[0])
        job = cluster.submit(JACOBI)
        cluster.call("wait", job)
        report, words = cluster.fetched(job, "change=change.npy")
        check("the loop's digest",
              report["result_digest"] == loop["result_digest"], report)
        check("no word of the loop's end", "the loop ended at T = " in words,
              words)
        check("where it ended", report["loop"] == loop["loop"], report)
        # Standard output that nobody reads.
        with open("/dev/full", "w") as full:
            done = subprocess.run(
                [DOGGED, "fetch", job, "--json", "--cluster",
                 cluster.addresses[0]], stdout=full, stderr=subprocess.PIPE,
                text=True, timeout=60)
        check("a full standard output", done.returncode == 5 and
              "error: " in done.stderr, done)


def numbers(path):
    return array.array("d", read(path)[128:])


def case_steps():
    """Every so many labels: of results that are kept, and of those that were
    wanted so; the others are not kept for them."""
    with Cluster(DOGGED) as cluster:
        cluster.start()
        job = cluster.submit(HEAT, "-D", "N=2001", "-D", "T=50", "--want",
                             "phi(0:N-1:10)(0:T:25)")
        cluster.call("wait", job)
        _, words = cluster.fetched(
            job, "phi(:)(T)=all.npy", "phi(7:N-1:9)(T)=some.npy",
            "phi(0:N-1:10)(0:T:25)=wanted.npy", "phi(5:12:9)(T)=one.npy",
            "phi(0:2000:40)(0:T:50)=fewer.npy", "phi(7:N-1:9)(T)=some.zarr",
            "phi(0:N-1:10)(T)=some.png")
        for line in ("phi -> some.npy: phi(7:1996:9)(50), 222 doubles",
                     "phi -> some.zarr: phi(7:1996:9)(50), 222 doubles",
                     "phi -> some.png: phi(0:2000:10)(50), 201 doubles, from 0 to "
                     "1e+06",
                     "phi -> one.npy: phi(5:5:9)(50), 1 double",
                     "phi -> wanted.npy: phi(0:2000:10)(0:50:25), "
                     "201 x 3 doubles",
                     "phi -> fewer.npy: phi(0:2000:40)(0:50:50), "
                     "51 x 2 doubles"):
            check(line, line in words.splitlines(), words)
        last, wanted = (numbers(cluster.path(name))
                        for name in ("all.npy", "wanted.npy"))
        check("some", numbers(cluster.path("some.npy")) == last[7::9])
        check("one", numbers(cluster.path("one.npy")) == last[5:6])
        check("chunk", array.array("d", read(cluster.path("some.zarr/c/0")))
              == last[7::9])
        check("wanted", wanted[2::3] == last[::10])
        check("fewer", numbers(cluster.path("fewer.npy"))[0::2]
              == wanted[0::12])
        # By agents, where they keep just these; else by the command.
        for selection, says in (("phi(0:N-1:10)(0:T:25)", "by 1 agent"),
                                ("phi(7:N-1:9)(T)", "a step apart")):
            _, words = cluster.fetched(
                job, f"{selection}=again.npy", "--output-to", "agents")
            check("way", says in words, words)
            name = "wanted.npy" if "25" in selection else "some.npy"
            check("by agents", read(cluster.path("again.npy"))
                  == read(cluster.path(name)))
        _, words = cluster.fetched(
            job, "phi(0:N-1:10)(0:T:25)=turned.npy", "--time-first",
            "--output-to", "agents")
        check("time first", "--time-first: values of agents have time last"
              in words and ", 3 x 201 doubles" in words, words)
        turned = numbers(cluster.path("turned.npy"))
        check("turned", all(turned[201*t:201*t + 201] == wanted[t::3]
                            for t in range(3)))
        cluster.refused(2, "fetch", job, "phi(0:N-1:5)(0)=a.npy", says=[
            "phi(0:N-1:5)(0) is no result of this job"])
        cluster.refused(2, "fetch", job, "phi(0:N-1:0)(T)=a.npy", says=[
            "'0' is no step; it is a number, 1 or more"])


LOOP = """
param N = 20
boundary u(x)(y)(t) = 0.01*x*y
repeat T = 10:2000:10 until change(T) < 1.0e-6
task relax
  creates u(x)(y)(t) as n
  for x = 1:N-1  y = 1:N-1  t = 1:T
  using u(x-1)(y)(t-1) as a  u(x+1)(y)(t-1) as b  u(x)(y-1)(t-1) as c
    u(x)(y+1)(t-1) as d
  code
    n = 0.25*(a + b + c + d) + 0.001
  end code
end task
task move
  creates d(x)(y)(t) as m
  for x = 1:N-1  y = 1:N-1  t = 10:T:10
  using u(x)(y)(t) as now  u(x)(y)(t-1) as before
  code
    m = now - before
  end code
end task
reduce change(t) = normmax(d(x)(y)(t)) for t = 10:T:10 over x = 1:N-1 y = 1:N-1
result u(x)(y)(T) for x = 1:N-1  y = 1:N-1
"""


def case_rounds():
    """Of a loop: a part of an early step that was wanted, and by its bare name
    what the program has itself."""
    with Cluster(DOGGED) as cluster:
        cluster.start()
        program = cluster.path("loop.dog")
        with open(program, "w", encoding="utf-8") as file:
            file.write(LOOP)
        job = cluster.submit(program, "--want", "u(:)(:)(10)")
        cluster.call("wait", job)
        report, words = cluster.fetched(
            job, "u(:)(:)(10)=early.npy", "u(5:10)(5:10)(10)=part.npy",
            "u=own.npy")
        check("shapes", [one["shape"] for one in report["outputs"]]
              == [[21, 21], [6, 6], [19, 19]], words)
        early, part, own = (numbers(cluster.path(name + ".npy"))
                            for name in ("early", "part", "own"))
        check("another step", part == array.array(
            "d", [early[21*x + y] for x in range(5, 11) for y in range(5, 11)]))
        check("the same step", own[0] != early[22])
        cluster.refused(2, "fetch", job, "d(5)(5)(10)=a.npy", says=[
            "d(5)(5)(10) is no result of this job", "u(1:19)(1:19)(",
            "u(0:20)(0:20)(10)"])
        # A step that is not kept is not the last one.
        for labels in ("u(5)(5)(20)", "u(:)(5)(10:20:10)", "u(5)(5)(T-10)"):
            cluster.refused(2, "fetch", job, labels + "=a.npy",
                            says=[f"{labels} is no result of this job"])
        # A number that a tile holds.
        out, _ = cluster.call("get", job, "u(5)(5)(10)")
        check("a number of a tile",
              out == f"u(5)(5)(10) = {early[21*5 + 5]!r}\n", (out, early))
        out, _ = cluster.call("get", job, "u(1)(1)(T)")
        check("the last one", out.endswith(f" = {own[0]!r}\n"), out)
        cluster.refused(2, "get", job, "u(5)(5)(20)",
                        says=["lies in tiles", "submit the program with --want"])


def case_series():
    """All rounds of a number that decides when a loop ends, beside its last
    value, which is a result of the program."""
    with Cluster(DOGGED) as cluster:
        cluster.start()
        program = cluster.path("loop.dog")
        with open(program, "w", encoding="utf-8") as file:
            file.write(LOOP + "\nresult change(T)\n")
        # Along with a row, for which the proof has numbers in place of N.
        job = cluster.submit(program, "--want", "change(:)",
                             "--want", "u(3)(1:19)(10:T:10)")
        cluster.call("wait", job)
        _, words = cluster.fetched(
            job, "change(:)=all.npy", "change=last.npy", "change(20)=one.npy",
            "change(10:20:10)=two.npy", "change(T-10)=before.npy",
            "u(3)(4:5)(20)=u.npy")
        every, last, one, two, before = (
            numbers(cluster.path(name + ".npy"))
            for name in ("all", "last", "one", "two", "before"))
        check("rounds", len(every) > 3, words)
        check("last", list(last) == [every[-1]], words)
        check("second", list(one) == [every[1]], words)
        check("first two", two == every[:2], words)
        check("the one before", list(before) == [every[-2]], words)
        out, _ = cluster.call("get", job, "change(T)")
        check("get", out.endswith(f" = {every[-1]!r}\n"), out)


def case_inputs():
    """The file is gone once submit has returned, and so is the client."""
    with Cluster(DOGGED) as cluster:
        for _ in range(2):
            cluster.start()
        program = cluster.path("bar.dog")
        with open(program, "w") as file:
            file.write(BAR)
        data = cluster.path("s.npy")
        count = 2_000_000
        write_numbers(data, count)
        arguments = (program, "--input", f"S={data}")
        expected = json.loads(call("run", *arguments, "-D", f"N={count}",
                                   "--json")[0])
        job = cluster.submit(*arguments)  # N is by the file
        supplied = max(j["input_bytes_supplied"]
                       for j in cluster.status()["jobs"])
        check("not all of the input", supplied == 8 * count, supplied)
        os.remove(data)
        os.remove(program)
        cluster.call("wait", job)
        report, _ = cluster.fetched(job, "u=u.npy", at=1)
        check("another digest",
              report["result_digest"] == expected["result_digest"], report)


def case_killed():
    """An agent that has results is killed, and nothing that `fetch` writes
    changes; a job that runs is fetched once it is done."""
    with Cluster(DOGGED) as cluster:
        for _ in range(3):
            cluster.start()
        program = (HEAT, "-D", "N=400001", "-D", "T=400")
        job = cluster.submit(*program, at=2)
        before, _ = cluster.fetched(job, "phi=before.npy")
        cluster.call("wait", job)
        status = cluster.status()
        check("copies", status["jobs"][0]["results_durable"]
              == status["jobs"][0]["results_needed"] > 0, status["jobs"])
        cluster.agents[2].kill()
        cluster.agents[2].wait()
        after, _ = cluster.fetched(job, "phi=after.npy", at=1)
        check("another digest", before == {**after, "outputs":
                                           before["outputs"]}, after)
        check("other bits", read(cluster.path("before.npy"))
              == read(cluster.path("after.npy")))
        status = cluster.status()
        check("what is kept", status["jobs"][0]["kept_bytes"] >= 8 * 400001
              and 3000 < status["jobs"][0]["keep_left_seconds"] <= 3600,
              status["jobs"])


def case_prefixes():
    """Digits that fit none or several jobs; jobs that don't do."""
    with Cluster(DOGGED) as cluster:
        cluster.start()
        seen = {}
        for i in range(17):  # one digit more than there are
            job = cluster.submit(HEAT, "-D", f"N={1001 + i}", "-D", "T=2")
            if job[0] in seen:
                break
            seen[job[0]] = job
        both = (seen[job[0]], job)
        cluster.call("wait", job)
        cluster.call("wait", both[0])
        for command in ("wait", "fetch", "cancel", "forget"):
            cluster.refused(2, command, job[0], says=[
                f"\"{job[0]}\" fits 2 jobs: ", *(f"{each[:12]} (heat1d, done)"
                                                for each in both)])
            cluster.refused(2, command, "", says=["which job?"])
            cluster.refused(2, command, "heat1d", says=["\"heat1d\" is no job"])
            cluster.refused(2, command, "0" * 32,
                            says=["no job starts with 000"])
        cluster.refused(2, "cancel", job, says=["does not run: it is done"])
        running = cluster.submit(*LONG)
        cluster.refused(2, "forget", running, says=["still runs"])
        out, _ = cluster.call("cancel", running.upper())
        check("cancel", out == f"cancelled {running} (heat1d)\n", out)
        for command in ("wait", "fetch"):
            cluster.refused(1, command, running, says=["was cancelled"])
        cluster.refused(2, "forget", running, says=["it is cancelled"])
        for keep in ("0s", "1", "31d", "soon"):
            cluster.refused(2, "submit", HEAT, "--keep", keep,
                            says=["--keep", keep])
        cluster.refused(2, "submit", HEAT, "--want", "phi(",
                        says=["--want"])
        _, errors = cluster.call("submit", HEAT, "-D", "T=9", "--want",
                                 "phi(3)(10)", expect=2)
        check("another place", errors.startswith("--want: error[D014]"), errors)


def case_keep():
    """Results stay for --keep, however often they are fetched, and go then or
    with `forget`; those that `run` has had go at once."""
    program = (HEAT, "-D", "N=20001", "-D", "T=20")
    gone = ["are gone", "submit it again"]
    with Cluster(DOGGED) as cluster:
        for _ in range(2):
            cluster.start()

        def keeps(name):
            return [j["keep_left_seconds"] for j in cluster.status()["jobs"]
                    if j["job"] == name][0]

        short = cluster.submit(*program, "--keep", "4s")
        first, _ = cluster.fetched(short)
        cluster.call("wait", short)
        check("it is not kept", 0 < keeps(short) <= 4, keeps(short))
        second, _ = cluster.fetched(short)
        check("another digest", first == second, second)
        cluster.await_status("the end of --keep", lambda s:
                             s["jobs"][0]["keep_left_seconds"] == 0)
        cluster.refused(1, "fetch", short, says=gone)
        out, _ = cluster.call("wait", short)
        check("its time is over", "results are no longer kept" in out, out)
        # The same job again, twice: the longer time counts until both are
        # forgotten.
        for keep in ("1h", "2h"):
            check("another hash", short ==
                  cluster.submit(*program, "--keep", keep))
        cluster.call("wait", short)
        check("not the longer time", keeps(short) > 3600, keeps(short))
        # A client that has its results takes nobody else's.
        report, _ = cluster.run(*program)
        check("another job", report["job"] == short, report)
        third, _ = cluster.fetched(short)
        check("another digest", first == third, third)
        out, _ = cluster.call("forget", short)
        check("forget", out == f"forgot {short} (heat1d)\n", out)
        # At once, though agents drop them later.
        cluster.refused(1, "fetch", short, says=gone)
        cluster.refused(1, "get", short, "phi(3)(20)", says=gone)
        out, _ = cluster.call("wait", short)
        check("over", out.startswith(f"done {short} (heat1d), whose results "
                                     "are no longer kept"), out)
        cluster.await_status("forgotten", lambda s:
                             s["jobs"][0]["keep_left_seconds"] == 0 and
                             s["jobs"][0]["kept_bytes"] == 0)
        cluster.refused(2, "forget", short, says=["keeps no results"])
        cluster.refused(1, "fetch", short, says=gone)


def case_replaced():
    """Each of the agents that made the results is killed in its turn, once
    another one has come for the one before and has its copies."""
    with Cluster(DOGGED) as cluster:
        for _ in range(4):
            cluster.start()
        name = cluster.submit(HEAT, "-D", "N=200001", "-D", "T=50")
        cluster.call("wait", name)
        first, _ = cluster.fetched(name)

        def is_kept(status):
            """Two copies of all that is kept."""
            return status["jobs"][0]["kept_bytes"] >= 2 * 200001 * 8

        cluster.await_status("copies", is_kept)
        for founder in range(4):
            cluster.agents[founder].kill()
            cluster.agents[founder].wait()
            # The newcomer is told of agents that are there.
            cluster.start()
            at = founder + 4
            cluster.await_status(
                "four agents", lambda s: 4 == sum(
                    a["state"] == "alive" for a in s["agents"]), at=at)
            cluster.await_status("copies again", is_kept, at=at)
        second, words = cluster.fetched(name, at=7)
        check("another digest", first == second, second)
        check("tasks ran again", "again" not in words, words)


def case_lost():
    """Results died with most agents, and so did the inputs that would make
    them again: `fetch` says so, instead of waiting for either."""
    with Cluster(DOGGED) as cluster:
        for _ in range(4):
            cluster.start()
        program = cluster.path("bar.dog")
        with open(program, "w") as file:
            file.write(BAR)
        data = cluster.path("s.npy")
        count = 2_000_000
        write_numbers(data, count)
        job = cluster.submit(program, "-D", f"N={count}", "--input",
                             f"S={data}")
        cluster.call("wait", job)
        for agent in cluster.agents[:3]:
            agent.kill()
            agent.wait()
        _, words = cluster.call("fetch", job, at=3, expect=1, timeout=60)
        for part in ("lost with the agents that had them", "input S is lost",
                     "submit it again with the same inputs"):
            check(f"no word of {part!r}", part in words, words)


def case_fails():
    """A job that fails as its inputs come has a name all the same."""
    with Cluster(DOGGED) as cluster:
        for _ in range(2):
            cluster.start()
        order = 4096
        matrix = cluster.path("zero.npy")
        head = (f"{{'descr': '<f8', 'fortran_order': False, "
                f"'shape': ({order}, {order}), }}").ljust(117) + "\n"
        with open(matrix, "wb") as file:
            file.write(b"\x93NUMPY\x01\x00" +
                       len(head).to_bytes(2, "little") + head.encode())
            file.truncate(10 + len(head) + 8 * order * order)
        words, errors = cluster.call("submit", CHOLESKY, "-D", f"N={order}",
                                     "--input", f"A={matrix}", expect=1)
        check("no hash", len(words) == 33 and words[-1] == "\n",
              words + errors)
        check("no word of the cause", "positive definite" in errors, errors)


def case_room():
    """Of results that take too much the oldest go; they are made again for
    who wants them, which is said."""
    with Cluster(DOGGED) as cluster:
        for _ in range(2):
            cluster.start("--memory", "64M")
        program = (HEAT, "-D", "T=3")
        jobs = []
        for i in range(3):
            jobs.append(cluster.submit(*program, "-D", f"N={1_000_001 + i}"))
            cluster.call("wait", jobs[-1])

        def kept(status):
            return {j["job"]: j["kept_bytes"] for j in status["jobs"]}

        status = cluster.await_status(
            "the oldest drops", lambda s: kept(s)[jobs[0]] == 0)
        check("all have gone", kept(status)[jobs[2]] > 0, status["jobs"])
        report, words = cluster.fetched(jobs[0], "phi=phi.npy")
        check("no word of it", "they are made again" in words, words)
        expected = json.loads(call("run", *program, "-D", "N=1000001",
                                   "--json")[0])
        check("another digest",
              report["result_digest"] == expected["result_digest"], report)


def stencil(cluster):
    """A program of which agents know each label, and a small one."""
    return HEAT, "-D", "N=21", "-D", "T=20", "--coalesce", "off"


PARTS = """param N = 600
param T = 4
input u(x)(0) for x = 0:N-1 else x
boundary u(x)(t) = periodic(x)
task step
  creates u(x)(t) as n
  for x = 0:N-1  t = 1:T
  using
    u(x-1)(t-1) as a
    top(t-1) as m
  code
    n = a/m
  end code
end task
reduce top(t) = max(u(x)(t)) for t = 0:T over x = 0:N-1
result u(3)(t) for t = 0:T
result u(7)(T)
"""


def case_get():
    """Labels now: results and others, from whichever agent has them."""
    with Cluster(DOGGED) as cluster:
        for _ in range(2):
            cluster.start()
        job = cluster.submit(*stencil(cluster))
        cluster.call("wait", job)
        for at in range(2):
            words, _ = cluster.call("get", job[:9], "phi(3)(T)", at=at)
            name, value = words.split(" = ")
            check("the label", name == "phi(3)(20)", words)
        cluster.fetched(job, "phi=phi.npy")
        numbers = array.array("d", read(cluster.path("phi.npy"))[-21 * 8:])
        check("another value", float(value) == numbers[3], words)
        cluster.refused(1, "get", job, "phi(3)(7)", says=[
            "phi(3)(7) is at no agent any more", "phi(0:20)(20)"])
        cluster.refused(2, "get", job, "phi(:)(T)", says=["21 labels"])
        cluster.refused(2, "get", job, "phi(3", says=["phi(3"])
        cluster.refused(2, "get", job, "phi(3)(21)", says=[
            "LABEL: error[D014]"])
        cluster.refused(2, "get", job, "nothing(3)", says=["nothing"])
        tiled = cluster.submit(HEAT, "-D", "N=20001", "-D", "T=20")
        cluster.call("wait", tiled)
        words, _ = cluster.call("get", tiled, "phi(3)(T)", at=1)
        cluster.fetched(tiled, "phi=tiled.npy")
        values = array.array("d", read(cluster.path("tiled.npy"))[-20001 * 8:])
        check("of a tile", words == f"phi(3)(20) = {values[3]!r}\n", words)
        answer = json.loads(cluster.call("get", tiled, "phi(3)(T)",
                                         "--json")[0])
        check("a number", (answer["label"], answer["shape"], answer["value"])
              == ("phi(3)(20)", [], values[3]), answer)
        cluster.refused(2, "get", tiled, "phi(3)(7)", says=["lies in tiles"])
        failing = cluster.submit(*LONG)
        cluster.call("cancel", failing)
        cluster.refused(1, "get", failing, "phi(3)(T)", says=["was cancelled"])
        # Copies of parts have the name of the array that lies in blocks.
        program = cluster.path("parts.dog")
        with open(program, "w", encoding="utf-8") as file:
            file.write(PARTS)
        parts = cluster.submit(program)
        cluster.call("wait", parts)
        for label in ("u(3)(2)", "u(7)(4)"):
            words, _ = cluster.call("get", parts, label)
            check("a label of a part", words.startswith(label + " = "), words)
        cluster.refused(2, "get", parts, "u(5)(2)", says=["lies in tiles"])


def case_get_lost():
    """Results of which all copies died are made again for `get`, too."""
    with Cluster(DOGGED) as cluster:
        for _ in range(4):
            cluster.start()
        job = cluster.submit(*stencil(cluster))
        cluster.call("wait", job)
        cluster.fetched(job, "phi=phi.npy")
        numbers = array.array("d", read(cluster.path("phi.npy"))[-21 * 8:])
        for agent in cluster.agents[:3]:
            agent.kill()
            agent.wait()
        cluster.refused(1, "get", job, "phi(3)(7)", at=3, says=[
            "phi(3)(7) is at no agent any more", "phi(0:20)(20)"])
        said = ""
        for i, number in enumerate(numbers):
            words, errors = cluster.call("get", job, f"phi({i})(T)", at=3,
                                         timeout=60)
            check("another value", float(words.split(" = ")[1]) == number,
                  f"{words} {number}")
            said += errors
        check("no word of results that were lost",
              "ran again for results that were lost" in said, said)


def case_watch():
    """A line for each label as it is bound, before the job ends; none is made
    for it."""
    program = (JACOBI, "-D", "N=200", "-D", "bound=1.0e-9")
    with Cluster(DOGGED) as cluster:
        for _ in range(2):
            cluster.start()
        job = cluster.submit(*program)
        watch = subprocess.Popen(
            [DOGGED, "watch", job, "change(:)", "--cluster",
             cluster.addresses[1]], stdout=subprocess.PIPE, text=True)
        lines = [watch.stdout.readline() for _ in range(3)]
        state = cluster.status()["jobs"][0]["state"]
        check("nothing came before the end", state == "running", state)
        # A reader that goes away.
        reader = subprocess.Popen(
            [DOGGED, "watch", job, "change(:)", "--cluster",
             cluster.addresses[0]], stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True)
        reader.stdout.readline()
        reader.stdout.close()
        check("a broken pipe", reader.wait(120) == 2 and
              "error: standard output" in reader.stderr.read(), "")
        reader.stderr.close()
        lines += watch.stdout.read().splitlines(keepends=True)
        check("exit status", watch.wait(120) == 0)
        watch.stdout.close()
        values = dict(line.rstrip("\n").split(" = ") for line in lines)
        check("a label twice", len(values) == len(lines), lines)
        times = [int(name[7:-1]) for name in values]
        check("labels in between are missing", sorted(times)[-1] - times[0]
              == 50 * (len(times) - 1), lines)
        report, words = cluster.fetched(job)
        last = int(words.split("the loop ended at T = ")[1].split(",")[0])
        check("not up to the end", max(times) == last, lines)
        changes = [float(values[f"change({time})"]) for time in sorted(times)]
        check("it does not sink", changes ==
              sorted(set(changes), reverse=True), lines)
        # A round that only this run of the loop has reached.
        words, _ = cluster.call("get", job, f"change({last})")
        check("another residual", words ==
              f"change({last}) = {values[f'change({last})']}\n", words)
        # The rest of what a job that is done keeps.
        words, _ = cluster.call("watch", job, "change(:)")
        check("what is left", words.splitlines() ==
              [f"change({last}) = {values[f'change({last})']}"], words)


def words_of(*arguments, env):
    done = subprocess.run([DOGGED, "run", *map(str, arguments)],
                          capture_output=True, text=True, timeout=120,
                          env={**os.environ, **env})
    return done.returncode, done.stderr


def case_variable():
    """DOGGED_CLUSTER says where to run, and that is said; flags about agents of
    one's own beat it, and that is said, too."""
    with Cluster(DOGGED) as cluster:
        where = cluster.start()
        program = (HEAT, "-D", "N=101")
        env = {"DOGGED_CLUSTER": where}

        def count():
            return len(cluster.status()["jobs"])

        for flags in (("--agents", 1), ("--agents", 2, "--workers", 1),
                      ("--agents", 2, "--kill-at", "40%")):
            status, words = words_of(*program, *flags, env=env)
            check("status", status == 0, words)
            check("silent", f"runs on agents of its own, as {flags[-2]} says"
                  in words or f"as {flags[0]} says" in words, words)
            check("no way back", f"--cluster {where}" in words, words)
            check("it ran on the cluster", count() == 0, cluster.status())
        for flags, more in (((), {}), (("--workers", 1), {}),
                            ((), {"DOGGED_AGENTS": "3"}),
                            (("--agents", 2, "--patience", "5s"), {})):
            before = count()
            status, words = words_of(*program, *flags, "-D", f"T={7 + before}",
                                     env={**env, **more})
            check("status", status == 0, words)
            check("silent", f"runs at {where}, as DOGGED_CLUSTER says\n"
                  in words, words)
            check("it ran elsewhere", count() == before + 1, cluster.status())
        before = count()
        status, words = words_of(*program, "-D", "T=3", "--agents", 2,
                                 "--cluster", where, env={
                                     "DOGGED_CLUSTER": "127.0.0.1:1"})
        check("a flag", status == 0 and count() == before + 1 and
              "DOGGED_CLUSTER" not in words, words)


def case_many():
    """Many runs of a program, each of other numbers: none compiles for tiles
    that it was compiled for already, however many ran before."""
    with Cluster(DOGGED) as cluster:
        for _ in range(2):
            cluster.start("--dir", cluster.path(f"dir{_}"))
        program = os.path.join(SOURCE, "tests", "cluster", "programs",
                               "deriche.dog")
        taken = []
        for i in range(5):
            before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
            cluster.submit(program, "-D", f"W={64 + i}", "-D", "H=64")
            after = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
            taken.append(after - before)
        # Where each compiled for all before it, the fifth took eight times as
        # much, the third four times; a single one may meet other load.
        check("later ones compile more often", min(taken[2:]) < 1.5 * taken[0],
              taken)


globals()["case_" + CASE]()
