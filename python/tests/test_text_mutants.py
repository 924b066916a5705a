"""Mutants of transformers against a plain writing in NumPy, and killing by the divergence of answers."""

import re

import numpy as np
import pytest

import assay

VOCABULARY, WIDTH, HEADS, CLASSES, LENGTH = 20, 8, 2, 3, 8
SIZE = WIDTH // HEADS
KINDS = ["table", "rotary"]
RECORDS = 40


def need(name):
    return pytest.importorskip(name, reason=f"SKIPPED: the package {name} is not there")


def weights_of(kind):
    rng = np.random.default_rng(7 if kind == "table" else 8)
    shapes = {
        "word": (VOCABULARY, WIDTH), "place": (LENGTH, WIDTH), "q": (WIDTH, WIDTH), "k": (WIDTH, WIDTH), "v": (WIDTH, WIDTH),
        "o": (WIDTH, WIDTH), "scale": (WIDTH,), "shift": (WIDTH,), "head": (WIDTH, CLASSES),
    }
    scales = {"head": 0.02, "word": 1.0, "scale": 1.0}  # so that answers are not all certain
    made = {name: rng.normal(size=shape, scale=scales.get(name, 0.6)).astype(np.float32) for name, shape in shapes.items()}
    return {**made, "frequencies": np.array([1.0, 0.3], np.float32)}


def write(kind, path):
    """Causal attention of two heads between embeddings and a classifier. `table`: a row a position, layer normalisation and a mask
    that is added; `rotary`: positions turn queries and keys, norms are written out, and a mask chooses."""
    onnx = need("onnx")
    from onnx import TensorProto, helper, numpy_helper

    node, constants = helper.make_node, []

    def number(name, value, type=np.int64):
        constants.append(numpy_helper.from_array(np.array(value, type), name))
        return name

    nodes = [node("Gather", ["word", "input_ids"], ["words"])]
    if kind == "table":
        nodes += [
            node("Range", [number("first", 0), number("length", LENGTH), number("step", 1)], ["numbers"]),
            node("Gather", ["place", "numbers"], ["places"]),
            node("Add", ["words", "places"], ["x"]),
            node("LayerNormalization", ["x", "scale", "shift"], ["normal"], axis=-1, epsilon=1e-5),
        ]
    else:
        nodes += [
            node("Identity", ["words"], ["x"]),
            node("Mul", ["x", "x"], ["squares"]),
            node("ReduceMean", ["squares"], ["mean"], axes=[-1]),
            node("Add", ["mean", number("epsilon", 1e-5, np.float32)], ["kept"]),
            node("Sqrt", ["kept"], ["root"]),
            node("Reciprocal", ["root"], ["inverse"]),
            node("Mul", ["x", "inverse"], ["plain"]),
            node("Mul", ["scale", "plain"], ["normal"]),
            node("Range", [number("first", 0), number("length", LENGTH), number("step", 1)], ["numbers"]),
            node("Cast", ["numbers"], ["real"], to=TensorProto.FLOAT),
            node("Unsqueeze", ["real", number("upright", [1])], ["column"]),
            node("Mul", ["column", "frequencies"], ["half"]),
            node("Concat", ["half", "half"], ["angles"], axis=-1),
            node("Cos", ["angles"], ["cosine"]),
            node("Sin", ["angles"], ["sine"]),
        ]
    for role in "qkv":
        turned = kind == "rotary" and role != "v"
        nodes += [
            node("MatMul", ["normal", role], [role + "_flat"]),
            node("Reshape", [role + "_flat", number(role + "_shape", (0, LENGTH, HEADS, SIZE))], [role + "_apart"]),
            node("Transpose", [role + "_apart"], [role + ("_straight" if turned else "_heads")], perm=[0, 2, 1, 3]),
        ]
        if turned:
            nodes += [
                node("Split", [role + "_straight"], [role + "_1", role + "_2"], axis=-1),
                node("Neg", [role + "_2"], [role + "_minus"]),
                node("Concat", [role + "_minus", role + "_1"], [role + "_aside"], axis=-1),
                node("Mul", [role + "_straight", "cosine"], [role + "_cosine"]),
                node("Mul", [role + "_aside", "sine"], [role + "_sine"]),
                node("Add", [role + "_cosine", role + "_sine"], [role + "_heads"]),
            ]
    later = np.triu(np.ones((LENGTH, LENGTH), bool), 1)
    nodes += [
        node("Transpose", ["k_heads"], ["keys"], perm=[0, 1, 3, 2]),
        node("MatMul", ["q_heads", "keys"], ["products"]),
        node("Mul", ["products", number("size", SIZE**-0.5, np.float32)], ["scores"]),
        node("Add", ["scores", number("causal", np.where(later, -1e9, 0), np.float32)], ["masked"])
        if kind == "table"
        else node("Where", [number("seen", ~later, bool), "scores", number("never", -1e9, np.float32)], ["masked"]),
        node("Softmax", ["masked"], ["attention"], axis=-1),
        node("MatMul", ["attention", "v_heads"], ["mixed"]),
        node("Transpose", ["mixed"], ["by_position"], perm=[0, 2, 1, 3]),
        node("Reshape", ["by_position", number("joined", (0, LENGTH, WIDTH))], ["joined_heads"]),
        node("MatMul", ["joined_heads", "o"], ["attended"]),
        node("Add", ["x", "attended"], ["out"]),
        node("ReduceSum", ["out", number("tokens", [1])], ["sum"], keepdims=0),
        node("MatMul", ["sum", "head"], ["logits"]),
    ]
    used = {name for one in nodes for name in one.input}
    graph = helper.make_graph(
        nodes, kind, [helper.make_tensor_value_info("input_ids", TensorProto.INT64, ["n", LENGTH])],
        [helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["n", CLASSES])],
        [*(numpy_helper.from_array(v, n) for n, v in weights_of(kind).items() if n in used), *constants],
    )
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)


def plain(kind, ids, *, mask=True, order=tuple(range(LENGTH)), **changed):
    """Logits in double precision; weights may be others, attention unmasked, positions in another order."""
    w = {name: np.asarray(values, np.float64) for name, values in {**weights_of(kind), **changed}.items()}
    x = w["word"][ids]
    if kind == "table":
        x = x + w["place"][list(order)]
        normal = (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + 1e-5) * w["scale"] + w["shift"]
    else:
        normal = x / np.sqrt((x * x).mean(-1, keepdims=True) + 1e-5) * w["scale"]
    q, k, v = ((normal @ w[role]).reshape(len(ids), LENGTH, HEADS, SIZE).swapaxes(1, 2) for role in "qkv")
    if kind == "rotary":
        angles = np.tile(np.array(order)[:, None] * w["frequencies"], 2)
        q, k = (z * np.cos(angles) + np.concatenate([-z[..., 2:], z[..., :2]], -1) * np.sin(angles) for z in (q, k))
    scores = q @ k.swapaxes(2, 3) * SIZE**-0.5
    if mask:
        scores = np.where(np.triu(np.ones((LENGTH, LENGTH), bool), 1), -1e9, scores)
    attention = np.exp(scores - scores.max(-1, keepdims=True))
    attention /= attention.sum(-1, keepdims=True)
    joined = (attention @ v).swapaxes(1, 2).reshape(len(ids), LENGTH, WIDTH)
    return (x + joined @ w["o"]).sum(1) @ w["head"]


@pytest.fixture(scope="module")
def records():
    return np.random.default_rng(3).integers(0, VOCABULARY, size=(RECORDS, LENGTH))


@pytest.fixture(params=KINDS)
def network(request, tmp_path, records):
    """Kind, folder with net.onnx and test.npz, and logits."""
    write(request.param, tmp_path / "net.onnx")
    logits = plain(request.param, records)
    np.savez(tmp_path / "test.npz", input_ids=records, y=logits.argmax(1))
    np.testing.assert_allclose(assay.load(tmp_path / "net.onnx")(records), logits, rtol=1e-4, atol=1e-4)
    return request.param, tmp_path, logits


def mutants_of(program, folder, operator, count=6):
    document = program(folder, "mutate", "list", "net.onnx", "--operator", operator, "--count", count)
    return document["tables"]["mutants"]["rows"]


def exported(program, folder, mutant):
    """The mutated network and what was changed."""
    document = program(folder, "mutate", "export", "net.onnx", "--mutant", mutant, "--out", "mutant.onnx")
    return assay.load(folder / "mutant.onnx"), document["headline"]


def texts_of(rows):
    return [row.get("text") or f"{row['operator']}@{row['layer']}#{row['seed']}" for row in rows]


def differs(logits, others):
    return np.abs(logits - others).max() > 1e-2


def test_a_gain_is_scaled(program, network, records):
    kind, folder, logits = network
    mutants = texts_of(mutants_of(program, folder, "gain[factor=2]"))
    assert len(mutants) == 1 and "@q_flat" in mutants[0]  # the first of three layers that read the norm
    mutated, _ = exported(program, folder, mutants[0])
    wanted = plain(kind, records, scale=2 * weights_of(kind)["scale"])
    np.testing.assert_allclose(mutated(records), wanted, rtol=1e-4, atol=1e-4)
    assert differs(logits, wanted)


def test_a_mask_is_dropped(program, network, records):
    kind, folder, logits = network
    mutants = texts_of(mutants_of(program, folder, "mask"))
    assert len(mutants) == 1 and "@attended" in mutants[0]
    mutated, headline = exported(program, folder, mutants[0])
    wanted = plain(kind, records, mask=False)
    np.testing.assert_allclose(mutated(records), wanted, rtol=1e-4, atol=1e-4)
    assert differs(logits, wanted) and "without mask" in headline


@pytest.mark.parametrize("window", [4, 8])
def test_positions_change_places_within_windows(program, network, records, window):
    kind, folder, logits = network
    mutants = texts_of(mutants_of(program, folder, f"positions[window={window}]"))
    assert len(mutants) == 6
    seen = set()
    for mutant in mutants:
        mutated, headline = exported(program, folder, mutant)
        if kind == "rotary":
            within = [int(n) for n in re.search(r"in the order ([\d ]+)", headline)[1].split()]
            order = [begin + n for begin in range(0, LENGTH, window) for n in within]
        else:
            rows, old = mutated.weight("place"), weights_of(kind)["place"]
            order = [int(np.flatnonzero((old == row).all(1))[0]) for row in rows]
        assert sorted(order) == list(range(LENGTH)) and all(n // window == p // window for p, n in enumerate(order))
        seen.add(tuple(order))
        np.testing.assert_allclose(mutated(records), plain(kind, records, order=order), rtol=1e-4, atol=1e-4)
    assert len(seen) == len(mutants) and tuple(range(LENGTH)) not in seen


def test_rows_of_the_table_of_tokens_get_noise(program, network, records):
    kind, folder, logits = network
    old = weights_of(kind)["word"]
    noise = []
    for mutant in texts_of(mutants_of(program, folder, "embedding[ratio=0.25,sigma=0.5]")):
        mutated, _ = exported(program, folder, mutant)
        word = mutated.weight("word")
        changed = (word != old).any(1)
        assert changed.sum() == 5 and (word != old)[changed].all()
        noise.append((word - old)[changed])
        np.testing.assert_allclose(mutated(records), plain(kind, records, word=word), rtol=1e-4, atol=1e-4)
    noise = np.concatenate(noise)
    assert len(noise) == 30 and noise.std() == pytest.approx(0.5 * old.std(), rel=0.2)
    assert abs(noise.mean()) < 0.2 * old.std()


@pytest.mark.parametrize("operator", ["gain", "mask", "positions", "embedding"])
def test_shortcuts_judge_as_whole_mutants_do(program, network, operator):
    _, folder, _ = network
    quick, naive = (
        program(folder, "mutate", "net.onnx", "test.npz", "--operator", operator, "--count", 4, "--quality", 1, *more)["tables"]["mutants"]["rows"]
        for more in ([], ["--naive"])
    )
    assert [row["killers"] for row in quick] == [row["killers"] for row in naive]


def test_all_of_them_are_a_preset(program, network):
    _, folder, _ = network
    rows = program(folder, "mutate", "list", "net.onnx", "--preset", "transformer", "--count", 2)["tables"]["mutants"]["rows"]
    made = {re.split(r"[@#]", row["text"])[0] for row in rows}
    assert {"gain", "mask", "positions", "embedding", "head", "head[kind=swap]", "skip", "lowrank", "int4", "int8", "bitflip[bits=exponent]"} == made


def softmax(scores):
    powers = np.exp(scores - scores.max(1, keepdims=True))
    return powers / powers.sum(1, keepdims=True)


def kl(p, q):
    return (p * (np.log(p) - np.log(q))).sum(1)


def js(p, q):
    return (kl(p, (p + q) / 2) + kl(q, (p + q) / 2)) / 2


@pytest.mark.parametrize("kind_of_divergence, above", [("js", 0.0001), ("kl", 0.0004)])
def test_a_record_kills_where_answers_are_further_apart_than_a_bound(program, network, records, kind_of_divergence, above):
    kind, folder, logits = network
    apart = {"js": js, "kl": kl}[kind_of_divergence]
    found = program(
        folder, "mutate", "net.onnx", "test.npz", "--operator", "gain[factor=0.9]", "--operator", "gf[ratio=0.05,sigma=0.5]", "--count", 5,
        "--divergence", f"{kind_of_divergence}[above={above}]",
    )
    rows = found["tables"]["mutants"]["rows"]
    beside = 0
    for row, mutant in zip(rows, texts_of(rows)):
        mutated = np.float64(exported(program, folder, mutant)[0](records))
        by_decision = mutated.argmax(1) != logits.argmax(1)
        by_divergence = apart(softmax(logits), softmax(mutated)) > above
        assert row["killers"] == (by_decision | by_divergence).sum(), mutant
        beside += (by_divergence & ~by_decision).sum()
    assert beside > 0 and found["facts"]["divergence"] == f"{kind_of_divergence} above {above:g} nats"


def bf16(values):
    """Rounded to the nearest number of bfloat16, ties to even."""
    bits = np.float32(values).view(np.uint32)
    return ((bits + 0x7FFF + (bits >> 16 & 1)) & np.uint32(0xFFFF0000)).view(np.float32)


def test_the_noise_floor_is_what_rounded_weights_do(program, network, records):
    kind, folder, logits = network
    found = program(folder, "mutate", "net.onnx", "test.npz", "--operator", "mask", "--divergence", "js")
    floor = float(re.fullmatch(r"js above (\S+) nats", found["facts"]["divergence"])[1])
    layers = {name: bf16(weights_of(kind)[name]) for name in ("q", "k", "v", "o", "head")}
    wanted = js(softmax(logits), softmax(plain(kind, records, **layers))).max()
    assert floor == pytest.approx(wanted, rel=0.02)
    assert found["tables"]["mutants"]["rows"][0]["status"] == "killed"


def test_results_by_another_divergence_are_not_mixed(program, network):
    _, folder, _ = network
    common = ["mutate", "net.onnx", "test.npz", "--operator", "gain", "--state"]
    program(folder, *common, "plain.mut")
    program(folder, *common, "js.mut", "--divergence", "js[above=0.001]")
    mixed = program(folder, "combine", "plain.mut", "js.mut", "--out", "all.mut", check=False)
    assert "judged by different divergences (none and js above 0.001 nats)" in mixed
    again = program(folder, *common, "js.mut", "--divergence", "js[above=0.001]")
    assert again["facts"]["divergence"] == "js above 0.001 nats"


@pytest.mark.parametrize(
    "flags, message",
    [
        (["--divergence", "tv"], "unknown divergence 'tv'; there are js"),
        (["--divergence", "js[above=1,floor=bf16]"], "leave out one of them"),
        (["--divergence", "js[floor=int3]"], "int3"),
        (["--divergence", "js", "--quality", "0.5"], "--quality"),
        (["--divergence", "js", "--margin", "0.5"], "--margin"),
    ],
)
def test_what_a_divergence_cannot_be_is_said(program, network, flags, message):
    _, folder, _ = network
    assert message in program(folder, "mutate", "net.onnx", "test.npz", "--operator", "gain", *flags, check=False)
