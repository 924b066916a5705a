"""Measurements one after the other, and warnings when a figure moves."""

from __future__ import annotations

import contextlib
import math
import warnings
import weakref
from collections.abc import Callable, Mapping
from typing import Any, Literal

from .._model import load
from .._progress import AssayWarning
from .._results import Result
from ..errors import UsageError, kind_of

__all__ = ["CoverageHistory", "History"]

Margin = float | tuple[float | None, float | None]


class History:
    """Puts a question to a network while it is trained.

    ::

        history = History(lambda net: assay.evaluate(net, test), margins={"test_accuracy": 0.05})
        for epoch in range(5):
            ...                              # train `net`
            history.measure(net, epoch)
        history.values("test_accuracy")      # one figure an epoch

    ``margins``: by name of a figure (as in ``Result.figures()``) how far it may move, or how far it may fall and how far
    it may rise (``(0.05, None)``: rise as it likes); if it moves further, that is an AssayWarning, and a line of
    ``warnings``. ``against``: whether it is compared with the measurement before or with
    the first one. ``to``: trackers that get the figures (see ``Result.log``), in one run. ``example``: of what a torch module
    takes; without it, that is the first record of the data.

    ``keras()``, ``lightning()`` and ``transformers()`` are callbacks of these trainers that measure after every so many
    epochs or steps.
    """

    def __init__(
        self,
        question: Callable[[Any], Result],
        *,
        example: Any = None,
        margins: Mapping[str, Margin] | None = None,
        against: Literal["before", "first"] = "before",
        to: Any = None,
    ) -> None:
        if not callable(question):
            raise UsageError("a history needs a function of a network: History(lambda net: assay.evaluate(net, test))")
        if against not in ("before", "first"):
            raise UsageError(f"against: '{against}' is not one of 'before', 'first'")
        if to is not None:
            from .. import trackers

            trackers.all_of(to)  # refused now rather than after an epoch
        self._begun: Any = None
        self.question, self.example, self.to = question, example, to
        self.margins = {name: _margin(name, margin) for name, margin in (margins or {}).items()}
        self.against = against
        self.results: list[Result] = []
        #: What each measurement was called with; their numbers from 0 where that was nothing.
        self.steps: list[int] = []
        self.warnings: list[str] = []

    def measure(self, network: Any, step: int | None = None) -> Result:
        """Of the network as it is now: one of Assay, a torch module or a model of Keras."""
        result = self.question(network if self.example is None else load(network, self.example))
        if not isinstance(result, Result):
            raise UsageError(f"the function of a history returns what an analysis gave, not {kind_of(result)}")
        step = len(self.results) if step is None else step
        if self.results:
            self._compare(result, step, 0 if self.against == "first" else len(self.results) - 1)
        else:
            self._require_figures(result)
        self.results.append(result)
        self.steps.append(step)
        if self.to is not None:
            self._log(result, step)
        return result

    def _log(self, result: Result, step: int) -> None:
        from .. import trackers

        if self._begun is None:
            self._begun = trackers.Begun()
            weakref.finalize(self, self._begun.end)
        for one in trackers.all_of(self.to):
            trackers.log(result, one, step=step, files=False, begun=self._begun)

    def values(self, figure: str, layer: str = "all") -> list[float]:
        """A figure of each measurement, by name as in ``Result.figures()``; a criterion's also by layer."""
        name = figure if layer == "all" else f"{figure}/{layer}"
        return [_figure(result, name, figure, layer) for result in self.results]

    def keras(self, *, every_epochs: int | None = None, every_steps: int | None = None) -> Any:
        """A callback for ``model.fit(callbacks=[...])``. Figures go into the logs, as ``cover/nc``."""
        from ._keras import callback

        return callback(self, *_every(every_epochs, every_steps))

    def lightning(self, *, every_epochs: int | None = None, every_steps: int | None = None) -> Any:
        """A callback for a Trainer of Lightning. Figures are logged by the module, as ``cover/nc``."""
        from ._lightning import callback

        return callback(self, *_every(every_epochs, every_steps))

    def transformers(self, *, every_epochs: int | None = None, every_steps: int | None = None) -> Any:
        """A callback for ``transformers.Trainer``. Figures go into ``state.log_history``, as ``cover/nc``."""
        from ._transformers import callback

        return callback(self, *_every(every_epochs, every_steps))

    def _require_figures(self, result: Result) -> None:
        figures = result.figures()
        for name in self.margins:
            if name not in figures:
                raise UsageError(f"margins: {result.command} has no figure '{name}'; there are {', '.join(figures)}")

    def _compare(self, result: Result, step: int, other: int) -> None:
        before, now = self.results[other].figures(), result.figures()
        for name, (fall, rise) in self.margins.items():
            change = now.get(name, math.nan) - before.get(name, math.nan)
            if not -fall <= change <= rise:
                margin = fall if change < 0 else rise if change > 0 else min(fall, rise)
                sentence = (
                    f"{name} {'rose' if change > 0 else 'fell' if change < 0 else 'went'} from {before.get(name, math.nan):.4g} "
                    f"at {self.steps[other]} to {now.get(name, math.nan):.4g} at {step}, by more than {margin:g}"
                )
                self.warnings.append(sentence)
                warnings.warn(sentence, AssayWarning, stacklevel=3)


class CoverageHistory(History):
    """A history of coverage: ``CoverageHistory(train, test, criterion=["nc", "idc[m=6]"])``. Keywords are those of
    ``assay.cover`` and of History."""

    def __init__(
        self,
        train: Any,
        test: Any,
        *,
        example: Any = None,
        margins: Mapping[str, Margin] | None = None,
        against: Literal["before", "first"] = "before",
        to: Any = None,
        **keywords: Any,
    ) -> None:
        self.train, self.test, self.keywords = train, test, keywords
        super().__init__(self._cover, example=example, margins=margins, against=against, to=to)

    def _cover(self, network: Any) -> Result:
        from .._questions import commands

        return commands["cover"](network, self.train, self.test, **self.keywords)


def _margin(name: str, margin: Margin) -> tuple[float, float]:
    """How far a figure may fall and how far it may rise."""
    limits = margin if isinstance(margin, (tuple, list)) else (margin, margin)
    try:
        fall, rise = (math.inf if limit is None else float(limit) for limit in limits)
    except (TypeError, ValueError):
        fall = rise = math.nan
    if not (fall >= 0 and rise >= 0 and min(fall, rise) < math.inf):
        raise UsageError(f"margins: {name}: {margin!r} is neither a number from 0 nor two, how far it may fall and rise: (0.05, None)")
    return fall, rise


def _figure(result: Result, name: str, figure: str, layer: str) -> float:
    figures = result.figures()
    if name in figures:
        return figures[name]
    with contextlib.suppress(UsageError):
        return result.coverage(figure, layer)  # also without its options, and layers that are the only one
    raise UsageError(f"{result.command} has no figure '{name}'; there are {', '.join(figures)}")


def _every(epochs: int | None, steps: int | None) -> tuple[int | None, int | None]:
    if epochs is not None and steps is not None:
        raise UsageError("every_epochs= and every_steps= exclude each other")
    for name, count in (("every_epochs", epochs), ("every_steps", steps)):
        if count is not None and count < 1:
            raise UsageError(f"{name}: {count} is less than 1")
    return (1, None) if epochs is None and steps is None else (epochs, steps)


def logged(result: Result) -> dict[str, float]:
    """What trainers log: figures over all layers."""
    return {f"{result.command}/{name}": value for name, value in result.figures().items() if "/" not in name}
