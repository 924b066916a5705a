"""Plain attacks in PyTorch on whole batches, for bench_attacks: pytorch_attacks.py FILE.npz ATTACK THREADS DEVICE
[NAME=NUMBER...].

FILE holds `x`, `y`, `targets` and the weights `w0`, `w1`, ... of the LeNet-5 below. Prints the least seconds of all batch sizes
tried, the share of successes and the batch size. Records that are done leave their batch where that is how such loops are written.
"""

import sys
import time

import numpy
import torch
from torch import nn
from torch.nn import functional


def lenet5(weights):
    network = nn.Sequential(
        nn.Conv2d(1, 6, 5, padding=2), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(6, 16, 5, padding=2), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(),
        nn.Linear(784, 120), nn.ReLU(), nn.Linear(120, 84), nn.ReLU(), nn.Linear(84, 10))
    with torch.no_grad():
        for parameter, weight in zip(network.parameters(), weights):
            parameter.copy_(torch.from_numpy(weight))
            parameter.requires_grad_(False)
    return network


def slope(network, x, y):
    x = x.detach().requires_grad_()
    return torch.autograd.grad(functional.cross_entropy(network(x), y, reduction="sum"), x)[0]


def iterated(network, x, y, at, eps, step, steps):
    for _ in range(int(steps)):
        at = at + step * slope(network, at, y).sign()
        at = (x + (at - x).clamp(-eps, eps)).clamp(0, 1)
    return at


def fgsm(network, x, y, targets, eps):
    return (x + eps * slope(network, x, y).sign()).clamp(0, 1)


def bim(network, x, y, targets, eps, step, steps):
    return iterated(network, x, y, x, eps, step, steps)


def pgd(network, x, y, targets, eps, step, steps):
    start = (x + torch.empty_like(x).uniform_(-eps, eps)).clamp(0, 1)
    return iterated(network, x, y, start, eps, step, steps)


def cw(network, x, y, targets, search, iterations):
    count, iterations = len(x), int(iterations)
    base = torch.atanh(0.999999 * (2 * x - 1))
    origin = (torch.tanh(base) + 1) / 2
    best, least = x.clone(), torch.full((count,), torch.inf)
    c, lower, upper = torch.full((count,), 0.01), torch.zeros(count), torch.full((count,), 1e10)
    own = functional.one_hot(y, 10).bool()
    for _ in range(int(search)):
        change = torch.zeros_like(x, requires_grad=True)
        optimiser = torch.optim.Adam([change], lr=0.005)
        found, previous = torch.zeros(count, dtype=torch.bool), 1e9
        for iteration in range(iterations):
            point = (torch.tanh(base + change) + 1) / 2
            distance = (point - origin).square().flatten(1).sum(1)
            z = network(point)
            margin = z[own] - z.masked_fill(own, -1e9).amax(1)
            loss = (distance + c * margin.clamp_min(0)).sum()
            optimiser.zero_grad(set_to_none=True)
            loss.backward()
            optimiser.step()
            with torch.no_grad():
                broken = z.argmax(1) != y
                better = broken & (distance < least)
                best[better], least[better] = point[better].detach(), distance[better]
                found |= broken
                if iteration % max(1, iterations // 10) == 0:
                    if loss.item() > 0.9999 * previous:
                        break
                    previous = loss.item()
        upper = torch.where(found, torch.minimum(upper, c), upper)
        lower = torch.where(found, lower, torch.maximum(lower, c))
        c = torch.where(upper < 1e9, (lower + upper) / 2, 10 * c)
    return best


def jsma(network, x, y, targets):
    count, pixels = len(x), x[0].numel()
    x, domain = x.clone(), (x < 1).flatten(1)
    active = torch.arange(count)
    for _ in range(pixels // 2):
        leaf = x[active].detach().requires_grad_()
        z = network(leaf)
        open_ = z.argmax(1) != targets[active]
        if not open_.any():
            break
        rows = torch.arange(len(active))
        jacobian = torch.stack([torch.autograd.grad(z[:, k].sum(), leaf, retain_graph=True)[0].flatten(1) for k in range(10)], 1)
        active, jacobian, rows = active[open_], jacobian[open_], rows[: int(open_.sum())]
        a = jacobian[rows, targets[active]]
        b = jacobian.sum(1) - a
        gain, loss, free = a[:, :, None] + a[:, None, :], b[:, :, None] + b[:, None, :], domain[active]
        allowed = (gain > 0) & (loss < 0) & free[:, :, None] & free[:, None, :]
        score = torch.where(allowed, -gain * loss, torch.zeros(()))
        score.diagonal(dim1=1, dim2=2).zero_()
        value, pair = score.flatten(1).max(1)
        active, pair = active[value > 0], pair[value > 0]
        flat = x.flatten(1)
        for chosen in (pair // pixels, pair % pixels):
            flat[active, chosen] = 1
            domain[active, chosen] = False
        x = flat.view_as(x)
        if len(active) == 0:
            break
    return x


def main():
    arrays = numpy.load(sys.argv[1])
    attack, threads = {f.__name__: f for f in (fgsm, bim, pgd, cw, jsma)}[sys.argv[2]], int(sys.argv[3])
    options = {name: float(number) for name, number in (option.split("=") for option in sys.argv[5:])}
    device = sys.argv[4]
    if device != "cpu":
        torch.set_default_device(device)  # PyTorch 2
    torch.set_num_threads(threads)
    torch.manual_seed(1)
    x, y, targets = (torch.from_numpy(arrays[name]).to(device) for name in ("x", "y", "targets"))
    network = lenet5([arrays[f"w{i}"] for i in range(10)]).to(device)
    sizes = {"cw": [len(x)], "jsma": [32]}.get(sys.argv[2], [64, 256, len(x)])
    best = (float("inf"), 0, 0)
    for size in sizes:
        attack(network, x[:size], y[:size], targets[:size], **{**options, **({"iterations": 2} if sys.argv[2] == "cw" else {})})
        start = time.perf_counter()
        found = torch.cat([attack(network, x[i:i + size], y[i:i + size], targets[i:i + size], **options) for i in range(0, len(x), size)])
        found.cpu()  # a device is done when its last result is there
        seconds = time.perf_counter() - start
        with torch.no_grad():
            classes = network(found).argmax(1)
        success = (classes == targets if sys.argv[2] == "jsma" else classes != y).float().mean().item()
        best = min(best, (seconds, success, size))
    print(*best)


main()
