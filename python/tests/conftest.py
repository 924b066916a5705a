"""A small network, trained for a moment, and its data, as files and as arrays."""

import json
import os
import pathlib
import subprocess

import numpy as np
import pytest

import assay

PROGRAM = os.environ.get("ASSAY_PROGRAM", "assay")


def _no_number(name):
    raise ValueError(f"{name} is not JSON")


def read_json(text):
    """Without the NaN and the infinities that Python alone reads."""
    return json.loads(text, parse_constant=_no_number)


def run_program(folder, *arguments, check=True):
    """Runs the program; gives what it wrote with --json."""
    found = subprocess.run(
        [PROGRAM, *map(str, arguments), "--quiet", "--json", "-"], cwd=folder, capture_output=True, text=True, check=False
    )
    if check and found.returncode not in (0, 2):
        raise AssertionError(f"{arguments}: {found.stderr}")
    return read_json(found.stdout) if found.stdout else found.stderr


@pytest.fixture(scope="session")
def program():
    return run_program


@pytest.fixture(scope="session")
def source():
    return pathlib.Path(os.environ.get("ASSAY_SOURCE_DIR", pathlib.Path(__file__).parents[2]))


@pytest.fixture(scope="session")
def work(tmp_path_factory):
    folder = tmp_path_factory.mktemp("work")
    run_program(folder, "train", "--architecture", "lenet1", "--data", "digits:1500", "--epochs", "2", "--out", "net.onnx")
    run_program(folder, "data", "digits:120", "--write", "train.npz")
    run_program(folder, "data", "digits:60,seed=2", "--write", "test.npz")
    return folder


@pytest.fixture(scope="session")
def arrays(work):
    """x [60, 1, 28, 28] float32, y [60] of the test set."""
    with np.load(work / "test.npz") as archive:
        return archive["x"].astype(np.float32), archive["y"]


@pytest.fixture(scope="session")
def model(work):
    return assay.load(work / "net.onnx")


@pytest.fixture
def inside(work, monkeypatch):
    """The test runs in the folder that holds net.onnx, train.npz and test.npz."""
    monkeypatch.chdir(work)
    return work
