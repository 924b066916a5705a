"""Support vectors of ai.onnx.ml: ONNX Runtime says what they give, scikit-learn how they are written."""

import numpy as np
import pytest

import assay
from conftest import run_program

onnx = pytest.importorskip("onnx", reason="SKIPPED: onnx is not installed (PyPI)")
onnxruntime = pytest.importorskip("onnxruntime", reason="SKIPPED: onnxruntime is not installed (PyPI)")

make, types = onnx.helper, onnx.TensorProto
KERNELS = ["LINEAR", "POLY", "RBF", "SIGMOID"]
COLUMNS, PARAMETERS = 4, [0.4, 0.3, 3.0]


def model_of(node, outputs):
    """Bytes of a network of one node; outputs are names, element types and shapes."""
    graph = make.make_graph(
        [node],
        "vectors",
        [make.make_tensor_value_info("x", types.FLOAT, ["n", COLUMNS])],
        [make.make_tensor_value_info(name, kind, ["n", *shape]) for name, kind, shape in outputs],
    )
    opsets = [make.make_opsetid("", 17), make.make_opsetid("ai.onnx.ml", 1)]
    return make.make_model(graph, opset_imports=opsets, ir_version=8).SerializeToString()


def outputs_of(model, x):
    return onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"]).run(None, {"x": x})


def numbers(rng, *shape):
    return [float(v) for v in rng.normal(size=shape).ravel()]


def records(seed=9, count=60):
    return np.random.default_rng(seed).normal(size=(count, COLUMNS)).astype(np.float32)


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("vectors", [0, 5])
@pytest.mark.parametrize("one_class", [0, 1])
def test_regressors_are_those_of_onnx_runtime(kernel, vectors, one_class):
    """Without vectors the coefficients are those of the columns."""
    rng = np.random.default_rng(vectors)
    node = make.make_node(
        "SVMRegressor", ["x"], ["y"], domain="ai.onnx.ml", kernel_type=kernel, kernel_params=PARAMETERS, rho=[0.1],
        n_supports=vectors, one_class=one_class, coefficients=numbers(rng, vectors or COLUMNS),
        **({"support_vectors": numbers(rng, vectors, COLUMNS)} if vectors else {}),
    )  # fmt: skip
    model, x = model_of(node, [("y", types.FLOAT, [1])]), records()
    assert assay.load(model)(x) == pytest.approx(outputs_of(model, x)[0], rel=1e-4, abs=1e-4)


def classifier(rng, classes, kernel="RBF", transform="NONE", shares=False, texts=False):
    per_class = [int(v) for v in rng.integers(1, 5, classes)]
    pairs = classes * (classes - 1) // 2
    labels = {"classlabels_strings": [f"c{c}" for c in range(classes)]} if texts else {"classlabels_ints": [3 * c + 2 for c in range(classes)]}
    if shares:
        labels |= {"prob_a": [-1.3] * pairs, "prob_b": [0.2] * pairs}
    node = make.make_node(
        "SVMClassifier", ["x"], ["label", "scores"], domain="ai.onnx.ml", kernel_type=kernel, kernel_params=PARAMETERS,
        vectors_per_class=per_class, support_vectors=numbers(rng, sum(per_class), COLUMNS), post_transform=transform,
        coefficients=numbers(rng, classes - 1, sum(per_class)), rho=numbers(rng, pairs), **labels,
    )  # fmt: skip
    width = 2 if classes == 2 else classes if shares else pairs
    return model_of(node, [("label", types.STRING if texts else types.INT64, []), ("scores", types.FLOAT, [width])])


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("classes", [2, 3, 4])
@pytest.mark.parametrize("transform", ["NONE", "LOGISTIC", "SOFTMAX"])
def test_pairs_of_classes_are_those_of_onnx_runtime(tmp_path, kernel, classes, transform):
    """Classes, which do not decide, are looked at in the network as it is written."""
    model, x = classifier(np.random.default_rng(classes), classes, kernel, transform), records()
    label, scores = outputs_of(model, x)
    assert assay.load(model)(x) == pytest.approx(scores, rel=1e-4, abs=1e-4)
    (tmp_path / "given.onnx").write_bytes(model)
    run_program(tmp_path, "model", "given.onnx", "--write", "written.onnx")
    found, again = outputs_of((tmp_path / "written.onnx").read_bytes(), x)
    assert (found == label).all() and again == pytest.approx(scores, rel=1e-4, abs=1e-4)


@pytest.mark.parametrize("transform", ["NONE", "LOGISTIC", "SOFTMAX"])
def test_probabilities_are_those_of_onnx_runtime(transform):
    """Which iterates until it is near enough."""
    model, x = classifier(np.random.default_rng(4), 2, transform=transform, shares=True), records()
    assert assay.load(model)(x) == pytest.approx(outputs_of(model, x)[1], abs=0.005)


@pytest.mark.parametrize("away", [30, 3000])
def test_columns_far_from_0_are_those_of_onnx_runtime(away):
    """Whose squares are great beside their differences."""
    rng = np.random.default_rng(3)
    node = make.make_node(
        "SVMRegressor", ["x"], ["y"], domain="ai.onnx.ml", kernel_type="RBF", kernel_params=PARAMETERS, rho=[0.1], n_supports=5,
        coefficients=numbers(rng, 5), support_vectors=[away + v for v in numbers(rng, 5, COLUMNS)],
    )  # fmt: skip
    model, x = model_of(node, [("y", types.FLOAT, [1])]), away + records()
    assert assay.load(model)(x) == pytest.approx(outputs_of(model, x)[0], rel=1e-4, abs=1e-4)


def test_classes_that_are_texts_are_left_out():
    model, x = classifier(np.random.default_rng(4), 3, texts=True), records()
    assert assay.load(model)(x) == pytest.approx(outputs_of(model, x)[1], abs=1e-4)


@pytest.mark.parametrize("transform", ["NONE", "LOGISTIC"])
@pytest.mark.parametrize("classes", [2, 3])
def test_classifiers_without_vectors_are_those_of_onnx_runtime(classes, transform):
    rng = np.random.default_rng(classes)
    node = make.make_node(
        "SVMClassifier", ["x"], ["label", "scores"], domain="ai.onnx.ml", post_transform=transform, kernel_type="LINEAR", kernel_params=PARAMETERS,
        coefficients=numbers(rng, classes, COLUMNS), rho=numbers(rng, classes), classlabels_ints=list(range(classes)),
    )  # fmt: skip
    model, x = model_of(node, [("label", types.INT64, []), ("scores", types.FLOAT, [classes])]), records()
    assert assay.load(model)(x) == pytest.approx(outputs_of(model, x)[1], abs=1e-4)


@pytest.mark.parametrize("signs", ["mixed", "positive", "negative"])
@pytest.mark.parametrize("seed", range(4))
def test_labels_of_two_classes_without_vectors_are_those_of_onnx_runtime(tmp_path, signs, seed):
    """Which names the second class wherever the greatest score is above 0, or from a half on if no coefficient is negative."""
    rng = np.random.default_rng(seed)
    coefficients = np.array(numbers(rng, 2, COLUMNS))
    coefficients = {"mixed": coefficients, "positive": abs(coefficients), "negative": -abs(coefficients)}[signs]
    node = make.make_node(
        "SVMClassifier", ["x"], ["label", "scores"], domain="ai.onnx.ml", kernel_type="LINEAR", kernel_params=PARAMETERS,
        coefficients=[float(v) for v in coefficients], rho=[float(rng.normal() / 2)], classlabels_ints=[7, 9],
    )  # fmt: skip
    check_written_labels(tmp_path, node, 2)


@pytest.mark.parametrize("transform", ["NONE", "LOGISTIC", "SOFTMAX"])
@pytest.mark.parametrize(("rows", "classes"), [(1, 2), (2, 2), (3, 3), (2, 3)])
@pytest.mark.parametrize("op", ["LinearClassifier", "SVMClassifier"])
def test_labels_of_linear_classifiers_are_those_of_onnx_runtime(tmp_path, op, rows, classes, transform):
    if op == "SVMClassifier" and rows != classes:
        pytest.skip("SKIPPED: it has a row of coefficients for each class")
    rng = np.random.default_rng(rows + classes)
    own = {"kernel_type": "LINEAR", "kernel_params": PARAMETERS, "rho": [0.1]} if op == "SVMClassifier" else {"intercepts": numbers(rng, rows)}
    node = make.make_node(
        op, ["x"], ["label", "scores"], domain="ai.onnx.ml", post_transform=transform, coefficients=numbers(rng, rows, COLUMNS),
        classlabels_ints=[4 * c + 3 for c in range(classes)], **own,
    )  # fmt: skip
    check_written_labels(tmp_path, node, max(rows, 2))


def check_written_labels(tmp_path, node, width):
    """Labels, which do not decide, are looked at in the network as it is written."""
    model, x = model_of(node, [("label", types.INT64, []), ("scores", types.FLOAT, [width])]), records()
    label, scores = outputs_of(model, x)
    (tmp_path / "given.onnx").write_bytes(model)
    run_program(tmp_path, "model", "given.onnx", "--write", "written.onnx")
    found, again = outputs_of((tmp_path / "written.onnx").read_bytes(), x)
    assert (found == label).all() and again == pytest.approx(scores, rel=1e-4, abs=1e-4)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"rho": []}, "'rho' has 0 numbers, not 1"),
        ({"coefficients": [1.0]}, "'coefficients' has 1 numbers, not 2"),
        ({"support_vectors": [1.0, 2.0, 3.0]}, "3 numbers do not make 2 support vectors"),
        ({"support_vectors": [1.0, 2.0]}, "records have 4 columns, and support vectors 1"),
        ({"kernel_params": [1.0]}, "not gamma, coef0 and degree"),
        ({"kernel_type": "COSINE"}, "there is no kernel 'COSINE'"),
        ({"vectors_per_class": [2]}, "not of two classes or more"),
        ({"vectors_per_class": [2**63 - 1, 2**63 - 1, 4]}, "more vectors than a file holds"),
        ({"vectors_per_class": [2**31, 2]}, "more vectors than a file holds"),
        ({"post_transform": "PROBIT"}, "post_transform PROBIT"),
    ],
)
def test_damaged_ones_are_refused(change, says):
    attributes = {
        "kernel_type": "RBF", "kernel_params": PARAMETERS, "vectors_per_class": [1, 1], "classlabels_ints": [0, 1],
        "support_vectors": [1.0] * 2 * COLUMNS, "coefficients": [1.0, -1.0], "rho": [0.0],
    } | change  # fmt: skip
    given = {name: value for name, value in attributes.items() if value != []}
    node = make.make_node("SVMClassifier", ["x"], ["label", "scores"], "svm", domain="ai.onnx.ml", **given)
    with pytest.raises(assay.AssayError, match=says) as error:
        assay.load(model_of(node, [("label", types.INT64, []), ("scores", types.FLOAT, [2])]))
    assert "'svm'" in str(error.value)


def test_probabilities_of_three_classes_are_refused():
    with pytest.raises(assay.UnsupportedError, match="probability=False"):
        assay.load(classifier(np.random.default_rng(1), 3, shares=True))


@pytest.mark.parametrize("kernel", ["rbf", "poly", "linear", "sigmoid"])
@pytest.mark.parametrize("kind", ["SVC", "SVR", "NuSVC", "OneClassSVM"])
@pytest.mark.parametrize("classes", [2, 3])
def test_what_scikit_learn_writes_is_read(kernel, kind, classes):
    svm = pytest.importorskip("sklearn.svm", reason="SKIPPED: scikit-learn is not installed (PyPI)")
    skl2onnx = pytest.importorskip("skl2onnx", reason="SKIPPED: skl2onnx is not installed (PyPI)")
    rng = np.random.default_rng(4)
    x = rng.normal(size=(200, COLUMNS)).astype(np.float32)
    y = (x[:, 0] > 0).astype(int) + ((x[:, 1] > 0) if classes == 3 else 0)
    made = getattr(svm, kind)(kernel=kernel).fit(x, y)
    options = {"options": {id(made): {"zipmap": False, "raw_scores": True}}} if kind.endswith("SVC") else {}
    written = skl2onnx.to_onnx(made, x[:1], target_opset={"": 18, "ai.onnx.ml": 3}, **options).SerializeToString()
    test = records()
    said = onnxruntime.InferenceSession(written, providers=["CPUExecutionProvider"]).run(None, {"X": test})[-1]
    found = np.asarray(assay.load(written)(test))
    assert found.reshape(said.shape) == pytest.approx(said, rel=1e-3, abs=2e-3)


def test_kernels_are_neurons_that_are_covered_and_explained():
    rng = np.random.default_rng(2)
    model, x = classifier(rng, 3, "RBF"), records()
    net = assay.load(model, decision="scores")
    y = np.asarray(net(x)).argmax(1)
    assert assay.importance(net, (x, y)).table("neurons")
    assert assay.cover(net, train=(x, y), test=(x, y), criterion="kmnc").headline
