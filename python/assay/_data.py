"""Data sets: arrays, tensors, iterables of batches, tables and specs as records that networks take."""

from __future__ import annotations

import operator
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Union

import numpy as np

from . import _assay
from .errors import DataError, UsageError

__all__ = ["Data", "data"]

Bounds = Union[float, Sequence[float]]


class Data:
    """Records with stable ids, read in batches. Made by :func:`data`; slices are data sets, too.

    Arrays that were given are held, not copied: do not change them while the data set is in use.
    """

    def __init__(self, records: Any) -> None:
        self._records = records

    def __len__(self) -> int:
        return int(self._records.size)

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of one record of the first input, channels first."""
        return tuple(self._records.shape)

    @property
    def inputs(self) -> dict[str, tuple[int, ...]]:
        """Shapes of one record by name of input; a single one is called ``x``."""
        return {name: tuple(shape) for name, shape in self._records.inputs}

    @property
    def dtype(self) -> str:
        """``float32``, or ``int64`` for tokens: how the network gets the first input."""
        return str(self._records.dtype)

    @property
    def class_names(self) -> list[str]:
        """One per class; empty without labels."""
        return list(self._records.class_names)

    @property
    def range(self) -> tuple[list[float], list[float]] | None:
        """Least and greatest valid value of input elements, one or one per channel."""
        return self._records.range  # type: ignore[no-any-return]

    @property
    def ids(self) -> list[str]:
        """Names of the records: of files, or their numbers."""
        return list(self._records.ids())

    @property
    def labels(self) -> np.ndarray[Any, Any]:
        """Classes [n] int64; empty without labels."""
        return self._records.labels()  # type: ignore[no-any-return]

    @property
    def hash(self) -> str:
        """Content hash of records, labels and targets, 32 hex digits. Reads everything once."""
        return str(self._records.hash())

    def read(self, positions: Iterable[int]) -> dict[str, np.ndarray[Any, Any]]:
        """Records at these positions: ``x`` (or each input by name), ``y`` and ``targets`` where there are any."""
        return dict(self._records.read(self._places(positions)))

    def select(self, positions: Iterable[int]) -> Data:
        """The records at these positions, in that order. Nothing is copied."""
        return Data(self._records.selected(self._places(positions)))

    def relabelled(self, labels: Iterable[int]) -> Data:
        """The same records with other labels, one class number each."""
        return Data(self._records.relabelled([_class(label) for label in labels]))

    def __copy__(self) -> Data:
        return Data(self._records)

    def __reduce_ex__(self, protocol: Any) -> Any:
        raise TypeError(
            "a data set is not copied or pickled, as it holds what it was made of; make it again there: "
            "assay.data(x, y), or of the spec of its file"
        )

    def _places(self, positions: Iterable[int]) -> list[int]:
        places = list(map(_place, positions))
        for place in places:
            if not 0 <= place < len(self):
                raise UsageError(f"there is no record at position {place}; they are 0 to {len(self) - 1}")
        return places

    def __add__(self, other: Data) -> Data:
        return Data(_assay.joined([self._records, other._records]))

    def __getitem__(self, part: slice | int) -> Any:
        """``data[:100]`` is a data set, ``data[3]`` what :meth:`read` gives of one record."""
        if not isinstance(part, slice):
            position = int(part)
            if position < 0:
                position += len(self)
            if not 0 <= position < len(self):
                raise IndexError(f"record {part} of {len(self)}")
            return {name: rows[0] for name, rows in self.read([position]).items()}
        positions = range(*part.indices(len(self)))
        if not positions:
            raise UsageError(f"[{part.start}:{part.stop}:{part.step}] leaves no records of {len(self)}")
        return self.select(positions)

    def batches(self, size: int = 256) -> Iterator[dict[str, np.ndarray[Any, Any]]]:
        """All records, ``size`` at a time."""
        for begin in range(0, len(self), size):
            yield self.read(range(begin, min(begin + size, len(self))))

    def __repr__(self) -> str:
        return f"<assay.Data {self._records.description}>"


def _place(value: Any) -> int:
    try:
        if not isinstance(value, (bool, np.bool_)):
            return operator.index(value)
    except TypeError:
        pass
    raise UsageError(f"{value} is no position; these are whole numbers, as np.flatnonzero() makes of a mask")


def _class(value: Any) -> int:
    try:
        number = int(value)
        if number == value:
            return number
    except (TypeError, ValueError, OverflowError):
        pass
    raise UsageError(f"{value!r} is no class number; give the position of its name in class_names")


def _is_frame(value: Any) -> bool:
    return hasattr(value, "columns") and hasattr(value, "to_numpy")


def _is_column_of_names(value: Any) -> bool:
    """A pandas column of categories or texts."""
    named = hasattr(value, "isna") and hasattr(value, "infer_objects") and hasattr(value, "dtype")
    return named and (hasattr(value, "cat") or getattr(value.dtype, "kind", "") == "O")


def _is_array(value: Any) -> bool:
    return isinstance(value, np.ndarray) or hasattr(value, "__dlpack__")


def _array(value: Any) -> Any:
    """A NumPy array or what speaks DLPack, without a copy."""
    if hasattr(value, "detach"):  # of torch: those that are part of a graph export nothing
        value = value.detach()
        if getattr(value, "is_conj", None) is not None and value.is_conj():
            raise UsageError("complex tensors are no records")
    if isinstance(value, np.ma.MaskedArray):
        masked: Any = value  # NumPy's own annotations of these come and go
        if masked.mask.any():
            raise UsageError("elements of a masked array are masked; fill them, x.filled(0), or leave their records out")
        value = masked.filled()  # of which nothing is filled
    if _is_array(value):
        return value
    if hasattr(value, "to_numpy"):
        return value.to_numpy()
    return np.asarray(value)


def _inputs(x: Any) -> list[tuple[str, Any]]:
    if isinstance(x, Mapping):
        if not x:
            raise UsageError("there are no inputs")
        return [(str(name), _array(value)) for name, value in x.items()]
    return [("x", _array(x))]


def _labels(y: Any) -> Any:
    if y is None:
        return None
    labels = _array(y)
    if str(getattr(labels, "dtype", "")).split(".")[-1] == "bool" or getattr(labels, "ndim", 1) >= 2:
        labels = _classes_of(np.asarray(_host(labels)))
        if labels.ndim >= 2 and labels.dtype.kind in "iu":  # of pixels, tokens, several labels
            labels = labels.astype(np.float32)
    if isinstance(labels, np.ndarray) and labels.dtype.kind in "iu" and labels.dtype != np.int64:
        labels = labels.astype(np.int64)
    return labels


def _classes_of(labels: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Whole numbers and truth values, [n] or [n, 1], and one-hot rows [n, classes] of any numbers, as classes [n];
    others as they are."""
    if labels.ndim == 2 and labels.shape[1] == 1 and labels.dtype.kind != "f":
        labels = labels[:, 0]
    elif labels.ndim == 2 and labels.shape[1] > 1 and labels.dtype.kind in "biuf":
        if ((labels == 0) | (labels == 1)).all() and (labels.sum(1) == 1).all():
            labels = labels.argmax(1)
    return labels.astype(np.int64) if labels.dtype.kind == "b" else labels


def _bounds(range: tuple[Bounds, Bounds] | None) -> tuple[list[float], list[float]] | None:
    if range is None:
        return None
    try:
        low, high = range
        return [float(v) for v in np.atleast_1d(low)], [float(v) for v in np.atleast_1d(high)]
    except (TypeError, ValueError):
        raise UsageError(
            f"range={range!r}: a range is (least, greatest), each one number or one for each channel, such as (0, 1)"
        ) from None


def _is_floating(values: Any) -> bool:
    return values is not None and (
        getattr(getattr(values, "dtype", None), "kind", "") == "f" or bool(getattr(values, "is_floating_point", bool)())
    )


class _Spool:
    """Arrays of batches, one after the other, in a file without a name; then as one array on it."""

    def __init__(self) -> None:
        import tempfile

        self.file = tempfile.TemporaryFile(prefix="assay-")
        self.shape: tuple[int, ...] | None = None
        self.dtype: np.dtype[Any] | None = None
        self.count = 0

    def add(self, name: str, values: Any) -> int:
        rows = np.asarray(values)
        if rows.ndim == 0:
            raise UsageError(f"'{name}' of a batch is a single number; records along the first axis are needed")
        rows = np.ascontiguousarray(rows)
        if rows.dtype.kind == "f":
            rows = rows.astype(np.float32, copy=False)
        if self.shape is None:
            self.shape, self.dtype = rows.shape[1:], rows.dtype
        if rows.shape[1:] != self.shape or rows.dtype != self.dtype:
            raise UsageError(
                f"'{name}' of a batch holds records of {list(rows.shape[1:])} {rows.dtype}, those before were "
                f"{list(self.shape)} {self.dtype}"
            )
        rows.tofile(self.file) if os.name != "nt" else self.file.write(rows.tobytes())
        self.count += len(rows)
        return len(rows)

    def array(self) -> np.ndarray[Any, Any]:
        self.file.flush()
        assert self.shape is not None and self.dtype is not None
        if self.count == 0 or 0 in self.shape:
            return np.zeros((self.count, *self.shape), self.dtype)
        return np.memmap(self.file, self.dtype, mode="r", shape=(self.count, *self.shape))


def _host(value: Any) -> Any:
    if not hasattr(value, "detach"):
        return value
    value = value.detach()
    if str(value.dtype) == "torch.bfloat16":  # NumPy has no such numbers
        value = value.float()
    try:
        return value.cpu().numpy()
    except (RuntimeError, TypeError) as error:
        raise UsageError(f"a tensor of a batch cannot be taken as an array: {error}") from error


def _spooled(batches: Iterable[Any]) -> tuple[Any, Any]:
    """Reads batches once, to a file: records can then be read in any order, several times, without memory."""
    inputs: dict[str, _Spool] = {}
    outputs: _Spool | None = None
    for batch in batches:
        x, y = batch if isinstance(batch, (tuple, list)) and len(batch) == 2 else (batch, None)
        if isinstance(x, (tuple, list)):
            raise UsageError("a batch is x, (x, y), {name: x} or ({name: x}, y)")
        named = x if isinstance(x, Mapping) else {"x": x}
        if inputs and set(named) != set(inputs):
            raise UsageError(f"a batch has the inputs {sorted(named)}, those before had {sorted(inputs)}")
        sizes = {inputs.setdefault(str(name), _Spool()).add(str(name), _host(rows)) for name, rows in named.items()}
        if y is not None:
            if outputs is None:
                outputs = _Spool()
            sizes.add(outputs.add("y", _host(y)))
        elif outputs is not None:
            raise UsageError("a batch has no labels, those before had some")
        if len(sizes) != 1:
            raise UsageError(f"the inputs and labels of a batch differ in their numbers of records: {sorted(sizes)}")
    if not inputs:
        raise UsageError("the iterable gave no batch (was it used up?)")
    arrays = {name: spool.array() for name, spool in inputs.items()}
    first = next(iter(arrays.values()))
    if outputs is not None and outputs.count != len(first):
        raise UsageError(f"{outputs.count} labels for {len(first)} records")
    return (first if list(arrays) == ["x"] else arrays), None if outputs is None else outputs.array()


def _frame(
    table: Any,
    label: str | None,
    target: str | Sequence[str] | None,
    inputs: Sequence[str] | None,
    class_names: list[str],
) -> Any:
    taken = [label] if label is not None else []
    taken += [target] if isinstance(target, str) else list(target or [])
    missing = [name for name in [*taken, *(inputs or [])] if name not in table.columns]
    if missing:
        raise UsageError(f"the table has no column '{missing[0]}'; there are {', '.join(map(str, table.columns))}")
    chosen = list(inputs) if inputs is not None else [name for name in table.columns if name not in taken]
    twice = table.columns[table.columns.duplicated()]
    several = [name for name in [*taken, *chosen] if name in twice]
    if several:
        raise UsageError(f"the table has several columns '{several[0]}'")
    y, names = None, class_names
    if label is not None:
        y, names = _classes(table[label], label, class_names)
    elif target is not None:
        y = _numbers(table, taken)
    return _numbers(table, chosen), y, names, [str(i) for i in table.index]


def _numbers(table: Any, columns: Sequence[str]) -> Any:
    def refuse(name: str, row: Any, value: Any) -> None:
        raise DataError(
            f"column '{name}', row '{row}': '{value}' is no number; drop the row, turn the column into numbers, or "
            "name those that are with inputs="
        ) from None

    for name in columns:  # from 2.2 on pandas makes NaN of what is missing among whole numbers
        column = table[name]
        if column.dtype.kind in "mMc":  # NumPy would make nanoseconds of dates, and drop imaginary parts
            raise DataError(
                f"column '{name}' holds {column.dtype}, not numbers; turn it into numbers (days since a date, the hour), "
                "or name the columns that are with inputs="
            )
        if column.dtype.kind != "f" and column.isna().any():
            row = int(np.flatnonzero(column.isna().to_numpy())[0])
            refuse(name, table.index[row], column.iloc[row])
    try:
        return np.ascontiguousarray(table[columns].to_numpy(dtype=np.float32))
    except (TypeError, ValueError) as error:
        for name in columns:
            for row, value in table[name].items():
                try:
                    np.array([value], object).astype(np.float32)
                except (TypeError, ValueError):
                    refuse(name, row, value)
        raise DataError(f"the columns {', '.join(map(str, columns))} are no numbers: {error}") from error


# Whole numbers from 0 are classes as they are; names are numbered in the order that is given, else in that of ordered
# categories, else the alphabet's.
def _classes(column: Any, name: str, known: list[str]) -> tuple[Any, list[str]]:
    def refuse(wrong: Any, why: str) -> None:
        rows = np.flatnonzero(wrong)
        if len(rows):
            row = int(rows[0])
            raise DataError(
                f"column '{name}', row '{column.index[row]}': '{column.iloc[row]}' is {why}; drop such rows, or give "
                "them a class"
            )

    refuse(column.isna().to_numpy(), "no label")
    values = column.astype(column.cat.categories.dtype) if hasattr(column, "cat") else column
    values = values.infer_objects()
    if values.dtype.kind in "biuf":
        numbers = values.to_numpy(dtype=np.float64 if values.dtype.kind == "f" else np.int64)
        with np.errstate(invalid="ignore"):  # of infinities
            classes = numbers.astype(np.int64)
        refuse((classes < 0) | (classes != numbers), "no class number")
        return classes, known
    texts = [str(value) for value in values]
    numbers = [_class_number(text) for text in texts]
    if None not in numbers:
        return np.array(numbers, np.int64), known
    ordered = hasattr(column, "cat") and column.cat.ordered
    names = known or ([str(category) for category in column.cat.categories] if ordered else sorted(set(texts)))
    order = {text: number for number, text in enumerate(names)}
    refuse([text not in order for text in texts], "none of class_names=")
    return np.array([order[text] for text in texts], np.int64), names


def _class_number(text: str) -> int | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return int(number) if 0 <= number < 1e6 and number.is_integer() and "_" not in text else None


def data(
    x: Any,
    y: Any = None,
    *,
    targets: Any = None,
    ids: Sequence[str] | None = None,
    class_names: Sequence[str] | None = None,
    range: tuple[Bounds, Bounds] | None = None,
    name: str = "records",
    label: str | None = None,
    target: str | Sequence[str] | None = None,
    inputs: Sequence[str] | None = None,
) -> Data:
    """A data set.

    Parameters
    ----------
    x
        Records along the first axis, as the network takes them: a NumPy array or torch tensor (or whatever speaks
        DLPack) of floating-point numbers, or int64 tokens, held without a copy; a dict of these by name of input; an
        iterable of batches ``x``, ``(x, y)`` or ``({name: x}, y)`` such as a torch DataLoader, read once into a
        temporary file, so that memory stays free; a pandas table with ``label`` or ``target``; or a spec
        (docs/data.md): ``"test.npz,range=0:1[:500]"``.
    y
        Classes [n], whole numbers (or [n, 1], truth values, one-hot rows [n, classes] of any numbers, a pandas column of
        names); or floating-point regression targets [n] or [n, t]; or labels of the items of a record, [n, ...] of any
        numbers, such as masks [n, height, width] (docs/tasks.md).
    targets
        Regression targets, [n] or [n, t], where ``y`` are classes as well.
    ids
        A name for each record; the numbers from 0 if none.
    class_names
        Names of all classes. Those of a column of names are numbered in this order; by default ordered
        categories are in their order, other names in that of the alphabet.
    range
        Least and greatest valid value of an element of ``x``, numbers or one each per channel. Attacks and searches
        need it.
    label, target, inputs
        Columns of a table: the classes, the regression targets, the inputs (default: all others).

    Raises
    ------
    UsageError
        For element types and shapes that are no records; convert uint8 pictures, ``x / np.float32(255)``.
    MismatchError
        For numbers of labels or ids that differ from that of the records.
    DataError
        When a record with a NaN or infinity is read, naming it; for rows of a table without a label, or with a text
        among the inputs.
    """
    if isinstance(x, Data):
        if y is not None:
            raise UsageError("the data set has its labels; relabelled() gives it others")
        return x
    if isinstance(x, (str, os.PathLike)):
        if y is not None or targets is not None or range is not None:
            raise UsageError("a spec says where labels and range are: 'x.npy,labels=y.npy,range=0:1' (docs/data.md)")
        return Data(_assay.open_data(os.fspath(x)))
    names = list(class_names or [])
    labels = list(map(str, ids)) if ids is not None else []
    if _is_frame(x):
        if y is not None:
            raise UsageError("name the column with label= or target=, or give arrays")
        x, y, names, rows = _frame(x, label, target, inputs, names)
        labels = labels or rows
    elif label is not None or target is not None or inputs is not None:
        raise UsageError("label=, target= and inputs= name columns of a pandas table")
    elif _is_column_of_names(y):
        y, names = _classes(y, str(y.name), names)
    elif not isinstance(x, Mapping) and not _is_array(x):
        if not isinstance(x, (list, tuple)) and isinstance(x, Iterable):
            if y is not None:
                raise UsageError("batches bring their labels: (x, y)")
            x, y = _spooled(x)
        else:
            raise UsageError(f"a {type(x).__name__} is no array; np.asarray() makes one of lists")
    y = _labels(y)
    if _is_floating(y):
        if targets is not None:
            raise UsageError("y are classes where targets= are given; these are floating-point numbers")
        y, targets = None, y
    return Data(
        _assay.records_of(
            _inputs(x), y, None if targets is None else _array(targets), labels, names, _bounds(range), name
        )
    )
