"""AttnLRP on a block of a transformer: against a plain writing in NumPy, and against the authors' package `lxt`."""

import json

import numpy as np
import pytest

import assay

VOCABULARY, WIDTH, HEADS, CLASSES, LENGTH = 12, 8, 2, 3, 5


def need(name):
    return pytest.importorskip(name, reason=f"SKIPPED: the package {name} is not there")


@pytest.fixture(scope="module")
def weights():
    rng = np.random.default_rng(11)
    shapes = {
        "word": (VOCABULARY, WIDTH), "place": (LENGTH, WIDTH), "q": (WIDTH, WIDTH), "k": (WIDTH, WIDTH), "v": (WIDTH, WIDTH),
        "o": (WIDTH, WIDTH), "gate": (WIDTH, WIDTH), "up": (WIDTH, WIDTH), "down": (WIDTH, WIDTH), "scale": (WIDTH,), "shift": (WIDTH,),
        "head": (WIDTH, CLASSES), "bias": (CLASSES,),
    }
    return {name: rng.normal(size=shape, scale=0.7).astype(np.float32) for name, shape in shapes.items()}


@pytest.fixture(scope="module")
def network(weights, tmp_path_factory):
    """Embeddings, causal attention of two heads, layer normalisation, a gated layer, the last token decides."""
    onnx = need("onnx")
    from onnx import TensorProto, helper, numpy_helper

    node = helper.make_node
    apart, numbers = (0, LENGTH, HEADS, WIDTH // HEADS), []

    def number(name, value, kind=np.int64):
        numbers.append(numpy_helper.from_array(np.array(value, kind), name))
        return name

    hidden_before = np.triu(np.full((LENGTH, LENGTH), -1e9, np.float32), 1)
    nodes = [
        node("Gather", ["word", "input_ids"], ["words"]),
        node("Add", ["words", "place"], ["x"]),
    ]
    for role in "qkv":
        nodes += [
            node("MatMul", ["x", role], [role + "_flat"]),
            node("Reshape", [role + "_flat", number(role + "_shape", apart)], [role + "_apart"]),
            node("Transpose", [role + "_apart"], [role + "_heads"], perm=[0, 2, 1, 3] if role != "k" else [0, 2, 3, 1]),
        ]
    nodes += [
        node("MatMul", ["q_heads", "k_heads"], ["products"]),
        node("Mul", ["products", number("root", (WIDTH // HEADS) ** -0.5, np.float32)], ["scores"]),
        node("Add", ["scores", number("causal", hidden_before, np.float32)], ["masked"]),
        node("Softmax", ["masked"], ["attention"], axis=-1),
        node("MatMul", ["attention", "v_heads"], ["mixed"]),
        node("Transpose", ["mixed"], ["by_position"], perm=[0, 2, 1, 3]),
        node("Reshape", ["by_position", number("joined", (0, LENGTH, WIDTH))], ["joined_heads"]),
        node("MatMul", ["joined_heads", "o"], ["attended"]),
        node("Add", ["x", "attended"], ["h"]),
        node("LayerNormalization", ["h", "scale", "shift"], ["normal"], axis=-1, epsilon=1e-5),
        node("MatMul", ["normal", "gate"], ["gated"]),
        node("Sigmoid", ["gated"], ["open"]),
        node("Mul", ["gated", "open"], ["silu"]),
        node("MatMul", ["normal", "up"], ["wide"]),
        node("Mul", ["silu", "wide"], ["product"]),
        node("MatMul", ["product", "down"], ["narrow"]),
        node("Add", ["h", "narrow"], ["out"]),
        node("Gather", ["out", number("last", LENGTH - 1)], ["token"], axis=1),
        node("Gemm", ["token", "head", "bias"], ["logits"]),
    ]
    graph = helper.make_graph(
        nodes, "block", [helper.make_tensor_value_info("input_ids", TensorProto.INT64, ["n", LENGTH])],
        [helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["n", CLASSES])],
        [*(numpy_helper.from_array(values, name) for name, values in weights.items()), *numbers],
    )
    path = tmp_path_factory.mktemp("block") / "block.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)
    return path


@pytest.fixture(scope="module")
def ids():
    return np.random.default_rng(3).integers(0, VOCABULARY, size=(6, LENGTH))


def relevance_by_hand(weights, ids, target):
    """The rules of the paper, one after the other, in double precision: relevance of the tokens of one record."""
    w = {name: values.astype(np.float64) for name, values in weights.items()}
    size = WIDTH // HEADS
    words = w["word"][ids]
    x = words + w["place"]
    heads = lambda values: values.reshape(LENGTH, HEADS, size).transpose(1, 0, 2)  # noqa: E731
    q, k, v = (heads(x @ w[name]) for name in "qkv")
    products = q @ k.transpose(0, 2, 1)
    mask = np.triu(np.full((LENGTH, LENGTH), -1e9), 1)
    masked = products * size**-0.5 + mask
    attention = np.exp(masked - masked.max(-1, keepdims=True))
    attention /= attention.sum(-1, keepdims=True)
    mixed = attention @ v
    joined = mixed.transpose(1, 0, 2).reshape(LENGTH, WIDTH)
    attended = joined @ w["o"]
    h = x + attended
    deviation = np.sqrt(h.var(-1, keepdims=True) + 1e-5)
    normal = (h - h.mean(-1, keepdims=True)) / deviation * w["scale"] + w["shift"]
    gated, wide = normal @ w["gate"], normal @ w["up"]
    product = gated / (1 + np.exp(-gated)) * wide
    narrow = product @ w["down"]
    out = h + narrow
    logits = out[-1] @ w["head"] + w["bias"]

    share = lambda relevance, z: relevance / z  # noqa: E731  (no stabiliser: numbers of this network are not near 0)
    linear = lambda inputs, weight, z, relevance: inputs * (share(relevance, z) @ weight.T)  # noqa: E731
    start = np.zeros(CLASSES)
    start[target] = logits[target]
    r_out = np.zeros_like(out)
    r_out[-1] = linear(out[-1], w["head"], logits, start)
    r_h, r_narrow = h * r_out / out, narrow * r_out / out
    r_product = linear(product, w["down"], narrow, r_narrow)
    r_normal = linear(normal, w["gate"], gated, r_product / 2) + linear(normal, w["up"], wide, r_product / 2)
    scaled = share(r_normal, normal) / deviation * w["scale"]
    r_h = r_h + h * (scaled - scaled.mean(-1, keepdims=True))
    r_x, r_attended = x * r_h / h, attended * r_h / h
    r_mixed = linear(joined, w["o"], attended, r_attended).reshape(LENGTH, HEADS, size).transpose(1, 0, 2)
    per_output = r_mixed / mixed / 2
    r_attention = attention * (per_output @ v.transpose(0, 2, 1))
    r_v = v * (attention.transpose(0, 2, 1) @ per_output)
    r_masked = masked * (r_attention - attention * r_attention.sum(-1, keepdims=True))
    r_masked = np.where(attention == 0, 0, r_masked)
    # The mask is a constant addend: it absorbs, where it is not 0.
    r_products = np.where(mask == 0, r_masked, 0)
    per_product = r_products / products / 2
    r_q, r_k = q * (per_product @ k), k * (per_product.transpose(0, 2, 1) @ q)
    for name, value, relevance in (("q", q, r_q), ("k", k, r_k), ("v", v, r_v)):
        flat = lambda values: values.transpose(1, 0, 2).reshape(LENGTH, WIDTH)  # noqa: E731
        r_x = r_x + linear(x, w[name], flat(value), flat(relevance))
    return (words * r_x / x).sum(-1), logits[target]


def test_rules_are_those_of_the_paper(network, weights, ids):
    found = assay.load(network).relevance(ids, method="attn-lrp")
    logits = assay.load(network)(ids)
    for record, target in enumerate(logits.argmax(1)):
        wanted, score = relevance_by_hand(weights, ids[record], target)
        np.testing.assert_allclose(logits[record, target], score, rtol=1e-4)
        np.testing.assert_allclose(found[record], wanted, rtol=5e-3, atol=5e-3 * np.abs(wanted).max())


def test_attention_weights_are_constants_to_other_methods(network, ids):
    through = assay.load(network).relevance(ids, method="attn-lrp")
    constant = assay.load(network).relevance(ids, method="epsilon")
    assert np.abs(through - constant).max() > 1e-2 * np.abs(constant).max()


def test_rules_are_those_of_the_authors(network, weights, ids):
    torch = need("torch")
    functional = pytest.importorskip("lxt.explicit.functional", reason="SKIPPED: the package lxt is not there")
    rules = pytest.importorskip("lxt.explicit.rules")
    w = {name: torch.tensor(values) for name, values in weights.items()}
    tokens = torch.tensor(ids)
    words = w["word"][tokens].requires_grad_()
    x = functional.add2(words, w["place"].expand_as(words))
    linear = lambda values, name: functional.linear_epsilon(values, w[name].T)  # noqa: E731
    heads = lambda values: values.reshape(len(ids), LENGTH, HEADS, -1).transpose(1, 2)  # noqa: E731
    q, k, v = (heads(linear(x, name)) for name in "qkv")
    products = functional.matmul(q, k.transpose(2, 3)) * (WIDTH // HEADS) ** -0.5
    # A constant factor gets nothing by the rule for products, as its gradient is not wanted; autograd would scale.
    products.register_hook(lambda relevance: relevance * (WIDTH // HEADS) ** 0.5)
    mask = torch.triu(torch.full((LENGTH, LENGTH), -1e9), 1)
    attention = functional.softmax(functional.add2(products, mask.expand_as(products)), -1)
    mixed = functional.matmul(attention, v).transpose(1, 2).reshape(len(ids), LENGTH, WIDTH)
    h = functional.add2(x, linear(mixed, "o"))
    normal = functional.layer_norm(h, w["scale"], w["shift"], 1e-5)
    gated = linear(normal, "gate")
    silu = rules.IdentityRule(torch.nn.SiLU())(gated)
    product = functional.mul2(silu, linear(normal, "up"))
    out = functional.add2(h, linear(product, "down"))
    logits = functional.linear_epsilon(out[:, -1], w["head"].T, w["bias"])
    best = logits.max(1).values
    best.backward(best)
    wanted = words.grad.sum(-1).numpy()
    found = assay.load(network).relevance(ids, method="attn-lrp")
    np.testing.assert_allclose(found, wanted, rtol=1e-2, atol=1e-2 * np.abs(wanted).max())


def test_heat_maps_show_words(network, ids, tmp_path):
    words = ["[PAD]", "gr", "##eat", "bad", "film", "a", "is", "very", "the", "plot", "<o>", "so"]
    parts = {"version": "1.0", "added_tokens": [], "pre_tokenizer": {"type": "BertPreTokenizer"}, "decoder": {"type": "WordPiece", "prefix": "##", "cleanup": False},
             "model": {"type": "WordPiece", "unk_token": "[PAD]", "continuing_subword_prefix": "##", "max_input_chars_per_word": 100,
                       "vocab": {word: i for i, word in enumerate(words)}}}
    (tmp_path / "tokenizer.json").write_text(json.dumps(parts))
    (tmp_path / "t.txt").write_text("a great film is\tx\nthe plot is very bad\ty\n")
    spec = f"{tmp_path / 't.txt'},tokenizer={tmp_path / 'tokenizer.json'}"
    found = assay.importance(network, spec, method="attn-lrp", heatmaps=2, out=str(tmp_path / "maps"))
    data = assay.data(spec)
    relevance = assay.load(network).relevance(data, method="attn-lrp")
    records = {row["record"]: row for row in found.table("texts")}
    shown = [(row["record"], row["word"], row["relevance"]) for row in found.table("words")]
    assert [word for record, word, _ in shown if record == "0"] == ["a", "great", "film", "is"]
    by_word = dict((word, value) for record, word, value in shown if record == "0")
    assert by_word["great"] == pytest.approx(relevance[0, 1:3].sum(), rel=1e-3)
    assert records["0"]["arriving"] == pytest.approx(relevance[0].sum(), rel=1e-3)
    assert records["1"]["text"].split()[0].rstrip("▁▂▃▄▅▆▇█").rstrip("-") == "the"
    picture = (tmp_path / "maps" / "relevance-0.svg").read_text()
    assert picture.startswith("<svg ") and ">great<" in picture
