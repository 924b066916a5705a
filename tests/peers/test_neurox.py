"""Probes and neurons that follow labels, as NeuroX finds them."""

import numpy as np
import pytest

import assay
from conftest import timed

try:
    from neurox.interpretation import linear_probe as probe
    from neurox.interpretation import probeless
except ImportError:  # of it, or of what it needs
    pytest.skip("SKIPPED: neurox is not installed (PyPI)", allow_module_level=True)


@pytest.fixture(scope="module")
def units(trained, training_digits):
    """A dense layer of the network, by name, and what its units do on the training digits."""
    model = trained[1]
    layer = model.layers()[1].name
    return layer, model.activations(training_digits[0], layer)


def inspected(model, records, layer, measure):
    return assay.inspect(model, records, hypotheses="label", measure=measure, units=f"layer={layer}", no_early_stop=True).table("scores")


def test_probes_know_as_much(trained, units, training_digits, row):
    """There on the last fifth of the records, here on a fifth that the seed draws; units are standardised, as here."""
    (layer, values), y = units, training_digits[1]
    x = ((values - values.mean(0)) / (values.std(0) + 1e-9)).astype(np.float32)
    known = len(x) * 4 // 5
    probed = lambda: probe.train_logistic_regression_probe(x[:known], y[:known], lambda_l2=1e-3, num_epochs=20, learning_rate=0.003)  # noqa: E731
    model, there = timed(probed)
    theirs = probe.evaluate_probe(model, x[known:], y[known:])["__OVERALL__"]
    found, here = timed(lambda: inspected(trained[1], training_digits, layer, "multiclass"))
    ours = next(line["score"] for line in found if line["unit"] is None)
    assert ours == pytest.approx(theirs, abs=0.04) and ours > 0.9
    row("neurox", "accuracy of a linear probe (`multiclass`) for the digit, one fifth held out", f"{theirs:.3f} there, {ours:.3f} here", (there, here))


def test_means_rank_units_alike(trained, units, training_digits, row, difference):
    (layer, values), y = units, training_digits[1]
    found = {
        (line["hypothesis"], line["unit"]): line["score"] for line in inspected(trained[1], training_digits, layer, "mean_difference")
    }
    ours = np.array([found["label:3", unit] for unit in range(values.shape[1])])
    theirs = probeless.get_neuron_ordering(values.astype(np.float64), (y == 3).astype(int))
    assert theirs == np.argsort(np.abs(ours))[::-1].tolist()
    row("neurox", "`probeless` of two classes and `mean_difference`", f"the same order of {len(theirs)} units")
    of_ten = probeless.get_neuron_ordering_for_tag(values.astype(np.float64), y, {"3": 3}, "3")
    same = len(set(of_ten[:10]) & set(theirs[:10]))
    figures = f"{same} of the 10 first units are the same"
    difference("neurox", "`probeless` of one of many classes", "distances from the means of all other classes, summed", "one class and the rest", figures)
