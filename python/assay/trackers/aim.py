"""Aim: into a run, which is one of its own unless one is given."""

from __future__ import annotations

from typing import Any

from ._entry import Entry, Tracker, objects_of

__all__ = ["tracker"]


def _into(run: Any, entry: Entry) -> None:
    import aim

    for name, value in entry.metrics.items():
        run.track(value, name=name, step=entry.step)
    run.track(aim.Text(entry.markdown), name=f"{entry.command}/result", step=entry.step)
    for name, text in entry.texts.items():
        run[name] = text
    if entry.folder is not None:
        for file in sorted(path for path in entry.folder.rglob("*") if path.is_file()):
            run.log_artifact(str(file), name=f"{entry.place}/{file.relative_to(entry.folder)}")


def _log(entry: Entry, run: Any) -> None:
    import aim

    if run is not None:
        _into(run, entry)
        return
    own = aim.Run(experiment="assay")
    try:
        _into(own, entry)
    finally:
        own.close()


tracker = Tracker(
    name="aim",
    package="aim",
    objects="a Run of Aim",
    remedy="`aim init` in a folder that can be written, or give a Run",
    takes=objects_of("aim.Run"),
    log=_log,
)
