"""Commands on files that other commands wrote: states, networks."""

import numpy as np
import torch

from coverage import DENSE, Measured
from relevance import layers_of
from subjects import arrays_of, forward
from suite import cell, fact


def states(suite):
    s = suite.subjects
    parts = [slice(0, 16), slice(16, 40)]
    found = [Measured(s.net, DENSE, s.train_x, s.test_x[part]).nc(0.6) for part in parts]
    for number, (part, covered) in enumerate(zip(parts, found), 1):
        question = suite.ask(f"coverage of part {number}", "docs/coverage.md", "cover", model="$/net.onnx", train="$/train.npz",
                             test=f"$/test.npz[{part.start}:{part.stop}]", criterion=["nc[threshold=0.6]"], state=f"$/part{number}.cov")
        question.expect("covered neurons", ["criterion:nc"], cell("criteria", "covered", criterion="nc[threshold=0.6]", layer="all"),
                        covered["all"][0], "NumPy")
    whole = Measured(s.net, DENSE, s.train_x, s.test_x).nc(0.6)["all"][0]
    question = suite.ask("parts together", "docs/coverage.md", "combine", states=["$/part1.cov", "$/part2.cov"])
    question.expect("records", [], fact("records"), 40, "NumPy")
    question.expect("covered neurons", [], cell("criteria", "covered", criterion="nc[threshold=0.6]", layer="all"), whole, "NumPy")
    question = suite.ask("parts compared", "docs/coverage.md", "diff", states=["$/part1.cov", "$/part2.cov"])
    both = sum(pair["all"][0] for pair in found) - whole
    question.expect("neurons that both cover", [], cell("difference", "both", layer="fc1"),
                    sum(pair["fc1"][0] for pair in found) - Measured(s.net, DENSE, s.train_x, s.test_x).nc(0.6)["fc1"][0], "NumPy")
    assert both > 0


def pruned(suite):
    s = suite.subjects
    arrays = arrays_of(s.net)
    value = s.test_x.astype(np.float64)
    for layer in ("fc1", "fc2", "fc3"):
        value = value @ arrays[f"{layer}.w"].T + arrays[f"{layer}.b"]
        if layer != "fc3":
            value = np.maximum(value, 0)
        if layer == "fc1":
            value[:, [1, 3]] = 0
    question = suite.ask("without two units", "docs/inspection.md", "prune", model="$/net.onnx", test="$/test.npz",
                         units=["layer=fc1,units=1+3"], out="$/pruned.onnx")
    question.expect("accuracy before", [], fact("before_accuracy"), np.mean(forward(s.net, s.test_x)["y"].argmax(1) == s.test_y), "NumPy", 1e-9)
    question.expect("accuracy after", [], fact("after_accuracy"), np.mean(value.argmax(1) == s.test_y), "NumPy", 1e-9)
    question.expect("parameters after", [], fact("parameters_after"), 83 - 2 * 5 - 2 * 5, "counted")


class Adam:
    """As Keras 2 has it: the small number is added to the root of the second moment before it is corrected."""

    def __init__(self, parameters, rate, small=1e-7):
        self.state = [(p, torch.zeros_like(p), torch.zeros_like(p)) for p in parameters]
        self.rate, self.small, self.step_count = rate, small, 0

    def zero_grad(self):
        for parameter, _, _ in self.state:
            parameter.grad = None

    @torch.no_grad()
    def step(self):
        self.step_count += 1
        rate = self.rate * np.sqrt(1 - 0.999 ** self.step_count) / (1 - 0.9 ** self.step_count)
        for parameter, first, second in self.state:
            first.mul_(0.9).add_(0.1 * parameter.grad)
            second.mul_(0.999).add_(0.001 * parameter.grad ** 2)
            parameter.sub_(rate * first / (second.sqrt() + self.small))


def trained(suite):
    s = suite.subjects
    optimisers = {"sgd": lambda p: torch.optim.SGD(p, lr=0.125), "sgd[momentum=0.9]": lambda p: torch.optim.SGD(p, lr=0.125, momentum=0.9),
                  "adam": lambda p: Adam(p, 0.125)}
    for spec, make in optimisers.items():
        module = torch.nn.Sequential(*[part for pair in layers_of(s.net) for part in pair if part is not None])
        optimiser, losses = make(module.parameters()), []
        for _ in range(3):
            optimiser.zero_grad()
            loss = torch.nn.functional.cross_entropy(module(torch.tensor(s.train_x)), torch.tensor(s.train_y))
            loss.backward()
            optimiser.step()
            losses.append(loss.item())
        name = spec.split("[")[0]
        question = suite.ask(f"train by {spec}", "docs/training.md", "train", model="$/net.onnx", data="$/train.npz", initialiser="keep",
                             optimiser=spec, epochs="3", out=f"$/trained-{len(suite.questions)}.onnx", **{
                                 "no-shuffling": "true", "learning-rate": "0.125", "train-batch": "90"})
        for epoch, loss in enumerate(losses, 1):
            question.expect(f"loss of epoch {epoch}", [f"optimiser:{name}", "loss:cross-entropy"],
                            cell("epochs", "loss", epoch=epoch), loss, "PyTorch", 1e-5)


def add(suite):
    for part in (states, pruned, trained):
        part(suite)
