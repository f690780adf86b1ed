#!/usr/bin/env python3
"""Aim: NumPy and we mean the same by an .npy file.
Method: NumPy writes arrays of all types, orders and some shapes; npy_copy
reads and writes them; NumPy reads the copy and compares, the header too.

    numpy_test.py NPY_COPY
"""

import io
import os
import subprocess
import sys
import tempfile

import numpy as np

SHAPES = [(), (0,), (1,), (5001,), (3, 4), (0, 7), (2, 3, 4), (1, 2, 1, 3),
          (2, 1, 2, 1, 2, 2)]


def saved(array, version=None):
    out = io.BytesIO()
    np.lib.format.write_array(out, array, version=version)
    return out.getvalue()


def copy(program, folder, content):
    source = os.path.join(folder, "source.npy")
    target = os.path.join(folder, "target.npy")
    with open(source, "wb") as out:
        out.write(content)
    done = subprocess.run([program, source, target], capture_output=True,
                          text=True)
    return done, target


def main(program):
    random = np.random.default_rng(1)
    with tempfile.TemporaryDirectory() as folder:
        for shape in SHAPES:
            for kind in ("<f8", "<f4", "<i8", ">f8", ">f4", ">i8"):
                array = (random.random(shape) * 1e6 - 5e5).astype(kind)
                array = np.asarray(array)
                for order in "CF":
                    for version in ((1, 0), (2, 0), (3, 0)):
                        given = np.asarray(array, order=order)
                        done, target = copy(program, folder,
                                            saved(given, version))
                        assert done.returncode == 0, done.stderr
                        back = np.load(target, allow_pickle=False)
                        native = array.astype(kind.replace(">", "<"))
                        assert back.dtype == native.dtype, (shape, kind)
                        assert back.shape == native.shape, (shape, kind)
                        assert back.tobytes() == native.tobytes(), (shape, kind)
                        with open(target, "rb") as file:
                            assert file.read() == saved(native), (shape, kind)
        for kind in ("<i4", ">u8", "<u8", "<f2", "|b1", "<U3", "<m8[s]"):
            done, _ = copy(program, folder, saved(np.zeros(3).astype(kind)))
            assert done.returncode == 1 and "astype" in done.stderr, kind
        for kind in ("<c16", "<c8", ">c16"):
            done, _ = copy(program, folder, saved(np.zeros(3).astype(kind)))
            assert done.returncode == 1 and "a.imag" in done.stderr, kind
        records = np.zeros(3, dtype=[("x", "<f8"), ("y", "<i8")])
        done, _ = copy(program, folder, saved(records))
        assert done.returncode == 1 and "records" in done.stderr, done.stderr
        out = io.BytesIO()
        np.save(out, np.array([{}, []], dtype=object), allow_pickle=True)
        done, _ = copy(program, folder, out.getvalue())
        assert done.returncode == 1 and "Python objects" in done.stderr


if __name__ == "__main__":
    main(sys.argv[1])
