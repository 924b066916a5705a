"""Texts and tables of texts as numbers of the words that a network knows."""

from __future__ import annotations

import json
import os
import re
import tempfile
from collections.abc import Mapping
from typing import Any

import numpy as np

from . import _assay
from ._tables import column_of, is_column, table_of, texts_of
from .errors import AssayError, UsageError, kind_of

__all__ = ["inputs_of_words", "takes_texts", "vocabulary_in"]

_Rows = list[dict[str, Any]]


def _cell(value: Any) -> Any:
    value = value.item() if isinstance(value, np.generic) else value
    if isinstance(value, bool):
        return str(value)
    if not (value is None or isinstance(value, (str, int, float))):
        raise UsageError(f"a cell is {kind_of(value)}; words= takes texts and numbers, so convert the column with str")
    return None if isinstance(value, float) and not np.isfinite(value) else value


def _columns(parts: Mapping[str, Any], number: str = "{}") -> _Rows:
    """A row for each record of columns by name; columns of one array are called like it and numbered."""
    columns: dict[str, Any] = {}
    for name, part in parts.items():
        values = texts_of(column_of(part, name)) if is_column(part) else np.asarray(part, object)
        if getattr(values, "ndim", 1) == 2:
            wide = np.asarray(values, object)
            numbers = [""] if wide.shape[1] == 1 else [" " + number.format(i) for i in range(wide.shape[1])]
            columns.update({name + number: wide[:, i] for i, number in enumerate(numbers)})
        else:
            columns[name] = values
    lengths = {name: len(values) for name, values in columns.items()}
    if len(set(lengths.values())) != 1:
        raise UsageError(f"columns of texts have different lengths: {', '.join(f'{n} {k}' for n, k in lengths.items())}")
    return [dict(zip(columns, map(_cell, row))) for row in zip(*columns.values())]


def _rows(x: Any) -> _Rows:
    table = table_of(x)
    if table is not None:
        return _columns({str(name): table[name] for name in getattr(table, "column_names", table.columns)})
    one_cell = isinstance(x, Mapping) and any(isinstance(v, str) or not hasattr(v, "__len__") for v in x.values())
    if one_cell or not hasattr(x, "__getitem__"):
        raise UsageError("words= takes a list of texts, a dict of columns, a table or a list of dicts")
    if isinstance(x, Mapping):
        return _columns(x)
    if not is_column(x) and len(x) > 0 and isinstance(x[0], Mapping):
        names = list(dict.fromkeys(str(name) for row in x for name in row))
        return [{name: _cell(row.get(name)) for name in names} for row in x]
    return _columns({"x": x}, "{:06d}")  # in the order of their names


def takes_texts(network: Any) -> bool:
    """Whether a network that was read has texts as inputs, which are numbers of words then."""
    return any("takes texts, as whole numbers" in notice for notice in network.notices)


def vocabulary_in(text: str) -> str:
    """As descriptions of data and notices of networks name it; empty where they do not."""
    found = re.search(r"vocabulary [0-9a-f]{8}", text)
    return found.group() if found else ""


def inputs_of_words(x: Any, network: str | os.PathLike[str], length: int | None = None) -> tuple[dict[str, np.ndarray[Any, Any]], str]:
    """The inputs by name that records of texts are for a network, and its vocabulary: of lists of texts, columns, tables, dicts.
    ``length``: the words to which texts are cut and filled up."""
    rows = _rows(x)
    if not rows:
        raise UsageError("words= is for texts, and there are none")
    handle, path = tempfile.mkstemp(suffix=".jsonl")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
        spec = ['"' + text.replace('"', '""') + '"' for text in (path, os.fspath(network))]
        cut = "" if length is None else f",length={length}"
        records = _assay.open_data(f"{spec[0]},words={spec[1]}{cut}")
    except AssayError as error:
        raise type(error)(str(error).replace(path, "words=")) from None
    finally:
        os.unlink(path)
    return dict(records.read(list(range(records.size)))), vocabulary_in(records.description.replace(path, ""))
