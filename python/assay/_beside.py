"""Which other libraries are in the process. Two libraries of one name and another version (libtorch here and in PyPI's
torch) end the process without a message, so that they are looked for before Assay's module loads, and afterwards when
torch is imported."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from collections.abc import Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType

_library = "libtorch_cpu.so"
_remedy = "use them in two processes (write the network with torch.onnx.export and the data with numpy.savez)"


def loaded_libraries(maps: str = "/proc/self/maps") -> list[str]:
    """Files that the process has mapped; empty where the system does not tell."""
    try:
        with open(maps, encoding="utf-8", errors="surrogateescape") as lines:
            fields = (line.rstrip("\n").split(maxsplit=5) for line in lines)
            return sorted({field[5] for field in fields if len(field) > 5 and field[5].startswith("/")})
    except OSError:
        return []


def first_named(libraries: Sequence[str], name: str) -> str | None:
    """The first library whose file name is `name`, with or without a version after it."""
    return next((file for file in libraries if os.path.basename(file).startswith(name)), None)


def same_file(a: str, b: str) -> bool:
    try:
        return os.path.samefile(a, b)
    except OSError:
        return False


def _libtorch_of_assay() -> str | None:
    """Where a process of its own finds the libtorch that Assay's module is linked with."""
    package = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    code = "import sys; sys.path.insert(0, sys.argv[1]); import assay._beside as b; print(b.first_named(b.loaded_libraries(), b._library) or '')"
    child = subprocess.run([sys.executable, "-c", code, package], capture_output=True, text=True, check=False)
    return child.stdout.strip() or None


def refuse_libraries_that_clash(libraries: Sequence[str] | None = None) -> None:
    """Throws ImportError where what is loaded would end the process as soon as Assay's module comes."""
    libraries = loaded_libraries() if libraries is None else libraries
    tensorflow = first_named(libraries, "libtensorflow_framework.so") or first_named(libraries, "_pywrap_tensorflow")
    if tensorflow is not None:
        raise ImportError(
            f"assay cannot be imported after tensorflow ({tensorflow}): their libraries would end the process; {_remedy}"
        )
    other = first_named(libraries, _library)
    if other is None:
        return
    mine = _libtorch_of_assay()
    if mine is None or not same_file(other, mine):
        raise ImportError(
            f"assay was built with {mine or 'another libtorch'}, and {other} is loaded already: both would end the process; "
            f"{_remedy}, or install Debian's python3-torch beside it"
        )


class _Refusal(Loader):
    def __init__(self, message: str) -> None:
        self.message = message

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        raise ImportError(self.message)

    def exec_module(self, module: ModuleType) -> None:
        raise ImportError(self.message)


class _OtherTorch(MetaPathFinder):
    """Finds a torch that brings a libtorch of another build than the one in the process, and refuses to load it."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname not in ("torch", "tensorflow"):
            return None
        found = PathFinder.find_spec(fullname, path, target)
        if found is None or found.origin is None:
            return None
        message = clash(fullname, os.path.dirname(found.origin), loaded_libraries())
        return None if message is None else importlib.util.spec_from_loader(fullname, _Refusal(message))


def clash(name: str, folder: str, libraries: Sequence[str]) -> str | None:
    """Why the package in `folder` cannot be imported beside these libraries; None where it can."""
    mine = first_named(libraries, _library)
    if mine is None:
        return None
    if name == "tensorflow":
        return f"tensorflow cannot be imported after assay: their libraries would end the process; {_remedy}"
    theirs = os.path.join(folder, "lib", _library)
    if not os.path.exists(theirs) or same_file(mine, theirs):
        return None
    return (
        f"torch ({theirs}) cannot be imported after assay, which was built with {mine}: both would end the process; "
        f"{_remedy}, or install Debian's python3-torch beside it"
    )


def refuse_imports_that_clash() -> None:
    """From now on, importing such a package throws ImportError."""
    sys.meta_path.insert(0, _OtherTorch())
