"""Texts that are worth a label: doubtful ones, and those that are unlike each other."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import numpy as np

from .._tokenizer import TokenizerLike
from ..errors import UsageError
from ._mixture import Mixture
from ._network import TextNetwork, shares


def _margin(probabilities: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    ordered = np.sort(probabilities, 1)
    return np.asarray(ordered[:, -2] - ordered[:, -1])


def _entropy(probabilities: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    return np.asarray(-(probabilities * np.log(np.maximum(probabilities, 1e-300))).sum(1))


#: By name; greater is more doubtful.
doubts = {"margin": _margin, "entropy": _entropy}


def distances(text: str, texts: Sequence[str]) -> np.ndarray[Any, Any]:
    """Levenshtein's distance to each text over the length of the longer one, 0 to 1."""
    lengths = np.array([len(one) for one in texts])
    width = int(lengths.max(initial=0))
    codes = np.full((len(texts), width), -1, np.int64)
    for place, one in enumerate(texts):
        codes[place, : len(one)] = [ord(character) for character in one]
    steps = np.arange(width + 1)
    row = np.repeat(steps[None], len(texts), 0)
    for number, character in enumerate(text, 1):
        changed = np.minimum(row[:, 1:] + 1, row[:, :-1] + (codes != ord(character)))
        begun = np.concatenate([np.full((len(texts), 1), number), changed], 1)
        row = np.minimum.accumulate(begun - steps, 1) + steps  # characters put in
    return np.asarray(row[np.arange(len(texts)), lengths] / np.maximum(np.maximum(lengths, len(text)), 1))


def diverse(texts: Sequence[str], count: int, *, first: int = 0) -> list[int]:
    """Positions of texts that are far from each other: from ``first`` on, always the one whose nearest chosen text is
    furthest (Gonzalez 1985), by :func:`distances`; of equals the first."""
    if isinstance(texts, str):
        raise UsageError("texts: a list of texts is needed")
    if not 1 <= count <= len(texts):
        raise UsageError(f"count={count}: 1 to {len(texts)} texts can be chosen")
    if not 0 <= first < len(texts):
        raise UsageError(f"first={first}: the first text is one of {len(texts)}, counted from 0")
    chosen = [first]
    nearest = distances(texts[first], texts)
    while len(chosen) < count:
        nearest[chosen] = -1
        chosen.append(int(nearest.argmax()))
        nearest = np.minimum(nearest, distances(texts[chosen[-1]], texts))
    return chosen


def _unusual(network: TextNetwork, texts: Sequence[str], seen: Sequence[str] | None, layer: str | None, components: int | None) -> np.ndarray[Any, Any]:
    if seen is None or layer is None:
        raise UsageError("doubt='mixture' is about what a layer gives beside the texts seen before; give seen=TEXTS and layer=NAME")
    if components is not None and components < 1:
        raise UsageError(f"components={components}: a mixture has at least one")
    return Mixture(network.at_last_token(seen, layer), 4 if components is None else components).surprise(network.at_last_token(texts, layer))


def select(
    network: Any, texts: Sequence[str], count: int, *, doubt: str = "margin", pool: float = 3, tokenizer: TokenizerLike | None = None,
    words: str | os.PathLike[str] | None = None, decision: str | int | None = None, length: int | None = None,
    seen: Sequence[str] | None = None, layer: str | None = None,
    components: int | None = None,
) -> list[int]:
    """Positions of doubtful texts that are unlike each other, in the order in which they are worth a label.

    ``doubt``: ``"margin"`` between the two most probable answers, ``"entropy"``, or ``"mixture"``: how improbable a text is
    by a mixture of ``components`` (4) Gaussians over what ``layer`` gives at the last token of the texts ``seen``. Of the ``pool`` times ``count`` most
    doubtful texts, :func:`diverse` chooses, the most doubtful one first; with ``pool=1`` doubt alone decides.
    """
    if doubt not in (*doubts, "mixture"):
        raise UsageError(f"doubt='{doubt}': {', '.join(doubts)} or mixture")
    if isinstance(texts, str):
        raise UsageError("texts: a list of texts is needed")
    if not 1 <= count <= len(texts) or pool < 1:
        raise UsageError(f"count={count}, pool={pool}: 1 to {len(texts)} texts can be chosen, from a pool of at least as many")
    if doubt != "mixture" and (seen is not None or layer is not None or components is not None):
        raise UsageError("seen, layer and components have no effect without doubt='mixture'")
    asked = TextNetwork(network, tokenizer, words=words, decision=decision, length=length)
    doubtful = _unusual(asked, texts, seen, layer, components) if doubt == "mixture" else doubts[doubt](shares(asked.scores(texts)[0]))
    order = np.argsort(-doubtful, kind="stable")[: max(count, int(pool * count))]
    if pool == 1:
        return [int(place) for place in order]
    return [int(order[place]) for place in diverse([texts[int(place)] for place in order], count)]
