"""Ray: ``on="ray"``, or the module. It is started with what it finds where that was not done. See https://docs.ray.io."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

from ..errors import AssayError, UsageError
from ._cluster import Cluster
from ._part import Part, WorkerLost


def _takes(on: Any) -> bool:
    return on is not None and on is sys.modules.get("ray")


def _on_worker(part: Part, cores: int) -> None:
    part(cores)


def _run(parts: Sequence[Part], _: Any, retries: int) -> None:
    try:
        import ray
    except ImportError:
        raise UsageError("on: ray is not installed; `pip install ray`") from None
    if not ray.is_initialized():
        ray.init(configure_logging=False, log_to_driver=False, include_dashboard=False)
    remote = ray.remote(max_retries=retries, retry_exceptions=[WorkerLost])(_on_worker)
    waiting = [remote.remote(part, 1) for part in parts]
    try:
        ray.get(waiting)
    except ray.exceptions.RayTaskError as error:
        if isinstance(error.cause, AssayError):
            raise error.cause from None
        raise
    finally:
        for one in waiting:
            ray.cancel(one, force=True)


cluster = Cluster("ray", '"ray"', _takes, _run)
