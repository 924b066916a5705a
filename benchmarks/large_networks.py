"""Networks at their real size beside ONNX Runtime: large_networks.py [--threads 2] [NETWORK...].

Networks have random weights; they are made with PyTorch and written as ONNX. Both sides run in processes of their own,
in turn, three times each; the best time of a forward pass counts. ONNX Runtime runs batches of 1, 4 and 16 records, of
which the quickest counts. The share is that of the processor's peak, as `assay model --plan --measure` tells it. The
peaks of memory are of whole processes: of `assay evaluate` on the 16 records, and of ONNX Runtime on 16 in a batch.
Needs torch, onnx and onnxruntime of PyPI; ASSAY_PROGRAM names the program (default: assay).
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

import numpy
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
    def __init__(self, width, heads, causal=False):
        super().__init__()
        self.heads, self.causal, self.parts, self.out = heads, causal, nn.Linear(width, 3 * width), nn.Linear(width, width)

    def forward(self, x):
        records, tokens, width = x.shape
        parts = self.parts(x).reshape(records, tokens, 3, self.heads, width // self.heads).permute(2, 0, 3, 1, 4)
        scores = parts[0] @ parts[1].transpose(-2, -1) * (width // self.heads) ** -0.5
        if self.causal:
            scores = scores + torch.full((tokens, tokens), -1e4).triu(1)
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


class GatedMobile(Inverted):
    """A block of MobileNetV3: widened, depthwise, perhaps gated, narrowed."""

    def __init__(self, channels, units, stride, width, kernel, activation, gated):
        nn.Module.__init__(self)
        widen = [block(channels, width, 1, activation=activation)] if width != channels else []
        self.wide = nn.Sequential(*widen, block(width, width, kernel, stride, width, activation))
        inner = max(8, (width // 4 + 4) // 8 * 8)
        self.gate = nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Conv2d(width, inner, 1), nn.ReLU(), nn.Conv2d(inner, width, 1),
                                  nn.Hardsigmoid()) if gated else None
        self.narrow = block(width, units, 1, activation=None)
        self.same = stride == 1 and channels == units


def mobilenet_v3(stages):
    layers, channels = [block(3, 16, 3, 2, activation=nn.Hardswish)], 16
    for kernel, width, units, gated, activation, stride in stages:
        layers.append(GatedMobile(channels, units, stride, width, kernel, activation, gated))
        channels = units
    return nn.Sequential(*layers, block(channels, 960, 1, activation=nn.Hardswish), nn.AdaptiveAvgPool2d(1), nn.Flatten(),
                         nn.Linear(960, 1280), nn.Hardswish(), nn.Linear(1280, 1000))


class Windows(nn.Module):
    """Attention within windows of 7 x 7 positions, moved by `shift`, with a bias for each pair of places."""

    def __init__(self, width, heads, side, shift):
        super().__init__()
        self.heads, self.side, self.shift = heads, side, shift if side > 7 else 0
        self.parts, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.bias = nn.Parameter(torch.randn(heads, 49, 49) * 0.02)
        region = torch.zeros(side, side)
        for i, rows in enumerate((slice(0, -7), slice(-7, -3), slice(-3, None))):
            for j, columns in enumerate((slice(0, -7), slice(-7, -3), slice(-3, None))):
                region[rows, columns] = 3 * i + j
        apart = self.cut(region[None, :, :, None]).reshape(-1, 49)
        self.register_buffer("mask", (apart[:, None] != apart[:, :, None]).float()[:, None] * -100.0)

    def cut(self, x):
        records, width, n = x.shape[0], x.shape[-1], self.side // 7
        return x.reshape(records, n, 7, n, 7, width).transpose(2, 3).reshape(records, n * n, 49, width)

    def forward(self, x):
        records, width, n = x.shape[0], x.shape[-1], self.side // 7
        if self.shift:
            x = torch.roll(x, (-self.shift, -self.shift), (1, 2))
        parts = self.parts(self.cut(x)).reshape(records, n * n, 49, 3, self.heads, width // self.heads).permute(3, 0, 1, 4, 2, 5)
        scores = parts[0] @ parts[1].transpose(-2, -1) * (width // self.heads) ** -0.5 + self.bias
        if self.shift:
            scores = scores + self.mask
        x = self.out((scores.softmax(-1) @ parts[2]).transpose(2, 3).reshape(records, n * n, 49, width))
        x = x.reshape(records, n, n, 7, 7, width).transpose(2, 3).reshape(records, self.side, self.side, width)
        return torch.roll(x, (self.shift, self.shift), (1, 2)) if self.shift else x


class Swin(nn.Module):
    def __init__(self):
        super().__init__()
        self.patches, stages, width, side = nn.Conv2d(3, 96, 4, 4), [], 96, 56
        for heads, depth in ((3, 2), (6, 2), (12, 6), (24, 2)):
            if width < 32 * heads:
                stages.append(nn.ModuleList([nn.LayerNorm(4 * width), nn.Linear(4 * width, 2 * width, bias=False)]))
                width, side = 2 * width, side // 2
            for i in range(depth):
                stages.append(nn.ModuleList([
                    nn.Sequential(nn.LayerNorm(width), Windows(width, heads, side, 3 * (i % 2))),
                    nn.Sequential(nn.LayerNorm(width), nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))]))
        self.stages, self.norm, self.end = nn.ModuleList(stages), nn.LayerNorm(width), nn.Linear(width, 1000)

    def forward(self, x):
        x = self.patches(x).permute(0, 2, 3, 1)
        for first, second in self.stages:
            if isinstance(first, nn.LayerNorm):  # between two stages: 2 x 2 positions become one
                x = second(first(torch.cat([x[:, i::2, j::2] for j in (0, 1) for i in (0, 1)], -1)))
            else:
                x = x + first(x)
                x = x + second(x)
        return self.end(self.norm(x).mean((1, 2)))


class Language(nn.Module):
    """BERT's encoder with a class a text, or GPT-2's decoder with scores of the next token at each position."""

    def __init__(self, tokens, causal, words):
        super().__init__()
        width, depth = 768, 12
        self.words, self.places = nn.Embedding(words, width), nn.Parameter(torch.randn(1, tokens, width) * 0.02)
        self.attention = nn.ModuleList(Attention(width, 12, causal) for _ in range(depth))
        self.dense = nn.ModuleList(nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))
                                   for _ in range(depth))
        self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(2 * depth + 1))
        self.causal, self.end = causal, nn.Linear(width, words if causal else 2)

    def forward(self, ids):
        x = self.words(ids) + self.places
        if not self.causal:
            x = self.norms[-1](x)
        for i, (attention, dense) in enumerate(zip(self.attention, self.dense)):
            before, behind = self.norms[2 * i], self.norms[2 * i + 1]
            if self.causal:
                x = x + attention(before(x))
                x = x + dense(behind(x))
            else:
                x = before(x + attention(x))
                x = behind(x + dense(x))
        return self.end(self.norms[-1](x) if self.causal else x[:, 0])


class LastStep(nn.Module):
    def __init__(self):
        super().__init__()
        self.steps, self.end = nn.LSTM(64, 256, 2, batch_first=True), nn.Linear(256, 10)

    def forward(self, x):
        return self.end(self.steps(x)[0][:, -1])


class UNet(nn.Module):
    def __init__(self):
        super().__init__()
        widths = (32, 64, 128, 256, 512)
        self.down = nn.ModuleList(nn.Sequential(block(a, b, 3), block(b, b, 3)) for a, b in zip((3, *widths), widths))
        self.wider = nn.ModuleList(nn.ConvTranspose2d(b, a, 2, 2) for a, b in zip(widths, widths[1:]))
        self.up = nn.ModuleList(nn.Sequential(block(2 * a, a, 3), block(a, a, 3)) for a in widths[:-1])
        self.end = nn.Conv2d(32, 21, 1)

    def forward(self, x):
        kept = []
        for down in self.down:
            kept.append(x := down(x if not kept else functional.max_pool2d(x, 2)))
        for wider, up, beside in zip(reversed(self.wider), reversed(self.up), reversed(kept[:-1])):
            x = up(torch.cat([beside, wider(x)], 1))
        return self.end(x)


class Split(nn.Module):
    """YOLOv8's part: half of the channels through short blocks, every step of which is kept."""

    def __init__(self, channels, units, count):
        super().__init__()
        half = units // 2
        self.first, self.last = block(channels, units, 1, activation=nn.SiLU), block((2 + count) * half, units, 1, activation=nn.SiLU)
        self.steps = nn.ModuleList(nn.Sequential(block(half, half, 3, activation=nn.SiLU), block(half, half, 3, activation=nn.SiLU))
                                   for _ in range(count))

    def forward(self, x):
        parts = list(self.first(x).chunk(2, 1))
        for step in self.steps:
            parts.append(parts[-1] + step(parts[-1]))
        return self.last(torch.cat(parts, 1))


class Yolo(nn.Module):
    """YOLOv8n's backbone, neck and heads: [N, 84, 8400], boxes as distances before they are decoded."""

    def __init__(self):
        super().__init__()
        silu = {"activation": nn.SiLU}
        self.small = nn.Sequential(block(3, 16, 3, 2, **silu), block(16, 32, 3, 2, **silu), Split(32, 32, 1),
                                   block(32, 64, 3, 2, **silu), Split(64, 64, 2))
        self.middle = nn.Sequential(block(64, 128, 3, 2, **silu), Split(128, 128, 2))
        self.large = nn.Sequential(block(128, 256, 3, 2, **silu), Split(256, 256, 1), block(256, 128, 1, **silu))
        self.joined = block(512, 256, 1, **silu)
        self.up = nn.ModuleList([Split(384, 128, 1), Split(192, 64, 1)])
        self.stride = nn.ModuleList([block(64, 64, 3, 2, **silu), block(128, 128, 3, 2, **silu)])
        self.down = nn.ModuleList([Split(192, 128, 1), Split(384, 256, 1)])
        self.heads = nn.ModuleList(nn.Sequential(block(width, 80, 3, **silu), block(80, 80, 3, **silu), nn.Conv2d(80, 84, 1))
                                   for width in (64, 128, 256))

    def forward(self, x):
        small = self.small(x)
        middle = self.middle(small)
        large = [self.large(middle)]
        for _ in range(3):
            large.append(functional.max_pool2d(large[-1], 5, 1, 2))
        large = self.joined(torch.cat(large, 1))
        double = {"scale_factor": 2.0, "mode": "nearest"}
        middle = self.up[0](torch.cat([functional.interpolate(large, **double), middle], 1))
        small = self.up[1](torch.cat([functional.interpolate(middle, **double), small], 1))
        middle = self.down[0](torch.cat([self.stride[0](small), middle], 1))
        large = self.down[1](torch.cat([self.stride[1](middle), large], 1))
        return torch.cat([head(part).flatten(2) for head, part in zip(self.heads, (small, middle, large))], 2)


MOBILE = [(1, 16, 1, 1, 3), (6, 24, 2, 2, 3), (6, 32, 3, 2, 3), (6, 64, 4, 2, 3), (6, 96, 3, 1, 3), (6, 160, 3, 2, 3),
          (6, 320, 1, 1, 3)]
EFFICIENT = [(1, 16, 1, 1, 3), (6, 24, 2, 2, 3), (6, 40, 2, 2, 5), (6, 80, 3, 2, 3), (6, 112, 3, 1, 5), (6, 192, 4, 2, 5),
             (6, 320, 1, 1, 3)]
R, H = nn.ReLU, nn.Hardswish
MOBILE_3 = [(3, 16, 16, False, R, 1), (3, 64, 24, False, R, 2), (3, 72, 24, False, R, 1), (5, 72, 40, True, R, 2),
            (5, 120, 40, True, R, 1), (5, 120, 40, True, R, 1), (3, 240, 80, False, H, 2), (3, 200, 80, False, H, 1),
            (3, 184, 80, False, H, 1), (3, 184, 80, False, H, 1), (3, 480, 112, True, H, 1), (3, 672, 112, True, H, 1),
            (5, 672, 160, True, H, 2), (5, 960, 160, True, H, 1), (5, 960, 160, True, H, 1)]
#: How a network is made, the shape of a record, and that of its label where `evaluate` measures the memory: a class,
#: or a class at each position. Records of one axis are numbers of words. Names that end with -int8 are quantised to 8
#: bits: pictures with scales that four records give, one for each channel of the weights; texts as they run.
NETWORKS = {
    "mlp": (lambda: nn.Sequential(nn.Flatten(), nn.Linear(784, 1200), nn.ReLU(), nn.Linear(1200, 1200), nn.ReLU(),
                                  nn.Linear(1200, 10)), (1, 28, 28), ()),
    "resnet18": (lambda: resnet((2, 2, 2, 2), False), (3, 224, 224), ()),
    "resnet50": (lambda: resnet((3, 4, 6, 3), True), (3, 224, 224), ()),
    "mobilenet-v2": (lambda: inverted(MOBILE, nn.ReLU6, False), (3, 224, 224), ()),
    "mobilenet-v3": (lambda: mobilenet_v3(MOBILE_3), (3, 224, 224), ()),
    "efficientnet-b0": (lambda: inverted(EFFICIENT, nn.SiLU, True), (3, 224, 224), ()),
    "convnext-tiny": (convnext, (3, 224, 224), ()),
    "vit-b16": (Transformer, (3, 224, 224), ()),
    "swin-t": (Swin, (3, 224, 224), ()),
    "bert-128": (lambda: Language(128, False, 30522), (128,), ()),
    "bert-512": (lambda: Language(512, False, 30522), (512,), ()),
    "gpt2": (lambda: Language(128, True, 50257), (128,), (128,)),
    "lstm": (LastStep, (100, 64), ()),
    "u-net": (UNet, (3, 256, 256), (256, 256)),
    "yolo": (Yolo, (3, 640, 640), None),
}
NETWORKS |= {name + "-int8": NETWORKS[name] for name in ("resnet18", "mobilenet-v2", "bert-128")}


def records_of(shape, count=RECORDS):
    numbers = numpy.random.default_rng(1)
    return numbers.integers(0, 10, (count, *shape)) if len(shape) == 1 else numbers.random((count, *shape), numpy.float32)


def quantise(path, shape):
    from onnxruntime import quantization
    if len(shape) == 1:
        return quantization.quantize_dynamic(path, path)
    seen = iter([{"x": records_of(shape, 4)}])

    class Records(quantization.CalibrationDataReader):
        def get_next(self):
            return next(seen, None)

    # Activations without sign, which ONNX Runtime multiplies quickest on x86-64.
    quantization.quantize_static(path, path, Records(), quant_format=quantization.QuantFormat.QDQ, per_channel=True,
                                 activation_type=quantization.QuantType.QUInt8, weight_type=quantization.QuantType.QInt8)


def write(name, folder):
    """The network, and 16 records with labels where `evaluate` takes them."""
    torch.manual_seed(1)
    make, shape, label = NETWORKS[name]
    network = make().eval()
    torch.onnx.export(network, torch.from_numpy(records_of(shape, 2)), str(folder / "net.onnx"), input_names=["x"],
                      output_names=["y"], dynamic_axes={"x": {0: "n"}, "y": {0: "n"}}, opset_version=20, dynamo=False)
    if name.endswith("-int8"):
        quantise(str(folder / "net.onnx"), shape)
    labels = {} if label is None else {"y": numpy.random.default_rng(2).integers(0, 2, (RECORDS, *label))}
    numpy.savez(folder / "records.npz", x=records_of(shape), **labels)


#: A small process that starts another one, as a process begins with the memory of the one that started it.
STARTER = """
import resource, subprocess, sys
code = subprocess.run(sys.argv[1:]).returncode
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
sys.exit(code)
"""


def peak(command):
    """Megabytes that a process holds at most, and what it prints."""
    done = subprocess.run([sys.executable, "-S", "-c", STARTER, *command], stdout=subprocess.PIPE, text=True, check=True)
    printed, kilobytes = done.stdout.rstrip().rsplit("\n", 1) if "\n" in done.stdout.rstrip() else ("", done.stdout)
    return int(kilobytes) / 1024, printed


def time_onnxruntime(path, records, threads):
    """In a process of its own: prints the milliseconds of a record, and the version."""
    import onnxruntime
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    records = numpy.load(records)["x"]
    best = float("inf")
    for batch in (1, 4, 16):
        session.run(None, {"x": records[:batch]})
        start = time.perf_counter()
        for begin in range(0, RECORDS, batch):
            session.run(None, {"x": records[begin:begin + batch]})
        best = min(best, time.perf_counter() - start)
    print(best / RECORDS * 1e3, onnxruntime.__version__, flush=True)


class Assay:
    def __init__(self, folder, threads, engine):
        self.program = os.environ.get("ASSAY_PROGRAM", "assay")
        self.folder, self.common = folder, ["--threads", str(threads), "--engine", engine]

    def measure(self):
        """Milliseconds of a record, and the share of the processor's peak."""
        _, printed = peak([self.program, "model", str(self.folder / "net.onnx"), "--plan", "--measure", "--json", "-", *self.common])
        rows = json.loads(printed)["tables"]["plan"]["rows"]
        took = sum(row["measured"] for row in rows)
        shares = [(row["of_peak"], row["measured"]) for row in rows if row.get("of_peak") is not None]
        return took / 1e3, sum(share * part for share, part in shares) / took

    def memory(self):
        return peak([self.program, "evaluate", str(self.folder / "net.onnx"), str(self.folder / "records.npz"), "--quiet", *self.common])[0]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--engine", default="auto")
    parser.add_argument("networks", nargs="*", default=list(NETWORKS), metavar="NETWORK",
                        help="of " + ", ".join(NETWORKS))
    options = parser.parse_args()
    for name in options.networks:
        if name not in NETWORKS:
            parser.error(f"there is no network '{name}'; there are {', '.join(NETWORKS)}")
    print(f"{'network':16} {'assay ms':>9} {'onnxruntime ms':>15} {'ratio':>6} {'of the peak':>11} {'assay MB':>9} {'onnxruntime MB':>15}")
    for name in options.networks:
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            write(name, folder)
            assay = Assay(folder, options.threads, options.engine)
            ours, theirs = (float("inf"), 0), float("inf")
            for _ in range(3):
                ours = min(ours, assay.measure())
                beside = [sys.executable, __file__, "--onnxruntime", str(folder / "net.onnx"), str(folder / "records.npz"),
                          str(options.threads)]
                their_peak, printed = peak(beside)
                took, version = printed.split()
                theirs = min(theirs, float(took))
            memory = "-" if NETWORKS[name][2] is None else f"{assay.memory():.0f}"
            print(f"{name:16} {ours[0]:9.2f} {theirs:15.2f} {ours[0] / theirs:6.2f} {100 * ours[1]:9.0f} % {memory:>9} "
                  f"{their_peak:15.0f}  ONNX Runtime {version}", flush=True)


if __name__ == "__main__" and sys.argv[1:2] == ["--onnxruntime"]:
    time_onnxruntime(sys.argv[2], sys.argv[3], int(sys.argv[4]))
elif __name__ == "__main__":
    main()
