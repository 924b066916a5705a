"""What to do where the module of this package cannot be loaded."""

from __future__ import annotations

import os
import platform
import sys

OLDEST = (3, 10)


def what_to_do(error: ImportError) -> str:
    """One sentence in place of the loader's own."""
    here = f"Python {platform.python_version()} on {platform.machine()}"
    if sys.version_info < OLDEST:
        return f"assay: {here} is too old; install Python 3.11 or newer, or take the static program, which needs no Python"
    if error.path is not None and not error.path.endswith(".py"):
        return f"assay: its module cannot be loaded: {error}; take the static program or build from source (docs/installing.md)"
    there = sorted(file for file in os.listdir(os.path.dirname(__file__)) if file.startswith("_assay.") and not file.endswith(".pyi"))
    found = f"what there is: {', '.join(there)}" if there else "there is none"
    return f"assay: it has no module for {here} ({found}); install the wheel for this Python and processor (docs/installing.md)"
