"""Texts that were explained word by word: words in their colours, in lines, in the direction in which they are read."""

from __future__ import annotations

import unicodedata
from typing import Any

from .._assay import visible
from .._shaded import texts_of
from ._axes import Kind, MakeAxes

__all__ = ["kind"]

_red, _blue = (0.82, 0.27, 0.25), (0.29, 0.56, 0.77)
_width, _line = 8.0, 0.32  # inches


def _is_right_to_left(words: list[dict[str, Any]]) -> bool:
    """By the letters: most texts of Arabic or Hebrew have special tokens, numbers or names in Latin ones."""
    letters = [unicodedata.bidirectional(letter) for word in words for letter in str(word["word"])]
    return sum(letter in ("R", "AL") for letter in letters) > letters.count("L")


def _put(axes: Any, word: dict[str, Any]) -> tuple[Any, float]:
    """The word somewhere, and how wide it is with its ground, in inches."""
    share = word["share"] if isinstance(word["share"], (int, float)) else 0.0
    ground = (*(_red if share >= 0 else _blue), 0.7 * min(abs(share), 1.0))
    box = {"facecolor": ground, "edgecolor": "none", "boxstyle": "round,pad=0.15"}
    text = axes.text(0, 0, visible(str(word["word"])), va="center", ha="left", fontsize=10, bbox=box, parse_math=False)
    return text, text.get_window_extent().width / axes.figure.dpi + 0.12


def _in_lines(axes: Any, words: list[dict[str, Any]], line: float) -> float:
    """Puts words from a line on; gives the line after them."""
    backwards, x = _is_right_to_left(words), 0.0
    for word in words:
        text, width = _put(axes, word)
        if x and x + width > _width:
            x, line = 0.0, line + 1
        text.set_position((_width - x - width if backwards else x, line))
        x += width
    return line + 1


def _draw(table: Any, make_axes: MakeAxes, *, top: int = 8) -> Any:
    texts = texts_of(table)[:top]
    longest = sum(8 + sum(len(str(word["word"])) + 2 for word in text) for text in texts)
    axes = make_axes(_width + 0.5, _line * (2 * len(texts) + longest / 90) + 0.6)
    line = 0.0
    for text in texts:
        axes.text(0, line, f"record {visible(str(text[0]['record']))}", va="center", fontsize=8, alpha=0.7)
        line = _in_lines(axes, text, line + 1)
    axes.set_xlim(0, _width)
    axes.set_ylim(line, -1)
    axes.axis("off")
    return axes


def _takes(table: Any) -> bool:
    return {"record", "position", "word", "share"} <= set(table.columns)


kind = Kind("words", ("top",), _takes, _draw)
