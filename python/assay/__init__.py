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

# The module's libraries find each other before those of the same name that another framework has in the process.
_flags = _sys.getdlopenflags()
_sys.setdlopenflags(_flags | getattr(_os, "RTLD_DEEPBIND", 0))
try:
    from . import _assay
finally:
    _sys.setdlopenflags(_flags)

from ._data import Data, data
from ._model import Layer, Model, load
from ._own import (
    ActivationBatch,
    Attack,
    AttackProblem,
    Constraint,
    Criterion,
    Hypothesis,
    LayerProfile,
    RecordBlock,
    Searches,
    clusterer,
    register,
)
from ._progress import AssayWarning
from ._questions import commands
from ._results import Result, Table, read_result, save_report
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

# One function a command; "model" and "data" describe what load() and data() make.
for _name, _asked in commands.items():
    globals()[_asked.__name__] = _asked
del _name, _asked


def versions() -> dict[str, str]:
    """Versions of Assay and of the libraries that results rest on."""
    return dict(_assay.component_versions())


__all__ = [
    "ActivationBatch",
    "AssayError",
    "AssayWarning",
    "Attack",
    "AttackProblem",
    "Constraint",
    "Criterion",
    "Data",
    "DataError",
    "FileError",
    "GateFailed",
    "Hypothesis",
    "InternalError",
    "Layer",
    "LayerProfile",
    "MismatchError",
    "Model",
    "ModelError",
    "RecordBlock",
    "ResourcesError",
    "Result",
    "Searches",
    "Table",
    "UnsupportedError",
    "UsageError",
    "clusterer",
    "commands",
    "data",
    "load",
    "read_result",
    "register",
    "save_report",
    "versions",
    *(function.__name__ for function in commands.values()),
]
