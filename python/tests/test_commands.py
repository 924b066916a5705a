"""Every command of the program has its function, which gives the same result document."""

import inspect
import json
import re
import subprocess
import sys
import tempfile

import numpy as np
import pytest

import assay
from assay._questions import keyword_of
from json_schema import faults

RANGED = "test.npz,range=0:1[:24]"

# One question a command: keywords as Python has them, from which the program's flags are made. Long ones small.
CASES = {
    "model": [{"model": "net.onnx", "data": "test.npz"}],
    "demo": [{"records": 500, "epochs": 1, "out": "demo-{}"}],
    "data": [{"data": "test.npz", "labels_of": "test.npz"}],
    "train": [{"model": "net.onnx", "data": "train.npz", "initialiser": "keep", "epochs": 1, "out": "tuned-{}.onnx"}],
    "evaluate": [{"model": "net.onnx", "data": "test.npz", "predictions": "said-{}.csv"}],
    "importance": [{"model": "net.onnx", "data": "train.npz", "layer": ["conv2"], "top": 5, "absolute": True}, {"model": "net.onnx", "data": "train.npz", "heatmaps": 2, "out": "heat-{}"}],
    "cover": [
        {
            "model": "net.onnx",
            "train": "train.npz",
            "test": "test.npz",
            "criterion": ["idc", "nc", "kmnc[sections=10]"],
            "neurons": [3, 4],
            "by_class": True,
            "state": "{}.cov",
            "fail_under": ["nc=0.9", "nc[context=nowhere]=0.1"],
        },
        {"model": "net.onnx", "train": "train.npz", "test": RANGED, "criterion": ["nc"], "extend_with": "fgsm", "made_dir": "more-{}"},
    ],
    "audit": [
        {
            "model": "net.onnx",
            "train": "train.npz",
            "test": "test.npz",
            "criterion": ["nc"],
            "count": 1,
            "sampler": ["uniform"],
            "sizes": "20",
            "subsets": 10,
            "permutations": 19,
            "resamples": 20,
            "orders": 19,
        }
    ],
    "criteria": [{}, {"name": "nc", "bibtex": True}],
    "mutate": [{"model": "net.onnx", "test": "test.npz[:20]", "operator": ["gf"], "count": 3, "state": "{}.mut"}],
    "operators": [{}],
    "combine": [{"states": ["first.cov", "second.cov"]}],
    "diff": [{"states": ["first.cov", "second.cov"]}, {"states": ["cover.json", "cover.json"]}],
    "select": [{"model": "net.onnx", "test": "test.npz", "by": "deepgini", "size": 10, "out": "{}.txt"}],
    "attack": [{"model": "net.onnx", "data": RANGED, "attack": ["fgsm[eps=0.2]"], "out": "attacked-{}", "pictures": 1}],
    "attacks": [{}],
    "bounds": [{"model": "net.onnx", "data": RANGED, "eps": 0.01, "bisections": 2, "write_queries": "queries-{}", "count": 2, "fail_under": ["certified=0"]}],
    "monitor": [{"model": "net.onnx", "test": RANGED, "false_alarms": 0.2, "attack": ["noise"], "foreign": ["test.npz,range=0:1[:9]"], "fail_under": ["false-alarms<=1"],
         "out": "monitored-{}.onnx", "source": "monitor-{}.hpp"}],
    "selftest": [{"write": "suite-{}"}],
    "reliability": [{"model": "net.onnx", "test": "test.npz", "train": "train.npz", "calibration": "train.npz", "twin": ["net.onnx"], "out": "calibrated-{}.onnx", "fail_under": ["failure-probability<=1", "leaked-records<=0"]}],
    "robust": [
        {"model": "net.onnx", "data": RANGED, "along": ["noise[sigma=0:0.4:0.2]", "fgsm[eps=0/0.1,norm=l2]"], "fail_under": ["area=0.9"]},
    ],
    "patch": [{"model": "net.onnx", "clean": "test.npz[:20]", "corrupted": "test.npz[20:40]", "layer": ["-1"], "out": "patched-{}"}],
    "faithful": [
        {"model": "net.onnx", "data": "test.npz[:9]", "method": ["ig", "smoothgrad[samples=3]"], "measure": ["deletion", "infidelity"], "fail_under": ["deletion=0.9"]},
    ],
    "explore": [
        {
            "model": ["net.onnx"],
            "mutant": ["int8@all"],
            "data": RANGED,
            "iterations": 3,
            "out": "found-{}",
            "pictures": 0,
        }
    ],
    "constraints": [{}],
    "inspect": [{"model": ["net.onnx"], "data": "train.npz", "hypotheses": ["label"], "units": ["layer=conv2"]}],
    "hypotheses": [{}],
    "tasks": [{}, {"name": "pixels"}],
    "measures": [{}],
    "prune": [{"model": "net.onnx", "test": "test.npz", "units": ["layer=conv2,units=1+2"], "random_groups": 2, "out": "pruned-{}.onnx"}],
    "retrain": [
        {
            "model": "net.onnx",
            "train": "train.npz,range=0:1",
            "test": RANGED,
            "add": ["digits:30,seed=5"],
            "count": 5,
            "repeats": 2,
            "epochs": 1,
            "against": "noise",
            "evaluate_on": "none",
            "pool": 20,
            "made_dir": "retrain-{}",
            "out_dir": "networks-{}",
        }
    ],
    "polluted": [{"data": "train.npz,range=0:1", "findings": ["test.npz,range=0:1[:5]"], "out": "{}.csv", "out_dir": "suspects-{}", "pictures": 1}],
    "evidence": [{"model": "net.onnx", "train": "train.npz", "test": "test.npz[:20]", "title": "Study", "out": "pack-{}"}],
    "verify": [{"pack": "pack"}],
    "history": [{"results": ["cover.json"], "history": "{}.jsonl", "badge": "{}.svg"}],
    "report": [{"results": ["cover.json"], "out": "{}.html"}],
    "open": [{"result": "cover.json", "print": True}],
}


def filled(value, who):
    if isinstance(value, dict):
        return {key: filled(item, who) for key, item in value.items()}
    if isinstance(value, list):
        return [filled(item, who) for item in value]
    return value.replace("{}", who) if isinstance(value, str) else value


def flags_of(command, keywords):
    """What one would type."""
    names = {keyword_of(flag["name"]): flag for flag in catalogue()[command]["flags"]}
    typed = []
    for keyword, value in keywords.items():
        flag = names[keyword]
        positional = flag["name"] in ("states", "results", "result", "action", "pack", "name")
        dashes = [] if positional else [f"--{flag['name']}"]
        if flag["is_switch"]:
            typed += dashes if value else []
        elif flag["repeats"]:
            values = value if isinstance(value, list) else [value]
            typed += [*map(str, values)] if positional else [t for v in values for t in (*dashes, str(v))]
        else:
            typed += [*dashes, ",".join(map(str, value)) if isinstance(value, list) else str(value)]
    return typed


def catalogue():
    from assay import _assay

    return {entry["name"]: entry for entry in _assay.commands()}


# What differs between any two runs: times, and the names of the files that the two write.
TIMES = re.compile(r"second|finished|created|per_s|rate|time|speed", re.IGNORECASE)


def lasting(value, who):
    if isinstance(value, dict):
        return {key: lasting(item, who) for key, item in value.items() if not TIMES.search(key)}
    if isinstance(value, list):
        return [lasting(item, who) for item in value]
    if isinstance(value, str):
        value = re.sub(r" ?--json=- --quiet", "", value)
        value = re.sub(r"[0-9.,]+ (s|ms|min)\b", "TIME", value)
        value = re.sub(r"assay-open-\w{6}", "OPENED", value)  # a folder of its own
        value = re.sub(r"EP-[0-9a-f]{12}", "PACK", value)  # made of its time as well
        return value.replace(who, "WHO").strip()
    if isinstance(value, float):  # the program of a wheel has another C library, whose tanh ends otherwise
        return float(f"{value:.12g}")
    return value


def alone(command):
    """What is known where no one has added classes of their own, as other tests do here."""
    script = f"import assay; print(assay.{command}().to_json())"
    return subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout


def test_every_command_has_a_question_here():
    assert set(CASES) == set(assay.commands) == set(catalogue())


@pytest.mark.parametrize("command, number", [(c, n) for c in CASES for n in range(len(CASES[c]))])
def test_the_result_is_that_of_the_program(command, number, inside, program, source):
    if command in ("combine", "diff") and not (inside / "first.cov").exists():
        for state, part in (("first.cov", "[:30]"), ("second.cov", "[30:]")):
            assay.cover("net.onnx", "train.npz", "test.npz" + part, criterion=["nc"], state=state)
    if command in ("report", "open", "history", "diff") and not (inside / "cover.json").exists():
        assay.cover("net.onnx", "train.npz", "test.npz", criterion=["nc"]).save_json("cover.json")
    if command == "verify" and not (inside / "pack").exists():
        assay.evidence("net.onnx", "train.npz", "test.npz[:20]", out="pack")
    keywords = CASES[command][number]
    words = ["add"] if command == "history" and keywords else []  # typed before results
    theirs = program(inside, command, *words, *flags_of(command, filled(keywords, "theirs")))
    result = assay.commands[command](**filled(keywords, "ours")) if keywords else None
    ours = json.loads(result.to_json() if result else alone(command))
    assert result is None or len(result._repr_html_().encode()) <= 60_000
    assert lasting(ours, "ours") == lasting(theirs, "theirs")
    assert theirs["command"] == command
    assert faults(json.loads((source / "docs/schema/result.schema.json").read_text()), theirs) == []


def test_a_pack_that_is_made_here_is_finished(inside):
    assay.evidence("net.onnx", "train.npz", "test.npz[:20]", out="finished")
    gates = json.loads(assay.verify("finished").to_json())["gates"]
    assert gates and all(gate["passed"] for gate in gates)


@pytest.mark.parametrize("command", sorted(CASES))
def test_every_flag_is_a_keyword_with_a_line_of_help(command):
    function = assay.commands[command]
    signature = inspect.signature(function)
    for flag in catalogue()[command]["flags"]:
        assert keyword_of(flag["name"]) in signature.parameters
        assert flag["summary"].split("\n")[0] in function.__doc__
    assert "progress" in signature.parameters


def test_files_that_nobody_named_are_taken_into_the_result(inside):
    trained = assay.train("train.npz", model="net.onnx", initialiser="keep", epochs=1)
    assert trained.model.layers()
    assert " out.onnx" in trained.headline and str(tempfile.gettempdir()) not in trained.headline
    pruned = assay.prune("net.onnx", "test.npz", units="layer=conv2,units=1+2")
    assert pruned.model.parameters < assay.load("net.onnx").parameters
    attacked = assay.attack("net.onnx", RANGED, attack=["fgsm[eps=0.2]", "noise"])
    assert set(attacked.arrays) == {"fgsm", "noise"}
    assert attacked.arrays["fgsm"]["x"].shape[1:] == (1, 28, 28)
    assert len(attacked.data["fgsm"]) == len(attacked.arrays["fgsm"]["x"])
    said = assay.evaluate("net.onnx", "test.npz")
    assert said.arrays["outputs"].shape == (60, 10)
    assert (said.arrays["predicted"] == said.arrays["outputs"].argmax(1)).all()
    assert (said.arrays["predicted"] == said.arrays["y"]).mean() == pytest.approx(said.facts["test_accuracy"])
    assert list(said.arrays["ids"][:3]) == ["0", "1", "2"]
    chosen = assay.select("net.onnx", "test.npz", by="entropy", size=7)
    assert len(chosen.ids) == 7 and chosen.positions.tolist() == [int(i) for i in chosen.ids]
    exported = assay.mutate("net.onnx", action="export", mutant="gf@conv2#1")
    assert exported.model.hash != assay.load("net.onnx").hash
    assert sorted(p.name for p in inside.iterdir() if p.name.startswith("assay-")) == []


def test_labels_in_words_are_not_read_and_that_is_said(inside):
    given = np.load("test.npz")
    np.savez("words.npz", x=given["x"], y=np.array(["cat", "dog"])[given["y"] % 2])
    said = assay.evaluate("net.onnx", "words.npz,range=0:1")
    assert "text-labels" in [warning["id"] for warning in said.warnings]


def test_what_nobody_named_goes_with_the_result(inside, monkeypatch, tmp_path):
    import gc
    import tempfile

    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    found = assay.attack("net.onnx", RANGED, attack="fgsm[eps=0.2]", pictures=1)
    assert list(tmp_path.iterdir()) and "data:image/png" in found.to_html()
    with pytest.raises(assay.UsageError):
        assay.attack("net.onnx", "digits:5", attack="no-such")
    del found
    gc.collect()
    assert list(tmp_path.iterdir()) == []


def test_in_memory_and_in_files_are_the_same(inside, model, arrays):
    x, y = arrays
    data = assay.data(x, y, range=(0, 1))
    for attack in (["fgsm[eps=0.2]"], ["pgd[eps=0.1,steps=3]"]):
        a = assay.attack(model, data, attack=attack, out="a", all=True)
        b = assay.attack("net.onnx", "test.npz,range=0:1", attack=attack, out="b", all=True)
        name = attack[0].split("[")[0]
        assert (a.arrays[name]["x"] == b.arrays[name]["x"]).all()
    for keywords in ({"criterion": ["nc", "kmnc[sections=10]", "idc[m=3]"]}, {"criterion": ["lsc"]}):
        in_memory = assay.cover(model, "train.npz", (x, y), **keywords)
        in_files = assay.cover("net.onnx", "train.npz", "test.npz", **keywords)
        assert in_memory.table("criteria").rows == in_files.table("criteria").rows
        assert in_memory.provenance["test_hash"] == in_files.provenance["test_hash"]
        assert in_memory.provenance["model_hash"] == in_files.provenance["model_hash"]


def test_states_of_results_are_combined_and_compared(inside, model):
    a = assay.cover(model, "train.npz", "test.npz[:30]", criterion="nc", state="a.cov")
    b = assay.cover(model, "train.npz", "test.npz[30:]", criterion="nc", state="b.cov")
    whole = assay.cover(model, "train.npz", "test.npz", criterion="nc")
    assert assay.combine([a, b]).nc == whole.nc
    assert assay.diff([a, b]).command == "diff"
    with pytest.raises(assay.UsageError, match="state="):
        assay.combine([whole])


def test_several_values_come_in_whatever_holds_several(model, arrays):
    expected = assay.cover(model, "digits:50", arrays, criterion=["nc", "tknc"]).table("criteria").rows
    for several in (("nc", "tknc"), {"tknc", "nc"}, (name for name in ("nc", "tknc"))):
        assert assay.cover(model, "digits:50", arrays, criterion=several).table("criteria").rows == expected


def test_too_many_values_without_names_are_an_exception(model, arrays):
    with pytest.raises(assay.UsageError, match=r"explore\(\) takes model, data without their names, and 3 values are given; name the others"):
        assay.explore(model, arrays, arrays)


def test_captions_of_findings_name_the_classes(model, arrays, tmp_path):
    x, y = arrays
    data = assay.data(x[:20], y[:20], class_names=[f"digit {number}" for number in range(10)], range=(0, 1))
    found = assay.explore(model, data, mutant="int8@all", iterations=20, step=1, out=str(tmp_path / "found"))
    captions = [picture["title"] for picture in found.document["pictures"]]
    assert captions and all("int8@all digit " in caption for caption in captions)


def test_a_result_stands_for_its_document(model, arrays, tmp_path):
    import copy
    import pickle

    earlier = assay.evaluate(model, arrays)
    assert assay.evaluate(model, arrays, no_worse_than=earlier).passed
    assert copy.copy(earlier).headline == earlier.headline
    with pytest.raises(TypeError, match="save_json"):
        pickle.dumps(earlier)
    earlier.save_json(tmp_path / "new" / "found.json")
    earlier.save_html(tmp_path / "newer" / "found.html")
    assert assay.read_result(tmp_path / "new" / "found.json").headline == earlier.headline
    (tmp_path / "bytes.json").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(assay.DataError, match="bytes.json"):
        assay.read_result(tmp_path / "bytes.json")
    for call in (lambda: assay.read_result(tmp_path / "missing"), lambda: earlier.save_json(tmp_path)):
        with pytest.raises(assay.FileError):
            call()
