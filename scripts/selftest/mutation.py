"""Mutants that leave nothing to chance, run by NumPy: one for each neuron, or one for each layer."""

import numpy as np

from subjects import arrays_of
from suite import cell, fact

MUTATION = "docs/algorithms/mutation-operators.md"
LAYERS = ("fc1", "fc2", "fc3")


def decisions(arrays, x, change=lambda layer, z: z, linear=()):
    """Decided classes; `change` sees the result of each layer, before its ReLU where it is told so."""
    value = x.astype(np.float64)
    for layer in LAYERS:
        z = change(layer, value @ arrays[f"{layer}.w"].T.astype(np.float64) + arrays[f"{layer}.b"])
        value = z if layer == "fc3" or layer in linear else np.maximum(z, 0)
    return value.argmax(1)


def to_integers(weight, greatest):
    scale = np.abs(weight).max(1, keepdims=True).astype(np.float32) / np.float32(greatest)
    return (scale * np.round(weight / scale)).astype(np.float32)


def changed_weights(arrays, layer, change):
    return {**arrays, f"{layer}.w": change(arrays[f"{layer}.w"])}


def factor(layer, neuron, by):
    def change(name, z):
        if name != layer:
            return z
        z = z.copy()
        z[:, neuron] *= by
        return z
    return change


def mutants(arrays, x):
    """Decisions of all mutants by operator."""
    neurons = [(layer, n) for layer in LAYERS for n in range(len(arrays[f"{layer}.b"]))]
    return {
        "afrm": [decisions(arrays, x, linear=(layer,)) for layer in LAYERS[:2]],
        "nai": [decisions(arrays, x, factor(layer, n, -1)) for layer, n in neurons],
        "neb": [decisions(arrays, x, factor(layer, n, 0)) for layer, n in neurons if layer != "fc3"],
        "stuck[value=0]": [decisions(arrays, x, factor(layer, n, 0)) for layer, n in neurons],
        "int4": [decisions(changed_weights(arrays, layer, lambda w: to_integers(w, 7)), x) for layer in LAYERS],
    }


def add(suite):
    s = suite.subjects
    arrays = arrays_of(s.net)
    right = decisions(arrays, s.test_x) == s.test_y
    for operator, decided in mutants(arrays, s.test_x).items():
        killers = np.array([d[right] != s.test_y[right] for d in decided])
        killed_classes = [len(set(s.test_y[right][row])) for row in killers]
        name = operator.split("[")[0]
        question = suite.ask(f"mutants of {name}", MUTATION, "mutate", model="$/net.onnx", test=["$/test.npz"],
                             operator=[operator], quality="1", count="50")
        functions = [f"operator:{name}"]
        question.expect("mutants", functions, fact("mutants"), len(decided), "counted")
        question.expect("killed mutants", functions, fact("killed"), int(killers.any(1).sum()), "NumPy")
        question.expect("mutation score", functions, fact("mutation_score"), sum(killed_classes) / (3 * len(decided)),
                        "NumPy", 1e-9)
        question.expect("average error rate", functions, fact("average_error_rate"), killers.mean(), "NumPy", 1e-9)
