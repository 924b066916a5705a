"""Where results are kept beside the figures of trainings: ``result.log(to="mlflow")``. Each tracker is a file of this
folder and a line of ``catalogue``."""

from __future__ import annotations

import contextlib
import difflib
import warnings
from typing import Any

from .._progress import AssayWarning
from ..errors import UsageError, kind_of
from . import aim, dvclive, mlflow, tensorboard, wandb
from ._entry import Entry, Files, Tracker, objects_of, plain

__all__ = ["Begun", "Entry", "Files", "Tracker", "all_of", "catalogue", "log", "objects_of", "tracker_of"]

#: By name. A program may add its own.
catalogue: dict[str, Tracker] = {
    tracker.name: tracker
    for tracker in (mlflow.tracker, wandb.tracker, tensorboard.tracker, aim.tracker, dvclive.tracker)
}


def tracker_of(to: Any) -> tuple[Tracker, Any]:
    """The tracker that ``to`` names, or whose object it is, with that object (None for a name)."""
    if isinstance(to, Tracker):
        return to, None
    if isinstance(to, str):
        if to in catalogue:
            return catalogue[to], None
        near = difflib.get_close_matches(to, catalogue, 1)
        hint = f"; did you mean '{near[0]}'?" if near else ""
        raise UsageError(f"to: no tracker '{to}'{hint}; there are {', '.join(catalogue)}")
    for tracker in catalogue.values():
        if tracker.takes(to):
            return tracker, to
    raise UsageError(
        f"to: {kind_of(to)} is not an object of a tracker; give one of {', '.join(catalogue)}, "
        "or what they log to: " + ", ".join(tracker.objects for tracker in catalogue.values())
    )


class Begun:
    """Runs that were begun for several results, by tracker: the epochs of a training are one run."""

    def __init__(self) -> None:
        self._open = contextlib.ExitStack()
        self._runs: dict[str, Any] = {}

    def run_of(self, tracker: Tracker, command: str) -> Any:
        """The one that was begun; otherwise the one of the program; otherwise one of its own."""
        if tracker.name in self._runs:
            return self._runs[tracker.name]
        run = tracker.active()
        if run is None:
            run = self._runs[tracker.name] = self._open.enter_context(tracker.begun(command))
        return run

    def end(self) -> None:
        try:
            self._open.close()
        except Exception as error:  # at the end of the program no one would catch it
            _warn(f"{', '.join(self._runs)}: the run could not be ended ({error})")


def all_of(to: Any) -> list[Any]:
    """One tracker or several. All are known before any is written to."""
    chosen = list(to) if isinstance(to, (list, tuple)) else [to]
    for one in chosen:
        tracker_of(one)
    return chosen


def log(result: Any, to: Any, *, step: int | None = None, files: bool = True, begun: Begun | None = None) -> bool:
    """Whether it was logged. If a tracker is not there, that is a warning: the result matters more."""
    tracker, run = tracker_of(to)
    entry = _entry_of(result, step, _files_of(result) if files else None)
    try:
        with contextlib.ExitStack() as afterwards:
            if entry.files is not None:
                afterwards.callback(entry.files.remove)
            if run is None and begun is not None:
                run = begun.run_of(tracker, entry.command)
            if run is None:
                run = tracker.active()
            if run is None:
                run = afterwards.enter_context(tracker.begun(entry.command))
            tracker.log(entry, run)
    except ImportError as error:
        _warn(f"{tracker.name}: {error.name or tracker.package} is not installed; `pip install {tracker.package}`")
        return False
    except Exception as error:  # whatever a client of a tracker raises
        why = (str(error).strip() or type(error).__name__).splitlines()[0].rstrip(".")
        _warn(f"{tracker.name}: the result of {result.command} was not logged: {why}; {tracker.remedy}")
        return False
    return True


def _warn(sentence: str) -> None:
    warnings.warn(f"{sentence}. The result is kept; log it again with result.log()", AssayWarning, stacklevel=4)


def _entry_of(result: Any, step: int | None, files: Files | None) -> Entry:
    command = result.command
    texts = {f"{command}/{name}": str(value) for name, value in result.facts.items() if isinstance(value, str)}
    for name in ("model_hash", "test_hash", "data_hash", "train_hash", "options", "seed", "assay"):
        if name in result.provenance:
            texts[f"{command}/{name}"] = str(result.provenance[name])
    texts[f"{command}/headline"] = result.headline
    if result.gates:
        texts[f"{command}/gates"] = "passed" if result.passed else "failed"
    metrics = {plain(f"{command}/{name}"): value for name, value in result.figures().items()}
    return Entry(command, metrics, texts, result.render("markdown"), step, files)


def _files_of(result: Any) -> Files:
    texts = {"report.html": result.to_html(), "result.json": result.to_json()}
    return Files(texts | {f"tables/{name}": text for name, text in result.render_files("csv").items()})
