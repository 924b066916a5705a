"""Probes per token: all tokens of a document are learned from, or none. Beside scikit-learn with groups."""

import csv
import json

import numpy as np
import pytest

import assay

DOCUMENTS, LENGTH, SHARED, WIDTH = 150, 12, 40, 16


def need(name):
    return pytest.importorskip(name, reason=f"SKIPPED: the package {name} is not there")


@pytest.fixture(scope="module")
def documents(tmp_path_factory):
    """Half of the tokens are of one document alone, so that a probe may learn documents by heart; the others tell a little of the
    label, which all tokens of a document have. Folder, what the layer gives, labels."""
    onnx = need("onnx")
    from onnx import TensorProto, helper, numpy_helper

    rng = np.random.default_rng(4)
    labels = rng.permutation(np.arange(DOCUMENTS) % 2)
    own = SHARED + np.repeat(np.arange(DOCUMENTS)[:, None], LENGTH // 2, 1)
    likely = np.where(rng.random((DOCUMENTS, LENGTH // 2)) < 0.7, labels[:, None], 1 - labels[:, None])
    shared = 2 * rng.integers(0, SHARED // 2, likely.shape) + likely
    ids = rng.permuted(np.concatenate([own, shared], 1), axis=1)
    table = rng.normal(size=(SHARED + DOCUMENTS, WIDTH * 10)).astype(np.float32)
    table[:SHARED:2, 0] -= 2
    table[1:SHARED:2, 0] += 2
    folder = tmp_path_factory.mktemp("documents")
    node = helper.make_node
    nodes = [node("Gather", ["table", "ids"], ["found"], name="found"), node("MatMul", ["found", "head"], ["scores"], name="scores"),
             node("ReduceMean", ["scores"], ["logits"], axes=[1], keepdims=0)]  # fmt: skip
    weights = [numpy_helper.from_array(table, "table"), numpy_helper.from_array(np.eye(len(table[0]), 2, dtype=np.float32), "head")]
    graph = helper.make_graph(nodes, "documents", [helper.make_tensor_value_info("ids", TensorProto.INT64, ["n", LENGTH])],
                              [helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["n", 2])], weights)  # fmt: skip
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), folder / "net.onnx")
    by_token = np.repeat(labels[:, None], LENGTH, 1)
    np.savez(folder / "data.npz", x=ids)
    np.savez(folder / "truth.npz", topic=by_token.astype(np.uint8))
    return folder, table[ids], by_token


def accuracy_of(folder, seed):
    assay.inspect(folder / "net.onnx", folder / "data.npz", hypotheses=f"array[file={folder / 'truth.npz'},array=topic]", units="layer=found",
                  measure="logistic_l2[score=accuracy,held_out=0.25]", no_early_stop=True, seed=seed, scores=str(folder / "scores.csv"))  # fmt: skip
    with open(folder / "scores.csv", newline="") as file:
        return next(float(row["score"]) for row in csv.DictReader(file) if not row["unit"])


def test_no_document_is_known_by_heart(documents):
    linear, selection = need("sklearn.linear_model"), need("sklearn.model_selection")
    folder, given, by_token = documents
    x, y = given.reshape(-1, given.shape[-1]), by_token.reshape(-1)
    groups = np.repeat(np.arange(DOCUMENTS), LENGTH)

    def theirs(splits, **more):
        probe = linear.LogisticRegression(C=1.0, max_iter=2000)
        return selection.cross_val_score(probe, x, y, cv=splits, **more)

    by_document = theirs(selection.GroupKFold(4), groups=groups)
    by_heart = theirs(selection.KFold(4, shuffle=True, random_state=0)).mean()
    ours = [accuracy_of(folder, seed) for seed in range(1, 5)]
    assert by_heart > by_document.mean() + 0.1, "the test would not see tokens of one document on both sides"
    assert np.mean(ours) == pytest.approx(by_document.mean(), abs=0.06)
    assert max(ours) < by_heart - 0.05


@pytest.mark.parametrize("count, column", [(60, "article"), (90, "article:groups")])
def test_records_of_a_document_are_on_one_side(tmp_path, count, column):
    """Documents cut into three records each: whoever is held out by record is known by heart from the others. More documents than a
    characteristic has values are put together."""
    onnx = need("onnx")
    from onnx import TensorProto, helper, numpy_helper

    rng = np.random.default_rng(9)
    document = np.repeat(np.arange(count), 3)
    labels = rng.permutation(np.arange(count) % 2)
    records = rng.permutation(len(document))
    x = (4 * np.eye(count, dtype=np.float32)[document] + 0.1 * rng.normal(size=(len(document), count)).astype(np.float32))[records]
    node, value = helper.make_node, helper.make_tensor_value_info
    weights = [numpy_helper.from_array(np.eye(count, dtype=np.float32), "same"), numpy_helper.from_array(np.eye(count, 2, dtype=np.float32), "head")]
    nodes = [node("MatMul", ["x", "same"], ["given"], name="given"), node("MatMul", ["given", "head"], ["logits"], name="logits")]
    graph = helper.make_graph(nodes, "parts", [value("x", TensorProto.FLOAT, ["n", count])], [value("logits", TensorProto.FLOAT, ["n", 2])], weights)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), tmp_path / "net.onnx")
    np.savez(tmp_path / "data.npz", x=x, y=labels[document][records])
    rows = [f"document {number}" if number else "" for number in document[records]]
    (tmp_path / "meta.csv").write_text("record,article\n" + "".join(f"{record},{row}\n" for record, row in enumerate(rows)))
    spec = f"{tmp_path / 'data.npz'},metadata={tmp_path / 'meta.csv'},meta={column}"

    def accuracy(**more):
        assay.inspect(tmp_path / "net.onnx", spec, hypotheses="label", units="layer=given", measure="logistic_l2[score=accuracy,held_out=0.3]",
                      no_early_stop=True, scores=str(tmp_path / "scores.csv"), **more)  # fmt: skip
        with open(tmp_path / "scores.csv", newline="") as file:
            return next(float(row["score"]) for row in csv.DictReader(file) if not row["unit"] and row["hypothesis"] == "label:0")

    assert accuracy() > 0.85
    assert accuracy(documents="article") < 0.75  # nothing tells the label of a document that was not seen
    with pytest.raises(assay.UsageError, match="documents: the data have no characteristic 'artcle', but article; name one with the data option meta=COLUMN"):
        accuracy(documents="artcle")
    with pytest.raises(assay.UsageError, match="documents and permutations do not go together"):
        accuracy(documents="article", permutations=9)
    if count > 64:
        spec = spec.removesuffix(":groups")
        with pytest.raises(assay.DataError, match="'article' has .* different values, and a characteristic has at most 64; .*article:groups"):
            accuracy(documents="article")


def test_records_of_a_document_are_drawn_together_for_intervals(tmp_path):
    """Records of a document are copies, so that drawing documents gives intervals of as many records as there are documents."""
    onnx = need("onnx")
    from onnx import TensorProto, helper, numpy_helper

    rng, count, copies = np.random.default_rng(3), 80, 9
    x = rng.normal(size=(count, 2)).astype(np.float32)
    labels = (x[:, 0] + rng.normal(size=count) > 0).astype(np.int64)
    records = rng.permutation(np.repeat(np.arange(count), copies))
    node, value = helper.make_node, helper.make_tensor_value_info
    weights = [numpy_helper.from_array(np.eye(2, dtype=np.float32), name) for name in ("same", "head")]
    nodes = [node("MatMul", ["x", "same"], ["given"], name="given"), node("MatMul", ["given", "head"], ["logits"], name="logits")]
    graph = helper.make_graph(nodes, "copies", [value("x", TensorProto.FLOAT, ["n", 2])], [value("logits", TensorProto.FLOAT, ["n", 2])], weights)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), tmp_path / "net.onnx")
    np.savez(tmp_path / "data.npz", x=x[records], y=labels[records])
    (tmp_path / "meta.csv").write_text("record,article\n" + "".join(f"{row},a{record % 60}\n" for row, record in enumerate(records)))

    def interval(**more):
        assay.inspect(tmp_path / "net.onnx", f"{tmp_path / 'data.npz'},metadata={tmp_path / 'meta.csv'},meta=article", hypotheses="label", units="layer=given",
                      measure="pearson", no_early_stop=True, bootstrap=2000, scores=str(tmp_path / "scores.csv"), **more)  # fmt: skip
        with open(tmp_path / "scores.csv", newline="") as file:
            row = next(row for row in csv.DictReader(file) if row["unit"] == "0" and row["hypothesis"] == "label:1")
        return float(row["low"]), float(row["high"])

    def drawn(groups):
        """Bootstrap over groups of records, in NumPy."""
        parts = [np.flatnonzero(groups == group) for group in np.unique(groups)]
        found = []
        for _ in range(2000):
            rows = np.concatenate([parts[i] for i in rng.integers(0, len(parts), len(parts))])
            found.append(np.corrcoef(x[records][rows, 0], labels[records][rows])[0, 1])
        return np.percentile(found, [2.5, 97.5])

    np.testing.assert_allclose(interval(documents="article"), drawn(records % 60), atol=0.05)
    np.testing.assert_allclose(interval(), drawn(np.arange(len(records))), atol=0.02)


def test_values_of_whole_records_count_however_short_the_texts_are(tmp_path):
    """What fills up short texts stands in their middle, too; a class, and what a layer gives of a whole record, is none."""
    onnx = need("onnx")
    from onnx import TensorProto, helper, numpy_helper

    rng = np.random.default_rng(5)
    words = ["[PAD]", "[UNK]", *"abcdefgh"]
    model = {"type": "WordLevel", "vocab": {word: i for i, word in enumerate(words)}, "unk_token": "[UNK]"}
    special = {"id": 0, "content": "[PAD]", "single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}
    (tmp_path / "tokenizer.json").write_text(json.dumps({"version": "1.0", "added_tokens": [special], "pre_tokenizer": {"type": "Whitespace"}, "model": model}))
    weights = {"table": rng.normal(size=(len(words), 4)), "head": rng.normal(size=(4, 3))}
    nodes = [helper.make_node("Gather", ["table", "input_ids"], ["found"], name="found"), helper.make_node("ReduceMean", ["found"], ["mean"], axes=[1], keepdims=0),
             helper.make_node("MatMul", ["mean", "head"], ["logits"], name="whole")]  # fmt: skip
    graph = helper.make_graph(nodes, "texts", [helper.make_tensor_value_info("input_ids", TensorProto.INT64, ["n", "length"])],
                              [helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["n", 3])],
                              [numpy_helper.from_array(array.astype(np.float32), name) for name, array in weights.items()])  # fmt: skip
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), tmp_path / "model.onnx")
    texts = [" ".join(rng.choice(list("abcdefgh"), size)) for size in [12, *rng.integers(1, 7, 49)]]
    labels = rng.integers(0, 2, 50)
    data = assay.data(texts, labels, tokenizer=str(tmp_path))
    found = assay.inspect(str(tmp_path), data, hypotheses="label", measure="pearson", units="layer=whole", no_early_stop=True)
    given = assay.load(str(tmp_path)).activations(data, "whole")
    rows = [row for row in found.table("scores") if row["unit"] is not None and row["hypothesis"] == "label:1"]
    assert [row["rows"] for row in rows] == [50] * 3
    for row in rows:
        assert row["score"] == pytest.approx(np.corrcoef(given[:, row["unit"]], labels)[0, 1], abs=1e-5)
