"""A prefix that `cmake --install` or a package filled, and commands with what
they said."""

import glob
import os
import subprocess
import tempfile


def check(what, holds, report=""):
    if not holds:
        raise SystemExit(f"{what}\n{report}")


def commanded(*words, expect=0, **options):
    done = subprocess.run(words, capture_output=True, text=True, timeout=240,
                          **options)
    check(f"{' '.join(words)}: exit status {done.returncode}",
          done.returncode == expect, done.stdout + done.stderr)
    return done


class Prefix:
    """Installed in one place, and moved to another one: `path`. `build` is a
    build tree, or a prefix that is taken where it is (debian_trial)."""

    def __init__(self, cmake, build):
        self.cmake, self.build = cmake, build

    def __enter__(self):
        self.folder = tempfile.TemporaryDirectory()
        if os.path.exists(os.path.join(self.build, "bin", "dogged")):
            self.path = self.build
        else:
            before = os.path.join(self.folder.name, "usr")
            self.path = os.path.join(self.folder.name, "moved here")
            commanded(self.cmake, "--install", self.build, "--prefix", before)
            os.rename(before, self.path)
        self.dogged = os.path.join(self.path, "bin", "dogged")
        self.share = os.path.join(self.path, "share", "dogged")
        return self

    def __exit__(self, *_):
        self.folder.cleanup()

    def files(self):
        return {os.path.relpath(os.path.join(folder, name), self.path)
                for folder, _, names in os.walk(self.path) for name in names}

    def modules(self):
        return glob.glob(os.path.join(self.path, "lib", "dogged", "*"))
