"""A callback of Lightning, under either of its two names."""

from __future__ import annotations

import importlib
import sys
from typing import Any

from ..errors import UsageError
from ._history import History, logged

__all__ = ["callback"]

_names = ("lightning.pytorch", "pytorch_lightning")


def _lightning() -> Any:
    for name in sorted(_names, key=lambda name: name not in sys.modules):  # the one that is in use
        try:
            return importlib.import_module(name)
        except ImportError:
            continue
    raise UsageError("Lightning is not installed; `pip install lightning`")


def callback(history: History, epochs: int | None, steps: int | None) -> Any:
    class Measurements(_lightning().Callback):  # type: ignore[misc]
        def on_train_epoch_end(self, trainer: Any, pl_module: Any) -> None:
            if epochs is not None and (trainer.current_epoch + 1) % epochs == 0:
                self._measure(trainer, pl_module, trainer.current_epoch)

        def on_train_batch_end(self, trainer: Any, pl_module: Any, *_: Any) -> None:
            if steps is not None and trainer.global_step % steps == 0:
                self._measure(trainer, pl_module, trainer.global_step)

        def _measure(self, trainer: Any, pl_module: Any, step: int) -> None:
            if trainer.is_global_zero:
                pl_module.log_dict(logged(history.measure(pl_module, step)), rank_zero_only=True)

    return Measurements()
