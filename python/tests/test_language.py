"""Models of language: folders as exporters write them, causal models as classifiers, against `transformers` and NumPy."""

import contextlib
import csv
import json
import os
import shutil
import warnings

import numpy as np
import pytest

import assay

WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "good", "bad", "film", "a", "is", "very", "the", "plot", "acting", "yes", "no"]
TEXTS = ["a good film", "bad film", "the plot is very very good", "acting is bad", "the film is a film", "very bad acting"]


def need(name):
    return pytest.importorskip(name, reason=f"SKIPPED: the package {name} is not there")


def write_tokenizer(folder):
    """A word is a token."""
    flags = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}
    parts = {
        "version": "1.0",
        "added_tokens": [{"id": i, "content": WORDS[i], **flags} for i in range(5)],
        "pre_tokenizer": {"type": "Whitespace"},
        "model": {"type": "WordLevel", "unk_token": "[UNK]", "vocab": {word: i for i, word in enumerate(WORDS)}},
    }
    (folder / "tokenizer.json").write_text(json.dumps(parts))


def write_table(path, labels, texts=TEXTS):
    with open(path, "w", newline="") as out:
        rows = csv.writer(out)
        rows.writerow(["text", "label"])
        rows.writerows(zip(texts, labels))
    return path


def tokens_of(texts=TEXTS):
    """Numbers and mask, filled up after the text."""
    rows = [[WORDS.index(word) for word in text.split()] for text in texts]
    length = max(map(len, rows))
    ids = np.array([row + [0] * (length - len(row)) for row in rows])
    mask = np.array([[1] * len(row) + [0] * (length - len(row)) for row in rows])
    return ids, mask


def write_bigrams(folder, caches=False):
    """A causal model that scores the next token by the token alone, by two layers; gives the table of scores. With caches it reads what
    was computed before, as exporters of decoders write it, and adds how many tokens that were."""
    onnx = need("onnx")
    from onnx import TensorProto, helper, numpy_helper

    rng = np.random.default_rng(5)
    rows, head = (rng.normal(size=size).astype(np.float32) for size in ((len(WORDS), 6), (6, len(WORDS))))
    value, node = helper.make_tensor_value_info, helper.make_node
    inputs = [value(name, TensorProto.INT64, ["batch", "tokens"]) for name in ("input_ids", "attention_mask")]
    outputs = [value("logits", TensorProto.FLOAT, ["batch", "tokens", len(WORDS)])]
    weights = [numpy_helper.from_array(values, name) for name, values in (("rows", rows), ("head", head))]
    nodes = [
        node("Gather", ["rows", "input_ids"], ["found"]),
        node("Relu", ["found"], ["hidden"]),
        node("MatMul", ["hidden", "head"], ["scores" if caches else "logits"]),
    ]
    if caches:
        inputs.append(value("past_key_values.0.key", TensorProto.FLOAT, ["batch", 2, "past", len(WORDS) // 2]))
        inputs.append(value("use_cache_branch", TensorProto.BOOL, [1]))
        outputs.append(value("present.0.key", TensorProto.FLOAT, ["batch", 2, "all", len(WORDS) // 2]))
        weights += [numpy_helper.from_array(np.array(v, np.int64), n) for n, v in [("heads", [0, 0, 2, -1]), ("place", [2])]]
        empty = helper.make_graph([node("Identity", ["scores"], ["other"])], "then", [], [value("other", TensorProto.FLOAT, None)])
        plain = helper.make_graph([node("Identity", ["scores"], ["same"])], "else", [], [value("same", TensorProto.FLOAT, None)])
        nodes += [
            node("If", ["use_cache_branch"], ["chosen"], then_branch=empty, else_branch=plain),
            node("Reshape", ["chosen", "heads"], ["by_head"]),
            node("Transpose", ["by_head"], ["key"], perm=[0, 2, 1, 3]),
            node("Concat", ["past_key_values.0.key", "key"], ["present.0.key"], axis=2),
            node("Shape", ["past_key_values.0.key"], ["sizes"]),
            node("Gather", ["sizes", "place"], ["before"]),
            node("Cast", ["before"], ["added"], to=TensorProto.FLOAT),
            node("Add", ["chosen", "added"], ["logits"]),
        ]
    graph = helper.make_graph(nodes, "bigrams", inputs, outputs, weights)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.save(model, folder / "model.onnx")
    return np.maximum(rows, 0) @ head


@pytest.fixture(params=[False, True], ids=["plain", "caches"])
def bigrams(tmp_path, request):
    folder = tmp_path / "bigrams"
    folder.mkdir()
    table = write_bigrams(folder, request.param)
    write_tokenizer(folder)
    return folder, table


def answer_scores(table, answers, place):
    ids, mask = tokens_of()
    last = {"last": mask.sum(1) - 1, "first": 0 * mask.sum(1)}[place]
    return table[ids[np.arange(len(ids)), last]][:, [WORDS.index(answer) for answer in answers]]


@pytest.mark.parametrize("place", ["last", "first"])
def test_a_causal_model_is_a_classifier(bigrams, tmp_path, place):
    folder, table = bigrams
    scores = answer_scores(table, ["yes", "no"], place)
    labels = [["yes", "no"][k] for k in scores.argmax(1)]
    labels[2] = {"yes": "no", "no": "yes"}[labels[2]]
    spec = f"{write_table(tmp_path / 't.csv', labels)},text=text,label=label,tokenizer={folder}"
    decision = f"position={place},answers=yes+no"
    assert assay.evaluate(folder, spec, decision=decision).accuracy == pytest.approx(5 / 6)
    network = assay.load(folder, decision=decision)
    np.testing.assert_allclose(network(assay.data(spec)), scores, rtol=1e-5)
    contrast = assay.load(folder, decision=f"position={place},contrast=yes-no")
    np.testing.assert_allclose(contrast(assay.data(spec))[:, 0], scores[:, 0] - scores[:, 1], rtol=1e-5, atol=1e-6)
    assert assay.evaluate(folder, spec, decision=f"position={place},contrast=yes-no").accuracy == pytest.approx(5 / 6)


def test_every_position_and_the_next_token(bigrams, tmp_path):
    folder, table = bigrams
    path = tmp_path / "t.txt"
    path.write_text("\n".join(TEXTS))
    found = assay.evaluate(folder, f"{path},tokenizer={folder},next=1")
    ids, mask = tokens_of()
    counted = (mask[:, :-1] * mask[:, 1:]).astype(bool)
    logits = table[ids[:, :-1]]
    right = (logits.argmax(-1) == ids[:, 1:])[counted]
    surprise = (np.log(np.exp(logits).sum(-1)) - np.take_along_axis(logits, ids[:, 1:, None], -1)[..., 0])[counted]
    figures = {row["figure"]: row["value"] for row in found.table("figures")}
    assert figures["token-accuracy"] == pytest.approx(right.mean())
    assert figures["perplexity"] == pytest.approx(np.exp(surprise.mean()), rel=1e-5)


def test_decisions_hold_for_every_command(bigrams, tmp_path):
    folder, table = bigrams
    labels = [["yes", "no"][k] for k in answer_scores(table, ["yes", "no"], "last").argmax(1)]
    spec = f"{write_table(tmp_path / 't.csv', labels)},text=text,label=label,tokenizer={folder}"
    decision = "position=last,answers=yes+no"
    assert assay.mutate(folder, test=spec, decision=decision, operator="gf", count=4).table("mutants")
    assert assay.cover(folder, train=spec, test=spec, decision=decision, criterion="nc")
    assert assay.importance(folder, spec, decision=decision, method="gradient-x-input")


def test_what_does_not_fit_is_said(bigrams, tmp_path):
    folder, _ = bigrams
    spec = f"{write_table(tmp_path / 't.csv', ['yes', 'no'] * 3)},text=text,label=label,tokenizer={folder}"
    with pytest.raises(assay.UsageError, match="answer 'very good' is 2 tokens"):
        assay.evaluate(folder, spec, decision="answers=very good+no")
    (folder / "config.json").write_text(json.dumps({"max_position_embeddings": 4}))
    with pytest.raises(assay.MismatchError, match="records are 6 tokens long, and the network has 4 positions .*length=4"):
        assay.evaluate(folder, spec, decision="answers=yes+no")
    os.remove(folder / "tokenizer.json")
    with pytest.raises(assay.UsageError, match="no tokenizer.json is next to the network"):
        assay.load(folder, decision="answers=yes+no")
    with pytest.raises(assay.FileError, match="the folder holds no tokenizer.json"):
        assay.data(spec)


def foreign_words(folder, words):
    """A tokenizer of these words, in a folder of its own."""
    folder.mkdir()
    parts = {"version": "1.0", "added_tokens": [], "pre_tokenizer": {"type": "Whitespace"},
             "model": {"type": "WordLevel", "unk_token": "[UNK]", "vocab": {word: i for i, word in enumerate(words)}}}  # fmt: skip
    (folder / "tokenizer.json").write_text(json.dumps(parts))
    return folder


def test_a_tokenizer_whose_tokens_are_other_texts_is_refused(bigrams, tmp_path):
    """Though all its numbers are known to the network."""
    folder, _ = bigrams
    table = write_table(tmp_path / "t.csv", ["yes", "no"] * 3)
    ask = lambda words, name: asked(folder, f"{table},text=text,label=label,tokenizer={foreign_words(tmp_path / name, words)}")  # noqa: E731
    with pytest.raises(assay.MismatchError, match="record '0' holds token 7, which is 'a' in .*other.* and 'film' in .*bigrams.* beside network"):
        ask([*WORDS[:7], "a", "film", *WORDS[9:]], "other")
    assert not [one for one in ask(WORDS, "same") if "tokenizer" in str(one.message)]
    loaded = assay.load(folder)
    spec = f"{table},text=text,label=label,tokenizer={tmp_path / 'other'}"
    with pytest.raises(assay.MismatchError, match="record '0' holds token 7, which is 'a' in .*other.* and 'film' in .*bigrams"):
        assay.evaluate(loaded, spec, decision="position=last,answers=yes+no")
    for ask_model in (loaded.predict, lambda x: loaded.activations(x, "scores"), lambda x: loaded.gradients(x, "scores", target=0)):
        with pytest.raises(assay.MismatchError, match="record '0' holds token 7"):
            ask_model(assay.data(spec))
    # Words that no text has may be others.
    assert not [one for one in ask([*WORDS[:14], "aye", "nay"], "unused") if "tokenizer" in str(one.message)]


def test_what_speaks_against_a_tokenizer_is_a_notice(bigrams, tmp_path):
    """Where the network has none of its own: sizes, and the special tokens of config.json."""
    folder, _ = bigrams
    os.remove(folder / "tokenizer.json")
    (folder / "config.json").write_text(json.dumps({"pad_token_id": 0, "bos_token_id": 5, "eos_token_id": 3}))
    table = write_table(tmp_path / "t.csv", ["yes", "no"] * 3)

    def told(words, name):
        spec = f"{table},text=text,label=label,tokenizer={foreign_words(tmp_path / name, words)}"
        with warnings.catch_warnings(record=True) as found:
            warnings.simplefilter("always")
            assay.evaluate(folder, spec, decision="position=last,answers=#14+#15")
        return " ".join(str(one.message) for one in found if "may be the tokenizer of another network" in str(one.message))

    said = told(WORDS[:14], "small")
    assert "it has numbers for 14 tokens, and the network knows 16" in said
    assert "token 5, which begins texts by" in said and "is 'good' there" in said
    assert "ends texts" not in said and "fills up" not in said  # [SEP] and [PAD]
    (folder / "config.json").unlink()
    assert "numbers for 14 tokens" in told(WORDS[:14], "small2")
    assert told(WORDS, "whole") == ""
    (folder / "tokenizer.json").write_text("{}")
    with pytest.warns(assay.AssayWarning, match="so tokens are not compared with it"), contextlib.suppress(assay.UnsupportedError):
        assay.evaluate(folder, f"{table},text=text,label=label,tokenizer={tmp_path / 'small'}")  # no decision: scores of every position


def test_remedies_are_said(bigrams, tmp_path):
    """Of data whose longest texts differ, of scores of every position without a decision, and of texts without tokens."""
    folder, _ = bigrams

    def spec(name, texts, more=""):
        return f"{write_table(tmp_path / name, ['yes', 'no'] * (len(texts) // 2), texts)},text=text,label=label,tokenizer={folder}{more}"

    decision = "position=last,answers=yes+no"
    with pytest.raises(assay.MismatchError, match="give all data the same length, as with the data option length=6"):
        assay.cover(folder, train=spec("long.csv", TEXTS), test=spec("short.csv", TEXTS[:2]), decision=decision, criterion="nc")
    assert assay.cover(
        folder, train=spec("long.csv", TEXTS, ",length=6"), test=spec("short.csv", TEXTS[:2], ",length=6"), decision=decision, criterion="nc"
    )
    with pytest.raises(assay.UnsupportedError, match="Of a network of language, take a decision such as position=last,answers=Yes.No"):
        assay.evaluate(folder, spec("long.csv", TEXTS))
    told = " ".join(str(one.message) for one in asked(folder, spec("empty.csv", ["a good film", "", "bad", ""])))
    assert "2 records have no token ('1', '3'): what fills up decides there; leave empty texts out" in told


def test_classes_are_those_of_config(tmp_path):
    write_tokenizer(tmp_path)
    (tmp_path / "config.json").write_text(json.dumps({"id2label": {"0": "POSITIVE", "1": "NEGATIVE", "2": "MIXED"}}))
    names = ["positive", "negative"] * 3
    data = assay.data(f"{write_table(tmp_path / 't.csv', names)},text=text,label=label,tokenizer={tmp_path}")
    assert data.class_names == ["POSITIVE", "NEGATIVE", "MIXED"]
    assert data.labels.tolist() == [0, 1] * 3
    numbered = assay.data(f"{write_table(tmp_path / 'n.csv', [1, 0] * 3)},text=text,label=label,tokenizer={tmp_path}")
    assert numbered.class_names == data.class_names and numbered.labels.tolist() == [1, 0] * 3
    with pytest.raises(assay.DataError, match="label 'neutral' is not a class of the network .POSITIVE, NEGATIVE, MIXED"):
        assay.data(f"{write_table(tmp_path / 'w.csv', ['neutral'] * 6)},text=text,label=label,tokenizer={tmp_path}")


SIZES = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 32, "max_position_embeddings": 24}
SMALL = {"vocab_size": len(WORDS), "pad_token_id": 0, "bos_token_id": 2, "eos_token_id": 3}
MODELS = {
    "bert": lambda t: t.BertForSequenceClassification(t.BertConfig(num_labels=3, **SIZES, **SMALL)),
    "distilbert": lambda t: t.DistilBertForSequenceClassification(
        t.DistilBertConfig(dim=16, n_layers=2, n_heads=4, hidden_dim=32, max_position_embeddings=24, num_labels=3, **SMALL)
    ),
    "roberta": lambda t: t.RobertaForMaskedLM(t.RobertaConfig(**SIZES, **SMALL)),
    "gpt2": lambda t: t.GPT2LMHeadModel(t.GPT2Config(n_embd=16, n_layer=2, n_head=4, n_positions=24, **SMALL)),
    "llama": lambda t: t.LlamaForCausalLM(t.LlamaConfig(num_key_value_heads=2, **SIZES, **SMALL)),
    "qwen2": lambda t: t.Qwen2ForCausalLM(t.Qwen2Config(num_key_value_heads=2, **SIZES, **SMALL)),
    "gemma": lambda t: t.GemmaForCausalLM(t.GemmaConfig(num_key_value_heads=1, head_dim=4, initializer_range=0.5, **SIZES, **SMALL)),
    "gemma2": lambda t: t.Gemma2ForCausalLM(t.Gemma2Config(num_key_value_heads=2, head_dim=4, sliding_window=4, **SIZES, **SMALL)),
    "qwen3": lambda t: t.Qwen3ForCausalLM(t.Qwen3Config(num_key_value_heads=2, head_dim=8, **SIZES, **SMALL)),
    "gemma3": lambda t: t.Gemma3ForCausalLM(
        t.Gemma3TextConfig(
            num_key_value_heads=2, head_dim=4, sliding_window=4, layer_types=["sliding_attention", "full_attention"], initializer_range=0.5,
            **SIZES, **SMALL,
        )
    ),
    "deberta": lambda t: t.DebertaV2ForSequenceClassification(
        t.DebertaV2Config(
            relative_attention=True, pos_att_type=["p2c", "c2p"], position_buckets=8, share_att_key=True, norm_rel_ebd="layer_norm",
            position_biased_input=False, type_vocab_size=0, initializer_range=0.5, num_labels=3, **SIZES, **SMALL,
        )
    ),
    "minilm": lambda t: t.BertModel(
        t.BertConfig(hidden_size=24, num_hidden_layers=3, num_attention_heads=6, intermediate_size=48, max_position_embeddings=24, **SMALL)
    ),
    "t5-encoder": lambda t: t.T5EncoderModel(
        t.T5Config(
            vocab_size=len(WORDS), d_model=16, d_kv=4, d_ff=32, num_layers=2, num_heads=4, relative_attention_num_buckets=8,
            relative_attention_max_distance=16, pad_token_id=0,
        )
    ),
}


@pytest.mark.parametrize("name", MODELS)
def test_models_of_transformers_are_read_as_they_are(name, tmp_path):
    transformers, torch, _ = need("transformers"), need("torch"), need("onnxscript")
    torch.manual_seed(4)
    model = MODELS[name](transformers).eval()
    ids, mask = tokens_of()
    with torch.no_grad():
        given = model(input_ids=torch.tensor(ids), attention_mask=torch.tensor(mask))
        wanted = (given.logits if "logits" in given else given.last_hidden_state).numpy()
    network = assay.load(model)
    inputs = {"input_ids": ids, "attention_mask": mask}
    found = network(inputs)
    real = mask.astype(bool) if wanted.ndim == 3 else slice(None)
    np.testing.assert_allclose(found[real], wanted[real], rtol=2e-4, atol=2e-5)
    if wanted.ndim < 3 or "logits" not in given:
        return
    # Written as a folder, it is the same network; each record is decided alone, wherever it is filled up.
    network.save(tmp_path / "model.onnx")
    write_tokenizer(tmp_path)
    decided = assay.load(tmp_path, decision="position=last,answers=yes+no")
    at_last = wanted[np.arange(len(ids)), mask.sum(1) - 1][:, [WORDS.index("yes"), WORDS.index("no")]]
    np.testing.assert_allclose(decided(inputs), at_last, rtol=2e-4, atol=2e-5)


def test_a_model_that_did_not_change_is_exported_once(monkeypatch):
    """Others are exported anew: by weights, configuration, plain values of modules, hooks."""
    transformers, torch, _ = need("transformers"), need("torch"), need("onnxscript")
    torch.manual_seed(4)
    model = MODELS["distilbert"](transformers).eval()
    ids, mask = tokens_of()
    inputs = {"input_ids": ids, "attention_mask": mask}
    with torch.no_grad():
        ask = lambda: model(torch.tensor(ids), torch.tensor(mask)).logits.numpy()  # noqa: E731
        exports, export = [], torch.onnx.export
        monkeypatch.setattr(torch.onnx, "export", lambda *given, **named: exports.append(1) or export(*given, **named))
        for _ in range(2):
            np.testing.assert_allclose(assay.load(model)(inputs), ask(), rtol=2e-4, atol=2e-5)
        assert len(exports) == 1
        model.classifier.bias += 1
        np.testing.assert_allclose(assay.load(model)(inputs), ask(), rtol=2e-4, atol=2e-5)
        model.distilbert.embeddings.LayerNorm.eps = 0.5
        np.testing.assert_allclose(assay.load(model)(inputs), ask(), rtol=2e-4, atol=2e-5)
        assert len(exports) == 3
        model.temperature = torch.tensor(1.0)
        assay.load(model)
        model.temperature = torch.tensor(5.0)
        assay.load(model)
        assert len(exports) == 5
        model.classifier.register_forward_hook(lambda module, given, found: 2 * found)
        for _ in range(2):
            np.testing.assert_allclose(assay.load(model)(inputs), ask(), rtol=2e-4, atol=2e-5)
        assert len(exports) == 7


def asked(folder, spec):
    """The notices of an evaluation."""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        assay.evaluate(folder, spec, decision="position=last,answers=yes+no")
    return told


def test_tokens_that_a_tokenizer_lacks_are_those_of_the_folder(bigrams, tmp_path):
    """What fills up is said by the tokenizer, or config.json, or generation_config.json, which results name."""
    folder, table = bigrams
    parts = json.loads((folder / "tokenizer.json").read_text())
    parts["model"]["vocab"] = {word if word != "[PAD]" else "<nothing>": i for word, i in parts["model"]["vocab"].items()}
    parts["added_tokens"] = parts["added_tokens"][1:]
    (folder / "tokenizer.json").write_text(json.dumps(parts))
    spec = f"{write_table(tmp_path / 't.csv', ['yes', 'no'] * 3)},text=text,label=label,tokenizer={folder}"
    read = lambda: assay.data(spec).read(range(len(TEXTS)))["input_ids"]  # noqa: E731
    ids, mask = tokens_of()
    with pytest.raises(assay.DataError, match="fill up"):
        read()
    told = lambda: [str(one.message) for one in asked(folder, spec) if "generation_config.json" in str(one.message)]  # noqa: E731
    (folder / "generation_config.json").write_text(json.dumps({"eos_token_id": [3, 4], "pad_token_id": None}))
    np.testing.assert_array_equal(read(), np.where(mask, ids, 3))
    assert "generation_config.json: token 3 ('[SEP]') ends texts" in told()[0]
    (folder / "generation_config.json").write_text(json.dumps({"eos_token_id": 3, "pad_token_id": 0}))
    np.testing.assert_array_equal(read(), ids)
    assert "token 0 ('<nothing>') fills up, token 3 ('[SEP]') ends texts, which config.json does not say" in told()[0]
    (folder / "config.json").write_text(json.dumps({"eos_token_id": 3, "pad_token_id": 1}))
    np.testing.assert_array_equal(read(), np.where(mask, ids, 1))
    assert not told()
    (folder / "config.json").write_text('{"time_step_limit": [0.0, Infinity, -Infinity, NaN], "name": "a \\" NaN", "pad_token_id": 1}')  # as Python writes it
    np.testing.assert_array_equal(assay.Tokenizer(folder).encode("yes", length=3).ids[1:], [1, 1])
    (folder / "config.json").unlink()
    (folder / "generation_config.json").write_text("[]")
    with pytest.raises(assay.DataError, match="generation_config.json: this is not a JSON object"):
        read()


def test_results_say_what_the_files_of_the_folder_do(bigrams, tmp_path):
    """As provenance, with the file that names a token; files may hold what Python writes for numbers without bound."""
    folder, _ = bigrams
    spec = f"{write_table(tmp_path / 't.csv', ['yes', 'no'] * 3)},text=text,label=label,tokenizer={folder}"
    ask = lambda: assay.evaluate(folder, spec, decision="position=last,answers=yes+no").provenance  # noqa: E731
    (folder / "generation_config.json").write_text(json.dumps({"eos_token_id": [3, 4], "temperature": float("inf")}))
    config = {"model_type": "bigrams", "vocab_size": len(WORDS), "n_positions": 64, "pad_token_id": 0, "limits": [float("nan"), -float("inf")],
              "id2label": {"0": "yes", "1": "no"}}  # fmt: skip
    (folder / "config.json").write_text(json.dumps(config))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = ask()
        wanted = {"config_model_type": "bigrams", "config_vocabulary": len(WORDS), "config_positions": 64, "config_classes": "yes, no",
                  "padding_token": "0 ('[PAD]'), by config.json", "end_token": "3 ('[SEP]'), by generation_config.json"}  # fmt: skip
        assert {key: found[key] for key in wanted} == wanted
        (folder / "config.json").write_text(json.dumps(config | {"n_positions": 65}))
        other = ask()
    assert other["config_positions"] == 65 and other["generation_config_checksum"] == found["generation_config_checksum"]
    assert other["config_checksum"] != found["config_checksum"]


def test_a_configuration_of_another_kind_is_named(tmp_path):
    folder = tmp_path / "bigrams"
    folder.mkdir()
    write_bigrams(folder)
    (folder / "config.json").write_text("[]")
    found = assay.describe_model(folder / "model.onnx", input_shape="input_ids=6,attention_mask=6").provenance
    assert "config.json: this is not a JSON object" in found["config_unread"]


def test_a_configuration_that_is_too_large_is_not_read(bigrams, tmp_path):
    folder, _ = bigrams
    spec = f"{write_table(tmp_path / 't.csv', ['yes', 'no'] * 3)},text=text,label=label,tokenizer={folder}"
    (folder / "config.json").write_text(json.dumps({"note": "x" * (1 << 25)}))
    with pytest.raises(assay.AssayError, match=r"config.json.*bytes"):
        assay.evaluate(folder, spec, decision="position=last,answers=yes+no")


def test_constants_without_outputs_are_refused(tmp_path):
    onnx = need("onnx")
    from onnx import TensorProto, helper

    value = helper.make_tensor("value", TensorProto.FLOAT, [1], [2.0])
    nodes = [helper.make_node("Constant", [], [], value=value), helper.make_node("Relu", ["x"], ["y"])]
    ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, ["n", 3]) for name in "xy"]
    graph = helper.make_graph(nodes, "one", ends[:1], ends[1:])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), tmp_path / "model.onnx")
    with pytest.raises(assay.ModelError, match="Constant"):
        assay.load(tmp_path / "model.onnx")


def test_columns_beside_the_texts_are_characteristics(bigrams, tmp_path):
    folder, table = bigrams
    answers = [["yes", "no"][k] for k in answer_scores(table, ["yes", "no"], "last").argmax(1)]
    days = ["friday", "monday"] * 3
    with open(tmp_path / "t.csv", "w", newline="") as out:
        csv.writer(out).writerows([["text", "label", "day"], *zip(TEXTS, answers[:5] + [{"yes": "no", "no": "yes"}[answers[5]]], days)])
    spec = f"{tmp_path / 't.csv'},text=text,label=label,meta=day,tokenizer={folder}"
    found = assay.evaluate(folder, spec, decision="position=last,answers=yes+no", fail_under="accuracy[day=friday]>=1")
    assert found.passed
    assert "attention_mask" not in found.headline and "token_type_ids" not in found.headline
    with pytest.raises(assay.AssayError, match="no column is named 'dya'; there are text, label, day"):
        assay.data(spec.replace("meta=day", "meta=dya"))


def test_inspection_reads_tokens_as_the_tokenizer_does(bigrams, tmp_path):
    """Without a vocabulary; rows are the tokens that records have."""
    folder, table = bigrams
    write_table(tmp_path / "t.csv", ["yes", "no"] * 3)
    spec = f"{tmp_path / 't.csv'},text=text,label=label,tokenizer={folder}"
    ask = dict(hypotheses="keywords[words=film+very]", no_early_stop=True, measure="pearson", units="layer=-1")
    ids, mask = tokens_of()
    real = mask.astype(bool)
    wanted = np.corrcoef(table[ids][real][:, 5], ids[real] == WORDS.index("film"))[0, 1]
    for more in ({}, {"vocabulary": folder / "tokenizer.json"}, {"vocabulary": folder, "padding": "[PAD]"}):
        assay.inspect(folder, spec, scores=str(tmp_path / "scores.csv"), **ask, **more)
        with open(tmp_path / "scores.csv", newline="") as file:
            rows = [row for row in csv.DictReader(file) if row["hypothesis"].endswith(":film") and row["unit"] == "5"]
        assert float(rows[0]["score"]) == pytest.approx(wanted, abs=1e-4)


def test_padding_is_a_symbol_of_a_vocabulary(inside):
    with pytest.raises(assay.UsageError, match="padding is a symbol of a vocabulary; give vocabulary=FILE"):
        assay.inspect("net.onnx", "test.npz", hypotheses="label", padding="[PAD]")


@pytest.mark.parametrize("kind", ["bytes", "pieces", "metaspace"])
def test_symbols_of_a_tokenizer_are_what_tokens_add_to_texts(tmp_path, kind):
    """Rows of a keyword are the tokens of it, with the space in front of a word and without marks."""
    tokenizers = need("tokenizers")
    from tokenizers import decoders, models, pre_tokenizers

    marks = {"bytes": ["a", "good", "\u0120good", "\u0120film", "s"], "pieces": ["a", "good", "film", "##s", "[PAD]"],
             "metaspace": ["a", "\u2581a", "\u2581good", "\u2581film", "s"]}  # fmt: skip
    made = tokenizers.Tokenizer(models.WordLevel({mark: i for i, mark in enumerate(marks[kind])}, unk_token="a"))
    made.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    made.decoder = {"bytes": decoders.ByteLevel, "pieces": decoders.WordPiece, "metaspace": decoders.Metaspace}[kind]()
    made.save(str(tmp_path / "tokenizer.json"))
    words = {"bytes": [0, 2, 3, 4], "pieces": [0, 1, 2, 3], "metaspace": [1, 2, 3, 4]}[kind]  # "a good films"
    onnx = need("onnx")
    from onnx import TensorProto, helper, numpy_helper

    table = numpy_helper.from_array(np.eye(5, dtype=np.float32), "table")
    nodes = [helper.make_node("Gather", ["table", "input_ids"], ["x"], name="x"),
             helper.make_node("MatMul", ["x", "table"], ["y"], name="y"), helper.make_node("ReduceMean", ["y"], ["logits"], axes=[1], keepdims=0)]  # fmt: skip
    graph = helper.make_graph(nodes, "one", [helper.make_tensor_value_info("input_ids", TensorProto.INT64, ["n", 4])],
                              [helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["n", 5])], [table])  # fmt: skip
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), tmp_path / "model.onnx")
    np.savez(tmp_path / "data.npz", x=np.array([words] * 8))
    assay.inspect(tmp_path / "model.onnx", tmp_path / "data.npz", vocabulary=tmp_path / "tokenizer.json", hypotheses="keywords[words=films+good]",
                  measure="pearson", units="layer=y", no_early_stop=True, scores=str(tmp_path / "s.csv"))  # fmt: skip
    with open(tmp_path / "s.csv", newline="") as file:
        found = {(row["hypothesis"].split(":")[-1], row["unit"]): row["score"] for row in csv.DictReader(file) if row["unit"]}
    assert float(found["good", str(words[1])]) == pytest.approx(1)
    assert float(found["films", str(words[3])]) > 0 and float(found["films", str(words[1])]) < 0


def test_usual_units_that_do_not_fit_are_left_out(tmp_path):
    """Layers whose positions are others than tokens, where nobody names layers."""
    onnx = need("onnx")
    from onnx import TensorProto, helper, numpy_helper

    write_tokenizer(tmp_path)
    rng = np.random.default_rng(1)
    weights = {"table": rng.normal(size=(len(WORDS), 4)), "up": rng.normal(size=(4, 5)), "kernel": rng.normal(size=(3, 1, 1, 1)), "head": rng.normal(size=(3, 2))}
    constants = [numpy_helper.from_array(values.astype(np.float32), name) for name, values in weights.items()]
    constants += [numpy_helper.from_array(np.array(v, np.int64), n) for n, v in (("front", [1]), ("both", [2, 3]))]
    node = helper.make_node
    nodes = [
        node("Gather", ["table", "input_ids"], ["x"], name="x"), node("MatMul", ["x", "up"], ["dense"], name="dense"),
        node("Transpose", ["dense"], ["turned"], perm=[0, 2, 1]), node("MatMul", ["dense", "turned"], ["product"], name="product"),
        node("Unsqueeze", ["product", "front"], ["map"]), node("Conv", ["map", "kernel"], ["picture"], name="picture"),
        node("ReduceSum", ["picture", "both"], ["sum"], keepdims=0), node("MatMul", ["sum", "head"], ["logits"], name="head"),
    ]  # fmt: skip
    graph = helper.make_graph(nodes, "one", [helper.make_tensor_value_info("input_ids", TensorProto.INT64, ["n", "t"])],
                              [helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["n", 2])], constants)  # fmt: skip
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), tmp_path / "model.onnx")
    write_table(tmp_path / "t.csv", ["yes", "no"] * 3)
    spec = f"{tmp_path / 't.csv'},text=text,label=label,tokenizer={tmp_path / 'tokenizer.json'}"
    found = assay.inspect(tmp_path / "model.onnx", spec, hypotheses="keywords[words=film]", no_early_stop=True, scores=str(tmp_path / "s.csv"))
    assert any("a group of units is left out: 'picture' does not fit hypothesis 'keywords'" in notice for notice in found.notices)
    with open(tmp_path / "s.csv", newline="") as file:
        groups = {row["group"] for row in csv.DictReader(file)}
    assert "dense" in groups and not groups & {"picture", "product"}
    with pytest.raises(assay.AssayError, match="cannot be aligned"):
        assay.inspect(tmp_path / "model.onnx", spec, hypotheses="keywords[words=film]", units="layer=picture")


@pytest.mark.parametrize("named", ["exported", "exported/model.onnx"])
def test_a_pack_is_verified_beside_a_configuration(work, tmp_path, program, named):
    """What config.json says is in results, and is the same when commands are run again from another place."""
    (tmp_path / "exported").mkdir()
    shutil.copy(work / "net.onnx", tmp_path / "exported" / "model.onnx")
    shutil.copy(work / "test.npz", tmp_path / "test.npz")
    configuration = {"model_type": "digits", "id2label": {str(i): f"number {i}" for i in range(10)}}
    (tmp_path / "exported" / "config.json").write_text(json.dumps(configuration))
    (tmp_path / "study.toml").write_text(
        f'model = "{named}"\n[evidence]\ntitle = "Digits"\ntest = "test.npz"\nnot-done = ["Letters."]\n[[evidence.step]]\ncommand = "evaluate"\n'
    )
    program(tmp_path, "evidence", "--config", "study.toml", "--out", "pack")
    assert all(gate["passed"] for gate in program(tmp_path, "verify", "pack", "--rerun", "all")["gates"])
    configuration["model_type"] = "letters"
    (tmp_path / "exported" / "config.json").write_text(json.dumps(configuration))
    changed = program(tmp_path, "verify", "pack", "--rerun", "all")
    assert [gate for gate in changed["gates"] if not gate["passed"]][0]["reason"].endswith("exported/config.json")
