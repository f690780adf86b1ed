#!/usr/bin/env python3
"""The sources of a library are compiled together (DOGGED_UNITY), so a name in an
anonymous namespace is the name of one thing in all of them: a second function of
that name would not fail, but could be chosen by overload resolution where the first
was meant. A type in a header is the name of one thing in the whole program, which
is linked from all of them.

    tests/lint/names.py [ROOT]
"""

import os
import re
import sys

import source

# Programs whose sources are compiled one by one.
APART = ("apps/dogged_bench", "tests")

ANONYMOUS = re.compile(r"^namespace \{\n(.*?)^\}  // namespace\n", re.M | re.S)
# Names that begin in the first column: constants, types, functions.
TYPE = re.compile(r"(?:struct|class|enum class|enum|union) (\w+)")
ALIAS = re.compile(r"using (\w+) =")
OTHER = re.compile(r"(?:\w[\w:<>,&*\s]*?[\s&*>])?(?<!::)\b(\w+)"
                   r"(?:\(|\[[^\]]*\] = |\{| = |;$)")
NO_NAMES = re.compile(r"(?:static_assert|template|return|using|namespace|public|"
                      r"private|protected)\b|[A-Z_]+\(|\s|[{}#/]")


def names_of(text):
    """(name, position, the line) of what stands in anonymous namespaces."""
    for part in ANONYMOUS.finditer(text):
        start = part.start(1)
        for line in part.group(1).splitlines(keepends=True):
            found = ALIAS.match(line) or TYPE.match(line)
            if not found and not NO_NAMES.match(line):
                found = OTHER.match(line)
            if found:
                yield found.group(1), start, line.strip()
            start += len(line)


def library_of(path, exists):
    """The folder that builds `path`: the nearest one with a CMakeLists.txt."""
    folder = os.path.dirname(path)
    while folder and not exists(folder + "/CMakeLists.txt"):
        folder = os.path.dirname(folder)
    return folder


def check_names(texts, exists):
    """`texts`: path -> text."""
    problems = []
    first = {}
    for path, text in sorted(texts.items()):
        library = library_of(path, exists)
        if not path.endswith(".cc") or library.startswith(APART):
            continue
        seen = set()
        for name, start, line in names_of(text):
            if name in seen:
                continue  # an overload
            seen.add(name)
            before, where = first.setdefault((library, name), (line, path))
            same_type = line == before and line.startswith("using ")
            if where != path and not same_type:
                number = text.count("\n", 0, start) + 1
                problems.append(f"{path}:{number}: {name} is in an anonymous "
                                f"namespace of {where}, too: share it, or name "
                                "one otherwise")
    return problems


NAMESPACE = re.compile(r"namespace ([\w:]+) \{")
END = re.compile(r"\}  // namespace [\w:]+$")
DEFINED = re.compile(r"(?:struct|class|enum class|enum|union) (\w+)"
                     r"(?: final)?(?: : [^;]*)?(?: \{.*)?$")


def types_of(text):
    """(name with its namespaces, number of the line) of types of a header."""
    spaces = []
    for number, line in enumerate(text.splitlines(), 1):
        if found := NAMESPACE.match(line):
            spaces.append(found.group(1))
        elif END.match(line):
            spaces.pop()
        elif found := DEFINED.match(line):
            yield "::".join([*spaces, found.group(1)]), number


def check_types(texts):
    """`texts`: path -> text."""
    problems = []
    first = {}
    for path, text in sorted(texts.items()):
        if not path.endswith(".h") or path.startswith(APART):
            continue
        for name, number in types_of(text):
            where = first.setdefault(name, path)
            if where != path:
                problems.append(f"{path}:{number}: {name} is a type of {where}, "
                                "too: name one otherwise")
    return problems


def main(root):
    texts = {path: source.read(root, path)
             for path in source.files(root, ".cc", ".h")}
    return source.report("names", check_types(texts) + check_names(
        texts, lambda path: os.path.exists(os.path.join(root, path))))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1] if len(sys.argv) > 1 else "."))
