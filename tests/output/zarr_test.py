#!/usr/bin/env python3
"""Aim: a reader of Zarr stores gets the numbers of the .npy file of the same
labels, and their names; bad places are refused with words.
Method: the command writes both; stores are read by the words of the format's
description, version 3.

    zarr_test.py DOGGED SOURCE_DIR
"""

import itertools
import json
import os
import resource
import subprocess
import sys
import tempfile

import numpy as np

PROGRAM = """
param N = 7
param T = 4
array u(x = 0:2)(y = 3:6)(z = -2:N)(t = 0:T) : double
array f(x = 0:N)(t = 0:T) : float
array k(x = 1:5)(y = 2:4) : int64

task space
  creates u(x)(y)(z)(t) as n
  for  x = 0:2  y = 3:6  z = -2:N  t = 0:T
  code
    n = x + 0.1*y + 0.01*z + 10*t
  end code
end task

task line
  creates f(x)(t) as n
  for  x = 0:N  t = 0:T
  code
    n = x < 2 ? sqrt(0.0 - x) : x*t
  end code
end task

task whole
  creates k(x)(y) as n
  for  x = 1:5  y = 2:4
  code
    n = x*100000000000 + y
  end code
end task

result u(:)(:)(:)(T)
result f(:)(T)
result k(:)(:)
"""


def zarr(path):
    """The array of a store, and its metadata."""
    with open(os.path.join(path, "zarr.json")) as file:
        meta = json.load(file)
    assert meta["zarr_format"] == 3 and meta["node_type"] == "array", meta
    assert meta["chunk_grid"]["name"] == "regular", meta
    assert meta["chunk_key_encoding"] == {
        "name": "default", "configuration": {"separator": "/"}}, meta
    assert meta["codecs"] == [
        {"name": "bytes", "configuration": {"endian": "little"}}], meta
    kind = np.dtype(meta["data_type"]).newbyteorder("<")
    chunk = meta["chunk_grid"]["configuration"]["chunk_shape"]
    shape = meta["shape"]
    assert len(chunk) == len(shape) and all(n >= 1 for n in chunk), meta
    fill = np.array(float(meta["fill_value"])).astype(kind)
    out = np.full(shape, fill)
    grid = [-(-n // c) for n, c in zip(shape, chunk)]
    for at in itertools.product(*map(range, grid)):
        content = np.fromfile(os.path.join(path, "c", *map(str, at)), kind)
        box = [slice(i * c, min(n, i * c + c))
               for i, c, n in zip(at, chunk, shape)]
        taken = [slice(0, b.stop - b.start) for b in box]
        whole = content.reshape(chunk)
        out[tuple(box)] = whole[tuple(taken)]
        whole[tuple(taken)] = fill
        assert np.array_equal(whole, np.full(chunk, fill), equal_nan=True)
    return out, meta


class Runs:
    def __init__(self, dogged, source, folder):
        self.dogged, self.folder = dogged, folder
        self.heat = os.path.join(source, "apps", "heat1d", "heat1d.dog")
        self.program = self.path("p.dog")
        with open(self.program, "w") as file:
            file.write(PROGRAM)

    def path(self, name):
        return os.path.join(self.folder, name)

    def run(self, *outputs, extra=(), expect=0, limit=None,
            program=None):
        command = [self.dogged, "run", program or self.program, *extra]
        for selection, name in outputs:
            command += ["--output", f"{selection}={self.path(name)}"]
        done = subprocess.run(
            command, capture_output=True, text=True,
            preexec_fn=limit and (lambda: resource.setrlimit(*limit)))
        assert done.returncode == expect, (done.returncode, done.stderr)
        return done.stderr

    def both(self, selection, names, first, extra=(), program=None):
        said = self.run((selection, "a.npy"), (selection, "a.zarr"),
                        extra=extra, program=program)
        array, meta = zarr(self.path("a.zarr"))
        expected = np.load(self.path("a.npy"))
        assert array.dtype == expected.dtype, (selection, array.dtype)
        assert array.shape == expected.shape, (selection, array.shape)
        assert array.tobytes() == expected.tobytes(), selection
        assert meta.get("dimension_names", []) == names, meta
        assert meta["attributes"].get("first", []) == first, meta
        lines = [line.split(": ", 1)[1] for line in said.splitlines()
                 if " -> " in line]
        assert len(lines) == 2 and lines[0] == lines[1], said
        assert lines[0].startswith(meta["attributes"]["labels"] + ", "), said
        return meta


def values(runs):
    meta = runs.both("u(:)(:)(:)(3)", ["x", "y", "z"], [0, 3, -2])
    assert meta["fill_value"] == "NaN" and meta["data_type"] == "float64"
    runs.both("u(1:2)(4)(0:5)(T)", ["x", "z"], [1, 0])
    runs.both("u(1)(4)(0)(2)", [], [])
    meta = runs.both("f(3:5)(:)", ["x", "t"], [3, 0])
    assert meta["data_type"] == "float32"
    runs.both("f", ["x"], [0])
    meta = runs.both("k", ["x", "y"], [1, 2])
    assert meta["fill_value"] == 0 and meta["data_type"] == "int64"
    # Labels a step apart.
    runs.both("u(0:2:2)(3:6:5)(-2:N:3)(0:T:2)", ["x", "y", "z", "t"],
              [0, 3, -2, 0])
    whole = np.load(runs.path("a.npy"))
    runs.run(("u(:)(:)(:)(:)", "all.npy"))
    every = np.load(runs.path("all.npy"))[0:3:2, 0:4:5, 0:10:3, 0:5:2]
    assert whole.shape == (2, 1, 4, 3) and np.array_equal(whole, every)
    # Several chunks, the last one of which the array ends in.
    meta = runs.both("phi(:)(:)", ["x", "t"], [0, 0], program=runs.heat,
                     extra=("-D", "N=300001", "-D", "T=12"))
    chunk = meta["chunk_grid"]["configuration"]["chunk_shape"]
    assert chunk[1] == 13 and 300001 % chunk[0] != 0, chunk


def time_first(runs):
    turned = ("--time-first",)
    runs.run(("u(:)(:)(1:5)(:)", "all.npy"))
    plain = np.load(runs.path("all.npy"))
    runs.both("u(:)(:)(1:5)(:)", ["t", "x", "y", "z"], [0, 0, 3, 1],
              extra=turned)
    found = np.load(runs.path("a.npy"))
    assert np.array_equal(found, np.moveaxis(plain, -1, 0))
    # Nothing is moved for one time step, for other arrays the last index.
    runs.both("u(:)(:)(1:5)(3)", ["x", "y", "z"], [0, 3, 1], extra=turned)
    runs.both("k", ["y", "x"], [2, 1], extra=turned)
    said = runs.run(("f(3:5)(0:4:2)", "f.vti"), ("f(3:5)(0:4:2)", "f.npy"),
                    extra=turned)
    assert "f(3:5)(0:4:2), 3 x 3 floats" in said, said
    with open(runs.path("f.vti"), "rb") as file:
        image = file.read()
    assert b'Origin="0 3 0" Spacing="2 1 1"' in image, image[:400]
    # x runs fastest there, so t does: the .npy's columns.
    numbers = np.load(runs.path("f.npy"))
    assert np.asfortranarray(numbers).tobytes(order="F") in image
    # Piece by piece, in little memory; the same files.
    limited = (resource.RLIMIT_DATA, (700 << 20, 700 << 20))
    for name, limit in (("whole", None), ("pieces", limited)):
        runs.run(("phi(:)(:)", name + ".npy"), ("phi(:)(0:T:3)", name + ".zarr"),
                 extra=("-D", "N=1000001", "-D", "T=23", *turned), limit=limit,
                 program=runs.heat)
    whole = np.load(runs.path("whole.npy"), mmap_mode="r")
    pieces = np.load(runs.path("pieces.npy"), mmap_mode="r")
    assert whole.shape == (24, 1000001) and np.array_equal(whole, pieces)
    for name in ("whole.zarr", "pieces.zarr"):
        assert np.array_equal(zarr(runs.path(name))[0], whole[::3])


def spacing(runs):
    at = ("--spacing", "x=0.5 mm,t=0.25")
    meta = runs.both("f(2:7)(0:4:2)", ["x", "t"], [2, 0], extra=at)
    assert meta["attributes"]["spacing"] == [0.5, 0.25], meta
    assert meta["attributes"]["unit"] == ["mm", ""], meta
    meta = runs.both("f(2:7)(0:4:2)", ["t", "x"], [0, 2],
                     extra=(*at, "--time-first"))
    assert meta["attributes"]["spacing"] == [0.25, 0.5], meta
    said = runs.run(("f(2:7)(0:4:2)", "f.vti"), ("f(3:7)(:)", "f.pvd"),
                    ("k", "k.vti"), ("u(:)(:)(:)(2)", "u.vti"),
                    ("k", "k.png"), extra=at)
    for name, words in (
            ("f.vti", b'Origin="1 0 0" Spacing="0.5 0.5 1"'),
            ("k.vti", b'Origin="0.5 2 0" Spacing="0.5 1 1"'),
            ("u.vti", b'Origin="0 3 -2" Spacing="0.5 1 1"'),
            ("f_000003.vti", b'Origin="1.5 0 0" Spacing="0.5 1 1"'),
            ("f.pvd", b'timestep="0.75" part="0" file="f_000003.vti"')):
        with open(runs.path(name), "rb") as file:
            content = file.read()
        assert words in content, (name, content[:500])
    assert "k(1:5)(2:4), 5 x 3 int64, from 1e+11 to 5e+11" in said, said
    for bad, words in (("q=1", "--spacing: no output has an index q; theirs "
                        "are t, x"), ("x=0", "above 0"), ("x", "as in")):
        said = runs.run(("f(:)(:)", "a.npy"), extra=("--spacing", bad),
                        expect=2)
        assert words in said, said


def refusals(runs):
    said = runs.run(("u", "none/u.zarr"), expect=2)
    assert "none/u.zarr: there is no folder " in said, said
    os.mkdir(runs.path("mine.zarr"))
    said = runs.run(("u", "mine.zarr"), expect=2)
    assert "mine.zarr: cannot replace: is a folder that is no Zarr" in said
    said = runs.run(("u", "u.zarr"), ("f", "u.zarr/"), expect=2)
    assert "two outputs go to this file" in said, said
    # No room: what was there stays.
    runs.run(("k", "k.zarr/"))
    before = zarr(runs.path("k.zarr"))[0]
    said = runs.run(("f(:)(:)", "k.zarr"), expect=5,
                    extra=("-D", "N=60000"),
                    limit=(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20)))
    assert "k.zarr/c/0/0: cannot write: " in said, said
    assert np.array_equal(zarr(runs.path("k.zarr"))[0], before)
    left = [name for name in os.listdir(runs.folder) if ".part-" in name]
    assert not left, left


def main(dogged, source):
    with tempfile.TemporaryDirectory() as folder:
        runs = Runs(os.path.abspath(dogged), source, folder)
        values(runs)
        time_first(runs)
        spacing(runs)
        refusals(runs)


if __name__ == "__main__":
    main(*sys.argv[1:3])
