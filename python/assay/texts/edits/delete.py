"""A character is missing."""

from __future__ import annotations

from ._entry import Edit, Synonyms, others


def _words(word: str, _: Synonyms) -> list[str]:
    return others(word, [word[:i] + word[i + 1 :] for i in range(len(word))])


edit = Edit("delete", "a character is missing", _words)
