"""Figures by characteristic against second writings with NumPy and, where it is installed, SciPy."""

import json

import numpy as np
import pytest

import assay

WEATHER = ["fog", "sun", "rain"]


@pytest.fixture(scope="module")
def conditions(work):
    """Characteristics of test.npz [60], as a table beside it."""
    rng = np.random.default_rng(3)
    weather, age = rng.choice(WEATHER, 60, p=[0.2, 0.5, 0.3]), rng.integers(0, 90, 60)
    rows = [f"{i},{w},{a}" for i, (w, a) in enumerate(zip(weather, age))]
    (work / "conditions.csv").write_text("id,weather,age\n" + "\n".join(rows) + "\n")
    return weather, age


def table_of(document, name):
    return document["tables"][name]["rows"]


def wilson(right, n):
    z = 1.959963984540054
    p, w = right / n, z * z / n
    middle, half = (p + w / 2) / (1 + w), z / (1 + w) * np.sqrt(p * (1 - p) / n + w / (4 * n))
    return middle - half, middle + half


def test_accuracy_by_group_is_that_of_its_records(inside, program, conditions):
    weather, _ = conditions
    spec = "test.npz,metadata=conditions.csv,meta=weather"
    program(inside, "evaluate", "net.onnx", spec, "--predictions", "said.npz")
    with np.load(inside / "said.npz") as said:
        right = said["predicted"] == said["y"]
    document = program(inside, "evaluate", "net.onnx", spec)
    rows = table_of(document, "by_characteristic")
    assert {row["group"] for row in rows} == {f"weather={w}" for w in WEATHER}
    assert [row["value"] for row in rows] == sorted(row["value"] for row in rows)
    for row in rows:
        inside_group = weather == row["group"].partition("=")[2]
        assert (row["records"], row["sum"]) == (inside_group.sum(), right[inside_group].sum())
        assert row["rest"] == pytest.approx(right[~inside_group].mean())
        low, high = wilson(right[inside_group].sum(), inside_group.sum())
        assert (row["low"], row["high"]) == (pytest.approx(max(low, 0), abs=1e-9), pytest.approx(min(high, 1), abs=1e-9))


def test_p_values_are_those_of_scipy(inside, program, conditions):
    stats = pytest.importorskip("scipy.stats")
    weather, _ = conditions
    document = program(inside, "evaluate", "net.onnx", "test.npz,metadata=conditions.csv,meta=weather")
    rows = table_of(document, "by_characteristic")
    right = sum(row["sum"] for row in rows)
    p = []
    for row in rows:
        inside_group, outside = (row["sum"], row["records"]), (right - row["sum"], 60 - row["records"])
        p.append(stats.fisher_exact([[r, n - r] for r, n in (inside_group, outside)])[1])
    order = np.argsort(p)
    adjusted = np.minimum(1, np.maximum.accumulate(np.array(p)[order] * np.arange(len(p), 0, -1)))
    assert [rows[i]["p"] for i in order] == pytest.approx(list(adjusted), abs=1e-9)


def test_gates_are_about_groups(inside, program, conditions):
    spec = "test.npz,metadata=conditions.csv,meta=weather+age:0|18|65"
    gates = ["accuracy[weather=fog]>=1.0", "accuracy[weather=*]>=0", "accuracy[weather=fog,age=*]>=0", "accuracy[weather=snow]>=0"]
    document = program(inside, "evaluate", "net.onnx", spec, *(part for gate in gates for part in ("--fail-under", gate)))
    fog, each, pairs, snow = document["gates"]
    assert (fog["context"], int(fog["coverable"])) == ("weather=fog", (conditions[0] == "fog").sum())
    assert each["passed"] and pairs["passed"] and pairs["context"].startswith("weather=fog,age=")
    assert not snow["passed"] and "weather=fog" in snow["reason"]


def test_python_takes_characteristics_of_any_records(inside, model, arrays, conditions):
    x, y = arrays
    weather, age = conditions
    data = assay.data(x, y, range=(0, 1), meta={"weather": weather, "age:0|18|65": [None, *age[1:]]})
    assert data.characteristics["weather"] == list(weather)
    assert data.characteristics["age"][0] == ""
    assert data[10:20].characteristics["weather"] == list(weather[10:20])
    result = assay.evaluate(model, data)
    assert {row["group"] for row in result.document["tables"]["by_characteristic"]["rows"]} >= {"weather=fog", "age=(missing)"}


def test_tables_name_columns(conditions):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"a": [1.0, 2, 3, 4], "y": [0, 1, 0, 1], "sex": ["f", "m", None, "f"], "age": [3, 4, 40, 41]})
    data = assay.data(frame, label="y", meta=["sex", "age:quartiles"])
    assert data.shape == (1,)
    assert data.characteristics["sex"] == ["f", "m", "", "f"]
    assert len(set(data.characteristics["age"])) == 4
    with pytest.raises(assay.UsageError, match="no column 'six'"):
        assay.data(frame, label="y", meta=["six"])
    with pytest.raises(assay.UsageError, match="columns of a table"):
        assay.data(np.zeros((2, 1), np.float32), meta=["sex"])


def test_how_labels_in_words_are_numbered_is_said(tmp_path, program):
    (tmp_path / "t.csv").write_text("a,y,n\n" + "".join(f"{i},{word},{i}\n" for i, word in enumerate(["c", "a", "f", "b", "e", "d", "g"])))
    (tmp_path / "t.jsonl").write_text('{"a": 1, "y": "dog"}\n{"a": 2, "y": "cat"}\n')
    many = "numbered in alphabetical order: 0 is 'a', 1 is 'b', 2 is 'c', 3 is 'd', 4 is 'e' and 2 more; "
    for spec, notice in (("t.csv,label=y,ignore=n", many), ("t.jsonl,label=y[:1]", "numbered in alphabetical order: 0 is 'cat', 1 is 'dog'; ")):
        assert [notice in one for one in program(tmp_path, "data", spec)["notices"]] == [True]
    assert program(tmp_path, "data", "t.csv,label=n,ignore=y")["notices"] == []


def test_sources_have_columns(tmp_path, program):
    (tmp_path / "t.csv").write_text("a,b,y,weather\n1,2,0,fog\n3,4,1,sun\n5,6,0,\n")
    document = program(tmp_path, "data", "t.csv,label=y,meta=weather")
    assert [(row["value"], row["records"]) for row in table_of(document, "characteristics")] == [
        ("fog", 1),
        ("sun", 1),
        ("(missing)", 1),
    ]
    assert document["facts"]["shape"] == "[2]"
    np.savez(tmp_path / "t.npz", x=np.zeros((3, 2), np.float32), y=[0, 1, 0], weather=["fog", "sun", "fog"], age=[1.5, np.nan, 3])
    assert assay.data(str(tmp_path / "t.npz") + ",meta=weather+age").characteristics == {
        "weather": ["fog", "sun", "fog"],
        "age": ["1.5", "", "3"],
    }
    letters = {"sex": ["f", "m", "f"], "code": ["é", "1", ""]}
    np.savez(tmp_path / "letters.npz", x=np.zeros((3, 2), np.float32), y=[0, 1, 0], **letters)
    assert assay.data(str(tmp_path / "letters.npz") + ",meta=sex+code").characteristics == letters
    program(tmp_path, "data", "letters.npz,meta=sex", "--write", "copied.npz")
    assert assay.data(str(tmp_path / "copied.npz") + ",meta=sex").characteristics["sex"] == letters["sex"]
    program(tmp_path, "data", "t.npz,meta=weather", "--write", "again.npz")
    assert assay.data(str(tmp_path / "again.npz") + ",meta=weather").characteristics["weather"] == ["fog", "sun", "fog"]
    coco = {"images": [{"id": 7 + i, "file_name": f"{i}.png", "weather": w} for i, w in enumerate(["sun", "fog", None])]}
    (tmp_path / "coco.json").write_text(json.dumps(coco))
    lines = [json.dumps({"id": i, "weather": w}) for i, w in enumerate(["sun", "fog"])] + ['{"id": 2}']
    (tmp_path / "t.jsonl").write_text("\n".join(lines) + "\n")
    for name in ("coco.json", "t.jsonl"):
        data = assay.data(f"{tmp_path}/t.npz,metadata={tmp_path}/{name},meta=weather")
        assert data.characteristics["weather"] == ["sun", "fog", ""]


@pytest.mark.parametrize(
    ("spec", "fault"),
    [
        ("t.csv,label=y,meta=wether", "no column is named 'wether'"),
        ("t.csv,label=y,metadata=t.csv", "add meta=COLUMN"),
        ("t.csv,label=y,meta=a,b", "joined by +"),
        ("t.csv,label=y,meta=weather:1|2", "'fog'"),
        ("digits:10,meta=weather", "metadata=FILE"),
    ],
)
def test_what_is_no_characteristic_is_refused(tmp_path, monkeypatch, spec, fault):
    (tmp_path / "t.csv").write_text("a,b,y,weather\n1,2,0,fog\n3,4,1,sun\n")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(assay.AssayError, match=fault.replace("+", r"\+")):
        assay.data(spec)


def test_characteristics_that_are_nested_too_deep_are_refused(tmp_path, work):
    deep = "[" * 500_000 + "]" * 500_000
    lines = tmp_path / "records.jsonl"
    lines.write_text("".join(f'{{"x": {i}, "y": 0, "note": {deep}}}\n' for i in range(3)))
    beside = tmp_path / "beside.jsonl"
    beside.write_text(f'{{"id": "0", "note": {deep}}}\n')
    for spec in [f"{lines},meta=note", f"{work / 'test.npz'},metadata={beside},meta=note"]:
        with pytest.raises(assay.errors.DataError, match="nested deeper than 200 levels"):
            assay.describe_data(spec)


def test_folders_above_classes(tmp_path, program, inside):
    program(inside, "data", "digits:8", "--sheet", "sheet.png")
    sheet = (inside / "sheet.png").read_bytes()
    for place in ("day/cat", "night/cat", "night/dog"):
        (tmp_path / place).mkdir(parents=True)
        (tmp_path / place / "1.png").write_bytes(sheet)
    data = assay.data(f"{tmp_path},meta=folder")
    assert data.class_names == ["cat", "dog"]
    assert data.characteristics["folder"] == ["day", "night", "night"]


def test_other_commands_have_groups(inside, program, conditions):
    spec = "test.npz,range=0:1,metadata=conditions.csv,meta=weather"
    cover = program(inside, "cover", "--model", "net.onnx", "--train", "train.npz", "--test", spec, "--criterion", "nc",
                    "--fail-under", "nc[weather=fog]>=0")
    whole = next(row for row in table_of(cover, "criteria") if row["criterion"] == "nc" and row["layer"] == "all")
    rows = table_of(cover, "by_characteristic")
    assert {row["of"] for row in rows} == {whole["coverable"]}
    assert max(row["sum"] for row in rows) <= whole["covered"] <= sum(row["sum"] for row in rows)
    assert cover["gates"][0]["context"] == "weather=fog"
    attack = program(inside, "attack", "net.onnx", spec, "--attack", "fgsm[eps=0.2]", "--out", "made")
    rows = [row for row in table_of(attack, "by_characteristic") if row["figure"] != "robust accuracy"]
    assert sum(row["sum"] for row in rows) == table_of(attack, "attacks")[0]["successes"]
    mutate = program(inside, "mutate", "net.onnx", spec, "--operator", "gf", "--count", "6")
    assert {row["figure"] for row in table_of(mutate, "by_characteristic")} == {"kills-per-record", "killed-mutants"}


@pytest.mark.parametrize("command", ["evaluate", "cover", "mutate", "attack", "audit"])
def test_one_value_and_none_at_all_are_warned_of(inside, program, command):
    (inside / "columns.csv").write_text("id,site,empty\n" + "".join(f"{i},here,\n" for i in range(60)))
    more = {
        "cover": ["--train", "train.npz", "--criterion", "nc"],
        "mutate": ["--operator", "gf", "--count", "3"],
        "attack": ["--attack", "fgsm[eps=0.2]", "--out", "made", "--pictures", "0"],
        "audit": ["--train", "train.npz", "--criterion", "nc", "--subsets", "10", "--sizes", "10,20", "--count", "4"],
    }.get(command, [])
    spec = "test.npz,range=0:1,metadata=columns.csv,meta=site+empty"
    found = program(inside, command, "net.onnx", spec, *more)
    said = [one["text"] for one in found["warnings"] if one["id"] == "one-value"]
    assert len(said) == 2
    assert "'site' has one value in all 60 records" in said[0]
    assert "'empty' has no value in any of 60 records" in said[1]
    assert "by_characteristic" not in found["tables"]


def test_too_many_values_are_refused_with_what_helps(tmp_path, monkeypatch):
    rows = "".join(f"{i},{i % 2},place {i},{i / 7}\n" for i in range(10_000))
    (tmp_path / "t.csv").write_text("a,y,place,age\n" + rows)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(assay.AssayError, match="'place' has 10000 different values.*; name a column with fewer values"):
        assay.data("t.csv,label=y,meta=place")
    with pytest.raises(assay.AssayError, match="'age' has 10000 different values.*; make ranges of the numbers .age:quartiles"):
        assay.data("t.csv,label=y,meta=age")


def test_shares_against_training_and_domain(tmp_path, program):
    header = "x,y,weather\n"
    (tmp_path / "test.csv").write_text(header + "".join(f"{i},0,{w}\n" for i, w in enumerate(["sun"] * 3 + ["rain"])))
    (tmp_path / "train.csv").write_text(header + "".join(f"{i},0,{w}\n" for i, w in enumerate(["sun", "rain", "fog", "fog"])))
    (tmp_path / "odd.toml").write_text('[weather]\nvalues = ["sun", "fog"]\nshares = {sun = 0.5, fog = 0.5}\n')
    document = program(tmp_path, "data", "test.csv,label=y,meta=weather", "--train", "train.csv,label=y,meta=weather",
                       "--domain", "odd.toml", "--fail-under", "domain-coverage[strength=1]>=1",
                       "--fail-under", "shift[characteristic=weather]<=0.5")
    assert table_of(document, "shifts")[0]["distance"] == 0.5
    assert table_of(document, "absent") == [{"group": "weather=fog"}]
    assert [row["remark"] for row in table_of(document, "domain")] == ["share", "missing"]
    assert table_of(document, "domain_missing") == [{"combination": "weather=fog"}]
    assert [gate["passed"] for gate in document["gates"]] == [False, True]
    assert [warning["id"] for warning in document["warnings"]].count("outside-domain") == 1


@pytest.fixture(scope="module")
def many_pairs(work):
    """Two characteristics of twelve and fifteen values: as many pairs as records."""
    path = work / "many.csv"
    path.write_text("id,a,b\n" + "\n".join(f"{i},{i % 12},{(i // 3) % 15}" for i in range(60)) + "\n")
    return "test.npz,metadata=many.csv,meta=a+b"


def test_results_keep_the_worst_pairs_by_each_figure(inside, program, many_pairs):
    whole = program(inside, "evaluate", "net.onnx", many_pairs, "--pairs", 0)
    few = program(inside, "evaluate", "net.onnx", many_pairs, "--pairs", 4)
    everything = table_of(whole, "by_pair")
    assert len(everything) > 20
    assert [row["value"] for row in table_of(few, "by_pair")] == [row["value"] for row in everything[:4]]
    assert table_of(few, "by_characteristic") == table_of(whole, "by_characteristic")
    for figure, column, sign in (("accuracy", "coverage", 1), ("brier-score", "measure", -1), ("calibration-error", "measure", -1)):
        pairs = [
            [row for row in table_of(one, "criteria") if row["criterion"] == figure and "," in (row["context"] or "")] for one in (few, whole)
        ]
        values = [sorted(sign * row[column] for row in rows) for rows in pairs]
        assert len(values[0]) == 4
        assert values[0] == values[1][:4]
    assert f"of {len(everything)} pairs of characteristics the worst 4 of each two" in few["headline"]
    assert any(f"of {len(everything)} pairs of characteristics" in one for one in few["notices"])
    assert "pairs of characteristics" not in whole["headline"]


def test_each_two_characteristics_keep_pairs_of_their_own(inside, program, work):
    (work / "three.csv").write_text("id,a,b,c\n" + "\n".join(f"{i},{i % 2},{i // 2 % 2},{i % 30}" for i in range(60)) + "\n")
    few = program(inside, "evaluate", "net.onnx", "test.npz,metadata=three.csv,meta=a+b+c", "--pairs", 2)
    names = [tuple(part.split("=")[0] for part in row["group"].split(",")) for row in table_of(few, "by_pair")]
    assert {("a", "b"), ("a", "c"), ("b", "c")} == set(names) and len(names) < 12


def test_gates_of_the_run_are_about_all_pairs(inside, program, many_pairs):
    gates = ("--fail-under", "accuracy[a=*,b=*]>=0")
    few = program(inside, "evaluate", "net.onnx", many_pairs, "--pairs", 1, *gates)
    pairs = len(table_of(program(inside, "evaluate", "net.onnx", many_pairs, "--pairs", 0), "by_pair"))
    assert f"of {pairs} figures" in few["gates"][0]["reason"]
    stored = {row["context"] for row in table_of(few, "criteria") if "," in (row.get("context") or "")}
    assert 0 < len(stored) < pairs


def test_a_number_of_pairs_of_data_without_pairs_is_refused(inside, program, conditions):
    for spec, what in (("test.npz", "no characteristics"), ("test.npz,metadata=conditions.csv,meta=weather", "one characteristic")):
        said = program(inside, "evaluate", "net.onnx", spec, "--pairs", 3, check=False)
        assert f"--pairs says how many pairs of characteristics the result keeps, and the data have {what}; leave it out" in said
