"""Key files.

Aim: `dogged key` makes and changes key files that nobody else can read, and no
command goes on with a key file that is not as it should be.
Method: the binary itself, with a home of its own.

usage: keys_test.py DOGGED SOURCE_DIR CASE
"""

import os
import re
import subprocess
import sys
import tempfile

DOGGED, SOURCE, CASE = os.path.abspath(sys.argv[1]), *sys.argv[2:4]


class Home:
    """A home folder without keys."""

    def __enter__(self):
        self.folder = tempfile.TemporaryDirectory()
        self.path = self.folder.name
        self.key = os.path.join(self.path, ".dogged", "key")
        return self

    def __exit__(self, *_):
        self.folder.cleanup()

    def env(self, **more):
        env = {**os.environ, "HOME": self.path, **more}
        for name in ("DOGGED_KEY_FILE",):
            if name not in more:
                env.pop(name, None)
        return env

    def dogged(self, *arguments, expect=0, word="", timeout=60, **env):
        """Runs a command; its output, and that no key is in its words."""
        done = subprocess.run([DOGGED, *arguments], capture_output=True,
                              text=True, timeout=timeout, env=self.env(**env))
        said = done.stdout + done.stderr
        if done.returncode != expect or word not in said:
            raise SystemExit(f"dogged {' '.join(arguments)}: status "
                             f"{done.returncode}, not {expect}, or no "
                             f"{word!r}:\n{said}")
        if re.search(r"\b[0-9a-fA-F]{64}\b", said):
            raise SystemExit(f"dogged {' '.join(arguments)} tells a key")
        return done.stdout

    def keys(self, *arguments):
        """Ids of the keys, the used one first."""
        return re.findall(r"^  (\w{4})  ",
                          self.dogged("key", "list", *arguments), re.M)


def case_files():
    """Keys are made, added, used and removed; nothing is overwritten; modes are
    0600 and 0700 whatever the umask."""
    with Home() as home:
        home.dogged("key", "list", expect=2, word="dogged key new")
        former = os.umask(0)
        home.dogged("key", "new", word="used")
        os.umask(former)
        for path, mode in ((home.key, 0o600),
                           (os.path.dirname(home.key), 0o700)):
            if os.stat(path).st_mode & 0o7777 != mode:
                raise SystemExit(f"{path}: {os.stat(path).st_mode:o}")
        first = home.keys()
        home.dogged("key", "new", expect=2, word="is not overwritten")
        home.dogged("key", "add", word="accepted")
        both = home.keys()
        if both[:1] != first or len(both) != 2:
            raise SystemExit(f"{first} and then {both}")
        home.dogged("key", "remove", both[0], expect=2, word="in use")
        home.dogged("key", "use", both[1])
        home.dogged("key", "remove", both[0])
        if home.keys() != both[1:]:
            raise SystemExit(f"{both} and then {home.keys()}")
        # Another file, by a flag and by a variable; its keys join the first's.
        other = os.path.join(home.path, "other")
        home.dogged("key", "new", "--file", other)
        home.dogged("key", "list", DOGGED_KEY_FILE=other,
                    word=home.keys("--file", other)[0])
        home.dogged("key", "add", other)
        if home.keys() != both[1:] + home.keys("--file", other):
            raise SystemExit(f"{home.keys()}")
        home.dogged("key", "add", other, expect=2, word="there already")
        for words in ((), ("lst",), ("list", "--fil", "x"), ("use",),
                      ("new", "word")):
            home.dogged("key", *words, expect=2, word="error: ")


def unfit(home):
    """Key files that are refused: name and the word that says why."""
    def write(name, text, mode=0o600):
        path = os.path.join(home.path, name)
        with open(path, "w") as file:
            file.write(text)
        os.chmod(path, mode)
        return path
    home.dogged("key", "new", "--file", os.path.join(home.path, "good"))
    with open(os.path.join(home.path, "good")) as file:
        good = file.read()
    key = re.search(r"[0-9a-f]{64}", good).group(0)
    return [(write("empty", ""), "is empty"),
            (write("comment", "# nothing\n"), "no key is in it"),
            (write("two", f"use {key}\nuse {'0' * 64}\n"), "a second key"),
            (write("bare", key), "neither"),
            (write("short", f"use {key[:40]}\n"), "64 hex digits"),
            (write("group", good, 0o640), "chmod 600"),
            (write("world", good, 0o604), "chmod 600"),
            (home.path, "is a folder"),
            (os.path.join(home.path, "none"), "is not there"),
            (os.path.join(home.path, "good", "none"), "is not there"),
            (key, "a key stands where"),
            ("/dev/zero", "is no file")]


def case_unfit():
    """No key file that is unfit is used, or passed over."""
    with Home() as home:
        for path, word in unfit(home):
            home.dogged("key", "list", "--file", path, expect=2, word=word)
            home.dogged("key", "list", expect=2, word=word,
                        DOGGED_KEY_FILE=path)
        home.dogged("key", "list", expect=2, word="DOGGED_KEY_FILE is empty",
                    DOGGED_KEY_FILE="")


if __name__ == "__main__":
    globals()["case_" + CASE]()
