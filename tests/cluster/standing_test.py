"""A cluster that stands: many jobs, many clients, agents of every sort.

Aim: the contract of `dogged run --cluster`, `agent`, `status` and `cancel`.
Method: the binary itself on free ports; nothing waits for a time to pass, but
for what it waits for.

usage: standing_test.py DOGGED SOURCE_DIR CASE
"""

import contextlib
import json
import os
import random
import re
import resource
import select
import signal
import socket
import subprocess
import sys
import tempfile
import time

from standing import Standing, await_address, begin_agent, end_agent

DOGGED, SOURCE, CASE = os.path.abspath(sys.argv[1]), *sys.argv[2:4]
HEAT = os.path.join(SOURCE, "apps", "heat1d", "heat1d.dog")
WAVEFRONT = os.path.join(SOURCE, "apps", "wavefront", "wavefront.dog")
HEAT2D = os.path.join(SOURCE, "apps", "heat2d", "heat2d.dog")


def check(what, got, expected, report=""):
    if got != expected:
        raise SystemExit(f"{what}: {got}, not {expected}\n{report}")


def serial(*arguments):
    done = subprocess.run([DOGGED, "run", *arguments, "--json"],
                          capture_output=True, text=True, check=True)
    return json.loads(done.stdout)["result_digest"]


# A kernel of the user's own: nobody knows what its bits depend on.
OWN = """
param N = 12
array a(i = 0:N) : double [3]
kernel next(in a, out b) from "own.so"
input a(i) for i = 0:0 else call first(a)
kernel first(out a) from "own.so"
task step
  creates a(i) as b
  for i = 1:N
  using a(i-1) as a
  call next(a, b)
end task
result a(:)
"""
OWN_C = """
struct value { void* data; long rank; const long* extents; long type; };
int first(const struct value* in, struct value* out, const double* numbers) {
  for (int i = 0; i < 3; ++i) ((double*)out[0].data)[i] = i;
  return 0;
}
int next(const struct value* in, struct value* out, const double* numbers) {
  for (int i = 0; i < 3; ++i)
    ((double*)out[0].data)[i] = ((double*)in[0].data)[i] / 3;
  return 0;
}
"""
WITH_SINE = """
param N = 20001
param T = 100
input u(x)(0) for x = 0:N-1 else sin(0.01*x)
boundary u(0)(t) = 0
boundary u(N-1)(t) = 0
task step
  creates u(x)(t) as n
  for x = 1:N-2  t = 1:T
  using u(x-1)(t-1) as l  u(x)(t-1) as c  u(x+1)(t-1) as r
  code
    n = sin(l) + 0.1*cos(c*r)
  end code
end task
result u(:)(T)
"""


# An OpenBLAS that ends who calls it.
NO_BLAS_C = """
#include <stdlib.h>
void cblas_dgemm(void) { abort(); }
void cblas_dsyrk(void) { abort(); }
void openblas_set_num_threads(int count) { (void)count; }
char* openblas_get_corename(void) { return "None"; }
char* openblas_get_config(void) { return "OpenBLAS 0.0.0"; }
"""


def has_feature(name):
    with open("/proc/cpuinfo") as file:
        return re.search(rf"^flags.*\b{name}\b", file.read(), re.M) is not None


def busy(report):
    return sorted(n > 0 for n in report["tasks_per_agent"])


def case_numeric_class():
    """Agents run what depends on nothing that they lack: where BLAS would
    compute otherwise, stencils, and factorisations whose products are our own;
    where the C library would, code without its mathematics. They serve all the
    same: a client that talks to one of them gets the job's bits."""
    other = {"OPENBLAS_CORETYPE": "Prescott"}
    plain = {"GLIBC_TUNABLES": "glibc.cpu.hwcaps=-FMA,-AVX2"}
    all_run, one_runs = [True] * 3, [False, False, True]
    own_products = has_feature("avx512f")
    with tempfile.TemporaryDirectory() as folder:
        sine = os.path.join(folder, "sine.dog")
        with open(sine, "w") as file:
            file.write(WITH_SINE)
        stencil = (HEAT, "-D", "N=200001", "--agents", "3")
        mathematics = (sine, "--agents", "3")
        factors = [
            (os.path.join(SOURCE, "apps", name, name + ".dog"), "-D", "N=1024",
             "-D", "NB=64", "--agents", "3")
            for name in ("cholesky", "lu", "qr")]
        with open(os.path.join(folder, "none.c"), "w") as file:
            file.write(NO_BLAS_C)
        subprocess.run(["cc", "-shared", "-fPIC", "-o",
                        os.path.join(folder, "libopenblas.so.0"),
                        os.path.join(folder, "none.c")], check=True)
        none = {"LD_LIBRARY_PATH": folder}
        for env, programs in (
                (other, [(stencil, True), (mathematics, True)] +
                 [(factor, own_products) for factor in factors]),
                (none, [(stencil, True)] +
                 [(factor, own_products) for factor in factors]),
                (plain, [(stencil, True), (mathematics,
                                           not has_feature("fma"))])):
            with Standing(DOGGED) as cluster:
                cluster.start(env=env)
                cluster.start()
                cluster.start(env=env)
                for program, takes_part in programs:
                    report, _ = cluster.run(*program, at=0)
                    check("digest", report["result_digest"],
                          serial(*program[:-2]), report)
                    check(f"agents that ran {program}", busy(report),
                          all_run if takes_part else one_runs, report)


def case_numeric_class_lacks():
    """Agents of another class run nothing; without the one of its class a job
    waits, and says for whom; tests/sim/cluster_test.cc waits until it fails."""
    other = {"OPENBLAS_CORETYPE": "Prescott"}
    with tempfile.TemporaryDirectory() as folder, Standing(DOGGED) as cluster:
        own, source = [os.path.join(folder, f) for f in ("own.dog", "own.c")]
        for path, text in ((own, OWN), (source, OWN_C)):
            with open(path, "w") as file:
                file.write(text)
        subprocess.run(["cc", "-O2", "-shared", "-fPIC", "-o",
                        os.path.join(folder, "own.so"), source], check=True)
        expected = serial(own)
        cluster.start(env=other)
        cluster.start()
        cluster.start(env=other)
        report, _ = cluster.run(own, at=0)
        check("digest", report["result_digest"], expected, report)
        check("agents that ran tasks", busy(report), [False, False, True],
              report)
        cluster.agents[1].kill()
        cluster.agents[1].wait()
        command = [DOGGED, "run", own, "-D", "N=13", "--cluster",
                   cluster.addresses[2]]
        client = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        status = cluster.await_status(
            "a job that waits", at=2,
            wanted=lambda s: any(j["note"] for j in s["jobs"]))
        job = [j for j in status["jobs"] if j["note"]][0]
        if "numeric class" not in job["note"]:
            raise SystemExit(f"no word of the numeric class: {job}")
        for line in client.stderr:
            if "numeric class" in line:
                break
        else:
            raise SystemExit("the client has no word of the numeric class")
        subprocess.run([DOGGED, "cancel", "--cluster", cluster.addresses[0],
                        job["job"]], check=True, stdout=subprocess.DEVNULL)
        _, words = client.communicate(timeout=60)
        check("exit status of a cancelled run", client.returncode, 1, words)


def leaves_in_time(cluster, program):
    """An agent of three leaves while they run the job, which is cancelled then.
    False if they were faster."""
    command = [DOGGED, "run", *program, "--cluster", cluster.addresses[0]]
    client = subprocess.Popen(command, stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL)
    cluster.await_status(
        "tasks that ran",
        lambda s: s["jobs"] and s["jobs"][0]["tasks_executed"] > 30)
    cluster.agents[2].send_signal(signal.SIGTERM)
    check("leaving", cluster.agents[2].wait(60), 0)
    # An agent that takes it for alive has it leave in the run that follows.
    for at in range(2):
        cluster.await_status(
            "one that has left", at=at,
            wanted=lambda s: [a["state"] for a in s["agents"]
                              ].count("alive") == 2)
    job = cluster.status()["jobs"][0]
    subprocess.run([DOGGED, "cancel", "--cluster", cluster.addresses[0],
                    job["job"]], stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL)
    return client.wait(60) == 1


def case_left_counts():
    """The work of an agent that left counts for the run of the job in which it
    left, and for no later one."""
    for steps in (8000, 32000, 128000):
        program = (HEAT, "-D", "N=400001", "-D", f"T={steps}", "--agents", "3")
        with Standing(DOGGED) as cluster:
            for _ in range(3):
                cluster.start()
            if not leaves_in_time(cluster, program):
                continue
            report, words = cluster.run(*program)
        check("digest", report["result_digest"], serial(*program[:5]), report)
        check("agents that ran tasks", len(report["tasks_per_agent"]), 2,
              report)
        # Two homes that differ for a moment may each run a task.
        if report["tasks_recomputed"] > report["tasks_needed"] // 20:
            raise SystemExit(f"recomputed {report['tasks_recomputed']}\n"
                             f"{report}\n{words}")
        check("who did not answer", "agents_unheard" in report, False, report)
        return
    raise SystemExit("no agent left in time")


def refuse_agent(*arguments, word):
    done = subprocess.run([DOGGED, "agent", *arguments], text=True,
                          capture_output=True, timeout=60)
    check(f"exit status of {arguments}", done.returncode, 2, done.stderr)
    if word not in done.stderr:
        raise SystemExit(f"{arguments}: no word of {word}\n{done.stderr}")


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def case_advertise():
    """All interfaces are no address that others can be told: it is refused
    unless one is given. The second port can be chosen, and is shown."""
    for everywhere in ("0.0.0.0:0", "[::]:0", "0:7070", "[::ffff:0.0.0.0]:0"):
        refuse_agent("--insecure", "--listen", everywhere, word="--advertise")
        refuse_agent("--insecure", "--listen", everywhere, "--advertise",
                     everywhere, word="leads nowhere")
    refuse_agent("--advertise", "nonsense", word="--advertise")
    with Standing(DOGGED) as cluster:
        port = free_port()
        cluster.start("--insecure", "--listen", "0.0.0.0:0", "--advertise",
                      "127.0.0.1:0", "--fabric-port", str(port))
        check("host", cluster.addresses[0].split(":")[0], "127.0.0.1")
        cluster.start("--listen", "127.0.0.1:0", "--arena", "off")
        cluster.start("--insecure", "--listen", "0.0.0.0:0", "--advertise",
                      "localhost:0")
        status = cluster.status(at=1)
        check("addresses", sorted(a["address"] for a in status["agents"]),
              sorted(cluster.addresses), status)
        fabric = {a["address"]: a["fabric_address"] for a in status["agents"]}
        check("fabric", fabric[cluster.addresses[0]], f"127.0.0.1:{port}",
              status)
        program = (HEAT, "-D", "N=200001", "-D", "T=200")
        report, _ = cluster.run(*program, "--agents", "3")
        check("digest", report["result_digest"], serial(*program), report)
        check("agents that ran tasks", busy(report), [True] * 3, report)
        check("who did not answer", "agents_unheard" in report, False, report)
    # An address of elsewhere, as behind a translation.
    agent = begin_agent(DOGGED, "--insecure", "--listen", "0.0.0.0:0",
                        "--advertise", "192.0.2.1:0")
    words = agent.stdout.readline().split()
    end_agent(agent)
    check("words", [words[0], words[1].split(":")[0], words[2],
                    words[3].split(":")[0]],
          ["listening", "192.0.2.1", "fabric", "192.0.2.1"])


def case_unheard():
    """An agent whose address leads nowhere for the client: the account says
    that its part lacks."""
    program = (HEAT, "-D", "N=200001", "-D", "T=500")
    with Standing(DOGGED) as cluster:
        cluster.start()
        cluster.start()
        nowhere = f"127.0.0.1:{free_port()}"
        agent = begin_agent(DOGGED, "--insecure", "--listen", "0.0.0.0:0",
                            "--workers", 1, "--advertise", nowhere, "--join",
                            cluster.addresses[0])
        try:
            await_address(agent)
            cluster.await_status(
                "three agents", lambda s: [a["state"] for a in s["agents"]] ==
                ["alive"] * 3)
            report, words = cluster.run(*program, "--agents", "3")
        finally:
            end_agent(agent)
        check("digest", report["result_digest"], serial(*program), report)
        check("who did not answer", report.get("agents_unheard"), [nowhere],
              report)
        check("the account", report["tasks_executed"] < report["tasks_needed"],
              True, report)
        line = (f"warning: {nowhere} did not answer: what was done there is "
                "not counted")
        check("words", line in words, True, words)


def case_slow_compiler():
    """An agent whose compiler hangs answers and is not taken for dead; the job
    waits for it. An agent that is told to leave leaves at once."""
    with tempfile.TemporaryDirectory() as folder, Standing(DOGGED) as cluster:
        gate = os.path.join(folder, "gate")
        os.mkfifo(gate)
        compiler = os.path.join(folder, "slow-cc")
        with open(compiler, "w") as file:
            file.write("#!/bin/sh\n"
                       '[ "$1" = --version ] || read line < ' + gate + "\n"
                       'exec cc "$@"\n')
        os.chmod(compiler, 0o755)
        slow = {"DOGGED_CC": compiler,
                "XDG_CACHE_HOME": os.path.join(folder, "slow")}
        quick = {"XDG_CACHE_HOME": os.path.join(folder, "quick")}
        cluster.start(env=quick)
        cluster.start(env=slow)
        # Tiles for eight agents: each of the two has some.
        command = [DOGGED, "run", HEAT, "-D", "N=20001", "--agents", "8",
                   "--cluster", cluster.addresses[0], "--json"]
        client = subprocess.Popen(command, stdout=subprocess.PIPE, text=True,
                                  env={**os.environ, **quick})
        # The agent has the job and compiles: only then somebody reads the gate.
        with open(gate, "w") as open_gate:
            status = cluster.status(at=1)
            check("agents alive while one compiles",
                  [a["state"] for a in status["agents"]], ["alive"] * 2)
            check("the client waits", client.poll(), None)
            open_gate.write("go\n")
        out, _ = client.communicate(timeout=120)
        check("exit status", client.returncode, 0, out)

        # Another program, so another source.
        command[2:5] = [HEAT2D, "-D", "N=257", "-D", "T=10"]
        client = subprocess.Popen(command, stdout=subprocess.PIPE, text=True,
                                  env={**os.environ, **quick})
        with open(gate, "w"):
            cluster.agents[1].send_signal(signal.SIGTERM)
            check("leaving while compiling", cluster.agents[1].wait(60), 0)
        out, _ = client.communicate(timeout=120)
        check("exit status", client.returncode, 0, out)
        left = [f for f in os.listdir(os.path.join(folder, "slow", "dogged"))
                if not f.endswith((".c", ".so")) or f.count(".") > 1]
        check("files of an interrupted compiler", left, [])


def case_left_alone():
    """A job whose client was killed ends by itself, with the digest; the same
    command gets the results of a job that is running, and of one that is done,
    and nothing is run for that."""
    program = (HEAT, "-D", "N=400001", "-D", "T=2000", "--agents", "8")
    expected = serial(*program[:5])
    with Standing(DOGGED) as cluster:
        for _ in range(3):
            cluster.start()
        client = subprocess.Popen(
            [DOGGED, "run", *program, "--cluster", cluster.addresses[0]],
            stderr=subprocess.DEVNULL)
        cluster.await_status("the job", lambda s: s["jobs"])
        client.kill()
        client.wait()
        status = cluster.await_status(
            "done", lambda s: [j["state"] for j in s["jobs"]] == ["done"], at=1)
        check("digest", status["jobs"][0]["result_digest"], expected, status)
        executed = status["jobs"][0]["tasks_executed"]
        report, _ = cluster.run(*program, at=2)
        check("digest of the second run", report["result_digest"], expected,
              report)
        status = cluster.status()
        check("submissions", [(j["state"], j["submissions"])
                              for j in status["jobs"]], [("done", 2)], status)
        check("tasks run for it", status["jobs"][0]["tasks_executed"],
              executed, status)


def case_run_again():
    """A job that was run before gives the same again, also once its agents
    have forgotten it, and whatever the seed: then they run it anew."""
    with Standing(DOGGED) as cluster:
        for _ in range(2):
            cluster.start()
        first, _ = cluster.run(HEAT, "--seed", "7")
        # Agents forget a job two seconds after its last client.
        until = time.monotonic() + 5
        cluster.await_status("forgotten", lambda _: time.monotonic() > until)
        again, _ = cluster.run(HEAT, "--seed", "7")
        check("digest", again["result_digest"], first["result_digest"], again)


def case_tiles():
    """Tiles are cut for the agents that there are, and stay what they are for
    a client that comes back when there are more."""
    def program(steps):
        return (HEAT2D, "-D", "N=512", "-D", f"T={steps}")
    with Standing(DOGGED) as cluster:
        cluster.start()
        cluster.start()
        first, _ = cluster.run(*program(64))
        for_two, _ = cluster.run(*program(64), "--agents", 2, "--workers", 1)
        check("job", first["job"], for_two["job"])
        cluster.start()
        again, _ = cluster.run(*program(64))
        check("job, once there are three", again["job"], first["job"])
        more, _ = cluster.run(*program(65))
        for_three, _ = cluster.run(*program(65), "--agents", 3)
        check("job of three", more["job"], for_three["job"])
        check("digest", first["result_digest"], serial(*program(64)))


def case_renamed_output():
    """Where results go is no part of a job: with another file the same command
    attaches to what runs, in the tiles that it has."""
    with open(HEAT2D, encoding="utf-8") as file:
        text = file.read().rstrip()
    with tempfile.TemporaryDirectory() as folder, Standing(DOGGED) as cluster:
        def program(name):
            os.mkdir(os.path.join(folder, name))
            path = os.path.join(folder, name, "heat2d.dog")
            with open(path, "w", encoding="utf-8") as file:
                file.write(f'{text} to "{folder}/{name}.npy"\n')
            return path, "-D", "N=1024", "-D", "T=1000"
        cluster.start()
        cluster.start()
        client = subprocess.Popen(
            [DOGGED, "run", *program("one"), "--cluster", cluster.addresses[0],
             "--json"], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            text=True)
        cluster.await_status("a job", lambda s: s["jobs"])
        cluster.start()
        cluster.await_status("all three", lambda s: len(s["agents"]) == 3)
        second, _ = cluster.run(*program("two"))
        out, words = client.communicate(timeout=240)
        check("exit status", client.returncode, 0, words)
        check("job", json.loads(out)["job"], second["job"])
        for name in ("one", "two"):
            check(name, os.path.exists(f"{folder}/{name}.npy"), True)


def case_many_jobs():
    """A hundred jobs, five at a time; their memory is freed once their clients
    have the results."""
    with Standing(DOGGED) as cluster:
        cluster.start()
        cluster.start()

        def memory(status):
            return max(a["memory_bytes"] for a in status["agents"])

        before = memory(cluster.status())
        for first in range(0, 100, 5):
            clients = [subprocess.Popen(
                [DOGGED, "run", HEAT, "-D", f"N={500001 + first + i}", "-D",
                 "T=1", "--cluster", cluster.addresses[i % 2]],
                stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
                for i in range(5)]
            for client in clients:
                _, words = client.communicate(timeout=240)
                check("exit status", client.returncode, 0, words)
        # All results together take 400 MB at each of the two.
        cluster.await_status("memory is free again", lambda s:
                             memory(s) < before + (64 << 20))
        states = {job["state"] for job in cluster.status()["jobs"]}
        check("states", states, {"done"})


def case_contact_dies():
    """The agent that the client talks to is killed: it goes on with another
    one, and the report says who was lost."""
    program = (HEAT, "-D", "N=400001", "-D", "T=2000")
    expected = serial(*program)
    with Standing(DOGGED) as cluster:
        for _ in range(3):
            cluster.start()
        for at in range(3):
            cluster.await_status("all three", at=at, wanted=lambda s:
                                 len(s["agents"]) == 3)
        client = subprocess.Popen(
            [DOGGED, "run", *program, "--agents", "8", "--cluster",
             cluster.addresses[0], "--json"], stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True)
        cluster.await_status("some of it done", at=1, wanted=lambda s:
                             s["jobs"] and s["jobs"][0]["progress"] > 0.2)
        cluster.agents[0].kill()
        out, words = client.communicate(timeout=120)
        check("exit status", client.returncode, 0, words)
        report = json.loads(out)
        check("digest", report["result_digest"], expected, report)
        check("lost", [loss["who"] for loss in report["losses"]],
              [cluster.addresses[0]], report)
        check("agents", (report["agents_started"], report["agents_joined"],
                         report["agents_lost"]), (3, 0, 1), report)
        check("redone", report["losses"][0]["redone"],
              report["tasks_recomputed"], report)


def begin_endless(cluster):
    """A client of a job that goes on until it is cancelled, once some of its
    tasks are done; and the job."""
    client = subprocess.Popen(
        [DOGGED, "run", WAVEFRONT, "-D", "N=10000", "--coalesce", "off",
         "--agents", "3", "--cluster", cluster.addresses[0]],
        stderr=subprocess.DEVNULL)
    status = cluster.await_status(
        "tasks", lambda s: s["jobs"] and s["jobs"][0]["tasks_executed"] > 20)
    return client, status["jobs"][0]["job"]


def case_stopped():
    """An agent that is stopped in the middle of its tasks, taken for dead and
    goes on, joins again as a new one, and no other agent does; its tasks
    meanwhile harm nobody."""
    expected = serial(HEAT)
    with tempfile.TemporaryDirectory() as folder, Standing(DOGGED) as cluster:
        words = [os.path.join(folder, str(at)) for at in range(3)]
        for path in words:
            with open(path, "w") as file:
                cluster.start(stderr=file)
        client, job = begin_endless(cluster)
        stopped, address = cluster.agents[2], cluster.addresses[2]

        def deaths(path):
            with open(path) as file:
                return re.findall(r"counts as dead \((.*)\); it joins again",
                                  file.read())

        def states(status):
            return [a["state"] for a in status["agents"]
                    if a["address"] == address]

        stopped.send_signal(signal.SIGSTOP)
        cluster.await_status("taken for dead", lambda s: not {
            "alive", "suspect"}.intersection(states(s)))
        stopped.send_signal(signal.SIGCONT)
        cluster.await_status("alive again", lambda s: "alive" in states(s))
        subprocess.run([DOGGED, "cancel", "--cluster", cluster.addresses[0],
                        job], check=True,
                       stdout=subprocess.DEVNULL)
        check("cancelled", client.wait(timeout=120), 1)
        report, _ = cluster.run(HEAT, at=2)
        check("digest", report["result_digest"], expected, report)
        check("processes that ended", [a.poll() for a in cluster.agents],
              [None] * 3)
        check("agents that joined again", [len(deaths(at)) for at in words],
              [0, 0, 1])
        check("a cause", bool(re.match("silent for [0-9]|the others go on",
                                       deaths(words[2])[0])), True)


def case_stopped_is_asked():
    """An agent that was stopped and counts as dead is asked to cancel a job as
    it goes on: the job is known there, and is cancelled for all."""
    with Standing(DOGGED) as cluster:
        for _ in range(3):
            cluster.start()
        client, job = begin_endless(cluster)
        stopped, address = cluster.agents[2], cluster.addresses[2]
        stopped.send_signal(signal.SIGSTOP)
        cluster.await_status("taken for dead", lambda s: "dead" in [
            a["state"] for a in s["agents"] if a["address"] == address])

        def ask(*words):
            return subprocess.Popen([DOGGED, *words, "--cluster", address],
                                    stdout=subprocess.PIPE,
                                    stderr=subprocess.PIPE, text=True)

        asked = [ask("status", "--json") for _ in range(4)]
        cancel = ask("cancel", job)
        stopped.send_signal(signal.SIGCONT)
        for client_of_it in asked:
            out, words = client_of_it.communicate(timeout=60)
            check("jobs it knows", [j["job"] for j in json.loads(out)["jobs"]],
                  [job], words)
        _, words = cancel.communicate(timeout=60)
        check("exit status of cancel", cancel.returncode, 0, words)
        check("cancelled", client.wait(timeout=60), 1)


def case_same_name():
    """A second job of the same name with another text, or the same one that
    includes another, is refused while the first one runs, which is not
    disturbed; other parameters and outputs are no other text.
    """
    with tempfile.TemporaryDirectory() as folder, Standing(DOGGED) as cluster:
        cluster.start()
        cluster.start()
        other = os.path.join(folder, "heat1d.dog")
        with open(HEAT) as file, open(other, "w") as copy:
            text = file.read()
            copy.write(text + "\n# another text\n")
        own = os.path.join(folder, "own", "heat1d.dog")
        part = os.path.join(folder, "own", "part.dog")
        os.mkdir(os.path.dirname(own))
        with open(own, "w") as file:
            file.write('include "part.dog"\n')
        with open(part, "w") as file:
            file.write(text)
        client = subprocess.Popen(
            [DOGGED, "run", own, "-D", "N=1000001", "-D", "T=20000",
             "--agents", "8", "--cluster", cluster.addresses[0], "--json"],
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        cluster.await_status("the job", lambda s: s["jobs"], at=1)
        _, words = cluster.run(other, "-D", "N=101", at=1, expect=2)
        if "with another text" not in words:
            raise SystemExit(f"why was it refused? {words!r}")
        with open(part, "a") as file:
            file.write("# another part\n")
        _, words = cluster.run(own, "-D", "N=101", at=1, expect=2)
        if "with another text" not in words:
            raise SystemExit(f"why was it refused? {words!r}")
        # Last, for beside the first job it may take as long as that.
        with open(part, "w") as file:
            file.write(text)
        cluster.run(own, "-D", "N=101", "--output",
                    "phi(3)(1)=" + os.path.join(folder, "phi.npy"), at=1)
        out, _ = client.communicate(timeout=120)
        check("exit status of the first", client.returncode, 0, out)
        # Now they are welcome.
        cluster.run(other, "-D", "N=101", at=1)
        cluster.run(own, "-D", "N=101", at=1)


def frames(rng):
    """Bytes that no client sends, each to its end."""
    yield b""
    yield b"GET / HTTP/1.1\r\n\r\n"
    yield b"dgd2"
    yield b"dgd2" + (2 ** 31).to_bytes(4, "little") + b"\x07"
    yield b"dgd2" + (2 ** 30).to_bytes(4, "little") + b"\x05" + b"x" * 1000
    yield b"dgd2" + (100).to_bytes(4, "little") + b"\x07" + b"x"  # half
    for _ in range(30):
        yield rng.randbytes(rng.randrange(1, 4000))
    for kind in list(range(0, 20)) + [255]:
        for size in (0, 1, 7, 8, 9, 40, 3000):
            yield (b"dgd2" + size.to_bytes(4, "little") + bytes([kind])
                   + rng.randbytes(size))


def listening_ports(process):
    """The TCP ports at which a process of this host listens."""
    sockets = set()
    for fd in os.listdir(f"/proc/{process}/fd"):
        try:
            sockets.add(os.readlink(f"/proc/{process}/fd/{fd}"))
        except FileNotFoundError:
            pass  # closed meanwhile
    ports = []
    with open(f"/proc/{process}/net/tcp") as table:
        for row in list(table)[1:]:
            fields = row.split()
            if fields[3] == "0A" and f"socket:[{fields[9]}]" in sockets:
                ports.append(int(fields[1].split(":")[1], 16))
    return ports


def case_foreign_bytes():
    """Whatever reaches the control port, half of it or a thousand times: the
    agents stand, answer, and run jobs meanwhile. A connection that has ended is
    let go: if it is kept, it wakes the agent for ever."""
    seed = random.randrange(2 ** 32)
    print("seed", seed)
    rng = random.Random(seed)
    with Standing(DOGGED) as cluster:
        cluster.start()
        cluster.start()
        expected = serial(HEAT, "-D", "N=20001")
        host, port = cluster.addresses[0].rsplit(":", 1)
        open_ones = []
        for sent in frames(rng):
            connection = socket.create_connection((host, int(port)))
            try:
                connection.sendall(sent)
            except OSError:
                pass  # it may have hung up already
            if rng.random() < 0.5:
                connection.close()
            else:
                open_ones.append(connection)
        report, _ = cluster.run(HEAT, "-D", "N=20001", at=0)
        check("digest", report["result_digest"], expected, report)
        resource.setrlimit(resource.RLIMIT_NOFILE,
                           (min(4096, resource.getrlimit(
                               resource.RLIMIT_NOFILE)[1]),) * 2)
        for _ in range(1000):
            open_ones.append(socket.create_connection((host, int(port))))
        status = cluster.status()
        check("agents", [a["state"] for a in status["agents"]], ["alive"] * 2)
        report, _ = cluster.run(HEAT, "-D", "N=20001", "-D", "T=99", at=0)
        for connection in open_ones:
            connection.close()
        check("agents", [a.poll() for a in cluster.agents], [None] * 2)
        ports = listening_ports(cluster.agents[0].pid)
        check("ports of an agent, control and fabric", len(ports), 2)
        for sent in (b"", b"\n", b"GET / HTTP/1.0\r\n\r\n"):
            for port in ports:
                with socket.create_connection((host, port),
                                              timeout=60) as connection:
                    connection.sendall(sent)
                    connection.shutdown(socket.SHUT_WR)
                    try:
                        while connection.recv(4096):
                            pass
                    except ConnectionResetError:
                        pass  # an end as well
        agents = cluster.status()["agents"]
        if max(agent["refused"] for agent in agents) < 30:
            raise SystemExit(f"hardly anything was refused: {agents}")
        # No bytes that were sent became a job.
        check("jobs", sorted({j["program"] for j in cluster.status()["jobs"]}),
              ["heat1d"])


def ends(expect, says, *arguments, env=None, cwd=None):
    """Runs a command that is wrong; it says so, with its exit status."""
    done = subprocess.run([DOGGED, *map(str, arguments)], capture_output=True,
                          text=True, timeout=60, cwd=cwd,
                          env={**os.environ, **(env or {})})
    if done.returncode != expect or says not in done.stderr:
        raise SystemExit(f"{arguments}: exit status {done.returncode}, not "
                         f"{expect}, or no {says!r}:\n{done.stdout}"
                         f"{done.stderr}")
    # An error is "error: ..." or "FILE:LINE:COLUMN: error[D...]: ...".
    if expect != 0 and not re.search(r"^(\S+: )?error(\[D\d+\])?: ",
                                     done.stderr, re.MULTILINE):
        raise SystemExit(f"{arguments}: no error:\n{done.stderr}")


# Descriptions of a site that serve nobody; HERE is this host.
BAD_SITES = (
    ("switch a in b\nswitch b in a\nhost HERE in a\n", "a is within itself"),
    ("host elsewhere in a\n", "is not among the 1 hosts named"),
    ("host HERE id 01\nhost other id 01\n", "have one topology ID"),
    ("host HERE id 08\n", "'8' is no digit of base 8"),
    ("host HERE id " + 65 * "0" + "\n", "65 digits; 1 to 64 are possible"),
    ("", "no host is named"))


def case_bad_agents():
    """Agents that can't start, and addresses that are none."""
    with tempfile.TemporaryDirectory() as folder, Standing(DOGGED) as cluster:
        ready = os.path.join(folder, "ready")
        address = cluster.start("--ready-file", ready)
        with open(ready) as file:
            check("ready file", file.read(), address + "\n")
        ends(4, "cannot listen at " + address, "agent", "--listen", address)
        alone = begin_agent(DOGGED, "--join", "127.0.0.1:1",
                            stderr=subprocess.PIPE)
        said = alone.stdout.readline()
        alone.send_signal(signal.SIGTERM)
        words = alone.communicate(timeout=60)[1]
        check("serves alone", said.split()[:1], ["listening"], words)
        check("says so", "no agent answers at 127.0.0.1:1 yet" in words, True,
              words)
        ends(2, "is not HOST:PORT", "agent", "--join", "nonsense")
        ends(4, "no agent to join was named", "agent", "--join", "-")
        ends(2, "is not HOST:PORT", "agent", "--listen", "127.0.0.1")
        ends(2, "that is this agent itself", "agent", "--listen",
             "127.0.0.1:7", "--join", "127.0.0.1:7")
        # All have the same words, so one of several may be it.
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            own = f"127.0.0.1:{taken.getsockname()[1]}"
        among = begin_agent(DOGGED, "--listen", own, "--join", own, "--join",
                            address)
        check("serves", await_address(among), own)
        cluster.await_status(
            "the other", wanted=lambda s: [a["state"] for a in s["agents"]
                                           ].count("alive") == 2)
        end_agent(among)
        ends(2, "dogged key new", "agent", "--listen", "0.0.0.0:0")
        ends(2, "--insecure", "agent", "--listen", "[::]:0")
        ends(2, "which runs", "agent", "--ready-file", ready)
        ends(2, "--ready-file", "agent", "--ready-file",
             os.path.join(folder, "none", "ready"))
        ends(2, "", "agent", "--topology-id", "xyz")
        for words, says in BAD_SITES:
            with open(os.path.join(folder, "site"), "w") as file:
                file.write(words.replace("HERE", socket.gethostname()))
            ends(2, says, "agent", "--topology-base", 8, "--topology-file",
                 file.name)
        ends(2, "is no file", "agent", "--topology-file", folder)
        ends(2, "is no file", "agent", "--topology-file", "/dev/zero")
        ends(2, "none: can't be read", "agent", "--topology-file",
             os.path.join(folder, "none"))
        for command in ("status", "cancel"):
            job = ["abc"] if command == "cancel" else []
            ends(4, "127.0.0.1:1", command, "--cluster", "127.0.0.1:1", *job)
            ends(2, "is not HOST:PORT", command, "--cluster", "nonsense", *job)
        ends(4, "127.0.0.1:1", "run", HEAT, "--cluster", "127.0.0.1:1")
        ends(2, "is not HOST:PORT", "run", HEAT, "--cluster", "nonsense")
        ends(2, "not for those of --cluster", "run", HEAT, "--cluster",
             address, "--kill-at", "50%")
        # The ready file of one that is gone is taken over; IPv6 works.
        cluster.agents[0].kill()
        cluster.agents[0].wait()
        cluster.addresses.clear()
        if socket.has_ipv6 and os.path.exists("/proc/net/if_inet6"):
            cluster.start("--listen", "[::1]:0", "--ready-file", ready)
            cluster.start("--listen", "[::1]:0")
            report, _ = cluster.run(HEAT, "-D", "N=2001", at=1)
            check("digest over IPv6", report["result_digest"],
                  serial(HEAT, "-D", "N=2001"), report)


COPY = """
input s(t) for t = 0:9
task copy
  creates p(t) as n
  for t = 0:9
  using s(t) as a
  code
    n = a
  end code
end task
result p(:)
"""


def write_input(path):
    head = "{'descr': '<f8', 'fortran_order': False, 'shape': (10,), }"
    head += " " * (63 - (10 + len(head)) % 64) + "\n"
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + len(head).to_bytes(2, "little"))
        file.write(head.encode() + bytes(80))


def case_bad_flags():
    """Flags, variables and commands that mean nothing, or two things: 2, and
    what to write instead, before anything runs. A size may have a suffix, a
    program a byte order mark."""
    for words, says in (
            (("--kill-every", "nan"), "seconds, as 5 or 2.5s"),
            (("--kill-every", "0"), "seconds, as 5 or 2.5s"),
            (("--kill-every", "-1s"), "seconds, as 5 or 2.5s"),
            (("--kill-at", "50"), "write 50% of the tasks, or 50s"),
            (("--join-at", "40%,2"), "write 2% of the tasks, or 2s"),
            (("--kill-at", "nan%"), "neither a share"),
            (("--kill-at", "101%"), "is more than all tasks"),
            (("--kill-at", "0.4"), "write 40% of the tasks, or 0.4s"),
            (("--kill-at", ","), "neither a share"),
            (("--cluster", "--output", "phi"), "--output is a flag"),
            (("--seed", "-1"), "from 0 to 18446744073709551615"),
            (("--seed", "18446744073709551616"), "from 0 to"),
            (("-D", "N=101", "-D", "T=3", "-D", "N=102"),
             "-D gives N twice: 101 and 102"),
            (("--input", "a=x.npy", "--input", "a=y.npy"),
             "--input gives a twice")):
        ends(2, says, "run", HEAT, "--agents", 2, *words)
    ends(2, "DOGGED_SEED", "run", HEAT, env={"DOGGED_SEED": "-1"})
    for size in ("x", "4T", "0", "-1", "1.5G", "9007199254740992M"):
        ends(2, "64M, 4G", "agent", "--memory", size)
        ends(2, f'DOGGED_MEMORY) "{size}"', "agent",
             env={"DOGGED_MEMORY": size})
        ends(2, f'DOGGED_MEMORY "{size}"', "run", HEAT, "--agents", 2,
             env={"DOGGED_MEMORY": size})
    ends(0, "", "run", HEAT, "--agents", 2, env={"DOGGED_MEMORY": "64M"})
    ends(2, "which job?", "cancel", "--cluster", "127.0.0.1:1", "")
    ends(2, "no command frob\n", "frob")
    ends(2, "no command rnu; did you mean run?\nThere are run, ", "rnu", HEAT)
    ends(2, "which command?", *())
    ends(2, "; dogged run --help says more\n", "run")
    ends(2, "; dogged run --help says more\n", "run", HEAT, "--agents", 0)
    ends(2, "; dogged status --help says more\n", "status")
    ends(2, "is no code", "explain", "D999")
    ends(2, "run has no flag --agnets; did you mean --agents?\n", "run", HEAT,
         "--agnets=3")
    ends(2, "run has no flag --frob\n", "run", HEAT, "--frob", "3")
    ends(2, "submit has no flag --output: --want names labels", "submit", HEAT,
         "--cluster", "127.0.0.1:1", "--output", "phi=phi.npy")
    ends(2, "a file's name stands before .npy; is a variable empty?", "run",
         HEAT, "--output", "phi=.npy")
    ends(2, "dogged has no flag --frob\n", "--frob", "run", HEAT)
    # Before a flag that is lacking, which the unknown one may be.
    for command in ("status", "cancel", "wait", "fetch", "get", "watch",
                    "forget", "submit"):
        for words in (("--clustr", "127.0.0.1:1"), ("--clustr=127.0.0.1:1",)):
            ends(2, f"error: {command} has no flag --clustr; did you mean "
                 "--cluster?\n", command, *words)
    ends(2, "sim has no flag --seed; did you mean --seeds?\n", "sim", HEAT,
         "--seed", "1:3")
    ends(2, "key has no flag --frob\n", "key", "--frob")
    ends(2, "run has no flag --agnets; did you mean --agents?\n", "run",
         "--agnets=3")
    ends(2, "error: --cluster is required; ", "status", "127.0.0.1:7070")
    ends(2, "check takes no word more: b.dog\n", "check", HEAT, "b.dog")
    with tempfile.TemporaryDirectory() as folder:
        ends(2, "two outputs go to this file", "run", HEAT, "--output",
             "phi(:)(100)=a.npy", "--output", "phi(:)(1)=./a.npy", cwd=folder)
        write_input(os.path.join(folder, "s.npy"))
        with open(os.path.join(folder, "copy.dog"), "w",
                  encoding="utf-8") as file:
            file.write(COPY)
        ends(2, "input s is read from this file, which would be overwritten",
             "run", "copy.dog", "--input", "s=s.npy", "--output",
             "p=./s.npy", cwd=folder)
    ends(0, "", "check", HEAT, "-D", " N = 2001 ")
    ends(2, "is not NAME=VALUE", "check", HEAT, "-D", " = 2001")
    ends(2, "a parameter is set by -D N=20\n", "run", HEAT, "N=20")
    for words in (("-N", "20"), ("-N=20",)):
        ends(2, "has no flag -N; a parameter is set by -D N=20\n", "run", HEAT,
             *words)
    ends(2, "the only agent: add --agents 2", "run", HEAT, "--kill-at", "40%")
    for words in (("N", "=", "5"), ("N", "5")):
        ends(2, "-D wants NAME=VALUE as one word: -D N=5\n", "run", HEAT, "-D",
             *words)
    ends(2, "--input wants ARRAY=FILE as one word: --input v=v.npy\n", "run",
         HEAT, "--input", "v", "=", "v.npy")
    for words, env in ((("--agents", "x"), {}), ((), {"DOGGED_AGENTS": "x"})):
        ends(2, "--agents or DOGGED_AGENTS: x is no whole number from 1 to ",
             "run", HEAT, *words, env=env)
    # As an unset variable of a shell gives it: never the same as no flag.
    for words in (("run", HEAT, "--cluster"), ("run", HEAT, "--workers"),
                  ("run", HEAT, "--key-file"), ("run", HEAT, "--output"),
                  ("agent", "--dir"), ("agent", "--lifetime"),
                  ("agent", "--ca-file"), ("status", "--cluster")):
        ends(2, f"{words[-1]} is empty: give it a value, or leave it out",
             *words, "")
    ends(2, "1:100", "sim", HEAT, "--seeds", "-1:3")
    ends(0, "check: running it again", "run", HEAT, "--check")
    ends(2, "error: --kill-every did not happen: the run was over before.\n",
         "run", HEAT, "--agents", 2, "--kill-every", "3600s")
    ends(3, "did you mean N?", "check", HEAT, "-D", "n=3")
    ends(2, "phi has 2 indices", "graph", HEAT, "--at", "phi(3)")
    ends(2, "did you mean phi?", "graph", HEAT, "--at", "phy(3)(4)")
    words = subprocess.run([DOGGED, "check", HEAT], capture_output=True,
                           text=True, check=True).stdout
    if not words.startswith("heat1d: 5001 values wanted; "):
        raise SystemExit(f"check said {words!r}")
    check("memory", words.splitlines()[1].split(";")[0],
          "memory: results 40 kB, in use meanwhile about 80 kB")
    lacks = os.path.join(SOURCE, "tests", "dsl", "errors",
                         "input_without_file.dog")
    words = subprocess.run([DOGGED, "check", lacks], capture_output=True,
                           text=True, check=True).stdout
    if "\na run wants --input a=FILE.npy, of shape (" not in words:
        raise SystemExit(f"check said {words!r}")
    ends(3, "input a has no file", "run", lacks)
    with tempfile.TemporaryDirectory() as folder:
        # Each row when it is done: labels of a triangle.
        rows = os.path.join(folder, "rows.dog")
        with open(rows, "w") as file:
            file.write("""task init
  creates a(i)(j)(0) as v
  for i = 0:3  j = 0:3
  code
    v = i + 2*j
  end code
end task
task step
  creates a(i)(j)(k+1) as v
  for k = 0:2  i = k+1:3  j = k+1:3
  using
    a(i)(j)(k) as x
    a(k)(j)(k) as y
  code
    v = x - 0.5*y
  end code
end task
result a(i)(j)(i) for i = 0:3  j = i:3
""")
        words = subprocess.run([DOGGED, "check", rows], capture_output=True,
                               text=True, check=True).stdout
        check("labels of a triangle", words.split(";")[0],
              "rows: 10 values wanted")
    with tempfile.TemporaryDirectory() as folder:
        ends(2, "ends in .svg", "graph", HEAT, "--at", "phi(3)(4)", "-o",
             os.path.join(folder, "g.pdf"))
        check("files", os.listdir(folder), [])
        marked = os.path.join(folder, "marked.dog")
        with open(HEAT, "rb") as file, open(marked, "wb") as to:
            to.write(b"\xef\xbb\xbf" + file.read())
        ends(0, "", "check", marked)
        with open(os.path.join(folder, "main.dog"), "w") as file:
            file.write('include "marked.dog"\n')
        ends(0, "", "check", os.path.join(folder, "main.dog"))


def case_bad_files():
    """Inputs and outputs that can't serve, known before anything runs: 2 where
    the command names no such file, 3 where the file is no such array."""
    with tempfile.TemporaryDirectory() as folder:
        def write(name, content):
            path = os.path.join(folder, name)
            with open(path, "wb") as file:
                file.write(content)
            return path

        def npy(shape, descr="<f8", cut=0):
            header = ("{'descr': '%s', 'fortran_order': False, 'shape': %s, }"
                      % (descr, shape))
            header += " " * (63 - (10 + len(header)) % 64) + "\n"
            count = 1
            for extent in shape:
                count *= extent
            data = bytes(8 * count)
            return (b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little")
                    + header.encode() + data[:len(data) - cut])

        program = os.path.join(SOURCE, "tests", "dsl", "programs", "nine.dog")
        common = ("run", program, "-D", "N=9", "--input")
        good = write("good.npy", npy((9, 9)))
        subprocess.run([DOGGED, *common, "u=" + good], check=True,
                       capture_output=True)
        for extra in ((), ("--coalesce", "off")):
            ends(2, "none.npy", *common, "u=none.npy", *extra, cwd=folder)
            ends(2, "directory", *common, "u=" + folder, *extra)
            for name, content in (("empty.npy", b""), ("text.npy", b"hello"),
                                  ("short.npy", npy((9, 9), cut=1)),
                                  ("long.npy", npy((9, 9)) + b"x"),
                                  ("int.npy", npy((9, 9), "<i8")),
                                  ("half.npy", npy((9, 9), "<f2"))):
                ends(3, name, *common, "u=" + write(name, content), *extra)
            wrong = write("wrong.npy", npy((10, 9)))
            ends(3, "input u: " + wrong + " has shape (10)(9), the program wants "
                 "(9)(9)", *common, "u=" + wrong, *extra)
            ends(3, "wrong2.npy", *common,
                 "u=" + write("wrong2.npy", npy((81,))), *extra)
        ends(3, "", *common, "b=" + good)
        for output in ("phi", "phi=", "phi=x.txt", "phi(=x.npy", "=x.npy",
                       "phi(1,2)=x.npy", "phi(x)=x.npy", "phi(5:1)(1)=x.npy"):
            ends(2, "output", "run", HEAT, "--output", output)
        # A job that would take hours: nothing has run when these are refused.
        long = ("run", HEAT, "-D", "N=100000", "-D", "T=1000000000", "--output")
        for output, words in (
                ("phi(:)(2000000000)=x.npy", "   | phi(:)(2000000000)\n"
                 "   |        ^^^^^^^^^^\n"),
                ("phi(5)=x.npy", "phi has 2 indices"),
                ("phi(0:100000)(5)=x.npy", "phi(x)(t) has x = 0:99999\n"),
                ("phy=x.npy", "did you mean phi?"),
                ("phi(:)(:)=x.png", "--output: error[D024]"),
                ("phi(5)(5)=x.png", "phi(5)(5) has 0; write it to an .npy")):
            ends(2, words, *long, output)
        lower = os.path.join(SOURCE, "apps", "cholesky", "cholesky.dog")
        ends(2, "outside of its array", "run", lower, "--output",
             "L(0)(1)=x.npy")
        write("x.npy", b"")
        os.mkdir(os.path.join(folder, "d.npy"))
        os.mkfifo(os.path.join(folder, "pipe.npy"))
        os.symlink("/dev/null", os.path.join(folder, "null.npy"))
        os.symlink("ring.npy", os.path.join(folder, "ring.npy"))
        os.symlink("none/x.npy", os.path.join(folder, "lost.npy"))
        os.symlink("made.npy", os.path.join(folder, "link.npy"))
        for path in ("none/x.npy", "x.npy/y.npy", "d.npy", "pipe.npy",
                     "null.npy", "ring.npy", "lost.npy"):
            ends(2, path, "run", HEAT, "--output", "phi=" + path, cwd=folder)
        ends(2, "lost.npy: is a link to none/x.npy, and there is no folder "
             "none/; make it first", "run", HEAT, "--output", "phi=lost.npy",
             cwd=folder)
        ends(2, "two outputs", "run", HEAT, "--output", "phi=link.npy",
             "--output", "phi(:)(0)=made.npy", cwd=folder)
        ends(0, "", "run", HEAT, "--output", "phi=link.npy", cwd=folder)
        check("a link's file", (os.path.islink(os.path.join(folder, "link.npy")),
                                os.path.isfile(os.path.join(folder, "made.npy"))),
              (True, True))
        ends(2, "two outputs", "run", HEAT, "--output", "phi=a.npy",
             "--output", "phi(:)(0)=a.npy", cwd=folder)
        ends(3, "2^40", "run", HEAT, "-D", "N=1099511627776")
        # Known only as it is written: the status and the last line say so.
        for extra in ((), ("--json",)):
            done = subprocess.run(
                [DOGGED, "run", HEAT, "--kernels", "interpreted", "--output",
                 "phi(0:9)(100)=small.npy", "--output", "phi=big.npy", *extra],
                capture_output=True, text=True, timeout=60, cwd=folder,
                preexec_fn=lambda: resource.setrlimit(
                    resource.RLIMIT_FSIZE, (4096, 4096)))
            check("exit status", done.returncode, 5, done.stderr)
            last = done.stdout.splitlines()[-1]
            if extra:
                check("files", json.loads(last)["outputs_failed"],
                      ["big.npy"])
            else:
                check("last line", re.sub(r"in \S+ s,", "in TIME,", last),
                      "computed in TIME, but not done: big.npy is not written")
            if "error: big.npy: " not in done.stderr:
                raise SystemExit(done.stderr)
            check("small.npy", os.path.exists(
                os.path.join(folder, "small.npy")), True)
            check("big.npy", os.path.exists(os.path.join(folder, "big.npy")),
                  False)


def case_interrupts():
    """Ctrl-C and SIGTERM: the stopped run is told, the status is 130, no agent
    and no file is left. An agent that is told to end before it listens, or
    twice, ends."""
    with tempfile.TemporaryDirectory() as folder:
        output = os.path.join(folder, "x.npy")
        # Two at a moment are one: timeout(1) sends its own twice.
        for extra, numbers in (
                (["--agents", "1"], [signal.SIGINT]),
                (["--agents", "3"], [signal.SIGINT]),
                (["--agents", "2"], [signal.SIGTERM, signal.SIGINT])):
            command = [DOGGED, "run", HEAT, "-D", "N=4001", "-D", "T=4000",
                       "--coalesce", "off", "--output", "phi=" + output,
                       *extra]
            read, write = os.pipe()
            run = subprocess.Popen(command, stderr=subprocess.PIPE, text=True,
                                   pass_fds=[write])
            os.close(write)
            for line in run.stderr:  # the first line of progress
                if "/" in line:
                    break
            for number in numbers:
                run.send_signal(number)
            _, words = run.communicate(timeout=60)
            check("exit status", run.returncode, 130, words)
            if "interrupted: stopped heat1d at" not in words:
                raise SystemExit(f"what was stopped? {words!r}")
            # Agents hold the write end too: its end is the end of all.
            check("what is left", os.read(read, 1), b"")
            os.close(read)
            check("files", os.listdir(folder), [])
    with Standing(DOGGED) as cluster:
        cluster.start()
        for times in (1, 2):
            agent = begin_agent(DOGGED, "--join", cluster.addresses[0])
            if times == 2:
                await_address(agent)
            for _ in range(times):
                agent.send_signal(signal.SIGTERM)
            code = agent.wait(timeout=30)
            # Before its handlers stand others do, or the signal itself ends it.
            early = (130, -signal.SIGTERM) if times == 1 else ()
            if code not in (0, *early):
                raise SystemExit(f"SIGTERM x {times}: exit status {code}")
            agent.stdout.close()


def case_named_later():
    """An agent may be told later which agents to join, one after another: those
    that do not answer are passed over, and with the last of them it ends."""
    with socket.socket() as nobody, Standing(DOGGED) as cluster:
        nobody.bind(("127.0.0.1", 0))  # and does not listen
        dead = "127.0.0.1:%d\n" % nobody.getsockname()[1]
        joiners = [begin_agent(DOGGED, "--join", "-", stdin=subprocess.PIPE,
                               stderr=subprocess.PIPE)
                   for _ in range(2)]
        try:
            for joiner in joiners:
                joiner.stdin.write(dead)
                joiner.stdin.flush()
            address = cluster.start()
            joiners[0].stdin.write(address + "\n")
            joiners[0].stdin.flush()
            await_address(joiners[0])
            check("agents", len(cluster.status()["agents"]), 2)
            _, words = joiners[1].communicate(timeout=60)
            check("exit status", joiners[1].returncode, 4, words)
            if "can't join: " not in words:
                raise SystemExit(f"who could not join said {words!r}")
        finally:
            for joiner in joiners:
                joiner.kill()
                joiner.wait()
                for pipe in (joiner.stdin, joiner.stdout, joiner.stderr):
                    pipe.close()


def case_told_while_joining():
    """An agent that is told to leave when others know it already, though it does
    not know them yet, is a candidate there, or has left: nobody takes it for
    dead."""
    with socket.socket() as between, Standing(DOGGED) as cluster:
        address = cluster.start()
        between.bind(("127.0.0.1", 0))
        between.listen()
        joiner = begin_agent(DOGGED, "--join",
                             "127.0.0.1:%d" % between.getsockname()[1])
        try:
            # The request goes on to the agent, the answer after the signal.
            near, _ = between.accept()
            host, port = address.split(":")
            with near, socket.create_connection((host, int(port))) as far:
                near.settimeout(60)
                far.settimeout(60)
                while not select.select([far], [], [], 0)[0]:
                    if select.select([near], [], [], 0.01)[0]:
                        far.sendall(near.recv(1 << 16))
                answer = far.recv(1 << 16)
                joiner.send_signal(signal.SIGTERM)
                near.sendall(answer)
                # It may be gone before it has read all of that.
                with contextlib.suppress(ConnectionError):
                    while select.select([near, far], [], [], 60)[0]:
                        if select.select([far], [], [], 0)[0]:
                            near.sendall(far.recv(1 << 16))
                        elif not near.recv(1 << 16):
                            break
            said, _ = joiner.communicate(timeout=60)
            check("exit status", joiner.returncode, 0, said)
        finally:
            joiner.kill()
            joiner.wait()
            joiner.stdout.close()
        status = cluster.await_status("nobody else", lambda s: not [
            a for a in s["agents"][1:] if a["state"] in ("alive", "suspect")])
        check("the dead", [a for a in status["agents"] if a["state"] == "dead"],
              [], status)


globals()["case_" + CASE]()
