"""The memory of runs by points and of tables, as `dogged check` foretells it.

Aim: within a factor of 2 of what the processes of a run take beyond those of a
tiny one. Method: the binary itself; the kernel counts.

usage: memory_test.py DOGGED SOURCE_DIR CASE
"""

import json
import os
import re
import subprocess
import sys

DOGGED, SOURCE, CASE = os.path.abspath(sys.argv[1]), *sys.argv[2:4]
UNITS = {"B": 1, "kB": 1e3, "MB": 1e6, "GB": 1e9}
BYTES = rf"([\d.]+) ({'|'.join(UNITS)})\b"

PROCESS = {"cholesky": "N=160", "lu": "N=110", "floyd": "N=80",
           "gemm": "NI=150 NJ=150 NK=20", "wavefront": "N=300",
           "sweeps": "N=80 T=15", "transpose": "N=250", "../tables": "N=60000"}
AGENTS = {"cholesky": "N=80", "wavefront": "N=160"}
CHUNKS = {"../tables": "N=800000"}


def arguments(name, numbers):
    program = f"{SOURCE}/tests/dsl/programs/nests/{name}.dog"
    return [program] + ([] if CASE == "chunks" else ["--coalesce", "off"]) + [
        flag for number in numbers.split() for flag in ("-D", number)]


def tiny(numbers):
    return re.sub(r"=\d+", "=8", numbers)


def foretold(name, numbers, where):
    text = subprocess.run([DOGGED, "check"] + arguments(name, numbers),
                          check=True, stdout=subprocess.PIPE).stdout.decode()
    line = re.search("^memory: .*$", text, re.M).group()
    parts = ["results " + BYTES, "in use meanwhile about " + BYTES,
             "tables of indices about " + BYTES, BYTES + " " + where]
    found = [re.search(part, line) for part in parts]
    return sum(float(part[1]) * UNITS[part[2]] for part in found if part)


def taken_by_process(name, numbers):
    """Bytes at the most."""
    child = os.fork()
    if child == 0:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, 1)
        os.dup2(nowhere, 2)
        os.execv(DOGGED, [DOGGED, "run", "--workers", "1", "--kernels",
                          "interpreted"] + arguments(name, numbers))
    _, status, usage = os.wait4(child, 0)
    if status != 0:
        raise SystemExit(f"{name} {numbers}: status {status}")
    return 1024 * usage.ru_maxrss


def taken_by_agents(name, numbers):
    """Bytes of both, if the other one has as many as the larger one."""
    run = subprocess.run(
        [DOGGED, "run", "--agents", "2", "--workers", "1", "--kernels",
         "interpreted", "--json"] + arguments(name, numbers),
        check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    return 2 * json.loads(run.stdout)["peak_rss_bytes"]


def compare(programs, taken, where):
    wrong = []
    for name, numbers in programs.items():
        told = foretold(name, numbers, where)
        real = taken(name, numbers) - taken(name, tiny(numbers))
        line = f"{name} {numbers}: {told / 1e6:.1f} MB, taken {real / 1e6:.1f}"
        print(line)
        if not real / 2 <= told <= 2 * real:
            wrong.append(line)
    if wrong:
        raise SystemExit("\n".join(wrong))


if CASE == "process":
    compare(PROCESS, taken_by_process, "in one process")
elif CASE == "chunks":
    compare(CHUNKS, taken_by_process, "in one process")
elif CASE == "agents":
    compare(AGENTS, taken_by_agents, "on agents")
else:
    raise SystemExit(f"no case {CASE}")
