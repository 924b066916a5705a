"""Records that are signals or rows of numbers: before and after a change, one below the other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .._arrays import host
from ..errors import UsageError
from ._axes import axes_of

__all__ = ["are_signals", "signals"]

Array = np.ndarray[Any, Any]


def are_signals(shape: Sequence[int]) -> bool:
    """Whether records of a shape are rows of numbers rather than pictures: one axis, or two of which one is short or
    much the longer."""
    if len(shape) != 2:
        return len(shape) < 2
    return min(shape) < 8 or max(shape) > 4 * min(shape)


def _rows(what: str, x: Any) -> Array:
    """[n, channels, steps]"""
    rows = np.asarray(host(x, what), np.float32)
    if rows.ndim == 2:
        rows = rows[:, None]
    if rows.ndim != 3 or not rows.size:
        raise UsageError(f"{what}: an array {list(rows.shape)} is not signals [n, steps] or [n, channels, steps]")
    return rows if rows.shape[1] <= rows.shape[2] else rows.transpose(0, 2, 1)


def signals(before: Any, after: Any, *, captions: Sequence[str] = (), ax: Any = None, dpi: float | None = None) -> Any:
    """Signals, or rows of numbers, one below the other: grey before and blue after a change, which is filled in red.
    Arrays [n, steps] or [n, channels, steps], all with one scale; channels stand in front of each other."""
    first, second = _rows("before", before), _rows("after", after)
    if first.shape != second.shape:
        raise UsageError(f"before and after differ in their shapes: {list(first.shape)} and {list(second.shape)}")
    low, high = float(min(first.min(), second.min())), float(max(first.max(), second.max()))
    lanes = [(rows - low) / ((high - low) or 1) - 1.2 * np.arange(len(rows))[:, None, None] for rows in (first, second)]
    axes = axes_of(ax, dpi, (8, 0.8 * len(first) + 1))
    steps = np.arange(first.shape[2])
    marker = "." if len(steps) <= 30 else None
    for record in range(len(first)):
        for channel, (old, new) in enumerate(zip(lanes[0][record], lanes[1][record])):
            named = record == 0 and channel == 0
            axes.fill_between(steps, old, new, color="tab:red", alpha=0.35, linewidth=0, label="difference" if named else None)
            axes.plot(steps, old, color="0.5", linewidth=1, marker=marker, label="before" if named else None)
            axes.plot(steps, new, color="tab:blue", linewidth=1, marker=marker, label="after" if named else None)
    axes.set_yticks([0.5 - 1.2 * record for record in range(len(captions))], captions)
    axes.set_xlabel("place in the record")
    axes.legend(loc="upper right", fontsize="small", ncols=3)
    return axes
