"""Arrays on memory descriptors: inputs to the client, results from it."""

from __future__ import annotations

import fcntl
import mmap
import os
import sys
from typing import Any, Dict, List, Optional, Tuple

import numpy as np

_TYPES: Dict[str, "np.dtype[Any]"] = {
    "double": np.dtype(np.float64),
    "float": np.dtype(np.float32),
    "int64": np.dtype(np.int64),
}
_NAMES = {kind: name for name, kind in _TYPES.items()}
_SEAL_SHRINK, _SEAL_WRITE = 0x0002, 0x0008
_ADD_SEALS = getattr(fcntl, "F_ADD_SEALS", 1033)


def _wanted_type(name: str, array: "np.ndarray[Any, Any]",
                 wanted: Optional[str]) -> "np.dtype[Any]":
    """The type to send; TypeError where values could change."""
    native: "np.dtype[Any]" = array.dtype.newbyteorder("=")
    has = _NAMES.get(native)
    if wanted is None:
        if has is not None:
            return native
        # Widened, which changes no value.
        if native.kind in "iu" and np.can_cast(native, np.int64, "safe"):
            return _TYPES["int64"]
    elif has == wanted:
        return native
    elif native.kind in "iuf":
        target = _TYPES[wanted]
        if np.can_cast(native, target, "safe"):
            if native.kind == "f" or native.itemsize < 8:
                return target
            # Beyond 2^53 not every integer is a double.
            if array.size == 0 or int(np.abs(array).max()) <= 2**53 and \
                    int(array.min()) > np.iinfo(np.int64).min:
                return target
            raise TypeError(
                f"input {name}: {native} values beyond 2^53 are no doubles; "
                f"round them yourself: a.astype('float64')")
    said = f"the program wants {wanted}" if wanted else \
        "double, float and int64 are there"
    way = f"a.astype('{_TYPES[wanted].name}')" if wanted else \
        "a.astype('float64')"
    if native.kind == "c":
        way = "a.real, or two inputs"
    raise TypeError(
        f"input {name}: the array is {array.dtype}, {said}; convert it "
        f"yourself where values may change: {way}")


def to_descriptor(name: str, value: Any,
                  wanted: Optional[str]) -> Tuple[Dict[str, Any], int]:
    """A sealed memory descriptor with the values in C order, and what it is.

    Order and byte order are converted; so is a type where no value changes.
    """
    if isinstance(value, np.ma.MaskedArray):
        raise TypeError(f"input {name}: a masked array; fill it first: "
                        f"a.filled(0.0)")
    if value is None:
        raise TypeError(f"input {name}: None is no array; leave it out where "
                        f"the program makes it itself")
    array = np.asarray(value)
    kind = _wanted_type(name, array, wanted)
    size = array.size * kind.itemsize
    memory = os.memfd_create(f"dogged input {name}"[:200],
                             os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    try:
        os.truncate(memory, size)
        if size > 0:
            mapped = mmap.mmap(memory, size)
            target = np.frombuffer(mapped, kind).reshape(array.shape)
            np.copyto(target, array, casting="safe" if array.dtype.kind == "f"
                      else "same_kind")
            del target
            mapped.close()  # a writable mapping keeps seals off
        fcntl.fcntl(memory, _ADD_SEALS, _SEAL_SHRINK | _SEAL_WRITE)
    except BaseException:
        os.close(memory)
        raise
    about = {"array": name, "type": _NAMES[kind], "shape": list(array.shape)}
    return about, memory


def from_descriptor(memory: int, type_name: str,
                    shape: List[int]) -> "np.ndarray[Any, Any]":
    """The array whose values lie in the descriptor, which is closed. No copy."""
    kind = _TYPES[type_name]
    try:
        count = 1
        for extent in shape:
            count *= extent
        if count == 0:
            return np.empty(shape, kind)
        # Without it each array keeps a descriptor.
        options: Dict[str, Any] = (
            {"trackfd": False} if sys.version_info >= (3, 13) else {})
        mapped = mmap.mmap(memory, count * kind.itemsize, **options)
    finally:
        os.close(memory)
    return np.frombuffer(mapped, kind).reshape(shape)
