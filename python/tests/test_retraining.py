"""What `retrain` says where attacks make too few records: what would give as many as are asked for."""

import importlib

import numpy as np
import pytest

import assay


@pytest.fixture
def asked(tmp_path):
    """Retrains on attacked records; `right`: how many of 20 training records the network gets right."""
    onnx = pytest.importorskip("onnx", reason="SKIPPED: the package onnx is not there")
    numbers = importlib.import_module("onnx.numpy_helper")
    rng = np.random.default_rng(3)
    weight = rng.normal(size=(4, 2)).astype(np.float32)
    make, kind = onnx.helper, onnx.TensorProto.FLOAT
    graph = make.make_graph(
        [make.make_node("Gemm", ["x", "w"], ["y"], name="scores")],
        "net",
        [make.make_tensor_value_info("x", kind, ["n", 4])],
        [make.make_tensor_value_info("y", kind, ["n", 2])],
        [numbers.from_array(weight, "w")],
    )
    net = assay.load(make.make_model(graph, opset_imports=[make.make_opsetid("", 17)], ir_version=8).SerializeToString())
    x = (2 * rng.random((20, 4)) - 1).astype(np.float32)
    answers = (x @ weight).argmax(1)

    def ask(right, **options):
        y = np.where(np.arange(20) < right, answers, 1 - answers)
        train, test = assay.data(x, y, range=(-1, 1)), assay.data(x, answers, range=(-1, 1))
        folders = {"made_dir": str(tmp_path / "made"), "out_dir": str(tmp_path / "out")}
        options = {"against": "noise", "evaluate_on": "none", "repeats": 1, "epochs": 1, **options}
        return assay.retrain(net, train=train, test=test, add=[test], **folders, **options)

    return ask


def test_records_that_are_all_wrong_are_not_attacked(asked):
    with pytest.raises(assay.errors.DataError, match="gets none of 20 records of the training data right.* of which it gets 5 right"):
        asked(right=0, count=5)


def test_a_larger_pool_helps_where_there_is_one(asked):
    with pytest.raises(assay.errors.UsageError, match="out of 4, but 5 are to be added; give a larger pool"):
        asked(right=20, count=5, pool=4)
    with pytest.raises(assay.errors.UsageError, match="made 3 records out of all 20 training records.*add fewer .*count.*, give more training records"):
        asked(right=3, count=5)
