"""Outputs, metrics, clusters and probes beside onnxruntime, scikit-learn and torchmetrics."""

import numpy as np
import pytest

import assay
from conftest import timed
from judge import classes

torch = pytest.importorskip("torch")


def test_onnxruntime_computes_the_same_outputs(trained, digits, row):
    onnxruntime = pytest.importorskip("onnxruntime", reason="SKIPPED: onnxruntime is not installed (PyPI)")
    session = onnxruntime.InferenceSession(str(trained[2]), providers=["CPUExecutionProvider"])
    x = np.ascontiguousarray(np.concatenate([digits[0]] * 10))
    theirs, there = timed(lambda: session.run(None, {session.get_inputs()[0].name: x})[0])
    (ours, predicted), here = timed(lambda: trained[1].predict(x))
    assert np.abs(ours - theirs).max() < 1e-4 and (predicted == theirs.argmax(1)).all()
    row("onnxruntime", "outputs of 2,000 records", f"to {np.abs(ours - theirs).max():.0e}, all classes", (there, here))


@pytest.fixture(scope="module")
def said(trained, digits):
    found = assay.evaluate(trained[1], digits)
    scores = found.arrays["outputs"].astype(np.float64)
    probabilities = np.exp(scores - scores.max(1, keepdims=True))
    return found, probabilities / probabilities.sum(1, keepdims=True)


def test_scikit_learn_has_the_same_metrics(said, trained, digits, row):
    metrics = pytest.importorskip("sklearn.metrics", reason="SKIPPED: scikit-learn is not installed (PyPI)")
    found, probabilities = said
    y, predicted = digits[1], classes(trained[2], digits[0])
    assert found.test_accuracy == pytest.approx(metrics.accuracy_score(y, predicted), abs=1e-12)
    assert found.negative_log_likelihood == pytest.approx(metrics.log_loss(y, probabilities, labels=range(10)), rel=1e-5)
    assert found.brier == pytest.approx(((probabilities - np.eye(10)[y]) ** 2).sum(1).mean(), rel=1e-5)
    matrix = metrics.confusion_matrix(y, predicted, labels=range(10))
    for line in found.table("classes"):
        assert line["correct"] == matrix[int(line["class"]), int(line["class"])]
    for line in found.table("confusions"):
        assert line["records"] == matrix[int(line["expected"]), int(line["predicted"])]
    row("scikit-learn", "accuracy, log loss, Brier score, confusions of `evaluate`", "exactly, losses to 1e-5")


def test_torchmetrics_has_the_same_calibration(said, digits, row):
    torchmetrics = pytest.importorskip("torchmetrics.classification", reason="SKIPPED: torchmetrics is not installed (PyPI)")
    found, probabilities = said
    measure = torchmetrics.MulticlassCalibrationError(num_classes=10, n_bins=15, norm="l1")
    theirs = float(measure(torch.from_numpy(probabilities), torch.from_numpy(digits[1])))
    accuracy = float(torchmetrics.MulticlassAccuracy(num_classes=10, average="micro")(torch.from_numpy(probabilities), torch.from_numpy(digits[1])))
    assert found.test_accuracy == pytest.approx(accuracy, abs=1e-6)
    assert found.calibration_error == pytest.approx(theirs, abs=1e-5)
    row("torchmetrics", "accuracy and calibration error (15 bins)", f"to {abs(found.calibration_error - theirs):.0e}")


def test_scikit_learn_finds_no_better_clusters(trained, digits, row):
    cluster = pytest.importorskip("sklearn.cluster", reason="SKIPPED: scikit-learn is not installed (PyPI)")
    metrics = pytest.importorskip("sklearn.metrics")
    net, model, _ = trained
    found = assay.cover(model, digits, digits, criterion="idc[m=4]")
    compared = 0
    for line in found.table("clusters"):
        values = model.activations(digits[0], line["layer"], reduction="mean")[:, line["neuron"]].astype(np.float64)[:, None]
        count = len(line["centroids"].split("("))-1
        theirs = cluster.KMeans(count, n_init=10, random_state=1).fit(values)
        assert line["silhouette"] >= metrics.silhouette_score(values, theirs.labels_) - 5e-3
        compared += 1
    assert compared == 4
    row("scikit-learn", "clusters of 4 neurons (`idc`), exact k-means beside ten starts of `KMeans`", "silhouettes as good or better")


def test_scikit_learn_has_the_same_correlations_and_probes(trained, digits, row):
    feature = pytest.importorskip("sklearn.feature_selection", reason="SKIPPED: scikit-learn is not installed (PyPI)")
    metrics = pytest.importorskip("sklearn.metrics")
    net, model, _ = trained
    layer = model.layers()[0].name
    found = assay.inspect(model, digits, hypotheses="label", measure=["pearson", "auc"], units=f"layer={layer}")
    values = model.activations(digits[0], layer, reduction="mean")
    rows = [line for line in found.table("scores") if line["hypothesis"] == "label:3" and line["unit"] is not None]
    assert {line["measure"] for line in rows} == {"pearson", "auc"}
    is_three = digits[1] == 3
    correlations = feature.r_regression(values, is_three)
    for line in rows:
        unit = line["unit"]
        theirs = correlations[unit] if line["measure"] == "pearson" else metrics.roc_auc_score(is_three, values[:, unit])
        assert line["score"] == pytest.approx(theirs, abs=1e-5 if line["measure"] == "pearson" else 5e-3)
    row("scikit-learn", "`pearson` and `auc` of units (`inspect`)", "to 1e-5; `auc`, which counts in 64 bins, to 0.005")
