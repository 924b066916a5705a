"""Attributions, as Captum computes them with hooks and PyTorch's gradients."""

import copy

import numpy as np
import pytest

import assay
from conftest import timed

captum = pytest.importorskip("captum.attr", reason="SKIPPED: captum is not installed (PyPI)")
torch = pytest.importorskip("torch")


from captum.attr._utils import lrp_rules  # noqa: E402
from captum.attr._utils.custom_modules import Addition_Module  # noqa: E402

import shapes  # noqa: E402

# By the name here: the rule of layers with weights, and its stabiliser here. All but epsilon take biases as they are there,
# and favour or sort them as weights here; and there they are for values that are not negative.
RULES = {
    "epsilon": (lambda: lrp_rules.EpsilonRule(), 1e-6),
    "gamma": (lambda: lrp_rules.GammaRule(0.25), 1e-6),
    "z-plus": (lambda: lrp_rules.Alpha1_Beta0_Rule(), 1e-12),
}
OF_ANY_SIGN = ("tanh", "depthwise", "max pooling of a linear map", "residual")


def lrp(net, x, y, rule="epsilon"):
    for part in list(net.modules()):
        if isinstance(part, shapes.Residual):
            part.join = Addition_Module()
    for layer in shapes.leaves(net):
        if isinstance(layer, (torch.nn.Conv2d, torch.nn.Conv1d, torch.nn.Linear)):
            layer.rule = RULES[rule][0]()
            layer.rule.STABILITY_FACTOR = RULES[rule][1]
        elif not isinstance(layer, (torch.nn.ReLU, torch.nn.Tanh)):
            moves = isinstance(layer, (torch.nn.Flatten, torch.nn.MaxPool2d))
            layer.rule = lrp_rules.EpsilonRule(1e-12 if moves else 1e-6)  # as here, where what only moves has no stabiliser
    return captum.LRP(net).attribute(x, target=y)


# The name here, Captum's call, how far nine of ten records and any may part, relative to a record's greatest
# relevance.
METHODS = {
    "deeplift": (lambda net, x, y: captum.DeepLift(net).attribute(x, target=y), 1e-4, 1e-3),
    "integrated-gradients": (lambda net, x, y: captum.IntegratedGradients(net).attribute(x, target=y, n_steps=32, method="riemann_middle"), 1e-4, 1e-2),
    "saliency": (lambda net, x, y: captum.Saliency(net).attribute(x.clone().requires_grad_(), target=y), 1e-5, 1e-4),
    "gradient-x-input": (lambda net, x, y: captum.InputXGradient(net).attribute(x.clone().requires_grad_(), target=y), 1e-5, 1e-4),
}


def differences(ours, theirs):
    """Of each record, relative to its greatest relevance."""
    ours, theirs = (relevance.reshape(len(relevance), -1) for relevance in (ours, theirs))
    return np.abs(ours - theirs).max(1) / np.abs(theirs).max(1)


def pools_beside_activations(net):
    """Max pools, whose rule Captum's hooks then lose: see below."""
    kinds = [type(layer) for layer in net]
    return any({torch.nn.MaxPool2d, torch.nn.ReLU} == set(both) for both in zip(kinds, kinds[1:]))


def test_contributions_of_deeplift_add_up(pairs, digits, difference):
    x = torch.from_numpy(digits[0][:50])
    off = {}
    for name, (net, model) in pairs.items():
        change = (net(x) - net(0 * x))[:, 3].detach().numpy()
        theirs = captum.DeepLift(net).attribute(x, target=3).detach().numpy()
        ours = model.relevance(digits[0][:50], method="deeplift", target=3)
        there, here = (np.abs(values.reshape(50, -1).sum(1) - change).max() / np.abs(change).max() for values in (theirs, ours))
        assert here < 1e-5, name
        off[name] = there
        assert pools_beside_activations(net) or there < 1e-5, name
    figures = f"contributions miss the change of the score by {max(off.values()):.2f} of it there, by less than 1e-5 here"
    difference("captum", "`DeepLift` of a max pool before a ReLU", "the rule of the pool is lost", "the winner on the greater side takes the change", figures)


@pytest.mark.parametrize("method", METHODS)
def test_attributions_agree_on_every_network(method, pairs, digits, row):
    call, usual, most = METHODS[method]
    x, target = digits[0][:50], 3
    found, there, here = [], 0.0, 0.0
    for name, (net, model) in pairs.items():
        if method == "deeplift" and pools_beside_activations(net):
            continue
        theirs, seconds = timed(lambda: call(net, torch.from_numpy(x), target).detach().numpy())
        there += seconds
        ours, seconds = timed(lambda: model.relevance(x, method=method, target=target))
        here += seconds
        found.append(differences(ours, theirs))
        assert np.quantile(found[-1], 0.9) <= usual and found[-1].max() <= most, name
    every = np.concatenate(found)
    agreement = f"median {np.median(every):.0e} of the greatest relevance, worst record {every.max():.0e}"
    row("captum", f"`{method}` on {len(found)} networks", agreement, (there, here))


@pytest.mark.parametrize("rule", RULES)
def test_lrp_is_as_near_to_double_precision(rule, pairs, bare, digits, row):
    """LRP divides by sums that may be nearly zero, where rounding counts: both are compared with Captum in float64."""
    x, ours_off, theirs_off, there, here = torch.from_numpy(digits[0][:50]), [], [], 0.0, 0.0
    for name, (net, model) in (pairs if rule == "epsilon" else bare).items():
        if rule != "epsilon" and name in OF_ANY_SIGN:
            continue
        net = shapes.folded(net)
        target = net(x).argmax(1)  # of which the score is positive
        exact = lrp(copy.deepcopy(net).double(), x.double(), target, rule).detach().numpy()
        theirs, seconds = timed(lambda: lrp(net, x, target, rule).detach().numpy())
        there += seconds
        ours, seconds = timed(lambda: model.relevance(digits[0][:50], method=f"{rule}[ties=first]", target=target.numpy()))
        here += seconds
        ours_off.append(np.median(differences(ours, exact)))
        theirs_off.append(np.median(differences(theirs, exact)))
        assert ours_off[-1] <= 3 * theirs_off[-1] + 1e-5, name
    agreement = f"median distance to float64 {max(ours_off):.0e} here, {max(theirs_off):.0e} there, on the worst network"
    row("captum", f"`{rule}` (LRP) on {len(ours_off)} networks{'' if rule == 'epsilon' else ' without biases'}", agreement, (there, here))


@pytest.mark.parametrize("rule", ["gamma", "z-plus"])
def test_biases_are_as_weights_here(rule, pairs, digits, difference):
    """Of a hidden layer: shares of its inputs, once its bias is favoured or left out as its weights are."""
    net, model = pairs["dense"]
    x = torch.from_numpy(digits[0][:50])
    target = net(x).argmax(1)
    theirs = lrp(copy.deepcopy(net), x, target, rule).detach().numpy()
    ours = model.relevance(digits[0][:50], method=rule, target=target.numpy())
    assert np.median(differences(ours, theirs)) > 1e-3
    there, here = {"gamma": ("as it is", "`b + 0.25 b+`, like the weights"), "z-plus": ("as it is", "`b+`, like the weights")}[rule]
    difference("captum", f"biases under `{rule}`", there, here, f"median {np.median(differences(ours, theirs)):.2f} of the greatest relevance, dense network")


def test_the_first_of_equal_maxima_takes_all_if_wanted(digits, row, difference):
    """On an even background, with weights of few bits, so that sums are equal where they should be."""
    x = np.where(digits[0][:50] < 0.3, 0, (digits[0][:50] * 16).round() / 16).astype(np.float32)
    found, shared = [], []
    for name, net in shapes.networks():
        if not any(isinstance(layer, torch.nn.MaxPool2d) for layer in net):
            continue
        net = shapes.of_few_bits(net).eval()
        model = assay.load(net, torch.zeros(1, 1, 28, 28))
        theirs = lrp(net, torch.from_numpy(x), 3).detach().numpy()
        found.append(np.median(differences(model.relevance(x, method="epsilon[ties=first]", target=3), theirs)))
        shared.append(differences(model.relevance(x, method="epsilon", target=3), theirs).max())
        assert found[-1] < 1e-4 and shared[-1] > 1e-3, name
    row("captum", f"`epsilon[ties=first]` (LRP) of {len(found)} networks with max pooling, even background", f"median {max(found):.0e} of the greatest relevance")
    figures = f"up to {max(shared):.2f} of the greatest relevance on an even background; none with `ties=first`"
    difference("captum, zennit", "equal maxima of a pool", "the first takes all", "they share", figures)


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


def test_integrated_gradients_of_tokens_agree(row):
    """On the rows of words of a BERT: the row of [PAD], where Captum's line begins, is 0."""
    transformers = pytest.importorskip("transformers", reason="SKIPPED: transformers is not installed (PyPI)")
    pytest.importorskip("onnxscript", reason="SKIPPED: onnxscript is not installed (PyPI)")
    torch.manual_seed(3)
    config = transformers.BertConfig(vocab_size=40, hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=48,
                                     max_position_embeddings=16, num_labels=3, initializer_range=0.3)  # fmt: skip
    net = transformers.BertForSequenceClassification(config).eval()
    draws = np.random.default_rng(2)
    ids, mask = draws.integers(3, 40, (10, 9)), np.ones((10, 9), np.int64)
    ids[:5, 6:] = mask[:5, 6:] = 0
    model = assay.load(net)
    x = {"input_ids": ids, "attention_mask": mask}
    labels = model.predict(x)[1]
    forward = lambda tokens, attention: net(input_ids=tokens, attention_mask=attention).logits  # noqa: E731
    given = torch.from_numpy(ids)
    explain = captum.LayerIntegratedGradients(forward, net.bert.embeddings.word_embeddings)
    theirs, there = timed(
        lambda: explain.attribute(
            given, torch.zeros_like(given), target=torch.from_numpy(labels), additional_forward_args=(torch.from_numpy(mask),),
            n_steps=32, method="riemann_middle",
        ).sum(-1).detach().numpy()
    )  # fmt: skip
    ours, here = timed(lambda: model.relevance(x, "input_ids", method="integrated-gradients", target=labels))
    assert ours.shape == ids.shape
    found = differences(ours, theirs)
    assert found.max() < 1e-3
    row("captum", "`LayerIntegratedGradients` of a BERT's table of words, and `integrated-gradients` of its tokens", f"worst record {found.max():.0e}", (there, here))
