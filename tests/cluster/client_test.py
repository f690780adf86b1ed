"""`dogged client`: JSON lines and memory descriptors.

Aim: whatever a client says is answered, garbage by an error line, and never by
a crash; values come and go as descriptors, with the bits of `run`; the process
and its agents end with the one that started it. Method: the binary itself, over
a socket pair and over pipes; a thousand mutated lines from a seed.

usage: client_test.py DOGGED SOURCE_DIR CASE
"""

import array
import fcntl
import json
import mmap
import os
import random
import select
import socket
import subprocess
import sys
import tempfile

DOGGED, SOURCE = (os.path.abspath(path) for path in sys.argv[1:3])
CASE = sys.argv[3]
HEAT = os.path.join(SOURCE, "apps", "heat1d", "heat1d.dog")
ADD_SEALS, SHRINK, WRITE = 1033, 0x2, 0x8
HALVE = """\
param N = 9000
input v(i) for i = 0:N-1
task halve
  creates u(i) as n
  for i = 0:N-1
  using v(i) as s
  code
    n = 0.5*s
  end code
end task
result u(:)
"""


def check(what, holds, report=""):
    if not holds:
        raise SystemExit(f"{what}\n{report}")


class Client:
    """A client process at the other end of a socket pair."""

    def __init__(self):
        self.socket, theirs = socket.socketpair()
        self.process = subprocess.Popen(
            [DOGGED, "client", "--socket-fd", str(theirs.fileno())],
            pass_fds=[theirs.fileno()])
        theirs.close()
        self.socket.settimeout(120)
        self.rest, self.descriptors, self.events, self.number = b"", [], [], 0
        hello = self.line()
        check("hello", hello["schema"] == 1 and hello["descriptors"], hello)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()
        check("it does not end", self.process.wait(60) == 0)

    def line(self):
        while b"\n" not in self.rest:
            data, descriptors, _, _ = socket.recv_fds(self.socket, 1 << 16, 16)
            check("the client has gone", data, self.process.poll())
            self.rest += data
            self.descriptors += descriptors
        line, self.rest = self.rest.split(b"\n", 1)
        return json.loads(line)

    def say(self, line, descriptors=()):
        """Sends bytes; the answer, which is no event."""
        if descriptors:
            socket.send_fds(self.socket, [line], descriptors)
        else:
            self.socket.sendall(line)
        while True:
            answer = self.line()
            if "id" in answer:
                return answer
            self.events.append(answer)

    def ask(self, do, sent=(), expect=0, **fields):
        self.number += 1
        line = json.dumps({"id": self.number, "do": do, **fields}) + "\n"
        answer = self.say(line.encode(), sent)
        check("id", answer["id"] == self.number, answer)
        check(f"status {expect}", answer["status"] == expect, answer)
        return answer

    def event(self, run, name):
        while True:
            while self.events:
                one = self.events.pop(0)
                if (one["run"], one["event"]) == (run, name):
                    return one
                check("it failed", one["event"] != "failed", one)
            self.events.append(self.line())


def memory(data, seals=SHRINK | WRITE):
    out = os.memfd_create("input", os.MFD_ALLOW_SEALING)
    os.write(out, data)
    fcntl.fcntl(out, ADD_SEALS, seals)
    return out


def numbers(count):
    return array.array("d", [i * 31 % 997 for i in range(count)]).tobytes()


def case_values(_):
    """An input and a result as descriptors, with an agent that dies."""
    data = numbers(9000)
    with Client() as client:
        agents = client.ask("open", agents=2, workers=1)["agents"]
        check("agents", len({a["pid"] for a in agents}) == 2, agents)
        v = {"array": "v", "type": "double", "shape": [9000]}
        program = {"file": "halve.dog", "text": HALVE}
        run = client.ask("submit", [memory(data)], inputs=[v], descriptors=1,
                         want=["u(10:12)"], **program)
        done = client.event(run["run"], "done")
        check("names", [r["name"] for r in done["results"]] == ["u(10:12)",
                                                                "u"], done)
        check("job", done["report"]["job"] == run["job"], done)
        for name, first, count in (("u", 0, 9000), ("u(10:12)", 10, 3)):
            answer = client.ask("result", run=run["run"], name=name)
            check("shape", answer["shape"] == [count], answer)
            out = client.descriptors.pop()
            with mmap.mmap(out, 8 * count) as mapped:
                got = array.array("d", mapped[:])
                mapped[:8] = b"\x00" * 8  # it is the client's own
            expected = array.array("d", data)[first:first + count]
            check("other numbers",
                  list(got) == [0.5 * x for x in expected], got)
            client.ask("result", run=run["run"], name=name, expect=2)
        with open(HEAT, encoding="utf-8") as file:
            heat = {"file": "heat1d.dog", "text": file.read(),
                    "parameters": {"N": "200001", "T": "20000"}}
        run = client.ask("submit", **heat)["run"]
        client.event(run, "progress")
        os.kill(agents[1]["pid"], 9)
        lost = client.event(run, "lost")
        check("lost", lost["who"] == agents[1]["name"], lost)
        check("started", len(client.ask("start")["agents"]) == 2)
        client.event(run, "joined")
        done = client.event(run, "done")
        check("losses", len(done["report"]["losses"]) == 1, done["report"])
        digest = json.loads(subprocess.run(
            [DOGGED, "run", HEAT, "-D", "N=200001", "-D", "T=20000", "--json"],
            capture_output=True, check=True).stdout)["result_digest"]
        check("other bits", done["report"]["result_digest"] == digest, digest)
        run = client.ask("submit", **{**heat, "parameters": {
            "N": "200001", "T": "2000000"}})["run"]
        client.ask("cancel", run=run)
        while client.events[-1:] == [] or client.events[-1]["event"] != "failed":
            client.events.append(client.line())
        check("cancelled", "cancelled" in client.events[-1]["error"]["message"],
              client.events)


def case_refused(_):
    """Inputs, programs and requests that can't serve."""
    v = {"array": "v", "type": "double", "shape": [9000]}
    program = {"file": "halve.dog", "text": HALVE}
    with Client() as client:
        client.ask("submit", expect=2, **program)  # before "open"
        client.ask("open", expect=2)
        client.ask("open", cluster="127.0.0.1:1", expect=4)
        client.ask("open", agents=1, workers=1)
        client.ask("open", agents=1, expect=2)

        def refused(word, descriptors, inputs, expect=2):
            answer = client.ask("submit", descriptors, expect, inputs=inputs,
                                descriptors=len(descriptors), **program)
            check(word, word in answer["error"]["message"], answer)

        data = numbers(9000)
        refused("sealed", [memory(data, SHRINK)], [v])
        refused("sealed", [memory(data, 0)], [v])
        refused("72000", [memory(data[:8])], [v])
        refused("no memory", [os.open(os.devnull, os.O_RDONLY)], [v])
        refused("as many", [memory(data), memory(data)], [v])
        refused("type", [memory(data)], [{**v, "type": "complex"}])
        refused("extent", [memory(data)], [{**v, "shape": [-1]}])
        refused("extent", [memory(data)], [{**v, "shape": [2] * 7}])
        refused("extent", [memory(data)], [{**v, "shape": [1 << 62] * 4}])
        refused("shape", [memory(data)], [{**v, "shape": [9000, 1]}], 3)
        answer = client.ask("submit", inputs=[v], descriptors=1, expect=2,
                            **program)
        check("came", "0 came" in answer["error"]["message"], answer)
        answer = client.ask("check", file="x.dog", text="result u(:)\n",
                            expect=3)
        error = answer["error"]
        check("diagnostics", error["line"] == 1 and error["column"] > 0
              and "^" in error["text"] and answer["diagnostics"], answer)
        check("inputs", client.ask("check", **program)["inputs"]
              == [{"array": "v", "type": "double", "shape": [9000]}])
        answer = client.ask("check", colour="red", expect=2, **program)
        check("field", "colour" in answer["error"]["message"], answer)
        for wrong, word in (({}, "seeds"), ({"seeds": [-1]}, "seeds"),
                            ({"seeds": [0.5]}, "seeds"), ({"seeds": []}, "seed"),
                            ({"seeds": [1], "faults": "crush=1"}, "crush"),
                            ({"seeds": [1], "agents": 0}, "agents"),
                            ({"seeds": [1], "claims": 1}, "claims")):
            answer = client.ask("sim", expect=2, **program, **wrong)
            check("sim", word in answer["error"]["message"], answer)
        answer = client.ask("sim", [memory(data)], inputs=[v], descriptors=1,
                            seeds=[1, 2], agents=3, **program)
        check("seeds", (answer["seeds"], answer["failed"]) == (2, 0), answer)
        for do in ("result", "cancel", "forget"):
            client.ask(do, run=7, expect=2)
        # After all this it works.
        run = client.ask("submit", [memory(data)], inputs=[v], descriptors=1,
                         **program)["run"]
        client.event(run, "done")


def case_garbage(_):
    """Each line has an answer, an error line for what is no request."""
    seed = random.randrange(1 << 32)
    print("seed", seed)
    rng = random.Random(seed)
    good = json.dumps({"id": 1, "do": "check", "file": "h.dog", "text": HALVE,
                       "parameters": {"N": "10"}, "want": ["u(1)"]}).encode()
    lines = [b"", b"x", b"[]", b"{}", b"null", b"\xff\xfe", b"\x00" * 99,
             b'{"id": 1e99, "do": "open"}', b'{"id": -1}', b'{"id": "a"}',
             b'{"id": 1, "do": 7}', b'{"id": 1, "do": "fly"}',
             b"[" * 1_000_000, b'{"a":' * 300_000,
             b'{"id": 1, "do": "submit", "descriptors": 1e18}',
             b'{"id": 1, "do": "open", "agents": 99999999999999999999}',
             b'{"id": 1, "do": "open", "agents": -1}',
             b'{"id": 1, "do": "cancel", "run": 18446744073709551615}',
             b'{"id": 1, "do": "check", "file": "", "text": ""}']
    with Client() as client:
        for line in lines:
            answer = client.say(line + b"\n")
            check("no error", answer["status"] in (2, 3)
                  and answer["error"]["message"], (line[:80], answer))
        for _ in range(300):
            line = bytearray(good)
            for _ in range(rng.randrange(1, 6)):
                at = rng.randrange(len(line))
                line[at:at + rng.randrange(3)] = bytes(
                    rng.choice(b'{}[]",:0a \xc3\\') for _ in range(
                        rng.randrange(3)))
            answer = client.say(bytes(line).replace(b"\n", b" ") + b"\n")
            check("neither", (answer["status"] == 0) != ("error" in answer),
                  (line, answer))
        long = b"x" * (65 << 20)
        answer = client.say(long + b"\n")
        check("long", "bytes" in answer["error"]["message"], answer)
        # More descriptors than anything takes.
        null = os.open(os.devnull, os.O_RDONLY)
        for _ in range(10):
            socket.send_fds(client.socket, [b" "], [null] * 60)
        client.socket.sendall(b"\n" + good.replace(b'"id": 1', b'"id": 999')
                              + b"\n")
        answers = [client.line()]
        while answers[-1]["id"] != 999:
            answers.append(client.line())
        check("descriptors", "more than 256 descriptors" in str(answers),
              answers)
        check("check", answers[-1]["status"] == 0, answers[-1])


def case_stdio(_):
    """Over pipes programs are checked, and values refused."""
    process = subprocess.Popen([DOGGED, "client", "--stdio"], text=True,
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    hello = json.loads(process.stdout.readline())
    check("hello", not hello["descriptors"], hello)

    def ask(**fields):
        process.stdin.write(json.dumps(fields) + "\n")
        process.stdin.flush()
        while True:
            answer = json.loads(process.stdout.readline())
            if "id" in answer:
                return answer

    answer = ask(id=1, do="check", file="halve.dog", text=HALVE)
    check("check", answer["status"] == 0 and answer["results"] == ["u"], answer)
    answer = ask(id=2, do="submit", file="h.dog", text=HALVE, descriptors=1)
    check("pipe", "pipe" in answer["error"]["message"], answer)
    answer = ask(id=3, do="result", run=1, name="u")
    check("pipe", "--socket-fd" in answer["error"]["message"], answer)
    process.stdin.close()
    check("end", process.wait(60) == 0)
    for words, word in (((), "--stdio"), (("--socket-fd", "77"), "descriptor"),
                        (("--socket-fd", "0"), "Unix socket")):
        done = subprocess.run([DOGGED, "client", *words], text=True,
                              capture_output=True, stdin=subprocess.DEVNULL)
        check(word, done.returncode == 2 and word in done.stderr, done)


def case_ends(folder):
    """The client and its agents end with the process that started it."""
    pids = os.path.join(folder, "pids")
    starter = (
        "import json, os, signal, socket, subprocess, sys\n"
        "ours, theirs = socket.socketpair()\n"
        "p = subprocess.Popen([sys.argv[1], 'client', '--socket-fd',"
        " str(theirs.fileno())], pass_fds=[theirs.fileno()],"
        " start_new_session=True)\n"
        "theirs.close()\n"
        "ours.sendall(b'{\"id\": 1, \"do\": \"open\", \"agents\": 2}\\n')\n"
        "file = ours.makefile()\n"
        "file.readline()\n"
        "agents = json.loads(file.readline())['agents']\n"
        "print(p.pid, *[a['pid'] for a in agents], file=open(sys.argv[2], 'w'),"
        " flush=True)\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n")
    started = subprocess.run([sys.executable, "-c", starter, DOGGED, pids],
                             timeout=120)
    check("starter", started.returncode == -9, started)
    with open(pids, encoding="ascii") as file:
        watched = [os.pidfd_open(int(pid)) for pid in file.read().split()
                   if os.path.exists(f"/proc/{pid}")]
    for one in watched:
        ready, _, _ = select.select([one], [], [], 60)
        check("a process is left", ready)
    with Client() as client:  # it ends before all seeds have run
        client.socket.sendall(json.dumps(
            {"id": 1, "do": "sim", "file": "h.dog", "seeds": list(range(10000)),
             "text": HALVE.replace("0:N-1\ntask", "0:N-1 else i\ntask"),
             "faults": "crash=1"}).encode() + b"\n")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as here:
        globals()[f"case_{CASE}"](here)
