"""Words of texts, and texts with other words."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from ..errors import DataError, FileError, UsageError
from .edits import Synonyms

# Letters and digits, with apostrophes and hyphens inside.
_word = re.compile(r"\w+(?:['’-]\w+)*")


@dataclass(frozen=True)
class Words:
    """A text as its words and what stands between them."""

    words: tuple[str, ...]
    between: tuple[str, ...]  # one more than words

    @classmethod
    def of(cls, text: str) -> Words:
        found = list(_word.finditer(text))
        ends = [0, *(match.end() for match in found)]
        begins = [*(match.start() for match in found), len(text)]
        return cls(tuple(match.group() for match in found), tuple(text[end:begin] for end, begin in zip(ends, begins)))

    def text(self) -> str:
        return self.between[0] + "".join(word + gap for word, gap in zip(self.words, self.between[1:]))

    def with_word(self, place: int, word: str) -> Words:
        return Words((*self.words[:place], word, *self.words[place + 1 :]), self.between)

    def without(self, place: int) -> str:
        """The text without a word and the gap after it."""
        between = (*self.between[: place + 1], *self.between[place + 2 :])
        return Words((*self.words[:place], *self.words[place + 1 :]), between).text()

    def free(self, protected: Collection[str]) -> list[int]:
        """Places of words that may change."""
        kept = {word.lower() for word in protected}
        return [place for place, word in enumerate(self.words) if word.lower() not in kept]


def budget_of(changes: float, places: int) -> int:
    """Of so many words that may change: a number of them, or a share below 1."""
    if changes <= 0 or (changes >= 1 and changes != int(changes)):
        raise UsageError(f"changes={changes} is neither a number of words nor a share below 1")
    return min(places, int(changes * places) if changes < 1 else int(changes))


def synonyms_of(given: str | os.PathLike[str] | Mapping[str, Sequence[str]] | None) -> Synonyms:
    """A dict of lists by word, or a JSON file of one."""
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        try:
            with open(given, encoding="utf-8") as file:
                loaded = json.load(file)
        except OSError as error:
            raise FileError(f"{os.fspath(given)}: {error.strerror}") from error
        except ValueError as error:
            raise DataError(f"{os.fspath(given)}: is not JSON: {error}") from error
        if not isinstance(loaded, dict):
            raise DataError(f"{os.fspath(given)}: synonyms are a JSON object with a list of words for each word")
        given = loaded
    for word, found in given.items():
        if isinstance(found, str) or not all(isinstance(one, str) for one in found):
            raise DataError(f"synonyms of '{word}': a list of words is needed")
    return given
