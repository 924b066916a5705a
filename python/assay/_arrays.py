"""Numbers in the form of the module, from NumPy, torch, TensorFlow, JAX or lists."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .errors import UsageError, kind_of

__all__ = ["Array", "array_of", "channels_first", "host", "is_array", "refused", "scaled"]

Array = np.ndarray[Any, Any]

#: Types that DLPack does not have. TensorFlow ends the process when such a tensor is asked for its memory.
_no_numbers = {"string", "variant", "resource"}


def refused(value: Any, what: str) -> UsageError:
    return UsageError(
        f"{what} is not an array but of the type {type(value).__name__}: give an array, a tensor, a table or batches "
        "(np.asarray() makes an array of lists, .toarray() one of a sparse matrix, .to_tensor() a tensor of ragged rows)"
    )


def is_array(value: Any) -> bool:
    """Whether records lie in it along its first axis."""
    return isinstance(value, np.ndarray) or hasattr(value, "__dlpack__") or _has_array(value)


def _has_array(value: Any) -> bool:
    return hasattr(value, "__array__") and hasattr(value, "shape") and not hasattr(value, "toarray")


def array_of(value: Any, what: str = "x") -> Any:
    """A NumPy array or an object with DLPack, without a copy if possible."""
    if hasattr(value, "detach"):  # of torch: those that are part of a graph export nothing
        value = value.detach()
        if getattr(value, "is_conj", None) is not None and value.is_conj():
            raise UsageError("complex tensors cannot be records")
    if isinstance(value, np.ndarray):
        held = value.dtype.name == "bfloat16" and not isinstance(value, np.ma.MaskedArray)
        return value if held else _numbers(value, what)
    if hasattr(value, "__dlpack__") and getattr(getattr(value, "dtype", None), "name", "") not in _no_numbers:
        return value
    return host(value, what)


def host(value: Any, what: str) -> Array:
    """The same as a NumPy array, for small arrays and those that are copied anyway."""
    if hasattr(value, "detach"):
        value = _host_of_torch(value.detach(), what)
    elif isinstance(value, (str, bytes)) or not (_has_array(value) or isinstance(value, (Sequence, np.generic, int, float))):
        if not hasattr(value, "__array_interface__") and not hasattr(value, "to_numpy"):
            raise refused(value, what)
    try:
        return _numbers(value.to_numpy() if hasattr(value, "to_numpy") else np.asanyarray(value), what)
    except UsageError:
        raise
    except Exception as error:  # of any library
        raise UsageError(_uneven(value, what) or f"{what}, {kind_of(value)}, gives no array: {error}") from error


def _host_of_torch(tensor: Any, what: str) -> Any:
    try:
        if str(tensor.dtype) == "torch.bfloat16":  # NumPy has no such numbers
            tensor = tensor.float()
        return tensor.cpu().numpy()
    except (RuntimeError, TypeError, NotImplementedError) as error:
        raise UsageError(f"{what}: the tensor cannot be taken as an array: {error}") from error


def _numbers(array: Array, what: str) -> Array:
    """As they are, or as float32 where NumPy borrows the type from ml_dtypes (bfloat16, floats of 8 bits)."""
    if isinstance(array, np.ma.MaskedArray):
        masked: Any = array  # NumPy's own annotations of these come and go
        if masked.mask.any():
            raise UsageError("elements of a masked array are masked; fill them, x.filled(0), or leave their records out")
        array = masked.filled()  # of which nothing is filled
    if array.dtype.kind == "V" and array.dtype.names is None and "float" in array.dtype.name:
        return array.astype(np.float32)
    if array.dtype.kind in "OSUT" and array.size:
        odd = next((value for value in array.ravel().tolist() if not isinstance(value, (int, float))), array.flat[0])
        raise UsageError(
            f"{what} holds {str(odd)[:40]!r} of the type {type(odd).__name__}, not numbers alone; convert to float32 (in the "
            "range that the network takes) or int64 (tokens, labels; np.unique(y, return_inverse=True) numbers names)"
        )
    return array


def _uneven(value: Any, what: str) -> str | None:
    """The fault of lists that are not an array, if that is the fault."""
    if not isinstance(value, Sequence):
        return None
    sizes = [len(row) if isinstance(row, Sequence) else -1 for row in value]
    wrong = next((row for row, size in enumerate(sizes) if size != sizes[0]), None)
    if wrong is None:
        return next(filter(None, (_uneven(row, f"{what}, row {number}") for number, row in enumerate(value))), None)
    first, other = ("a single value" if size < 0 else f"{size} values" for size in (sizes[0], sizes[wrong]))
    return f"{what}: row {wrong} has {other}, row 0 has {first}; pad or cut the rows to one length"


def scaled(array: Any, factor: float, what: str) -> Array:
    """Any numbers, times a factor, as float32."""
    return np.multiply(host(array, what), np.float32(factor), dtype=np.float32)


def channels_first(arrays: dict[str, Any], shapes: frozenset[tuple[int, ...]] | None = None) -> dict[str, Any]:
    """Views with channels first, of inputs with channels last: those whose records have one of the shapes, or three
    dimensions and more. No element moves."""
    moved = {}
    for name, array in arrays.items():
        values = array if hasattr(array, "movedim") else host(array, name)
        if tuple(values.shape[1:]) in shapes if shapes is not None else values.ndim > 3:
            moved[name] = values.movedim(-1, 1) if hasattr(values, "movedim") else np.moveaxis(values, -1, 1)
    if not moved and shapes is None:
        found = ", ".join(f"{name} {list(np.shape(array)[1:])}" for name, array in arrays.items())
        raise UsageError(f"layout='nhwc' is for records with channels; these are {found}")
    return {**arrays, **moved}
