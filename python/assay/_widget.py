"""Widgets of Jupyter that choose a table of a result, a layer and a row, and show it with its picture."""

from __future__ import annotations

import base64
import binascii
import html
import io
from typing import Any

from .errors import UsageError

__all__ = ["chooser"]

_rows = 10
_every = "all layers"


def chooser(result: Any) -> Any:
    """What ``Result.widget`` gives."""
    try:
        import ipywidgets
    except ImportError:
        raise UsageError("widgets need ipywidgets (pip install ipywidgets); without it, plot() draws tables, and save_html() writes the page") from None
    tables = {table.name: table for table in result.tables.values() if len(table)}
    if not tables:
        raise UsageError("the result has no table to choose from")
    return _Chooser(ipywidgets, result, tables).box


class _Chooser:
    def __init__(self, widgets: Any, result: Any, tables: dict[str, Any]) -> None:
        self._result, self._tables = result, tables
        wide = widgets.Layout(width="36em")
        self._table = widgets.Dropdown(description="table", options=[(table.title, name) for name, table in tables.items()], layout=wide)
        self._layer = widgets.Dropdown(description="layer", options=[_every], layout=wide)
        self._row = widgets.IntSlider(description="row", min=0, max=0, layout=wide)
        self._picture, self._view = widgets.HTML(), widgets.HTML()
        self.box = widgets.VBox([self._table, self._layer, self._row, self._picture, self._view])
        self._table.observe(lambda _: self._choose_table(), "value")
        self._layer.observe(lambda _: self._choose_layer(), "value")
        self._row.observe(lambda _: self._show(), "value")
        self._choose_table()

    def _choose_table(self) -> None:
        table = self._tables[self._table.value]
        layers = list(dict.fromkeys(str(layer) for layer in table["layer"])) if "layer" in table.columns else []
        self._layer.options = [_every, *layers]
        self._layer.value = _every
        self._layer.layout.display = None if layers else "none"
        self._choose_layer()

    def _chosen(self) -> list[int]:
        table, layer = self._tables[self._table.value], self._layer.value
        return [row for row in range(len(table)) if layer == _every or str(table.rows[row]["layer"]) == layer]

    def _choose_layer(self) -> None:
        self._row.value = 0
        self._row.max = len(self._chosen()) - 1
        self._show()

    def _show(self) -> None:
        table, chosen = self._tables[self._table.value], self._chosen()
        shown = chosen[self._row.value : self._row.value + _rows]
        self._picture.value = _picture_of(self._result, table, shown[0]) if shown else ""
        self._view.value = _html_of(table, shown)


def _picture_of(result: Any, table: Any, row: int) -> str:
    """Its thumbnail, or what is drawn of a single row, if matplotlib is there."""
    thumbnail = table.rows[row].get("thumbnail")
    if isinstance(thumbnail, str) and thumbnail.startswith("data:image/png;base64,"):
        return _image(thumbnail.partition(",")[2])
    try:
        from . import plots

        kind = next((kind for kind in plots.kinds if kind.takes(table)), None)
        if kind is None or "row" not in kind.options:
            return ""
        figure = result.plot(table.name, row=row, dpi=70).figure
    except UsageError:
        return ""
    file = io.BytesIO()
    figure.savefig(file, format="png")
    import matplotlib.pyplot as pyplot

    pyplot.close(figure)
    return _image(base64.b64encode(file.getvalue()).decode())


def _image(data: str) -> str:
    try:
        base64.b64decode(data, validate=True)
    except (binascii.Error, ValueError):
        return ""
    return f'<img src="data:image/png;base64,{data}" alt="" style="min-width:84px;image-rendering:pixelated">'


def _html_of(table: Any, rows: list[int]) -> str:
    columns = [column for column in table.columns if column not in ("thumbnail", "train", "test")]
    head = "".join(f"<th>{html.escape(table.titles[column])}</th>" for column in columns)
    lines = ("".join(f"<td>{html.escape(_cell(table.rows[row][column], table.kinds[column]))}</td>" for column in columns) for row in rows)
    return f"<table><tr>{head}</tr>{''.join(f'<tr>{line}</tr>' for line in lines)}</table><p>{len(rows)} of {len(table)} rows</p>"


def _cell(value: Any, kind: str) -> str:
    if value is None:
        return ""
    if kind == "percent" and isinstance(value, (int, float)):
        return f"{100 * value:.1f} %"
    return f"{value:.5g}" if isinstance(value, float) else str(value)
