"""MLflow: into the active run, or one of its own."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from typing import Any

from ._entry import Entry, Tracker, objects_of, require_server

__all__ = ["tracker"]

# What a server takes at once: 1000 of figures and texts together.
_tags, _tag_length = 100, 5000
_metrics = 1000 - _tags


def _active() -> Any:
    import mlflow

    return mlflow.active_run()


@contextlib.contextmanager
def _begun(command: str) -> Iterator[Any]:
    """A run that is not left active, since what the program itself logs may belong elsewhere."""
    import mlflow

    require_server(mlflow.get_tracking_uri())
    with mlflow.start_run(run_name=f"assay {command}") as run:
        pass
    try:
        yield run
    except Exception:
        mlflow.MlflowClient().set_terminated(run.info.run_id, "FAILED")
        raise


def _log(entry: Entry, run: Any) -> None:
    import mlflow
    from mlflow.entities import Metric, RunTag

    require_server(mlflow.get_tracking_uri())
    client, run_id, now = mlflow.MlflowClient(), run.info.run_id, int(time.time() * 1000)
    metrics = [Metric(name, value, now, entry.step or 0) for name, value in entry.metrics.items()]
    tags = [RunTag(name, text[:_tag_length]) for name, text in entry.texts.items()][:_tags]
    # Together, since each call is a request to a server. Not asynchronously: a failure would be told to no one.
    for begin in range(0, max(len(metrics), 1), _metrics):
        client.log_batch(run_id, metrics=metrics[begin : begin + _metrics], tags=tags if begin == 0 else ())
    if entry.folder is not None:
        client.log_artifacts(run_id, str(entry.folder), entry.place)


tracker = Tracker(
    name="mlflow",
    package="mlflow",
    objects="a run of MLflow",
    remedy="start the server, or name another with mlflow.set_tracking_uri()",
    takes=objects_of("mlflow.Run"),
    log=_log,
    active=_active,
    begun=_begun,
)
