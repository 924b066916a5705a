"""Processes of this machine: ``on=4``, or nothing."""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from ..errors import UsageError
from ._cluster import Cluster, with_retries
from ._part import Part


def _run(parts: Sequence[Part], on: Any, retries: int) -> None:
    cores = len(os.sched_getaffinity(0))
    workers = min(len(parts), cores) if on is None or on == "local" else on
    if workers < 1:
        raise UsageError(f"on: {workers} processes; at least 1 is needed")
    threads = max(1, cores // workers)

    def finish(part: Part) -> None:
        with_retries(part, threads, retries)

    # Each waits for a process.
    with ThreadPoolExecutor(workers) as pool:
        waiting = [pool.submit(finish, part) for part in parts]
        try:
            for future in waiting:
                future.result()
        finally:
            for future in waiting:
                future.cancel()


cluster = Cluster("local", "a number of processes", lambda on: on is None or (isinstance(on, int) and not isinstance(on, bool)), _run)
