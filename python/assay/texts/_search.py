"""A greedy search over edits of a text: one word after the other, the most important first."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..errors import UsageError
from ._words import Words, budget_of
from .edits import Edit, Synonyms

#: Of texts: numbers that are to become small, and whether the goal is reached.
Objective = Callable[[Sequence[str]], tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]]

endings = {
    "reached": "the goal is reached",
    "none": "no word may change",
    "spent": "all words that may change have changed",
    "stuck": "no edit of the words that are left helps",
}


@dataclass
class Search:
    """A text while it is searched."""

    before: Words
    now: Words
    free: list[int]  # places of words that may change
    budget: int
    value: float = 0
    changed: list[tuple[str, str, str]] = field(default_factory=list)  # edit, before, after
    ending: str = ""
    asked: int = 0  # texts that were judged

    def edits(self) -> str:
        return "; ".join(f"{edit}: {before} > {after}" for edit, before, after in self.changed)


class EditSearch:
    """Words in the order of what leaving them out does for the objective, each replaced by the edit that does most."""

    def __init__(
        self, edits: Sequence[Edit], synonyms: Synonyms, *, changes: float, protect: Sequence[str], tried: int, seed: int
    ) -> None:
        if tried < 1:
            raise UsageError(f"tried={tried}: at least 1 edit of a word is tried")
        self._edits, self._synonyms, self._changes = edits, synonyms, changes
        self._protect, self._tried, self._seed = protect, tried, seed

    def run(self, objective: Objective, text: str, record: int) -> Search:
        """`record` names the random stream of the text."""
        words = Words.of(text)
        free = words.free(self._protect)
        search = Search(words, words, free, budget_of(self._changes, len(free)))
        search.ending = self._search(objective, search, random.Random(f"{self._seed} {record}")) if search.budget else "none"
        return search

    def _search(self, objective: Objective, search: Search, rng: random.Random) -> str:
        search.value = float(_judged(objective, search, [search.before.text()])[0][0])
        without = [search.before.without(place) or " " for place in search.free]
        values, _ = _judged(objective, search, without)
        for place in [search.free[i] for i in np.argsort(values, kind="stable")]:
            if len(search.changed) == search.budget:
                break
            if self._change(objective, search, place, rng):
                return "reached"
        return "spent" if len(search.changed) == search.budget else "stuck"

    def _candidates(self, word: str, rng: random.Random) -> list[tuple[str, str]]:
        """Edits and what they make of the word; at most so many as are tried."""
        made = [(edit.name, one) for edit in self._edits for one in edit.words(word, self._synonyms)]
        return made if len(made) <= self._tried else rng.sample(made, self._tried)

    def _change(self, objective: Objective, search: Search, place: int, rng: random.Random) -> bool:
        """The best edit of the word, where one helps. Whether the goal is reached."""
        before = search.now.words[place]
        candidates = self._candidates(before, rng)
        if not candidates:
            return False
        texts = [search.now.with_word(place, word) for _, word in candidates]
        values, reached = _judged(objective, search, [one.text() for one in texts])
        best = int(values.argmin())
        if not values[best] < search.value and not reached[best]:
            return False
        edit, word = candidates[best]
        search.changed.append((edit, before, word))
        search.now, search.value = texts[best], float(values[best])
        return bool(reached[best])


def _judged(objective: Objective, search: Search, texts: Sequence[str]) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    search.asked += len(texts)
    return objective(texts)
