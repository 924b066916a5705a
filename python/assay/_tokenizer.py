"""Texts as tokens: the file tokenizer.json, read by the library, and tokenizers of other packages."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Union

import numpy as np

from . import _assay
from .errors import DataError, UsageError

__all__ = ["Encoding", "Tokenizer"]

# A tokenizer.json or its folder, a tokenizer of `transformers`, or what makes numbers of a list of texts.
TokenizerLike = Union[str, "os.PathLike[str]", "Tokenizer", Callable[[list[str]], Any]]


@dataclass(frozen=True)
class Encoding:
    """A text as tokens; all lists have an element a token (docs/text.md)."""

    ids: list[int]
    tokens: list[str]
    offsets: list[tuple[int, int]]  # characters of the text
    types: list[int]
    attention: list[int]
    special: list[int]
    words: list[int | None]

    def __len__(self) -> int:
        return len(self.ids)


def _require_text(text: str, what: str) -> None:
    """Python's texts may hold halves of characters, which are none."""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise DataError(f"{what} is not UTF-8: character {error.start} is half of one, {text[error.start]!r}; replace it") from None


class Tokenizer:
    """A ``tokenizer.json`` of the library ``tokenizers``, the folder that holds one, or a ``.model`` of SentencePiece."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._tokenizer = _assay.Tokenizer(os.fspath(path))

    def encode(self, text: str, second: str | None = None, *, special: bool = True, length: int | None = None) -> Encoding:
        """The tokens of a text, or of two that are compared. ``special``: with special tokens around them;
        ``length``: cut and filled up to so many tokens, otherwise as the file says."""
        for one in (text, second):
            if isinstance(one, str):
                _require_text(one, "the text")
        made = self._tokenizer.encode(text, second, special, length)
        return Encoding(
            ids=made.ids,
            tokens=made.tokens,
            offsets=made.offsets,
            types=made.types,
            attention=made.attention,
            special=made.special,
            words=[None if word < 0 else word for word in made.words],
        )

    def decode(self, ids: Sequence[int], *, special: bool = False) -> str:
        """The text of tokens; ``special``: with special ones."""
        return str(self._tokenizer.decode([int(number) for number in ids], special))

    def id(self, token: str) -> int | None:
        """The number of a token."""
        return self._tokenizer.id(token)

    def token(self, id: int) -> str | None:
        """The token of a number."""
        return self._tokenizer.token(int(id))

    def __len__(self) -> int:
        return int(self._tokenizer.size)

    def __call__(self, texts: Sequence[str], *, length: int | None = None) -> dict[str, np.ndarray[Any, Any]]:
        """The inputs of networks for these texts, as many tokens each as the longest has."""
        if length is None:
            length = max(1, *(sum(self.encode(text).attention) for text in texts))
        encodings = [self.encode(text, length=length) for text in texts]
        attention = np.array([encoding.attention for encoding in encodings], np.int64)
        return {
            "input_ids": np.array([encoding.ids for encoding in encodings], np.int64),
            "attention_mask": attention,
            "token_type_ids": np.array([encoding.types for encoding in encodings], np.int64),
            "position_ids": np.maximum(attention.cumsum(1) - attention, 0),
        }

    def __repr__(self) -> str:
        return f"<assay.Tokenizer {self._tokenizer.name}, {len(self)} tokens>"


def _of_transformers(tokenizer: Any, texts: list[str]) -> dict[str, Any]:
    padded = tokenizer.pad_token is not None
    made = tokenizer(texts, padding=padded, truncation=True, return_tensors="np")
    return {name: np.asarray(values) for name, values in made.items()}


def inputs_of_texts(texts: Sequence[str], tokenizer: TokenizerLike) -> dict[str, Any]:
    """The inputs by name that a tokenizer makes of texts."""
    texts = list(texts)
    if not texts:
        raise UsageError("tokenizer= is for a list of texts, one a record, and there is none")
    for record, text in enumerate(texts):
        if not isinstance(text, str):
            raise UsageError(f"tokenizer= is for a list of texts, one a record, and that of record {record} is {text!r:.40}")
        _require_text(text, f"the text of record {record}")
    if isinstance(tokenizer, (str, os.PathLike)):
        tokenizer = Tokenizer(tokenizer)
    if hasattr(tokenizer, "pad_token") and hasattr(tokenizer, "convert_tokens_to_ids"):
        return _of_transformers(tokenizer, texts)
    if not callable(tokenizer):
        raise UsageError(f"tokenizer={tokenizer!r}: a tokenizer.json, a tokenizer of transformers, or a function of a list of texts")
    made = tokenizer(texts)
    if isinstance(made, Mapping):
        return {str(name): np.asarray(values) for name, values in made.items()}
    try:
        return {"input_ids": np.asarray(made, np.int64)}
    except (TypeError, ValueError):
        raise UsageError(
            "the tokenizer gives neither a dict of arrays by name of input nor lists of numbers of the same length"
        ) from None
