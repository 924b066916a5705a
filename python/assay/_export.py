"""Networks that other libraries hold in memory, as ONNX: modules and programs of torch, models of Keras."""

from __future__ import annotations

import ast
import contextlib
import gc
import hashlib
import importlib.util
import inspect
import io
import logging
import os
import sys
import tempfile
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from . import _assay
from ._progress import AssayWarning
from .errors import AssayError, UnsupportedError, UsageError

__all__ = ["channels_last", "class_names_of", "exported", "is_keras_model", "is_network", "is_torch_module"]


def is_torch_module(value: Any) -> bool:
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(value, torch.nn.Module) and not is_keras_model(value)


def is_keras_model(value: Any) -> bool:
    modules = (part for c in type(value).__mro__ for part in c.__module__.split("."))
    return hasattr(value, "save") and any(part in ("keras", "tf_keras") for part in modules)


def _is_program_of_torch(value: Any) -> bool:
    torch = sys.modules.get("torch")
    return torch is not None and hasattr(torch, "export") and isinstance(value, torch.export.ExportedProgram)


def _is_onnx(value: Any) -> bool:
    """A ModelProto of the package onnx, or a result of torch.onnx.export."""
    return hasattr(value, "model_proto") or (hasattr(value, "SerializeToString") and hasattr(value, "graph"))


def is_network(value: Any) -> bool:
    return is_torch_module(value) or is_keras_model(value) or _is_program_of_torch(value) or _is_onnx(value)


def exported(source: Any, example: Any, name: str) -> Any:
    """The network of an object that is one (`is_network`)."""
    if is_keras_model(source):
        return _of_keras(source, example)
    if is_torch_module(source):
        return _of_module(source, example)
    if example is not None:
        raise UsageError("an example is for torch modules and Keras models; other networks have the shapes of their inputs")
    if _is_program_of_torch(source):
        return _of_program(_dynamo(source, _Call((), {}, [], [])), set(source.state_dict), name)
    return _assay.read_onnx(getattr(source, "model_proto", source).SerializeToString(), "", name)


@dataclass
class _Call:
    """How a module is called: tensors by position or by name, and what inputs and outputs are called."""

    positional: tuple[Any, ...]
    named: dict[str, Any]
    inputs: list[str]
    outputs: list[str]
    texts: bool = False  # tensors of tokens, of any length

    def of_two_records(self) -> _Call:
        """With more than one record: a batch of one would pass for an axis that is always 1."""
        import torch

        def two(tensor: Any) -> Any:
            single = isinstance(tensor, torch.Tensor) and tensor.dim() > 0 and tensor.shape[0] == 1
            return torch.cat([tensor, tensor]) if single else tensor

        named = {name: two(tensor) for name, tensor in self.named.items()}
        return _Call(tuple(map(two, self.positional)), named, self.inputs, self.outputs, self.texts)


def _of_module(module: Any, example: Any) -> Any:
    """A torch module with a free batch axis; with its weights, and in the mode it will be used in."""
    module = getattr(module, "_orig_mod", module)  # of torch.compile
    texts = _texts_for(module) if example is None else None
    if texts is not None:
        example = texts
    if example is None:
        raise UsageError(
            "a torch module does not know the shape of its input: load(net, example) with a batch of one record, such as "
            "torch.zeros(1, 3, 32, 32)"
        )
    with _evaluating(module):
        call = _call_of(module, example)
        call.texts = texts is not None
        if call.texts and not _is_hooked(module):
            return _networks_of_texts.found(module, lambda: _first_that_works(module, call))
        return _first_that_works(module, call)


def _first_that_works(module: Any, call: _Call) -> Any:
    """Exported by the new exporter, or by the old one."""
    failed: list[Exception] = []
    for attempt in (_by_dynamo, _by_tracing):
        try:
            return attempt(module, call)
        except Exception as error:  # any error of an exporter, or of Assay about its result
            failed.append(error)
    for failure in failed:
        if isinstance(failure, AssayError):
            raise failure
    new, old = (f"{type(why).__name__}: {(str(why).strip() or 'without a word').splitlines()[0]}" for why in failed)
    raise UsageError(
        f"torch.onnx.export does not take this {type(module).__name__}, neither with dynamo=True ({new}) nor without ({old}); "
        "export it yourself and give the file"
    )


def _is_hooked(module: Any) -> bool:
    """Whether it does what neither its configuration nor its weights say."""
    return any("forward" in vars(part) or part._forward_hooks or part._forward_pre_hooks for part in module.modules())


class _Exported:
    """Networks that were made of models of transformers a moment ago, by what the models are: exporting takes longer than most questions."""

    most = 2  # each holds its weights

    def __init__(self) -> None:
        self._networks: dict[tuple[Any, str], Any] = {}

    def found(self, module: Any, make: Callable[[], Any]) -> Any:
        key = (tuple(type(part) for part in module.modules()), _digest(module))
        network = self._networks.pop(key, None)
        self._networks[key] = make() if network is None else network
        for oldest in list(self._networks)[: -self.most]:
            del self._networks[oldest]
        return self._networks[key]


_networks_of_texts = _Exported()


def _digest(module: Any) -> str:
    """Of the configuration, of what modules hold, the weights and the constants."""
    import torch

    digest = hashlib.blake2b(module.config.to_json_string(use_diff=False).encode(), digest_size=16)

    def add(name: str, value: Any) -> None:
        if isinstance(value, torch.Tensor):
            digest.update(f"{name} {value.dtype} {tuple(value.shape)}".encode())
            digest.update(value.detach().cpu().contiguous().reshape(-1).view(torch.uint8).numpy())
        elif isinstance(value, (list, tuple, dict)):
            for key, one in value.items() if isinstance(value, dict) else enumerate(value):
                add(f"{name}.{key}", one)
        elif value is not module.config:
            digest.update(f"{name} {value!r}".encode())

    of_every_module = vars(torch.nn.Module())
    for number, part in enumerate(module.modules()):
        for name, value in vars(part).items():
            if name not in of_every_module:
                add(f"{number} {name}", value)
    for name, tensor in [*module.named_parameters(), *module.named_buffers()]:
        add(name, tensor)
    return digest.hexdigest()


def _texts_for(module: Any) -> Any:
    """Two texts of a model of transformers that takes tokens; None for other modules."""
    if getattr(module, "main_input_name", None) != "input_ids" or getattr(module, "config", None) is None:
        return None
    if getattr(module.config, "is_encoder_decoder", False):
        return None
    import torch

    tokens = torch.zeros((2, 8), dtype=torch.int64)
    return {"input_ids": tokens, "attention_mask": torch.ones_like(tokens)}


def class_names_of(source: Any) -> list[str]:
    """What a model of transformers calls its classes; exporters write LABEL_0, LABEL_1, ... where they have no names."""
    known = getattr(getattr(source, "config", None), "id2label", None)
    if not isinstance(known, dict) or sorted(known) != list(range(len(known))):
        return []
    names = [str(known[number]) for number in range(len(known))]
    return [] if all(name == f"LABEL_{number}" for number, name in enumerate(names)) else names


@contextlib.contextmanager
def _evaluating(module: Any) -> Iterator[None]:
    """In evaluation mode, and without the caches of transformers, which are unused outputs."""
    import torch

    training: bool = module.training
    config: Any = getattr(module, "config", None)
    caches = getattr(config, "use_cache", None)
    module.eval()
    if caches:
        setattr(config, "use_cache", False)
    try:
        with torch.no_grad():
            yield
    finally:
        module.train(training)
        if caches:
            setattr(config, "use_cache", caches)


@contextlib.contextmanager
def _quietly() -> Iterator[None]:
    """Suppresses what exporters print and log about failed attempts."""
    level = logging.root.manager.disable
    logging.disable(logging.CRITICAL)
    try:
        with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.disable(level)


@contextlib.contextmanager
def _without_triton() -> Iterator[None]:
    """Where TensorFlow is loaded, loading triton would end the process; torch exports without it."""
    modules: dict[str, Any] = sys.modules
    hidden = "tensorflow" in modules and "triton" not in modules
    if hidden:
        modules["triton"] = None
    try:
        yield
    finally:
        if hidden:
            del modules["triton"]


def _call_of(module: Any, example: Any) -> _Call:
    import torch

    device = next((weight.device for weight in module.parameters()), torch.device("cpu"))

    def tensor(value: Any) -> Any:
        value = torch.from_numpy(value) if isinstance(value, np.ndarray) else value
        return value.to(device) if isinstance(value, torch.Tensor) else value

    call = _Call((), {}, [], [])
    if isinstance(example, Mapping):
        given = {str(name): tensor(value) for name, value in example.items()}
        parameters = inspect.signature(module.forward).parameters
        order = [name for name in parameters if name in given]
        if len(order) == len(given) or any(p.kind is p.VAR_KEYWORD for p in parameters.values()):
            call.named = {name: given[name] for name in [*order, *(name for name in given if name not in order)]}
        else:
            call.positional = tuple(given.values())
        call.inputs = list(call.named or given)
    else:
        call.positional = tuple(map(tensor, example if isinstance(example, tuple) else (example,)))
        count = len(call.positional)
        call.inputs = ["x"] if count == 1 else [f"x{number}" for number in range(count)]
    try:
        call.outputs = _names_of_outputs(module(*call.positional, **call.named))
    except Exception as error:  # of the module's own code
        shapes = ", ".join(f"{n} {list(np.shape(v))}" for n, v in zip(call.inputs, [*call.positional, *call.named.values()]))
        raise UsageError(f"{type(module).__name__} does not take this example ({shapes}): {error}") from error
    return call


def _names_of_outputs(found: Any) -> list[str]:
    """Of the tensors that come first: keys of a dict, or "output", "output_1", ..."""
    import torch

    parts = list(found.items()) if isinstance(found, Mapping) else []
    if not parts:
        values = found if isinstance(found, (tuple, list)) else (found,)
        parts = [(f"output_{number}" if number else "output", value) for number, value in enumerate(values)]
    tensors = [isinstance(value, torch.Tensor) for _, value in parts]
    leading = tensors.index(False) if False in tensors else len(tensors)
    return [str(name) for name, _ in parts[:leading]]


def _by_dynamo(module: Any, call: _Call) -> Any:
    if importlib.util.find_spec("onnxscript") is None:
        raise ImportError("onnxscript is not installed")
    weights = {name for name, _ in [*module.named_parameters(), *module.named_buffers()]}
    network = _of_program(_dynamo(module, call.of_two_records()), weights, type(module).__name__)
    fixed = [name for name, _, shape in network.inputs if shape and shape[0] != -1]
    if fixed:
        raise ValueError(f"the number of records of '{fixed[0]}' is fixed in it")
    return network


def _dynamo(module: Any, call: _Call) -> Any:
    import torch

    def free(value: Any) -> Any:
        axes = {0: "n", 1: "tokens"} if call.texts else {0: "n"}
        return axes if isinstance(value, torch.Tensor) and value.dim() > 0 else None

    shapes: Any = {name: free(value) for name, value in call.named.items()} or tuple(map(free, call.positional))
    if call.positional and any(p.kind is p.VAR_POSITIONAL for p in inspect.signature(module.forward).parameters.values()):
        shapes = (shapes,)
    names = {"input_names": call.inputs, "output_names": call.outputs, "dynamic_shapes": shapes} if call.inputs else {}
    with _quietly(), _without_triton():
        return torch.onnx.export(module, call.positional, kwargs=call.named, dynamo=True, verbose=False, **names)


def _of_program(program: Any, weights: Any, name: str) -> Any:
    _name_by_module(program.model.graph, weights)
    with tempfile.TemporaryDirectory(prefix="assay-") as folder:
        path = os.path.join(folder, f"{name}.onnx")
        program.save(path)  # with weights in a file next to it, if they are large
        return _assay.read_model(path)


def _name_by_module(graph: Any, weights: Any) -> None:
    """Nodes get the names of the modules that they come from, "/conv1/Conv", as the older exporter has them."""
    count: Counter[str] = Counter()
    for node in graph:
        read = next((value.name for value in node.inputs if value is not None and value.name in weights), None)
        scopes = ast.literal_eval(node.metadata_props.get("pkg.torch.onnx.name_scopes", "['', '']"))
        scope = read.rpartition(".")[0] if read else scopes[-2] if len(scopes) > 1 else ""
        name = "/".join(["", *filter(None, scope.split(".")), node.op_type])
        node.name = f"{name}_{count[name]}" if count[name] else name
        count[name] += 1


def _by_tracing(module: Any, call: _Call) -> Any:
    """The older exporter, which follows the one way that the example takes."""
    import torch

    options: dict[str, Any] = {}
    if tuple(int(part) for part in torch.__version__.split("+")[0].split(".")[:2]) >= (2, 5):
        options["dynamo"] = False
    buffer: Any = io.BytesIO()
    arguments = (*call.positional, call.named) if call.named else call.positional
    gc.collect()  # torch 1.13 takes what is left of an earlier graph for a new one at the same address
    with _quietly(), warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        torch.onnx.export(
            module,
            arguments,
            buffer,
            verbose=False,
            input_names=call.inputs,
            output_names=call.outputs or ["output"],
            dynamic_axes={
                **{name: {0: "n", 1: "tokens"} if call.texts else {0: "n"} for name in call.inputs},
                **{name: {0: "n"} for name in call.outputs or ["output"]},
            },
            **options,
        )
    if any("to a Python boolean" in str(warning.message) for warning in told):
        warnings.warn(
            f"{type(module).__name__} decides by the values of a tensor; the exported network always decides as for the example. Write it with torch.where or torch.cond, so that both ways are exported",
            AssayWarning,
            stacklevel=6,
        )
    return _assay.read_onnx(buffer.getvalue(), "", type(module).__name__)


def _of_keras(model: Any, example: Any) -> Any:
    """Its layers as Assay reads them; if it cannot, the result of Keras's exporter."""
    if example is not None and not getattr(model, "built", True):
        model(example)
    try:
        return _saved(model)
    except UnsupportedError as error:
        attempt = _keras_by_torch if _is_of_torch(model) else _keras_by_onnx
        try:
            return attempt(model, example)
        except ImportError as lacking:
            remedy = f"pip install {lacking.name} ({lacking})" if lacking.name else str(lacking)
            raise UnsupportedError(f"{error}. Keras can export it where a package is installed: {remedy}") from None
        except Exception as other:  # of exporters
            raise UnsupportedError(f"{error}. Keras does not export it: {type(other).__name__}: {other}") from other


def _is_of_torch(model: Any) -> bool:
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(model, torch.nn.Module)


def channels_last(model: Any, network: Any) -> frozenset[tuple[int, ...]]:
    """Shapes of records that a Keras model takes with channels last, and the network made of it with channels first."""
    if not is_keras_model(model):
        return frozenset()
    theirs = [tuple(port.shape[1:]) for port in getattr(model, "inputs", None) or []]
    ours = [tuple(shape[1:]) for _, _, shape in network.inputs]
    return frozenset(shape for shape in theirs if len(shape) > 2 and shape not in ours and (shape[-1], *shape[:-1]) in ours)


def _saved(model: Any) -> Any:
    with tempfile.TemporaryDirectory(prefix="assay-") as folder:
        failed = None
        for ending in (".keras", ".h5"):  # old versions know the second one alone
            path = os.path.join(folder, f"{getattr(model, 'name', 'model')}{ending}")
            try:
                model.save(path)
                return _assay.read_model(path)
            except AssayError as error:
                raise type(error)(str(error).replace(folder + os.sep, "")) from None
            except Exception as error:
                failed = failed or error
        raise UsageError(f"Keras does not save this model: {failed}") from failed


def _keras_by_torch(model: Any, example: Any) -> Any:
    """A model whose backend is torch is also a module."""
    import torch

    if example is None:
        example = tuple(torch.zeros(1, *port.shape[1:]) for port in model.inputs)
    return _of_module(model, example)


def _keras_by_onnx(model: Any, example: Any) -> Any:
    with tempfile.TemporaryDirectory(prefix="assay-") as folder, _quietly():
        path = os.path.join(folder, f"{getattr(model, 'name', 'model')}.onnx")
        ports = [np.zeros((1, *port.shape[1:]), port.dtype) for port in getattr(model, "inputs", None) or []]
        if ports or example is not None:  # exporters follow the last call
            model(example if example is not None else ports if len(ports) > 1 else ports[0])
        model.export(path, format="onnx", verbose=False)
        return _assay.read_model(path)
