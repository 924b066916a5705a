"""Type stubs of the package, made from the catalogue of commands: ``python3 -m assay._stubs`` writes ``__init__.pyi``."""

from __future__ import annotations

import inspect
import pathlib

from ._questions import commands

_head = '''# Made by `python3 -m assay._stubs`; a test compares.
from collections.abc import Callable, Iterable, Mapping, Sequence
from os import PathLike
from typing import Any, Literal, Union

from ._data import Data as Data
from ._data import data as data
from ._model import Layer as Layer
from ._model import Model as Model
from ._model import load as load
from ._own import ActivationBatch as ActivationBatch
from ._own import Attack as Attack
from ._own import AttackProblem as AttackProblem
from ._own import AttackedNetwork as AttackedNetwork
from ._own import Constraint as Constraint
from ._own import Criterion as Criterion
from ._own import Hypothesis as Hypothesis
from ._own import LayerProfile as LayerProfile
from ._own import RecordBlock as RecordBlock
from ._own import Searches as Searches
from ._own import clusterer as clusterer
from ._own import register as register
from ._progress import AssayWarning as AssayWarning
from ._progress import Progress as Progress
from ._results import Result as Result
from ._results import Table as Table
from ._results import read_result as read_result
from ._results import save_report as save_report
from ._sequences import sequences as sequences
from ._tokenizer import Encoding as Encoding
from ._tokenizer import Tokenizer as Tokenizer
from .errors import AssayError as AssayError
from .errors import DataError as DataError
from .errors import FileError as FileError
from .errors import GateFailed as GateFailed
from .errors import InternalError as InternalError
from .errors import MismatchError as MismatchError
from .errors import ModelError as ModelError
from .errors import ResourcesError as ResourcesError
from .errors import UnsupportedError as UnsupportedError
from .errors import UsageError as UsageError

__version__: str
commands: dict[str, Callable[..., Result]]

# What load() takes; a torch module has been exported with an example.
ModelLike = Union[str, PathLike[str], bytes, Model, Any]
# A name with options, an argument of data(), or your own class: as the flag needs it.
SpecLike = Union[str, PathLike[str], Data, type, Any]

def versions() -> dict[str, str]: ...
'''


def stubs() -> str:
    """The text of ``__init__.pyi``."""
    lines = [_head]
    for function in commands.values():
        parameters = inspect.signature(function).parameters.values()
        lines.append(f"def {function.__name__}(")
        keyword_only = False
        for parameter in parameters:
            if parameter.kind is parameter.KEYWORD_ONLY and not keyword_only:
                lines.append("    *,")
                keyword_only = True
            lines.append(f"    {parameter.name}: {parameter.annotation} = ...,")
        lines.append(") -> Result: ...")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    pathlib.Path(__file__).resolve().with_name("__init__.pyi").write_text(stubs(), encoding="utf-8")
