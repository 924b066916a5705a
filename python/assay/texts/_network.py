"""A network that decides about texts: tokens or numbers of words are made of each text anew, so what is judged is what is written."""

from __future__ import annotations

import json
import os
import pathlib
import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from .._data import data
from .._model import Model, load
from .._tokenizer import Tokenizer, TokenizerLike
from .._words import inputs_of_words, takes_texts, vocabulary_in
from ..errors import DataError, MismatchError, UnsupportedError, UsageError

_texts_at_a_time = 256
_about_tokens = re.compile("(^|,)(position|answers|contrast|mask)=")  # a decision; others name an output
_names_tokenizer = re.compile("(^|,)tokenizer=")


class _Tokens:
    """Texts as tokens."""

    def __init__(self, tokenizer: TokenizerLike, length: int | None) -> None:
        self.folder = _folder_of(tokenizer)
        self.file = os.fspath(tokenizer) if isinstance(tokenizer, (str, os.PathLike)) else None
        self.tokenizer = Tokenizer(tokenizer) if isinstance(tokenizer, (str, os.PathLike)) else tokenizer
        self._length = length
        if length is not None and not isinstance(self.tokenizer, Tokenizer):
            raise UsageError("length= is for a tokenizer.json; another tokenizer decides itself how long records are")

    def __call__(self, texts: Sequence[str]) -> Any:
        if self._length is None or not isinstance(self.tokenizer, Tokenizer):
            return data(list(texts), tokenizer=self.tokenizer)
        tokenizer, length = self.tokenizer, self._length
        return data(list(texts), tokenizer=lambda all_texts: tokenizer(all_texts, length=length))


class _Words:
    """Texts as numbers of the words that a network knows."""

    def __init__(self, network: str | os.PathLike[str], length: int | None, model: Model) -> None:
        self.network, self._length = network, length
        self._own = vocabulary_in(" ".join(model._network.notices))  # none: a mutant, which takes numbers
        self._known: list[str] = []  # texts of which every input knows a word: edited ones may have none

    def __call__(self, texts: Sequence[str]) -> Any:
        inputs, vocabulary = inputs_of_words([*texts, *self._known], self.network, self._length)
        if self._own not in ("", vocabulary):
            raise MismatchError(f"words={os.fspath(self.network)}: these are the words of another network; leave out words=")
        if not self._known:
            self._known = [texts[int(np.flatnonzero(rows.reshape(len(rows), -1).any(1))[0])] for rows in inputs.values()]
        inputs = {name: rows[: len(texts)] for name, rows in inputs.items()}
        return data(next(iter(inputs.values())) if len(inputs) == 1 else inputs, name=f"texts, {vocabulary}")


class TextNetwork:
    """Scores, decisions and shares of texts. Counts the texts that it was asked about."""

    def __init__(
        self, network: Any, tokenizer: TokenizerLike | None, *, words: str | os.PathLike[str] | None = None,
        decision: str | int | None = None, length: int | None = None, like: TextNetwork | None = None,
    ) -> None:  # fmt: skip
        """``like``: makes numbers of texts where nothing is said of this network."""
        file = pathlib.Path(network) if isinstance(network, (str, os.PathLike)) else None
        if tokenizer is not None and words is not None:
            raise UsageError("either tokenizer= or words= makes numbers of texts; leave one out")
        if isinstance(network, Model) and decision is not None:
            raise UsageError("decision= is for a network that is still to be loaded; give it to assay.load()")
        tokens = None if tokenizer is None else _Tokens(tokenizer, length)
        known = tokens if tokens is not None or like is None else like._inputs
        self.model = network if isinstance(network, Model) else _loaded(network, decision, known)
        if tokenizer is None and words is None and takes_texts(self.model._network):
            words = file
        if words is not None:
            self._inputs: _Tokens | _Words = _Words(words, length, self.model)
        elif tokens is None and like is not None:
            self._inputs = like._inputs
        else:
            self._inputs = tokens or _Tokens(_beside(self.model._folder), length)
        self.class_names = _names_of_classes(self.model._folder)
        self._classes = 0  # before it was asked
        self._compared = False  # whether texts change each other's results
        self.asked = 0

    def scores(self, texts: Sequence[str]) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
        """Scores [n, classes] and decisions [n]. A single score z is how far class 1 is ahead of class 0; a probability is that of class 1."""
        parts, decisions = [], []
        for begin in range(0, len(texts), _texts_at_a_time):
            part = texts[begin : begin + _texts_at_a_time]
            inputs = self._inputs(part)
            outputs, classes = self._alone(inputs, part).predict(inputs)
            if classes is None:
                raise UnsupportedError(
                    f"network '{self.model.name}' does not decide once for each text; a causal model does with "
                    "decision='position=last,answers=A+B' (docs/text.md)"
                )
            parts.append(np.asarray(outputs, np.float64).reshape(len(part), -1))
            self._require_finite(parts[-1], part)
            decisions.append(np.asarray(classes))
        self.asked += len(texts)
        scores = np.concatenate(parts)
        if scores.shape[1] == 1:
            scores = np.concatenate([1 - scores, scores] if self._gives_probability() else [-scores / 2, scores / 2], 1)
        self._classes = scores.shape[1]
        return scores, np.concatenate(decisions)

    def _require_finite(self, scores: np.ndarray[Any, Any], texts: Sequence[str]) -> None:
        undecided = np.flatnonzero(~np.isfinite(scores).all(1))
        if len(undecided):
            raise DataError(
                f"network '{self.model.name}' decides nothing about {len(undecided)} of {len(texts)} texts, the first is {texts[undecided[0]]!r}: "
                "its scores are not finite; mend the network, or leave out texts without the position that decides"
            )

    def _alone(self, inputs: Any, texts: Sequence[str]) -> Model:
        if len(set(texts)) > 1 and not self._compared:
            self.model, self._compared = self.model._alone(inputs), True
        return self.model

    def _gives_probability(self) -> bool:
        """Whether the decision is what a sigmoid gives, perhaps in another shape."""
        made_by = {output: node for node in self.model.nodes for output in node["outputs"]}
        node = made_by.get(next(iter(self.model.outputs)))
        while node is not None and node["op"] in ("Identity", "Reshape", "Squeeze", "Unsqueeze", "Flatten"):
            node = made_by.get(node["inputs"][0])
        return node is not None and node["op"] == "Sigmoid"

    def know(self, texts: Sequence[str]) -> None:
        """Texts among which some have words that the network knows, for calls in which none has."""
        if isinstance(self._inputs, _Words):
            self._inputs(texts)

    def seen(self, texts: Sequence[str]) -> list[bytes]:
        """What the network is given of each text; equal for texts of one call that become the same tokens."""
        records = self._inputs(texts).read(range(len(texts)))
        return [b"".join(rows[i].tobytes() for rows in records.values()) for i in range(len(texts))]

    def at_last_token(self, texts: Sequence[str], layer: str) -> np.ndarray[Any, Any]:
        """What a layer gives at the last token of each text, [n, neurons]."""
        if not isinstance(self._inputs, _Tokens):
            raise UnsupportedError(f"network '{self.model.name}' counts words, so no token is the last; choose another doubt=")
        parts = []
        for begin in range(0, len(texts), _texts_at_a_time):
            part = texts[begin : begin + _texts_at_a_time]
            inputs = self._inputs(part)
            model = self._alone(inputs, part)._with_views([f'layer="{layer}",tokens=last'], inputs, self._inputs.folder)
            parts.append(np.asarray(model.activations(inputs, model.layers(inputs)[-1].name), np.float64))
        return np.concatenate(parts)

    def class_of(self, label: Any, what: str) -> int:
        """The number of a class that is named, or numbered."""
        if isinstance(label, (int, np.integer)) and not isinstance(label, bool):
            return self._known(int(label), what)
        for number, name in enumerate(self.class_names):
            if name == label or name.lower() == str(label).lower():
                return number
        if isinstance(label, str) and label.isdecimal():
            return self._known(int(label), what)
        known = f"the network's are {', '.join(self.class_names)}" if self.class_names else "the network names none; give its number"
        raise UsageError(f"{what}: class '{label}' is not known; {known}")

    def _known(self, number: int, what: str) -> int:
        if number < 0 or number >= self._classes > 0:
            raise MismatchError(f"{what}: class {number} is not one of the network's {self._classes}; they are numbered from 0")
        return number

    def name_of(self, number: int) -> str:
        return self.class_names[number] if number < len(self.class_names) else str(number)


def margins(scores: np.ndarray[Any, Any], labels: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """How far the score of each label is ahead of the best other one, [n]."""
    rows = np.arange(len(scores))
    others = scores.copy()
    others[rows, labels] = -np.inf
    return np.asarray(scores[rows, labels] - others.max(1))


def shares(scores: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """The softmax of scores [n, classes]; scores that are shares already stay."""
    if (scores >= 0).all() and np.allclose(scores.sum(1), 1, atol=1e-3):
        return scores
    powers = np.exp(scores - scores.max(1, keepdims=True))
    return np.asarray(powers / powers.sum(1, keepdims=True))


def _folder_of(named: Any) -> str | None:
    """Of a file, or the folder itself; None: neither is named."""
    if not isinstance(named, (str, os.PathLike)):
        return None
    place = pathlib.Path(named)
    return os.fspath(place if place.is_dir() else place.parent)


def _loaded(network: Any, decision: str | int | None, texts: _Tokens | _Words | None) -> Model:
    """Answers are looked up in the tokenizer of the texts where none is next to the network."""
    if decision is None:
        return load(network)
    file = texts.file if isinstance(texts, _Tokens) else None
    folder = _folder_of(network)
    alone = folder is None or not (pathlib.Path(folder) / "tokenizer.json").is_file()
    if file is not None and alone and _needs_tokenizer(decision):
        quoted = file.replace('"', '""')
        decision = f'{decision},tokenizer="{quoted}"'
    return load(network, decision=decision)


def _needs_tokenizer(decision: str | int) -> bool:
    said = str(decision)
    return _about_tokens.search(said) is not None and _names_tokenizer.search(said) is None


def _beside(folder: str) -> str:
    if folder and (pathlib.Path(folder) / "tokenizer.json").is_file():
        return folder
    raise UsageError(
        "tokenizer: no tokenizer.json is next to the network; name one with tokenizer=FILE, give a function of texts, or name the "
        "network whose words texts become with words=FILE"
    )


def _names_of_classes(folder: str) -> list[str]:
    place = pathlib.Path(folder) / "config.json"
    if not folder or not place.is_file():
        return []
    try:
        named = json.loads(place.read_text(encoding="utf-8")).get("id2label") or {}
        names = {int(key): str(name) for key, name in named.items()}
    except (ValueError, AttributeError) as error:
        raise DataError(f"{place}: id2label is not an object of names by number ({error})") from error
    if sorted(names) != list(range(len(names))):
        raise DataError(f"{place}: id2label numbers its {len(names)} classes {', '.join(map(str, sorted(names)))}; they are numbered from 0 without gaps")
    return [names[number] for number in range(len(names))]
