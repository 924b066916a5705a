"""What a result of `attack` tells of records that no picture can show."""

import numpy as np
import pytest

import assay

onnx = pytest.importorskip("onnx", reason="SKIPPED: onnx is not installed (PyPI)")


def sum_against_half(shape):
    """Class 1 where the sum of a record's values is above half of their number."""
    size = int(np.prod(shape))
    weights = np.stack([np.zeros(size), np.ones(size)], 1).astype(np.float32)
    bias = np.array([size / 2, 0], np.float32)
    nodes = [onnx.helper.make_node("Flatten", ["x"], ["flat"]), onnx.helper.make_node("Gemm", ["flat", "w", "b"], ["scores"])]
    graph = onnx.helper.make_graph(
        nodes,
        "sum",
        [onnx.helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, ["n", *shape])],
        [onnx.helper.make_tensor_value_info("scores", onnx.TensorProto.FLOAT, ["n", 2])],
        [onnx.numpy_helper.from_array(weights, "w"), onnx.numpy_helper.from_array(bias, "b")],
    )
    model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 13)])
    model.ir_version = 8
    return assay.load(model.SerializeToString())


@pytest.mark.parametrize(("shape", "places"), [((4,), ["0", "1", "2"]), ((2, 3), ["[0, 0]", "[0, 1]", "[0, 2]"])])
def test_rows_and_signals_are_told_as_a_table(shape, places):
    x = np.full((2, *shape), 0.6, np.float32)
    records = assay.data(x, [1, 1], ids=["a", "b"], range=(0, 1), class_names=["low", "high"])
    found = assay.attack(sum_against_half(shape), records, attack="fgsm[eps=0.25]")
    table = found.table("attacked")
    assert table["record"] == ["a", "b"] and table["fate"] == ["high is taken for low"] * 2
    assert table["changed"] == [int(np.prod(shape))] * 2
    assert table["most"][0] == "; ".join(f"{place}: 0.6 to 0.35" for place in places)
    assert found.document["pictures"] == []


def test_attacks_and_values_are_named_whole():
    records = assay.data(np.full((1, 1), 52341.25, np.float32), [1], range=(0, 60000))
    found = assay.attack(sum_against_half((1,)), records, attack=["fgsm[eps=0.25]", "fgsm[eps=0.5]"])
    table = found.table("attacked")
    assert table["attack"] == list(found.table("attacks")["attack"]) and len(set(table["attack"])) == 2
    assert table["most"][0] == "0: 52341.25 to 37341.25"


def test_pictures_need_no_table():
    records = assay.data(np.full((2, 1, 2, 2), 0.6, np.float32), [1, 1], range=(0, 1))
    found = assay.attack(sum_against_half((1, 2, 2)), records, attack="fgsm[eps=0.25]")
    assert len(found.document["pictures"]) == 2 and "attacked" not in found.tables


def test_a_tokenizer_beside_the_network_makes_no_texts_of_pictures(tmp_path):
    sum_against_half((1, 2, 2)).save(tmp_path / "model.onnx")
    (tmp_path / "tokenizer.json").write_text('{"model": {"type": "WordLevel", "vocab": {"a": 0}, "unk_token": "a"}}')
    records = assay.data(np.full((2, 1, 2, 2), 0.6, np.float32), [1, 1], range=(0, 1))
    found = assay.attack(tmp_path / "model.onnx", records, attack="fgsm[eps=0.25]", pictures=1)
    assert len(found.document["pictures"]) == 1


def test_labelled_pixels_have_a_legend_on_pages_and_in_notebooks():
    weights = np.array([[1.0], [-1.0]], np.float32).reshape(2, 1, 1, 1)
    graph = onnx.helper.make_graph(
        [onnx.helper.make_node("Conv", ["x", "w"], ["scores"])],
        "pixels",
        [onnx.helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, ["n", 1, 4, 4])],
        [onnx.helper.make_tensor_value_info("scores", onnx.TensorProto.FLOAT, ["n", 2, 4, 4])],
        [onnx.numpy_helper.from_array(weights, "w")],
    )
    model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 13)])
    model.ir_version = 8
    x = np.random.default_rng(1).random((3, 1, 4, 4), np.float32) - 0.5
    labels = (x[:, 0] < 0).astype(np.int64)
    labels[:, 0, 0] = 1 - labels[:, 0, 0]
    task = "pixels[names=sky+road]"
    network, records = assay.load(model.SerializeToString()), assay.data(x, labels, range=(-1, 1))
    for found in (
        assay.evaluate(network, records, task=task, pictures=2),
        assay.attack(network, records, task=task, attack="fgsm[eps=0.5]"),
    ):
        colours = dict(zip(found.table("colours")["class"], found.table("colours")["colour"]))
        assert list(colours) == ["sky", "road"] and colours["sky"] == "#ff0000"
        light = found._repr_html_()
        assert all(f'<b style="color:{colour}">■</b> {name}' in light for name, colour in colours.items())
