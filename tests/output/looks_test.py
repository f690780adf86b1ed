#!/usr/bin/env python3
"""Aim: pictures over time and VTK images show what the program computed.
Method: the command writes the same labels as .npy, .vti, .pvd and .apng; they
are read back here, by the formats' own descriptions, and compared.

    looks_test.py DOGGED
"""

import os
import struct
import subprocess
import sys
import tempfile
import xml.etree.ElementTree
import zlib

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


def npy(path):
    """Type, shape and numbers of an .npy file, last index fastest."""
    with open(path, "rb") as file:
        content = file.read()
    size = struct.unpack_from("<H", content, 8)[0]
    header = eval(content[10:10 + size].decode(), {"__builtins__": {}}, {})
    code = {"<f8": "d", "<f4": "f", "<i8": "q"}[header["descr"]]
    rest = content[10 + size:]
    count = len(rest) // struct.calcsize(code)
    return code, header["shape"], struct.unpack(f"<{count}{code}", rest)


def vti(path):
    """Type, extents and numbers of a .vti file, x fastest, and its header."""
    with open(path, "rb") as file:
        content = file.read()
    begin = content.index(b"_", content.index(b"<AppendedData")) + 1
    size = struct.unpack_from("<Q", content, begin)[0]
    end = begin + 8 + size
    # All else is XML.
    tree = xml.etree.ElementTree.fromstring(content[:begin] + content[end:])
    assert tree.tag == "VTKFile" and tree.get("type") == "ImageData"
    assert tree.get("byte_order") == "LittleEndian"
    assert tree.get("header_type") == "UInt64"
    assert tree.find("AppendedData").get("encoding") == "raw"
    image = tree.find("ImageData")
    piece = image.find("Piece")
    assert piece.get("Extent") == image.get("WholeExtent")
    array = piece.find("PointData/DataArray")
    assert piece.find("PointData").get("Scalars") == array.get("Name")
    assert array.get("format") == "appended" and array.get("offset") == "0"
    code = {"Float64": "d", "Float32": "f", "Int64": "q"}[array.get("type")]
    bounds = [int(word) for word in image.get("WholeExtent").split()]
    extents = [bounds[2*a + 1] - bounds[2*a] + 1 for a in range(3)]
    assert bounds[0::2] == [0, 0, 0] and image.get("Spacing") == "1 1 1"
    count = extents[0] * extents[1] * extents[2]
    assert size == count * struct.calcsize(code), path
    numbers = struct.unpack_from(f"<{count}{code}", content, begin + 8)
    origin = [int(word) for word in image.get("Origin").split()]
    return code, extents, numbers, origin, array.get("Name")


def same(one, other):
    return struct.pack(f"<{len(one)}d", *one) == struct.pack(
        f"<{len(other)}d", *other)


def expect_image(numbers, image, origin, name):
    """The .npy and the .vti hold the same, each point in its place."""
    code, shape, plain = npy(numbers)
    kind, extents, by_x, at, called = vti(image)
    assert kind == code and at == origin and called == name, (image, at)
    shape = list(shape) + [1] * (3 - len(shape))
    assert extents == shape, (image, extents, shape)
    turned = [plain[(x*shape[1] + y)*shape[2] + z] for z in range(shape[2])
              for y in range(shape[1]) for x in range(shape[0])]
    assert same(turned, by_x), image


def unfiltered(width, height, content):
    """The pixels of 8-bit RGB rows, from what PNG compresses."""
    rows = []
    before = bytes(3 * width)
    for y in range(height):
        begin = y * (3*width + 1)
        kind, row = content[begin], bytearray(content[begin + 1:
                                                      begin + 3*width + 1])
        for i, byte in enumerate(row):
            left = row[i - 3] if i >= 3 else 0
            up = before[i]
            corner = before[i - 3] if i >= 3 else 0
            if kind == 4:
                guess = left + up - corner
                far = (abs(guess - left), abs(guess - up), abs(guess - corner))
                add = (left, up, corner)[far.index(min(far))]
            else:
                add = (0, left, up, (left + up) // 2)[kind]
            row[i] = (byte + add) & 255
        before = bytes(row)
        rows.append(before)
    assert len(content) == height * (3*width + 1)
    return rows


def chunks(path):
    with open(path, "rb") as file:
        content = file.read()
    assert content[:8] == b"\x89PNG\r\n\x1a\n", path
    at = 8
    while at < len(content):
        size, kind = struct.unpack_from(">I4s", content, at)
        inside = content[at + 8:at + 8 + size]
        crc = struct.unpack_from(">I", content, at + 8 + size)[0]
        assert crc == zlib.crc32(kind + inside), (path, kind)
        yield kind, inside
        at += size + 12
    assert kind == b"IEND" and at == len(content)


def png(path):
    """Size, frames as they are compressed, and how many ms each is shown."""
    frames, delays, sequence, seen = [], [], 0, []
    for kind, inside in chunks(path):
        seen.append(kind)
        if kind == b"IHDR":
            width, height, *form = struct.unpack(">IIBBBBB", inside)
            assert form == [8, 2, 0, 0, 0], form
        elif kind == b"acTL":
            count, plays = struct.unpack(">II", inside)
            assert plays == 0 and b"IDAT" not in seen
        elif kind == b"fcTL":
            number, *size, over, under, dispose, blend = struct.unpack(
                ">IIIIIHHBB", inside)
            assert number == sequence and (dispose, blend) == (0, 0)
            assert size == [width, height, 0, 0]
            sequence += 1
            delays.append(1000 * over / under)
            frames.append(b"")
        elif kind == b"IDAT":
            if b"acTL" not in seen:
                frames = frames or [b""]
            assert len(frames) == 1  # the first frame is the still picture
            frames[-1] += inside
        elif kind == b"fdAT":
            assert struct.unpack_from(">I", inside)[0] == sequence
            assert len(frames) > 1
            sequence += 1
            frames[-1] += inside[4:]
    if b"acTL" in seen:
        assert count == len(frames), (count, len(frames))
    return (width, height), frames, delays


def pixels(path):
    """Frames as rows of pixels."""
    size, frames, _ = png(path)
    return [unfiltered(*size, zlib.decompress(frame)) for frame in frames]


class Runs:
    def __init__(self, dogged, folder):
        self.dogged, self.folder = dogged, folder
        self.program = self.path("looks.dog")
        with open(self.program, "w", encoding="utf-8") as file:
            file.write(PROGRAM)

    def path(self, name):
        return os.path.join(self.folder, name)

    def run(self, *outputs, extra=(), expect=0):
        command = [self.dogged, "run", self.program, *extra]
        for selection, name in outputs:
            command += ["--output", f"{selection}={self.path(name)}"]
        done = subprocess.run(command, capture_output=True, text=True)
        assert done.returncode == expect, (done.returncode, done.stderr)
        return done.stderr

    def refused(self, selection, name, words):
        said = self.run((selection, name), expect=2)
        assert words in said, said


def images(runs):
    cases = {"u(:)(:)(:)(3)": ([0, 3, -2], "u"), "u(1:2)(4)(0:5)(T)":
             ([1, 0, 0], "u"), "f(:)(2)": ([0, 0, 0], "f"),
             "f(3:5)(:)": ([3, 0, 0], "f"), "k": ([1, 2, 0], "k"),
             "k(4)(:)": ([2, 0, 0], "k")}
    outputs = []
    for i, selection in enumerate(cases):
        outputs += [(selection, f"{i}.npy"), (selection, f"{i}.vti")]
    runs.run(*outputs)
    for i, (origin, name) in enumerate(cases.values()):
        expect_image(runs.path(f"{i}.npy"), runs.path(f"{i}.vti"), origin, name)


def series(runs):
    steps = range(1, 4)
    runs.run(("u(:)(:)(2:N)(1:T-1)", "a & b.pvd"),
             *((f"u(:)(:)(2:N)({t})", f"{t}.npy") for t in steps))
    tree = xml.etree.ElementTree.parse(runs.path("a & b.pvd")).getroot()
    assert tree.tag == "VTKFile" and tree.get("type") == "Collection"
    listed = [(entry.get("timestep"), entry.get("file"))
              for entry in tree.find("Collection")]
    assert listed == [(str(t), f"a & b_{t:06}.vti") for t in steps], listed
    for t, name in listed:
        expect_image(runs.path(f"{t}.npy"), runs.path(name), [0, 3, 2], "u")


def animations(runs):
    said = runs.run(("u(1)(:)(:)(:)", "map.apng"), ("f", "one.png"),
                    ("f(:)(:)", "curve.apng"), ("u(1)(:)(:)(0)", "first.png"),
                    ("f(:)(0:T)", "npy.npy"))
    assert "steps" not in said, said
    size, frames, delays = png(runs.path("map.apng"))
    assert delays == [500.0] * 4 + [1500.0], delays
    # u grows by 10 from step to step, and by less than 2 within one: with one
    # scale for all no colour is in the cells of two frames.
    frames = pixels(runs.path("map.apng"))
    cells = [{row[3*x:3*x + 3] for row in frame[60:300] for x in range(80, 700)}
             for frame in frames]
    for i, one in enumerate(cells):
        assert len(one) > 1
        for other in cells[:i]:
            assert not one & other, i
    # The colour bar, beside, stays.
    for frame in frames[1:]:
        assert [row[-300:] for row in frame[48:]] == \
            [row[-300:] for row in frames[0][48:]]
    # A still has a scale of its own, up to yellow.
    [still] = pixels(runs.path("first.png"))
    assert len(still) == size[1]
    assert bytes((253, 231, 37)) in {row[3*x:3*x + 3] for row in still[60:]
                                     for x in range(80, 700)}
    # Numbers that are not finite are red in curves; 0.6 of it over white.
    curves = pixels(runs.path("curve.apng"))
    assert len(curves) == 5 and curves[0] != curves[4]
    for curve in curves:
        assert any(bytes((230, 125, 126)) in row for row in curve)
    said = runs.run(("u(1)(5)(:)(3:T)", "long.apng"), extra=("-D", "T=1000"))
    assert "long.apng shows 101 of 998 steps: one in 10 from 3, and the last" \
        in said, said
    _, frames, delays = png(runs.path("long.apng"))
    assert len(frames) == 101 and delays == [50.0] * 100 + [1050.0]


def windows(runs):
    # A range of steps shows those, in their own scale: yellow, the largest
    # value, is in the last one, and in none before.
    said = runs.run(("u(1)(:)(:)(1:2)", "window.apng"),
                    ("u(1)(:)(:)(1)", "1.png"), ("u(1)(:)(:)(2)", "2.png"),
                    ("u(1)(:)(:)(0:T)", "all.apng"))
    assert "steps" not in said, said
    _, _, delays = png(runs.path("window.apng"))
    assert delays == [500.0, 1500.0], delays
    frames = pixels(runs.path("window.apng"))
    assert len(frames) == 2 and len(pixels(runs.path("all.apng"))) == 5
    yellow, violet = bytes((253, 231, 37)), bytes((68, 1, 84))
    cells = [{row[3*x:3*x + 3] for row in frame[60:300] for x in range(80, 700)}
             for frame in frames]
    assert violet in cells[0] and yellow not in cells[0]
    assert yellow in cells[1] and violet not in cells[1]
    # Each has the title of its step; the picture is as wide as its scale.
    titles = [[row[:600] for row in frame[:40]] for frame in frames]
    for t, title in zip((1, 2), titles):
        [still] = pixels(runs.path(f"{t}.png"))
        assert title == [row[:600] for row in still[:40]], t
    assert titles[0] != titles[1]
    # A window at the end of a long run: only what is selected counts.
    said = runs.run(("f(:)(T-50:T)", "late.apng"), extra=("-D", "T=400"))
    assert "steps" not in said, said
    _, frames, _ = png(runs.path("late.apng"))
    assert len(frames) == 51, len(frames)


LOOP = """repeat T = 4:60:4 until u(1)(T) < 0
boundary u(x)(0) = x
task step
  creates u(x)(t) as n
  for  x = 0:9  t = 1:T
  using u(x)(t-1) as c
  code
    n = c - 0.25
  end code
end task
result u(x)(T-x) for x = 0:3 to "back.apng"
"""


def backwards(runs):
    # The loop ends at T = 8: the steps are 5 to 8, not those before 60.
    with open(runs.path("loop.dog"), "w", encoding="utf-8") as file:
        file.write(LOOP)
    done = subprocess.run([runs.dogged, "run", runs.path("loop.dog")],
                          capture_output=True, text=True, cwd=runs.folder)
    assert done.returncode == 0, done.stderr
    assert "T = 8" in done.stderr, done.stderr
    _, frames, _ = png(runs.path("back.apng"))
    assert len(frames) == 4, len(frames)


def refusals(runs):
    runs.refused("u(:)(:)(:)(:)", "x.vti", "has 4; fix an index, show the last "
                 "one as time in a .pvd, or write it to an .npy file")
    runs.refused("u(1)(3)(2)(2)", "x.vti", "has 0; write it to an .npy file")
    runs.refused("u(:)(:)(:)(:)", "x.apng", "besides the last index, "
                 "u(:)(:)(:)(:) has 3; fix an index, or")
    runs.refused("u(:)(:)(1)(:)", "x.png", "as time in an .apng")
    runs.refused("u(1)(3)(2)(:)", "x.pvd", "besides the last index, "
                 "u(1)(3)(2)(:) has 0; write it to an .npy file")
    runs.refused("f(:)(2)", "x.apng", "f(:)(2) has one value of it; write ':' "
                 "or a range there, or write to a .png")
    runs.refused("f(:)(2)", "x.pvd", "or write to a .vti")
    said = runs.run(("f(:)(:)", "x.pvd"), extra=("-D", "T=10000"), expect=2)
    assert "at most 10 000 images, f(:)(:) has 10 001" in said, said
    os.mkdir(runs.path("x_000003.vti"))
    runs.refused("f(:)(:)", "x.pvd", "x_000003.vti: cannot write")
    os.rmdir(runs.path("x_000003.vti"))


def main(dogged):
    for case in (images, series, animations, windows, backwards, refusals):
        with tempfile.TemporaryDirectory() as folder:
            runs = Runs(dogged, folder)
            case(runs)
            left = [name for name in os.listdir(folder) if "part" in name]
            assert not left, left


if __name__ == "__main__":
    main(sys.argv[1])
