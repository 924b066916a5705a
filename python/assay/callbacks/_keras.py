"""Callbacks of Keras 2 and 3, which need no Keras to be imported."""

from __future__ import annotations

from typing import Any

from ._history import CoverageHistory, History, logged

__all__ = ["KerasCoverage", "callback"]


class _Callback:
    """What Keras asks of an object that is not a class."""

    model: Any = None
    params: Any = None

    def set_model(self, model: Any) -> None:
        self.model = model

    def set_params(self, params: Any) -> None:
        self.params = params

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


class _EveryEpochs(_Callback):
    def __init__(self, history: History, every: int) -> None:
        self.history, self.every = history, every

    def on_epoch_end(self, epoch: int, logs: dict[str, Any] | None = None) -> None:
        if (epoch + 1) % self.every == 0:
            figures = logged(self.history.measure(self.model, epoch))
            if logs is not None:
                logs.update(figures)


class _EverySteps(_Callback):
    def __init__(self, history: History, every: int) -> None:
        self.history, self.every, self.steps = history, every, 0

    def _implements_train_batch_hooks(self) -> bool:
        return True

    def on_train_batch_end(self, batch: int, logs: dict[str, Any] | None = None) -> None:
        self.steps += 1
        if self.steps % self.every == 0:
            self.history.measure(self.model, self.steps)


class KerasCoverage(CoverageHistory, _Callback):
    """A history of coverage that is a callback of Keras: ``model.fit(..., callbacks=[KerasCoverage(train, test)])``.
    Figures of criteria over all layers go into the logs as ``coverage_NAME``."""

    def on_epoch_end(self, epoch: int, logs: dict[str, Any] | None = None) -> None:
        result = self.measure(self.model, epoch)
        if logs is not None:
            for row in result.table("criteria"):
                if row["layer"] == "all":
                    logs[f"coverage_{row['criterion']}"] = result.coverage(row["criterion"])


def callback(history: History, epochs: int | None, steps: int | None) -> Any:
    return _EveryEpochs(history, epochs) if epochs is not None else _EverySteps(history, steps or 1)
