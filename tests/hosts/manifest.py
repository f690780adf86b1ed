"""Reads recipes: the part of YAML that they are written in, and no other. There
are maps and lists in block style, {} and [], and scalars on one line, of which
decimal numbers and booleans are no strings."""

import json
import re

ITEM = re.compile(r"-( +|$)")
PAIR = re.compile(r"([\w./$-]+):( +|$)")


def documents(text):
    """The values of all documents, which `---` parts."""
    return [read(part) for part in re.split(r"^---$", text, flags=re.M)]


def read(text):
    """The value of one document."""
    rest = []  # (columns before it, the line without them)
    lines = text.split("\n")
    at = 0
    while at < len(lines):
        line, at = lines[at].rstrip(), at + 1
        words = line.lstrip(" ")
        if not words or words.startswith("#"):
            continue
        column = len(line) - len(words)
        block = []  # of `|`: lines that are as they stand
        if words.endswith(": |"):
            while at < len(lines) and (
                    not lines[at].strip()
                    or len(lines[at]) - len(lines[at].lstrip(" ")) > column):
                block.append(lines[at])
                at += 1
            while block and not block[-1].strip():
                block.pop()
            margin = len(block[0]) - len(block[0].lstrip(" "))
            words = words[:-1] + json.dumps(
                "".join(one[margin:] + "\n" for one in block))
        rest.append((column, words))
    value = take(rest)
    if rest:
        raise ValueError(f"no place for {rest[0]}")
    return value


def take(rest):
    """The value that begins with the first of `rest`, which loses its lines."""
    column, words = rest[0]
    if ITEM.match(words):
        out = []
        while rest and rest[0][0] == column and ITEM.match(rest[0][1]):
            out.append(take_behind(rest, ITEM))
        return out
    if not PAIR.match(words):
        return scalar(rest.pop(0)[1])
    out = {}
    while rest and rest[0][0] == column:
        pair = PAIR.match(rest[0][1])
        if pair is None or pair[1] in out:
            raise ValueError(f"no place for {rest[0]}")
        out[pair[1]] = take_behind(rest, PAIR)
    return out


def take_behind(rest, mark):
    """The value behind the mark of the first line, or below it."""
    column, words = rest.pop(0)
    head = mark.match(words)[0]
    behind = words[len(head):]
    if behind and mark is PAIR:
        return scalar(behind)
    if behind:
        rest.insert(0, (column + len(head), behind))
    elif not rest or rest[0][0] <= column:
        return None
    return take(rest)


def scalar(words):
    if words in ("{}", "[]", "true", "false") or words[0] == '"':
        return json.loads(words)
    if re.fullmatch(r"0|[1-9]\d*", words):
        return int(words)
    if re.fullmatch(r"0[0-7]+", words):
        return int(words, 8)
    if words[0] in "'[{&*!|>%@`" or " #" in words or ": " in words:
        raise ValueError(f"quote this: {words}")
    return words
