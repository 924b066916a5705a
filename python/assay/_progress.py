"""Progress of long work: tqdm if it is installed, lines otherwise, or the caller's function."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from typing import Any, Union

__all__ = ["AssayWarning", "Progress", "listener_of", "tell"]

#: None or False: silent. True: tqdm, or a line a stage. A function gets (stage, done, total).
Progress = Union[bool, None, Callable[[str, int, int], Any]]


class AssayWarning(UserWarning):
    """Something the user must know though work continues."""


def tell(notice: str) -> None:
    """An :class:`AssayWarning` where the package was called."""
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] == __package__:
        frame, level = frame.f_back, level + 1
    warnings.warn(notice, AssayWarning, stacklevel=level)


class _Listener:
    def begin(self, stage: str, total: int, unit: str) -> None:
        pass

    def advance(self, done: int, note: str) -> None:
        pass

    def end(self) -> None:
        pass

    def notice(self, message: str) -> None:
        warnings.warn(message, AssayWarning, stacklevel=4)


class _Bar(_Listener):
    def __init__(self, tqdm: Any) -> None:
        self.tqdm, self.bar = tqdm, None

    def begin(self, stage: str, total: int, unit: str) -> None:
        self.bar = self.tqdm(total=total or None, desc=stage, unit=" " + unit, leave=False)

    def advance(self, done: int, note: str) -> None:
        if self.bar is not None:
            if note:
                self.bar.set_postfix_str(note, refresh=False)
            self.bar.update(done)

    def end(self) -> None:
        if self.bar is not None:
            self.bar.close()
        self.bar = None


class _Lines(_Listener):
    def __init__(self) -> None:
        self.stage, self.unit, self.done = "", "", 0

    def begin(self, stage: str, total: int, unit: str) -> None:
        self.stage, self.unit, self.done = stage, unit, 0

    def advance(self, done: int, note: str) -> None:
        self.done += done

    def end(self) -> None:
        print(f"{self.stage}: {self.done} {self.unit}", file=sys.stderr)


class _Function(_Listener):
    def __init__(self, function: Callable[[str, int, int], Any]) -> None:
        self.function = function
        self.stage, self.total, self.done = "", 0, 0

    def begin(self, stage: str, total: int, unit: str) -> None:
        self.stage, self.total, self.done = stage, total, 0
        self.function(stage, 0, total)

    def advance(self, done: int, note: str) -> None:
        if done:
            self.done += done
            self.function(self.stage, self.done, self.total)


def listener_of(progress: Progress) -> Any:
    if callable(progress):
        return _Function(progress)
    if not progress:
        return _Listener()
    try:
        from tqdm.auto import tqdm
    except ImportError:
        return _Lines()
    return _Bar(tqdm)
