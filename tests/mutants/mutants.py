#!/usr/bin/env python3
"""Plants faults in a copy of the sources, one at a time, and wants the tests
that are named for it to turn red.

Each *.patch here is a fault: lines "# Breaks:" say which promise of
docs/TESTING.md it breaks, "# Tests:" which tests must fail, as NAME of ctest or
NAME:SUITE.CASE of GoogleTest, "# Targets:" what to build for them where that is
not the test's own program.

    tests/mutants/mutants.py [NAME...]    # these, parts of names will do
    tests/mutants/mutants.py --list
    tests/mutants/mutants.py --check      # only that each still applies
"""

import argparse
import dataclasses
import os
import pathlib
import re
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
PRESET = "ci"
# Limit of all tests of a fault. A test that hangs for longer is no proof: it
# has to end by itself, or by its limit in ctest.
TESTS_SECONDS_MAX = 1800


@dataclasses.dataclass
class Mutant:
    name: str
    path: pathlib.Path
    breaks: str
    tests: list  # (name of ctest, GoogleTest's filter or None)
    targets: list

    @staticmethod
    def read(path):
        fields = {"Breaks": [], "Tests": [], "Targets": []}
        last = None
        for line in path.read_text(encoding="utf-8").split("\n"):
            if not line.startswith("#"):
                break
            found = re.match(r"# ?(?:(\w+):(?: |$))?\s*(.*)", line)
            last = found[1] or last
            if last not in fields:
                raise SystemExit(f"{path.name}: what is {line!r}?")
            fields[last].append(found[2])
        tests = [tuple((word.split(":") + [None])[:2])
                 for word in " ".join(fields["Tests"]).split()]
        targets = " ".join(fields["Targets"]).split()
        if not fields["Breaks"] or not tests:
            raise SystemExit(f"{path.name}: it names no promise, or no test")
        if not targets:
            targets = sorted({name.replace(".", "_") + "_test"
                              for name, _ in tests})
        return Mutant(path.stem, path, " ".join(fields["Breaks"]), tests,
                      targets)


def git(*arguments, cwd=ROOT, check=True):
    done = subprocess.run(["git", *map(str, arguments)], cwd=cwd,
                          capture_output=True, text=True)
    if check and done.returncode != 0:
        raise SystemExit(f"git {' '.join(map(str, arguments))}: "
                         f"{done.stderr.strip()}")
    return done


# --- what needs no build


def hunks(text):
    """(path, lines before, lines after) of each hunk of a patch."""
    path = None
    before = after = None
    for line in text.split("\n"):
        if line.startswith("--- a/"):
            path = line[len("--- a/"):]
        elif line.startswith("@@"):
            before, after = [], []
            yield path, before, after
        elif before is not None and line[:1] in (" ", "-", "+"):
            if line[0] != "+":
                before.append(line[1:])
            if line[0] != "-":
                after.append(line[1:])


def is_test(name, words):
    """A list of CMake has it as a word, or as two: the prefix of a function's
    cases and the case."""
    return any(name in some or any(name[:i] in some and name[i:] in some
                                   for i in range(1, len(name)))
               for some in words)


def problems_of(mutant, cases, words):
    """Why it can't be planted any more, as lines."""
    out = []
    applied = git("apply", "--check", mutant.path, check=False)
    if applied.returncode != 0:
        out.append("no longer applies: " + " ".join(applied.stderr.split()))
    # Contexts are short: a hunk must not fit in two places.
    for path, before, _ in list(hunks(mutant.path.read_text("utf-8"))):
        file = ROOT / path
        if not file.is_file():
            continue
        lines = file.read_text(encoding="utf-8").split("\n")
        count = sum(lines[i:i + len(before)] == before
                    for i in range(len(lines)))
        if count > 1:
            out.append(f"fits in {count} places of {path}")
    for name, case in mutant.tests:
        if not is_test(name, words):
            out.append(f"no test is called {name}")
        if case is not None and case not in cases:
            out.append(f"{name} has no case {case}")
    return out


def cases_of_tests():
    """SUITE.CASE of all tests."""
    return {f"{suite}.{case}"
            for path in (ROOT / "tests").rglob("*.cc")
            for suite, case in re.findall(
                r"^TEST(?:_F|_P)?\(\s*(\w+),\s*(\w+)\)",
                path.read_text(encoding="utf-8"), re.M)}


def words_of_lists():
    """The words of each CMakeLists.txt that may name tests; of README.md, from
    which a test is called too, readme."""
    texts = [path.read_text(encoding="utf-8").lower()
             for path in (ROOT / "tests").rglob("CMakeLists.txt")]
    return [{*re.findall(r"[\w.]+", text), *re.findall(r"(\w+)\.md", text)}
            for text in texts]


def check(mutants):
    cases = cases_of_tests()
    words = words_of_lists()
    count = 0
    for mutant in mutants:
        for problem in problems_of(mutant, cases, words):
            print(f"{mutant.path.relative_to(ROOT)}: {problem}")
            count += 1
    print(f"mutants: {count} problems in {len(mutants)} patches")
    return 1 if count else 0


# --- what does


class Tree:
    """A copy of the sources with a build of its own, which stays for the next
    time: nobody else's files are touched."""

    def __init__(self, folder, jobs, is_verbose):
        self.folder = folder
        self.jobs = jobs
        self.is_verbose = is_verbose
        self.build = folder / "build" / PRESET

    def prepare(self):
        """The sources as they stand here, what is not committed included."""
        commit = git("stash", "create").stdout.strip() or "HEAD"
        commit = git("rev-parse", commit).stdout.strip()
        git("worktree", "prune")
        if not self.folder.exists():
            git("worktree", "add", "--detach", self.folder, commit)
        git("reset", "--hard", commit, cwd=self.folder)
        self.run(["cmake", "--preset", PRESET])

    def run(self, command):
        """False, and what was said, if it fails."""
        done = subprocess.run(command, cwd=self.folder, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        return done.returncode == 0, done.stdout

    def make(self, targets):
        return self.run(["cmake", "--build", str(self.build), "-j",
                         str(self.jobs), "--target", *targets])

    def plant(self, mutant):
        git("apply", mutant.path, cwd=self.folder)

    def restore(self):
        git("checkout", "--", ".", cwd=self.folder)

    def test(self, name, case):
        """"green", or how it ended otherwise."""
        environment = {**os.environ, "GTEST_FAIL_FAST": "1"}
        if case is not None:
            environment["GTEST_FILTER"] = case
        try:
            done = subprocess.run(
                ["ctest", "--test-dir", str(self.build), "--no-tests=error",
                 "--output-on-failure", "-V", "-R",
                 "^" + re.escape(name) + "$"],
                cwd=self.folder, env=environment, capture_output=True,
                text=True, timeout=TESTS_SECONDS_MAX)
        except subprocess.TimeoutExpired:
            return "hangs"
        said = done.stdout
        if "No tests were found" in said + done.stderr:
            return "no such test"
        if "***Not Run" in said:
            return "not built"
        if case is not None and "Running 0 tests" in said:
            return "no such case"
        if done.returncode == 0:
            return "green"
        if self.is_verbose:
            say("\n".join(said.strip().split("\n")[-30:]))
        return "red, by its limit" if "***Timeout" in said else "red"


def plant_all(tree, mutants, has_baseline):
    say("preparing", tree.folder)
    tree.prepare()
    green = {}
    if has_baseline:
        say("building, and running all tests without a fault")
        built, said = tree.make(sorted({t for m in mutants
                                        for t in m.targets}))
        if not built:
            raise SystemExit(said)
        for test in sorted({t for m in mutants for t in m.tests},
                           key=lambda t: (t[0], t[1] or "")):
            green[test] = tree.test(*test)
            if green[test] != "green":
                say("without a fault", ":".join(filter(None, test)), "is",
                    green[test])
    rows = []
    for mutant in mutants:
        began = time.monotonic()
        outcome = one(tree, mutant, green)
        rows.append((mutant, outcome))
        say(f"{mutant.name:42} {outcome:24} {time.monotonic() - began:4.0f} s")
    return rows


def one(tree, mutant, green):
    """"red", or what is wrong."""
    for test in mutant.tests:
        if green.get(test, "green") != "green":
            return f"{test[0]} is {green[test]} without it"
    tree.plant(mutant)
    try:
        built, said = tree.make(mutant.targets)
        if not built:
            say(said[-3000:])
            return "does not build"
        for name, case in mutant.tests:
            ended = tree.test(name, case)
            if not ended.startswith("red"):
                return f"SURVIVES {name}" if ended == "green" else (
                    f"{name}: {ended}")
        return ended
    finally:
        tree.restore()


def say(*words):
    print(*words, flush=True)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--check", action="store_true",
                        help="only that each patch still applies")
    parser.add_argument("--list", action="store_true",
                        help="names, promises and tests")
    parser.add_argument("--skip-baseline", action="store_true",
                        help="believe that all tests are green without faults")
    parser.add_argument("--verbose", action="store_true",
                        help="what a test says that turns red")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--tree", type=pathlib.Path,
                        default=ROOT / "build" / "mutants",
                        help="where the copy is (build/mutants)")
    options = parser.parse_args()
    mutants = [Mutant.read(path) for path in sorted(HERE.glob("*.patch"))]
    if options.names:
        for name in options.names:
            if not any(name in mutant.name for mutant in mutants):
                raise SystemExit(f"no mutant is called {name}")
        mutants = [mutant for mutant in mutants
                   if any(name in mutant.name for name in options.names)]
    if options.list:
        for mutant in mutants:
            print(f"{mutant.name}\n    {mutant.breaks}\n    " + " ".join(
                ":".join(filter(None, test)) for test in mutant.tests))
        return 0
    problems = check(mutants)
    if problems or options.check:
        return problems
    tree = Tree(options.tree.resolve(), options.jobs, options.verbose)
    rows = plant_all(tree, mutants, not options.skip_baseline)
    say()
    for mutant, outcome in rows:
        tests = " ".join(":".join(filter(None, test)) for test in mutant.tests)
        say(f"{mutant.name:42} {outcome:24} {tests}")
    red = sum(outcome.startswith("red") for _, outcome in rows)
    say(f"{red} of {len(rows)} turned a test red")
    return 0 if red == len(rows) else 1


if __name__ == "__main__":
    sys.exit(main())
