"""Attacks on texts by characters and words, one word after the other."""

from __future__ import annotations

import csv
import os
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from .._results import Result
from .._tokenizer import TokenizerLike
from ..errors import DataError, FileError, MismatchError, UsageError
from ._document import Figure, result_of, table
from ._network import TextNetwork, margins
from ._search import EditSearch, Objective, Search, endings
from ._table import long_fields
from ._words import synonyms_of
from .edits import Edit, edits_of


def _away_from(network: TextNetwork, label: int) -> Objective:
    """The label is to lose."""

    def judge(texts: Sequence[str]) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
        scores, decisions = network.scores(texts)
        return margins(scores, np.full(len(texts), label)), decisions != label

    return judge


def attack(
    network: Any,
    texts: Sequence[str],
    labels: Sequence[Any] | None = None,
    *,
    tokenizer: TokenizerLike | None = None,
    words: str | os.PathLike[str] | None = None,
    edits: Sequence[str | Edit] = ("swap", "insert", "delete", "keyboard"),
    changes: float = 0.2,
    protect: Sequence[str] = (),
    synonyms: Any = None,
    tried: int = 64,
    seed: int = 1,
    decision: str | int | None = None,
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
    words
        The network whose words texts become, for a mutant or a loaded network; a file that takes texts itself knows its own.
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
        As ``--decision`` of the program, and the tokens or words of a record.
    out
        A CSV file of the texts before and after; they are read back and judged again.
    fail_under
        Gates, such as ``"robust-accuracy>=0.8"`` (docs/gates.md).
    """
    if isinstance(texts, str) or not texts:
        raise UsageError("texts: a list of texts is needed")
    if labels is not None and len(labels) != len(texts):
        raise MismatchError(f"{len(texts)} texts have {len(labels)} labels")
    chosen = TextNetwork(network, tokenizer, words=words, decision=decision, length=length)
    named = synonyms_of(synonyms)
    search = EditSearch(edits_of(edits, named), named, changes=changes, protect=protect, tried=tried, seed=seed)
    _, decisions = chosen.scores(texts)
    wanted = decisions if labels is None else np.array([chosen.class_of(label, "labels") for label in labels])
    found = [
        (int(record), search.run(_away_from(chosen, int(wanted[record])), texts[int(record)], int(record)))
        for record in np.flatnonzero(decisions == wanted)
    ]
    rows = [_row(chosen.name_of(int(wanted[record])), record, texts[record], one) for record, one in found]
    _judge_again(chosen, rows, out)
    return result_of("texts attack", _headline(rows), *_parts(rows, found, len(texts)), network=chosen, gates=fail_under)


def _row(label: str, record: int, text: str, search: Search) -> dict[str, Any]:
    return {
        "record": record, "label": label, "success": False, "decision": "", "words": len(search.changed), "asked": search.asked,
        "before": text, "after": search.now.text(), "edits": search.edits(),
    }


def _judge_again(network: TextNetwork, rows: list[dict[str, Any]], out: Any) -> None:
    """By the texts alone, as they are read from the file where there is one."""
    if not rows:
        return
    if out is not None:
        _write(out, rows)
        after = _read(out, len(rows))
    else:
        after = [str(row["after"]) for row in rows]
    _, decisions = network.scores(after)
    for row, decided in zip(rows, decisions):
        row["decision"] = network.name_of(int(decided))
        row["success"] = row["decision"] != row["label"]


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
    with open(path, newline="", encoding="utf-8") as file, long_fields():
        texts = [row["after"] for row in csv.DictReader(file)]
    if len(texts) != count:
        raise DataError(f"{os.fspath(path)}: {len(texts)} texts are read back of {count} that were written")
    return texts


def _headline(rows: Sequence[dict[str, Any]]) -> str:
    succeeded = sum(row["success"] for row in rows)
    return f"edits change {succeeded} of {len(rows)} decisions" if rows else "the network gets no text right, so none is attacked"


def _parts(rows: list[dict[str, Any]], found: Sequence[tuple[int, Search]], texts: int) -> tuple[list[Figure], list[dict[str, Any]]]:
    withstood = sum(not row["success"] for row in rows)
    figures = [Figure("robust-accuracy", withstood, texts), Figure("withstood", withstood, len(rows))]
    ended = Counter(endings[search.ending] for (_, search), row in zip(found, rows) if not row["success"])
    used = Counter(edit for (_, search), row in zip(found, rows) if row["success"] for edit, _, _ in search.changed)
    tables = [
        table("edits", "Edits in texts whose decision changes", {"edit": "text", "words": "count"}, [{"edit": e, "words": n} for e, n in used.most_common()]),
        table("endings", "Why other searches ended", {"ending": "text", "texts": "count"}, [{"ending": e, "texts": n} for e, n in ended.most_common()]),
        table(
            "attacked_texts", "Texts before and after",
            {"record": "count", "label": "text", "decision": "text", "success": "text", "words": "count", "asked": "count", "edits": "text", "before": "text", "after": "text"},
            [{**row, "success": "yes" if row["success"] else "no"} for row in rows], detail=True,
        ),
    ]
    return figures, tables
