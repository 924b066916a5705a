"""Bounds of networks as torch's exporters write them, against samples of the ball in double precision."""

import inspect
import warnings

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="SKIPPED: the package torch is not there")
pytest.importorskip("onnx", reason="SKIPPED: the package onnx is not there")
nn = torch.nn


class Step(nn.Module):
    """What Threshold is, as older exporters write it, too."""

    def forward(self, x):
        return torch.where(x > 0, x, -0.125)


ACTIVATIONS = {
    "SiLU": nn.SiLU,
    "GELU": nn.GELU,
    "GELU by tanh": lambda: nn.GELU(approximate="tanh"),
    "Hardswish": nn.Hardswish,
    "Mish": nn.Mish,
    "ELU": nn.ELU,
    "ReLU6": nn.ReLU6,
    "Hardsigmoid": nn.Hardsigmoid,
    "Softplus": nn.Softplus,
    "Softplus of 2 x": lambda: nn.Softplus(beta=2, threshold=1),
    "Where": Step,
}


class Gated(nn.Module):
    """A gated linear unit: a product of two values."""

    def __init__(self, width):
        super().__init__()
        self.value, self.gate = nn.Linear(width, width), nn.Linear(width, width)

    def forward(self, x):
        return self.value(x) * torch.nn.functional.silu(self.gate(x))


def network(name):
    torch.manual_seed(7)
    make = ACTIVATIONS.get(name, nn.SiLU)
    middle = [nn.LayerNorm(16)] if name == "LayerNorm" else [Gated(16)] if name == "gated" else []
    return nn.Sequential(nn.Linear(12, 16), make(), *middle, nn.Linear(16, 16), make(), nn.Linear(16, 4)).eval()


def export(net, path, operators):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        options = {"input_names": ["input"], "output_names": ["output"], "opset_version": operators, "verbose": False}
        if operators >= 18:
            pytest.importorskip("onnxscript", reason="SKIPPED: the package onnxscript is not there")
            batch = torch.export.Dim("batch")
            torch.onnx.export(net, (torch.zeros(2, 12),), path, dynamo=True, dynamic_shapes=({0: batch},), **options)
        else:
            if "dynamo" in inspect.signature(torch.onnx.export).parameters:
                options["dynamo"] = False
            torch.onnx.export(net, torch.zeros(1, 12), path, dynamic_axes={"input": {0: "batch"}}, **options)


@pytest.mark.parametrize("operators", [13, 17, 18])
@pytest.mark.parametrize("name", [*ACTIVATIONS, "LayerNorm", "gated"])
def test_samples_of_the_ball_have_no_smaller_margin(tmp_path, program, name, operators):
    net = network(name)
    export(net, str(tmp_path / "net.onnx"), operators)
    exact = net.double()
    rng = np.random.default_rng(3)
    x = rng.uniform(size=(12, 12)).astype(np.float32)
    with torch.no_grad():
        scores = exact(torch.from_numpy(x.astype(float))).numpy()
    np.savez(tmp_path / "records.npz", x=x, y=scores.argmax(1))
    for eps in (0.002, 0.02):
        least = {}
        for method in ("interval", "crown"):
            found = program(tmp_path, "bounds", "net.onnx", "records.npz,range=0:1", "--eps", eps, "--method", method, "--attack", "none")
            least[method] = {int(row["record"]): row["margin"] for row in found["tables"]["records"]["rows"]}
        assert len(least["crown"]) == len(x)
        for record, one in enumerate(x.astype(float)):
            draws = np.concatenate([rng.uniform(-eps, eps, (300, 12)), eps * rng.choice([-1, 1], (300, 12))])
            with torch.no_grad():
                around = exact(torch.from_numpy(np.clip(one + draws, 0, 1))).numpy()
            label = scores[record].argmax()
            margins = around[:, label] - np.delete(around, label, 1).max(1)
            assert least["interval"][record] <= least["crown"][record] + 1e-9 <= margins.min() + 1e-9
            if eps == 0.002 and least["interval"][record] <= 0:  # others are certified without linear functions
                assert least["crown"][record] > margins.min() - 0.1
