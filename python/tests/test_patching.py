"""Activation patching and heads taken out, against a plain writing in NumPy."""

import json

import numpy as np
import pytest
from test_unit_views import HEADS, LENGTH, RECORDS, SIZE, VOCABULARY, WIDTH, weights, write

import assay

NORMAL = 1.959963984540054


def forward(ids, mask, change=lambda name, value: value):
    """Scores; `change` may put other values in place of layers."""
    w = {name: values.astype(np.float64) for name, values in weights().items()}
    x = w["word"][ids]
    q, k, v = ((x @ w[role]).reshape(*ids.shape, HEADS, SIZE).swapaxes(1, 2) for role in "qkv")
    scores = q @ k.swapaxes(2, 3) * SIZE**-0.5 + (1 - mask)[:, None, None, :] * -1e9
    attention = np.exp(scores - scores.max(-1, keepdims=True))
    mixed = change("mixed", attention / attention.sum(-1, keepdims=True) @ v)
    stream = change("stream", x + mixed.swapaxes(1, 2).reshape(*ids.shape, WIDTH) @ w["o"])
    out = change("out", stream + np.maximum(stream @ w["up"] + w["bias"], 0) @ w["down"])
    return (out * mask[..., None]).sum(1) @ w["head"]


@pytest.fixture(scope="module")
def pairs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("patching")
    write(folder / "net.onnx")
    rng = np.random.default_rng(8)
    clean = rng.integers(1, VOCABULARY, size=(RECORDS, LENGTH))
    corrupted = clean.copy()
    corrupted[:, 2:4] = rng.integers(1, VOCABULARY, size=(RECORDS, 2))
    mask = np.ones_like(clean)
    mask[::4, -1] = 0
    clean, corrupted = clean * mask, corrupted * mask
    for name, ids in (("clean", clean), ("corrupted", corrupted)):
        np.savez(folder / f"{name}.npz", input_ids=ids, attention_mask=mask)
    return folder, clean, corrupted, mask


def layers_of(ids, mask):
    seen = {}
    forward(ids, mask, lambda name, value: seen.setdefault(name, value))
    return seen


def made_good(giving, receiving, mask, layer, index):
    """Share with its interval, and decisions turned, of a site given as an index behind the records."""
    there, here = forward(giving, mask), forward(receiving, mask)
    a, b, rows = there.argmax(1), here.argmax(1), np.arange(len(giving))
    source = layers_of(giving, mask)[layer]

    def change(name, value):
        if name != layer:
            return value
        value = value.copy()
        value[(slice(None), *index)] = source[(slice(None), *index)]
        return value

    patched = forward(receiving, mask, change)
    score = lambda scores: scores[rows, a] - scores[rows, b]  # noqa: E731
    counts = a != b
    above, below = (score(patched) - score(here))[counts], (score(there) - score(here))[counts]
    share, n = above.sum() / below.sum(), counts.sum()
    half = NORMAL * np.sqrt(((above - share * below) ** 2).sum() * n / (n - 1)) / abs(below.sum())
    return counts.sum(), share, share - half, share + half, (patched.argmax(1) == a)[counts].sum()


def expect_row(row, wanted):
    _, share, low, high, turned = wanted
    assert [row["share"], row["low"], row["high"]] == pytest.approx([share, low, high], abs=1e-4)
    assert row["turned"] == turned


@pytest.mark.parametrize("into_clean", [False, True])
def test_sites_make_good_what_numpy_says(pairs, into_clean):
    folder, clean, corrupted, mask = pairs
    giving, receiving = (corrupted, clean) if into_clean else (clean, corrupted)
    found = assay.patch(folder / "net.onnx", folder / "clean.npz", folder / "corrupted.npz", positions=True, into_clean=into_clean)
    rows = found.table("patches").rows
    assert {row["layer"] for row in rows} == {"stream", "out", "mixed"}
    assert len(rows) == (2 + HEADS) * LENGTH
    for row in rows:
        index = (row["position"],) if row["head"] is None else (row["head"], row["position"])
        wanted = made_good(giving, receiving, mask, row["layer"], index)
        expect_row(row, wanted)
        assert found.facts["counted"] == wanted[0]
    best = found.table("strongest").rows
    assert [row["share"] for row in best] == sorted((row["share"] for row in rows), reverse=True)[:20]


def test_heads_and_layers_as_a_whole(pairs):
    folder, clean, corrupted, mask = pairs
    found = assay.patch(folder / "net.onnx", folder / "clean.npz", folder / "corrupted.npz", heads=True, layer=["stream"])
    rows = {(row["layer"], row["head"]): row for row in found.table("patches").rows}
    assert set(rows) == {("stream", None), *(("mixed", head) for head in range(HEADS))}
    for head in range(HEADS):
        expect_row(rows["mixed", head], made_good(clean, corrupted, mask, "mixed", (head,)))
    expect_row(rows["stream", None], made_good(clean, corrupted, mask, "stream", (slice(None),)))
    assert rows["stream", None]["share"] == pytest.approx(1, abs=1e-4)


def test_maps_are_drawn(pairs, tmp_path):
    folder, *_ = pairs
    found = assay.patch(folder / "net.onnx", folder / "clean.npz", folder / "corrupted.npz", positions=True, out=str(tmp_path / "maps"))
    layers, heads = ((tmp_path / "maps" / f"patched-{kind}.svg").read_text() for kind in ("layers", "heads"))
    assert layers.count("<rect") == 1 + 2 * LENGTH and heads.count("<rect") == 1 + HEADS * LENGTH
    assert "mixed head 1" in heads and ">stream<" in layers
    assert len(json.loads(found.to_json())["pictures"]) == 2


@pytest.mark.parametrize("instead", ["zero", "mean"])
def test_heads_are_taken_out(pairs, instead):
    folder, clean, _, mask = pairs
    found = assay.patch(folder / "net.onnx", folder / "clean.npz", ablate=instead, controls=19)
    intact = forward(clean, mask)
    decided, rows = intact.argmax(1), np.arange(RECORDS)

    def lead(scores):
        others = scores.copy()
        others[rows, decided] = -np.inf
        return scores[rows, decided] - others.max(1)

    def without(head):
        def change(name, value):
            if name == "mixed":
                value = value.copy()
                value[:, head] = 0 if instead == "zero" else value[:, head].mean(0)
            return value

        return forward(clean, mask, change)

    for row in found.table("ablated_heads").rows:
        scores = without(row["head"])
        lost, whole = lead(intact) - lead(scores), lead(intact)
        share = lost.sum() / whole.sum()
        half = NORMAL * np.sqrt(((lost - share * whole) ** 2).sum() * RECORDS / (RECORDS - 1)) / whole.sum()
        assert [row["share"], row["low"], row["high"]] == pytest.approx([share, share - half, share + half], abs=1e-4)
        assert row["turned"] == (scores.argmax(1) != decided).sum()
        assert 0.05 <= row["p"] <= 1 and np.isfinite(row["control"])


def test_gates_are_on_layers_heads_and_positions(pairs):
    folder, clean, corrupted, mask = pairs
    ask = lambda **more: assay.patch(folder / "net.onnx", folder / "clean.npz", folder / "corrupted.npz", **more)  # noqa: E731
    share = made_good(clean, corrupted, mask, "mixed", (1, 2))[1]
    found = ask(positions=True, fail_under=[f"made-good[layer=mixed,head=1,position=2]>={share - 0.001}", f"made-good[layer=mixed,head=1,position=2]<={share + 0.001}"])
    assert found.passed and [gate["value"] for gate in found.gates] == pytest.approx([share, share], abs=1e-4)
    most = max(made_good(clean, corrupted, mask, "mixed", (1, position))[1] for position in range(LENGTH))
    failed = ask(positions=True, fail_under=f"made-good[layer=mixed,head=1]<={most - 0.001}")
    assert not failed.passed and failed.gates[0]["value"] == pytest.approx(most, abs=1e-4)
    assert "<failure" in failed.render("junit") and "made-good" in failed.render("sarif")
    lost = ask(ablate="zero", heads=True, controls=0, fail_under=["lead-lost[layer=mixed,head=0]<=9", "made-good[layer=mixed]=-9"])
    assert lost.passed and [gate["text"].split("[")[0] for gate in lost.gates] == ["lead-lost", "made-good"]
    with pytest.raises(assay.UsageError, match="no layer 'mixt' was measured; there are .*did you mean 'mixed'"):
        ask(fail_under="made-good[layer=mixt]<=1")
    with pytest.raises(assay.UsageError, match="no criterion 'lead-lost' was measured; there are made-good"):
        ask(fail_under="lead-lost<=1")
    with pytest.raises(assay.UsageError, match="cannot pass"):
        ask(fail_under="made-good[layer=mixed,head=7]<=1")


def test_results_are_no_worse_than_earlier_ones(pairs):
    folder, *_ = pairs
    ask = lambda *data, **more: assay.patch(folder / "net.onnx", *data, **more)  # noqa: E731
    data = folder / "clean.npz", folder / "corrupted.npz"
    before = ask(*data)
    assert ask(*data, no_worse_than=before).passed
    with pytest.raises(assay.MismatchError, match="data set"):
        ask(data[1], data[0], no_worse_than=before)
    with np.load(data[1]) as corrupted:
        np.savez(folder / "turned.npz", **{name: corrupted[name][::-1] for name in corrupted})
    with pytest.raises(assay.MismatchError, match="another set of corrupted records"):
        ask(data[0], folder / "turned.npz", no_worse_than=before)


def test_controls_take_out_as_much_as_a_head(pairs):
    """With heads that each fill the attention there would be one choice only: the same draws, so the same figures."""
    folder, *_ = pairs
    found = [assay.patch(folder / "net.onnx", folder / "clean.npz", ablate="zero", controls=5, seed=seed).table("ablated_heads").rows for seed in (1, 1, 2)]
    assert found[0] == found[1] and found[0][0]["control"] != found[2][0]["control"]


def test_one_output_is_the_score(pairs, tmp_path):
    onnx = pytest.importorskip("onnx", reason="SKIPPED: the package onnx is not there")
    folder, clean, corrupted, mask = pairs
    model = onnx.load(folder / "net.onnx")
    for tensor in model.graph.initializer:
        if tensor.name == "head":
            tensor.CopyFrom(onnx.numpy_helper.from_array(weights()["head"][:, :1] - weights()["head"][:, 1:2], "head"))
    model.graph.output[0].type.tensor_type.shape.dim[1].dim_value = 1
    onnx.save(model, tmp_path / "one.onnx")
    found = assay.patch(tmp_path / "one.onnx", folder / "clean.npz", folder / "corrupted.npz", layer="stream", positions=True)
    there, here = (np.subtract(*forward(ids, mask)[:, :2].T) for ids in (clean, corrupted))
    counts = (there > 0) != (here > 0)
    assert found.facts["counted"] == counts.sum()
    source = layers_of(clean, mask)["stream"]

    def change(name, value):
        if name == "stream":
            value = value.copy()
            value[:, 2] = source[:, 2]
        return value

    patched = np.subtract(*forward(corrupted, mask, change)[:, :2].T)
    sign = np.sign(there - here)[counts]
    wanted = ((patched - here)[counts] * sign).sum() / ((there - here)[counts] * sign).sum()
    assert found.table("patches").rows[2]["share"] == pytest.approx(wanted, abs=1e-4)


def test_what_cannot_be_patched_is_said(pairs, inside, tmp_path):
    folder, clean, corrupted, mask = pairs
    net, ours, theirs = folder / "net.onnx", folder / "clean.npz", folder / "corrupted.npz"
    with pytest.raises(assay.UsageError, match="which runs"):
        assay.patch(net, ours)
    with pytest.raises(assay.UsageError, match="positions has no effect without corrupted"):
        assay.patch(net, ours, ablate="zero", positions=True)
    with pytest.raises(assay.UsageError, match="controls has no effect without ablate"):
        assay.patch(net, ours, theirs, controls=3)
    with pytest.raises(assay.AssayError, match="not pairs: 40 records and 9"):
        assay.patch(net, ours, f"{theirs}[:9]")
    with pytest.raises(assay.DataError, match="none of 40 pairs decides differently"):
        assay.patch(net, ours, ours)
    with pytest.raises(assay.UsageError, match="has no attention"):
        assay.patch("net.onnx", "test.npz", ablate="zero")
    with pytest.raises(assay.UsageError, match="no layer that is patched has positions"):
        assay.patch("net.onnx", "test.npz[:9]", "test.npz[9:18]", layer="-1", positions=True)
    np.savez(tmp_path / "long.npz", input_ids=np.ones((RECORDS, 9), int), attention_mask=np.ones((RECORDS, 9), int))
    with pytest.raises(assay.AssayError, match="say the same length= for both"):
        assay.patch(net, ours, tmp_path / "long.npz")


def test_a_model_of_language_needs_a_decision(program, tmp_path):
    """And with one its tokens are patched as PyTorch patches them."""
    transformers, torch = (pytest.importorskip(name, reason=f"SKIPPED: the package {name} is not there") for name in ("transformers", "torch"))
    pytest.importorskip("onnxscript", reason="SKIPPED: the package onnxscript is not there")
    torch.manual_seed(2)
    config = transformers.GPT2Config(n_embd=16, n_layer=2, n_head=4, n_positions=24, vocab_size=VOCABULARY, bos_token_id=2, eos_token_id=3)
    config.initializer_range = 0.5
    model = transformers.GPT2LMHeadModel(config).eval()
    torch.nn.init.normal_(model.transformer.wte.weight, std=0.5)
    assay.load(model).save(tmp_path / "net.onnx")
    rng = np.random.default_rng(1)
    clean = rng.integers(1, VOCABULARY, (12, 6))
    corrupted = clean.copy()
    corrupted[:, 3] = rng.integers(1, VOCABULARY, 12)
    for name, ids in (("clean", clean), ("corrupted", corrupted)):
        np.savez(tmp_path / f"{name}.npz", input_ids=ids, attention_mask=np.ones_like(ids))
    with pytest.raises(assay.UsageError, match="needs decision=position=last"):
        assay.patch(tmp_path / "net.onnx", tmp_path / "clean.npz", tmp_path / "corrupted.npz")
    found = assay.patch(tmp_path / "net.onnx", tmp_path / "clean.npz", tmp_path / "corrupted.npz", decision="position=last", positions=True)
    block = model.transformer.h[0]
    kept = {}
    with torch.no_grad():
        ids = [torch.tensor(rows) for rows in (clean, corrupted)]
        keep = block.register_forward_hook(lambda module, given, out: kept.update(out=out[0] if isinstance(out, tuple) else out))
        there = model(input_ids=ids[0]).logits[:, -1].numpy()
        keep.remove()
        here = model(input_ids=ids[1]).logits[:, -1].numpy()

        def change(module, given, out):
            value = (out[0] if isinstance(out, tuple) else out).clone()
            value[:, 3] = kept["out"][:, 3]
            return (value, *out[1:]) if isinstance(out, tuple) else value

        hook = block.register_forward_hook(change)
        patched = model(input_ids=ids[1]).logits[:, -1].numpy()
        hook.remove()
    a, b, rows = there.argmax(1), here.argmax(1), np.arange(12)
    counts, score = a != b, lambda scores: scores[rows, a] - scores[rows, b]
    assert counts.any()
    wanted = (score(patched) - score(here))[counts].sum() / (score(there) - score(here))[counts].sum()
    shares = [row["share"] for row in found.table("patches").rows if row["position"] == 3 and row["head"] is None]
    assert any(share == pytest.approx(wanted, abs=1e-3) for share in shares)


def network(path, nodes, weights, record):
    onnx = pytest.importorskip("onnx", reason="SKIPPED: the package onnx is not there")
    from onnx import TensorProto, helper, numpy_helper

    ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, ["n", *shape]) for name, shape in (("x", record), ("y", [4]))]
    tensors = [numpy_helper.from_array(array, name) for name, array in weights.items()]
    graph = helper.make_graph([helper.make_node(op, ins, [out], name=out, **options) for op, ins, out, options in nodes], "net", ends[:1], ends[1:], tensors)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)
    return path


def random(seed, *shape):
    return np.random.default_rng(seed).normal(size=shape).astype(np.float32)


def test_channels_are_no_positions(tmp_path):
    nodes = [("Conv", ["x", "k"], "conv", {"pads": [1, 1]}), ("Flatten", ["conv"], "flat", {}), ("Gemm", ["flat", "w"], "y", {})]
    net = network(tmp_path / "net.onnx", nodes, {"k": random(1, 3, 2, 3), "w": random(2, 24, 4)}, [2, 8])
    clean, corrupted = random(3, 20, 2, 8), random(4, 20, 2, 8)
    with pytest.raises(assay.UsageError, match="no layer that is patched has positions"):
        assay.patch(net, clean, corrupted, layer="conv", positions=True)
    assert assay.patch(net, clean, corrupted, layer="conv").table("patches").rows[0]["share"] == pytest.approx(1, abs=1e-4)


def attention(tmp_path, merged):
    """Of two heads, as exporters of nn.MultiheadAttention have them, [records * heads, positions, size], or apart."""
    nodes, parts = [], {"apart": [0, 5, 2, 3], "merged": [-1, 5, 3], "again": [-1, 2, 5, 3], "one": [0, 5, 6]}
    for part in "qkv":
        nodes += [
            ("MatMul", ["x", f"w{part}"], part, {}),
            ("Reshape", [part, "apart"], f"{part}1", {}),
            ("Transpose", [f"{part}1"], f"{part}2", {"perm": [0, 2, 1, 3]}),
            ("Reshape", [f"{part}2", "merged"], f"{part}3", {}) if merged else ("Identity", [f"{part}2"], f"{part}3", {}),
        ]
    nodes += [
        ("Transpose", ["k3"], "keys", {"perm": [0, 2, 1] if merged else [0, 1, 3, 2]}),
        ("MatMul", ["q3", "keys"], "scores", {}),
        ("Softmax", ["scores"], "attention", {"axis": -1}),
        ("MatMul", ["attention", "v3"], "mixed", {}),
        ("Reshape", ["mixed", "again"], "m1", {}) if merged else ("Identity", ["mixed"], "m1", {}),
        ("Transpose", ["m1"], "m2", {"perm": [0, 2, 1, 3]}),
        ("Reshape", ["m2", "one"], "m3", {}),
        ("Add", ["m3", "x"], "stream", {}),
        ("Flatten", ["stream"], "flat", {}),
        ("Gemm", ["flat", "w"], "y", {}),
    ]
    weights = {f"w{part}": random(seed, 6, 6) for seed, part in enumerate("qkv")} | {"w": random(5, 30, 4)}
    return network(tmp_path / f"{merged}.onnx", nodes, weights | {name: np.array(shape) for name, shape in parts.items()}, [5, 6])


def test_heads_among_records_are_patched_as_heads_apart(tmp_path):
    nets = [attention(tmp_path, merged) for merged in (True, False)]
    clean, corrupted = random(6, 20, 5, 6), random(7, 20, 5, 6)
    for asked in ({}, {"heads": True}, {"layer": "mixed"}):
        merged, apart = ([(row["layer"], row["head"], row["share"]) for row in assay.patch(net, clean, corrupted, **asked).table("patches").rows] for net in nets)
        assert [row[:2] for row in merged] == [row[:2] for row in apart] and len(merged) > 0
        assert [row[2] for row in merged] == pytest.approx([row[2] for row in apart], abs=1e-5)


def test_heads_among_records_are_no_positions(tmp_path):
    net = attention(tmp_path, merged=True)
    clean, corrupted = random(6, 20, 5, 6), random(7, 20, 5, 6)
    with pytest.raises(assay.UsageError, match="no layer that is patched has positions"):
        assay.patch(net, clean, corrupted, layer="mixed", positions=True)
    assert len(assay.patch(net, clean, corrupted, layer=["mixed", "stream"], positions=True).table("patches").rows) == 1 + 5


def test_one_pair_has_no_interval(pairs):
    folder, clean, corrupted, mask = pairs
    first = int(np.flatnonzero(forward(clean, mask).argmax(1) != forward(corrupted, mask).argmax(1))[0])
    specs = [f"{folder / name}.npz[{first}:{first + 1}]" for name in ("clean", "corrupted")]
    found = assay.patch(folder / "net.onnx", *specs, ablate="zero")
    for row in [*found.table("patches").rows, *found.table("ablated_heads").rows]:
        assert np.isfinite(row["share"]) and row["low"] is None and row["high"] is None
