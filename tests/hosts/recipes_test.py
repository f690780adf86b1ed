"""Recipes without a scheduler: docs/recipes/systemd, ssh and cloud-init.

Aim: each recipe does what its page says, as far as one computer can show it.
Method: systemd-analyze verifies the unit, where it is installed, and its command
runs without systemd, told to stop as systemd does it; the ssh loop runs with a
stand-in for ssh that enters a network namespace, for there is no sshd; of
cloud-init's file the unit is compared, and the commands go through `sh -n`.

usage: recipes_test.py DOGGED SOURCE_DIR CASE
"""

import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile

import manifest
from hosts import Hosts, enter_own_network

DOGGED, SOURCE, CASE = os.path.abspath(sys.argv[1]), *sys.argv[2:4]
sys.path.insert(0, os.path.join(SOURCE, "tests", "cluster"))
from standing import until  # noqa: E402

RECIPES = os.path.join(SOURCE, "docs", "recipes")
UNIT = os.path.join(RECIPES, "systemd", "dogged.service")
HEAT = os.path.join(SOURCE, "apps", "heat1d", "heat1d.dog")


def fail(words):
    raise SystemExit(words)


def read(*path):
    with open(os.path.join(*path)) as file:
        return file.read()


def settings(text):
    """(name, value) of a unit, or of a file of variables."""
    return [line.split("=", 1) for line in text.splitlines()
            if "=" in line and not line.startswith("#")]


def case_systemd():
    with tempfile.TemporaryDirectory() as folder:
        unit = os.path.join(folder, "dogged.service")
        with open(unit, "w") as file:
            file.write(read(UNIT).replace("/usr/bin/dogged", DOGGED))
        if shutil.which("systemd-analyze"):
            done = subprocess.run(
                ["systemd-analyze", "verify", "--man=no", unit],
                capture_output=True, text=True,
                env={**os.environ, "SYSTEMD_UNIT_PATH": folder + ":"})
            # The user is made by hand.
            if done.returncode != 0 or unit in done.stderr:
                fail(f"verify: {done.returncode} {done.stderr}")
        else:
            print("no systemd-analyze here: the unit is not verified")
        run_unit(folder)


def run_unit(folder):
    state = os.path.join(folder, "dogged")
    os.mkdir(state, 0o700)
    lines = settings(read(UNIT).replace("/var/lib/dogged", state))
    values = dict(lines)
    variables = {"PATH": os.environ["PATH"]}
    for name, value in lines:
        if name == "Environment":
            variable, text = value.split("=", 1)
            variables[variable] = text
    variables.update(settings(
        "DOGGED_LISTEN=127.0.0.1:0\nFLAGS=--workers 1 --small-pages\n"))
    words = []
    for word in values["ExecStart"].split():
        if word.startswith("${"):
            words.append(variables[word[2:-1]])
        elif word.startswith("$"):
            words += variables.get(word[1:], "").split()
        else:
            words.append(word)
    words[0] = DOGGED
    for _ in range(2):  # it is started again
        agent = subprocess.Popen(words, env=variables, text=True,
                                 stdout=subprocess.PIPE)
        line = agent.stdout.readline()
        if not line.startswith("listening "):
            fail(f"it said {line!r}: {words}")
        agent.send_signal(signal.SIGTERM)
        status = agent.wait(timeout=int(values["TimeoutStopSec"]))
        agent.stdout.close()
        if status != 0:
            fail(f"ended with {status}")
    if not os.path.isdir(os.path.join(state, "values")):
        fail(f"no directory: {os.listdir(state)}")


def case_cloud_init():
    text = read(RECIPES, "cloud-init", "user-data.yaml")
    if not text.startswith("#cloud-config\n"):
        fail("cloud-init would take it for something else")
    data = manifest.read(text)
    files = {file["path"]: file["content"] for file in data["write_files"]}
    if files["/etc/systemd/system/dogged.service"] != read(UNIT):
        fail("the unit is not that of the recipe for systemd")
    unit = read(UNIT)
    known = [name for name, _ in settings(files["/etc/default/dogged"])]
    for name in known:
        if f"${name}" not in unit and f"${{{name}}}" not in unit:
            fail(f"the unit knows no {name}")
    for command in data["runcmd"]:
        done = subprocess.run(["sh", "-n", "-c", command], capture_output=True,
                              text=True)
        if done.returncode != 0:
            fail(f"{command}: {done.stderr}")
        for name, _ in settings("\n".join(
                word for word in shlex.split(command) if "=" in word)):
            if name.startswith("DOGGED_") and f"{name}=" not in unit:
                fail(f"the unit has no {name}")


def case_ssh():
    """Three agents by the loop; one is stopped, and hands over."""
    enter_own_network()
    with Hosts(3) as hosts, tempfile.TemporaryDirectory() as folder:
        key = os.path.join(folder, "key")
        subprocess.run([DOGGED, "key", "new", "--file", key], check=True,
                       stdout=subprocess.DEVNULL)
        names = [hosts.address(i) for i in range(3)]
        stand_in = os.path.join(folder, "ssh")
        with open(stand_in, "w") as file:
            file.write("#!/bin/sh\nhost=$1\nshift\ncase $host in\n")
            for i, name in enumerate(names):
                home = os.path.join(folder, f"home{i}")
                os.mkdir(home)
                file.write(f"{name}) cd {home} && exec "
                           + shlex.join(hosts.command(i)) + " $* ;;\n")
            file.write("*) echo no route to $host >&2; exit 255 ;;\nesac\n")
        os.chmod(stand_in, 0o755)
        environment = {**os.environ, "SSH": stand_in, "DOGGED": DOGGED,
                       "AGENT_FLAGS": f"--key-file {key} --workers 1"}

        def loop(*words, status=0):
            done = subprocess.run(
                [os.path.join(RECIPES, "ssh", "agents"), *words], text=True,
                capture_output=True, env=environment, timeout=120)
            if done.returncode != status:
                fail(f"{words}: {done.returncode}\n{done.stdout}{done.stderr}")
            return done.stdout

        def dogged(*words):
            done = subprocess.run(
                [DOGGED, *words, "--key-file", key, "--json", "--cluster",
                 ",".join(f"{name}:7070" for name in names)],
                capture_output=True, text=True, timeout=240)
            if done.returncode != 0:
                fail(f"{words}: {done.returncode} {done.stderr}")
            return json.loads(done.stdout)

        def alive():
            return sorted(agent["address"][:-5]
                          for agent in dogged("status")["agents"]
                          if agent["state"] == "alive")
        try:
            loop("start", *names[:2])
            if "runs already" not in loop("start", names[2], names[0]):
                fail("a second agent was started")
            until("all are one cluster", lambda: alive() == names)
            said = loop("stop", names[0])
            if "leaves after" not in said:
                fail(f"it left without a word: {said}")
            until("one has left", lambda: alive() == names[1:])
            program = (HEAT, "-D", "N=20001", "-D", "T=500")
            report = dogged("run", *program)
            serial = subprocess.run(
                [DOGGED, "run", *program, "--agents", "1", "--json"],
                capture_output=True, text=True)
            if report["result_digest"] != json.loads(
                    serial.stdout)["result_digest"]:
                fail("other bits")
            if "no route" not in loop("start", names[1], "10.9.9.9", status=1):
                fail("a host that can't be reached is not named")
        finally:
            loop("stop", *names)
        loop("stop", *names)  # nobody is there
        loop("start", status=2)


if CASE == "shells":
    for name in ("ssh/agents", "slurm/agents.sbatch"):
        subprocess.run(["bash" if "slurm" in name else "sh", "-n",
                        os.path.join(RECIPES, name)], check=True)
else:
    globals()["case_" + CASE]()
