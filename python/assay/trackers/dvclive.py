"""DVCLive: files in a folder that DVC compares between commits."""

from __future__ import annotations

import pathlib
from typing import Any

from ._entry import Entry, Tracker, objects_of

__all__ = ["tracker"]


def _begun(command: str) -> Any:
    from dvclive import Live

    return Live(save_dvc_exp=False)


def _log(entry: Entry, live: Any) -> None:
    if entry.step is not None:
        live.step = entry.step
    for name, value in entry.metrics.items():
        # Slashes are levels of its file, where a figure has none below it.
        figure = name.removeprefix(f"{entry.command}/")
        live.log_metric(f"{entry.command}/{figure.replace('/', '.')}", value)
    for name, text in entry.texts.items():
        live.log_param(name, text)
    if entry.files is not None:
        entry.files.write(pathlib.Path(live.dir) / entry.place)
    live.make_summary()


tracker = Tracker(
    name="dvclive",
    package="dvclive",
    objects="a Live of DVCLive",
    remedy="run it in a folder that can be written, which has a commit if it is a repository of git",
    takes=objects_of("dvclive.Live"),
    log=_log,
    begun=_begun,
)
