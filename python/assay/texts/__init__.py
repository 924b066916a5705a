"""Networks that decide about texts, tested by the texts: attacks by edits of characters and words, tests of behaviour from
templates, texts on which two networks disagree, texts that are worth a label. Also ``python3 -m assay.texts``. See docs/text.md."""

from __future__ import annotations

from . import edits
from ._attack import attack
from ._check import check
from ._explore import explore
from ._intervals import clopper_pearson, wilson
from ._selection import diverse, select
from ._suite import Suite

__all__ = ["Suite", "attack", "check", "clopper_pearson", "diverse", "edits", "explore", "select", "wilson"]
