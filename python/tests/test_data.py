"""Data sets: nothing is copied, everything wrong is an exception."""

import numpy as np
import pytest

import assay

X = np.arange(5 * 2 * 3, dtype=np.float32).reshape(5, 2, 3)


def address(array):
    return array.__array_interface__["data"][0]


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64, np.int32])
def test_arrays_are_held_not_copied(dtype):
    x = X.astype(dtype)
    data = assay.data(x)
    assert data._records.addresses == [address(x)]
    assert (data.read([4, 0])["x"] == x[[4, 0]]).all()
    x[0] = 7
    assert (data.read([0])["x"] == 7).all()


def test_views_with_strides_are_held_not_copied():
    big = np.zeros((10, 4, 6), np.float32)
    big[:] = np.random.default_rng(1).random(big.shape)
    for view in (big[::2, 1:3, ::2], big.transpose(2, 0, 1), big[:, :, 0], np.broadcast_to(big[:1], (8, 4, 6))):
        data = assay.data(view)
        assert data._records.addresses == [address(view)]
        assert (data.read(range(len(view)))["x"] == view).all()


def test_what_no_tensor_can_be_is_copied():
    for view in (X[::-1], X.astype(">f4"), np.frombuffer(b"\0" + X.tobytes(), np.uint8)[1:].view(np.float32).reshape(X.shape)):
        assert (assay.data(view).read(range(5))["x"] == view).all()


def test_arrays_that_cannot_be_written_are_held_not_copied():
    x = X.copy()
    x.flags.writeable = False
    assert assay.data(x)._records.addresses == [address(x)]


def test_arrays_have_the_types_that_numpy_names():
    """Of buffers NumPy makes other types of the same numbers, which are none of np.int64."""
    read = assay.data(X, np.arange(5)).read([3, 1])
    assert type(read["y"][0]) is np.int64 and type(read["x"][0, 0, 0]) is np.float32
    assert read["x"].flags.writeable and read["y"].flags.writeable
    labels = assay.data(X).labels
    assert labels.dtype == np.int64 and labels.shape == (0,)


def test_the_arrays_live_as_long_as_the_data():
    import gc
    import sys

    x = X.copy()
    before = sys.getrefcount(x)
    data = assay.data(x)
    part = data[1:3]
    assert sys.getrefcount(x) > before
    del data
    gc.collect()
    assert (part.read([0])["x"] == X[1]).all()
    del part
    gc.collect()
    assert sys.getrefcount(x) == before


def test_tensors_of_torch_are_held_not_copied():
    torch = pytest.importorskip("torch")
    for tensor in (torch.rand(4, 3), torch.rand(4, 3, requires_grad=True), torch.rand(3, 4).T, torch.arange(8).view(4, 2)):
        data = assay.data(tensor)
        assert data._records.addresses == [tensor.data_ptr()]
        assert (data.read([1, 2])["x"] == tensor.detach()[1:3].numpy()).all()


def test_labels_targets_ids_and_names():
    data = assay.data(X, np.array([0, 1, 1, 0, 2]), ids=list("abcde"), class_names=["u", "v", "w"])
    assert data.labels.tolist() == [0, 1, 1, 0, 2] and data.ids == list("abcde") and data.class_names == ["u", "v", "w"]
    assert assay.data(X, np.array([0, 1, 1, 0, 2], np.uint8)).labels.tolist() == [0, 1, 1, 0, 2]
    regression = assay.data(X, np.array([0.5, 1, 2, 3, 4]))
    assert regression.labels.size == 0 and regression.read([0])["targets"].tolist() == [[0.5]]
    both = assay.data(X, np.arange(5), targets=np.ones((5, 2)))
    assert set(both.read([0])) == {"x", "y", "targets"}


def test_several_inputs_are_a_dict():
    data = assay.data({"picture": X, "table": X[:, 0]}, np.zeros(5, np.int64))
    assert data.inputs == {"picture": (2, 3), "table": (3,)}
    assert (data.read([2])["table"] == X[2, 0]).all()


def test_slices_selections_and_sums():
    data = assay.data(X, np.arange(5))
    assert data[1:4].ids == ["1", "2", "3"] and data[::2].ids == ["0", "2", "4"] and data[::-1].ids == list("43210")
    assert (data[-1]["x"] == X[-1]).all()
    assert data.select([3, 3, 0]).labels.tolist() == [3, 3, 0]
    assert len(data + data[:2]) == 7
    assert data.relabelled([1, 1, 1, 1, 1]).labels.tolist() == [1] * 5
    assert [len(batch["x"]) for batch in data.batches(2)] == [2, 2, 1]
    with pytest.raises(IndexError):
        data[5]
    with pytest.raises(assay.UsageError):
        data[5:]


def test_iterables_of_batches_are_streamed():
    def batches():
        for i in range(0, 5, 2):
            yield X[i : i + 2], np.arange(i, min(i + 2, 5))

    data = assay.data(batches())
    assert len(data) == 5 and data.labels.tolist() == list(range(5))
    assert (data.read([4, 1])["x"] == X[[4, 1]]).all()
    named = assay.data(({"a": X[i : i + 1], "b": X[i : i + 1, 0]} for i in range(5)))
    assert named.inputs == {"a": (2, 3), "b": (3,)}
    assert data.hash == assay.data(X, np.arange(5)).hash


def test_a_data_loader_is_streamed():
    torch = pytest.importorskip("torch")
    from torch.utils.data import DataLoader, TensorDataset

    loader = DataLoader(TensorDataset(torch.from_numpy(X), torch.arange(5)), batch_size=2)
    assert assay.data(loader).hash == assay.data(X, np.arange(5)).hash


def test_tables_of_pandas():
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame({"a": [1.0, 2, 3], "b": [4, 5, 6], "kind": ["x", "y", "x"]}, index=["r", "s", "t"])
    data = assay.data(table, label="kind")
    assert data.ids == ["r", "s", "t"] and data.class_names == ["x", "y"] and data.labels.tolist() == [0, 1, 0]
    assert data.read([1])["x"].tolist() == [[2, 5]]
    assert assay.data(table, target="b", inputs=["a"]).read([2])["targets"].tolist() == [[6]]
    with pytest.raises(assay.UsageError, match="no column 'c'"):
        assay.data(table, label="c")


def test_the_index_of_pandas_in_files_names_the_records(tmp_path):
    pandas, pyarrow = pytest.importorskip("pandas"), pytest.importorskip("pyarrow")
    table = pandas.DataFrame({"a": [1.0, 2, 3], "b": [4, 6, 5], "kind": [1, 0, 1]})
    for index, ids in (
        (pandas.Index([7, 8, 9]), ["7", "8", "9"]),
        (pandas.Index(["r", "s", "t"], name="case"), ["r", "s", "t"]),
        (pandas.MultiIndex.from_tuples([("r", 1), ("r", 2), ("s", 1)]), ["r, 1", "r, 2", "s, 1"]),
    ):
        file = tmp_path / "table.parquet"
        table.set_index(index).to_parquet(file, engine="pyarrow")
        for x in (file, pyarrow.parquet.read_table(file)):
            data = assay.data(x, label="kind")
            assert data.ids == ids and data.shape == (2,) and data.labels.tolist() == [1, 0, 1]
    assert assay.data(pyarrow.table(table), label="kind").ids == ["0", "1", "2"]
    assert assay.data(table.set_index(index), label="kind").ids == ids
    named = pyarrow.table(table.set_index("b"))
    assert assay.data(named, label="kind").ids == ["4", "6", "5"]
    assert assay.data(named, label="kind", inputs=["a", "b"]).read([2])["x"].tolist() == [[3, 5]]


def test_an_index_of_pandas_is_no_input_of_other_libraries(tmp_path):
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame({"a": [1.0, 2, 3], "kind": [1, 0, 1]}, index=[7, 8, 9])
    polars = pytest.importorskip("polars", reason="SKIPPED: polars is not installed (PyPI)")
    pytest.importorskip("pyarrow", reason="SKIPPED: pyarrow is not installed (PyPI)")
    table.to_parquet(tmp_path / "table.parquet")
    data = assay.data(polars.read_parquet(tmp_path / "table.parquet"), label="kind")
    assert data.shape == (1,) and data.ids == ["7", "8", "9"]
    sets = pytest.importorskip("datasets", reason="SKIPPED: datasets is not installed (PyPI)")
    held = sets.Dataset.from_pandas(table)
    assert assay.data(held, label="kind").shape == (1,)
    with pytest.raises(assay.UsageError, match=r"several data sets, train, test; give one of them: x\['train'\]"):
        assay.data(sets.DatasetDict({"train": held, "test": held}), label="kind")
    with pytest.raises(assay.UsageError, match="several data sets, train, test"):
        assay.data(sets.DatasetDict({"train": held, "test": held}))


def test_what_webdataset_adds_to_records_is_no_input():
    records = [{"__key__": f"k{n}", "__url__": "a.tar", "x": np.ones(2, np.float32) * n, "label": n % 2, "site": "uv"[n % 2]} for n in range(4)]
    data = assay.data(iter(records), label="label", meta=["site"])
    assert data.shape == (2,) and data.characteristics == {"site": ["u", "v", "u", "v"]}
    plain = assay.data({name: part for name, part in record.items() if name in ("__key__", "__url__", "x")} for record in records)
    assert plain.shape == (2,) and len(plain) == 4
    joined = {"__key__": ["a", "b"], "__url__": ["u", "u"], "x": np.ones((2, 3), np.float32)}
    assert assay.data(joined).shape == assay.data(joined, [0, 1]).shape == (3,)
    with pytest.raises(assay.UsageError, match="no part that is an input"):
        assay.data({"__key__": ["a", "b"]})


_damaged = [
    b"not json",
    b"[1]",
    b"[" * 200_000,
    b'{"index_columns": 3}',
    b'{"index_columns": "ab"}',
    b'{"index_columns": [{"kind": "range"}]}',
    b'{"index_columns": [{"kind": "range", "start": 0, "stop": 1000000000000000000000000000000, "step": 1}]}',
]


@pytest.mark.parametrize("told", _damaged)
def test_metadata_of_pandas_that_is_damaged_tells_nothing(told):
    arrow = pytest.importorskip("pyarrow")
    table = arrow.table({"a": [1.0, 2.0], "b": [3.0, 4.0]}).replace_schema_metadata({b"pandas": told})
    assert assay.data(table).shape == (2,)


def test_arrays_of_dates_are_characteristics_as_they_are_read():
    days = np.array(["2026-01-01", "2026-01-02"], "M8[ns]")
    assert assay.data(np.ones((2, 3), np.float32), meta={"day": days}).characteristics["day"] == ["2026-01-01", "2026-01-02"]


def test_dates_are_characteristics_as_they_are_read():
    pandas = pytest.importorskip("pandas")
    days, hours = (pandas.to_datetime([f"2026-01-0{day}{hour}" for day in (1, 2, 3)]) for hour in ("", " 10:30"))
    table = pandas.DataFrame({"a": [1.0, 2, 3], "day": days, "hour": hours})
    table.loc[1, "day"] = pandas.NaT
    found = assay.data(table, meta=["day", "hour"]).characteristics
    assert found["day"] == ["2026-01-01", "", "2026-01-03"] and found["hour"][0] == "2026-01-01T10:30"


def test_columns_of_labels():
    pandas = pytest.importorskip("pandas")
    whole = [3, 7, 10]
    for values in (
        whole,
        np.array(whole, np.uint8),
        [3.0, 7.0, 10.0],
        pandas.array(whole, "Int64"),
        pandas.array([3.0, 7, 10], "Float64"),
        np.array(whole, object),
        np.array([3.0, 7, 10], object),
        ["3", "7", "10"],
        ["3.0", "7", " 10"],
        pandas.array(["3", "7", "10"], "string"),
        pandas.Categorical([3, 7, 10]),
    ):
        data = assay.data(pandas.DataFrame({"a": [1.0, 2, 3], "kind": values}), label="kind")
        assert data.labels.tolist() == whole and data.class_names == [str(c) for c in range(11)], values
    for values in ([True, False, True], pandas.array([True, False, True], "boolean")):
        assert assay.data(pandas.DataFrame({"a": [1, 2, 3], "kind": values}), label="kind").labels.tolist() == [1, 0, 1]
    for values in (["b", "a", "b"], pandas.Categorical(["b", "a", "b"], ["b", "a"]), ["7!", "10!", "7!"]):
        table = pandas.DataFrame({"a": [1, 2, 3], "kind": values})
        data = assay.data(table, label="kind")
        assert data.labels.tolist() == [1, 0, 1] and data.class_names == sorted(set(table["kind"]))
        given = [*reversed(data.class_names), "more"]
        data = assay.data(table, label="kind", class_names=given)
        assert data.labels.tolist() == [0, 1, 0] and data.class_names == given
        with pytest.raises(assay.DataError, match="'kind', row '0'.*class_names"):
            assay.data(table, label="kind", class_names=["a", "10!"])


def test_ordered_categories_are_classes_in_their_order():
    pandas = pytest.importorskip("pandas")
    sizes = pandas.Categorical(["small", "large", "medium"], ["small", "medium", "large", "huge"], ordered=True)
    table = pandas.DataFrame({"a": [1.0, 2, 3], "size": sizes})
    for data in (assay.data(table, label="size"), assay.data(X[:3], table["size"])):
        assert data.labels.tolist() == [0, 2, 1] and data.class_names == ["small", "medium", "large", "huge"]
    data = assay.data(table, label="size", class_names=["large", "medium", "small"])
    assert data.labels.tolist() == [2, 0, 1]
    table["size"] = table["size"].cat.as_unordered()
    assert assay.data(table, label="size").labels.tolist() == [2, 0, 1]
    assert assay.data(X[:3], pandas.Series(["b", "a", "b"], name="kind")).labels.tolist() == [1, 0, 1]


def test_columns_of_dates_among_the_inputs_are_an_exception():
    pandas = pytest.importorskip("pandas")
    dates = pandas.to_datetime(["2020-01-01", "2020-01-02", "2020-01-03"])
    for values in (dates, dates.tz_localize("UTC"), dates - dates[0], [1j, 2, 3]):
        table = pandas.DataFrame({"a": [1.0, 2, 3], "b": values, "kind": [0, 1, 0]})
        for keywords in ({"label": "kind"}, {"target": "b"}, {"label": "kind", "inputs": ["b"]}):
            with pytest.raises(assay.DataError, match="'b' holds .* inputs="):
                assay.data(table, **keywords)
        assert len(assay.data(table, label="kind", inputs=["a"])) == 3


def test_one_hot_rows_are_classes_of_whatever_numbers(tmp_path):
    classes = np.array([2, 0, 1, 1, 2])
    for dtype in (np.float32, np.float64, np.int64, np.uint8, bool):
        rows = np.eye(3)[classes].astype(dtype)
        assert assay.data(X, rows).labels.tolist() == classes.tolist(), dtype
        assert assay.data([(X, rows)].__iter__()).labels.tolist() == classes.tolist(), dtype
        if dtype is not bool:
            np.savez(tmp_path / "rows.npz", x=X, y=rows)
            assert assay.data(tmp_path / "rows.npz").labels.tolist() == classes.tolist(), dtype
    rows = np.eye(3, dtype=np.float32)[classes]
    assert assay.data(X, targets=rows).read([0])["targets"].tolist() == [[0, 0, 1]]
    rows[0] = [0.5, 0.5, 0]
    assert assay.data(X, rows).read([0])["targets"].tolist() == [[0.5, 0.5, 0]]
    single = np.array([[1], [0], [1], [1], [0]], np.float32)
    assert "targets" in assay.data(X, single).read([0])


def test_rows_without_a_class_are_an_exception():
    pandas = pytest.importorskip("pandas")
    for values in (
        [1, np.nan, 0],
        ["a", None, "b"],
        ["a", np.nan, "b"],
        pandas.array([1, None, 0], "Int64"),
        pandas.array([True, None, False], "boolean"),
        pandas.array(["1", None, "0"], "string"),
        pandas.Categorical(["a", None, "b"]),
        pandas.to_datetime(["2020-01-01", None, "2020-01-02"]),
        [1, 2.5, 0],
        [1, -1, 0],
        [1, -1.0, 0],
        [1, np.inf, 0],
        [1, 1e30, 0],
        np.array([1, 2**63, 0], np.uint64),
        np.array([1, 2.5, 0], object),
    ):
        table = pandas.DataFrame({"a": [1.0, 2, 3], "kind": values}, index=["r", "s", "t"])
        with pytest.raises(assay.DataError, match="'kind', row 's': .* drop"):
            assay.data(table, label="kind")


def test_texts_among_the_inputs_of_a_table_are_an_exception():
    pandas = pytest.importorskip("pandas")
    for values in (["1", "red", "2"], pandas.array([1, None, 2], "Int64"), pandas.Categorical(["1", "red", "2"])):
        table = pandas.DataFrame({"a": [1.0, 2, 3], "b": values, "kind": [0, 1, 0]}, index=["r", "s", "t"])
        for keywords in ({"label": "kind"}, {"target": "b"}):
            with pytest.raises(assay.DataError, match="'b', row 's': .* inputs="):
                assay.data(table, **keywords)
        assert len(assay.data(table, label="kind", inputs=["a"])) == 3
    double = pandas.DataFrame([[1.0, 2, 0], [1, 2, 1]], columns=["a", "a", "kind"])
    with pytest.raises(assay.UsageError, match="several columns 'a'"):
        assay.data(double, label="kind")


# Made in the test: pytest holds parameters until Python ends, and with torch beyond that, which nanobind complains of.
@pytest.mark.parametrize("make", [lambda: assay.data(X, np.arange(5)), lambda: assay.data("digits:5"), lambda: assay.data("digits:9")[:5]])
def test_positions_that_are_none_are_an_exception(make):
    data = make()
    for ask in (data.read, data.select):
        for wrong in ([5000], [0, 5], [-1], [2**70], [1.5], ["1"], [None], np.arange(5) > 2, [True]):
            with pytest.raises(assay.UsageError, match="position"):
                ask(wrong)
    assert len(data.select(np.array([4, 0], np.uint8))) == 2


def peak_of(folder, script):
    """What a process of its own holds at most, in MiB, beyond what it held when `begin()` was called."""
    import subprocess
    import sys

    head = """
import assay, re
def held(what):
    with open("/proc/self/status") as file:
        return int(re.search(what + r":\\s+(\\d+)", file.read()).group(1)) // 1024
def begin():
    with open("/proc/self/clear_refs", "w") as file:
        file.write("5")
    return held("VmRSS")
"""
    found = subprocess.run([sys.executable, "-c", head + script], cwd=folder, capture_output=True, text=True)
    assert found.returncode == 0, found.stderr
    return int(found.stdout.split()[-1])


@pytest.mark.parametrize("kind", ["npy", "npz", "packed npz"])
def test_large_files_are_not_held(kind, tmp_path):
    rows, width = 17_000, 4096  # 266 MiB of float32
    file = tmp_path / ("large.npy" if kind == "npy" else "large.npz")
    if kind == "npy":
        values = np.lib.format.open_memmap(file, "w+", np.float32, (rows, width))  # a hole in the file
        values[-1] = 3
        values.flush()
    else:
        values = np.zeros((rows, width), np.float32)
        values[-1] = 3
        if kind == "packed npz":  # of noise in between, so that it is no bomb
            values[::8] = np.random.default_rng(1).random(width, np.float32)
        (np.savez if kind == "npz" else np.savez_compressed)(file, x=values, y=np.arange(rows) % 2)
    held = peak_of(
        tmp_path,
        f"""
before = begin()
data = assay.data("{file.name}")
assert (data.read([{rows - 1}])["x"] == 3).all() and len(data) == {rows}
assert len(data.hash) == 32  # reads everything
print(held("VmHWM") - before)
""",
    )
    file.unlink()
    assert held < 100


def closed():
    generator = (X for _ in range(3))
    generator.close()
    return generator


def breaking():
    yield X
    raise RuntimeError("disk on fire")


def test_what_was_spooled_leaves_no_file_open(recwarn):
    import gc

    found = assay.data(iter([(X, np.arange(5)), (X, np.arange(5))]))
    assert (found.read([7])["x"] == X[[2]]).all() and len(found) == 10
    del found

    def breaks():
        yield X, np.arange(5)
        raise OSError("gone")

    for batches, error in ((breaks(), OSError), (iter([X, X[:, :1]]), assay.UsageError)):
        with pytest.raises(error):
            assay.data(batches)
    gc.collect()
    assert not [one for one in recwarn if issubclass(one.category, ResourceWarning)]


def test_a_column_of_labels_is_named_by_label():
    for x in (X, iter([X])):
        with pytest.raises(assay.UsageError, match="y: 'kind' is a text, not labels; label='kind' names a column"):
            assay.data(x, "kind")


WRONG = {
    "a number": 3,
    "nothing": None,
    "a list": [[1.0, 2.0]],
    "a scalar array": np.float32(3) * np.ones(()),
    "no records": np.zeros((0, 3), np.float32),
    "no elements": np.zeros((3, 0), np.float32),
    "numbers that are too large": np.full((3, 3), 2**63, np.uint64),
    "complex": X.astype(np.complex64),
    "long double": X.astype(np.longdouble),
    "objects": X.astype(object),
    "texts": np.array(["a", "b"]),
    "dates": np.array(["2020-01-01"], "datetime64[D]"),
    "records": np.zeros(3, [("a", "f4"), ("b", "i4")]),
    "an empty dict": {},
    "a dict of numbers": {"a": 3},
    "a dict of different lengths": {"a": X, "b": X[:3]},
    "an empty iterator": iter([]),
    "a closed generator": closed(),
    "different batches": iter([X, X[:, :1]]),
    "different types": iter([X, X.astype(np.int64)]),
    "labels now and then": iter([(X, np.arange(5)), X]),
    "batches of three": iter([(X, X, X)]),
    "batches of numbers": iter([1, 2]),
    "labels that do not fit": iter([(X, np.arange(4))]),
    "a spec of nothing": "no-such-file.npz",
    "an empty spec": "",
    "a name of nothing": "@nothing",
}


@pytest.mark.parametrize("what", WRONG)
def test_wrong_data_are_an_exception(what):
    with pytest.raises(assay.AssayError) as caught:
        assay.data(WRONG[what])
    assert str(caught.value)


@pytest.mark.parametrize(
    "keywords",
    [
        {"y": np.arange(4)},
        {"y": np.array([-1, 0, 0, 0, 0])},
        {"y": np.array(["a", None, "b", "c", "d"], object)},
        {"y": np.full(5, 10**12)},
        {"ids": ["a"]},
        {"class_names": ["a"], "y": np.arange(5)},
        {"range": (1, 0)},
        {"range": ([0, 0, 0], [1, 1, 1])},
        {"range": (np.nan, 1)},
        {"targets": np.zeros((4, 1))},
        {"label": "a"},
    ],
)
def test_wrong_labels_are_an_exception(keywords):
    with pytest.raises(assay.AssayError):
        assay.data(X, **keywords)


def test_tensors_of_torch_that_are_no_records_are_an_exception():
    torch = pytest.importorskip("torch")
    plain = torch.rand(4, 3)
    wrong = {
        "of a device without numbers": torch.zeros(4, 3, device="meta"),
        "sparse": plain.to_sparse(),
        "complex": plain.to(torch.complex64),
        "conjugated": plain.to(torch.complex64).conj(),
        "quantised": torch.quantize_per_tensor(plain, 0.1, 0, torch.quint8),
        "a number": torch.tensor(3.0),
        "empty": torch.zeros(0, 3),
    }
    for what, tensor in wrong.items():
        for attempt in (lambda t: assay.data(t), lambda t: assay.data(iter([t])), lambda t: assay.data({"a": t, "b": plain})):
            with pytest.raises(assay.AssayError) as caught:
                attempt(tensor)
            assert str(caught.value), what
    for tensor in (plain.to(torch.bfloat16), plain.half(), plain.double(), plain[:, ::2], plain.expand(5, 4, 3)):
        for data in (assay.data(tensor), assay.data(iter([tensor[:1], tensor[1:]]))):
            assert (data.read(range(len(tensor)))["x"] == tensor.to(torch.float32).numpy()).all()


class Strange:
    """Speaks DLPack badly."""

    def __init__(self, answer):
        self.answer = answer

    def __dlpack__(self, **keywords):
        if isinstance(self.answer, BaseException):
            raise self.answer
        return self.answer

    def __dlpack_device__(self):
        return (1, 0)


def test_objects_that_speak_dlpack_badly_are_an_exception():
    used = np.zeros(3, np.float32).__dlpack__()
    np.from_dlpack(type("Once", (), {"__dlpack__": lambda self, **k: used, "__dlpack_device__": lambda self: (1, 0)})())
    for answer in (None, 3, "text", used, b"bytes"):
        with pytest.raises(assay.UsageError):
            assay.data(Strange(answer))
    for failure in (LookupError("gone"), BufferError("gone"), TypeError("gone")):
        with pytest.raises(assay.UsageError, match="gone"):
            assay.data(Strange(failure))
    with pytest.raises(KeyboardInterrupt):
        assay.data(Strange(KeyboardInterrupt()))


def test_exceptions_of_iterables_arrive_as_they_are():
    with pytest.raises(RuntimeError, match="disk on fire"):
        assay.data(breaking())


def test_numbers_that_are_none_name_their_record():
    x = X.copy()
    x[3, 0, 0] = np.nan
    data = assay.data(x, ids=list("abcde"))
    with pytest.raises(assay.DataError, match="'d'"):
        data.read(range(5))
    with pytest.raises(assay.AssayError):
        data.read([7])


def test_any_shape_and_stride_is_read_or_refused():
    rng = np.random.default_rng(7)
    for _ in range(300):
        shape = tuple(rng.integers(0, 4, rng.integers(0, 5)))
        dtype = rng.choice(["f4", "f8", "f2", ">f4", ">i8", "i4", "i8", "u1", "u8", "b1", "c8", "O", "S3", "U2"])
        array = np.zeros(shape, dtype)
        cut = tuple(slice(None, None, int(rng.choice([1, 2, -1]))) for _ in shape)
        view = array[(*cut, ...)].T if rng.random() < 0.5 else array[(*cut, ...)]
        try:
            data = assay.data(view)
            assert (data.read(range(len(data)))["x"] == view.astype(np.float64)).all()
        except assay.AssayError:
            pass


@pytest.mark.parametrize("labels", [[[1], [0], [2], [1], [0]], np.eye(3, dtype=int)[[1, 0, 2, 1, 0]], np.eye(3)[[1, 0, 2, 1, 0]] > 0])
def test_labels_of_any_whole_numbers(labels):
    assert assay.data(X, np.array(labels)).labels.tolist() == [1, 0, 2, 1, 0]


def test_truth_values_are_two_classes():
    assert assay.data(X, np.array([True, False, True, True, False])).labels.tolist() == [1, 0, 1, 1, 0]
    torch = pytest.importorskip("torch")
    assert assay.data(X, torch.tensor([[True], [False], [True], [True], [False]])).labels.tolist() == [1, 0, 1, 1, 0]


def test_wrong_labels_ranges_and_masks_are_exceptions():
    data = assay.data(X, np.arange(5))
    for labels in (["a"] * 5, [0.5] * 5, [None] * 5):
        with pytest.raises(assay.UsageError, match="not a class number"):
            data.relabelled(labels)
    for range in ((0,), 1, (0, "a"), (0, 1, 2)):
        with pytest.raises(assay.UsageError, match="range="):
            assay.data(X, range=range)
    masked = np.ma.masked_array(X, X > 7)
    for call in (lambda: assay.data(masked), lambda: assay.data(X, np.ma.masked_array(np.arange(5), np.arange(5) > 3))):
        with pytest.raises(assay.UsageError, match="masked"):
            call()
    assert (assay.data(np.ma.masked_array(X)).read([2])["x"] == X[[2]]).all()


def test_data_are_made_again_not_pickled():
    import copy
    import pickle

    data = assay.data(X)
    assert copy.copy(data).hash == data.hash
    for call in (copy.deepcopy, pickle.dumps):
        with pytest.raises(TypeError, match="make it again"):
            call(data)


@pytest.mark.parametrize("make", [np.array, list, lambda names: np.array(names, object)])
def test_labels_may_be_names(make):
    x, names = np.zeros((4, 3), np.float32), ["dog", "cat", "eel", "cat"]
    by_alphabet, in_order = assay.data(x, make(names)), assay.data(x, make(names), class_names=["eel", "dog", "cat"])
    assert by_alphabet.labels.tolist() == [1, 0, 2, 0] and by_alphabet.class_names == ["cat", "dog", "eel"]
    assert in_order.labels.tolist() == [1, 2, 0, 2] and in_order.class_names == ["eel", "dog", "cat"]
    with pytest.raises(assay.DataError, match="row '2': 'eel' is not one of class_names="):
        assay.data(x, make(names), class_names=["dog", "cat"])
    with pytest.raises(assay.AssayError):
        assay.data(x, make(names[:3]))


def test_streams_of_torch_are_read_record_by_record():
    torch = pytest.importorskip("torch", reason="SKIPPED: torch is not installed (PyPI)")

    class Stream(torch.utils.data.IterableDataset):
        def __iter__(self):
            return ((torch.full((2,), float(i)), i % 2) for i in range(5))

    data = assay.data(Stream())
    assert data.read(range(5))["x"].tolist() == [[i, i] for i in range(5)] and data.labels.tolist() == [0, 1, 0, 1, 0]


def test_data_sets_of_torchvision_name_their_classes():
    torch = pytest.importorskip("torch", reason="SKIPPED: torch is not installed (PyPI)")

    class Animals(torch.utils.data.Dataset):
        classes, target_transform = ["cat", "dog"], None

        def __len__(self):
            return 4

        def __getitem__(self, at):
            return torch.zeros(2), at % 2

    for given in (Animals(), torch.utils.data.Subset(Animals(), [0, 1]), torch.utils.data.DataLoader(Animals(), batch_size=3)):
        assert assay.data(given).class_names == ["cat", "dog"]
    renumbered = Animals()
    renumbered.target_transform = lambda number: 1 - number
    assert assay.data(renumbered).class_names == ["0", "1"]


def test_descriptions_say_one_of_one():
    x = np.zeros((3, 2), np.float32)
    assert "1 record [2], 1 target)" in repr(assay.data(x[:1], x[:1, :1]))
    assert "3 records [2], 1 class)" in repr(assay.data(x, [0, 0, 0]))
    assert "3 records [2], 2 classes)" in repr(assay.data(x, [0, 1, 0]))
    assert "3 records [2], 2 targets)" in repr(assay.data(x, x))
