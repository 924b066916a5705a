"""Networks that decide more than once a record, against the packages that people measure them with."""

import numpy as np
import pytest

import assay


@pytest.fixture
def onnx():
    return pytest.importorskip("onnx", reason="SKIPPED: the package onnx is not there")


@pytest.fixture
def metrics():
    return pytest.importorskip("sklearn.metrics", reason="SKIPPED: the package scikit-learn is not there")


def network(onnx, operator, shape):
    """A network of one operator that takes records of this shape."""
    make = onnx.helper
    kind = onnx.TensorProto.FLOAT
    graph = make.make_graph(
        [make.make_node(operator, ["x"], ["y"])],
        "net",
        [make.make_tensor_value_info("x", kind, ["n", *shape])],
        [make.make_tensor_value_info("y", kind, ["n", *shape])],
    )
    return assay.load(make.make_model(graph, opset_imports=[make.make_opsetid("", 17)], ir_version=8).SerializeToString())


def figures(result):
    return {row["figure"]: row["value"] for row in result.table("figures")}


def by_class(result, column):
    return [row[column] for row in result.table("classes")]


def test_segmentation_is_measured_as_scikit_learn_does(onnx, metrics):
    rng = np.random.default_rng(3)
    x = rng.normal(size=(30, 4, 6, 5)).astype(np.float32)
    y = rng.integers(0, 4, (30, 6, 5))
    result = assay.evaluate(network(onnx, "Identity", (4, 6, 5)), (x, y.astype(np.float32)), task="pixels")
    wanted, decided = y.ravel(), x.argmax(1).ravel()
    found = figures(result)
    assert found["pixel-accuracy"] == pytest.approx(metrics.accuracy_score(wanted, decided))
    assert found["mean-iou"] == pytest.approx(metrics.jaccard_score(wanted, decided, average="macro"))
    assert found["mean-dice"] == pytest.approx(metrics.f1_score(wanted, decided, average="macro"))
    assert by_class(result, "iou") == pytest.approx(list(metrics.jaccard_score(wanted, decided, average=None)))


def test_labels_are_measured_as_scikit_learn_does(onnx, metrics):
    rng = np.random.default_rng(4)
    x = rng.normal(size=(200, 5)).astype(np.float32)
    x[:40] = x[40:80]  # equal scores
    y = (rng.random((200, 5)) < 0.3).astype(np.float32)
    result = assay.evaluate(network(onnx, "Sigmoid", (5,)), (x, y))
    assert result.facts["task"].startswith("labels: 5 labels")
    decided = x > 0
    found = figures(result)
    assert found["exact-match"] == pytest.approx(metrics.accuracy_score(y, decided))
    assert found["micro-f1"] == pytest.approx(metrics.f1_score(y, decided, average="micro"))
    assert found["macro-f1"] == pytest.approx(metrics.f1_score(y, decided, average="macro"))
    assert found["label-accuracy"] == pytest.approx(1 - metrics.hamming_loss(y, decided))
    scores = 1 / (1 + np.exp(-x))
    expected = [metrics.average_precision_score(y[:, k], scores[:, k]) for k in range(5)]
    assert by_class(result, "average-precision") == pytest.approx(expected)
    assert found["mean-average-precision"] == pytest.approx(np.mean(expected))


def test_tokens_are_measured_as_a_plain_writing_says(onnx):
    rng = np.random.default_rng(5)
    x = rng.normal(size=(20, 9, 4)).astype(np.float32)
    y = rng.integers(0, 4, (20, 9))
    y[:, 6:] = -100
    result = assay.evaluate(network(onnx, "Identity", (9, 4)), (x, y.astype(np.float32)))
    counted = y >= 0
    log_shares = x - np.log(np.exp(x.astype(np.float64)).sum(-1, keepdims=True))
    surprise = -np.take_along_axis(log_shares, np.maximum(y, 0)[..., None], -1)[..., 0]
    found = figures(result)
    assert found["token-accuracy"] == pytest.approx((x.argmax(-1) == y)[counted].mean())
    assert found["perplexity"] == pytest.approx(np.exp(surprise[counted].mean()))
    assert result.facts["uncounted"] == 60


def test_entities_are_those_of_seqeval(onnx):
    seqeval = pytest.importorskip("seqeval.metrics", reason="SKIPPED: the package seqeval is not there")
    names = ["O", "B-PER", "I-PER", "B-LOC", "I-LOC"]
    rng = np.random.default_rng(6)
    y = rng.integers(0, 5, (60, 12))
    x = rng.normal(size=(60, 12, 5)).astype(np.float32)
    x += 2 * (y[..., None] == np.arange(5))
    result = assay.evaluate(
        network(onnx, "Identity", (12, 5)), (x, y.astype(np.float32)), task=f"tokens[names={'+'.join(names)}]"
    )
    spelt = [[[names[c] for c in row] for row in classes] for classes in (y, x.argmax(-1))]
    found = figures(result)
    assert found["entity-f1"] == pytest.approx(seqeval.f1_score(*spelt))
    assert found["entity-precision"] == pytest.approx(seqeval.precision_score(*spelt))
    assert found["entity-recall"] == pytest.approx(seqeval.recall_score(*spelt))


def test_labels_of_integers_are_those_of_floats(onnx):
    rng = np.random.default_rng(7)
    x = rng.normal(size=(12, 3, 4, 4)).astype(np.float32)
    y = rng.integers(0, 3, (12, 4, 4))
    net = network(onnx, "Identity", (3, 4, 4))
    assert figures(assay.evaluate(net, (x, y))) == figures(assay.evaluate(net, (x, y.astype(np.float32))))
