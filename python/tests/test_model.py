"""Networks: loading, running, editing; what is wrong is an exception."""

import re

import numpy as np
import pytest

import assay


def test_a_file_and_its_bytes_are_one_network(work, model):
    again = assay.load((work / "net.onnx").read_bytes())
    assert again.hash == model.hash and again.parameters == model.parameters
    assert assay.load(model) is model
    assert model.inputs and model.layers()[0].name == "conv1"
    assert "conv1" in repr(model.nodes) and "Model" in repr(model)


def test_activations_are_those_of_a_plain_computation(model, arrays):
    x, _ = arrays
    dense = [layer for layer in model.layers() if layer.carries_weights][-1]
    before = model.activations(x, "input")
    assert (before == x).all()
    layers = model.activations(x, [layer.name for layer in model.layers()])
    conv = layers["conv1"]
    weight = next(model.weight(n["inputs"][1]) for n in model.nodes if n["name"] == "conv1")
    bias = next(model.weight(n["inputs"][2]) for n in model.nodes if n["name"] == "conv1")
    k = weight.shape[2]
    padded = np.pad(x, ((0, 0), (0, 0), (k // 2, k // 2), (k // 2, k // 2)))  # the layer keeps the shape
    plain = np.stack(
        [
            np.einsum("nchw,ochw->no", padded[:, :, r : r + k, c : c + k], weight) + bias
            for r, c in ((0, 0), (5, 7))
        ],
        -1,
    )
    assert np.allclose(conv[:, :, [0, 5], [0, 7]], np.maximum(plain, 0), atol=1e-5) or np.allclose(
        conv[:, :, [0, 5], [0, 7]], plain, atol=1e-5
    )
    mean = model.activations(x, "conv1", reduction="mean")
    assert np.allclose(mean, conv.mean((2, 3)), atol=1e-5)
    assert np.allclose(model.activations(x, "conv1", reduction="max"), conv.max((2, 3)), atol=1e-5)
    assert dense.neurons == 10


def test_results_do_not_depend_on_batches(model, arrays):
    x, _ = arrays
    whole = model.activations(x, "conv2")
    parts = np.concatenate([model.activations(x[i : i + 7], "conv2") for i in range(0, len(x), 7)])
    assert np.allclose(whole, parts, atol=1e-5)


def test_predictions(model, arrays):
    x, y = arrays
    outputs, classes = model.predict(x)
    assert outputs.shape == (60, 10) and (classes == outputs.argmax(1)).all()
    assert (model(x) == outputs).all()


def test_values_of_any_shape_are_predicted(model, arrays):
    x, _ = arrays
    maps = model.with_outputs(["conv1"])
    outputs, classes = maps.predict(x[:4])
    assert classes is None and outputs.shape[0] == 4 and outputs.ndim == 4


def test_the_output_that_decides_is_chosen(model, arrays):
    x, _ = arrays
    names = [list(model.outputs)[0], "conv1"]
    both = model.with_outputs(names)
    assert list(assay.load(both, decision="conv1").outputs)[0] == "conv1"
    assert (assay.load(both, decision=1).predict(x[:2])[0] == model.with_outputs(["conv1"]).predict(x[:2])[0]).all()
    with pytest.raises(assay.UsageError, match="no input 'rate'"):
        assay.load(both, fix={"rate": 16000})


@pytest.mark.parametrize("number", [np.int64(2), np.uint8(2), np.array(2)], ids=lambda n: type(n).__name__)
def test_numbers_of_numpy_are_numbers(number, work, arrays):
    x = arrays[0][:5]
    model = assay.load(work / "net.onnx", threads=number, batch=number)
    assert np.array_equal(model(x), assay.load(work / "net.onnx", threads=2, batch=2)(x))
    read = assay.data(x, range=(np.float32(0), np.float64(0.5))).read([number])
    assert np.array_equal(read["x"], x[2:3])
    if not isinstance(number, np.ndarray):
        assert np.array_equal(model.gradients(x, target=number), model.gradients(x, target=2))
    outputs = model.gradients(x, target=2, outputs=True)
    for true in (np.bool_(True), 1, np.int64(1)):
        assert np.array_equal(model.gradients(x, target=2, outputs=true), outputs)
    for kind in (np.float32, np.float64):
        assert assay.data(x, range=(0, kind(0.5))).range == ([0.0], [0.5])


def test_inputs_are_fixed_to_numbers_of_numpy(tmp_path):
    onnx = pytest.importorskip("onnx")
    inputs = [onnx.helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, ["n", 3])]
    inputs.append(onnx.helper.make_tensor_value_info("by", onnx.TensorProto.FLOAT, []))
    outputs = [onnx.helper.make_tensor_value_info("y", onnx.TensorProto.FLOAT, ["n", 3])]
    graph = onnx.helper.make_graph([onnx.helper.make_node("Mul", ["x", "by"], ["y"])], "g", inputs, outputs)
    onnx.save(onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 17)], ir_version=8), tmp_path / "g.onnx")
    for number in (0.5, np.float32(0.5), np.float64(0.5)):
        assert assay.load(tmp_path / "g.onnx", fix={"by": number})(np.ones((2, 3), np.float32)).tolist() == [[0.5] * 3] * 2


def test_gradients_are_those_of_differences(model, arrays):
    x = np.random.default_rng(2).random((4, 1, 28, 28)).astype(np.float32)  # no ties for pooling to break
    logits = [layer.name for layer in model.layers()][-1]
    gradient = model.gradients(x, target=3)
    assert gradient.shape == x.shape
    direction = np.random.default_rng(1).standard_normal(x.shape).astype(np.float32)
    step = 1e-4
    expected = (gradient * direction).sum((1, 2, 3))
    here, up, down = (model.activations(x + s * step * direction, logits)[:, 3] for s in (0, 1, -1))
    # Where another element becomes the greatest of its pool the two sides differ, and the gradient is that of one.
    apart = np.minimum(*(np.abs(side - expected) for side in ((up - here) / step, (here - down) / step)))
    assert (apart < 0.02 * np.abs(expected).max()).all()
    each = model.gradients(x, target=[3, 3, 3, 3])
    assert np.allclose(each, gradient)
    assert model.gradients(x, ["input", "conv2"]).keys() == {"input", "conv2"}


def test_relevance_is_conserved(model, arrays):
    x, _ = arrays
    x = x[:5]
    logits = model.activations(x, [layer.name for layer in model.layers()][-1])
    found = model.relevance(x, ["input", "conv2"], method="epsilon", target=2)
    assert found["input"].shape == x.shape
    gradient = model.gradients(x, "input", target=2)
    assert found["conv2"].shape[0] == 5 and gradient.shape == x.shape
    assert np.isfinite(found["input"]).all() and np.isfinite(logits).all()


def test_edits_share_what_they_do_not_touch(model, arrays, tmp_path):
    x, _ = arrays
    bias = next(n["inputs"][2] for n in model.nodes if n["name"] == "conv1")
    edited = model.with_weights({bias: np.full_like(model.weight(bias), 100)})
    assert edited.hash != model.hash and (edited.weight(bias) == 100).all()
    assert (model.weight(bias) != 100).all()
    assert (edited.activations(x, "conv1") > 50).all()
    edited.save(tmp_path / "edited.onnx")
    assert assay.load(tmp_path / "edited.onnx").hash == edited.hash
    name = model.nodes[0]["outputs"][0]
    assert model.with_outputs([name]).outputs.keys() == {name}
    with pytest.raises(assay.MismatchError, match="shape"):
        model.with_weights({bias: np.zeros(3)})
    for wrong in ({"no": np.zeros(1)}, {next(iter(model.inputs)): np.zeros(1)}):
        with pytest.raises(assay.UsageError):
            model.with_weights(wrong)
    with pytest.raises(assay.UsageError):
        model.without_node("no")
    with pytest.raises(assay.UsageError):
        model.with_outputs(["no"])


@pytest.mark.parametrize(
    "call",
    [
        lambda m, x: m.activations(x[:, :, :5], "conv1"),
        lambda m, x: m.activations({"a": x, "b": x}, "conv1"),
        lambda m, x: m.activations(x, "conv9"),
        lambda m, x: m.activations(x, []),
        lambda m, x: m.activations(x, "conv1", reduction="median"),
        lambda m, x: m.activations(x, "input", reduction="mean"),
        lambda m, x: m.gradients(x, target=10),
        lambda m, x: m.gradients(x, target=-1),
        lambda m, x: m.gradients(x, target=[1, 2]),
        lambda m, x: m.relevance(x, method="magic"),
        lambda m, x: m.weight("no"),
        lambda m, x: m.save("/dev/null/net.onnx"),
        lambda m, x: assay.load(b"not a network"),
        lambda m, x: assay.load(b""),
        lambda m, x: assay.load("no-such-file.onnx"),
        lambda m, x: assay.load(3),
        lambda m, x: assay.load(None),
        lambda m, x: assay.load("net.onnx", example=x),
        lambda m, x: assay.load(b"x", device="tpu").layers(),
    ],
)
def test_wrong_calls_are_exceptions(call, model, arrays):
    with pytest.raises(assay.AssayError) as caught:
        call(model, arrays[0])
    assert str(caught.value)


def test_errors_are_classes_with_the_texts_of_the_program(inside):
    import subprocess

    from conftest import PROGRAM

    (inside / "broken.onnx").write_bytes(b"\x08\x07 damaged")
    for call, arguments, code in (
        (lambda: assay.evaluate("no.onnx", "test.npz"), ["evaluate", "--model", "no.onnx", "--data", "test.npz"], 7),
        (lambda: assay.evaluate("broken.onnx", "test.npz"), ["evaluate", "--model", "broken.onnx", "--data", "test.npz"], 3),
        (lambda: assay.evaluate("net.onnx", "no.npz"), ["evaluate", "--model", "net.onnx", "--data", "no.npz"], 7),
        (
            lambda: assay.mutate("net.onnx", "test.npz", operator="gg"),
            ["mutate", "--model", "net.onnx", "--test", "test.npz", "--operator", "gg"],
            1,
        ),
    ):
        with pytest.raises(assay.AssayError) as caught:
            call()
        said = subprocess.run([PROGRAM, *arguments, "--quiet"], cwd=inside, capture_output=True, text=True)
        assert said.returncode == caught.value.exit_code == code
        assert said.stderr.strip() == f"assay: {caught.value}".strip()


def test_errors_name_keywords_where_those_of_the_program_name_flags(inside, model):
    for call, text in (
        (lambda: assay.evaluate("net.onnx"), "which data? give data=SPEC (or "),
        (lambda: assay.attack("net.onnx", "test.npz"), "give attack=NAME[option=value,...] or preset=NAME; `assay "),
        (lambda: assay.cover("net.onnx", test="test.npz"), "give train=SPEC, or profile=FILE of an earlier run"),
        (lambda: assay.evaluate("net.onnx", "test.npz", tolerance=0.1), "tolerance has no effect without expect_accuracy"),
        (lambda: assay.evaluate("chosen layer net.onnx", "test.npz"), "chosen layer net.onnx: "),
    ):
        with pytest.raises(assay.AssayError) as caught:
            call()
        assert text in str(caught.value)
        assert "--" not in re.sub("`[^`]*`", "", str(caught.value))


TYPES = {"float64": "F64", "float32": "F32", "float16": "F16", "int64": "I64", "uint8": "U8"}


def write_safetensors(path, arrays):
    import json
    import struct

    header, data = {"__metadata__": {"format": "pt"}}, b""
    for name, array in arrays.items():
        header[name] = {
            "dtype": TYPES[str(array.dtype)],
            "shape": list(array.shape),
            "data_offsets": [len(data), len(data) + array.nbytes],
        }
        data += array.tobytes()
    text = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)


def weights_of(model):
    # Scalars and whole numbers are no weights.
    return {n: model.weight(n) for n in model.weights if model.weight(n).dtype == np.float32 and model.weight(n).ndim > 0}


@pytest.mark.filterwarnings("ignore:6 F:assay.AssayWarning")  # that they are converted
@pytest.mark.parametrize("dtype", ["float32", "float64", "float16"])
def test_weights_of_a_file_for_a_network_that_is_given(dtype, model, arrays, inside, tmp_path, program):
    other = model.with_weights({n: 0.5 * w for n, w in weights_of(model).items()})
    file = tmp_path / "half.safetensors"
    write_safetensors(file, {n: w.astype(dtype) for n, w in weights_of(other).items()})
    expected = other.with_weights({n: w.astype(dtype) for n, w in weights_of(other).items()})
    for source in ("net.onnx", (inside / "net.onnx").read_bytes(), model):
        loaded = assay.load(source, weights=file)
        assert loaded.hash == expected.hash
        assert (loaded(arrays[0]) == expected(arrays[0])).all()
    spec = f"net.onnx,weights={file}"
    assert assay.load(spec).hash == expected.hash
    asked = program(inside, "evaluate", "--model", spec, "--data", "test.npz")
    assert asked["provenance"]["model_hash"] == expected.hash
    assert assay.evaluate(spec, "test.npz").provenance["model_hash"] == expected.hash
    assert assay.evaluate(assay.load("net.onnx", weights=file), "test.npz").provenance["model_hash"] == expected.hash
    seen = assay.inspect(f"small={spec},epoch=3", "test.npz", hypotheses="label", units="layer=conv2")
    assert "small" in seen.to_json()


def test_weights_that_do_not_fit_are_named(model, tmp_path):
    file = tmp_path / "w.safetensors"
    weights = weights_of(model)
    name = next(iter(weights))

    def refused(error, text, arrays):
        write_safetensors(file, arrays)
        with pytest.raises(error) as caught:
            assay.load(model, weights=file)
        assert text in str(caught.value) and str(file) in str(caught.value)

    refused(assay.MismatchError, f"no tensor is given for '{name}'", {n: w for n, w in weights.items() if n != name})
    refused(assay.MismatchError, "no constant for 'other'", {**weights, "other": np.zeros(2, np.float32)})
    refused(assay.MismatchError, f"'{name}'", {**weights, name: np.zeros(3, np.float32)})
    refused(assay.UnsupportedError, f"'{name}'", {**weights, name: weights[name].astype(np.int64)})
    file.write_bytes(file.read_bytes()[:-1])
    with pytest.raises(assay.ModelError):
        assay.load(model, weights=file)
    with pytest.raises(assay.UnsupportedError, match="without their network"):
        assay.load(file)
    with pytest.raises(assay.FileError):
        assay.load(model, weights=tmp_path / "no.safetensors")
    with pytest.raises(assay.UsageError):
        assay.load(3, weights=file)


def test_the_weights_of_a_torch_module_fit_its_export(arrays, tmp_path):
    torch = pytest.importorskip("torch")
    net = torch.nn.Sequential(
        torch.nn.Conv2d(1, 4, 5), torch.nn.ReLU(), torch.nn.Flatten(), torch.nn.Linear(2304, 10)
    ).eval()
    model = assay.load(net, torch.zeros(1, 1, 28, 28))
    for weight in net.parameters():
        torch.nn.init.normal_(weight, std=0.05)
    file = tmp_path / "net.safetensors"
    counter = {"bn.num_batches_tracked": np.array(5)}
    write_safetensors(file, {**{n: w.numpy() for n, w in net.state_dict().items()}, **counter})
    with torch.no_grad():
        expected = net(torch.from_numpy(arrays[0])).numpy()
    assert np.allclose(assay.load(model, weights=file)(arrays[0]), expected, atol=1e-4)


def test_files_of_torch_are_answered_with_how_to_export_them(tmp_path):
    torch = pytest.importorskip("torch")
    for name, thing in (("net.pt", torch.nn.Linear(2, 3)), ("net.pth", torch.nn.Linear(2, 3).state_dict())):
        torch.save(thing, tmp_path / name)
        with pytest.raises(assay.UnsupportedError) as caught:
            assay.load(tmp_path / name)
        assert "torch.onnx.export" in str(caught.value) and "\n" not in str(caught.value)


def test_networks_never_change(model, tmp_path):
    import copy
    import pickle

    before, name = model.hash, model.weights[0]
    weight = model.weight(name)
    with pytest.raises(ValueError, match="read-only"):
        weight[...] = 0
    assert model.with_weights({name: weight * 2}).hash != before
    assert copy.deepcopy(model).hash == copy.copy(model).hash == before
    with pytest.raises(TypeError, match=r"save\(\)"):
        pickle.dumps(model)


def test_one_network_is_asked(model, arrays):
    with pytest.raises(assay.UsageError, match="one network, 2 are given"):
        assay.evaluate([model, model], arrays)
    assert assay.evaluate([model], arrays).facts["records"] == 60
