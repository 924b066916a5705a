"""A judge of attacks that belongs to neither side: ONNX Runtime on the network's file."""

import numpy as np
import pytest


def classes(path, x):
    onnxruntime = pytest.importorskip("onnxruntime", reason="SKIPPED: onnxruntime is not installed (PyPI)")
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    name = session.get_inputs()[0].name
    return session.run(None, {name: np.ascontiguousarray(x, np.float32)})[0].argmax(1)


def successes(path, x, y, changed, budget=None, norm="linf"):
    """Which records are taken for another class; none goes beyond the budget or leaves 0 to 1."""
    assert changed.min() >= -1e-6 and changed.max() <= 1 + 1e-6
    if budget is not None:
        change = (changed - x).reshape(len(x), -1)
        size = np.abs(change).max(1) if norm == "linf" else np.sqrt((change.astype(np.float64) ** 2).sum(1))
        assert size.max() <= budget * (1 + 1e-4) + 1e-6
    return classes(path, changed) != y
