"""Networks that decide more than once a record, against the packages that people measure them with."""

import csv

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


def positions_network(onnx, seed=0):
    """Three channels to four classes at every position: as convolutions of 1 x 1, and as the same dense layers."""
    make, kind = onnx.helper, onnx.TensorProto.FLOAT
    rng = np.random.default_rng(seed)
    first, second = rng.normal(size=(8, 3)).astype(np.float32), rng.normal(size=(4, 8)).astype(np.float32)

    def built(operator, shape, weights, transposed):
        names = ["w1", "w2"]
        constants = [onnx.numpy_helper.from_array(w, n) for w, n in zip(weights, names)]
        extra = {"transB": 1} if transposed else {}
        nodes = [
            make.make_node(operator, ["x", "w1"], ["a"], name="hidden", **extra),
            make.make_node("Relu", ["a"], ["b"], name="relu"),
            make.make_node(operator, ["b", "w2"], ["y"], name="scores", **extra),
        ]
        graph = make.make_graph(
            nodes,
            "positions",
            [make.make_tensor_value_info("x", kind, ["n", 3, *shape])],
            [make.make_tensor_value_info("y", kind, ["n", 4, *shape])],
            constants,
        )
        opset = [make.make_opsetid("", 17)]
        return make.make_model(graph, opset_imports=opset, ir_version=8).SerializeToString()

    pixels = built("Conv", (4, 5), [first[..., None, None], second[..., None, None]], False)
    rows = built("Gemm", (), [first, second], True)
    return assay.load(pixels), assay.load(rows), (first, second)


def scores_of(weights, x):
    """[n, 3, h, w] -> [n, 4, h, w], by NumPy."""
    hidden = np.maximum(np.einsum("kc,nchw->nkhw", weights[0], x), 0)
    return np.einsum("kc,nchw->nkhw", weights[1], hidden)


def segmentation(weights, records=24, noise=0.3, seed=1):
    """Records and labels of which the network gets most right."""
    rng = np.random.default_rng(seed)
    x = (2 * rng.random((records, 3, 4, 5)) - 1).astype(np.float32)
    y = scores_of(weights, x).argmax(1)
    wrong = rng.random(y.shape) < noise
    y[wrong] = rng.integers(0, 4, wrong.sum())
    return x, y


@pytest.mark.parametrize("options", [{}, {"class_": 2}])
@pytest.mark.parametrize("method", ["epsilon", "gradient-x-input", "integrated-gradients", "deeplift"])
def test_importance_of_positions_is_that_of_positions_as_records(onnx, method, options):
    pixels, rows, weights = positions_network(onnx)
    x, y = segmentation(weights)
    flat = np.moveaxis(x, 1, -1).reshape(-1, 3)
    of_pixels = assay.importance(pixels, (x, y), layer="hidden", method=method, **options).table("neurons")
    of_rows = assay.importance(rows, (flat, y.ravel()), layer="hidden", method=method, **options).table("neurons")
    assert [row["neuron"] for row in of_pixels] == [row["neuron"] for row in of_rows]
    assert [row["relevance"] for row in of_pixels] == pytest.approx([row["relevance"] for row in of_rows], rel=1e-4)


@pytest.mark.parametrize("margin", [None, 0.25])
def test_mutants_are_killed_by_changed_items(onnx, tmp_path, margin):
    pixels, _, weights = positions_network(onnx)
    x, y = segmentation(weights)
    matrix = tmp_path / "matrix.csv"
    options = {} if margin is None else {"margin": margin}
    result = assay.mutate(
        pixels, (x, y), operator="gf[sigma=0.3]", count=6, quality=1, matrix=str(matrix), seed=3, **options
    )
    assert result.facts["task"].startswith("pixels: 4 classes")
    kills = {int(row["record"]): row for row in csv.DictReader(matrix.read_text().splitlines())}
    right = scores_of(weights, x).argmax(1) == y
    mutants = result.table("mutants")
    assert sorted(kills) == list(np.flatnonzero(right.any((1, 2)))) and len(mutants) == 6
    for mutant in mutants:
        file = tmp_path / f"{mutant['mutant']}.onnx"
        text = f"{mutant['operator']}@{mutant['layer']}#{mutant['seed']}"
        assay.mutate(pixels, action="export", mutant=text, out=str(file))
        changed = [onnx.numpy_helper.to_array(w).squeeze() for w in onnx.load(str(file)).graph.initializer]
        decided = scores_of(changed, x).argmax(1)
        for i, row in kills.items():
            share = (decided[i] != y[i])[right[i]].mean()
            assert row[mutant["mutant"]] == str(int(share > (margin or 0)))


@pytest.mark.parametrize("attack", ["fgsm[eps=0.2]", "pgd[eps=0.2]", "deepfool", "cw"])
def test_attacks_turn_the_share_of_items(onnx, tmp_path, attack):
    pixels, _, weights = positions_network(onnx)
    x, y = segmentation(weights)
    result = assay.attack(
        pixels, assay.data(x, y, range=(-1, 1)), attack=attack, out=str(tmp_path / "out"), margin=0.3
    )
    row = result.table("attacks")[0]
    (file,) = (tmp_path / "out").glob("*.npz")
    made = np.load(file)
    right = scores_of(weights, x).argmax(1) == y
    shares = []
    for record, original in zip(made["x"], made["original"]):
        decided = scores_of(weights, record[None]).argmax(1)[0]
        shares.append((decided != y[original])[right[original]].mean())
    assert list(made["success"]) == [share > 0.3 for share in shares]
    assert row["successes"] == sum(made["success"]) > len(x) // 2


def test_several_labels_are_turned_by_attacks(onnx, tmp_path):
    """Of one label in two, an attack is that of the network that gives this label alone."""
    make, kind = onnx.helper, onnx.TensorProto.FLOAT
    rng = np.random.default_rng(8)
    weight = rng.normal(size=(6, 2)).astype(np.float32)

    def net(columns):
        graph = make.make_graph(
            [make.make_node("MatMul", ["x", "w"], ["z"]), make.make_node("Sigmoid", ["z"], ["y"])],
            "labels",
            [make.make_tensor_value_info("x", kind, ["n", 6])],
            [make.make_tensor_value_info("y", kind, ["n", len(columns)])],
            [onnx.numpy_helper.from_array(weight[:, columns], "w")],
        )
        return assay.load(make.make_model(graph, opset_imports=[make.make_opsetid("", 17)], ir_version=8).SerializeToString())

    x = (2 * rng.random((40, 6)) - 1).astype(np.float32)
    y = (x @ weight > 0).astype(np.float32)
    unknown = y.copy()
    unknown[:, 1] = -1
    options = {"attack": "fgsm[eps=0.2]", "out": str(tmp_path / "a"), "margin": 0}
    both = assay.attack(net([0, 1]), assay.data(x, unknown, range=(-1, 1)), task="labels", **options)
    options = {"attack": "fgsm[eps=0.2]", "out": str(tmp_path / "b")}
    one = assay.attack(net([0]), assay.data(x, y[:, 0].astype(np.int64), range=(-1, 1)), **options)
    assert both.table("attacks")[0]["successes"] == one.table("attacks")[0]["successes"] > 5


def test_coverage_of_important_neurons_is_of_items(onnx):
    pixels, _, weights = positions_network(onnx)
    x, y = segmentation(weights)
    options = {"test": (x, y), "train": (x[:12], y[:12]), "layer": "hidden"}
    result = assay.cover(pixels, **options, criterion="idc[m=2]")
    assert result.facts["task"].startswith("pixels: 4 classes")
    ranked = assay.importance(pixels, (x[:12], y[:12]), layer="hidden").table("neurons")
    assert {row["neuron"] for row in result.table("clusters")} == {row["neuron"] for row in list(ranked)[:2]}


def test_training_raises_the_share_of_right_items(onnx, tmp_path):
    pixels, rows, weights = positions_network(onnx)
    x, y = segmentation(weights, records=60, noise=0)
    flat = np.moveaxis(x, 1, -1).reshape(-1, 3)
    options = {"epochs": 30, "optimiser": "adam", "learning_rate": 0.02, "seed": 4}
    files = [tmp_path / "pixels.onnx", tmp_path / "rows.onnx"]
    result = assay.train(model=pixels, data=(x, y), out=str(files[0]), train_batch=6, **options)
    assert result.table("epochs")[-1]["accuracy"] > 0.9
    assay.train(model=rows, data=(flat, y.ravel()), out=str(files[1]), train_batch=120, no_shuffling=True, **options)
    found = assay.evaluate(str(files[0]), (x, y), task="pixels")
    assert figures(found)["pixel-accuracy"] == pytest.approx(result.table("epochs")[-1]["accuracy"], abs=0.05)


def test_networks_are_explored_for_items_that_differ(onnx, tmp_path):
    first, _, weights = positions_network(onnx)
    x, y = segmentation(weights)
    result = assay.explore(
        [first],
        assay.data(x, y, range=(-1, 1)),
        mutant="gf[sigma=0.5]@hidden#3",
        out=str(tmp_path / "found"),
        margin=0.3,
        storage="float",
        constraint="none",
    )
    assert result.facts["task"].startswith("pixels: 4 classes")
