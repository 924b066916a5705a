"""Which files a command names, and when each was last written: a study in parts belongs to these files alone."""

from __future__ import annotations

import itertools
import pathlib
import re
from collections.abc import Iterable
from typing import Optional

Stamp = tuple[int, int, int]
Stamps = dict[pathlib.Path, Optional[Stamp]]


def named_files(arguments: Iterable[str]) -> list[pathlib.Path]:
    """What a command line names and what is there: FILE, --flag=FILE, and specs as FILE,labels=FILE[:100]."""
    found = []
    for argument in arguments:
        for text in (argument, *re.split(r"[,=\[\]\"]", argument)):
            path = pathlib.Path(text)
            if text and not text.startswith("-") and path.exists() and path not in found:
                found.append(path)
    return found


def _stamp(path: pathlib.Path) -> Optional[Stamp]:
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size, status.st_ino


def stamps(paths: Iterable[pathlib.Path]) -> Stamps:
    """Time, size and number of each file, and of all files in folders; None where there is none."""
    files = itertools.chain.from_iterable([path, *(sorted(path.rglob("*")) if path.is_dir() else [])] for path in paths)
    return {file: _stamp(file) for file in files}
