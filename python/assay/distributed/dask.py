"""Dask: ``on=Client("scheduler:8786")``. See https://distributed.dask.org."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

from ._cluster import Cluster
from ._part import Part


def _takes(on: Any) -> bool:
    distributed = sys.modules.get("distributed")
    return distributed is not None and isinstance(on, distributed.Client)


def _on_worker(part: Part) -> None:
    import distributed

    part(distributed.get_worker().state.nthreads)


def _run(parts: Sequence[Part], on: Any, retries: int) -> None:
    # Dask starts parts of a dead worker on another by itself; `retries` is for those whose process alone was killed.
    waiting = [on.submit(_on_worker, part, pure=False, retries=retries, key=f"assay-{part.number}-of-{part.count}-{id(part)}") for part in parts]
    try:
        on.gather(waiting)
    finally:
        on.cancel(waiting)


cluster = Cluster("dask", "a dask.distributed.Client", _takes, _run)
