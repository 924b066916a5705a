"""Path of the program ``assay`` that belongs to this package."""

from __future__ import annotations

import os
import shutil
from typing import Optional


def program_file() -> Optional[str]:
    """The program next to the package in a build folder, that of the wheel, or the first in PATH; None where there is none."""
    beside = os.path.join(os.path.dirname(__file__), "..", "..", "bin", "assay")
    if os.access(beside, os.X_OK):
        return os.path.realpath(beside)
    installed = _of_wheel()
    if installed is not None:
        return installed
    # The folder in which somebody stands is not asked.
    folders = os.pathsep.join(folder for folder in os.get_exec_path() if os.path.isabs(folder))
    found = shutil.which("assay", path=folders)
    return os.path.realpath(found) if found else None


def _of_wheel() -> Optional[str]:
    from importlib import metadata

    try:
        files = metadata.files("assay") or []
    except metadata.PackageNotFoundError:
        return None
    for file in files:
        if file.name == "assay" and file.parent.name == "bin":
            path = os.path.realpath(str(file.locate()))
            if os.access(path, os.X_OK):
                return path
    return None
