"""Measures of explanations, as Quantus computes them."""

import numpy as np
import pytest

import assay

quantus = pytest.importorskip("quantus", reason="SKIPPED: quantus is not installed (PyPI)")
torch = pytest.importorskip("torch")

METHODS = ["epsilon", "gradient-x-input", "integrated-gradients"]


@pytest.fixture(scope="module")
def explained(trained, digits):
    """The network, 20 records, the classes that it names, and by method relevance for these."""
    net, model, _ = trained
    x = digits[0][:20]
    with torch.no_grad():
        named = net(torch.from_numpy(x)).argmax(1).numpy()
    return net, x, named, {method: model.relevance(x, method=method) for method in METHODS}


@pytest.mark.parametrize("method", METHODS)
def test_deletion_is_pixel_flipping(method, explained, trained, row):
    net, x, named, relevance = explained
    flipping = quantus.PixelFlipping(features_in_step=28, perturb_baseline=0.0, abs=False, disable_warnings=True, display_progressbar=False)
    curves = flipping(model=net, x_batch=x, y_batch=named, a_batch=relevance[method], softmax=True, device="cpu")
    found = assay.faithful(trained[1], (x, named), method=method, measure="deletion[steps=28]").table("points")
    ours = np.array([line["probability"] for line in found])
    # There the curve begins after the first step, and equal relevance may go in another order.
    assert np.abs(ours[1:] - np.mean(curves, 0)).max() < 0.02
    row("quantus", f"`deletion` and `PixelFlipping` of `{method}`, 28 steps", f"mean curves to {np.abs(ours[1:] - np.mean(curves, 0)).max():.0e}")


@pytest.mark.parametrize("method", METHODS)
def test_faithfulness_correlates_alike(method, explained, trained, row):
    """Subsets are drawn at random in both."""
    net, x, named, relevance = explained
    np.random.seed(1)
    correlation = quantus.FaithfulnessCorrelation(
        nr_runs=200, subset_size=157, perturb_baseline=0.0, abs=False, normalise=False, disable_warnings=True, display_progressbar=False, return_aggregate=False
    )
    theirs = np.mean(correlation(model=net, x_batch=x, y_batch=named, a_batch=relevance[method], softmax=False, device="cpu"))
    found = assay.faithful(trained[1], (x, named), method=method, measure="faithfulness-correlation[samples=200]").table("explanations")
    ours = next(iter(found))["mean"]
    assert ours == pytest.approx(theirs, abs=0.08)
    row("quantus", f"`faithfulness-correlation` of `{method}`, 200 subsets of each", f"{theirs:.3f} there, {ours:.3f} here")
