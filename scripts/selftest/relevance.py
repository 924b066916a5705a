"""Relevance of neurons: captum on what comes after the layer, as a network of its own."""

import numpy as np
import torch
from captum import attr
from captum.attr._utils import lrp_rules

from subjects import arrays_of
from suite import cell

RELEVANCE = "docs/algorithms/relevance.md"


def layers_of(model):
    arrays = arrays_of(model)
    count = len(arrays) // 2
    built = []
    for i in range(1, count + 1):
        weight, bias = torch.tensor(arrays[f"fc{i}.w"]), torch.tensor(arrays[f"fc{i}.b"])
        linear = torch.nn.Linear(weight.shape[1], weight.shape[0])
        linear.weight.data, linear.bias.data = weight.clone(), bias.clone()
        built.append((linear, torch.nn.ReLU() if i < count else None))
    return built


def parts_at(model, layer):
    """The network up to the activations of a layer, and from there, in float64."""
    before, after, number = [], [], int(layer[2:])
    for i, (linear, relu) in enumerate(layers_of(model), 1):
        (before if i <= number else after).extend(part for part in (linear, relu) if part is not None)
    return torch.nn.Sequential(*before).double().eval(), torch.nn.Sequential(*after).double().eval()


def right_records(model, x, y):
    before, after = parts_at(model, "fc1")
    inputs = torch.tensor(x, dtype=torch.float64)
    decided = after(before(inputs)).argmax(1)
    chosen = decided == torch.tensor(y)
    return inputs[chosen], decided[chosen]


def hidden_relevance(model, x, y, layer):
    """LRP-epsilon by captum, summed over the right records."""
    inputs, decided = right_records(model, x, y)
    before, after = parts_at(model, layer)
    for part in after:
        if isinstance(part, torch.nn.Linear):
            part.rule = lrp_rules.EpsilonRule(epsilon=1e-6)
    hidden = before(inputs).detach().requires_grad_()
    return attr.LRP(after).attribute(hidden, target=decided).detach().sum(0).numpy()


def gradients(model, x, y, layer):
    """Activations of a layer, and the gradients of the decided scores with respect to them."""
    inputs, decided = right_records(model, x, y)
    before, after = parts_at(model, layer)
    hidden = before(inputs).detach().requires_grad_()
    after(hidden).gather(1, decided[:, None]).sum().backward()
    return hidden.detach().numpy(), hidden.grad.numpy()


def conductance(model, x, y, layer, steps=32):
    """Integrated gradients at a hidden layer: gradients midway, times the change of the layer over each step."""
    inputs, decided = right_records(model, x, y)
    before, after = parts_at(model, layer)
    total = 0
    for k in range(steps):
        middle = before(inputs * (k + 0.5) / steps).detach().requires_grad_()
        after(middle).gather(1, decided[:, None]).sum().backward()
        change = before(inputs * (k + 1) / steps) - before(inputs * k / steps)
        total = total + middle.grad * change.detach()
    return total.sum(0).numpy()


def deeplift(model, x, y, layer):
    inputs, decided = right_records(model, x, y)
    before, after = parts_at(model, layer)
    hidden, reference = before(inputs).detach(), before(torch.zeros_like(inputs)).detach()
    return attr.DeepLift(after).attribute(hidden, reference, target=decided).detach().sum(0).numpy()


def by_formula(model, x, y, layer, share):
    """LRP on dense layers after `layer` with shares(values, weights, bias) of each connection, written out."""
    inputs, decided = right_records(model, x, y)
    before, after = parts_at(model, layer)
    values, linears = [before(inputs).detach().numpy()], [p for p in after if isinstance(p, torch.nn.Linear)]
    for i, linear in enumerate(linears):
        z = values[-1] @ linear.weight.detach().numpy().T + linear.bias.detach().numpy()
        values.append(z if i == len(linears) - 1 else np.maximum(z, 0))
    relevance = np.where(np.arange(values[-1].shape[1]) == decided.numpy()[:, None], values[-1], 0)
    for value, linear in zip(values[-2::-1], linears[::-1]):
        shares = share(value[:, :, None], linear.weight.detach().numpy().T[None], linear.bias.detach().numpy()[None])
        relevance = (shares * relevance[:, None, :]).sum(2)
    return relevance.sum(0)


def ratio(part, whole):
    return np.where(whole != 0, part / np.where(whole != 0, whole, 1), 0)


def alpha_beta(a, b):
    def share(x, w, bias):
        z = x * w
        plus, minus = np.maximum(z, 0), np.minimum(z, 0)
        return (a * ratio(plus, plus.sum(1, keepdims=True) + np.maximum(bias, 0)[:, None])
                - b * ratio(minus, minus.sum(1, keepdims=True) + np.minimum(bias, 0)[:, None]))
    return share


def gamma(g):
    """Values after a ReLU are not negative, so that of the generalised rule only the half of positive sums remains."""
    def share(x, w, bias):
        z = (x * w).sum(1, keepdims=True) + bias[:, None]
        up = x * (w + g * np.maximum(w, 0))
        down = x * (w + g * np.minimum(w, 0))
        total_up = up.sum(1, keepdims=True) + (bias + g * np.maximum(bias, 0))[:, None]
        total_down = down.sum(1, keepdims=True) + (bias + g * np.minimum(bias, 0))[:, None]
        return np.where(z > 0, ratio(up, total_up), np.where(z < 0, ratio(down, total_down), 0))
    return share


def add(suite):
    s = suite.subjects
    arguments = (s.net, s.train_x, s.train_y, "fc1")
    hidden, gradient = gradients(*arguments)
    expected = {
        "epsilon": (hidden_relevance(*arguments), "captum LRP, EpsilonRule"),
        "gradient-x-input": ((hidden * gradient).sum(0), "PyTorch"),
        "saliency": (np.abs(gradient).sum(0), "PyTorch"),
        "integrated-gradients": (conductance(*arguments), "PyTorch"),
        "deeplift": (deeplift(*arguments), "captum DeepLift"),
        "alpha2-beta1": (by_formula(*arguments, alpha_beta(2, 1)), "NumPy"),
        "z-plus": (by_formula(*arguments, alpha_beta(1, 0)), "NumPy"),
        "gamma": (by_formula(*arguments, gamma(0.25)), "NumPy"),
        "w-square": (by_formula(*arguments, lambda x, w, b: w ** 2 / (w ** 2).sum(1, keepdims=True) + 0 * x), "NumPy"),
        "flat": (by_formula(*arguments, lambda x, w, b: np.ones_like(w) / w.shape[1] + 0 * x), "NumPy"),
    }
    rules = {"alpha2-beta1": ["rule:alpha-beta"], "gamma": ["rule:gamma"], "z-plus": ["rule:z-plus"], "flat": ["rule:flat"],
             "epsilon": ["rule:epsilon"], "w-square": ["rule:w-square"]}
    for method, (found, source) in expected.items():
        question = suite.ask(f"relevance by {method}", RELEVANCE, "importance", model="$/net.onnx", data="$/train.npz",
                             layer="fc1", method=method, top="6")
        for rank, n in enumerate(np.argsort(-found, kind="stable"), 1):
            question.expect(f"relevance of neuron {n}", [f"attribution:{method}", *rules.get(method, [])],
                            cell("neurons", "relevance", layer="fc1", neuron=n, rank=rank), found[n], source,
                            float(2e-4 * max(1, np.abs(found).max())))
