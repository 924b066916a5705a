"""The expected values of `assay selftest`, computed again by the scripts that made them."""

import importlib.util
import json
import os
import subprocess
import sys

import pytest

NEEDED = ("scipy", "sklearn", "onnx", "onnxruntime", "torch", "captum")


@pytest.fixture
def scripts(source):
    return source / "scripts" / "selftest"


def checks(suite):
    return {(case["name"], check["name"]): check for case in suite["cases"] for check in case["checks"]}


def test_other_programs_still_compute_these_values(scripts):
    missing = [name for name in NEEDED if importlib.util.find_spec(name) is None]
    if missing:
        pytest.skip(f"{', '.join(missing)} of scripts/selftest/requirements.txt are not installed")
    run = subprocess.run([sys.executable, "-W", "ignore", str(scripts / "make_suite.py"), "--check"], capture_output=True,
                         text=True, env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"})
    assert run.returncode == 0, run.stdout + run.stderr


def test_each_check_has_a_name_of_its_own_and_a_source(source):
    suite = json.loads((source / "assay" / "selftest" / "suite.json").read_text())
    assert len(checks(suite)) == sum(len(case["checks"]) for case in suite["cases"])
    for case in suite["cases"]:
        assert (source / case["page"]).exists(), case["page"]
        for check in case["checks"]:
            assert check["source"] and f"command:{case['command']}" in check["functions"]
