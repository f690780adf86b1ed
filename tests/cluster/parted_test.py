"""Results that agents write, each its part of a file that all of them share.

Aim: `--output-to agents` of fetch and run gives the bytes of the command
without it, whatever the labels are: numbers, tiles, blocks; an agent that dies,
a disk that is full, a folder that is another one there and a write that is lost
are said, and leave either the right file or the one that was there. Method: the
binary itself on free ports; folders are hidden by mounts, writes lost by a
library.

usage: parted_test.py DOGGED SOURCE_DIR CASE
"""

import json
import os
import subprocess
import sys
import tempfile
import time

from standing import Standing

DOGGED, SOURCE, CASE = os.path.abspath(sys.argv[1]), *sys.argv[2:4]

# The fate of bytes behind mark and sign, or in chunks.
PRELOADED = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <unistd.h>
ssize_t pwrite(int fd, const void* data, size_t size, off_t offset) {
  if (offset >= 128 || size > 128) DO
  ssize_t (*next)(int, const void*, size_t, off_t) = dlsym(RTLD_NEXT, "pwrite");
  return next(fd, data, size, offset);
}
ssize_t pwrite64(int fd, const void* data, size_t size, off_t offset) {
  return pwrite(fd, data, size, offset);
}
"""
NEVER_WRITES = PRELOADED.replace("DO", "for (;;) pause();")
LOSES_WRITES = PRELOADED.replace("DO", "return size;")


def check(what, holds, report=""):
    if not holds:
        raise SystemExit(f"{what}\n{report}")


def app(name):
    return os.path.join(SOURCE, "apps", name, name + ".dog")


def ran(*arguments, expect=0):
    done = subprocess.run([DOGGED, *map(str, arguments)], capture_output=True,
                          text=True, timeout=240)
    check(f"exit status {done.returncode}, not {expect}: {arguments}",
          done.returncode == expect, done.stdout + done.stderr)
    return done


def submitted(cluster, *arguments):
    """A job that is done, and not fetched."""
    at = cluster.addresses[0]
    job = ran("submit", *arguments, "--cluster", at).stdout.split()[0]
    ran("wait", job, "--cluster", at)
    return job


def content(path):
    with open(path, "rb") as file:
        return file.read()


def kill_as_it_sees(agent, folder, client):
    """Kills the third agent once it has said that it sees the marked file."""
    while not any(b"seen 3" in sign_in(folder.path(f))
                  for f in os.listdir(folder.at.name)
                  if ".part-" in f and not f.endswith("-new")):
        check("it is over", client.poll() is None)
    agent.kill()


def sign_in(path):
    """Behind the mark; nothing of a file that has gone."""
    try:
        with open(path, "rb") as file:
            return file.read(128)[64:]
    except FileNotFoundError:
        return b""


class Folder:
    """Files of a case, in a folder that goes with it."""

    def __init__(self):
        self.at = tempfile.TemporaryDirectory()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.at.cleanup()

    def path(self, name):
        return os.path.join(self.at.name, name)

    def expect(self, cluster, job, selection, by, name="agents.npy"):
        """Agents write the selection; `by` is the end of what is said. The
        bytes are those that this command writes itself."""
        at = cluster.addresses[0]
        done = ran("fetch", job, f"{selection}={self.path(name)}",
                   "--output-to", "agents", "--cluster", at, "--json")
        check(f"{selection}: not {by}", by in done.stderr, done.stderr)
        ran("fetch", job, f"{selection}={self.path('own.npy')}",
            "--cluster", at)
        check(f"{selection}: other bytes",
              content(self.path(name)) == content(self.path("own.npy")))
        check("left behind", not [f for f in os.listdir(self.at.name)
                                  if ".part-" in f], os.listdir(self.at.name))
        return json.loads(done.stdout), done.stderr

    def preloaded(self, code):
        """The environment of an agent with that library."""
        library = self.path("preloaded.so")
        subprocess.run(["cc", "-shared", "-fPIC", "-x", "c", "-", "-o",
                        library, "-ldl"], input=code, text=True, check=True)
        return {"LD_PRELOAD": library,
                "ASAN_OPTIONS": "verify_asan_link_order=0"}

    def wrapped(self, before, folder):
        """A `dogged` for which `before` was done to `folder`; none where this
        user may not."""
        as_root = "" if os.getuid() == 0 else "--user --map-root-user"
        inside = before.replace("FOLDER", folder)
        if subprocess.run(f"unshare {as_root} --mount sh -c '{inside}'",
                          shell=True, capture_output=True).returncode != 0:
            print("skipped: no mounts here")
            sys.exit(0)
        path = self.path("wrapped")
        with open(path, "w", encoding="ascii") as file:
            file.write(f"#!/bin/sh\nexec unshare {as_root} --mount sh -c "
                       f"'{inside} && exec \"$0\" \"$@\"' {DOGGED} \"$@\"\n")
        os.chmod(path, 0o755)
        return path


def case_values():
    """Tiles, blocks and numbers; whole and in part; a loop that ended."""
    with Folder() as folder, Standing(DOGGED) as cluster:
        for _ in range(3):
            cluster.start()
        heat = submitted(cluster, app("heat2d"), "-D", "N=700", "-D", "T=20")
        report, _ = folder.expect(cluster, heat, "u(:)(:)(T)", "by 3 agents")
        check("shape", report["outputs"][0]["shape"] == [700, 700], report)
        check("digest", report["result_digest"] != "0" * 32, report)
        for part in ("u(3)(:)(T)", "u(:)(699)(T)", "u(10:500)(7:7)(T)", "u"):
            folder.expect(cluster, heat, part, " agent")
        blocks = submitted(cluster, app("cholesky"), "-D", "N=500",
                           "-D", "NB=90")
        folder.expect(cluster, blocks, "L", "by 3 agents")
        folder.expect(cluster, blocks, "L(4)(0:3)", " agent")
        columns = submitted(cluster, app("lu"), "-D", "N=300", "-D", "NB=70")
        folder.expect(cluster, columns, "F", " agent")
        loop = submitted(cluster, app("jacobi"))
        folder.expect(cluster, loop, "u", "")
        done = ran("fetch", heat, "u(:)(:)(T)=" + folder.path("u.png"),
                   "--output-to", "agents", "--cluster", cluster.addresses[0])
        number = folder.path("sum.dog")
        with open(number, "w", encoding="ascii") as file:
            file.write("param N = 90\n"
                       "task f creates v(i)(j) as n for i = 0:N-1  j = 0:3\n"
                       "  code\n    n = 0.5*i + j\n  end code\nend task\n"
                       "reduce total(j) = sum(v(i)(j)) for j = 0:3 "
                       "over i = 0:N-1\nresult total(:)\n")
        folder.expect(cluster, submitted(cluster, number), "total", " agent")
        check("no word of the picture", "is no .npy file or .zarr store; it comes by way of "
              "this command" in done.stderr, done.stderr)
        done = ran("fetch", heat, "--output-to", "agents", "--cluster",
                   cluster.addresses[0], expect=2)
        check("no file named", "no SELECTION=FILE" in done.stderr, done.stderr)


def case_other_folders():
    """Agents for which the folder is another one, and one that has a copy of
    it; then nobody sees it."""
    with Folder() as folder:
        shared = folder.path("shared")
        os.mkdir(shared)
        hidden = folder.wrapped("mount -t tmpfs none FOLDER", shared)
        with Standing(DOGGED) as cluster:
            cluster.start()
            cluster.dogged = hidden
            cluster.start()
            heat = submitted(cluster, app("heat2d"), "-D", "N=600", "-D",
                             "T=10")
            folder.expect(cluster, heat, "u(:)(:)(T)", "by 1 agent",
                          "shared/u.npy")
        # Upper layers of an overlay: the mark is seen, and what is written
        # stays there.
        copying = folder.wrapped(
            "mkdir -p FOLDER-up && mount -t tmpfs none FOLDER-up && mkdir "
            "FOLDER-up/a FOLDER-up/b && mount -t overlay none -o "
            "lowerdir=FOLDER,upperdir=FOLDER-up/a,workdir=FOLDER-up/b FOLDER",
            shared)
        with Standing(copying) as cluster:
            for _ in range(2):
                cluster.start()
            heat = submitted(cluster, app("heat2d"), "-D", "N=600", "-D",
                             "T=10")
            _, words = folder.expect(cluster, heat, "u(:)(:)(T)",
                                     "no agent sees that folder",
                                     "shared/u.npy")
            check("not why", "it writes to another file of that name" in words
                  and "by way of this command" in words, words)


def case_lost():
    """An agent loses what it writes: another one reads otherwise, and
    the file comes from this command."""
    with Folder() as folder, Standing(DOGGED) as cluster:
        cluster.start()
        cluster.start(env=folder.preloaded(LOSES_WRITES))
        heat = submitted(cluster, app("heat2d"), "-D", "N=600", "-D", "T=10")
        folder.expect(cluster, heat, "u(:)(:)(T)",
                      "a part reads otherwise than it was written")


def expect_no_room(name):
    """A disk that is full as a fetch has agents write: said, the job is kept."""
    with Folder() as folder:
        small = folder.path("small")
        os.mkdir(small)
        wrapped = folder.wrapped("mount -t tmpfs -o size=1m none FOLDER "
                                 "&& echo before > FOLDER/u.npy", small)
        with Standing(DOGGED) as cluster:
            cluster.start()
            heat = submitted(cluster, app("heat2d"), "-D", "N=600", "-D",
                             "T=10")
            done = subprocess.run(
                [wrapped, "fetch", heat, f"u={small}/{name}", "--output-to",
                 "agents", "--cluster", cluster.addresses[0]],
                capture_output=True, text=True, timeout=60)
            check("exit status", done.returncode == 5, done.stderr)
            check("words", "No space left" in done.stderr, done.stderr)
            folder.expect(cluster, heat, "u(:)(:)(T)", "by 1 agent")


def case_full():
    """No room for the file: nothing changes, and the job is kept."""
    expect_no_room("u.npy")


def case_killed():
    """An agent that never gets done with its parts, and is killed: the others
    write them."""
    with Folder() as folder, Standing(DOGGED) as cluster:
        for _ in range(2):
            cluster.start()
        cluster.start(env=folder.preloaded(NEVER_WRITES))
        heat = submitted(cluster, app("heat2d"), "-D", "N=1500", "-D", "T=10")
        fetch = subprocess.Popen(
            [DOGGED, "fetch", heat, f"u(:)(:)(T)={folder.path('u.npy')}",
             "--output-to", "agents", "--cluster", cluster.addresses[0]],
            stderr=subprocess.PIPE, text=True)
        kill_as_it_sees(cluster.agents[2], folder, fetch)
        words = fetch.communicate(timeout=120)[1]
        check("exit status", fetch.returncode == 0, words)
        check("not by two", "by 2 agents" in words, words)
        ran("fetch", heat, f"u(:)(:)(T)={folder.path('own.npy')}", "--cluster",
            cluster.addresses[0])
        check("other bytes", content(folder.path("u.npy")) ==
              content(folder.path("own.npy")), words)


def gone(job, cluster):
    """Waits until the results have gone, two seconds after the end. A fetch that
    came while only some agents have them still would have them made again."""
    def kept():
        status = json.loads(ran("status", "--cluster", cluster.addresses[0],
                                "--json").stdout)
        return [one for one in status["jobs"]
                if one["job"] == job and one["kept_bytes"] > 0]
    deadline = time.monotonic() + 60
    while kept():
        check("kept", time.monotonic() < deadline, kept())
    done = subprocess.run([DOGGED, "fetch", job, "--cluster",
                           cluster.addresses[0]], capture_output=True,
                          text=True, timeout=60)
    check("not gone", done.returncode != 0 and "are gone" in done.stderr,
          done.stderr)


def case_run():
    """`run` has agents write, of a cluster and its own ones; what they can't
    write comes by it, and so does what a check wants."""
    with Folder() as folder, Standing(DOGGED) as cluster:
        for _ in range(3):
            cluster.start()
        at = cluster.addresses[0]
        heat = [app("heat2d"), "-D", "N=700", "-D", "T=20"]
        selection = "u(:)(:)(T)"
        written = f"{selection}={folder.path('agents.npy')}"
        ran("run", *heat, "--agents", "3", "--output",
            f"{selection}={folder.path('own.npy')}")

        def expect(by, *arguments):
            done = ran("run", *heat, "--output", written, "--output-to",
                       "agents", *arguments)
            check(f"not {by}", by in done.stderr, done.stderr)
            check("other bytes", content(folder.path("agents.npy")) ==
                  content(folder.path("own.npy")), done.stderr)
            os.unlink(folder.path("agents.npy"))
            check("left behind", not [f for f in os.listdir(folder.at.name)
                                      if ".part-" in f])
            return done

        done = expect("20), 700 x 700 doubles, written by 3 agents",
                      "--cluster", at, "--json")
        report = json.loads(done.stdout)
        check("outputs", report["outputs"][0]["shape"] == [700, 700] and
              report["outputs"][0]["agents"] == 3 and
              report["fetch_seconds"] > 0 and report["results_lent"] == 0,
              report)
        gone(report["job"], cluster)
        # A job that is done and kept is written, and stays.
        job = submitted(cluster, *heat)
        expect("written by 3 agents", "--cluster", at)
        folder.expect(cluster, job, selection, "written by 3 agents")
        os.unlink(folder.path("agents.npy"))
        expect("written by 2 agents", "--agents", "2")
        expect("written by 1 agent\n", "--agents", "1")
        done = expect("check: matches", "--agents", "2", "--check", "--output",
                      f"{selection}={folder.path('u.png')}")
        check("no word of the picture", "is no .npy file or .zarr store; it comes by way of "
              "this command" in done.stderr, done.stderr)
        check("not the array", "written by 2 agents" in done.stderr,
              done.stderr)
        check("no picture", content(folder.path("u.png")))
        loop = ran("run", app("jacobi"), "--cluster", at, "--output",
                   f"u={folder.path('loop.npy')}", "--output-to", "agents")
        check("loop", "the loop ended at" in loop.stderr and
              "written by " in loop.stderr, loop.stderr)
        number = folder.path("mean.dog")
        with open(number, "w", encoding="ascii") as file:
            file.write("param N = 90\n"
                       "task f creates v(i) as n for i = 0:N-1\n"
                       "  code\n    n = 0.5*i\n  end code\nend task\n"
                       "reduce total = sum(v(i)) over i = 0:N-1\n"
                       "result v(:)\nresult total\n")
        done = ran("run", number, "--cluster", at, "--output",
                   f"v={folder.path('v.npy')}", "--output-to", "agents")
        check("number", "total = 2002.5" in done.stdout, done.stdout)
        check("by agents", "written by " in done.stderr, done.stderr)
        done = ran("run", *heat, "--output-to", "agents", expect=2)
        check("no file", "there is no file" in done.stderr, done.stderr)


def case_run_full():
    """No room for the file of a run: its results stay with a cluster, where
    they can be fetched, and are lost with agents of its own."""
    with Folder() as folder:
        small = folder.path("small")
        os.mkdir(small)
        wrapped = folder.wrapped("mount -t tmpfs -o size=1m none FOLDER", small)
        command = [wrapped, "run", app("heat2d"), "-D", "N=600", "-D", "T=10",
                   "--output", f"u(:)(:)(T)={small}/u.npy", "--output-to",
                   "agents", "--json"]

        def full(*where):
            done = subprocess.run([*command, *where], capture_output=True,
                                  text=True, timeout=120)
            check("exit status", done.returncode == 5, done.stderr)
            check("words", "No space left" in done.stderr, done.stderr)
            report = json.loads(done.stdout)
            check("failed", report["outputs_failed"] == [small + "/u.npy"],
                  report)
            return report["job"], done.stderr

        with Standing(DOGGED) as cluster:
            cluster.start()
            at = cluster.addresses[0]
            job, words = full("--cluster", at)
            check("not how", "stay with the agents for an hour: `dogged fetch "
                  f"--cluster {at} {job[:8]}" in words, words)
            folder.expect(cluster, job, "u(:)(:)(T)", "by 1 agent")
        _, words = full("--agents", "2")
        check("not lost", "end with the agents of this run" in words, words)


def case_run_killed():
    """An agent that is killed while it writes results of a run: its parts come
    from the others, and the loss is told."""
    with Folder() as folder, Standing(DOGGED) as cluster:
        for _ in range(2):
            cluster.start()
        cluster.start(env=folder.preloaded(NEVER_WRITES))
        heat = [app("heat2d"), "-D", "N=1500", "-D", "T=10"]
        run = subprocess.Popen(
            [DOGGED, "run", *heat, "--output",
             f"u(:)(:)(T)={folder.path('u.npy')}", "--output-to", "agents",
             "--cluster", cluster.addresses[0], "--json"],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        kill_as_it_sees(cluster.agents[2], folder, run)
        answer, words = run.communicate(timeout=120)
        check("exit status", run.returncode == 0, words)
        check("not by two", "written by 2 agents" in words, words)
        check("loss", len(json.loads(answer)["losses"]) == 1, answer)
        ran("run", *heat, "--agents", "2", "--output",
            f"u(:)(:)(T)={folder.path('own.npy')}")
        check("other bytes", content(folder.path("u.npy")) ==
              content(folder.path("own.npy")), words)


def described(path):
    with open(os.path.join(path, "zarr.json"), encoding="utf-8") as file:
        return json.load(file)


def stored(path):
    """The array of a store, from its chunks as they are; and their shape."""
    import numpy
    meta = described(path)
    shape = meta["shape"]
    chunk = meta["chunk_grid"]["configuration"]["chunk_shape"]
    out = numpy.zeros(shape, meta["data_type"])
    counts = [-(-n // c) for n, c in zip(shape, chunk)]
    for at in numpy.ndindex(*counts):
        name = os.path.join(path, "c", *map(str, at))
        block = numpy.fromfile(name, meta["data_type"]).reshape(chunk)
        place = tuple(slice(i * c, min((i + 1) * c, n))
                      for i, c, n in zip(at, chunk, shape))
        out[place] = block[tuple(slice(0, p.stop - p.start) for p in place)]
        # A chunk has its whole shape, and fill where the array has ended.
        block[tuple(slice(0, p.stop - p.start) for p in place)] = numpy.nan
        check("no fill", numpy.isnan(block).all(), name)
    return out, chunk


def case_zarr():
    """Stores: a chunk a block, or rows where blocks are small or stand in no
    grid; whole and in part; in place of a former one; by fetch and run."""
    import numpy
    with Folder() as folder, Standing(DOGGED) as cluster:
        for _ in range(3):
            cluster.start()
        at = cluster.addresses[0]
        store = folder.path("u.zarr")

        def expect(job, selection, chunks=None):
            done = ran("fetch", job, f"{selection}={store}", "--output-to",
                       "agents", "--cluster", at, "--json")
            ran("fetch", job, f"{selection}={folder.path('own.npy')}",
                f"{selection}={folder.path('own.zarr')}", "--cluster", at)
            check("not by agents", "written by " in done.stderr, done.stderr)
            array, chunk = stored(store)
            expected = numpy.load(folder.path("own.npy"))
            check(f"{selection}: other numbers",
                  array.tobytes() == expected.tobytes() and
                  array.shape == expected.shape)
            for key in ("attributes", "dimension_names", "shape"):
                check(f"other {key}", described(store).get(key) ==
                      described(folder.path("own.zarr")).get(key))
            check(f"chunks: {chunk}", chunks is None or chunk == chunks)
            check("left behind", sorted(os.listdir(folder.at.name)) ==
                  ["own.npy", "own.zarr", "u.zarr"])

        heat = submitted(cluster, app("heat2d"), "-D", "N=700", "-D", "T=20")
        for part in ("u(:)(:)(T)", "u(3)(:)(T)", "u(10:500)(7:7)(T)", "u"):
            expect(heat, part)
        blocks = submitted(cluster, app("cholesky"), "-D", "N=900",
                           "-D", "NB=200")
        expect(blocks, "L", [200, 200])
        small = submitted(cluster, app("cholesky"), "-D", "N=500",
                          "-D", "NB=90")
        expect(small, "L")
        expect(small, "L(4)(0:3)")
        done = ran("run", app("heat2d"), "-D", "N=700", "-D", "T=20",
                   "--agents", "2", "--output", f"u(:)(:)(T)={store}",
                   "--output-to", "agents")
        check("not by two", "written by 2 agents" in done.stderr, done.stderr)
        ran("fetch", heat, f"u(:)(:)(T)={folder.path('own.npy')}", "--cluster",
            at)
        check("other numbers of run", stored(store)[0].tobytes() ==
              numpy.load(folder.path("own.npy")).tobytes())
        # A folder that is no store is nobody's to replace.
        os.mkdir(folder.path("other.zarr"))
        done = ran("fetch", heat, f"u={folder.path('other.zarr')}",
                   "--output-to", "agents", "--cluster", at, expect=2)
        check("words", "without a zarr.json" in done.stderr, done.stderr)


def case_zarr_killed():
    """An agent that is killed while it writes chunks, and one that loses what
    it writes."""
    import numpy
    with Folder() as folder, Standing(DOGGED) as cluster:
        for _ in range(2):
            cluster.start()
        cluster.start(env=folder.preloaded(NEVER_WRITES))
        heat = [app("heat2d"), "-D", "N=1500", "-D", "T=10"]
        run = subprocess.Popen(
            [DOGGED, "run", *heat, "--output",
             f"u(:)(:)(T)={folder.path('u.zarr')}", "--output-to", "agents",
             "--cluster", cluster.addresses[0]],
            stderr=subprocess.PIPE, text=True)
        kill_as_it_sees(cluster.agents[2], folder, run)
        words = run.communicate(timeout=120)[1]
        check("exit status", run.returncode == 0, words)
        check("not by two", "written by 2 agents" in words, words)
        own = folder.path("own.npy")
        ran("run", *heat, "--agents", "2", "--output", f"u(:)(:)(T)={own}")
        check("other numbers", stored(folder.path("u.zarr"))[0].tobytes() ==
              numpy.load(own).tobytes(), words)
    with Folder() as folder, Standing(DOGGED) as cluster:
        cluster.start()
        cluster.start(env=folder.preloaded(LOSES_WRITES))
        done = ran("run", *heat, "--output",
                   f"u(:)(:)(T)={folder.path('u.zarr')}", "--output-to",
                   "agents", "--cluster", cluster.addresses[0])
        check("not lost", "a part reads otherwise than it was written" in
              done.stderr and "by way of this command" in done.stderr,
              done.stderr)
        own = folder.path("own.npy")
        ran("run", *heat, "--agents", "2", "--output", f"u(:)(:)(T)={own}")
        check("other numbers", stored(folder.path("u.zarr"))[0].tobytes() ==
              numpy.load(own).tobytes(), done.stderr)


def case_zarr_full():
    """No room for a store: said before anybody writes, and nothing changes."""
    expect_no_room("u.zarr")


globals()["case_" + CASE]()
