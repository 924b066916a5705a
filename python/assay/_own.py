"""Criteria, attacks, constraints, hypotheses and clusterers written in Python.

They take part in every analysis under their names, with options, like built-in ones. They see batches, not
records, and are slower than those in C++ by what Python costs for a batch.
"""

from __future__ import annotations

import functools
import inspect as _inspect
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from operator import index as _index
from typing import Any, TypeVar

import numpy as np

from . import _assay
from ._arrays import Array, array_of, host
from .errors import UsageError

__all__ = [
    "ActivationBatch",
    "Attack",
    "AttackProblem",
    "AttackedNetwork",
    "Constraint",
    "Criterion",
    "Hypothesis",
    "LayerProfile",
    "RecordBlock",
    "Searches",
    "clusterer",
    "register",
]

@dataclass(frozen=True)
class LayerProfile:
    """Statistics of one layer over the training set: float32 ``low`` and ``high``, float64 ``mean`` and ``deviation``,
    [neurons] each."""

    name: str
    op: str
    low: Array
    high: Array
    mean: Array
    deviation: Array

    @property
    def neurons(self) -> int:
        return len(self.low)


@dataclass(frozen=True)
class ActivationBatch:
    """Some records as criteria see them: ``indices`` [n], ``layers`` each [n, neurons] float32 in the order of the
    profile, ``predicted`` and ``labels`` [n] (empty where there are none)."""

    indices: Array
    layers: list[Array]
    predicted: Array
    labels: Array


@dataclass(frozen=True)
class AttackProblem:
    """The input of an attack: ``inputs`` [n, record...] float32 in units of the valid range (0 to 1), ``labels`` [n]
    to be left, ``scores`` [n, classes] of the clean records, ``targets`` [n] or None, ``keys`` [n] that name the
    records' random streams, ``seed``."""

    inputs: Array
    labels: Array
    scores: Array
    targets: Array | None
    keys: list[int]
    seed: int

    def rng(self, row: int, purpose: int = 0) -> np.random.Generator:
        """A random stream of one record: the same in every batch."""
        return np.random.default_rng([self.seed, self.keys[row], purpose])


@dataclass(frozen=True)
class Searches:
    """Searches under way: ``seeds`` [n, record...] in units of the valid range, ``iterations`` [n] taken so far,
    ``keys`` [n] that name random streams."""

    seeds: Array
    iterations: list[int]
    keys: list[int]


@dataclass(frozen=True)
class RecordBlock:
    """Records as hypotheses see them: ``inputs`` [n, record...], ``labels`` [n], ``indices`` [n], ``texts`` where the
    question has a vocabulary."""

    inputs: Array
    labels: Array
    indices: Array
    texts: list[str]


class AttackedNetwork:
    """The network of an attack, while ``perturb`` runs. Points are arrays [n, record...] of the shape of the problem's
    inputs; of torch tensors the scores are torch's as well, and ``backward()`` of anything computed from them reaches
    the points, so that an objective may be written as a loss in torch is."""

    def __init__(self, view: Any) -> None:
        self._view = view

    def scores(self, points: Any) -> Any:
        """[n, classes]."""
        if not _is_tensor_of_torch(points):
            return self._view.scores(array_of(points, "points"))
        import torch

        device, dtype = points.device, points.dtype
        return _torch_scores()(points.to("cpu", torch.float32), self._view).to(device, dtype)

    def gradients(self, points: Any, weights: Any) -> Array:
        """Of ``(weights * scores).sum(1)`` with respect to the points, record by record."""
        found: Array = self._view.gradients(array_of(points, "points"), array_of(weights, "weights"))
        return found


def _is_tensor_of_torch(value: Any) -> bool:
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(value, torch.Tensor)


@functools.cache
def _torch_scores() -> Callable[..., Any]:
    """The network as a function of torch, whose gradients are Assay's."""
    import torch

    class Scores(torch.autograd.Function):  # type: ignore[misc]
        @staticmethod
        def forward(context: Any, points: Any, view: Any) -> Any:
            context.save_for_backward(points)
            context.view = view
            return torch.from_numpy(view.scores(points.detach()))

        @staticmethod
        def backward(context: Any, *slopes: Any) -> Any:
            (points,) = context.saved_tensors
            return torch.from_numpy(context.view.gradients(points.detach(), slopes[0].detach())), None

    return Scores.apply  # type: ignore[no-any-return]


class _Named:
    #: What the catalogue calls it; the class's name in lower case where there is none.
    name: str = ""
    #: Options with their defaults, as ``NAME[option=value]`` gives them; the constructor gets them as texts.
    options: Mapping[str, Any] = {}
    _kind = ""


class Criterion(_Named):
    """A coverage criterion. A fresh one is made for each test set, class and part::

        class Reach(assay.Criterion):
            def __init__(self, layers, options):
                self.top = 0.0
            def observe(self, batch):
                self.top = max(self.top, *(float(layer.max()) for layer in batch.layers))
            def merge(self, other):
                self.top = max(self.top, other.top)
            def result(self):
                return self.top                       # or (covered, coverable), or a dict by layer
            def save(self): return self.top           # what json.dumps takes: numbers, texts, lists, dicts
            def load(self, state): self.top = state

    Batches come in any order and split in any way; ``merge`` must not depend on the order either. ``load`` gets what
    ``save`` gave, NaN and infinities included, tuples as lists and keys as texts; integers have 64 bits at most. A file
    with the state is read back where the criterion is registered (:func:`register`).
    """

    _kind = "criterion"

    def __init__(self, layers: list[LayerProfile], options: dict[str, str]) -> None:
        self.layers = layers

    def observe(self, batch: ActivationBatch) -> None:
        raise NotImplementedError(f"{type(self).__name__} needs observe(self, batch)")

    def merge(self, other: Any) -> None:
        raise NotImplementedError(f"{type(self).__name__} needs merge(self, other)")

    def result(self) -> float | tuple[int, int] | dict[str, float | tuple[int, int]]:
        raise NotImplementedError(f"{type(self).__name__} needs result(self)")

    def save(self) -> Any:
        raise NotImplementedError(f"{type(self).__name__} needs save(self)")

    def load(self, state: Any) -> None:
        raise NotImplementedError(f"{type(self).__name__} needs load(self, state)")


class Attack(_Named):
    """An attack. ``perturb`` gives changed inputs [n, record...] in units of the valid range; what leaves [0, 1] is
    clipped. ``network.scores(points)`` gives [n, classes]; ``network.gradients(points, weights)`` the gradient of
    ``(weights * scores).sum(1)`` with respect to the points, record by record. With tensors of torch an attack may be
    written as in torch::

        x = torch.from_numpy(problem.inputs).requires_grad_()
        torch.nn.functional.cross_entropy(network.scores(x), torch.from_numpy(problem.labels), reduction="sum").backward()
        return x + self.eps * x.grad.sign()

    The result for a record must depend on that record, its random stream and the options alone."""

    _kind = "attack"

    def perturb(self, network: AttackedNetwork, problem: AttackProblem) -> Any:
        raise NotImplementedError(f"{type(self).__name__} needs perturb(self, network, problem)")


class Constraint(_Named):
    """The changes that a search may make to a record. Each method is optional and gets arrays [n, record...]:
    ``direction(searches, points, wanted)`` the allowed part of the wanted direction, ``kept(searches, points)`` where
    the search continues, ``shown(searches, points)`` the record that a point stands for."""

    _kind = "constraint"


class Hypothesis(_Named):
    """What units may have learned. ``hypotheses`` names them, each a name, ``(name, "binary")``, ``(name, "numeric")``
    or ``(name, "categorical", classes)``, which brings a binary one for each class, ``"name:class"``. ``annotate``
    gives [n, hypotheses] or [n, hypotheses, positions...]: numbers, and classes by their names or numbers from 0; NaN
    or None: don't care. Of texts and numbers side by side: an array of objects, a table of pandas, or a list of rows."""

    _kind = "hypothesis"
    hypotheses: Sequence[str | tuple[str, str] | tuple[str, str, Sequence[str]]] = []

    def annotate(self, records: RecordBlock) -> Any:
        raise NotImplementedError


def behaviours_of(name: str, classes: list[list[str]], found: Any, records: int) -> Array:
    """What annotate() gave, as [records, hypotheses, positions...] float32: classes as their numbers, and after them
    whether it is the first, the second, ..."""
    if _is_tensor_of_torch(found):
        found = host(found, f"hypothesis {name}: what annotate() gives")
    values = np.asarray(found) if hasattr(found, "__array__") else np.asarray(found, dtype=object)
    if len(classes) == 1 and values.ndim == 1:
        values = values[:, None]
    if values.ndim < 2 or values.shape[:2] != (records, len(classes)):
        raise UsageError(
            f"hypothesis {name}: annotate() gives [records, hypotheses] or [records, hypotheses, positions...]; "
            f"{records} records and {len(classes)} hypotheses were expected, the shape is {list(values.shape)}"
        )
    columns = []
    for column, known in enumerate(classes):
        if not known:
            columns.append(_numbers(name, values[:, column]))
            continue
        codes = _codes(name, known, values[:, column])
        columns.append(codes)
        columns += [np.where(np.isnan(codes), np.nan, codes == number) for number in range(len(known))]
    return np.stack(columns, 1).astype(np.float32)


def _numbers(name: str, values: Array) -> Array:
    if values.dtype.kind in "biuf":
        return values
    try:
        return np.array([np.nan if value is None else float(value) for value in values.ravel()]).reshape(values.shape)
    except (TypeError, ValueError):
        raise UsageError(
            f"hypothesis {name}: texts are for (name, \"categorical\", classes); other values are numbers"
        ) from None


def _codes(name: str, classes: list[str], values: Array) -> Array:
    numbers = {known: number for number, known in enumerate(classes)}

    def code(value: Any) -> float:
        if value is None or value != value:
            return np.nan
        if isinstance(value, bytes):
            value = value.decode()
        if isinstance(value, str) and value in numbers:
            return numbers[value]
        if not isinstance(value, str) and 0 <= value < len(classes) and value == int(value):
            return int(value)
        raise UsageError(f"hypothesis {name}: {value!r} is not one of the classes {', '.join(classes)}")

    return np.array([code(value) for value in values.ravel()]).reshape(values.shape)


_registrars: dict[str, Callable[[dict[str, Any], Any], None]] = {
    "criterion": _assay.register_criterion,
    "attack": _assay.register_attack,
    "constraint": _assay.register_constraint,
    "hypothesis": _assay.register_hypothesis,
    "clusterer": _assay.register_clusterer,
}


class _Checked:
    """A criterion whose results are checked."""

    def __init__(self, name: str, own: Any) -> None:
        self._name, self._own = name, own
        self.observe, self.save, self.load = own.observe, own.save, own.load

    def merge(self, other: _Checked) -> None:
        self._own.merge(other._own)

    def result(self) -> dict[str, Any]:
        found = self._own.result()
        figures = found if isinstance(found, dict) else {"all": found}
        made = {layer: _figure(value) for layer, value in figures.items() if isinstance(layer, str)}
        for layer, value in figures.items():
            if made.get(layer) is None:
                raise UsageError(
                    f"criterion {self._name}: result() gave {value!r} for {layer!r}; a number is wanted, or (covered, "
                    "coverable), whole numbers of which the first is no larger, or a dict of these by layer"
                )
        if not made:
            raise UsageError(f"criterion {self._name}: result() gave {found!r}; name a layer in it, or 'all'")
        return made


class _Attacking:
    """An attack that sees the network through `AttackedNetwork`, and may give arrays of any library."""

    def __init__(self, name: str, own: Any) -> None:
        self._name, self._own = name, own

    def perturb(self, view: Any, problem: AttackProblem) -> Any:
        return array_of(self._own.perturb(AttackedNetwork(view), problem), f"attack {self._name}: what perturb() gives")


class _Constraining:
    """A constraint whose methods, those that it has, may give arrays of any library."""

    def __init__(self, name: str, own: Any) -> None:
        for method in ("direction", "kept", "shown"):
            if hasattr(own, method):
                setattr(self, method, self._taken(f"constraint {name}: what {method}() gives", getattr(own, method)))

    @staticmethod
    def _taken(what: str, method: Callable[..., Any]) -> Callable[..., Any]:
        return lambda *arguments: array_of(method(*arguments), what)


_wrappers: dict[str, Callable[[str, Any], Any]] = {
    "criterion": _Checked,
    "attack": _Attacking,
    "constraint": _Constraining,
    "hypothesis": lambda _, own: own,
}


def _figure(value: Any) -> float | tuple[str, str, float] | None:
    """A measure, or counts as texts (they may be of any size) with their share; None for what is neither."""
    try:
        if not isinstance(value, tuple):
            return None if isinstance(value, (str, bytes)) else float(value)
        covered, coverable = map(_index, value)
        return (str(covered), str(coverable), covered / coverable if coverable else 0.0) if 0 <= covered <= coverable else None
    except (TypeError, ValueError, OverflowError):
        return None


_Class = TypeVar("_Class", bound=type)


def _name_of(cls: type) -> str:
    return str(getattr(cls, "name", "")) or cls.__name__.lower()


def register(cls: _Class) -> _Class:
    """Makes a criterion, attack, constraint or hypothesis known under its name. Classes given to an analysis are
    registered by it; a class of the same name defined again, for example in a notebook, replaces the earlier one.

    Raises UsageError for a name that Assay's own catalogue has.
    """
    kind = getattr(cls, "_kind", "")
    if kind not in _registrars or not isinstance(cls, type):
        raise UsageError(
            f"{cls!r} is not an assay.Criterion, Attack, Constraint or Hypothesis; derive a class from one of them"
        )
    name = _name_of(cls)
    summary = (_inspect.getdoc(cls) or "written in Python").split("\n")[0]
    _registrars[kind](
        {
            "kind": kind,
            "name": name,
            "summary": summary,
            "definition": _inspect.getdoc(cls) or summary,
            "options": {str(name): value for name, value in dict(getattr(cls, "options", {})).items()},
        },
        lambda **setup: _wrappers[kind](name, cls(**setup)),
    )
    return cls


_Function = TypeVar("_Function", bound=Callable[..., Any])


def clusterer(function: _Function) -> _Function:
    """Makes ``function(values, min_k, max_k) -> centroids`` a clusterer under its name: ``values`` [n] float64 are one
    neuron's activations in ascending order, the result one or more different numbers. For ``cover(clusterer=...)``."""

    def checked(values: Array, min_k: int, max_k: int) -> list[float]:
        found = function(values, min_k=min_k, max_k=max_k)
        try:
            if not isinstance(found, (str, bytes)):
                return [float(value) for value in found]
        except (TypeError, ValueError, OverflowError):
            pass
        raise UsageError(f"clusterer {function.__name__}: gave {found!r}; one or more different numbers are wanted")

    _registrars["clusterer"](
        {
            "kind": "clusterer",
            "name": function.__name__,
            "summary": (_inspect.getdoc(function) or "written in Python").split("\n")[0],
            "definition": "",
            "options": {},
        },
        checked,
    )
    return function


def is_own(value: Any) -> bool:
    """Whether it is a class or object that `spec_of` takes."""
    return isinstance(value, _Named) or (isinstance(value, type) and issubclass(value, _Named))


def spec_of(value: Any) -> str:
    """The name under which a class, or an object that is to be used as it is, takes part."""
    if isinstance(value, type):
        return _name_of(register(value))
    if value._kind == "criterion":
        raise UsageError(f"give the class {type(value).__name__}, not an object: each measurement makes its own")
    cls = type(value)
    kind, name = value._kind, _name_of(cls)
    _registrars[kind](
        {"kind": kind, "name": name, "summary": "written in Python", "definition": "", "options": {}},
        lambda **_: _wrappers[kind](name, value),
    )
    return name
