"""What to do where the module of this package cannot be loaded."""

from __future__ import annotations

import os
import sys
from importlib.machinery import EXTENSION_SUFFIXES

OLDEST = (3, 10)


class HalfThere(ImportError):
    """The module's end is missing, as an installation on a full disk leaves it: to load it would end the process."""


def refuse_half_a_module() -> None:
    files = (os.path.join(os.path.dirname(__file__), f"_assay{suffix}") for suffix in EXTENSION_SUFFIXES)
    taken = next(filter(os.path.exists, files), None)
    if taken is not None and not _is_whole(taken):
        raise HalfThere(path=taken)


def _is_whole(file: str) -> bool:
    """Whether a file of ELF's form is as long as its header says: the table of sections is at its end."""
    with open(file, "rb") as opened:
        header = opened.read(64)
    if not header.startswith(b"\x7fELF"):
        return bool(header)  # the loader says what it is
    table, size, count = (int.from_bytes(header[begin:end], sys.byteorder) for begin, end in ((40, 48), (58, 60), (60, 62)))
    return len(header) == 64 and os.path.getsize(file) >= table + size * count


def what_to_do(error: ImportError) -> str:
    """One sentence in place of the loader's own."""
    import platform

    here = f"Python {platform.python_version()} on {platform.machine()}"
    if sys.version_info < OLDEST:
        return f"assay: {here} is too old; install Python 3.11 or newer, or take the static program, which needs no Python"
    if isinstance(error, HalfThere):
        return f"assay: {error.path} is only half there, as after an installation on a full disk; install the wheel again"
    if error.path is not None and not error.path.endswith(".py"):
        return f"assay: its module cannot be loaded: {error}; take the static program or build from source (docs/installing.md)"
    there = sorted(file for file in os.listdir(os.path.dirname(__file__)) if file.startswith("_assay.") and not file.endswith(".pyi"))
    found = f"what there is: {', '.join(there)}" if there else "there is none"
    return f"assay: it has no module for {here} ({found}); install the wheel for this Python and processor (docs/installing.md)"
