"""Records of all element types: an array is what the program reads from an archive that holds it."""

import importlib
import importlib.util

import numpy as np
import pytest

import assay

TYPES = "uint8 int8 bool int16 uint16 int32 uint32 int64 uint64 float16 float32 float64".split()
#: Records of 3 numbers, of grey pictures, of pictures with channels.
SHAPES = [(5, 3), (5, 4, 4), (5, 2, 4, 4)]


def numbers(shape, dtype, seed=1):
    return np.random.default_rng(seed).integers(0, 100, shape).astype(dtype)


def same(data, other):
    return (
        data.hash == other.hash
        and data.inputs == other.inputs
        and data.dtype == other.dtype
        and data.range == other.range
        and all(np.array_equal(a, b) and a.dtype == b.dtype for a, b in zip(data.read([3]).values(), other.read([3]).values()))
    )


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("dtype", TYPES)
def test_an_array_is_what_the_program_reads_from_an_archive(tmp_path, dtype, shape):
    x, y = numbers(shape, dtype), np.array([0, 1, 1, 0, 2])
    np.savez(tmp_path / "x.npz", x=x, y=y)
    stored = assay.data(str(tmp_path / "x.npz"))
    assert same(assay.data(x, y), stored)
    assert same(assay.data(iter([(x[:2], y[:2]), (x[2:], y[2:])])), stored)
    assert same(assay.data(np.asfortranarray(x), y), stored)
    if np.dtype(dtype).itemsize > 1:
        assert same(assay.data(x.astype(x.dtype.newbyteorder(">")), y), stored)


#: How torch names the types that it may have, and what records of them are delivered as.
TENSORS = {"float16": "float32", "bfloat16": "float32", "float64": "float32", "int16": "int64", "int32": "int64"}
TENSORS |= {"uint16": "int64", "uint32": "int64", "uint64": "int64"}


@pytest.mark.parametrize("dtype", TENSORS)
def test_tensors_of_every_type_are_held_and_not_copied(dtype):
    torch = pytest.importorskip("torch", reason="SKIPPED: torch is not there")
    if not hasattr(torch, dtype):
        pytest.skip(f"SKIPPED: this torch has no {dtype}")
    x = torch.arange(15).reshape(5, 3).to(getattr(torch, dtype))
    data = assay.data(x)
    numbers_now = [data.read([3])["x"]]
    x[3] = x[4]
    numbers_now.append(data.read([3])["x"])
    for found, first in zip(numbers_now, (9, 12)):
        assert found.dtype == TENSORS[dtype] and found.tolist() == [[first, first + 1, first + 2]]


@pytest.mark.parametrize("dtype", TENSORS)
def test_arrays_of_every_type_are_held_and_not_copied(dtype):
    kind = dtype
    if dtype == "bfloat16":
        kind = pytest.importorskip("ml_dtypes", reason="SKIPPED: ml_dtypes is not there").bfloat16
    whole = np.arange(30).reshape(5, 6).astype(kind)
    x = whole[:, ::2]
    data = assay.data(x)
    assert data.read([1])["x"].tolist() == [[6, 8, 10]]
    x[1] = 7
    found = data.read([1])["x"]
    assert found.dtype == TENSORS[dtype] and found.tolist() == [[7, 7, 7]]


def test_numbers_that_no_int64_holds_are_no_tokens(tmp_path):
    x = np.full((2, 3), 2**63, np.uint64)
    np.save(tmp_path / "x.npy", x)
    for attempt in (lambda: assay.data(x), lambda: assay.data(str(tmp_path / "x.npy")).read([0])):
        with pytest.raises(assay.DataError, match="9223372036854775808 is more than an int64 holds"):
            attempt()


def test_numbers_that_no_int64_holds_are_no_classes(tmp_path):
    x, y = np.zeros((3, 2), np.float32), np.array([0, 1, 2**64 - 1], np.uint64)
    np.savez(tmp_path / "x.npz", x=x, y=y)
    for attempt in (lambda: assay.data(x, y), lambda: assay.data(str(tmp_path / "x.npz"))):
        with pytest.raises(assay.DataError, match="the labels: 18446744073709551615 is more than an int64 holds"):
            attempt()


def test_characteristics_above_int64_keep_their_names(tmp_path):
    users = np.array([2**63 + 5, 7, 2**64 - 1], np.uint64)
    np.savez(tmp_path / "x.npz", x=np.zeros((3, 2), np.float32), y=np.array([0, 1, 1]), user=users)
    data = assay.data(str(tmp_path / "x.npz,meta=user"))
    assert list(data.characteristics["user"]) == [str(user) for user in users]


@pytest.mark.parametrize("dtype", TYPES)
def test_inputs_after_the_first_are_as_in_an_archive(tmp_path, dtype):
    a, b = numbers((5, 3), dtype), numbers((5, 2), dtype, 2)
    np.savez(tmp_path / "x.npz", a=a, b=b)
    stored = assay.data(str(tmp_path / "x.npz,inputs=a+b"))
    assert same(assay.data({"a": a, "b": b}), stored)
    assert same(assay.data(iter([{"a": a[:2], "b": b[:2]}, {"b": b[2:], "a": a[2:]}])), stored)


@pytest.mark.parametrize("scale", [1, 1 / 255, 0.5])
def test_a_factor_for_8_bit_numbers_sets_their_range(tmp_path, scale):
    x = numbers((5, 2, 4, 4), np.uint8)
    np.savez(tmp_path / "x.npz", x=x)
    assert same(assay.data(x, scale=scale), assay.data(str(tmp_path / f"x.npz,scale={scale}")))
    assert assay.data(x, range=(0, 0.25)).range == ([0], [0.25])


def test_8_bit_pictures_with_channels_last_are_as_the_program_reads_them(tmp_path):
    x = numbers((5, 4, 4, 3), np.uint8)
    np.savez(tmp_path / "x.npz", x=x)
    assert same(assay.data(x, layout="nhwc"), assay.data(str(tmp_path / "x.npz,layout=nhwc")))


@pytest.mark.parametrize("library", ["torch", "jax.numpy", "tensorflow"])
def test_tensors_are_as_arrays_of_their_numbers(library):
    if importlib.util.find_spec(library.split(".")[0]) is None:
        pytest.skip(f"SKIPPED: {library} is not there")
    package = importlib.import_module(library)
    make = {"torch": "as_tensor", "jax.numpy": "asarray", "tensorflow": "convert_to_tensor"}[library]
    for dtype in ("uint8", "int8", "bool", "int16", "float16"):
        x = numbers((5, 2, 4, 4), dtype)
        assert same(assay.data(getattr(package, make)(x)), assay.data(x)), dtype


@pytest.fixture(scope="module")
def networks(tmp_path_factory):
    """The mean of each of two channels, of bytes and of floating-point numbers."""
    onnx = pytest.importorskip("onnx", reason="SKIPPED: the package onnx is not there")
    make, kinds = onnx.helper, onnx.TensorProto
    folder = tmp_path_factory.mktemp("networks")

    def network(name, kind):
        nodes = [make.make_node("Cast", ["x"], ["f"], to=kinds.FLOAT), make.make_node("GlobalAveragePool", ["f"], ["p"])]
        nodes.append(make.make_node("Flatten", ["p"], ["y"]))
        ports = [make.make_tensor_value_info("x", kind, ["n", 2, 4, 4])], [make.make_tensor_value_info("y", kinds.FLOAT, ["n", 2])]
        model = make.make_model(
            make.make_graph(nodes, name, *ports), opset_imports=[make.make_opsetid("", 17)], ir_version=8
        )
        onnx.save(model, folder / f"{name}.onnx")
        return folder / f"{name}.onnx"

    return network("bytes", kinds.UINT8), network("floats", kinds.FLOAT)


def test_a_network_of_bytes_takes_them_as_they_are_and_one_of_floats_from_0_to_1(networks):
    x = numbers((12, 2, 4, 4), np.uint8)
    means = x.astype(np.float32).mean((2, 3))
    of_bytes, of_floats = (assay.load(network) for network in networks)
    np.testing.assert_allclose(of_bytes(x), means, rtol=1e-6)
    np.testing.assert_allclose(of_floats(x), means / 255, rtol=1e-6)
    np.testing.assert_allclose(of_bytes(iter([x[:5], x[5:]])), means, rtol=1e-6)
    np.testing.assert_allclose(of_bytes(assay.data(x, scale=1)), means, rtol=1e-6)
    with pytest.raises(assay.MismatchError, match="takes uint8 numbers .* scale=1"):
        of_bytes(assay.data(x))


def test_questions_take_bytes_as_the_network_does(networks):
    x = numbers((40, 2, 4, 4), np.uint8)
    y = x.astype(np.float32).mean((2, 3)).argmax(1)
    for network in (*networks, *map(assay.load, networks)):
        assert assay.evaluate(network, (x, y)).test_accuracy == 1
    attacked = assay.attack(assay.load(networks[1]), (x, y), attack="fgsm[eps=0.1]")  # whose range is known
    assert attacked.headline


def test_what_may_be_wrong_with_bytes_is_looked_for_in_whole_numbers(networks):
    """Labels that the network almost never names: a likely cause is looked for, which no fraction can be."""
    x = numbers((40, 2, 4, 4), np.uint8)
    y = x.astype(np.float32).mean((2, 3)).argmin(1)
    for network in networks:
        assert assay.evaluate(network, (x, y)).test_accuracy == 0
