#!/usr/bin/env python3
"""Ideas and files agree: in the packages below a source file has a header
of its own, and a class stands in the source file of its header and in one
more at most.
Everywhere: no folder has more than 40 sources, and no comment and no page names a
file or a decision (ADR-7) that is not there.

    tests/lint/rooms.py [ROOT]
"""

import collections
import os
import re
import subprocess
import sys

import source

# Sources of programs of their own, and kernels that are compiled once for each
# instruction set, have no header.
PACKAGES = ("apps", "dsl", "kvstore", "routing", "runtime")
PROGRAM = re.compile(r"apps/(?:\w+/(?:main|reference)|dogged_bench/(?:\w+_bench|"
                     r"multicast_model|peers/\w+)|tiles/micro_kernels_\d)\.cc")

FILES_MAX = 40

# From the first column on, unlike calls.
DEFINES = re.compile(r"^(?:\w[\w:<>*&,\s]*[\s*&])?([A-Z]\w+)::~?\w+\(", re.M)
REFERENCE = re.compile(r"\b((?:apps|cmake|docs|dsl|kvstore|routing|runtime|"
                       r"scripts|tests)/[\w./-]*\w\.(?:h|cc|py|md|dog))\b")
PLACEHOLDER = re.compile(r"NAME|NNNN")
# ADR-7 is page 0007 of docs/adr; other forms are of the numbers before the merge.
DECISION = re.compile(r"\b(ADR-\d+)\b")
FORMER = re.compile(r"\bADR \d+|\badr/\d{4}(?:-\*|(?!-))")
COMMENT = re.compile(r"//[^\n]*")


def is_held(path):
    return path.split("/")[0] in PACKAGES


def check_headers(paths):
    known = set(paths)
    return [f"{path}:1: no header {path[:-3]}.h: which idea is it about?"
            for path in paths
            if path.endswith(".cc") and is_held(path)
            and path[:-3] + ".h" not in known and not PROGRAM.fullmatch(path)]


def check_folders(paths):
    counts = collections.Counter(os.path.dirname(path) for path in paths)
    return [f"{folder}/:1: {count} sources, {FILES_MAX} at most: which ideas "
            "are there?" for folder, count in sorted(counts.items())
            if count > FILES_MAX]


def check_classes(texts):
    """`texts`: path -> text."""
    stands_in = {}
    for path, text in texts.items():
        if is_held(path) and path.endswith(".cc"):
            for name in DEFINES.findall(source.blank(text)):
                stands_in.setdefault(name, set()).add(path)
    return [f"{sorted(where)[0]}:1: {name} stands in {', '.join(sorted(where))}: "
            "two files at most" for name, where in sorted(stands_in.items())
            if len(where) > 2]


def check_references(path, text, exists):
    problems = []
    comments = path.endswith((".h", ".cc"))
    spans = COMMENT.finditer(text) if comments else [re.match(r"(?s).*", text)]
    for span in spans:
        missing = []
        for match in REFERENCE.finditer(span.group(0)):
            if not (PLACEHOLDER.search(match.group(1))
                    or exists(match.group(1))):
                missing.append((match.start(), f"there is no {match.group(1)}"))
        for match in DECISION.finditer(span.group(0)):
            if not exists(match.group(1)):
                missing.append((match.start(), f"there is no {match.group(1)}"))
        for match in FORMER.finditer(span.group(0)):
            missing.append((match.start(), f"{match.group(0)}: write ADR-N, by "
                            "docs/adr/README.md"))
        for start, words in missing:
            line = text.count("\n", 0, span.start() + start) + 1
            problems.append(f"{path}:{line}: {words}")
    return problems


def main(root):
    paths = source.files(root, ".h", ".cc")
    texts = {path: source.read(root, path) for path in paths}
    problems = (check_headers(paths) + check_folders(paths)
                + check_classes(texts))
    pages = subprocess.run(["git", "ls-files", "*.md"], cwd=root,
                           capture_output=True, text=True).stdout.split()
    for page in pages:
        texts[page] = source.read(root, page)
    decisions = {f"ADR-{int(page[:4])}"
                 for page in os.listdir(os.path.join(root, "docs/adr"))
                 if page[:4].isdigit()}
    for path, text in sorted(texts.items()):
        problems += check_references(
            path, text, lambda name: name in decisions
            or os.path.exists(os.path.join(root, name)))
    return source.report("rooms", problems)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1] if len(sys.argv) > 1 else "."))
