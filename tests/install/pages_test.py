"""Man pages and completions know every flag that the command has.

Aim: each command and flag that `--help` lists is in the man pages and in the
completions for bash, zsh and fish, and no other; they are well-formed; bash
completes commands, flags and choices. Method: `dogged pages` into a folder, held
against the words of `--help`; programs that read such files, where they are
installed.

usage: pages_test.py DOGGED CASE
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile

DOGGED, CASE = os.path.abspath(sys.argv[1]), sys.argv[2]
BASH = "bash-completion/completions/dogged"
ZSH = "zsh/site-functions/_dogged"
FISH = "fish/vendor_completions.d/dogged.fish"


def check(what, holds, report=""):
    if not holds:
        raise SystemExit(f"{what}\n{report}")


def said(*words, **options):
    done = subprocess.run(words, capture_output=True, text=True, timeout=60,
                          **options)
    check(f"{words}: exit status {done.returncode}", done.returncode == 0,
          done.stdout + done.stderr)
    return done.stdout


def commands_and_flags():
    """(words of a command) -> its flags, as --help lists them."""
    out = {}
    left = [()]
    while left:
        command = left.pop()
        text = said(DOGGED, *command, "--help")
        parts = re.split(r"^(\w+):$", text, flags=re.M)
        sections = dict(zip(parts[1::2], parts[2::2]))
        flags = re.findall(r"^  (-[-\w,]+)", sections.get("Options", ""), re.M)
        out[command] = {name for flag in flags for name in flag.split(",")}
        left += [(*command, name) for name in re.findall(
            r"^  ([a-z]\w*)", sections.get("Subcommands", ""), re.M)]
    check("commands", len(out) > 20 and ("key", "new") in out, out)
    check("flags", "--agents" in out["run",] and "-D" in out["run",], out)
    return out


class Pages:
    def __enter__(self):
        self.folder = tempfile.TemporaryDirectory()
        said(DOGGED, "pages", self.folder.name)
        return self

    def __exit__(self, *_):
        self.folder.cleanup()

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def text(self, name):
        with open(self.path(name)) as file:
            return file.read()


def compare(what, found, wanted):
    check(f"{what}: other flags", found == wanted, sorted(found ^ wanted))


def case_man():
    with Pages() as pages:
        wanted = {}
        for command, flags in commands_and_flags().items():
            page = "-".join(("dogged", *command[:1]))
            wanted.setdefault(page, set()).update(flags)
        names = {name[:-2] for name in os.listdir(pages.path("man/man1"))}
        check("other pages", names == set(wanted), names ^ set(wanted))
        for page, flags in wanted.items():
            text = pages.text(f"man/man1/{page}.1")
            terms = re.findall(r"^\.TP\n(\\fB.*)$", text, re.M)
            found = {name.replace("\\-", "-") for term in terms
                     for name in re.findall(r"\\fB(.*?)\\fR", term)}
            compare(page, found, flags)
            if shutil.which("man"):
                done = subprocess.run(
                    ["man", "--warnings=all", "-l", pages.path(
                        f"man/man1/{page}.1")], capture_output=True, text=True,
                    timeout=60, env={**os.environ, "MANPAGER": "cat",
                                     "MANWIDTH": "100", "LC_ALL": "C.UTF-8"})
                check(f"man {page}", done.returncode == 0 and not done.stderr
                      and "EXIT STATUS" in done.stdout, done.stderr)


def bash(pages, *words):
    """What bash offers for the last one of `words`."""
    script = ('source "$1"; shift; COMP_WORDS=("$@"); '
              'COMP_CWORD=$(($# - 1)); _dogged; printf "%s\\n" "${COMPREPLY[@]}"')
    return set(said("bash", "-c", script, "bash", pages.path(BASH),
                    *words).split())


def case_bash():
    with Pages() as pages:
        known = commands_and_flags()
        for command, flags in known.items():
            inner = {c[-1] for c in known if c[:-1] == command and c != command}
            offered = bash(pages, "dogged", *command, "-")
            compare(f"bash: {command}", offered, flags)
            check(f"bash: commands of {command}", not inner or
                  bash(pages, "dogged", *command, "") == flags | inner, inner)
        check("choices", bash(pages, "dogged", "run", "x.dog", "--kernels", "")
              == {"compiled", "interpreted"})
        check("a part", bash(pages, "dogged", "run", "--age") == {"--agents"})
        check("a file", not bash(pages, "dogged", "run", "--input", "a"))


def case_zsh():
    with Pages() as pages:
        text = pages.text(ZSH)
        check("zsh: head", text.startswith("#compdef dogged\n"))
        flags = set().union(*commands_and_flags().values())
        found = set(re.findall(r"^ +'\*?(-[-\w]*\w)[=+]?\[", text, re.M))
        found |= set(re.search(r"compadd --(.*)", text)[1].split())
        compare("zsh", found, flags)
        for command in commands_and_flags():
            check(f"zsh: {command}", not command or re.search(
                rf"^ +'{command[-1]}:.", text, re.M), text)
        if shutil.which("zsh"):
            said("zsh", "-n", pages.path(ZSH))


def case_fish():
    with Pages() as pages:
        text = pages.text(FISH)
        known = commands_and_flags()
        for command, flags in known.items():
            seen = "; and ".join(f"__fish_seen_subcommand_from {name}"
                                 for name in command)
            condition = f"-n '{seen or '__fish_use_subcommand'}'"
            lines = [line for line in text.split("\n") if condition in line]
            found = {"--" + name for line in lines
                     for name in re.findall(r" -l ([\w-]+)", line)}
            found |= {"-" + name for line in lines
                      for name in re.findall(r" -s (\w)", line)}
            compare(f"fish: {command}", found, flags)
            inner = {c[-1] for c in known if c[:-1] == command and c != command}
            check(f"fish: commands of {command}", inner <= {
                name for line in lines
                for name in re.findall(r" -f -a (\w+)", line)}, inner)
        if shutil.which("fish"):
            said("fish", "--no-execute", pages.path(FISH))


def case_refused():
    with tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, "file")
        with open(file, "w"):
            pass
        done = subprocess.run([DOGGED, "pages", file], capture_output=True,
                              text=True, timeout=60)
        check("a file for a folder", done.returncode not in (0, 1)
              and done.stderr.startswith(f"error: {file}/"), done.stderr)


globals()["case_" + CASE]()
