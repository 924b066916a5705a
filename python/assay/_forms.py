"""How records that are given as arrays come to a network: element types, 8-bit levels, channels."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Union

import numpy as np

from ._arrays import channels_first, host, scaled
from .errors import UsageError

__all__ = ["Form", "Layout", "Preparation"]


def _never() -> bool:
    return False


@dataclass(frozen=True)
class Form:
    """What networks say of the records that they take."""

    channels_last: frozenset[tuple[int, ...]] = frozenset()  # shapes that are given so, and looked at with channels first
    takes_levels: Callable[[], bool] = _never  # whether they take 8-bit numbers themselves


#: What `layout=` is; a form where a network is known.
Layout = Union[str, Form, None]


class Preparation:
    """Prepares inputs, from any source, as the program does those of an archive."""

    def __init__(self, scale: float | None, layout: Layout) -> None:
        if layout not in (None, "nchw", "nhwc") and not isinstance(layout, Form):
            raise UsageError(f"layout={layout!r}: 'nchw' or 'nhwc'")
        self._scale, self._layout = scale, layout
        #: Valid range of a first input that holds 8-bit numbers.
        self.range: tuple[float, float] | None = None

    def __call__(self, arrays: dict[str, Any]) -> dict[str, Any]:
        first, *others = arrays
        levels = _type_of(arrays[first]) == "uint8"
        factor = self._factor() if levels else self._scale
        if levels and factor is not None and factor > 0:
            self.range = (0.0, 255 * factor)
        ready = {first: _numbers(arrays[first], first) if factor is None else scaled(arrays[first], factor, first)}
        for name in others:
            values = arrays[name]
            ready[name] = _tokens(values, name) if self._scale is None else scaled(values, self._scale, name)
        ready = self._with_channels_first(ready)
        if levels and self._scale is None and ready[first].ndim == 3:  # grey pictures
            ready[first] = ready[first][:, None]
        return ready

    def pictures(self, arrays: dict[str, Any]) -> dict[str, Any]:
        """The same of decoded pictures: bytes with channels last, or without channels."""
        if self._layout == "nchw":
            raise UsageError("layout='nchw': pictures as libraries decode them have their channels last; leave it out")
        factor = self._factor()
        self.range = (0.0, 255 * factor) if factor > 0 else None
        with_channels = {name: rows[..., None] if rows.ndim == 3 else rows for name, rows in arrays.items()}
        return channels_first({name: scaled(rows, factor, name) for name, rows in with_channels.items()})

    def _factor(self) -> float:
        if self._scale is not None:
            return self._scale
        takes_levels = isinstance(self._layout, Form) and self._layout.takes_levels()
        return 1.0 if takes_levels else 1 / 255

    def _with_channels_first(self, arrays: dict[str, Any]) -> dict[str, Any]:
        if isinstance(self._layout, Form):
            shapes = self._layout.channels_last
            return channels_first(arrays, shapes) if shapes else arrays
        return channels_first(arrays) if self._layout == "nhwc" else arrays


def _type_of(array: Any) -> str:
    """``uint8``, ``bool`` and so on, of any library; empty for types that are neither."""
    dtype = getattr(array, "dtype", "")
    found = re.search(r"\b(u?int\d+|bool)\b", str(getattr(dtype, "name", dtype)))
    return found.group() if found else ""


def _numbers(array: Any, name: str) -> Any:
    """Truth values and signed bytes as float32, wider integers as tokens."""
    if _type_of(array) in ("bool", "int8"):
        return host(array, name).astype(np.float32)
    return array


def _tokens(array: Any, name: str) -> Any:
    """Truth values and bytes as int64, which wider integers become as well: those of inputs after the first one."""
    if _type_of(array) in ("bool", "int8", "uint8"):
        return host(array, name).astype(np.int64)
    return array
