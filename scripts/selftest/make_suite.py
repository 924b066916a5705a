#!/usr/bin/env python3
"""Computes assay/selftest/suite.json: the questions of `assay selftest` and what independent programs answer.

Nothing of Assay is used. Needs the packages in requirements.txt. With --check, the file is compared with what comes out:
all must be the same but for versions of packages, and numbers that differ by less than half of their tolerance.
"""

import argparse
import importlib.metadata
import json
import pathlib
import sys

import attacks
import coverage
import evaluation
import files
import inspection
import mutation
import not_covered
import reading
import relevance
from subjects import Subjects
from suite import Suite

PARTS = [reading, evaluation, coverage, relevance, inspection, mutation, attacks, files, not_covered]
PACKAGES = ["numpy", "scipy", "scikit-learn", "onnx", "onnxruntime", "torch", "captum"]
TARGET = pathlib.Path(__file__).resolve().parents[2] / "assay/selftest/suite.json"


def suite_text():
    suite = Suite(Subjects())
    for part in PARTS:
        part.add(suite)
    return suite.text({package: importlib.metadata.version(package) for package in PACKAGES})


def differences(new, old):
    """Where two suites differ, in words."""
    found = [f"{part} differ" for part in ("files", "not_covered") if new[part] != old[part]]
    if len(new["cases"]) != len(old["cases"]):
        return [*found, f"{len(new['cases'])} questions, not {len(old['cases'])}"]
    for ours, theirs in zip(new["cases"], old["cases"]):
        if {**ours, "checks": 0} != {**theirs, "checks": 0} or len(ours["checks"]) != len(theirs["checks"]):
            found.append(f"question '{ours['name']}' differs")
            continue
        for a, b in zip(ours["checks"], theirs["checks"]):
            if {**a, "expected": 0} != {**b, "expected": 0} or not agree(a["expected"], b["expected"], a.get("tolerance", 0)):
                found.append(f"'{ours['name']}', '{a['name']}': {a['expected']}, not {b['expected']}")
    return found


def agree(a, b, tolerance):
    numbers = isinstance(a, (int, float)) and isinstance(b, (int, float))
    return abs(a - b) <= tolerance / 2 if numbers else a == b


def main():
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--check", action="store_true", help="compare instead of writing")
    text = suite_text()
    if arguments.parse_args().check:
        sys.exit("\n".join(differences(json.loads(text), json.loads(TARGET.read_text()))) or None)
    TARGET.write_text(text)
    print(f"{TARGET}: {len(text)} bytes")


if __name__ == "__main__":
    main()
