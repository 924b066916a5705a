"""Tables: pandas, polars, and objects with Arrow. Columns become NumPy arrays, by their own to_numpy()."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ._arrays import Array
from ._progress import tell
from .errors import DataError, FileError, UsageError, kind_of

__all__ = [
    "Choice",
    "Column",
    "characteristics_of",
    "classes_of",
    "column_of",
    "columns_of",
    "indexes_of",
    "inputs_of",
    "is_apart",
    "is_column",
    "joined",
    "numbers_of",
    "read_parquet",
    "rows_of",
    "table_of",
    "taken",
    "targets_of",
    "texts_of",
]


@dataclass(frozen=True)
class Choice:
    """Which columns are what."""

    label: str | None = None
    target: str | Sequence[str] | None = None
    inputs: Sequence[str] | None = None
    meta: Sequence[str] = ()  # columns that are characteristics of the records

    def __bool__(self) -> bool:
        return self.label is not None or self.target is not None or self.inputs is not None

    @property
    def outputs(self) -> list[Any]:
        """Of the classes, or of the targets."""
        if self.label is not None:
            return [self.label]
        return [self.target] if isinstance(self.target, str) else list(self.target or [])

    @property
    def columns_of_meta(self) -> list[str]:
        """Names without what they say of ranges."""
        return [one.partition(":")[0] for one in self.meta]

    def inputs_among(self, names: Sequence[Any], indexes: Sequence[Any] = ()) -> list[Any]:
        """The names of the inputs, all of which are there once; columns that name the rows only where they are chosen."""
        others = [*self.outputs, *self.columns_of_meta]
        free = [name for name in names if name not in others and name not in indexes and not is_apart(name)]
        chosen = list(self.inputs) if self.inputs is not None else free
        for name in [*others, *chosen]:
            if name not in names:
                raise UsageError(f"the table has no column '{name}'; there are {', '.join(map(str, names))}")
            if list(names).count(name) > 1:
                raise UsageError(f"the table has several columns '{name}'")
        if not chosen:
            raise UsageError("the table has no column that is an input")
        return chosen


@dataclass(frozen=True)
class Column:
    """Values [n, ...] of one column, which of them are missing, and the order of ordered categories."""

    name: str
    values: Array
    missing: Array | None = None
    order: list[str] | None = None
    row: Callable[[int], Any] = field(default=lambda number: number)

    def refuse(self, wrong: Any, why: str, remedy: str) -> None:
        """Complains about the first row that is wrong, if one is."""
        rows = np.flatnonzero(wrong)
        if len(rows):
            row = int(rows[0])
            fault = "the value is missing" if wrong is self.missing else f"'{self.values[row]}' is {why}"
            raise DataError(f"column '{self.name}', row '{self.row(row)}': {fault}; {remedy}")


def joined(parts: list[Column]) -> Column:
    """One below the other; rows are counted from 0."""
    missing = np.concatenate([part.missing if part.missing is not None else np.zeros(len(part.values), bool) for part in parts])
    values = np.concatenate([part.values for part in parts])
    return Column(parts[0].name, values, missing if missing.any() else None)


def table_of(value: Any) -> Any:
    """A table whose columns have to_numpy(), or None for other objects."""
    if hasattr(value, "collect_schema") and hasattr(value, "collect"):
        value = value.collect()  # of polars, lazy
    if hasattr(value, "columns") and hasattr(value, "to_numpy"):
        return value
    speaks_arrow = hasattr(value, "__arrow_c_stream__") or hasattr(value, "__arrow_c_array__")
    if not speaks_arrow or not (hasattr(value, "schema") or hasattr(value, "columns")):
        return None
    try:
        import pyarrow
    except ImportError as error:
        raise UsageError(f"{kind_of(value)} is read by pyarrow; pip install pyarrow ({error})") from None
    return pyarrow.table(value)


def read_parquet(path: str | os.PathLike[str]) -> Any:
    """By pyarrow or polars, whichever is there."""
    path = os.fspath(path)
    if not os.path.exists(path):
        raise FileError(f"{path}: there is no such file")
    try:
        try:
            import pyarrow.parquet

            return pyarrow.parquet.read_table(path)
        except ImportError:
            import polars

            return polars.read_parquet(path)
    except ImportError as error:
        raise UsageError(f"{path}: parquet files are read by pyarrow or polars; pip install pyarrow ({error})") from None
    except Exception as error:  # of either library
        raise DataError(f"{path}: not a parquet file that can be read: {error}") from error


def is_column(value: Any) -> bool:
    """One column: a series of pandas or polars, an array of pyarrow."""
    return hasattr(value, "to_numpy") and not hasattr(value, "columns") and (hasattr(value, "isna") or hasattr(value, "is_null"))


def column_of(series: Any, name: str, row: Callable[[int], Any] | None = None) -> Column:
    """A column that knows its missing values by isna() or is_null()."""
    missing = _plain(series.isna() if hasattr(series, "isna") else series.is_null()).astype(bool)
    kind = getattr(series, "dtype", None)
    ordered = getattr(kind, "ordered", False) or type(kind).__name__ == "Enum"  # as polars calls it
    order = [str(category) for category in getattr(kind, "categories", [])] if ordered else None
    values = _plain(series)
    shape = getattr(getattr(series, "type", None), "shape", None)  # of tensors in Arrow, which are lists there
    column = Column(name, values, missing if missing.any() else None, order, row or (lambda number: number))
    return column if shape is None else Column(name, _stacked(column).reshape(-1, *shape), column.missing, None, column.row)


def _plain(series: Any) -> Array:
    if isinstance(series, np.ndarray):
        return series
    try:
        return np.asarray(series.to_numpy())
    except (TypeError, ValueError, NotImplementedError):  # an array of pyarrow that cannot do so without a copy
        return np.asarray(series.to_numpy(zero_copy_only=False))


def is_apart(name: Any) -> bool:
    """Whether another library calls a column so that tells where records come from: pandas an index that has no name,
    webdataset what it adds to the parts of a record."""
    return re.fullmatch(r"__(index_level_\d+|key|url|local_path)__", str(name)) is not None


def _told_indexes(table: Any) -> list[Any]:
    """What the metadata of a table in Arrow say of the index of pandas: names of columns, or ranges."""
    try:  # files may say anything
        told = (getattr(getattr(table, "schema", None), "pandas_metadata", None) or {}).get("index_columns")
        indexes = [range(one["start"], one["stop"], one["step"]) if isinstance(one, dict) else one for one in told or []]
        known = isinstance(told, list) and all(len(one) >= 0 for one in indexes)  # OverflowError where no table is as long
    except (AttributeError, KeyError, OverflowError, RecursionError, TypeError, ValueError):
        return []
    return indexes if known else []


def indexes_of(table: Any) -> list[str]:
    """The columns of a table in Arrow that were the index of pandas, as its metadata tell or their names."""
    if not hasattr(table, "column_names") and not hasattr(table, "get_column"):
        return []
    told = _told_indexes(table)
    return [name for name in columns_of(table) if name in told or is_apart(name)]


def columns_of(table: Any) -> list[Any]:
    """Their names."""
    return list(table.column_names if hasattr(table, "column_names") else table.columns)


def taken(table: Any, choice: Choice, class_names: list[str]) -> tuple[Any, Any, list[str], list[str]]:
    """Inputs, outputs, names of classes and of rows."""
    chosen = choice.inputs_among(columns_of(table), indexes_of(table))
    rows = rows_of(table)
    row = rows.__getitem__ if rows else None
    x = inputs_of(column_of(table[name], str(name), row) for name in chosen)
    y = None
    if choice.label is not None:
        y, class_names = classes_of(column_of(table[choice.label], str(choice.label), row), class_names)
    elif choice.outputs:
        y = targets_of(column_of(table[name], str(name), row) for name in choice.outputs)
    return x, y, class_names, rows


def rows_of(table: Any) -> list[str]:
    """Names of the rows, where the table has some."""
    if hasattr(table, "index"):
        return [", ".join(map(str, row)) if isinstance(row, tuple) else str(row) for row in table.index]
    levels = [texts_of(column_of(table[name], name)) for name in indexes_of(table)]
    for told in _told_indexes(table):
        if isinstance(told, range) and len(told) == len(table):
            levels.append(list(map(str, told)))
    return [", ".join(row) for row in zip(*levels)]


def characteristics_of(table: Any, meta: Sequence[str]) -> dict[str, list[str]]:
    """Texts by characteristic of columns of a table, whose names may say how numbers become ranges ("age:0|18|65")."""
    return {one: texts_of(column_of(table[one.partition(":")[0]], one)) for one in meta}


def texts_of(column: Column) -> list[str]:
    """Its values as texts, empty where they are missing; dates without hours that they do not name."""
    if column.values.dtype.kind == "M":
        return ["" if text == "NaT" else str(text) for text in np.datetime_as_string(column.values, unit="auto")]
    missing: Any = column.missing if column.missing is not None else [False] * len(column.values)
    return ["" if lacks else _text_of(value) for value, lacks in zip(column.values, missing)]


def _text_of(value: Any) -> str:
    if isinstance(value, bytes):
        return value.decode(errors="replace")
    if isinstance(value, (float, np.floating)):
        return "" if np.isnan(value) else repr(float(value)).removesuffix(".0")
    return "" if value is None else str(value)


def inputs_of(columns: Iterable[Column]) -> Any:
    """Columns of single numbers are one input, [n, columns] float32; where there are arrays among them, each is an input
    of its name."""
    named = {column.name: numbers_of(column) for column in columns}
    if all(values.ndim == 1 for values in named.values()):
        return np.stack([values.astype(np.float32, copy=False) for values in named.values()], 1)
    return next(iter(named.values())) if len(named) == 1 else named


def targets_of(columns: Iterable[Column]) -> Array:
    """Columns of numbers as regression targets, [n, columns] float32."""
    return np.concatenate([values.reshape(len(values), -1).astype(np.float32) for values in map(numbers_of, columns)], 1)


_choose = "turn the column into numbers, make it a characteristic with meta=, or name those that are inputs with inputs="


def numbers_of(column: Column) -> Array:
    """Its values as numbers: float32, or int64 of integers in lists, which are tokens."""
    first = column.values[0] if len(column.values) else None
    dated = hasattr(first, "isoformat")  # with a time zone, as an object
    if dated or column.values.dtype.kind in "mMc":  # NumPy would make nanoseconds of dates, and drop imaginary parts
        kind = type(first).__name__ if dated else column.values.dtype
        raise DataError(
            f"column '{column.name}' holds {kind}, not numbers; turn it into numbers (days since a date, the hour), or name "
            "the columns that are with inputs="
        )
    if column.missing is not None:
        column.refuse(column.missing, "not a number", f"drop the row, {_choose}")
    values = _stacked(column) if column.values.dtype.kind == "O" else column.values
    if values.ndim > 1 and values.dtype.kind in "iu" and values.dtype.itemsize > 1:
        return values.astype(np.int64, copy=False)  # tokens
    if values.ndim > 1 and values.dtype.kind in "iu":
        return values  # pictures, which somebody has to scale
    try:
        return values.astype(np.float32, copy=False)
    except (TypeError, ValueError) as error:
        column.refuse([not _is_number(value) for value in values], "not a number", f"drop the row, {_choose}")
        raise DataError(f"the column '{column.name}' holds no numbers: {error}") from error


def _is_number(value: Any) -> bool:
    try:
        np.array([value], object).astype(np.float32)
        return True
    except (TypeError, ValueError):
        return False


def _stacked(column: Column) -> Array:
    """Lists and arrays in the cells as one array; other cells as they are."""
    cells = column.values
    if not len(cells) or not (isinstance(cells[0], (list, tuple)) or np.ndim(cells[0])):
        return cells
    try:
        arrays = [_cell(cell) for cell in cells]
    except (TypeError, ValueError):
        raise DataError(f"column '{column.name}' contains lists that are not arrays of numbers; {_choose}") from None
    odd = [row for row, array in enumerate(arrays) if array.shape != arrays[0].shape]
    if odd:
        shapes = [f"of the shape {list(arrays[row].shape)}" for row in (odd[0], 0)]
        raise DataError(
            f"column '{column.name}', row '{column.row(odd[0])}': the list is {shapes[0]}, that of row '{column.row(0)}' "
            f"{shapes[1]}; pad or cut the lists to one length"
        )
    return np.stack(arrays)


def _cell(cell: Any) -> Array:
    values = np.asarray(cell)
    if values.dtype.kind == "O":
        return np.stack([_cell(part) for part in values]) if values.size and np.ndim(values[0]) else values.astype(np.float64)
    if values.dtype.kind not in "biuf":
        raise ValueError(values.dtype)
    return values


# Whole numbers from 0 are classes as they are; names are numbered in the order that is given, else in that of ordered
# categories, else the alphabet's.
def classes_of(column: Column, known: list[str]) -> tuple[Array, list[str]]:
    """Class numbers [n], and the names of all classes where there are any."""
    remedy = "drop such rows, or give them a class"
    if column.missing is not None:
        column.refuse(column.missing, "not a label", remedy)
    values = column.values
    if values.dtype.kind == "O" and all(isinstance(value, (int, float, np.number, np.bool_)) for value in values):
        values = np.array(values.tolist())
    if values.dtype.kind in "biuf":
        with np.errstate(invalid="ignore"):  # of infinities
            classes = values.astype(np.int64)
        column.refuse((classes < 0) | (classes != values), "not a class number", remedy)
        return classes, known
    texts = [value.decode(errors="replace") if isinstance(value, bytes) else str(value) for value in values]
    numbers = [_class_number(text) for text in texts]
    if None not in numbers:
        return np.array(numbers, np.int64), known
    names = known or column.order or _by_alphabet(texts)
    order = {text: number for number, text in enumerate(names)}
    column.refuse([text not in order for text in texts], "not one of class_names=", remedy)
    return np.array([order[text] for text in texts], np.int64), names


def _by_alphabet(texts: list[str]) -> list[str]:
    """The names, numbered by the alphabet where no order is given; tells how."""
    names = sorted(set(texts))
    shown = ", ".join(f"{number} is '{name}'" for number, name in enumerate(names[:5]))
    more = f" and {len(names) - 5} more" if len(names) > 5 else ""
    tell(f"labels in words are numbered in alphabetical order: {shown}{more}; class_names= gives another order")
    return names


def _class_number(text: str) -> int | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return int(number) if 0 <= number < 1e6 and number.is_integer() and "_" not in text else None
