"""Forward passes of networks at their real size beside ONNX Runtime's: large_networks.py [--threads 2] [NETWORK...].

Networks have random weights; they are made with PyTorch and written as ONNX. Both sides run in processes of their own,
in turn, three times each; the best time of each counts. ONNX Runtime runs batches of 1, 4 and 16 records, of which the
quickest counts. Needs torch, onnx and onnxruntime of PyPI; ASSAY_PROGRAM names the program (default: assay).
"""

import argparse
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

import torch
from torch import nn
from torch.nn import functional

RECORDS = 16


def block(channels, units, kernel, stride=1, groups=1, activation=nn.ReLU):
    layers = [nn.Conv2d(channels, units, kernel, stride, kernel // 2, groups=groups, bias=False), nn.BatchNorm2d(units)]
    return nn.Sequential(*layers, *([activation()] if activation else []))


class Residual(nn.Module):
    def __init__(self, channels, width, stride, bottleneck):
        super().__init__()
        units = 4 * width if bottleneck else width
        self.path = nn.Sequential(
            *([block(channels, width, 1), block(width, width, 3, stride), block(width, units, 1, activation=None)]
              if bottleneck else [block(channels, width, 3, stride), block(width, width, 3, activation=None)]))
        same = stride == 1 and channels == units
        self.short = nn.Identity() if same else block(channels, units, 1, stride, activation=None)

    def forward(self, x):
        return functional.relu(self.path(x) + self.short(x))


def head(features):
    return [nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(features, 1000)]


def resnet(counts, bottleneck):
    layers, channels = [block(3, 64, 7, 2), nn.MaxPool2d(3, 2, 1)], 64
    for width, count, first in zip((64, 128, 256, 512), counts, (1, 2, 2, 2)):
        for i in range(count):
            layers.append(Residual(channels, width, first if i == 0 else 1, bottleneck))
            channels = 4 * width if bottleneck else width
    return nn.Sequential(*layers, *head(channels))


class Inverted(nn.Module):
    def __init__(self, channels, units, stride, expansion, kernel, activation, gated):
        super().__init__()
        width = channels * expansion
        widen = [block(channels, width, 1, activation=activation)] if expansion > 1 else []
        self.wide = nn.Sequential(*widen, block(width, width, kernel, stride, width, activation))
        self.gate = nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Conv2d(width, channels // 4, 1), activation(),
                                  nn.Conv2d(channels // 4, width, 1), nn.Sigmoid()) if gated else None
        self.narrow = block(width, units, 1, activation=None)
        self.same = stride == 1 and channels == units

    def forward(self, x):
        wide = self.wide(x)
        made = self.narrow(wide if self.gate is None else wide * self.gate(wide))
        return x + made if self.same else made


def inverted(stages, activation, gated):
    layers, channels = [block(3, 32, 3, 2, activation=activation)], 32
    for expansion, units, count, stride, kernel in stages:
        for i in range(count):
            layers.append(Inverted(channels, units, stride if i == 0 else 1, expansion, kernel, activation, gated))
            channels = units
    return nn.Sequential(*layers, block(channels, 1280, 1, activation=activation), *head(1280))


class ConvNextBlock(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.spatial = nn.Conv2d(width, width, 7, 1, 3, groups=width)
        self.dense = nn.Sequential(nn.LayerNorm(width), nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))
        self.scale = nn.Parameter(torch.full((width,), 0.1))

    def forward(self, x):
        last = self.spatial(x).permute(0, 2, 3, 1)
        return x + (self.scale * self.dense(last)).permute(0, 3, 1, 2)


class ChannelsNorm(nn.LayerNorm):
    def forward(self, x):
        return super().forward(x.permute(0, 2, 3, 1)).permute(0, 3, 1, 2)


def convnext():
    layers, channels = [nn.Conv2d(3, 96, 4, 4), ChannelsNorm(96)], 96
    for width, count in ((96, 3), (192, 3), (384, 9), (768, 3)):
        if width != channels:
            layers += [ChannelsNorm(channels), nn.Conv2d(channels, width, 2, 2)]
        layers += [ConvNextBlock(width) for _ in range(count)]
        channels = width
    return nn.Sequential(*layers, *head(768))


class Attention(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads, self.parts, self.out = heads, nn.Linear(width, 3 * width), nn.Linear(width, width)

    def forward(self, x):
        records, tokens, width = x.shape
        parts = self.parts(x).reshape(records, tokens, 3, self.heads, width // self.heads).permute(2, 0, 3, 1, 4)
        scores = parts[0] @ parts[1].transpose(-2, -1) * (width // self.heads) ** -0.5
        return self.out((scores.softmax(-1) @ parts[2]).transpose(1, 2).reshape(records, tokens, width))


class Transformer(nn.Module):
    def __init__(self, width=768, depth=12, heads=12):
        super().__init__()
        self.patches = nn.Conv2d(3, width, 16, 16)
        self.first = nn.Parameter(torch.randn(1, 1, width) * 0.02)
        self.places = nn.Parameter(torch.randn(1, 197, width) * 0.02)
        self.attention = nn.ModuleList(nn.Sequential(nn.LayerNorm(width), Attention(width, heads)) for _ in range(depth))
        self.dense = nn.ModuleList(nn.Sequential(nn.LayerNorm(width), nn.Linear(width, 4 * width), nn.GELU(),
                                                 nn.Linear(4 * width, width)) for _ in range(depth))
        self.end = nn.Sequential(nn.LayerNorm(width), nn.Linear(width, 1000))

    def forward(self, x):
        x = self.patches(x).flatten(2).transpose(1, 2)
        x = torch.cat([self.first.expand(x.shape[0], -1, -1), x], 1) + self.places
        for attention, dense in zip(self.attention, self.dense):
            x = x + attention(x)
            x = x + dense(x)
        return self.end(x[:, 0])


MOBILE = [(1, 16, 1, 1, 3), (6, 24, 2, 2, 3), (6, 32, 3, 2, 3), (6, 64, 4, 2, 3), (6, 96, 3, 1, 3), (6, 160, 3, 2, 3),
          (6, 320, 1, 1, 3)]
EFFICIENT = [(1, 16, 1, 1, 3), (6, 24, 2, 2, 3), (6, 40, 2, 2, 5), (6, 80, 3, 2, 3), (6, 112, 3, 1, 5), (6, 192, 4, 2, 5),
             (6, 320, 1, 1, 3)]
NETWORKS = {
    "mlp": (lambda: nn.Sequential(nn.Flatten(), nn.Linear(784, 1200), nn.ReLU(), nn.Linear(1200, 1200), nn.ReLU(),
                                  nn.Linear(1200, 10)), (1, 28, 28)),
    "resnet18": (lambda: resnet((2, 2, 2, 2), False), (3, 224, 224)),
    "resnet50": (lambda: resnet((3, 4, 6, 3), True), (3, 224, 224)),
    "mobilenet-v2": (lambda: inverted(MOBILE, nn.ReLU6, False), (3, 224, 224)),
    "efficientnet-b0": (lambda: inverted(EFFICIENT, nn.SiLU, True), (3, 224, 224)),
    "convnext-tiny": (convnext, (3, 224, 224)),
    "vit-b16": (Transformer, (3, 224, 224)),
}


def write(name, path):
    torch.manual_seed(1)
    make, shape = NETWORKS[name]
    torch.onnx.export(make().eval(), torch.rand(2, *shape), path, input_names=["x"], output_names=["y"],
                      dynamic_axes={"x": {0: "n"}, "y": {0: "n"}}, opset_version=20, dynamo=False)


def time_onnxruntime(path, threads):
    """In a process of its own: prints the milliseconds of a record."""
    import numpy
    import onnxruntime
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    shape = session.get_inputs()[0].shape[1:]
    records = numpy.random.default_rng(1).random((RECORDS, *shape), numpy.float32)
    best = float("inf")
    for batch in (1, 4, 16):
        session.run(None, {"x": records[:batch]})
        start = time.perf_counter()
        for begin in range(0, RECORDS, batch):
            session.run(None, {"x": records[begin:begin + batch]})
        best = min(best, time.perf_counter() - start)
    print(best / RECORDS * 1e3)


def time_assay(path, threads, engine):
    plan = subprocess.run([os.environ.get("ASSAY_PROGRAM", "assay"), "model", path, "--plan", "--measure", "--threads",
                           str(threads), "--engine", engine], capture_output=True, text=True, check=True).stdout
    rows = re.findall(r"^ *(?:lanes|channels|reference) .* (\S+) +\S+(?: %)? *$", plan.split("Plan of")[1], re.M)
    return sum(float(microseconds.replace(",", "")) for microseconds in rows) / 1e3


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--engine", default="auto")
    parser.add_argument("networks", nargs="*", default=list(NETWORKS))
    options = parser.parse_args()
    print(f"{'network':16} {'assay ms':>9} {'onnxruntime ms':>15} {'ratio':>6}")
    with tempfile.TemporaryDirectory() as folder:
        for name in options.networks:
            path = str(pathlib.Path(folder) / f"{name}.onnx")
            write(name, path)
            ours = theirs = float("inf")
            for _ in range(3):
                ours = min(ours, time_assay(path, options.threads, options.engine))
                theirs = min(theirs, float(subprocess.run(
                    [sys.executable, __file__, "--onnxruntime", path, str(options.threads)],
                    capture_output=True, text=True, check=True).stdout))
            print(f"{name:16} {ours:9.2f} {theirs:15.2f} {ours / theirs:6.2f}", flush=True)


if __name__ == "__main__" and sys.argv[1:2] == ["--onnxruntime"]:
    time_onnxruntime(sys.argv[2], int(sys.argv[3]))
elif __name__ == "__main__":
    main()
