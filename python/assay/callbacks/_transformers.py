"""A callback of transformers.Trainer."""

from __future__ import annotations

from typing import Any

from ..errors import UsageError
from ._history import History, logged

__all__ = ["callback"]


def callback(history: History, epochs: int | None, steps: int | None) -> Any:
    try:
        from transformers import TrainerCallback
    except ImportError as error:
        raise UsageError("transformers is not installed; `pip install transformers`") from error

    class Measurements(TrainerCallback):  # type: ignore[misc]
        def on_epoch_end(self, args: Any, state: Any, control: Any, model: Any = None, **_: Any) -> None:
            epoch = round(state.epoch)
            if epochs is not None and epoch % epochs == 0:
                self._measure(state, model, epoch)

        def on_step_end(self, args: Any, state: Any, control: Any, model: Any = None, **_: Any) -> None:
            if steps is not None and state.global_step % steps == 0:
                self._measure(state, model, state.global_step)

        def _measure(self, state: Any, model: Any, step: int) -> None:
            if state.is_world_process_zero:
                figures = logged(history.measure(model, step))
                state.log_history.append({**figures, "epoch": state.epoch, "step": state.global_step})

    return Measurements()
