"""Segmentation networks of torchvision with random weights: five commands, beside scikit-learn.

Usage: python studies/segmentation/segmentation.py [NAME...] [--assay PROGRAM] [--folder FOLDER]

Networks are exported to FOLDER; pictures and masks are drawn there. Masks are what the network says in ONNX Runtime, but for
some blocks. Needs torch, torchvision, onnx, onnxruntime, scikit-learn and NumPy.
"""

import pathlib
import sys

import numpy as np
import onnxruntime
import torch
from sklearn.metrics import accuracy_score, f1_score, jaccard_score
from torchvision.models import segmentation

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from commands import asked, print_studies  # noqa: E402

SIDE, RECORDS, CLASSES, IGNORED = 96, 12, 5, 255
CASES = {"deeplabv3": segmentation.deeplabv3_mobilenet_v3_large, "lraspp": segmentation.lraspp_mobilenet_v3_large}
FIGURES = ("pixel-accuracy", "mean-iou", "mean-dice")


def pictures(random):
    """Rectangles of one colour on dark noise."""
    x = random.uniform(0, 0.35, (RECORDS, 3, SIDE, SIDE)).astype(np.float32)
    for picture in x:
        for _ in range(random.integers(2, 6)):
            left, top, width, height = random.integers(8, SIDE // 2, 4)
            picture[:, top : top + height, left : left + width] = random.uniform(0, 1, (3, 1, 1))
    return x


class Scores(torch.nn.Module):
    """The first of the outputs, as the others are for training."""

    def __init__(self, network):
        super().__init__()
        self.network = network

    def forward(self, x):
        return self.network(x)["out"]


def settle(network, x):
    """Batch normalisation with the means and variances that there are, and classes that are all named somewhere."""
    for part in network.modules():
        if isinstance(part, torch.nn.BatchNorm2d):
            part.momentum = 1.0
            part.weight.data.uniform_(0.8, 1.5)
            part.bias.data.normal_(0, 0.3)
        if isinstance(part, torch.nn.Dropout):
            part.p = 0.0
    network.train()
    scores = network(x)["out"]
    for part in network.modules():
        if isinstance(part, torch.nn.Conv2d) and part.out_channels == CLASSES:
            part.bias.data -= scores.mean((0, 2, 3)) / (2 if "lraspp" in type(network).__name__.lower() else 1)
    return network.eval()


def exported(name, x, file):
    """What ONNX Runtime says of each picture, [RECORDS, SIDE, SIDE]."""
    torch.manual_seed(0)
    with torch.no_grad():
        network = settle(CASES[name](weights=None, weights_backbone=None, num_classes=CLASSES), torch.tensor(x))
        torch.onnx.export(
            Scores(network), (torch.tensor(x[:2]),), str(file), opset_version=17, input_names=["x"], output_names=["out"],
            dynamic_axes={"x": {0: "n"}, "out": {0: "n"}}, dynamo=False,
        )  # fmt: skip
    session = onnxruntime.InferenceSession(str(file))
    return np.concatenate([session.run(None, {"x": one[None]})[0].argmax(1) for one in x])


def masks_of(said, random):
    """What the network says, but for a block of another class in each picture, and a border that does not count."""
    masks = said.astype(np.int64).copy()
    for mask in masks:
        left, top = random.integers(0, SIDE // 2, 2)
        mask[top : top + SIDE // 3, left : left + SIDE // 3] = random.integers(CLASSES)
    masks[:, :4], masks[:, -4:] = IGNORED, IGNORED
    return masks


def of_scikit_learn(said, masks):
    """The same three figures, of the positions that count."""
    counts = masks != IGNORED
    labels, decided = masks[counts], said[counts]
    there = np.union1d(labels, decided)
    means = {"labels": there, "average": "macro"}
    return [accuracy_score(labels, decided), jaccard_score(labels, decided, **means), f1_score(labels, decided, **means)]


def study(name, program, folder):
    """What the commands answer, with the figures of `evaluate` and of scikit-learn."""
    place, random = folder / name, np.random.default_rng(1)
    place.mkdir(parents=True, exist_ok=True)
    x = pictures(random)
    said = exported(name, x, place / "network.onnx")
    masks = masks_of(said, random)
    np.savez(place / "data.npz", x=x, y=masks)
    all_records, few = "data.npz,range=0:1", "data.npz,range=0:1[:2]"
    task = ["--task", f"pixels[ignore={IGNORED}]"]
    commands = {
        "evaluate": ["evaluate", "network.onnx", all_records, *task],
        "importance": ["importance", "network.onnx", few, *task],
        "cover": ["cover", "network.onnx", few, "--train", few, "--items", "20", "--criterion", "idc[m=4]", *task],
        "mutate": ["mutate", "run", "network.onnx", few, "--operator", "gf", "--count", "2", "--quality", "1", *task],
        "attack": ["attack", "network.onnx", few, "--attack", "pgd[eps=0.02,steps=4]", "--margin", "0.05", "--out", "attacked", *task],
    }
    answers = {command: asked(program, arguments, place, command) for command, arguments in commands.items()}
    if document := answers["evaluate"]["document"]:
        figures = {row["figure"]: row["value"] for row in document["tables"]["figures"]["rows"] if not row.get("class")}
        answers["evaluate"]["figures"] = [figures[figure] for figure in FIGURES]
        answers["evaluate"]["of_scikit_learn"] = of_scikit_learn(said, masks)
    return answers


def compared(answer):
    figures = answer.get("of_scikit_learn")
    return "; scikit-learn: " + ", ".join(f"{figure:.2%}" for figure in figures) if figures else ""


if __name__ == "__main__":
    print_studies(__doc__, CASES, "segmentation", study, compared)
