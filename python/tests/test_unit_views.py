"""Units of transformers (--view): heads, directions and tokens against a plain writing in NumPy."""

import csv
import warnings

import numpy as np
import pytest

import assay

VOCABULARY, WIDTH, HEADS, HIDDEN, CLASSES, LENGTH, RECORDS = 16, 8, 2, 6, 3, 7, 40
SIZE = WIDTH // HEADS
STATISTICS = ["mean", "variance", "skewness", "kurtosis"]


def need(name):
    return pytest.importorskip(name, reason=f"SKIPPED: the package {name} is not there")


def weights():
    rng = np.random.default_rng(11)
    shapes = {
        "word": (VOCABULARY, WIDTH), "q": (WIDTH, WIDTH), "k": (WIDTH, WIDTH), "v": (WIDTH, WIDTH), "o": (WIDTH, WIDTH),
        "up": (WIDTH, HIDDEN), "bias": (HIDDEN,), "down": (HIDDEN, WIDTH), "head": (WIDTH, CLASSES),
    }
    return {name: rng.normal(size=shape, scale=0.8).astype(np.float32) for name, shape in shapes.items()}


def write(path):
    """Attention of two heads that leaves out what fills up, and two dense layers, summed over tokens, for texts of any length."""
    onnx = need("onnx")
    from onnx import TensorProto, helper, numpy_helper

    node, constants = helper.make_node, [numpy_helper.from_array(values, name) for name, values in weights().items()]

    def number(name, value, type=np.int64):
        constants.append(numpy_helper.from_array(np.array(value, type), name))
        return name

    nodes = [
        node("Gather", ["word", "input_ids"], ["x"]),
        node("Cast", ["attention_mask"], ["real"], to=TensorProto.FLOAT),
        node("Sub", [number("one", 1, np.float32), "real"], ["fills"]),
        node("Mul", ["fills", number("never", -1e9, np.float32)], ["low"]),
        node("Unsqueeze", ["low", number("for_heads", [1, 2])], ["unseen"]),
        node("Unsqueeze", ["real", number("for_width", [2])], ["present"]),
    ]
    for role in "qkv":
        nodes += [
            node("MatMul", ["x", role], [role + "_flat"]),
            node("Reshape", [role + "_flat", number(role + "_shape", (0, 0, HEADS, SIZE))], [role + "_apart"]),
            node("Transpose", [role + "_apart"], [role + "_heads"], perm=[0, 2, 3, 1] if role == "k" else [0, 2, 1, 3]),
        ]
    nodes += [
        node("MatMul", ["q_heads", "k_heads"], ["products"], name="products"),
        node("Mul", ["products", number("size", SIZE**-0.5, np.float32)], ["scores"]),
        node("Add", ["scores", "unseen"], ["masked"], name="masked"),
        node("Softmax", ["masked"], ["attention"], axis=-1),
        node("MatMul", ["attention", "v_heads"], ["mixed"], name="mixed"),
        node("Transpose", ["mixed"], ["by_position"], perm=[0, 2, 1, 3]),
        node("Reshape", ["by_position", number("joined", (0, 0, WIDTH))], ["joined_heads"]),
        node("MatMul", ["joined_heads", "o"], ["attended"], name="attended"),
        node("Add", ["x", "attended"], ["stream"], name="stream"),
        node("MatMul", ["stream", "up"], ["risen"], name="up_product"),
        node("Add", ["risen", "bias"], ["shifted"]),
        node("Relu", ["shifted"], ["hidden"], name="active"),
        node("MatMul", ["hidden", "down"], ["sunk"], name="down_product"),
        node("Add", ["stream", "sunk"], ["out"], name="out"),
        node("Mul", ["out", "present"], ["kept"]),
        node("ReduceSum", ["kept", number("tokens", [1])], ["sum"], keepdims=0),
        node("MatMul", ["sum", "head"], ["logits"], name="logits"),
    ]
    inputs = [helper.make_tensor_value_info(name, TensorProto.INT64, ["n", "t"]) for name in ("input_ids", "attention_mask")]
    outputs = [helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["n", CLASSES])]
    graph = helper.make_graph(nodes, "small", inputs, outputs, constants)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)


def computed(ids, mask):
    """What the layers compute, in double precision: positions first, heads last."""
    w = {name: values.astype(np.float64) for name, values in weights().items()}
    x = w["word"][ids]
    q, k, v = ((x @ w[role]).reshape(*ids.shape, HEADS, SIZE).swapaxes(1, 2) for role in "qkv")
    scores = q @ k.swapaxes(2, 3) * SIZE**-0.5 + (1 - mask)[:, None, None, :] * -1e9
    attention = np.exp(scores - scores.max(-1, keepdims=True))
    attention /= attention.sum(-1, keepdims=True)
    mixed = attention @ v
    stream = x + mixed.swapaxes(1, 2).reshape(*ids.shape, WIDTH) @ w["o"]
    hidden = np.maximum(stream @ w["up"] + w["bias"], 0)
    logits = ((stream + hidden @ w["down"]) * mask[..., None]).sum(1) @ w["head"]
    return {"attention": attention, "mixed": mixed, "stream": stream, "hidden": hidden, "logits": logits}


def statistic(name, values):
    """Over the last axis, by SciPy where it has it; 0 where it has none."""
    if name == "norm":
        return np.linalg.norm(values, axis=-1)
    if name in ("mean", "variance"):
        return values.mean(-1) if name == "mean" else values.var(-1)
    stats = pytest.importorskip("scipy.stats", reason="SKIPPED: the package scipy is not there")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that there is none of numbers that are all the same
        found = stats.skew(values, axis=-1) if name == "skewness" else stats.kurtosis(values, axis=-1, fisher=False)
    return np.nan_to_num(found)


def over_tokens(name, values, mask, threshold=0):
    """One record after the other."""
    rows = []
    for row, real in zip(values, mask.astype(bool)):
        there = row[real]
        made = {"last": there[-1], "first": there[0], "mean": there.mean(0), "max": there.max(0)}
        made |= {"any": (there > threshold).any(0), "share": (there > threshold).mean(0)}
        rows.append(made[name])
    return np.array(rows, np.float64)


@pytest.fixture(scope="module")
def records():
    rng = np.random.default_rng(2)
    ids = rng.integers(1, VOCABULARY, size=(RECORDS, LENGTH))
    lengths = rng.integers(2, LENGTH + 1, size=RECORDS)
    mask = (np.arange(LENGTH) < lengths[:, None]).astype(np.int64)
    mask[::3] = mask[::3, ::-1]  # some are filled up in front
    return ids * mask, mask


@pytest.fixture(scope="module")
def folder(tmp_path_factory, records):
    """With net.onnx, train.npz and test.npz."""
    path = tmp_path_factory.mktemp("views")
    write(path / "net.onnx")
    ids, mask = records
    labels = computed(ids, mask)["logits"].argmax(1)
    np.savez(path / "train.npz", input_ids=ids, attention_mask=mask, y=labels)
    np.savez(path / "test.npz", input_ids=ids[:15], attention_mask=mask[:15], y=labels[:15])
    return path


def view_of(program, folder, spec):
    """The network with the view, and what its units are: written by the program, and read again."""
    document = program(folder, "model", "net.onnx", "train.npz", "--view", spec, "--write", "with.onnx")
    names = [row["name"] for row in document["tables"]["layers"]["rows"] if row["operator"] == "view"]
    network = assay.load(folder / "with.onnx")
    return network, names


def units_of(program, folder, records, spec):
    network, names = view_of(program, folder, spec)
    assert len(names) == 1, spec
    inputs = dict(zip(["input_ids", "attention_mask"], records))
    np.testing.assert_allclose(network(inputs), computed(*records)["logits"], rtol=1e-4, atol=1e-4)
    return names[0], network.activations(inputs, names[0])


@pytest.mark.parametrize("layer", ["mixed", "attended", "masked"])
@pytest.mark.parametrize("name", ["norm", *STATISTICS])
def test_heads_are_units(program, folder, records, layer, name):
    called, found = units_of(program, folder, records, f"layer={layer},heads={name}")
    assert called == f"{layer}/heads/{name}"
    wanted = statistic(name, computed(*records)["mixed"]).swapaxes(1, 2)
    np.testing.assert_allclose(found, wanted, rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("name", STATISTICS)
def test_weights_of_attention_are_units(program, folder, records, name):
    """Over the tokens that a record has."""
    _, found = units_of(program, folder, records, f"attention={name}")
    weights = computed(*records)["attention"]
    for row, one, real in zip(found, weights, records[1].astype(bool)):
        np.testing.assert_allclose(row, statistic(name, one[..., real]).T, rtol=2e-3, atol=1e-4)


@pytest.mark.parametrize("tokens", ["last", "first", "mean", "max", "any", "share"])
def test_tokens_become_one(program, folder, records, tokens):
    more = ",threshold=0.3" if tokens in ("any", "share") else ""
    called, found = units_of(program, folder, records, f"layer=up_product,tokens={tokens}{more}")
    assert called == f"up_product/{tokens}" + (">0.3" if more else "")
    wanted = over_tokens(tokens, computed(*records)["hidden"], records[1], 0.3)
    np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-5)


def test_words_combine(program, folder, records):
    called, found = units_of(program, folder, records, "layer=mixed,heads=norm,tokens=last,name=heads")
    assert called == "heads"
    wanted = over_tokens("last", statistic("norm", computed(*records)["mixed"]).swapaxes(1, 2), records[1])
    np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("form", ["npz", "array", "safetensors", "columns", "vector"])
def test_directions_are_units(program, folder, records, form):
    rng = np.random.default_rng(4)
    directions = rng.normal(size=(3, WIDTH)).astype(np.float32)
    where = "directions.npz"
    if form == "safetensors":
        need("safetensors")
        from safetensors.numpy import save_file

        where = "directions.safetensors"
        save_file({"decoder": directions}, folder / where)
    elif form == "columns":  # as a dense layer of PyTorch holds a decoder
        np.savez(folder / where, decoder=np.ascontiguousarray(directions.T))
    elif form == "vector":
        directions = directions[:1]
        np.savez(folder / where, probe=directions[0])
    elif form == "array":
        np.savez(folder / where, probes=directions, others=np.ones((2, 5)))
        where += ":probes"
    else:
        np.savez(folder / where, probes=directions)
    _, found = units_of(program, folder, records, f"layer=stream,directions={where},tokens=max")
    wanted = over_tokens("max", computed(*records)["stream"] @ directions.T.astype(np.float64), records[1])
    np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-4)


def test_a_lens_shows_the_decision_of_each_depth(program, folder, records):
    network, names = view_of(program, folder, "lens=out")
    assert names == ["stream/lens", "out/lens"]
    found = network.activations(dict(zip(["input_ids", "attention_mask"], records)), names)
    layers, mask = computed(*records), records[1][..., None]
    early = (layers["stream"] * mask).sum(1) @ weights()["head"]
    np.testing.assert_allclose(found["stream/lens"], early, rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(found["out/lens"], layers["logits"], rtol=1e-4, atol=1e-4)


def test_a_lens_shows_what_the_decision_shows(program, tmp_path, records):
    """Of a causal model with two answers: their scores, at the token that decides."""
    onnx = need("onnx")
    from onnx import TensorProto, helper, numpy_helper

    node, w = helper.make_node, {name: values for name, values in weights().items() if name in ("word", "up", "down")}
    w["answers"] = np.ascontiguousarray(w["word"].T)
    nodes = [
        node("Gather", ["word", "input_ids"], ["x"], name="x"),
        node("MatMul", ["x", "up"], ["risen"]),
        node("Relu", ["risen"], ["hidden"]),
        node("MatMul", ["hidden", "down"], ["sunk"]),
        node("Add", ["x", "sunk"], ["stream"], name="stream"),
        node("MatMul", ["stream", "answers"], ["logits"]),
    ]
    inputs = [helper.make_tensor_value_info(name, TensorProto.INT64, ["n", "t"]) for name in ("input_ids", "attention_mask")]
    outputs = [helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["n", "t", VOCABULARY])]
    graph = helper.make_graph(nodes, "causal", inputs, outputs, [numpy_helper.from_array(values, name) for name, values in w.items()])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), tmp_path / "net.onnx")
    ids, mask = records
    np.savez(tmp_path / "data.npz", input_ids=ids, attention_mask=mask)
    program(tmp_path, "model", "net.onnx", "data.npz", "--decision", "position=last,answers=#3+#5", "--view", "layer=x,lens=stream", "--write", "w.onnx")
    found = assay.load(tmp_path / "w.onnx").activations({"input_ids": ids, "attention_mask": mask}, "x/lens")
    wanted = over_tokens("last", w["word"][ids].astype(np.float64) @ w["answers"], mask)[:, [3, 5]]
    np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-4)


MODELS = {
    "gpt2": lambda t: t.GPT2LMHeadModel(t.GPT2Config(n_embd=16, n_layer=2, n_head=4, n_positions=24, vocab_size=VOCABULARY, bos_token_id=2, eos_token_id=3)),
    "llama": lambda t: t.LlamaForCausalLM(
        t.LlamaConfig(
            hidden_size=16, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2, intermediate_size=32,
            max_position_embeddings=24, vocab_size=VOCABULARY, pad_token_id=0, bos_token_id=2, eos_token_id=3,
        )
    ),
}


@pytest.mark.parametrize("name", MODELS)
def test_models_of_transformers_have_views(program, tmp_path, records, name):
    """Weights of attention, and the logit lens, as `transformers` itself gives them."""
    transformers, torch, _ = need("transformers"), need("torch"), need("onnxscript")
    torch.manual_seed(4)
    model = MODELS[name](transformers).eval()
    ids, mask = records[0][1:6], records[1][1:6]  # filled up behind, and in front
    with torch.no_grad():
        model.set_attn_implementation("eager")
        seen = model(input_ids=torch.tensor(ids), attention_mask=torch.tensor(mask), output_attentions=True, output_hidden_states=True)
        model.set_attn_implementation("sdpa")
        norm = model.transformer.ln_f if name == "gpt2" else model.model.norm
        early = [model.lm_head(norm(states)).numpy() for states in seen.hidden_states[:-1]]
    assay.load(model).save(tmp_path / "net.onnx")
    np.savez(tmp_path / "data.npz", input_ids=ids, attention_mask=mask)
    layers = program(tmp_path, "model", "net.onnx", "data.npz")["tables"]["layers"]["rows"]
    sums = [row["name"] for row in layers if row["operator"] == "Add"]
    program(tmp_path, "model", "net.onnx", "data.npz", "--view", "attention=variance", "--view", f"lens={sums[-1]}", "--write", "with.onnx")
    network = assay.load(tmp_path / "with.onnx")
    views = [view.removeprefix("view:") for view in network.outputs if view.startswith("view:")]
    found = network.activations({"input_ids": ids, "attention_mask": mask}, views)
    real = mask.astype(bool)
    attention = [found[view] for view in views if view.endswith("/attention/variance")]
    assert len(attention) == len(seen.attentions)
    for ours, theirs in zip(attention, seen.attentions):
        for row, one, there in zip(ours, theirs.numpy(), real):
            np.testing.assert_allclose(row[there], one[:, there][..., there].var(-1).T, rtol=1e-3, atol=1e-6)
    lenses = [found[view] for view in views if view.endswith("/lens")]
    for theirs in early[1:]:  # of each block; embeddings are no sum of what records hold
        assert any(np.allclose(ours[real], theirs[real], rtol=1e-3, atol=1e-4) for ours in lenses)


def test_other_programs_compute_the_views_that_are_written(program, folder, records):
    runtime = need("onnxruntime")
    network, names = view_of(program, folder, "attention=kurtosis,tokens=mean")
    assert f"view:{names[0]}" in network.outputs
    inputs = dict(zip(["input_ids", "attention_mask"], records))
    ours = network.activations(inputs, names[0])
    theirs = runtime.InferenceSession(folder / "with.onnx", providers=["CPUExecutionProvider"]).run([f"view:{names[0]}"], inputs)[0]
    np.testing.assert_allclose(ours, theirs, rtol=1e-3, atol=1e-4)


def test_criteria_count_heads(folder, records):
    """k-multisection of the four statistics, as LeCov has it."""
    spec = [f"attention={name},tokens=mean" for name in STATISTICS]
    found = assay.cover(
        folder / "net.onnx", folder / "train.npz", folder / "test.npz", view=spec, criterion=["kmnc[sections=4]", "tknc[k=1]"]
    )
    rows = {row["layer"]: row for row in found.table("layers")}
    assert set(rows) == {f"mixed/attention/{name}/mean" for name in STATISTICS}
    ids, mask = records
    weights = computed(ids, mask)["attention"]
    for name in STATISTICS[1:]:  # the mean of weights, which sum to 1, is one over the number of tokens
        values = np.stack([statistic(name, one[..., real])[:, real].mean(1) for one, real in zip(weights, mask.astype(bool))])
        low, high = values.min(0), values.max(0)
        sections = np.minimum((4 * (values[:15] - low) / (high - low)).astype(int), 3)
        row = rows[f"mixed/attention/{name}/mean"]
        assert row["kmnc[sections=4]"] == pytest.approx(sum(len(set(column)) for column in sections.T) / (4 * HEADS))
        assert row["tknc[k=1]"] == pytest.approx(len(set(values[:15].argmax(1))) / HEADS)


def test_criteria_count_concepts(folder, records):
    """Figures of RACA on directions: single concepts, pairs of them and clusters of records."""
    directions = np.random.default_rng(4).normal(size=(4, WIDTH)).astype(np.float32)
    np.savez(folder / "concepts.npz", concepts=directions)
    view = f"layer=stream,directions={folder / 'concepts.npz'},tokens=last,name=concepts"
    criteria = ["nc[scale=none,threshold=1]", "tknc[k=2]", "kmnc[sections=10]", "pcc[threshold=1]", "scc[clusters=40]"]
    found = assay.cover(folder / "net.onnx", folder / "train.npz", folder / "test.npz", view=view, criterion=criteria)
    figures = {name: found.figures()[name] for name in criteria}
    ids, mask = records
    scores = over_tokens("last", computed(ids, mask)["stream"] @ directions.T.astype(np.float64), mask)
    test, low, high = scores[:15], scores.min(0), scores.max(0)
    active = test > 1
    sections = np.minimum((10 * (test - low) / (high - low)).astype(int), 9)
    pairs = [(active[:, i] & active[:, j]).any() for i in range(4) for j in range(i)]
    assert figures == pytest.approx(
        {
            criteria[0]: active.any(0).mean(),
            criteria[1]: len(set(np.argsort(-test, axis=1)[:, :2].ravel())) / 4,
            criteria[2]: sum(len(set(column)) for column in sections.T) / 40,
            criteria[3]: np.mean(pairs),
            criteria[4]: 15 / 40,  # as many clusters as training records
        }
    )


def test_inspection_looks_at_heads(folder, records):
    found = assay.inspect(
        folder / "net.onnx", folder / "train.npz", view="heads=norm,tokens=mean", hypotheses="label", measure="pearson",
        no_early_stop=True, scores=str(folder / "scores.csv"),
    )
    assert found.facts
    heads = over_tokens("mean", statistic("norm", computed(*records)["mixed"]).swapaxes(1, 2), records[1])
    labels = computed(*records)["logits"].argmax(1)
    with open(folder / "scores.csv", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["unit"]]
    assert len(rows) == HEADS * len(set(labels))
    for row in rows:
        kind = int(row["hypothesis"].split(":")[1])
        wanted = np.corrcoef(heads[:, int(row["unit"])], labels == kind)[0, 1]
        assert float(row["score"]) == pytest.approx(wanted, abs=2e-4)


def test_queries_know_heads_and_positions(folder, records):
    views = ["heads=norm,tokens=first", "attention=variance", "layer=stream,tokens=last"]
    query = """SELECT S.uid, U.head, U.position, S.unit_score INSPECT U.uid AND H.h USING corr OVER D.seq AS S
        FROM units U, hypotheses H, inputs D WHERE H.name = 'label:1' AND (U.head IS NOT NULL OR U.position = -1)"""
    found = assay.inspect(folder / "net.onnx", folder / "train.npz", view=views, hypotheses="label", no_early_stop=True, sql=query)
    (rows,) = found.tables.values()
    known = {row["S.uid" if "S.uid" in row else "uid"]: (row["head"], row["position"]) for row in rows}
    heads = {f"mixed/heads/norm/first:{h}": (h, 0) for h in range(HEADS)} | {f"mixed/attention/variance:{h}": (h, None) for h in range(HEADS)}
    assert known == heads | {f"stream/last:{unit}": (None, -1) for unit in range(WIDTH)}
    labels = computed(*records)["logits"].argmax(1) == 1
    units = over_tokens("first", statistic("norm", computed(*records)["mixed"]).swapaxes(1, 2), records[1])
    for row in rows:
        if row["uid"].startswith("mixed/heads"):
            assert row["unit_score"] == pytest.approx(np.corrcoef(units[:, row["head"]], labels)[0, 1], abs=2e-4)


def test_networks_are_loaded_with_views(program, folder, records):
    """As the program has them, and commands look at them."""
    inputs = dict(zip(["input_ids", "attention_mask"], records))
    network = assay.load(folder / "net.onnx", view=["heads=norm,tokens=last", "layer=stream,tokens=mean"])
    names = ["mixed/heads/norm/last", "stream/mean"]
    assert [layer.name for layer in network.layers(folder / "train.npz") if layer.op == "view"] == names
    found = network.activations(inputs, names)
    for name, spec in zip(names, ["heads=norm,tokens=last", "layer=stream,tokens=mean"]):
        written, _ = view_of(program, folder, spec)
        np.testing.assert_array_equal(found[name], written.activations(inputs, name))
    np.testing.assert_allclose(network(inputs), computed(*records)["logits"], rtol=1e-4, atol=1e-4)
    ways = {"criterion": ["kmnc[sections=4]", "nc"]}
    seen = assay.cover(network, folder / "train.npz", folder / "test.npz", **ways)
    asked = assay.cover(folder / "net.onnx", folder / "train.npz", folder / "test.npz", view=["heads=norm,tokens=last", "layer=stream,tokens=mean"], **ways)
    assert list(seen.table("layers")) == list(asked.table("layers"))
    again = assay.load(assay.load(folder / "net.onnx"), view="heads=mean", data=folder / "train.npz")
    assert again.layers(folder / "train.npz")[-1].name == "mixed/heads/mean"


def test_views_of_loaded_networks_that_do_not_fit_are_refused(folder):
    with pytest.raises(assay.UsageError, match="did you mean 'norm'"):
        assay.load(folder / "net.onnx", view="heads=norms")
    with pytest.raises(assay.UsageError, match="data has no effect without view"):
        assay.load(folder / "net.onnx", data=folder / "train.npz")


def test_relevance_of_a_head_is_that_of_what_it_gives(folder, records):
    found = assay.importance(folder / "net.onnx", folder / "train.npz", view="heads=norm", method="gradient-x-input", top=HEADS)
    network = assay.load(folder / "net.onnx")
    relevance = network.relevance(dict(zip(["input_ids", "attention_mask"], records)), "mixed", method="gradient-x-input")
    wanted = relevance.sum(axis=(0, 2, 3))
    rows = {row["neuron"]: row["relevance"] for row in found.table("neurons")}
    np.testing.assert_allclose([rows[head] for head in range(HEADS)], wanted, rtol=1e-3)


def test_important_heads_are_clustered(folder):
    found = assay.cover(folder / "net.onnx", folder / "train.npz", folder / "test.npz", view="heads=norm,tokens=last", criterion="idc[m=2]")
    assert {(row["layer"], row["neuron"]) for row in found.table("clusters")} == {("mixed/heads/norm/last", head) for head in range(HEADS)}


def mahalanobis(training, classes, test, predicted):
    """Distance to the mean of the class under its covariance (n - 1 in the divisor), class by class."""
    found = []
    for row, label in zip(test, predicted):
        own = training[classes == label]
        off = row - own.mean(0)
        found.append(np.sqrt(off @ np.linalg.pinv(np.cov(own.T)) @ off))
    return np.array(found)


def test_records_far_from_their_class_at_the_last_token_come_first(folder, records):
    """MDSA (Kim et al., FSE 2020) on directions at the last token."""
    np.savez(folder / "mdsa.npz", d=np.random.default_rng(6).normal(size=(2, WIDTH)).astype(np.float32))
    view = f"layer=stream,directions={folder / 'mdsa.npz'},tokens=last"
    rng = np.random.default_rng(9)
    ids = rng.integers(1, VOCABULARY, size=(200, LENGTH))
    mask = np.ones_like(ids)
    classes = computed(ids, mask)["logits"].argmax(1)
    np.savez(folder / "many.npz", input_ids=ids, attention_mask=mask, y=classes)
    chosen = assay.select(folder / "net.onnx", folder / "test.npz", train=folder / "many.npz", by="mdsa", view=view)
    directions = np.load(folder / "mdsa.npz")["d"].astype(np.float64)
    training = over_tokens("last", computed(ids, mask)["stream"] @ directions.T, mask)
    some = [values[:15] for values in records]
    made = computed(*some)
    test = over_tokens("last", made["stream"] @ directions.T, some[1])
    wanted = mahalanobis(training, classes, test, made["logits"].argmax(1))
    rows = chosen.table("chosen")
    assert [int(row["record"]) for row in rows] == list(np.argsort(-wanted, kind="stable")[: len(rows)])


def test_choices_and_searches_look_at_views(folder, work, program):
    chosen = assay.select(
        folder / "net.onnx", folder / "test.npz", train=folder / "train.npz", by="additional", criterion="kmnc[sections=4]", view="heads=norm"
    )
    assert chosen.facts
    np.savez(work / "directions.npz", d=np.random.default_rng(1).normal(size=(2, 10)).astype(np.float32))
    ways = ["--view", "layer=-1,directions=directions.npz,name=seen", "--criterion", "nc"]
    found = program(work, "explore", "net.onnx", "--mutant", "int8@all", "--data", "test.npz,range=0:1[:4]", "--constraint", "none",
                    "--iterations", "1", "--pictures", "0", "--out", "explored-views", *ways)
    assert found["facts"]
    audited = program(work, "audit", "net.onnx", "test.npz", "--train", "train.npz", "--count", "1", "--subsets", "10", "--permutations", "19",
                      "--resamples", "20", "--orders", "19", "--sizes", "20", "--sampler", "uniform", *ways)
    assert audited["tables"]


WRONG = [
    ("layer=stream", "shows what the layer is anyway"),
    ("heads=size", "heads=size is not known; there are norm, mean"),
    ("heads=norms", "did you mean 'norm'?"),
    ("head=norm", "did you mean 'heads'?"),
    ("tokens=last", "of which layer"),
    ("layer=stream,tokens=last,threshold=1", "no effect without tokens=any"),
    ("layer=stream,heads=norm,directions=d.npz", "heads= and directions= are other units each"),
    ("heads=norm,name=all", "name= is for the view of one layer"),
    ("layer=strem,tokens=last", "did you mean 'stream'?"),
    ("layer=logits,heads=norm", "layer 'logits' is not attention"),
    ("layer=logits,tokens=last", "layer 'logits' has no positions for tokens=last"),
    ("layer=mixed,tokens=last", "or of attention: heads= and attention="),
    ("layer=stream,tokens=last,name=out", "a layer is called 'out' already"),
    ("lens=up_product", "the decision does not come from layer 'up_product' alone"),
    ("layer=up_product,lens=out", "layer 'up_product' gives [7, 6] for a record and layer 'out', the lens, takes [7, 8]"),
    ("layer=stream,lens=out,tokens=last", "the decision, which a lens shows, has no positions for tokens=last"),
    ("layer=up_product,directions=wide.npz", "are [2, 8], and layer 'up_product' has 6 neurons, which neither rows nor columns have"),
    ("layer=stream,directions=wide.npz:other", "there is no such matrix"),
    ("layer=stream,directions=two.npz", "the file holds several arrays"),
]


@pytest.mark.parametrize("spec, said", WRONG)
def test_what_does_not_fit_is_said(folder, monkeypatch, spec, said):
    monkeypatch.chdir(folder)
    np.savez("wide.npz", d=np.ones((2, WIDTH)))
    np.savez("two.npz", a=np.ones((2, WIDTH)), b=np.ones((2, WIDTH)))
    with pytest.raises(assay.AssayError) as refused:
        assay.cover("net.onnx", "train.npz", "test.npz", view=spec, criterion="nc")
    assert said in str(refused.value)


def test_what_a_view_cannot_tell_is_said(folder, monkeypatch):
    monkeypatch.chdir(folder)
    np.savez("wide.npz", d=np.ones((2, WIDTH)))
    with pytest.raises(assay.UsageError, match="relevance arrives at neurons and heads.*look at layer 'stream'"):
        assay.importance("net.onnx", "train.npz", view="layer=stream,directions=wide.npz")
    with pytest.raises(assay.UsageError, match="computed beside the decision, which has no gradient there"):
        assay.inspect("net.onnx", "train.npz", view="heads=norm", hypotheses="label", behaviour="gradient")
    np.savez("square.npz", d=np.eye(WIDTH))  # as many as the layer has neurons
    with pytest.raises(assay.UsageError, match="these units are made of several"):
        assay.importance("net.onnx", "train.npz", view="layer=stream,directions=square.npz")
    np.savez("broken.npz", d=np.full((1, WIDTH), np.nan))
    with pytest.raises(assay.DataError, match="not finite"):
        assay.cover("net.onnx", "train.npz", "test.npz", view="layer=stream,directions=broken.npz", criterion="nc")


def test_a_view_that_nothing_looks_at_is_refused(folder, monkeypatch):
    monkeypatch.chdir(folder)
    for call in (
        lambda: assay.importance("net.onnx", "train.npz", view="heads=norm", layer="stream"),
        lambda: assay.select("net.onnx", "test.npz", by="deepgini", view="heads=norm"),
        lambda: assay.cover("net.onnx", "train.npz", "test.npz", view="heads=norm", layer="stream", count_layer="out", criterion=["idc[m=2]", "nc"]),
        lambda: assay.cover("net.onnx", "train.npz", "test.npz", view="heads=norm", preset="deepimportance-released", neurons="2"),
    ):
        with pytest.raises(assay.UsageError, match="view has no effect"):
            call()
    assert assay.importance("net.onnx", "train.npz", view="heads=norm", layer=["stream", "mixed/heads/norm"]).facts


def test_a_view_of_a_view_has_the_relevance_of_what_that_is_made_of(folder, program):
    program(folder, "model", "net.onnx", "train.npz", "--view", "heads=norm", "--write", "viewed.onnx")
    found = [
        {row["neuron"]: row["relevance"] for row in assay.importance(folder / file, folder / "train.npz", view=view, top=HEADS).table("neurons")}
        for file, view in (("net.onnx", "heads=norm"), ("viewed.onnx", "layer=mixed/heads/norm,tokens=last"))
    ]
    assert found[0] == pytest.approx(found[1]) and any(found[0].values())


@pytest.mark.parametrize("scale", [1e-9, 1e9])
def test_moments_do_not_depend_on_scale(program, folder, records, scale):
    network = assay.load(folder / "net.onnx")
    network.with_weights({"v": weights()["v"] * np.float32(scale)}).save(folder / "scaled.onnx")
    program(folder, "model", "scaled.onnx", "train.npz", "--view", "heads=kurtosis", "--write", "with-scaled.onnx")
    found = assay.load(folder / "with-scaled.onnx").activations(dict(zip(["input_ids", "attention_mask"], records)), "mixed/heads/kurtosis")
    wanted = statistic("kurtosis", computed(*records)["mixed"]).swapaxes(1, 2)
    real = records[1].astype(bool)
    np.testing.assert_allclose(found[real], wanted[real], rtol=1e-2, atol=1e-2)


def test_a_decision_that_is_called_as_views_are_is_no_view(folder):
    onnx = need("onnx")
    model = onnx.load(folder / "net.onnx")
    for node in model.graph.node:
        node.output[:] = ["view:logits" if name == "logits" else name for name in node.output]
    model.graph.output[0].name = "view:logits"
    onnx.save(model, folder / "called.onnx")
    assert assay.evaluate(folder / "called.onnx", folder / "test.npz", fail_under="accuracy>=1").passed


def build(path, nodes, inputs, width, constants=()):
    """A network of float32 and int64 inputs by name, its first output `logits` [records, width]."""
    onnx = need("onnx")
    from onnx import TensorProto, helper, numpy_helper

    kinds = {"f": TensorProto.FLOAT, "i": TensorProto.INT64}
    inputs = [helper.make_tensor_value_info(name, kinds[kind[0]], ["n", *kind[1:]]) for name, kind in inputs.items()]
    outputs = [helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["n", width])]
    weights = [numpy_helper.from_array(np.asarray(value), name) for name, value in dict(constants).items()]
    nodes = [helper.make_node(op, given, made, name=made[0], **how) for op, given, made, how in nodes]
    graph = helper.make_graph(nodes, "made", inputs, outputs, weights)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)


def whole(*numbers):
    return np.array(numbers, np.int64)


HEAD = [("ReduceSum", ["kept", "along"], ["sum"], {"keepdims": 0}), ("MatMul", ["sum", "head"], ["logits"], {})]


def test_a_mask_that_begins_with_a_past_ends_with_the_tokens(program, tmp_path, records):
    ids, mask = records
    w = weights()
    nodes = [("Gather", ["word", "input_ids"], ["x"], {}), ("MatMul", ["x", "up"], ["kept"], {}), *HEAD]
    constants = {"word": w["word"], "up": w["up"], "along": whole(1), "head": w["head"][:HIDDEN]}
    nodes.insert(0, ("Cast", ["attention_mask"], ["seen"], {"to": 1}))
    build(tmp_path / "net.onnx", nodes, {"input_ids": ["i", "t"], "attention_mask": ["i", "all"]}, CLASSES, constants)
    past = np.concatenate([np.arange(RECORDS)[:, None] % 2, np.ones((RECORDS, 1), int), mask], 1)
    np.savez(tmp_path / "train.npz", input_ids=ids, attention_mask=past)
    for tokens in ("last", "first", "mean", "max"):
        network, names = view_of(program, tmp_path, f"layer=kept,tokens={tokens}")
        found = network.activations({"input_ids": ids, "attention_mask": past}, names[0])
        wanted = over_tokens(tokens, w["word"][ids].astype(np.float64) @ w["up"], mask)
        np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("tokens", ["last", "first", "mean", "max", "any", "share"])
def test_what_fills_up_may_be_no_number(program, tmp_path, records, tokens):
    ids, mask = records
    w = weights()
    nodes = [
        ("Gather", ["word", "input_ids"], ["x"], {}), ("Cast", ["attention_mask"], ["real"], {"to": 1}),
        ("Unsqueeze", ["real", "behind"], ["present"], {}), ("Log", ["present"], ["low"], {}), ("Mul", ["low", "zero"], ["broken"], {}),
        ("Add", ["x", "broken"], ["stream"], {}), ("MatMul", ["stream", "up"], ["risen"], {}),
        ("Greater", ["present", "zero"], ["is_here"], {}), ("Where", ["is_here", "risen", "zero"], ["kept"], {}), *HEAD,
    ]  # fmt: skip
    constants = {"word": w["word"], "up": w["up"], "along": whole(1), "behind": whole(2), "zero": np.float32(0), "head": w["head"][:HIDDEN]}
    build(tmp_path / "net.onnx", nodes, {"input_ids": ["i", "t"], "attention_mask": ["i", "t"]}, CLASSES, constants)
    np.savez(tmp_path / "train.npz", input_ids=ids, attention_mask=mask)
    network, names = view_of(program, tmp_path, f"layer=risen,tokens={tokens}")
    given = {"input_ids": ids, "attention_mask": mask}
    assert np.isnan(network.activations(given, "risen")[mask == 0]).all()
    wanted = over_tokens(tokens, w["word"][ids].astype(np.float64) @ w["up"], mask)
    np.testing.assert_allclose(network.activations(given, names[0]), wanted, rtol=1e-4, atol=1e-5)


def test_what_a_decoder_makes_has_its_own_mask(program, tmp_path, records):
    ids, mask = records
    later, later_mask = ids[::-1, :5].copy(), mask[::-1, :5].copy()
    later_mask[:, 0] = 1
    w = weights()
    nodes = [
        ("Gather", ["word", "input_ids"], ["x"], {}), ("MatMul", ["x", "up"], ["encoded"], {}),
        ("Cast", ["attention_mask"], ["real"], {"to": 1}), ("Unsqueeze", ["real", "behind"], ["present"], {}),
        ("Mul", ["encoded", "present"], ["there"], {}), ("ReduceSum", ["there", "along"], ["memory"], {"keepdims": 1}),
        ("Gather", ["word", "decoder_input_ids"], ["y"], {}), ("MatMul", ["y", "up"], ["own"], {}), ("Add", ["own", "memory"], ["decoded"], {}),
        ("Cast", ["decoder_attention_mask"], ["later"], {"to": 1}), ("Unsqueeze", ["later", "behind"], ["later_present"], {}),
        ("Mul", ["decoded", "later_present"], ["kept"], {}), *HEAD,
    ]  # fmt: skip
    constants = {"word": w["word"], "up": w["up"], "along": whole(1), "behind": whole(2), "head": w["head"][:HIDDEN]}
    inputs = {"input_ids": ["i", "t"], "attention_mask": ["i", "t"], "decoder_input_ids": ["i", "u"], "decoder_attention_mask": ["i", "u"]}
    build(tmp_path / "net.onnx", nodes, inputs, CLASSES, constants)
    given = dict(zip(inputs, (ids, mask, later, later_mask)))
    np.savez(tmp_path / "train.npz", **given)
    program(tmp_path, "model", "net.onnx", "train.npz,inputs=" + "+".join(inputs), "--view", "layer=decoded,tokens=last", "--view",
            "layer=encoded,tokens=mean", "--write", "with.onnx")  # fmt: skip
    network = assay.load(tmp_path / "with.onnx")
    encoded, own = (w["word"][tokens].astype(np.float64) @ w["up"] for tokens in (ids, later))
    decoded = own + (encoded * mask[..., None]).sum(1, keepdims=True)
    np.testing.assert_allclose(network.activations(given, "decoded/last"), over_tokens("last", decoded, later_mask), rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(network.activations(given, "encoded/mean"), over_tokens("mean", encoded, mask), rtol=1e-4, atol=1e-4)


def write_merged(path, axis=-1, merged=True):
    """Attention whose heads are merged into the records and taken apart again, or along another axis than the last."""
    w = weights()
    nodes = []
    for role in "qkv":
        order = [0, 2, 3, 1] if role == "k" else [0, 2, 1, 3]
        nodes += [
            ("MatMul", ["x", role], [role + "_flat"], {}), ("Reshape", [role + "_flat", "apart"], [role + "_apart"], {}),
            ("Transpose", [role + "_apart"], [role + "_turned"], {"perm": order}),
        ]  # fmt: skip
        if merged:
            nodes.append(("Reshape", [role + "_turned", "keys" if role == "k" else "rows"], [role + "_heads"], {}))
        else:
            nodes.append(("Identity", [role + "_turned"], [role + "_heads"], {}))
    nodes += [
        ("MatMul", ["q_heads", "k_heads"], ["scores"], {}), ("Softmax", ["scores"], ["weights"], {"axis": axis}),
        ("MatMul", ["weights", "v_heads"], ["mixed"], {}), ("Reshape", ["mixed", "heads"], ["by_head"], {}),
        ("Transpose", ["by_head"], ["by_position"], {"perm": [0, 2, 1, 3]}), ("Reshape", ["by_position", "joined"], ["kept"], {}), *HEAD,
    ]  # fmt: skip
    constants = {
        **{role: w[role] for role in "qkv"}, "apart": whole(0, LENGTH, HEADS, SIZE), "rows": whole(-1, LENGTH, SIZE),
        "keys": whole(-1, SIZE, LENGTH), "heads": whole(-1, HEADS, LENGTH, SIZE), "joined": whole(-1, LENGTH, WIDTH), "along": whole(1),
        "head": w["head"],
    }  # fmt: skip
    build(path, nodes, {"x": ["f", LENGTH, WIDTH]}, CLASSES, constants)


def test_heads_that_are_merged_into_records_are_those_of_the_network_that_keeps_them_apart(tmp_path):
    """As DeBERTa's are: units, their relevance and ablation."""
    x = np.random.default_rng(3).random((6, LENGTH, WIDTH)).astype(np.float32)
    np.savez(tmp_path / "data.npz", x=x, y=np.arange(6) % CLASSES)
    write_merged(tmp_path / "merged.onnx")
    write_merged(tmp_path / "apart.onnx", merged=False)
    merged, apart = (assay.load(tmp_path / f"{name}.onnx", view="heads=norm", data=x) for name in ("merged", "apart"))
    layers = [model.layers(x)[-1].name for model in (merged, apart)]
    np.testing.assert_allclose(merged.activations(x, layers[0]), apart.activations(x, layers[1]), rtol=1e-5)
    assert merged.activations(x, layers[0]).shape == (6, LENGTH, HEADS)

    def asked(ask):
        return [ask(tmp_path / f"{name}.onnx") for name in ("merged", "apart")]

    ranks = asked(lambda net: assay.importance(net, tmp_path / "data.npz", method="gradient-x-input", view="heads=norm").table("neurons").rows)
    assert [[row["neuron"] for row in rows] for rows in ranks][0] == [row["neuron"] for row in ranks[1]]
    np.testing.assert_allclose(*[[row["relevance"] for row in rows] for rows in ranks], rtol=1e-4, atol=1e-6)
    lost = asked(lambda net: assay.patch(net, tmp_path / "data.npz", ablate="zero"))
    tables = [next(table for name, table in result.tables.items() if any("head" in row for row in table.rows)).rows for result in lost]
    assert len(tables[0]) == len(tables[1]) == HEADS
    assert [row["turned"] for row in tables[0]] == [row["turned"] for row in tables[1]]
    np.testing.assert_allclose(*[[row["share"] for row in rows] for rows in tables], rtol=1e-4, atol=1e-6)


def test_attention_that_has_no_heads_of_its_own_is_told_from_none(tmp_path):
    x = np.random.default_rng(3).random((6, LENGTH, WIDTH)).astype(np.float32)
    np.savez(tmp_path / "data.npz", x=x)
    write_merged(tmp_path / "merged.onnx")
    write_merged(tmp_path / "queries.onnx", axis=2, merged=False)
    ask = lambda net, view: assay.inspect(tmp_path / net, tmp_path / "data.npz", view=view, hypotheses="label")  # noqa: E731
    with pytest.raises(assay.UsageError, match="with 2 rows of each record merged into its first axis, and its weights never have an axis of heads; heads= reads"):
        ask("merged.onnx", "layer=mixed,attention=variance")
    with pytest.raises(assay.UsageError, match="not an attention over tokens: its softmax is along axis 2 of 4"):
        ask("queries.onnx", "layer=mixed,heads=norm")
    with pytest.raises(assay.UsageError, match="has no attention"):
        ask("queries.onnx", "heads=norm")


def test_a_view_that_no_group_and_no_search_looks_at_is_refused(folder, work, program, monkeypatch):
    monkeypatch.chdir(folder)
    with pytest.raises(assay.UsageError, match="view has no effect where other layers are named"):
        assay.inspect("net.onnx", "train.npz", view="heads=norm", units="layer=stream", hypotheses="label")
    assert assay.inspect("net.onnx", "train.npz", view="heads=norm", units=["layer=stream", "layer=mixed/heads/norm"], hypotheses="label").facts
    monkeypatch.chdir(work)
    np.savez("directions.npz", d=np.random.default_rng(1).normal(size=(2, 10)).astype(np.float32))
    with pytest.raises(assay.UsageError, match="view has no effect where other layers are named"):
        assay.explore("net.onnx", mutant="int8@all", data="test.npz,range=0:1[:2]", constraint="none", iterations=1, pictures=0,
                      view="layer=-1,directions=directions.npz,name=seen", units="layer=-2")  # fmt: skip


def write_rows(path):
    """Dense layers over positions of numbers, so that records have a valid range."""
    w = weights()
    nodes = [("MatMul", ["x", "up"], ["risen"], {}), ("Relu", ["risen"], ["active"], {}), ("Identity", ["active"], ["kept"], {}), *HEAD]
    build(path, nodes, {"x": ["f", LENGTH, WIDTH]}, CLASSES, {"up": w["up"], "along": whole(1), "head": w["head"][:HIDDEN]})


def test_a_search_lifts_the_relevant_units_of_a_view_and_audits_read_mutants(program, tmp_path):
    write_rows(tmp_path / "net.onnx")
    x = np.random.default_rng(3).random((40, LENGTH, WIDTH)).astype(np.float32)
    labels = assay.load(tmp_path / "net.onnx")(x).argmax(1)
    np.savez(tmp_path / "data.npz", x=x, y=labels)
    view = ["--view", "layer=active,tokens=max", "--criterion", "nc[threshold=0.5]"]
    names = [row["name"] for row in program(tmp_path, "model", "net.onnx", *view[:2])["tables"]["layers"]["rows"]]
    view[1] = view[1].replace("active", names[0])
    found = program(tmp_path, "explore", "net.onnx", "--mutant", "int8@all", "--data", "data.npz,range=0:1[:4]", "--constraint", "none",
                    "--iterations", "3", "--pictures", "0", "--out", "explored", "--choice", "relevant", *view)  # fmt: skip
    assert found["facts"]
    program(tmp_path, "mutate", "net.onnx", "--test", "data.npz", "--operator", "gf[sigma=2]", "--count", "6", "--quality", "1", "--state", "m.state")
    audited = program(tmp_path, "audit", "net.onnx", "data.npz", "--train", "data.npz", "--mutants", "m.state", "--quality", "1", "--subsets", "10",
                      "--permutations", "19", "--resamples", "20", "--orders", "19", "--sizes", "20", "--sampler", "uniform", *view)  # fmt: skip
    assert audited["tables"]
