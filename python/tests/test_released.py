"""The preset deepimportance-released against the study's writing of the released code from other commands."""

import importlib.util
import re

import numpy as np
import pytest

import assay

PRESET = ("--preset", "deepimportance-released", "--neurons", "2,4,6")


@pytest.fixture(scope="module")
def lenet(tmp_path_factory, program):
    """A LeNet-4 in the folder, whose layer before the scores is dense, with training and test records."""
    folder = tmp_path_factory.mktemp("released")
    program(folder, "train", "--architecture", "lenet4", "--data", "digits:1500", "--epochs", 6, "--out", "net.onnx")
    program(folder, "data", "digits:400", "--write", "train.npz")
    program(folder, "data", "digits:120,seed=2", "--write", "test.npz")
    return folder


@pytest.fixture(scope="module")
def study(source):
    spec = importlib.util.spec_from_file_location("released", source / "studies" / "deepimportance" / "released.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_means_are_those_of_the_study(lenet, program, study, monkeypatch):
    monkeypatch.chdir(lenet)
    document = program(lenet, "cover", "net.onnx", "test.npz", "--train", "train.npz", *PRESET)
    network, train, test = assay.load("net.onnx"), assay.data("train.npz"), assay.data("test.npz")
    linear = study.without_activations(network, lenet)
    expected = study.mean_coverages(network, linear, train, test, document["facts"]["layer"], [2, 4, 6], list(study.DIFFERENCES))
    rows = {row["m"]: row for row in document["tables"]["released"]["rows"]}
    for m, found in expected.items():
        assert rows[m]["mean"] == pytest.approx(np.mean(found), abs=1e-12)
        assert rows[m]["deviation"] == pytest.approx(np.std(found), abs=1e-12)
        assert (rows[m]["least"], rows[m]["greatest"]) == pytest.approx((min(found), max(found)))
        classes = [row for row in document["tables"]["released_classes"]["rows"] if row["m"] == m]
        assert [row["coverage"] for row in classes] == pytest.approx(found, abs=1e-12)
        assert all(row["coverage"] == pytest.approx(row["covered"] / row["coverable"]) for row in classes)
    assert document["headline"].count("not as its paper") == 1
    assert "released-code" in str(document["warnings"])
    # It is another figure than that of the definition.
    defined = program(lenet, "cover", "net.onnx", "test.npz", "--train", "train.npz", "--neurons", "6")
    assert defined["tables"]["idc"]["rows"][0]["idc"] != pytest.approx(rows[6]["mean"], abs=1e-3)


def test_gates_and_batches(lenet, program):
    call = ("cover", "net.onnx", "test.npz", "--train", "train.npz", *PRESET)
    document = program(lenet, *call, "--fail-under", "released-idc[m=2]>=0.99999", "--batch", 7)
    assert document["gates"][0]["passed"] is False
    assert document["tables"]["released"]["rows"] == program(lenet, *call)["tables"]["released"]["rows"]
    assert "no criterion 'nc' was measured" in program(lenet, *call, "--fail-under", "nc>=0.1", check=False)


def test_classes_without_records_are_left_out(lenet, program):
    with np.load(lenet / "test.npz") as archive:
        kept = archive["y"] > 3
        np.savez(lenet / "some.npz", x=archive["x"][kept], y=archive["y"][kept])
    document = program(lenet, "cover", "net.onnx", "some.npz", "--train", "train.npz", *PRESET)
    assert document["facts"]["classes"] == 6
    assert re.search(r"without 4 of the classes: 0, 1, 2, 3", str(document["warnings"]))


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (("--criterion", "nc"), "--criterion has no effect"),
        (("--drop-zeros",), "--drop-zeros has no effect"),
        (("--layer", "conv1"), "has positions"),
        (("--layer", "conv1,conv2"), "one subject layer"),
        (("--neurons", "auto"), "no auto"),
        (("--neurons", "6,500"), "500 important ones are requested"),
    ],
)
def test_says_what_it_does_not_do(lenet, program, more, said):
    call = ["cover", "net.onnx", "test.npz", "--train", "train.npz", *(PRESET[:2] if "--neurons" in more else PRESET)]
    assert said in program(lenet, *call, *more, check=False)


def test_needs_training_records_and_labels(lenet, program):
    assert "learns class by class" in program(lenet, "cover", "net.onnx", "test.npz", *PRESET, check=False)
    with np.load(lenet / "test.npz") as archive:
        np.savez(lenet / "bare.npz", x=archive["x"])
    assert "has no labels" in program(lenet, "cover", "net.onnx", "bare.npz", "--train", "train.npz", *PRESET, check=False)
