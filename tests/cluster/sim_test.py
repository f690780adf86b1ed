"""Words of `dogged sim` about a seed that fails.

Aim: the command that it prints for a failed seed runs that very seed again,
whatever names and files the first one was given. Method: a kernel of a library
that counts its calls, so no run agrees with another; the command goes through a
shell.

usage: sim_test.py DOGGED SOURCE_DIR
"""

import os
import re
import shlex
import struct
import subprocess
import sys
import tempfile

DOGGED = os.path.abspath(sys.argv[1])

LIBRARY = r"""
#include <cstdint>
struct value {
  void* data; int64_t rank; const int64_t* extents; int64_t type;
};
extern "C" int drift(const value* in, value* out, const double*) {
  static int calls = 0;
  ++calls;
  for (int i = 0; i < 4; ++i) {
    static_cast<double*>(out[0].data)[i] =
        static_cast<const double*>(in[0].data)[i] + calls;
  }
  return 0;
}
"""

PROGRAM = """
param N = 2
param STEPS = 2
array A(i = 0:N-1)(k = 0:STEPS) : double [4]
kernel drift(in a, out b) from "drift.so"
input A(i)(0) for i = 0:N-1
task next
  creates A(i)(k) as b
  for i = 0:N-1  k = 1:STEPS
  using A(i)(k-1) as a
  call drift(a, b)
end task
result A(:)(STEPS)
"""


def check(what, got, expected):
    if got != expected:
        raise SystemExit(f"{what}:\n{got}\nnot\n{expected}")


def fails(command, **how):
    """The words of a simulation that fails."""
    done = subprocess.run(command, capture_output=True, text=True, timeout=300,
                          **how)
    check(f"exit status of {command}\n{done.stderr}", done.returncode, 1)
    return done.stderr


def main():
    with tempfile.TemporaryDirectory() as folder:
        def path(name):
            return os.path.join(folder, name)
        with open(path("drift.cc"), "w") as file:
            file.write(LIBRARY)
        subprocess.run(["c++", "-shared", "-fPIC", "-o", path("drift.so"),
                        path("drift.cc")], check=True)
        # Names that a shell takes apart.
        program = path("it's a $HOME; program.dog")
        with open(program, "w") as file:
            file.write(PROGRAM)
        matrix = path('a "matrix" & more.npy')
        header = ("{'descr': '<f8', 'fortran_order': False, 'shape': (%d,), }"
                  % 12).ljust(117) + "\n"
        with open(matrix, "wb") as file:
            file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) +
                       header.encode() + struct.pack("<12d", *range(12)))
        flags = ["-D", "N=3", "-D", "STEPS=4", "--input", f"A={matrix}",
                 "--kernels", "interpreted", "--coalesce", "off", "--agents",
                 "3", "--replicas", "1", "--seeds", "7:8", "--faults",
                 "crash=1,drop=0.01", "--search-only", "--claims", "off"]
        words = fails([DOGGED, "sim", program, *flags])
        said = dict(re.findall(r"seed (\d+): (?:.*)\n  replay: (.*)\n", words))
        check("seeds that failed", sorted(said), ["7", "8"])
        for seed, command in said.items():
            expected = [f"{seed}:{seed}" if word == "7:8" else word
                        for word in flags]
            check("command", shlex.split(command),
                  ["dogged", "sim", program, *expected])
            again = fails(command, shell=True, env={
                **os.environ, "PATH": os.path.dirname(DOGGED) + ":" +
                os.environ["PATH"]})
            if f"seed {seed}: " not in again or command not in again:
                raise SystemExit(f"{command} says {again!r}")


main()
