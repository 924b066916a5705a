"""What commands write that the caller has not named: where it lies, and what of it is read into the result."""

from __future__ import annotations

import os
import shutil
import tempfile
import weakref
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from ._data import Data, data as make_data
from ._model import load
from ._results import Result, positions_of, texts

Given = dict[str, Any]

#: Kinds of files that hold records.
data_kinds = ("training data", "test data", "data")


def leading(entry: Mapping[str, Any], kinds: tuple[str, ...]) -> list[str]:
    """The flags that come first in calls, of these kinds."""
    return [flag["name"] for flag in entry["flags"] if flag["leads"] and flag["files"] in kinds]


class _Said(Mapping[str, Any]):
    """Outputs of a network for each record, computed on demand with so many records together as was asked for."""

    def __init__(self, network: Any, data: Any, batch: int) -> None:
        self._asked = (network, data, batch)
        self._arrays: dict[str, Any] = {}

    def _all(self) -> dict[str, Any]:
        if not self._arrays:
            network, data = load(self._asked[0])._in_batches(self._asked[2]), source_of(self._asked[1])
            assert data is not None
            outputs, predicted = network.predict(data)
            self._arrays = {"ids": np.array(data.ids), "outputs": outputs}
            if predicted is not None:
                self._arrays["predicted"] = predicted
            if len(data.labels):
                self._arrays["y"] = data.labels
        return self._arrays

    def __getitem__(self, name: str) -> Any:
        return self._all()[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._all())

    def __len__(self) -> int:
        return len(self._all())


class AnswerFiles:
    """The folder of what a command writes and the caller has not named; what is taken from there into the result."""

    def __init__(self, entry: Mapping[str, Any], given: Given) -> None:
        self.entry, self.given = entry, given
        self.folder = "" if entry["runs_program"] else tempfile.mkdtemp(prefix="assay-")
        self.results = 0

    def write(self, result: Result) -> str:
        """A result as a file in the same folder."""
        path = os.path.join(self.folder, f"result-{self.results}.json")
        self.results += 1
        result.save_json(path)
        return path

    def made(self) -> Given:
        made: Given = {}
        for flag in self.entry["flags"]:
            path = self._path(flag) if flag["product"] else None
            if path is not None:
                made.update(getattr(self, "_" + flag["product"])(path))
        return made

    def _path(self, flag: Mapping[str, Any]) -> str | None:
        if flag["product"] == "predictions":
            return ""  # made on demand
        if self.given.get(flag["name"]) is not None:
            return os.fspath(self.given[flag["name"]])
        path = os.path.join(self.folder, flag["place"])
        return path if flag["place"] and os.path.exists(path) else None

    def _data(self) -> Any:
        """What the question is about: the last of the data sets that come first."""
        names = leading(self.entry, data_kinds)
        return self.given.get(names[-1]) if names else None

    def _network(self, path: str) -> Given:
        return {"model": next(iter(_networks_in(path).values())) if os.path.isdir(path) else load(path)}

    def _networks(self, folder: str) -> Given:
        return {"models": _networks_in(folder)}

    def _state(self, path: str) -> Given:
        return {"state": path}

    def _ids(self, path: str) -> Given:
        if path.endswith(".csv"):
            ids = _suspects(path)
        else:
            with open(path, encoding="utf-8", errors="replace") as file:
                ids = file.read().splitlines()
        return {"ids": ids, "positions": positions_of(source_of(self._data()), ids)}

    def _predictions(self, _: str) -> Given:
        (network,) = leading(self.entry, ("network",))
        return {"arrays": _Said(self.given[network], self._data(), self.given.get("batch") or 0)}

    def _records(self, folder: str) -> Given:
        arrays: Given = {}
        sets: Given = {}
        source = source_of(self._data())
        for file in _files_in(folder):
            if not file.endswith(".npz"):
                continue
            name = file[: -len(".npz")]
            found = _npz(os.path.join(folder, file))
            arrays[name] = found
            if "x" in found and found["x"].dtype == np.uint8:
                found["x"] = _of_levels(found["x"], source)
            if "x" in found and len(found["x"]) > 0:
                sets[name] = make_data(
                    found["x"],
                    found.get("y"),
                    ids=[str(i) for i in found["ids"]] if "ids" in found else None,
                    range=None if source is None else source.range,
                    class_names=None if source is None or found.get("y") is None else source.class_names,
                    name=name,
                )
        return {"arrays": arrays, "data": sets, "source": source}

    def keep_for(self, result: Result) -> None:
        """Pictures of the report lie there, so it stays as long as the result."""
        if self.folder and os.listdir(self.folder):
            weakref.finalize(result, shutil.rmtree, self.folder, ignore_errors=True)
        else:
            self.drop()

    def drop(self) -> None:
        if self.folder:
            shutil.rmtree(self.folder, ignore_errors=True)


def _networks_in(folder: str) -> Given:
    return {
        file[: -len(".onnx")]: load(os.path.join(folder, file))
        for file in sorted(os.listdir(folder))
        if file.endswith(".onnx")
    }


def _files_in(folder: str) -> list[str]:
    """Relative to the folder, with those of folders in it (of attacks with a / in their names)."""
    return sorted(
        os.path.relpath(os.path.join(place, file), folder).replace(os.sep, "/")
        for place, _, files in os.walk(folder)
        for file in files
    )


def _of_levels(levels: np.ndarray[Any, Any], source: Data | None) -> np.ndarray[Any, Any]:
    """8-bit levels of the valid range as the network takes them, float32."""
    low, high = (np.array(bounds, np.float32) for bounds in (source.range if source and source.range else ([0], [1])))
    shape = (-1,) + (1,) * (levels.ndim - 2) if len(low) > 1 else ()
    scale = ((high - low) / np.float32(255)).reshape(shape)
    values: np.ndarray[Any, Any] = (levels.astype(np.float32) * scale + low.reshape(shape)).astype(np.float32)
    return values


def source_of(value: Any) -> Data | None:
    return None if value is None else make_data(*value) if isinstance(value, tuple) else make_data(value)


def _npz(path: str) -> dict[str, Any]:
    with np.load(path, allow_pickle=False) as archive:
        arrays = {name: archive[name] for name in archive.files}
    for name in ("ids", "id"):
        if name in arrays and arrays[name].dtype == np.uint8 and arrays[name].ndim == 2:
            arrays[name] = np.array(texts(arrays[name]))
    return arrays


def _suspects(path: str) -> list[str]:
    import csv

    with open(path, encoding="utf-8", newline="") as file:
        rows = csv.DictReader(file)
        return [row.get("record") or row.get("id") or "" for row in rows]
