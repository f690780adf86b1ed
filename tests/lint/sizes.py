#!/usr/bin/env python3
"""The numbers of docs/STYLE.md. Lengths of files and functions are not among
them: a limit is met by cutting where lines run out, not where ideas part.

    tests/lint/sizes.py [ROOT]
"""

import re
import sys

import source

PARAMETERS = 6
NESTING = 4
COLUMNS = 80

CONTAINER = re.compile(r"\b(namespace|class|struct|enum|union)\b[^()]*$"
                       r'|\bextern\s*""')
ALIGNAS = re.compile(r"\balignas\s*\([^)]*\)")
CONTROL = re.compile(r"^\s*(\}\s*)?(if|else|for|while|do|switch|try|catch)\b")


def parameters_of(head):
    """How many parameters the first bracket of a function's head has."""
    begin = head.find("(")
    if begin > 0 and head[:begin].rstrip().endswith("operator"):
        begin = head.find("(", begin + 1)  # operator()(...)
    depth = 0
    count = 1
    for i in range(begin, len(head)):
        c = head[i]
        if c in "(<[{":
            depth += 1
        elif c in ")]}" or (c == ">" and head[i - 1] != "-"):
            depth -= 1
            if depth == 0:
                break
        elif c == "," and depth == 1:
            count += 1
    inside = head[begin + 1:i].strip()
    return count if inside and inside != "void" else 0


def check_functions(path, code):
    """Parameters and nesting of every function in `code`."""
    problems = []
    stack = []  # (kind, open brackets before it)
    head_begin = 0
    brackets = 0
    for match in re.finditer(r"[{}();]|^[ \t]*#.*$", code, re.M):
        c = match.group(0)
        if c == "(":
            brackets += 1
        elif c == ")":
            brackets -= 1
        elif c == "{":
            head = code[head_begin:match.start()]
            where = head_begin + len(head) - len(head.lstrip())
            line = code.count("\n", 0, where) + 1
            outer = stack[-1][0] if stack else "container"
            if brackets == 0 and CONTROL.match(head):
                kind = "control"
            elif outer == "container" and brackets == 0 and CONTAINER.search(
                    ALIGNAS.sub("", head)):
                kind = "container"
            elif outer == "container" and brackets == 0 and "(" in head:
                kind = "function"
                count = parameters_of(head)
                if count > PARAMETERS:
                    problems.append(f"{path}:{line}: {count} parameters, at "
                                    f"most {PARAMETERS}: make it a struct")
            else:
                kind = "other"  # an initializer or a lambda
            stack.append((kind, brackets))
            brackets = 0
            depth = sum(entry[0] == "control" for entry in stack)
            if kind == "control" and depth == NESTING + 1:
                problems.append(f"{path}:{line}: nested {depth} deep, at most "
                                f"{NESTING}")
            head_begin = match.end()
        elif c == "}":
            kind, brackets = stack.pop() if stack else ("other", 0)
            if kind != "other" or brackets == 0:
                head_begin = match.end()
        elif (c == ";" and brackets == 0) or c.lstrip().startswith("#"):
            head_begin = match.end()
    return problems


def check_source(path, text):
    """All problems of one file, as lines."""
    problems = []
    lines = text.split("\n")
    for number, line in enumerate(lines, 1):
        if len(line) > COLUMNS and "#include" not in line and (
                "://" not in line):
            problems.append(f"{path}:{number}: {len(line)} columns, at most "
                            f"{COLUMNS}")
    return problems + check_functions(path, source.blank(text))


def main(root):
    problems = []
    for path in source.files(root, ".h", ".cc"):
        problems += check_source(path, source.read(root, path))
    return source.report("sizes", problems)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1] if len(sys.argv) > 1 else "."))
