"""A network that decides at every position, and the same network with positions as records, in commands beside
`evaluate`, `importance` and `cover` (test_tasks.py): what is said of items is what is said of records.
"""

import csv
import importlib
import json

import numpy as np
import pytest

import assay

CHANNELS, HIDDEN, HEIGHT, WIDTH, RECORDS = 3, 8, 3, 4, 20


@pytest.fixture
def onnx():
    package = pytest.importorskip("onnx", reason="SKIPPED: the package onnx is not there")
    importlib.import_module("onnx.numpy_helper")
    return package


class Twins:
    """Layers of 1 x 1 convolutions over pictures, and the same weights as dense layers over their pixels."""

    def __init__(self, onnx, classes, shift=0.0):
        self.onnx, self.classes = onnx, classes
        rng = np.random.default_rng(4)
        self.weights = [rng.normal(size=shape).astype(np.float32) for shape in ((HIDDEN, CHANNELS), (classes, HIDDEN))]
        self.weights[1] += (shift * rng.normal(size=self.weights[1].shape)).astype(np.float32)

    def network(self, shape):
        """Of records [channels, *shape]; without a shape of vectors."""
        make, kind = self.onnx.helper, self.onnx.TensorProto.FLOAT
        operator, options = ("Conv", {}) if shape else ("Gemm", {"transB": 1})
        weights = [w[..., None, None] if shape else w for w in self.weights]
        nodes = [
            make.make_node(operator, ["x", "w1"], ["a"], name="hidden", **options),
            make.make_node("Relu", ["a"], ["b"], name="relu"),
            make.make_node(operator, ["b", "w2"], ["y"], name="scores", **options),
        ]
        graph = make.make_graph(
            nodes,
            "net",
            [make.make_tensor_value_info("x", kind, ["n", CHANNELS, *shape])],
            [make.make_tensor_value_info("y", kind, ["n", self.classes, *shape])],
            [self.onnx.numpy_helper.from_array(w, n) for w, n in zip(weights, ["w1", "w2"])],
        )
        model = make.make_model(graph, opset_imports=[make.make_opsetid("", 17)], ir_version=8)
        return assay.load(model.SerializeToString())

    def pictures(self):
        return self.network((HEIGHT, WIDTH))

    def pixels(self):
        return self.network(())

    def one_pixel(self):
        return self.network((1, 1))

    def scores(self, rows):
        return np.maximum(rows @ self.weights[0].T, 0) @ self.weights[1].T

    def records(self, seed=1):
        """Pictures with labels of which most are right, and the same as rows."""
        rng = np.random.default_rng(seed)
        x = (2 * rng.random((RECORDS, CHANNELS, HEIGHT, WIDTH)) - 1).astype(np.float32)
        rows = rows_of(x)
        labels = self.scores(rows).argmax(1)
        wrong = rng.random(labels.shape) < 0.25
        labels[wrong] = rng.integers(0, self.classes, wrong.sum())
        return x, labels.reshape(RECORDS, HEIGHT, WIDTH), rows, labels


def rows_of(x):
    return np.ascontiguousarray(np.moveaxis(x, 1, -1).reshape(-1, CHANNELS))


def as_records(rows, labels):
    """Pictures of one pixel."""
    return rows[:, :, None, None], labels[:, None, None]


def made_by(folder):
    (file,) = folder.glob("*.npz")
    return np.load(file)


def matrix_of(path):
    with open(path) as file:
        return {int(row["record"]): {m: row[m] for m in row if m not in ("record", "class")} for row in csv.DictReader(file)}


def test_a_picture_kills_mutants_that_one_of_its_pixels_kills(onnx, tmp_path):
    twins = Twins(onnx, classes=4)
    x, y, rows, labels = twins.records()
    options = {"operator": ["gf[sigma=0.3]", "ns"], "count": 4, "quality": 1, "seed": 3}
    mutants = [f"{m['operator']}@{m['layer']}#{m['seed']}" for m in assay.mutate(twins.pixels(), (rows, labels), **options).table("mutants")]
    kills = {}
    for name, net, data in [("pictures", twins.pictures(), (x, y)), ("pixels", twins.pixels(), (rows, labels))]:
        assay.mutate(net, data, mutant=mutants, quality=1, matrix=str(tmp_path / name))
        kills[name] = matrix_of(tmp_path / name)
    assert len(next(iter(kills["pixels"].values()))) == len(mutants) > 4
    right = (twins.scores(rows).argmax(1) == labels).reshape(RECORDS, -1)
    assert sorted(kills["pixels"]) == list(np.flatnonzero(right.ravel()))
    seen = set()
    for record, killed in kills["pictures"].items():
        places = record * HEIGHT * WIDTH + np.flatnonzero(right[record])
        for mutant, kill in killed.items():
            assert kill == max(kills["pixels"][place][mutant] for place in places)
            seen.add(kill)
    assert seen == {"0", "1"}


def test_a_step_of_an_attack_changes_each_right_pixel_as_alone(onnx, tmp_path):
    """Of two classes the loss of an item and its lead have gradients of one direction."""
    twins = Twins(onnx, classes=2)
    x, y, rows, labels = twins.records()
    made = {}
    for name, net, data in [("pictures", twins.pictures(), (x, y)), ("pixels", twins.pixels(), (rows, labels))]:
        task = {"task": "pixels"} if name == "pictures" else {}
        assay.attack(net, assay.data(*data, range=(-1, 1)), attack="fgsm[eps=0.3]", out=str(tmp_path / name), **task)
        made[name] = made_by(tmp_path / name)
    right = twins.scores(rows).argmax(1) == labels
    pictures = np.copy(x)
    pictures[made["pictures"]["original"]] = made["pictures"]["x"]
    pixels = np.copy(rows)
    pixels[made["pixels"]["original"]] = made["pixels"]["x"]
    assert rows_of(pictures)[right] == pytest.approx(pixels[right], abs=1e-6)
    assert np.abs(rows_of(pictures) - rows)[~right].max() < 1e-6 and 0 < (~right).sum()
    turned = right & (twins.scores(pixels).argmax(1) != labels)
    assert turned.sum() == made["pixels"]["success"].sum() > 10
    shares = (turned.reshape(RECORDS, -1).sum(1) / right.reshape(RECORDS, -1).sum(1))[made["pictures"]["original"]]
    assert list(made["pictures"]["success"]) == list(shares > 0.2)


@pytest.mark.parametrize("attack", ["pgd[eps=0.3,steps=5]", "deepfool", "cw", "noise[sigma=0.3]"])
def test_a_picture_of_one_pixel_is_attacked_as_its_pixel(onnx, tmp_path, attack):
    twins = Twins(onnx, classes=2)
    _, _, rows, labels = twins.records()
    made = {}
    for name, net, data in [("pictures", twins.one_pixel(), as_records(rows, labels)), ("pixels", twins.pixels(), (rows, labels))]:
        task = {"task": "pixels"} if name == "pictures" else {}
        assay.attack(net, assay.data(*data, range=(-1, 1)), attack=attack, out=str(tmp_path / name), **task)
        made[name] = made_by(tmp_path / name)
    assert list(made["pictures"]["original"]) == list(made["pixels"]["original"])
    assert list(made["pictures"]["success"]) == list(made["pixels"]["success"])
    assert 0 < sum(made["pixels"]["success"])
    assert made["pictures"]["x"][:, :, 0, 0] == pytest.approx(made["pixels"]["x"], abs=1e-3)


@pytest.mark.parametrize("by", ["deepgini", "entropy", "margin", "max-softmax"])
def test_pictures_are_chosen_by_the_mean_doubt_of_their_pixels(onnx, by):
    twins = Twins(onnx, classes=4)
    x, y, rows, labels = twins.records()
    scores = twins.scores(rows).astype(np.float64)
    p = np.exp(scores - scores.max(1, keepdims=True))
    p = np.sort(p / p.sum(1, keepdims=True), 1)
    doubt = {
        "deepgini": 1 - (p**2).sum(1),
        "entropy": -(p * np.log(p)).sum(1),
        "margin": 1 - (p[:, -1] - p[:, -2]),
        "max-softmax": 1 - p[:, -1],
    }[by]
    of_pictures = doubt.reshape(RECORDS, -1).mean(1)
    for net, records, wanted in [(twins.pixels(), (rows, labels), doubt), (twins.pictures(), (x, y), of_pictures)]:
        chosen = assay.select(net, records, by=by)
        order = np.argsort(-wanted, kind="stable")
        assert [int(i) for i in chosen.ids] == list(order)
        shown = chosen.table("chosen")
        assert len(shown) == min(10, len(order))
        assert [row["score"] for row in shown] == pytest.approx(wanted[order][: len(shown)], abs=1e-5)
        assert any(definition["term"] == by for definition in chosen.document["definitions"])


@pytest.mark.parametrize("criterion", ["kmnc[sections=10]", "tknc[k=1]", "idc[m=2]"])
def test_pictures_cover_what_their_pixels_cover(onnx, criterion):
    twins = Twins(onnx, classes=4)
    x, y, rows, labels = twins.records()
    options = {"by": "minimise", "criterion": criterion}
    pictures = assay.select(twins.pictures(), (x, y), train=(x, y), items="all", **options)
    pixels = assay.select(twins.pixels(), (rows, labels), train=(rows, labels), **options)
    for fact in ("covered", "coverable"):
        assert pictures.facts[fact] == pixels.facts[fact] > 0
    assert pictures.facts["chosen"] <= pixels.facts["chosen"]


def test_criteria_are_audited_alike(onnx, tmp_path):
    twins = Twins(onnx, classes=4)
    _, _, rows, labels = twins.records()
    rows, labels = rows[:80], labels[:80]
    few = {"subsets": 10, "permutations": 19, "resamples": 20, "orders": 19, "sizes": "20,40", "sampler": "uniform", "count": 2, "noise": 0.05}
    found = []
    for net, data, items in [(twins.one_pixel(), as_records(rows, labels), {"items": "all", "task": "pixels"}), (twins.pixels(), (rows, labels), {})]:
        train = tuple(part[:40] for part in data)
        found.append(assay.audit(net, train=train, test=data, criterion=["kmnc[sections=10]", "idc[m=2]"], layer="hidden", **few, **items))
    for table, columns in {"discrimination": ["mean_20", "mean_40"], "verdicts": ["verdict"]}.items():
        of_pictures, of_pixels = ({row["criterion"]: [row[c] for c in columns] for row in one.table(table)} for one in found)
        of_pixels.pop("different classes", None)  # items have classes, records of items have none
        assert {"kmnc[sections=10]", "idc[m=2]", "sum of deepgini"} <= set(of_pixels)
        assert set(of_pictures) == set(of_pixels)
        for criterion in of_pixels:
            for one, other in zip(of_pictures[criterion], of_pixels[criterion]):
                assert one == (other if isinstance(other, str) else pytest.approx(other, abs=1e-6)), (table, criterion)


def test_units_follow_classes_of_pixels_as_those_of_records(onnx):
    twins = Twins(onnx, classes=4)
    x, y, rows, labels = twins.records()
    found = []
    for net, data, hypotheses in [(twins.pictures(), (x, y), "items"), (twins.pixels(), (rows, labels), "label")]:
        result = assay.inspect(net, data, hypotheses=hypotheses, units="layer=hidden", measure="pearson", no_early_stop=True)
        scores = [row for row in result.table("scores") if row["unit"] is not None]
        found.append({(row["unit"], str(row["hypothesis"]).split(":")[-1]): row["score"] for row in scores})
    assert found[0] == pytest.approx(found[1], abs=1e-5) and len(found[0]) > HIDDEN


def test_networks_are_explored_alike(onnx, tmp_path):
    first, second = Twins(onnx, classes=3), Twins(onnx, classes=3, shift=0.3)
    _, _, rows, labels = first.records()
    options = {"storage": "float", "constraint": "none", "step": 0.1, "lambda2": 0, "near_duplicate": 0}
    found = {}
    for name, nets, data in [
        ("pictures", [first.one_pixel(), second.one_pixel()], as_records(rows, labels)),
        ("pixels", [first.pixels(), second.pixels()], (rows, labels)),
    ]:
        task = {"task": "pixels"} if name == "pictures" else {}
        assay.explore(nets, assay.data(*data, range=(-1, 1)), out=str(tmp_path / name), **task, **options)
        found[name] = json.loads((tmp_path / name / "manifest.json").read_text())["findings"]
    assert any(not entry["seed_differs"] for entry in found["pixels"])
    for picture, pixel in zip(found["pictures"], found["pixels"], strict=True):
        for said in ("id", "seed", "pushed", "iterations"):
            assert said == "pushed" or said in pixel
            assert picture.get(said) == pixel.get(said)
        assert picture["distance"] == pytest.approx(pixel["distance"], abs=1e-6)
