"""What `cmake --install` leaves in a prefix, and that it runs from any place.

Aim: a prefix has the command, all that it loads, the programs and the pages, and
nothing else; it can be moved, and runs from there, with its own modules, not with
those of the build tree; where a module is missing, that is said. Method: installs
into a temporary prefix, moves that, and runs the README's command there.

usage: install_test.py CMAKE BUILD_DIR SOURCE_DIR CASE
"""

import glob
import json
import os
import re
import subprocess
import sys
import tempfile

from prefix import Prefix, check, commanded

CMAKE = sys.argv[1]
BUILD, SOURCE = map(os.path.abspath, sys.argv[2:4])
CASE = sys.argv[4]
# Files in folders of their own: how they are named, and the least number of them.
FOLDERS = {"lib/cmake/dogged/": (r"dogged-(config|config-version|targets|"
                               r"targets-\w+)\.cmake", 4),
           "share/dogged/apps/": (r"\w+/\w+\.dog", 15),
           "lib/python3/dist-packages/dogged/": (r"\w+\.py|py\.typed", 7),
           "share/man/man1/": (r"dogged(-\w+)?\.1", 20),
           "share/doc/dogged/": (r"copyright|README\.md|"
                                 r"docs/recipes/(Containerfile|[\w-]+/[\w-]+"
                                 r"(\.(sbatch|service|yaml))?)|"
                                 r"docs/([\w-]+/)*[\w-]+\.(md|svg|png)", 30)}


def installed():
    return Prefix(CMAKE, BUILD)


def refusing_libraries():
    """As the build tree has them: none where libfabric needs none."""
    return {"lib/dogged/" + os.path.basename(path)
            for path in glob.glob(os.path.join(BUILD, "libpsm*.so.*"))}


def case_files():
    with installed() as prefix:
        files = prefix.files()
    own = {path for path in files
           if not any(path.startswith(folder) for folder in FOLDERS)}
    wanted = {"bin/dogged", "lib/dogged/dogged_fabric.so",
              "lib/dogged/dogged_rocksdb.so", "include/dogged.h",
              "include/dogged.hpp", "include/dogged_builder.hpp",
              "include/dogged_error.hpp", "include/dogged_graph.hpp",
              "include/dogged_kernel.hpp",
              "lib/libdogged.so", "lib/libdogged.so.1", "lib/libdogged.so.1.0",
              "lib/pkgconfig/dogged.pc",
              "share/bash-completion/completions/dogged",
              "share/zsh/site-functions/_dogged",
              "share/fish/vendor_completions.d/dogged.fish",
              *refusing_libraries()}
    check("other files than these", own == wanted, own ^ wanted)
    for folder, (form, least) in FOLDERS.items():
        names = [path[len(folder):] for path in files if path.startswith(folder)]
        check(f"{folder}: only {len(names)}", len(names) >= least, names)
        foreign = [name for name in names if not re.fullmatch(form, name)]
        check(f"{folder}: foreign files", not foreign, foreign)


def case_moved():
    with installed() as prefix, tempfile.TemporaryDirectory() as folder:
        # Through a link, as from /usr/local/bin.
        link = os.path.join(folder, "dogged")
        os.symlink(prefix.dogged, link)
        done = commanded(
            link, "run", "apps/heat1d/heat1d.dog", "-D", "N=20001", "--agents",
            "2", "--check", "--json", cwd=prefix.share,
            env={**os.environ, "DOGGED_DIR": os.path.join(folder, "values")})
        report = json.loads(done.stdout)
        check("two agents, and the serial bits",
              report["check_passed"] and len(report["tasks_per_agent"]) == 2,
              done.stdout + done.stderr)
        agent = subprocess.Popen(
            [link, "agent", "--workers", "1", "--dir",
             os.path.join(folder, "own")],
            stdout=subprocess.PIPE, text=True)
        try:
            line = agent.stdout.readline()
            check("an agent", line.startswith("listening "), line)
            with open(f"/proc/{agent.pid}/maps") as file:
                maps = file.read()
        finally:
            agent.kill()
            agent.wait()
        for module in prefix.modules():
            check(f"not loaded: {module}", module in maps, maps)
        foreign = [line for line in maps.split("\n") if BUILD in line
                   or re.search(r"/libpsm", line) and prefix.path not in line]
        check("not of this prefix", not foreign, foreign)


def case_python():
    """The package for Python finds the command of its own prefix."""
    script = ("import dogged\n"
              "with dogged.agents(1) as c:\n"
              "    p = dogged.load('apps/heat1d/heat1d.dog', N=101, T=5)\n"
              "    print(dogged._door.command())\n"
              "    print(c.submit(p)['phi'].shape)\n")
    with installed() as prefix:
        environment = {**os.environ, "PYTHONPATH": os.path.join(
            prefix.path, "lib", "python3", "dist-packages")}
        environment.pop("DOGGED", None)
        done = commanded("/usr/bin/python3", "-B", "-c", script,
                         cwd=prefix.share, env=environment)
    check("another command", done.stdout == f"{prefix.dogged}\n(101,)\n",
          done.stdout)


def case_not_whole():
    with installed() as prefix, tempfile.TemporaryDirectory() as folder:
        for module, more in (("dogged_rocksdb.so", ("--dir", folder)),
                             ("dogged_fabric.so", ())):
            os.remove(os.path.join(prefix.path, "lib", "dogged", module))
            done = commanded(prefix.dogged, "agent", *more, expect=4)
            words = (f"error: {module} is neither beside {prefix.dogged} nor in "
                     f"{prefix.path}/lib/dogged: this installation is not whole")
            check("not said", done.stderr.startswith(words), done.stderr)
        # Agents are another matter than programs.
        commanded(prefix.dogged, "check", "apps/heat1d/heat1d.dog",
                  cwd=prefix.share)


globals()["case_" + CASE]()
