"""Coverage while a network is trained: PyTorch loops, Keras callbacks, and which records to train on."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ._model import load
from ._results import Result
from .errors import UsageError

__all__ = ["CoverageHistory", "KerasCoverage", "RecordSampler"]


class CoverageHistory:
    """Measures coverage of a network as it is, whenever asked: at the end of each epoch of a PyTorch loop, say.

    ::

        history = CoverageHistory(train, test, example=x[:1], criterion=["nc", "idc[m=6]"])
        for epoch in range(5):
            ...                       # train `net`
            history.measure(net)
        history.values("nc")          # one figure an epoch
    """

    def __init__(self, train: Any, test: Any, *, example: Any = None, **keywords: Any) -> None:
        self.train, self.test, self.example, self.keywords = train, test, example, keywords
        self.results: list[Result] = []

    def measure(self, network: Any) -> Result:
        """Keywords are those of ``assay.cover``."""
        from ._questions import commands

        model = network if self.example is None else load(network, self.example)
        self.results.append(commands["cover"](model, self.train, self.test, **self.keywords))
        return self.results[-1]

    def values(self, criterion: str, layer: str = "all") -> list[float]:
        """The criterion's figure of each measurement."""
        return [result.coverage(criterion, layer) for result in self.results]


class KerasCoverage(CoverageHistory):
    """The same as a callback of Keras: ``model.fit(..., callbacks=[KerasCoverage(train, test)])``. Figures of criteria
    over all layers go into the logs as ``coverage_NAME``."""

    model: Any = None
    params: Any = None

    def set_model(self, model: Any) -> None:
        self.model = model

    def set_params(self, params: Any) -> None:
        self.params = params

    def on_epoch_end(self, epoch: int, logs: dict[str, Any] | None = None) -> None:
        result = self.measure(self.model)
        if logs is not None:
            for row in result.table("criteria"):
                if row["layer"] == "all":
                    logs[f"coverage_{row['criterion']}"] = result.coverage(row["criterion"])

    # What Keras 2 asks of each callback: nothing happens here batch by batch.
    def _implements_train_batch_hooks(self) -> bool:
        return False

    _implements_test_batch_hooks = _implements_predict_batch_hooks = _implements_train_batch_hooks

    def __getattr__(self, name: str) -> Any:
        if name.startswith("on_"):  # the other moments of a training
            return _nothing
        raise AttributeError(name)


def _nothing(*_: Any, **__: Any) -> None:
    """A moment of a training at which nothing is measured."""


_nothing._is_default = True  # type: ignore[attr-defined]  # so that Keras 3 need not wait for it


class RecordSampler:
    """A sampler for ``torch.utils.data.DataLoader(sampler=...)`` that takes the records which ``select`` chose, or all
    but the suspects of ``polluted``.

    ``chosen``: a Result, or positions. ``size``: of the data set, where ``leave_out`` asks for all others. With
    ``shuffle`` their order is another one in each epoch, and the same in each run.
    """

    def __init__(
        self,
        chosen: Any,
        *,
        leave_out: bool = False,
        size: int | None = None,
        first: int | None = None,
        shuffle: bool = False,
        seed: int = 1,
    ) -> None:
        positions = np.asarray(chosen.positions if isinstance(chosen, Result) else chosen, dtype=np.int64)
        if positions.ndim != 1:
            raise UsageError("chosen records are a list of positions")
        positions = positions[:first]
        if leave_out:
            if size is None:
                raise UsageError("to leave records out, size= says how many there are")
            positions = np.setdiff1d(np.arange(size), positions)
        if len(positions) == 0:
            raise UsageError("no records are left to sample")
        self.positions, self.shuffle, self.seed, self.epoch = positions, shuffle, seed, 0

    def __len__(self) -> int:
        return len(self.positions)

    def __iter__(self) -> Iterator[int]:
        order = self.positions
        if self.shuffle:
            order = np.random.default_rng([self.seed, self.epoch]).permutation(order)
        self.epoch += 1
        return iter([int(position) for position in order])

