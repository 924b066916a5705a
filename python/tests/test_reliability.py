"""Statements about operation against second writings with NumPy and SciPy."""

import numpy as np
import pytest


@pytest.fixture(scope="module")
def said(work, program):
    program(work, "evaluate", "net.onnx", "test.npz", "--predictions", "said-of-test.npz")
    with np.load(work / "said-of-test.npz") as archive:
        return archive["predicted"], archive["y"]


def test_bounds_are_quantiles_of_the_beta_distribution(inside, program, said):
    stats = pytest.importorskip("scipy.stats")
    failures, n = int((said[0] != said[1]).sum()), len(said[0])
    document = program(inside, "reliability", "net.onnx", "test.npz", "--confidence", 0.9, "--candidates", 4)
    facts = document["facts"]
    assert (facts["failures"], facts["records"]) == (failures, n)
    assert facts["upper"] == pytest.approx(stats.beta.ppf(0.9, failures + 1, n - failures), abs=1e-9)
    assert facts["low"] == pytest.approx(stats.beta.ppf(0.05, failures, n - failures + 1), abs=1e-9)
    assert facts["high"] == pytest.approx(stats.beta.ppf(0.95, failures + 1, n - failures), abs=1e-9)
    best = next(row for row in document["tables"]["bounds"]["rows"] if row["bound"] == "best of 4")
    assert best["value"] == pytest.approx(stats.beta.ppf(1 - 0.1 / 4, failures + 1, n - failures), abs=1e-9)


def test_a_profile_weighs_failures_by_shares_in_operation(inside, program, said):
    stats = pytest.importorskip("scipy.stats")
    weather = np.array(["sun", "fog"])[(np.arange(60) % 4 == 0).astype(int)]
    (inside / "seen.csv").write_text("id,weather\n" + "".join(f"{i},{w}\n" for i, w in enumerate(weather)))
    (inside / "shares.toml").write_text('[weather]\nvalues = ["sun", "fog", "snow"]\nshares = {sun = 0.6, fog = 0.3, snow = 0.1}\n')
    document = program(inside, "reliability", "net.onnx", "test.npz,metadata=seen.csv,meta=weather", "--domain", "shares.toml")
    wrong, upper = said[0] != said[1], 0.1  # snow was not tested
    for value, share in (("sun", 0.6), ("fog", 0.3)):
        k, n = wrong[weather == value].sum(), (weather == value).sum()
        upper += share * (stats.beta.ppf(1 - 0.05 / 3, k + 1, n - k) if k < n else 1)
    row = next(row for row in document["tables"]["bounds"]["rows"] if row["bound"] == "by weather")
    assert row["value"] == pytest.approx(min(1, upper), abs=1e-9)
    assert [row["records"] for row in document["tables"]["profile"]["rows"]] == [45, 15, 0]


def test_the_written_network_has_the_temperature(inside, program, arrays):
    runtime = pytest.importorskip("onnxruntime")
    document = program(inside, "reliability", "net.onnx", "test.npz", "--calibration", "train.npz", "--out", "fitted.onnx")
    temperature = document["facts"]["temperature"]

    def scores(path, x):
        session = runtime.InferenceSession(str(path))
        return session.run(None, {session.get_inputs()[0].name: x})[0].astype(float)

    assert scores("fitted.onnx", arrays[0]) == pytest.approx(scores("net.onnx", arrays[0]) / temperature, rel=1e-4, abs=1e-4)
    with np.load("train.npz") as archive:
        x, y = archive["x"].astype(np.float32), archive["y"]
    logs = scores("net.onnx", x)

    def likelihood(t):
        scaled = logs / t
        return np.mean(np.log(np.exp(scaled).sum(1)) - scaled[np.arange(len(y)), y])

    for other in np.geomspace(temperature / 3, temperature * 3, 60):
        assert likelihood(other) >= likelihood(temperature) - 1e-6


def test_leaked_records_are_found_and_warned_of(inside, program, arrays):
    with np.load("train.npz") as archive:
        x, y = archive["x"].copy(), archive["y"]
    x[5], x[9] = arrays[0][3], arrays[0][40]
    x[9, 0, 10, 10] += 0.01 if x[9, 0, 10, 10] < 0.5 else -0.01
    np.savez("leaked.npz", x=x, y=y)
    document = program(inside, "reliability", "net.onnx", "test.npz", "--train", "leaked.npz", "--near", 0.01)
    rows = document["tables"]["leakage"]["rows"]
    assert {(row["record"], row["training"]) for row in rows} == {("3", "5"), ("40", "9")}
    assert document["facts"]["leaked_exactly"] == 1
    assert [one["id"] for one in document["warnings"]].count("leakage") == 1


def test_twins_are_read_as_the_network_is(inside, program):
    """With its decision, and the shape of its records where network and data do not tell it."""
    onnx = pytest.importorskip("onnx", reason="SKIPPED: the package onnx is not there")
    from onnx import TensorProto, helper

    def write(name, sign):
        weights = [helper.make_tensor("w", TensorProto.FLOAT, [4, 2], [sign, 0, 0, sign, 0, 0, 0, 0])]
        nodes = [
            helper.make_node("Flatten", ["x"], ["f"]),
            helper.make_node("Gemm", ["f", "w"], ["right"]),
            helper.make_node("Neg", ["right"], ["wrong"]),
        ]
        inputs = [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", "c", "h", "w"])]
        outputs = [helper.make_tensor_value_info(one, TensorProto.FLOAT, ["n", 2]) for one in ("wrong", "right")]
        graph = helper.make_graph(nodes, name, inputs, outputs, weights)
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), f"{name}.onnx")

    write("first", 1.0), write("second", 2.0)
    x = np.random.default_rng(5).normal(size=(40, 4)).astype(np.float32)
    np.savez("four.npz", x=x, y=x[:, :2].argmax(1))
    reading = ["--decision", "right", "--input-shape", "1x2x2"]
    found = program(inside, "reliability", "first.onnx", "four.npz", *reading, "--twin", "second.onnx")
    assert found["facts"]["failures"] == 0
    figures = {row["criterion"]: row for row in found["tables"]["criteria"]["rows"]}
    assert figures["seed-disagreement"]["measure"] == 0 and figures["seed-deviation"]["measure"] == 0
    audited = program(
        inside, "audit", "first.onnx", "four.npz", "--train", "four.npz", *reading, "--twin", "second.onnx", "--criterion", "kmnc[sections=3]",
        "--count", 2, "--quality", 1, "--subsets", 10, "--permutations", 19, "--resamples", 20, "--orders", 19, "--sizes", "5,10",
    )  # fmt: skip
    assert audited["facts"]
