"""Figures of every task on random cases, beside scikit-learn's, torchmetrics' and second plain writings.

| task | figures | beside |
|---|---|---|
| classes, binary | accuracy, by class, confusions, negative log-likelihood, Brier score, calibration | scikit-learn, torchmetrics |
| regression | squared and absolute errors, by target; with a tolerance | scikit-learn |
| pixels | accuracy, IoU and Dice by class and their means; positions that do not count; one score a position | scikit-learn, torchmetrics |
| tokens | accuracy, perplexity, precision, recall, F1, sequences, entities | scikit-learn, torchmetrics, a second writing |
| labels | F1 micro, macro and by label, precision, recall, average precision, exact match; labels that are not known | scikit-learn |
| boxes | precision, recall, F1 at one confidence (average precision is in test_tasks.py, beside pycocotools) | a second writing |
| text | error rates of characters and words | torchmetrics |
| embedding | area under the curve and equal error rate of pairs | scikit-learn |

Few records, classes that are nowhere, crowds alone and no detections at all have tests of their own (`few`). Centres of
embeddings and tolerances that wrap are in test_tasks.py.
"""

import importlib

import numpy as np
import pytest

import assay
from test_tasks import by_class, coco_figures, figures, network, one_hot_steps, random_boxes, random_detections, split_network

SEEDS = range(3)


@pytest.fixture
def onnx():
    package = pytest.importorskip("onnx", reason="SKIPPED: the package onnx is not there")
    importlib.import_module("onnx.numpy_helper")
    return package


@pytest.fixture
def metrics():
    return pytest.importorskip("sklearn.metrics", reason="SKIPPED: the package scikit-learn is not there")


@pytest.fixture
def torchmetrics():
    pytest.importorskip("torch", reason="SKIPPED: the package torch is not there")
    return pytest.importorskip("torchmetrics", reason="SKIPPED: the package torchmetrics is not there")


def softmax(scores):
    shares = np.exp(scores.astype(np.float64) - scores.max(-1, keepdims=True))
    return shares / shares.sum(-1, keepdims=True)


def sigmoid(scores):
    return 1 / (1 + np.exp(-scores.astype(np.float64)))


def confusions_of(result):
    return {(int(row["expected"]), int(row["predicted"])): row["records"] for row in result.table("confusions")}


def off_diagonal(matrix):
    return {(a, b): int(matrix[a, b]) for a in range(len(matrix)) for b in range(len(matrix)) if a != b and matrix[a, b]}


@pytest.mark.parametrize("seed", SEEDS)
def test_classes(onnx, metrics, torchmetrics, seed):
    torch = importlib.import_module("torch")
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 5, 300)
    x = (rng.normal(size=(300, 5)) + 1.5 * np.eye(5)[y]).astype(np.float32)
    result, shares, decided = assay.evaluate(network(onnx, "Identity", (5,)), (x, y)), softmax(x), x.argmax(1)
    assert result.test_accuracy == pytest.approx(metrics.accuracy_score(y, decided))
    assert result.negative_log_likelihood == pytest.approx(metrics.log_loss(y, shares), rel=1e-6)
    assert result.brier == pytest.approx(((shares - np.eye(5)[y]) ** 2).sum(1).mean(), rel=1e-6)
    for norm, name in [("l1", "calibration_error"), ("max", "greatest_calibration_error")]:
        measure = torchmetrics.classification.MulticlassCalibrationError(num_classes=5, n_bins=15, norm=norm)
        assert getattr(result, name) == pytest.approx(float(measure(torch.from_numpy(shares), torch.from_numpy(y))), abs=1e-5)
    recalls = [row["correct"] / row["records"] for row in result.table("classes")]
    assert recalls == pytest.approx(list(metrics.recall_score(y, decided, average=None)))
    shown, all_of_them = confusions_of(result), off_diagonal(metrics.confusion_matrix(y, decided))
    assert shown.items() <= all_of_them.items()
    assert sorted(shown.values()) == sorted(all_of_them.values())[-len(shown) :]  # the most frequent


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("ending", ["Sigmoid", "Identity"])
def test_binary(onnx, metrics, seed, ending):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, 300)
    x = (rng.normal(size=(300, 1)) + (2 * y - 1)[:, None]).astype(np.float32)
    result = assay.evaluate(network(onnx, ending, (1,)), (x, y), task="binary")
    decided, shares = x[:, 0] > 0, sigmoid(x[:, 0])
    assert result.test_accuracy == pytest.approx(metrics.accuracy_score(y, decided))
    assert result.negative_log_likelihood == pytest.approx(metrics.log_loss(y, shares), rel=1e-5)
    assert result.brier == pytest.approx(2 * metrics.brier_score_loss(y, shares), rel=1e-5)  # of both classes
    recalls = [row["correct"] / row["records"] for row in result.table("classes")]
    assert recalls == pytest.approx([metrics.recall_score(y, decided, pos_label=c) for c in (0, 1)])


@pytest.mark.parametrize("seed", SEEDS)
def test_regression(onnx, metrics, seed):
    rng = np.random.default_rng(seed)
    y = rng.normal(0, 3, (80, 3)).astype(np.float32)
    x = (y + rng.normal(0, 1, y.shape)).astype(np.float32)
    plain = assay.evaluate(network(onnx, "Identity", (3,)), (x, y))
    measured = {row["criterion"]: row["measure"] for row in plain.table("criteria")}
    assert measured["mean-squared-error"] == pytest.approx(metrics.mean_squared_error(y, x), rel=1e-5)
    for target in range(3):
        pair = y[:, target], x[:, target]
        assert measured[f"mean-squared-error[target={target}]"] == pytest.approx(metrics.mean_squared_error(*pair), rel=1e-5)
        assert measured[f"mean-absolute-error[target={target}]"] == pytest.approx(metrics.mean_absolute_error(*pair), rel=1e-5)
    found = figures(assay.evaluate(network(onnx, "Identity", (3,)), (x, y), task="regression[tolerance=20%]"))
    right = np.abs(x.astype(np.float64) - y) <= 0.2 * np.abs(y)
    assert found["within-tolerance"] == pytest.approx(right.mean())
    assert found["records-within-tolerance"] == pytest.approx(right.all(1).mean())
    assert found["mean-squared-error"] == pytest.approx(metrics.mean_squared_error(y, x), rel=1e-5)
    assert found["mean-absolute-error"] == pytest.approx(metrics.mean_absolute_error(y, x), rel=1e-5)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("shape", [(31,), (6, 7), (3, 4, 5)])
def test_pixels(onnx, metrics, torchmetrics, seed, shape):
    """Signals, pictures and volumes with positions that do not count."""
    torch = importlib.import_module("torch")
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(20, 4, *shape)).astype(np.float32)
    y = rng.integers(0, 4, (20, *shape))
    y[rng.random(y.shape) < 0.2] = 255
    result = assay.evaluate(network(onnx, "Identity", (4, *shape)), (x, y), task="pixels")
    found, counted = figures(result), y != 255
    wanted, decided = y[counted], x.argmax(1)[counted]
    assert found["pixel-accuracy"] == pytest.approx(metrics.accuracy_score(wanted, decided))
    assert by_class(result, "iou") == pytest.approx(list(metrics.jaccard_score(wanted, decided, average=None)))
    assert by_class(result, "dice") == pytest.approx(list(metrics.f1_score(wanted, decided, average=None)))
    assert found["mean-dice"] == pytest.approx(metrics.f1_score(wanted, decided, average="macro"))
    index = torchmetrics.classification.MulticlassJaccardIndex(num_classes=4, ignore_index=255)
    theirs = float(index(torch.from_numpy(x.argmax(1)), torch.from_numpy(y)))
    assert found["mean-iou"] == pytest.approx(theirs, abs=1e-6)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("ending", ["Sigmoid", "Identity"])
def test_masks_of_one_score(onnx, metrics, seed, ending):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(20, 1, 6, 7)).astype(np.float32)
    y = rng.integers(0, 2, (20, 6, 7))
    result = assay.evaluate(network(onnx, ending, (1, 6, 7)), (x, y), task="pixels")
    wanted, decided = y.ravel(), (x > 0).ravel()
    assert figures(result)["pixel-accuracy"] == pytest.approx(metrics.accuracy_score(wanted, decided))
    assert by_class(result, "iou") == pytest.approx(list(metrics.jaccard_score(wanted, decided, average=None)))
    assert figures(result)["mean-dice"] == pytest.approx(metrics.f1_score(wanted, decided, average="macro"))


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("ending", ["Identity", "Softmax"])
def test_tokens(onnx, metrics, torchmetrics, seed, ending):
    """Sequences of different length, filled up."""
    torch, text = importlib.import_module("torch"), importlib.import_module("torchmetrics.text")
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 4, (30, 9))
    x = (rng.normal(size=(30, 9, 4)) + 2 * np.eye(4)[y]).astype(np.float32)
    y[np.arange(9) >= rng.integers(3, 10, 30)[:, None]] = -100
    result = assay.evaluate(network(onnx, ending, (9, 4)), (x, y), task="tokens")
    found, counted = figures(result), y >= 0
    wanted, decided = y[counted], x.argmax(-1)[counted]
    assert found["token-accuracy"] == pytest.approx(metrics.accuracy_score(wanted, decided))
    theirs = float(text.Perplexity(ignore_index=-100)(torch.from_numpy(np.log(softmax(x))), torch.from_numpy(y)))
    assert found["perplexity"] == pytest.approx(theirs, rel=1e-4)
    assert found["sequences-right"] == pytest.approx(((x.argmax(-1) == y) | ~counted).all(1).mean())
    for column, score in [("precision", metrics.precision_score), ("recall", metrics.recall_score), ("f1", metrics.f1_score)]:
        assert by_class(result, column) == pytest.approx(list(score(wanted, decided, average=None)))


def entities_of(tags):
    """(type, first, last) as the evaluation of CoNLL-2000 reads runs of B- and I-."""
    found, begin = [], None
    for place, tag in enumerate([*tags, "O"]):
        goes_on = begin is not None and tag == f"I-{tags[begin][2:]}"
        if begin is not None and not goes_on:
            found.append((tags[begin][2:], begin, place - 1))
            begin = None
        if tag != "O" and not goes_on:
            begin = place
    return set(found)


@pytest.mark.parametrize("seed", SEEDS)
def test_entities(onnx, seed):
    names = ["O", "B-PER", "I-PER", "B-LOC", "I-LOC"]
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 5, (40, 12))
    x = (rng.normal(size=(40, 12, 5)) + 2 * np.eye(5)[y]).astype(np.float32)
    found = figures(assay.evaluate(network(onnx, "Identity", (12, 5)), (x, y), task=f"tokens[names={'+'.join(names)}]"))
    sets = [[entities_of([names[c] for c in row]) for row in classes] for classes in (y, x.argmax(-1))]
    right = sum(len(a & b) for a, b in zip(*sets))
    true, said = (sum(map(len, one)) for one in sets)
    assert found["entity-precision"] == pytest.approx(right / said)
    assert found["entity-recall"] == pytest.approx(right / true)
    assert found["entity-f1"] == pytest.approx(2 * right / (said + true))


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("unknown", [False, True])
def test_labels(onnx, metrics, seed, unknown):
    rng = np.random.default_rng(seed)
    x = np.round(rng.normal(size=(150, 4)), 1).astype(np.float32)  # of which many are equal
    y = (rng.random((150, 4)) < sigmoid(x)).astype(np.int64)
    if unknown:
        y[rng.random(y.shape) < 0.2] = -1
    result = assay.evaluate(network(onnx, "Sigmoid", (4,)), (x, y), task="labels")
    found, known, decided = figures(result), y >= 0, x > 0
    scores = sigmoid(x)
    of_label = lambda score, given: [score(y[known[:, k], k], given[known[:, k], k]) for k in range(4)]
    for column, score, given in [
        ("precision", metrics.precision_score, decided),
        ("recall", metrics.recall_score, decided),
        ("f1", metrics.f1_score, decided),
        ("average-precision", metrics.average_precision_score, scores),
    ]:
        assert by_class(result, column) == pytest.approx(of_label(score, given))
    assert found["macro-f1"] == pytest.approx(np.mean(of_label(metrics.f1_score, decided)))
    assert found["micro-f1"] == pytest.approx(metrics.f1_score(y[known], decided[known]))
    assert found["label-accuracy"] == pytest.approx(metrics.accuracy_score(y[known], decided[known]))
    assert found["mean-average-precision"] == pytest.approx(np.mean(of_label(metrics.average_precision_score, scores)))
    assert found["exact-match"] == pytest.approx(((decided == y) | ~known).all(1)[known.any(1)].mean())


def overlap(a, b):
    """Of boxes left, top, width, height."""
    low, high = np.maximum(a[:2], b[:2]), np.minimum(a[:2] + a[2:], b[:2] + b[2:])
    inside = np.prod(np.maximum(high - low, 0))
    return inside / (a[2] * a[3] + b[2] * b[3] - inside)


def matches(truth, detections, least):
    """Of one class in one record: (right, detections that count); those with higher scores choose first."""
    taken, right, counted = set(), 0, 0
    for _, box in sorted(detections, key=lambda one: -one[0]):
        near = [(overlap(box, other), i) for i, (other, _) in enumerate(truth) if i not in taken and not truth[i][1]]
        best = max(near, default=(0, None))
        if best[0] >= least:
            taken.add(best[1])
            right, counted = right + 1, counted + 1
        elif not any(crowd and share_inside(box, other) >= least for other, crowd in truth):
            counted += 1
    return right, counted


def share_inside(box, crowd):
    low, high = np.maximum(box[:2], crowd[:2]), np.minimum(box[:2] + box[2:], crowd[:2] + crowd[2:])
    return np.prod(np.maximum(high - low, 0)) / (box[2] * box[3])


@pytest.mark.parametrize("seed", SEEDS)
def test_boxes_at_one_confidence(onnx, seed):
    rng = np.random.default_rng(seed)
    classes, boxes = 3, 18
    truth, labels, found, scores = random_detections(rng, 15, boxes, classes)
    scores = rng.random(scores.shape).astype(np.float32)
    net = split_network(onnx, (boxes, 4 + classes), [4, classes], ["b", "s"])
    result = assay.evaluate(
        net, (np.concatenate([found, scores], -1), labels),
        task="boxes[format=retinanet,outputs=b+s,boxes=xywh,nms=none,confidence=0.6,iou=0.5]",
    )  # fmt: skip
    right, said, true = np.zeros(classes), np.zeros(classes), np.zeros(classes)
    for r in range(15):
        for c in range(classes):
            there = [(b.astype(np.float64), crowd) for record, k, b, crowd in truth if record == r and k == c]
            shown = [(s, found[r, i].astype(np.float64)) for i, s in enumerate(scores[r, :, c]) if s >= 0.6]
            one = matches(there, shown, 0.5)
            right[c], said[c] = right[c] + one[0], said[c] + one[1]
            true[c] += sum(not crowd for _, crowd in there)
    measured = figures(result)
    assert measured["precision"] == pytest.approx(right.sum() / said.sum())
    assert measured["recall"] == pytest.approx(right.sum() / true.sum())
    assert measured["f1"] == pytest.approx(2 * right.sum() / (said.sum() + true.sum()))
    present = true > 0
    shown = [v for v, there in zip(by_class(result, "recall"), present) if there]
    assert shown == pytest.approx(list(right[present] / true[present]))


@pytest.mark.parametrize("seed", SEEDS)
def test_texts(onnx, torchmetrics, tmp_path, seed):
    text = importlib.import_module("torchmetrics.text")
    rng = np.random.default_rng(seed)
    symbols = list("abc d")
    draw = lambda: "a" + "".join(rng.choice(symbols, rng.integers(3, 12))) + "b"
    wanted = [draw() for _ in range(30)]
    read = [one if rng.random() < 0.3 else draw() for one in wanted]
    labels = np.full((30, 16), -1, np.int64)
    for r, one in enumerate(wanted):
        labels[r, : len(one)] = [ord(c) for c in one]
    alphabet = tmp_path / "alphabet.txt"
    alphabet.write_text("\n".join(symbols) + "\n", encoding="utf-8")
    scores = one_hot_steps(rng, read, symbols, 48)
    found = figures(assay.evaluate(network(onnx, "Identity", (48, 6)), (scores, labels), task=f"text[alphabet={alphabet}]"))
    assert found["character-error-rate"] == pytest.approx(float(text.CharErrorRate()(read, wanted)), abs=1e-6)
    assert found["word-error-rate"] == pytest.approx(float(text.WordErrorRate()(read, wanted)), abs=1e-6)
    assert found["exact-match"] == pytest.approx(np.mean([a == b for a, b in zip(read, wanted)]))


@pytest.mark.parametrize("seed", SEEDS)
def test_pairs_of_embeddings(onnx, metrics, seed):
    rng = np.random.default_rng(seed)
    classes = np.arange(60) % 4
    x = (rng.normal(size=(60, 6)) + 1.5 * rng.normal(size=(4, 6))[classes]).astype(np.float32)
    found = figures(assay.evaluate(network(onnx, "Identity", (6,)), assay.data(x, classes), task="embedding"))
    near = x.astype(np.float64) / np.linalg.norm(x, axis=1, keepdims=True)
    first, second = np.triu_indices(60, 1)
    likeness, same = (near[first] * near[second]).sum(1), classes[first] == classes[second]
    assert found["pair-roc-auc"] == pytest.approx(metrics.roc_auc_score(same, likeness), abs=1e-5)
    accepted, kept, _ = metrics.roc_curve(same, likeness, drop_intermediate=False)
    after = int(np.argmax(accepted >= 1 - kept))  # where the curves cross, on the straight line between two thresholds
    apart = (1 - kept - accepted)[after - 1 : after + 1]
    share = apart[0] / (apart[0] - apart[1])
    assert found["pair-equal-error-rate"] == pytest.approx(accepted[after - 1] + share * (accepted[after] - accepted[after - 1]), abs=1e-5)


def test_records_with_the_state_that_a_loop_has_reached(onnx, tmp_path):
    """A step of a recurrent network, [n, 4] and a state [1, n, 3] whose records lie along the second axis."""
    rng = np.random.default_rng(1)
    own, back, score = rng.normal(size=(4, 3)), rng.normal(size=(3, 3)), rng.normal(size=(3, 2))
    make, types = onnx.helper, onnx.TensorProto
    nodes = [
        make.make_node("Squeeze", ["state", "axis"], ["h"]), make.make_node("MatMul", ["input", "own"], ["a"], "own"),
        make.make_node("MatMul", ["h", "back"], ["b"], "back"), make.make_node("Add", ["a", "b"], ["c"]), make.make_node("Tanh", ["c"], ["d"]),
        make.make_node("MatMul", ["d", "score"], ["y"], "score"), make.make_node("Unsqueeze", ["d", "axis"], ["next"]),
    ]  # fmt: skip
    constants = {"own": own, "back": back, "score": score}
    value = lambda name, *shape: make.make_tensor_value_info(name, types.FLOAT, shape)
    graph = make.make_graph(
        nodes, "step", [value("input", "n", 4), value("state", 1, "n", 3)], [value("y", "n", 2), value("next", 1, "n", 3)],
        [onnx.numpy_helper.from_array(np.float32(array), name) for name, array in constants.items()]
        + [onnx.numpy_helper.from_array(np.array([0]), "axis")],
    )  # fmt: skip
    net = assay.load(make.make_model(graph, opset_imports=[make.make_opsetid("", 17)], ir_version=8).SerializeToString())
    streams = rng.normal(size=(3, 12, 4)).astype(np.float32)
    states, scores, state = [], [], np.zeros((3, 3))
    for step in range(12):
        states.append(state)
        state = np.tanh(streams[:, step] @ own + state @ back)
        scores.append(state @ score)
    labels = rng.integers(0, 2, 36)
    file = tmp_path / "steps.npz"
    np.savez(file, input=streams.transpose(1, 0, 2).reshape(36, 4), state=np.concatenate(states)[None].astype(np.float32), y=labels)
    data = assay.data(f"{file},inputs=input+state")
    assert np.asarray(net.predict(data)[0]) == pytest.approx(np.concatenate(scores), abs=1e-4)
    assert assay.evaluate(net, data).figures()["accuracy"] == (np.concatenate(scores).argmax(1) == labels).mean()


def shares_of_classes(metrics, measure, wanted, decided, classes):
    """Of classes that are wanted or decided somewhere, in order."""
    somewhere = [c for c in range(classes) if (wanted == c).any() or (decided == c).any()]
    return list(measure(wanted, decided, labels=somewhere, average=None, zero_division=0))


@pytest.mark.parametrize("seed", range(8))
def test_few_pixels(onnx, metrics, seed):
    """One picture or three, of classes that are nowhere, with equal scores, and pictures of which nothing counts."""
    rng = np.random.default_rng(seed)
    records, classes = (1, 3)[seed % 2], 6
    x = np.round(rng.normal(size=(records, classes, 2, 3))).astype(np.float32)
    x[:, 4:] = -9  # never decided
    y = rng.integers(0, 3 + seed % 3, (records, 2, 3))
    y[rng.random(y.shape) < 0.3] = 255
    y[1:2] = 255
    y[0, 0, 0] = 0
    result = assay.evaluate(network(onnx, "Identity", (classes, 2, 3)), (x, y), task="pixels")
    found, counted = figures(result), y != 255
    wanted, decided = y[counted], x.argmax(1)[counted]
    assert found["pixel-accuracy"] == pytest.approx(metrics.accuracy_score(wanted, decided))
    for column, measure in [("iou", metrics.jaccard_score), ("dice", metrics.f1_score)]:
        shares = shares_of_classes(metrics, measure, wanted, decided, classes)
        assert by_class(result, column) == pytest.approx(shares)
        assert found[f"mean-{column}"] == pytest.approx(np.mean(shares))


@pytest.mark.parametrize("seed", range(8))
def test_few_labels(onnx, metrics, seed):
    """Labels that no record has, that nothing is known of, or that the network never finds."""
    rng = np.random.default_rng(seed)
    records, labels = (1, 2, 6)[seed % 3], 5
    x = np.round(rng.normal(size=(records, labels))).astype(np.float32) + 0.25
    y = rng.integers(0, 2, (records, labels))
    y[:, 0], y[:, 1] = 0, -1
    x[:, 2] = -3
    y[0, 3] = 1
    result = assay.evaluate(network(onnx, "Sigmoid", (labels,)), (x, y), task="labels")
    found, known, decided = figures(result), y >= 0, x > 0
    assert found["micro-f1"] == pytest.approx(metrics.f1_score(y[known], decided[known], zero_division=0))
    assert found["label-accuracy"] == pytest.approx(metrics.accuracy_score(y[known], decided[known]))
    f1, precisions = [], []
    for k in range(labels):
        wanted, said, scores = y[known[:, k], k], decided[known[:, k], k], sigmoid(x)[known[:, k], k]
        if wanted.any() or said.any():
            f1.append(metrics.f1_score(wanted, said, zero_division=0))
        if wanted.any():
            precisions.append(metrics.average_precision_score(wanted, scores))
    assert found["macro-f1"] == pytest.approx(np.mean(f1))
    assert found["mean-average-precision"] == pytest.approx(np.mean(precisions))
    assert [v for v in by_class(result, "average-precision") if v is not None] == pytest.approx(precisions)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("seed", range(8))
def test_few_boxes(onnx, seed):
    """One picture or two, of which some have no box, crowds alone or no detection that is like any of them."""
    rng = np.random.default_rng(seed)
    records, classes, boxes = 1 + seed % 2, 3, 6
    truth, labels = [], np.full((records, 4, 5), -1, np.float32)
    found = random_boxes(rng, records, (boxes,))
    rows = [(0, 0, 0), *((int(rng.integers(0, records)), 1 + int(rng.random() < 0.5), int(rng.random() < 0.5)) for _ in range(seed % 3))]
    taken = np.zeros(records, int)
    for r, c, crowd in rows:
        box = random_boxes(rng, 1)[0]
        truth.append((r, c, box.astype(float), crowd))
        labels[r, taken[r]] = [-2 - c if crowd else c, box[0], box[1], box[0] + box[2], box[1] + box[3]]
        taken[r] += 1
        if seed != 3:
            found[r, taken[r]] = np.maximum(box + rng.normal(0, 1, 4), 1)
    scores = rng.integers(1, 4, (records, boxes, classes)).astype(np.float32) / 4
    said = [
        (r, c, found[r, i].astype(float), float(scores[r, i, c])) for r in range(records) for i in range(boxes) for c in range(classes)
    ]
    wanted = coco_figures(truth, said, classes)
    net = split_network(onnx, (boxes, 4 + classes), [4, classes], ["b", "s"])
    task = "boxes[format=retinanet,outputs=b+s,boxes=xywh,nms=none]"
    result = assay.evaluate(net, (np.concatenate([found, scores], -1), labels), task=task)
    measured = figures(result)
    assert measured["mean-average-precision"] == pytest.approx(wanted[0], abs=1e-6)
    assert measured["mean-average-precision-50"] == pytest.approx(wanted[1], abs=1e-6)
    present = [v for v in by_class(result, "average-precision") if v is not None]
    assert present == pytest.approx(list(wanted[2]), abs=1e-6)
    nothing = assay.evaluate(net, (np.concatenate([found, 0 * scores], -1), labels), task=task)
    assert figures(nothing)["mean-average-precision"] == figures(nothing)["recall"] == 0
