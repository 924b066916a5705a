"""TensorBoard: event files, written by torch or tensorboardX. The report lies beside them, since no page shows it."""

from __future__ import annotations

import pathlib
from typing import Any

from ._entry import Entry, Tracker, objects_of

__all__ = ["tracker"]


def _begun(command: str) -> Any:
    try:
        from torch.utils.tensorboard import SummaryWriter
    except ImportError:
        from tensorboardX import SummaryWriter
    return SummaryWriter()


def _log(entry: Entry, writer: Any) -> None:
    for name, value in entry.metrics.items():
        writer.add_scalar(name, value, entry.step)
    writer.add_text(f"{entry.command}/result", entry.markdown, entry.step)
    if entry.files is not None:
        entry.files.write(pathlib.Path(getattr(writer, "log_dir", None) or writer.logdir) / entry.place)
    writer.flush()


tracker = Tracker(
    name="tensorboard",
    package="tensorboard tensorboardX",
    objects="a SummaryWriter",
    remedy="give a SummaryWriter of a folder that can be written",
    takes=objects_of("torch.SummaryWriter", "tensorboardX.SummaryWriter"),
    log=_log,
    begun=_begun,
)
