"""A monitor in its three forms: measured by Assay, as ONNX in onnxruntime, as compiled C++."""

import shutil
import subprocess

import numpy as np
import pytest

MAIN = """
#include <cstdio>
#include "watch.hpp"
int main() {
  float z[watch::classes];
  %s
  for (;;) {
    for (float& one : z) if (std::scanf("%%f", &one) != 1) return 0;
    %s
    std::printf("%%.7g %%d\\n", static_cast<double>(watch::score(z%s)), static_cast<int>(watch::alarm(z%s)));
  }
}
"""


def compiled(folder, with_activations):
    more = ", a" if with_activations else ""
    array = "float a[watch::features];" if with_activations else ""
    read = 'for (float& one : a) if (std::scanf("%f", &one) != 1) return 0;' if with_activations else ""
    (folder / "watch.cpp").write_text(MAIN % (array, read, more, more))
    compiler = shutil.which("g++") or pytest.skip("there is no g++")
    subprocess.run([compiler, "-std=c++17", "-Wall", "-Wextra", "-Werror", "-o", "watch", "watch.cpp"], cwd=folder, check=True)
    return folder / "watch"


def with_outputs(path, names):
    onnx = pytest.importorskip("onnx")
    model = onnx.load(path)
    for name in names:
        model.graph.output.append(onnx.helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, None))
    return model.SerializeToString()


@pytest.mark.parametrize("score", ["energy", "max-logit", "mdsa", "dsa"])
def test_all_forms_give_the_same_scores_and_alarms(inside, program, arrays, score):
    runtime = pytest.importorskip("onnxruntime")
    onnx = pytest.importorskip("onnx")
    learns = score in ("mdsa", "dsa")
    more = ["--train", "train.npz"] if learns else []
    document = program(
        inside, "monitor", "net.onnx", "test.npz", "--score", score, "--false-alarms", 0.2, *more, "--out", "watch.onnx", "--source", "watch.hpp"
    )
    graph = onnx.load("watch.onnx").graph
    logits = graph.output[0].name  # the network ends in scores
    wanted = []
    if learns:
        wanted.append(next(node for node in graph.node if node.name.startswith("monitor/Sub")).input[0])
    session = runtime.InferenceSession(with_outputs("watch.onnx", wanted))
    names = [output.name for output in session.get_outputs()]
    found = dict(zip(names, session.run(None, {session.get_inputs()[0].name: arrays[0]})))
    scores, alarms = found["monitor_score"], found["monitor_alarm"]
    threshold = document["facts"]["threshold"]
    assert (alarms == (scores > np.float32(threshold))).all() and alarms.any() and not alarms.all()
    # Odd records count false alarms, even ones have set the threshold.
    assert document["facts"]["false_alarms"] == pytest.approx(alarms[1::2].mean())
    assert np.sort(scores[::2])[int(np.ceil(31 * 0.8)) - 1] == pytest.approx(threshold, rel=1e-4)
    z = found[logits]
    if not learns:
        expected = -np.log(np.exp(z.astype(float)).sum(1)) if score == "energy" else -z.max(1)
        assert scores == pytest.approx(expected, abs=1e-4)
    rows = np.concatenate([found[name] for name in [logits, *wanted]], axis=1)
    text = "\n".join(" ".join(f"{one:.9g}" for one in row) for row in rows)
    said = subprocess.run([compiled(inside, learns)], input=text, capture_output=True, text=True, check=True).stdout
    said = np.array([[float(one) for one in line.split()] for line in said.splitlines()])
    assert said[:, 0] == pytest.approx(scores, rel=2e-3, abs=1e-4)
    clear = np.abs(scores - threshold) > 1e-3 * abs(threshold)
    assert (said[clear, 1] == alarms[clear]).all()


def test_detection_is_that_of_the_scores(inside, program, arrays):
    rng = np.random.default_rng(1)
    np.savez("noise.npz", x=rng.uniform(size=(40, 1, 28, 28)).astype(np.float32))
    document = program(inside, "monitor", "net.onnx", "test.npz,range=0:1", "--foreign", "noise.npz", "--attack", "noise[sigma=0.4]", "--false-alarms", 0.1)
    rows = document["tables"]["detection"]["rows"]
    assert [row["of"] for row in rows] == ["usual records", "noise.npz", "noise[sigma=0.4]"]
    assert rows[0]["count"] == 30 and rows[1]["count"] == 40
    for row in rows[1:]:
        assert row["rate"] == pytest.approx(row["alarms"] / row["count"])
        assert 0 <= row["auroc"] <= 1
