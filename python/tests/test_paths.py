"""Relevance through branches and loops that records decide: that of the same network with the path fixed."""

import numpy as np
import pytest

import assay

onnx = pytest.importorskip("onnx", reason="SKIPPED: onnx is not installed (PyPI)")

numbers = pytest.importorskip("onnx.numpy_helper", reason="SKIPPED: onnx is not installed (PyPI)")
make, types = onnx.helper, onnx.TensorProto
METHODS = ["epsilon", "epsilon-plus", "epsilon-gamma-box", "gradient-x-input", "integrated-gradients", "deeplift"]
RNG = np.random.default_rng(12)
WEIGHTS = {"first": RNG.normal(size=(4, 5)), "second": RNG.normal(size=(5, 3)), "third": RNG.normal(size=(5, 3)), "turn": RNG.normal(size=(5, 5)) / 2}
RECORDS = RNG.normal(size=(12, 4)).astype(np.float32)


def info(name, kind=types.FLOAT, shape=None):
    return make.make_tensor_value_info(name, kind, shape)


def network(nodes):
    weights = [numbers.from_array(values.astype(np.float32), name) for name, values in WEIGHTS.items()]
    weights += [numbers.from_array(np.array(v, np.float32), n) for n, v in [("nothing", 0), ("limit", 4)]]
    begin = [make.make_node("MatMul", ["x", "first"], ["sums"], "early"), make.make_node("Relu", ["sums"], ["h"], "middle")]
    graph = make.make_graph(begin + nodes, "paths", [info("x", shape=[1, 4])], [info("y", shape=[1, 3])], weights)
    return make.make_model(graph, opset_imports=[make.make_opsetid("", 17)], ir_version=8).SerializeToString()


def product(of, weight, to="y"):
    return make.make_node("MatMul", [of, weight], [to], to)


def branching():
    branches = {
        name: make.make_graph([product("h", weight, f"{weight}_y")], name, [], [info(f"{weight}_y")])
        for name, weight in [("then_branch", "second"), ("else_branch", "third")]
    }
    return network([
        make.make_node("ReduceSum", ["x"], ["sum"], keepdims=0),
        make.make_node("Greater", ["sum", "nothing"], ["positive"]),
        make.make_node("If", ["positive"], ["y"], "branch", **branches),
    ])  # fmt: skip


def looping(most):
    """h is turned while the sum of its squares is below the limit, at most so often; rounds collect what they make."""
    body = make.make_graph(
        [
            product("state", "turn", "turned"),
            make.make_node("Relu", ["turned"], ["next"]),
            make.make_node("ReduceSumSquare", ["next"], ["size"], keepdims=0),
            make.make_node("Less", ["size", "limit"], ["going_on"]),
            make.make_node("Identity", ["next"], ["kept"]),
        ],
        "body",
        [info("round", types.INT64, []), info("going", types.BOOL, []), info("state")],
        [info("going_on", types.BOOL), info("next"), info("kept")],
    )
    return network([
        make.make_node("Constant", [], ["most"], value=numbers.from_array(np.array(most, np.int64))),
        make.make_node("Constant", [], ["always"], value=numbers.from_array(np.array(True))),
        make.make_node("Loop", ["most", "always", "h"], ["last", "all"], "loop", body=body),
        product("last", "second"),
    ])  # fmt: skip


def turned(rounds):
    nodes, state = [], "h"
    for number in range(rounds):
        nodes += [product(state, "turn", f"turned{number}"), make.make_node("Relu", [f"turned{number}"], [f"next{number}"])]
        state = f"next{number}"
    return network([*nodes, product(state, "second")])


def rounds_of(x, most):
    h = np.maximum(x @ WEIGHTS["first"], 0)
    for number in range(most):
        h = np.maximum(h @ WEIGHTS["turn"], 0)
        if not (h**2).sum() < 4:
            return number + 1
    return most


def relevance(model, x, method):
    found = assay.load(model).relevance(x[None], ["input", "early"], method=method, target=1)
    return np.concatenate([np.ravel(one) for one in found.values()])


@pytest.mark.parametrize("method", METHODS)
def test_branches_have_the_relevance_of_the_one_taken(method):
    model, fixed = branching(), [network([product("h", weight)]) for weight in ("third", "second")]
    taken = [int(x.sum() > 0) for x in RECORDS]
    assert 0 < sum(taken) < len(taken)
    for x, branch in zip(RECORDS, taken):
        assert relevance(model, x, method) == pytest.approx(relevance(fixed[branch], x, method), abs=1e-5)


@pytest.mark.parametrize("method", [method for method in METHODS if method != "integrated-gradients"])
def test_loops_have_the_relevance_of_the_rounds_run(method):
    model = looping(4)
    rounds = [rounds_of(x, 4) for x in RECORDS]
    assert len(set(rounds)) > 1
    for x, count in zip(RECORDS, rounds):
        assert relevance(model, x, method) == pytest.approx(relevance(turned(count), x, method), abs=1e-5)


def test_gradients_pass_through_loops_of_more_rounds_than_rules_do():
    net, still = assay.load(looping(12_000)), np.zeros((1, 4), np.float32)
    (values,) = net.relevance(still, ["early"], method="gradient-x-input", target=1).values()
    assert np.isfinite(values).all()
    with pytest.raises(assay.UnsupportedError, match="too many rounds for relevance to pass.*choose gradient-x-input"):
        net.relevance(still, ["early"], method="epsilon", target=1)


def test_scores_without_a_part_are_those_of_the_network():
    """A part may decide the branch: what is left out changes which one is taken."""
    net = assay.load(branching())
    for x in RECORDS:
        alone = x - np.diag(x)
        expected = [float(np.ravel(net(x[None]))[1] - np.ravel(net(one[None].astype(np.float32)))[1]) for one in alone]
        (found,) = net.relevance(x[None], ["input"], method="occlusion", target=1).values()
        assert np.ravel(found) == pytest.approx(expected, abs=1e-4)


@pytest.mark.parametrize("model", [branching(), looping(4)], ids=["branch", "loop"])
def test_relevance_is_conserved(model):
    net = assay.load(model)
    for x in RECORDS:
        score = np.ravel(net(x[None]))[1]
        for values in net.relevance(x[None], ["input", "early"], target=1).values():
            assert np.sum(values) == pytest.approx(score, abs=1e-4)


def test_layers_in_front_of_them_have_importance():
    result = assay.importance(branching(), (RECORDS, np.array([0, 1, 2] * 4)), layer="early")
    assert "early" in str(result.document["tables"])
