"""Networks that decide more than once a record, against the packages that people measure them with."""

import csv
import importlib
import json
import re
import subprocess

import numpy as np
import pytest

import assay
from conftest import PROGRAM


@pytest.fixture
def onnx():
    package = pytest.importorskip("onnx", reason="SKIPPED: the package onnx is not there")
    importlib.import_module("onnx.numpy_helper")
    return package


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


def split_network(onnx, shape, widths, names):
    """A network whose outputs are parts of its input along the last axis."""
    make = onnx.helper
    kind = onnx.TensorProto.FLOAT
    graph = make.make_graph(
        [make.make_node("Split", ["x", "widths"], names, axis=-1)],
        "parts",
        [make.make_tensor_value_info("x", kind, ["n", *shape])],
        [make.make_tensor_value_info(name, kind, ["n", *shape[:-1], width]) for name, width in zip(names, widths)],
        [make.make_tensor("widths", onnx.TensorProto.INT64, [len(widths)], widths)],
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


def test_classes_that_are_nowhere_and_records_without_items_are_said(onnx, metrics):
    rng = np.random.default_rng(3)
    x = rng.normal(size=(12, 5, 6, 7)).astype(np.float32)
    x[:, 2:4] = -9  # never decided
    y = rng.integers(0, 2, (12, 6, 7))
    net = network(onnx, "Identity", (5, 6, 7))
    y[3], y[7] = 255, 255
    result = assay.evaluate(net, (x, y), task="pixels[names=sky+road+car+tree+sea]")
    counted = y != 255
    wanted, decided = y[counted], x.argmax(1)[counted]
    found = figures(result)
    # Classes 0, 1 and, as it is decided, 4.
    assert found["mean-iou"] == pytest.approx(metrics.jaccard_score(wanted, decided, labels=[0, 1, 4], average="macro"))
    assert "over 3 of 5 classes" in result.headline and result.facts["mean-iou-classes"].startswith("the mean over 3 of 5")
    warnings = {warning["id"]: warning["text"] for warning in result.document["warnings"]}
    assert warnings["absent-classes"].endswith("3 of 5 classes without an item that counts: car, tree, sea")
    assert warnings["no-counted-items"] == "2 of 12 records without an item that counts: 3, 7"
    assert "absent-classes" in result.headline and "no-counted-items" in result.headline
    complete = assay.evaluate(net, (x, rng.integers(0, 5, (12, 6, 7))))
    assert " over " not in complete.headline and not complete.document["warnings"]


def test_a_gate_on_a_group_without_counted_items_fails(onnx):
    rng = np.random.default_rng(3)
    x = rng.normal(size=(12, 3, 4, 4)).astype(np.float32)
    y = x.argmax(1)
    y[:4] = 255
    records = assay.data(x, y.astype(np.float32), meta={"weather": ["fog"] * 4 + ["sun"] * 8})
    gates = ["mean-iou[weather=*]>=0", "pixel-accuracy[weather=fog]>=0", "pixel-accuracy[weather=sun]>=0.9"]
    result = assay.evaluate(network(onnx, "Identity", (3, 4, 4)), records, task="pixels", fail_under=gates)
    assert [gate["passed"] for gate in result.document["gates"]] == [False, False, True]
    for gate in result.document["gates"][:2]:
        assert "weather=fog" in gate["context"] and "nothing is coverable" in gate["reason"]


def test_nothing_that_counts_is_an_error(onnx):
    x = np.random.default_rng(3).normal(size=(12, 3, 6, 5)).astype(np.float32)
    net = network(onnx, "Identity", (3, 6, 5))
    with pytest.raises(assay.DataError, match=r"nothing of .*12 records.* counts \(pixels: .*label 255.*ignore="):
        assay.evaluate(net, (x, np.full((12, 6, 5), 255)))


def test_many_classes_have_no_mean(onnx):
    x = np.random.default_rng(3).normal(size=(10, 1001, 2, 2)).astype(np.float32)
    found = figures(assay.evaluate(network(onnx, "Identity", (1001, 2, 2)), (x, x.argmax(1)), task="pixels[ignore=none]"))
    assert found == {"pixel-accuracy": 1}


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


def positions_network(onnx, seed=0, shift=0):
    """Three channels to four classes at every position: as convolutions of 1 x 1, and as the same dense layers."""
    make, kind = onnx.helper, onnx.TensorProto.FLOAT
    rng = np.random.default_rng(seed)
    first, second = rng.normal(size=(8, 3)).astype(np.float32), rng.normal(size=(4, 8)).astype(np.float32)
    second += shift * rng.normal(size=second.shape).astype(np.float32)

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


def covered(result, *names):
    rows = result.table("criteria")
    return {tuple(row[name] for name in names): (row["covered"], row["coverable"]) for row in rows}


def test_coverage_by_items_is_that_of_positions_as_records(onnx):
    """Every criterion by each class, and surprise compared with training items of the same class."""
    pixels, rows, weights = positions_network(onnx)
    x, y = segmentation(weights)
    y[:, :, 0] = 255  # does not count
    counts = (y != 255).ravel()
    flat, labels = np.moveaxis(x, 1, -1).reshape(-1, 3)[counts], y.ravel()[counts]
    train = 8 * 4 * 4  # items of the first eight records
    options = {
        "criterion": ["kmnc[sections=10]", "nbc", "tknc[k=1]", "dsc[buckets=50]", "lsc[upper=50,buckets=50]", "idc[m=2]"],
        "layer": "hidden",
        "by_class": True,
    }
    by_items = assay.cover(pixels, train=(x[:8], y[:8]), test=(x, y), items="all", **options)
    by_records = assay.cover(rows, train=(flat[:train], labels[:train]), test=(flat, labels), **options)
    names = ["criterion", "layer", "class"]
    wanted = covered(by_records, *names)
    assert len({key[2] for key in wanted}) > 3 and any(int(c) > 1 for c, _ in wanted.values())
    assert covered(by_items, *names) == wanted


def test_items_are_drawn_by_the_seed(onnx, tmp_path):
    pixels, _, weights = positions_network(onnx)
    x, y = segmentation(weights)
    options = {"train": (x[:12], y[:12]), "criterion": "kmnc[sections=50]"}
    one, again, other, whole = (
        covered(assay.cover(pixels, test=(x, y), items=items, seed=seed, **options), "layer")
        for items, seed in [("3", 1), ("3", 1), ("3", 2), ("all", 1)]
    )
    assert one == again != other
    assert all(int(one[key][0]) < int(whole[key][0]) for key in one)


def test_profiles_of_items_and_of_records_differ(onnx, tmp_path):
    pixels, _, weights = positions_network(onnx)
    x, y = segmentation(weights)
    for items, name in [("4", "items.profile"), (None, "records.profile")]:
        chosen = {} if items is None else {"items": items}
        assay.cover(pixels, train=(x, y), test=(x, y), criterion="kmnc", profile=str(tmp_path / name), **chosen)
    read = {"test": (x, y), "criterion": "kmnc"}
    assay.cover(pixels, profile=str(tmp_path / "items.profile"), items="4", **read)
    with pytest.raises(assay.errors.MismatchError, match="learned from 4 items of each record"):
        assay.cover(pixels, profile=str(tmp_path / "items.profile"), **read)
    with pytest.raises(assay.errors.MismatchError, match="records"):
        assay.cover(pixels, profile=str(tmp_path / "records.profile"), items="4", **read)


def test_classes_of_records_with_items_are_asked_for(onnx):
    pixels, rows, weights = positions_network(onnx)
    x, y = segmentation(weights)
    options = {"train": (x, y), "test": (x, y)}
    with pytest.raises(assay.errors.UsageError, match="look at the items"):
        assay.cover(pixels, criterion="nc", by_class=True, **options)
    with pytest.raises(assay.errors.MismatchError, match="surprise .dsa, dsc. compares classes"):
        assay.cover(pixels, criterion="dsc", **options)
    with pytest.raises(assay.errors.MismatchError, match="surprise .dsa, dsc. .* choose the one by likelihood .lsa, lsc."):
        assay.select(pixels, (x, y), by="dsa", train=(x, y))
    flat = np.moveaxis(x, 1, -1).reshape(-1, 3)
    with pytest.raises(assay.errors.UsageError, match="one decision each"):
        assay.cover(rows, train=(flat, y.ravel()), test=(flat, y.ravel()), criterion="nc", items="all")


def test_mutants_are_scored_by_class_of_items(onnx, tmp_path):
    """As those of the network that has positions as records."""
    pixels, rows, weights = positions_network(onnx)
    x, y = segmentation(weights)
    flat, labels = np.moveaxis(x, 1, -1).reshape(-1, 3), y.ravel()
    options = {"operator": ["gf[sigma=0.3]", "ns", "neb"], "count": 4, "quality": 1, "seed": 3}
    mutants = [f"{row['operator']}@{row['layer']}#{row['seed']}" for row in assay.mutate(rows, (flat, labels), **options).table("mutants")]
    found, killed = {}, {}
    for name, net, data in [("items", pixels, (x, y)), ("records", rows, (flat, labels))]:
        state = tmp_path / name
        result = assay.mutate(net, data, mutant=mutants, quality=1, state=str(state))
        found[name] = {row["class"]: (row["killed"], row["score"]) for row in result.table("mutation_classes") if row["records"]}
        killed[name] = {row["mutant"]: row["killed_classes"] for row in result.table("mutants")}
        again = assay.mutate(net, data, mutant=mutants, quality=1, state=str(state))
        assert list(again.table("mutation_classes")) == list(result.table("mutation_classes"))
        assert again.facts["ran"] == 0
    assert found["items"] == found["records"] and len(found["items"]) == 3  # the network decides none of class 0
    assert killed["items"] == killed["records"] and max(killed["items"].values()) > 1


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


def test_training_leaves_out_items_that_do_not_count(onnx, tmp_path):
    pixels, _, weights = positions_network(onnx)
    x, y = segmentation(weights, records=6)
    y[2:4] = 255  # a batch of its own, in which nothing counts
    options = {"model": pixels, "out": str(tmp_path / "net.onnx"), "epochs": 2, "train_batch": 2, "no_shuffling": True, "optimiser": "adam"}
    losses = [row["loss"] for row in assay.train(data=(x, y), **options).table("epochs")]
    rest = np.r_[0:2, 4:6]
    alone = [row["loss"] for row in assay.train(data=(x[rest], y[rest]), **options).table("epochs")]
    assert losses == pytest.approx(alone, rel=1e-5)
    with pytest.raises(assay.errors.DataError, match="no item of .* counts"):
        assay.train(data=(x, np.full_like(y, 255)), **options)
    y[5, 0, 0] = 9
    with pytest.raises(assay.errors.DataError, match="record '5': label 9 at position 0"):
        assay.train(data=(x, y), **options)


def test_commands_say_what_has_no_effect_on_items(onnx, tmp_path):
    pixels, _, weights = positions_network(onnx)
    x, y = segmentation(weights)
    data = assay.data(x, y, range=(-1, 1))
    with pytest.raises(assay.errors.UsageError, match="all has no effect on numbers and items"):
        assay.attack(pixels, data, attack="fgsm", all=True, out=str(tmp_path / "out"))
    with pytest.raises(assay.errors.UsageError, match="at least 0 and below 1"):
        assay.attack(pixels, data, attack="fgsm", margin=1, out=str(tmp_path / "out"))


def test_a_share_of_no_items_is_an_error(onnx):
    pixels, _, weights = positions_network(onnx)
    x, y = segmentation(weights)
    with pytest.raises(assay.errors.DataError, match="nothing of .* is left to judge, as no item counts"):
        assay.prune(pixels, (x, np.full_like(y, 255)), units="layer=hidden,units=1")


def test_relevance_of_pixels_is_that_of_right_items(onnx, tmp_path):
    """An attack that removes relevant pixels begins with those that right items rest on."""
    pixels, _, weights = positions_network(onnx)
    x, y = segmentation(weights, records=4, noise=0)
    y[:, :, 1:] = 255  # the first column alone counts, and a position sees itself alone
    labelled = np.where(y == 255, 255, scores_of(weights, x).argmax(1))
    assay.attack(
        pixels, assay.data(x, labelled, range=(-1, 1)), attack="removal[share=0.2]", out=str(tmp_path / "out"), margin=0
    )
    made = np.load(tmp_path / "out" / "removal.npz")
    changed = (made["x"] != x[made["original"]]).any(1)
    decisive = scores_of(weights, x).max(1)[made["original"]][:, :, 0] > 0
    assert decisive.sum() > 10 and changed[:, :, 0][decisive].all()
    assert not changed[:, :, 1:][decisive.all(1)].any()


def test_networks_are_explored_for_items_that_differ(onnx, tmp_path):
    first, _, weights = positions_network(onnx)
    second, _, others = positions_network(onnx, seed=0, shift=0.35)
    x, y = segmentation(weights)
    result = assay.explore(
        [first, second],
        assay.data(x, y, range=(-1, 1)),
        out=str(tmp_path / "found"),
        margin=0.12,  # above that of any seed
        storage="float",
        constraint="none",
        step=0.1,
        lambda2=0,
    )
    assert result.facts["task"].startswith("pixels: 4 classes")
    found = np.load(tmp_path / "found" / "findings.npz")["x"]
    assert len(found) > 3
    shares = (scores_of(weights, found).argmax(1) != scores_of(others, found).argmax(1)).mean((1, 2))
    assert (shares > 0.12).all()
    manifest = json.loads((tmp_path / "found" / "manifest.json").read_text())["findings"]
    assert [entry["items_differing"] for entry in manifest] == pytest.approx(list(shares))
    assert all("outputs" not in said for entry in manifest for said in entry["networks"].values())



def coco_figures(truth, found, classes):
    """What pycocotools says: mean average precisions, then those by class; boxes are left, top, width, height."""
    coco = pytest.importorskip("pycocotools.coco", reason="SKIPPED: the package pycocotools is not there")
    from pycocotools.cocoeval import COCOeval

    annotations = [
        {"id": i + 1, "image_id": r, "category_id": c, "bbox": list(b), "area": b[2] * b[3], "iscrowd": crowd}
        for i, (r, c, b, crowd) in enumerate(truth)
    ]
    images = sorted({r for r, *_ in truth} | {r for r, *_ in found})
    reference = coco.COCO()
    reference.dataset = {
        "images": [{"id": r} for r in images],
        "annotations": annotations,
        "categories": [{"id": c} for c in range(classes)],
    }
    reference.createIndex()
    result = reference.loadRes(
        [{"image_id": r, "category_id": c, "bbox": list(b), "score": s} for r, c, b, s in found]
    )
    measured = COCOeval(reference, result, "bbox")
    measured.evaluate()
    measured.accumulate()
    precision = measured.eval["precision"][:, :, :, 0, -1]  # overlaps, recalls, classes
    present = precision[0, 0] > -1
    by_class = precision.mean((0, 1))[present]
    return by_class.mean(), precision[0].mean(0)[present].mean(), by_class


def random_boxes(rng, count, shape=()):
    corner, size = rng.uniform(0, 60, (count, *shape, 2)), rng.uniform(5, 40, (count, *shape, 2))
    return np.concatenate([corner, size], -1).astype(np.float32)


def random_detections(rng, records, boxes, classes):
    """Truth with crowds, rows of labels, and boxes near them or anywhere, with scores of which many are equal."""
    truth, labels = [], np.full((records, 5, 5), -1, np.float32)
    found = random_boxes(rng, records, (boxes,))
    for r in range(records):
        for i in range(rng.integers(0, 6)):
            b, c, crowd = random_boxes(rng, 1)[0], int(rng.integers(0, classes - 1)), int(rng.random() < 0.15)
            truth.append((r, c, b.astype(float), crowd))
            labels[r, i] = [-2 - c if crowd else c, b[0], b[1], b[0] + b[2], b[1] + b[3]]
            for near in range(3):
                found[r, 3 * i + near] = b + rng.normal(0, 4 * near, 4)
    found[..., 2:] = np.maximum(found[..., 2:], 1)
    scores = rng.integers(1, 40, (records, boxes, classes)).astype(np.float32) / 64
    return truth, labels, found, scores


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("seed", range(5))
def test_boxes_are_measured_as_pycocotools_does(onnx, seed):
    rng = np.random.default_rng(seed)
    classes, boxes = 4, 24
    truth, labels, found, scores = random_detections(rng, 20, boxes, classes)
    wanted = coco_figures(
        truth,
        [
            (r, c, found[r, i].astype(float), float(scores[r, i, c]))
            for r in range(20)
            for i in range(boxes)
            for c in range(classes)
        ],
        classes,
    )
    net = split_network(onnx, (boxes, 4 + classes), [4, classes], ["b", "s"])
    result = assay.evaluate(
        net,
        (np.concatenate([found, scores], -1), labels),
        task="boxes[format=retinanet,outputs=b+s,boxes=xywh,nms=none]",
    )
    measured = figures(result)
    assert measured["mean-average-precision"] == pytest.approx(wanted[0], abs=1e-6)
    assert measured["mean-average-precision-50"] == pytest.approx(wanted[1], abs=1e-6)
    present = [v for v in by_class(result, "average-precision") if v is not None]
    assert present == pytest.approx(list(wanted[2]), abs=1e-6)


def test_suppression_is_that_of_torchvision(onnx):
    torch = pytest.importorskip("torch", reason="SKIPPED: the package torch is not there")
    ops = pytest.importorskip("torchvision.ops", reason="SKIPPED: the package torchvision is not there")
    rng = np.random.default_rng(8)
    classes, boxes = 3, 60
    truth, labels, found, scores = random_detections(rng, 12, boxes, classes)
    corners = np.concatenate([found[..., :2], found[..., :2] + found[..., 2:]], -1)
    scores = rng.random(scores.shape).astype(np.float32)
    kept = []
    for r in range(12):
        for c in range(classes):
            for i in ops.nms(torch.tensor(corners[r]), torch.tensor(scores[r, :, c]), 0.4).tolist():
                kept.append((r, c, found[r, i].astype(float), float(scores[r, i, c])))
    wanted = coco_figures(truth, kept, classes)
    columns = np.concatenate([corners, scores], -1).transpose(0, 2, 1)
    result = assay.evaluate(
        network(onnx, "Identity", (4 + classes, boxes)), (columns, labels), task="boxes[boxes=xyxy,nms=0.4,least=0]"
    )
    assert figures(result)["mean-average-precision"] == pytest.approx(wanted[0], abs=1e-6)


def heads_network(onnx, shapes):
    """Gives what it takes, divided into heads: [n, numbers] to an output of each shape."""
    make, types = onnx.helper, onnx.TensorProto
    sizes = [int(np.prod(shape)) for shape in shapes]
    constants = [make.make_tensor("sizes", types.INT64, [len(sizes)], sizes)]
    nodes = [make.make_node("Split", ["x", "sizes"], [f"flat{i}" for i in range(len(sizes))], axis=-1)]
    outputs = []
    for i, shape in enumerate(shapes):
        constants.append(make.make_tensor(f"shape{i}", types.INT64, [len(shape) + 1], [-1, *shape]))
        nodes.append(make.make_node("Reshape", [f"flat{i}", f"shape{i}"], [f"head{i}"]))
        outputs.append(make.make_tensor_value_info(f"head{i}", types.FLOAT, ["n", *shape]))
    taken = make.make_tensor_value_info("x", types.FLOAT, ["n", sum(sizes)])
    graph = make.make_graph(nodes, "heads", [taken], outputs, constants)
    return make.make_model(graph, opset_imports=[make.make_opsetid("", 17)], ir_version=8).SerializeToString()


def decoded_heads(heads, anchors, strides, form):
    """Boxes as middle and sides, objectness and probabilities, as the repositories of the networks write it."""
    sigmoid = lambda z: 1 / (1 + np.exp(-z.astype(np.float64)))
    rows = []
    for head, sides, stride in zip(heads, anchors, strides):
        records, _, height, width = head.shape
        t = head.reshape(records, len(sides), -1, height, width).transpose(0, 1, 3, 4, 2)
        row, column = np.mgrid[:height, :width]
        grid, sides = np.stack([column, row], -1), np.array(sides)[None, :, None, None]
        if form == "yolo5-heads":
            middle, size = (sigmoid(t[..., :2]) * 2 - 0.5 + grid) * stride, (sigmoid(t[..., 2:4]) * 2) ** 2 * sides
        else:
            middle, size = (sigmoid(t[..., :2]) + grid) * stride, np.exp(t[..., 2:4].astype(np.float64)) * sides
        one = np.concatenate([middle, size, sigmoid(t[..., 4:])], -1)
        rows.append(one.reshape(records, -1, one.shape[-1]))
    return np.concatenate(rows, 1).astype(np.float32)


@pytest.mark.parametrize("layout", ["columns", "rows"])
@pytest.mark.parametrize("form", ["yolo5-heads", "yolo3-heads"])
def test_heads_are_decoded_as_a_plain_writing_says(onnx, tmp_path, form, layout):
    rng = np.random.default_rng(12)
    records, classes, height, width, strides = 14, 3, 48, 80, [8, 16]
    anchors = [[(10, 13), (16, 30), (33, 23)], [(30, 61), (62, 45), (40, 40)]]
    np.savetxt(tmp_path / "anchors.csv", np.concatenate(anchors), delimiter=",")
    heads = [rng.normal(-1, 1.5, (records, 3 * (5 + classes), height // s, width // s)).astype(np.float32) for s in strides]
    rows = decoded_heads(heads, anchors, strides, form)
    labels = np.full((records, 4, 5), -1, np.float32)
    for r in range(records):  # near the surest boxes
        x, y, w, h = rows[r, :, :4].T + rng.normal(0, 1, (4, rows.shape[1]))
        corners = np.clip(np.stack([x - w / 2, y - h / 2, x + w / 2, y + h / 2], 1), 0, [width, height, width, height])
        seen = (corners[:, 2:] - corners[:, :2]).min(1) > 2
        for i, b in enumerate(np.argsort(-rows[r, :, 4] * seen)[: 1 + r % 4]):
            labels[r, i] = [rows[r, b, 5:].argmax(), *corners[b]]
    plain = assay.evaluate(
        network(onnx, "Identity", (rows.shape[1], 5 + classes)), (rows, labels),
        task=f"boxes[format=yolo5,nms=0.5,size={height}x{width}]",
    )
    if layout == "rows":
        heads = [h.reshape(records, 3, 5 + classes, *h.shape[2:]).transpose(0, 1, 3, 4, 2) for h in heads]
    model = heads_network(onnx, [head.shape[1:] for head in reversed(heads)])  # in another order than the strides
    x = np.concatenate([head.reshape(records, -1) for head in reversed(heads)], 1)
    task = f"boxes[format={form},layout={layout},nms=0.5,strides=8+16,size={height}x{width},anchors={tmp_path}/anchors.csv]"
    result = assay.evaluate(assay.load(model), (x, labels), task=task)
    assert "outputs head1 and head0" in result.facts["task"]
    found, wanted = figures(result), figures(plain)
    assert found == pytest.approx(wanted, abs=1e-6) and 0 < found["mean-average-precision"] < 1
    joined = assay.load(model, decision="head1+head0")
    attacked = assay.attack(joined, assay.data(x, labels, range=(-9, 9)), attack="pgd[eps=2]", margin=0, task=task)
    assert attacked.table("attacks")[0]["successes"] > 0


def suppressing_network(onnx, boxes):
    """One record at a time: boxes top, left, bottom, right and a score; those that are left after suppression."""
    make, types = onnx.helper, onnx.TensorProto
    number = lambda name, kind, values, shape: make.make_tensor(name, kind, shape, values)
    constants = [
        number("widths", types.INT64, [4, 1], [2]),
        number("most", types.INT64, [100], [1]),
        number("overlap", types.FLOAT, [0.5], [1]),
        number("two", types.INT64, [2], []),
        number("rows", types.INT64, [boxes, 4], [2]),
        number("row", types.INT64, [boxes], [1]),
        number("none", types.INT64, [0], []),
    ]
    nodes = [
        make.make_node("Split", ["x", "widths"], ["all", "column"], axis=-1),
        make.make_node("Transpose", ["column"], ["scored"], perm=[0, 2, 1]),
        make.make_node("NonMaxSuppression", ["all", "scored", "most", "overlap"], ["chosen"]),
        make.make_node("Gather", ["chosen", "two"], ["left"], axis=1),
        make.make_node("Reshape", ["all", "rows"], ["flat"]),
        make.make_node("Reshape", ["column", "row"], ["flat_scores"]),
        make.make_node("Gather", ["flat", "left"], ["boxes"], axis=0),
        make.make_node("Gather", ["flat_scores", "left"], ["scores"], axis=0),
        make.make_node("Mul", ["left", "none"], ["labels"]),
    ]
    value = make.make_tensor_value_info
    outputs = [
        value("boxes", types.FLOAT, ["m", 4]),
        value("labels", types.INT64, ["m"]),
        value("scores", types.FLOAT, ["m"]),
    ]
    graph = make.make_graph(nodes, "inside", [value("x", types.FLOAT, [1, boxes, 5])], outputs, constants)
    return assay.load(make.make_model(graph, opset_imports=[make.make_opsetid("", 13)], ir_version=8).SerializeToString())


def test_suppression_inside_leaves_any_number_of_boxes(onnx):
    rng = np.random.default_rng(13)
    records, boxes = 12, 9
    corner = rng.uniform(0, 30, (records, boxes, 2))
    found = np.concatenate([corner, corner + rng.uniform(10, 30, (records, boxes, 2))], -1)
    x = np.concatenate([found, rng.random((records, boxes, 1))], -1).astype(np.float32)
    labels = np.full((records, 2, 5), -1, np.float32)
    labels[:, 0] = [[0, *box] for box in found[:, 0, [1, 0, 3, 2]]]
    labels[:6, 1] = [[0, *box] for box in found[:6, 1, [1, 0, 3, 2]] + 2]
    inside = assay.evaluate(
        suppressing_network(onnx, boxes), (x, labels), task="boxes[format=torchvision,boxes=yxyx,first=0,names=thing]"
    )
    outside = assay.evaluate(
        split_network(onnx, (boxes, 5), [4, 1], ["b", "s"]),
        (x, labels),
        task="boxes[format=retinanet,boxes=yxyx,nms=0.5]",
    )
    assert figures(inside) == figures(outside)
    assert 0 < figures(inside)["mean-average-precision"] < 1


def rows_network(onnx, boxes, framed=False):
    """One record at a time: rows of corners, score and class; those with a score above a half are left, [m, 6].

    `framed`: as [1, m, 6], with the record in front.
    """
    make, types = onnx.helper, onnx.TensorProto
    constants = [
        make.make_tensor("shape", types.INT64, [2], [boxes, 6]),
        make.make_tensor("four", types.INT64, [], [4]),
        make.make_tensor("half", types.FLOAT, [], [0.5]),
    ]
    nodes = [
        make.make_node("Reshape", ["x", "shape"], ["rows"], name="rows"),
        make.make_node("Gather", ["rows", "four"], ["scores"], axis=1),
        make.make_node("Greater", ["scores", "half"], ["sure"]),
        make.make_node("Compress", ["rows", "sure"], ["left" if framed else "found"], axis=0),
    ]
    if framed:
        constants.append(make.make_tensor("front", types.INT64, [1], [0]))
        nodes.append(make.make_node("Unsqueeze", ["left", "front"], ["found"]))
    graph = make.make_graph(
        nodes,
        "rows",
        [make.make_tensor_value_info("x", types.FLOAT, [1, boxes, 6])],
        [make.make_tensor_value_info("found", types.FLOAT, [1, "m", 6] if framed else ["m", 6])],
        constants,
    )
    return assay.load(make.make_model(graph, opset_imports=[make.make_opsetid("", 17)], ir_version=8).SerializeToString())


def rows_of_boxes(rng, records, boxes):
    corner = rng.uniform(0, 30, (records, boxes, 2))
    found = np.concatenate([corner, corner + rng.uniform(10, 30, (records, boxes, 2))], -1)
    numbers = rng.integers(0, 2, (records, boxes, 1))
    x = np.concatenate([found, rng.random((records, boxes, 1)), numbers], -1).astype(np.float32)
    x[0, :, 4] = 0.1  # finds nothing
    labels = np.full((records, 2, 5), -1, np.float32)
    labels[:, 0] = np.concatenate([numbers[:, 0], found[:, 0]], -1)
    labels[:6, 1] = np.concatenate([1 - numbers[:6, 1], found[:6, 1]], -1)  # of the wrong class
    return x, labels


@pytest.mark.parametrize("framed", [False, True])
def test_one_output_with_any_number_of_rows_is_read(onnx, tmp_path, framed):
    x, labels = rows_of_boxes(np.random.default_rng(14), 12, 9)
    options = {"task": "boxes[format=yolo10,names=a+b+c]"}
    net = rows_network(onnx, 9, framed)
    some = assay.evaluate(net, (x, labels), **options)
    sure = x * (x[..., 4:5] > 0.5)  # the others with a score of 0, which is none
    every = assay.evaluate(network(onnx, "Identity", (9, 6)), (sure, labels), **options)
    assert figures(some) == figures(every) and 0 < figures(some)["mean-average-precision"] < 1
    data = assay.data(x, labels, range=(0, 60))
    row = assay.attack(net, data, attack="pgd[eps=0.01]", margin=0, out=str(tmp_path), **options).table("attacks")[0]
    assert row["successes"] > 0
    assert assay.select(net, data, by="deepgini", **options).headline
    assert assay.explore([net, net.with_weights({"half": np.float32(0.8)})], data, out=str(tmp_path / "e"), margin=0, **options).headline


def test_boxes_of_queries_are_decided_as_detr_does(onnx):
    rng = np.random.default_rng(9)
    classes, boxes, width, height = 3, 20, 80, 50
    truth, labels, found, logits = random_detections(rng, 15, boxes, classes + 1)
    truth = [(r, min(c, classes - 1), b, crowd) for r, c, b, crowd in truth]
    labels[..., 0] = np.clip(labels[..., 0], -1 - classes, classes - 1)
    labels[..., [1, 3]] /= 2  # into the picture
    labels[..., [2, 4]] /= 2
    truth = [(r, c, b / 2, crowd) for r, c, b, crowd in truth]
    found /= 2
    shares = np.exp(8 * logits) / np.exp(8 * logits).sum(-1, keepdims=True)
    best = shares[..., :-1].argmax(-1)
    kept = [
        (r, int(best[r, i]), found[r, i].astype(float), float(shares[r, i, best[r, i]]))
        for r in range(15)
        for i in range(boxes)
        if shares[r, i, best[r, i]] >= 0.001
    ]
    wanted = coco_figures(truth, kept, classes)
    middles = np.concatenate([found[..., :2] + found[..., 2:] / 2, found[..., 2:]], -1)
    middles /= np.array([width, height, width, height], np.float32)
    result = assay.evaluate(
        split_network(onnx, (boxes, 4 + classes + 1), [classes + 1, 4], ["logits", "pred_boxes"]),
        (np.concatenate([8 * logits, middles], -1), labels),
        task=f"boxes[format=detr,size={height}x{width}]",
    )
    assert figures(result)["mean-average-precision"] == pytest.approx(wanted[0], abs=1e-4)


def one_hot_steps(rng, texts, symbols, steps):
    """Scores [steps, symbols + 1] that decode to these texts, the blank being 0."""
    scores = rng.random((len(texts), steps, len(symbols) + 1)).astype(np.float32)
    for r, text in enumerate(texts):
        step = 0
        for character in text:
            runs = int(rng.integers(1, 3))
            scores[r, step : step + runs, 1 + symbols.index(character)] += 1
            scores[r, step + runs, 0] += 1
            step += runs + 1
        scores[r, step:, 0] += 1
    return scores


def test_texts_are_measured_as_jiwer_does(onnx, tmp_path):
    jiwer = pytest.importorskip("jiwer", reason="SKIPPED: the package jiwer is not there")
    rng = np.random.default_rng(10)
    symbols = list("abcd é")
    draw = lambda: "a" + "".join(rng.choice(symbols, rng.integers(3, 12))) + "b"
    wanted = [draw() for _ in range(40)]
    read = [text if rng.random() < 0.3 else draw() for text in wanted]
    scores = one_hot_steps(rng, read, symbols, 48)
    labels = np.full((40, 16), -1, np.float32)
    for r, text in enumerate(wanted):
        labels[r, : len(text)] = [ord(c) for c in text]
    alphabet = tmp_path / "alphabet.txt"
    alphabet.write_text("\n".join(symbols) + "\n", encoding="utf-8")
    result = assay.evaluate(network(onnx, "Identity", (48, 7)), (scores, labels), task=f"text[alphabet={alphabet}]")
    found = figures(result)
    assert found["character-error-rate"] == pytest.approx(jiwer.cer(wanted, read))
    assert found["word-error-rate"] == pytest.approx(jiwer.wer(wanted, read))
    assert found["exact-match"] == pytest.approx(np.mean([a == b for a, b in zip(wanted, read)]))


@pytest.mark.parametrize("distance", ["cosine", "euclidean"])
def test_embeddings_are_compared_as_scikit_learn_does(onnx, metrics, distance):
    rng = np.random.default_rng(11)
    y = rng.integers(0, 5, 60)
    x = (rng.normal(size=(5, 8))[y] + 1.2 * rng.normal(size=(60, 8))).astype(np.float32)
    threshold = 0.4 if distance == "cosine" else 4.0
    result = assay.evaluate(
        network(onnx, "Identity", (8,)), (x, y), task=f"embedding[distance={distance},threshold={threshold}]"
    )
    found = figures(result)
    vectors = x.astype(np.float64)
    if distance == "cosine":
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    first, second = np.triu_indices(60, 1)
    same = y[first] == y[second]
    near = -np.linalg.norm(vectors[first] - vectors[second], axis=1)
    if distance == "cosine":
        near = (vectors[first] * vectors[second]).sum(1)
    assert found["pair-roc-auc"] == pytest.approx(metrics.roc_auc_score(same, near), abs=1e-6)
    mistaken, right, _ = metrics.roc_curve(same, near, drop_intermediate=False)
    grid = np.linspace(0, 1, 200001)
    crossing = grid[np.argmin(np.abs(1 - np.interp(grid, mistaken, right) - grid))]
    assert found["pair-equal-error-rate"] == pytest.approx(crossing, abs=1e-4)
    accepted = near >= (threshold if distance == "cosine" else -threshold)
    assert found["pair-accuracy"] == pytest.approx(metrics.accuracy_score(same, accepted), abs=1e-6)
    decided = []
    for r in range(60):
        others = np.arange(60) != r
        centres = np.stack([vectors[others & (y == c)].mean(0) for c in range(5)])
        if distance == "cosine":
            decided.append(int((centres @ vectors[r] / np.linalg.norm(centres, axis=1)).argmax()))
        else:
            decided.append(int(np.linalg.norm(centres - vectors[r], axis=1).argmin()))
    assert found["nearest-centre-accuracy"] == pytest.approx(metrics.accuracy_score(y, decided))
    assert by_class(result, "recall") == pytest.approx(list(metrics.recall_score(y, decided, average=None)))


def test_numbers_are_right_within_a_tolerance(onnx, metrics):
    rng = np.random.default_rng(12)
    y = rng.uniform(0, 360, (50, 2)).astype(np.float32)
    x = ((y + rng.normal(0, 8, y.shape)) % 360).astype(np.float32)
    result = assay.evaluate(network(onnx, "Identity", (2,)), (x, y), task="regression[tolerance=10,wrap=360]")
    away = np.abs((x.astype(np.float64) - y + 180) % 360 - 180)
    found = figures(result)
    assert found["within-tolerance"] == pytest.approx((away <= 10).mean())
    assert found["records-within-tolerance"] == pytest.approx((away <= 10).all(1).mean())
    assert found["mean-absolute-error"] == pytest.approx(away.mean())
    assert by_class(result, "mean-absolute-error") == pytest.approx(list(away.mean(0)))
    plain = assay.evaluate(network(onnx, "Identity", (2,)), (x, y), task="regression")
    assert "mean squared error" in plain.headline


def turned(onnx, network, order):
    """The same network, whose output has its axes in another order."""
    model = onnx.load_from_string(network)
    output = model.graph.output[0].name
    model.graph.node.append(onnx.helper.make_node("Transpose", [output], ["turned"], perm=order))
    del model.graph.output[:]
    model.graph.output.append(onnx.helper.make_tensor_value_info("turned", onnx.TensorProto.FLOAT, None))
    return model.SerializeToString()


def test_outputs_with_records_behind_are_turned_in_every_command(onnx, tmp_path):
    files = {}
    for name, seed, shift in [("one", 0, 0), ("two", 0, 0.35)]:
        network, _, weights = positions_network(onnx, seed=seed, shift=shift)
        network.save(str(tmp_path / f"{name}.onnx"))
        files[name] = str(tmp_path / f"{name}.onnx")
        behind = turned(onnx, (tmp_path / f"{name}.onnx").read_bytes(), [1, 0, 2, 3])
        (tmp_path / f"{name}-turned.onnx").write_bytes(behind)
    _, _, weights = positions_network(onnx)
    x, y = segmentation(weights, records=12)
    data = assay.data(x, y, range=(-1, 1))
    search = {"margin": 0.12, "storage": "float", "constraint": "none", "step": 0.1, "lambda2": 0, "plausibility": "none"}
    losses, findings = [], []
    for kind in ["", "-turned"]:
        one, two = files["one"].replace(".onnx", f"{kind}.onnx"), files["two"].replace(".onnx", f"{kind}.onnx")
        out = tmp_path / f"trained{kind}.onnx"
        trained = assay.train(model=one, data=(x, y), out=str(out), initialiser="keep", epochs=2, optimiser="adam", task="pixels")
        losses.append([row["loss"] for row in trained.table("epochs")])
        shape = onnx.load(str(out)).graph.output
        assert [output.name for output in shape] == ["turned" if kind else "y"]
        assay.explore([one, two], data, out=str(tmp_path / f"found{kind}"), task="pixels", **search)
        findings.append(np.load(tmp_path / f"found{kind}" / "findings.npz")["x"])
        assay.inspect(one, (x, y), hypotheses="items[ignore=255]", behaviour="gradient")
    assert losses[0] == pytest.approx(losses[1], rel=1e-5)
    assert len(findings[0]) > 0 and findings[0] == pytest.approx(findings[1], abs=1e-5)


def test_mutants_are_killed_by_figures_of_all_records(onnx, tmp_path):
    """Of the mutants that are written, NumPy computes what the figure is."""
    pixels, _, weights = positions_network(onnx)
    x, y = segmentation(weights)

    def iou(weights, of):
        decided = scores_of(weights, x).argmax(1)
        return ((decided == of) & (y == of)).sum() / ((decided == of) | (y == of)).sum()

    result = assay.mutate(pixels, (x, y), figure="iou[class=2]", margin=0.02, operator=["gf[sigma=0.1]", "gf[sigma=1.5]"], count=6, seed=3)
    assert result.facts["original"] == pytest.approx(iou(weights, 2), abs=1e-6)
    rows = list(result.table("mutants"))
    for row in rows:
        file = tmp_path / f"{row['mutant']}.onnx"
        assay.mutate(pixels, action="export", mutant=f"{row['operator']}@{row['layer']}#{row['seed']}", out=str(file))
        changed = [onnx.numpy_helper.to_array(w).squeeze() for w in onnx.load(str(file)).graph.initializer]
        assert row["figure"] == pytest.approx(iou(changed, 2), abs=1e-6)
        assert row["worse"] == pytest.approx(iou(weights, 2) - iou(changed, 2), abs=1e-6)
        assert (row["status"] == "killed") == (row["worse"] > 0.02)
    assert {row["status"] for row in rows} == {"killed", "survived"}
    with pytest.raises(assay.errors.UsageError, match="ioo.* is not a figure .* mean-iou"):
        assay.mutate(pixels, (x, y), figure="ioo", count=1)


def test_records_are_as_surprising_as_their_items(onnx, tmp_path):
    pixels, rows, weights = positions_network(onnx)
    x, y = segmentation(weights)
    flat, labels = np.moveaxis(x, 1, -1).reshape(-1, 3), y.ravel()

    def order(net, data, train, **options):
        file = tmp_path / "order.txt"
        assay.select(net, data, train=train, by="dsa", layer="hidden", out=str(file), **options)
        return [int(line) for line in file.read_text().split()]

    chosen = order(pixels, (x[16:], y[16:]), (x[:16], y[:16]), items="all")
    items = order(rows, (flat[320:], labels[320:]), (flat[:320], labels[:320]))
    assert len(items) == 160 and chosen == list(dict.fromkeys(item // 20 for item in items))


def test_masks_of_another_size_are_refused(onnx):
    """Scores [4, 4, 5] also are five classes at as many positions as the mask has."""
    pixels, _, weights = positions_network(onnx)
    x, y = segmentation(weights)
    with pytest.raises(assay.errors.MismatchError, match="not a row of scores for each of 16 targets"):
        assay.evaluate(pixels, (x, y[:, :, :4]), task="pixels")
    assert "5 classes along axis 3" in assay.evaluate(pixels, (x, y[:, :, :4]), task="pixels[axis=3]").facts["task"]


def test_embeddings_of_one_class_are_refused(onnx):
    x = np.random.default_rng(0).normal(size=(12, 4)).astype(np.float32)
    with pytest.raises(assay.errors.DataError, match="one class"):
        assay.evaluate(network(onnx, "Identity", (4,)), (x, np.zeros(12, np.int64)), task="embedding")
    with pytest.raises(assay.errors.DataError, match="at least two records of some class"):
        assay.evaluate(network(onnx, "Identity", (4,)), (x, np.arange(12)), task="embedding")


def test_several_labels_of_which_each_record_has_one(onnx, tmp_path):
    x = np.random.default_rng(0).normal(size=(12, 4)).astype(np.float32)
    y = np.eye(4, dtype=np.int64)[np.arange(12) % 4]
    np.savez(tmp_path / "rows.npz", x=x, y=y)
    np.savez(tmp_path / "apart.npz", x=x, y=y[:, :, None])
    net = network(onnx, "Sigmoid", (4,))
    with pytest.raises(assay.errors.MismatchError, match="a further axis of 1"):
        assay.evaluate(net, f"{tmp_path}/rows.npz", task="labels")
    found = figures(assay.evaluate(net, f"{tmp_path}/apart.npz", task="labels"))
    assert found["label-accuracy"] == pytest.approx(((x > 0) == y).mean())


def test_what_takes_classes_of_records_says_that_labels_are_of_items(onnx, tmp_path):
    x = np.random.default_rng(0).normal(size=(12, 3, 4, 4)).astype(np.float32)
    data = assay.data(x, x.argmax(1).astype(np.float32))
    net = network(onnx, "Identity", (3, 4, 4))
    with pytest.raises(assay.AssayError, match="'items' is what it has of pixels"):
        assay.inspect(net, data, hypotheses="label")
    with pytest.raises(assay.AssayError, match="the task trains on items or numbers"):
        assay.mutate(net, data, train=data, operator="le", task="pixels", store=str(tmp_path))


@pytest.mark.parametrize("command", ["importance", "cover", "mutate", "attack", "explore", "select", "train"])
def test_any_number_of_boxes_a_picture_is_taken(onnx, tmp_path, command):
    """Boxes from two convolutions; suppression inside leaves another number of each record."""
    model, x, labels = convolved_boxes(onnx)
    net = assay.load(model, decision="boxes+labels+scores")
    data = assay.data(x, labels, range=(0, 1))
    options = {"task": "boxes[format=torchvision,names=a+b,first=0]"}
    if command == "importance":
        assert assay.importance(net, data, **options).table("neurons")[0]["relevance"] != 0
    elif command == "cover":
        assay.cover(net, train=data, test=data, criterion=["idc[m=2]", "kmnc"], layer="features", **options)
    elif command == "mutate":
        assert assay.mutate(net, data, count=2, quality=1, **options).facts["judged"] > 0
    elif command == "attack":
        row = assay.attack(net, data, attack="pgd[eps=0.3]", margin=0, out=str(tmp_path), **options).table("attacks")[0]
        assert row["successes"] > 0
    elif command == "explore":
        first = np.array(net.weight("w1"))
        other = net.with_weights({"w1": first + np.random.default_rng(5).normal(0, 0.1, first.shape).astype(np.float32)})
        found = assay.explore([net, other], data, out=str(tmp_path), margin=0, **options)
        assert found.facts["findings"] > 0 and len(found.arrays["findings"]["x"]) == found.facts["findings"]
    elif command == "select":
        assay.select(net, data, by="deepgini", **options)
    else:
        assay.train(model=net, data=data, out=str(tmp_path / "net.onnx"), initialiser="keep", epochs=1, **options)


def convolved_boxes(onnx):
    """A network of one picture at a time: 16 boxes of fixed place, with scores of one convolution above 0.5 left."""
    make, types = onnx.helper, onnx.TensorProto
    rng = np.random.default_rng(3)
    middles = np.stack(np.meshgrid(np.arange(4), np.arange(4)), -1).reshape(16, 2) * 8 + 4.0
    corners = np.concatenate([middles - 3, middles + 3], 1).astype(np.float32)

    def constant(name, values, kind):
        return onnx.numpy_helper.from_array(np.asarray(values, kind), name)

    constants = [
        constant("w1", rng.normal(size=(6, 1, 8, 8)) / 4, np.float32),
        constant("w2", rng.normal(size=(1, 6, 1, 1)), np.float32),
        constant("corners", corners, np.float32),
        constant("flat", [16], np.int64),
        constant("half", 0.5, np.float32),
        constant("zeros", np.zeros(16), np.int64),
        constant("minus", [-1], np.int64),
    ]
    nodes = [
        make.make_node("Conv", ["x", "w1"], ["a"], name="features", strides=[8, 8]),
        make.make_node("Relu", ["a"], ["b"]),
        make.make_node("Conv", ["b", "w2"], ["z"], name="score"),
        make.make_node("Sigmoid", ["z"], ["p"]),
        make.make_node("Reshape", ["p", "flat"], ["all"]),
        make.make_node("Greater", ["all", "half"], ["sure"]),
        make.make_node("NonZero", ["sure"], ["there"]),
        make.make_node("Reshape", ["there", "minus"], ["kept_rows"]),
        make.make_node("Gather", ["corners", "kept_rows"], ["boxes"]),
        make.make_node("Gather", ["all", "kept_rows"], ["scores"]),
        make.make_node("Gather", ["zeros", "kept_rows"], ["labels"]),
    ]
    graph = make.make_graph(
        nodes,
        "boxes",
        [make.make_tensor_value_info("x", types.FLOAT, [1, 1, 32, 32])],
        [
            make.make_tensor_value_info("boxes", types.FLOAT, ["k", 4]),
            make.make_tensor_value_info("labels", types.INT64, ["k"]),
            make.make_tensor_value_info("scores", types.FLOAT, ["k"]),
        ],
        constants,
    )
    model = make.make_model(graph, opset_imports=[make.make_opsetid("", 17)], ir_version=8)
    x = rng.random((12, 1, 32, 32)).astype(np.float32)
    windows = x.reshape(12, 4, 8, 4, 8).transpose(0, 1, 3, 2, 4).reshape(12, 16, 64)
    w1, w2 = (onnx.numpy_helper.to_array(c) for c in constants[:2])
    logits = np.maximum(windows @ w1.reshape(6, 64).T, 0) @ w2.reshape(6)
    labels = np.full((12, 16, 5), -1, np.float32)
    for r in range(12):
        for i, box in enumerate(np.flatnonzero(logits[r] > 0)):
            labels[r, i] = [0, *corners[box]]
    return model.SerializeToString(), x, labels


def test_mutants_that_are_trained_are_judged_by_items(onnx, tmp_path):
    """Kills are those of the networks themselves: the original as `train` makes it, mutants as they are exported."""
    pixels, _, weights = positions_network(onnx)
    x, y = segmentation(weights)
    recipe = {"epochs": 3, "learning_rate": 0.05, "optimiser": "adam", "seed": 4}
    trained = {"model": pixels, "train": (x, y), "store": str(tmp_path / "store"), **recipe}
    options = {"operator": ["dm[ratio=0.7]", "epochs[to=1]", "loss[to=mse]"], "count": 2, "test": (x, y), "quality": 1, **trained}
    result = assay.mutate(margin=0.25, matrix=str(tmp_path / "matrix.csv"), **options)
    assert result.facts["task"].startswith("pixels: 4 classes")
    original = assay.train(model=pixels, data=(x, y), out=str(tmp_path / "net.onnx"), threads=1, **recipe).model
    before = original(x).argmax(1)
    with open(tmp_path / "matrix.csv", newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    mutants = result.table("mutants")
    assert {row["operator"].split("[")[0] for row in mutants} == {"dm", "epochs", "loss"}
    for number, row in enumerate(mutants):
        text, out = f"{row['operator']}@{row['layer']}#{row['seed']}", str(tmp_path / f"mutant{number}.onnx")
        changed = assay.mutate(action="export", mutant=text, out=out, **trained).model
        right = before == y
        shares = ((changed(x).argmax(1) != before) & right).sum((1, 2)) / np.maximum(right.sum((1, 2)), 1)
        assert {int(r["record"]): r[row["mutant"]] == "1" for r in rows} == dict(enumerate(shares > 0.25)), text
        if row["operator"].startswith("loss"):
            same = assay.train(model=pixels, data=(x, y), out=str(tmp_path / "mse.onnx"), loss="mse", threads=1, **recipe).model
            assert (changed(x) == same(x)).all()
    study = assay.mutate(runs="2", **{**options, "operator": ["epochs[to=1]"], "count": None, "quality": None})
    assert study.facts["task"].startswith("pixels")


def test_binary_needs_one_score_or_two(onnx):
    x, y = np.random.default_rng(1).normal(size=(20, 3)).astype(np.float32), np.arange(20) % 2
    with pytest.raises(assay.errors.MismatchError, match="gives .* for a record, and not one score.*task 'classes'"):
        assay.evaluate(network(onnx, "Identity", (3,)), assay.data(x, y), task="binary")
    for width in (1, 2):
        assert assay.evaluate(network(onnx, "Identity", (width,)), assay.data(x[:, :width], y), task="binary").figures()


def test_the_alphabet_of_a_pack_is_among_its_inputs(onnx, tmp_path):
    package = importlib.import_module("onnx")
    make, kind = package.helper, package.TensorProto.FLOAT
    ports = [make.make_tensor_value_info(name, kind, ["n", 7, 3]) for name in "xy"]
    graph = make.make_graph([make.make_node("Identity", ["x"], ["y"])], "steps", ports[:1], ports[1:])
    package.save(make.make_model(graph, opset_imports=[make.make_opsetid("", 17)], ir_version=8), tmp_path / "net.onnx")
    rng = np.random.default_rng(1)
    np.savez(tmp_path / "data.npz", x=rng.normal(size=(12, 7, 3)).astype(np.float32), y=rng.integers(97, 99, (12, 2)))
    (tmp_path / "symbols.txt").write_text("blank\na\nb\n")
    (tmp_path / "text").mkdir()
    (tmp_path / "text" / "letter.txt").write_text("a folder that is called as the task")
    (tmp_path / "study.toml").write_text(
        '[evidence]\nmodel = "net.onnx"\ntest = "data.npz"\n[[evidence.step]]\ncommand = "evaluate"\ntask = "text[alphabet=symbols.txt]"\n'
    )
    for arguments in (["evidence", "--config", "study.toml", "--out", "pack"], ["verify", "pack", "--rerun", "all"]):
        run = subprocess.run([PROGRAM, *arguments], cwd=tmp_path, capture_output=True, text=True, check=False)
        assert run.returncode == 0, run.stderr
    listed = (tmp_path / "pack" / "manifest.json").read_text()
    assert "symbols.txt" in listed and "letter.txt" not in listed


def test_attacked_records_that_give_nan_are_not_still_right(onnx, tmp_path):
    package = importlib.import_module("onnx")
    make, kind = package.helper, package.TensorProto.FLOAT
    nodes = [make.make_node("Log", ["x"], ["h"]), make.make_node("Neg", ["h"], ["n"]), make.make_node("Concat", ["h", "n"], ["y"], axis=1)]
    ports = [make.make_tensor_value_info(name, kind, ["n", width]) for name, width in (("x", 1), ("y", 2))]
    graph = make.make_graph(nodes, "logarithm", ports[:1], ports[1:])
    net = assay.load(make.make_model(graph, opset_imports=[make.make_opsetid("", 17)], ir_version=8).SerializeToString())
    records = assay.data(np.full((8, 1), 3, np.float32), np.zeros(8, np.int64), range=(-100, 100))
    result = assay.attack(net, records, attack="noise[sigma=0.5]", out=tmp_path / "attacked")
    attacked = np.load(next((tmp_path / "attacked").glob("*.npz")))
    broken = (attacked["x"] < 0).sum()
    assert 0 < broken < 8 and not attacked["success"][attacked["x"][:, 0] < 0].any()
    assert result.document["facts"]["robust_accuracy"] <= 1 - broken / 8
    assert any(f"{broken} of 8 attacked records give a NaN" in notice for notice in result.document["notices"])


@pytest.mark.parametrize("goal", [{"margin": 0}, {"hide": "a"}])
def test_captions_of_attacks_on_boxes_say_what_changed(onnx, tmp_path, goal):
    model, x, labels = convolved_boxes(onnx)
    net, data = assay.load(model, decision="boxes+labels+scores"), assay.data(x, labels, range=(0, 1))
    options = {"attack": "pgd[eps=0.3]", "task": "boxes[format=torchvision,names=a+b,first=0]"}
    result = assay.attack(net, data, pictures=3, out=str(tmp_path / "out"), **options, **goal)
    captions = [picture["title"] for picture in result.document["pictures"]]
    assert len(captions) == 3 and ("of 'a' decided otherwise" in captions[0]) == ("hide" in goal)
    for caption in captions:
        numbers = re.search(r"(\d+) of (\d+) items?.* decided otherwise; a: (\d+) before, (\d+) after", caption)
        changed, of, before, after = map(int, numbers.groups())
        assert 0 < changed <= of <= before and after < before
    nothing = assay.attack(net, data, appear="a", margin=0, out=str(tmp_path / "none"), **options)
    assert nothing.facts["goal"] == "an item of 'a' appears"
    assert any("in no record an item of 'a' can appear" in notice for notice in nothing.document["notices"])


def test_captions_say_how_many_items_of_a_class_appear(onnx, tmp_path):
    pixels, _, weights = positions_network(onnx)
    x, y = segmentation(weights)
    data = assay.data(x, y, range=(float(x.min()), float(x.max())))
    result = assay.attack(pixels, data, attack="pgd[eps=0.3]", appear="2", pictures=2, out=str(tmp_path), task="pixels")
    captions = [picture["title"] for picture in result.document["pictures"]]
    found = [re.search(r"'2' is to appear;.*\b2: (\d+) before, (\d+) after", caption) for caption in captions]
    assert len(captions) == 2 and any(found), captions
    assert all(int(one.group(2)) > int(one.group(1)) for one in found if one)


def test_turned_masks_are_refused(onnx, tmp_path):
    pixels, _, weights = positions_network(onnx)
    x, y = segmentation(weights)
    turned = y.swapaxes(1, 2)
    np.savez(tmp_path / "turned.npz", x=x, y=turned)
    np.savez(tmp_path / "last.npz", x=x.transpose(0, 2, 3, 1), y=turned)
    np.savez(tmp_path / "grey.npz", x=np.zeros(y.shape, np.uint8), y=turned)
    files = ["turned.npz", "last.npz,layout=nhwc", "grey.npz"]
    asked = [lambda file=file: assay.evaluate(pixels, f"{tmp_path}/{file}", task="pixels") for file in files]
    for ask in [lambda: assay.data(x, turned), *asked]:
        with pytest.raises(assay.errors.DataError, match="labels of 5 x 4 are turned, as records are 4 high and 5 wide"):
            ask()
    assert assay.evaluate(pixels, assay.data(x, turned.reshape(len(x), -1))).facts["items"] == y.size


def test_what_does_not_count_cannot_appear(onnx, tmp_path):
    pixels, _, weights = positions_network(onnx)
    x, _ = segmentation(weights)
    decided = scores_of(weights, x).argmax(1).reshape(len(x), -1)
    options = {"attack": "pgd[eps=1,steps=20]", "appear": "2", "task": "pixels"}

    def successes(counted, name):
        y = np.where(counted, decided, 255).reshape(len(x), *x.shape[2:])
        data = assay.data(x, y, range=(float(x.min()), float(x.max())))
        result = assay.attack(pixels, data, **options, out=str(tmp_path / name))
        return result, result.arrays["pgd"]["x"]

    result, _ = successes(decided == 2, "none")
    assert any("in no record an item of '2' can appear" in notice for notice in result.document["notices"])
    half = np.arange(decided.shape[1]) % 2 == 0
    result, attacked = successes(np.broadcast_to(half, decided.shape), "half")
    after = scores_of(weights, attacked).argmax(1).reshape(len(attacked), -1)
    aimed = (decided != 2) & half
    appeared = ((after == 2) & aimed[aimed.any(1)]).any(1).sum()
    assert result.table("attacks")["successes"][0] == appeared > 0


def test_labels_of_embeddings_are_no_mutants_and_networks_do_not_vote_on_items(onnx, tmp_path):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(24, 4)).astype(np.float32)
    constant = onnx.numpy_helper.from_array(rng.normal(size=(4, 3)).astype(np.float32), "w")
    make, kind = onnx.helper, onnx.TensorProto.FLOAT
    values = [make.make_tensor_value_info(name, kind, ["n", width]) for name, width in (("x", 4), ("y", 3))]
    graph = make.make_graph([make.make_node("MatMul", ["x", "w"], ["y"], name="dense")], "net", values[:1], values[1:], [constant])
    model = make.make_model(graph, opset_imports=[make.make_opsetid("", 17)], ir_version=8)
    (tmp_path / "net.onnx").write_bytes(model.SerializeToString())
    data = assay.data(x, np.arange(24) % 3)
    net = assay.load(tmp_path / "net.onnx")
    with pytest.raises(assay.AssayError, match="le on data: it takes the label .* task .embedding. has the number of the class as a target"):
        assay.mutate(net, data, train=data, operator="le", count=1, quality=1, task="embedding", store=str(tmp_path / "kept"))
    labels = assay.data(x, (rng.random((24, 3)) > 0.5).astype(np.float32))
    with pytest.raises(assay.errors.UsageError, match="vote on the one class of a record, and the task is labels: .* leave out labels and voters"):
        assay.retrain(net, train=labels, test=labels, add=labels, labels="majority", voters=[str(tmp_path / "net.onnx")] * 3, count=3, task="labels")


def test_signals_and_volumes_are_measured_as_scikit_learn_does(onnx, metrics):
    rng = np.random.default_rng(4)
    for shape in [(3, 40), (3, 5, 6, 7)]:
        x = rng.normal(size=(24, *shape)).astype(np.float32)
        decided = x.argmax(1)
        y = np.where(rng.random(decided.shape) < 0.3, rng.integers(0, 3, decided.shape), decided)
        y[:, :2] = 255
        found = figures(assay.evaluate(network(onnx, "Identity", shape), (x, y), task="pixels"))
        wanted, named = y[y != 255], decided[y != 255]
        assert found["pixel-accuracy"] == pytest.approx(metrics.accuracy_score(wanted, named))
        assert found["mean-iou"] == pytest.approx(metrics.jaccard_score(wanted, named, average="macro"))
        assert found["mean-dice"] == pytest.approx(metrics.f1_score(wanted, named, average="macro"))


def test_two_angles_are_measured_the_shorter_way_round(onnx):
    rng = np.random.default_rng(5)
    x = rng.uniform(-180, 180, (24, 2)).astype(np.float32)
    y = ((x + rng.normal(0, 15, x.shape) + 180) % 360 - 180).astype(np.float32)
    apart = np.abs((x - y + 180) % 360 - 180)
    found = figures(assay.evaluate(network(onnx, "Identity", (2,)), (x, y), task="regression[tolerance=15,wrap=360]"))
    assert (np.abs(x - y) > 180).any()
    assert found["within-tolerance"] == pytest.approx((apart <= 15).mean())
    assert found["mean-absolute-error"] == pytest.approx(apart.mean(), rel=1e-4)
    assert found["mean-squared-error"] == pytest.approx((apart**2).mean(), rel=1e-4)


def test_texts_that_take_more_steps_than_there_are_are_said(onnx, tmp_path):
    (tmp_path / "ab.txt").write_text("a\nb\n")
    x = np.random.default_rng(6).normal(size=(12, 4, 3)).astype(np.float32)
    y = np.full((12, 4), -1)
    y[:, 0], y[5, :3] = 97, 97
    task = f"text[alphabet={tmp_path}/ab.txt,blank=last]"
    with pytest.raises(assay.DataError, match="record '5': its text of 3 characters takes 5 steps .* has 4; leave such records out"):
        assay.select(network(onnx, "Identity", (4, 3)), (x, y), by="margin", task=task)


def test_outputs_of_any_shape_are_written_where_nothing_is_compared(onnx, tmp_path):
    given, found = (onnx.helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, ["n", 3, 4]) for name in "xy")
    graph = onnx.helper.make_graph([onnx.helper.make_node("Tanh", ["x"], ["y"])], "any", [given], [found])
    onnx.save(onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 17)], ir_version=8), tmp_path / "net.onnx")
    x = np.linspace(-1, 1, 24, dtype=np.float32).reshape(2, 3, 4)
    assay.evaluate(tmp_path / "net.onnx", assay.data(x), predictions=str(tmp_path / "said.npz"))
    np.testing.assert_allclose(np.load(tmp_path / "said.npz")["outputs"], np.tanh(x), atol=1e-6)
