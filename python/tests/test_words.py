"""Networks that take texts: ONNX Runtime reads the texts themselves, Assay the numbers of their words."""

import json

import numpy as np
import pytest

import assay
import assay.texts
from conftest import run_program

onnx = pytest.importorskip("onnx", reason="SKIPPED: onnx is not installed (PyPI)")
onnxruntime = pytest.importorskip("onnxruntime", reason="SKIPPED: onnxruntime is not installed (PyPI)")

numbers = pytest.importorskip("onnx.numpy_helper", reason="SKIPPED: onnx is not installed (PyPI)")
make, types = onnx.helper, onnx.TensorProto
WORDS = ["cat", "dog", "Bird", "ÄPFEL", "a_b9", "the", "it", "x"]
POOL = ["cat", "DOG", "dog", "bird", "äpfel", "ÄPFEL", "pfel", "a_b9", "the", "it"]
POOL_OF_PAIRS = ["the", "cat", "cat", "dog", "it", "the"]


def texts(seed=3, count=40):
    rng = np.random.default_rng(seed)
    marks = [" ", ", ", "  ", "! ", "-"]
    return ["".join(WORDS[rng.integers(len(WORDS))] + marks[rng.integers(len(marks))] for _ in range(rng.integers(1, 9))) for _ in range(count)]


def saved(path, nodes, inputs, weights, outputs, ml=3):
    graph = make.make_graph(nodes, "texts", inputs, outputs, weights)
    opsets = [make.make_opsetid("", 17), make.make_opsetid("ai.onnx.ml", ml), make.make_opsetid("com.microsoft", 1)]
    onnx.save(make.make_model(graph, opset_imports=opsets, ir_version=8), path)
    return path


def classifier(tmp_path, mode="TF", mincharnum=1, case="LOWER", **cutting):
    """A linear classifier of three classes on counts of words and of pairs of words."""
    columns = len(POOL) + len(POOL_OF_PAIRS) // 2
    rng = np.random.default_rng(5)
    nodes = [
        make.make_node("Reshape", ["text", "flat"], ["flattened"]),
        make.make_node("StringNormalizer", ["flattened"], ["small"], case_change_action=case, locale="C.UTF-8"),
        make.make_node(
            "Tokenizer", ["small"], ["tokens"], domain="com.microsoft", mark=0, pad_value="#", mincharnum=mincharnum, **cutting
        ),
        make.make_node("Flatten", ["tokens"], ["rows"]),
        make.make_node(
            "TfIdfVectorizer", ["rows"], ["counts"], mode=mode, min_gram_length=1, max_gram_length=2, max_skip_count=0,
            ngram_counts=[0, len(POOL)], ngram_indexes=list(range(columns)), pool_strings=POOL + POOL_OF_PAIRS,
            weights=[0.5 + 0.1 * i for i in range(columns)],
        ),
        make.make_node(
            "LinearClassifier", ["counts"], ["label", "scores"], domain="ai.onnx.ml", classlabels_strings=["no", "other", "yes"],
            coefficients=[float(v) for v in rng.normal(size=3 * columns)], intercepts=[0.1, -0.1, 0.0], post_transform="SOFTMAX",
        ),
    ]  # fmt: skip
    return saved(
        tmp_path / "texts.onnx",
        nodes,
        [make.make_tensor_value_info("text", types.STRING, ["n", 1])],
        [numbers.from_array(np.array([-1], np.int64), "flat")],
        [make.make_tensor_value_info("label", types.STRING, ["n"]), make.make_tensor_value_info("scores", types.FLOAT, ["n", 3])],
    )


def said(path, **inputs):
    return onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"]).run(None, inputs)


@pytest.mark.parametrize("mode", ["TF", "IDF", "TFIDF"])
@pytest.mark.parametrize("cutting", [{"tokenexp": "[a-zA-Z0-9_]+"}, {"tokenexp": "\\w\\w+"}, {"separators": [" ", ",", "!"]}, {"tokenexp": "c|cat|dog?"}, {"tokenexp": "it|the|he d", "mincharnum": 3}])
def test_scores_are_those_of_onnx_runtime(tmp_path, mode, cutting):
    path, x = classifier(tmp_path, mode, **cutting), texts()
    scores = said(path, text=np.array(x, object)[:, None])[1]
    data = assay.data(x, words=path)
    assert np.asarray(assay.load(path)(data.read(range(len(x)))["x"])) == pytest.approx(scores, abs=1e-5)


@pytest.mark.parametrize("case", ["LOWER", "UPPER", "NONE"])
@pytest.mark.parametrize("mincharnum", [1, 4])
def test_letters_and_short_words_are_those_of_onnx_runtime(tmp_path, case, mincharnum):
    path, x = classifier(tmp_path, case=case, mincharnum=mincharnum, tokenexp="[^ ,!-]+"), texts()
    scores = said(path, text=np.array(x, object)[:, None])[1]
    assert np.asarray(assay.load(path)(assay.data(x, words=path).read(range(len(x)))["x"])) == pytest.approx(scores, abs=1e-5)


def test_every_command_takes_tables_of_texts(tmp_path):
    """Classes by name are in the order of the alphabet, as scikit-learn has them."""
    path, x = classifier(tmp_path, tokenexp="[a-zA-Z0-9_]+"), texts(count=60)
    label, _ = said(path, text=np.array(x, object)[:, None])
    rows = [{"text": text, "y": str(one)} for text, one in zip(x, label)]
    (tmp_path / "t.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    spec = "t.jsonl,label=y,words=texts.onnx"
    assert "correctly: 100.00 %" in run_program(tmp_path, "evaluate", "texts.onnx", spec)["headline"]
    run_program(tmp_path, "importance", "texts.onnx", spec)
    run_program(tmp_path, "cover", "texts.onnx", spec + "[30:]", "--train", spec + "[:30]", "--criterion", "kmnc")
    run_program(tmp_path, "mutate", "texts.onnx", spec, "--count", "5")


def test_columns_of_numbers_alone_are_inputs(tmp_path):
    """As skl2onnx writes a network of a table: one input a column."""
    rng = np.random.default_rng(2)
    names = ["age", "income", "debt"]
    graph = [
        make.make_node("Concat", names, ["row"], axis=1),
        make.make_node("Gemm", ["row", "w1"], ["hidden"], name="hidden"),
        make.make_node("Relu", ["hidden"], ["kept"]),
        make.make_node("Gemm", ["kept", "w2"], ["scores"]),
    ]
    weights = [numbers.from_array(rng.normal(size=shape).astype(np.float32), name) for name, shape in (("w1", (3, 8)), ("w2", (8, 2)))]
    values = [make.make_tensor_value_info(name, types.FLOAT, ["n", 1]) for name in names]
    path = saved(tmp_path / "shop.onnx", graph, values, weights, [make.make_tensor_value_info("scores", types.FLOAT, ["n", 2])])
    x = rng.normal(size=(30, 3)).astype(np.float32)
    label = said(path, **{name: x[:, i : i + 1] for i, name in enumerate(names)})[0].argmax(1)
    rows = [f"{c},{row[2]!s},{row[0]!s},{row[1]!s}" for c, row in zip(label, x)]
    (tmp_path / "people.csv").write_text("bought,debt,age,income\n" + "\n".join(rows) + "\n")
    spec = "people.csv,label=bought,words=shop.onnx,range=-4:4"
    assert "correctly: 100.00 %" in run_program(tmp_path, "evaluate", "shop.onnx", spec)["headline"]
    run_program(tmp_path, "importance", "shop.onnx", spec)
    run_program(tmp_path, "cover", "shop.onnx", spec, "--train", spec, "--criterion", "kmnc")
    run_program(tmp_path, "attack", "shop.onnx", spec, "--attack", "fgsm[eps=0.1]")
    with pytest.raises(assay.MismatchError, match="words=NETWORK"):
        assay.evaluate(path, str(tmp_path / "people.csv") + ",label=bought")


def columns(tmp_path):
    nodes = [
        make.make_node("OneHotEncoder", ["city"], ["hot"], domain="ai.onnx.ml", cats_strings=["Rome", "Oslo", "Bern"], zeros=1),
        make.make_node("Reshape", ["hot", "wide"], ["city_columns"]),
        make.make_node("LabelEncoder", ["job"], ["number"], domain="ai.onnx.ml", keys_strings=["cook", "pilot"], values_floats=[3.0, 5.0], default_float=-1.0),
        make.make_node("Concat", ["city_columns", "number", "age"], ["all"], axis=1),
        make.make_node("LinearRegressor", ["all"], ["y"], domain="ai.onnx.ml", coefficients=[1.0, 2.0, 3.0, 4.0, 0.5], intercepts=[0.25]),
    ]  # fmt: skip
    return saved(
        tmp_path / "columns.onnx",
        nodes,
        [make.make_tensor_value_info(name, kind, ["n", 1]) for name, kind in [("city", types.STRING), ("job", types.STRING), ("age", types.FLOAT)]],
        [numbers.from_array(np.array([-1, 3], np.int64), "wide")],
        [make.make_tensor_value_info("y", types.FLOAT, ["n", 1])],
        ml=2,
    )


def parts(count=20):
    rng = np.random.default_rng(8)
    city = [["Rome", "Oslo", "Bern", "Paris"][i] for i in rng.integers(4, size=count)]
    job = [["cook", "pilot", "nurse"][i] for i in rng.integers(3, size=count)]
    return {"job": job, "age": rng.normal(size=count).astype(np.float32), "city": city}


def test_columns_of_texts_beside_numbers_are_those_of_onnx_runtime(tmp_path):
    path, x = columns(tmp_path), parts()
    y = said(path, **{name: np.array(part, object if name != "age" else np.float32)[:, None] for name, part in x.items()})[0]
    result = assay.evaluate(path, assay.data(x, y[:, 0], words=path))
    assert result.figures()["mean-squared-error"] == pytest.approx(0, abs=1e-9)


def test_tables_of_pandas_have_words(tmp_path):
    pandas = pytest.importorskip("pandas", reason="SKIPPED: pandas is not installed (PyPI)")
    path, x = columns(tmp_path), parts()
    y = said(path, **{name: np.array(part, object if name != "age" else np.float32)[:, None] for name, part in x.items()})[0]
    table = pandas.DataFrame({**x, "price": y[:, 0], "shop": ["a", "b"] * 10})
    data = assay.data(table, target="price", meta=["shop"], words=path)
    assert data.characteristics == {"shop": ["a", "b"] * 10}
    assert assay.evaluate(path, data).figures()["mean-squared-error"] == pytest.approx(0, abs=1e-9)


def test_columns_with_other_names_are_in_the_order_of_the_inputs(tmp_path):
    path, x = columns(tmp_path), parts()
    y = said(path, **{name: np.array(part, object if name != "age" else np.float32)[:, None] for name, part in x.items()})[0]
    ordered = {"town": x["city"], "activity": x["job"], "b": x["age"]}
    assert assay.evaluate(path, assay.data(ordered, y[:, 0], words=path)).figures()["mean-squared-error"] == pytest.approx(0, abs=1e-9)
    with pytest.raises(assay.UsageError, match="takes the columns city, job, age"):
        assay.data({"job": x["city"], "town": x["job"], "age": x["age"]}, words=path)


def test_networks_that_read_no_text_and_huge_widths_are_refused(tmp_path):
    text = make.make_tensor_value_info("t", types.STRING, [None, 1])
    node = make.make_node("StringNormalizer", ["t"], ["y"], case_change_action="LOWER")
    path = saved(tmp_path / "small.onnx", [node], [text], [], [make.make_tensor_value_info("y", types.STRING, [None, 1])])
    with pytest.raises(assay.ModelError, match="nothing in this network reads its texts"):
        assay.data(["a"], words=path)
    path = columns(tmp_path)
    wide = onnx.load(path)
    wide.graph.input[0].type.tensor_type.shape.dim[1].dim_value = 10**12
    onnx.save(wide, path)
    with pytest.raises(assay.UsageError, match="takes the columns"):
        assay.data(parts(), words=path)


def test_what_is_no_text_is_refused(tmp_path):
    path = classifier(tmp_path, tokenexp="[a-z]+")
    with pytest.raises(assay.UsageError, match="knows no word|takes the columns"):
        assay.data({"text": ["cat"], "more": ["dog"]}, words=path)
    with pytest.raises(assay.UsageError, match="different lengths"):
        assay.data({"a": ["cat"], "b": []}, words=path)
    with pytest.raises(assay.UsageError, match="a spec says words= itself"):
        assay.data("t.csv", words=path)
    with pytest.raises(assay.DataError, match="^words=: the network knows no word"):
        assay.data(["zebra"], words=path)


PIPELINES = {
    "counts": lambda k: k.pipeline.make_pipeline(k.text.CountVectorizer(), k.linear_model.LogisticRegression()),
    "tfidf": lambda k: k.pipeline.make_pipeline(k.text.TfidfVectorizer(ngram_range=(1, 2)), k.ensemble.RandomForestClassifier(5, random_state=0)),
    "letters": lambda k: k.pipeline.make_pipeline(k.text.TfidfVectorizer(analyzer="char", ngram_range=(2, 3)), k.linear_model.LogisticRegression()),
    "union": lambda k: k.pipeline.make_pipeline(
        k.pipeline.make_union(k.text.TfidfVectorizer(analyzer="char"), k.text.CountVectorizer()), k.linear_model.LogisticRegression()
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", PIPELINES)
@pytest.mark.filterwarnings("ignore")
def test_what_scikit_learn_writes_is_read(tmp_path, name):
    pytest.importorskip("sklearn", reason="SKIPPED: scikit-learn is not installed (PyPI)")
    skl2onnx = pytest.importorskip("skl2onnx", reason="SKIPPED: skl2onnx is not installed (PyPI)")
    import types as kinds

    from sklearn import ensemble, linear_model, pipeline
    from sklearn.feature_extraction import text

    made = PIPELINES[name](kinds.SimpleNamespace(pipeline=pipeline, text=text, linear_model=linear_model, ensemble=ensemble))
    train, test = texts(1, 80), texts(2)
    made.fit(train, ["dog" in one for one in train])
    written = skl2onnx.convert_sklearn(
        made, initial_types=[("text", skl2onnx.common.data_types.StringTensorType([None, 1]))], target_opset=17,
        options={id(made): {"zipmap": False}},
    )  # fmt: skip
    for node in written.graph.node:
        if node.op_type == "StringNormalizer":
            node.attribute.append(make.make_attribute("locale", "C.UTF-8"))
    onnx.save(written, tmp_path / "written.onnx")
    scores = said(tmp_path / "written.onnx", text=np.array(test, object)[:, None])[1]
    data = assay.data(test, words=tmp_path / "written.onnx")
    rows = data.read(range(len(test)))
    net = assay.load(tmp_path / "written.onnx", decision="probabilities")
    assert np.asarray(net(rows["x"] if "x" in rows else rows)) == pytest.approx(scores, abs=1e-5)


def counted(path, text):
    """Scores by ONNX Runtime of one text."""
    return said(path, text=np.array([[text]], object))[1][0]


def test_texts_are_edited_and_judged_by_the_words_of_the_network(tmp_path):
    """Each edited text is numbered anew; ONNX Runtime decides about what was found as the result says."""
    path, x = classifier(tmp_path, tokenexp="[a-zA-Z0-9_]+"), texts(count=25)
    result = assay.texts.attack(path, x, edits=["swap", "delete", "homoglyph"], changes=2, out=tmp_path / "edited.csv")
    rows = list(result.table("attacked_texts"))
    found = [row for row in rows if row["success"] == "yes"]
    assert 0 < len(found) < len(rows) == 25
    for row in rows:
        assert row["label"] == str(counted(path, row["before"]).argmax())
        assert row["decision"] == str(counted(path, row["after"]).argmax())
    assert all(row["before"] != row["after"] and row["words"] <= 2 for row in found)


def test_changes_to_words_that_the_network_does_not_know_are_not_counted(tmp_path):
    """In either order of the tests: what no text of one test holds is in another."""
    path = classifier(tmp_path, tokenexp="[a-zA-Z0-9_]+")
    known = {"name": "known", "kind": "minimum-functionality", "capability": "c", "templates": [texts(count=1)[0] + " {w}"], "label": "0"}
    strange = {"name": "strange", "kind": "invariance", "capability": "c", "templates": ["{stranger}"], "vary": "stranger"}
    lexicons = {"w": ["a", "b"], "stranger": ["zyx", "qwv", "uu"]}
    for tests in ([known, strange], [strange, known]):
        found = assay.texts.check(path, {"lexicons": lexicons, "tests": tests})
        rows = {row["test"]: row for row in found.table("tests")}
        assert rows["strange"]["cases"] == 0 and rows["strange"]["unseen"] == 3


def test_mutants_are_edited_by_the_words_of_their_network(tmp_path):
    path, x = classifier(tmp_path, tokenexp="[a-zA-Z0-9_]+"), texts(count=25)
    changed = assay.load(path)
    name = next(one for one in changed.weights if np.asarray(changed.weight(one)).size > 30)
    mutant = changed.with_weights({name: np.asarray(changed.weight(name)) * 0.8})
    mutant.save(tmp_path / "mutant.onnx")
    with pytest.raises(assay.UsageError, match="words=FILE"):
        assay.texts.attack(tmp_path / "mutant.onnx", x)
    by_file = assay.texts.attack(tmp_path / "mutant.onnx", x, words=path, changes=2)
    assert by_file.figures() == assay.texts.attack(mutant, x, words=path, changes=2).figures()
    assert assay.texts.explore(path, tmp_path / "mutant.onnx", x, changes=2).figures()["agreement-after"] < 1


def test_texts_without_a_known_word_are_judged_beside_those_that_have_one(tmp_path):
    """A text of one word has none that is known once it is edited."""
    path = classifier(tmp_path, tokenexp="[a-zA-Z0-9_]+")
    result = assay.texts.attack(path, ["cat", "dog"], edits=["homoglyph"], changes=1)
    nothing = counted(path, "zebra").argmax()
    assert [row["success"] == "yes" for row in result.table("attacked_texts")] == [counted(path, word).argmax() != nothing for word in ("cat", "dog")]
    with pytest.raises(assay.DataError, match="knows no word"):
        assay.texts.attack(path, ["zebra"])


def test_other_commands_of_texts_take_words(tmp_path):
    path, x = classifier(tmp_path, tokenexp="[a-zA-Z0-9_]+"), texts(count=25)
    assert len(assay.texts.select(path, x, 3)) == 3
    suite = {"tests": [{"name": "typing", "capability": "robustness", "kind": "invariance", "texts": x[:5], "edits": ["swap"], "changes": 1}]}
    assert 0 <= assay.texts.check(path, suite).figures()["pass-rate"] <= 1
    with pytest.raises(assay.UnsupportedError, match="no token is the last"):
        assay.texts.select(path, x, 3, doubt="mixture", seen=x, layer="scores")
    with pytest.raises(assay.UsageError, match="either tokenizer= or words="):
        assay.texts.attack(path, x, tokenizer=lambda all_texts: all_texts, words=path)


@pytest.mark.parametrize("attack", ["fgsm[eps=0.1]", "hotflip"])
def test_attacks_on_numbers_of_words_name_the_edits(tmp_path, attack):
    path, x = classifier(tmp_path, tokenexp="[a-zA-Z0-9_]+"), texts(count=5)
    with pytest.raises(assay.AssayError, match="edits of the texts themselves"):
        assay.attack(path, assay.data(x, [0] * 5, words=path), attack=attack)


def test_rows_of_tables_keep_their_names(tmp_path):
    """Columns are inputs by their names in any order; records are called like the rows."""
    pandas = pytest.importorskip("pandas", reason="SKIPPED: pandas is not installed (PyPI)")
    path, x = columns(tmp_path), parts(4)
    table = pandas.DataFrame({**x, "price": [1.0, 2.0, 3.0, 4.0]}, index=["Anna", "Omar", "Li", "Eva"])
    data = assay.data(table[["age", "price", "city", "job"]], target="price", words=path)
    assert data.ids == ["Anna", "Omar", "Li", "Eva"]
    assert data.inputs.keys() == {"city", "job", "age"}
    assert assay.data(table, target="price", words=path, ids=["a", "b", "c", "d"]).ids == ["a", "b", "c", "d"]
    with pytest.raises(assay.DataError, match="column 'price', row 'Omar': the value is missing"):
        assay.data(table.assign(price=[1.0, None, 3.0, 4.0]), target="price", words=path)


def members(tmp_path, kind):
    """A city beside whether somebody is a member: a number, a truth value or a text."""
    middle = [make.make_node("OneHotEncoder", ["member"], ["hot_member"], domain="ai.onnx.ml", cats_strings=["True", "False"]), make.make_node("Reshape", ["hot_member", "two"], ["both"]), make.make_node("ReduceMax", ["both"], ["number"], axes=[1])]  # fmt: skip
    if kind != "STRING":
        middle = [make.make_node("Cast", ["member"], ["number"], to=types.FLOAT)]
    nodes = [
        make.make_node("OneHotEncoder", ["city"], ["hot"], domain="ai.onnx.ml", cats_strings=["Rome", "Oslo", "Bern"], zeros=1),
        make.make_node("Reshape", ["hot", "wide"], ["city_columns"]), *middle, make.make_node("Concat", ["city_columns", "number"], ["all"], axis=1),
        make.make_node("LinearRegressor", ["all"], ["y"], domain="ai.onnx.ml", coefficients=[1.0, 2.0, 3.0, 4.0], intercepts=[0.25]),
    ]  # fmt: skip
    return saved(
        tmp_path / f"{kind}.onnx", nodes,
        [make.make_tensor_value_info("city", types.STRING, ["n", 1]), make.make_tensor_value_info("member", getattr(types, kind), ["n", 1])],
        [numbers.from_array(np.array([-1, 3], np.int64), "wide"), numbers.from_array(np.array([-1, 2], np.int64), "two")],
        [make.make_tensor_value_info("y", types.FLOAT, ["n", 1])], ml=2,
    )  # fmt: skip


@pytest.mark.parametrize("kind", ["FLOAT", "INT64", "BOOL", "STRING"])
def test_truth_values_beside_texts_are_what_the_network_takes(tmp_path, kind):
    path, city, member = members(tmp_path, kind), ["Rome", "Oslo", "Paris", "Bern"], [True, False, True, False]
    given = {"FLOAT": np.float32, "INT64": np.int64, "BOOL": bool}.get(kind)
    as_it_takes = np.array(member, given) if given else np.array([str(one) for one in member], object)
    y = said(path, city=np.array(city, object)[:, None], member=as_it_takes[:, None])[0]
    tables = [{"city": city, "member": member}, {"city": city, "member": np.array(member)}, [{"city": c, "member": m} for c, m in zip(city, member)]]
    try:
        import pandas

        tables.append(pandas.DataFrame(tables[0]))
    except ImportError:
        pass
    for table in tables:
        assert assay.evaluate(path, assay.data(table, y[:, 0], words=path)).figures()["mean-squared-error"] == pytest.approx(0, abs=1e-9)
    (tmp_path / "t.csv").write_text("city,member,y\n" + "".join(f"{c},{m},{v}\n" for c, m, v in zip(city, member, y[:, 0])))
    facts = run_program(tmp_path, "evaluate", path.name, f"t.csv,target=y,words={path.name}")["facts"]
    assert next(value for name, value in facts.items() if "mean_squared" in name) == pytest.approx(0, abs=1e-9)


def encoder(tmp_path, kind, zeros):
    told = {"zeros": zeros} if zeros is not None else {}
    categories = {"cats_strings": ["Rome", "Oslo"]} if kind == "STRING" else {"cats_int64s": [3, 8]}
    nodes = [make.make_node("OneHotEncoder", ["x"], ["hot"], "encode", domain="ai.onnx.ml", **categories, **told), make.make_node("Reshape", ["hot", "two"], ["y"])]
    return saved(
        tmp_path / "encoder.onnx", nodes, [make.make_tensor_value_info("x", getattr(types, kind), ["n", 1])], [numbers.from_array(np.array([-1, 2], np.int64), "two")],
        [make.make_tensor_value_info("y", types.FLOAT, ["n", 2])], ml=2,
    )  # fmt: skip


@pytest.mark.parametrize(("kind", "zeros"), [("STRING", 0), *((kind, zeros) for kind in ("STRING", "INT64", "FLOAT") for zeros in (None, 1))])
def test_categories_that_an_encoder_does_not_know_are_as_onnx_runtime_has_them(tmp_path, kind, zeros):
    """zeros=0: it fails; otherwise all columns are 0."""
    path = encoder(tmp_path, kind, zeros)
    known, other = {"STRING": (["Oslo", "Rome"], "Bern"), "INT64": ([8, 3], 5), "FLOAT": ([8.0, 3.0], 5.0)}[kind]
    array = lambda values: np.array(values, {"STRING": object, "INT64": np.int64, "FLOAT": np.float32}[kind])[:, None]

    def scores(values):
        records = assay.data(list(values), words=path) if kind == "STRING" else assay.data(array(values))
        return np.asarray(assay.load(path)(records.read(range(len(values)))["x"]))

    assert (scores(known) == said(path, x=array(known))[0]).all()
    with_other = [*known, other]
    if zeros != 0:
        assert (scores(with_other) == said(path, x=array(with_other))[0]).all()
        return
    with pytest.raises(Exception, match="zeros = 0"):
        said(path, x=array(with_other))
    with pytest.raises(assay.DataError, match="row 3: 'Bern' is none of the 2 categories of node 'encode' .*handle_unknown='ignore'"):
        scores(with_other)


def test_words_of_another_network_are_refused(tmp_path):
    """By the words and how texts are cut; a network that was trained again on the same words is not another."""
    (tmp_path / "a").mkdir(), (tmp_path / "b").mkdir(), (tmp_path / "c").mkdir()
    path, x = classifier(tmp_path / "a", tokenexp="[a-zA-Z0-9_]+"), texts(count=12)
    cut_otherwise, y = classifier(tmp_path / "b", tokenexp="[a-z]+"), [0, 1, 2] * 4
    again = onnx.load(path)
    again.graph.node[-1].attribute[1].floats[:] = [0.5 * one for one in again.graph.node[-1].attribute[1].floats]
    onnx.save(again, tmp_path / "c" / "texts.onnx")
    data = assay.data(x, y, words=path)
    assay.evaluate(path, data), assay.evaluate(tmp_path / "c" / "texts.onnx", data)
    with pytest.raises(assay.MismatchError, match="words of another network .vocabulary [0-9a-f]{8}., and network 'texts' has others .*name it in words="):
        assay.evaluate(cut_otherwise, data)
    (tmp_path / "t.jsonl").write_text("".join(json.dumps({"text": text, "y": label}) + "\n" for text, label in zip(x, y)))
    run_program(tmp_path, "evaluate", "a/texts.onnx", "t.jsonl,label=y,words=a/texts.onnx")
    with pytest.raises(AssertionError, match="words of another network"):
        run_program(tmp_path, "evaluate", "b/texts.onnx", "t.jsonl,label=y,words=a/texts.onnx[2:8]")
    assay.texts.attack(path, x, words=path)
    with pytest.raises(assay.MismatchError, match="words of another network"):
        assay.texts.attack(cut_otherwise, x, words=path)


@pytest.mark.parametrize("kind", ["INT64", "FLOAT"])
def test_numbers_that_an_encoder_must_know_and_does_not_are_nan(tmp_path, kind):
    """ONNX Runtime fails at them."""
    path = encoder(tmp_path, kind, 0)
    values = np.array([[8], [5], [3]], {"INT64": np.int64, "FLOAT": np.float32}[kind])
    scores = np.asarray(assay.load(path)(values))
    assert (scores[[0, 2]] == said(path, x=values[[0, 2]])[0]).all()
    assert np.isnan(scores[1]).all()
    with pytest.raises(Exception, match="Unknown Category"):
        said(path, x=values)
