"""Batches of any library, read once into a temporary file: DataLoaders, tf.data, data sets of Hugging Face, generators."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ._arrays import Array, host
from ._forms import Preparation
from ._tables import Choice, Column, classes_of, inputs_of, is_apart, joined, targets_of, texts_of
from .errors import UsageError

__all__ = ["batches_of", "choice_of", "is_pictured", "is_table_of_hugging_face", "names_in", "names_of", "spooled"]

Names = Callable[[str], list[str]]  # of the classes that the numbers in a column stand for, where they are known


@dataclass(frozen=True)
class _One:
    """A record of a data set that gives one at a time."""

    record: Any


class _Spool:
    """Arrays of batches, one after the other, in a file without a name; then as one array on it."""

    def __init__(self) -> None:
        import tempfile

        self.file = tempfile.TemporaryFile(prefix="assay-")
        self.shape: tuple[int, ...] | None = None
        self.dtype: np.dtype[Any] | None = None
        self.count = 0

    def add(self, name: str, rows: Array) -> int:
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
                f"{list(self.shape)} {self.dtype}; bring them to one shape and type"
            )
        self.file.write(rows.tobytes())
        self.count += len(rows)
        return len(rows)

    def close(self) -> None:
        self.file.close()

    def array(self) -> Array:
        assert self.shape is not None and self.dtype is not None
        with self.file:  # what is mapped stays
            self.file.flush()
            if self.count == 0 or 0 in self.shape:
                return np.zeros((self.count, *self.shape), self.dtype)
            return np.memmap(self.file, self.dtype, mode="r", shape=(self.count, *self.shape))


def batches_of(value: Any) -> Iterable[Any] | None:
    """An iterable of batches or records, or None for other objects."""
    if is_table_of_hugging_face(value):
        formatted = value if _has_transform(value) else value.with_format("numpy")
        batches: Iterable[Any] = formatted.iter(batch_size=256)
        return batches
    if _is_of_torch(value) and not isinstance(value, sys.modules["torch"].utils.data.IterableDataset):
        return (_One(value[at]) for at in range(len(value)))
    if isinstance(value, (list, tuple, str, bytes)) or hasattr(value, "toarray"):
        return None
    return value if isinstance(value, Iterable) else None


def _is_of_torch(value: Any) -> bool:
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(value, torch.utils.data.Dataset)


def is_table_of_hugging_face(value: Any) -> bool:
    return hasattr(value, "features") and hasattr(value, "with_format") and hasattr(value, "iter")


def _has_transform(value: Any) -> bool:
    """If so, the transform defines the records."""
    return getattr(value, "format", None) is not None and value.format["type"] == "custom"


def choice_of(value: Any, choice: Choice) -> Choice:
    """The chosen columns; of a data set of Hugging Face all columns are inputs if none are chosen."""
    if choice or not is_table_of_hugging_face(value) or not value.column_names:
        return choice
    return replace(choice, inputs=choice.inputs_among(value.column_names))


def names_of(value: Any, label: str | None) -> list[str]:
    """Names of the classes, if a data set of Hugging Face or torchvision knows them."""
    if is_table_of_hugging_face(value):
        return names_in(value, label)
    utils = sys.modules["torch"].utils.data if "torch" in sys.modules else None
    while utils is not None and isinstance(value, (utils.DataLoader, utils.Subset)) and not hasattr(value, "classes"):
        value = value.dataset  # others may number the classes anew
    classes = getattr(value, "classes", None) if _is_of_torch(value) else None
    renumbered = getattr(value, "target_transform", None) is not None
    if renumbered or not isinstance(classes, (list, tuple)) or not all(isinstance(name, str) for name in classes):
        return []
    return list(classes)


def names_in(value: Any, column: str | None) -> list[str]:
    """Names that the numbers in a column of a data set of Hugging Face stand for."""
    features = getattr(value, "features", None) if is_table_of_hugging_face(value) else None
    return list(getattr((features or {}).get(column), "names", None) or [])


def is_pictured(value: Any, choice: Choice) -> bool:
    """Whether the inputs are pictures as Hugging Face decodes them: bytes, channels last."""
    if not is_table_of_hugging_face(value) or _has_transform(value) or not value.features:
        return False
    return all(type(value.features.get(name)).__name__ == "Image" for name in choice.inputs_among(list(value.features)))


def _is_picture(value: Any) -> bool:
    """As Pillow decodes it, and torchvision gives it without a transform."""
    if type(value).__module__.partition(".")[0] != "PIL":
        return False
    if value.mode not in ("L", "RGB", "RGBA"):
        raise UsageError(f"a record is a picture of the mode '{value.mode}'; make it .convert('RGB') or 'L'")
    return True


def _are_pictures(record: Any, choice: Choice) -> bool:
    """All inputs of one record. Raises UsageError where some are and others are not."""
    if isinstance(record, Mapping):
        parts = [record[name] for name in choice.inputs_among(list(record)) if name not in choice.columns_of_meta]
    else:
        x = record[0] if isinstance(record, (tuple, list)) and record else record
        parts = list(x.values()) if isinstance(x, Mapping) else list(x) if isinstance(x, (tuple, list)) else [x]
    found = [_is_picture(part) for part in parts]
    if any(found) and not (all(found) and len(found) == 1):
        raise UsageError("pictures of Pillow stand beside other inputs; make arrays of all of them (numpy.asarray(picture), channels first)")
    return any(found)


def _record(value: Any) -> Any:
    """One record as a batch of one."""
    if isinstance(value, Mapping):
        return {name: _record(part) for name, part in value.items()}
    if isinstance(value, (tuple, list)):
        return tuple(_record(part) for part in value)
    return np.array([value]) if isinstance(value, (str, bytes)) else host(value, "a record")[None]


def _is_single(value: Any) -> bool:
    return isinstance(value, (int, float, str, bytes, np.generic)) or getattr(value, "shape", None) == ()


def _without_apart(x: Any) -> Any:
    """Inputs without what another library adds to them."""
    if not isinstance(x, Mapping) or not any(map(is_apart, x)):
        return x
    alone = any(_is_single(part) for name, part in x.items() if is_apart(name))
    inputs = {name: part for name, part in x.items() if not is_apart(name)}
    return _record(inputs) if alone else inputs


class _Reading:
    """Batches as they come: inputs to files, what a table calls labels and characteristics to memory."""

    def __init__(self, choice: Choice, prepare: Preparation, pictured: bool, names: Names) -> None:
        self.choice, self.prepare, self.pictured, self.names = choice, prepare, pictured, names
        self.inputs: dict[str, _Spool] = {}
        self.outputs: _Spool | None = None
        self.columns: list[Column] = []
        self.characteristics: dict[str, list[str]] = {name: [] for name in choice.meta}
        self.count = 0  # of records so far

    def add(self, batch: Any) -> None:
        record = batch.record if isinstance(batch, _One) else batch
        decoded = _are_pictures(record, self.choice)
        if decoded and record is batch and not (isinstance(batch, (tuple, list)) and len(batch) > 1):
            batch = _One(batch)  # a picture without a label is one record, too
        prepare: Callable[[dict[str, Any]], dict[str, Any]] = self.prepare
        if self.pictured or decoded:
            prepare = self.prepare.pictures
        x, y = self._parts(batch)
        if isinstance(x, (tuple, list)):
            x = {f"x{number}": part for number, part in enumerate(x)} if len(x) > 1 else x[0]
        named = x if isinstance(x, Mapping) else {"x": x}
        if self.inputs and set(named) != set(self.inputs):
            raise UsageError(f"a batch has the inputs {sorted(named)}, those before had {sorted(self.inputs)}")
        named = {name: named[name] for name in self.inputs or named}  # in the order of the first batch
        arrays = prepare({str(name): host(rows, f"'{name}' of a batch") for name, rows in named.items()})
        if not self.inputs:
            self.inputs = {name: _Spool() for name in arrays}
        sizes = {self.inputs[name].add(name, rows) for name, rows in arrays.items()}
        if y is not None:
            sizes.add(self._label(y))
        elif self.outputs is not None:
            raise UsageError("a batch has no labels, those before had some")
        sizes |= {len(values) - self.count for values in self.characteristics.values()}
        if len(sizes) != 1:
            raise UsageError(f"the inputs, labels and characteristics of a batch differ in their numbers of records: {sorted(sizes)}")
        self.count += sizes.pop()

    def close(self) -> None:
        for spool in (*self.inputs.values(), self.outputs):
            if spool is not None:
                spool.close()

    def _label(self, y: Any) -> int:
        if self.choice.label is not None:
            self.columns.append(y)
            return len(y.values)
        self.outputs = self.outputs or _Spool()
        return self.outputs.add("y", host(y, "'y' of a batch"))

    def _parts(self, batch: Any) -> tuple[Any, Any]:
        if isinstance(batch, _One):
            batch = _record(batch.record)
        if isinstance(batch, Mapping) and self.choice:
            return self._chosen(batch)
        if self.choice:
            raise UsageError("label=, target= and inputs= name columns of a table, or parts of batches {name: x}")
        x, y = _pair(batch)
        return (self._without_characteristics(x) if self.choice.meta else _without_apart(x)), y

    def _without_characteristics(self, x: Any) -> Any:
        if not isinstance(x, Mapping):
            raise UsageError("names in meta= are of parts of batches {name: x}; of other records give {name: a value for each}")
        chosen = self.choice.inputs_among(list(x))
        if any(_is_single(x[name]) for name in self.choice.columns_of_meta):
            x = _record(x)
        self._characterise(x)
        return {name: x[name] for name in chosen}

    def _characterise(self, batch: Mapping[str, Any]) -> None:
        for one in self.choice.meta:
            name = one.partition(":")[0]
            column, names = self._column(batch, name), self.names(name)
            if names:
                column = replace(column, values=np.array([_name_among(names, value) for value in column.values], object))
            self.characteristics[one] += texts_of(column)

    def _column(self, batch: Mapping[str, Any], name: str) -> Column:
        rows = batch[name]
        values = np.asarray(host(rows, f"'{name}' of a batch") if hasattr(rows, "detach") else rows)
        missing = np.array([value is None or (isinstance(value, float) and value != value) for value in values.tolist()])
        return Column(name, values, missing if missing.any() else None, None, lambda row: self.count + row)

    def _chosen(self, batch: Mapping[str, Any]) -> tuple[Any, Any]:
        names = self.choice.inputs_among(list(batch))
        if any(_is_single(batch[name]) for name in [*self.choice.outputs, *self.choice.columns_of_meta]):
            batch = _record(batch)
        outputs = [self._column(batch, name) for name in self.choice.outputs]
        self._characterise(batch)
        y = None if not outputs else outputs[0] if self.choice.label is not None else targets_of(outputs)
        return inputs_of(self._column(batch, name) for name in names), y


def _pair(batch: Any) -> tuple[Any, Any]:
    """Inputs, and labels or None, of a batch, or of one record."""
    if not isinstance(batch, (tuple, list)):
        return batch, None
    if len(batch) > 2 or not batch:
        raise UsageError(
            f"a batch has {len(batch)} parts; give x, (x, y), ((x0, x1), y), {{name: x}} or ({{name: x}}, y), for instance by a generator over it"
        )
    x, y = batch if len(batch) == 2 else (batch[0], None)
    return (_record(x), _record(y)) if _is_single(y) else (x, y)


def _name_among(names: list[str], value: Any) -> Any:
    """The name of a class number; None where there is none."""
    if isinstance(value, (str, bytes)):
        return value  # a transform has named it
    return names[int(value)] if value is not None and 0 <= value < len(names) else None


def spooled(
    batches: Iterable[Any], choice: Choice, class_names: list[str], prepare: Preparation, pictured: bool, names: Names
) -> tuple[Any, Any, list[str], dict[str, list[str]]]:
    """Reads batches once, to a file: records can then be read in any order, several times, without memory. Inputs,
    outputs, names of classes, and characteristics."""
    reading = _Reading(choice, prepare, pictured, names)
    try:
        for batch in batches:
            reading.add(batch)
    except BaseException:
        reading.close()
        raise
    if not reading.inputs:
        raise UsageError("the iterable gave no batch (was it used up?)")
    arrays = {name: spool.array() for name, spool in reading.inputs.items()}
    first = next(iter(arrays.values()))
    y = None if reading.outputs is None else reading.outputs.array()
    if reading.columns:
        y, class_names = classes_of(joined(reading.columns), class_names)
    if y is not None and len(y) != len(first):
        raise UsageError(f"{len(y)} labels for {len(first)} records")
    return (first if list(arrays) == ["x"] else arrays), y, class_names, reading.characteristics
