"""Detectors of torchvision and transformers with random weights: five commands, beside pycocotools.

Usage: python studies/detectors/detectors.py [NAME...] [--assay PROGRAM] [--folder FOLDER]

Networks are exported to FOLDER and data are drawn there. Labels are boxes that the network finds in ONNX Runtime, moved a
little; some are left out. Needs torch, onnx, onnxruntime, pycocotools, NumPy, and the package of the network.
"""

import contextlib
import dataclasses
import io
import pathlib
import sys
from typing import Callable

import numpy as np
import onnxruntime
import torch
from pycocotools.coco import COCO
from pycocotools.cocoeval import COCOeval

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from commands import asked, print_studies  # noqa: E402

SIDE, RECORDS = 160, 8


def pictures(random):
    """Bright rectangles on dark noise."""
    x = random.uniform(0, 0.35, (RECORDS, 3, SIDE, SIDE)).astype(np.float32)
    for picture in x:
        for _ in range(random.integers(1, 5)):
            left, top = random.integers(0, SIDE // 2, 2)
            width, height = random.integers(20, SIDE // 2, 2)
            picture[:, top : top + height, left : left + width] = random.uniform(0, 1, (3, 1, 1))
    return x


def settle(network, x):
    """Batch normalisation with the means and variances that there are, so that random layers pass on what they see."""
    for part in network.modules():
        if isinstance(part, torch.nn.BatchNorm2d):
            part.momentum = 1.0
            part.weight.data.uniform_(0.8, 1.5)
            part.bias.data.normal_(0, 0.3)
    network.train()
    network(x)
    network.eval()


def of_torchvision(name, adapt, **options):
    """Suppression is inside: `boxes`, `scores` and `labels` of the boxes that are left."""

    def make(x):
        from torchvision.models import detection

        network = getattr(detection, name)(weights=None, weights_backbone=None, num_classes=7, **options).eval()
        settle(network.backbone, 2 * torch.nn.functional.interpolate(x, 320 if "ssd" in name else SIDE) - 1)
        adapt(network)
        return network, x[:1]

    return make


def spread_ssd(network):
    for head in network.head.classification_head.module_list:
        head[-1].weight.normal_(0, 0.25)


def spread_faster_rcnn(network):
    network.rpn.head.cls_logits.weight.normal_(0, 0.3)
    network.rpn.head.bbox_pred.weight.normal_(0, 0.02)
    network.roi_heads.box_predictor.cls_score.weight.normal_(0, 0.2)


def spread_retinanet(network):
    network.head.classification_head.cls_logits.weight.normal_(0, 0.12)
    network.head.classification_head.cls_logits.bias.fill_(-2)


def detr(x):
    """DETR with a small residual network, one layer of the encoder and one of the decoder, and 12 queries."""
    from transformers import DetrConfig, DetrForObjectDetection, ResNetConfig

    backbone = ResNetConfig(embedding_size=16, hidden_sizes=[16, 24, 32, 48], depths=[1] * 4, out_features=["stage4"])
    sizes = {f"{part}_{what}": 2 for part in ("encoder", "decoder") for what in ("attention_heads", "layers")}
    sizes |= {"encoder_ffn_dim": 48, "decoder_ffn_dim": 48, "d_model": 32, "num_queries": 12, "num_labels": 5}
    network = DetrForObjectDetection(DetrConfig(use_timm_backbone=False, backbone=None, backbone_config=backbone, **sizes))
    network.eval().model.query_position_embeddings.weight.normal_(0, 2)
    for part in network.modules():  # so that queries see different parts of pictures
        if isinstance(part, torch.nn.Conv2d):
            torch.nn.init.kaiming_normal_(part.weight)
        if isinstance(part, torch.nn.Linear):
            torch.nn.init.normal_(part.weight, 0, 2 * part.in_features**-0.5)
    network.class_labels_classifier.weight.normal_(0, 0.15)

    class Outputs(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.network = network

        def forward(self, x):
            seen = torch.ones(x.shape[0], x.shape[2], x.shape[3], dtype=torch.long)
            found = self.network(pixel_values=x, pixel_mask=seen)
            return found.logits, found.pred_boxes

    return Outputs(), x[:2]


def probabilities(logits):
    powers = np.exp(logits - logits.max(-1, keepdims=True))
    return powers / powers.sum(-1, keepdims=True)


def found_by_detr(outputs):
    """Rows of class, corners and score; the last class is not an object."""
    scores = probabilities(outputs["logits"][0].astype(np.float64))[:, :-1]
    middle, sides = np.split(outputs["pred_boxes"][0].astype(np.float64) * SIDE, 2, axis=1)
    rows = [scores.argmax(1)[:, None], middle - sides / 2, middle + sides / 2, scores.max(1)[:, None]]
    return np.concatenate(rows, 1)


def found_inside(first):
    """Of networks that suppress inside; `first` is the number of the first class."""

    def found(outputs):
        return np.concatenate([outputs["labels"][:, None] - first, outputs["boxes"], outputs["scores"][:, None]], 1).astype(np.float64)

    return found


@dataclasses.dataclass
class Case:
    make: Callable  # of pictures: the network and those that it is exported with
    outputs: list
    found: Callable  # rows of class, corners and score, of the outputs of a record
    task: str
    decision: str
    classes: int


def suppressing(name, adapt, first=1, **options):
    task = "boxes[format=torchvision]" if first else "boxes[format=torchvision,first=0]"
    names = "+".join(f"c{i}" for i in range(7 - first))
    outputs = ["boxes", "labels", "scores"] if "rcnn" in name else ["boxes", "scores", "labels"]
    return Case(
        of_torchvision(name, adapt, **options), outputs, found_inside(first), task[:-1] + f",names={names}]", "boxes+labels+scores", 7 - first
    )


FEW = {"topk_candidates": 60, "detections_per_img": 50}
CASES = {
    "ssdlite": suppressing("ssdlite320_mobilenet_v3_large", spread_ssd, **FEW),
    "faster-rcnn": suppressing(
        "fasterrcnn_mobilenet_v3_large_320_fpn", spread_faster_rcnn, min_size=SIDE, max_size=SIDE, rpn_post_nms_top_n_test=40,
        rpn_pre_nms_top_n_test=60, box_score_thresh=0.02, box_detections_per_img=50,
    ),
    "retinanet": suppressing("retinanet_resnet50_fpn", spread_retinanet, first=0, min_size=SIDE, max_size=SIDE, **FEW),
    "detr": Case(detr, ["logits", "pred_boxes"], found_by_detr, "boxes[format=detr,confidence=0.15]", "pred_boxes+logits", 5),
}  # fmt: skip


def exported(case, x, file):
    axes = {name: {0: "n"} for name in ["x", *case.outputs]} if "detr" in case.task else None
    torch.manual_seed(0)
    with torch.no_grad():
        network, some = case.make(torch.tensor(x))
        torch.onnx.export(
            network.eval(), (some,), str(file), opset_version=17, input_names=["x"], output_names=case.outputs,
            dynamic_axes=axes, dynamo=False,
        )  # fmt: skip
    session = onnxruntime.InferenceSession(str(file))
    return [case.found(dict(zip(case.outputs, session.run(None, {"x": one[None]})))) for one in x]


def labels_of(found, random):
    """Rows of class and corners by record, filled up with -1: most of the surest boxes, moved by a pixel or two."""
    y = np.full((len(found), 20, 5), -1, np.float32)
    for rows, labels in zip(found, y):
        surest = rows[np.argsort(-rows[:, 5], kind="stable")][:20, :5]
        surest = surest[random.random(len(surest)) < 0.7]
        surest[:, 1:] = np.clip(surest[:, 1:] + random.normal(0, 1.5, surest[:, 1:].shape), 0, SIDE)
        surest = surest[(surest[:, 3:] - surest[:, 1:3] > 1).all(1)]
        labels[: len(surest)] = surest
    return y


def of_coco(found, y, classes):
    """Mean average precision, and at an overlap of 0.5, as pycocotools has them."""

    def entry(record, row):
        left, top, right, bottom = (float(side) for side in row[1:5])
        box = {"image_id": record + 1, "category_id": int(row[0]) + 1, "bbox": [left, top, right - left, bottom - top]}
        return box | {"area": (right - left) * (bottom - top), "iscrowd": 0}

    wanted = [entry(r, row) for r, rows in enumerate(y) for row in rows if row[0] >= 0]
    with contextlib.redirect_stdout(io.StringIO()):
        truth = COCO()
        truth.dataset = {
            "images": [{"id": r + 1} for r in range(len(y))],
            "categories": [{"id": c + 1} for c in range(classes)],
            "annotations": [box | {"id": i + 1} for i, box in enumerate(wanted)],
        }
        truth.createIndex()
        said = [entry(r, row) | {"score": float(row[5])} for r, rows in enumerate(found) for row in rows]
        measured = COCOeval(truth, truth.loadRes(said), "bbox")
        measured.evaluate()
        measured.accumulate()
        measured.summarize()
    return measured.stats[:2]


def study(name, program, folder):
    """What the commands answer, with the figures of `evaluate` and of pycocotools."""
    case, place, random = CASES[name], folder / name, np.random.default_rng(1)
    place.mkdir(parents=True, exist_ok=True)
    x = pictures(random)
    found = exported(case, x, place / "network.onnx")
    y = labels_of(found, random)
    np.savez(place / "data.npz", x=x, y=y)
    few, all_records = "data.npz,range=0:1[:2]", "data.npz,range=0:1"
    task, joined = ["--task", case.task], ["--decision", case.decision]
    commands = {
        "evaluate": ["evaluate", "network.onnx", all_records, *task],
        "importance": ["importance", "network.onnx", few, *task, *joined],
        "cover": ["cover", "network.onnx", few, "--train", few, "--items", "3", "--criterion", "nc", *task, *joined],
        "mutate": ["mutate", "run", "network.onnx", few, "--operator", "gf", "--count", "1", "--quality", "1", *task, *joined],
        "attack": ["attack", "network.onnx", few, "--attack", "pgd[eps=0.05,steps=3]", "--out", "attacked", *task, *joined],
    }
    answers = {command: asked(program, arguments, place, command) for command, arguments in commands.items()}
    if document := answers["evaluate"]["document"]:
        figures = {row["figure"]: row["value"] for row in document["tables"]["figures"]["rows"]}
        answers["evaluate"]["figures"] = [figures["mean-average-precision"], figures["mean-average-precision-50"]]
        answers["evaluate"]["of_coco"] = of_coco(found, y, case.classes)
    return answers


def compared(answer):
    figures = answer.get("of_coco")
    return f"; pycocotools: {figures[0]:.2%}, {figures[1]:.2%}" if figures is not None else ""


if __name__ == "__main__":
    print_studies(__doc__, CASES, "detectors", study, compared)
