"""Notebooks and examples run, types are right, the stubs are those of the catalogue, the documentation's table holds."""

import base64
import errno
import html
import html.parser
import importlib
import importlib.metadata
import importlib.util
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

import numpy as np
import pytest

import assay
from assay import _stubs
from test_token_attacks import write_network

PYTHON = pathlib.Path(__file__).parents[1]

# pytest finds the plug-in of a wheel by itself; in a build folder it is named.
INSTALLED = any(entry.value == "assay.pytest_plugin" for entry in importlib.metadata.entry_points(group="pytest11"))
PLUGIN = [] if INSTALLED else ["-p", "assay.pytest_plugin"]


def run(file, folder):
    found = subprocess.run([sys.executable, str(file)], cwd=folder, capture_output=True, text=True)
    assert found.returncode == 0, found.stdout + found.stderr
    return found.stdout


@pytest.mark.parametrize("example", sorted((PYTHON / "examples").glob("*.py")), ids=lambda p: p.stem)
def test_examples_run(example, tmp_path):
    assert run(example, tmp_path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("notebook", sorted((PYTHON / "notebooks").glob("*.py")), ids=lambda p: p.stem)
def test_notebooks_run(notebook, tmp_path):
    for package in ("torch", "matplotlib"):
        if f"import {package}" in notebook.read_text():
            pytest.importorskip(package)
    assert "# %% [markdown]" in notebook.read_text()
    run(notebook, tmp_path)
    assert [p.suffix for p in tmp_path.iterdir()] == [".html"]


def test_the_stubs_are_those_of_the_catalogue():
    stubs = (PYTHON / "assay" / "__init__.pyi").read_text()
    assert stubs == _stubs.stubs(), "run python3 -m assay._stubs"


# Packages of others, which are optional; some have no types.
UNREAD = "aim.*,distributed.*,dvclive.*,ipywidgets.*,lightning.*,matplotlib.*,mlflow.*,pandas.*,polars.*,pyarrow.*,ray.*,sklearn.*,tensorboardX.*,torch.*,tqdm.*,transformers.*,wandb.*"


def test_the_types_are_right(tmp_path):
    pytest.importorskip("mypy")
    files = [str(file) for folder in ("assay", "examples") for file in sorted((PYTHON / folder).glob("[!_]*.py"))]
    files += [str(file) for file in sorted((PYTHON / "assay").glob("*/*.py"))]
    settings = tmp_path / "mypy.ini"
    # As in pyproject.toml, without reading all of torch, which takes a minute.
    settings.write_text(f"[mypy]\n[mypy-{UNREAD}]\nignore_missing_imports = True\nfollow_imports = skip\n")
    files += [str(file) for file in sorted((PYTHON / "assay").glob("_[!_]*.py"))]  # __init__ is its stub
    found = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", f"--config-file={settings}", f"--cache-dir={tmp_path}", *files],
        cwd=PYTHON,
        env={**os.environ, "MYPYPATH": str(PYTHON)},
        capture_output=True,
        text=True,
    )
    assert found.returncode == 0, found.stdout


def test_everything_public_is_documented():
    for name in assay.__all__:
        thing = getattr(assay, name)
        assert name in ("commands",) or (thing.__doc__ or "").strip(), name


ASKED = {
    "attribute": "assert assay.cover.__name__ == 'cover' and assay.commands['cover'] is assay.cover is assay.cover",
    "import": "from assay import cover, Criterion, commands; assert cover is assay.cover and issubclass(Criterion, object)",
    "star": "from assay import *; assert cover is assay.cover and Attack is assay.Attack and set(assay.__all__) <= set(globals())",
    "dir": "assert set(assay.__all__) <= set(dir(assay)) and {'cover', 'Attack', 'load', 'commands', '__version__'} <= set(dir(assay))",
    "help": "import pydoc; page = pydoc.render_doc(assay); assert 'def cover' in page.replace('\\b', '') or 'cover(' in page",
    "completion": "import rlcompleter; assert 'assay.cover(' in rlcompleter.Completer({'assay': assay}).attr_matches('assay.cov')",
    "pickle": "import pickle; assert pickle.loads(pickle.dumps(assay.cover)) is assay.cover",
    "unpickle": "import pickle; assert pickle.loads(b'\\x80\\x04cassay\\ncover\\n.') is assay.cover",
    "patch": "from unittest import mock\nwith mock.patch('assay.cover', 3): assert assay.cover == 3\nassert assay.cover.__name__ == 'cover'",
    "none": "assert not hasattr(assay, 'no_such') and not hasattr(assay, '_no_such')",
    "hint": "try: assay.covr\nexcept AttributeError as error: assert error.name == 'covr' and error.obj is assay",
}


@pytest.mark.parametrize("way", ASKED)
def test_functions_are_made_when_they_are_asked_for(way):
    script = "import sys, assay\nassert not {'assay._own', 'assay._questions'} & set(sys.modules)\n" + ASKED[way]
    found = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert (found.returncode, found.stderr) == (0, "")


MIGRATION = sorted((PYTHON.parent / "docs" / "migration").glob("*.md"))


@pytest.mark.parametrize("page", MIGRATION, ids=lambda page: page.stem)
def test_each_line_of_a_page_on_migration_runs(page, inside, model, arrays):
    x, y = arrays
    names = {
        "assay": assay,
        "np": np,
        "net": model,
        "x": x[:20],
        "y": y[:20],
        "train": assay.data("train.npz,range=0:1"),
        "test": assay.data(x[:20], y[:20], range=(0, 1)),
        "label": int(y[0]),
    }
    names["program"] = {"train": names["train"][:60], "test": names["test"], "model": model, "epochs": 2, "train_batch": 20, "count": 1, "store": "trained"}
    if page.stem == "textattack":
        os.makedirs("exported", exist_ok=True)
        write_network(pathlib.Path("exported"))
        names["reviews"] = "exported/t.txt,tokenizer=exported"
    table = [line for line in page.read_text().splitlines() if line.startswith("| ") and line != "| there | here |"]
    lines = [re.fullmatch(r"\| `(.+?)` \| `(.+?)` \|", line) for line in table]
    assert len(lines) >= 3 and all(lines), [line for line, found in zip(table, lines) if found is None]
    for theirs, ours in (found.groups() for found in lines):
        assert eval(ours, names) is not None, f"{theirs}: {ours}"


def test_blocks_of_the_documentation_run(inside, source):
    os.makedirs("assay-demo", exist_ok=True)  # as `assay demo` leaves it
    shutil.copy("net.onnx", "assay-demo/lenet5.onnx")
    for page in ("docs/python.md", "README.md"):
        blocks = re.findall(r"^```python\n(.*?)^```$", (source / page).read_text(), re.MULTILINE | re.DOTALL)
        assert blocks
        names = {}
        for block in blocks:
            needed = [package for package in ("torch", "sklearn") if re.search(rf"(import|from) {package}\b", block)]
            if any(importlib.util.find_spec(package) is None for package in needed):
                continue
            exec(compile(block, page, "exec"), names)


def test_a_table_shows_its_first_rows(model, arrays, tmp_path):
    found = assay.evaluate(model, arrays)
    page = found.table("classes")._repr_html_()
    right = [row["accuracy"] for row in found.table("classes").rows]
    assert page.count("<tr>") == 1 + len(right) and len(page) < 20_000
    assert all(f"{np.floor(share * 1e4 + 1e-6) / 100:.2f} %" in page for share in right)
    document = found.document
    columns = [{"id": name, "title": name, "kind": kind, "decimals": 2} for name, kind in (("a", "text"), ("to", "fraction"), ("b", "fraction"), ("n", "count"))]
    rows = [{"a": "<script>\u202e", "to": 0.03012, "b": 0.9999999, "n": 1234567}, {"a": "y", "to": None, "b": 1.0, "n": 8}]
    tables = {"t": {"title": "<b>\x1b[31m", "detail": False, "columns": columns, "rows": rows * 20}}
    (tmp_path / "a.json").write_text(json.dumps({**document, "tables": tables}))
    page = assay.read_result(tmp_path / "a.json").table("t")._repr_html_()
    assert "<script>" not in page and "&lt;b&gt;" in page and "15 more rows" in page
    assert "\u202e" not in page and "\x1b" not in page
    assert all(f">{cell}<" in page for cell in ("3.02 %", "99.99 %", "100.00 %", "1,234,567", "-"))
    assert assay.Table("t", tables["t"])._repr_html_() is None


def test_results_show_themselves(model, arrays, tmp_path):
    found = assay.evaluate(model, arrays)
    assert html.escape(found.headline) in found._repr_html_() and "accuracy" in str(found)
    found.save_html(tmp_path / "a.html")
    assay.save_report(tmp_path / "b.html", [found, found])
    assert (tmp_path / "a.html").stat().st_size > 1000 and (tmp_path / "b.html").stat().st_size > 1000
    found.save_json(tmp_path / "a.json")
    again = assay.read_result(tmp_path / "a.json")
    assert again.to_json() == found.to_json() and again.test_accuracy == found.test_accuracy
    assert found.render("junit") == found.render_files("junit")["junit.xml"]
    assert {"facts.csv"} <= set(found.render_files("csv")) and all(found.render_files("csv").values())
    with pytest.raises(assay.UsageError, match="render_files"):
        found.render("csv")
    with pytest.raises(assay.UsageError, match="tells of the table 'mutants'"):
        found.render("elements")
    assert found.passed and found.require() is found
    x, y = arrays
    doubtful = assay.evaluate(model, (x, (y + 1) % 10))
    assert [w["id"] for w in doubtful.warnings] == ["chance"] and "[doubtful: chance]" in repr(doubtful)
    assert doubtful.warnings[0]["cause"] in " ".join(str(doubtful).split())
    assert "test_accuracy" in dir(found)
    for wrong in (lambda: found.no_such, lambda: found.table("no"), lambda: found.coverage("nc"), lambda: found.render("no")):
        with pytest.raises((AttributeError, assay.UsageError)):
            wrong()
    failed = assay.cover(model, "digits:50", arrays, criterion="nc", fail_under="nc=1")
    assert not failed.passed
    with pytest.raises(assay.GateFailed, match="nc"):
        failed.require()
    assert failed.gate("nc>=0")["passed"]


def test_a_full_disk_keeps_the_old_file_and_says_what_to_do(model, arrays, tmp_path, monkeypatch):
    found = assay.evaluate(model, arrays)
    (tmp_path / "a.json").write_text("old")
    (tmp_path / "a.json").chmod(0o640)
    (tmp_path / "link.json").symlink_to("a.json")

    def full(_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", full)
        with pytest.raises(assay.FileError, match="link.json: No space left on device; free some space there, or name a file on another"):
            found.save_json(tmp_path / "link.json")
    assert (tmp_path / "a.json").read_text() == "old"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.json", "link.json"]
    found.save_json(tmp_path / "link.json")
    assert (tmp_path / "a.json").read_text() == found.to_json()
    assert (tmp_path / "link.json").is_symlink() and (tmp_path / "a.json").stat().st_mode & 0o777 == 0o640


class Elements(html.parser.HTMLParser):
    """What is in a page, whose elements must be closed in order."""

    def __init__(self, page):
        super().__init__()
        self.opened, self.names, self.texts = [], [], []
        self.feed(page)
        self.close()
        assert self.opened == []

    def handle_starttag(self, tag, attributes):
        self.names.append(tag)
        if tag not in ("br", "img"):
            self.opened.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.names.append(tag)

    def handle_endtag(self, tag):
        assert self.opened.pop() == tag

    def handle_data(self, data):
        self.texts.append(data)


def test_notebooks_show_an_extract(model, arrays):
    x, y = arrays
    found = assay.cover(model, "digits:50", (x, y), criterion=["nc", "kmnc[sections=10]"], fail_under=["nc=1", "kmnc=0"])
    page = Elements(found._repr_html_())
    text = " ".join(page.texts)
    assert found.headline in text and "FAILED" in text and "passed" in text and "save_report" in text
    assert {"table", "svg", "img", "polyline", "details"} <= set(page.names) and "script" not in page.names
    rows = found.table("criteria")
    assert f"… and {len(rows) - 10} more rows" in text and "Neurons (" in text
    assert page.names.count("img") <= 10 and len(page.names) < 3000
    heatmaps = assay.importance(model, (x, y), heatmaps=2)._repr_html_()
    assert heatmaps.count("data:image/png;base64,") == 2
    assert re.search(r"record &#x27;\d+&#x27;, named \d, and its relevance \(red for, blue against\)", heatmaps)


def png(size):
    """What begins and ends as a picture, of so many bytes."""
    return b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + os.urandom(size) + b"\0\0\0\0IEND\xaeB`\x82"


@pytest.mark.parametrize("text", ["plain words ", "\"", "<script>alert('&\"')</script>", "\u4e2d\u6587\U0001f600", "\u202e\x1b[31m"])
def test_what_a_notebook_shows_is_small(text, model, arrays, tmp_path):
    document = assay.cover(model, "digits:50", arrays, criterion=["nc", "kmnc[sections=10]"], fail_under="nc=1").document
    long = (text * 300)[:1500]
    document = {**document, "headline": long}
    document["facts"] = {f"f{i}": long for i in range(500)}
    document["fact_columns"] = {name: {"title": long, "kind": "text", "decimals": 2} for name in document["facts"]}
    document["gates"] = [{**document["gates"][0], "text": long}] * 200
    document["warnings"] = [{"id": "w", "text": long, "cause": long}] * 100
    document["notices"] = [long] * 100
    columns = [{"id": f"c{c}", "title": long, "kind": ("text", "fraction")[c % 2], "decimals": 2} for c in range(30)]
    row = {f"c{c}": 0.5 if c % 2 else long for c in range(30)}
    tables = {f"t{t}": {"title": long, "detail": t % 2 == 1, "columns": columns, "rows": [row] * 40} for t in range(20)}
    growth = document["tables"]["growth"]
    growth["rows"] = [{"records": n, "criterion": f"{i} {text}", "coverage": n / 500} for i in range(100) for n in range(500)]
    document["tables"] = {**document["tables"], **tables}
    sizes = [100, 5_000, 100_000, *[3_000] * 40]
    for number, size in enumerate(sizes):
        (tmp_path / f"{number}.png").write_bytes(png(size))
    (tmp_path / "no.png").write_text("no picture")
    names = [*(f"{number}.png" for number in range(len(sizes))), "no.png", "missing.png"]
    document["pictures"] = [{"title": long, "path": str(tmp_path / name)} for name in names]
    (tmp_path / "a.json").write_text(json.dumps(document, ensure_ascii=False), encoding="utf-8")
    page = assay.read_result(tmp_path / "a.json")._repr_html_()
    assert len(page.encode()) <= 60_000
    names = Elements(page).names
    assert {"table", "svg", "img", "polyline"} <= set(names) and "script" not in names
    assert "gates: 0 of 200 passed" in page and "FAILED" in page and "Doubtful" in page and "more facts" in page
    assert base64.b64encode(b"no picture").decode() not in page
    assert "\u202e" not in page and "\x1b" not in page


def test_criteria_are_figures_though_tables_have_their_names(model, arrays):
    names = ["idc[m=3]", "nc", "kmnc[sections=10]", "lsc", "nlc"]
    found = assay.cover(model, "digits:100", arrays, criterion=names)
    for name in names:
        figure = getattr(found, name.split("[")[0])
        assert isinstance(figure, float) and figure == found.coverage(name) and figure >= 0
    assert isinstance(found.table("idc"), assay.Table)


def test_tables_as_data_frames(model, arrays):
    pandas = pytest.importorskip("pandas")
    frame = assay.cover(model, "digits:50", arrays, criterion="nc").to_pandas("criteria")
    assert isinstance(frame, pandas.DataFrame) and set(frame["criterion"]) == {"nc"}


def test_the_plugin_of_pytest(inside, tmp_path):
    (tmp_path / "test_network.py").write_text(
        f"""
import assay
from assay.pytest_plugin import gates

@gates("nc=0.01", "nc=1.0")
def test_coverage():
    return assay.cover("net.onnx", "train.npz", "test.npz", criterion="nc")

def test_importance():
    assert assay.cover("net.onnx", "train.npz", "test.npz", criterion="idc[m=3]").idc >= 0.01

def test_accuracy(assay_results):
    found = assay.evaluate("net.onnx", "test.npz")
    assay_results.append(found)
    assert found.test_accuracy >= 0
"""
    )
    found = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", *PLUGIN, "-p", "no:cacheprovider", "--assay-report", str(tmp_path / "r.html"), "--junitxml", str(tmp_path / "junit.xml"), str(tmp_path)],
        cwd=inside,
        capture_output=True,
        text=True,
    )
    assert "1 failed, 3 passed" in found.stdout, found.stdout + found.stderr
    assert "nc=1.0" in found.stdout and (tmp_path / "r.html").stat().st_size > 1000
    # The default form of pytest's XML takes no record_property; the judgement is in it without a warning.
    assert "warning" not in found.stdout.lower(), found.stdout
    assert "nc=0.01" in (tmp_path / "junit.xml").read_text()


def run_pytest(folder, text, *options):
    """What pytest says of a file of tests with the plug-in."""
    (folder / "test_it.py").write_text("import assay, pytest\nfrom assay.pytest_plugin import gates\n" + text)
    plugins = [*PLUGIN, "-p", "no:cacheprovider"]
    found = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-s", *plugins, *options, "test_it.py"],
        cwd=folder,
        capture_output=True,
        text=True,
    )
    return found.stdout + found.stderr


def test_gates_judge_the_network_of_their_own_parameters(work, tmp_path):
    # A wrong one must not pass because another did before: with objects of fixtures, which are gone by then, and with
    # parameters that the test does not name. Gates of the same objects share one run.
    found = run_pytest(
        tmp_path,
        f"""
import pathlib
network = assay.load({str(work / "net.onnx")!r})
said = network.predict("digits:30")[1]

def ran(name):
    print("RAN", name)
    labels = said if name == "right" else (said + 1) % 10
    return assay.evaluate(network, assay.data("digits:30").relabelled(labels))

@pytest.fixture(params=["right", "wrong"])
def path(request):
    return pathlib.Path(request.param)

@gates("accuracy=0.5")
def test_objects(path):
    return ran(path.name)

@pytest.fixture(params=["right", "wrong"])
def unnamed(request):
    global asked
    asked = request.param

@pytest.mark.usefixtures("unnamed")
@gates("accuracy=0.5")
def test_unnamed():
    return ran(asked)

@pytest.mark.parametrize("name", ["right", "wrong"])
class TestMethods:
    @gates("accuracy=0.5")
    def test_method(self, name, request):
        return ran(name)

@pytest.mark.parametrize("name", ["right", "wrong"])
@gates("accuracy=0.5", "accuracy=0.4", "accuracy=0.3")
def test_shared(name, more=3):
    return ran(name)
""",
    )
    assert "6 failed, 6 passed" in found, found
    assert found.count("RAN") == 8, found
    for line in found.splitlines():
        assert not line.startswith("FAILED") or "wrong" in line, line


def test_gates_of_a_test_that_returns_nothing_fail_with_a_message(tmp_path):
    found = run_pytest(tmp_path, "@gates('nc=1')\ndef test_it():\n    pass\n", "--assay-report", "r.html")
    assert "test_it() returned None" in found and "1 failed" in found and "Traceback" not in found
    assert not (tmp_path / "r.html").exists() and "no report" in found


def test_a_report_that_cannot_be_made_is_said(tmp_path):
    text = "def test_it(assay_results):\n    assay_results.append(None)\n"
    found = run_pytest(tmp_path, text, "--assay-report", "r.html")
    assert "no report: a report is made of results; None is not one" in found and "1 passed" in found
    assert not (tmp_path / "r.html").exists() and "Traceback" not in found


def test_callbacks(inside, model, arrays):
    from assay.callbacks import CoverageHistory, KerasCoverage, RecordSampler

    history = CoverageHistory("train.npz", arrays, criterion="nc")
    history.measure(model)
    history.measure(model)
    assert len(history.values("nc")) == 2
    keras = KerasCoverage("train.npz", arrays, criterion="nc")
    keras.set_model(model)
    keras.set_params({"epochs": 1})
    keras.on_train_begin({})
    logs = {"loss": 0.5}
    keras.on_epoch_end(0, logs)
    assert logs["coverage_nc"] == history.values("nc")[0]
    chosen = assay.select(model, arrays, by="entropy", size=5)
    assert list(RecordSampler(chosen)) == [int(i) for i in chosen.ids]
    rest = list(RecordSampler(chosen, leave_out=True, size=60))
    assert len(rest) == 55 and not set(rest) & set(map(int, chosen.ids))
    shuffled = RecordSampler(range(20), shuffle=True)
    first, second = list(shuffled), list(shuffled)
    assert first != second and sorted(first) == sorted(second) == list(range(20))
    assert list(RecordSampler(range(20), shuffle=True)) == first
    for wrong in (lambda: RecordSampler([]), lambda: RecordSampler([1], leave_out=True), lambda: RecordSampler([[1]])):
        with pytest.raises(assay.UsageError):
            wrong()


def test_a_module_of_torch(arrays):
    torch = pytest.importorskip("torch")
    x, _ = arrays
    net = torch.nn.Sequential(torch.nn.Conv2d(1, 4, 5), torch.nn.BatchNorm2d(4), torch.nn.ReLU(), torch.nn.Dropout(), torch.nn.Flatten(), torch.nn.Linear(2304, 10))
    net.train()
    model = assay.load(net, torch.zeros(1, 1, 28, 28))
    assert net.training
    net.eval()
    with torch.no_grad():
        assert np.allclose(model(torch.from_numpy(x)), net(torch.from_numpy(x)).numpy(), atol=1e-4)
    for wrong in (None, torch.zeros(1, 3, 28, 28), 3):
        with pytest.raises(assay.UsageError):
            assay.load(net, wrong)

    class Two(torch.nn.Module):
        def forward(self, a, b):
            return torch.cat([a, b], 1).sum(1, keepdim=True) * torch.ones(2)

    two = assay.load(Two(), {"a": torch.zeros(1, 3), "b": torch.zeros(1, 2)})
    assert set(two.inputs) == {"a", "b"}
    assert np.allclose(two({"a": np.ones((4, 3), np.float32), "b": np.ones((4, 2), np.float32)}), 5)


def keras_archive(path, weights):
    """A dense network as Keras 3 stores it."""
    import json
    import zipfile

    import h5py

    def layer(name, config, inputs):
        args = [{"class_name": "__keras_tensor__", "config": {"keras_history": [i, 0, 0]}} for i in inputs]
        nodes = [{"args": args, "kwargs": {}}] if inputs else []
        return {"class_name": name, "name": config["name"], "config": config, "inbound_nodes": nodes}

    config = {
        "module": "keras",
        "class_name": "Functional",
        "config": {
            "name": "small",
            "layers": [
                layer("InputLayer", {"name": "x", "batch_shape": [None, 3], "dtype": "float32"}, []),
                layer("Dense", {"name": "dense", "units": 2, "activation": "softmax", "use_bias": True}, ["x"]),
            ],
            "input_layers": [["x", 0, 0]],
            "output_layers": [["dense", 0, 0]],
        },
    }
    stored = path.with_suffix(".weights")
    with h5py.File(stored, "w") as file:
        for number, weight in enumerate(weights):
            file[f"layers/dense/vars/{number}"] = weight
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("config.json", json.dumps(config))
        archive.writestr("metadata.json", json.dumps({"keras_version": "3.0.5"}))
        archive.write(stored, "model.weights.h5")


class KerasModel:
    """Stands in for a model of Keras, of which no Debian package exists: what assay.load() uses of one."""

    __module__ = "keras.src.models.functional"
    name = "small"

    def __init__(self, archive, known=(".keras",)):
        self.archive, self.known, self.asked = archive, known, []

    def save(self, path):
        self.asked.append(pathlib.Path(path).suffix)
        if self.asked[-1] not in self.known:
            raise ValueError(f"no format has the ending {self.asked[-1]}")
        pathlib.Path(path).write_bytes(self.archive.read_bytes())


def test_a_model_of_keras(tmp_path):
    pytest.importorskip("h5py")
    rng = np.random.default_rng(1)
    weights = rng.standard_normal((3, 2)).astype(np.float32), rng.standard_normal(2).astype(np.float32)
    keras_archive(tmp_path / "small.keras", weights)
    x = rng.random((5, 3), np.float32)
    e = np.exp(x @ weights[0] + weights[1])
    for known in ((".keras",), (".h5",)):
        stand_in = KerasModel(tmp_path / "small.keras", known)
        model = assay.load(stand_in)
        assert np.allclose(model(x), e / e.sum(1, keepdims=True), atol=1e-6)
        assert stand_in.asked[-1] == known[0]
        labels = np.arange(5) % 2
        assert assay.evaluate(stand_in, (x, labels)).facts["records"] == 5
    with pytest.raises(assay.UsageError, match="no format has the ending .keras"):
        assay.load(KerasModel(tmp_path / "small.keras", ()))
    (tmp_path / "small.keras").write_bytes(b"PK\x03\x04 damaged")
    with pytest.raises(assay.ModelError):
        assay.load(KerasModel(tmp_path / "small.keras"))


class KerasCallbacks:
    """Calls callbacks as Keras 2 and 3 do: of a callback that is no class of theirs, all that they ask."""

    def __init__(self, callbacks, model):
        self.callbacks = callbacks
        for callback in callbacks:
            callback.set_model(model)
            callback.set_params({"epochs": 2, "verbose": 0})
            # Keras 2: whether batches matter to it; its logs are then never waited for.
            assert not callback._implements_train_batch_hooks()
            assert not callback._implements_test_batch_hooks() and not callback._implements_predict_batch_hooks()
            assert not getattr(callback, "_supports_tf_logs", False) and not getattr(callback, "async_safe", False)
            # Keras 3: the same question.
            for moment in ("on_batch_end", "on_train_batch_end", "on_test_batch_end", "on_predict_batch_end"):
                assert getattr(callback, moment)._is_default

    def fit(self, epochs):
        history = []
        self.call("on_train_begin", {})
        for epoch in range(epochs):
            self.call("on_epoch_begin", epoch, {})
            for batch in range(2):
                self.call("on_train_batch_begin", batch, {})
                self.call("on_train_batch_end", batch, {"loss": 1.0})
            logs = {"loss": 1.0}
            self.call("on_epoch_end", epoch, logs)
            history.append(logs)
        self.call("on_train_end", {})
        return history

    def call(self, moment, *arguments):
        for callback in self.callbacks:
            getattr(callback, moment)(*arguments)


def test_a_callback_of_keras(tmp_path):
    from assay.callbacks import KerasCoverage

    pytest.importorskip("h5py")
    weights = np.ones((3, 2), np.float32), np.array([-1, 1], np.float32)
    keras_archive(tmp_path / "small.keras", weights)
    x = np.random.default_rng(1).random((20, 3), np.float32)
    coverage = KerasCoverage((x, np.arange(20) % 2), (x, np.arange(20) % 2), criterion="nc")
    history = KerasCallbacks([coverage], KerasModel(tmp_path / "small.keras")).fit(2)
    assert [logs["coverage_nc"] for logs in history] == coverage.values("nc") and len(coverage.values("nc")) == 2
    with pytest.raises(AttributeError):
        coverage.no_such


def test_it_is_installed_by_cmake(tmp_path, work):
    build = pathlib.Path(assay.__file__).parents[2]
    if not (build / "cmake_install.cmake").exists():
        pytest.skip("no build folder")
    installed = subprocess.run(
        ["cmake", "--install", str(build), "--component", "python", "--prefix", str(tmp_path)], capture_output=True, text=True
    )
    assert installed.returncode == 0, installed.stderr
    (package,) = tmp_path.rglob("assay/__init__.py")
    names = {path.name for path in package.parent.iterdir()}
    assert {"__init__.pyi", "py.typed", "pytest_plugin.py", "errors.py"} <= names
    assert {"callbacks/__init__.py", "trackers/mlflow.py"} <= {str(p.relative_to(package.parent)) for p in package.parent.rglob("*")}
    assert not any(path.is_symlink() for path in package.parent.rglob("*")) and "__pycache__" not in names
    script = 'import assay; print(assay.__file__, assay.evaluate("net.onnx", "test.npz").facts["records"])'
    environment = {**os.environ, "PYTHONPATH": str(package.parents[1])}
    # Where the module's libraries are that the build made, if they are apart.
    environment["LD_LIBRARY_PATH"] = str(build / "assay")
    found = subprocess.run([sys.executable, "-c", script], cwd=work, env=environment, capture_output=True, text=True)
    assert found.returncode == 0, found.stderr
    assert found.stdout.split() == [str(package), "60"]


def test_pip_would_install_what_cmake_does(source):
    tomllib = pytest.importorskip("tomllib")
    project = tomllib.loads((source / "pyproject.toml").read_text())
    built = project["tool"]["scikit-build"]
    cmake = (source / "python" / "CMakeLists.txt").read_text()
    for component in built["install"]["components"]:
        assert f"COMPONENT {component}" in cmake
    declared = "".join(path.read_text() for path in source.glob("**/CMakeLists.txt") if "build" not in path.parts)
    for name in built["cmake"]["define"]:
        assert name in declared, name
    named = built["metadata"]["version"]
    assert project["project"]["dynamic"] == ["version"]
    assert re.search(named["regex"], (source / named["input"]).read_text())["value"] == assay.__version__
    for plugin in project["project"]["entry-points"]["pytest11"].values():
        assert importlib.import_module(plugin).pytest_addoption
    assert project["build-system"]["build-backend"] == "scikit_build_core.build"
    least = re.search(r"cmake_minimum_required\(VERSION ([0-9.]+)", (source / "CMakeLists.txt").read_text()).group(1)
    assert built["cmake"]["version"] == f">={least}"


def test_ids_of_texts_in_archives(tmp_path):
    x = np.zeros((3, 2), np.float32)
    for ids in (np.array(["a", "bcd", "ä"]), np.array([b"a", b"bcd", b"e"])):
        np.savez(tmp_path / "named.npz", x=x, y=np.arange(3), ids=ids)
        expected = [i.decode() if isinstance(i, bytes) else str(i) for i in ids]
        assert assay.data(tmp_path / "named.npz").ids == expected
