"""One part of a study, as it goes to a worker: it runs the program and leaves its state in the shared folder."""

from __future__ import annotations

import os
import signal
import subprocess
from dataclasses import dataclass
from typing import Optional

from .._program import program_file
from ..errors import AssayError, FileError, InternalError

__all__ = ["Part", "WorkerLost"]


class WorkerLost(InternalError):
    """The process of a part was killed: its journal knows what it had done."""


def _errors() -> dict[int, type[AssayError]]:
    return {kind.exit_code: kind for kind in AssayError.__subclasses__()}


@dataclass(frozen=True)
class Part:
    """Part ``number`` of ``count``: the words after ``assay``, the folder to run in, and the state that it writes."""

    number: int
    count: int
    words: tuple[str, ...]
    folder: str
    state: str
    threads: bool  # whether the words say how many

    def __call__(self, threads: Optional[int] = None) -> None:
        """``threads``: of this worker; None: all cores. Throws the program's error, and WorkerLost where it was killed."""
        if os.path.exists(self.state):
            return
        program = program_file()
        if program is None:
            raise FileError("the program 'assay' is neither next to the package nor in PATH of this worker; install the wheel there")
        words = [program, *self.words, "--quiet"]
        if threads is not None and not self.threads:
            words += ["--threads", str(threads)]
        found = subprocess.run(words, cwd=self.folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=False)
        said = found.stderr.strip().removeprefix("assay: ")
        if found.returncode < 0:
            raise WorkerLost(f"part {self.number} of {self.count} was killed by {signal.Signals(-found.returncode).name}")
        if found.returncode != 0:
            raise _errors().get(found.returncode, InternalError)(f"part {self.number} of {self.count}: {said}")
