"""One study in parts that run on several machines, put together to the result of one process.

    from dask.distributed import Client
    result = assay.distributed.run("cover", "net.onnx", "train.npz", "test.npz", criterion="kmnc",
                                   folder="/shared/study", shards=8, on=Client("scheduler:8786"))

Parts are those of ``--shard``: ranges of records, or of mutants. Each runs the program in a separate process, keeps its
journal and its state in ``folder``, which all workers share, and goes on from there if its worker dies. The states are then
combined; the combined state has the bytes of a run in one process. See docs/clusters.md.
"""

from __future__ import annotations

import os
from typing import Any

from .._results import Result
from ..errors import UsageError
from . import dask, executor, local, ray
from ._cluster import Cluster, Part
from ._study import Study

__all__ = ["Cluster", "Part", "Study", "clusters", "combine", "prepare", "run"]

#: By name, in the order in which they are asked whether an object is theirs. A program may add its own.
clusters: dict[str, Cluster] = {cluster.name: cluster for cluster in (local.cluster, executor.cluster, dask.cluster, ray.cluster)}


def _cluster_of(on: Any) -> Cluster:
    if isinstance(on, Cluster):
        return on
    if isinstance(on, str) and on in clusters:
        return clusters[on]
    for cluster in clusters.values():
        if cluster.takes(on):
            return cluster
    raise UsageError(f"on: {on!r} is not a cluster; give " + ", ".join(cluster.objects for cluster in clusters.values()))


def prepare(command: str, *arguments: Any, folder: str | os.PathLike[str], shards: int, **flags: Any) -> Study:
    """A study whose parts others start, such as the tasks of a job array: ``python3 -m assay.distributed FOLDER``.

    Learns the profile of a coverage here, where there is none: all parts need it. Throws UsageError for a folder of another
    study, and for what parts cannot take.
    """
    study = Study.of(command, arguments, folder, shards, flags)
    if study.learns():
        study.part(1)()
    return study


def combine(folder: str | os.PathLike[str]) -> Result:
    """The result of a study whose parts are done. Throws UsageError naming those that are not."""
    return Study.read(folder).combined()


def run(
    command: str,
    *arguments: Any,
    folder: str | os.PathLike[str],
    shards: int,
    on: Any = None,
    retries: int = 2,
    **flags: Any,
) -> Result:
    """Runs ``command`` (cover, mutate, inspect) in ``shards`` parts and combines them.

    Arguments and flags are those of the function of this name; networks and data are files and specs that the workers can
    read, a ``Model`` or arrays (x, y), which are written to ``folder``. Gates are asked of the combined result. ``on``: the
    number of processes of this machine (default: one for each part, at most one a core), an executor of
    ``concurrent.futures``, a ``dask.distributed.Client``, or ``"ray"``. A part whose worker dies is started again up to
    ``retries`` times and goes on from its journal; parts that are done are not run again, so the same call finishes a study
    that was interrupted. Throws what the function throws.
    """
    if retries < 0:
        raise UsageError(f"retries: {retries} is less than 0")
    study = Study.of(command, arguments, folder, shards, flags)
    cluster = _cluster_of(on)
    if study.learns():
        cluster.run([study.part(1)], on, retries)
    missing = study.missing()
    if missing:
        cluster.run([study.part(number) for number in missing], on, retries)
    return study.combined()
