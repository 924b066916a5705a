"""Weights & Biases: into the run that `wandb.init` began, or one of its own."""

from __future__ import annotations

from typing import Any

from ._entry import Entry, Tracker, objects_of, require_server

__all__ = ["tracker"]


def _active() -> Any:
    import wandb

    return wandb.run


def _require_connection(setup: Any) -> None:
    """Where results are sent as they are logged. Not all versions tell where that is."""
    settings: Any = getattr(setup, "settings", None)
    if getattr(settings, "mode", None) in ("online", "run"):
        require_server(str(settings.base_url))


def _begun(command: str) -> Any:
    """A run that is not `wandb.run`, since what the program itself logs belongs elsewhere."""
    import wandb

    _require_connection(wandb.setup())
    try:
        beside = wandb.Settings(reinit="create_new")
    except Exception:  # versions before 0.19.10 have one run at a time, and refuse the word each in its way
        beside = None
    return wandb.init(project="assay", job_type=command, settings=beside)


def _log(entry: Entry, run: Any) -> None:
    import wandb

    figures: dict[str, Any] = dict(entry.metrics)
    if entry.step is not None:
        # The run's own steps may be batches, and only ever grow.
        run.define_metric(f"{entry.command}/*", step_metric=f"{entry.command}/step")
        figures[f"{entry.command}/step"] = entry.step
    if entry.files is not None:
        figures[f"{entry.command}/report"] = wandb.Html(entry.files.texts["report.html"], inject=False)
        files = wandb.Artifact(f"assay-{entry.command}-{run.id}", "assay")
        files.add_dir(str(entry.folder))
        run.log_artifact(files)
    run.log(figures)
    run.summary.update(dict(entry.texts))


tracker = Tracker(
    name="wandb",
    package="wandb",
    objects="a run of Weights & Biases",
    remedy="`wandb login`, or WANDB_MODE=offline keeps it in a folder that `wandb sync` sends",
    takes=objects_of("wandb.Run"),
    log=_log,
    active=_active,
    begun=_begun,
)
