"""White-box testing for deep-learning models: which neurons decide, how well a test set exercises them, and which
faults it would miss.

    import assay
    model = assay.load("net.onnx")
    result = assay.cover(model, train=(x_train, y_train), test=(x_test, y_test), criterion=["idc[m=6]", "nc"])
    result.idc, result.to_pandas(), result.save_html("cover.html")

See docs/python.md.
"""

from __future__ import annotations

import os as _os
import sys as _sys

from . import _loading

# The module's libraries find each other before those of the same name that another framework has in the process.
_flags = _sys.getdlopenflags()
_sys.setdlopenflags(_flags | getattr(_os, "RTLD_DEEPBIND", 0))
try:
    _loading.refuse_half_a_module()
    from . import _assay
except ImportError as _error:
    raise ImportError(_loading.what_to_do(_error), name=_error.name, path=_error.path) from _error
finally:
    _sys.setdlopenflags(_flags)

from ._data import Data, data
from ._model import Layer, Model, load
from ._progress import AssayWarning
from ._results import Result, Table, read_result, save_report
from ._sequences import sequences
from ._tokenizer import Encoding, Tokenizer
from .errors import (
    AssayError,
    DataError,
    FileError,
    GateFailed,
    InternalError,
    MismatchError,
    ModelError,
    ResourcesError,
    UnsupportedError,
    UsageError,
)

__version__: str = _assay.__version__


def versions() -> dict[str, str]:
    """Versions of Assay and of the libraries that results rest on."""
    return dict(_assay.component_versions())


_here = [
    "AssayError",
    "AssayWarning",
    "Data",
    "DataError",
    "Encoding",
    "FileError",
    "GateFailed",
    "InternalError",
    "Layer",
    "MismatchError",
    "Model",
    "ModelError",
    "ResourcesError",
    "Result",
    "Table",
    "Tokenizer",
    "UnsupportedError",
    "UsageError",
    "data",
    "load",
    "read_result",
    "save_report",
    "sequences",
    "versions",
]


def _made_when_asked() -> dict[str, object]:
    """Loaded on first use, so that an import is fast: classes to derive from, and one function a command ("model" and
    "data" describe what load() and data() make)."""
    from . import _own
    from ._questions import commands

    made: dict[str, object] = {name: getattr(_own, name) for name in _own.__all__}
    made.update({function.__name__: function for function in commands.values()})
    return {**made, "commands": commands, "__all__": sorted([*_here, *made, "commands"])}


def __getattr__(name: str) -> object:
    if name == "__all__" or not name.startswith("_"):
        made = _made_when_asked()
        if name in made:
            globals()[name] = made[name]
            return made[name]
    raise AttributeError(f"module '{__name__}' has no attribute '{name}'", name=name, obj=_sys.modules[__name__])


def __dir__() -> list[str]:
    return sorted({*globals(), *_made_when_asked()})
