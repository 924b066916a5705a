"""Aim: into a run, which is one of its own unless one is given; files where it has a place for them."""

from __future__ import annotations

import contextlib
from typing import Any

from ._entry import Entry, Tracker, objects_of

__all__ = ["tracker"]


def _begun(command: str) -> Any:
    import aim

    return contextlib.closing(aim.Run(experiment="assay"))


def _log(entry: Entry, run: Any) -> None:
    import aim

    for name, value in entry.metrics.items():
        run.track(value, name=name, step=entry.step)
    run.track(aim.Text(entry.markdown), name=f"{entry.command}/result", step=entry.step)
    for name, text in entry.texts.items():
        run[name] = text
    if run.artifacts_uri and entry.folder is not None:
        for file in sorted(path for path in entry.folder.rglob("*") if path.is_file()):
            run.log_artifact(str(file), name=f"{entry.place}/{file.relative_to(entry.folder)}")


tracker = Tracker(
    name="aim",
    package="aim",
    objects="a Run of Aim",
    remedy="`aim init` in a folder that can be written, or give a Run",
    takes=objects_of("aim.Run"),
    log=_log,
    begun=_begun,
)
