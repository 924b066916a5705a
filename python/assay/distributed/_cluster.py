"""What a cluster is to a study: something that runs parts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from ._part import Part, WorkerLost

__all__ = ["Cluster", "Part", "with_retries"]


@dataclass(frozen=True)
class Cluster:
    """``run(parts, on, retries)`` returns when all parts are done, and raises what a part raises (an AssayError, which is not
    worth another try) or the last loss of a worker after so many retries of it."""

    name: str
    objects: str  # what `on` may be, in words
    takes: Callable[[Any], bool]
    run: Callable[[Sequence[Part], Any, int], None]


def with_retries(part: Part, threads: int, retries: int) -> None:
    """Runs a part here, again where its process was killed."""
    for left in range(retries, -1, -1):
        try:
            return part(threads)
        except WorkerLost:
            if left == 0:
                raise
