"""Data sets: arrays, tensors, iterables of batches, tables and specs as records that networks take."""

from __future__ import annotations

import operator
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Union

import numpy as np

from . import _assay
from ._arrays import Array, array_of, host, is_array, refused
from ._batches import batches_of, choice_of, is_pictured, is_table_of_hugging_face, names_in, names_of, spooled
from ._forms import Layout, Preparation
from ._tables import (
    Choice,
    Column,
    characteristics_of,
    classes_of,
    column_of,
    columns_of,
    indexes_of,
    is_apart,
    is_column,
    numbers_of,
    read_parquet,
    rows_of,
    table_of,
    taken,
    targets_of,
    texts_of,
)
from ._tokenizer import TokenizerLike, inputs_of_texts
from ._words import inputs_of_words
from .errors import DataError, UsageError

__all__ = ["Data", "data"]

Bounds = Union[float, Sequence[float]]
Meta = Union[Mapping[str, Any], Sequence[str], None]


class Data:
    """Records with stable ids, read in batches. Made by :func:`data`; slices are data sets as well.

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
    def characteristics(self) -> dict[str, list[str]]:
        """What metadata columns say of each record, by name; empty texts where that is not known."""
        return dict(self._records.characteristics())

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

    def characterised(self, meta: Mapping[str, Any] | Sequence[str]) -> Data:
        """The same records with these characteristics, ``{name: a value for each record}``, as ``meta=`` of :func:`data`."""
        if not isinstance(meta, Mapping):
            raise UsageError("meta= is {name: a value for each record}; names alone are of columns of a table")
        columns = [(str(name), _characteristic(values, str(name))) for name, values in meta.items()]
        return Data(self._records.characterised(columns))

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
    raise UsageError(f"{value} is not a position; positions are whole numbers, as np.flatnonzero() makes of a mask")


def _class(value: Any) -> int:
    try:
        number = int(value)
        if number == value:
            return number
    except (TypeError, ValueError, OverflowError):
        pass
    raise UsageError(f"{value!r} is not a class number; give the position of its name in class_names")


def _characteristic(values: Any, name: str) -> list[str]:
    if is_column(values):
        return texts_of(column_of(values, name))
    values = host(values, name) if hasattr(values, "detach") else values
    if isinstance(values, np.ndarray):
        if values.ndim != 1:
            raise UsageError(f"'{name}' has {values.ndim} axes; a characteristic is one value for each record")
        if values.dtype.kind == "M":
            return texts_of(Column(name, values))
        values = values.tolist()
    return texts_of(Column(name, np.array(list(values), object)))


def _inputs(x: Any) -> dict[str, Any]:
    if not isinstance(x, Mapping):
        return {"x": array_of(x)}
    if not x:
        raise UsageError("there are no inputs")
    columns = {str(name): numbers_of(column_of(part, str(name))) if is_column(part) else part for name, part in x.items()}
    return {name: array_of(part, f"'{name}'") for name, part in columns.items()}


def _labels(y: Any) -> Any:
    if y is None:
        return None
    labels = host(y, "y")
    if labels.ndim == 2 or labels.dtype.kind == "b":
        labels = _classes(labels)
    if labels.dtype.kind == "u" and labels.size and int(labels.max()) > np.iinfo(np.int64).max:
        raise DataError(f"the labels: {labels.max()} is more than an int64 holds; classes are smaller numbers")
    if labels.ndim >= 2 and labels.dtype.kind in "iu":  # of pixels, tokens, several labels
        return labels.astype(np.float32)
    return labels.astype(np.int64) if labels.dtype.kind in "iu" and labels.dtype != np.int64 else labels


def _classes(labels: Array) -> Array:
    """Integers and truth values, [n] or [n, 1], and one-hot rows [n, classes] of any numbers, as classes [n];
    others as they are."""
    if labels.ndim == 2 and labels.shape[1] == 1 and labels.dtype.kind != "f":
        labels = labels[:, 0]
    elif labels.ndim == 2 and labels.shape[1] > 1 and labels.dtype.kind in "biuf":
        if ((labels == 0) | (labels == 1)).all() and (labels.sum(1) == 1).all():
            labels = labels.argmax(1)
    return labels.astype(np.int64) if labels.dtype.kind == "b" else labels


def _column_of_outputs(y: Any, names: list[str]) -> tuple[Any, list[str]]:
    """Floating-point numbers are targets; integers, truth values and names are classes."""
    column = column_of(y, str(getattr(y, "name", None) or "y"))
    if column.values.dtype.kind == "f" and column.missing is None:
        return column.values, names
    return classes_of(column, names)


def _is_names(y: Any) -> bool:
    """An array or a list of one name for each record."""
    if isinstance(y, list):
        return bool(y) and all(isinstance(name, str) for name in y)
    if not isinstance(y, np.ndarray) or y.ndim != 1:
        return False
    return y.dtype.kind in "UT" or (y.dtype.kind == "O" and y.size > 0 and all(isinstance(name, str) for name in y))


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


_no_parts_of_meta = (
    "names in meta= are of columns of a table, or of parts of dicts {name: x}; of other records give {name: a value for each}"
)


@dataclass
class _Taken:
    """The arguments, sorted by meaning."""

    x: Any
    y: Any
    class_names: list[str]
    rows: list[str] = field(default_factory=list)
    prepared: bool = False
    meta: dict[str, list[str]] = field(default_factory=dict)


def _taken(x: Any, y: Any, choice: Choice, names: list[str], prepare: Any) -> _Taken:
    if is_column(y):
        y, names = _column_of_outputs(y, names)
    elif _is_names(y):
        y, names = classes_of(Column("y", np.asarray(y)), names)
    table = table_of(x)
    if table is not None:
        if y is not None and choice.outputs:
            raise UsageError("the classes or targets are either a column, label= or target=, or y")
        x, column, names, rows = taken(table, choice, names)
        return _Taken(x, column if y is None else y, names, rows, meta=characteristics_of(table, choice.meta))
    if is_column(x):
        x = numbers_of(column_of(x, "x"))
    if not isinstance(x, Mapping) and not is_array(x):
        return _from_batches(x, y, choice, names, prepare)
    if isinstance(x, Mapping):
        _refuse_several(x)
    if choice or choice.meta:
        return _parts(x, y, choice, names)
    return _Taken(_inputs_of_dict(x) if isinstance(x, Mapping) else x, y, names)


def _refuse_several(x: Mapping[Any, Any]) -> None:
    for name, part in x.items():
        if is_table_of_hugging_face(part):
            raise UsageError(f"x holds several data sets, {', '.join(map(str, x))}; give one of them: x['{name}']")


def _inputs_of_dict(x: Mapping[Any, Any]) -> Mapping[Any, Any]:
    """Without what another library adds to the parts of a record."""
    inputs = {name: part for name, part in x.items() if not is_apart(name)}
    if x and not inputs:
        raise UsageError("x has no part that is an input")
    return inputs


def _parts(x: Any, y: Any, choice: Choice, names: list[str]) -> _Taken:
    """A dict of arrays as a table."""
    if not isinstance(x, Mapping):
        raise UsageError(_no_parts_of_meta if choice.meta else "label=, target= and inputs= name columns of a table, or parts of dicts {name: x}")
    if y is not None and choice.outputs:
        raise UsageError("the classes or targets are either a part of the dict, label= or target=, or y")
    inputs = {name: x[name] for name in choice.inputs_among(list(x))}
    outputs = [Column(str(name), np.asarray(x[name])) for name in choice.outputs]
    if choice.label is not None:
        y, names = classes_of(outputs[0], names)
    elif outputs:
        y = targets_of(outputs)
    meta = {one: _characteristic(x[column], one) for one, column in zip(choice.meta, choice.columns_of_meta)}
    return _Taken(inputs if len(inputs) > 1 else next(iter(inputs.values())), y, names, meta=meta)


def _from_batches(x: Any, y: Any, choice: Choice, names: list[str], prepare: Preparation) -> _Taken:
    batches = batches_of(x)
    if batches is None:
        raise refused(x, "x")
    if y is not None:
        raise UsageError("batches bring their labels: (x, y)")
    choice = choice_of(x, choice)
    names = names or names_of(x, choice.label)
    read, y, names, meta = spooled(batches, choice, names, prepare, is_pictured(x, choice), lambda column: names_in(x, column))
    return _Taken(read, y, names, prepared=True, meta=meta)


@dataclass(frozen=True)
class _Worded:
    """Records whose texts are words."""

    x: Any
    vocabulary: str
    y: Any
    class_names: list[str]
    meta: dict[str, list[str]]
    rows: list[str] | None


def _worded(x: Any, y: Any, words: Any, choice: Choice, names: list[str]) -> _Worded:
    table = table_of(x)
    if table is None:
        if choice or choice.meta:
            raise UsageError("label=, target=, inputs= and names in meta= are of columns of a table")
        inputs, vocabulary = inputs_of_words(x, words)
        return _Worded(_single(inputs), vocabulary, y, names, {}, (rows_of(x) or None) if is_column(x) else None)
    chosen = choice.inputs_among(columns_of(table), indexes_of(table))
    if y is not None and choice.outputs:
        raise UsageError("the classes or targets are either a column, label= or target=, or y")
    rows = rows_of(table)
    row = rows.__getitem__ if rows else None
    if choice.label is not None:
        y, names = classes_of(column_of(table[choice.label], str(choice.label), row), names)
    elif choice.outputs:
        y = targets_of(column_of(table[name], str(name), row) for name in choice.outputs)
    inputs, vocabulary = inputs_of_words({str(name): table[name] for name in chosen}, words)
    return _Worded(_single(inputs), vocabulary, y, names, characteristics_of(table, choice.meta), rows or None)


def _single(inputs: dict[str, Any]) -> Any:
    return next(iter(inputs.values())) if len(inputs) == 1 else inputs


def _names_of_meta(meta: Meta) -> tuple[str, ...]:
    return (meta,) if isinstance(meta, str) else tuple(map(str, meta or ()))


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
    scale: float | None = None,
    layout: Layout = None,
    meta: Meta = None,
    tokenizer: TokenizerLike | None = None,
    words: str | os.PathLike[str] | None = None,
) -> Data:
    """A data set.

    Parameters
    ----------
    x
        Records along the first axis, as the network takes them: an array of NumPy or JAX, a tensor of torch or
        TensorFlow (or any object with DLPack) of floating-point numbers, or int64 tokens, held without a copy, or of
        8-bit pictures (uint8), which become float32 from 0 to 1; a dict of these by name of input; an iterable of batches ``x``, ``(x, y)``, ``((x0, x1), y)``, ``({name: x}, y)`` or
        single records with a class each, such as a DataLoader, a torch Dataset, tf.data or a data set of Hugging Face,
        read once into a temporary file, so that memory stays free; a table of pandas, polars or Arrow, or the name of
        a ``.parquet`` file; or a spec (docs/data.md): ``"test.npz,range=0:1[:500]"``.
    y
        Classes [n], integers (or [n, 1], truth values, one-hot rows [n, classes] of any numbers, names [n] or a column of
        them); or floating-point regression targets [n] or [n, t]; or labels of the items of a record, [n, ...] of any
        numbers, such as masks [n, height, width] (docs/tasks.md).
    targets
        Regression targets, [n] or [n, t], where ``y`` are classes as well.
    ids
        A name for each record; the numbers from 0 if none.
    class_names
        Names of all classes. Labels that are names are numbered in this order; by default ordered
        categories are in their order, other names in that of the alphabet.
    range
        Least and greatest valid value of an element of ``x``, numbers or one each per channel. Attacks and searches
        need it; 8-bit pictures have one.
    label, target, inputs
        Columns of a table, or parts of batches that are dicts: the classes, the regression targets, the inputs
        (default: all others).
    scale
        A factor for every element of the inputs, which become float32. Without it 8-bit pictures (uint8) are multiplied
        by 1/255, but for a network that takes such numbers itself, and ``scale=1`` leaves them from 0 to 255.
    meta
        Characteristics of the records (docs/characteristics.md), by which results have figures of groups: columns of a
        table or of a data set of Hugging Face, or parts of dicts and of batches that are dicts, by name; or ``{name: a value for each record}`` for any records, also those of a spec. A name may say how
        numbers become ranges, ``"age:0|18|65"``, ``"age:quartiles"``, or many values groups, ``"article:groups"``. None and NaN are not known.
    layout
        ``"nhwc"``: channels are last in ``x``, as TensorFlow and Keras have them; they are looked at as channels first.

    tokenizer
        ``x`` is a list of texts, and this makes tokens of them: a ``tokenizer.json`` or its folder, an
        :class:`assay.Tokenizer`, a tokenizer of ``transformers``, or a function of a list of texts (docs/text.md).
    words
        The file of a network that takes texts, as scikit-learn's exporter writes it: ``x`` is a list of texts, a dict of
        columns, a table or a list of dicts, and texts become numbers of the words that the network knows (docs/data.md).

    Raises
    ------
    UsageError
        For element types and shapes that are not records.
    MismatchError
        For numbers of labels or ids that differ from that of the records.
    DataError
        When a record with a NaN or infinity is read, naming it; for rows of a table without a label, or with a text
        among the inputs.
    """
    if isinstance(x, Data):
        if y is not None:
            raise UsageError("the data set has its labels; relabelled() gives it others")
        return x.characterised(meta) if meta is not None else x
    if isinstance(meta, Mapping):
        whole = data(
            x, y, targets=targets, ids=ids, class_names=class_names, range=range, name=name, label=label, target=target,
            inputs=inputs, scale=scale, layout=layout, tokenizer=tokenizer, words=words,
        )
        return whole.characterised(meta)
    if words is not None:
        if isinstance(x, (str, os.PathLike)) or tokenizer is not None or scale is not None or layout is not None:
            raise UsageError("words= is for records of texts in memory, without tokenizer=, scale= and layout=; a spec says words= itself")
        made = _worded(x, y, words, Choice(label, target, inputs, _names_of_meta(meta)), list(class_names or []))
        return data(
            made.x, made.y, targets=targets, ids=made.rows if ids is None else ids, class_names=made.class_names, range=range,
            name=f"{name}, {made.vocabulary}", meta=made.meta or None,
        )  # fmt: skip
    if tokenizer is not None:
        x = inputs_of_texts(x, tokenizer)
    choice = Choice(label, target, inputs, _names_of_meta(meta))
    if isinstance(x, (str, os.PathLike)) and os.fspath(x).endswith(".parquet"):
        x = read_parquet(x)
    if isinstance(x, (str, os.PathLike)):
        if meta is not None:
            raise UsageError("a spec names its columns itself: 'test.csv,label=y,meta=weather' (docs/data.md)")
        if y is not None or targets is not None or range is not None or scale is not None or isinstance(layout, str) or choice:
            raise UsageError("a spec says it all: 'x.npy,labels=y.npy,range=0:1,layout=nhwc' (docs/data.md)")
        return Data(_assay.open_data(os.fspath(x)))
    if isinstance(y, str):
        raise UsageError(f"y: '{y}' is a text, not labels; label='{y}' names a column of a table or a part of batches")
    prepare = Preparation(scale, layout)
    given = _taken(x, y, choice, list(class_names or []), prepare)
    arrays = _inputs(given.x)
    if not given.prepared:
        arrays = prepare(arrays)
    y = _labels(given.y)
    if y is not None and y.dtype.kind == "f":
        if targets is not None:
            raise UsageError("y are classes where targets= are given; these are floating-point numbers")
        y, targets = None, y
    records = Data(
        _assay.records_of(
            list(arrays.items()),
            y,
            None if targets is None else host(targets, "targets"),
            list(map(str, ids)) if ids is not None else given.rows,
            given.class_names,
            _bounds(range or prepare.range),
            name,
        )
    )
    return records.characterised(given.meta) if given.meta else records
