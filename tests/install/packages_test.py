"""The Debian packages that CPack makes of a build tree.

Aim: each installed file is in one package, the one that its users have; each
package says what it needs, and names of one build need that build; unpacked side
by side they run, and the package for Python without the command says what is
missing. Method: packs into a temporary folder, reads the packages with dpkg-deb,
unpacks them there.

usage: packages_test.py CMAKE BUILD_DIR
"""

import os
import re
import sys
import tempfile

from prefix import check, commanded

CMAKE, BUILD = sys.argv[1], os.path.abspath(sys.argv[2])
DEV = r"include/dogged\w*\.hp?p?|lib/(cmake|pkgconfig)/.*|lib/libdogged\.so"
PYTHON = r"lib/python3/dist-packages/dogged/(\w+\.py|py\.typed)"
NEEDS = {"dogged": ("libopenblas0-pthread | libopenblas0", "libc6 (>= "),
         "libdogged-dev": ("dogged (= {version})",),
         "python3-dogged": ("dogged (= {version})", "python3 (>= ",
                            "python3-numpy (>= ")}
SCRIPT = ("import dogged\n"
          "with dogged.agents(1) as c:\n"
          "    p = dogged.load('apps/heat1d/heat1d.dog', N=101, T=5)\n"
          "    print(c.submit(p)['phi'].shape)\n")


def field(path, name):
    return commanded("dpkg-deb", "--field", path, name).stdout.strip()


def files(path):
    lines = commanded("dpkg-deb", "--contents", path).stdout.splitlines()
    names = [re.sub(r"^(\S+ +){5}\./", "", line).split(" -> ")[0]
             for line in lines if line[0] != "d"]
    foreign = [name for name in names if not name.startswith("usr/")]
    check(f"{path}: not below usr", not foreign, foreign)
    return {name.removeprefix("usr/") for name in names}


def check_files(found):
    for name, form in (("libdogged-dev", DEV), ("python3-dogged", PYTHON)):
        foreign = [file for file in found[name] if not re.fullmatch(form, file)]
        check(f"{name}: foreign files", not foreign, foreign)
        stray = [file for file in found["dogged"] if re.fullmatch(form, file)]
        check(f"dogged: files of {name}", not stray, stray)
    for name, least in (("libdogged-dev", 10), ("python3-dogged", 8),
                        ("dogged", 100)):
        check(f"{name}: few files", len(found[name]) >= least, found[name])
    wanted = {"bin/dogged", "lib/libdogged.so.1", "lib/dogged/dogged_fabric.so",
              "share/man/man1/dogged.1.gz", "share/doc/dogged/copyright",
              "share/bash-completion/completions/dogged",
              "share/zsh/vendor-completions/_dogged",
              "share/fish/vendor_completions.d/dogged.fish"}
    check("dogged: without", wanted <= found["dogged"], wanted - found["dogged"])


def check_version(version):
    """Of the commit, after those of earlier ones and before the release's."""
    with open(os.path.join(BUILD, "CMakeCache.txt")) as cache:
        released = re.search(r"^CMAKE_PROJECT_VERSION:STATIC=(.*)$",
                             cache.read(), re.MULTILINE)[1]
    git = ("git", "-C", os.path.dirname(os.path.abspath(__file__)))
    if commanded(*git, "tag", "--points-at", "HEAD", "v*").stdout:
        return check("not the release's", version.startswith(f"{released}-1"),
                     version)
    commit = commanded(*git, "log", "-1", "--abbrev=12", "--format=%h").stdout
    form = (rf"{re.escape(released)}~git[0-9]{{14}}\.{commit.strip()}"
            r"-1(~deb[0-9.]+)?")
    check("version of another commit", re.fullmatch(form, version), version)
    commanded("dpkg", "--compare-versions", version, "lt", f"{released}-1")
    commanded("dpkg", "--compare-versions", version, "gt",
              f"{released}~git20261101000000.ffffffffffff-1")


def check_fields(packages):
    version = field(packages["dogged"], "Version")
    check_version(version)
    for name, path in packages.items():
        is_for_all = name == "python3-dogged"
        check(f"{name}: architecture", is_for_all
              == (field(path, "Architecture") == "all"), path)
        check(f"{name}: version", field(path, "Version") == version, version)
        needs = field(path, "Depends")
        for words in NEEDS[name]:
            check(f"{name} does not need {words}",
                  words.format(version=version) in needs, needs)
    with tempfile.TemporaryDirectory() as folder:
        commanded("dpkg-deb", "--control", packages["python3-dogged"], folder)
        for script in ("postinst", "prerm"):
            commanded("sh", "-n", os.path.join(folder, script))
            check(f"{script}: not to be run",
                  os.access(os.path.join(folder, script), os.X_OK))


def check_unpacked(packages, folder):
    prefix = os.path.join(folder, "usr")
    python = os.path.join(prefix, "lib", "python3", "dist-packages")
    environment = {**os.environ, "PYTHONPATH": python,
                   "PATH": "/usr/bin:/bin"}
    environment.pop("DOGGED", None)
    for path in packages.values():
        commanded("dpkg-deb", "--extract", path, folder)
    os.rename(os.path.join(prefix, "bin"), os.path.join(folder, "bin"))
    done = commanded("/usr/bin/python3", "-B", "-c", SCRIPT, expect=1,
                     cwd=os.path.join(prefix, "share", "dogged"),
                     env=environment)
    words = (f"Mistyped: there is no dogged command, neither in {prefix}/bin "
             "nor on PATH: install dogged, or set DOGGED to its path\n")
    check("half of it: not said", done.stderr.endswith(words), done.stderr)
    os.rename(os.path.join(folder, "bin"), os.path.join(prefix, "bin"))
    done = commanded("/usr/bin/python3", "-B", "-c", SCRIPT,
                     cwd=os.path.join(prefix, "share", "dogged"),
                     env=environment)
    check("another shape", done.stdout == "(101,)\n", done.stdout)


def main():
    with tempfile.TemporaryDirectory() as folder:
        packed = os.path.join(folder, "packages")
        commanded(os.path.join(os.path.dirname(CMAKE), "cpack"), "--config",
                  os.path.join(BUILD, "CPackConfig.cmake"), "-B", packed)
        paths = [os.path.join(packed, name) for name in os.listdir(packed)
                 if name.endswith(".deb")]
        packages = {field(path, "Package"): path for path in paths}
        check("other packages", set(packages) == set(NEEDS), packages)
        check_files({name: files(path) for name, path in packages.items()})
        check_fields(packages)
        unpacked = os.path.join(folder, "unpacked")
        os.mkdir(unpacked)
        check_unpacked(packages, unpacked)


main()
