#!/usr/bin/env python3
"""Keys of JSON that a command prints and its page does not name, and rows of
the page's tables about keys that no command prints.

A key is a text that a source gives an object, {"key", ...} or out["key"]; it is
named if it stands between backquotes in the section of the page.

    tests/lint/keys.py [ROOT]
"""

import os
import re
import sys

KEY = re.compile(r'(?:\{|\w\[)"([a-z_]+)"[,\]]')
# Source below apps/dogged, page below docs, heading of the section.
PLACES = [
    ("report/run_report.cc", "COMMAND.md", "## `run --json`"),
    ("report/outputs_json.cc", "COMMAND.md", "## `run --json`"),
    ("client/status_command.cc", "COMMAND.md", "## `status`"),
    ("host/version_command.cc", "COMMAND.md", "## `version` and `doctor`"),
    ("host/finding.cc", "COMMAND.md", "## `version` and `doctor`"),
    *((source, "JSON.md", "## `check`") for source in (
        "run/check_command.cc", "run/sim_runs.cc", "cli/format_command.cc",
        "jobs/submit_command.cc", "jobs/wait_command.cc",
        "jobs/fetch_command.cc", "jobs/get_command.cc")),
    ("process/answer.cc", "JSON.md", "# JSON"),
    ("process/diagnostics_json.cc", "JSON.md", "# JSON"),
    *((f"door/door_{source}.cc", "JSON.md", "## `dogged client`")
      for source in ("session", "job", "sim")),
]
EVENTS = {"who", "place", "done", "needed", "alive", "when", "cause"}
# Keys of a text on one line, as `--version` prints them, and of requests.
ELSEWHERE = {
    "host/version_command.cc": {"build"},
    # Those of all answers and of events, which other sections name.
    "jobs/wait_command.cc": EVENTS,
    "door/door_job.cc": EVENTS,
    "door/door_session.cc": {"schema", "hello", "diagnostics", "error", "file",
                             "inputs_made", "cause", "memory_bytes"},
}


def section_of(text, heading):
    """From the line that begins with `heading` to the next one like it."""
    begin = re.search("^" + re.escape(heading), text, re.M)
    if begin is None:
        return None
    level = re.match("#+", heading).group(0)
    end = re.search(f"^#{{1,{len(level)}}} ", text[begin.end():], re.M)
    return text[begin.start():begin.end() + end.start()] if end else \
        text[begin.start():]


def named_in(section):
    """All words between backquotes, as keys: `losses[].redone` has two."""
    out = set()
    for words in re.findall(r"`([^`]+)`", section):
        out.update(re.findall(r"[a-z_]+", words))
    return out


def rows_of(section):
    """Keys that a table of keys has rows about."""
    out = set()
    for table in re.findall(r"^\| key .*\n(?:\|.*\n)+", section, re.M):
        for row in table.split("\n")[2:]:
            out.update(re.findall(r"`([a-z_]+)`", row.split("|")[1])
                       if row else [])
    return out


def problems_below(root):
    out = []
    printed = {}  # by section
    for source, page, heading in PLACES:
        path = os.path.join(root, "apps", "dogged", source)
        with open(path, encoding="utf-8") as file:
            code = file.read()
        with open(os.path.join(root, "docs", page), encoding="utf-8") as file:
            section = section_of(file.read(), heading)
        if section is None:
            out.append(f"docs/{page}: has no section {heading}")
            continue
        of = printed.setdefault((page, heading), (section, set()))
        of[1].update(KEY.findall(code))
        known = named_in(section) | ELSEWHERE.get(source, set())
        for number, line in enumerate(code.split("\n"), 1):
            for key in KEY.findall(line):
                if key in known:
                    continue
                out.append(f"apps/dogged/{source}:{number}: docs/{page} does "
                           f"not name the key {key} below {heading}")
    for (page, heading), (section, keys) in printed.items():
        out += [f"docs/{page}: a row about {key} below {heading}, which no "
                "command prints" for key in sorted(rows_of(section) - keys)
                if page == "COMMAND.md"]
    return out


if __name__ == "__main__":
    found = problems_below(sys.argv[1] if len(sys.argv) > 1 else ".")
    print("\n".join(found))
    sys.exit(1 if found else 0)
