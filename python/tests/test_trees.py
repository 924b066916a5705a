"""Decision trees of ai.onnx.ml: ONNX Runtime says what they give, scikit-learn which leaves records reach."""

import itertools

import numpy as np
import pytest

import assay
from conftest import run_program

onnx = pytest.importorskip("onnx", reason="SKIPPED: onnx is not installed (PyPI)")
onnxruntime = pytest.importorskip("onnxruntime", reason="SKIPPED: onnxruntime is not installed (PyPI)")

make, types = onnx.helper, onnx.TensorProto
MODES = ["BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT", "BRANCH_EQ", "BRANCH_NEQ"]
DOMAIN = "ai.onnx.ml"


def model_of(node, columns, outputs, version=3, roots=False):
    """Bytes of a network of one node; outputs are names, element types and shapes.

    `roots`: the node takes square roots, which are missing of numbers below 0.
    """
    nodes = [node]
    if roots:
        node.input[0] = "root"
        nodes.insert(0, make.make_node("Sqrt", ["x"], ["root"]))
    graph = make.make_graph(
        nodes,
        "trees",
        [make.make_tensor_value_info("x", types.FLOAT, ["n", columns])],
        [make.make_tensor_value_info(name, kind, ["n", *shape]) for name, kind, shape in outputs],
    )
    opsets = [make.make_opsetid("", 17), make.make_opsetid(DOMAIN, version)]
    return make.make_model(graph, opset_imports=opsets, ir_version=9).SerializeToString()


def outputs_of(model, x):
    return onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"]).run(None, {"x": x})


def random_trees(rng, columns=4, trees=5, depth=3, missing=False):
    """Attributes of inner nodes and leaves, and of each leaf its tree and number."""
    nodes = {name: [] for name in ["treeids", "nodeids", "featureids", "modes", "values", "truenodeids", "falsenodeids"]}
    leaves = []
    for tree in range(trees):
        ids = itertools.count()

        def grow(level):
            here = next(ids)
            row = len(nodes["nodeids"])
            inner = level > 0 and (tree == 0 or rng.random() < 0.9)  # some trees are short, some a leaf alone
            mode = MODES[rng.integers(len(MODES))] if inner else "LEAF"
            for name, value in zip(nodes, [tree, here, int(rng.integers(columns)), mode, float(rng.integers(-2, 3)), 0, 0]):
                nodes[name].append(value)
            if not inner:
                leaves.append((tree, here))
                return here
            nodes["truenodeids"][row] = grow(level - 1)
            nodes["falsenodeids"][row] = grow(level - 1)
            return here

        grow(depth if trees > 1 else depth + 1)
    attributes = {f"nodes_{name}": values for name, values in nodes.items()}
    if missing:
        attributes["nodes_missing_value_tracks_true"] = [int(v) for v in rng.integers(0, 2, len(nodes["modes"]))]
    return attributes, leaves


def records(rng, count=200, columns=4):
    """Whole and broken numbers, so that some equal what nodes compare with."""
    return (rng.integers(-6, 7, (count, columns)) / 2).astype(np.float32)


def written(model, folder):
    """The network as Assay writes it, for ONNX Runtime."""
    (folder / "given.onnx").write_bytes(model)
    run_program(folder, "model", "given.onnx", "--write", "written.onnx")
    return (folder / "written.onnx").read_bytes()


def says(rng, kind, leaves, results, negative=True):
    """What leaves say of some results."""
    chosen = [(tree, leaf, result) for tree, leaf in leaves for result in range(results) if rng.random() < 0.8 or result == 0]
    low = -1 if negative else 0
    return {
        f"{kind}_treeids": [tree for tree, _, _ in chosen],
        f"{kind}_nodeids": [leaf for _, leaf, _ in chosen],
        f"{kind}_ids": [result for _, _, result in chosen],
        f"{kind}_weights": [float(rng.uniform(low, 1)) for _ in chosen],
    }


@pytest.mark.parametrize("transform", ["NONE", "LOGISTIC", "SOFTMAX"])
@pytest.mark.parametrize("aggregate", ["SUM", "AVERAGE"])
@pytest.mark.parametrize("results", [1, 3])
@pytest.mark.parametrize("missing", [False, True])
def test_regressors_are_those_of_onnx_runtime(transform, aggregate, results, missing):
    rng = np.random.default_rng(results)
    attributes, leaves = random_trees(rng, missing=missing)
    node = make.make_node(
        "TreeEnsembleRegressor", ["x"], ["y"], domain=DOMAIN, n_targets=results, aggregate_function=aggregate,
        post_transform=transform, base_values=[float(v) for v in rng.uniform(-1, 1, results)],
        **attributes, **says(rng, "target", leaves, results),
    )  # fmt: skip
    model = model_of(node, 4, [("y", types.FLOAT, [results])], roots=missing)
    x = records(rng)
    assert assay.load(model)(x) == pytest.approx(outputs_of(model, x)[0], abs=1e-5)


@pytest.mark.parametrize("transform", ["NONE", "LOGISTIC", "SOFTMAX"])
@pytest.mark.parametrize("based", [False, True])
@pytest.mark.parametrize("negative", [False, True])
@pytest.mark.parametrize("classes", [2, 4])
def test_classifiers_are_those_of_onnx_runtime(tmp_path, transform, based, negative, classes):
    """Of two classes leaves say one alone. Classes, which do not decide, are looked at in the network as it is written."""
    rng = np.random.default_rng(classes)
    attributes, leaves = random_trees(rng)
    columns = 1 if classes == 2 else classes
    base = {"base_values": [float(v) for v in rng.uniform(0, 1, columns)]} if based else {}
    node = make.make_node(
        "TreeEnsembleClassifier", ["x"], ["label", "scores"], domain=DOMAIN, post_transform=transform,
        classlabels_int64s=[3 * c + 1 for c in range(classes)],
        **base, **attributes, **says(rng, "class", leaves, columns, negative),
    )  # fmt: skip
    model = model_of(node, 4, [("label", types.INT64, []), ("scores", types.FLOAT, [classes])])
    x = records(rng)
    label, scores = outputs_of(model, x)
    assert assay.load(model)(x) == pytest.approx(scores, abs=1e-5)
    clear = np.sort(scores, 1)[:, -1] - np.sort(scores, 1)[:, -2] > 1e-4  # equal scores are rounded otherwise
    found, again = outputs_of(written(model, tmp_path), x)
    assert (found == label)[clear].all() and again == pytest.approx(scores, abs=1e-5)


@pytest.mark.parametrize("aggregate", [0, 1])
@pytest.mark.parametrize("transform", [0, 1, 2])
def test_trees_of_version_5_are_those_of_onnx_runtime(aggregate, transform):
    """Two trees: comparisons with numbers, and a set, behind which both ways meet in a leaf."""
    tensor = lambda name, kind, values: make.make_tensor(name, kind, [len(values)], values)
    node = make.make_node(
        "TreeEnsemble", ["x"], ["y"], domain=DOMAIN, n_targets=2, aggregate_function=aggregate, post_transform=transform,
        tree_roots=[0, 2], nodes_featureids=[0, 1, 2], nodes_modes=tensor("m", types.UINT8, [0, 3, 6]),
        nodes_splits=tensor("s", types.FLOAT, [0.5, -1, 0]), membership_values=tensor("v", types.FLOAT, [1, 2, -3, np.nan]),
        nodes_truenodeids=[1, 0, 3], nodes_trueleafs=[0, 1, 1], nodes_falsenodeids=[1, 2, 4], nodes_falseleafs=[1, 1, 1],
        leaf_targetids=[0, 1, 0, 1, 0], leaf_weights=tensor("w", types.FLOAT, [1, 2, -0.5, 0.25, 0.75]),
    )  # fmt: skip
    model = model_of(node, 3, [("y", types.FLOAT, [2])], version=5)
    # ONNX Runtime 1.32 numbers SOFTMAX and LOGISTIC the other way round than the standard does.
    next(one for one in node.attribute if one.name == "post_transform").i = {0: 0, 1: 2, 2: 1}[transform]
    theirs = model_of(node, 3, [("y", types.FLOAT, [2])], version=5)
    x = records(np.random.default_rng(1), columns=3)
    x[:, 2] = np.floor(x[:, 2])  # it compares whole numbers with sets
    assert assay.load(model)(x) == pytest.approx(outputs_of(theirs, x)[0], abs=1e-5)


def test_tables_with_too_few_columns_are_refused():
    attributes, leaves = random_trees(np.random.default_rng(1))
    node = make.make_node("TreeEnsembleRegressor", ["x"], ["y"], domain=DOMAIN, **attributes, **says(np.random.default_rng(1), "target", leaves, 1))
    with pytest.raises(assay.errors.ModelError, match="the number of columns"):
        assay.load(model_of(node, 1, [("y", types.FLOAT, [1])]))(np.zeros((3, 1), np.float32))


@pytest.mark.parametrize("inputs", [[], [""], ["cast"]])
def test_casts_of_nothing_and_of_themselves_are_refused(inputs):
    attributes, leaves = random_trees(np.random.default_rng(1))
    node = make.make_node("TreeEnsembleRegressor", ["cast"], ["y"], domain=DOMAIN, **attributes, **says(np.random.default_rng(1), "target", leaves, 1))
    model = onnx.load_from_string(model_of(node, 4, [("y", types.FLOAT, [1])]))
    model.graph.node.insert(0, make.make_node("Cast", inputs, ["cast"], to=types.FLOAT))
    with pytest.raises(assay.errors.AssayError):
        assay.load(model.SerializeToString())(np.zeros((3, 4), np.float32))


def test_splits_in_double_precision_send_records_where_they_did():
    """0.1 lies below the float32 number next to it, which a rounded split would let pass."""
    for mode, split in itertools.product(MODES[:4], [0.1, 0.2, 0.3, 0.7]):
        tensor = lambda name, kind, values: make.make_tensor(name, kind, [len(values)], values)
        node = make.make_node(
            "TreeEnsemble", ["x"], ["y"], domain=DOMAIN, n_targets=1, aggregate_function=1, post_transform=0, tree_roots=[0],
            nodes_featureids=[0], nodes_modes=tensor("m", types.UINT8, [MODES.index(mode)]),
            nodes_splits=tensor("s", types.DOUBLE, [split]), nodes_truenodeids=[0], nodes_trueleafs=[1], nodes_falsenodeids=[1],
            nodes_falseleafs=[1], leaf_targetids=[0, 0], leaf_weights=tensor("w", types.DOUBLE, [1.0, 0.0]),
        )  # fmt: skip
        graph = make.make_graph(
            [make.make_node("Cast", ["x"], ["d"], to=types.DOUBLE), node], "trees",
            [make.make_tensor_value_info("x", types.FLOAT, ["n", 1])], [make.make_tensor_value_info("y", types.DOUBLE, ["n", 1])],
        )  # fmt: skip
        node.input[0] = "d"
        graph.node[1].input[0] = "d"
        opsets = [make.make_opsetid("", 17), make.make_opsetid(DOMAIN, 5)]
        model = make.make_model(graph, opset_imports=opsets, ir_version=9).SerializeToString()
        near = np.float32(split)
        x = np.array([[np.nextafter(near, np.float32(-1))], [near], [np.nextafter(near, np.float32(1))]], np.float32)
        assert list(assay.load(model)(x).ravel()) == list(outputs_of(model, x)[0].ravel()), (mode, split)


def test_records_in_double_precision_are_rounded_as_splits_are():
    """As the standard's own case: 1.2 is at most 1.2."""
    tensor = lambda name, values: make.make_tensor(name, types.DOUBLE, [len(values)], values)
    node = make.make_node(
        "TreeEnsemble", ["x"], ["y"], domain=DOMAIN, n_targets=2, aggregate_function=1, post_transform=0, tree_roots=[0],
        nodes_featureids=[0, 0, 0], nodes_modes=make.make_tensor("m", types.UINT8, [3], [0, 0, 0]),
        nodes_splits=tensor("s", [3.14, 1.2, 4.2]), nodes_truenodeids=[1, 0, 1], nodes_trueleafs=[0, 1, 1],
        nodes_falsenodeids=[2, 2, 3], nodes_falseleafs=[0, 1, 1], leaf_targetids=[0, 1, 0, 1],
        leaf_weights=tensor("w", [5.23, 12.12, -12.23, 7.21]),
    )  # fmt: skip
    graph = make.make_graph(
        [node], "trees", [make.make_tensor_value_info("x", types.DOUBLE, ["n", 2])], [make.make_tensor_value_info("y", types.DOUBLE, ["n", 2])]
    )
    opsets = [make.make_opsetid("", 17), make.make_opsetid(DOMAIN, 5)]
    net = assay.load(make.make_model(graph, opset_imports=opsets, ir_version=9).SerializeToString())
    x = np.array([[1.2, 3.4], [-0.12, 1.66], [4.14, 1.77]])
    assert net(x.astype(np.float32)) == pytest.approx(np.array([[5.23, 0], [5.23, 0], [0, 12.12]]))


def forest_of_scikit_learn(kind, names):
    """A forest on three classes of points, its ONNX form by its own arrays, and points to test with."""
    ensemble = pytest.importorskip("sklearn.ensemble", reason="SKIPPED: scikit-learn is not installed (PyPI)")
    rng = np.random.default_rng(2)
    x = rng.normal(size=(300, 5)).astype(np.float32)
    y = (x[:, 0] > 0).astype(int) + (x[:, 1] * x[:, 2] > 0)
    forest = getattr(ensemble, kind)(n_estimators=4, max_depth=4, random_state=3).fit(x, y)
    attributes = {f"nodes_{n}": [] for n in ["treeids", "nodeids", "featureids", "modes", "values", "truenodeids", "falsenodeids"]}
    weights = {f"class_{n}": [] for n in ["treeids", "nodeids", "ids", "weights"]}
    for number, one in enumerate(forest.estimators_):
        tree = one.tree_
        for node in range(tree.node_count):
            leaf = tree.children_left[node] < 0
            # The last float32 number that is not greater.
            split = np.float32(tree.threshold[node])
            split = split if split <= tree.threshold[node] else np.nextafter(split, np.float32(-np.inf))
            values = [number, node, max(0, tree.feature[node]), "LEAF" if leaf else "BRANCH_LEQ", float(split)]
            children = [0, 0] if leaf else [tree.children_left[node], tree.children_right[node]]
            for name, value in zip(attributes, values + children):
                attributes[name].append(value)
            shares = tree.value[node][0] / tree.value[node][0].sum() / len(forest.estimators_)
            for result in range(3 if leaf else 0):
                for name, value in zip(weights, [number, node, result, float(shares[result])]):
                    weights[name].append(value)
    labels = {"classlabels_strings": ["a", "b", "c"]} if names else {"classlabels_int64s": [0, 1, 2]}
    node = make.make_node(
        "TreeEnsembleClassifier", ["x"], ["label", "scores"], "forest", domain=DOMAIN, post_transform="NONE",
        **labels, **attributes, **weights,
    )  # fmt: skip
    kind_of_label = types.STRING if names else types.INT64
    model = model_of(node, 5, [("label", kind_of_label, []), ("scores", types.FLOAT, [3])])
    test = rng.normal(size=(40, 5)).astype(np.float32)
    return forest, model, (x, y), (test, forest.predict(test))


@pytest.fixture(scope="module", params=["RandomForestClassifier", "ExtraTreesClassifier"])
def forest(request):
    return forest_of_scikit_learn(request.param, names=request.param.startswith("Extra"))


def test_forests_say_what_scikit_learn_says(forest):
    made, model, train, test = forest
    net = assay.load(model)
    assert net(test[0]) == pytest.approx(made.predict_proba(test[0]), abs=1e-6)
    found = assay.evaluate(net, train)
    assert found.test_accuracy == made.score(*train)
    log_loss = pytest.importorskip("sklearn.metrics").log_loss(train[1], made.predict_proba(train[0]))
    assert found.negative_log_likelihood == pytest.approx(log_loss, rel=1e-4)  # shares of votes are probabilities


def test_covered_neurons_are_leaves_that_are_reached(forest):
    made, model, train, test = forest
    net = assay.load(model)
    layer = next(one for one in net.layers() if "leaves" in one.name)
    row, *_ = assay.cover(net, train=train, test=test, criterion="nc[threshold=0.5,scale=none]", count_layer=layer.name).table("criteria")
    leaves = sum((one.tree_.children_left < 0).sum() for one in made.estimators_)
    reached = sum(len(np.unique(column)) for column in made.apply(test[0]).T)
    assert (int(row["covered"]), int(row["coverable"])) == (reached, leaves)


def test_leaves_are_as_important_as_their_votes(forest):
    """Relevance of a leaf is what it says of the true classes of records that reach it."""
    made, model, _, (x, y) = forest
    votes = []
    for one, leaves in zip(made.estimators_, made.apply(x).T):
        shares = one.tree_.value[:, 0] / one.tree_.value[:, 0].sum(1, keepdims=True) / len(made.estimators_)
        votes += [shares[leaf, y[leaves == leaf]].sum() for leaf in np.flatnonzero(one.tree_.children_left < 0)]
    rows = list(assay.importance(assay.load(model), (x, y)).table("neurons"))
    assert [row["relevance"] for row in rows] == pytest.approx([votes[row["neuron"]] for row in rows], rel=1e-4)
    assert rows[0]["relevance"] == pytest.approx(max(votes), rel=1e-4)


def test_mutants_are_written_for_other_programs(forest, tmp_path):
    _, model, _, test = forest
    net = assay.load(model)
    row = assay.mutate(net, test, operator="gf[ratio=1]", count=1, quality=1).table("mutants")[0]
    file = tmp_path / "mutant.onnx"
    assay.mutate(net, action="export", mutant=f"{row['operator']}@{row['layer']}#{row['seed']}", out=str(file))
    scores = onnxruntime.InferenceSession(str(file), providers=["CPUExecutionProvider"]).run(None, {"x": test[0]})[-1]
    again = assay.load(str(file))
    assert again(test[0]) == pytest.approx(scores, abs=1e-6)
    assert np.abs(scores - net(test[0])).max() > 1e-3
    assert sum("TreeEnsemble" in one.op for one in again.layers()) == 1


def test_attacks_by_gradients_say_what_stops_them(forest, tmp_path):
    _, model, _, test = forest
    net, data = assay.load(model), assay.data(*test, range=(-4, 4))
    with pytest.raises(assay.errors.AssayError, match="TreeEnsemble.*wherever it has one; attack without gradients, such as by square"):
        assay.attack(net, data, attack="pgd[eps=0.5]", out=str(tmp_path / "a"))
    found = assay.attack(net, data, attack="noise[sigma=1]", out=str(tmp_path / "b"))
    assert found.table("attacks")[0]["successes"] > 0


def numbers_for_numbers(attributes, kind, shape=("n", 2)):
    graph = make.make_graph(
        [make.make_node("LabelEncoder", ["x"], ["y"], domain=DOMAIN, **attributes), make.make_node("Cast", ["y"], ["z"], to=types.FLOAT)],
        "codes",
        [make.make_tensor_value_info("x", kind, list(shape))],
        [make.make_tensor_value_info("z", types.FLOAT, list(shape))],
    )
    opsets = [make.make_opsetid("", 17), make.make_opsetid(DOMAIN, 3)]
    return make.make_model(graph, opset_imports=opsets, ir_version=9).SerializeToString()


@pytest.mark.parametrize(
    "attributes",
    [
        {"keys_floats": [1.0, 2.5, -1.0], "values_floats": [7.0, 8.0, 9.0], "default_float": 0.5},
        {"keys_floats": [1.0, 2.5, -1.0], "values_int64s": [7, 8, 9]},
    ],
)
def test_numbers_that_stand_for_numbers_are_those_of_onnx_runtime(attributes):
    model = numbers_for_numbers(attributes, types.FLOAT)
    x = records(np.random.default_rng(1), columns=2)
    assert (assay.load(model)(x) == outputs_of(model, x)[0]).all()


# Of scikit-learn's exporter ------------------------------------------------------------------------------------------


def pipelines():
    from sklearn import ensemble, linear_model, neural_network, pipeline, preprocessing, tree
    from sklearn.feature_selection import SelectKBest

    return {
        "tree": tree.DecisionTreeClassifier(max_depth=5, random_state=1),
        "forest": ensemble.RandomForestClassifier(12, random_state=1),
        "extra trees": ensemble.ExtraTreesClassifier(12, random_state=1),
        "boosting": ensemble.GradientBoostingClassifier(n_estimators=6, random_state=1),
        "bagging": ensemble.BaggingClassifier(n_estimators=4, random_state=1),
        "votes": ensemble.VotingClassifier(
            [("a", tree.DecisionTreeClassifier(max_depth=3, random_state=1)), ("b", linear_model.LogisticRegression())], voting="soft", flatten_transform=False
        ),
        "scaled": pipeline.make_pipeline(
            preprocessing.StandardScaler(), SelectKBest(k=4), preprocessing.Normalizer(), ensemble.RandomForestClassifier(5, random_state=1)
        ),
        "steps": pipeline.make_pipeline(
            preprocessing.MinMaxScaler(), preprocessing.Binarizer(threshold=0.4), neural_network.MLPClassifier((8,), max_iter=30, random_state=1)
        ),
        "regression tree": tree.DecisionTreeRegressor(max_depth=5, random_state=1),
        "regression forest": ensemble.RandomForestRegressor(8, random_state=1),
        "regression boosting": ensemble.GradientBoostingRegressor(n_estimators=8, random_state=1),
    }


NAMES = ["tree", "forest", "extra trees", "boosting", "bagging", "votes", "scaled", "steps"]
REGRESSIONS = ["regression tree", "regression forest", "regression boosting"]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("maps", [False, True])
@pytest.mark.parametrize("name", NAMES + REGRESSIONS)
def test_pipelines_of_scikit_learn_are_those_of_onnx_runtime(name, classes, maps):
    """With and without probabilities as maps (ZipMap)."""
    pytest.importorskip("sklearn", reason="SKIPPED: scikit-learn is not installed (PyPI)")
    skl2onnx = pytest.importorskip("skl2onnx", reason="SKIPPED: skl2onnx is not installed (PyPI)")
    if name in REGRESSIONS and (maps or classes == 3):
        pytest.skip("regressions have no classes")
    rng = np.random.default_rng(4)
    x = rng.normal(size=(200, 6)).astype(np.float32)
    y = (x[:, 0] > 0).astype(int) + ((x[:, 1] * x[:, 2] > 0) if classes == 3 else 0)
    if name in REGRESSIONS:
        y = x[:, 0] * x[:, 1] + x[:, 2]
    made = pipelines()[name].fit(x, y)
    options = {} if name in REGRESSIONS else {"options": {id(made): {"zipmap": maps}}}
    written = skl2onnx.to_onnx(made, x[:1], target_opset={"": 18, "ai.onnx.ml": 3}, **options).SerializeToString()
    test = rng.normal(size=(50, 6)).astype(np.float32)
    said = onnxruntime.InferenceSession(written, providers=["CPUExecutionProvider"]).run(None, {"X": test})[-1]
    wanted = np.array([[row[c] for c in range(classes)] for row in said]) if maps else said
    assert assay.load(written)(test) == pytest.approx(wanted, abs=1e-4)
