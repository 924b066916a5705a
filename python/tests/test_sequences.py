"""Sequences of different length: filled up, they are what each one is alone."""

import importlib

import numpy as np
import pytest

import assay

WIDTH, UNITS, TAGS = 3, 5, 4


@pytest.fixture
def onnx():
    package = pytest.importorskip("onnx", reason="SKIPPED: the package onnx is not there")
    importlib.import_module("onnx.numpy_helper")
    return package


def tagger(onnx, told, kind="INT64"):
    """Tags of steps by an LSTM in both directions, which is told lengths; or by means over steps, told by a mask."""
    make, types = onnx.helper, onnx.TensorProto
    rng = np.random.default_rng(3)
    constant = lambda name, values: onnx.numpy_helper.from_array(np.asarray(values), name)
    weights = lambda name, *shape: constant(name, rng.normal(size=shape).astype(np.float32) / 2)
    if told == "lengths":
        tensors = [weights("w", 2, 4 * UNITS, WIDTH), weights("r", 2, 4 * UNITS, UNITS), weights("last", 2 * UNITS, TAGS)]
        tensors += [constant("shape", np.array([0, 0, -1]))]
        nodes = [
            make.make_node("Transpose", ["x"], ["steps"], perm=[1, 0, 2]),
            make.make_node("Cast", ["lengths"], ["whole"], to=types.INT32),
            make.make_node("LSTM", ["steps", "w", "r", "", "whole"], ["h"], direction="bidirectional", hidden_size=UNITS),
            make.make_node("Transpose", ["h"], ["turned"], perm=[2, 0, 1, 3]),
            make.make_node("Reshape", ["turned", "shape"], ["units"]),
            make.make_node("MatMul", ["units", "last"], ["y"]),
        ]
        second = make.make_tensor_value_info("lengths", getattr(types, kind), ["n"])
    else:
        tensors = [weights("w", WIDTH, UNITS), weights("last", UNITS, TAGS), constant("axes", np.array([1])), constant("up", np.array([2]))]
        nodes = [
            make.make_node("Cast", ["mask"], ["real"], to=types.FLOAT),
            make.make_node("Unsqueeze", ["real", "up"], ["there"]),
            make.make_node("MatMul", ["x", "w"], ["units"]),
            make.make_node("Mul", ["units", "there"], ["kept"]),
            make.make_node("ReduceSum", ["kept", "axes"], ["sum"]),
            make.make_node("ReduceSum", ["there", "axes"], ["count"]),
            make.make_node("Div", ["sum", "count"], ["mean"]),
            make.make_node("Sub", ["units", "mean"], ["centred"]),
            make.make_node("Tanh", ["centred"], ["t"]),
            make.make_node("MatMul", ["t", "last"], ["y"]),
        ]
        second = make.make_tensor_value_info("mask", getattr(types, kind), ["n", "steps"])
    graph = make.make_graph(
        nodes, "tagger", [make.make_tensor_value_info("x", types.FLOAT, ["n", "steps", WIDTH]), second],
        [make.make_tensor_value_info("y", types.FLOAT, ["n", "steps", TAGS])], tensors,
    )  # fmt: skip
    return assay.load(make.make_model(graph, opset_imports=[make.make_opsetid("", 17)], ir_version=8).SerializeToString())


def sentences(count=14, longest=9):
    rng = np.random.default_rng(5)
    lengths = [longest, *rng.integers(1, longest + 1, count - 1)]
    x = [rng.normal(size=(length, WIDTH)).astype(np.float32) for length in lengths]
    return x, [rng.integers(0, TAGS, length) for length in lengths]


@pytest.mark.parametrize(("told", "kind"), [("lengths", "INT64"), ("mask", "INT64"), ("mask", "FLOAT"), ("mask", "BOOL")])
def test_figures_are_those_of_each_sequence_alone(onnx, told, kind):
    net = tagger(onnx, told, kind)
    x, y = sentences()
    result = assay.evaluate(net, assay.sequences(x, y, **{told: told}), task="tokens")
    found = {row["figure"]: row["value"] for row in result.table("figures")}
    right = counted = 0
    for row, tags in zip(x, y):
        inputs = {"x": row[None], told: np.array([len(row)]) if told == "lengths" else np.ones((1, len(row)), np.int64)}
        right += int((np.asarray(net(inputs))[0].argmax(-1) == tags).sum())
        counted += len(tags)
    assert found["token-accuracy"] == pytest.approx(right / counted)
    assert result.facts["uncounted"] == 14 * 9 - counted


def test_every_analysis_takes_sequences(onnx, tmp_path):
    net = tagger(onnx, "lengths")
    x, y = sentences()
    data = assay.sequences(x, y, lengths="lengths", range=(-4, 4))
    assert assay.importance(net, data, task="tokens").table("neurons")
    assert assay.cover(net, train=data, test=data, criterion="kmnc", items="all", task="tokens").headline
    assert assay.mutate(net, data, task="tokens", count=2, quality=1).facts["judged"] > 0
    row = assay.attack(net, data, task="tokens", attack="pgd[eps=0.5]", margin=0, out=str(tmp_path)).table("attacks")[0]
    assert row["successes"] > 0


def test_one_label_a_record_and_a_given_length(onnx):
    x, _ = sentences()
    data = assay.sequences(x, np.arange(14) % 3, steps=12, fill=-1, input="sound", mask="there")
    assert data.inputs == {"sound": (12, WIDTH), "there": (12,)} and list(data.labels) == list(np.arange(14) % 3)
    read = data.read([1])
    assert (read["sound"][0, len(x[1]) :] == -1).all() and read["there"].sum() == len(x[1])


def test_sequences_that_do_not_fit_are_refused():
    x, y = sentences()
    for match, arguments, options in [
        ("sequence 2 of x has the shape", ([*x[:2], np.zeros((3, 2))], y), {}),
        ("sequence 1 of x has no steps", ([x[0], x[1][:0]], y[:2]), {}),
        ("more than steps=5", (x, y), {"steps": 5}),
        ("sequence 0 has 9 steps and 8 labels", (x, [y[0][:-1], *y[1:]]), {}),
        ("14 sequences and labels of 13", (x, y[:-1]), {}),
        ("whose records have one length", (np.zeros((4, 5, 3)), None), {}),
        ("there are no labels", (x, []), {}),
        ("fill=0.5 is not a number", ([np.arange(3), np.arange(2)], None), {"fill": 0.5}),
        ("fill=-1 is not a number", ([np.arange(3, dtype=np.uint8), np.arange(2, dtype=np.uint8)], None), {"fill": -1}),
        ("each is a separate input", (x, None), {"mask": "x"}),
        ("each is a separate input", (x, None), {"mask": "there", "lengths": "there"}),
    ]:
        with pytest.raises(assay.errors.UsageError, match=match):
            assay.sequences(*arguments, **options)


@pytest.mark.parametrize("kind", [np.uint8, np.uint32, np.int8, bool])
def test_labels_of_steps_may_have_any_type_of_whole_numbers(kind):
    x, y = sentences()
    labels = assay.sequences(x, [(row % 2).astype(kind) for row in y]).read(range(len(y)))["targets"]
    assert [list(row[: len(one)]) for row, one in zip(labels, y)] == [list(one % 2) for one in y]
    assert all((row[len(one) :] == -100).all() for row, one in zip(labels, y))


def stored(folder, rows, tags, told, **more):
    """An archive of sequences that are filled up with labels that would be wrong."""
    longest = max(len(row) for row in rows)
    x, y = np.zeros((len(rows), longest, WIDTH), np.float32), np.full((len(rows), longest), 3)
    for r, (row, labels) in enumerate(zip(rows, tags)):
        x[r, : len(row)], y[r, : len(row)] = row, labels
    counts = np.array([len(row) for row in rows])
    arrays = {"lengths": counts} if told == "lengths" else {"mask": (np.arange(longest) < counts[:, None]).astype(np.int64)}
    np.savez(folder / "stored.npz", x=x, y=y, **(arrays | more))
    return f"{folder}/stored.npz,inputs=x+{told},{told}={told}"


@pytest.mark.parametrize("half", [0.5, 0])
def test_numbers_of_steps_are_not_left_out(tmp_path, half):
    """-100 would be one of them in the errors of a regression, also where all happen to be whole."""
    y = np.array([[0, 1 + half, half], [2, 0, 0]], float)
    np.savez(tmp_path / "r.npz", x=np.zeros((2, 3, 1), np.float32), y=y, lengths=np.array([2, 1]))
    with pytest.raises(assay.DataError, match="lengths=lengths: the labels are real numbers .float64.; classes of steps can be left out"):
        assay.data(f"{tmp_path}/r.npz,lengths=lengths")
    with pytest.raises(assay.UsageError, match="sequence 1 has 1 steps of 2, and its labels are real numbers"):
        assay.sequences([np.zeros((2, 1)), np.zeros((1, 1))], [y[0, :2], y[1, :1]], lengths="lengths")
    assert assay.sequences([np.zeros((2, 1))] * 2, [y[0, :2] * 3] * 2).read([0])["targets"].tolist() == [[0, 3 + 3 * half]]


@pytest.mark.parametrize("told", ["lengths", "mask"])
def test_sequences_in_files_are_those_in_memory(onnx, tmp_path, told):
    net = tagger(onnx, told)
    x, y = sentences()
    spec, given = stored(tmp_path, x, y, told), assay.sequences(x, y, **{told: told})
    assert assay.data(spec).hash == given.hash
    assert f"steps that '{told}' leaves out do not count" in str(assay.describe_data(spec).document)
    calls = [
        (assay.evaluate, {}),
        (assay.importance, {}),
        (assay.mutate, {"count": 2, "quality": 1}),
        (assay.select, {"by": "deepgini"}),
    ]
    for call, options in calls:
        file, memory = (call(net, data, task="tokens", **options).document for data in (spec, given))
        assert file["tables"] == memory["tables"]
    file, memory = (
        assay.cover(net, train=data, test=data, criterion=["kmnc", "dsc"], items="all", task="tokens", by_class=True)
        for data in (spec, given)
    )
    assert file.document["tables"] == memory.document["tables"]


@pytest.mark.parametrize(
    ("spec", "says"),
    [
        ("stored.npz,lengths=short", "not one length for each of 14 records"),
        ("stored.npz,lengths=long", "record 2 has length 10, and its labels have 9 steps"),
        ("stored.npz,mask=lengths", "does not say of \\[14, 9\\] steps which count"),
        ("stored.npz,mask=half", "record 1 has 0.5"),
        ("stored.npz,mask=half,lengths=lengths", "say the same"),
        ("stored.npz,lengths=lengths,y=lengths", "one a record, and not of steps"),
        ("stored.npz,lengths=nothing", "no array is named 'nothing'"),
        ("bare.npz,lengths=lengths", "there are no labels"),
        ("x.npy,lengths=lengths", "chooses among the arrays of an .npz archive"),
    ],
)
def test_files_that_do_not_fit_are_refused(tmp_path, spec, says):
    x, y = sentences()
    long, half = np.array([len(row) for row in x]), np.ones((14, 9))
    long[2], half[1, 3] = 10, 0.5
    stored(tmp_path, x, y, "lengths", long=long, short=long[:3], half=half)
    np.savez(tmp_path / "bare.npz", x=np.zeros((14, 9, 3), np.float32), lengths=long)
    np.save(tmp_path / "x.npy", np.zeros((14, 9, 3), np.float32))
    with pytest.raises(assay.AssayError, match=says):
        assay.data(f"{tmp_path}/{spec}").hash


def steps_of_numbers(onnx, tmp_path):
    """A network of one number a step, and whole numbers for it."""
    make, types = onnx.helper, onnx.TensorProto
    weight = onnx.numpy_helper.from_array(np.ones((WIDTH, 1), np.float32), "w")
    graph = make.make_graph(
        [make.make_node("MatMul", ["x", "w"], ["y"])], "numbers", [make.make_tensor_value_info("x", types.FLOAT, ["n", "steps", WIDTH])],
        [make.make_tensor_value_info("y", types.FLOAT, ["n", "steps", 1])], [weight],
    )  # fmt: skip
    onnx.save(make.make_model(graph, opset_imports=[make.make_opsetid("", 17)], ir_version=8), tmp_path / "numbers.onnx")
    rng = np.random.default_rng(6)
    x, y, lengths = rng.normal(size=(12, 5, WIDTH)).astype(np.float32), rng.integers(0, 9, (12, 5)), rng.integers(1, 5, 12)
    np.savez(tmp_path / "filled.npz", x=x, y=y, lengths=lengths)
    np.savez(tmp_path / "negative.npz", x=x, y=y - 4, lengths=lengths)
    return tmp_path / "numbers.onnx", x, y


def test_minus_100_is_a_number_unless_the_task_says_so(onnx, tmp_path):
    """Where it may be either, the task must be named; among other negative numbers it is one of them."""
    net, x, y = steps_of_numbers(onnx, tmp_path)
    numbers = y.astype(np.float32)
    numbers[2, 3] = -100
    with pytest.raises(assay.UsageError, match="some targets are -100 .* name the task: .*regression"):
        assay.evaluate(net, assay.data(x, numbers))
    errors = (x.sum(2) - numbers) ** 2
    result = assay.evaluate(net, assay.data(x, numbers), task="regression")
    assert result.figures()["mean-squared-error"] == pytest.approx(errors.mean(), rel=1e-5)
    assert "left-out-targets" in [warning["id"] for warning in result.document["warnings"]]
    within = assay.evaluate(net, assay.data(x, numbers), task="regression[tolerance=1]")
    assert within.figures()["mean-squared-error"] == pytest.approx(errors.mean(), rel=1e-5)
    numbers[0, 0] = -7
    result = assay.evaluate(net, assay.data(x, numbers))
    assert result.figures()["mean-squared-error"] == pytest.approx(((x.sum(2) - numbers) ** 2).mean(), rel=1e-5)
    assert "left-out-targets" not in [warning["id"] for warning in result.document["warnings"]]


def test_whole_numbers_of_a_regression_are_not_left_out_in_silence(onnx, tmp_path):
    net, x, y = steps_of_numbers(onnx, tmp_path)
    with pytest.raises(assay.UsageError, match="some targets are -100 .* name the task: .*regression"):
        assay.evaluate(net, f"{tmp_path}/filled.npz,lengths=lengths,inputs=x")
    with pytest.raises(assay.DataError, match="has the label -[1-4], and classes are whole numbers from 0 .-100 where"):
        assay.data(f"{tmp_path}/negative.npz,lengths=lengths,inputs=x")
    with pytest.raises(assay.UsageError, match="sequence 1 has the label -2, and classes are whole numbers from 0"):
        assay.sequences([x[0], x[1, :2]], [y[0], np.array([1, -2])])
    assert assay.sequences([x[0], x[1, :2]], [y[0], np.array([1, -100])]).read([1])["targets"].tolist() == [[1, -100, -100, -100, -100]]
