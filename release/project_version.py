"""The version of the project, which include/assay/version.h names."""

from __future__ import annotations

import pathlib
import re


def project_version(project: pathlib.Path) -> str:
    header = (project / "include" / "assay" / "version.h").read_text()
    found = re.search(r'ASSAY_VERSION_TEXT "(.*)"', header)
    if not found:
        raise SystemExit(f"{project}/include/assay/version.h does not define ASSAY_VERSION_TEXT")
    return found[1]
