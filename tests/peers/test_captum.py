"""Attributions, as Captum computes them with hooks and PyTorch's gradients."""

import copy

import numpy as np
import pytest

import assay
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


def test_smoothgrad_agrees_as_far_as_chance_allows(trained, digits, row):
    """Both means of a gradient have the error of 400 random copies, so their maps correlate and are not equal."""
    net, model, _ = trained
    x = digits[0][:10]
    x = x / x.reshape(10, -1).max(1)[:, None, None, None]  # noise is relative to the spread here
    tunnel = captum.NoiseTunnel(captum.Saliency(net))
    torch.manual_seed(1)
    options = {"nt_samples": 400, "nt_samples_batch_size": 50, "stdevs": 0.15, "target": 3, "abs": False}
    theirs, there = timed(lambda: tunnel.attribute(torch.from_numpy(x), **options).detach().numpy())
    ours, here = timed(lambda: model.relevance(x, method="smoothgrad[samples=400,noise=0.15]", target=3))
    alike = [np.corrcoef(a.ravel(), b.ravel())[0, 1] for a, b in zip(ours, theirs)]
    assert min(alike) > 0.97
    row("captum", "`smoothgrad`, 400 samples", f"correlation of maps at least {min(alike):.3f}", (there, here))


def test_occlusion_agrees_on_every_network(pairs, digits, row):
    x, found, there, here = digits[0][:20], [], 0.0, 0.0
    for net, model in pairs.values():
        windows = {"sliding_window_shapes": (1, 4, 4), "strides": (1, 2, 2), "target": 3}
        theirs, seconds = timed(lambda: captum.Occlusion(net).attribute(torch.from_numpy(x), **windows).detach().numpy())
        there += seconds
        ours, seconds = timed(lambda: model.relevance(x, method="occlusion[patch=4,stride=2]", target=3))
        here += seconds
        found.append(differences(ours * 16, theirs))  # a loss is shared among 16 elements here
        assert found[-1].max() < 1e-3
    row("captum", f"`occlusion` on {len(pairs)} networks", f"worst record {max(part.max() for part in found):.0e}", (there, here))


def test_kernel_shap_of_every_coalition_is_the_shapley_value(pairs, digits, row):
    x, found, there, here = digits[0][:20], [], 0.0, 0.0
    quarters = torch.tensor([[0, 1], [2, 3]]).repeat_interleave(14, 0).repeat_interleave(14, 1)[None, None]
    for net, model in pairs.values():
        shapley = captum.ShapleyValues(net)
        theirs, seconds = timed(lambda: shapley.attribute(torch.from_numpy(x), feature_mask=quarters, target=3).detach().numpy())
        there += seconds
        ours, seconds = timed(lambda: model.relevance(x, method="kernel-shap[patch=14]", target=3))
        here += seconds
        found.append(differences(ours * 196, theirs))
        assert found[-1].max() < 1e-3
    row("captum", f"`kernel-shap` and `ShapleyValues` of quarters on {len(pairs)} networks", f"worst record {max(part.max() for part in found):.0e}", (there, here))


def test_infidelity_and_sensitivity_agree_as_far_as_chance_allows(trained, digits, row):
    from captum.metrics import infidelity, sensitivity_max

    net, model, _ = trained
    x = torch.from_numpy(digits[0][:20])
    named = net(x).argmax(1)
    draws = np.random.default_rng(1)

    def subsets(moved):
        chosen = np.stack([np.isin(np.arange(784), draws.choice(784, 157, replace=False)) for _ in range(len(moved))])
        mask = torch.from_numpy(chosen.astype(np.float32)).reshape(moved.shape)
        return mask, moved * (1 - mask)

    relevance = torch.from_numpy(model.relevance(digits[0][:20], method="gradient-x-input"))
    theirs = float(infidelity(net, subsets, x, relevance, target=named, n_perturb_samples=400, normalize=True).mean())
    method = captum.InputXGradient(net)
    torch.manual_seed(1)
    moves = float(sensitivity_max(method.attribute, x, perturb_radius=0.02, n_perturb_samples=40, target=named).detach().mean())
    found = assay.faithful(
        model, (digits[0][:20], digits[1][:20]), method="gradient-x-input", measure=["infidelity[samples=400]", "max-sensitivity[samples=40]"]
    ).table("explanations")
    ours = [line["mean"] for line in found]
    assert ours == pytest.approx([theirs, moves], rel=0.15)
    row("captum", "`infidelity` (scaled) of `gradient-x-input`, random subsets of each", f"{theirs:.3g} there, {ours[0]:.3g} here")
    row("captum", "`max-sensitivity` of `gradient-x-input`, random neighbours of each", f"{moves:.3g} there, {ours[1]:.3g} here")
