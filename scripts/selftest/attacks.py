"""Attacks, bounds and differential exploration, where PyTorch or linear programming says what must come out."""

import numpy as np
import torch
from scipy import optimize

from relevance import layers_of
from subjects import arrays_of, forward, npz
from suite import cell, fact

ATTACKS = "docs/algorithms/attacks.md"


class Network:
    def __init__(self, model):
        self.parts = [part for pair in layers_of(model) for part in pair if part is not None]
        self.module = torch.nn.Sequential(*self.parts)

    def gradient(self, x, y):
        x = x.clone().requires_grad_()
        torch.nn.functional.cross_entropy(self.module(x), y, reduction="sum").backward()
        return x.grad

    def wrong(self, x, y):
        return (self.module(x).argmax(1) != y).numpy()


def fgsm(network, x, y, eps):
    return (x + eps * network.gradient(x, y).sign()).clamp(0, 1)


def bim(network, x, y, eps, step, steps):
    changed = x
    for _ in range(steps):
        changed = changed + step * network.gradient(changed, y).sign()
        changed = torch.minimum(torch.maximum(changed, x - eps), x + eps).clamp(0, 1)
    return changed


def momentum(network, x, y, eps, steps):
    changed, direction = x, torch.zeros_like(x)
    for _ in range(steps):
        gradient = network.gradient(changed, y)
        direction = direction + gradient / gradient.abs().sum(1, keepdim=True)
        changed = changed + eps / steps * direction.sign()
        changed = torch.minimum(torch.maximum(changed, x - eps), x + eps).clamp(0, 1)
    return changed


def by_gradients(suite):
    s = suite.subjects
    network = Network(s.net)
    x, y = torch.tensor(s.test_x), torch.tensor(s.test_y)
    right = ~network.wrong(x, y)
    x, y = x[right], y[right]
    changed = {"fgsm[eps=0.125]": fgsm(network, x, y, 0.125), "bim[eps=0.125,step=0.03125,steps=8]": bim(network, x, y, 0.125, 0.03125, 8),
               "mi-fgsm[eps=0.125,steps=8]": momentum(network, x, y, 0.125, 8)}
    for spec, found in changed.items():
        name = spec.split("[")[0]
        question = suite.ask(f"attack {name}", ATTACKS, "attack", model="$/net.onnx", data="$/test.npz,range=0:1",
                             attack=[spec], pictures="0", out=f"$/{name}")
        success = network.wrong(found, y)
        length = (found - x).norm(dim=1).numpy()[success]
        functions = [f"attack:{name}"]
        question.expect("attacked records", functions, fact("attacked"), int(right.sum()), "PyTorch")
        question.expect("successes", functions, {"table": "attacks", "row": {}, "column": "successes"}, int(success.sum()), "PyTorch")
        question.expect("mean length of successful changes", functions, {"table": "attacks", "row": {}, "column": "l2"},
                        length.mean(), "PyTorch", 1e-4)
        question = suite.ask(f"records of {name} read back", ATTACKS, "evaluate", model="$/net.onnx", data=f"$/{name}/{name}.npz")
        question.expect("accuracy", functions, fact("test_accuracy"), 1 - success.mean(), "PyTorch", 1e-9)


def line(model):
    """Of a linear network with two classes: score 1 less score 0 is w x + b."""
    arrays = arrays_of(model)
    w, b = arrays["fc1.w"].astype(np.float64), arrays["fc1.b"].astype(np.float64)
    return w[1] - w[0], b[1] - b[0]


def least_margin(x, w, b, eps):
    """The least w x' + b over |x' - x| <= eps and 0 <= x' <= 1."""
    worst = np.where(w > 0, np.maximum(x - eps, 0), np.minimum(x + eps, 1))
    return worst @ w + b


def linear_truth(suite):
    """On a linear network it is known which records fall: attacks must find them all, and bounds the others."""
    s = suite.subjects
    w, b = line(s.linear)
    signed = [(w, b) if y == 1 else (-w, -b) for y in s.linear_y]
    eps = 0.125
    falls = np.array([least_margin(x.astype(np.float64), *wb, eps) < 0 for x, wb in zip(s.test_x, signed)])
    for spec in ("pgd[eps=0.125]", "apgd[eps=0.125]", "square[eps=0.125,queries=300]", "cw[constant=1,iterations=150,rate=0.02,search=3]", "fab[within=0.125]"):
        name = spec.split("[")[0]
        question = suite.ask(f"attack {name} on a linear network", ATTACKS, "attack", model="$/linear.onnx",
                             data="$/linear.npz,range=0:1", attack=[spec], pictures="0", out=f"$/linear-{name}")
        question.expect("successes", [f"attack:{name}"], {"table": "attacks", "row": {}, "column": "successes"},
                        len(falls) if name == "cw" else int(falls.sum()), "NumPy (margin of a linear function over a box)")
    distance = np.array([abs(x @ w + b) / np.linalg.norm(w) for x in s.test_x.astype(np.float64)])
    foot = [x - (x @ w + b) * w / (w @ w) * 1.02 for x in s.test_x.astype(np.float64)]
    inside = [bool((f >= 0).all() and (f <= 1).all()) for f in foot]
    suite.files["inside.npz"] = npz(x=s.test_x[inside], y=s.linear_y[inside])
    question = suite.ask("attack deepfool on a linear network", ATTACKS, "attack", model="$/linear.onnx",
                         data="$/inside.npz,range=0:1", attack=["deepfool"], pictures="0", out="$/linear-deepfool")
    question.expect("successes", ["attack:deepfool"], {"table": "attacks", "row": {}, "column": "successes"}, sum(inside), "NumPy")
    question.expect("mean length", ["attack:deepfool"], {"table": "attacks", "row": {}, "column": "l2"},
                    1.02 * (distance[inside] + 1e-4).mean(), "NumPy (distance to a plane)", 1e-4)
    for method in ("interval", "crown"):
        question = suite.ask(f"bounds of a linear network by {method}", "docs/bounds.md", "bounds", model="$/linear.onnx",
                             data="$/linear.npz,range=0:1", eps="0.125", method=method)
        question.expect("certified records", [], cell("outcomes", "records", outcome="certified"), int((~falls).sum()),
                        "NumPy (margin of a linear function over a box)")
        question.expect("attacked records", [], cell("outcomes", "records", outcome="attacked"), int(falls.sum()),
                        "NumPy (margin of a linear function over a box)")


def exact_least_margin(model, x, y, other, eps):
    """The least score y less score `other` over a box, exactly: mixed-integer programming over the ReLUs."""
    arrays, sizes = arrays_of(model), [4, 6, 5, 3]
    low, high = np.maximum(x - eps, 0), np.minimum(x + eps, 1)
    starts = np.cumsum([0] + [4, 6, 5] + [6, 5])  # x, a1, a2, then on1, on2
    variables = starts[-1]
    lower, upper, integral = np.zeros(variables), np.ones(variables), np.zeros(variables)
    lower[:4], upper[:4] = low, high
    rows, bounds = [], []
    for layer in (1, 2):
        w, b = arrays[f"fc{layer}.w"].astype(float), arrays[f"fc{layer}.b"].astype(float)
        source, target, switch = starts[layer - 1], starts[layer], starts[2 + layer]
        least = np.maximum(w, 0) @ lower[source:target] + np.minimum(w, 0) @ upper[source:target] + b
        most = np.maximum(w, 0) @ upper[source:target] + np.minimum(w, 0) @ lower[source:target] + b
        integral[switch:switch + sizes[layer]] = 1
        for n in range(sizes[layer]):
            lower[target + n], upper[target + n] = max(least[n], 0), max(most[n], 0)
            for coefficients, bound in [((1, 0), (b[n], np.inf)),                       # a >= z
                                        ((1, -least[n]), (-np.inf, b[n] - least[n])),   # a <= z - least (1 - on)
                                        ((None, -most[n]), (-np.inf, 0))]:              # a <= most on
                row = np.zeros(variables)
                row[target + n] = 1
                if coefficients[0] is not None:
                    row[source:target] = -w[n]
                row[switch + n] = coefficients[1]
                rows.append(row), bounds.append(bound)
    w, b = arrays["fc3.w"].astype(float), arrays["fc3.b"].astype(float)
    cost = np.zeros(variables)
    cost[starts[2]:starts[3]] = w[y] - w[other]
    found = optimize.milp(cost, integrality=integral, bounds=optimize.Bounds(lower, upper),
                          constraints=optimize.LinearConstraint(np.array(rows), *np.array(bounds).T))
    return found.fun + b[y] - b[other]


def exact(suite):
    s = suite.subjects
    decided = forward(s.net, s.test_x)["y"].argmax(1)
    eps, outcomes = 0.02, {"certified": 0, "attacked": 0, "wrong": 0}
    for x, y, c in zip(s.test_x.astype(float), s.test_y, decided):
        if c != y:
            outcomes["wrong"] += 1
            continue
        margin = min(exact_least_margin(s.net, x, y, other, eps) for other in range(3) if other != y)
        assert abs(margin) > 1e-3
        outcomes["certified" if margin > 0 else "attacked"] += 1
    question = suite.ask("bounds of a network with ReLUs", "docs/bounds.md", "bounds", model="$/net.onnx",
                         data="$/test.npz,range=0:1", eps=str(eps))
    for outcome, count in outcomes.items():
        question.expect(outcome, [], cell("outcomes", "records", outcome=outcome), count, "SciPy milp (HiGHS)")
    queries(suite, s)


def queries(suite, s):
    """Queries in VNN-LIB whose answers are known: the least margin of a record within a box."""
    y = forward(s.net, s.test_x)["y"].argmax(1)
    for i, eps in [(1, 0.05), (2, 0.05), (4, 0.2), (5, 0.2)]:
        c = int(y[i])
        low, high = np.maximum(s.test_x[i] - eps, 0), np.minimum(s.test_x[i] + eps, 1)
        margin = min(exact_least_margin(s.net, s.test_x[i].astype(float), c, o, eps) for o in range(3) if o != c)
        lines = [f"(declare-const X_{j} Real)" for j in range(4)] + [f"(declare-const Y_{j} Real)" for j in range(3)]
        for j in range(4):
            lines += [f"(assert (>= X_{j} {low[j]:.8f}))", f"(assert (<= X_{j} {high[j]:.8f}))"]
        lines.append("(assert (or " + " ".join(f"(and (>= Y_{o} Y_{c}))" for o in range(3) if o != c) + "))")
        suite.files[f"query{i}.vnnlib"] = ("\n".join(lines) + "\n").encode()
        question = suite.ask(f"query about record {i}", "docs/bounds.md", "bounds", model="$/net.onnx", vnnlib=f"$/query{i}.vnnlib")
        assert abs(margin) > 1e-3
        question.expect("answer", [], fact("answer"), "unsat" if margin > 0 else "sat", "SciPy milp (HiGHS)")


def other_side(x, eps, w, b):
    """Where within eps the linear function has the other sign most, and its value there."""
    sign = np.sign(x @ w + b)
    found = np.clip(x - sign * eps * np.sign(w), 0, 1)
    return found, sign * (found @ w + b)


def disagreement(suite):
    """Seeds of two linear networks: some where pushing the first one makes them disagree, some where nothing does."""
    s = suite.subjects
    lines, eps = (line(s.linear), line(s.linear_twin)), 0.125
    near, never = [], []
    for i, x in enumerate(s.test_x.astype(np.float64)):
        signs = [np.sign(x @ w + b) for w, b in lines]
        if signs[0] != signs[1]:
            continue
        moved = [other_side(x, eps, *wb) for wb in lines]
        kept = signs[1] * (moved[0][0] @ lines[1][0] + lines[1][1])
        if moved[0][1] < -0.02 and kept > 0.02:
            near.append(i)
        if all(value > 0.01 for _, value in moved):
            never.append(i)
    assert len(near) > 1 and len(never) > 4, (near, never)
    for name, chosen, expected in (("at hand", near, len(near)), ("out of reach", never, 0)):
        file = f"seeds-{len(chosen)}.npz"
        suite.files[file] = npz(x=s.test_x[chosen], y=s.linear_y[chosen])
        question = suite.ask(f"disagreement {name}", "docs/algorithms/exploration.md", "explore",
                             model=["$/linear.onnx", "$/linear-twin.onnx"], data=f"$/{file},range=0:1",
                             constraint=[f"linf[eps={eps}]"], out=f"$/explored-{len(chosen)}", target="0", lambda1="100", lambda2="0",
                             step="0.05", iterations="100")
        question.expect("findings", ["constraint:linf"], fact("findings"), expected,
                        "NumPy (linear functions at the corners of a box)")


def add(suite):
    for part in (by_gradients, linear_truth, exact, disagreement):
        part(suite)
