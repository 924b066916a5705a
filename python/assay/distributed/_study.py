"""A study in a folder: what is asked, in how many parts, which of them are done."""

from __future__ import annotations

import hashlib
import json
import os
import pathlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._arrays import is_array
from .._model import Model
from .._results import Result
from ..errors import DataError, MismatchError, UsageError, kind_of
from ._part import Part
from ._stamps import named_files, stamps

__all__ = ["Study"]

#: Commands with parts: what may stand without its keyword, and the ending of their states.
_commands: dict[str, tuple[tuple[str, ...], str]] = {
    "cover": (("model", "train", "test"), ".cov"),
    "mutate": (("model", "test"), ".mut"),
    "inspect": (("model", "data"), ".ins"),
}
#: Of the combined result, not of parts.
_gates = ("fail_under", "no_worse_than", "worse_by", "compare", "any_baseline")
#: Whose files a study is about.
_inputs = ("model", "train", "test", "data", "profile")
#: What a study says itself, and what belongs to one process.
_own = ("shard", "state", "append", "progress", "force")


def _word_of(name: str, value: Any, folder: pathlib.Path) -> Any:
    """A value as it stands in the file of a study: text, a number, true, or a list of these."""
    if isinstance(value, (str, bool, int, float)):
        return value
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if isinstance(value, Model):
        return _named_by_content(folder, name, ".onnx", value.save)
    if isinstance(value, tuple) and value and all(is_array(part) for part in value):
        return _written(name, value, folder)
    if isinstance(value, (list, tuple)):
        return [_word_of(f"{name}-{i}", one, folder) for i, one in enumerate(value)]
    raise UsageError(f"{name}: workers cannot read {kind_of(value)}; give a file, a spec, a Model or arrays (x, y)")


def _written(name: str, arrays: Sequence[Any], folder: pathlib.Path) -> str:
    if len(arrays) > 2:
        raise UsageError(f"{name}: {len(arrays)} arrays; give (x, y)")
    named: dict[str, Any] = dict(zip(("x", "y"), map(np.asarray, arrays)))
    return _named_by_content(folder, name, ".npz", lambda file: np.savez(file, **named))


def _named_by_content(folder: pathlib.Path, name: str, ending: str, write: Callable[[pathlib.Path], None]) -> str:
    """A file that other content does not share, so that a study of something else is told from this one."""
    partial = folder / f"partial{ending}"
    write(partial)
    file = folder / f"{name}-{hashlib.sha256(partial.read_bytes()).hexdigest()[:16]}{ending}"
    if file.exists():
        partial.unlink()  # parts may be reading it
    else:
        partial.replace(file)
    return os.fspath(file)


def _stamps(flags: Mapping[str, Any]) -> dict[str, list[int]]:
    """By file of networks and data: what a change of it changes."""
    texts = [text for name in _inputs if name in flags for text in (flags[name] if isinstance(flags[name], list) else [flags[name]])]
    return {str(file): list(stamp) for file, stamp in stamps(named_files(map(str, texts))).items() if stamp is not None}


@dataclass(frozen=True)
class Study:
    """``command`` with ``flags``, in ``shards`` parts that run in ``place`` and keep their states in ``folder``."""

    folder: pathlib.Path
    command: str
    shards: int
    flags: Mapping[str, Any]
    gates: Mapping[str, Any]
    place: str

    @classmethod
    def of(cls, command: str, arguments: Sequence[Any], folder: str | os.PathLike[str], shards: int, flags: Mapping[str, Any]) -> Study:
        """A new study, or the one that the folder has if it is the same."""
        if command not in _commands:
            raise UsageError(f"command: '{command}' does not run in parts; {', '.join(_commands)} do")
        if shards < 1:
            raise UsageError(f"shards: {shards} is less than 1")
        positional = _commands[command][0]
        if len(arguments) > len(positional):
            raise UsageError(f"{command}: {len(arguments)} arguments; without keywords come {', '.join(positional)}")
        given = {**dict(zip(positional, arguments)), **flags}
        for name in _own:
            if name in given:
                raise UsageError(f"{name}: a study in parts says this itself; leave it out")
        path = pathlib.Path(folder).absolute()
        path.mkdir(parents=True, exist_ok=True)
        asked = {name: _word_of(name, value, path) for name, value in given.items() if value is not None and value is not False}
        gates = {name: asked.pop(name) for name in _gates if name in asked}
        study = cls(path, command, shards, asked, gates, os.getcwd())
        study._write()
        return study

    @classmethod
    def read(cls, folder: str | os.PathLike[str]) -> Study:
        """Throws UsageError for a folder without a study."""
        path = pathlib.Path(folder).absolute()
        try:
            known = json.loads((path / "study.json").read_text())
            return cls(path, known["command"], known["shards"], known["flags"], known["gates"], known["place"])
        except FileNotFoundError:
            raise UsageError(f"{path}: there is no study here; assay.distributed.prepare() makes one") from None
        except (ValueError, KeyError, TypeError) as error:
            raise DataError(f"{path / 'study.json'}: not the file of a study: {error}") from None

    def _write(self) -> None:
        file = self.folder / "study.json"
        files = _stamps(self.flags)
        text = json.dumps(
            {"command": self.command, "shards": self.shards, "flags": self.flags, "gates": self.gates, "place": self.place, "files": files},
            indent=2,
        )
        if file.exists():
            known = Study.read(self.folder)
            before = json.loads(file.read_text()).get("files", {})
            for name in [name for name, stamp in before.items() if name in files and files[name] != stamp]:
                raise MismatchError(f"{name} has changed since parts of this study ran; name another folder than {self.folder}")
            for name in ("command", "shards", "flags", "place"):
                if getattr(known, name) != getattr(self, name):
                    raise MismatchError(
                        f"{self.folder}: it has parts of another study ({name}: {getattr(known, name)}, not {getattr(self, name)}); "
                        "name another folder"
                    )
        partial = file.with_suffix(".part")
        partial.write_text(text + "\n")
        partial.replace(file)

    def _state(self, number: int) -> pathlib.Path:
        return self.folder / f"part-{number}-of-{self.shards}{_commands[self.command][1]}"

    def _profile(self) -> pathlib.Path:
        return self.folder / "study.profile"

    def learns(self) -> bool:
        """Whether the first part has to learn a profile before the others can begin."""
        return self.command == "cover" and "profile" not in self.flags and not self._profile().exists()

    def missing(self) -> list[int]:
        """Parts that are not done."""
        return [number for number in range(1, self.shards + 1) if not self._state(number).exists()]

    def part(self, number: int) -> Part:
        """Part ``number``, from 1 on. Throws UsageError for one that there is not."""
        if not 1 <= number <= self.shards:
            raise UsageError(f"there is no part {number}; there are {self.shards}")
        flags = {**self.flags, "shard": f"{number}/{self.shards}", "state": os.fspath(self._state(number))}
        if self.command == "cover" and "profile" not in self.flags:
            flags["profile"] = os.fspath(self._profile())
            if self._profile().exists():
                flags.pop("train", None)
        words = [self.command]
        for name, value in flags.items():
            flag = "--" + name.rstrip("_").replace("_", "-")
            for one in value if isinstance(value, list) else [value]:
                words += [flag] if isinstance(one, bool) else [flag, str(one)]
        return Part(number, self.shards, tuple(words), self.place, os.fspath(self._state(number)), "threads" in self.flags)

    def combined(self) -> Result:
        """The result of all parts; their state is ``combined`` in the folder."""
        from .. import combine

        missing = self.missing()
        if missing:
            raise UsageError(f"{self.folder}: {len(missing)} of {self.shards} parts are not done: {', '.join(map(str, missing))}")
        states: list[str | os.PathLike[str]] = [os.fspath(self._state(number)) for number in range(1, self.shards + 1)]
        out = self.folder / f"combined{_commands[self.command][1]}"
        flags = {name: value for name, value in self.flags.items() if self.command == "mutate" and name == "quality"}
        result: Result = combine(states, out=out, **flags, **self.gates)
        return result
