"""What a tracker is, and what it gets of a result."""

from __future__ import annotations

import pathlib
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

__all__ = ["Entry", "Tracker", "objects_of", "plain"]


@dataclass(frozen=True)
class Entry:
    """A result as trackers take it."""

    command: str
    metrics: Mapping[str, float]  # "cover/nc", "cover/nc/conv2"
    texts: Mapping[str, str]  # the headline, hashes, options, seed
    markdown: str
    step: int | None  # such as the epoch
    folder: pathlib.Path | None  # with report.html, result.json and tables/*.csv; None: figures alone

    @property
    def place(self) -> str:
        """A name for the files, other than that of other steps."""
        return f"assay-{self.command}" + ("" if self.step is None else f"-{self.step}")


@dataclass(frozen=True)
class Tracker:
    """``log`` gets an entry, and the object that was given in place of the name, or None."""

    name: str
    package: str  # what pip installs
    objects: str  # what may be given in place of the name
    remedy: str  # what to do if logging fails
    takes: Callable[[Any], bool]
    log: Callable[[Entry, Any], None]


def objects_of(*classes: str) -> Callable[[Any], bool]:
    """Whether something is an object of classes, named with their packages: "wandb.Run". Nothing is imported."""
    known = {tuple(name.split(".")) for name in classes}
    return lambda value: any((kind.__module__.split(".")[0], kind.__name__) in known for kind in type(value).__mro__)


def plain(name: str) -> str:
    """A name in letters, digits and `_-./ ` as all trackers take it: "idc[m=6]/conv2" is "idc_m_6/conv2"."""
    return re.sub(r"_+(/|$)", r"\1", re.sub(r"[^\w\-./ ]+", "_", name))
