"""The key beside the right one."""

from __future__ import annotations

from ._entry import Edit, Synonyms, others

_rows = ("qwertyuiop", "asdfghjkl", "zxcvbnm")


def _neighbours() -> dict[str, str]:
    """Keys that touch on a keyboard with rows that are shifted by half a key each."""
    found: dict[str, str] = {}
    for number, row in enumerate(_rows):
        for place, key in enumerate(row):
            beside = [(number, place - 1), (number, place + 1), (number - 1, place), (number - 1, place + 1), (number + 1, place - 1), (number + 1, place)]
            found[key] = "".join(_rows[r][p] for r, p in beside if 0 <= r < len(_rows) and 0 <= p < len(_rows[r]))
    return found


_beside = _neighbours()


def _words(word: str, _: Synonyms) -> list[str]:
    made = []
    for i, letter in enumerate(word):
        for key in _beside.get(letter.lower(), ""):
            made.append(word[:i] + (key.upper() if letter.isupper() else key) + word[i + 1 :])
    return others(word, made)


edit = Edit("keyboard", "a letter becomes that of a key beside it (QWERTY)", _words)
