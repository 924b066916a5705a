"""Everything that runs on a device, beside the processor: device_beside_processor.py [--device cuda] [NETWORK...].

Prints, for each network and job, what differs and by how much it may, the times, their ratio, and the memory of both.
Ends with 1 where something differs by more. Without a GPU the device is `torch:cpu`, the processor behind all copies,
and networks are small. Needs numpy, torch and onnx; ASSAY_PROGRAM names the program (default: assay).
"""

import argparse
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import threading
import time

import numpy
import torch
from torch import nn

import large_networks as large

PROGRAM = os.environ.get("ASSAY_PROGRAM", "assay")


class Bert(nn.Module):
    def __init__(self, width, depth, heads, tokens):
        super().__init__()
        self.words, self.places = nn.Embedding(1000, width), nn.Parameter(torch.randn(1, tokens, width) * 0.02)
        self.norm = nn.LayerNorm(width)
        self.attention = nn.ModuleList(large.Attention(width, heads) for _ in range(depth))
        self.dense = nn.ModuleList(nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))
                                   for _ in range(depth))
        self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(2 * depth))
        self.end = nn.Linear(width, 10)

    def forward(self, x):
        x = self.norm(self.words(x) + self.places)
        for i, (attention, dense) in enumerate(zip(self.attention, self.dense)):
            x = self.norms[2 * i](x + attention(x))
            x = self.norms[2 * i + 1](x + dense(x))
        return self.end(torch.tanh(x[:, 0]))


def lenet():
    return nn.Sequential(nn.Conv2d(1, 6, 5, padding=2), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(6, 16, 5), nn.ReLU(),
                         nn.MaxPool2d(2), nn.Flatten(), nn.Linear(400, 120), nn.ReLU(), nn.Linear(120, 84), nn.ReLU(),
                         nn.Linear(84, 10))


def networks(whole):
    """By name: module, shape of a record, records."""
    resnet = lambda: large.resnet((3, 4, 6, 3) if whole else (1, 1, 1, 1), True)
    transformer = lambda: large.Transformer() if whole else large.Transformer(48, 2, 4)
    bert = (lambda: Bert(768, 12, 12, 128)) if whole else lambda: Bert(32, 2, 4, 16)
    return {"lenet5": (lenet, (1, 28, 28), 4096 if whole else 64),
            "resnet50": (resnet, (3, 224, 224) if whole else (3, 32, 32), 64 if whole else 16),
            "vit": (transformer, (3, 224, 224), 64 if whole else 4),
            "bert": (bert, (128,) if whole else (16,), 256 if whole else 16)}


class Watch(threading.Thread):
    """The greatest memory in use on the first GPU, in MiB."""

    def __init__(self):
        super().__init__(daemon=True)
        self.most, self.over = 0, threading.Event()

    def run(self):
        while not self.over.wait(0.2):
            said = subprocess.run(["nvidia-smi", "--query-gpu=memory.used", "--format=csv,noheader,nounits"],
                                  capture_output=True, text=True).stdout.split()
            self.most = max(self.most, int(said[0]) if said else 0)


def run(arguments, device):
    """Seconds, and MiB of the GPU."""
    watch = Watch()
    if device.startswith("cuda") and shutil.which("nvidia-smi"):
        watch.start()
    start = time.perf_counter()
    child = subprocess.Popen([PROGRAM, *arguments, "--device", device, "--quiet"], stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE, text=True)
    said = child.communicate()
    seconds = time.perf_counter() - start
    watch.over.set()
    if child.returncode != 0:
        sys.exit(f"{' '.join(arguments)} --device {device}: exit code {child.returncode}\n{said[1]}")
    return seconds, watch.most


def rows(path, table, column):
    found = [row[column] for row in json.loads(pathlib.Path(path).read_text())["tables"][table]["rows"]]
    return numpy.array([number for number in found if number is not None], float)


# By job: the flags, what is read of the result, and how far that may differ. Numbers are compared in shares of the greatest;
# decisions (killed, found, covered) follow from them and may fall otherwise for a record or two.
JOBS = {
    "forward": (["evaluate"], lambda folder: numpy.load(folder / "out.npz")["outputs"], 1e-3),
    "gradients": (["importance", "--method", "saliency", "--layer", "0"],
                  lambda folder: numpy.sort(rows(folder / "out.json", "neurons", "relevance")), 1e-3),
    "cover": (["cover", "--criterion", "nc,kmnc[sections=10],nbc"], lambda folder: rows(folder / "out.json", "criteria", "coverage"), 0.02),
    "mutate": (["mutate", "--operator", "gf[sigma=0.5]", "--count", "4", "--quality", "1"],
               lambda folder: rows(folder / "out.json", "mutation_operators", "score"), 0.3),
    "attack": (["attack", "--attack", "pgd[eps=0.02,starts=1]"], lambda folder: rows(folder / "out.json", "attacks", "success"), 0.1),
    "explore": (["explore", "--mutant", "gf[sigma=0.1]@all", "--iterations", "5", "--lambda2", "0"],
                lambda folder: numpy.array([len(numpy.load(folder / "files" / "findings.npz")["x"])], float), 0.5),
    "train": (["train", "--initialiser", "keep", "--epochs", "1", "--train-batch", "8", "--optimiser", "sgd",
               "--learning-rate", "0.01", "--no-shuffling"], lambda folder: rows(folder / "out.json", "epochs", "loss"), 1e-3),
}


def arguments_of(job, network, data, folder):
    command, *rest = JOBS[job][0]
    inputs = {"forward": [network, data, "--predictions", folder / "out.npz"], "gradients": [network, data],
              "cover": [network, "--train", data, "--test", data], "mutate": [network, data], "attack": [network, data],
              "explore": [network, "--data", data], "train": [network, data, "--out", folder / "out.onnx"]}[job]
    where = ["--out", folder / "files"] if job in ("attack", "explore") else []
    return [str(word) for word in [command, *inputs, *rest, *where, "--json", folder / "out.json", "--seed", "1"]]


def write(name, make, shape, count, folder):
    """The network and its records, labelled as it decides."""
    torch.manual_seed(1)
    module = make().eval()
    records = torch.randint(1000, (count, *shape)) if name == "bert" else torch.rand(count, *shape)
    torch.onnx.export(module, records[:2], str(folder / "net.onnx"), input_names=["x"], output_names=["y"],
                      dynamic_axes={"x": {0: "n"}, "y": {0: "n"}}, opset_version=20, dynamo=False)
    with torch.no_grad():
        labels = torch.cat([module(part).argmax(1) for part in records.split(16)])
    numpy.savez(folder / "data.npz", x=records.numpy(), y=labels.numpy())
    return folder / "net.onnx", f"{folder / 'data.npz'}" + ("" if name == "bert" else ",range=0:1")


def compare(name, job, network, data, device, folder):
    times, memory, results = {}, 0, {}
    for place in (device, "cpu"):
        own = folder / f"{name}-{job}-{place.replace(':', '-')}"
        own.mkdir()
        times[place], used = run(arguments_of(job, network, data, own), place)
        memory = max(memory, used)
        results[place] = JOBS[job][1](own)
    found, expected = results[device], results["cpu"]
    same = found.shape == expected.shape
    far = numpy.abs(found - expected).max() / max(numpy.abs(expected).max(), 1e-6) if same and found.size else 0.0
    good = same and far <= JOBS[job][2]
    print(f"{name:9} {job:10} {far:10.1e} {JOBS[job][2]:8.0e} {times['cpu']:8.2f} {times[device]:8.2f} "
          f"{times[device] / times['cpu']:7.2f} {memory or '-':>8} {'' if good else 'DIFFERS'}", flush=True)
    return good


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "torch:cpu")
    parser.add_argument("networks", nargs="*", default=list(networks(True)))
    options = parser.parse_args()
    whole = options.device.startswith("cuda")
    if whole:
        print(f"== {torch.cuda.get_device_name()}, torch {torch.__version__}")
    else:
        print(f"== NO GPU WAS HERE: small networks on '{options.device}', the processor behind all copies; the hardware is not tested")
    print(f"{'network':9} {'job':10} {'difference':>10} {'allowed':>8} {'cpu s':>8} {'device s':>8} {'ratio':>7} {'GPU MiB':>8}")
    good = True
    with tempfile.TemporaryDirectory() as place:
        for name in options.networks:
            folder = pathlib.Path(place) / name
            folder.mkdir()
            network, data = write(name, *networks(whole)[name], folder)
            # Tokens have no gradient that a search could follow, and no valid range.
            jobs = [job for job in JOBS if name != "bert" or job not in ("attack", "explore")]
            good &= all([compare(name, job, network, data, options.device, folder) for job in jobs])
    sys.exit(0 if good else 1)


main()
