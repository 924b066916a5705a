"""DETR of studies/detectors, from its export to the answers of the five commands."""

import sys

import pytest

from conftest import PROGRAM


@pytest.fixture(scope="module")
def studied(source, tmp_path_factory):
    for needed in ("torch", "transformers", "onnx", "onnxruntime", "pycocotools"):
        pytest.importorskip(needed, reason=f"SKIPPED: the package {needed} is not there")
    sys.path.insert(0, str(source / "studies" / "detectors"))
    import detectors

    return detectors.study("detr", PROGRAM, tmp_path_factory.mktemp("detectors"))


def test_every_command_answers(studied):
    assert {command: answer["code"] for command, answer in studied.items()} == dict.fromkeys(studied, 0), studied


def test_average_precision_is_that_of_pycocotools_on_the_outputs_of_onnx_runtime(studied):
    figures = studied["evaluate"]["figures"]
    assert figures == pytest.approx(list(studied["evaluate"]["of_coco"]), abs=1e-6)
    assert figures[1] > 0.1
