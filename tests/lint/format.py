#!/usr/bin/env python3
"""Every source stands as clang-format would write it; --fix makes it so.

    tests/lint/format.py [ROOT] [--fix]
"""

import os
import subprocess
import sys

import source


def main(root, fix):
    paths = source.files(root, ".h", ".cc")
    mode = ["-i"] if fix else ["--dry-run", "-Werror"]
    # Two processes: a quarter of the time on the smallest machines.
    running = [
        subprocess.Popen(["clang-format", *mode, *part], cwd=root,
                         stderr=subprocess.PIPE, text=True)
        for part in (paths[0::2], paths[1::2]) if part]
    errors = [process.communicate()[1] for process in running]
    problems = sorted({line.split(": error:")[0] + ": not as clang-format "
                       "writes it (tests/lint/format.py --fix)"
                       for text in errors for line in text.splitlines()
                       if ": error:" in line})
    failed = any(process.returncode for process in running)
    if failed and not problems:
        problems = ["".join(errors).strip() or "clang-format failed"]
    return source.report("format", problems)


if __name__ == "__main__":
    words = [word for word in sys.argv[1:] if word != "--fix"]
    sys.exit(main(os.path.abspath(words[0] if words else "."),
                  "--fix" in sys.argv))
