"""Networks whose records change each other's results: figures are of each record alone unless batches are asked for."""

import importlib

import numpy as np
import pytest

import assay
from assay.texts._network import TextNetwork


@pytest.fixture
def onnx():
    package = pytest.importorskip("onnx", reason="SKIPPED: the package onnx is not there")
    importlib.import_module("onnx.numpy_helper")
    return package


MIXING = {
    "mean": lambda node: [node("ReduceMean", ["h"], ["m"], axes=[0], keepdims=1), node("Mul", ["m", "five"], ["p"]), node("Sub", ["h", "p"], ["z"])],
    "softmax": lambda node: [node("Softmax", ["h"], ["s"], axis=0), node("Add", ["h", "s"], ["z"])],
    "quantised": lambda node: [node("DynamicQuantizeLinear", ["h"], ["q", "scale", "zero"]), node("DequantizeLinear", ["q", "scale", "zero"], ["z"])],
}


def mixing(onnx, how):
    make, types = onnx.helper, onnx.TensorProto
    rng = np.random.default_rng(1)
    constant = lambda values, name: onnx.numpy_helper.from_array(np.asarray(values, np.float32), name)
    nodes = [make.make_node("MatMul", ["x", "w1"], ["g"], "fc1"), make.make_node("Relu", ["g"], ["h"]), *MIXING[how](make.make_node), make.make_node("MatMul", ["z", "w2"], ["y"], "fc2")]
    graph = make.make_graph(
        nodes, "mixing", [make.make_tensor_value_info("x", types.FLOAT, ["n", 5])], [make.make_tensor_value_info("y", types.FLOAT, ["n", 3])],
        [constant(rng.normal(size=(5, 8)), "w1"), constant(rng.normal(size=(8, 3)), "w2"), constant(5.0, "five")],
    )  # fmt: skip
    return assay.load(make.make_model(graph, opset_imports=[make.make_opsetid("", 17)], ir_version=8).SerializeToString())


@pytest.mark.parametrize("how", MIXING)
def test_figures_are_of_each_record_alone(onnx, how, tmp_path):
    net = mixing(onnx, how)
    x = np.random.default_rng(2).normal(size=(60, 5)).astype(np.float32)
    alone = np.concatenate([np.asarray(net(x[i : i + 1])) for i in range(len(x))]).argmax(1)
    data = assay.data(x, alone, range=(-4, 4))
    result = assay.evaluate(net, data)
    assert result.figures()["accuracy"] == 1
    assert "records-interact" in [warning["id"] for warning in result.document["warnings"]]
    together = assay.evaluate(net, data, batch=60)
    net.save(tmp_path / "net.onnx")
    outputs = np.asarray(assay.load(tmp_path / "net.onnx", batch=60)(x))
    assert together.figures()["accuracy"] == pytest.approx((outputs.argmax(1) == alone).mean())
    calls = [
        (assay.importance, {}),
        (assay.cover, {"train": data, "test": data, "criterion": "kmnc"}),
        (assay.select, {"by": "deepgini"}),
        (assay.mutate, {"count": 2, "quality": 1}),
        (assay.inspect, {"hypotheses": "label"}),
        (assay.reliability, {}),
        (assay.prune, {"units": ["layer=fc1,units=3"], "mask": True}),
    ]
    for call, options in calls:
        given = (net,) if "test" in options else (net, data)
        assert call(*given, **options).document["tables"] == call(*given, batch=1, **options).document["tables"], call.__name__


def test_equal_records_do_not_hide_what_others_do(onnx):
    x = np.random.default_rng(2).normal(size=(20, 5)).astype(np.float32)
    x[1] = x[0]
    result = assay.evaluate(mixing(onnx, "mean"), assay.data(x, np.arange(20) % 3))
    assert "records-interact" in [warning["id"] for warning in result.document["warnings"]]


@pytest.fixture
def mixed(onnx):
    """A network that takes off the mean over the batch, records, and the class that it names of each alone."""
    net = mixing(onnx, "mean")
    x = np.random.default_rng(2).normal(size=(60, 5)).astype(np.float32)
    alone = np.concatenate([np.asarray(net(x[i : i + 1])) for i in range(len(x))])
    return net, x, alone


def test_noise_floors_are_of_each_record_alone(mixed):
    net, x, alone = mixed
    floors = [
        assay.mutate(net, assay.data(x, alone.argmax(1)), count=2, divergence="kl", **batch).document for batch in ({}, {"batch": 1}, {"batch": 60})
    ]
    said = [[str(fact) for fact in document["facts"].items() if "nats" in str(fact)] for document in floors]
    assert said[0] and said[0] == said[1] != said[2]


def test_embeddings_are_compared_with_those_of_each_record_alone(mixed):
    net, x, alone = mixed
    classes = np.arange(60) % 2
    directions = alone / np.linalg.norm(alone, axis=1, keepdims=True)
    centres = np.stack([directions[classes == c].mean(0) for c in (0, 1)])
    right = (directions @ (centres / np.linalg.norm(centres, axis=1, keepdims=True)).T).argmax(1) == classes
    assert assay.importance(net, assay.data(x, classes), task="embedding").document["facts"]["used"] == right.sum()


def test_what_attacks_make_of_records_is_judged_alone(mixed):
    net, x, alone = mixed
    found = assay.monitor(net, assay.data(x, alone.argmax(1), range=(-4, 4)), attack="fgsm[eps=0.5]")
    assert [row["count"] for row in found.table("detection")] == [30, 30]  # all are right, and half of them calibrate


def test_units_are_shown_of_each_record_alone(mixed):
    net, x, alone = mixed
    found = assay.inspect(net, assay.data(x, alone.argmax(1)), hypotheses="label", units="layer=fc2")
    shown = {row["unit"]: row["greatest"] for row in reversed(found.table("close_ups"))}
    assert shown == pytest.approx({unit: alone[:, unit].max() for unit in shown}, rel=1e-5)


def test_methods_of_networks_run_records_alone(mixed, tmp_path):
    net, x, alone = mixed
    net.predict(np.zeros_like(x))  # equal records do not tell
    with pytest.warns(assay.AssayWarning, match="records run one at a time"):
        outputs, _ = net.predict(x)
    assert np.asarray(outputs) == pytest.approx(alone, abs=1e-6)
    for asked in (
        lambda rows: net.activations(rows, "fc2"),
        lambda rows: net.gradients(rows, "input", target=1),
        lambda rows: net.relevance(rows, "fc1", target=1),
    ):
        assert asked(x[:4]) == pytest.approx(np.concatenate([asked(x[i : i + 1]) for i in range(4)]), rel=1e-4, abs=1e-5)
    net.save(tmp_path / "net.onnx")
    together = assay.load(tmp_path / "net.onnx", batch=len(x)).predict(x)[0]
    assert np.abs(together - alone).max() > 0.1
    shown = assay.evaluate(tmp_path / "net.onnx", assay.data(x, alone.argmax(1)), batch=len(x)).arrays["outputs"]
    assert np.asarray(shown) == pytest.approx(np.asarray(together), abs=1e-6)


def test_texts_are_judged_alone(onnx):
    numbers = lambda texts: {"x": np.array([[float(ord(letter)) / 100 for letter in text] for text in texts], np.float32)}
    asked = TextNetwork(mixing(onnx, "mean"), numbers)
    texts = ["hello", "world", "later", "never"]
    together, _ = asked.scores(texts)
    alone = np.concatenate([asked.scores([text])[0] for text in texts])
    assert together == pytest.approx(alone, abs=1e-6)
