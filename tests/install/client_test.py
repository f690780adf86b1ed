"""The library for C and C++, as those have it who compile against a prefix.

Aim: the programs of docs/CLIENT.md, compiled with what the page says, run against
an installed tree in another prefix; C99 and C++20 take the header without a
warning; the library exports its own functions alone, and needs nothing else of
ours; where the command is missing, that is said. Method: a moved prefix, projects
made of the page's blocks, in folders of their own.

usage: client_test.py CMAKE BUILD_DIR SOURCE_DIR CASE
"""

import os
import re
import shlex
import subprocess
import sys
import tempfile

from prefix import Prefix, check, commanded

CMAKE = sys.argv[1]
BUILD, SOURCE = map(os.path.abspath, sys.argv[2:4])
CASE = sys.argv[4]
STRICT = ["-pedantic", "-Wall", "-Wextra", "-Werror"]
# Ends of the output of the page's programs, in its order.
SAID = {"c": ["20001 values, phi(10000) = ", "u(999) = 1998\n"],
        "cpp": ["201 values from 1 to 0\n",
                "L is 300 x 300, and L L' - A as good as 0\n",
                "the leaves are 22\n"]}
CXX = """#include <dogged.h>

#include <cstdio>
#include <vector>

int main() {
  dogged_options where{};
  where.agents = 1;
  dogged_session* session = nullptr;
  dogged_program* heat = nullptr;
  dogged_job* job = nullptr;
  std::vector<double> phi(101);
  const dogged_parameter parameters[] = {{"N", "101"}, {nullptr, nullptr}};
  if (dogged_open(DOGGED_ABI, &where, &session) ||
      dogged_program_file(session, "apps/heat1d/heat1d.dog", parameters, &heat) ||
      dogged_submit(heat, nullptr, &job) ||
      dogged_read(job, "phi", DOGGED_DOUBLE, phi.data(), 101 * sizeof(double))) {
    std::puts(dogged_last_error()->message);
    return dogged_last_error()->status;
  }
  std::printf("phi(100) = %g\\n", phi[100]);
  return dogged_close(session);
}
"""


def blocks(language):
    with open(os.path.join(SOURCE, "docs", "CLIENT.md")) as file:
        return re.findall(rf"^```{language}\n(.*?)^```", file.read(), re.M | re.S)


def write(folder, name, text):
    with open(os.path.join(folder, name), "w") as file:
        file.write(text)


def environment(**more):
    """Without names of a command: the library finds that of its own prefix."""
    out = {**os.environ, "PATH": "/usr/bin:/bin", **more}
    for name in ("DOGGED", "DOGGED_COMMAND"):
        out.pop(name, None)
    return out


def run(prefix, program, said, **more):
    done = commanded(program, cwd=prefix.share, env=environment(**more))
    check(f"{program} says something else than {said}", said in done.stdout,
          done.stdout + done.stderr)


def case_cmake():
    project, _ = blocks("cmake")
    first, *_ = blocks("c")
    with Prefix(CMAKE, BUILD) as prefix, tempfile.TemporaryDirectory() as folder:
        write(folder, "heat.c", first)
        write(folder, "cxx.cc", CXX)
        write(folder, "CMakeLists.txt", project
              + "enable_language(CXX)\nadd_executable(cxx cxx.cc)\n"
              "target_compile_features(cxx PRIVATE cxx_std_20)\n"
              "target_link_libraries(cxx PRIVATE dogged::dogged)\n")
        build = os.path.join(folder, "build")
        commanded(CMAKE, "-S", folder, "-B", build,
                  f"-DCMAKE_PREFIX_PATH={prefix.path}",
                  f"-DCMAKE_C_FLAGS={' '.join(['-std=c99', *STRICT])}",
                  f"-DCMAKE_CXX_FLAGS={' '.join(STRICT)}")
        commanded(CMAKE, "--build", build)
        run(prefix, os.path.join(build, "heat"), SAID["c"][0])
        run(prefix, os.path.join(build, "cxx"), "phi(100) = ")


def case_pkg_config():
    with Prefix(CMAKE, BUILD) as prefix, tempfile.TemporaryDirectory() as folder:
        library = os.path.join(prefix.path, "lib")
        flags = shlex.split(commanded(
            "pkg-config", "--cflags", "--libs", "dogged", env=environment(
                PKG_CONFIG_PATH=os.path.join(library, "pkgconfig"))).stdout)
        programs = [("c", "cc", "-std=c99", text, said)
                    for text, said in zip(blocks("c"), SAID["c"], strict=True)]
        programs += [("cc", "c++", "-std=c++20", CXX, "phi(100) = "),
                     ("cc", "c++", "-std=c++20", blocks("cpp")[0],
                      SAID["cpp"][0]),
                     ("cc", "c++", "-std=c++20", blocks("cpp")[-1],
                      SAID["cpp"][2])]
        for ending, compiler, standard, text, said in programs:
            write(folder, f"program.{ending}", text)
            program = os.path.join(folder, "program")
            commanded(compiler, standard, *STRICT, f"program.{ending}", *flags,
                      "-o", program, cwd=folder)
            run(prefix, program, said, LD_LIBRARY_PATH=library)


def case_kernels():
    """Kernels of one's own, in a library beside the program."""
    _, project = blocks("cmake")
    _, header, kernels, program, _ = blocks("cpp")
    with Prefix(CMAKE, BUILD) as prefix, tempfile.TemporaryDirectory() as folder:
        for name, text in (("CMakeLists.txt", project), ("kernels.h", header),
                           ("kernels.cc", kernels), ("cholesky.cc", program)):
            write(folder, name, text)
        build = os.path.join(folder, "build")
        commanded(CMAKE, "-S", folder, "-B", build,
                  f"-DCMAKE_PREFIX_PATH={prefix.path}",
                  f"-DCMAKE_CXX_FLAGS={' '.join(STRICT)}")
        commanded(CMAKE, "--build", build)
        run(prefix, os.path.join(build, "cholesky"), SAID["cpp"][1])


def case_exports():
    with Prefix(CMAKE, BUILD) as prefix:
        library = os.path.join(prefix.path, "lib", "libdogged.so.1")
        names = commanded("nm", "-D", "--defined-only", library).stdout
        needed = commanded("readelf", "-d", library).stdout
        with open(os.path.join(prefix.path, "include", "dogged.h")) as file:
            declared = set(re.findall(r"^\w[\w *]*[ *](dogged_\w+)\(",
                                      file.read(), re.M))
    exported = {line.split()[2].split("@")[0] for line in names.splitlines()
                if line.split()[1] != "A"}
    check("exported and declared differ", exported == declared,
          exported ^ declared)
    foreign = [name for name in re.findall(r"\(NEEDED\).*\[(.*)\]", needed)
               if not re.match(r"lib(stdc\+\+|gcc_s|c|m)\.so|ld-linux", name)]
    check("needs more than libc and the C++ library", not foreign, foreign)
    check("soname", "[libdogged.so.1]" in needed, needed)


def case_not_whole():
    with Prefix(CMAKE, BUILD) as prefix, tempfile.TemporaryDirectory() as folder:
        write(folder, "heat.c", blocks("c")[0])
        library = os.path.join(prefix.path, "lib")
        program = os.path.join(folder, "heat")
        commanded("cc", "heat.c", f"-I{prefix.path}/include", f"-L{library}",
                  "-ldogged", f"-Wl,-rpath,{library}", "-o", program, cwd=folder)
        os.remove(prefix.dogged)
        done = commanded(program, cwd=prefix.share, env=environment(), expect=2)
        words = (f"there is no dogged command, neither in bin beside {library} "
                 f"nor on PATH: install dogged, or set DOGGED_COMMAND to its path")
        check("not said", done.stderr == words + "\n", done.stderr)


globals()["case_" + CASE]()
