"""Networks: loading, looking into, editing."""

from __future__ import annotations

import io
import os
import sys
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from . import _assay
from ._data import Data, data as make_data
from ._progress import Progress, listener_of
from .errors import AssayError, UsageError

__all__ = ["Layer", "Model", "load"]

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Layer:
    """A layer as analyses see it. ``shape`` is that of one record, without the batch axis."""

    name: str
    op: str
    neurons: int
    parameters: int
    shape: tuple[int, ...]
    activation: str
    carries_weights: bool


class Model:
    """A network. Immutable: edits give another one, which shares what was not touched. Made by :func:`load`."""

    def __init__(self, network: Any, threads: int = 0, device: str = "cpu", batch: int = 0) -> None:
        self._network = network
        self._run = _assay.RunOptions(threads=threads, device=device, batch=batch)

    @property
    def name(self) -> str:
        return str(self._network.name)

    @property
    def hash(self) -> str:
        """Content hash of structure and weights, 32 hex digits."""
        return str(self._network.hash)

    @property
    def parameters(self) -> int:
        """Number of elements of all weights."""
        return int(self._network.parameters)

    @property
    def inputs(self) -> dict[str, tuple[int, ...]]:
        """Shapes by name, -1 for a dynamic dimension."""
        return {name: tuple(shape) for name, _, shape in self._network.inputs}

    @property
    def outputs(self) -> dict[str, tuple[int, ...]]:
        return {name: tuple(shape) for name, _, shape in self._network.outputs}

    @property
    def nodes(self) -> list[dict[str, Any]]:
        """Name, ``op``, ``inputs`` and ``outputs`` of each node, in the order of computation."""
        return list(self._network.nodes)

    @property
    def weights(self) -> list[str]:
        """Names of all constants."""
        return list(self._network.constants)

    def weight(self, name: str) -> Array:
        """A constant by name; it cannot be written to. ``with_weights`` gives a network with another one."""
        return self._network.constant(name)  # type: ignore[no-any-return]

    def layers(self, data: Any = None) -> list[Layer]:
        """All layers in the order of computation. ``data`` tells the record's shape where the network does not."""
        entries = self._network.layers(None if data is None else make_data(data)._records, self._run)
        layers = [Layer(**entry) for entry in entries]
        return [replace(layer, shape=tuple(layer.shape)) for layer in layers]

    def with_weights(self, arrays: Mapping[str, Any]) -> Model:
        """With other constants, of the shapes that they had."""
        return self._edited(self._network.with_constants({n: np.asarray(a) for n, a in arrays.items()}))

    def without_node(self, name: str) -> Model:
        """Without a node; what read its output reads its first input."""
        return self._edited(self._network.without_node(name))

    def with_outputs(self, names: Sequence[str]) -> Model:
        """With these values as outputs; nodes that none of them needs are dropped."""
        return self._edited(self._network.with_outputs(list(names)))

    def _edited(self, network: Any) -> Model:
        edited = Model(network)
        edited._run = self._run
        return edited

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes ONNX."""
        self._network.write(os.fspath(path))

    def predict(self, x: Any, *, progress: Progress = None) -> tuple[Array, Array | None]:
        """Outputs [n, ...] in whatever shape the network gives them, and the classes [n] that they name (None where
        they are no row of scores for each record, and for regression)."""
        found = self._network.predictions(make_data(x)._records, self._run, listener_of(progress))
        return found[0], found[1] if len(found) > 1 else None

    def __call__(self, x: Any) -> Array:
        return self.predict(x)[0]

    def activations(
        self, x: Any, layers: str | Sequence[str], *, reduction: str | None = None, progress: Progress = None
    ) -> Any:
        """What layers compute for each record: an array [n, ...] for one name, a dict of arrays for several.

        ``reduction``: ``"mean"``, ``"max"`` or ``"min"`` of a neuron's positions, [n, neurons]; ``"every-position"``;
        None: the tensor as it is, records first. A name is that of a layer, of a value of the graph, or ``"input"``.
        """
        return self._by_layer(
            layers, lambda n: self._network.activations(_records(x), n, reduction or "", self._run, listener_of(progress))
        )

    def gradients(
        self,
        x: Any,
        layers: str | Sequence[str] = "input",
        *,
        target: int | Any = None,
        outputs: bool = False,
        reduction: str | None = None,
        progress: Progress = None,
    ) -> Any:
        """The derivative of a score (before the softmax) with respect to what layers compute, record by record, shaped
        as :meth:`activations`. ``target``: a class, or one for each record [n]; None: the class that is named. With one
        output z the scores of classes 0 and 1 are -z/2 and z/2. ``outputs``: the target is the number of an output, whose
        value itself is meant, as for regression (and always so for data with targets)."""
        return self._by_layer(
            layers,
            lambda n: self._network.gradients(
                _records(x), n, _target(target), _switch(outputs), reduction or "", self._run, listener_of(progress)
            ),
        )

    def relevance(
        self,
        x: Any,
        layers: str | Sequence[str] = "input",
        *,
        method: str = "epsilon",
        target: int | Any = None,
        outputs: bool = False,
        reduction: str | None = None,
        progress: Progress = None,
    ) -> Any:
        """Relevance of what layers compute for a decision, shaped as :meth:`activations`. ``method``: an attribution
        (``assay importance --help`` lists them): ``"epsilon"``, ``"integrated-gradients"``, ... ``target`` and
        ``outputs``: as :meth:`gradients` has them."""
        return self._by_layer(
            layers,
            lambda n: self._network.relevance(
                _records(x), n, method, _target(target), _switch(outputs), reduction or "", self._run, listener_of(progress)
            ),
        )

    @staticmethod
    def _by_layer(layers: str | Sequence[str], compute: Any) -> Any:
        names = [layers] if isinstance(layers, str) else [str(name) for name in layers]
        if not names:
            raise UsageError("which layers? give a name or several")
        arrays = compute(names)
        return arrays[0] if isinstance(layers, str) else dict(zip(names, arrays))

    def __copy__(self) -> Model:
        return self._edited(self._network)

    def __deepcopy__(self, memo: Any) -> Model:
        return self._edited(self._network)  # which never changes

    def __reduce_ex__(self, protocol: Any) -> Any:
        raise TypeError("a network is not pickled: save() writes it to a file, which assay.load() reads")

    def __repr__(self) -> str:
        ports = ", ".join(f"{name} {list(shape)}" for name, shape in self.inputs.items())
        return f"<assay.Model {self.name}: {ports}, {self.parameters} parameters>"


def _records(x: Any) -> Any:
    return make_data(x)._records


def _target(target: Any) -> Any:
    if target is None or isinstance(target, (int, np.integer)):
        return None if target is None else int(target)
    if hasattr(target, "detach"):
        target = target.detach().cpu().numpy()
    return np.asarray(target, dtype=np.int64)


def _switch(value: Any) -> Any:
    """NumPy's truth values and numbers are True or False, too."""
    return bool(value) if value is None or isinstance(value, (int, float, np.generic)) else value


def is_torch_module(value: Any) -> bool:
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(value, torch.nn.Module)


def is_keras_model(value: Any) -> bool:
    modules = (part for c in type(value).__mro__ for part in c.__module__.split("."))
    return hasattr(value, "save") and any(part in ("keras", "tf_keras") for part in modules)


def _exported(module: Any, example: Any) -> Any:
    """A torch module as ONNX with a free batch axis; with its weights, and in the mode it will be used in."""
    import torch

    if example is None:
        raise UsageError(
            "a torch module knows no shape of its input: load(net, example) with a batch of one record, such as "
            "torch.zeros(1, 3, 32, 32)"
        )
    if isinstance(example, np.ndarray):
        example = torch.from_numpy(example)
    named = dict(example) if isinstance(example, Mapping) else None
    arguments = tuple(named.values()) if named is not None else (example if isinstance(example, tuple) else (example,))
    names = list(named) if named is not None else (["x"] if len(arguments) == 1 else [f"x{i}" for i in range(len(arguments))])
    training = module.training
    buffer = io.BytesIO()
    options: dict[str, Any] = {}
    if tuple(int(part) for part in torch.__version__.split("+")[0].split(".")[:2]) >= (2, 5):
        options["dynamo"] = False
    module.eval()
    try:
        with warnings.catch_warnings(), torch.no_grad():
            warnings.simplefilter("ignore")
            torch.onnx.export(
                module,
                arguments,
                buffer,
                input_names=names,
                output_names=["output"],
                dynamic_axes={name: {0: "n"} for name in [*names, "output"]},
                **options,
            )
    except UsageError:
        raise
    except Exception as error:
        raise UsageError(f"torch.onnx.export does not take this module: {error}") from error
    finally:
        module.train(training)
    return _assay.read_onnx(buffer.getvalue(), "", type(module).__name__)


def _from_keras(model: Any) -> Any:
    import tempfile

    with tempfile.TemporaryDirectory(prefix="assay-") as folder:
        failed = None
        for ending in (".keras", ".h5"):  # old versions know the second one alone
            path = os.path.join(folder, f"{getattr(model, 'name', 'model')}{ending}")
            try:
                model.save(path)
                return _assay.read_model(path)
            except AssayError:
                raise
            except Exception as error:
                failed = failed or error
        raise UsageError(f"Keras does not save this model: {failed}") from failed


def load(
    source: Any,
    example: Any = None,
    *,
    weights: str | os.PathLike[str] | None = None,
    fix: Mapping[str, float] | None = None,
    decision: str | int | None = None,
    threads: int = 0,
    device: str = "cpu",
    batch: int = 0,
    name: str = "network",
) -> Model:
    """A network.

    Parameters
    ----------
    source
        A file (.onnx, Keras .h5 or .keras), the bytes of an ONNX file, a ``torch.nn.Module`` with an example, a Keras
        model, or a Model.
    example
        Of a torch module: a batch of one record as a tensor, a tuple of tensors, or a dict by name of input.
    weights
        A .safetensors file that holds all weights of the network under their names (``Model.weights``), in place of
        its own.
    fix
        Inputs that are one number for all records, by name, such as a sampling rate: ``{"sr": 16000}``.
    decision
        The output that decides, by name or number from 0, where the network has several.
    threads, device, batch
        How the model's own methods run it: threads (0: all cores), ``"cpu"``, records per batch (0:
        chosen for the network). Analyses take their own.
    name
        Of a network from bytes.

    Raises
    ------
    ModelError
        For damaged, hostile or unknown files.
    UnsupportedError
        Naming node and operator that Assay cannot do.
    UsageError
        For inputs and outputs that the network has not.
    MismatchError
        Naming what ``weights`` has and the network has not, or the other way round, and shapes that differ.
    """
    if isinstance(source, Model):
        network = _adapted(source._network, weights, fix, decision)
        return source if network is source._network else source._edited(network)
    network = _adapted(_network_of(source, example, name), weights, fix, decision)
    return Model(network, threads, device, batch)


def _adapted(
    network: Any,
    weights: str | os.PathLike[str] | None,
    fix: Mapping[str, float] | None,
    decision: str | int | None,
) -> Any:
    if weights is not None:
        network = network.with_weights_of(os.fspath(weights))
    for name, number in (fix or {}).items():
        network = network.with_fixed_input(name, float(number))
    return network if decision is None else network.with_decision(str(decision))


def _network_of(source: Any, example: Any, name: str) -> Any:
    if is_torch_module(source):
        return _exported(source, example)
    if example is not None:
        raise UsageError("an example is for torch modules; other networks know the shapes of their inputs")
    if isinstance(source, (bytes, bytearray, memoryview)):
        return _assay.read_onnx(bytes(source), "", name)
    if isinstance(source, (str, os.PathLike)):
        return _assay.read_model(os.fspath(source))
    if is_keras_model(source):
        return _from_keras(source)
    raise UsageError(f"a {type(source).__name__} is no network: give a file, ONNX bytes, a torch module or Keras model")
