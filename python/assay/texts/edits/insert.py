"""A character too many."""

from __future__ import annotations

from ._entry import Edit, Synonyms, others

_letters = "abcdefghijklmnopqrstuvwxyz"


def _words(word: str, _: Synonyms) -> list[str]:
    return others(word, [word[:i] + letter + word[i:] for i in range(1, len(word) + 1) for letter in _letters])


edit = Edit("insert", "a letter from a to z is inserted after a character", _words)
