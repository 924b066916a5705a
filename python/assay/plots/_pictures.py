"""Records that are pictures: before and after a change, and with their relevance."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .._arrays import host
from ..errors import UsageError
from ._axes import axes_of

__all__ = ["pairs", "relevance"]

Array = np.ndarray[Any, Any]


def _pictures(what: str, x: Any) -> Array:
    """[n, height, width, 3]"""
    rows = np.asarray(host(x, what), np.float32)
    if rows.ndim == 2:
        rows = rows[None, None]
    elif rows.ndim == 3:
        rows = rows[None] if rows.shape[0] in (1, 3) else rows[:, None]
    if rows.ndim != 4 or rows.shape[1] not in (1, 3):
        raise UsageError(f"{what}: an array {list(rows.shape)} is not pictures [n, channels, height, width] with 1 or 3 channels")
    return np.repeat(rows, 3 // rows.shape[1], 1).transpose(0, 2, 3, 1)


def _scaled(pictures: Array, low: float, high: float) -> Array:
    return np.clip((pictures - low) / ((high - low) or 1), 0, 1)


def _montage(rows: Sequence[Array]) -> tuple[Array, int, int]:
    """Rows of pictures as one, with white lines between; and the distance between pictures down and across."""
    height, width = rows[0].shape[1] + 1, rows[0].shape[2] + 1
    whole = np.ones((len(rows) * height - 1, len(rows[0]) * width - 1, 3), np.float32)
    for r, row in enumerate(rows):
        for c, picture in enumerate(row):
            whole[r * height : (r + 1) * height - 1, c * width : (c + 1) * width - 1] = picture
    return whole, height, width


def _show(rows: Sequence[Array], names: list[str], captions: Sequence[str], ax: Any, dpi: float | None) -> Any:
    whole, height, width = _montage(rows)
    axes = axes_of(ax, dpi, (1.2 * len(rows[0]) + 1.2, 1.2 * len(rows) + 0.8))
    axes.imshow(whole, interpolation="nearest")
    axes.set_yticks([height * (r + 0.5) for r in range(len(rows))], names)
    axes.set_xticks([width * (c + 0.5) for c in range(len(captions))], captions)
    axes.tick_params(length=0)
    for side in axes.spines.values():
        side.set_visible(False)
    return axes


def pairs(before: Any, after: Any, *, captions: Sequence[str] = (), ax: Any = None, dpi: float | None = None) -> Any:
    """Pictures in a row, changed ones below, and the differences, grey where nothing changed. Arrays [n, channels,
    height, width]; all with one scale."""
    first, second = _pictures("before", before), _pictures("after", after)
    if first.shape != second.shape:
        raise UsageError(f"before and after differ in their shapes: {list(first.shape)} and {list(second.shape)}")
    low, high = float(min(first.min(), second.min())), float(max(first.max(), second.max()))
    change = second - first
    greatest = float(np.abs(change).max())
    rows = [_scaled(first, low, high), _scaled(second, low, high), _scaled(change, -greatest, greatest) if greatest else 0 * change + 0.5]
    factor = (high - low) / (2 * greatest) if greatest else 1
    return _show(rows, ["before", "after", f"difference\n× {factor:.3g}"], captions, ax, dpi)


def relevance(values: Any, x: Any = None, *, captions: Sequence[str] = (), ax: Any = None, dpi: float | None = None) -> Any:
    """Relevance of pixels, as ``Model.relevance(x, "input")`` gives it: red speaks for the class, blue against it, over
    the pictures in grey where they are given. Channels are summed, and each record has its own scale."""
    maps = np.asarray(host(values, "values"), np.float32)
    maps = maps.sum(1) if maps.ndim == 4 else maps.sum(0)[None] if maps.ndim == 3 else maps[None]
    if maps.ndim != 3:
        raise UsageError(f"values: an array {list(maps.shape)} is not relevance of pictures [n, channels, height, width]")
    greatest = np.maximum(np.abs(maps).max((1, 2), keepdims=True), 1e-30)
    signed = (maps / greatest)[..., None]
    ground: Array | float = 1.0
    if x is not None:
        shown = _pictures("x", x)
        if shown.shape[:3] != maps.shape:
            raise UsageError(f"values and x differ: {list(maps.shape)} pixels and {list(shown.shape[:3])}")
        # Light, so that colours are seen on it.
        ground = 0.55 + 0.45 * (1 - _scaled(shown.mean(3, keepdims=True), float(shown.min()), float(shown.max())))
    red, blue = np.array([0.78, 0.08, 0.1]), np.array([0.1, 0.25, 0.75])
    weight = np.abs(signed) ** 0.7
    painted = (1 - weight) * ground + weight * np.where(signed > 0, red, blue)
    return _show([np.asarray(painted, np.float32)], ["relevance"], captions, ax, dpi)
