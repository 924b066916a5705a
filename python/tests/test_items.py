"""Items that are known by more than their position (boxes, characters, numbers, embeddings) in every analysis.

Each case is a network of two dense layers with what makes its output one of the task, and the same in NumPy.
"""

import csv
import importlib
import json

import numpy as np
import pytest

import assay


@pytest.fixture
def onnx():
    package = pytest.importorskip("onnx", reason="SKIPPED: the package onnx is not there")
    importlib.import_module("onnx.numpy_helper")
    return package


class Case:
    """A task, a network for it, and what NumPy says of items that are decided otherwise."""

    inputs, hidden = 6, 12

    def __init__(self, onnx, folder, seed=0, shift=0.0):
        self.onnx, self.folder = onnx, folder
        rng = np.random.default_rng(seed)
        self.weights = {
            "w1": rng.normal(size=(self.hidden, self.inputs)),
            "w2": rng.normal(size=(self.outputs, self.hidden)),
        }
        self.weights["w2"] += shift * rng.normal(size=self.weights["w2"].shape)
        self.weights = {name: weight.astype(np.float32) for name, weight in self.weights.items()}

    def network(self):
        return assay.load(self.file())

    def file(self):
        make, kind = self.onnx.helper, self.onnx.TensorProto.FLOAT
        nodes = [
            make.make_node("Gemm", ["x", "w1"], ["a"], name="hidden", transB=1),
            make.make_node("Relu", ["a"], ["b"], name="relu"),
            make.make_node("Gemm", ["b", "w2"], ["z"], name="scores", transB=1),
        ]
        constants = [self.onnx.numpy_helper.from_array(w, n) for n, w in self.weights.items()]
        shape = self.end(make, nodes, constants)
        graph = make.make_graph(
            nodes,
            "net",
            [make.make_tensor_value_info("x", kind, ["n", self.inputs])],
            [make.make_tensor_value_info("y", kind, ["n", *shape])],
            constants,
        )
        opset = [make.make_opsetid("", 17)]
        return make.make_model(graph, opset_imports=opset, ir_version=8).SerializeToString()

    def constant(self, values, name):
        return self.onnx.numpy_helper.from_array(np.asarray(values), name)

    def scores(self, x, weights=None):
        weights = weights or self.weights
        return np.maximum(x @ weights["w1"].T, 0) @ weights["w2"].T

    def records(self, count=40, seed=1):
        x = (2 * np.random.default_rng(seed).random((count, self.inputs)) - 1).astype(np.float32)
        return x, self.labels(x)

    def items_changed(self, before, after, y):
        """By record, the share of the items that `before` decides correctly and `after` does not; NaN: none."""
        shares = []
        for one, other, label in zip(before, after, y):
            right = self.right(one, label)
            shares.append(np.mean([not self.holds(item, other) for item in right]) if right else np.nan)
        return np.array(shares)


class Boxes(Case):
    """Two classes at eight places that do not overlap: [4 + 2, 8]."""

    outputs, places = 16, 8
    task = "boxes"

    def end(self, make, nodes, constants):
        middles = 10.0 * (1 + np.arange(self.places))
        corners = np.stack([middles, middles, np.full(self.places, 8.0), np.full(self.places, 8.0)])
        constants.append(self.constant(np.zeros((4 * self.places, self.inputs), np.float32), "nothing"))
        constants.append(self.constant(corners.ravel().astype(np.float32), "corners"))
        constants.append(self.constant(np.array([-1, 2, self.places]), "to_scores"))
        constants.append(self.constant(np.array([-1, 4, self.places]), "to_corners"))
        nodes += [
            make.make_node("Sigmoid", ["z"], ["p"]),
            make.make_node("Reshape", ["p", "to_scores"], ["s"]),
            make.make_node("Gemm", ["x", "nothing", "corners"], ["c"], transB=1),
            make.make_node("Reshape", ["c", "to_corners"], ["d"]),
            make.make_node("Concat", ["d", "s"], ["y"], axis=1),
        ]
        return 6, self.places

    def decided(self, x, weights=None):
        sure = 1 / (1 + np.exp(-self.scores(x, weights))) >= 0.25
        return [set(zip(*np.nonzero(one.reshape(2, self.places)))) for one in sure]

    def labels(self, x):
        """Rows of class, left, top, right, bottom: what is decided, and one box that is not."""
        rows = np.full((len(x), 16, 5), -1, np.float32)
        for r, items in enumerate(self.decided(x)):
            missed = {(c, p) for c in range(2) for p in range(self.places)} - items
            for i, (c, p) in enumerate(sorted(items) + sorted(missed)[:1]):
                middle = 10 * (1 + p)
                rows[r, i] = [c, middle - 4, middle - 4, middle + 4, middle + 4]
        return rows

    def right(self, items, label):
        wanted = {(int(row[0]), int(round((row[1] + 4) / 10)) - 1) for row in label if row[0] >= 0}
        return sorted(items & wanted)

    def holds(self, item, items):
        return item in items


class BoxesInTwoOutputs(Boxes):
    """The same, boxes and scores apart: [8, 4] and [8, 2]."""

    task = "boxes[format=retinanet]"

    def network(self):
        make, kind = self.onnx.helper, self.onnx.TensorProto.FLOAT
        model = self.onnx.load_from_string(super().file())
        del model.graph.node[-1], model.graph.output[:]
        for node in [
            make.make_node("Transpose", ["s"], ["scores_of_boxes"], perm=[0, 2, 1]),
            make.make_node("Transpose", ["d"], ["middles"], perm=[0, 2, 1]),
            make.make_node("Split", ["middles"], ["middle", "sides"], axis=2),
            make.make_node("Mul", ["sides", "half"], ["halves"]),
            make.make_node("Sub", ["middle", "halves"], ["low"]),
            make.make_node("Add", ["middle", "halves"], ["high"]),
            make.make_node("Concat", ["low", "high"], ["corners_of_boxes"], axis=2),
        ]:
            model.graph.node.append(node)
        model.graph.initializer.append(self.constant(np.float32(0.5), "half"))
        for name, width in [("corners_of_boxes", 4), ("scores_of_boxes", 2)]:
            model.graph.output.append(make.make_tensor_value_info(name, kind, ["n", self.places, width]))
        return assay.load(model.SerializeToString(), decision="corners_of_boxes+scores_of_boxes")


class Text(Case):
    """Eight steps of a blank and three symbols."""

    outputs, steps = 32, 8

    def __init__(self, *arguments, **options):
        super().__init__(*arguments, **options)
        alphabet = self.folder / "alphabet.txt"
        alphabet.write_text("a\nb\nc\n")
        self.task = f"text[alphabet={alphabet}]"

    def end(self, make, nodes, constants):
        constants.append(self.constant(np.array([-1, self.steps, 4]), "to_steps"))
        nodes.append(make.make_node("Reshape", ["z", "to_steps"], ["y"]))
        return self.steps, 4

    def decided(self, x, weights=None):
        texts = []
        for symbols in self.scores(x, weights).reshape(-1, self.steps, 4).argmax(2):
            runs = [s for t, s in enumerate(symbols) if t == 0 or s != symbols[t - 1]]
            texts.append("".join("-abc"[s] for s in runs if s != 0))
        return texts

    def labels(self, x):
        rows = np.full((len(x), self.steps), -1, np.float32)
        for r, text in enumerate(self.decided(x)):
            rows[r, : len(text)] = [ord(c) for c in text]
        return rows

    def items_changed(self, before, after, y):
        """Only whether any has: which characters an edit touches is not unique."""
        return np.array([np.nan if not a else float(a != b) for a, b in zip(before, after)])


class Numbers(Case):
    outputs = 3
    task = "regression[tolerance=0.5]"

    def end(self, make, nodes, constants):
        nodes.append(make.make_node("Identity", ["z"], ["y"]))
        return (3,)

    def decided(self, x, weights=None):
        return self.scores(x, weights)

    def labels(self, x):
        rng = np.random.default_rng(5)
        return (self.scores(x) + rng.uniform(-0.7, 0.7, (len(x), 3))).astype(np.float32)

    def right(self, numbers, label):
        return [(k, label[k]) for k in range(3) if abs(numbers[k] - label[k]) <= 0.5]

    def holds(self, item, numbers):
        return abs(numbers[item[0]] - item[1]) <= 0.5


class Embedding(Case):
    outputs, classes = 4, 3
    task = "embedding[distance=euclidean]"

    def end(self, make, nodes, constants):
        nodes.append(make.make_node("Identity", ["z"], ["y"]))
        return (4,)

    def labels(self, x):
        """Classes of which the nearest centre tells most."""
        vectors = self.scores(x)
        y = np.arange(len(x)) % self.classes
        for _ in range(10):
            centres = np.stack([vectors[y == c].mean(0) for c in range(self.classes)])
            y = np.linalg.norm(vectors[:, None] - centres, axis=2).argmin(1)
        y[:3] = (y[:3] + 1) % self.classes
        self.centres = np.stack([vectors[y == c].mean(0) for c in range(self.classes)])
        return y

    def decided(self, x, weights=None):
        return np.linalg.norm(self.scores(x, weights)[:, None] - self.centres, axis=2).argmin(1)

    def right(self, decided, label):
        return [label] if decided == label else []

    def holds(self, item, decided):
        return item == decided


CASES = [Boxes, BoxesInTwoOutputs, Text, Numbers, Embedding]


@pytest.fixture(params=CASES, ids=lambda case: case.__name__)
def case(request, onnx, tmp_path):
    return request.param(onnx, tmp_path)


def test_mutants_are_killed_by_changed_items(case, tmp_path):
    x, y = case.records()
    net, matrix = case.network(), tmp_path / "matrix.csv"
    before = case.decided(x)
    result = assay.mutate(
        net, (x, y), task=case.task, operator="gf[sigma=0.3]", count=5, quality=1, matrix=str(matrix), seed=3
    )
    kills = {int(row["record"]): row for row in csv.DictReader(matrix.read_text().splitlines())}
    judged = np.flatnonzero(~np.isnan(case.items_changed(before, before, y)))
    assert sorted(kills) == list(judged) and len(judged) > 20
    verdicts = []
    for mutant in result.table("mutants"):
        file = tmp_path / f"{mutant['mutant']}.onnx"
        text = f"{mutant['operator']}@{mutant['layer']}#{mutant['seed']}"
        assay.mutate(net, action="export", mutant=text, out=str(file))
        constants = case.onnx.load(str(file)).graph.initializer
        weights = {w.name: case.onnx.numpy_helper.to_array(w) for w in constants}
        shares = case.items_changed(before, case.decided(x, weights), y)
        for i, row in kills.items():
            assert row[mutant["mutant"]] == str(int(shares[i] > 0))
            verdicts.append(shares[i] > 0)
    assert any(verdicts) and not all(verdicts)


@pytest.mark.parametrize("attack", ["fgsm[eps=0.2]", "pgd[eps=0.2]", "deepfool", "cw"])
def test_attacks_are_judged_by_changed_items(case, tmp_path, attack):
    x, y = case.records()
    result = assay.attack(
        case.network(),
        assay.data(x, y, range=(-1, 1)),
        task=case.task,
        attack=attack,
        out=str(tmp_path / "out"),
        margin=0,
    )
    (file,) = (tmp_path / "out").glob("*.npz")
    made = np.load(file)
    at = made["original"]
    labels = [y[i] for i in at]
    before = [case.decided(x)[i] for i in at]
    shares = case.items_changed(before, case.decided(made["x"]), labels)
    assert not np.isnan(shares).any()
    assert list(made["success"]) == list(shares > 0)
    assert result.table("attacks")[0]["successes"] == sum(made["success"]) > len(at) / 3


def test_importance_is_of_the_scores_of_right_items(case):
    """Gradient x input at the hidden layer, summed up in NumPy."""
    x, y = case.records(seed=4)
    found = assay.importance(case.network(), (x, y), task=case.task, layer="hidden", method="gradient-x-input")
    hidden = np.maximum(x @ case.weights["w1"].T, 0)
    weight = case.weights["w2"]
    sums = np.zeros(case.hidden)
    for one, decided, label, scores in zip(hidden, case.decided(x), y, case.scores(x)):
        if isinstance(case, Boxes):
            for c, p in case.right(decided, label):
                probability = 1 / (1 + np.exp(-scores[c * case.places + p]))
                sums += probability * (1 - probability) * one * weight[c * case.places + p]
        elif isinstance(case, Numbers):
            for k, _ in case.right(decided, label):
                sums += one * weight[k]
        elif isinstance(case, Embedding):
            for c in case.right(decided, label):
                others = np.linalg.norm(scores - case.centres, axis=1)
                others[c] = np.inf
                sums += one * ((case.centres[c] - case.centres[others.argmin()]) @ weight)
        else:
            steps = scores.reshape(case.steps, 4)
            symbols = steps.argmax(1)
            begin = 0
            for end in range(1, case.steps + 1):
                if end < case.steps and symbols[end] == symbols[begin]:
                    continue
                if symbols[begin] != 0:
                    ordered = np.sort(steps[begin:end], axis=1)
                    surest = begin + (ordered[:, -1] - ordered[:, -2]).argmax()
                    sums += one * weight[surest * 4 + symbols[begin]]
                begin = end
    rows = {int(row["neuron"]): row["relevance"] for row in found.table("neurons")}
    assert [rows[k] for k in range(case.hidden)] == pytest.approx(list(sums), rel=1e-3, abs=1e-4)


def test_networks_are_explored_for_items_that_differ(case, onnx, tmp_path):
    x, y = case.records(12)
    other = type(case)(onnx, tmp_path, shift=0.05)
    assay.explore(
        [case.network(), other.network()],
        assay.data(x, y, range=(-1, 1)),
        task=case.task,
        out=str(tmp_path / "found"),
        margin=0,
        storage="float",
        constraint="none",
        step=0.1,
        lambda2=0,
    )
    found = np.load(tmp_path / "found" / "findings.npz")["x"]
    assert len(found) > 1
    if isinstance(case, Embedding):
        other.centres = case.centres
    for one, two in zip(case.decided(found), other.decided(found)):
        if isinstance(case, Numbers):
            assert np.abs(one - two).max() > 0.5
        else:
            assert one != two
    manifest = json.loads((tmp_path / "found" / "manifest.json").read_text())["findings"]
    assert all(entry["items_differing"] > 0 for entry in manifest)


def test_training_learns_items(case, onnx, tmp_path):
    x, y = case.records(120)
    other = type(case)(onnx, tmp_path, seed=0, shift=0.5)
    net, out = other.network(), str(tmp_path / "net.onnx")
    if isinstance(case, Embedding):
        other.centres = case.centres
    loss = {"loss": "mse"} if isinstance(case, Numbers) else {}
    assay.train(
        model=net, data=(x, y), task=case.task, out=out, epochs=30, optimiser="adam", learning_rate=0.02, seed=4, initialiser="keep", **loss
    )
    before, after = (assay.evaluate(model, (x, y), task=case.task) for model in (net, out))
    first = after.table("figures")[0]["figure"]
    figure = {row["figure"]: row["value"] for row in after.table("figures")}
    was = {row["figure"]: row["value"] for row in before.table("figures")}
    if isinstance(case, Text):
        assert figure["character-error-rate"] < was["character-error-rate"]
    elif isinstance(case, Boxes):
        assert figure["f1"] > was["f1"]
    else:
        assert figure[first] > was[first]


def test_records_are_selected_by_doubt_about_items(case):
    x, y = case.records()
    if isinstance(case, Numbers):
        with pytest.raises(assay.errors.AssayError, match="numbers"):
            assay.select(case.network(), (x, y), task=case.task, by="deepgini", size=7)
        return
    assert len(assay.select(case.network(), (x, y), task=case.task, by="deepgini", size=7).ids) == 7


def test_coverage_of_important_neurons(case):
    x, y = case.records()
    result = assay.cover(
        case.network(), test=(x, y), train=(x, y), layer="hidden", criterion="idc[m=2]", task=case.task
    )
    ranked = assay.importance(case.network(), (x, y), layer="hidden", task=case.task).table("neurons")
    assert {row["neuron"] for row in result.table("clusters")} == {row["neuron"] for row in list(ranked)[:2]}


def test_objects_are_hidden_and_made_to_appear(onnx, tmp_path):
    case = Boxes(onnx, tmp_path)
    x, y = case.records()
    for rows in y:  # one object of class 1 is known
        rows[np.flatnonzero(rows[:, 0] == 1)[1:]] = -1
    before = case.decided(x)

    def made(**goal):
        out = tmp_path / "-".join(goal)
        result = assay.attack(
            case.network(), assay.data(x, y, range=(-1, 1)), task=case.task, attack="pgd[eps=0.5]", out=str(out), **goal
        )
        (file,) = out.glob("*.npz")
        return result, np.load(file)

    result, hidden = made(hide="1")
    assert "every item of '1' is decided otherwise" in json.dumps(result.document)
    for record, original, success in zip(hidden["x"], hidden["original"], hidden["success"]):
        now = case.decided(record[None])[0]
        assert success == (not {item for item in case.right(before[original], y[original]) if item[0] == 1} & now)
    assert 0 < sum(hidden["success"])
    result, appeared = made(appear="0")
    assert "an item of '0' appears" in json.dumps(result.document)
    for record, original, success in zip(appeared["x"], appeared["original"], appeared["success"]):
        fresh = case.decided(record[None])[0] - before[original]
        assert success == any(c == 0 for c, _ in fresh)
    assert 0 < sum(appeared["success"])


def test_goals_of_attacks_are_checked(onnx, tmp_path):
    case = Boxes(onnx, tmp_path)
    x, y = case.records(8)
    data = assay.data(x, y, range=(-1, 1))
    options = {"task": case.task, "attack": "fgsm", "out": str(tmp_path / "out")}
    with pytest.raises(assay.errors.UsageError, match="class '7' is not among those of task"):
        assay.attack(case.network(), data, hide="7", **options)
    with pytest.raises(assay.errors.UsageError, match="hides a class or makes one appear"):
        assay.attack(case.network(), data, hide="0", appear="1", **options)
    text = Text(onnx, tmp_path)
    x, y = text.records(8)
    with pytest.raises(assay.errors.UnsupportedError, match="none can appear"):
        assay.attack(
            text.network(), assay.data(x, y, range=(-1, 1)), task=text.task, attack="fgsm", appear="a", out=str(tmp_path / "b")
        )


def test_every_criterion_takes_items(case):
    """Labels of classes become those of items in training records as well."""
    if isinstance(case, Numbers):
        pytest.skip("numbers have no classes")
    x, y = case.records(60)
    options = {"train": (x[:40], y[:40]), "test": (x, y), "task": case.task, "layer": "hidden"}
    result = assay.cover(case.network(), criterion=["kmnc[sections=10]", "dsc", "idc[m=2]"], items="5", by_class=True, **options)
    rows = result.table("criteria")
    assert len({row["class"] for row in rows}) > 2
    # Items of one record share the activations of a dense layer, so only single ones differ from other classes.
    measured = "dsc" if isinstance(case, Embedding) else "kmnc"
    assert any(row["criterion"].startswith(measured) and int(row["covered"]) > 0 for row in rows)


def test_selection_learns_from_items_of_training_records(case):
    x, y = case.records(60)
    chosen = assay.select(case.network(), (x, y), train=(x, y), task=case.task, by="minimise", criterion="idc[m=2]")
    assert 0 < chosen.facts["chosen"] <= 16


def test_criteria_are_audited_by_items(case):
    """A record covers what its items cover: of records that are all there twice, all but one cover what `cover` says."""
    if isinstance(case, Numbers):
        pytest.skip("numbers have no classes")
    x, y = (np.concatenate([part, part]) for part in case.records(30))
    options = {"train": (x[:20], y[:20]), "test": (x, y), "task": case.task, "layer": "hidden", "items": "all"}
    criteria = ["kmnc[sections=10]", "dsc"]
    few = {"subsets": 10, "permutations": 19, "resamples": 20, "orders": 19}
    result = assay.audit(case.network(), criterion=criteria, count=2, sizes="20,59", noise=0.05, **few, **options)
    assert result.facts["items"].startswith("all items of each record")
    covered = {row["criterion"]: row for row in assay.cover(case.network(), criterion=criteria, **options).table("criteria")}
    judged = {row["criterion"]: row for row in result.table("discrimination")}
    for criterion in criteria:
        (name,) = (name for name in judged if name.startswith(criterion.split("[")[0]))
        share = int(covered[name]["covered"]) / int(covered[name]["coverable"])
        assert judged[name]["mean_20"] <= judged[name]["mean_59"] == pytest.approx(share, abs=1e-4)
    assert judged["kmnc[sections=10]"]["mean_20"] > 0
    assert "sum of deepgini" in {row["criterion"] for row in result.table("verdicts")}


def test_a_twin_is_audited_by_items_as_the_network_is(case):
    """The network as a twin of itself ranks subsets as it does, one with other weights otherwise."""
    if isinstance(case, Numbers):
        pytest.skip("numbers have no classes")
    x, y = (np.concatenate([part, part]) for part in case.records(30))
    few = {"subsets": 10, "permutations": 19, "resamples": 20, "orders": 19, "sizes": "5,20"}
    options = {"train": (x[:20], y[:20]), "test": (x, y), "task": case.task, "layer": "hidden", "items": "all"}
    first = np.array(case.network().weight("w1"))
    other = case.network().with_weights({"w1": first + np.random.default_rng(1).normal(0, 0.5, first.shape).astype(np.float32)})
    for twin in (case.network(), other):
        result = assay.audit(case.network(), criterion=["kmnc[sections=10]", "nbc"], count=2, twin=[twin], **few, **options)
        (row,) = (row for row in result.table("discrimination") if row["criterion"].startswith("kmnc"))
        (again,) = (value for key, value in row.items() if key.startswith("again_"))
        assert (again == pytest.approx(1)) == (twin is not other), again
