"""A neuron's activations over the training set and the test set, with the boundaries of its clusters."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import UsageError
from ._axes import Kind, MakeAxes

__all__ = ["kind"]


def _shares(text: str) -> np.ndarray[Any, Any]:
    counts = np.array([float(count) for count in text.split(",")])
    shares: np.ndarray[Any, Any] = counts / max(counts.sum(), 1)
    return shares


def _draw(table: Any, make_axes: MakeAxes, *, row: int = 0) -> Any:
    if not 0 <= row < len(table):
        raise UsageError(f"row: table {table.name} has the rows 0 to {len(table) - 1}, not {row}")
    entry = table[row]
    train, test = _shares(entry["train"]), _shares(entry["test"])
    low, high = entry["low"], entry["high"]
    edges = np.linspace(low, high, len(train) + 1) if high > low else np.linspace(low - 0.5, low + 0.5, len(train) + 1)
    axes = make_axes(7, 4)
    axes.stairs(train, edges, fill=True, alpha=0.35, label="training")
    axes.stairs(test, edges, linewidth=1.6, label="test")
    for number, boundary in enumerate(text for text in (entry["boundaries"] or "").split(",") if text):
        label = "cluster boundary" if number == 0 else None
        axes.axvline(float(boundary), linestyle="--", linewidth=1, color="0.4", label=label)
    axes.set_xlabel("activation")
    axes.set_ylabel("share of records")
    axes.set_title(f"neuron {entry['neuron']} of {entry['layer']}")
    axes.legend(fontsize="small")
    return axes


kind = Kind("a histogram", ("row",), lambda table: {"train", "test", "low", "high", "boundaries"} <= set(table.columns), _draw)
