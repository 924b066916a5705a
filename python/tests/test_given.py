"""Objects of other libraries go in as they are: tensors, tables, data sets, networks; what is wrong is said in one sentence."""

import importlib.util
import subprocess
import sys
import warnings

import numpy as np
import pytest

import assay
from assay.callbacks import CoverageHistory

X = np.arange(6 * 4, dtype=np.float32).reshape(6, 4) / 8  # exact in 16 bits
Y = np.array([0, 1, 2, 0, 1, 0])
NAMES = ["cat", "dog", "emu"]
WORDS = [NAMES[y] for y in Y]


def need(*names):
    """Makes a test SKIPPED where one of these packages is absent."""
    for name in names:
        if importlib.util.find_spec(name.split(".")[0]) is None:
            pytest.skip(f"SKIPPED: {name} is not installed")
    return importlib.import_module(names[0])


def same(data, x=X, y=Y):
    assert np.array_equal(data.read(range(len(data)))["x"], x) and data.labels.tolist() == list(y)
    return True


# Tensors


def tensor(library, values, dtype):
    if library == "torch":
        torch = need("torch")
        return torch.from_numpy(values).to(getattr(torch, dtype))
    if library == "tensorflow":
        return need("tensorflow").cast(values, dtype)
    if library == "jax":
        return need("jax").numpy.asarray(values, dtype=dtype)
    return values.astype(getattr(need("ml_dtypes"), dtype, dtype))


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16", "int32"])
@pytest.mark.parametrize("library", ["torch", "tensorflow", "jax", "ml_dtypes"])
def test_tensors_are_records(library, dtype):
    values = X if dtype != "int32" else np.arange(24, dtype=np.float32).reshape(6, 4)
    x = tensor(library, values, dtype)
    assert same(assay.data(x, tensor(library, Y, "int32")), values)
    assert same(assay.data(iter([(x[:4], tensor(library, Y[:4], "int32")), (x[4:], tensor(library, Y[4:], "int32"))])), values)


@pytest.mark.parametrize("library", ["torch", "tensorflow", "jax"])
def test_labels_of_any_tensors(library):
    for y in (Y == 1, np.eye(3, dtype=np.float32)[Y]):
        expected = (Y == 1).astype(int) if y.ndim == 1 else Y
        assert same(assay.data(X, tensor(library, y, str(y.dtype))), X, expected)


def test_variables_are_records():
    tensorflow = need("tensorflow")
    assert same(assay.data(tensorflow.Variable(X), tensorflow.Variable(Y)))


def test_what_a_library_cannot_lend_is_said_in_words():
    """TensorFlow ends the process where a tensor of texts is asked for its memory."""
    need("tensorflow")
    script = """
import assay, tensorflow as tf
for tensor in (tf.constant(["a", "b"]), tf.ragged.constant([[1.0, 2], [3]]), tf.sparse.from_dense([[1.0, 0]])):
    for given in (tensor, {"a": tensor}, iter([tensor])):
        try:
            assay.data(given)
        except assay.UsageError as error:
            print("said:", error)
"""
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert ran.returncode == 0 and ran.stdout.count("said: ") == 9, ran.stderr[-2000:]


# Tables: the same records, labels and names whatever library holds them


def table(library, columns, folder):
    if library.startswith("pandas"):
        pandas = need("pandas")
        if library == "pandas arrow":
            need("pyarrow")
        frame = pandas.DataFrame(columns)
        if library == "pandas numpy_nullable":
            return frame.convert_dtypes()
        return frame if library == "pandas" else frame.convert_dtypes(dtype_backend="pyarrow")
    if library.startswith("polars"):
        frame = need("polars").DataFrame(columns)
        return frame.lazy() if library == "polars lazy" else frame
    if library == "datasets":
        return need("datasets").Dataset.from_dict(columns)
    arrow = need("pyarrow").table(columns)
    if library == "parquet":
        need("pyarrow.parquet").write_table(arrow, folder / "table.parquet")
        return folder / "table.parquet"
    return {"arrow": arrow, "batch": arrow.to_batches()[0], "reader": arrow.to_reader()}[library]


LIBRARIES = "pandas, pandas numpy_nullable, pandas arrow, polars, polars lazy, arrow, batch, reader, parquet, datasets".split(", ")


@pytest.mark.parametrize("library", LIBRARIES)
def test_tables_of_every_library_are_the_same_records(library, tmp_path):
    numbers = {"a": X[:, 0].tolist(), "b": [3, 1, 4, 1, 5, 9], "c": [True, False] * 3}
    x = np.array(list(numbers.values()), np.float32).T
    data = assay.data(table(library, {**numbers, "kind": WORDS}, tmp_path), label="kind")
    assert same(data, x) and data.class_names == NAMES and data.shape == (3,)
    named = assay.data(table(library, {**numbers, "kind": WORDS}, tmp_path), label="kind", class_names=NAMES[::-1], inputs=["b"])
    assert same(named, x[:, 1:2], 2 - Y)
    targets = assay.data(table(library, numbers, tmp_path), target=["a", "b"])
    assert np.array_equal(targets.read([3])["targets"], x[[3], :2]) and targets.shape == (1,)
    if library != "datasets":
        assert same(assay.data(table(library, numbers, tmp_path), Y), x)


NUMBERED = "numbered in alphabetical order: 0 is 'cat', 1 is 'dog', 2 is 'emu'; "


def test_python_says_how_labels_in_words_are_numbered():
    for given, keywords in ((X, {"y": WORDS}), (iter([{"x": X, "kind": WORDS}]), {"label": "kind"}), ({"x": X, "kind": WORDS}, {"label": "kind"})):
        with pytest.warns(assay.AssayWarning, match=NUMBERED + "class_names= gives another order") as told:
            assay.data(given, **keywords)
        assert [one.filename for one in told] == [__file__]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert same(assay.data(X, WORDS, class_names=NAMES)) and same(assay.data(X, Y))


@pytest.mark.parametrize("library", LIBRARIES)
def test_columns_of_every_library_are_characteristics(library, tmp_path):
    columns = {"a": X[:, 0].tolist(), "kind": WORDS, "weather": ["sun", None, "fog"] * 2, "age": [3, 40, 90, 17, 18, None]}
    data = assay.data(table(library, columns, tmp_path), label="kind", meta=["weather", "age:0|18|65"])
    assert same(data, X[:, :1]) and data.class_names == NAMES
    assert data.characteristics["weather"] == ["sun", "", "fog"] * 2
    assert data.characteristics["age"] == ["0 to 18", "18 to 65", "65 and above", "0 to 18", "18 to 65", ""]
    with pytest.raises(assay.UsageError, match="no column 'wether'"):
        assay.data(table(library, columns, tmp_path), label="kind", meta=["wether"])


def test_characteristics_of_hugging_face_have_the_names_of_their_classes():
    datasets = need("datasets")
    typed = datasets.Features({"x": datasets.Value("float32"), "kind": datasets.ClassLabel(names=NAMES)})
    plain = datasets.Dataset.from_dict({"x": X[:, 0].tolist(), "kind": [*WORDS[:5], None]}, features=typed)
    for form in (plain, plain.to_iterable_dataset(), plain.with_format("numpy")):
        data = assay.data(form, meta="kind")
        assert data.characteristics == {"kind": [*WORDS[:5], ""]} and data.inputs == {"x": (1,)}


def test_a_network_that_numbers_the_same_names_otherwise_is_told(tmp_path, monkeypatch):
    """As where a transform renumbers the classes of a data set, or its ClassLabel has another order than id2label."""
    import json

    torch = need("torch")
    module = torch.nn.Linear(4, 3)
    module.config = type("Config", (), {"id2label": dict(enumerate(["emu", "Cat", "dog"]))})()
    path = tmp_path / "model.onnx"
    assay.load(module, torch.zeros(1, 4)).save(path)
    (tmp_path / "config.json").write_text(json.dumps({"id2label": dict(enumerate(["emu", "Cat", "dog"]))}))
    data = assay.data(X, Y, class_names=NAMES)
    monkeypatch.chdir(tmp_path)
    for network in (module, assay.load(module, torch.zeros(1, 4)), assay.load(path), path, assay.load("model.onnx"), "model.onnx"):
        with pytest.warns(assay.AssayWarning, match="'cat' is class 0 of the data and 1 of the network, 'dog' is class 1"):
            assay.evaluate(network, data)
    module.config.id2label = dict(enumerate(NAMES))
    (tmp_path / "config.json").write_text(json.dumps({"id2label": {}}))
    with warnings.catch_warnings():
        warnings.filterwarnings("error", message=".*of the network")
        for network in (module, path):
            assay.evaluate(network, data)
            assay.evaluate(network, assay.data(X, Y))


def test_parts_of_dicts_and_of_batches_are_characteristics():
    weather = ["sun", "fog", "sun", "rain", "fog", "sun"]
    batches = [({"x": X[at : at + 4], "weather": np.array(weather[at : at + 4])}, Y[at : at + 4]) for at in (0, 4)]
    singles = [{"x": x, "kind": kind, "weather": one} for x, kind, one in zip(X, WORDS, weather)]
    for given, keywords in (
        (iter(batches), {}),
        (iter([({"x": x, "weather": one}, y) for x, y, one in zip(X, Y, weather)]), {}),
        (iter(singles), {"label": "kind"}),
        ({"x": X, "kind": WORDS, "weather": weather}, {"label": "kind"}),
        ({"x": X, "weather": weather}, {"y": Y}),
        ({"x": X, "other": X, "weather": weather}, {"y": Y, "inputs": ["x"]}),
    ):
        data = assay.data(given, meta=["weather"], **keywords)
        assert same(data) and data.characteristics == {"weather": weather}
    for given in (X, iter([(X, Y)])):
        with pytest.raises(assay.UsageError, match="names in meta= are of .*{name: a value for each}"):
            assay.data(given, meta=["weather"])
    with pytest.raises(assay.UsageError, match="label= or target=, or y"):
        assay.data({"x": X, "kind": WORDS}, Y, label="kind")


@pytest.mark.parametrize("library", ["pandas", "pandas arrow", "polars", "arrow", "parquet", "datasets"])
def test_columns_of_arrays_are_inputs(library, tmp_path):
    pictures = X.reshape(6, 2, 2)
    one = assay.data(table(library, {"x": pictures.tolist(), "kind": Y.tolist()}, tmp_path), label="kind")
    assert same(one, pictures)
    two = table(library, {"ids": [[3, 1]] * 6, "mask": [[1, 0]] * 6, "kind": Y.tolist()}, tmp_path)
    data = assay.data(two, label="kind")
    assert data.inputs == {"ids": (2,), "mask": (2,)} and data.dtype == "int64"
    for wrong, fault in ({"x": [[1.0]] * 4 + [[1.0, 2]] * 2}, "one length"), ({"x": [["a"]] * 6}, "numbers"):
        with pytest.raises(assay.AssayError, match=fault):
            assay.data(table(library, wrong, tmp_path))


def test_arrays_of_fixed_size_in_arrow_and_polars():
    arrow, polars = need("pyarrow"), need("polars")
    lists = arrow.FixedSizeListArray.from_arrays(arrow.array(X.ravel()), 4)
    tensors = arrow.FixedShapeTensorArray.from_numpy_ndarray(X.reshape(6, 2, 2))
    assert same(assay.data(lists, arrow.array(Y))) and same(assay.data(arrow.table({"x": lists, "y": Y}), label="y"))
    assert same(assay.data(arrow.table({"x": tensors, "y": Y}), label="y"), X.reshape(6, 2, 2))
    assert same(assay.data(polars.Series(X.reshape(6, 2, 2)), polars.Series(WORDS)), X.reshape(6, 2, 2))
    ordered = polars.Series(WORDS).cast(polars.Enum(NAMES[::-1]))
    assert assay.data(X, ordered).labels.tolist() == (2 - Y).tolist()


@pytest.mark.parametrize("library", LIBRARIES)
def test_faults_of_tables_name_column_row_and_remedy(library, tmp_path):
    columns = {"a": [1.5, 2, 3], "kind": ["u", "v", "u"]}
    for wrong, keywords, fault in (
        ({"a": [1, None, 3]}, {"label": "kind"}, "column 'a', row '1': .*(drop the row|repair)"),
        ({"a": ["1", "red", "3"]}, {"label": "kind"}, "column 'a', row '1': 'red' is not a number; .*inputs="),
        ({"kind": ["u", None, "v"]}, {"label": "kind"}, "column 'kind', row '1': .*(no label|missing).*drop"),
        ({"kind": [0.5, 1, 2]}, {"label": "kind"}, "column 'kind', row '0': '0.5' is not a class number"),
        ({}, {"label": "kid"}, "no column 'kid'; there are a, kind"),
        ({}, {"label": "kind", "inputs": ["b"]}, "no column 'b'; there are a, kind"),
    ):
        with pytest.raises(assay.AssayError, match=fault):
            data = assay.data(table(library, {**columns, **wrong}, tmp_path), **keywords)
            pytest.fail(str(data.read(range(3))))


def test_parquet_files_that_are_none(tmp_path):
    need("pyarrow")
    with pytest.raises(assay.FileError, match="no such file"):
        assay.data(tmp_path / "none.parquet", label="kind")
    (tmp_path / "bad.parquet").write_bytes(b"PAR1 and nothing else")
    with pytest.raises(assay.DataError, match="bad.parquet: not a parquet file"):
        assay.data(tmp_path / "bad.parquet", label="kind")


def test_a_parquet_file_in_a_question_is_answered_with_what_to_write(model):
    with pytest.raises(assay.UsageError, match="data: .*assay.data.'t.parquet', label="):
        assay.evaluate(model, "t.parquet")


def test_a_dict_of_arrays_is_a_table():
    assert same(assay.data({"x": X, "kind": np.array(WORDS)}, label="kind"))
    assert set(assay.data({"a": X, "b": X, "t": Y * 0.5}, target="t").inputs) == {"a", "b"}
    with pytest.raises(assay.UsageError, match="no column 'k'; there are x, kind"):
        assay.data({"x": X, "kind": Y}, label="k")


# Batches


def of_torch(torch):
    from torch.utils.data import DataLoader, Dataset, TensorDataset

    x, y = torch.from_numpy(X), torch.from_numpy(Y)

    class Samples(Dataset):
        def __len__(self):
            return len(Y)

        def __getitem__(self, at):
            return x[at], int(Y[at])

    class Named(Samples):
        def __getitem__(self, at):
            return {"x": X[at], "kind": WORDS[at]}

    pairs = TensorDataset(x, y)
    yield DataLoader(pairs, batch_size=4), {}
    yield DataLoader(pairs, batch_size=None), {}
    yield pairs, {}
    yield Samples(), {}
    yield Named(), {"label": "kind"}
    yield DataLoader(Named(), batch_size=4), {"label": "kind"}
    for start in ("fork", "spawn"):
        yield DataLoader(pairs, batch_size=2, num_workers=2, multiprocessing_context=start), {}


def of_tensorflow(tensorflow):
    slices = tensorflow.data.Dataset.from_tensor_slices
    for batched in (lambda d: d.batch(4), lambda d: d):
        yield batched(slices((X, Y))), {}
        yield batched(slices(({"x": X}, Y))), {}
        yield batched(slices({"x": X, "kind": Y})), {"label": "kind"}
    yield slices({"x": X, "kind": WORDS}).batch(4), {"label": "kind"}


def of_datasets(datasets):
    data = datasets.Dataset.from_dict({"x": X.tolist(), "kind": Y.tolist()})
    for form in (data, data.with_format("numpy"), data.to_iterable_dataset()):
        yield form, {"label": "kind"}
    if importlib.util.find_spec("torch") is not None:
        yield data.with_format("torch"), {"label": "kind"}
    yield data.with_transform(lambda rows: {"x": np.array(rows["x"]), "kind": rows["kind"]}), {"label": "kind"}
    typed = datasets.Features({"x": datasets.Array2D((2, 2), "float32"), "kind": datasets.ClassLabel(names=NAMES)})
    square = datasets.Dataset.from_dict({"x": X.reshape(6, 2, 2).tolist(), "kind": WORDS}, features=typed)
    named = assay.data(square, label="kind")
    assert named.shape == (2, 2) and named.class_names == NAMES and named.labels.tolist() == Y.tolist()


@pytest.mark.parametrize("library, forms", [("torch", of_torch), ("tensorflow", of_tensorflow), ("datasets", of_datasets)])
def test_batches_and_records_of_every_form(library, forms):
    tried = 0
    for data, keywords in forms(need(library)):
        assert same(assay.data(data, **keywords)), (data, keywords)
        tried += 1
    assert tried >= 4


def test_pictures_of_hugging_face():
    datasets, image = need("datasets"), need("PIL.Image")
    levels = np.random.default_rng(1).integers(0, 256, (6, 5, 4, 3), np.uint8)
    for pixels, expected in (levels, levels.transpose(0, 3, 1, 2)), (levels[..., 0], levels[:, None, :, :, 0]):
        features = datasets.Features({"image": datasets.Image(), "kind": datasets.ClassLabel(names=NAMES)})
        columns = {"image": [image.fromarray(one) for one in pixels], "kind": Y.tolist()}
        data = assay.data(datasets.Dataset.from_dict(columns, features=features), label="kind")
        assert same(data, (expected * np.float32(1 / 255))) and data.class_names == NAMES and data.range == ([0], [1])
        whole = assay.data(datasets.Dataset.from_dict(columns, features=features), label="kind", scale=1)
        assert same(whole, expected.astype(np.float32)) and whole.range == ([0], [255])


def test_pictures_without_labels_are_records_each():
    image = need("PIL.Image")
    levels = np.random.default_rng(1).integers(0, 256, (3, 6, 5, 3), np.uint8)
    pictures = [image.fromarray(one) for one in levels]
    expected = levels.transpose(0, 3, 1, 2) * np.float32(1 / 255)
    for batches in (one for one in pictures), ((one,) for one in pictures), ({"image": one} for one in pictures):
        data = assay.data(batches)
        assert np.array_equal(next(iter(data.read(range(3)).values())), expected)
    with pytest.raises(assay.UsageError, match="pictures of Pillow stand beside other inputs"):
        assay.data({"image": one, "age": 3.0} for one in pictures)


def test_characteristics_are_counted_in_each_batch():
    x = X[:4]
    with pytest.raises(assay.UsageError, match="inputs, labels and characteristics of a batch differ"):
        assay.data(({"x": x, "w": ["a"] * count} for count in (5, 3)), meta=["w"])
    with pytest.raises(assay.UsageError, match="one value for each record"):
        assay.data({"x": x, "w": np.zeros((4, 2))}, Y[:4], meta=["w"])


def test_pictures_of_torchvision_without_a_transform(tmp_path):
    torchvision, image = need("torchvision"), need("PIL.Image")
    levels = np.random.default_rng(1).integers(0, 256, (6, 5, 4, 3), np.uint8)
    for number, (pixels, name) in enumerate(zip(levels, WORDS)):
        (tmp_path / name).mkdir(exist_ok=True)
        image.fromarray(pixels).save(tmp_path / name / f"{number}.png")
    folder = torchvision.datasets.ImageFolder(tmp_path)
    order = np.argsort(Y, kind="stable")
    expected = levels[order].transpose(0, 3, 1, 2)
    for keywords, factor, least_and_greatest in (({}, 1 / 255, ([0], [1])), ({"layout": "nhwc"}, 1 / 255, ([0], [1])), ({"scale": 1}, 1, ([0], [255]))):
        data = assay.data(folder, **keywords)
        assert same(data, expected * np.float32(factor), Y[order]) and data.class_names == NAMES and data.range == least_and_greatest
    singles = ({"image": image.fromarray(pixels[..., 0]), "kind": name} for pixels, name in zip(levels, WORDS))
    assert same(assay.data(singles, label="kind", class_names=NAMES), levels[:, None, :, :, 0] * np.float32(1 / 255))
    for wrong, fault in (({"layout": "nchw"}, "channels last; leave it out"), ({}, "mode 'P'; make it .convert")):
        given = folder if wrong else iter([(image.fromarray(levels[0]).convert("P"), 0)])
        with pytest.raises(assay.UsageError, match=fault):
            assay.data(given, **wrong)


def test_faults_of_batches_name_the_part_and_the_remedy():
    for wrong, fault in (
        (iter([(X, X, Y)]), r"3 parts; give x, \(x, y\)"),
        (iter([(X, Y), (X[:, :2], Y)]), r"'x' of a batch holds records of \[2\] float32, those before were \[4\]"),
        (iter([["a", "b"]]), "'x' of a batch holds .*not numbers"),
        (iter([({"a": [[1, 2], [3]]}, [0, 1])]), "'a' of a batch: row 1 has 1 values, row 0 has 2 values; pad or cut"),
        (iter([object()]), "'x' of a batch is not an array but of the type object"),
        ({"a": [[1, 2], [3]]}, "'a': row 1 has 1 values, row 0 has 2 values; pad or cut"),
        ([[1.0], [2.0]], "np.asarray"),
    ):
        with pytest.raises(assay.UsageError, match=fault):
            assay.data(wrong)
    for y, fault in (([0, None, 1, 0, 0, 0], "y holds 'None'"), ([[0], [0, 1]] * 3, "y: row 1")):
        with pytest.raises(assay.UsageError, match=fault):
            assay.data(X, y)


def test_scale_and_layout():
    pixels = np.random.default_rng(1).integers(0, 256, (6, 5, 4, 3), np.uint8)
    expected = (pixels * np.float32(1 / 255)).transpose(0, 3, 1, 2)
    assert same(assay.data(pixels, Y, scale=1 / 255, layout="nhwc"), expected)
    assert same(assay.data(iter([(pixels, Y)]), scale=1 / 255, layout="nhwc"), expected)
    floats = pixels.astype(np.float32)
    data = assay.data(floats, Y, layout="nhwc")
    assert same(data, floats.transpose(0, 3, 1, 2)) and data._records.addresses == [floats.__array_interface__["data"][0]]
    for given in (pixels, iter([pixels]), {"a": pixels, "b": floats}):
        assert np.array_equal(next(iter(assay.data(given).read([0]).values())), (pixels * np.float32(1 / 255))[:1])
    with pytest.raises(assay.UsageError, match=r"layout='nhwc' is for records with channels; these are x \[4\]"):
        assay.data(X, layout="nhwc")
    with pytest.raises(assay.UsageError, match="'nchw' or 'nhwc'"):
        assay.data(floats, layout="hwc")


# Networks


def agree(network, x, expected):
    assert np.allclose(network(x), expected, atol=1e-4)
    return network


def modules(torch):
    nn = torch.nn

    class Calls(nn.Module):
        """Two inputs, one of them by its name alone, and a dict of outputs."""

        def __init__(self):
            super().__init__()
            self.first, self.second = nn.Linear(4, 3), nn.Linear(2, 3)

        def forward(self, a, *, b):
            scores = self.first(a) + self.second(b)
            return {"scores": scores, "positive": scores.relu()}

    class Attends(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = nn.TransformerEncoderLayer(4, 2, 8, batch_first=True)

        def forward(self, x):
            return self.layer(x)[:, 0]

    return Calls().eval(), Attends().eval()


def test_modules_of_torch_by_name_and_by_position():
    torch = need("torch", "onnxscript")
    calls, attends = modules(torch)
    inputs = {"b": torch.rand(5, 2), "a": torch.rand(5, 4)}
    network = assay.load(calls, {name: rows[:1] for name, rows in inputs.items()})
    assert set(network.inputs) == {"a", "b"} and set(network.outputs) == {"scores", "positive"}
    agree(network, inputs, calls(**inputs)["scores"].detach().numpy())
    positive = assay.load(calls, inputs, decision="positive")
    agree(positive, inputs, calls(**inputs)["positive"].detach().numpy())
    x = torch.rand(5, 3, 4)
    names = [layer.name for layer in agree(assay.load(attends, x[:1]), x, attends(x).detach().numpy()).layers(x)]
    assert any(name.startswith("/layer/self_attn/") for name in names) and any("/layer/linear1/" in name for name in names)


def test_compiled_modules_programs_and_protos():
    torch = need("torch", "onnxscript", "onnx")
    net, x = torch.nn.Sequential(torch.nn.Linear(4, 3), torch.nn.ReLU()), torch.rand(6, 4)
    expected = net(x).detach().numpy()
    if "tensorflow" not in sys.modules:  # which triton, that torch.compile loads, does not survive
        agree(assay.load(torch.compile(net), x[:1]), x, expected)
    program = torch.export.export(net, (x,), dynamic_shapes=({0: torch.export.Dim("n")},))
    agree(assay.load(program), x, expected)
    made = torch.onnx.export(net, (x,), dynamo=True, verbose=False, dynamic_shapes=({0: "n"},))
    agree(assay.load(made), x, expected)
    agree(assay.load(made.model_proto), x, expected)
    assert assay.evaluate(made.model_proto, (x, expected.argmax(1))).test_accuracy == 1
    with pytest.raises(assay.UsageError, match="an example is for"):
        assay.load(made, x)


def test_the_older_exporter_is_there_where_the_new_one_is_not(monkeypatch):
    torch = need("torch")
    net, x = torch.nn.Sequential(torch.nn.Linear(4, 3), torch.nn.ReLU()), torch.rand(6, 4)
    found = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name, *rest: None if name == "onnxscript" else found(name, *rest))
    network = agree(assay.load(net, x[:1]), x, net(x).detach().numpy())
    assert [layer.name for layer in network.layers()][0] == "/0/Gemm"
    _, attends = modules(torch)

    class Product(torch.nn.Module):
        def forward(self, a, b):
            return a[:, :2] * b

    inputs = {"b": torch.rand(5, 2), "a": torch.rand(5, 4)}
    agree(assay.load(Product(), inputs), inputs, Product()(**inputs).numpy())
    with pytest.raises(assay.UsageError, match="not take this Attends, neither with dynamo=True .ImportError: onnxscript"):
        assay.load(attends, torch.rand(1, 3, 4))


def test_a_module_that_decides_by_values_is_warned_of():
    torch = need("torch")

    class Decides(torch.nn.Module):
        def forward(self, x):
            return x if x.sum() > 0 else -x

    with pytest.warns(assay.AssayWarning, match="Decides decides by the values of a tensor"):
        assay.load(Decides(), torch.rand(1, 4))


def test_data_are_the_example_of_a_module():
    torch = need("torch")
    net, x = torch.nn.Linear(4, 3), torch.from_numpy(X)
    y = net(x).argmax(1)
    for data in ((x, y), assay.data(x, y), iter([(x, y)])):
        assert assay.evaluate(net, data).test_accuracy == 1
    assert assay.evaluate(net, (x, y)).arrays["outputs"].shape == (6, 3)
    history = CoverageHistory(x, x, criterion="nc")
    history.measure(net)
    assert history.values("nc") == [assay.cover(net, x, x, criterion="nc").nc]
    named = {"a": x, "b": x[:, :2]}

    class Sum(torch.nn.Module):
        def forward(self, b, a):
            return a[:, :2] + b

    assert assay.evaluate(Sum(), (named, Sum()(**named).argmax(1))).test_accuracy == 1
    with pytest.raises(assay.UsageError, match=r"Linear does not take this example \(x \[1, 2\]\)"):
        assay.evaluate(net, (x[:, :2], y))
    with pytest.raises(assay.UsageError, match="load.net, example"):
        assay.load(net)


def small_models(transformers, torch):
    sizes = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 32, "num_labels": 3}
    tokens = {"input_ids": torch.randint(1, 50, (5, 8)), "attention_mask": torch.ones(5, 8, dtype=torch.int64)}
    bert = transformers.BertConfig(vocab_size=50, max_position_embeddings=16, **sizes)
    yield transformers.BertForSequenceClassification(bert), tokens
    words = {"vocab_size": 50, "n_embd": 16, "n_layer": 2, "n_head": 2, "n_positions": 16, "bos_token_id": 1, "eos_token_id": 2}
    gpt = transformers.GPT2Config(num_labels=3, pad_token_id=0, **words)
    yield transformers.GPT2ForSequenceClassification(gpt), transformers.BatchEncoding(tokens)
    yield transformers.ViTForImageClassification(transformers.ViTConfig(image_size=16, patch_size=4, **sizes)), torch.rand(5, 3, 16, 16)


def test_models_of_transformers():
    transformers, torch = need("transformers", "torch", "onnxscript"), need("torch")
    for model, x in small_models(transformers, torch):
        caches = model.config.use_cache if hasattr(model.config, "use_cache") else None
        with torch.no_grad():
            expected = (model.eval()(x) if isinstance(x, torch.Tensor) else model.eval()(**x)).logits.numpy()
        first = x[:1] if isinstance(x, torch.Tensor) else {name: rows[:1] for name, rows in x.items()}
        network = agree(assay.load(model, first), x, expected)
        assert "logits" in network.outputs and getattr(model.config, "use_cache", None) == caches
        assert assay.evaluate(network, (x, expected.argmax(1))).test_accuracy == 1


KERAS = """
import keras, numpy, assay
from keras import layers
assert keras.backend.backend() == "{backend}"
x, y = numpy.random.default_rng(1).random((6, 8, 7, 3), numpy.float32), numpy.array([0, 1, 2, 0, 1, 2])
small = [keras.Input((8, 7, 3)), layers.Conv2D(4, 3, activation="relu"), layers.Flatten(), layers.Dense(3)]
model = keras.Sequential(small)
network = assay.load(model)
expected = keras.ops.convert_to_numpy(model(x))
assert tuple(network.inputs.values()) == ((-1, 3, 8, 7),)
assert numpy.allclose(network(x), expected, atol=1e-4)                             # channels last, as Keras has them
assert numpy.allclose(network(x.transpose(0, 3, 1, 2)), expected, atol=1e-4)       # or first
y = expected.argmax(1)
for data in ((x, y), iter([(x[:4], y[:4]), (x[4:], y[4:])]), assay.data(x, y, layout="nhwc")):
    assert assay.evaluate(model, data).test_accuracy == 1
assert assay.cover(model, (x, y), (x, y), criterion="nc").nc > 0
class Twice(layers.Layer):
    def call(self, x):
        return x + keras.ops.sin(x)
odd = keras.Sequential([keras.Input((4,)), layers.Dense(4), Twice(), layers.Dense(3)])
try:
    rows = x[:, :4, 0, 0]
    assert numpy.allclose(assay.load(odd)(rows), keras.ops.convert_to_numpy(odd(rows)), atol=1e-4)
    print("exported")
except assay.UnsupportedError as error:
    assert "layer 'twice' (Twice)" in str(error) and "/tmp" not in str(error) and "pip install" in str(error), error
try:
    assay.load(keras.Sequential([layers.Dense(3)]))
except assay.ModelError as error:
    assert "build the model" in str(error), error
    print("all right")
"""


@pytest.mark.parametrize("backend", ["tensorflow", "jax", "torch"])
def test_models_of_keras(backend, monkeypatch):
    need(backend, "keras")
    monkeypatch.setenv("KERAS_BACKEND", backend)
    ran = subprocess.run([sys.executable, "-c", KERAS.format(backend=backend)], capture_output=True, text=True)
    assert ran.returncode == 0 and ran.stdout.endswith("all right\n"), (ran.stdout, ran.stderr[-2000:])
    if backend == "torch" and importlib.util.find_spec("onnxscript") is not None:
        assert "exported" in ran.stdout


# Gradients of torch's come back


def test_an_attack_written_in_torch(model, arrays):
    torch = need("torch")
    slopes = []

    class Climb(assay.Attack):
        """One step up the loss, which torch computes."""

        name = "climb"
        options = {"eps": 0.2}

        def __init__(self, eps):
            self.eps = float(eps)

        def perturb(self, network, problem):
            x, y = torch.from_numpy(problem.inputs).requires_grad_(), torch.from_numpy(problem.labels)
            torch.nn.functional.cross_entropy(network.scores(x), y, reduction="sum").backward()
            weights = torch.softmax(torch.from_numpy(problem.scores), 1) - torch.nn.functional.one_hot(y, 10)
            slopes.append((x.grad.numpy(), network.gradients(x, weights), network.scores(problem.inputs), problem.scores))
            return x + self.eps * x.grad.sign()  # a tensor of torch's graph

    x, y = arrays
    found = assay.attack(model, assay.data(x, y, range=(0, 1)), attack=[Climb, "fgsm[eps=0.2]"], all=True)
    assert slopes and all(np.allclose(a, b, atol=1e-6) and np.abs(a).max() > 1e-4 for a, b, _, _ in slopes)
    assert all(np.allclose(a, b, atol=1e-4) for _, _, a, b in slopes)
    assert np.array_equal(found.arrays["climb"]["x"], found.arrays["fgsm"]["x"]) and found.arrays["climb"]["success"].sum() > 0


def test_constraints_and_hypotheses_may_give_tensors_of_torch(model, arrays):
    torch = need("torch")

    class Half(assay.Constraint):
        """Only the upper half of a picture changes."""

        def direction(self, searches, points, wanted):
            mask = torch.ones(28, 28, requires_grad=True)
            return torch.from_numpy(wanted) * torch.cat([mask[:14], 0 * mask[14:]])

    class Bright(assay.Hypothesis):
        """Whether a picture is bright."""

        hypotheses = [("brightness", "numeric")]

        def annotate(self, records):
            return torch.from_numpy(records.inputs).requires_grad_().mean((1, 2, 3))

    x, y = arrays
    data = assay.data(x, y, range=(0, 1))
    findings = assay.explore(model, data, mutant="int8@all", constraint=Half, iterations=20, step=1, pictures=0).arrays["findings"]
    changed = np.abs(findings["x"] - x[findings["original"]])
    assert changed[:, :, 14:].max() < 3e-3 and changed.max() > 0.1
    assert "brightness" in str(assay.inspect(model, (x, y), hypotheses=Bright, units="layer=conv1", measure="pearson").document)


def test_what_is_no_array_of_an_attack_is_said(model, arrays):
    class Silent(assay.Attack):
        """Gives nothing."""

        def perturb(self, network, problem):
            return None

    x, y = arrays
    with pytest.raises(assay.UsageError, match="attack silent: what perturb.. gives is not an array but of the type NoneType"):
        assay.attack(model, assay.data(x, y, range=(0, 1)), attack=Silent)
