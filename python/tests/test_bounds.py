"""Bounds against a second writing with dense matrices in NumPy, and against points of the box."""

import itertools

import numpy as np
import pytest

onnx = pytest.importorskip("onnx")
from onnx import TensorProto, helper, numpy_helper  # noqa: E402


def windows(shape, kernel, strides, pads):
    """For each output position of a picture the pairs of kernel and input position."""
    heights = [(shape[d] + pads[d] + pads[d + 2] - kernel[d]) // strides[d] + 1 for d in (0, 1)]
    found = []
    for out in itertools.product(*map(range, heights)):
        entries = []
        for at in itertools.product(*map(range, kernel)):
            y, x = (out[d] * strides[d] - pads[d] + at[d] for d in (0, 1))
            if 0 <= y < shape[0] and 0 <= x < shape[1]:
                entries.append((at, y * shape[1] + x))
        found.append(entries)
    return heights, found


def attributes(node):
    return {a.name: helper.get_attribute_value(a) for a in node.attribute}


def steps_of(path, shape):
    """The network as matrices, rectifiers and maxima: of Conv, Relu, MaxPool, Gemm and what only reshapes."""
    graph = onnx.load(path).graph
    weights = {one.name: numpy_helper.to_array(one).astype(np.float64) for one in graph.initializer}
    steps, shape = [], list(shape)
    for node in graph.node:
        given = attributes(node)
        if node.op_type == "Conv":
            w, b = weights[node.input[1]], weights[node.input[2]]
            sizes, positions = windows(shape[1:], w.shape[2:], given.get("strides", [1, 1]), given.get("pads", [0] * 4))
            plane = shape[1] * shape[2]
            matrix = np.zeros((w.shape[0], len(positions), shape[0], plane))
            for p, entries in enumerate(positions):
                for at, place in entries:
                    matrix[:, p, :, place] += w[:, :, at[0], at[1]]
            steps.append(("linear", matrix.reshape(-1, shape[0] * plane), np.repeat(b, len(positions))))
            shape = [w.shape[0], *sizes]
        elif node.op_type == "MaxPool":
            sizes, positions = windows(shape[1:], given["kernel_shape"], given.get("strides", [1, 1]), given.get("pads", [0] * 4))
            plane = shape[1] * shape[2]
            steps.append(("max", [[c * plane + place for _, place in entries] for c in range(shape[0]) for entries in positions]))
            shape = [shape[0], *sizes]
        elif node.op_type == "Gemm":
            w = weights[node.input[1]]
            steps.append(("linear", w if given.get("transB", 0) else w.T, weights[node.input[2]]))
        elif node.op_type == "Relu":
            steps.append(("relu",))
        elif node.op_type == "Softmax":
            break
        else:
            assert node.op_type in ("Flatten", "Reshape", "Identity", "Dropout"), node.op_type
    return steps


def outputs(steps, x):
    for kind, *rest in steps:
        if kind == "linear":
            x = rest[0] @ x + rest[1]
        elif kind == "relu":
            x = np.maximum(x, 0)
        else:
            x = np.array([max(x[w]) for w in rest[0]])
    return x


def interval_bounds(steps, low, high):
    found = [(low, high)]
    for kind, *rest in steps:
        if kind == "linear":
            middle, radius = rest[0] @ ((low + high) / 2) + rest[1], np.abs(rest[0]) @ ((high - low) / 2)
            low, high = middle - radius, middle + radius
        elif kind == "relu":
            low, high = np.maximum(low, 0), np.maximum(high, 0)
        else:
            low, high = (np.array([max(end[w]) for w in rest[0]]) for end in (low, high))
        found.append((low, high))
    return found


def least(steps, bounds, rows):
    """Lower bounds of rows times the result of the last step."""
    constant = np.zeros(len(rows))
    for (kind, *rest), (low, high) in reversed(list(zip(steps, bounds))):
        plus, minus = np.maximum(rows, 0), np.minimum(rows, 0)
        if kind == "linear":
            constant, rows = constant + rows @ rest[1], rows @ rest[0]
        elif kind == "relu":
            bends = (low < 0) & (high > 0)
            width = np.where(bends, high - low, 1)
            below = np.where(bends, high > -low, low >= 0)
            above = np.where(bends, high / width, low >= 0)
            constant = constant + minus @ np.where(bends, -low * high / width, 0)
            rows = plus * below + minus * above
        else:
            next_rows = np.zeros((len(rows), len(low)))
            for k, window in enumerate(rest[0]):
                best = window[int(np.argmax(low[window]))]
                sure = all(high[i] <= low[best] for i in window if i != best)
                next_rows[:, best] += plus[:, k] + (minus[:, k] if sure else 0)
                if not sure:
                    constant = constant + minus[:, k] * max(high[window])
            rows = next_rows
    low, high = bounds[0]
    return constant + np.maximum(rows, 0) @ low + np.minimum(rows, 0) @ high


def linear_bounds(steps, low, high):
    """Intervals in front of every bend are made tighter, one after the other."""
    bounds = interval_bounds(steps, low, high)
    for s, (kind, *rest) in enumerate(steps):
        if kind == "relu":
            size = len(bounds[s][0])
            tight = least(steps[:s], bounds[:s], np.eye(size)), -least(steps[:s], bounds[:s], -np.eye(size))
            bounds[s] = np.maximum(bounds[s][0], tight[0]), np.minimum(bounds[s][1], tight[1])
            bounds[s + 1] = np.maximum(bounds[s][0], 0), np.maximum(bounds[s][1], 0)
        elif kind == "max":
            bounds[s + 1] = tuple(np.array([max(end[w]) for w in rest[0]]) for end in bounds[s])
    return bounds


def margin(steps, bounds, label, intervals):
    classes = len(bounds[-1][0])
    others = [c for c in range(classes) if c != label]
    by_intervals = np.array([bounds[-1][0][label] - bounds[-1][1][c] for c in others])
    if intervals:
        return by_intervals.min()
    rows = np.zeros((len(others), classes))
    rows[:, label] = 1
    rows[range(len(others)), others] = -1
    return np.maximum(by_intervals, least(steps, bounds, rows)).min()


def write_dense(path, sizes, rng):
    nodes, weights, name = [], [], "input"
    for layer, (inputs, units) in enumerate(zip(sizes, sizes[1:])):
        w, b = rng.normal(size=(units, inputs)) / np.sqrt(inputs), rng.normal(size=units) / 10
        weights += [numpy_helper.from_array(w.astype(np.float32), f"w{layer}"), numpy_helper.from_array(b.astype(np.float32), f"b{layer}")]
        nodes.append(helper.make_node("Gemm", [name, f"w{layer}", f"b{layer}"], [f"d{layer}"], transB=1))
        name = f"d{layer}"
        if layer + 2 < len(sizes):
            nodes.append(helper.make_node("Relu", [name], [f"r{layer}"]))
            name = f"r{layer}"
    graph = helper.make_graph(
        nodes,
        "dense",
        [helper.make_tensor_value_info("input", TensorProto.FLOAT, ["N", sizes[0]])],
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, ["N", sizes[-1]])],
        weights,
    )
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)


@pytest.fixture(scope="module")
def dense(work):
    rng = np.random.default_rng(4)
    write_dense(work / "dense.onnx", [12, 20, 16, 4], rng)
    steps = steps_of(work / "dense.onnx", [12])
    x = rng.uniform(size=(20, 12)).astype(np.float32)
    np.savez(work / "dense.npz", x=x, y=[int(np.argmax(outputs(steps, one.astype(float)))) for one in x])
    return steps, x


@pytest.fixture(scope="module")
def lenet5(work, program):
    program(work, "train", "--architecture", "lenet5", "--data", "digits:1000", "--epochs", "1", "--out", "lenet5.onnx")
    with np.load(work / "test.npz") as archive:
        x = archive["x"].astype(np.float32)[:4]
    return steps_of(work / "lenet5.onnx", x.shape[1:]), x.reshape(4, -1)


@pytest.fixture(params=["dense", "lenet5"])
def network(request):
    steps, x = request.getfixturevalue(request.param)
    spec = "dense.npz,range=0:1" if request.param == "dense" else "test.npz,range=0:1[:4]"
    return request.param + ".onnx", spec, steps, x


@pytest.mark.parametrize("method", ["interval", "crown"])
@pytest.mark.parametrize("eps", [0.004, 0.02])
def test_margins_are_those_of_numpy(inside, program, network, method, eps):
    file, spec, steps, x = network
    document = program(inside, "bounds", file, spec, "--eps", eps, "--method", method, "--attack", "none")
    rows = document["tables"]["records"]["rows"]
    assert len(rows) == len(x)
    compared = 0
    for row, one in zip(rows, x.astype(float)):
        if row["outcome"] == "wrong":
            continue
        low, high = np.clip(one - eps, 0, 1), np.clip(one + eps, 0, 1)
        label = int(np.argmax(outputs(steps, one)))
        plain = margin(steps, interval_bounds(steps, low, high), label, True)
        expected = plain if method == "interval" or plain > 0 else margin(steps, linear_bounds(steps, low, high), label, False)
        # Rounding is included for the worst order of every sum, and goes outwards.
        assert row["margin"] <= expected
        assert row["margin"] == pytest.approx(expected, abs=2e-2, rel=5e-3)
        assert row["outcome"] == ("certified" if row["margin"] > 0 else "open")
        compared += 1
    assert compared > 0


def test_no_point_of_a_certified_ball_has_another_class(inside, program, network):
    file, spec, steps, x = network
    document = program(inside, "bounds", file, spec, "--eps", 0.05, "--bisections", 7)
    rng = np.random.default_rng(0)
    certified = 0
    for row, one in zip(document["tables"]["records"]["rows"], x.astype(float)):
        radius = row["certified_radius"]
        if not radius:
            continue
        certified += 1
        assert row["attacked_radius"] is None or row["attacked_radius"] > radius
        label = int(np.argmax(outputs(steps, one)))
        for draw in range(40):
            change = rng.uniform(-radius, radius, one.shape) if draw % 2 else radius * rng.choice([-1, 1], one.shape)
            assert int(np.argmax(outputs(steps, np.clip(one + change, 0, 1)))) == label
    assert certified > 0


def test_a_query_of_a_record_holds_where_it_is_certified(inside, program, dense):
    found = program(inside, "bounds", "dense.onnx", "dense.npz,range=0:1", "--eps", 0.01, "--write-queries", "queries", "--count", 3)
    outcomes = {int(row["record"]): row["outcome"] for row in found["tables"]["records"]["rows"]}
    listed = (inside / "queries" / "instances.csv").read_text().splitlines()
    assert len(listed) == 3
    for line in listed:
        name = line.split(",")[1]
        answer = program(inside, "bounds", "dense.onnx", "--vnnlib", f"queries/{name}", "--out", "found.txt")["facts"]["answer"]
        outcome = outcomes[int(name.removeprefix("record_").removesuffix(".vnnlib"))]
        assert answer == {"certified": "unsat", "attacked": "sat", "open": "unknown"}[outcome] or outcome == "open"


def test_a_query_that_holds_no_input_is_told(inside, program, dense):
    declared = [f"(declare-const X_{i} Real)" for i in range(12)] + [f"(declare-const Y_{i} Real)" for i in range(4)]
    bounds = [f"(assert (>= X_{i} 0.2))(assert (<= X_{i} 0.1))" for i in range(12)]
    (inside / "empty.vnnlib").write_text("\n".join([*declared, *bounds, "(assert (>= Y_0 Y_1))"]))
    result = program(inside, "bounds", "dense.onnx", "--vnnlib", "empty.vnnlib")
    assert result["facts"]["answer"] == "unsat"
    assert [warning["id"] for warning in result["warnings"]] == ["empty-cases"]


def test_a_counterexample_is_one_for_onnxruntime(inside, program, dense):
    runtime = pytest.importorskip("onnxruntime")
    _, x = dense
    program(inside, "bounds", "dense.onnx", "dense.npz,range=0:1", "--eps", 0.6, "--method", "interval", "--attack", "none", "--write-queries", "wide", "--count", 1)
    name = (inside / "wide" / "instances.csv").read_text().split(",")[1]
    program(inside, "bounds", "dense.onnx", "--vnnlib", f"wide/{name}", "--out", "found.txt")
    words = (inside / "found.txt").read_text().replace("(", " ").replace(")", " ").split()
    assert words[0] == "sat"
    numbers = dict(zip(words[1::2], map(float, words[2::2])))
    point = np.array([[numbers[f"X_{i}"] for i in range(12)]], np.float32)
    record = int(name.removeprefix("record_").removesuffix(".vnnlib"))
    assert np.abs(point - x[record]).max() <= 0.6 + 1e-5
    session = runtime.InferenceSession(str(inside / "dense.onnx"))
    said = session.run(None, {"input": point})[0][0]
    assert said == pytest.approx([numbers[f"Y_{i}"] for i in range(4)], abs=1e-5)
    assert said.argmax() != session.run(None, {"input": x[record : record + 1]})[0][0].argmax()
    check = program(inside, "bounds", "dense.onnx", "--vnnlib", f"wide/{name}", "--counterexample", "found.txt")
    assert check["facts"]["counterexample"] is True and check["facts"]["strict"] is True
