"""Which records to train on."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from .._results import Result
from ..errors import UsageError

__all__ = ["RecordSampler"]


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

