"""Errors as exceptions: the messages are those of the program with keywords for its flags, the classes its exit codes."""

from __future__ import annotations

from typing import ClassVar

__all__ = [
    "AssayError",
    "DataError",
    "FileError",
    "GateFailed",
    "InternalError",
    "MismatchError",
    "ModelError",
    "ResourcesError",
    "UnsupportedError",
    "UsageError",
]


class AssayError(Exception):
    """Base of all errors. `exit_code` is what the program would end with (docs/exit-codes.md)."""

    exit_code: ClassVar[int] = 70


class UsageError(AssayError, ValueError):
    """The request names something that does not exist or does not fit together."""

    exit_code = 1


class GateFailed(AssayError, AssertionError):
    """A gate did not hold (`Result.require`)."""

    exit_code = 2


class ModelError(AssayError, ValueError):
    """A network file is damaged, hostile or not in a known format."""

    exit_code = 3


class UnsupportedError(AssayError, NotImplementedError):
    """A well-formed network uses something Assay cannot do."""

    exit_code = 4


class DataError(AssayError, ValueError):
    """Data are damaged, empty or do not fit their declaration."""

    exit_code = 5


class MismatchError(AssayError, ValueError):
    """Parts that do not belong together: a profile and another network, data and a network they do not fit."""

    exit_code = 6


class FileError(AssayError, OSError):
    """The file system refused: a missing file, permissions, a full disk."""

    exit_code = 7


class ResourcesError(AssayError, MemoryError):
    """It would need more memory than allowed."""

    exit_code = 8


class InternalError(AssayError, RuntimeError):
    """A defect in Assay; please report it."""


def kind_of(value: object) -> str:
    """What a value is, for messages: "a list", "an int"."""
    name = type(value).__name__
    return f"{'an' if name[0].lower() in 'aeiou' else 'a'} {name}"
