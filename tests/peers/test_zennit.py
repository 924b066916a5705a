"""Layer-wise relevance propagation by composites of rules, as Zennit does it with hooks."""

import copy

import numpy as np
import pytest

from conftest import timed
from test_captum import differences

pytest.importorskip("zennit", reason="SKIPPED: zennit is not installed (PyPI)")
torch = pytest.importorskip("torch")

from zennit import canonizers, composites, rules  # noqa: E402
from zennit.attribution import Gradient  # noqa: E402
from zennit.types import Activation, AvgPool, Linear  # noqa: E402

import shapes  # noqa: E402

# Zennit's rules divide by z + sgn(z) 1e-6; of those here only epsilon, gamma and box, pooling and sums do.
SUMS = [(AvgPool, rules.Norm(stabilizer=1e-6)), (shapes.Sum, rules.Norm(stabilizer=1e-6))]
TINY = {"stabilizer": 1e-12, "layer_map": SUMS}
# By the name here, with how much farther from float64 the median record may be: box subtracts bounds.
COMPOSITES = {
    "epsilon-plus": (1e-5, lambda: composites.EpsilonPlus(**TINY)),
    "epsilon-plus-flat": (1e-5, lambda: composites.EpsilonPlusFlat(**TINY)),
    "epsilon-alpha2-beta1": (1e-5, lambda: composites.EpsilonAlpha2Beta1(**TINY)),
    "epsilon-alpha2-beta1-flat": (1e-5, lambda: composites.EpsilonAlpha2Beta1Flat(**TINY)),
    "epsilon-gamma-box": (1e-4, lambda: composites.EpsilonGammaBox(low=0.0, high=1.0, **TINY)),
    "epsilon": (1e-5, lambda: everywhere(rules.Epsilon(1e-6))),
    "lrp-0": (1e-4, lambda: everywhere(rules.Epsilon(1e-12))),
    "z-plus": (1e-5, lambda: everywhere(rules.ZPlus(1e-12))),
    "alpha2-beta1": (1e-5, lambda: everywhere(rules.AlphaBeta(2, 1, stabilizer=1e-12))),
    "gamma": (1e-5, lambda: everywhere(rules.Gamma(0.25, stabilizer=1e-6))),
    "w-square": (1e-5, lambda: everywhere(rules.WSquare(1e-12, zero_params="bias"))),
    "flat": (1e-5, lambda: everywhere(rules.Flat(1e-12))),
}


def everywhere(rule):
    return composites.LayerMapComposite([*SUMS, (Activation, rules.Pass()), (Linear, rule)])


def relevance(composite, net, x, target):
    with Gradient(net, composite()) as attributor:
        return attributor(x, lambda scores: scores * torch.nn.functional.one_hot(torch.tensor(target), scores.shape[1]))[1].detach().numpy()


@pytest.mark.parametrize("name", COMPOSITES)
def test_composites_are_as_near_to_double_precision(name, pairs, digits, row):
    """Rules divide by sums that may be nearly zero, where rounding counts: both are compared with Zennit in float64."""
    # Noise, so that no maxima of a pool tie only by rounding.
    noisy = (digits[0][:50] * 0.9 + np.random.default_rng(1).uniform(0, 0.1, digits[0][:50].shape)).astype(np.float32)
    x, (more, composite), target = torch.from_numpy(noisy), COMPOSITES[name], 3
    ours_off, theirs_off, there, here = [], [], 0.0, 0.0
    for kind, (net, model) in pairs.items():
        if name == "epsilon-gamma-box" and not any(isinstance(layer, torch.nn.Conv2d) for layer in net.modules()):
            continue  # box is for a first convolution there, for the first layer with weights here
        net = shapes.folded(net)
        exact = relevance(composite, copy.deepcopy(net).double(), x.double(), target)
        theirs, seconds = timed(lambda: relevance(composite, net, x, target))
        there += seconds
        ours, seconds = timed(lambda: model.relevance(noisy, method=f"{name}[ties=first]", target=target))
        here += seconds
        ours_off.append(np.median(differences(ours, exact)))
        theirs_off.append(np.median(differences(theirs, exact)))
        assert ours_off[-1] <= 3 * theirs_off[-1] + more, (kind, ours_off, theirs_off)
    agreement = f"median distance to float64 {max(ours_off):.0e} here, {max(theirs_off):.0e} there, on the worst network"
    row("zennit", f"`{name}` on {len(ours_off)} networks", agreement, (there, here))


def test_biases_have_a_part_of_squared_weights_there(pairs, digits, difference):
    net, model = pairs["dense"]
    x = torch.from_numpy(digits[0][:50])
    theirs = relevance(lambda: everywhere(rules.WSquare(1e-12)), net, x, 3)
    apart = np.median(differences(model.relevance(digits[0][:50], method="w-square", target=3), theirs))
    assert apart > 1e-3
    figures = f"median {apart:.2f} of the greatest relevance, dense network; none with `zero_params='bias'`"
    difference("zennit", "`WSquare`", "the squared bias takes its part", "no bias, as in the paper", figures)


def test_a_normalisation_lets_relevance_pass_there(pairs, digits, difference):
    net, model = pairs["normalised"]
    x = torch.from_numpy(digits[0][:50])
    theirs = relevance(lambda: composites.EpsilonPlus(**TINY), net, x, 3)
    apart = np.median(differences(model.relevance(digits[0][:50], method="epsilon-plus", target=3), theirs))
    assert apart > 1e-3
    merged = [canonizers.SequentialMergeBatchNorm()]
    theirs = relevance(lambda: composites.EpsilonPlus(canonizers=merged, **TINY), net, x, 3)
    assert np.median(differences(model.relevance(digits[0][:50], method="epsilon-plus", target=3), theirs)) < 1e-4
    figures = f"median {apart:.2f} of the greatest relevance; none with `SequentialMergeBatchNorm`, which does as here"
    difference("zennit", "BatchNorm after a convolution", "passes relevance on, unless a canonizer is named", "part of the convolution", figures)
