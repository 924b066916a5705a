"""Edits of texts by characters and words. Each is a file of this folder and a line of ``catalogue``."""

from __future__ import annotations

import difflib
from collections.abc import Sequence

from ...errors import UsageError
from . import delete, homoglyph, insert, keyboard, negation, swap, synonym
from ._entry import Edit, Synonyms

__all__ = ["Edit", "Synonyms", "catalogue", "edits_of"]

#: By name. A program may add its own.
catalogue: dict[str, Edit] = {
    one.name: one
    for one in (swap.edit, insert.edit, delete.edit, keyboard.edit, homoglyph.edit, synonym.edit, negation.edit)
}


def edits_of(names: Sequence[str | Edit], synonyms: Synonyms) -> list[Edit]:
    """Those of the names; entries of one's own are taken as they are."""
    chosen = []
    for name in [names] if isinstance(names, (str, Edit)) else names:
        if isinstance(name, Edit):
            chosen.append(name)
            continue
        if name not in catalogue:
            near = difflib.get_close_matches(name, catalogue, 1)
            hint = f"; did you mean '{near[0]}'?" if near else ""
            raise UsageError(f"edits: there is no edit '{name}'{hint}; there are {', '.join(catalogue)}")
        if catalogue[name].needs_synonyms and not synonyms:
            raise UsageError(f"edits: {name} needs a list of synonyms; add synonyms=FILE.json, a dict of lists by word")
        chosen.append(catalogue[name])
    if not chosen:
        raise UsageError(f"edits: name at least one of {', '.join(catalogue)}")
    return chosen
