"""Attacks on texts by characters and words, one word after the other."""

from __future__ import annotations

import csv
import os
import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .._results import Result
from .._tokenizer import TokenizerLike
from ..errors import DataError, FileError, MismatchError, UsageError
from ._document import Figure, result_of, table
from ._network import TextNetwork
from ._words import Words, budget_of, synonyms_of
from .edits import Edit, Synonyms, edits_of

_endings = {
    "changed": "the decision changes",
    "none": "no word may change",
    "spent": "all words that may change have changed",
    "stuck": "no edit of the words that are left helps",
}


@dataclass
class _Search:
    """A text while it is searched."""

    before: Words
    now: Words
    label: int
    margin: float
    order: list[int]  # places that may change, most important first
    budget: int
    changed: list[tuple[str, str, str]] = field(default_factory=list)  # edit, before, after
    ending: str = ""
    asked: int = 0


class EditAttack:
    """Greedy: words in the order of what they do for the decision, each replaced by the edit that does most against it."""

    def __init__(self, edits: Sequence[Edit], synonyms: Synonyms, changes: float, protect: Sequence[str], tried: int, seed: int) -> None:
        if tried < 1:
            raise UsageError(f"tried={tried}: at least 1 edit of a word is tried")
        self._edits, self._synonyms, self._changes = edits, synonyms, changes
        self._protect, self._tried, self._seed = protect, tried, seed

    def run(self, network: TextNetwork, text: str, label: int, margin: float, record: int) -> _Search:
        words = Words.of(text)
        free = words.free(self._protect)
        search = _Search(words, words, label, margin, free, budget_of(self._changes, len(free)))
        begun = network.asked
        self._search(network, search, random.Random(f"{self._seed} {record}"))
        search.asked = network.asked - begun
        return search

    def _search(self, network: TextNetwork, search: _Search, rng: random.Random) -> None:
        if search.budget == 0:
            search.ending = "none"
            return
        search.order = _by_importance(network, search)
        for place in search.order:
            if len(search.changed) == search.budget:
                search.ending = "spent"
                return
            if self._change(network, search, place, rng):
                search.ending = "changed"
                return
        search.ending = "spent" if len(search.changed) == search.budget else "stuck"

    def _candidates(self, word: str, rng: random.Random) -> list[tuple[str, str]]:
        """Edits and what they make of the word; at most so many as are tried."""
        made = [(edit.name, one) for edit in self._edits for one in edit.words(word, self._synonyms)]
        return made if len(made) <= self._tried else rng.sample(made, self._tried)

    def _change(self, network: TextNetwork, search: _Search, place: int, rng: random.Random) -> bool:
        """The best edit of the word, where one helps. Whether the decision has changed."""
        candidates = self._candidates(search.now.words[place], rng)
        if not candidates:
            return False
        texts = [search.now.with_word(place, word) for _, word in candidates]
        margins, decisions = _margins(network, [one.text() for one in texts], search.label)
        best = int(margins.argmin())
        if not margins[best] < search.margin and decisions[best] == search.label:
            return False
        edit, word = candidates[best]
        search.changed.append((edit, search.now.words[place], word))
        search.now, search.margin = texts[best], float(margins[best])
        return bool(decisions[best] != search.label)


def _margins(network: TextNetwork, texts: Sequence[str], label: int) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """How far the label is ahead of the best other class, and the decisions."""
    scores, decisions = network.scores(texts)
    own = scores[:, label]
    return own - np.delete(scores, label, 1).max(1), decisions


def _by_importance(network: TextNetwork, search: _Search) -> list[int]:
    """Words without which the label loses most come first."""
    margins, _ = _margins(network, [search.before.without(place) or " " for place in search.order], search.label)
    return [search.order[i] for i in np.argsort(margins, kind="stable")]


def attack(
    network: Any,
    texts: Sequence[str],
    labels: Sequence[Any] | None = None,
    *,
    tokenizer: TokenizerLike | None = None,
    edits: Sequence[str | Edit] = ("swap", "insert", "delete", "keyboard"),
    changes: float = 0.2,
    protect: Sequence[str] = (),
    synonyms: Any = None,
    tried: int = 64,
    seed: int = 1,
    decision: str | None = None,
    length: int | None = None,
    out: str | os.PathLike[str] | None = None,
    fail_under: Sequence[str] = (),
) -> Result:
    """Edits texts by characters and words until the network decides otherwise (docs/text.md).

    Parameters
    ----------
    network
        A loaded network, or what :func:`assay.load` takes.
    texts, labels
        The texts, and the class of each by name or number; texts that the network gets wrong are left alone. Without
        labels its own decisions count.
    tokenizer
        As for :func:`assay.data`; by default that of the network's folder.
    edits
        Names of ``assay.texts.edits.catalogue``, or entries of your own.
    changes
        Most words that change: a number, or a share below 1 of those that may.
    protect
        Words that stay.
    synonyms
        For the edit ``synonym``: a dict of lists by word, or a JSON file of one.
    tried
        Most edits of one word that the network judges; of more, so many are drawn.
    decision, length
        As ``--decision`` of the program, and the tokens of a record.
    out
        A CSV file of the texts before and after; they are read back and judged again.
    fail_under
        Gates, such as ``"robust-accuracy>=0.8"`` (docs/gates.md).
    """
    if isinstance(texts, str) or not texts:
        raise UsageError("texts: a list of texts is needed")
    if labels is not None and len(labels) != len(texts):
        raise MismatchError(f"{len(texts)} texts have {len(labels)} labels")
    chosen = TextNetwork(network, tokenizer, decision=decision, length=length)
    named = synonyms_of(synonyms)
    search = EditAttack(edits_of(edits, named), named, changes, protect, tried, seed)
    scores, decisions = chosen.scores(texts)
    wanted = decisions if labels is None else np.array([chosen.class_of(label, "labels") for label in labels])
    if wanted.max() >= scores.shape[1]:
        raise MismatchError(f"labels: class {wanted.max()} is not one of the network's {scores.shape[1]}")
    found = []
    for record in np.flatnonzero(decisions == wanted):
        label = int(wanted[record])
        margin = float(scores[record, label] - np.delete(scores[record], label).max())
        found.append((int(record), search.run(chosen, texts[record], label, margin, int(record))))
    rows = [_row(chosen, record, texts[record], one) for record, one in found]
    _judge_again(chosen, rows, found, out)
    return result_of("texts attack", _headline(rows), *_parts(rows, found, len(texts)), network=chosen, gates=fail_under)


def _row(network: TextNetwork, record: int, text: str, search: _Search) -> dict[str, Any]:
    return {
        "record": record, "label": network.name_of(search.label), "success": search.ending == "changed", "decision": "",
        "words": len(search.changed), "asked": search.asked, "before": text, "after": search.now.text(),
        "edits": "; ".join(f"{edit}: {before} > {after}" for edit, before, after in search.changed),
    }


def _judge_again(network: TextNetwork, rows: list[dict[str, Any]], found: Sequence[tuple[int, _Search]], out: Any) -> None:
    """By the texts alone, as they are read from the file where there is one."""
    if not rows:
        return
    if out is not None:
        _write(out, rows)
        after = _read(out, len(rows))
    else:
        after = [str(row["after"]) for row in rows]
    _, decisions = network.scores(after)
    for row, decided, (_, search) in zip(rows, decisions, found):
        row["decision"] = network.name_of(int(decided))
        row["success"] = bool(decided != search.label)


_columns = ["record", "label", "before", "after", "edits"]


def _write(path: str | os.PathLike[str], rows: Sequence[dict[str, Any]]) -> None:
    try:
        with open(path, "w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, _columns, extrasaction="ignore")
            writer.writeheader()
            writer.writerows(rows)
    except OSError as error:
        raise FileError(f"{os.fspath(path)}: {error.strerror}") from error


def _read(path: str | os.PathLike[str], count: int) -> list[str]:
    with open(path, newline="", encoding="utf-8") as file:
        texts = [row["after"] for row in csv.DictReader(file)]
    if len(texts) != count:
        raise DataError(f"{os.fspath(path)}: {len(texts)} texts are read back of {count} that were written")
    return texts


def _headline(rows: Sequence[dict[str, Any]]) -> str:
    succeeded = sum(row["success"] for row in rows)
    return f"edits change {succeeded} of {len(rows)} decisions" if rows else "the network gets no text right, so none is attacked"


def _parts(rows: list[dict[str, Any]], found: Sequence[tuple[int, _Search]], texts: int) -> tuple[list[Figure], list[dict[str, Any]]]:
    withstood = sum(not row["success"] for row in rows)
    figures = [Figure("robust-accuracy", withstood, texts), Figure("withstood", withstood, len(rows))]
    endings = Counter(_endings[search.ending] for (_, search), row in zip(found, rows) if not row["success"])
    used = Counter(edit for (_, search), row in zip(found, rows) if row["success"] for edit, _, _ in search.changed)
    tables = [
        table("edits", "Edits in texts whose decision changes", {"edit": "text", "words": "count"}, [{"edit": e, "words": n} for e, n in used.most_common()]),
        table("endings", "Why other searches ended", {"ending": "text", "texts": "count"}, [{"ending": e, "texts": n} for e, n in endings.most_common()]),
        table(
            "attacked_texts", "Texts before and after",
            {"record": "count", "label": "text", "decision": "text", "success": "text", "words": "count", "asked": "count", "edits": "text", "before": "text", "after": "text"},
            [{**row, "success": "yes" if row["success"] else "no"} for row in rows], detail=True,
        ),
    ]
    return figures, tables
