"""A judge of attacks that belongs to neither side: ONNX Runtime on the network's file."""

import numpy as np
import pytest


def classes(path, x):
    onnxruntime = pytest.importorskip("onnxruntime", reason="SKIPPED: onnxruntime is not installed (PyPI)")
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    name = session.get_inputs()[0].name
    return session.run(None, {name: np.ascontiguousarray(x, np.float32)})[0].argmax(1)


def sizes(x, changed, norm):
    """How much of each record was changed."""
    change = np.abs((changed - x).reshape(len(x), -1).astype(np.float64))
    return {"linf": lambda: change.max(1), "l2": lambda: np.sqrt((change**2).sum(1)), "l0": lambda: (change > 1e-6).sum(1)}[norm]()


def successes(path, x, y, changed, budget=None, norm="linf", target=None):
    """Which records are taken for another class, or for the target; none goes beyond the budget or leaves 0 to 1."""
    assert changed.min() >= -1e-6 and changed.max() <= 1 + 1e-6
    if budget is not None:
        assert sizes(x, changed, norm).max() <= budget * (1 + 1e-4) + 1e-6
    named = classes(path, changed)
    return named != y if target is None else named == target
