"""TensorBoard: event files, written by torch or tensorboardX. The report lies beside them, since no page shows it."""

from __future__ import annotations

import pathlib
import shutil
from typing import Any

from ._entry import Entry, Tracker, objects_of

__all__ = ["tracker"]


def _writer() -> Any:
    try:
        from torch.utils.tensorboard import SummaryWriter
    except ImportError:
        from tensorboardX import SummaryWriter
    return SummaryWriter()


def _into(writer: Any, entry: Entry) -> None:
    for name, value in entry.metrics.items():
        writer.add_scalar(name, value, entry.step)
    writer.add_text(f"{entry.command}/result", entry.markdown, entry.step)
    if entry.folder is not None:
        place = pathlib.Path(getattr(writer, "log_dir", None) or writer.logdir) / entry.place
        shutil.copytree(entry.folder, place, dirs_exist_ok=True)
    writer.flush()


def _log(entry: Entry, writer: Any) -> None:
    if writer is not None:
        _into(writer, entry)
        return
    own = _writer()
    try:
        _into(own, entry)
    finally:
        own.close()


tracker = Tracker(
    name="tensorboard",
    package="tensorboard tensorboardX",
    objects="a SummaryWriter",
    remedy="give a SummaryWriter of a folder that can be written",
    takes=objects_of("torch.SummaryWriter", "tensorboardX.SummaryWriter"),
    log=_log,
)
