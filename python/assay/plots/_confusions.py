"""Confusions as a matrix."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._axes import Kind, MakeAxes

__all__ = ["kind"]


def _by_number(name: str) -> tuple[bool, float, str]:
    return (not name.isdigit(), float(name) if name.isdigit() else 0, name)


def _draw(table: Any, make_axes: MakeAxes) -> Any:
    count = "records" if "records" in table.columns else "items"
    names = sorted({str(row[side]) for row in table for side in ("expected", "predicted")}, key=_by_number)
    matrix = np.zeros((len(names), len(names)))
    for row in table:
        matrix[names.index(str(row["expected"])), names.index(str(row["predicted"]))] += row[count]
    side = 1.6 + 0.45 * len(names)
    axes = make_axes(side + 1, side)
    picture = axes.imshow(matrix, cmap="Blues")
    for y, x in zip(*matrix.nonzero()):
        colour = "white" if matrix[y, x] > 0.6 * matrix.max() else "black"
        axes.text(x, y, f"{int(matrix[y, x])}", ha="center", va="center", color=colour, fontsize="small")
    axes.set_xticks(range(len(names)), names, rotation=90 if max(map(len, names)) > 3 else 0)
    axes.set_yticks(range(len(names)), names)
    axes.set_xlabel("predicted")
    axes.set_ylabel("expected")
    axes.figure.colorbar(picture, ax=axes, label=table.titles[count], shrink=0.8)
    return axes


kind = Kind("a matrix", (), lambda table: {"expected", "predicted"} <= set(table.columns), _draw)
