"""Notebooks run in a kernel of Jupyter; what they show is small, and progress is seen."""

import pathlib
import re
import warnings

import pytest

NOTEBOOKS = pathlib.Path(__file__).parents[1] / "notebooks"


@pytest.fixture(scope="module")
def run_cells():
    """Runs cells in one kernel and gives their outputs by cell."""
    nbformat = pytest.importorskip("nbformat", reason="SKIPPED: nbformat is not installed (PyPI)")
    nbclient = pytest.importorskip("nbclient", reason="SKIPPED: nbclient is not installed (PyPI)")
    pytest.importorskip("ipykernel", reason="SKIPPED: ipykernel is not installed (PyPI)")

    def run(cells, folder):
        notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of the packages that run it
            nbclient.NotebookClient(notebook, timeout=300, resources={"metadata": {"path": str(folder)}}).execute()
        return [cell.outputs for cell in notebook.cells]

    return run


def code_of(notebook):
    cells = re.split(r"^# %%", notebook.read_text(), flags=re.MULTILINE)[1:]
    return [cell.strip() for cell in cells if "[markdown]" not in cell.partition("\n")[0]]


def shown(outputs, kind):
    return [output.data[kind] for output in outputs if kind in output.get("data", {})]


def test_results_in_a_notebook(run_cells, tmp_path):
    for name in ("matplotlib", "tqdm"):
        pytest.importorskip(name, reason=f"SKIPPED: {name} is not installed (PyPI)")
    outputs = run_cells(code_of(NOTEBOOKS / "results_in_a_notebook.py"), tmp_path)
    pages = [page for cell in outputs for page in shown(cell, "text/html") if "assay-result" in page]
    assert len(pages) == 1 and len(pages[0].encode()) <= 60_000 and "<script" not in pages[0]
    assert sum(len(shown(cell, "image/png")) for cell in outputs) == 3
    assert [path.name for path in tmp_path.iterdir()] == ["coverage.html"]
    written = " ".join(output.get("text", "") for cell in outputs for output in cell)
    assert "Traceback" not in written


WIDGET = """
import assay
train, test = assay.data("digits:60,range=0:1"), assay.data("digits:40,seed=2,range=0:1")
network = assay.train(train, architecture="lenet1", epochs=1).model
chooser = assay.cover(network, train, test, criterion=["nc", "idc[m=2]"]).widget()
chooser
"""
CHOICE = """
table, layer, row, picture, view = chooser.children
table.value = "histograms"
layer.value = layer.options[1]
row.value = min(1, row.max)
print(row.max, len(picture.value), view.value.count("<tr>"), layer.options[1] in view.value)
table.value = "criteria"
print("nc" in view.value, picture.value == "")
"""


def test_a_widget_chooses_table_layer_and_row(run_cells, tmp_path):
    for name in ("ipywidgets", "matplotlib"):
        pytest.importorskip(name, reason=f"SKIPPED: {name} is not installed (PyPI)")
    seen, chosen = run_cells([WIDGET, CHOICE], tmp_path)
    assert shown(seen, "application/vnd.jupyter.widget-view+json")
    first, second = "".join(output.get("text", "") for output in chosen).splitlines()
    most, picture, lines, named = first.split()
    assert int(most) >= 1 and int(picture) > 1000 and int(lines) >= 2 and named == "True"
    assert second == "True True"


PROGRESS = """
import assay
network = assay.train("digits:40", architecture="lenet1", epochs=1, progress={}).model
"""


def test_progress_is_seen_in_a_notebook(run_cells, tmp_path):
    pytest.importorskip("tqdm", reason="SKIPPED: tqdm is not installed (PyPI)")
    silent, seen = run_cells([PROGRESS.format("None"), PROGRESS.format("True")], tmp_path)
    assert silent == []
    # A bar of ipywidgets if they are installed, and otherwise of text.
    assert shown(seen, "application/vnd.jupyter.widget-view+json") or any("%" in o.get("text", "") for o in seen)


WITHOUT_DISPLAY = """
import os, sys
assert "DISPLAY" not in os.environ and "WAYLAND_DISPLAY" not in os.environ
os.environ.pop("MPLBACKEND", None)  # the kernel sets it
for name in {absent}:
    sys.modules[name] = None  # as if it were not installed
import assay
network = assay.train("digits:40", architecture="lenet1", epochs=1, progress=True).model
result = assay.evaluate(network, "digits:20", progress=True)
def said(ask):
    try:
        return ask()
    except assay.UsageError as error:
        print("said:", error)
drawn = said(result.plot)
chosen = said(result.widget)
"""
KEPT = """
print("kept:", 0 <= result.test_accuracy <= 1, result.log(to="tensorboard", files=False) is result)
result
"""


@pytest.mark.parametrize("absent", [[], ["matplotlib", "ipywidgets", "tqdm", "tqdm.auto", "torch", "tensorboardX", "tensorboard"]])
def test_a_notebook_without_a_display_keeps_its_result(run_cells, tmp_path, monkeypatch, absent):
    for name in ("matplotlib", "ipywidgets"):
        pytest.importorskip(name, reason=f"SKIPPED: {name} is not installed (PyPI)")
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "MPLBACKEND"):
        monkeypatch.delenv(name, raising=False)
    outputs, kept = run_cells([WITHOUT_DISPLAY.format(absent=absent), KEPT], tmp_path)
    written = "".join(output.get("text", "") for output in outputs)
    sentences = [line for line in written.splitlines() if line.startswith("said:")]
    if absent:
        assert len(sentences) == 2 and "pip install matplotlib" in sentences[0] and "pip install ipywidgets" in sentences[1]
        assert "evaluating: 20 records" in written  # progress as lines, since there is no tqdm
    else:
        assert sentences == []
    assert "kept: True True" in "".join(output.get("text", "") for output in kept)
    (page,) = shown(kept, "text/html")
    assert "assay-result" in page
