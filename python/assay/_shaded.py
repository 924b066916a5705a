"""Texts that were explained word by word, as results hold them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

__all__ = ["texts_of"]


def _place(word: dict[str, Any]) -> int:
    return word["position"] if isinstance(word["position"], int) else 0  # a document may hold anything


def texts_of(words: Iterable[dict[str, Any]]) -> list[list[dict[str, Any]]]:
    """Rows of a table of words, text by text. Records may have the same id: a text begins anew at its first token."""
    texts: list[list[dict[str, Any]]] = []
    for word in words:
        before = texts[-1][-1] if texts else None
        if before is None or word["record"] != before["record"] or _place(word) <= _place(before):
            texts.append([])
        texts[-1].append(word)
    return texts
