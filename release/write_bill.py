"""Prints a bill of materials of what released forms are linked with, in CycloneDX's form 1.5.

Usage: write_bill.py LOCK PROJECT
  LOCK: release/sources.lock; PROJECT: pyproject.toml
"""

from __future__ import annotations

import json
import pathlib
import subprocess
import sys
import tomllib

from project_version import project_version

# Libraries that are headers alone come from packages of the building machine.
_headers = ("libcli11-dev", "nlohmann-json3-dev", "libtomlplusplus-dev", "libxxhash-dev")


def _component(name: str, version: str, kind: str, hashes: dict[str, str]) -> dict[str, object]:
    from_debian = {"bom-ref": f"{kind}/{name}", "type": "library", "name": name, "version": version, "purl": f"pkg:{kind}/{name}@{version}"}
    if hashes:
        from_debian["externalReferences"] = [
            {"type": "distribution", "url": file, "hashes": [{"alg": "SHA-256", "content": digest}]} for file, digest in sorted(hashes.items())
        ]
    return from_debian


def bill(lock: pathlib.Path, project: pathlib.Path) -> dict[str, object]:
    kinds = {"source": "deb/debian", "wheel": "pypi"}  # headers of Python are part of nothing
    found: dict[tuple[str, str, str], dict[str, str]] = {}
    for line in lock.read_text().splitlines():
        kind, *fields = line.split()
        if kind in kinds:
            name, version, file, digest = fields
            found.setdefault((name, version, kinds[kind]), {})[file] = digest
    components = [_component(name, version, kind, files) for (name, version, kind), files in sorted(found.items())]
    for package in _headers:
        version = subprocess.run(["dpkg-query", "-W", "-f=${Version}", package], check=True, capture_output=True, text=True).stdout
        components.append(_component(package, version, "deb/debian", {}))
    own = tomllib.loads(project.read_text())["project"]
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {"component": {"type": "application", "name": own["name"], "version": project_version(project.parent)}},
        "components": components,
    }


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    print(json.dumps(bill(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])), indent=2))
