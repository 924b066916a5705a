"""Networks as estimators of scikit-learn: a classifier, activations as features, coverage as a score."""

from __future__ import annotations

import os
import tempfile
from typing import Any

import numpy as np

from ._export import is_network, is_torch_module
from ._model import Model, load
from ._questions import commands
from .errors import UsageError

try:
    from sklearn.base import BaseEstimator, ClassifierMixin, TransformerMixin
    from sklearn.utils.multiclass import check_classification_targets
    from sklearn.utils.validation import check_is_fitted, validate_data
except ImportError as error:
    raise ImportError(f"assay.sklearn needs scikit-learn 1.6 or newer: {error}", name=error.name) from error

__all__ = ["Activations", "Coverage", "NetworkClassifier"]

Array = np.ndarray[Any, Any]


class _OnNetwork(BaseEstimator):  # type: ignore[misc]
    """``network``: what ``assay.load`` takes, or a function of records and class numbers that gives it, as training
    does. Estimators are pickled with the bytes of their networks."""

    network: Any
    model_: Model

    def _is_made(self) -> bool:
        return callable(self.network) and not isinstance(self.network, Model) and not is_network(self.network)

    def _hold_network(self, x: Array, y: Array | None = None) -> None:
        network = self.network(x, None if y is None else np.asarray(y)) if self._is_made() else self.network
        self.model_ = load(network, x[:1]) if is_torch_module(network) else load(network)

    def _records(self, X: Any, **checks: Any) -> Array:
        """Records [n, ...] of finite numbers, of the type that networks take."""
        x = validate_data(self, X, allow_nd=True, **checks)
        if np.issubdtype(x.dtype, np.integer) and self._takes_tokens():
            return np.ascontiguousarray(x, np.int64)
        # Pictures of 8 bits become numbers from 0 to 1 as everywhere.
        return np.ascontiguousarray(x, x.dtype if x.dtype == np.uint8 else np.float32)

    def _takes_tokens(self) -> bool:
        return hasattr(self, "model_") and self.model_._network.inputs[0][1] == "int64"

    def _known_records(self, X: Any) -> Array:
        check_is_fitted(self, "model_")
        return self._records(X, reset=False)

    def __getstate__(self) -> dict[str, Any]:
        return {name: _Packed(value) if isinstance(value, Model) else value for name, value in super().__getstate__().items()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__({name: load(value.onnx) if isinstance(value, _Packed) else value for name, value in state.items()})


class _Packed:
    """A network as it is pickled."""

    def __init__(self, model: Model) -> None:
        with tempfile.TemporaryDirectory(prefix="assay-") as folder:
            path = os.path.join(folder, "net.onnx")
            model.save(path)
            with open(path, "rb") as file:
                self.onnx = file.read()


class NetworkClassifier(ClassifierMixin, _OnNetwork):  # type: ignore[misc]
    """A network as a classifier. ``fit`` does not train a network that is there; it trains where ``network`` is a
    function that does, so that a network can be cross-validated.

    ``classes``: names of the network's classes in the order of its outputs; without them they are numbers, or, of a
    function, the labels that ``fit`` finds.
    """

    def __init__(self, network: Any, *, classes: Any = None) -> None:
        self.network = network
        self.classes = classes

    def fit(self, X: Any, y: Any) -> NetworkClassifier:
        X, y = validate_data(self, X, y, allow_nd=True)
        check_classification_targets(y)
        names = np.unique(y) if self.classes is None else np.asarray(self.classes)
        if self._is_made() and len(names) < 2:
            raise UsageError(f"there is one class, '{names[0]}': a network that is trained needs two or more")
        self._hold_network(self._records(X, reset=False), _numbers(names, y) if self._is_made() else None)
        count = max(2, self._outputs(self._records(X[:1], reset=False)).shape[1])
        if self.classes is None and not self._is_made():
            names = np.arange(count)
        if len(names) != count:
            raise UsageError(f"the network has {count} classes, {len(names)} are named")
        _numbers(names, y)
        self.order_ = np.argsort(names)
        self.classes_ = names[self.order_]
        return self

    def predict_proba(self, X: Any) -> Array:
        """[n, classes] in the order of ``classes_``."""
        x = self._known_records(X)
        return _probabilities(self.model_, self._outputs(x))[:, self.order_]

    def _outputs(self, x: Array) -> Array:
        """Of the decision, [n, classes]."""
        outputs = self.model_.predict(x)[0].astype(np.float64)
        if outputs[0].size > max(outputs.shape[1:], default=1):
            raise UsageError(f"the network gives {list(outputs.shape[1:])} for a record, which is not one number for each class")
        return outputs.reshape(len(outputs), -1)

    def predict(self, X: Any) -> Array:
        probabilities = self.predict_proba(X)
        return self.classes_[probabilities.argmax(1)]  # type: ignore[no-any-return]


def _numbers(names: Array, y: Array) -> Array:
    """Positions of labels among the classes."""
    unknown = np.setdiff1d(y, names)
    if len(unknown):
        raise UsageError(f"label {unknown[0]!r} is none of the network's classes, {', '.join(map(str, names[:10]))}")
    order = np.argsort(names)
    return order[np.searchsorted(names[order], y)]


_PASSING = ("Identity", "Cast", "Reshape", "Flatten", "Squeeze", "Unsqueeze", "Dropout")


def _last_operator(model: Model) -> str:
    """Of those that change numbers."""
    makers = {output: node for node in model.nodes for output in node["outputs"]}
    node = makers.get(next(iter(model.outputs)))
    while node is not None and node["op"] in _PASSING:
        node = makers.get(node["inputs"][0])
    return "" if node is None else str(node["op"])


def _probabilities(model: Model, outputs: Array) -> Array:
    """Of scores, or of what a network makes of them at its end."""
    decision = _last_operator(model)
    if outputs.shape[1] == 1:
        yes = outputs if decision == "Sigmoid" else 1 / (1 + np.exp(-outputs))
        return np.concatenate([1 - yes, yes], 1)
    if decision == "Softmax":
        return outputs
    powers = np.exp(outputs - outputs.max(1, keepdims=True))
    return powers / powers.sum(1, keepdims=True)  # type: ignore[no-any-return]


class Activations(TransformerMixin, _OnNetwork):  # type: ignore[misc]
    """What a layer computes, as features: for probes, clusters and pictures of what a network knows.

    ``reduction``: as :meth:`assay.Model.activations` has it; ``"every-position"`` gives a feature for each position.
    """

    def __init__(self, network: Any, layer: str = "input", *, reduction: str = "mean") -> None:
        self.network = network
        self.layer = layer
        self.reduction = reduction

    def fit(self, X: Any, y: Any = None) -> Activations:
        x = self._records(X)
        self._hold_network(x, y)
        self.n_features_out_ = self._features(x[:1]).shape[1]
        return self

    def transform(self, X: Any) -> Array:
        """[n, features] float32."""
        return self._features(self._known_records(X))

    def _features(self, x: Array) -> Array:
        return self.model_.activations(x, self.layer, reduction=self.reduction).reshape(len(x), -1)  # type: ignore[no-any-return]

    def get_feature_names_out(self, input_features: Any = None) -> Array:
        check_is_fitted(self, "model_")
        return np.array([f"{self.layer}/{k}" for k in range(self.n_features_out_)], object)


    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float32"]
        return tags


class Coverage(_OnNetwork):
    """How well records exercise a network, as a score: ``fit`` learns the profile from training records, ``score`` is
    the coverage of other ones by ``criterion`` (``assay criteria`` lists them)."""

    def __init__(self, network: Any, criterion: str = "nc") -> None:
        self.network = network
        self.criterion = criterion

    def fit(self, X: Any, y: Any = None) -> Coverage:
        x = self._records(X)
        self._hold_network(x, y)
        with tempfile.TemporaryDirectory(prefix="assay-") as folder:
            path = os.path.join(folder, "profile")
            commands["cover"](self.model_, train=x, test=x[:1], criterion=self.criterion, profile=path)
            with open(path, "rb") as file:
                self.profile_ = file.read()
        return self

    def score(self, X: Any, y: Any = None) -> float:
        return self.result(X, y).coverage(self.criterion)  # type: ignore[no-any-return]

    def result(self, X: Any, y: Any = None) -> Any:
        """All that ``assay.cover`` finds."""
        x = self._known_records(X)
        with tempfile.TemporaryDirectory(prefix="assay-") as folder:
            path = os.path.join(folder, "profile")
            with open(path, "wb") as file:
                file.write(self.profile_)
            return commands["cover"](self.model_, test=x if y is None else (x, y), criterion=self.criterion, profile=path)
