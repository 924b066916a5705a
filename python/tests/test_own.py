"""Criteria, attacks, constraints, hypotheses and clusterers written in Python take part."""

import numpy as np
import pytest

import assay


class Reach(assay.Criterion):
    """How far activations reach over all neurons."""

    name = "reach"
    options = {"factor": 1}
    sizes: list = []

    def __init__(self, layers, options):
        self.factor, self.top, self.names = float(options["factor"]), 0.0, [layer.name for layer in layers]

    def observe(self, batch):
        Reach.sizes.append(len(batch.indices))
        assert len(batch.layers) == len(self.names) and all(len(layer) == len(batch.indices) for layer in batch.layers)
        self.top = max(self.top, *(float(layer.max()) for layer in batch.layers))

    def merge(self, other):
        self.top = max(self.top, other.top)

    def result(self):
        return self.top * self.factor

    def save(self):
        return self.top

    def load(self, state):
        self.top = state


class Active(assay.Criterion):
    """Neurons above the mean of the training set."""

    def __init__(self, layers, options):
        self.layers = layers
        self.seen = [np.zeros(layer.neurons, bool) for layer in layers]

    def observe(self, batch):
        for seen, layer, profile in zip(self.seen, batch.layers, self.layers):
            seen |= (layer > profile.mean).any(0)

    def merge(self, other):
        for mine, theirs in zip(self.seen, other.seen):
            mine |= theirs

    def result(self):
        return {p.name: (int(s.sum()), len(s)) for p, s in zip(self.layers, self.seen)}

    def save(self):
        return [seen.tolist() for seen in self.seen]

    def load(self, state):
        self.seen = [np.array(seen) for seen in state]


def test_a_criterion_sees_batches(model, arrays):
    x, _ = arrays
    Reach.sizes.clear()
    found = assay.cover(model, "digits:50", x, criterion=[Reach, "nc"])
    top = max(a.max() for a in model.activations(x, [layer.name for layer in model.layers()], reduction="mean").values())
    assert found.coverage("reach") == pytest.approx(float(top), rel=1e-5)
    assert sum(Reach.sizes) == 60 and len(Reach.sizes) < 10
    assert assay.cover(model, "digits:50", x, criterion=["reach[factor=2]"]).coverage("reach") == pytest.approx(2 * found.reach)
    assert "reach" in str(assay.criteria())


def test_counts_by_layer_states_and_classes(model, arrays, tmp_path):
    x, y = arrays
    whole = assay.cover(model, "digits:50", (x, y), criterion=Active, by_class=True, state=tmp_path / "all.cov")
    rows = [row for row in whole.table("criteria") if row["criterion"] == "active"]
    assert all(0 <= row["covered"] <= row["coverable"] for row in rows) and len(rows) >= len(model.layers())
    a = assay.cover(model, "digits:50", (x[:20], y[:20]), criterion=Active, state=tmp_path / "a.cov")
    b = assay.cover(model, "digits:50", (x[20:], y[20:]), criterion=Active, state=tmp_path / "b.cov")
    both = assay.combine([a, b])
    single = assay.cover(model, "digits:50", (x, y), criterion=Active)
    assert both.table("criteria").rows == single.table("criteria").rows


def test_a_class_defined_again_takes_the_place_of_the_one_before(model, arrays):
    x, _ = arrays

    def one(value):
        class Constant(assay.Criterion):
            def __init__(self, layers, options):
                pass

            def observe(self, batch):
                pass

            def merge(self, other):
                pass

            def result(self):
                return value

            def save(self):
                return None

        return Constant

    assert assay.cover(model, "digits:50", x, criterion=one(1)).constant == 1
    assert assay.cover(model, "digits:50", x, criterion=one(2)).constant == 2


class OneStep(assay.Attack):
    """One step against the gradient of the score that is to fall."""

    name = "one-step"
    options = {"eps": 0.3}

    def __init__(self, eps):
        self.eps = float(eps)

    def perturb(self, network, problem):
        assert np.allclose(network.scores(problem.inputs), problem.scores, atol=1e-4)
        weights = np.zeros_like(problem.scores)
        weights[np.arange(len(weights)), problem.labels] = 1
        OneStep.kept = network
        return problem.inputs - self.eps * np.sign(network.gradients(problem.inputs, weights))


def test_an_attack(model, arrays):
    x, y = arrays
    data = assay.data(x, y, range=(0, 1))
    found = assay.attack(model, data, attack=[OneStep, "one-step[eps=0]", "noise"], all=True)
    changed = found.arrays["one-step"]
    assert np.abs(changed["x"] - x[changed["original"]]).max() <= 0.3 + 1e-6
    assert changed["success"].sum() > 0
    assert found.arrays["one-step-2"]["success"].sum() == 0
    with pytest.raises(assay.UsageError, match="perturb"):
        OneStep.kept.scores(x)


class OnlyTop(assay.Constraint):
    """Only the upper half of a picture changes."""

    def direction(self, searches, points, wanted):
        wanted[:, :, 14:] = 0
        assert searches.seeds.shape == points.shape
        return wanted


def test_a_constraint(model, arrays):
    x, y = arrays
    data = assay.data(x, y, range=(0, 1))
    found = assay.explore(model, data, mutant="int8@all", constraint=OnlyTop, iterations=20, step=1, pictures=0)
    findings = found.arrays["findings"]
    assert findings["x"].dtype == np.float32
    changed = np.abs(findings["x"] - x[findings["original"]])
    assert changed[:, :, 14:].max() < 3e-3 and changed.max() > 0.1


class Bright(assay.Hypothesis):
    """Whether a picture is bright, and how."""

    hypotheses = ["bright", ("brightness", "numeric")]

    def annotate(self, records):
        mean = records.inputs.mean((1, 2, 3))
        return np.stack([mean > np.float32(0.15), mean], 1)


def test_a_hypothesis(model, arrays):
    x, y = arrays
    found = assay.inspect(model, (x, y), hypotheses=Bright, units="layer=conv1", measure="pearson")
    scores = str(found.document)
    assert "bright" in scores and "brightness" in scores


class Kinds(assay.Hypothesis):
    """What kind of picture it is, in words."""

    hypotheses = [("kind", "categorical", ["dark", "bright", "unseen"]), ("brightness", "numeric"), "dim"]

    def annotate(self, records):
        mean = records.inputs.mean((1, 2, 3))
        kinds = [None if label == 3 else "bright" if m > 0.1 else "dark" for m, label in zip(mean, records.labels)]
        return [[kind, m, m < 0.05] for kind, m in zip(kinds, mean)]


class KindsByHand(assay.Hypothesis):
    """The same in numbers."""

    hypotheses = ["kind:dark", "kind:bright", "kind:unseen", ("brightness", "numeric"), "dim"]

    def annotate(self, records):
        mean = records.inputs.mean((1, 2, 3))
        unknown = np.where(records.labels == 3, np.nan, 0)
        return np.stack([(mean <= 0.1) + unknown, (mean > 0.1) + unknown, 0 * mean + unknown, mean, mean < 0.05], 1)


def rows_of(found, names):
    return sorted(map(str, (row for row in found.table("best").rows if any(row["hypothesis"] == name for name in names))))


def test_classes_in_words_are_hypotheses(model, arrays):
    x, y = arrays
    question = {"units": "layer=conv1", "measure": "pearson"}
    found = assay.inspect(model, (x, y), hypotheses=Kinds, **question)
    by_hand = assay.inspect(model, (x, y), hypotheses=KindsByHand, **question)
    names = ["kind:bright", "kind:dark", "brightness", "dim"]
    assert rows_of(found, names) and rows_of(found, names) == rows_of(by_hand, names)
    whole = assay.inspect(model, (x, y), hypotheses=Kinds, units="layer=conv1", measure="mutual_information")
    assert "kind" in {row["hypothesis"] for row in whole.table("best").rows}


def test_classes_by_name_number_and_position():
    from assay._own import behaviours_of

    nan, classes = np.nan, [["a", "b"], []]
    for found in (
        [["b", 0.5], [None, 2]],
        np.array([["b", 0.5], [nan, 2]], object),
        np.array([[1, 0.5], [nan, 2]]),
        np.array([[b"b", 0.5], [nan, None]], object),
    ):
        coded = behaviours_of("k", classes, found, 2)
        assert np.array_equal(coded[:, :3].astype(float), [[1, 0, 1], [nan, nan, nan]], equal_nan=True)
        assert coded[0, 3] == 0.5
    maps = behaviours_of("k", [["a", "b"]], np.array([[["a", "b", "b"]]]), 1)
    assert maps.tolist() == [[[0, 1, 1], [1, 0, 0], [0, 1, 1]]]
    assert behaviours_of("k", [["a", "b"]], np.array(["a", "b", "a"]), 3).shape == (3, 3)


@pytest.mark.parametrize(
    "hypotheses, found",
    [
        ([("kind", "categorical", ["a", "b"])], lambda n: ["c"] * n),
        ([("kind", "categorical", ["a", "b"])], lambda n: [2] * n),
        ([("kind", "categorical", ["a", "b"])], lambda n: [0.5] * n),
        ([("kind", "categorical", ["a", "b"])], lambda n: [-1] * n),
        ([("kind", "categorical", ["a", "b"])], lambda n: [object()] * n),
        ([("kind", "categorical")], lambda n: ["a"] * n),
        ([("kind", "categorical", [])], lambda n: ["a"] * n),
        ([("kind", "categorical", ["a", "a"])], lambda n: ["a"] * n),
        ([("kind", "numeric", ["a"])], lambda n: [1] * n),
        ([("kind", "odd")], lambda n: [1] * n),
        ([("kind",)], lambda n: [1] * n),
        ([("a", "numeric")], lambda n: ["red"] * n),
        ([("a", "numeric")], lambda n: [1] * (n - 1)),
        ([("a", "numeric")], lambda n: 3),
        ([("a", "numeric")], lambda n: None),
        (["a", "b"], lambda n: [[1, 0, 1]] * n),
        (["a", "b"], lambda n: [[1], [1, 2]] * n),
        ([3], lambda n: [1] * n),
        ([], lambda n: [1] * n),
    ],
)
def test_wrong_hypotheses_are_exceptions(hypotheses, found, model, arrays):
    wrong = type("Wrong", (assay.Hypothesis,), {"hypotheses": hypotheses, "annotate": lambda self, r: found(len(r.labels))})
    with pytest.raises((assay.AssayError, TypeError, ValueError)) as caught:
        assay.inspect(model, arrays, hypotheses=wrong, units="layer=conv1", measure="pearson")
    assert str(caught.value)


def test_a_clusterer(model, arrays):
    x, y = arrays

    def halves(values, min_k, max_k):
        """Two clusters about the quartiles."""
        assert (np.diff(values) >= 0).all() and 1 <= min_k <= max_k
        low, high = np.quantile(values, [0.25, 0.75])
        return [low, high] if low < high else [low]

    data = assay.data(x, y)
    ours = assay.cover(model, data, data, criterion="idc[m=3]", clusterer=halves)
    again = assay.cover(model, data, data, criterion="idc[m=3]", clusterer="halves")
    assert ours.table("criteria").rows == again.table("criteria").rows
    assert int(ours.table("criteria")["coverable"][0]) <= 8
    with pytest.raises(assay.UsageError, match="clusterer"):
        assay.cover(model, data, data, criterion="idc[m=3]", clusterer="quarters")


class Broken(assay.Criterion):
    """Raises where it is told to."""

    options = {"where": "nowhere"}

    def __init__(self, layers, options):
        self.where = options["where"]
        self.fail("init")

    def fail(self, where):
        if self.where == where:
            raise ZeroDivisionError(where)

    def observe(self, batch):
        self.fail("observe")
        if self.where == "interrupt":
            raise KeyboardInterrupt

    def merge(self, other):
        self.fail("merge")

    def result(self):
        self.fail("result")
        wrong = {
            "type": "no",
            "tuple": (3,),
            "none": None,
            "negative": (-1, 2),
            "more": (5, 3),
            "parts": (0.5, 1.0),
            "layer": {"conv1": (1, 3), "conv2": (5, 3)},
            "empty": {},
            "number": {3: 1.0},
            "infinite": 10**400,
        }
        return wrong.get(self.where, 1.0)

    def save(self):
        self.fail("save")
        return object() if self.where == "saved" else {}


@pytest.mark.parametrize("where", ["init", "observe", "merge", "result"])
def test_exceptions_of_callbacks_arrive_as_they_were_raised(where, model, arrays):
    for _ in range(3):
        with pytest.raises(ZeroDivisionError, match=where) as caught:
            assay.cover(model, "digits:50", arrays[0], criterion=[Broken, f"broken[where={where}]"])
        assert any(entry.name == "fail" for entry in caught.traceback)
    assert assay.cover(model, "digits:50", arrays[0], criterion="broken").broken == 1


def test_interrupts_of_callbacks_arrive(model, arrays):
    assay.register(Broken)
    with pytest.raises(KeyboardInterrupt):
        assay.cover(model, "digits:50", arrays[0], criterion="broken[where=interrupt]")


@pytest.mark.parametrize("where", ["type", "tuple", "none", "negative", "more", "parts", "layer", "empty", "number", "infinite"])
def test_wrong_results_of_callbacks_are_exceptions(where, model, arrays):
    assay.register(Broken)
    with pytest.raises(assay.UsageError, match="criterion broken"):
        assay.cover(model, "digits:50", arrays[0], criterion=f"broken[where={where}]")


class Odd(assay.Criterion):
    """Counts beyond 64 bits; a state with what JSON's text cannot hold."""

    name = "odd"

    def __init__(self, layers, options):
        self.seen = [float("-inf"), float("nan"), (1, True), {"a": 2**63, "b": -(2**63)}, None, "\u00e4"]

    def observe(self, batch):
        pass

    def merge(self, other):
        self.seen = other.seen

    def result(self):
        return (2**70, 2**71)

    def save(self):
        return self.seen

    def load(self, state):
        assert repr(state) == "[-inf, nan, [1, True], {'a': 9223372036854775808, 'b': -9223372036854775808}, None, '\u00e4']"
        self.seen = state


def test_states_and_counts_of_a_criterion_are_kept_as_they_are(model, arrays, tmp_path):
    a = assay.cover(model, "digits:50", arrays[0][:20], criterion=Odd, state=tmp_path / "a.cov")
    b = assay.cover(model, "digits:50", arrays[0][20:], criterion=Odd, state=tmp_path / "b.cov")
    rows = assay.combine([a, b]).table("criteria").rows
    assert [row["coverage"] for row in rows] == [0.5] and int(rows[0]["covered"]) == 2**70


def test_a_state_with_whole_numbers_beyond_64_bits_is_an_exception(model, arrays, tmp_path):
    wide = type("Wide", (Odd,), {"name": "wide", "save": lambda self: [2**64]})
    with pytest.raises(assay.UsageError, match="criterion wide: save.. .* 64 bits"):
        assay.cover(model, "digits:50", arrays[0], criterion=wide, state=tmp_path / "wide.cov")


@pytest.mark.parametrize("found", [None, "12", 3, [None], [10**400]])
def test_wrong_results_of_clusterers_are_exceptions(found, model, arrays):
    def clusters(values, min_k, max_k):
        return found

    with pytest.raises(assay.UsageError, match="clusterer clusters: gave"):
        assay.cover(model, assay.data(*arrays), assay.data(*arrays), criterion="idc[m=3]", clusterer=clusters)


@pytest.mark.parametrize(
    "result",
    [
        lambda p: None,
        lambda p: 3,
        lambda p: p.inputs[:, :, :3],
        lambda p: p.inputs[:0],
        lambda p: p.inputs * np.nan,
        lambda p: p.inputs.astype(object),
        lambda p: [[1, 2]],
        lambda p: 1 / 0,
    ],
)
def test_wrong_attacks_are_exceptions(result, model, arrays):
    class Wrong(assay.Attack):
        def perturb(self, network, problem):
            return result(problem)

    with pytest.raises((assay.AssayError, ZeroDivisionError)):
        assay.attack(model, assay.data(*arrays, range=(0, 1)), attack=Wrong)


def test_wrong_calls_of_an_attack_are_exceptions(model, arrays):
    class Asking(assay.Attack):
        def perturb(self, network, problem):
            for points in (problem.inputs[:1, :, :3], 3, None, problem.inputs.astype(object)):
                with pytest.raises(assay.UsageError):
                    network.scores(points)
            with pytest.raises(assay.UsageError):
                network.gradients(problem.inputs, problem.scores[:, :2])
            return problem.inputs

    assay.attack(model, assay.data(*arrays, range=(0, 1)), attack=Asking)


def test_names_that_are_taken_and_things_that_are_none():
    with pytest.raises(assay.UsageError, match="exists already"):
        assay.register(type("Nc", (assay.Criterion,), {"name": "nc"}))
    with pytest.raises(assay.UsageError):
        assay.register(type("Odd", (assay.Criterion,), {"name": "odd[x]"}))
    for wrong in (3, dict, lambda: None):
        with pytest.raises(assay.UsageError):
            assay.register(wrong)


def test_attacks_with_folders_in_their_names(model, arrays):
    flip = type("Flip", (assay.Attack,), {"name": "team/flip", "perturb": lambda self, network, problem: 1 - problem.inputs})
    found = assay.attack(model, assay.data(*arrays, range=(0, 1)), attack=flip)
    assert list(found.arrays) == ["team/flip"] and len(found.data["team/flip"]) > 0


def test_hypotheses_look_at_records_only(model, arrays):
    class Writing(assay.Hypothesis):
        hypotheses = ["bright"]

        def annotate(self, records):
            records.inputs[...] = 0

    with pytest.raises(ValueError, match="read-only"):
        assay.inspect(model, arrays, hypotheses=Writing, units="layer=conv1", measure="pearson")
