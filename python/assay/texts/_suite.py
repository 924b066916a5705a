"""Suites of tests of behaviour: templates with lexicons, from TOML or JSON (Ribeiro et al., ACL 2020)."""

from __future__ import annotations

import itertools
import json
import math
import os
import pathlib
import random
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..errors import DataError, UnsupportedError
from ._table import read_text
from .edits import Edit

__all__ = ["Case", "Suite", "Test"]

minimum_functionality, invariance, directional = "minimum-functionality", "invariance", "directional"

_slot = re.compile(r"\{([A-Za-z_]\w*?)(\d*)\}")
_ways = ("vary", "edits", "append", "prepend", "replace")  # how texts are changed
_of_all = {"name", "capability", "kind", "templates", "texts", "most"}
_of_kind = {
    minimum_functionality: {"label"},
    invariance: {*_ways, "changes", "protect"},
    directional: {*_ways, "changes", "protect", "label", "expect", "tolerance"},
}


def _is_number(given: Any) -> bool:
    return isinstance(given, (int, float)) and not isinstance(given, bool) and abs(given) <= sys.float_info.max


def _is_text(given: Any) -> bool:
    return isinstance(given, str)


def _are_texts(given: Any) -> bool:
    return isinstance(given, (list, tuple)) and all(map(_is_text, given))


def _are_edits(given: Any) -> bool:
    """Names, or entries of one's own from Python."""
    return all(isinstance(one, (str, Edit)) for one in (given if isinstance(given, (list, tuple)) else [given]))


#: Of what an entry says, whether it is written as it has to be, and how that is.
_written_as: dict[str, tuple[Callable[[Any], bool], str]] = {
    **dict.fromkeys(("templates", "texts", "protect"), (_are_texts, "a list of texts")),
    **dict.fromkeys(("append", "prepend"), (lambda given: _is_text(given) or _are_texts(given), "a text or a list of texts")),
    "replace": (lambda given: isinstance(given, Mapping) and all(map(_is_text, given.values())), "a table of texts by what they replace"),
    "edits": (_are_edits, "a list of names of edits"),
    "vary": (_is_text, "the name of a lexicon"),
    "most": (lambda given: _is_number(given) and given % 1 == 0 and given >= 1, "a number of texts, at least 1"),
    **dict.fromkeys(("changes", "tolerance"), (_is_number, "a finite number")),
}
_most_fillings = 1_000_000  # of a template, of which texts are drawn


@dataclass(frozen=True)
class Case:
    """A text, and what it becomes; nothing of it in a test of minimum functionality."""

    text: str
    changed: tuple[str, ...] = ()
    label: Any = None


@dataclass(frozen=True)
class Test:
    """One test of a suite; ``entry`` is what the file says of it."""

    name: str
    capability: str
    kind: str
    entry: Mapping[str, Any]
    lexicons: Mapping[str, Sequence[str]] = field(default_factory=dict)

    def say(self, fault: str) -> DataError:
        return DataError(f"test '{self.name}': {fault}")

    def texts(self) -> list[tuple[str, dict[str, str]]]:
        """Texts of the test with what stands in their slots, drawn where there are more than ``most``."""
        made: list[tuple[str, dict[str, str]]] = [(text, {}) for text in self.entry.get("texts", [])]
        for template in self.entry.get("templates", []):
            made += self._filled(template)
        if not made:
            raise self.say("it has no texts; give templates = [...] or texts = [...]")
        most = int(self.entry.get("most", 1000))
        return made if len(made) <= most else random.Random(self.name).sample(made, most)

    def words_of(self, lexicon: str, template: str) -> Sequence[str]:
        if lexicon not in self.lexicons:
            raise self.say(f"'{template}': there is no lexicon '{lexicon}'; there are {', '.join(self.lexicons) or 'none'}")
        return self.lexicons[lexicon]

    def _filled(self, template: str) -> Iterator[tuple[str, dict[str, str]]]:
        """All ways to fill the slots. {name1} and {name2} are different words of one lexicon."""
        slots = list(dict.fromkeys(match.groups() for match in _slot.finditer(template)))
        ways = math.prod(len(self.words_of(lexicon, template)) for lexicon, _ in slots)
        if ways > _most_fillings:
            raise self.say(f"'{template}' has {ways:,} fillings, and at most {_most_fillings:,} are made; give it fewer slots or shorter lexicons")
        for words in itertools.product(*(self.words_of(lexicon, template) for lexicon, _ in slots)):
            chosen = dict(zip(slots, words))
            pairs = itertools.combinations(chosen.items(), 2)
            if any(a[0] == b[0] and one == other for (a, one), (b, other) in pairs):
                continue
            filled = {lexicon + number: word for (lexicon, number), word in chosen.items()}
            yield put(template, filled), {**filled, "": template}


def put(template: str, words: Mapping[str, str]) -> str:
    """The template with words in its slots."""
    return _slot.sub(lambda match: str(words[match[1] + match[2]]), template)


class Suite:
    """Tests by name, in the order of the file."""

    def __init__(self, content: Mapping[str, Any], name: str = "suite") -> None:
        self.name = name
        lexicons = content.get("lexicons", {})
        if not isinstance(lexicons, Mapping) or not isinstance(content.get("tests", []), (list, tuple)):
            raise DataError(f"{name}: a suite has lexicons by name, and a list of tests")
        for lexicon, words in lexicons.items():
            if not words or not _are_texts(words):
                raise DataError(f"{name}: lexicon '{lexicon}' is not a list of words; give it one text or more in []")
        unknown = set(content) - {"lexicons", "tests"}
        if unknown or not content.get("tests"):
            raise DataError(f"{name}: a suite has lexicons and tests{'; what is ' + ', '.join(sorted(unknown)) + '?' if unknown else ', and this one no tests'}")
        self.tests = [_test(entry, lexicons, name) for entry in content["tests"]]
        names = [test.name for test in self.tests]
        for one in names:
            if names.count(one) > 1:
                raise DataError(f"{name}: two tests are called '{one}'")

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> Suite:
        """A file .toml (with Python 3.11 or newer) or .json."""
        place = pathlib.Path(path)
        return cls(_parsed(read_text(place), place), str(place))


def _parsed(text: str, place: pathlib.Path) -> Any:
    read: Any = json.loads
    if place.suffix == ".toml":
        try:
            import tomllib
        except ImportError:
            raise UnsupportedError(f"{place}: TOML needs Python 3.11 or newer; write the suite as JSON") from None
        read = tomllib.loads
    try:
        content = read(text)
    except ValueError as error:
        raise DataError(f"{place}: {error}") from error
    if not isinstance(content, dict):
        raise DataError(f"{place}: a suite is an object with lexicons and tests")
    return content


def _test(entry: Any, lexicons: Mapping[str, Sequence[str]], suite: str) -> Test:
    name = entry.get("name") if isinstance(entry, Mapping) else None
    if not isinstance(name, str) or not name:
        raise DataError(f"{suite}: a test has no name")
    test = Test(name, str(entry.get("capability", "")), str(entry.get("kind", "")), entry, lexicons)
    if test.kind not in _of_kind:
        raise test.say(f"kind '{test.kind}' is none of {', '.join(_of_kind)}")
    _check_keys(test)
    if not test.capability:
        raise test.say("it has no capability, by which results are summed up")
    if test.kind != invariance and "label" not in entry:
        raise test.say("it needs a label")
    if test.kind == directional and entry.get("expect") not in ("up", "down"):
        raise test.say('expect says how the share of the label moves: "up" or "down"')
    return test


def _check_keys(test: Test) -> None:
    known = _of_all | _of_kind[test.kind]
    unknown = sorted(set(test.entry) - known)
    if unknown:
        raise test.say(f"'{unknown[0]}' is not a key of tests of the kind {test.kind}; there are {', '.join(sorted(known))}")
    if test.kind != minimum_functionality and sum(way in test.entry for way in _ways) != 1:
        raise test.say(f"it needs one of {', '.join(_ways)}: how texts are changed")
    for key, (fits, what) in _written_as.items():
        if key in test.entry and not fits(test.entry[key]):
            raise test.say(f"{key} = {test.entry[key]!r} is not {what}")
    idle = [key for key in ("changes", "protect") if key in test.entry and "edits" not in test.entry]
    if idle:
        raise test.say(f"{idle[0]} is for edits, and there are none")
