"""Layer-wise relevance propagation by composites of rules, as Zennit does it with hooks."""

import copy

import numpy as np
import pytest

from conftest import timed
from test_captum import differences

pytest.importorskip("zennit", reason="SKIPPED: zennit is not installed (PyPI)")
torch = pytest.importorskip("torch")

from zennit import composites  # noqa: E402
from zennit.attribution import Gradient  # noqa: E402
from zennit.rules import Norm  # noqa: E402
from zennit.types import AvgPool  # noqa: E402

# Zennit's rules divide by z + sgn(z) 1e-6; of those here only epsilon and pooling do.
TINY = {"stabilizer": 1e-12, "layer_map": [(AvgPool, Norm(stabilizer=1e-6))]}
# By the name here, with how much farther from float64 the median record may be: box subtracts bounds.
COMPOSITES = {
    "epsilon-plus": (1e-5, lambda x: composites.EpsilonPlus(**TINY)),
    "epsilon-plus-flat": (1e-5, lambda x: composites.EpsilonPlusFlat(**TINY)),
    "epsilon-alpha2-beta1": (1e-5, lambda x: composites.EpsilonAlpha2Beta1(**TINY)),
    "epsilon-alpha2-beta1-flat": (1e-5, lambda x: composites.EpsilonAlpha2Beta1Flat(**TINY)),
    "epsilon-gamma-box": (1e-4, lambda x: composites.EpsilonGammaBox(low=torch.zeros_like(x[:1]), high=torch.ones_like(x[:1]), **TINY)),
}


def relevance(composite, net, x, target):
    with Gradient(net, composite(x)) as attributor:
        return attributor(x, lambda scores: scores * torch.nn.functional.one_hot(torch.tensor(target), scores.shape[1]))[1].detach().numpy()


@pytest.mark.parametrize("name", COMPOSITES)
def test_composites_are_as_near_to_double_precision(name, pairs, digits, row):
    """Rules divide by sums that may be nearly zero, where rounding counts: both are compared with Zennit in float64."""
    # Noise, so that no maxima of a pool tie: Assay shares relevance among them, PyTorch's gradient takes the first.
    noisy = (digits[0][:50] * 0.9 + np.random.default_rng(1).uniform(0, 0.1, digits[0][:50].shape)).astype(np.float32)
    x, (more, composite), target = torch.from_numpy(noisy), COMPOSITES[name], 3
    ours_off, theirs_off, there, here, compared = [], [], 0.0, 0.0, 0
    for net, model in pairs.values():
        if not any(isinstance(layer, torch.nn.Conv2d) for layer in net):
            continue  # composites are about convolutions
        compared += 1
        exact = relevance(composite, copy.deepcopy(net).double(), x.double(), target)
        theirs, seconds = timed(lambda: relevance(composite, net, x, target))
        there += seconds
        ours, seconds = timed(lambda: model.relevance(noisy, method=name, target=target))
        here += seconds
        ours_off.append(np.median(differences(ours, exact)))
        theirs_off.append(np.median(differences(theirs, exact)))
        assert ours_off[-1] <= 3 * theirs_off[-1] + more, (name, ours_off, theirs_off)
    agreement = f"median distance to float64 {max(ours_off):.0e} here, {max(theirs_off):.0e} there, on the worst network"
    row("zennit", f"`{name}` on {compared} networks", agreement, (there, here))
