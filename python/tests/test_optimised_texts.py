"""Networks of language as ONNX Runtime's optimisers fuse them and its quantiser packs their weights into 4 bits (com.microsoft): equal to
ONNX Runtime, and every command takes them."""

import collections

import numpy as np
import pytest

import assay

TOKENS, LENGTH, RECORDS, WIDTH, HEADS = 48, 9, 8, 32, 4
SIZES = {"hidden_size": WIDTH, "num_hidden_layers": 2, "num_attention_heads": HEADS, "intermediate_size": 64, "max_position_embeddings": 24}
SMALL = {"vocab_size": TOKENS, "pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2, "use_cache": False}
CAUSAL = {"gpt2", "llama", "qwen2", "gemma"}
# Of each family a model, and as what the optimiser knows it.
MODELS = {
    "bert": ("bert", lambda t: t.BertForSequenceClassification(t.BertConfig(num_labels=3, **SIZES, **SMALL))),
    "minilm": ("bert", lambda t: t.BertForSequenceClassification(t.BertConfig(num_labels=3, **{**SIZES, "num_attention_heads": 8}, **SMALL))),
    "distilbert": (
        "bert",
        lambda t: t.DistilBertForSequenceClassification(
            t.DistilBertConfig(dim=WIDTH, n_layers=2, n_heads=HEADS, hidden_dim=64, max_position_embeddings=24, num_labels=3, **SMALL)
        ),
    ),
    "roberta": ("bert", lambda t: t.RobertaForSequenceClassification(t.RobertaConfig(num_labels=3, **SIZES, **SMALL))),
    "deberta": (
        "bert",
        lambda t: t.DebertaV2ForSequenceClassification(
            t.DebertaV2Config(
                relative_attention=True, pos_att_type=["p2c", "c2p"], position_buckets=8, share_att_key=True, norm_rel_ebd="layer_norm",
                position_biased_input=False, type_vocab_size=0, initializer_range=0.5, num_labels=3, **SIZES, **SMALL,
            )
        ),
    ),
    "gpt2": (None, lambda t: t.GPT2LMHeadModel(t.GPT2Config(n_embd=WIDTH, n_layer=2, n_head=HEADS, n_positions=24, **SMALL))),
    "llama": ("gpt2", lambda t: t.LlamaForCausalLM(t.LlamaConfig(num_key_value_heads=2, **SIZES, **SMALL))),
    "qwen2": ("gpt2", lambda t: t.Qwen2ForCausalLM(t.Qwen2Config(num_key_value_heads=2, **SIZES, **SMALL))),
    "gemma": (
        "gpt2", lambda t: t.GemmaForCausalLM(t.GemmaConfig(num_key_value_heads=1, head_dim=8, initializer_range=0.5, **SIZES, **SMALL))
    ),
    "t5-encoder": (
        "t5",
        lambda t: t.T5EncoderModel(
            t.T5Config(
                vocab_size=TOKENS, d_model=WIDTH, d_kv=8, d_ff=64, num_layers=2, num_heads=HEADS, relative_attention_num_buckets=8,
                relative_attention_max_distance=16, pad_token_id=0, attn_implementation="eager",
            )
        ),
    ),
    "plain": ("bert", lambda t: plain_encoder()),
}  # fmt: skip


def need(name):
    return pytest.importorskip(name, reason=f"SKIPPED: the package {name} is not there")


def plain_encoder():
    """BERT with the mask added to the scores of attention, which the optimiser knows as one operator, with its embeddings."""
    torch = need("torch")
    nn = torch.nn

    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            self.query, self.key, self.value, self.out = (nn.Linear(WIDTH, WIDTH) for _ in range(4))
            self.up, self.down = nn.Linear(WIDTH, 64), nn.Linear(64, WIDTH)
            self.after_attention, self.after_mlp = nn.LayerNorm(WIDTH, 1e-12), nn.LayerNorm(WIDTH, 1e-12)

        def forward(self, x, mask):
            by_head = lambda values: values.view(x.shape[0], x.shape[1], HEADS, WIDTH // HEADS).permute(0, 2, 1, 3)  # noqa: E731
            scores = by_head(self.query(x)) @ by_head(self.key(x)).transpose(-1, -2) / (WIDTH // HEADS) ** 0.5
            joined = (torch.softmax(scores + mask, -1) @ by_head(self.value(x))).permute(0, 2, 1, 3).contiguous()
            x = self.after_attention(self.out(joined.view(joined.shape[0], joined.shape[1], WIDTH)) + x)
            return self.after_mlp(self.down(nn.functional.gelu(self.up(x))) + x)

    class Encoder(nn.Module):
        def __init__(self):
            super().__init__()
            self.words, self.places, self.kinds = nn.Embedding(TOKENS, WIDTH), nn.Embedding(24, WIDTH), nn.Embedding(2, WIDTH)
            self.norm, self.head = nn.LayerNorm(WIDTH, 1e-12), nn.Linear(WIDTH, 3)
            self.blocks = nn.ModuleList([Block(), Block()])
            self.register_buffer("numbers", torch.arange(24)[None])

        def forward(self, input_ids, attention_mask, token_type_ids):
            mask = (1.0 - attention_mask[:, None, None, :].to(torch.float32)) * -10000.0
            x = self.words(input_ids) + self.kinds(token_type_ids) + self.places(self.numbers[:, : input_ids.shape[1]])
            x = self.norm(x)
            for block in self.blocks:
                x = block(x, mask)
            return self.head(x[:, 0])

    return Encoder()


def records(name):
    rng = np.random.default_rng(1)
    ids, mask = rng.integers(3, TOKENS, (RECORDS, LENGTH)), np.ones((RECORDS, LENGTH), np.int64)
    for row in range(RECORDS):
        ids[row, LENGTH - row % 4 :] = mask[row, LENGTH - row % 4 :] = 0
    return {"input_ids": ids, "attention_mask": mask} | ({"token_type_ids": 0 * ids} if name == "plain" else {})


def write(name, folder):
    """The network as torch exports it: the newer exporter, or for the plain one the older, whose pattern the optimiser knows."""
    torch = need("torch")
    torch.manual_seed(4)
    model = MODELS[name][1](None if name == "plain" else need("transformers")).eval()
    given = {key: torch.tensor(array[:2]) for key, array in records(name).items()}
    path, output = folder / "net.onnx", "last_hidden_state" if name == "t5-encoder" else "logits"
    if name == "plain":
        axes = {key: {0: "n", 1: "tokens"} for key in given} | {output: {0: "n"}}
        torch.onnx.export(
            model, tuple(given.values()), path, dynamo=False, input_names=list(given), output_names=[output], dynamic_axes=axes, opset_version=17
        )
    else:
        need("onnxscript")
        axes = {0: torch.export.Dim("n"), 1: torch.export.Dim("tokens")}
        torch.onnx.export(
            model, (), path, kwargs=given, dynamo=True, external_data=False, verbose=False, input_names=list(given), output_names=[output],
            dynamic_shapes={key: axes for key in given},
        )  # fmt: skip
    return path


def fused(name, path, runtime):
    """By the optimiser of networks of language; where that knows no such model, by the one that runs when a network is opened."""
    to = path.with_name("fused.onnx")
    kind = MODELS[name][0]
    if kind is None:
        options = runtime.SessionOptions()
        options.graph_optimization_level = runtime.GraphOptimizationLevel.ORT_ENABLE_EXTENDED
        options.optimized_model_filepath = str(to)
        runtime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
        return to
    optimizer = need("onnxruntime.transformers.optimizer")
    options = need("onnxruntime.transformers.fusion_options").FusionOptions(kind)
    heads = 8 if name == "minilm" else HEADS
    made = optimizer.optimize_model(str(path), model_type=kind, num_heads=heads, hidden_size=WIDTH, opt_level=0, optimization_options=options)
    made.save_model_to_file(str(to))
    return to


def packed(path, bits):
    onnx = need("onnx")
    quantiser = need("onnxruntime.quantization.matmul_nbits_quantizer").MatMulNBitsQuantizer
    kinds = ("MatMul", "Gather") if bits == 4 else ("MatMul",)
    made = quantiser(onnx.load(path), bits=bits, block_size=16, is_symmetric=bits == 8, op_types_to_quantize=kinds)
    made.process()
    to = path.with_name(f"{path.stem}_{bits}.onnx")
    made.model.save_model_to_file(str(to))
    return to


def fused_operators(path):
    return collections.Counter(node.op_type for node in need("onnx").load(path).graph.node if node.domain == "com.microsoft")


@pytest.fixture(scope="module", params=MODELS)
def forms(request, tmp_path_factory):
    """Name, and the files of one network: fused, and packed into 4 and 8 bits."""
    runtime = need("onnxruntime")
    need("onnxruntime.quantization.matmul_nbits_quantizer")
    path = write(request.param, tmp_path_factory.mktemp(request.param))
    made = fused(request.param, path, runtime)
    return request.param, [made, packed(path, 4), packed(made, 4), packed(made, 8)]


def decision_of(name):
    return {"decision": "position=last,answers=#7+#9+#11"} if name in CAUSAL else {}


def test_answers_are_those_of_onnx_runtime(forms):
    runtime = need("onnxruntime")
    name, paths = forms
    counted = [fused_operators(path) for path in paths]
    assert all(counted) and all(count["MatMulNBits"] > 0 for count in counted[1:]) and counted[1]["GatherBlockQuantized"] > 0
    if name == "plain":
        assert {"EmbedLayerNormalization", "Attention", "SkipLayerNormalization", "BiasGelu"} <= set(counted[0])
    given = records(name)
    for path in paths:
        session = runtime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
        types = {one.name: np.int32 if "int32" in one.type else np.int64 for one in session.get_inputs()}
        wanted = session.run(None, {key: given[key].astype(kind) for key, kind in types.items()})[0]
        found = np.asarray(assay.load(path)({key: given[key] for key in types}))
        real = given["attention_mask"].astype(bool) if wanted.ndim == 3 else slice(None)
        np.testing.assert_allclose(found[real], wanted[real], rtol=1e-3, atol=1e-4 * np.abs(wanted[real]).max(), err_msg=path.name)


def test_every_command_takes_them(forms, tmp_path):
    name, paths = forms
    if name == "t5-encoder":
        pytest.skip("SKIPPED: an encoder alone decides nothing")
    path, given, decision = paths[2], records(name), decision_of(name)
    labels = np.asarray(assay.load(path, **decision)(given)).argmax(1)
    labels[0] = (labels[0] + 1) % 3
    data = tmp_path / "data.npz"
    np.savez(data, **given, y=labels)
    assert assay.evaluate(path, data, **decision).accuracy == pytest.approx(1 - 1 / RECORDS)
    ask = dict(train=data, test=data, criterion="kmnc[sections=5]", view=["heads=norm,tokens=mean", "attention=variance,tokens=mean"], **decision)
    assert assay.cover(path, **ask)
    assert assay.patch(path, data, ablate="mean", **decision).tables
    assert assay.mutate(path, test=data, operator="head", count=2, quality=1, **decision).table("mutants")
    for method in ("attn-lrp", "gradient-x-input"):
        assert assay.importance(path, data, method=method, **decision)
    assert assay.mutate(path, test=data, operator="int8", count=2, **decision).table("mutants")
    assay.inspect(path, data, hypotheses="label", measure="pearson", scores=str(tmp_path / "scores.csv"), **decision)
    for attack in ("hotflip[changes=2]", "gcg[steps=2,candidates=8,changes=2]"):
        assay.attack(path, data, attack=attack, out=str(tmp_path / "out"), **decision)
        with np.load(tmp_path / "out" / f"{attack.split('[')[0]}.npz") as stored:
            changed = (stored["input_ids"] != given["input_ids"][stored["original"]]).sum(1)
            assert changed.max() > 0 and changed.max() <= 2
