"""DVCLive: files in a folder that DVC compares between commits."""

from __future__ import annotations

import pathlib
import shutil
from typing import Any

from ._entry import Entry, Tracker, objects_of

__all__ = ["tracker"]


def _into(live: Any, entry: Entry) -> None:
    if entry.step is not None:
        live.step = entry.step
    for name, value in entry.metrics.items():
        # Slashes are levels of its file, where a figure has none below it.
        figure = name.removeprefix(f"{entry.command}/")
        live.log_metric(f"{entry.command}/{figure.replace('/', '.')}", value)
    for name, text in entry.texts.items():
        live.log_param(name, text)
    if entry.folder is not None:
        shutil.copytree(entry.folder, pathlib.Path(live.dir) / entry.place, dirs_exist_ok=True)


def _log(entry: Entry, live: Any) -> None:
    from dvclive import Live

    if live is not None:
        _into(live, entry)
        live.make_summary()
        return
    with Live(save_dvc_exp=False) as own:
        _into(own, entry)


tracker = Tracker(
    name="dvclive",
    package="dvclive",
    objects="a Live of DVCLive",
    remedy="run it in a folder that can be written",
    takes=objects_of("dvclive.Live"),
    log=_log,
)
