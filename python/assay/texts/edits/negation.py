"""A verb is negated, or no longer."""

from __future__ import annotations

from ._entry import Edit, Synonyms, others

_verbs = ["is", "are", "was", "were", "do", "does", "did", "has", "have", "had", "can", "could", "will", "would", "should", "must", "may", "might"]
_negated = {**{verb: f"{verb} not" for verb in _verbs}, "can": "cannot"}
_affirmed = {
    **{f"{verb}n't": verb for verb in _verbs}, "can't": "can", "won't": "will", "cannot": "can",
}


def _words(word: str, _: Synonyms) -> list[str]:
    low = word.lower()
    found = _negated.get(low) or _affirmed.get(low.replace("’", "'"))
    if found is None:
        return []
    return others(word, [found.capitalize() if word[:1].isupper() else found])


edit = Edit("negation", "a verb such as is, can or did gets its not, or loses it: the meaning changes", _words, keeps_meaning=False)
