"""Tables as bars: a figure by the texts in front of it."""

from __future__ import annotations

from typing import Any

from ..errors import UsageError
from ._axes import Kind, MakeAxes, numbers_of

__all__ = ["kind"]


def _labels(table: Any, rows: list[dict[str, Any]]) -> list[str]:
    """What tells rows apart: two columns of texts, or a text and a number of a unit, and as many more texts as rows that
    read alike need."""
    texts = [c for c in table.columns if table.kinds[c] == "text" and c not in ("note", "thumbnail")]
    places = [c for c in table.columns if c in ("neuron", "unit", "m")][:1] if texts else []
    names = texts[: 2 - len(places)] + places
    for more in texts:
        if len(set(_joined(rows, names))) < len(set(_joined(rows, [*names, more]))):
            names.append(more)
    return [label or str(number) for number, label in enumerate(_joined(rows, names))]


def _joined(rows: list[dict[str, Any]], names: list[str]) -> list[str]:
    return [" ".join(str(row[c]) for c in names if row[c] is not None) for row in rows]


def _draw(table: Any, make_axes: MakeAxes, *, top: int = 30, column: str | None = None) -> Any:
    numbers = numbers_of(table)
    value = column or ("coverage" if "coverage" in numbers else numbers[0])
    if value not in table.columns or table.kinds[value] == "text":
        raise UsageError(f"column: table {table.name} has no figures '{value}'; there are {', '.join(numbers)}")
    rows = [row for row in table if isinstance(row[value], (int, float))][:top]
    if not rows:
        raise UsageError(f"table {table.name} has no rows to draw")
    axes = make_axes(8, 0.3 * len(rows) + 1.5)
    axes.barh(range(len(rows)), [row[value] for row in rows])
    labels = _labels(table, rows)
    axes.set_yticks(range(len(rows)), [label if len(label) <= 40 else label[:39] + "…" for label in labels])
    axes.set_ylim(max(len(rows), 3) - 0.5, -0.5)
    axes.set_xlabel(table.titles[value])
    return axes


kind = Kind("bars", ("top", "column"), lambda table: bool(numbers_of(table)), _draw)
