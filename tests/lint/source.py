"""Shared by the lint programs: our files, and their text without comments."""

import pathlib
import re

FOLDERS = ("apps", "dsl", "kvstore", "routing", "runtime", "tests")

_TOKEN = re.compile(
    r'R"(?P<tag>[^(\s]*)\((?:.|\n)*?\)(?P=tag)"'  # raw string
    r'|"(?:\\.|[^"\\\n])*"'
    r"|(?<![0-9a-fA-F])'(?:\\.|[^'\\\n])+'"  # not a digit separator
    r"|//[^\n]*|/\*(?:.|\n)*?\*/")


def files(root, *suffixes):
    """Paths of our files below `root`, as posix strings, sorted."""
    out = []
    for folder in FOLDERS:
        for path in (pathlib.Path(root) / folder).rglob("*"):
            if path.name.endswith(suffixes) and path.is_file():
                out.append(path.relative_to(root).as_posix())
    return sorted(out)


def read(root, path):
    return (pathlib.Path(root) / path).read_text(encoding="utf-8")


def blank(text):
    """`text` with comments and literals as blanks; lines stay in place."""
    def spaces(match):
        found = match.group(0)
        return '""' + " " * (len(found) - 2) if found[0] == '"' and "\n" not in (
            found) else re.sub(r"[^\n]", " ", found)
    return _TOKEN.sub(spaces, text)


def report(name, problems):
    """Prints `problems` and gives the exit status."""
    for problem in problems:
        print(problem)
    print(f"{name}: {len(problems)} problems")
    return 1 if problems else 0
