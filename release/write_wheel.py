"""Writes a wheel of what was built for one target: the package, its module with the program in it, manual and completions.

Usage: write_wheel.py PROJECT MODULE SHARE TAG FOLDER
  MODULE: the extension, named as Python looks for it
  SHARE: a folder with what goes to share/ (man pages, completions); TAG: such as cp312-abi3-manylinux_2_28_x86_64
Prints the wheel's name. The bytes depend on the inputs alone (SOURCE_DATE_EPOCH gives the date of its files).
"""

from __future__ import annotations

import configparser
import io
import pathlib
import sys
import tomllib

from packaging.version import Version
from pyproject_metadata import StandardMetadata
from wheel.wheelfile import WheelFile

from project_version import project_version


def entry_points(metadata: StandardMetadata) -> str:
    written = configparser.ConfigParser(delimiters=("=",))
    written.optionxform = str  # type: ignore[assignment,method-assign]
    for group, entries in metadata.entrypoints.items():
        written[group] = entries
    text = io.StringIO()
    written.write(text)
    return text.getvalue()


def files_of(project: pathlib.Path, module: pathlib.Path, share: pathlib.Path, data: str):
    """Names in the wheel with the files that they are."""
    package = project / "python" / "assay"
    for source in package.rglob("*"):
        if source.suffix in {".py", ".pyi"} or source.name == "py.typed":
            yield f"assay/{source.relative_to(package)}", source
    yield f"assay/{module.name}", module
    yield f"{data}/scripts/assay", project / "release" / "program.py"
    for source in share.rglob("*"):
        if source.is_file():
            yield f"{data}/data/share/{source.relative_to(share)}", source


def write(project: pathlib.Path, module: pathlib.Path, share: pathlib.Path, tag: str, folder: pathlib.Path) -> pathlib.Path:
    metadata = StandardMetadata.from_pyproject(tomllib.loads((project / "pyproject.toml").read_text()), project)
    metadata.version = Version(project_version(project))
    base = f"{metadata.name}-{metadata.version}"
    about = f"{base}.dist-info"
    path = folder / f"{base}-{tag}.whl"
    python, abi, platform = tag.split("-")
    with WheelFile(path, "w") as wheel:
        # The module after what says that it is only half there, where an installation ends because the disk is full.
        files = files_of(project, module, share, f"{base}.data")
        for name, source in sorted(files, key=lambda file: (file[1] == module, file[0])):
            wheel.write(source, name)
        wheel.writestr(f"{about}/METADATA", bytes(metadata.as_rfc822()))
        wheel.writestr(f"{about}/WHEEL", f"Wheel-Version: 1.0\nGenerator: assay\nRoot-Is-Purelib: false\nTag: {python}-{abi}-{platform}\n")
        wheel.writestr(f"{about}/entry_points.txt", entry_points(metadata))
        wheel.write(project / "LICENSE", f"{about}/licenses/LICENSE")
        wheel.write(share / "doc" / "assay" / "LICENSES-of-libraries.txt", f"{about}/licenses/LICENSES-of-libraries.txt")
    return path


if __name__ == "__main__":
    if len(sys.argv) != 6:
        sys.exit(__doc__)
    *paths, tag, folder = sys.argv[1:]
    print(write(*(pathlib.Path(path) for path in paths), tag, pathlib.Path(folder)).name)
