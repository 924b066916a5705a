"""Neighbouring characters change places."""

from __future__ import annotations

from ._entry import Edit, Synonyms, others


def _words(word: str, _: Synonyms) -> list[str]:
    return others(word, [word[:i] + word[i + 1] + word[i] + word[i + 2 :] for i in range(len(word) - 1)])


edit = Edit("swap", "two neighbouring characters change places", _words)
