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
