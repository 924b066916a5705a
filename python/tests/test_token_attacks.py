"""HotFlip against a plain writing in PyTorch, and attacks on tokens of texts from the program's side."""

import json

import numpy as np
import pytest

import assay

WORDS = ["[PAD]", "good", "bad", "film", "a", "is", "very", "the", "plot", "acting", "dull", "fine"]
TEXTS = ["a good film", "the plot is very bad", "acting is fine", "very dull film is the plot", "the film is good"]
WIDTH, CLASSES = 5, 2


def need(name):
    return pytest.importorskip(name, reason=f"SKIPPED: the package {name} is not there")


@pytest.fixture(params=["plain", "reshaped"])
def network(tmp_path, request):
    return write_network(tmp_path, request.param == "reshaped")


def write_network(folder, reshaped=False):
    """tanh of rows of tokens, the mean over those of the mask, two classes. Folder and weights. Exporters may reshape the tokens first
    (GPT-2 of `transformers`)."""
    onnx = need("onnx")
    from onnx import TensorProto, helper, numpy_helper

    rng = np.random.default_rng(2)
    weights = {
        name: rng.normal(size=size).astype(np.float32)
        for name, size in {"rows": (len(WORDS), WIDTH), "inner": (WIDTH, 7), "outer": (7, CLASSES)}.items()
    }
    node, value = helper.make_node, helper.make_tensor_value_info
    numbers = [numpy_helper.from_array(np.array(v, np.int64), n) for n, v in (("last", [2]), ("tokens", [1]), ("shape", [0, -1]))]
    nodes = [
        node("Reshape" if reshaped else "Identity", ["input_ids", "shape"][: 2 if reshaped else 1], ["ids"]),
        node("Gather", ["rows", "ids"], ["found"]),
        node("MatMul", ["found", "inner"], ["sums"]),
        node("Tanh", ["sums"], ["hidden"]),
        node("Cast", ["attention_mask"], ["mask"], to=TensorProto.FLOAT),
        node("Unsqueeze", ["mask", "last"], ["by_token"]),
        node("Mul", ["hidden", "by_token"], ["real"]),
        node("ReduceSum", ["real", "tokens"], ["sum"], keepdims=0),
        node("MatMul", ["sum", "outer"], ["logits"]),
    ]
    graph = helper.make_graph(
        nodes, "bag", [value(name, TensorProto.INT64, ["n", "t"]) for name in ("input_ids", "attention_mask")],
        [value("logits", TensorProto.FLOAT, ["n", CLASSES])],
        [*(numpy_helper.from_array(v, n) for n, v in weights.items()), *numbers],
    )
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), folder / "model.onnx")
    flags = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}
    parts = {"version": "1.0", "added_tokens": [{"id": 0, "content": "[PAD]", **flags}], "pre_tokenizer": {"type": "Whitespace"},
             "model": {"type": "WordLevel", "unk_token": "[PAD]", "vocab": {word: i for i, word in enumerate(WORDS)}}}
    (folder / "tokenizer.json").write_text(json.dumps(parts))
    rows = [[WORDS.index(word) for word in text.split()] for text in TEXTS]
    length = max(map(len, rows))
    ids = np.array([row + [0] * (length - len(row)) for row in rows])
    labels = assay.load(folder)({"input_ids": ids, "attention_mask": (ids > 0).astype(np.int64)}).argmax(1)
    (folder / "t.txt").write_text("".join(f"{text}\t{label}\n" for text, label in zip(TEXTS, labels)))
    return folder, weights, ids, labels


def hotflip(torch, weights, ids, label, budget):
    """The text of the paper, with the table of all words but the padding to choose from."""
    w = {name: torch.tensor(values) for name, values in weights.items()}
    tokens, mask = torch.tensor(ids), torch.tensor(ids > 0).float()
    changed = set()
    while len(changed) < budget:
        rows = w["rows"][tokens].requires_grad_()
        logits = ((torch.tanh(rows @ w["inner"]) * mask[:, None]).sum(0)) @ w["outer"]
        if int(logits.argmax()) != label:
            break
        torch.nn.functional.cross_entropy(logits[None], torch.tensor([int(label)])).backward()
        gain = rows.grad @ w["rows"].T - (rows.grad * rows.detach()).sum(1, keepdim=True)
        gain[:, 0] = -1e9
        gain[mask == 0] = -1e9
        for position in changed:
            gain[position] = -1e9
        if float(gain.max()) <= 0:
            break
        position, token = divmod(int(gain.argmax()), len(WORDS))
        tokens[position] = token
        changed.add(position)
    return tokens.numpy()


def test_hotflip_is_that_of_the_paper(network):
    torch = need("torch")
    folder, weights, ids, labels = network
    found = assay.attack(folder, f"{folder / 't.txt'},tokenizer={folder}", attack="hotflip[changes=3]", out=str(folder / "out"))
    with np.load(folder / "out" / "hotflip.npz") as stored:
        for row, original in enumerate(stored["original"]):
            np.testing.assert_array_equal(stored["input_ids"][row], hotflip(torch, weights, ids[original], labels[original], 3))
        assert stored["success"].any()
        texts = found.table("attacked_texts")
        first = stored["input_ids"][list(stored["success"]).index(1)]
    assert texts[0]["after"] == " ".join(WORDS[token] for token in first if token)


@pytest.mark.parametrize("attack", ["gcg", "embedding-pgd"])
def test_attacks_keep_protected_words_and_stay_texts(network, attack):
    folder, _, ids, _ = network
    spec = f"{folder / 't.txt'},tokenizer={folder}"
    assay.attack(folder, spec, attack=f"{attack}[changes=4,protect=film+plot]", out=str(folder / "out"))
    with np.load(folder / "out" / f"{attack}.npz") as stored:
        assert stored["success"].any()
        for row, original in enumerate(stored["original"]):
            before, after = ids[original], stored["input_ids"][row]
            kept = np.isin(before, [WORDS.index("film"), WORDS.index("plot"), 0])
            np.testing.assert_array_equal(before[kept], after[kept])
            assert (after[before > 0] > 0).all() and (before != after).sum() <= 4


def test_what_attacks_on_tokens_cannot_do_is_said(network):
    folder, *_ = network
    spec = f"{folder / 't.txt'},tokenizer={folder}"
    with pytest.raises(assay.UnsupportedError, match="hotflip, gcg and embedding-pgd for tokens"):
        assay.attack(folder, spec, attack="fgsm", out=str(folder / "out"))
    with pytest.raises(assay.UsageError, match="have no levels"):
        assay.attack(folder, spec, attack="hotflip", levels=True, out=str(folder / "out"))


def test_all_texts_that_are_asked_for_are_shown(network):
    folder, _, ids, _ = network
    spec = f"{folder / 't.txt'},tokenizer={folder}"
    rows = {count: assay.attack(folder, spec, attack="hotflip[changes=3]", out=str(folder / f"out{count}"), texts=count).table("attacked_texts").rows
            for count in (1, 1000)}  # fmt: skip
    with np.load(folder / "out1000" / "hotflip.npz") as stored:
        assert len(rows[1000]) == stored["success"].sum() > len(rows[1]) == 1
    with pytest.raises(assay.UsageError, match="pictures has no effect on texts"):
        assay.attack(folder, spec, attack="hotflip", out=str(folder / "out"), pictures=1)
