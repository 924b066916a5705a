"""Sequences of different length as records of one size."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ._data import Data, data
from .errors import UsageError

__all__ = ["sequences"]

_Array = np.ndarray[Any, Any]

UNCOUNTED = -100  # label of steps that do not count, as the task `tokens` has it


def _rows(x: Any, what: str) -> list[_Array]:
    if isinstance(x, np.ndarray) and x.dtype != object:
        raise UsageError(f"{what} is one array, whose records have one length; give it to assay.data()")
    rows = [np.asarray(row) for row in x]
    if not rows:
        raise UsageError(f"there are no {what}")
    for number, row in enumerate(rows):
        if row.ndim == 0 or row.shape[1:] != rows[0].shape[1:]:
            raise UsageError(f"sequence {number} of {what} has the shape {row.shape}, the first one {rows[0].shape}")
        if len(row) == 0:
            raise UsageError(f"sequence {number} of {what} has no steps")
    return rows


def _filled(rows: list[_Array], steps: int, fill: float) -> _Array:
    kind = np.result_type(*rows)
    kind = np.dtype(np.float32) if kind.kind == "f" else kind
    if kind.kind in "iu" and not (float(fill).is_integer() and np.iinfo(kind).min <= fill <= np.iinfo(kind).max):
        raise UsageError(f"fill={fill} is not a number of the type of the sequences, {kind}; convert them, or fill with another one")
    filled = np.full((len(rows), steps, *rows[0].shape[1:]), fill, kind)
    for row, to in zip(rows, filled):
        to[: len(row)] = row
    return filled


def _labels_of_steps(y: Any, lengths: list[int], steps: int) -> _Array:
    labels = _rows(y, "labels")
    for number, (row, length) in enumerate(zip(labels, lengths)):
        if len(row) != length:
            raise UsageError(f"sequence {number} has {length} steps and {len(row)} labels")
    if len(labels) != len(lengths):
        raise UsageError(f"there are {len(lengths)} sequences and labels of {len(labels)}")
    whole = all(row.dtype.kind in "biu" for row in labels)
    short = next((number for number, length in enumerate(lengths) if length < steps), None)
    if not whole and short is not None:
        raise UsageError(
            f"sequence {short} has {lengths[short]} steps of {steps}, and its labels are real numbers; classes of steps can be left "
            "out (as integers), numbers that a regression is to give cannot"
        )
    for number, row in enumerate(labels):
        if whole and short is not None and ((row < 0) & (row != UNCOUNTED)).any():
            raise UsageError(
                f"sequence {number} has the label {row[(row < 0) & (row != UNCOUNTED)][0]}, and classes are whole numbers from 0 "
                f"({UNCOUNTED} where a step does not count); numbers that a regression is to give cannot be left out"
            )
    return _filled([row.astype(np.int64) for row in labels] if whole else labels, steps, UNCOUNTED)


def sequences(
    x: Sequence[Any],
    y: Any = None,
    *,
    mask: str | None = None,
    lengths: str | None = None,
    steps: int | None = None,
    fill: float = 0,
    input: str = "x",
    **options: Any,
) -> Data:
    """A data set of sequences of different length, filled up at their end.

    Parameters
    ----------
    x
        An array [steps, ...] for each record.
    y
        Labels of steps, a list of arrays [steps]: those of steps that are filled up do not count (-100). Or an array with
        one label for each record.
    mask, lengths
        Names of the network's inputs by which it knows how long a record is: 1 for its steps and 0 after them, [n, steps];
        the number of its steps, [n].
    steps
        Length of all records; that of the longest one if none.
    fill
        What stands after the last step.
    input
        Name of the network's input that takes the sequences, where it has several.
    options
        As of :func:`assay.data`.

    Raises
    ------
    UsageError
        For sequences of different shapes apart from their length, ones that are longer than `steps`, labels that do not
        fit, a `fill` that is not a number of the type of the sequences, and inputs of one name.
    """
    rows = _rows(x, "x")
    counts = [len(row) for row in rows]
    longest = max(counts) if steps is None else steps
    if max(counts) > longest:
        raise UsageError(f"sequence {int(np.argmax(counts))} has {max(counts)} steps, more than steps={longest}")
    names = [name for name in (input, mask, lengths) if name is not None]
    if len(set(names)) < len(names):
        raise UsageError(f"input, mask and lengths are {', '.join(map(repr, names))}; each is a separate input")
    inputs = {input: _filled(rows, longest, fill)}
    if mask is not None:
        inputs[mask] = (np.arange(longest) < np.array(counts)[:, None]).astype(np.int64)
    if lengths is not None:
        inputs[lengths] = np.array(counts, np.int64)
    given: Any = inputs[input] if len(inputs) == 1 else inputs
    of_steps = y is not None and not (isinstance(y, np.ndarray) and y.dtype != object) and (len(y) == 0 or np.ndim(y[0]) > 0)
    labels = _labels_of_steps(y, counts, longest) if of_steps else None if y is None else np.asarray(y)
    return data(given, labels, **options)
