"""Runs a command again when its files change: ``python3 -m assay.watch`` shows what became different.

Usage: python3 -m assay.watch [--every SECONDS] [--runs N] COMMAND [FLAG...]
Watched are the files and folders that the command line names and that are there. Those that the first run changes are
written by the command itself and are watched no longer. Ctrl-C ends it.
"""

from __future__ import annotations

import argparse
import itertools
import pathlib
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Sequence
from typing import Optional

from ._program import program_file

_wrong_command = 1  # the exit code of the program; files do not change that

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


def changed(before: Stamps, after: Stamps) -> list[pathlib.Path]:
    """Files that are other ones, new or gone."""
    return [file for file in {**before, **after} if before.get(file) != after.get(file)]


def _wait(paths: list[pathlib.Path], before: Stamps, every: float) -> list[pathlib.Path]:
    """What changed, as soon as something has and every path is there: files are replaced by removing them first."""
    while True:
        after = stamps(paths)
        found = changed(before, after)
        if found and all(after[path] is not None for path in paths):
            return found
        time.sleep(every)


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


class _Watched:
    """A command whose last result is kept."""

    def __init__(self, program: str, arguments: Sequence[str], folder: pathlib.Path) -> None:
        self._program, self._arguments, self._folder = program, list(arguments), folder
        self._last: Optional[pathlib.Path] = None
        self._runs = 0

    def run(self) -> int:
        """The exit code. The first result is shown whole, a later one by what is different."""
        self._runs += 1
        result = self._folder / f"run-{self._runs}.json"
        quiet = [] if self._last is None else ["--quiet"]
        shown = None if self._last is None else subprocess.DEVNULL
        ended = subprocess.run([self._program, *self._arguments, "--json", str(result), *quiet], stdout=shown)
        if not result.exists():
            _say("assay.watch: no result; the next one is compared with the last that there was")
            return ended.returncode
        if self._last is not None:
            subprocess.run([self._program, "diff", str(self._last), str(result), "--quiet"])
        self._last = result
        return ended.returncode


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python3 -m assay.watch", description="Runs a command of Assay again when its files change.")
    parser.add_argument("--every", type=float, default=0.2, metavar="SECONDS", help="how often files are looked at (default: 0.2)")
    parser.add_argument("--runs", type=int, default=0, metavar="N", help="end after so many runs (default: never)")
    parser.add_argument("command", nargs=argparse.REMAINDER, metavar="COMMAND", help="a command of the program with its flags")
    return parser


def _watch(watched: _Watched, paths: list[pathlib.Path], settings: argparse.Namespace) -> int:
    before = stamps(paths)
    code = watched.run()
    if code == _wrong_command:
        return code
    own = {path for path in changed(before, stamps(paths)) if path in paths}
    paths = [path for path in paths if path not in own and path.exists()]
    for path in sorted(own):
        _say(f"assay.watch: {path} is written by the command and is not watched")
    if not paths and settings.runs != 1:
        sys.exit("assay.watch: no file is left to watch; name files that the command reads")
    before = stamps(paths)
    for run in itertools.count(2):
        if settings.runs and run > settings.runs:
            return code
        _say(f"assay.watch: watching {', '.join(map(str, paths))}; Ctrl-C ends it")
        files = _wait(paths, before, settings.every)
        _say(f"assay.watch: changed: {', '.join(map(str, files))}")
        before = stamps(paths)
        code = watched.run()
    return code


def main(arguments: Optional[Sequence[str]] = None) -> int:
    """The exit code of the last run."""
    settings = _parser().parse_args(arguments)
    if not settings.command:
        sys.exit("assay.watch: which command? such as: python3 -m assay.watch evaluate net.onnx test.npz")
    if any(argument.split("=")[0] == "--json" for argument in settings.command):
        sys.exit("assay.watch: --json is used to compare runs; leave it out, and write the result once with the command itself")
    paths = named_files(settings.command)
    if not paths:
        sys.exit("assay.watch: the command names no file that is there, so nothing can change")
    program = program_file()
    if program is None:
        sys.exit("assay.watch: the program assay is not installed; it comes with the wheel")
    with tempfile.TemporaryDirectory(prefix="assay-watch-") as folder:
        try:
            return _watch(_Watched(program, settings.command, pathlib.Path(folder)), paths, settings)
        except KeyboardInterrupt:
            return 130


if __name__ == "__main__":
    sys.exit(main())
