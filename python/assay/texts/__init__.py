"""Networks that decide about texts, tested by the texts: attacks by edits of characters and words, and tests of behaviour from
templates. Also ``python3 -m assay.texts``. See docs/text.md."""

from __future__ import annotations

from . import edits
from ._attack import attack
from ._check import check
from ._intervals import clopper_pearson, wilson
from ._suite import Suite

__all__ = ["Suite", "attack", "check", "clopper_pearson", "edits", "wilson"]
