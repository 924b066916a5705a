"""Tokenizers against the library `tokenizers`, whose files they are, and texts as records of a network."""

import csv
import json

import numpy as np
import pytest

import assay


@pytest.fixture(scope="module")
def kinds():
    pytest.importorskip("tokenizers", reason="SKIPPED: the package tokenizers is not there")
    import tokenizer_kinds

    return tokenizer_kinds


def names():
    try:
        import tokenizer_kinds
    except ImportError:
        return ["all kinds"]
    return list(tokenizer_kinds.KINDS)


@pytest.mark.parametrize("name", names())
def test_tokens_are_those_of_the_library(kinds, name, tmp_path):
    theirs = kinds.KINDS[name]()
    file = str(tmp_path / "tokenizer.json")
    theirs.save(file)
    ours = assay.Tokenizer(file)
    assert len(ours) == theirs.get_vocab_size()
    texts = kinds.texts(1500, 7)
    for text, second in zip(texts, [None] * 1200 + texts[:300]):
        made, wanted = ours.encode(text, second), theirs.encode(text, second)
        assert made.ids == wanted.ids, repr(text)
        assert made.tokens == wanted.tokens, repr(text)
        assert made.offsets == wanted.offsets, repr(text)
        assert made.types == wanted.type_ids, repr(text)
        assert made.attention == wanted.attention_mask, repr(text)
        assert made.special == wanted.special_tokens_mask, repr(text)
        assert made.words == wanted.word_ids, repr(text)
        assert ours.decode(made.ids) == theirs.decode(made.ids), repr(text)
        assert ours.decode(made.ids, special=True) == theirs.decode(made.ids, skip_special_tokens=False), repr(text)


WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "good", "bad", "film", "a", "is", "##s", "very"]
TEXTS = ["a good film", "bad films", "is a very very good film", "", "unheard"]


@pytest.fixture
def tokenizer_file(tmp_path):
    """WordPiece as BERT has it, written by hand."""
    flags = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}
    special = [{"id": i, "content": WORDS[i], **flags} for i in range(4)]
    parts = {
        "version": "1.0",
        "added_tokens": special,
        "normalizer": {"type": "BertNormalizer", "clean_text": True, "handle_chinese_chars": True, "strip_accents": None, "lowercase": True},
        "pre_tokenizer": {"type": "BertPreTokenizer"},
        "post_processor": {"type": "BertProcessing", "sep": ["[SEP]", 3], "cls": ["[CLS]", 2]},
        "model": {
            "type": "WordPiece",
            "unk_token": "[UNK]",
            "continuing_subword_prefix": "##",
            "max_input_chars_per_word": 100,
            "vocab": {word: i for i, word in enumerate(WORDS)},
        },
    }
    path = tmp_path / "tokenizer.json"
    path.write_text(json.dumps(parts))
    return path


def bert(onnx, inputs=("input_ids", "attention_mask", "token_type_ids"), words=len(WORDS), positions=16):
    """A network of BERT's shape: embeddings of words, positions and types, one head of attention with the mask, the
    first token decides. And the same in NumPy."""
    make, rng = onnx.helper, np.random.default_rng(3)
    width = 8
    weights = {
        name: rng.normal(size=shape).astype(np.float32)
        for name, shape in {
            "word": (words, width), "place": (positions, width), "type": (2, width), "q": (width, width), "k": (width, width),
            "v": (width, width), "out": (width, 2),
        }.items()
    }
    tensors = [onnx.numpy_helper.from_array(values, name) for name, values in weights.items()]
    tensors += [onnx.numpy_helper.from_array(np.array(v, d), n) for n, v, d in [
        ("one", 1.0, np.float32), ("low", -10000.0, np.float32), ("first", 0, np.int64), ("axis1", [1], np.int64), ("zero", 0, np.int64),
        ("step", 1, np.int64), ("length_at", 1, np.int64)]]
    node = make.make_node
    nodes = [
        node("Gather", ["word", "input_ids"], ["words"]),
        node("Shape", ["input_ids"], ["shape"]),
        node("Gather", ["shape", "length_at"], ["length"]),
        node("Range", ["zero", "length", "step"], ["places"]),
        node("Gather", ["place", "places"], ["placed"]),
        node("Add", ["words", "placed"], ["h0"]),
    ]
    hidden = "h0"
    if "token_type_ids" in inputs:
        nodes += [node("Gather", ["type", "token_type_ids"], ["types"]), node("Add", ["h0", "types"], ["h1"])]
        hidden = "h1"
    nodes += [node("MatMul", [hidden, w], [w.upper()]) for w in "qkv"]
    nodes += [
        node("Transpose", ["K"], ["Kt"], perm=[0, 2, 1]),
        node("MatMul", ["Q", "Kt"], ["scores"]),
    ]
    scores = "scores"
    if "attention_mask" in inputs:
        nodes += [
            node("Cast", ["attention_mask"], ["mask"], to=onnx.TensorProto.FLOAT),
            node("Sub", ["one", "mask"], ["off"]),
            node("Mul", ["off", "low"], ["bias"]),
            node("Unsqueeze", ["bias", "axis1"], ["wide"]),
            node("Add", ["scores", "wide"], ["masked"]),
        ]
        scores = "masked"
    nodes += [
        node("Softmax", [scores], ["attention"], axis=-1),
        node("MatMul", ["attention", "V"], ["mixed"]),
        node("Gather", ["mixed", "first"], ["cls"], axis=1),
        node("MatMul", ["cls", "out"], ["logits"]),
    ]
    kinds = onnx.TensorProto
    graph = make.make_graph(
        nodes, "bert", [make.make_tensor_value_info(name, kinds.INT64, ["n", "t"]) for name in inputs],
        [make.make_tensor_value_info("logits", kinds.FLOAT, ["n", 2])], tensors,
    )
    model = make.make_model(graph, opset_imports=[make.make_opsetid("", 17)], ir_version=8).SerializeToString()

    def logits(ids, mask, types):
        h = weights["word"][ids] + weights["place"][: ids.shape[1]]
        if "token_type_ids" in inputs:
            h = h + weights["type"][types]
        scores = h @ weights["q"] @ (h @ weights["k"]).transpose(0, 2, 1)
        if "attention_mask" in inputs:
            scores = scores + ((1 - mask) * -10000.0)[:, None]
        scores = np.exp(scores - scores.max(-1, keepdims=True))
        return ((scores / scores.sum(-1, keepdims=True)) @ (h @ weights["v"]))[:, 0] @ weights["out"]

    return model, logits


@pytest.fixture
def onnx():
    package = pytest.importorskip("onnx", reason="SKIPPED: the package onnx is not there")
    import onnx.numpy_helper  # noqa: F401

    return package


WANTED = {
    "a good film": [2, 7, 4, 6, 3], "bad films": [2, 5, 6, 9, 3], "is a very very good film": [2, 8, 7, 10, 10, 4, 6, 3],
    "": [2, 3], "unheard": [2, 1, 3],
}


def wanted_ids(length):
    return np.array([WANTED[text][:length] + [0] * (length - len(WANTED[text])) for text in TEXTS])


def texts_csv(tmp_path, labels):
    path = tmp_path / "texts.csv"
    with open(path, "w", newline="") as out:
        rows = csv.writer(out)
        rows.writerow(["review", "stars"])
        rows.writerows(zip(TEXTS, labels))
    return path


@pytest.mark.parametrize("inputs", [["input_ids"], ["input_ids", "attention_mask"], ["attention_mask", "input_ids", "token_type_ids"]])
def test_texts_of_a_table_are_evaluated(onnx, tmp_path, tokenizer_file, inputs):
    model, logits = bert(onnx, inputs)
    ids = wanted_ids(8)
    answers = logits(ids, (ids > 0).astype(np.int64), np.zeros_like(ids)).argmax(1)
    labels = answers.copy()
    labels[1] = 1 - labels[1]
    spec = f"{texts_csv(tmp_path, labels)},text=review,label=stars,tokenizer={tokenizer_file}"
    records = assay.data(spec)
    batch = records.read(range(5))
    np.testing.assert_array_equal(batch["input_ids"], ids)
    np.testing.assert_array_equal(batch["attention_mask"], ids > 0)
    np.testing.assert_array_equal(batch["token_type_ids"], 0 * ids)
    np.testing.assert_array_equal(batch["position_ids"][0], [0, 1, 2, 3, 4, 5, 5, 5])
    np.testing.assert_array_equal(records.labels, labels)
    net = assay.load(model)
    assert assay.evaluate(net, spec).accuracy == pytest.approx(0.8)
    np.testing.assert_allclose(net(records), logits(ids, (ids > 0).astype(np.int64), 0 * ids), rtol=1e-4, atol=1e-4)


def test_texts_from_lines_and_json_lines(tmp_path, tokenizer_file):
    lines, objects = tmp_path / "t.txt", tmp_path / "t.jsonl"
    lines.write_text("".join(f"{text}\t{'good' if 'good' in text else 'bad'}\n" for text in TEXTS))
    objects.write_text("".join(json.dumps({"said": text, "n": i % 2}) + "\n" for i, text in enumerate(TEXTS)))
    first = assay.data(f"{lines},tokenizer={tokenizer_file},length=6")
    assert first.class_names == ["bad", "good"]
    assert first.labels.tolist() == [1, 0, 1, 0, 0]
    cut = wanted_ids(6)
    cut[2] = [2, 8, 7, 10, 10, 3]  # the last special token stays
    np.testing.assert_array_equal(first.read(range(5))["input_ids"], cut)
    second = assay.data(f"{objects},text=said,label=n,tokenizer={tokenizer_file.parent}")
    np.testing.assert_array_equal(second.read(range(5))["input_ids"], wanted_ids(8))
    pairs = assay.data(f"{objects},text=said+said,label=n,tokenizer={tokenizer_file}")
    assert pairs.read([3])["token_type_ids"][0, :4].tolist() == [0, 0, 1, 0]


def test_lists_of_texts(tokenizer_file):
    ids = wanted_ids(8)
    for tokenizer in (str(tokenizer_file), tokenizer_file, assay.Tokenizer(tokenizer_file), lambda texts: [WANTED[t] + [0] * (8 - len(WANTED[t])) for t in texts]):
        records = assay.data(TEXTS, [0, 1, 0, 1, 1], tokenizer=tokenizer)
        batch = records.read(range(5))
        np.testing.assert_array_equal(batch["input_ids"] if "input_ids" in batch else batch["x"], ids)
    with pytest.raises(assay.UsageError, match="a list of texts"):
        assay.data([1, 2], tokenizer=str(tokenizer_file))
    with pytest.raises(assay.UsageError, match="same length"):
        assay.data(TEXTS, tokenizer=lambda texts: [[1], [1, 2], [1], [1], [1]])


def test_a_tokenizer_of_transformers(tokenizer_file):
    transformers = pytest.importorskip("transformers", reason="SKIPPED: the package transformers is not there")
    theirs = transformers.PreTrainedTokenizerFast(tokenizer_file=str(tokenizer_file), pad_token="[PAD]")
    batch = assay.data(TEXTS, tokenizer=theirs).read(range(5))
    np.testing.assert_array_equal(batch["input_ids"], wanted_ids(8))
    np.testing.assert_array_equal(batch["attention_mask"], wanted_ids(8) > 0)


def test_what_does_not_fit_is_said(onnx, tmp_path, tokenizer_file):
    spec = f"{texts_csv(tmp_path, [0] * 5)},text=review,label=stars,tokenizer={tokenizer_file}"
    with pytest.raises(assay.AssayError, match="knows tokens 0 to 5"):
        assay.evaluate(assay.load(bert(onnx, words=6)[0]), spec)
    with pytest.raises(assay.AssayError, match="place"):
        assay.evaluate(assay.load(bert(onnx, positions=5)[0]), spec)
    (tmp_path / "bytes.txt").write_bytes(b"good\n\xff\xfe\n")
    with pytest.raises(assay.DataError, match="bytes.txt: record 1: .*UTF-8"):
        assay.data(f"{tmp_path / 'bytes.txt'},tokenizer={tokenizer_file}")
    (tmp_path / "empty").mkdir()
    with pytest.raises(assay.FileError, match="no tokenizer.json"):
        assay.Tokenizer(tmp_path / "empty")
    with pytest.raises(assay.UsageError, match="text=COLUMN"):
        assay.data(f"{tmp_path / 'texts.csv'},label=stars,tokenizer={tokenizer_file}")
    with pytest.raises(assay.UsageError, match="tokenizer="):
        assay.data(f"{tmp_path / 'texts.csv'},text=review")
