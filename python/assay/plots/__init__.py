"""Pictures of results with matplotlib. What a table is drawn as depends on its columns: each kind of picture is a file
of this folder and a line of ``kinds``. All functions return the axes that they drew on."""

from __future__ import annotations

from typing import Any

from ..errors import UsageError
from . import _bars, _confusions, _curves, _histograms, _reliability, _words
from ._axes import Kind, axes_of
from ._pictures import pairs, relevance
from ._signals import are_signals, signals

__all__ = ["Kind", "are_signals", "draw", "kinds", "pairs", "relevance", "signals"]

#: The first that takes a table draws it.
kinds: list[Kind] = [_curves.kind, _histograms.kind, _confusions.kind, _reliability.kind, _words.kind, _bars.kind]


def draw(result: Any, name: str | None, ax: Any, dpi: float | None, options: dict[str, Any]) -> Any:
    """What ``Result.plot`` does."""
    if name == "pairs" or (name is None and result.source is not None and result.data):
        return _pairs_of(result, ax, dpi, options)
    table = result.table(name or _first(result))
    kind = next((kind for kind in kinds if kind.takes(table)), None)
    if kind is None:
        raise UsageError(f"table {table.name} has no figures to draw")
    if not len(table):
        raise UsageError(f"table {table.name} has no rows to draw")
    unknown = [option for option in options if option not in kind.options]
    if unknown:
        known = ", ".join(kind.options) or "no option"
        raise UsageError(f"plot: '{unknown[0]}' has no effect on table {table.name}, which is drawn as {kind.name}: {known}")
    axes = kind.draw(table, lambda width, height: axes_of(ax, dpi, (width, height)), **options)
    axes.set_title(axes.get_title() or table.title)
    return axes


def _first(result: Any) -> str:
    """A table that is more than bars, if it is not one of details; otherwise the first with figures."""
    tables = [table for table in result.tables.values() if len(table)]
    drawn = [table for table in tables if _kind(table) is not None]
    special = [table for table in drawn if not table.detail and _kind(table) is not kinds[-1]]
    measured = [table for table in drawn if set(table.kinds.values()) - {"text", "count"}]
    for table in [*special, *measured, *drawn]:
        return str(table.name)
    raise UsageError("the result has no table with figures to draw")


def _kind(table: Any) -> Kind | None:
    return next((kind for kind in kinds if kind.takes(table)), None)


def _pairs_of(result: Any, ax: Any, dpi: float | None, options: dict[str, Any]) -> Any:
    of, top = options.pop("of", None), options.pop("top", 8)
    if options:
        raise UsageError(f"plot: '{next(iter(options))}' has no effect on pairs; there are of, top")
    if result.source is None or not result.data:
        raise UsageError("only results with changed records, as of attack() and explore(), can be drawn as pairs")
    name = next(iter(result.data)) if of is None else of
    if name not in result.data:
        raise UsageError(f"of: there are no records of '{name}'; there are {', '.join(result.data)}")
    arrays = result.arrays[name]
    chosen = arrays["success"].nonzero()[0][:top] if "success" in arrays else range(len(arrays["x"]))[:top]
    if not len(chosen):
        raise UsageError(f"{name} changed no record so that its class changed: there is no pair to draw")
    source = result.source.read(arrays["original"][list(chosen)])[next(iter(result.source.inputs))]
    captions = [_caption(result.source.class_names, arrays, int(i)) for i in chosen]
    changed = arrays["x"][list(chosen)]
    if are_signals(source.shape[1:]):
        axes = signals(source, changed, captions=captions, ax=ax, dpi=dpi)
    else:
        if source.ndim == 3:  # pictures without an axis of channels; three of them are not one in colours
            source, changed = source[:, None], changed[:, None]
        axes = pairs(source, changed, captions=captions, ax=ax, dpi=dpi)
    axes.set_title(f"{name}: {len(chosen)} of {len(arrays['x'])} records")
    return axes


def _caption(names: list[str], arrays: Any, record: int) -> str:
    """Its class before, and what one network takes it for, or several; its id where it has many items."""
    if arrays["y"].ndim > 1:
        return str(arrays["ids"][record])
    after = arrays["predicted"][record : record + 1] if "predicted" in arrays else arrays["classes"][record]
    shown = [names[int(number)] if 0 <= int(number) < len(names) else str(int(number)) for number in (arrays["y"][record], *after)]
    return f"{shown[0]} → {' / '.join(shown[1:])}"
