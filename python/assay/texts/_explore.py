"""Texts on which a network and another version of it disagree: quantised, pruned, fine-tuned."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from .._results import Result
from .._tokenizer import TokenizerLike
from ..errors import MismatchError, UsageError
from ._document import Figure, result_of, table
from ._network import TextNetwork, margins, shares
from ._search import EditSearch, Objective, endings
from ._words import synonyms_of
from .edits import Edit, edits_of


def _apart(network: TextNetwork, other: TextNetwork, common: int) -> Objective:
    """The other network is to leave the common decision, and the network to keep it."""

    def judge(texts: Sequence[str]) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
        labels = np.full(len(texts), common)
        (mine, here), (theirs, there) = network.scores(texts), other.scores(texts)
        return margins(theirs, labels) - margins(mine, labels), here != there

    return judge


def explore(
    network: Any,
    other: Any,
    texts: Sequence[str],
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
    fail_under: Sequence[str] = (),
) -> Result:
    """Edits texts until two networks decide differently (docs/text.md): a network and its quantised, pruned or fine-tuned
    self. The search makes the other one leave what both decide, and the network keep it. Parameters as of
    :func:`assay.texts.attack`; both networks have one tokenizer, or their own words. Gates are on ``agreement`` and ``agreement-after``.
    """
    if isinstance(texts, str) or not texts:
        raise UsageError("texts: a list of texts is needed")
    mine = TextNetwork(network, tokenizer, words=words, decision=decision, length=length)
    theirs = TextNetwork(other, tokenizer, words=words, decision=decision, length=length, like=mine)
    named = synonyms_of(synonyms)
    search = EditSearch(edits_of(edits, named), named, changes=changes, protect=protect, tried=tried, seed=seed)
    (here, decided), (there, others) = mine.scores(texts), theirs.scores(texts)
    if here.shape != there.shape:
        raise MismatchError(f"the networks have {here.shape[1]} and {there.shape[1]} classes")
    rows, ended = [], Counter[str]()
    for record, text in enumerate(texts):
        if decided[record] != others[record]:
            rows.append({"record": record, "words": 0, "before": text, "after": text, "edits": ""})
            continue
        found = search.run(_apart(mine, theirs, int(decided[record])), text, record)
        if found.ending == "reached":
            rows.append({"record": record, "words": len(found.changed), "before": text, "after": found.now.text(), "edits": found.edits()})
        else:
            ended[endings[found.ending]] += 1
    rows = _confirmed(mine, theirs, rows)
    ended["the networks agree when the text is judged by itself again"] += len(texts) - len(rows) - sum(ended.values())
    differ = int((decided != others).sum())
    figures = [Figure("agreement", len(texts) - differ, len(texts)), Figure("agreement-after", len(texts) - len(rows), len(texts))]
    headline = f"the networks disagree on {differ} of {len(texts)} texts, and on {len(rows)} once words are edited"
    tables = [_divergence_table(shares(here), shares(there)), _findings_table(rows), _endings_table(ended)]
    return result_of("texts explore", headline, figures, tables, network=mine, gates=fail_under, options=f"other: {theirs.model.name} {theirs.model.hash}")


def _confirmed(network: TextNetwork, other: TextNetwork, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Those on which the networks disagree when texts are judged again, with what they decide."""
    if not rows:
        return rows
    after = [row["after"] for row in rows]
    (_, here), (_, there) = network.scores(after), other.scores(after)
    decided = zip(rows, here, there)
    return [{**row, "decision": network.name_of(int(mine)), "other": network.name_of(int(theirs))} for row, mine, theirs in decided if mine != theirs]


def _divergence_table(here: np.ndarray[Any, Any], there: np.ndarray[Any, Any]) -> dict[str, Any]:
    """How far apart the answers are before anything is edited."""
    middle = (here + there) / 2
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = np.nan_to_num(here * np.log(here / middle)) + np.nan_to_num(there * np.log(there / middle))
    apart = terms.sum(1) / 2
    rows = [{"divergence": "Jensen-Shannon, nats", "mean": float(apart.mean()), "greatest": float(apart.max())}]
    return table("divergence", "Answers before edits", {"divergence": "text", "mean": "number", "greatest": "number"}, rows)


def _findings_table(rows: list[dict[str, Any]]) -> dict[str, Any]:
    columns = {"record": "count", "decision": "text", "other": "text", "words": "count", "edits": "text", "before": "text", "after": "text"}
    return table("findings", "Texts on which the networks disagree", columns, rows)


def _endings_table(ended: Counter[str]) -> dict[str, Any]:
    return table("endings", "Why other searches ended", {"ending": "text", "texts": "count"}, [{"ending": e, "texts": n} for e, n in ended.most_common() if n])
