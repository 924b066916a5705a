"""Characters that look alike and are others."""

from __future__ import annotations

from ._entry import Edit, Synonyms, others

# Latin letters and those of other scripts that fonts draw alike (confusables of Unicode's TR39).
_alike = dict(zip("aceiopsxyABCEHIKMOPSTXY", "асеіорѕхуАВСЕНІКМОРЅТХУ"))


def _words(word: str, _: Synonyms) -> list[str]:
    return others(word, [word[:i] + _alike[letter] + word[i + 1 :] for i, letter in enumerate(word) if letter in _alike])


edit = Edit("homoglyph", "a Latin letter becomes the Cyrillic one that looks like it", _words)
