"""One setting chooses the attribution of every command that ranks neurons by importance."""

import io
import pathlib
import shutil
import subprocess

import numpy as np
import pytest

import assay
from conftest import PROGRAM

RANKING = {
    "importance": ["importance", "net.onnx", "train.npz", "--layer", "conv2"],
    "cover": ["cover", "net.onnx", "test.npz", "--train", "train.npz", "-m", "2"],
    "select": ["select", "net.onnx", "test.npz", "--train", "train.npz", "--by", "additional", "--criterion", "idc[m=2]"],
    "audit": ["audit", "net.onnx", "test.npz", "--train", "train.npz", "--criterion", "idc[m=2]", "--count", "0"],
    "retrain": [
        *["retrain", "net.onnx", "--train", "train.npz", "--test", "test.npz", "--add", "test.npz", "--coverage-raising", "idc[m=2]"],
        *["--count", "2", "--against", "none", "--evaluate-on", "none", "--epochs", "1", "--repeats", "1"],
    ],
}


@pytest.fixture
def folder(work, tmp_path):
    for name in ("net.onnx", "train.npz", "test.npz"):
        shutil.copyfile(work / name, tmp_path / name)
    return tmp_path


def refusal(folder, *arguments):
    ended = subprocess.run([PROGRAM, *arguments, "--quiet"], cwd=folder, capture_output=True, text=True)
    return ended.returncode, ended.stderr


# A method that there is not is refused by whatever uses it.


@pytest.mark.parametrize("command", RANKING)
def test_the_flag_reaches_what_ranks_neurons(folder, command):
    code, said = refusal(folder, *RANKING[command], "--method", "no-such")
    assert code == 1 and "no attribution is named 'no-such'" in said


@pytest.mark.parametrize("command", RANKING)
def test_one_line_of_the_configuration_reaches_them_all(folder, command):
    (folder / "assay.toml").write_text('method = "no-such"\n')
    code, said = refusal(folder, *RANKING[command])
    assert code == 1 and "no attribution is named 'no-such'" in said


def test_the_line_changes_nothing_where_nothing_is_ranked(folder):
    (folder / "assay.toml").write_text('method = "no-such"\n')
    assert refusal(folder, "evaluate", "net.onnx", "test.npz") == (0, "")
    assert refusal(folder, "select", "net.onnx", "test.npz", "--by", "deepgini")[0] == 0


def test_a_method_without_effect_is_refused(folder):
    said = [
        refusal(folder, "select", "net.onnx", "test.npz", "--by", "deepgini", "--method", "deeplift"),
        refusal(folder, "select", "net.onnx", "test.npz", "--train", "train.npz", "--by", "additional", "--criterion", "nc", "--method", "deeplift"),
    ]
    assert [code for code, _ in said] == [1, 1]
    assert all("--method has no effect" in text for _, text in said)


def test_attacks_take_the_method_as_an_option(folder):
    code, said = refusal(folder, "attack", "net.onnx", "test.npz", "--attack", "removal[method=no-such]", "--pictures", "0", "--out", "out")
    assert code == 1 and "no attribution is named 'no-such'" in said


def test_the_page_on_patents_names_every_method_that_is_not_lrp(source, program, work):
    """Those of the catalogue without rules of LRP are on the page, and the page names no other."""
    page = pathlib.Path(source / "docs" / "patents.md").read_text()
    _, said = refusal(work, "importance", "net.onnx", "train.npz", "--method", "no-such")
    known = said.partition("there are ")[2].strip().split(", ")
    others = {name for row in page.splitlines() if row.startswith("| `") and "| no" in row and "nothing" not in row for name in row.split("|")[1].split("`")[1::2]}
    gradients = {"integrated-gradients", "ig", "gradient-x-input", "saliency", "smoothgrad", "grad-cam", "gradcam"}
    assert gradients | {"deeplift", "occlusion", "kernel-shap"} == others <= set(known)
    lrp = {"epsilon", "lrp-0", "z-plus", "alpha2-beta1", "gamma", "w-square", "flat"}
    assert lrp <= set(known) and all(name in page or name.startswith("epsilon") for name in known)


@pytest.mark.parametrize(
    "said, meant",
    [("SmoothGrad[samples=3]", "smoothgrad[samples=3]"), ("KernelSHAP[samples=99]", "kernel-shap[samples=99]"), ("Grad_CAM", "grad-cam"), ("IG", "ig"), ("DeepLIFT", "deeplift")],
)
def test_names_may_be_written_as_other_tools_write_them(model, arrays, said, meant):
    layer = "conv2" if meant == "grad-cam" else "input"
    same = [model.relevance(arrays[0][:4], layer, method=method) for method in (said, meant)]
    assert (same[0] == same[1]).all()


def test_a_method_that_is_none_names_the_nearest(model, arrays):
    with pytest.raises(assay.UsageError, match="no attribution is named 'SmothGrad'"):
        model.relevance(arrays[0][:4], "input", method="SmothGrad")


def averaged_rows():
    """tanh of the mean row of the tokens, by two classes; its table and weights."""
    onnx = pytest.importorskip("onnx", reason="SKIPPED: onnx is not installed (PyPI)")
    draws, make, types = np.random.default_rng(8), onnx.helper, onnx.TensorProto
    weights = {"table": draws.normal(size=(7, 4)), "last": draws.normal(size=(4, 2))}
    nodes = [
        make.make_node("Gather", ["table", "input_ids"], ["rows"]), make.make_node("ReduceMean", ["rows"], ["mean"], axes=[1], keepdims=0),
        make.make_node("Tanh", ["mean"], ["active"]), make.make_node("MatMul", ["active", "last"], ["scores"]),
    ]  # fmt: skip
    graph = make.make_graph(
        nodes, "rows", [make.make_tensor_value_info("input_ids", types.INT64, ["n", 5])], [make.make_tensor_value_info("scores", types.FLOAT, ["n", 2])],
        [onnx.numpy_helper.from_array(values.astype(np.float32), name) for name, values in weights.items()],
    )  # fmt: skip
    file = io.BytesIO()
    onnx.save(make.make_model(graph, opset_imports=[make.make_opsetid("", 17)], ir_version=8), file)
    return assay.load(file.getvalue()), weights["table"], weights["last"]


def test_tokens_beside_numbers_have_no_integrated_gradients():
    """The line moves the numbers alone."""
    onnx = pytest.importorskip("onnx", reason="SKIPPED: onnx is not installed (PyPI)")
    draws, make, types = np.random.default_rng(8), onnx.helper, onnx.TensorProto
    nodes = [
        make.make_node("Gather", ["table", "input_ids"], ["rows"]), make.make_node("ReduceMean", ["rows"], ["mean"], axes=[1], keepdims=0),
        make.make_node("Add", ["mean", "features"], ["both"]), make.make_node("Tanh", ["both"], ["active"]), make.make_node("MatMul", ["active", "last"], ["scores"]),
    ]  # fmt: skip
    inputs = [make.make_tensor_value_info("input_ids", types.INT64, ["n", 5]), make.make_tensor_value_info("features", types.FLOAT, ["n", 4])]
    weights = [onnx.numpy_helper.from_array(draws.normal(size=size).astype(np.float32), name) for name, size in (("table", (7, 4)), ("last", (4, 2)))]
    graph = make.make_graph(nodes, "both", inputs, [make.make_tensor_value_info("scores", types.FLOAT, ["n", 2])], weights)
    network = assay.load(make.make_model(graph, opset_imports=[make.make_opsetid("", 17)], ir_version=8).SerializeToString())
    x = {"input_ids": draws.integers(0, 7, (3, 5)), "features": draws.normal(size=(3, 4)).astype(np.float32)}
    with pytest.raises(assay.AssayError, match="real numbers alone, so 'input_ids' would have no relevance; use 'gradient-x-input'"):
        network.relevance(x, "input_ids", method="integrated-gradients", target=1)
    assert np.abs(network.relevance(x, "input_ids", method="gradient-x-input", target=1)).min() > 0


@pytest.mark.parametrize("method", ["gradient-x-input", "saliency", "integrated-gradients[steps=8]"])
def test_the_relevance_of_a_token_is_that_of_its_row(method):
    network, table, last = averaged_rows()
    ids = np.random.default_rng(1).integers(0, 7, (6, 5))
    rows = table[ids]

    def gradient(share):
        """Of class 1, by each number of a row."""
        return (1 - np.tanh(share * rows.mean(1)) ** 2) * last[:, 1] / ids.shape[1]

    along = np.mean([gradient((step + 0.5) / 8) for step in range(8)], 0)
    wanted = {"gradient-x-input": rows * gradient(1)[:, None], "saliency": np.abs(rows * 0 + gradient(1)[:, None])}.get(method, rows * along[:, None])
    found = network.relevance({"input_ids": ids}, method=method, target=1)
    np.testing.assert_allclose(found, wanted.sum(-1), rtol=1e-4, atol=1e-6)
    with pytest.raises(assay.AssayError, match="integers|channel"):
        network.relevance({"input_ids": ids}, method="grad-cam", target=1)
