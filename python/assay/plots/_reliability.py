"""Accuracy by confidence: bars below the diagonal are classes named too confidently."""

from __future__ import annotations

from typing import Any

from ._axes import Kind, MakeAxes

__all__ = ["kind"]


def _draw(table: Any, make_axes: MakeAxes) -> Any:
    axes = make_axes(5, 4.6)
    rows = [row for row in table if row["records"]]
    widths = [row["to"] - row["from"] for row in rows]
    axes.bar([row["from"] for row in rows], [row["accuracy"] for row in rows], widths, align="edge", edgecolor="white", label="accuracy")
    axes.plot([row["confidence"] for row in rows], [row["accuracy"] for row in rows], "k.", label="mean confidence of a bin")
    axes.plot([0, 1], [0, 1], "--", color="0.4", linewidth=1, label="calibrated")
    axes.set_xlim(0, 1)
    axes.set_ylim(0, 1.02)
    axes.set_xlabel("confidence")
    axes.set_ylabel("accuracy")
    axes.legend(fontsize="small", loc="upper left")
    return axes


kind = Kind("a reliability diagram", (), lambda table: {"confidence", "accuracy", "from", "to"} <= set(table.columns), _draw)
