"""Words that the user's list lets stand for each other."""

from __future__ import annotations

from ._entry import Edit, Synonyms, others


def _words(word: str, synonyms: Synonyms) -> list[str]:
    found = synonyms.get(word) or synonyms.get(word.lower()) or []
    if word.isupper() and len(word) > 1:
        return others(word, [one.upper() for one in found])
    return others(word, [one.capitalize() if word[:1].isupper() else one for one in found])


edit = Edit("synonym", "a word becomes one that the list of synonyms names", _words, needs_synonyms=True)
