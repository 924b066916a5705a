"""Edits of texts, attacks by them and tests of behaviour from templates, against plain writings in NumPy."""

import csv
import json
import pathlib
import random
import re
import subprocess
import sys

import numpy as np
import pytest

import assay
from assay import texts
from assay.texts import _words
from assay.texts.edits import catalogue

WORDS = ["[PAD]", "[UNK]", "good", "bad", "film", "a", "is", "not", "very", "the", "plot", "dull", "fine", "anna", "omar", "says"]
TEXTS = ["the film is good", "a bad film", "the plot is very dull", "anna says the film is fine", "omar says a dull plot is bad", "very good"]
CLASSES = ["negative", "positive"]


def need(name):
    return pytest.importorskip(name, reason=f"SKIPPED: the package {name} is not there")


class Plain:
    """The network of the tests in NumPy, which makes tokens itself."""

    def __init__(self):
        rng = np.random.default_rng(11)
        self.rows = rng.normal(size=(len(WORDS), 5)).astype(np.float32)
        self.outer = rng.normal(size=(5, 2)).astype(np.float32)

    def scores(self, text):
        found = re.findall(r"\w+|[^\w\s]+", text)
        ids = [WORDS.index(word) if word in WORDS else 1 for word in found]
        return np.tanh(self.rows[ids]).sum(0) @ self.outer if ids else np.zeros(2)

    def decision(self, text):
        return int(self.scores(text).argmax())

    def margin(self, text, label):
        scores = self.scores(text)
        return scores[label] - scores[1 - label]


@pytest.fixture(scope="module")
def exported(tmp_path_factory):
    """Its folder as an exporter writes it, and the network."""
    onnx = need("onnx")
    from onnx import TensorProto, helper, numpy_helper

    folder, plain = tmp_path_factory.mktemp("texts"), Plain()
    node, value = helper.make_node, helper.make_tensor_value_info
    weights = {"rows": plain.rows, "outer": plain.outer, "last": np.array([2]), "tokens": np.array([1])}
    nodes = [
        node("Gather", ["rows", "input_ids"], ["found"]),
        node("Tanh", ["found"], ["hidden"]),
        node("Cast", ["attention_mask"], ["mask"], to=TensorProto.FLOAT),
        node("Unsqueeze", ["mask", "last"], ["by_token"]),
        node("Mul", ["hidden", "by_token"], ["real"]),
        node("ReduceSum", ["real", "tokens"], ["sum"], keepdims=0),
        node("MatMul", ["sum", "outer"], ["logits"]),
    ]
    graph = helper.make_graph(
        nodes, "bag", [value(name, TensorProto.INT64, ["n", "t"]) for name in ("input_ids", "attention_mask")],
        [value("logits", TensorProto.FLOAT, ["n", 2])], [numpy_helper.from_array(v, n) for n, v in weights.items()],
    )
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), folder / "model.onnx")
    flags = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}
    parts = {
        "version": "1.0", "added_tokens": [{"id": 0, "content": "[PAD]", **flags}], "pre_tokenizer": {"type": "Whitespace"},
        "model": {"type": "WordLevel", "unk_token": "[UNK]", "vocab": {word: i for i, word in enumerate(WORDS)}},
    }
    (folder / "tokenizer.json").write_text(json.dumps(parts))
    (folder / "config.json").write_text(json.dumps({"id2label": dict(enumerate(CLASSES))}))
    return folder, plain


def test_edits_of_a_word_are_these():
    made = {name: edit.words("Good", {"good": ["fine", "great"]}) for name, edit in catalogue.items()}
    assert made["swap"] == ["oGod", "Godo"]
    assert made["delete"] == ["ood", "God", "Goo"]
    assert made["keyboard"][:3] == ["Food", "Hood", "Tood"] and "Gpod" in made["keyboard"]
    assert made["homoglyph"] == ["Gоod", "Goоd"] and made["homoglyph"][0][1] == "\u043e"
    assert made["synonym"] == ["Fine", "Great"]
    assert made["negation"] == [] and len(made["insert"]) == 4 * 26 - 3  # Goood thrice, Goodd twice
    negation = catalogue["negation"].words
    assert [negation(word, {}) for word in ("is", "Can", "won't", "didn’t", "cannot")] == [["is not"], ["Cannot"], ["will"], ["did"], ["can"]]


@pytest.mark.parametrize("name", catalogue)
def test_every_edit_changes_the_word_the_same_way_each_time(name):
    rng = random.Random(3)
    for _ in range(200):
        word = "".join(rng.choice("abcXYZéß中o'1") for _ in range(rng.randint(1, 8)))
        made = catalogue[name].words(word, {word: [word, "other"]})
        assert made == catalogue[name].words(word, {word: [word, "other"]})
        assert word not in made and "" not in made and len(set(made)) == len(made)
        for one in made if name not in ("synonym", "negation") else []:
            assert abs(len(one) - len(word)) == {"insert": 1, "delete": 1}.get(name, 0)
            assert sorted(one) == sorted(word) if name == "swap" else sum(a != b for a, b in zip(one, word)) == 1 or len(one) != len(word)


def test_words_and_what_is_between_them_are_the_text():
    rng = random.Random(4)
    for _ in range(300):
        text = "".join(rng.choice(["don't", "a", " ", "  ", ",", "Ünï", "中文", "\n", "x-y", "’", "1"]) for _ in range(rng.randint(0, 12)))
        words = _words.Words.of(text)
        assert words.text() == text and len(words.between) == len(words.words) + 1
    assert _words.Words.of("a good film").without(1) == "a film"
    assert [_words.budget_of(changes, 7) for changes in (3, 0.5, 0.1, 9)] == [3, 3, 0, 7]


def test_intervals_are_those_of_the_literature():
    assert texts.clopper_pearson(0, 10) == pytest.approx((0, 1 - 0.025**0.1))
    assert texts.wilson(5, 10) == pytest.approx((0.23659, 0.76341), abs=1e-5)
    assert texts.clopper_pearson(0, 0) == texts.wilson(0, 0) == (0, 1)
    beta = need("scipy.stats").beta
    for hits, trials in [(1, 3), (7, 9), (50, 1000), (999, 1000), (12, 12), (3000, 40000)]:
        wanted = (beta.ppf(0.025, hits, trials - hits + 1), beta.ppf(0.975, hits + 1, trials - hits) if hits < trials else 1)
        assert texts.clopper_pearson(hits, trials) == pytest.approx(wanted, rel=1e-9)


def greedy(plain, text, label, budget, protect=()):
    """The attack in its plainest form, for texts of words with single spaces, by all edits that the test names."""
    words = text.split()
    free = [i for i, word in enumerate(words) if word not in protect]
    leaving = {i: plain.margin(" ".join(words[:i] + words[i + 1 :]), label) for i in free}
    changed, margin = 0, plain.margin(text, label)
    for i in sorted(free, key=lambda i: leaving[i]):
        if changed == budget:
            break
        made = []
        for k in range(len(words[i]) - 1):
            made.append(words[i][:k] + words[i][k + 1] + words[i][k] + words[i][k + 2 :])
        made += [words[i][:k] + words[i][k + 1 :] for k in range(len(words[i]))]
        made = [one for one in made if one and one != words[i]]
        margins = [plain.margin(" ".join([*words[:i], one, *words[i + 1 :]]), label) for one in made]
        if not made or min(margins) >= margin:
            continue
        words[i], margin, changed = made[int(np.argmin(margins))], min(margins), changed + 1
        if margin < 0:
            break
    return " ".join(words)


def test_a_loaded_network_has_the_tokenizer_and_the_classes_of_its_folder(exported):
    folder, _ = exported
    of_path, of_model = (texts.attack(one, TEXTS, changes=1) for one in (folder, assay.load(folder)))
    assert of_model.table("attacked_texts").rows == of_path.table("attacked_texts").rows


@pytest.mark.parametrize("protect", [(), ("film", "dull")])
def test_the_attack_is_greedy_over_the_most_important_words(exported, protect):
    folder, plain = exported
    found = texts.attack(folder, TEXTS, edits=["swap", "delete"], changes=2, protect=protect, tried=1000)
    rows = found.table("attacked_texts").rows
    assert [row["before"] for row in rows] == TEXTS
    for row in rows:
        label = plain.decision(row["before"])
        assert row["label"] == CLASSES[label]
        assert row["after"] == greedy(plain, row["before"], label, 2, protect)
        assert row["decision"] == CLASSES[plain.decision(row["after"])]
        assert (row["success"] == "yes") == (plain.decision(row["after"]) != label)
        assert row["words"] <= 2 and all(word in row["after"].split() for word in row["before"].split() if word in protect)
    withstood = sum(row["success"] == "no" for row in rows)
    assert found.withstood == withstood / len(TEXTS) and 0 < withstood < len(TEXTS)


def test_what_was_found_is_judged_again_as_it_is_written(exported, tmp_path):
    folder, plain = exported
    labels = [CLASSES[plain.decision(text)] for text in TEXTS]
    labels[0] = CLASSES[1 - CLASSES.index(labels[0])]  # one that the network gets wrong
    quoted = [text.replace(" ", ', "\n', 1) for text in TEXTS]
    found = texts.attack(folder, quoted, [CLASSES[plain.decision(t)] for t in quoted], changes=0.5, out=tmp_path / "out.csv")
    with open(tmp_path / "out.csv", newline="") as file:
        written = list(csv.DictReader(file))
    assert [row["after"] for row in written] == [row["after"] for row in found.table("attacked_texts").rows]
    assert [row["before"] for row in written] == quoted
    wrong = texts.attack(folder, TEXTS, labels, changes=1, fail_under=["robust-accuracy>=0.99"])
    assert [row["record"] for row in wrong.table("attacked_texts").rows] == [1, 2, 3, 4, 5] and not wrong.passed
    assert wrong.document["gates"][0]["coverable"] == "6"
    assert texts.attack(folder, TEXTS, labels, changes=1).to_json().count("swap") == wrong.to_json().count("swap")  # the seed decides


SUITE = {
    "lexicons": {"name": ["anna", "omar"], "good": ["good", "fine"], "any": ["good", "bad", "dull", "fine"]},
    "tests": [
        {"name": "praise", "capability": "vocabulary", "kind": "minimum-functionality", "label": "positive",
         "templates": ["a {good} film", "the plot is {good}", "{good} {good2}"]},
        {"name": "names", "capability": "fairness", "kind": "invariance", "templates": ["{name} says the film is {any}"], "vary": "name"},
        {"name": "typing", "capability": "robustness", "kind": "invariance", "texts": TEXTS, "edits": ["swap"], "changes": 1},
        {"name": "bad news", "capability": "vocabulary", "kind": "directional", "texts": TEXTS, "append": ["bad", "very dull"],
         "label": "positive", "expect": "down", "tolerance": 0.05},
        {"name": "not", "capability": "vocabulary", "kind": "directional", "templates": ["the film is {good}"], "replace": {"is": "is not"},
         "label": "positive", "expect": "down", "tolerance": 0.0},
    ],
}


def share(plain, text):
    powers = np.exp(plain.scores(text))
    return powers[1] / powers.sum()


def expected(plain):
    """By test, how many cases pass."""
    good, any_ = SUITE["lexicons"]["good"], SUITE["lexicons"]["any"]
    praise = [f"a {g} film" for g in good] + [f"the plot is {g}" for g in good] + ["good fine", "fine good"]
    pairs = [(f"anna says the film is {word}", f"omar says the film is {word}") for word in any_]
    return {
        "praise": (sum(plain.decision(text) == 1 for text in praise), 6),
        "names": (2 * sum(plain.decision(a) == plain.decision(b) for a, b in pairs), 8),
        "bad news": (sum(all(share(plain, f"{t} {w}") <= share(plain, t) + 0.05 for w in ("bad", "very dull")) for t in TEXTS), 6),
        "not": (sum(share(plain, f"the film is not {g}") <= share(plain, f"the film is {g}") for g in good), 2),
    }


def test_behaviour_is_what_templates_say(exported, tmp_path):
    folder, plain = exported
    (tmp_path / "suite.json").write_text(json.dumps(SUITE))
    found = texts.check(folder, tmp_path / "suite.json")
    rows = {row["test"]: row for row in found.table("tests").rows}
    assert list(rows) == ["praise", "names", "typing", "bad news", "not"]
    for name, (passed, cases) in expected(plain).items():
        assert (rows[name]["cases"] - rows[name]["failed"], rows[name]["cases"]) == (passed, cases), name
        assert (rows[name]["low"], rows[name]["high"]) == pytest.approx(texts.clopper_pearson(passed, cases))
        assert (rows[name]["wilson_low"], rows[name]["wilson_high"]) == pytest.approx(texts.wilson(passed, cases))
    capability = {row["capability"]: row for row in found.table("capabilities").rows}
    assert capability["vocabulary"]["cases"] == 6 + 6 + 2 and list(capability) == ["vocabulary", "fairness", "robustness"]
    for row in found.table("failures").rows:
        if row["test"] == "names":
            assert plain.decision(row["text"]) != plain.decision(row["changed"])
    assert texts.check(folder, SUITE).table("tests").rows == found.table("tests").rows


def test_gates_are_by_test_and_capability(exported):
    folder, plain = exported
    passed, cases = expected(plain)["praise"]
    gates = ["pass-rate[test=praise]>=0", "pass-rate[capability=vocabulary]>=0", "pass-rate>=0", "pass-rate[test=bad news]>=0"]
    assert texts.check(folder, SUITE, fail_under=gates).passed
    tight = f"pass-rate[test=praise]>={(passed + 1) / cases}"
    found = texts.check(folder, SUITE, fail_under=[tight])
    gate = found.document["gates"][0]
    assert not found.passed and (gate["covered"], gate["coverable"]) == (str(passed), str(cases))
    with pytest.raises(assay.GateFailed):
        found.require()
    assert not texts.check(folder, SUITE, fail_under=["pass-rate[test=absent]>=0"]).passed
    with pytest.raises(assay.UsageError, match="there is no figure 'accuracy'"):
        texts.check(folder, SUITE, fail_under=["accuracy>=1"])


def test_scores_that_are_not_finite_are_refused(exported, tmp_path):
    """A test of invariance would pass, as nothing is decided before and after."""
    folder, _ = exported
    network = assay.load(folder)
    spoiled = network.with_weights({name: np.full_like(network.weight(name), np.nan) for name in network.weights if network.weight(name).dtype == np.float32})
    asks = [
        lambda: texts.check(spoiled, SUITE), lambda: texts.attack(spoiled, TEXTS, changes=1), lambda: texts.select(spoiled, TEXTS, 2, doubt="margin"),
        lambda: texts.explore(spoiled, network, TEXTS, changes=1),
    ]  # fmt: skip
    for ask in asks:
        with pytest.raises(assay.DataError, match="decides nothing about .* texts, the first is '.*': its scores are not finite"):
            ask()


def test_cases_that_no_network_could_fail_are_not_counted(exported):
    """Names that are all [UNK] are one text for the network: invariance would pass whatever it decides."""
    folder, plain = exported
    names = {**SUITE["tests"][1], "name": "unknown names", "vary": "stranger", "templates": ["{stranger} says the film is {any}"]}
    suite = {"lexicons": {**SUITE["lexicons"], "stranger": ["zyx", "qwv"]}, "tests": [SUITE["tests"][0], names]}
    found = texts.check(folder, suite, fail_under=["pass-rate[test=unknown names]>=0", "pass-rate[test=praise]>=0"])
    rows = {row["test"]: row for row in found.table("tests").rows}
    assert (rows["unknown names"]["cases"], rows["unknown names"]["unseen"], rows["unknown names"]["pass_rate"]) == (0, 8, None)
    assert rows["praise"]["unseen"] == 0 and rows["praise"]["cases"] == expected(plain)["praise"][1]
    assert "8 more cases are not counted, as their texts become the same tokens when they change (unknown names)" in found.headline
    assert [gate["passed"] for gate in found.document["gates"]] == [False, True]
    suite["lexicons"]["stranger"].append("good")  # which it knows: now each text has a change that it sees
    rows = {row["test"]: row for row in texts.check(folder, suite).table("tests").rows}
    assert (rows["unknown names"]["cases"], rows["unknown names"]["unseen"]) == (12, 0)


MOVED = {"kind": "directional", "expect": "up"}


@pytest.mark.parametrize(
    "change, message",
    [
        ({"kind": "invariant"}, "kind 'invariant' is none of"),
        ({"kind": "invariance"}, "'label' is not a key of tests of the kind invariance"),
        ({"templates": ["a {colour} film"]}, "there is no lexicon 'colour'; there are name, good, any"),
        ({"templates": []}, "it has no texts"),
        ({"label": "mixed"}, "class 'mixed' is not known; the network's are negative, positive"),
        ({"label": 2}, "class 2 is not one of the network's 2"),
        ({"label": "7"}, "class 7 is not one of the network's 2"),
        ({"capability": ""}, "it has no capability"),
        ({"tempaltes": []}, "'tempaltes' is not a key of tests"),
        ({"vary": "name"}, "'vary' is not a key of tests of the kind minimum-functionality"),
        ({"kind": "directional", "append": "x"}, "expect says how the share of the label moves"),
        ({"kind": "directional", "expect": "up"}, "it needs one of vary, edits, append, prepend, replace"),
        ({"kind": "directional", "expect": "up", "vary": "name"}, "has no slot {name}"),
        ({"kind": "directional", "expect": "up", "edits": ["synonym"]}, "synonym needs a list of synonyms"),
        ({"kind": "directional", "expect": "up", "append": "x", "protect": ["a"]}, "protect is for edits, and there are none"),
        ({"templates": "a {good} film"}, "templates = 'a {good} film' is not a list of texts"),
        ({"texts": [1]}, "texts = [1] is not a list of texts"),
        ({"most": 0}, "most = 0 is not a number of texts, at least 1"),
        ({"kind": "directional", "expect": "up", "append": [1]}, "append = [1] is not a text or a list of texts"),
        ({"kind": "directional", "expect": "up", "replace": ["a"]}, "replace = ['a'] is not a table of texts by what they replace"),
        ({**MOVED, "append": "x", "tolerance": "0.1"}, "tolerance = '0.1' is not a finite number"),
        ({**MOVED, "append": "x", "tolerance": np.nan}, "tolerance = nan is not a finite number"),
        ({**MOVED, "edits": ["swap"], "changes": np.nan}, "changes = nan is not a finite number"),
        ({**MOVED, "edits": ["swap"], "changes": np.inf}, "changes = inf is not a finite number"),
        ({**MOVED, "edits": ["swap"], "changes": 10**400}, "is not a finite number"),
        ({**MOVED, "edits": 5}, "edits = 5 is not a list of names of edits"),
        ({**MOVED, "edits": [["swap"]]}, "edits = [['swap']] is not a list of names of edits"),
        ({"templates": [" ".join(f"{{any{i}}}" for i in range(30))]}, "fillings, and at most 1,000,000 are made"),
    ],
)
def test_what_a_suite_gets_wrong_is_said(exported, change, message):
    suite = {"lexicons": SUITE["lexicons"], "tests": [{**SUITE["tests"][0], **change}]}
    with pytest.raises(assay.AssayError, match=re.escape(message)):
        texts.check(exported[0], suite)


@pytest.mark.parametrize(
    "suite, message",
    [
        ({"lexicons": ["good"], "tests": [SUITE["tests"][0]]}, "suite: a suite has lexicons by name, and a list of tests"),
        ({"tests": {"name": "a"}}, "suite: a suite has lexicons by name, and a list of tests"),
        ({"tests": ["a"]}, "suite: a test has no name"),
        ({"lexicons": {"good": 5}, "tests": [SUITE["tests"][0]]}, "lexicon 'good' is not a list of words; give it"),
        ({"lexicons": {"good": {"x": 1}}, "tests": [SUITE["tests"][0]]}, "lexicon 'good' is not a list of words"),
    ],
)
def test_what_is_no_suite_is_said(exported, suite, message):
    with pytest.raises(assay.DataError, match=message):
        texts.check(exported[0], suite)


def test_suites_from_python_have_tuples_and_edits_of_their_own(exported):
    changed = {**SUITE["tests"][2], "texts": tuple(TEXTS), "protect": ("film",)}
    lists = {"tests": [{**changed, "texts": TEXTS, "protect": ["film"], "edits": ["swap"]}]}
    wanted = texts.check(exported[0], lists).table("tests").rows
    for edits in (("swap",), "swap", catalogue["swap"], [catalogue["swap"]]):
        suite = {"lexicons": {"good": ("good", "fine")}, "tests": ({**changed, "edits": edits},)}
        assert texts.check(exported[0], suite).table("tests").rows == wanted


def test_what_attacks_cannot_do_is_said(exported, tmp_path):
    folder, _ = exported
    for arguments, message in [
        ({"edits": ["swop"]}, "there is no edit 'swop'; did you mean 'swap'"),
        ({"changes": 1.5}, "neither a number of words nor a share"),
        ({"labels": [0]}, "6 texts have 1 labels"),
        ({"labels": ["mixed"] * 6}, "class 'mixed' is not known"),
        ({"labels": [1] * 5 + [-1]}, "class -1 is not one of the network's 2"),
        ({"synonyms": {"good": "fine"}}, "synonyms of 'good': a list of words is needed"),
    ]:
        with pytest.raises(assay.AssayError, match=message):
            texts.attack(folder, TEXTS, **arguments)
    (tmp_path / "alone.onnx").write_bytes((folder / "model.onnx").read_bytes())
    with pytest.raises(assay.UsageError, match="no tokenizer.json is next to the network"):
        texts.attack(tmp_path / "alone.onnx", TEXTS)


@pytest.mark.parametrize("names", ['{"id2label": {"0": "no", "2": "yes"}}', '{"id2label": ["no", "yes"]}', "[]", "{", '{"id2label": {"a": "no"}}'])
def test_names_of_classes_that_are_not_numbered_are_said(exported, tmp_path, names):
    """Also where the network is named by its file, so that the program reads no folder."""
    for name in ("model.onnx", "tokenizer.json"):
        (tmp_path / name).write_bytes((exported[0] / name).read_bytes())
    (tmp_path / "config.json").write_text(names)
    with pytest.raises(assay.DataError, match=r"config.json: (id2label is not an object of names|id2label numbers its 2 classes 0, 2; they are|this is not)"):
        texts.attack(tmp_path / "model.onnx", TEXTS)


def test_texts_that_do_not_fit_the_network_are_said(exported, tmp_path):
    for name in ("model.onnx", "tokenizer.json"):
        (tmp_path / name).write_bytes((exported[0] / name).read_bytes())
    (tmp_path / "config.json").write_text('{"max_position_embeddings": 4}')
    for network in (tmp_path, assay.load(tmp_path)):
        with pytest.raises(assay.MismatchError, match="records are 6 tokens long, and the network has 4 positions .*length=4"):
            texts.attack(network, TEXTS[:4], tokenizer=tmp_path)
    assert texts.attack(tmp_path, TEXTS, length=4).headline
    with pytest.raises(assay.DataError, match=r"the text of record 1 is not UTF-8: character 2 is half of one, '\\ud800'; replace it"):
        texts.attack(exported[0], ["good", "a \ud800"])
    with pytest.raises(assay.DataError, match="the text is not UTF-8"):
        assay.Tokenizer(exported[0]).encode("\udfff")


@pytest.mark.parametrize("sigmoid", [False, True])
def test_a_single_score_is_how_far_a_class_is_ahead(exported, tmp_path, sigmoid):
    """Its share is the sigmoid, as that of the same network with two scores; where a sigmoid is the output, that is the share."""
    onnx, plain = need("onnx"), exported[1]
    from assay.texts import _network

    model = onnx.load(exported[0] / "model.onnx")
    model.graph.initializer.append(onnx.numpy_helper.from_array(np.array([[-1], [1]], np.float32), "ahead"))
    model.graph.node.append(onnx.helper.make_node("MatMul", ["logits", "ahead"], ["z"]))
    if sigmoid:
        model.graph.node.append(onnx.helper.make_node("Sigmoid", ["z"], ["share"]))
    model.graph.output[0].CopyFrom(onnx.helper.make_tensor_value_info("share" if sigmoid else "z", onnx.TensorProto.FLOAT, ["n", 1]))
    onnx.save(model, tmp_path / "single.onnx")
    network = _network.TextNetwork(tmp_path / "single.onnx", exported[0])
    scores, decisions = network.scores(TEXTS)
    np.testing.assert_allclose(_network.shares(scores)[:, 1], [share(plain, text) for text in TEXTS], rtol=1e-5)
    assert list(decisions) == list(scores.argmax(1)) == [plain.decision(text) for text in TEXTS]
    if not sigmoid:
        np.testing.assert_allclose(_network.margins(scores, np.ones(6, int)), [plain.margin(text, 1) for text in TEXTS], rtol=1e-4)


def test_any_function_of_texts_makes_tokens(exported):
    folder, plain = exported
    tokenizer = assay.Tokenizer(folder)
    network = assay.load(folder)
    found = texts.attack(network, TEXTS, tokenizer=lambda many: tokenizer(many, length=12), changes=1, edits="delete")
    again = texts.attack(folder, TEXTS, changes=1, edits="delete", length=12)
    assert [r["after"] for r in found.table("attacked_texts").rows] == [r["after"] for r in again.table("attacked_texts").rows]


def run(*arguments):
    return subprocess.run([sys.executable, "-m", "assay.texts", *map(str, arguments)], capture_output=True, text=True)


def test_from_a_shell(exported, tmp_path):
    folder, plain = exported
    (tmp_path / "suite.toml").write_text(
        '[lexicons]\ngood = ["good", "fine"]\n[[tests]]\nname = "praise"\ncapability = "vocabulary"\nkind = "minimum-functionality"\n'
        'templates = ["a {good} film"]\nlabel = "positive"\n'
    )
    suite = tmp_path / "suite.toml"
    if sys.version_info < (3, 11):
        suite = tmp_path / "suite.json"
        suite.write_text(json.dumps(SUITE))
    checked = run("check", folder, suite, "--json", tmp_path / "c.json", "--html", tmp_path / "c.html", "--fail-under", "pass-rate>=0")
    assert checked.returncode == 0, checked.stderr
    assert "By capability" in checked.stdout and "pass-rate" in (tmp_path / "c.html").read_text()
    assert run("check", folder, suite, "--fail-under", "pass-rate[test=absent]=1").returncode == 2
    with open(tmp_path / "t.csv", "w", newline="") as file:
        csv.writer(file).writerows([["review", "stars"], *([text, CLASSES[plain.decision(text)]] for text in TEXTS)])
    attacked = run("attack", folder, tmp_path / "t.csv", "--text", "review", "--label", "stars", "--changes", "2", "--protect", "film+plot", "--out", tmp_path / "o.csv")
    assert attacked.returncode == 0, attacked.stderr
    assert "edits change" in attacked.stdout and (tmp_path / "o.csv").is_file()
    compared = run("explore", folder, coarse(folder, tmp_path), tmp_path / "t.csv", "--text", "review", "--changes", "1", "--junit", tmp_path / "j.xml", "--fail-under", "agreement-after>=0")
    assert compared.returncode == 0, compared.stderr
    assert "the networks disagree on" in compared.stdout and "agreement-after" in (tmp_path / "j.xml").read_text()
    missing = run("attack", folder, tmp_path / "t.csv")
    assert missing.returncode == 5 and "there is no column 'text'" in missing.stderr


@pytest.mark.parametrize(
    "name, content, message",
    [
        ("t.csv", b"text\na film\n\xff\xfe is bad\n", "t.csv: line 3 is not UTF-8; write the file in UTF-8"),
        ("t.txt", b"a film\nbad\x80", "t.txt: line 2 is not UTF-8"),
        ("t.csv", b"note,text\n1,a film\n2\n", "t.csv: record 1 has no 'text'; leave it out"),
        ("t.csv", b"note,said\n1,a film\n", "t.csv: there is no column 'text'; there are note, said"),
        ("t.jsonl", b'{"text": "a film"}\n["a film"]\n', "t.jsonl: line 2 is not an object"),
        ("t.jsonl", b'{"text": "a film"}\n{"text": null}\n', "t.jsonl: record 1 has no 'text'"),
        ("t.jsonl", b'{"text": "a film"}\n{\n', "t.jsonl: line 2: "),
        ("t.txt", b"a film\tpositive\nbad\n", "t.txt: 1 of 2 lines have a label after a tab; all or none must"),
        ("t.csv", b"text,n\na film,1\nbad, dull,0\n", "t.csv: record 1 has 3 fields, and there are 2 columns; put texts with"),
        ("t.tsv", b"text\na\tfilm\n", "t.tsv: record 0 has 2 fields, and there are 1 columns; put texts with tabs"),
        ("t.csv", b'text\na film\n"bad\nfine\n', "t.csv: line 3: a quote is never closed; close it"),
        ("t.csv", b"", "t.csv: there are no texts; give a row of names of columns"),
        ("t.csv", b"text\n", "t.csv: there are no texts; give a row of names of columns"),
        ("t.jsonl", b"\n", "t.jsonl: there are no texts; give an object a line"),
        ("t.txt", b"", "t.txt: there are no texts; give a text a line"),
    ],
)
def test_files_without_texts_are_said(exported, tmp_path, name, content, message):
    (tmp_path / name).write_bytes(content)
    refused = run("attack", exported[0], tmp_path / name)
    assert refused.returncode == 5, refused.stderr
    assert message in refused.stderr and "Traceback" not in refused.stderr


def test_lines_of_json_that_are_not_utf8_are_said(exported, tmp_path):
    (tmp_path / "t.jsonl").write_bytes(b'{"said": "a film"}\n{"said": "bad \xff"}\n')
    with pytest.raises(assay.DataError, match=r"t.jsonl:2: this line is not UTF-8; write the file in UTF-8"):
        assay.data(f"{tmp_path}/t.jsonl,text=said,tokenizer={exported[0]}")


def test_answers_that_the_network_has_no_scores_of_are_said(tmp_path):
    onnx = need("onnx")
    from onnx import TensorProto, helper, numpy_helper

    table = numpy_helper.from_array(np.eye(5, dtype=np.float32), "rows")
    graph = helper.make_graph(
        [helper.make_node("Gather", ["rows", "ids"], ["logits"])], "causal", [helper.make_tensor_value_info("ids", TensorProto.INT64, ["n", "t"])],
        [helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["n", "t", 5])], [table],
    )
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), tmp_path / "causal.onnx")
    with pytest.raises(assay.UsageError, match="the answer is token 7, and output 'logits' has scores of 5 tokens; give a number below that, or the tokenizer of this network"):
        assay.load(tmp_path / "causal.onnx", decision="answers=#7+#1")


def test_a_suite_that_is_not_utf8_is_said(exported, tmp_path):
    (tmp_path / "suite.json").write_bytes(b'{"tests": [{"name": "\xe9"}]}')
    with pytest.raises(assay.DataError, match=r"suite.json: line 1 is not UTF-8; write the file in UTF-8"):
        texts.check(exported[0], tmp_path / "suite.json")


def test_texts_of_files_are_those_that_stand_there(tmp_path):
    """Lines end at line feeds alone, a mark of byte order is no part of a column, and fields may be long."""
    from assay.texts._table import texts_and_labels

    said = ["a\u2028film", "very\x85good", "x" * 200_000, 'in "two"\nlines']
    with open(tmp_path / "t.csv", "w", newline="", encoding="utf-8-sig") as file:
        csv.writer(file).writerows([["text", "stars"], *([text, "1"] for text in said)])
    assert texts_and_labels(tmp_path / "t.csv", "text", "stars") == (said, ["1"] * 4)
    (tmp_path / "t.jsonl").write_text("\n".join(json.dumps({"text": text}, ensure_ascii=False) for text in said), encoding="utf-8")
    assert texts_and_labels(tmp_path / "t.jsonl", "text", None) == (said, None)
    (tmp_path / "t.txt").write_bytes("\r\n".join(f"{text}\tpositive" for text in said[:3]).encode())
    assert texts_and_labels(tmp_path / "t.txt", "text", None) == (said[:3], ["positive"] * 3)
    assert csv.field_size_limit() == 131072
    (tmp_path / "r.csv").write_bytes(b'text,n\r\na\r film,1\r\n\n"a\rbad ""one""",0\n"so" so')
    assert texts_and_labels(tmp_path / "r.csv", "text", None) == (["a film", 'a\rbad "one"', "so so"], None)


def coarse(folder, to):
    """The network with weights that are rounded to integers."""
    network = assay.load(folder)
    edited = network.with_weights({name: np.round(network.weight(name)) for name in ("rows", "outer")})
    edited.save(to / "coarse.onnx")
    return to / "coarse.onnx"


def test_a_network_and_its_rounded_self_are_told_apart(exported, tmp_path):
    folder, plain = exported
    rounded = Plain()
    rounded.rows, rounded.outer = np.round(plain.rows), np.round(plain.outer)
    many = [" ".join(random.Random(i).choices(WORDS[2:], k=6)) for i in range(30)]
    found = texts.explore(folder, coarse(folder, tmp_path), many, changes=2, fail_under=["agreement>=0"])
    differ = sum(plain.decision(text) != rounded.decision(text) for text in many)
    assert found.agreement == 1 - differ / len(many) and found.passed
    rows = found.table("findings").rows
    assert len(rows) > differ and found.agreement_after == 1 - len(rows) / len(many)
    for row in rows:
        assert (CLASSES[plain.decision(row["after"])], CLASSES[rounded.decision(row["after"])]) == (row["decision"], row["other"])
        assert row["decision"] != row["other"] and row["words"] <= 2 and row["before"] == many[row["record"]]
    same = texts.explore(folder, folder, many, changes=1)
    assert same.agreement == same.agreement_after == 1 and same.table("divergence").rows[0]["greatest"] < 1e-12


def test_answers_of_another_version_are_looked_up_in_the_tokenizer_of_the_texts(tmp_path):
    """A quantised file lies alone, without the tokenizer of the model."""
    onnx = need("onnx")
    from onnx import TensorProto, helper, numpy_helper

    scores = np.random.default_rng(4).normal(size=(len(WORDS), len(WORDS))).astype(np.float32)
    for name, rows in [("whole", scores), ("rounded", np.round(scores))]:
        value = helper.make_tensor_value_info
        graph = helper.make_graph(
            [helper.make_node("Gather", ["rows", "input_ids"], ["logits"])], "causal", [value("input_ids", TensorProto.INT64, ["n", "t"])],
            [value("logits", TensorProto.FLOAT, ["n", "t", len(WORDS)])], [numpy_helper.from_array(rows, "rows")],
        )
        (tmp_path / name).mkdir()
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), tmp_path / name / "model.onnx")
    parts = {
        "version": "1.0", "added_tokens": [], "pre_tokenizer": {"type": "Whitespace"},
        "model": {"type": "WordLevel", "unk_token": "[UNK]", "vocab": {word: i for i, word in enumerate(WORDS)}},
    }
    (tmp_path / "whole" / "tokenizer.json").write_text(json.dumps(parts))
    said = {"decision": "position=last,answers=good+bad", "changes": 1}
    one_word = WORDS[2:]
    found = texts.explore(tmp_path / "whole", tmp_path / "rounded" / "model.onnx", one_word, **said)
    good, bad = WORDS.index("good"), WORDS.index("bad")
    decided = [[rows[WORDS.index(word), good] >= rows[WORDS.index(word), bad] for word in one_word] for rows in (scores, np.round(scores))]
    assert found.agreement == pytest.approx(np.mean(np.equal(*decided)))
    alone = tmp_path / "rounded" / "model.onnx"
    assert texts.attack(alone, one_word, tokenizer=tmp_path / "whole", **said).headline
    (tmp_path / 'w"hole').mkdir()
    (tmp_path / 'w"hole' / "tokenizer.json").write_text(json.dumps(parts))
    assert texts.attack(alone, one_word, tokenizer=tmp_path / 'w"hole', **said).headline
    with pytest.raises(assay.UsageError, match="no tokenizer.json is next to the network"):
        texts.attack(alone, one_word, tokenizer=lambda many: {"input_ids": np.ones((len(many), 1), np.int64)}, **said)


@pytest.mark.parametrize("decision", ["logits", 0])
def test_a_decision_may_be_an_output_of_a_network_without_a_tokenizer(exported, tmp_path, decision):
    folder, _ = exported
    (tmp_path / "alone.onnx").write_bytes((folder / "model.onnx").read_bytes())
    found, whole = (texts.attack(one, TEXTS, tokenizer=folder, changes=1, decision=chosen).table("attacked_texts").rows
                    for one, chosen in ((tmp_path / "alone.onnx", decision), (folder, None)))  # fmt: skip
    assert [row["after"] for row in found] == [row["after"] for row in whole]


def test_what_is_not_confirmed_is_no_finding():
    from assay.texts import _explore

    class Fixed:
        def __init__(self, decided):
            self.decided = decided

        def scores(self, many):
            return None, np.array(self.decided[: len(many)])

        name_of = staticmethod(str)

    rows = [{"record": record, "after": "text"} for record in range(3)]
    kept = _explore._confirmed(Fixed([0, 1, 1]), Fixed([1, 1, 0]), rows)
    assert [(row["record"], row["decision"], row["other"]) for row in kept] == [(0, "0", "1"), (2, "1", "0")]


def levenshtein(a, b):
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        last, row[0] = row[0], i
        for j, y in enumerate(b, 1):
            last, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, last + (x != y))
    return row[-1]


def test_diverse_texts_are_far_from_each_other():
    from assay.texts import _selection

    rng = random.Random(5)
    many = ["".join(rng.choices("abcé ", k=rng.randint(0, 12))) for _ in range(40)]
    for text in many[:10]:
        wanted = [levenshtein(text, other) / max(len(text), len(other), 1) for other in many]
        np.testing.assert_allclose(_selection.distances(text, many), wanted)
    chosen = [7]
    while len(chosen) < 8:
        nearest = [min(levenshtein(a, many[c]) / max(len(a), len(many[c]), 1) for c in chosen) for a in many]
        chosen.append(max((i for i in range(40) if i not in chosen), key=lambda i: (nearest[i], -i)))
    assert texts.diverse(many, 8, first=7) == chosen
    with pytest.raises(assay.UsageError, match="1 to 40 texts can be chosen"):
        texts.diverse(many, 41)
    for first in (-1, 40):
        with pytest.raises(assay.UsageError, match=f"first={first}: the first text is one of 40, counted from 0"):
            texts.diverse(many, 2, first=first)
    with pytest.raises(assay.UsageError, match="a list of texts is needed"):
        texts.diverse("film", 2)


@pytest.mark.parametrize("doubt", ["margin", "entropy"])
def test_doubtful_texts_are_chosen(exported, doubt):
    folder, plain = exported
    certain = [abs(plain.margin(text, 1)) for text in TEXTS]  # of two classes both doubts have this order
    order = list(np.argsort(certain))
    assert texts.select(folder, TEXTS, 3, doubt=doubt, pool=1) == order[:3]
    pool = [TEXTS[i] for i in order[:4]]
    assert texts.select(folder, TEXTS, 2, doubt=doubt, pool=2) == [order[i] for i in texts.diverse(pool, 2)]
    with pytest.raises(assay.UsageError, match="margin, entropy or mixture"):
        texts.select(folder, TEXTS, 2, doubt="gini")
    with pytest.raises(assay.UsageError, match="a list of texts is needed"):
        texts.select(folder, TEXTS[0], 2, doubt=doubt)
    with pytest.raises(assay.UsageError, match="no effect without doubt='mixture'"):
        texts.select(folder, TEXTS, 2, doubt=doubt, layer="x")
    with pytest.raises(assay.UsageError, match="give seen=TEXTS and layer=NAME"):
        texts.select(folder, TEXTS, 2, doubt="mixture")
    with pytest.raises(assay.UsageError, match="components=0: a mixture has at least one"):
        texts.select(folder, TEXTS, 2, doubt="mixture", seen=TEXTS, layer="hidden", components=0)


def test_unusual_texts_are_chosen(exported):
    """Improbable by a mixture over what a layer gives at the last token of texts seen before."""
    from assay.texts import _mixture

    folder, plain = exported
    many = [" ".join(random.Random(i).choices(WORDS[2:10], k=2 + i % 4)) for i in range(40)]
    at_last = lambda some: np.array([np.tanh(plain.rows[WORDS.index(text.split()[-1])]) for text in some], np.float64)  # noqa: E731
    others = ["anna", "the film", "omar says", "a good plot"]
    wanted = np.argsort(-_mixture.Mixture(at_last(many), 2).surprise(at_last(others)), kind="stable")
    layers = [layer.name for layer in assay.load(folder).layers(assay.data(others, tokenizer=folder)) if layer.op.startswith("Tanh") or "Tanh" in layer.activation]
    assert texts.select(folder, others, 3, doubt="mixture", seen=many, layer=layers[0], components=2, pool=1) == list(wanted[:3])


def test_evidence_lists_what_says_which_token_fills_up(exported, tmp_path, monkeypatch):
    """Or figures that rest on it could not be reproduced from the files that the pack names."""
    import shutil

    onnx = need("onnx")
    from conftest import run_program

    folder, _ = exported
    monkeypatch.chdir(tmp_path)
    shutil.copytree(folder, "words")
    model = onnx.load("words/model.onnx")
    for one in model.graph.input:
        one.type.tensor_type.shape.dim[1].dim_value = 3
    onnx.save(model, "words/model.onnx")
    pathlib.Path("t.csv").write_text("text,label\nanna,0\nthe film,1\n")
    spec = "t.csv,text=text,label=label,tokenizer=words/tokenizer.json,length=3"
    (tmp_path / "study.toml").write_text(f'model = "words/model.onnx"\ntest = "{spec}"\n[[evidence.step]]\ncommand = "evaluate"\n')
    run_program(tmp_path, "evidence", "--config", "study.toml", "--out", "pack")
    listed = [one["path"] for one in json.loads(pathlib.Path("pack/manifest.json").read_text())["inputs"]]
    assert {"words/tokenizer.json", "words/config.json"} <= set(listed)
    assert all(gate["passed"] for gate in run_program(tmp_path, "verify", "pack", "--rerun", "all")["gates"])


def test_the_last_token_is_not_what_fills_up(exported, tmp_path):
    """Of a network without a mask of tokens, however it is given."""
    import shutil

    onnx = need("onnx")
    from onnx import TensorProto, helper, numpy_helper
    from assay.texts import _network

    folder, plain = exported
    shutil.copy(folder / "tokenizer.json", tmp_path)
    nodes = [helper.make_node("Gather", ["rows", "input_ids"], ["found"]), helper.make_node("Tanh", ["found"], ["hidden"]),
             helper.make_node("ReduceSum", ["hidden", "tokens"], ["sum"], keepdims=0), helper.make_node("MatMul", ["sum", "outer"], ["logits"])]  # fmt: skip
    weights = {"rows": plain.rows, "outer": plain.outer, "tokens": np.array([1])}
    graph = helper.make_graph(
        nodes, "bag", [helper.make_tensor_value_info("input_ids", TensorProto.INT64, ["n", "t"])],
        [helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["n", 2])], [numpy_helper.from_array(v, n) for n, v in weights.items()],
    )  # fmt: skip
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), tmp_path / "model.onnx")
    some = ["anna", "the film", "a good plot"]
    wanted = [np.tanh(plain.rows[WORDS.index(text.split()[-1])]) for text in some]
    data = assay.data(some, tokenizer=tmp_path)
    (name,) = [layer.name for layer in assay.load(tmp_path).layers(data) if "Tanh" in (layer.op, layer.activation)]
    elsewhere = assay.load((tmp_path / "model.onnx").read_bytes())
    for network in (tmp_path, assay.load(tmp_path), assay.load(tmp_path).with_outputs(["logits"]), elsewhere):
        found = _network.TextNetwork(network, tmp_path).at_last_token(some, name)
        np.testing.assert_allclose(found, wanted, rtol=1e-5)


def test_a_mixture_of_gaussians_is_that_of_scikit_learn():
    mixtures = pytest.importorskip("sklearn.mixture", reason="SKIPPED: the package scikit-learn is not there")
    from assay.texts import _mixture

    rng = np.random.default_rng(5)
    rows = np.concatenate([rng.normal(size=(60, 4)) @ rng.normal(size=(4, 4)) + 6 * rng.normal(size=4) for _ in range(3)])
    ours = _mixture.Mixture(rows, 3)
    begun = _mixture.Mixture.__new__(_mixture.Mixture)
    begun._ridge = ours._ridge
    begun._take(rows, np.eye(3)[_mixture._clusters(rows, 3)])
    theirs = mixtures.GaussianMixture(
        3, tol=1e-6, max_iter=200, reg_covar=ours._ridge, weights_init=begun.weights, means_init=begun.means,
        precisions_init=np.linalg.inv(begun.covariances),
    ).fit(rows)  # fmt: skip
    others = rng.normal(size=(20, 4), scale=5)
    np.testing.assert_allclose(ours.surprise(others), -theirs.score_samples(others), rtol=1e-6)
    assert np.linalg.norm(rows - ours.means[np.argmin([((rows - mean) ** 2).sum(1) for mean in ours.means], 0)]) < np.linalg.norm(rows - rows.mean(0))
    with pytest.raises(assay.DataError, match="3 texts are too few for a mixture of 3"):
        _mixture.Mixture(rows[:3], 3)


_lengths = """
import sys
import numpy as np
import assay

def held():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096

network = assay.load(sys.argv[1], threads=1)
for length in range(1, 30):
    network.predict(np.ones((1, length, 1500), np.float32))
    if length == 5:
        before = held()
print(held() - before)
"""


def test_networks_keep_no_weights_for_every_length_of_texts(tmp_path):
    onnx = need("onnx")
    from onnx import TensorProto, helper, numpy_helper

    weights = np.ones((1500, 1500), np.float32)
    nodes = [helper.make_node("MatMul", ["x", "w"], ["h"]), helper.make_node("ReduceSum", ["h", "axes"], ["y"], keepdims=0)]
    value = helper.make_tensor_value_info
    graph = helper.make_graph(
        nodes, "wide", [value("x", TensorProto.FLOAT, ["n", "t", 1500])], [value("y", TensorProto.FLOAT, ["n", 1500])],
        [numpy_helper.from_array(weights, "w"), numpy_helper.from_array(np.array([1]), "axes")],
    )
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), tmp_path / "wide.onnx")
    done = subprocess.run([sys.executable, "-c", _lengths, tmp_path / "wide.onnx"], capture_output=True, text=True, check=True)
    assert int(done.stdout) < 6 * weights.nbytes
