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


def test_rows_of_tokens_that_were_cut_or_joined_are_not_attacked(tmp_path):
    """Where a reshape leaves other axes than records and tokens, changes could not be told from each other."""
    onnx = need("onnx")
    folder, *_ = write_network(tmp_path, reshaped=True)
    model = onnx.load(folder / "model.onnx")
    gather = next(node for node in model.graph.node if node.op_type == "Gather")
    gather.output[0] = "flat"
    place = list(model.graph.node).index(gather)
    model.graph.node.insert(place + 1, onnx.helper.make_node("Reshape", ["flat", "back"], ["found"]))
    kept = [one for one in model.graph.initializer if one.name != "shape"]
    del model.graph.initializer[:]
    model.graph.initializer.extend(kept)
    for name, shape in (("shape", [-1]), ("back", [-1, 6, WIDTH])):
        model.graph.initializer.append(onnx.numpy_helper.from_array(np.array(shape, np.int64), name))
    onnx.save(model, folder / "model.onnx")
    with pytest.raises(assay.UnsupportedError, match=r"looks tokens up in the shape .* so they cannot be attacked"):
        assay.attack(folder, f"{folder / 't.txt'},tokenizer={folder}", attack="hotflip[changes=3]", out=str(folder / "out"))


class Searched:
    """A model of `transformers` and its file, for searches written once more in PyTorch: tokens are one-hot rows times the table."""

    def __init__(self, kind, folder):
        torch, transformers = need("torch"), need("transformers")
        need("onnxscript")
        torch.manual_seed(6)
        sizes = dict(vocab_size=300, initializer_range=0.4)
        if kind == "bert":
            config = transformers.BertConfig(
                hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=16, max_position_embeddings=12, num_labels=3, **sizes
            )
            self.model = transformers.BertForSequenceClassification(config).eval()
        else:
            config = transformers.GPT2Config(n_positions=12, n_embd=16, n_layer=1, n_head=2, use_cache=False, bos_token_id=1, eos_token_id=1, **sizes)
            self.model = transformers.GPT2LMHeadModel(config).eval()
        rng = np.random.default_rng(8)
        self.ids, self.mask = rng.integers(2, 300, (10, 7)), np.ones((10, 7), np.int64)
        for row, length in enumerate(rng.integers(4, 8, 10)):
            self.ids[row, length:] = self.mask[row, length:] = 0
        self.table = self.model.get_input_embeddings().weight.detach()
        self.last = None if kind == "bert" else self.mask.sum(1) - 1
        given = {"input_ids": torch.tensor(self.ids), "attention_mask": torch.tensor(self.mask)}
        axes = {0: torch.export.Dim("records"), 1: torch.export.Dim("tokens")}
        torch.onnx.export(
            self.model, (), folder / "net.onnx", kwargs=given, dynamo=True, external_data=False, verbose=False, output_names=["logits"],
            dynamic_shapes={name: axes for name in given},
        )  # fmt: skip
        self.y = np.array([int(self.scores(row, ids).argmax()) for row, ids in enumerate(self.ids)])
        np.savez(folder / "data.npz", input_ids=self.ids, attention_mask=self.mask, y=self.y)
        self.flags = {} if kind == "bert" else {"decision": "position=last,answers=#7+#9+#11"}

    def from_rows(self, row, rows):
        torch = need("torch")
        logits = self.model(inputs_embeds=rows[None], attention_mask=torch.tensor(self.mask[row : row + 1])).logits[0]
        return logits if self.last is None else logits[self.last[row], [7, 9, 11]]

    def scores(self, row, ids):
        with need("torch").no_grad():
            return self.from_rows(row, self.table[ids])

    def margin(self, row, ids):
        scores = self.scores(row, ids).numpy()
        return scores[self.y[row]] - np.delete(scores, self.y[row]).max()

    def gains(self, row, ids):
        """[tokens, words]: how the loss grows with each entry of the one-hot rows, less that of what is there."""
        torch = need("torch")
        hot = torch.nn.functional.one_hot(torch.tensor(ids), 300).float().requires_grad_()
        torch.nn.functional.cross_entropy(self.from_rows(row, hot @ self.table)[None], torch.tensor([self.y[row]])).backward()
        gains = (hot.grad - hot.grad.gather(1, torch.tensor(ids)[:, None])).numpy()
        gains[self.mask[row] == 0] = 0
        return gains

    def stored(self, folder, attack):
        assay.attack(folder / "net.onnx", folder / "data.npz", attack=attack, out=str(folder / "out"), **self.flags)
        with np.load(folder / "out" / f"{attack.split('[')[0]}.npz") as stored:
            return dict(zip(stored["original"], stored["input_ids"]))


@pytest.fixture(scope="module", params=["bert", "gpt2"])
def searched(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp(request.param)
    return folder, Searched(request.param, folder)


def test_hotflip_of_models_of_transformers(searched):
    """Also where the best changes are all of a position that has changed."""
    folder, plain = searched
    turns = 0
    for row, found in plain.stored(folder, "hotflip[changes=4,tried=1]").items():
        ids, changed = plain.ids[row].copy(), []
        while len(changed) < 4 and plain.margin(row, ids) >= 0:
            gains = plain.gains(row, ids)
            gains[changed] = 0
            if gains.max() <= 0:
                break
            position, token = divmod(int(gains.argmax()), 300)
            ids[position], changed = token, [*changed, position]
        np.testing.assert_array_equal(found, ids)
        turns += len(changed) > 1
    assert turns > 2


def test_a_round_of_gcg_takes_the_best_of_all_that_it_may_draw(searched):
    folder, plain = searched
    for row, found in plain.stored(folder, "gcg[steps=1,candidates=2000,top=3,changes=1]").items():
        gains, candidates = plain.gains(row, plain.ids[row]), []
        for position in np.flatnonzero(plain.mask[row]):
            for token in np.argsort(-gains[position])[:3]:
                if gains[position, token] > 0:
                    candidates.append(plain.ids[row].copy())
                    candidates[-1][position] = token
        margins = [plain.margin(row, one) for one in candidates]
        assert len(candidates) > 3 and plain.margin(row, found) == pytest.approx(min(margins), abs=1e-5)


def test_steps_between_rows_are_projected_to_the_nearest_tokens(searched):
    folder, plain = searched
    torch = need("torch")
    centred = plain.table - plain.table.mean(0)
    length, moved = 0.8 * float((centred**2).sum(1).mean() ** 0.5), 0
    for row, found in plain.stored(folder, "embedding-pgd[changes=2,steps=6,step=0.8]").items():
        start, label, real = plain.table[plain.ids[row]], torch.tensor([plain.y[row]]), np.flatnonzero(plain.mask[row])
        rows, best, least = start.clone(), plain.ids[row], plain.margin(row, plain.ids[row])
        for _ in range(6):
            rows = rows.detach().requires_grad_()
            torch.nn.functional.cross_entropy(plain.from_rows(row, rows)[None], label).backward()
            step = torch.zeros_like(rows)
            step[real] = length * rows.grad[real] / rows.grad[real].norm(dim=1, keepdim=True).clamp_min(1e-30)
            rows = rows.detach() + step
            nearest = torch.cdist(rows, plain.table).argmin(1).numpy()
            ids, order = plain.ids[row].copy(), sorted(real, key=lambda i: -float((rows[i] - start[i]).norm()))
            for position in [i for i in order if nearest[i] != ids[i]][:2]:
                ids[position] = nearest[position]
            if least >= 0 and plain.margin(row, ids) < least:
                best, least = ids, plain.margin(row, ids)
        np.testing.assert_array_equal(found, best)
        moved += (best != plain.ids[row]).any()
    assert moved > 2


def test_a_share_of_changes_below_one_token_is_said(network):
    folder, *_ = network
    found = assay.attack(folder, f"{folder / 't.txt'},tokenizer={folder}", attack="gcg[changes=0.01]", out=str(folder / "out"))
    said = [row["ending"] for row in found.table("endings")]
    assert said
    for text in said:
        assert "changes=0.01 of " in text and "comes to 0.0" in text and "less than one; give changes= a number of tokens, as changes=1" in text


def write_with_caches(kind, folder):
    """The model of `transformers`, written plainly and with inputs of positions and of what was computed of earlier tokens."""
    torch, transformers = need("torch"), need("transformers")
    need("onnxscript")
    torch.manual_seed(6)
    sizes = dict(vocab_size=60, initializer_range=0.4, bos_token_id=1, eos_token_id=1, pad_token_id=0)
    if kind == "gpt2":
        model = transformers.GPT2LMHeadModel(transformers.GPT2Config(n_positions=24, n_embd=16, n_layer=2, n_head=2, **sizes)).eval()
    else:
        wide = dict(hidden_size=16, intermediate_size=32, num_hidden_layers=2, num_attention_heads=2, num_key_value_heads=1)
        model = transformers.LlamaForCausalLM(transformers.LlamaConfig(max_position_embeddings=24, **wide, **sizes)).eval()

    class Cached(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.model = model

        def forward(self, input_ids, attention_mask, position_ids, past):
            pairs = list(zip(past[::2], past[1::2]))
            found = self.model(input_ids=input_ids, attention_mask=attention_mask, position_ids=position_ids,
                               past_key_values=transformers.DynamicCache(pairs), use_cache=True)  # fmt: skip
            return (found.logits, *(part for layer in found.past_key_values.layers for part in (layer.keys, layer.values)))

    ids, places, free = torch.ones((2, 8), dtype=torch.int64), torch.arange(8).repeat(2, 1), torch.export.Dim.DYNAMIC
    parts = [f"{layer}.{part}" for layer in range(2) for part in ("key", "value")]
    before = torch.zeros(2, 2 if kind == "gpt2" else 1, 3, 8)
    given = {"input_ids": ids, "attention_mask": torch.ones((2, 11), dtype=torch.int64), "position_ids": places, "past": [before] * len(parts)}
    axes = {name: {0: free, 1: free} for name in list(given)[:3]} | {"past": [{0: free, 2: free}] * len(parts)}
    names = [*list(given)[:3], *(f"past_key_values.{part}" for part in parts)]
    export = dict(dynamo=True, external_data=False, verbose=False)
    torch.onnx.export(Cached().eval(), (), folder / "cached.onnx", kwargs=given, input_names=names, dynamic_shapes=axes,
                      output_names=["logits", *(f"present.{part}" for part in parts)], **export)  # fmt: skip
    model.config.use_cache = False
    given = {"input_ids": ids, "attention_mask": torch.ones_like(ids), "position_ids": places}
    torch.onnx.export(model, (), folder / "plain.onnx", kwargs=given, dynamic_shapes={name: axes[name] for name in given}, output_names=["logits"], **export)
    return model


@pytest.mark.parametrize("kind", ["gpt2", "llama"])
def test_models_with_caches_and_positions_are_attacked_as_those_without(kind, tmp_path):
    torch = need("torch")
    model = write_with_caches(kind, tmp_path)
    rng = np.random.default_rng(8)
    ids, mask = rng.integers(2, 60, (6, 12)), np.ones((6, 12), np.int64)
    for row, length in enumerate(rng.integers(8, 13, 6)):
        ids[row, length:] = mask[row, length:] = 0
    last, positions = mask.sum(1) - 1, np.maximum(mask.cumsum(1) - mask, 0)

    def scores(tokens):
        with torch.no_grad():
            found = model(torch.tensor(tokens), attention_mask=torch.tensor(mask[: len(tokens)]), position_ids=torch.tensor(positions[: len(tokens)]))
        return found.logits.numpy()[np.arange(len(tokens)), last[: len(tokens)]][:, [7, 9, 11]]

    y = scores(ids).argmax(1)
    data = tmp_path / "data.npz"
    np.savez(data, input_ids=ids, attention_mask=mask, position_ids=positions, y=y)
    decision = "position=last,answers=#7+#9+#11"
    given = {"input_ids": ids, "attention_mask": mask, "position_ids": positions}
    for name in ("plain", "cached"):
        np.testing.assert_allclose(assay.load(tmp_path / f"{name}.onnx", decision=decision)(given), scores(ids), rtol=1e-3, atol=1e-4)
    for attack in ("hotflip[changes=3]", "gcg[steps=3,candidates=16,changes=3]", "gcg[steps=3,candidates=16,changes=3,positions=last4]"):
        found = {}
        for name in ("plain", "cached"):
            assay.attack(tmp_path / f"{name}.onnx", data, attack=attack, decision=decision, out=str(tmp_path / name))
            with np.load(tmp_path / name / f"{attack.split('[')[0]}.npz") as stored:
                found[name] = {key: stored[key] for key in ("original", "input_ids", "success")}
        np.testing.assert_array_equal(found["cached"]["input_ids"], found["plain"]["input_ids"])
        changed = ids.copy()
        changed[found["cached"]["original"]] = found["cached"]["input_ids"]
        now = scores(changed).argmax(1)[found["cached"]["original"]] != y[found["cached"]["original"]]
        np.testing.assert_array_equal(now, found["cached"]["success"].astype(bool))
