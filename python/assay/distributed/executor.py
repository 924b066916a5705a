"""Any executor of ``concurrent.futures``: of processes, of MPI (mpi4py), of loky."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Executor
from concurrent.futures.process import BrokenProcessPool
from typing import Any

from ..errors import ResourcesError
from ._cluster import Cluster
from ._part import Part, WorkerLost


def _run(parts: Sequence[Part], on: Any, retries: int) -> None:
    left = list(parts)
    for attempt in range(retries + 1):
        waiting = [(part, on.submit(part)) for part in left]
        lost = []
        for part, future in waiting:
            try:
                future.result()
            except BrokenProcessPool as error:
                raise ResourcesError("a process of the executor was killed, and it starts no other; the same call with a new one goes on") from error
            except WorkerLost:
                if attempt == retries:
                    raise
                lost.append(part)
        left = lost


cluster = Cluster("executor", "an executor of concurrent.futures", lambda on: isinstance(on, Executor), _run)
