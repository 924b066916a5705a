"""Tests of behaviour: what a network decides about texts from templates, and about texts that are changed."""

from __future__ import annotations

import os
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._results import Result
from .._tokenizer import TokenizerLike
from ._document import Figure, result_of, table
from ._network import TextNetwork, shares
from ._suite import Case, Suite, Test, invariance, minimum_functionality, put
from ._words import Words, budget_of, synonyms_of
from .edits import Edit, Synonyms, edits_of

_edited_versions = 3  # of a text, where edits are drawn
_cases_at_a_time = 64

_definitions = [
    {"term": "minimum functionality", "text": "a case passes when the decision about its text is the label", "source": "Ribeiro et al., ACL 2020"},
    {"term": "invariance", "text": "a case passes when the decisions about all changed texts are that about the text", "source": "Ribeiro et al., ACL 2020"},
    {
        "term": "directional expectation",
        "text": "a case passes when the share of the label falls (rises) by no more than the tolerance in any changed text where it is expected to go up (down)",
        "source": "Ribeiro et al., ACL 2020",
    },
    {"term": "unseen", "text": "cases that are not counted: all changed texts become the same tokens as the text (words that are not known, or that length= cuts off), so any network passes", "source": "Assay"},
    {"term": "interval", "text": "of the share of cases that pass, at 95 %: exact, and the score interval", "source": "Clopper and Pearson 1934; Wilson 1927"},
]


@dataclass(frozen=True)
class Verdict:
    case: Case
    passed: bool
    decision: int
    worst: str = ""  # the changed text that speaks most against
    detail: str = ""


def cases_of(test: Test, synonyms: Synonyms, seed: int) -> list[Case]:
    """The texts of a test with what becomes of them. Texts that nothing changes are not cases."""
    if test.kind == minimum_functionality:
        return [Case(text, label=test.entry["label"]) for text, _ in test.texts()]
    edits = edits_of(test.entry["edits"], synonyms) if "edits" in test.entry else []
    made = []
    for number, (text, filled) in enumerate(test.texts()):
        changed = _changed(test, text, filled, edits, synonyms, random.Random(f"{seed} {test.name} {number}"))
        changed = [one for one in dict.fromkeys(changed) if one != text]
        if changed:
            made.append(Case(text, tuple(changed), test.entry.get("label")))
    if not made:
        raise test.say("no text is changed by what it says")
    return made


def _changed(test: Test, text: str, filled: Mapping[str, str], edits: Sequence[Edit], synonyms: Synonyms, rng: random.Random) -> list[str]:
    entry = test.entry
    if "append" in entry:
        return [f"{text} {one}" for one in _listed(entry["append"])]
    if "prepend" in entry:
        return [f"{one} {text}" for one in _listed(entry["prepend"])]
    if "replace" in entry:
        return [text.replace(old, new) for old, new in entry["replace"].items()]
    if "vary" in entry:
        return _varied(test, filled)
    return [_edited(test, text, edits, synonyms, rng) for _ in range(_edited_versions)]


def _listed(given: Any) -> list[str]:
    return [given] if isinstance(given, str) else list(given)


def _varied(test: Test, filled: Mapping[str, str]) -> list[str]:
    """All other words of a lexicon in its first slot."""
    lexicon, template = test.entry["vary"], filled.get("")
    if template is None:
        raise test.say("vary is for templates; texts have no slots")
    slot = next((name for name in filled if name and name.rstrip("0123456789") == lexicon), None)
    if slot is None:
        raise test.say(f"vary = \"{lexicon}\": '{template}' has no slot {{{lexicon}}}")
    return [put(template, {**filled, slot: word}) for word in test.words_of(lexicon, template)]


def _edited(test: Test, text: str, edits: Sequence[Edit], synonyms: Synonyms, rng: random.Random) -> str:
    """Random edits of random words, as many as ``changes`` says (1)."""
    words = Words.of(text)
    free = [p for p in words.free(test.entry.get("protect", [])) if any(e.words(words.words[p], synonyms) for e in edits)]
    for place in rng.sample(free, budget_of(float(test.entry.get("changes", 1)), len(free))):
        made = [one for edit in edits for one in edit.words(words.words[place], synonyms)]
        words = words.with_word(place, rng.choice(made))
    return words.text()


@dataclass(frozen=True)
class Seen:
    """Cases as a network sees them."""

    cases: list[Case]
    same: int  # cases of which no changed text is another record, so that any network passes


def seen_by(network: TextNetwork, test: Test, cases: Sequence[Case]) -> Seen:
    """Without changed texts that become the same tokens, as names do that are all unknown."""
    if test.kind == minimum_functionality:
        return Seen(list(cases), 0)
    kept = [one for begin in range(0, len(cases), _cases_at_a_time) for one in _seen_of(network, cases[begin : begin + _cases_at_a_time])]
    return Seen(kept, len(cases) - len(kept))


def _seen_of(network: TextNetwork, cases: Sequence[Case]) -> list[Case]:
    given = iter(network.seen([text for case in cases for text in (case.text, *case.changed)]))
    kept = []
    for case in cases:
        own = next(given)
        changed = tuple(one for one in case.changed if next(given) != own)
        if changed:
            kept.append(Case(case.text, changed, case.label))
    return kept


def judge(network: TextNetwork, test: Test, cases: Sequence[Case]) -> list[Verdict]:
    if not cases:
        return []
    texts = [text for case in cases for text in (case.text, *case.changed)]
    scores, decisions = network.scores(texts)
    of_classes, verdicts, begin = shares(scores), [], 0
    for case in cases:
        end = begin + 1 + len(case.changed)
        verdicts.append(_verdict(network, test, case, of_classes[begin:end], decisions[begin:end]))
        begin = end
    return verdicts


def _verdict(network: TextNetwork, test: Test, case: Case, of_classes: np.ndarray[Any, Any], decisions: np.ndarray[Any, Any]) -> Verdict:
    first = int(decisions[0])
    if test.kind == minimum_functionality:
        wanted = network.class_of(case.label, f"test '{test.name}'")
        return Verdict(case, first == wanted, first, detail=f"{network.name_of(first)}, not {network.name_of(wanted)}")
    if test.kind == invariance:
        away = np.flatnonzero(decisions[1:] != first)
        if len(away) == 0:
            return Verdict(case, True, first)
        return Verdict(case, False, first, case.changed[away[0]], f"{network.name_of(first)}, then {network.name_of(int(decisions[1 + away[0]]))}")
    label = network.class_of(case.label, f"test '{test.name}'")
    sign = 1 if test.entry["expect"] == "up" else -1
    moved = sign * (of_classes[1:, label] - of_classes[0, label])
    worst = int(moved.argmin())
    passed = bool(moved[worst] >= -float(test.entry.get("tolerance", 0.1)))
    return Verdict(case, passed, first, case.changed[worst], f"share of {network.name_of(label)} {of_classes[0, label]:.3f}, then {of_classes[1 + worst, label]:.3f}")


def check(
    network: Any,
    suite: str | os.PathLike[str] | Mapping[str, Any] | Suite,
    *,
    tokenizer: TokenizerLike | None = None,
    words: str | os.PathLike[str] | None = None,
    synonyms: Any = None,
    seed: int = 1,
    shown: int = 5,
    decision: str | int | None = None,
    length: int | None = None,
    fail_under: Sequence[str] = (),
) -> Result:
    """Tests of behaviour from templates (docs/text.md): minimum functionality, invariance, directional expectations.

    Parameters
    ----------
    network
        A loaded network, or what :func:`assay.load` takes.
    suite
        A file .toml or .json, its content, or a Suite.
    tokenizer
        As for :func:`assay.data`; by default that of the network's folder.
    words
        The network whose words texts become, for a mutant or a loaded network; a file that takes texts itself knows its own.
    synonyms
        For the edit ``synonym``: a dict of lists by word, or a JSON file of one.
    shown
        Failing cases that are listed of each test.
    decision, length
        As ``--decision`` of the program, and the tokens or words of a record.
    fail_under
        Gates on ``pass-rate``: ``"pass-rate>=0.9"``, ``"pass-rate[test=negation]>=0.8"``,
        ``"pass-rate[capability=fairness]=1"`` (docs/gates.md).
    """
    if not isinstance(suite, Suite):
        suite = Suite(suite) if isinstance(suite, Mapping) else Suite.read(suite)
    chosen = TextNetwork(network, tokenizer, words=words, decision=decision, length=length)
    named = synonyms_of(synonyms)
    cases = [cases_of(test, named, seed) for test in suite.tests]
    chosen.know([case.text for of_test in cases for case in of_test])
    seen = [seen_by(chosen, test, of_test) for test, of_test in zip(suite.tests, cases)]
    judged = [(test, judge(chosen, test, one.cases)) for test, one in zip(suite.tests, seen)]
    figures = [_figure("", [v for _, verdicts in judged for v in verdicts])]
    figures += [_figure(f"test={test.name}", verdicts) for test, verdicts in judged]
    capabilities = list(dict.fromkeys(test.capability for test, _ in judged))
    figures += [_figure(f"capability={one}", [v for test, verdicts in judged if test.capability == one for v in verdicts]) for one in capabilities]
    whole, by_test, by_capability = figures[0], figures[1 : 1 + len(judged)], figures[1 + len(judged) :]
    tables = [_tests_table(judged, by_test, seen), _capabilities_table(capabilities, by_capability), _failures_table(chosen, judged, shown)]
    of = f"{'case' if whole.coverable == 1 else 'cases'} of {len(judged)} {'test' if len(judged) == 1 else 'tests'}"
    headline = f"{whole.covered} of {whole.coverable} {of} {'passes' if whole.covered == 1 else 'pass'}{_unseen(judged, seen)}"
    return result_of("texts check", headline, figures, tables, network=chosen, gates=fail_under, definitions=_definitions, options=suite.name)


def _unseen(judged: Sequence[tuple[Test, Sequence[Verdict]]], seen: Sequence[Seen]) -> str:
    """What no test can tell, for the headline."""
    count = sum(one.same for one in seen)
    if count == 0:
        return ""
    names = [test.name for (test, _), one in zip(judged, seen) if one.same]
    said = "1 more case is not counted, as its texts become" if count == 1 else f"{count} more cases are not counted, as their texts become"
    return f"; {said} the same tokens when they change ({', '.join(names)}): use words that the network knows, within the tokens that it reads"


def _figure(context: str, verdicts: Sequence[Verdict]) -> Figure:
    return Figure("pass-rate", sum(verdict.passed for verdict in verdicts), len(verdicts), context)


_counted = {"cases": "count", "failed": "count", "pass_rate": "fraction", "low": "fraction", "high": "fraction", "wilson_low": "fraction", "wilson_high": "fraction"}
_titles = {"low": "from", "high": "to (95 %)", "wilson_low": "from (Wilson)", "wilson_high": "to (Wilson)"}


def _counts(figure: Figure) -> dict[str, Any]:
    return {
        "cases": figure.coverable, "failed": figure.coverable - figure.covered,
        "pass_rate": figure.covered / figure.coverable if figure.coverable else None, **figure.intervals(),
    }


def _tests_table(judged: Sequence[tuple[Test, Sequence[Verdict]]], figures: Sequence[Figure], seen: Sequence[Seen]) -> dict[str, Any]:
    rows = [
        {"test": test.name, "capability": test.capability, "kind": test.kind, **_counts(figure), "unseen": one.same}
        for (test, _), figure, one in zip(judged, figures, seen)
    ]
    return table("tests", "By test", {"test": "text", "capability": "text", "kind": "text", **_counted, "unseen": "count"}, rows, _titles)


def _capabilities_table(names: Sequence[str], figures: Sequence[Figure]) -> dict[str, Any]:
    rows = [{"capability": name, **_counts(figure)} for name, figure in zip(names, figures)]
    return table("capabilities", "By capability", {"capability": "text", **_counted}, rows, _titles)


def _failures_table(network: TextNetwork, judged: Sequence[tuple[Test, Sequence[Verdict]]], shown: int) -> dict[str, Any]:
    rows = []
    for test, verdicts in judged:
        for verdict in [one for one in verdicts if not one.passed][:shown]:
            rows.append({"test": test.name, "text": verdict.case.text, "changed": verdict.worst, "what": verdict.detail})
    return table("failures", "Cases that fail", {"test": "text", "text": "text", "changed": "text", "what": "text"}, rows)
