"""Attributions, as Captum computes them with hooks and PyTorch's gradients."""

import copy

import numpy as np
import pytest

from conftest import timed

captum = pytest.importorskip("captum.attr", reason="SKIPPED: captum is not installed (PyPI)")
torch = pytest.importorskip("torch")


def lrp(net, x, y):
    from captum.attr._utils.lrp_rules import EpsilonRule

    for layer in net:
        if not isinstance(layer, (torch.nn.ReLU, torch.nn.Tanh)):
            moves = isinstance(layer, (torch.nn.Flatten, torch.nn.MaxPool2d))
            layer.rule = EpsilonRule(1e-12 if moves else 1e-6)  # as here, where what only moves has no stabiliser
    return captum.LRP(net).attribute(x, target=y)


# The name here, Captum's call, how far nine of ten records and any may part, relative to a record's greatest
# relevance.
METHODS = {
    "deeplift": (lambda net, x, y: captum.DeepLift(net).attribute(x, target=y), 1e-4, 1e-3),
    "integrated-gradients": (lambda net, x, y: captum.IntegratedGradients(net).attribute(x, target=y, n_steps=32, method="riemann_middle"), 1e-4, 1e-3),
    "saliency": (lambda net, x, y: captum.Saliency(net).attribute(x.clone().requires_grad_(), target=y), 1e-5, 1e-4),
    "gradient-x-input": (lambda net, x, y: captum.InputXGradient(net).attribute(x.clone().requires_grad_(), target=y), 1e-5, 1e-4),
}


def differences(ours, theirs):
    """Of each record, relative to its greatest relevance."""
    ours, theirs = (relevance.reshape(len(relevance), -1) for relevance in (ours, theirs))
    return np.abs(ours - theirs).max(1) / np.abs(theirs).max(1)


@pytest.mark.parametrize("method", METHODS)
def test_attributions_agree_on_every_network(method, pairs, digits, row):
    call, usual, most = METHODS[method]
    x, target = digits[0][:50], 3
    found, there, here = [], 0.0, 0.0
    for name, (net, model) in pairs.items():
        theirs, seconds = timed(lambda: call(net, torch.from_numpy(x), target).detach().numpy())
        there += seconds
        ours, seconds = timed(lambda: model.relevance(x, method=method, target=target))
        here += seconds
        found.append(differences(ours, theirs))
        assert np.quantile(found[-1], 0.9) <= usual and found[-1].max() <= most, name
    every = np.concatenate(found)
    agreement = f"median {np.median(every):.0e} of the greatest relevance, worst record {every.max():.0e}"
    row("captum", f"`{method}` on {len(pairs)} networks", agreement, (there, here))


def test_lrp_is_as_near_to_double_precision(pairs, digits, row):
    """LRP divides by sums that may be nearly zero, where rounding counts: both are compared with Captum in float64."""
    x, ours_off, theirs_off, there, here = torch.from_numpy(digits[0][:50]), [], [], 0.0, 0.0
    for name, (net, model) in pairs.items():
        exact = lrp(copy.deepcopy(net).double(), x.double(), 3).detach().numpy()
        theirs, seconds = timed(lambda: lrp(net, x, 3).detach().numpy())
        there += seconds
        ours, seconds = timed(lambda: model.relevance(digits[0][:50], method="epsilon", target=3))
        here += seconds
        ours_off.append(np.median(differences(ours, exact)))
        theirs_off.append(np.median(differences(theirs, exact)))
        assert ours_off[-1] <= 3 * theirs_off[-1] + 1e-5, name
    agreement = f"median distance to float64 {max(ours_off):.0e} here, {max(theirs_off):.0e} there, on the worst network"
    row("captum", f"`epsilon` (LRP) on {len(pairs)} networks", agreement, (there, here))


def test_grad_cam_agrees_at_a_convolution(trained, digits, row):
    net, model, _ = trained
    x = digits[0][:50]
    layer = model.layers()[0].name
    theirs = captum.LayerGradCam(net, net[1]).attribute(torch.from_numpy(x), target=3).detach().numpy()
    ours = model.relevance(x, layer, method="grad-cam", target=3).sum(1, keepdims=True)
    assert differences(ours, theirs).max() < 1e-4
    row("captum", "`grad-cam` at a convolution, summed over channels", f"worst record {differences(ours, theirs).max():.0e}")
