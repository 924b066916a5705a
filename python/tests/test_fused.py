"""Operators that ONNX Runtime's optimisers, quantisers and builders write (com.microsoft), against ONNX Runtime."""

import importlib

import numpy as np
import pytest

import assay

BATCH, LENGTH, HEADS, GROUPS, SIZE = 2, 5, 4, 2, 16
WIDTH = HEADS * SIZE


def need(name):
    return pytest.importorskip(name, reason=f"SKIPPED: the package {name} is not there")


def real(seed, *shape, scale=1.0):
    return np.random.default_rng(seed).normal(size=shape, scale=scale).astype(np.float32)


def element_type(onnx, array):
    """Of older packages, too."""
    now = getattr(onnx.helper, "np_dtype_to_tensor_dtype", None)
    return now(array.dtype) if now else importlib.import_module("onnx.mapping").NP_TYPE_TO_TENSOR_TYPE[array.dtype]


class Net:
    """One operator of com.microsoft between inputs, which are constants or vary by record, and outputs. Outputs called `_` are not shown;
    inputs in `turned` have their records along the second axis of the operator's input."""

    def __init__(self, path, op, names, constants, varying, outputs=("y",), turned=(), **attributes):
        onnx = need("onnx")
        from onnx import TensorProto, helper, numpy_helper

        value = lambda name, array: helper.make_tensor_value_info(  # noqa: E731
            name, element_type(onnx, array), ["n", *array.shape[1:]] if array.ndim else []
        )
        nodes = [helper.make_node("Transpose", [name], [name + "_turned"], perm=[1, 0, 2, 3, 4]) for name in turned]
        names = [name + "_turned" if name in turned else name for name in names]
        nodes.append(helper.make_node(op, names, list(outputs), name="node", domain="com.microsoft", **attributes))
        outputs = [name for name in outputs if name != "_"]
        tensors = [one if isinstance(one, onnx.TensorProto) else numpy_helper.from_array(one, name) for name, one in constants.items()]
        ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in outputs]
        graph = helper.make_graph(nodes, "one", [value(name, array) for name, array in varying.items()], ends, tensors)
        opsets = [helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)]
        onnx.save(helper.make_model(graph, opset_imports=opsets, ir_version=8), path)
        self.path, self.given, self.outputs = path, varying, list(outputs)

    def expect_same(self, rtol=1e-4, atol=1e-5):
        runtime = need("onnxruntime")
        theirs = runtime.InferenceSession(self.path, providers=["CPUExecutionProvider"]).run(self.outputs, self.given)
        network = assay.load(self.path)
        for name, wanted in zip(self.outputs, theirs):
            found = network.with_outputs([name])(self.given)
            np.testing.assert_allclose(found, wanted, rtol=rtol, atol=atol, err_msg=name)
        return theirs


def grouped(path, *, packed=False, rotary=True, past=0, bias=False, batch=BATCH, **attributes):
    q, k, v = real(1, batch, LENGTH, WIDTH), real(2, batch, LENGTH, GROUPS * SIZE), real(3, batch, LENGTH, GROUPS * SIZE)
    varying = {"q": np.concatenate([q, k, v], -1)} if packed else {"q": q, "k": k, "v": v}
    angles = np.arange(32)[:, None] / 100 ** (np.arange(SIZE // 2) / (SIZE // 2))
    constants = {"lengths": np.full(batch, past + LENGTH - 1, np.int32), "length": np.array(past + LENGTH, np.int32)}
    names = ["q", *(["", ""] if packed else ["k", "v"]), *(["pk", "pv"] if past else ["", ""]), "lengths", "length"]
    if past:
        varying |= {"pk": real(4, batch, GROUPS, past, SIZE), "pv": real(5, batch, GROUPS, past, SIZE)}
    if rotary:
        constants |= {"cos": np.cos(angles).astype(np.float32), "sin": np.sin(angles).astype(np.float32)}
        names += ["cos", "sin"]
    if bias:
        names += [*([] if rotary else ["", ""]), "", "bias"]
        constants["bias"] = real(6, 1, HEADS, LENGTH, past + LENGTH)
    outputs = ("y", "keys", "values") if past else ("y",)  # without them ONNX Runtime does not look at the past
    return Net(
        path, "GroupQueryAttention", names, constants, varying, outputs, num_heads=HEADS, kv_num_heads=GROUPS, do_rotary=int(rotary), **attributes
    )


@pytest.mark.parametrize(
    "how",
    [
        {"rotary": False}, {}, {"packed": True}, {"rotary_interleaved": 1}, {"local_window_size": 2}, {"softcap": 1.5}, {"scale": 0.7}, {"bias": True},
        {"past": 3, "batch": 1}, {"past": 3, "batch": 1, "local_window_size": 2, "packed": True, "softcap": 2.0},
    ],
    ids=str,
)  # fmt: skip
def test_grouped_queries_are_those_of_onnx_runtime(tmp_path, how):
    grouped(tmp_path / "net.onnx", **how).expect_same()


def test_what_fills_up_behind_a_text_is_seen_by_no_token_of_it(tmp_path):
    net = grouped(tmp_path / "net.onnx", batch=1)
    before = assay.load(net.path)(net.given)
    changed = {name: array.copy() for name, array in net.given.items()}
    for array in changed.values():
        array[:, 3:] += 1
    np.testing.assert_allclose(assay.load(net.path)(changed)[:, :3], before[:, :3], rtol=1e-6)


@pytest.mark.parametrize("mask", [None, "keys", "pairs"])
@pytest.mark.parametrize("causal", [0, 1])
def test_attention_goes_on_from_a_past(tmp_path, mask, causal):
    past, inner = 2, 8
    varying = {"x": real(1, BATCH, LENGTH, inner), "past": real(4, BATCH, 2, HEADS, past, SIZE)}
    constants = {"w": real(2, inner, 3 * WIDTH, scale=0.3), "b": real(3, 3 * WIDTH)}
    names = ["x", "w", "b", "mask" if mask else "", "past"]
    seen = np.random.default_rng(7).integers(0, 2, (BATCH, past + LENGTH) if mask == "keys" else (BATCH, LENGTH, past + LENGTH)).astype(np.int32)
    seen[..., 0] = 1
    if mask:
        varying["mask"] = seen
    net = Net(tmp_path / "net.onnx", "Attention", names, constants, varying, ("y", "_"), ["past"], num_heads=HEADS, unidirectional=causal)
    net.expect_same()


@pytest.mark.parametrize("shift", [False, True])
def test_many_heads_go_on_from_a_past(tmp_path, shift):
    past = 3
    varying = {name: real(i, BATCH, LENGTH, WIDTH) for i, name in enumerate("qkv")}
    varying |= {name: real(8 + i, BATCH, HEADS, past, SIZE) for i, name in enumerate(("pk", "pv"))}
    constants = {"b": real(5, 3 * WIDTH)} if shift else {}
    names = ["q", "k", "v", "b" if shift else "", "", "", "pk", "pv"]
    Net(tmp_path / "net.onnx", "MultiHeadAttention", names, constants, varying, ("y", "pk2", "pv2"), num_heads=HEADS).expect_same()


def quantised(values, kind=np.uint8):
    low, high = (-127, 127) if kind == np.int8 else (0, 255)
    scale = np.float32(np.abs(values).max() / 127)
    zero = kind(0 if kind == np.int8 else 128)
    return np.clip(np.round(values / scale) + zero, low, high).astype(kind), scale, zero


def test_embeddings_of_8_bits(tmp_path):
    tables = {"words": real(1, 11, 8), "places": real(2, 6, 8), "kinds": real(3, 2, 8), "gain": real(4, 8), "shift": real(5, 8)}
    constants = {}
    for name, values in tables.items():
        constants[name], constants[name + "_scale"], constants[name + "_zero"] = (np.asarray(one) for one in quantised(values))
    rng = np.random.default_rng(6)
    varying = {"ids": rng.integers(0, 11, (BATCH, LENGTH)).astype(np.int32), "segments": rng.integers(0, 2, (BATCH, LENGTH)).astype(np.int32)}
    names = ["ids", "segments", *tables, "", *(name + "_scale" for name in tables), *(name + "_zero" for name in tables)]
    Net(tmp_path / "net.onnx", "QEmbedLayerNormalization", names, constants, varying, ("y", "_"), epsilon=1e-12).expect_same()


@pytest.mark.parametrize("bits", [4, 8])
@pytest.mark.parametrize("zeros", [False, True])
def test_tables_of_few_bits(tmp_path, bits, zeros):
    rng = np.random.default_rng(bits)
    rows, columns, block = 7, 64, 16
    blocks = columns // block
    constants = {
        "table": rng.integers(0, 256, (rows, columns * bits // 8)).astype(np.uint8),
        "scales": rng.random((rows, blocks)).astype(np.float32),
    }
    if zeros:
        constants["zeros"] = rng.integers(0, 256, (rows, blocks * bits // 8)).astype(np.uint8)
    varying = {"ids": rng.integers(0, rows, (BATCH, LENGTH))}
    names = ["table", "ids", "scales", *(["zeros"] if zeros else [])]
    Net(tmp_path / "net.onnx", "GatherBlockQuantized", names, constants, varying, gather_axis=0, quantize_axis=1, block_size=block, bits=bits).expect_same()


@pytest.mark.parametrize("kind", [0, 1], ids=["fp4", "nf4"])
@pytest.mark.parametrize("rows, columns, block", [(32, 6, 16), (17, 5, 16), (32, 3, 64)])
def test_weights_of_four_bit_reals(tmp_path, kind, rows, columns, block):
    rng = np.random.default_rng(kind)
    count = rows * columns
    constants = {"b": rng.integers(0, 256, (count + 1) // 2).astype(np.uint8), "s": rng.random((count + block - 1) // block).astype(np.float32)}
    net = Net(tmp_path / "net.onnx", "MatMulBnb4", ["x", "b", "s"], constants, {"x": real(1, BATCH, LENGTH, rows)}, K=rows, N=columns, block_size=block, quant_type=kind)  # fmt: skip
    net.expect_same()


def of_ends(path, parts):
    """Attention with a mask of ends and the like, as optimisers make them of a mask of keys. `parts`: of the mask, `end` and `first`."""
    onnx = need("onnx")
    from onnx import TensorProto, helper, numpy_helper

    inner, node = 8, helper.make_node
    tensors = {"w": real(2, inner, 3 * WIDTH, scale=0.3), "b": real(3, 3 * WIDTH), "along": np.array([1])}
    nodes = [
        node("ReduceSum", ["mask", "along"], ["count"], keepdims=0), node("ArgMax", ["mask"], ["first_long"], axis=1, keepdims=0),
        node("Cast", ["first_long"], ["first"], to=TensorProto.INT32), node("Add", ["first", "count"], ["end"]),
        node("Concat", parts, ["both"], axis=0),
        node("Attention", ["x", "w", "b", "both"], ["y"], name="node", domain="com.microsoft", num_heads=HEADS),
    ]  # fmt: skip
    inputs = [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", LENGTH, inner]), helper.make_tensor_value_info("mask", TensorProto.INT32, ["n", LENGTH])]
    known = [helper.make_tensor_value_info("both", TensorProto.INT32, ["some"])]
    graph = helper.make_graph(nodes, "one", inputs, [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
                              [numpy_helper.from_array(array, name) for name, array in tensors.items()], value_info=known)  # fmt: skip
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)]
    onnx.save(helper.make_model(graph, opset_imports=opsets, ir_version=8), path)


@pytest.mark.parametrize("begins", [False, True], ids=["ends", "ends and beginnings"])
def test_masks_of_ends(tmp_path, begins):
    runtime, batch = need("onnxruntime"), 3
    of_ends(tmp_path / "net.onnx", ["end", "first"] if begins else ["end"])
    first = np.array([0, 2, 1]) if begins else np.zeros(batch, int)
    mask = ((np.arange(LENGTH) >= first[:, None]) & (np.arange(LENGTH) < np.array([[5], [4], [3]]))).astype(np.int32)
    given = {"x": real(1, batch, LENGTH, 8), "mask": mask}
    theirs = runtime.InferenceSession(tmp_path / "net.onnx", providers=["CPUExecutionProvider"]).run(None, given)[0]
    network = assay.load(tmp_path / "net.onnx")
    np.testing.assert_allclose(network(given), theirs, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(network({name: array[1:] for name, array in given.items()}), theirs[1:], rtol=1e-4, atol=1e-5)


def test_masks_of_joined_texts_are_refused(tmp_path):
    """Ends of keys and queries that lie one after the other, 3 * batch + 2 numbers."""
    constants = {"w": real(2, 8, 3 * WIDTH, scale=0.3), "b": real(3, 3 * WIDTH), "mask": np.arange(3 * BATCH + 2, dtype=np.int32)}
    net = Net(tmp_path / "net.onnx", "Attention", ["x", "w", "b", "mask"], constants, {"x": real(1, BATCH, LENGTH, 8)}, num_heads=HEADS)
    onnx = need("onnx")
    model = onnx.load(net.path)
    model.graph.input[0].type.tensor_type.shape.dim[0].dim_value = BATCH
    onnx.save(model, net.path)
    with pytest.raises(assay.UnsupportedError, match="a mask of more than ends and beginnings"):
        assay.load(net.path)(net.given)


def test_masks_of_more_than_ends_and_beginnings_are_refused_where_no_size_is_declared(tmp_path):
    of_ends(tmp_path / "net.onnx", ["end", "first", "end"])
    given = {"x": real(1, 2, LENGTH, 8), "mask": np.ones((2, LENGTH), np.int32)}
    with pytest.raises(assay.AssayError, match="node/ends_by_record"):
        assay.load(tmp_path / "net.onnx")(given)


@pytest.mark.parametrize("size", [2, 6, 11])
def test_constant_masks_of_ends_beside_any_number_of_records_are_refused(tmp_path, size):
    """They fit one number of records; of another one, that they are a multiple of, ends would be taken for those of other records."""
    constants = {"w": real(2, 8, 3 * WIDTH, scale=0.3), "b": real(3, 3 * WIDTH), "mask": np.full(size, 3, np.int32)}
    net = Net(tmp_path / "net.onnx", "Attention", ["x", "w", "b", "mask"], constants, {"x": real(1, BATCH, LENGTH, 8)}, num_heads=HEADS)
    with pytest.raises(assay.UnsupportedError, match="a mask of ends that is a constant, beside any number of records, is not supported"):
        assay.load(net.path)


@pytest.mark.parametrize("rows, columns, block", [(32, 6, 2**63 - 1), (2**40, 2**40, 16), (-1, 6, 16), (32, 6, 0)])
def test_weights_of_four_bit_reals_of_impossible_sizes_are_refused(tmp_path, rows, columns, block):
    constants = {"b": np.zeros(96, np.uint8), "s": np.ones(12, np.float32)}
    net = Net(tmp_path / "net.onnx", "MatMulBnb4", ["x", "b", "s"], constants, {"x": real(1, BATCH, 32)}, K=rows, N=columns, block_size=block, quant_type=0)  # fmt: skip
    with pytest.raises(assay.ModelError, match=f"K {rows}, N {columns}, block_size {block}"):
        assay.load(net.path)


def test_a_choice_of_quantised_values(tmp_path):
    rng = np.random.default_rng(3)
    onnx = need("onnx")
    runtime = need("onnxruntime")
    from onnx import TensorProto, helper, numpy_helper

    x, y = real(1, BATCH, 6), real(2, BATCH, 6)
    numbers = {"xs": np.float32(0.02), "xz": np.uint8(120), "ys": np.float32(0.03), "yz": np.uint8(128), "zs": np.float32(0.025), "zz": np.uint8(125)}
    node = helper.make_node
    nodes = [
        node("QuantizeLinear", ["x", "xs", "xz"], ["qx"]), node("QuantizeLinear", ["y", "ys", "yz"], ["qy"]),
        node("QLinearWhere", ["c", "qx", "xs", "xz", "qy", "ys", "yz", "zs", "zz"], ["qz"], domain="com.microsoft"),
        node("DequantizeLinear", ["qz", "zs", "zz"], ["z"]),
    ]  # fmt: skip
    value = helper.make_tensor_value_info
    inputs = [value("x", TensorProto.FLOAT, ["n", 6]), value("y", TensorProto.FLOAT, ["n", 6])]
    constants = [numpy_helper.from_array(np.asarray(v), n) for n, v in {**numbers, "c": rng.integers(0, 2, (1, 6)).astype(bool)}.items()]
    graph = helper.make_graph(nodes, "g", inputs, [value("z", TensorProto.FLOAT, ["n", 6])], constants)
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)]
    onnx.save(helper.make_model(graph, opset_imports=opsets, ir_version=8), tmp_path / "net.onnx")
    theirs = runtime.InferenceSession(tmp_path / "net.onnx", providers=["CPUExecutionProvider"]).run(None, {"x": x, "y": y})[0]
    np.testing.assert_allclose(assay.load(tmp_path / "net.onnx")({"x": x, "y": y}), theirs, atol=0.0251)


def test_sums_and_products_that_graphics_processors_fuse(tmp_path):
    """ONNX Runtime has these for CUDA only: against NumPy."""
    x, w, b, skip = real(1, BATCH, 3, 6), real(2, 6, 4), real(3, 4), real(4, BATCH, 3, 4)
    net = Net(tmp_path / "gemm.onnx", "GemmFastGelu", ["x", "w", "b"], {"w": w, "b": b}, {"x": x})
    z = (x @ w + b).astype(np.float64)
    wanted = z / 2 * (1 + np.tanh(np.sqrt(2 / np.pi) * (z + 0.044715 * z**3)))
    np.testing.assert_allclose(assay.load(net.path)({"x": x}), wanted, rtol=1e-4, atol=1e-5)
    net = Net(tmp_path / "add.onnx", "BiasAdd", ["x", "b", "skip"], {"b": b}, {"x": x @ w, "skip": skip})
    np.testing.assert_allclose(assay.load(net.path)(net.given), x @ w + b + skip, rtol=1e-5, atol=1e-6)


def test_decisions_are_differentiated_through_grouped_queries(tmp_path):
    """The gradient of the score, against differences of it."""
    onnx = need("onnx")
    from onnx import helper, numpy_helper

    net = grouped(tmp_path / "net.onnx", packed=True, batch=1)
    model = onnx.load(net.path)
    model.graph.initializer.extend([numpy_helper.from_array(real(9, WIDTH, 2), "head"), numpy_helper.from_array(np.array([1], np.int64), "along")])
    model.graph.node.extend([helper.make_node("ReduceSum", ["y", "along"], ["sum"], keepdims=0), helper.make_node("MatMul", ["sum", "head"], ["logits"])])
    del model.graph.output[:]
    model.graph.output.append(helper.make_tensor_value_info("logits", 1, ["n", 2]))
    onnx.save(model, net.path)
    network, x = assay.load(net.path), net.given["q"]
    scores = network(x)
    chosen = int(scores.argmax())
    gradient = network.gradients(x, "input", target=chosen)
    direction, step = real(10, *x.shape), 1e-2
    along = (network(x + step * direction) - network(x - step * direction))[0, chosen] / (2 * step)
    assert float((np.asarray(gradient) * direction).sum()) == pytest.approx(float(along), rel=2e-2)
