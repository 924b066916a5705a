"""Relevance and branches or loops: those that are written out are as if they never were, others say so."""

import importlib

import numpy as np
import pytest

import assay

METHODS = ["epsilon", "deeplift", "gradient-x-input"]


@pytest.fixture
def onnx():
    package = pytest.importorskip("onnx", reason="SKIPPED: the package onnx is not there")
    importlib.import_module("onnx.numpy_helper")
    return package


def network(onnx, between, constants=()):
    """Dense layers around what `between` makes of "h", called "k"."""
    make, types = onnx.helper, onnx.TensorProto
    rng = np.random.default_rng(1)
    weights = [onnx.numpy_helper.from_array(rng.normal(size=shape).astype(np.float32), name) for name, shape in [("w1", (5, 8)), ("w2", (8, 8)), ("w3", (8, 3))]]
    nodes = [make.make_node("MatMul", ["x", "w1"], ["first"]), make.make_node("Relu", ["first"], ["h"]), *between]
    nodes.append(make.make_node("MatMul", ["k", "w3"], ["y"]))
    graph = make.make_graph(
        nodes, "net", [make.make_tensor_value_info("x", types.FLOAT, ["n", 5])],
        [make.make_tensor_value_info("y", types.FLOAT, ["n", 3])], [*weights, *constants],
    )  # fmt: skip
    return assay.load(make.make_model(graph, opset_imports=[make.make_opsetid("", 17)], ir_version=8).SerializeToString())


def round_of(onnx, given, gives, prefix=""):
    make = onnx.helper
    return [make.make_node("MatMul", [given, "w2"], [f"{prefix}t"]), make.make_node("Relu", [f"{prefix}t"], [gives])]


def branch(onnx, condition):
    make, types = onnx.helper, onnx.TensorProto
    value = make.make_tensor_value_info
    then = make.make_graph(round_of(onnx, "h", "a"), "then", [], [value("a", types.FLOAT, None)])
    other = make.make_graph([make.make_node("Tanh", ["h"], ["b"])], "else", [], [value("b", types.FLOAT, None)])
    return make.make_node("If", [condition], ["k"], "choice", then_branch=then, else_branch=other)


def loop(onnx, rounds):
    make, types = onnx.helper, onnx.TensorProto
    value = make.make_tensor_value_info
    body = make.make_graph(
        [*round_of(onnx, "s", "next"), make.make_node("Identity", ["c"], ["on"])], "body",
        [value("i", types.INT64, []), value("c", types.BOOL, []), value("s", types.FLOAT, None)],
        [value("on", types.BOOL, []), value("next", types.FLOAT, None)],
    )  # fmt: skip
    return make.make_node("Loop", [rounds, "yes", "h"], ["k"], "rounds", body=body)


def constants_of(onnx):
    make, types = onnx.helper, onnx.TensorProto
    return [make.make_tensor("yes", types.BOOL, [], [True]), make.make_tensor("two", types.INT64, [], [2]), make.make_tensor("zero", types.FLOAT, [], [0.0])]


def relevance_of(net, x, method):
    return assay.importance(net, (x, net(x).argmax(1)), layer=net.layers()[0].name, method=method).table("neurons")


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("kind", ["branch", "loop"])
def test_relevance_passes_what_is_written_out(onnx, kind, method):
    x = np.random.default_rng(2).normal(size=(30, 5)).astype(np.float32)
    constants = constants_of(onnx)
    if kind == "branch":
        held, plain = [branch(onnx, "yes")], round_of(onnx, "h", "k")
    else:
        held, plain = [loop(onnx, "two")], [*round_of(onnx, "h", "between", "a"), *round_of(onnx, "between", "k", "b")]
    rows = [list(relevance_of(network(onnx, nodes, constants), x, method)) for nodes in (held, plain)]
    assert [row["neuron"] for row in rows[0]] == [row["neuron"] for row in rows[1]]
    assert [row["relevance"] for row in rows[0]] == pytest.approx([row["relevance"] for row in rows[1]], rel=1e-5)


@pytest.mark.parametrize("kind", ["branch", "loop"])
def test_what_records_decide_lets_relevance_pass(onnx, kind):
    make = onnx.helper
    x = np.random.default_rng(2).normal(size=(30, 5)).astype(np.float32)
    most = make.make_node("ReduceMax", ["x"], ["most"], keepdims=0)
    if kind == "branch":
        nodes = [most, make.make_node("Greater", ["most", "zero"], ["condition"]), branch(onnx, "condition")]
    else:
        nodes = [most, make.make_node("Cast", ["most"], ["count"], to=onnx.TensorProto.INT64), loop(onnx, "count")]
    net = network(onnx, nodes, constants_of(onnx))
    for method in ["epsilon", "deeplift", "gradient-x-input"]:
        assert list(relevance_of(net, x, method))


def scanning(onnx, positions=None, backward=0):
    """Steps over x [n, positions, 4] with a state and what each gives; written out where the positions are known."""
    make, types = onnx.helper, onnx.TensorProto
    value, rng = make.make_tensor_value_info, np.random.default_rng(4)
    shapes = {"w1": (4, 6), "w2": (6, 6), "w3": (6, 3), "w4": (6, 6)}
    constants = [onnx.numpy_helper.from_array(rng.normal(size=shape).astype(np.float32), name) for name, shape in shapes.items()]
    constants += [onnx.numpy_helper.from_array(np.zeros((1, 6), np.float32), "none")]

    def step(state, piece, gives, seen, prefix=""):
        return [
            make.make_node("MatMul", [piece, "w1"], [prefix + "from_piece"]), make.make_node("MatMul", [state, "w2"], [prefix + "from_state"]),
            make.make_node("Add", [prefix + "from_piece", prefix + "from_state"], [prefix + "sum"]), make.make_node("Relu", [prefix + "sum"], [gives]),
            make.make_node("Tanh", [gives], [seen]),
        ]  # fmt: skip

    nodes = [make.make_node("ReduceSum", ["x", "one"], ["total"], keepdims=0), make.make_node("MatMul", ["total", "w1"], ["start"], "start")]
    constants.append(onnx.numpy_helper.from_array(np.array([1]), "one"))
    if positions is None:
        body = make.make_graph(
            step("state", "piece", "next", "seen"), "body", [value("state", types.FLOAT, None), value("piece", types.FLOAT, None)],
            [value("next", types.FLOAT, None), value("seen", types.FLOAT, None)],
        )  # fmt: skip
        nodes.append(
            make.make_node(
                "Scan", ["start", "x"], ["last", "all"], "scan", body=body, num_scan_inputs=1, scan_input_axes=[-2],
                scan_input_directions=[backward], scan_output_axes=[1], scan_output_directions=[backward],
            )  # fmt: skip
        )
    else:
        state, all_seen = "start", [""] * positions
        for i in reversed(range(positions)) if backward else range(positions):
            constants.append(onnx.numpy_helper.from_array(np.array(i), f"at{i}"))
            nodes.append(make.make_node("Gather", ["x", f"at{i}"], [f"piece{i}"], axis=1))
            nodes += step(state, f"piece{i}", f"state{i}", f"seen{i}", str(i))
            nodes.append(make.make_node("Unsqueeze", [f"seen{i}", "one"], [f"upright{i}"]))
            state, all_seen[i] = f"state{i}", f"upright{i}"
        nodes += [make.make_node("Identity", [state], ["last"]), make.make_node("Concat", all_seen, ["all"], axis=1)]
    nodes += [
        make.make_node("ReduceMean", ["all"], ["mean"], axes=[1], keepdims=0), make.make_node("MatMul", ["mean", "w4"], ["mixed"]),
        make.make_node("Add", ["mixed", "last"], ["both"]), make.make_node("MatMul", ["both", "w3"], ["y"]),
    ]  # fmt: skip
    graph = make.make_graph(
        nodes, "net", [value("x", types.FLOAT, ["n", "positions", 4])], [value("y", types.FLOAT, ["n", 3])], constants
    )  # fmt: skip
    return assay.load(make.make_model(graph, opset_imports=[make.make_opsetid("", 17)], ir_version=8).SerializeToString())


@pytest.mark.parametrize("method", [*METHODS, "gamma", "epsilon-plus"])
@pytest.mark.parametrize("backward", [0, 1])
def test_relevance_through_a_scan_is_that_of_its_steps(onnx, method, backward):
    """For every number of positions that comes."""
    held = scanning(onnx, backward=backward)
    for positions in (3, 5):
        x = np.random.default_rng(positions).normal(size=(6, positions, 4)).astype(np.float32)
        plain = scanning(onnx, positions, backward)
        assert held(x) == pytest.approx(plain(x), abs=1e-4)
        for layer in ("input", "start"):
            found, known = (net.relevance(x, layers=layer, method=method) for net in (held, plain))
            assert np.abs(known).max() > 1e-3
            assert found == pytest.approx(known, rel=1e-3, abs=1e-4)


# Layers of branches that data choose are none of the network's: every result says that.
ABOUT_LAYERS = {
    "importance": assay.importance,
    "cover": lambda net, data: assay.cover(net, data, data, criterion="nc"),
    "mutate": lambda net, data: assay.mutate(net, data, operator="gf", count=2, quality=0.1),
    "evaluate": assay.evaluate,
    "select": lambda net, data: assay.select(net, data, by="deepgini"),
    "inspect": lambda net, data: assay.inspect(net, data, hypotheses="label"),
}


@pytest.mark.parametrize("command", ABOUT_LAYERS)
def test_results_say_which_layers_are_left_out(onnx, command):
    make = onnx.helper
    asked = [make.make_node("ReduceSum", ["h"], ["sum"], keepdims=0), make.make_node("Greater", ["sum", "zero"], ["positive"])]
    net = network(onnx, [*asked, branch(onnx, "positive")], constants_of(onnx))
    x = np.random.default_rng(2).normal(size=(12, 5)).astype(np.float32)
    data = assay.data(x, net(x).argmax(1))
    notices = ABOUT_LAYERS[command](net, data).notices
    assert sum("'choice'" in notice and "separate network" in notice for notice in notices) == 1, notices
