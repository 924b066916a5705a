"""Estimators of assay.sklearn: scikit-learn's own checks, and what they give beside the functions they stand for."""

import pickle

import numpy as np
import pytest

import assay

pytest.importorskip("sklearn", minversion="1.6", reason="SKIPPED: scikit-learn 1.6 or newer is not installed (PyPI)")
onnx = pytest.importorskip("onnx", reason="SKIPPED: onnx is not installed (PyPI)")

from sklearn.base import clone  # noqa: E402
from sklearn.linear_model import LogisticRegression  # noqa: E402
from sklearn.model_selection import cross_val_score  # noqa: E402
from sklearn.pipeline import make_pipeline  # noqa: E402
from sklearn.utils.estimator_checks import estimator_checks_generator  # noqa: E402

from assay.sklearn import Activations, Coverage, NetworkClassifier  # noqa: E402


def least_squares(x, y, hidden=3):
    """A network for tables of any width: scores by least squares on the inputs and on tanh of random features."""
    count = 2 if y is None else int(y.max()) + 1
    goals = np.zeros((len(x), count)) if y is None else np.eye(count)[y.astype(int)]
    low, high = x.min(0), x.max(0)
    scale = np.where(high > low, 2 / np.maximum(high - low, 1e-6), 0)
    first = np.random.default_rng(1).standard_normal((x.shape[1], 40 * hidden)) * scale[:, None]
    shift = np.random.default_rng(2).uniform(-2, 2, 40 * hidden) - (low + high) / 2 @ first
    features = np.hstack([np.tanh(x @ first + shift), np.ones((len(x), 1))])
    last = np.linalg.lstsq(features.T @ features + 1e-3 * np.eye(features.shape[1]), features.T @ goals * 8, rcond=None)[0]
    tensors = {"w": first, "s": shift, "v": last[:-1], "b": last[-1]}
    helper = onnx.helper
    graph = helper.make_graph(
        [helper.make_node("Gemm", ["x", "w", "s"], ["h"], name="hidden"), helper.make_node("Tanh", ["h"], ["t"]), helper.make_node("Gemm", ["t", "v", "b"], ["scores"])],
        "table",
        [helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, [None, x.shape[1]])],
        [helper.make_tensor_value_info("scores", onnx.TensorProto.FLOAT, [None, count])],
        [onnx.numpy_helper.from_array(value.astype(np.float32), name) for name, value in tensors.items()],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8).SerializeToString()


ESTIMATORS = [NetworkClassifier(least_squares), Activations(least_squares, "hidden"), Coverage(least_squares, "nc[threshold=0.5]")]
CHECKS = [(estimator, check) for estimator in ESTIMATORS for _, check in estimator_checks_generator(estimator)]


def name_of(value):
    return getattr(getattr(value, "func", value), "__name__", type(value).__name__)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("estimator", "check"), CHECKS, ids=name_of)
def test_scikit_learns_own_checks(estimator, check):
    check(clone(estimator))


@pytest.fixture
def scores(model, arrays):
    return model.predict(arrays[0])[0].astype(np.float64)


def test_a_network_that_is_there_classifies(model, arrays, scores):
    x, y = arrays
    classifier = NetworkClassifier(model).fit(x[:5], y[:5])
    powers = np.exp(scores - scores.max(1, keepdims=True))
    assert classifier.predict_proba(x) == pytest.approx(powers / powers.sum(1, keepdims=True), abs=1e-6)
    assert classifier.score(x, y) == (scores.argmax(1) == y).mean()
    names = np.array(["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"])
    named = NetworkClassifier(model, classes=names).fit(x[:5], names[y[:5]])
    assert (named.predict(x) == names[scores.argmax(1)]).all() and list(named.classes_) == sorted(names)
    assert named.score(x, names[y]) == classifier.score(x, y)
    again = pickle.loads(pickle.dumps(named))
    assert again.model_.hash == again.network.hash == model.hash and (again.predict(x) == named.predict(x)).all()


def test_classes_that_do_not_fit_are_refused(model, arrays):
    x, y = arrays
    with pytest.raises(ValueError, match="the network has 10 classes, 2 are named"):
        NetworkClassifier(model, classes=["a", "b"]).fit(x[:2], ["a", "b"])
    with pytest.raises(ValueError, match="label np.int64\\(12\\)|label 12"):
        NetworkClassifier(model).fit(x[:2], [1, 12])


def test_a_function_that_trains_is_cross_validated():
    rng = np.random.default_rng(3)
    y = np.arange(90) % 3
    x = rng.standard_normal((90, 4)) + np.eye(3, 4)[y] * 5
    found = cross_val_score(NetworkClassifier(least_squares), x, np.array(["a", "b", "c"])[y], cv=3)
    assert found.shape == (3,) and found.min() > 0.8


def test_activations_are_features_of_a_probe(model, arrays):
    x, y = arrays
    layer = model.layers()[0].name
    features = Activations(model, layer)
    probe = make_pipeline(features, LogisticRegression(max_iter=500)).fit(x, y)
    values = model.activations(x, layer, reduction="mean")
    assert (probe[0].transform(x) == values).all()
    assert list(probe[0].get_feature_names_out()[:2]) == [f"{layer}/0", f"{layer}/1"]
    assert probe.score(x, y) == LogisticRegression(max_iter=500).fit(values, y).score(values, y)
    first = model.layers()[0]
    every = Activations(model, first.name, reduction="every-position").fit(x)
    assert every.transform(x[:3]).shape == (3, np.prod(first.shape))


def test_coverage_is_a_score(model, arrays):
    x, y = arrays
    train = x[:30]
    for criterion in ("nc", "kmnc[sections=10]", "dsc[buckets=20]"):
        coverage = Coverage(model, criterion).fit(train)
        expected = assay.cover(model, train, x[30:], criterion=criterion)
        assert coverage.score(x[30:]) == expected.coverage(criterion)
        assert pickle.loads(pickle.dumps(coverage)).score(x[30:]) == coverage.score(x[30:])
    assert coverage.result(x[30:], y[30:]).facts["records"] == 30


def test_what_follows_a_softmax_and_keeps_numbers_leaves_probabilities(work, arrays, tmp_path):
    onnx = pytest.importorskip("onnx", reason="SKIPPED: the package onnx is not there")
    network = onnx.load(work / "net.onnx")
    scores = network.graph.output[0].name
    network.graph.node.append(onnx.helper.make_node("Softmax", [scores], ["shares"], axis=-1))
    network.graph.node.append(onnx.helper.make_node("Identity", ["shares"], ["same"]))
    network.graph.output[0].name = "same"
    onnx.save(network, tmp_path / "same.onnx")
    x, y = arrays
    classifier = NetworkClassifier(tmp_path / "same.onnx").fit(x, y)
    np.testing.assert_allclose(classifier.predict_proba(x), assay.load(tmp_path / "same.onnx").predict(x)[0], atol=1e-6)


def test_pictures_of_8_bits_are_what_they_are_elsewhere(work, arrays):
    x = (arrays[0] * 255).astype(np.uint8)
    model = assay.load(work / "net.onnx")
    named = model.predict(x)[0].argmax(1)
    assert NetworkClassifier(work / "net.onnx").fit(x, named).score(x, named) == 1
    layer = model.layers()[0].name
    np.testing.assert_allclose(Activations(work / "net.onnx", layer).fit(x).transform(x), model.activations(x, layer, reduction="mean"), rtol=1e-6)


def test_networks_of_many_decisions_are_no_classifiers(work, arrays):
    layer = next(layer for layer in assay.load(work / "net.onnx").layers() if "Conv" in layer.op).name
    pictures = assay.load(work / "net.onnx").with_outputs([layer])
    with pytest.raises(assay.UsageError, match="not one number for each class"):
        NetworkClassifier(pictures).fit(*arrays)
