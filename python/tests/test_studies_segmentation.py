"""LR-ASPP of studies/segmentation, from its export to the answers of the five commands."""

import sys

import pytest

from conftest import PROGRAM


@pytest.fixture(scope="module")
def studied(source, tmp_path_factory):
    for needed in ("torch", "torchvision", "onnx", "onnxruntime", "sklearn"):
        pytest.importorskip(needed, reason=f"SKIPPED: the package {needed} is not there")
    sys.path.insert(0, str(source / "studies" / "segmentation"))
    import segmentation

    return segmentation.study("lraspp", PROGRAM, tmp_path_factory.mktemp("segmentation"))


def test_every_command_answers(studied):
    assert {command: answer["code"] for command, answer in studied.items()} == dict.fromkeys(studied, 0), studied


def test_figures_are_those_of_scikit_learn_on_the_outputs_of_onnx_runtime(studied):
    figures = studied["evaluate"]["figures"]
    assert figures == pytest.approx(studied["evaluate"]["of_scikit_learn"], abs=1e-3)  # near ties differ between engines
    assert 0.5 < figures[0] < 1
