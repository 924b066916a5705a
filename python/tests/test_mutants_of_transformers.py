"""Mutants of models of `transformers`: each fault made once more in PyTorch, and killing by divergence judged once more in NumPy. Mutants
run in ONNX Runtime."""

import re

import numpy as np
import pytest

WORDS, LENGTH, RECORDS = 60, 10, 24
SIZES = dict(hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=48, vocab_size=WORDS, max_position_embeddings=24)
SPREAD = dict(initializer_range=0.3, attn_implementation="eager")
MODELS = {
    "bert": lambda t: t.BertForSequenceClassification(t.BertConfig(num_labels=3, **SIZES, **SPREAD)),
    "gpt2": lambda t: t.GPT2LMHeadModel(
        t.GPT2Config(vocab_size=WORDS, n_positions=24, n_embd=32, n_layer=2, n_head=4, use_cache=False, bos_token_id=1, eos_token_id=1, **SPREAD)
    ),
    "llama": lambda t: t.LlamaForCausalLM(t.LlamaConfig(num_key_value_heads=2, use_cache=False, pad_token_id=0, **SIZES, **SPREAD)),
}


def need(name):
    return pytest.importorskip(name, reason=f"SKIPPED: the package {name} is not there")


def padded_tokens():
    rng = np.random.default_rng(5)
    ids, mask = rng.integers(2, WORDS, (RECORDS, LENGTH)), np.ones((RECORDS, LENGTH), np.int64)
    for row, length in enumerate(rng.integers(5, LENGTH + 1, RECORDS)):
        ids[row, length:] = mask[row, length:] = 0
    return ids, mask


def answers_at_last(logits, mask):
    """Scores of records: those of a classifier, or of two tokens at the last position."""
    return logits if logits.ndim == 2 else logits[np.arange(len(logits)), mask.sum(1) - 1][:, [7, 9]]


class Exported:
    """A model of PyTorch, the file of it, and what both say."""

    def __init__(self, kind, folder):
        transformers, torch = need("transformers"), need("torch")
        need("onnxscript")
        torch.manual_seed(3)
        self.kind, self.folder, self.model = kind, folder, MODELS[kind](transformers).eval()
        with torch.no_grad():
            for parameter in self.model.parameters():
                if parameter.ndim == 1:
                    parameter.add_(0.3 * torch.randn(parameter.shape))
        self.ids, self.mask = padded_tokens()
        records, tokens = torch.export.Dim("records"), torch.export.Dim("tokens")
        torch.onnx.export(
            self.model, (), folder / "net.onnx", kwargs=self.inputs(), dynamo=True, external_data=False, verbose=False, output_names=["logits"],
            dynamic_shapes={name: {0: records, 1: tokens} for name in self.inputs()},
        )  # fmt: skip
        self.logits = self.by_torch()
        decided = answers_at_last(self.logits, self.mask).argmax(1)
        np.savez(folder / "test.npz", input_ids=self.ids, attention_mask=self.mask, y=decided)
        self.flags = [] if kind == "bert" else ["--decision", "position=last,answers=#7+#9"]
        self.agrees(self.by_runtime("net.onnx"), self.logits)

    def inputs(self):
        torch = need("torch")
        return {"input_ids": torch.tensor(self.ids), "attention_mask": torch.tensor(self.mask)}

    def by_torch(self, **more):
        with need("torch").no_grad():
            return self.model(**self.inputs(), **more).logits.numpy()

    def by_runtime(self, name):
        session = need("onnxruntime").InferenceSession(self.folder / name)
        return session.run(None, {"input_ids": self.ids, "attention_mask": self.mask})[0]

    def agrees(self, found, wanted):
        real = slice(None) if found.ndim == 2 else self.mask.astype(bool)
        np.testing.assert_allclose(found[real], wanted[real], rtol=1e-3, atol=1e-3)

    def blocks(self):
        """Of each: the projection that reads the joined heads, that of the dense layers' result, and the attention."""
        if self.kind == "bert":
            return [(b.attention.output.dense, b.output.dense, b.attention.self) for b in self.model.bert.encoder.layer]
        if self.kind == "gpt2":
            return [(b.attn.c_proj, b.mlp.c_proj, b.attn) for b in self.model.transformer.h]
        return [(b.self_attn.o_proj, b.mlp.down_proj, b.self_attn) for b in self.model.model.layers]

    def tables(self):
        """Of tokens and of positions."""
        if self.kind == "bert":
            return self.model.bert.embeddings.word_embeddings, self.model.bert.embeddings.position_embeddings
        if self.kind == "gpt2":
            return self.model.transformer.wte, self.model.transformer.wpe
        return self.model.model.embed_tokens, None


@pytest.fixture(scope="module", params=MODELS)
def network(request, tmp_path_factory):
    return Exported(request.param, tmp_path_factory.mktemp(request.param))


def mutants_of(program, network, operator, count=3):
    rows = program(network.folder, "mutate", "list", "net.onnx", "test.npz", "--operator", operator, "--count", count)["tables"]["mutants"]["rows"]
    assert rows, operator
    for row in rows:
        headline = program(network.folder, "mutate", "export", "net.onnx", "test.npz", "--mutant", row["text"], "--out", "mutant.onnx")["headline"]
        yield re.search("@(.*)#", row["text"])[1], headline


def constants_of(path):
    onnx = need("onnx")
    graph = onnx.load(path).graph
    return {one.name: onnx.numpy_helper.to_array(one) for one in graph.initializer}, {node.name: node for node in graph.node}


class Changed:
    """What one matrix of the model is in the mutant: found by its values, which are those of one parameter, or its transpose."""

    def __init__(self, network, layer=None):
        before, nodes = constants_of(network.folder / "net.onnx")
        after, changed = constants_of(network.folder / "mutant.onnx")
        names = [layer] if layer else list(nodes)
        pairs = [(before.get(a), after.get(b)) for name in names for a, b in zip(nodes[name].input, changed[name].input)]
        pairs = [(a, b) for a, b in pairs if a is not None and b is not None and a.shape == b.shape and not np.array_equal(a, b)]
        self.old, self.new = pairs[0]
        assert all(np.array_equal(b, self.new) for _, b in pairs)
        self.module = next(
            module for module in network.model.modules() if module is not network.model for parameter in [getattr(module, "weight", None)]
            if parameter is not None and self.as_held(parameter) is not None
        )  # fmt: skip

    def as_held(self, parameter):
        values = parameter.detach().numpy()
        return next((one for one in (values, values.T) if one.shape == self.old.shape and np.array_equal(one, self.old)), None)

    def turned(self, parameter):
        return not np.array_equal(parameter.detach().numpy(), self.old)


class Faulty:
    """A model with another weight in one module, for a while. Other modules that share the parameter keep it."""

    def __init__(self, module, values, turned=False, name="weight"):
        torch = need("torch")
        self.module, self.name, self.kept = module, name, getattr(module, name)
        self.values = torch.nn.Parameter(torch.tensor(np.ascontiguousarray(values.T if turned else values)), requires_grad=False)

    def __enter__(self):
        setattr(self.module, self.name, self.values)

    def __exit__(self, *_):
        setattr(self.module, self.name, self.kept)


def projection_of(network, layer):
    """The block whose projection of joined heads, or of the dense layers' result (1), is this layer."""
    constants, nodes = constants_of(network.folder / "net.onnx")
    held = [constants[name] for name in nodes[layer].input if name in constants and constants[name].ndim == 2]
    for block in network.blocks():
        for which in (0, 1):
            values = block[which].weight.detach().numpy()
            if any(one.shape == held[0].shape and np.array_equal(one, held[0]) for one in (values, values.T)):
                return block, which
    raise AssertionError(layer)


def differs(network, wanted):
    return np.abs(wanted - network.logits)[network.mask.astype(bool) if wanted.ndim == 3 else slice(None)].max() > 1e-3


@pytest.mark.parametrize("kind", ["zero", "swap"])
def test_heads(program, network, kind):
    for layer, headline in mutants_of(program, network, f"head[kind={kind}]"):
        heads = [int(n) for n in re.findall(r"\d+", headline.split(layer)[-1])][: 1 if kind == "zero" else 2]
        block, which = projection_of(network, layer)
        assert which == 0

        def fault(_, arguments, heads=heads):
            apart = arguments[0].clone().unflatten(-1, (4, 8))
            apart[..., heads, :] = 0 if kind == "zero" else apart[..., heads[::-1], :]
            return (apart.flatten(-2),)

        hook = block[0].register_forward_pre_hook(fault)
        wanted = network.by_torch()
        hook.remove()
        network.agrees(network.by_runtime("mutant.onnx"), wanted)
        assert differs(network, wanted)


def test_skipped_blocks(program, network):
    skipped = set()
    for layer, _ in mutants_of(program, network, "skip", 9):
        block, which = projection_of(network, layer)
        hook = block[which].register_forward_hook(lambda _, __, given: 0 * given)
        wanted = network.by_torch()
        hook.remove()
        network.agrees(network.by_runtime("mutant.onnx"), wanted)
        assert differs(network, wanted)
        skipped.add(layer)
    assert len(skipped) == 4


def test_gains(program, network):
    found = 0
    for layer, _ in mutants_of(program, network, "gain[factor=0.3]", 9):
        changed = Changed(network)
        with Faulty(changed.module, 0.3 * changed.old):
            wanted = network.by_torch()
        network.agrees(network.by_runtime("mutant.onnx"), wanted)
        assert differs(network, wanted) and "orm" in type(changed.module).__name__
        found += 1
    assert found == 5  # all of the model


def test_masks(program, network):
    masks = 0
    for layer, _ in mutants_of(program, network, "mask"):
        block, _ = projection_of(network, layer)
        hook = block[2].register_forward_pre_hook(lambda _, a, k: (a, {**k, "attention_mask": None}), with_kwargs=True)
        wanted = network.by_torch()
        hook.remove()
        network.agrees(network.by_runtime("mutant.onnx"), wanted)
        assert differs(network, wanted)
        masks += 1
    assert masks == 2


def test_positions(program, network):
    torch = need("torch")
    table = network.tables()[1]
    for _, headline in mutants_of(program, network, "positions[window=4]"):
        if table is not None:
            changed = Changed(network)
            assert changed.module is table and sorted(map(bytes, changed.old)) == sorted(map(bytes, changed.new))
            with Faulty(table, changed.new):
                wanted = network.by_torch()
        else:
            within = [int(n) for n in re.search(r"in the order ([\d ]+)", headline)[1].split()]
            order = torch.tensor([position - position % 4 + within[position % 4] for position in range(LENGTH)])
            wanted = network.by_torch(position_ids=order.expand(RECORDS, -1))
        network.agrees(network.by_runtime("mutant.onnx"), wanted)
        assert differs(network, wanted)


def test_noise_on_embeddings(program, network):
    noise = []
    for _ in mutants_of(program, network, "embedding[ratio=0.25,sigma=0.5]"):
        changed = Changed(network)
        rows = (changed.old != changed.new).any(1)
        assert rows.sum() == 15 and changed.module is network.tables()[0]
        noise.append((changed.new - changed.old)[rows])
        with Faulty(changed.module, changed.new):
            wanted = network.by_torch()
        network.agrees(network.by_runtime("mutant.onnx"), wanted)
        assert differs(network, wanted)
    assert np.std(noise) == pytest.approx(0.5 * changed.old.std(), rel=0.1)


def check_weights(program, network, operator, rule):
    for layer, _ in mutants_of(program, network, operator, 5):
        changed = Changed(network, layer)
        rule(changed)
        with Faulty(changed.module, changed.new, changed.turned(changed.module.weight)):
            wanted = network.by_torch()
        if np.isfinite(wanted).all():
            network.agrees(network.by_runtime("mutant.onnx"), wanted)


def test_noise_of_low_rank(program, network):
    def rule(changed):
        values = np.linalg.svd((changed.new - changed.old).astype(np.float64), compute_uv=False)
        assert values[1] > 1e-2 * values[0] and values[2] < 1e-5 * values[0]
        assert (changed.new - changed.old).std() == pytest.approx(0.5 * changed.old.std(), rel=0.6)

    check_weights(program, network, "lowrank[rank=2,sigma=0.5]", rule)


@pytest.mark.parametrize("bits, top", [(8, 127), (4, 7)])
def test_integers(program, network, bits, top):
    from torch import nn

    def rule(changed):
        neurons_first = isinstance(changed.module, nn.Linear) != changed.turned(changed.module.weight)
        rows = changed.old if neurons_first else changed.old.T
        scale = np.abs(rows).max(1, keepdims=True) / np.float32(top)
        wanted = scale * np.round(rows / scale)
        np.testing.assert_allclose(changed.new if neurons_first else changed.new.T, wanted, rtol=1e-5, atol=1e-7)

    check_weights(program, network, f"int{bits}", rule)


def test_flips_in_exponents(program, network):
    def rule(changed):
        bits = changed.old.view(np.uint32) ^ changed.new.view(np.uint32)
        flipped = bits[bits != 0]
        assert len(flipped) == 1 and int(flipped[0]).bit_count() == 1 and 1 << 23 <= flipped[0] <= 1 << 30

    check_weights(program, network, "bitflip[bits=exponent]", rule)


def softmax(scores):
    powers = np.exp(np.float64(scores) - np.float64(scores).max(1, keepdims=True))
    return powers / powers.sum(1, keepdims=True)


def js(p, q):
    return sum((one * np.log(one / ((p + q) / 2))).sum(1) for one in (p, q)) / 2


def noise_floor(network):
    """The greatest divergence on a record when the weights of all layers are rounded to bfloat16."""
    torch = need("torch")
    layers = [m for m in network.model.modules() if isinstance(m, torch.nn.Linear) or type(m).__name__ == "Conv1D"]
    kept = [one.weight for one in layers]
    for one in layers:
        one.weight = torch.nn.Parameter(one.weight.detach().bfloat16().float(), requires_grad=False)
    rounded = network.by_torch()
    for one, weight in zip(layers, kept):
        one.weight = weight
    return js(*(softmax(answers_at_last(one, network.mask)) for one in (network.logits, rounded))).max()


def test_answers_beyond_the_noise_floor_kill(program, network):
    operators = ["gain[factor=0.9]", "embedding[ratio=0.05]", "int8", "int4", "head", "bitflip[bits=exponent]"]
    flags = [word for one in operators for word in ("--operator", one)]
    found = program(network.folder, "mutate", "net.onnx", "test.npz", *flags, "--count", 4, "--divergence", "js", *network.flags)
    floor = float(re.fullmatch(r"js above (\S+) nats", found["facts"]["divergence"])[1])
    assert floor == pytest.approx(noise_floor(network), rel=0.02)
    original = answers_at_last(network.logits, network.mask)
    only_by_divergence = 0
    for row in found["tables"]["mutants"]["rows"]:
        text = row.get("text") or f"{row['operator']}@{row['layer']}#{row['seed']}"
        program(network.folder, "mutate", "export", "net.onnx", "test.npz", "--mutant", text, "--out", "mutant.onnx")
        scores = answers_at_last(network.by_runtime("mutant.onnx"), network.mask)
        with np.errstate(all="ignore"):
            apart = js(softmax(original), softmax(scores))
        other = (scores.argmax(1) != original.argmax(1)) | ~np.isfinite(scores).all(1)  # what is not a number decides nothing
        surely, perhaps = (other | (apart > bound * floor) for bound in (1.02, 0.98))
        assert surely.sum() <= row["killers"] <= perhaps.sum(), text
        only_by_divergence += ((apart > 1.02 * floor) & ~other).any()
    assert only_by_divergence > 0
