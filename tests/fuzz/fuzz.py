#!/usr/bin/env python3
"""Runs a libFuzzer program for a time, from the programs in some folders if any.

Aim: a finding of libFuzzer fails the test, and the text is printed.
Method: the .dog files below the folders are copied to a folder that goes away
again; what the fuzzer learns, goes with it.

usage: fuzz.py FUZZER SECONDS [FOLDER...]
"""

import os
import pathlib
import subprocess
import sys
import tempfile


def main():
    fuzzer, seconds, folders = sys.argv[1], sys.argv[2], sys.argv[3:]
    with tempfile.TemporaryDirectory(prefix="dogged-fuzz-") as work:
        seeds = os.path.join(work, "seeds")
        learned = os.path.join(work, "learned")
        findings = os.path.join(work, "finding-")
        os.mkdir(seeds)
        os.mkdir(learned)
        count = 0
        for folder in folders:
            for path in sorted(pathlib.Path(folder).rglob("*.dog")):
                with open(os.path.join(seeds, f"{count}.dog"), "wb") as out:
                    out.write(path.read_bytes())
                count += 1
        run = subprocess.run(
            [fuzzer, learned, seeds, f"-max_total_time={seconds}",
             "-max_len=8192", "-timeout=100", "-rss_limit_mb=4096",
             "-print_final_stats=1", f"-artifact_prefix={findings}"],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False,
            text=True, errors="replace")
        print("\n".join(run.stdout.splitlines()[-60:]))
        for path in pathlib.Path(work).glob("finding-*"):
            print(f"--- the text, {path.name}:")
            print(repr(path.read_bytes()))
        return run.returncode


if __name__ == "__main__":
    sys.exit(main())
