"""A network with one score of yes or no, and the same network with two scores: every command says the same.

The scores of the twin are -z/2 and z/2. A single probability has a twin that ends in a softmax. With a threshold the
twin is that of the network whose last layer is shifted by its log odds.
"""

import importlib
import itertools

import numpy as np
import pytest

import assay

INPUTS, HIDDEN, RECORDS = 4, 10, 60
# Sizes, places and times, and distances in units of the decision value, which is z beside z/2.
ELSEWHERE = ("shape", "second", "file", "hash", "data", "parameters", "trained", "size", "change", "slack", "folder", "journal")


def weights():
    rng = np.random.default_rng(0)
    shapes = {"w1": (INPUTS, HIDDEN), "b1": (HIDDEN,), "w2": (HIDDEN, 1), "b2": (1,)}
    return {name: rng.normal(size=shape).astype(np.float32) for name, shape in shapes.items()}


def network(onnx, twin, probability, threshold=0.5):
    make, types = onnx.helper, onnx.TensorProto
    constants = weights()
    if twin:
        constants["b2"] = constants["b2"] - np.float32(np.log(threshold / (1 - threshold)))
        constants |= {name: np.concatenate([-constants[name] / 2, constants[name] / 2], -1) for name in ("w2", "b2")}
    nodes = [
        make.make_node("Gemm", ["x", "w1", "b1"], ["a"], name="hidden"),
        make.make_node("Relu", ["a"], ["r"]),
        make.make_node("Gemm", ["r", "w2", "b2"], ["z" if probability else "y"], name="scores"),
    ]
    if probability:
        nodes.append(make.make_node("Softmax" if twin else "Sigmoid", ["z"], ["y"]))
    graph = make.make_graph(
        nodes,
        "net",
        [make.make_tensor_value_info("x", types.FLOAT, ["n", INPUTS])],
        [make.make_tensor_value_info("y", types.FLOAT, ["n", 1 + twin])],
        [onnx.numpy_helper.from_array(np.asarray(values), name) for name, values in constants.items()],
    )
    model = make.make_model(graph, opset_imports=[make.make_opsetid("", 17)], ir_version=8)
    return assay.load(model.SerializeToString())


def records(seed=1):
    rng, w = np.random.default_rng(seed), weights()
    x = (2 * rng.random((RECORDS, INPUTS)) - 1).astype(np.float32)
    z = (np.maximum(x @ w["w1"] + w["b1"], 0) @ w["w2"] + w["b2"])[:, 0]
    return assay.data(x, (z + rng.normal(size=RECORDS) * 0.4 > 0).astype(np.int64), range=(-1, 1))


def other(network):
    """The same network with another first layer."""
    changed = weights()["w1"] + np.random.default_rng(5).normal(0, 0.2, (INPUTS, HIDDEN))
    return network.with_weights({"w1": changed.astype(np.float32)})


def audited(network, out, **task):
    """By mutants of the layer that both networks have."""
    state = f"{out}.mut"
    assay.mutate(network, records(2), operator="gf", layer="hidden", count=6, quality=0.5, state=state, **task)
    return assay.audit(
        network, train=records(), test=records(2), criterion="idc[m=3]", layer="hidden", mutants=state, sizes=10, subsets=20, **task
    )


HIDDEN_UNITS = "layer=hidden,units=0-9"
COMMANDS = {
    "evaluate": lambda net, out, **task: assay.evaluate(net, records(), **task),
    "importance": lambda net, out, **task: assay.importance(net, records(), layer="hidden", **task),
    "importance of class 0": lambda net, out, **task: assay.importance(net, records(), layer="hidden", class_=0, **task),
    "importance by gradients": lambda net, out, **task: assay.importance(
        net, records(), layer="hidden", method="integrated-gradients", **task
    ),
    "cover": lambda net, out, **task: assay.cover(
        net, train=records(), test=records(2), units=HIDDEN_UNITS, criterion=["nc", "kmnc", "idc[m=3]"], **task
    ),
    "cover by surprise": lambda net, out, **task: assay.cover(
        net, train=records(), test=records(2), layer="hidden", criterion=["lsc", "dsc"], **task
    ),
    "mutate": lambda net, out, **task: assay.mutate(
        net, records(), operator=["gf", "ns"], layer="hidden", count=6, quality=0.5, **task
    ),
    "attack": lambda net, out, **task: assay.attack(
        net, records(), attack=["fgsm[eps=0.1]", "bim[eps=0.1]", "pgd[eps=0.1]", "cw", "deepfool", "jsma"], out=out, **task
    ),
    "robust": lambda net, out, **task: assay.robust(net, records(), along="fgsm[eps=0.05/0.1]", **task),
    "explore": lambda net, out, **task: assay.explore(
        [net, other(net)], records(), units=[HIDDEN_UNITS, HIDDEN_UNITS], out=out, **task
    ),
    "inspect": lambda net, out, **task: assay.inspect(net, records(), hypotheses="label", units="layer=hidden"),
    "select by margin": lambda net, out, **task: assay.select(net, records(), by="margin", **task),
    "select by entropy": lambda net, out, **task: assay.select(net, records(), by="entropy", **task),
    "select by gini": lambda net, out, **task: assay.select(net, records(), by="deepgini", **task),
    "audit": lambda net, out, **task: audited(net, out, **task),
    "faithful": lambda net, out, **task: assay.faithful(net, records()),
    "prune": lambda net, out, **task: assay.prune(net, units="layer=hidden,units=1+2", test=records(), **task),
    "train": lambda net, out, **task: assay.train(
        model=net, data=records(), initialiser="keep", freeze="scores", epochs=2, optimiser="sgd", learning_rate=0.05,
        no_shuffling=True, out=f"{out}.onnx", **task,
    ),
    "retrain": lambda net, out, **task: assay.retrain(
        net, train=records(), test=records(2), add=records(3), repeats=1, epochs=1, optimiser="sgd", learning_rate=1e-6,
        count=10, **task,
    ),
}  # fmt: skip


def said(result):
    """Facts and tables, but for what has to differ and for the layer of the scores."""
    tables = {name: [row for row in result.table(name) if row.get("layer", "hidden") == "hidden"] for name in result.tables}
    rows = {(name, i, key): value for name, rows in tables.items() for i, row in enumerate(rows) for key, value in row.items()}
    rows |= {("fact", 0, name): value for name, value in result.facts.items()}
    return {key: value for key, value in rows.items() if not any(word in key[2] for word in ELSEWHERE)}


WAYS = [(False, None, 0.5), (True, "binary", 0.5), (True, "binary[threshold=0.3]", 0.3), (False, "binary[threshold=0.7]", 0.7)]
WITHOUT_TASK = ("inspect", "faithful")


@pytest.mark.parametrize(("command", "decision"), list(itertools.product(COMMANDS, WAYS)))
def test_one_score_says_what_its_twin_of_two_says(tmp_path, command, decision):
    onnx = pytest.importorskip("onnx", reason="SKIPPED: the package onnx is not there")
    importlib.import_module("onnx.numpy_helper")
    probability, task, threshold = decision
    if threshold != 0.5 and command in WITHOUT_TASK:
        pytest.skip("the command has no --task")
    # Criteria of surprise ask a task for its threshold alone.
    heeded = command not in WITHOUT_TASK and (command != "cover by surprise" or threshold != 0.5)
    named = {"task": task} if task and heeded else {}
    one = said(COMMANDS[command](network(onnx, False, probability), str(tmp_path / "one"), **named))
    two = said(COMMANDS[command](network(onnx, True, probability, threshold), str(tmp_path / "two")))
    assert one.keys() == two.keys()
    for key, value in one.items():
        same = value == pytest.approx(two[key], rel=1e-3, abs=1e-4, nan_ok=True) if isinstance(value, float) else value == two[key]
        assert same, (key, value, two[key])
