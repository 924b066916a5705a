"""Documents against their published forms; results of every command are checked in test_commands.py."""

import pytest

from conftest import read_json
from json_schema import faults

SCHEMA = {
    "type": "object",
    "required": ["a"],
    "properties": {"a": {"type": ["integer", "null"]}, "b": {"enum": ["x", "y"]}, "c": {"const": 1}, "d": {"$ref": "#/$defs/list"}},
    "additionalProperties": {"type": "string"},
    "$defs": {"list": {"type": "array", "items": {"type": "number"}}},
}
SARIF_RESULT = {
    "required": ["message", "ruleId", "ruleIndex", "level", "locations"],
    "properties": {
        "level": {"enum": ["none", "note", "warning", "error"]},
        "message": {"required": ["text"]},
        "ruleIndex": {"type": "integer"},
    },
}
SARIF_DRIVER = {"required": ["name"], "properties": {"rules": {"type": "array", "items": {"type": "object", "required": ["id"]}}}}
SARIF_RUN = {
    "required": ["tool", "results"],
    "properties": {
        "tool": {"required": ["driver"], "properties": {"driver": SARIF_DRIVER}},
        "results": {"type": "array", "items": SARIF_RESULT},
        "invocations": {"type": "array", "items": {"required": ["executionSuccessful"]}},
    },
}
SARIF = {
    "type": "object",
    "required": ["version", "runs", "$schema"],
    "properties": {"version": {"const": "2.1.0"}, "runs": {"type": "array", "items": SARIF_RUN}},
}


def test_what_fits_a_schema_has_no_fault():
    assert faults(SCHEMA, {"a": None, "b": "y", "c": 1, "d": [1, 2.5], "e": "text"}) == []


@pytest.mark.parametrize("wrong", [[], {}, {"a": 1.5}, {"a": True}, {"a": 1, "b": "z"}, {"a": 1, "c": 2}, {"a": 1, "c": True}, {"a": 1, "d": [True]}, {"a": 1, "e": 3}])
def test_every_kind_of_fault_is_found(wrong):
    assert len(faults(SCHEMA, wrong)) == 1


def test_a_rule_that_the_check_does_not_know_is_an_error():
    with pytest.raises(ValueError, match="minimum"):
        faults({"minimum": 3}, 5)


def test_gates_have_what_sarif_requires(inside, program):
    gates = ("--fail-under", "nc=0", "--fail-under", "nc=0.9999")
    program(inside, "cover", "net.onnx", "test.npz", "--train", "train.npz", "--criterion", "nc", "--sarif", "gates.sarif", *gates)
    log = read_json((inside / "gates.sarif").read_text())
    assert faults(SARIF, log) == []
    assert [result["level"] for result in log["runs"][0]["results"]].count("error") == 1
