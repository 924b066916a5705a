"""What items cost: analyses of a segmentation network of 512 x 512 and 21 classes beside the passes that they need.

Usage: python benchmarks/segmentation_cost.py [--records 4] [--network lraspp|plain]

Processor time of one thread for each further record: the difference of runs with three times as many records and with so many,
each the less of two repeats. What a run does once is not in it. `plain` is small, so that its passes are quick and items weigh most;
`lraspp` is torchvision's with random weights. Passes that are needed: of `evaluate` one a record; of `cover --preset fast` one over
the training records and one over the tests; of PGD with 10 steps a gradient a step, counted as that of one output with respect to
the input, and two passes to judge.
"""

import argparse
import pathlib
import tempfile
import time

import numpy as np
import torch
from torch import nn

import assay

SIDE, CLASSES, STEPS, REPEATS = 512, 21, 10, 2


def plain():
    layers = [nn.Conv2d(3, 16, 3, 2, 1), nn.ReLU(), nn.Conv2d(16, 32, 3, 2, 1), nn.ReLU(), nn.Conv2d(32, 32, 3, 1, 1), nn.ReLU()]
    layers += [nn.Conv2d(32, CLASSES, 1), nn.Upsample(scale_factor=4, mode="bilinear")]
    return nn.Sequential(*layers)


class Scores(nn.Module):
    def __init__(self, network):
        super().__init__()
        self.network = network

    def forward(self, x):
        return self.network(x)["out"]


def lraspp():
    from torchvision.models.segmentation import lraspp_mobilenet_v3_large

    return Scores(lraspp_mobilenet_v3_large(weights=None, weights_backbone=None, num_classes=CLASSES))


def network_of(name, folder):
    torch.manual_seed(1)
    file = folder / f"{name}.onnx"
    made = {"plain": plain, "lraspp": lraspp}[name]().eval()
    example = torch.zeros(1, 3, SIDE, SIDE)
    names = {"input_names": ["x"], "output_names": ["y"], "dynamic_axes": {"x": {0: "n"}, "y": {0: "n"}}}
    torch.onnx.export(made, example, str(file), opset_version=17, dynamo=False, **names)
    return assay.load(str(file))


def spent(action):
    begin = time.process_time()
    action()
    return time.process_time() - begin


def times(net, count, folder):
    """Seconds of each action on so many records."""
    rng = np.random.default_rng(2)
    x = rng.random((count, 3, SIDE, SIDE)).astype(np.float32)
    y = np.concatenate([np.asarray(net(x[i : i + 1])).argmax(1) for i in range(count)]).astype(np.float32)
    y[rng.random(y.shape) < 0.1] = 3
    data, common = assay.data(x, y, range=(0, 1)), {"threads": 1}
    pgd = f"pgd[eps=0.01,steps={STEPS}]"
    actions = {
        "forward": lambda: [net(x[i : i + 1]) for i in range(count)],
        "gradient": lambda: net.gradients(x, target=0, outputs=True),
        "evaluate": lambda: assay.evaluate(net, data, task="pixels", **common),
        "cover": lambda: assay.cover(net, train=data, test=data, preset="fast", **common),
        "pgd": lambda: assay.attack(net, data, attack=pgd, out=str(folder / "a"), task="pixels", **common),
    }
    return {name: min(spent(action) for _ in range(REPEATS)) for name, action in actions.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--records", type=int, default=4)
    parser.add_argument("--network", choices=["plain", "lraspp"], default="plain")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        net = network_of(options.network, folder)
        few, many = (times(net, count, folder) for count in (options.records, 3 * options.records))
    more = {name: (many[name] - few[name]) / (2 * options.records) for name in few}
    needed = {"evaluate": more["forward"], "cover": 2 * more["forward"], "pgd": STEPS * more["gradient"] + 2 * more["forward"]}
    print(f"{options.network}: forward {more['forward']:.3f} s a record, gradient {more['gradient']:.3f} s")
    for name, passes in needed.items():
        print(f"{name}: {more[name]:.3f} s a record, {more[name] / passes:.2f} of the passes it needs; {few[name]:.2f} s for {options.records}")


if __name__ == "__main__":
    main()
