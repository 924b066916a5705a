"""Networks: loading, looking into, editing."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from . import _assay
from ._data import Data, data as make_data
from ._export import channels_last, class_names_of, exported, is_network
from ._forms import Form
from ._progress import Progress, listener_of, tell
from .errors import UsageError, kind_of

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


def _differ(records: Any) -> bool:
    """Whether there are two among the first records that do: equal ones cannot show what they do to each other."""
    rows = records.read(list(range(min(64, records.size))))
    return any(bool((part[1:] != part[:1]).any()) for part in rows.values())


class Model:
    """A network. Immutable: edits give another one, which shares everything unchanged. Made by :func:`load`."""

    def __init__(self, network: Any, threads: int = 0, device: str = "cpu", batch: int = 0) -> None:
        self._network = network
        self._run = _assay.RunOptions(threads=threads, device=device, batch=batch)
        self._channels_last: frozenset[tuple[int, ...]] = frozenset()  # records that are given so, and looked at otherwise
        self._folder = ""  # where its config.json and tokenizer.json are
        self._class_names: list[str] = []  # where the network says them
        self._runs: dict[tuple[int, ...], Any] = {}  # how records of a shape run, where it was asked for

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
        entries = self._network.layers(None if data is None else self._records(data), self._run)
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

    def _with_views(self, views: Sequence[str], data: Any, folder: str | None = None) -> Model:
        """``folder``: where a tokenizer is, instead of the network's."""
        records = self._records(self._sample() if data is None else data)
        return self._edited(self._network.with_views(list(views), self._folder if folder is None else folder, records, self._run))

    def _alone(self, x: Any) -> Model:
        """Runs one record at a time where these change each other's results, unless ``batch`` was given."""
        alone = self._edited(self._network)
        alone._run = self._network.run_alone(self._records(x), self._run)
        return alone

    def _sample(self) -> Any:
        """A record that the network takes, whose shape it tells but for the number of tokens."""
        made = {}
        for name, dtype, shape in self._network.inputs:
            if dtype != "int64" or len(shape) != 2:
                return self._open_record()
            made[name] = np.zeros((1, shape[1] if shape[1] > 0 else 8), np.int64)
        return made

    def _open_record(self) -> Any:
        made = {}
        for name, dtype, shape in self._network.inputs:
            if any(size < 0 for size in shape[1:]):
                raise UsageError(f"view: the shape of input '{name}', {list(shape)}, is not known; give data=RECORDS, which tell it")
            made[name] = np.zeros((1, *shape[1:]), dtype)
        return made

    def _edited(self, network: Any) -> Model:
        edited = Model(network)
        edited._run, edited._channels_last, edited._folder = self._run, self._channels_last, self._folder
        edited._class_names = self._class_names
        return edited

    def _in_batches(self, batch: int) -> Model:
        """The same network with so many records together; 0: as many as are quick, one where they change each other."""
        other = self._edited(self._network)
        other._run = _assay.RunOptions(threads=self._run.threads, device=self._run.device, batch=batch)
        return other

    def _numbering_notice(self, data: Data) -> str:
        """What is wrong where the network, which no config.json belongs to, and the data number classes differently."""
        return str(self._network.numbering_notice(self._class_names, data._records))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes ONNX."""
        self._network.write(os.fspath(path))

    def predict(self, x: Any, *, progress: Progress = None) -> tuple[Array, Array | None]:
        """Outputs [n, ...] in the network's shape, and the classes [n] that they name (None where
        they are not one row of scores for each record, and for regression)."""
        listener = listener_of(progress)
        records = self._fitting(x, listener)
        found = self._network.predictions(records, self._run_of(records), listener)
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
            layers, progress, x, lambda n, records, run, listener: self._network.activations(records, n, reduction or "", run, listener)
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
            progress,
            x,
            lambda n, records, run, listener: self._network.gradients(
                records, n, _target(target), _switch(outputs), reduction or "", run, listener
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
            progress,
            x,
            lambda n, records, run, listener: self._network.relevance(
                records, n, method, _target(target), _switch(outputs), reduction or "", run, listener
            ),
        )

    def _by_layer(self, layers: str | Sequence[str], progress: Progress, x: Any, compute: Any) -> Any:
        names = [layers] if isinstance(layers, str) else [str(name) for name in layers]
        if not names:
            raise UsageError("which layers? give a name or several")
        listener = listener_of(progress)
        records = self._fitting(x, listener)
        arrays = compute(names, records, self._run_of(records), listener)
        return arrays[0] if isinstance(layers, str) else dict(zip(names, arrays))

    def _records(self, x: Any) -> Any:
        return make_data(x, layout=Form(self._channels_last, self._takes_levels))._records

    def _fitting(self, x: Any, listener: Any) -> Any:
        """Records whose tokens, if they are texts, are those of the network."""
        records = self._records(x)
        self._network.require_fitting_tokens(self._folder, records, listener)
        return records

    def _run_of(self, records: Any) -> Any:
        """One record at a time, which is told, where records change each other's results and no ``batch`` was given."""
        if records.size < 2 or self._run.batch > 0:
            return self._run
        shape = tuple(records.shape)
        if shape not in self._runs:
            run = self._network.run_alone(records, self._run)
            if run.batch == 0 and not _differ(records):
                return run
            self._runs[shape] = run
            if run.batch > 0:
                tell("records run one at a time, as they change each other's results; load(..., batch=N) runs N together")
        return self._runs[shape]

    def _takes_levels(self) -> bool:
        """Whether the first input takes numbers of 8 bits, from 0 to 255."""
        return bool(self._network.inputs[0][1] == "uint8")

    def __copy__(self) -> Model:
        return self._edited(self._network)

    def __deepcopy__(self, memo: Any) -> Model:
        return self._edited(self._network)  # which never changes

    def __reduce_ex__(self, protocol: Any) -> Any:
        raise TypeError("a network is not pickled: save() writes it to a file, which assay.load() reads")

    def __repr__(self) -> str:
        ports = ", ".join(f"{name} {list(shape)}" for name, shape in self.inputs.items())
        return f"<assay.Model {self.name}: {ports}, {self.parameters} parameters>"


def _target(target: Any) -> Any:
    if target is None or isinstance(target, (int, np.integer)):
        return None if target is None else int(target)
    if hasattr(target, "detach"):
        target = target.detach().cpu().numpy()
    return np.asarray(target, dtype=np.int64)


def _switch(value: Any) -> Any:
    """NumPy's truth values and numbers also count as True or False."""
    return bool(value) if value is None or isinstance(value, (int, float, np.generic)) else value


def load(
    source: Any,
    example: Any = None,
    *,
    weights: str | os.PathLike[str] | None = None,
    fix: Mapping[str, float] | None = None,
    decision: str | int | None = None,
    view: str | Sequence[str] | None = None,
    data: Any = None,
    threads: int = 0,
    device: str = "cpu",
    batch: int = 0,
    name: str = "network",
) -> Model:
    """A network.

    Parameters
    ----------
    source
        A file (.onnx, Keras .h5 or .keras) or the folder that holds it, as exporters of language models make it, the bytes
        of an ONNX file, a ``torch.nn.Module`` with an example (models of transformers that take tokens need none), a model
        of Keras, what ``torch.export`` or ``torch.onnx.export`` gave, a ModelProto, or
        a Model.
    example
        Of a torch module: a batch of one record as a tensor, a tuple of tensors, or a dict by name of argument.
    weights
        A .safetensors file that holds all weights of the network under their names (``Model.weights``), in place of
        its own.
    fix
        Inputs that are one number for all records, by name, such as a sampling rate: ``{"sr": 16000}``.
    decision
        The output that decides, by name or number from 0, where the network has several; of a model of language
        ``"position=last,answers=Yes+No"``, the scores of these tokens at that position (docs/text.md).
    view
        Heads, directions or tokens as units, such as ``"heads=norm"``, one or several (docs/text.md): layers that
        commands look at instead of the usual ones, and that :meth:`Model.activations` gives by name.
    data
        Records that tell their shape for ``view``, where the network leaves it open.
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
        For inputs and outputs that the network does not have.
    MismatchError
        Naming what only ``weights`` or only the network has, and shapes that differ.
    """
    views = [view] if isinstance(view, str) else [str(one) for one in view or []]
    if data is not None and not views:
        raise UsageError("data has no effect without view; give both, or neither")
    if isinstance(source, Model):
        network = _adapted(source._network, weights, fix, decision, source._folder)
        model = source if network is source._network else source._edited(network)
        return model._with_views(views, data) if views else model
    network = _network_of(source, example, name)
    model = Model(_adapted(network, weights, fix, decision, _folder_of(source)), threads, device, batch)
    model._channels_last, model._folder = channels_last(source, network), _folder_of(source)
    model._class_names = class_names_of(source)
    return model._with_views(views, data) if views else model


def _adapted(
    network: Any,
    weights: str | os.PathLike[str] | None,
    fix: Mapping[str, float] | None,
    decision: str | int | None,
    folder: str,
) -> Any:
    if weights is not None:
        network = network.with_weights_of(os.fspath(weights))
    for name, number in (fix or {}).items():
        network = network.with_fixed_input(name, float(number))
    return network if decision is None else network.with_decision(str(decision), folder)


def _folder_of(source: Any) -> str:
    """Where config.json and tokenizer.json of a network of language are."""
    return _assay.folder_of_network(os.fspath(source)) if isinstance(source, (str, os.PathLike)) else ""


def _network_of(source: Any, example: Any, name: str) -> Any:
    if is_network(source):
        return exported(source, example, name)
    if example is not None:
        raise UsageError("an example is for torch modules and Keras models; other networks have the shapes of their inputs")
    if isinstance(source, (bytes, bytearray, memoryview)):
        return _assay.read_onnx(bytes(source), "", name)
    if isinstance(source, (str, os.PathLike)):
        return _assay.read_model(os.fspath(source))
    raise UsageError(f"{kind_of(source)} is not a network: give a file, ONNX bytes, a torch module or Keras model")
