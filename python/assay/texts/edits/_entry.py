"""What an edit of texts is: all that may become of a word."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

#: Words that may stand for a word, as the user's list says.
Synonyms = Mapping[str, Sequence[str]]


@dataclass(frozen=True)
class Edit:
    """``words(word, synonyms)`` gives what may become of a word, without the word itself, always in the same order."""

    name: str
    summary: str
    words: Callable[[str, Synonyms], list[str]]
    keeps_meaning: bool = True
    needs_synonyms: bool = False


def others(word: str, made: Sequence[str]) -> list[str]:
    """Each once, without the word itself and without nothing."""
    return [one for one in dict.fromkeys(made) if one and one != word]
