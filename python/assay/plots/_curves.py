"""Tables as lines: figures along records, severities or epochs, with bands where there are intervals."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ._axes import Kind, MakeAxes, is_share

__all__ = ["kind"]

#: By columns that a table has: what a line is, what it runs along, and its figures (as many as there are).
_curves: Mapping[tuple[str, str], tuple[str, ...]] = {
    ("criterion", "records"): ("coverage",),
    ("order", "records"): ("found",),
    ("unit", "records"): ("score",),
    ("curve", "severity"): ("accuracy",),
    ("", "epoch"): ("accuracy", "validation_accuracy"),
}
_names = ("growth", "apfd", "convergence", "severities", "epochs")


def _columns(table: Any) -> tuple[str, str, list[str]] | None:
    for (line, along), values in _curves.items():
        if along in table.columns and (not line or line in table.columns):
            drawn = [c for c in values if c in table.columns and any(isinstance(v, (int, float)) for v in table[c])]
            if drawn:
                return line, along, drawn
    return None


def _draw(table: Any, make_axes: MakeAxes) -> Any:
    found = _columns(table)
    assert found is not None
    line, along, values = found
    axes = make_axes(7, 4)
    lines: dict[str, list[dict[str, Any]]] = {}
    for row in table:
        lines.setdefault(str(row[line]) if line else "", []).append(row)
    for name, rows in lines.items():
        for value in values:
            drawn = [row for row in rows if isinstance(row[value], (int, float))]
            places = [row[along] for row in drawn]
            label = name or table.titles[value]
            axes.plot(places, [row[value] for row in drawn], marker="." if len(drawn) <= 30 else None, label=label)
            if {"low", "high"} <= set(table.columns):
                axes.fill_between(places, [r["low"] for r in drawn], [r["high"] for r in drawn], alpha=0.2)
    if is_share(table, values[0]):
        axes.set_ylim(0, 1.02)
    axes.set_xlabel(table.titles[along])
    axes.set_ylabel(table.titles[values[0]] if len(values) == 1 else "share")
    axes.legend(loc="best", fontsize="small")
    return axes


kind = Kind("lines", (), lambda table: table.name in _names and _columns(table) is not None, _draw)
