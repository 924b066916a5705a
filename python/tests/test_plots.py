"""Pictures of results hold the numbers of the tables, on axes that can be composed."""

import os
import subprocess
import sys

import numpy as np
import pytest

import assay
from assay import plots


@pytest.fixture(scope="module", autouse=True)
def pyplot():
    matplotlib = pytest.importorskip("matplotlib", reason="SKIPPED: matplotlib is not installed")
    matplotlib.use("Agg")
    import matplotlib.pyplot

    yield matplotlib.pyplot
    matplotlib.pyplot.close("all")


@pytest.fixture(scope="module")
def records(arrays):
    x, y = arrays
    return assay.data(x, y, range=(0, 1))


@pytest.fixture(scope="module")
def coverage(model, records):
    return assay.cover(model, "digits:100", records, criterion=["nc", "idc[m=3]"])


def test_growth_runs_along_the_records(coverage):
    axes = coverage.plot("growth")
    lines = {line.get_label(): line for line in axes.get_lines()}
    rows = [row for row in coverage.table("growth") if row["criterion"] == "nc"]
    assert list(lines["nc"].get_xdata()) == [row["records"] for row in rows]
    assert list(lines["nc"].get_ydata()) == [row["coverage"] for row in rows] and axes.get_xlabel() == "records"


def test_severities_have_the_band_of_their_intervals(model, records):
    found = assay.robust(model, records[:20], along="noise[sigma=0:0.4:0.2]")
    axes = found.plot()
    (band,) = axes.collections
    rows = found.table("severities").rows
    edges = {(round(x, 6), round(y, 6)) for x, y in band.get_paths()[0].vertices.tolist()}
    assert {(round(row["severity"], 6), round(row[side], 6)) for row in rows for side in ("low", "high")} <= edges


def test_epochs_and_orders_are_lines(model, records):
    trained = assay.train("digits:60", architecture="lenet1", epochs=2)
    assert list(trained.plot().get_lines()[0].get_ydata()) == trained.table("epochs")["accuracy"]
    chosen = assay.select(model, records, by="deepgini", size=10)
    assert chosen.plot().get_title() == chosen.table("apfd").title


def test_histograms_are_shares_of_bins(coverage):
    table = coverage.table("histograms")
    axes = coverage.plot("histograms", row=1)
    train, test = axes.patches
    counts = np.array([int(count) for count in table[1]["test"].split(",")])
    assert np.allclose(test.get_data().values, counts / counts.sum()) and np.isclose(train.get_data().values.sum(), 1)
    assert test.get_data().edges[[0, -1]].tolist() == [table[1]["low"], table[1]["high"]]
    assert f"neuron {table[1]['neuron']} of conv2" == axes.get_title()
    with pytest.raises(assay.UsageError, match="row: table histograms has the rows 0 to 2, not 3"):
        coverage.plot("histograms", row=3)


def test_confusions_are_a_matrix(model, records):
    found = assay.evaluate(model, records)
    axes = found.plot()
    names = [label.get_text() for label in axes.get_yticklabels()]
    matrix = axes.images[0].get_array()
    assert matrix.sum() == sum(found.table("confusions")["records"])
    for row in found.table("confusions"):
        assert matrix[names.index(row["expected"]), names.index(row["predicted"])] == row["records"]
    bars = found.plot("reliability").patches
    assert [bar.get_height() for bar in bars] == [row["accuracy"] for row in found.table("reliability") if row["records"]]


def test_other_tables_are_bars(coverage, pyplot):
    figure, (left, right) = pyplot.subplots(1, 2)
    assert coverage.plot(ax=left) is left and coverage.plot("neurons", column="mean", top=5, ax=right) is right
    assert [bar.get_width() for bar in right.patches] == coverage.table("neurons")["mean"][:5]
    assert [label.get_text() for label in right.get_yticklabels()][:2] == ["conv1 0", "conv1 1"]
    assert coverage.plot(dpi=50).figure.get_dpi() == 50


def test_bars_that_would_read_alike_have_more_texts(model, records):
    found = assay.evaluate(model, records)
    labels = [label.get_text() for label in found.plot("criteria").get_yticklabels()]
    assert labels[:2] == ["accuracy all", "accuracy all 0"] and len(set(labels)) == len(labels)


@pytest.mark.parametrize("shape", [(40,), (2, 20), (20, 2)])
def test_signals_and_rows_of_numbers_are_lines(shape, pyplot):
    before = np.linspace(0, 1, 120, dtype=np.float32).reshape(3, *shape)
    after = before.copy()
    after[1] += 0.5
    assert plots.are_signals(shape) and not plots.are_signals((28, 28)) and not plots.are_signals((1, 28, 28))
    axes = plots.signals(before, after, captions=["a", "b", "c"])
    channels = 1 if len(shape) == 1 else 2
    assert len(axes.lines) == 2 * 3 * channels and [label.get_text() for label in axes.get_yticklabels()] == ["a", "b", "c"]
    moved = [np.abs(axes.lines[2 * n].get_ydata() - axes.lines[2 * n + 1].get_ydata()).max() > 0 for n in range(3 * channels)]
    assert moved == [False] * channels + [True] * channels + [False] * channels
    ax = pyplot.subplots()[1]
    assert plots.signals(before, after, ax=ax) is ax
    for wrong, fault in (((before, after[:2]), "differ in their shapes"), ((before[0, 0], after[0, 0]), "is not signals")):
        with pytest.raises(assay.UsageError, match=fault):
            plots.signals(*wrong)


def test_attacked_rows_of_numbers_are_drawn_as_lines(pyplot):
    torch = pytest.importorskip("torch", reason="SKIPPED: torch is not installed (PyPI)")
    torch.manual_seed(1)
    x = np.random.default_rng(1).random((20, 5), np.float32)
    network = assay.load(torch.nn.Linear(5, 2), torch.zeros(1, 5))
    found = assay.attack(network, assay.data(x, network.predict(x)[1], range=(0, 1)), attack="fgsm[eps=0.9]")
    assert found.plot("pairs").get_xlabel() == "place in the record"


def test_pairs_of_pixels_are_named_by_their_ids():
    torch = pytest.importorskip("torch", reason="SKIPPED: torch is not installed (PyPI)")
    torch.manual_seed(1)
    x = np.random.default_rng(1).random((4, 1, 9, 9), np.float32)
    network = assay.load(torch.nn.Conv2d(1, 2, 3, padding=1), torch.zeros(1, 1, 9, 9))
    records = assay.data(x, network.predict(x)[0].argmax(1), ids=list("abcd"), range=(0, 1))
    found = assay.attack(network, records, attack="fgsm[eps=0.9]", task="pixels")
    assert [label.get_text() for label in found.plot().get_xticklabels()] == list("abcd")


def test_adversarial_pairs_have_their_difference(model, records):
    found = assay.attack(model, records, attack=["fgsm[eps=0.3]", "noise[sigma=0.1]"])
    changed = found.arrays["fgsm"]
    (first, *_) = changed["success"].nonzero()[0]
    picture = found.plot(top=3).images[0].get_array()
    assert picture.shape == (3 * 29 - 1, 3 * 29 - 1, 3)
    before = records.read([changed["original"][first]])["x"][0, 0]
    after = changed["x"][first, 0]
    assert np.allclose(picture[:28, :28, 0], before, atol=1e-6) and np.allclose(picture[29:57, :28, 0], after, atol=1e-6)
    assert np.allclose(picture[58:, :28, 0] - 0.5, (after - before) / 0.6, atol=1e-4)
    captions = [label.get_text() for label in found.plot("pairs", of="fgsm").get_xticklabels()]
    assert captions[0] == f"{changed['y'][first]} → {changed['predicted'][first]}"
    with pytest.raises(assay.UsageError, match="of: there are no records of 'pgd'; there are fgsm, noise"):
        found.plot("pairs", of="pgd")


def test_relevance_is_red_for_and_blue_against():
    values = np.zeros((2, 1, 4, 4), np.float32)
    values[0, 0, 1, 2], values[0, 0, 2, 1], values[1, 0, 0, 0] = 2, -1, 1e-3
    picture = plots.relevance(values, np.zeros((2, 1, 4, 4)), captions=["a", "b"]).images[0].get_array()
    assert picture.shape == (4, 9, 3) and picture[1, 2].argmax() == 0 and picture[2, 1].argmax() == 2
    assert picture[0, 5].argmax() == 0  # a scale for each record
    assert np.ptp(picture[3, 3]) < 1e-6
    channels = np.stack([values[0, 0], -values[0, 0], values[0, 0]])
    assert np.allclose(plots.relevance(channels).images[0].get_array(), plots.relevance(values[0]).images[0].get_array())


def test_what_cannot_be_drawn_is_a_sentence(coverage, model, pyplot, monkeypatch):
    axes = pyplot.subplots()[1]
    for call, fault in (
        (lambda: coverage.plot("growth", top=3), "'top' has no effect on table growth, which is drawn as lines"),
        (lambda: coverage.plot(row=3), "'row' has no effect on table criteria, which is drawn as bars: top, column"),
        (lambda: coverage.plot("pairs"), "only results with changed records"),
        (lambda: coverage.plot(ax=axes, dpi=100), "dpi: it belongs to the figure"),
        (lambda: coverage.plot(column="layer"), "column: table criteria has no figures 'layer'; there are coverage"),
        (lambda: coverage.plot("nothing"), "no table 'nothing'"),
        (lambda: plots.pairs(np.zeros((1, 1, 4, 4)), np.zeros((1, 1, 4, 5))), "differ in their shapes"),
        (lambda: plots.pairs(np.zeros((1, 7)), np.zeros((1, 7))[0]), "is not pictures"),
        (lambda: plots.relevance(np.zeros((1, 1, 4, 4)), np.zeros((1, 1, 5, 5))), "values and x differ"),
    ):
        with pytest.raises(assay.UsageError, match=fault):
            call()
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(assay.UsageError, match="matplotlib, which is not installed; `pip install matplotlib`"):
        coverage.plot()


WITHOUT_DISPLAY = """
import assay
result = assay.read_result("kept.json")
try:
    result.plot("growth")
except assay.UsageError as error:
    print("said:", error)
assert len(result.table("growth")) and "growth" in result.to_html()
"""


def test_a_backend_that_opens_no_figure_is_a_sentence_and_the_result_is_kept(coverage, tmp_path):
    """In a process of its own, which chooses its backend when it begins."""
    coverage.save_json(tmp_path / "kept.json")
    surroundings = {**os.environ, "MPLBACKEND": "window_without_display"}
    ran = subprocess.run([sys.executable, "-c", WITHOUT_DISPLAY], cwd=tmp_path, env=surroundings, capture_output=True, text=True)
    assert ran.returncode == 0 and "said: matplotlib opens no figure (" in ran.stdout, ran.stderr
    assert "MPLBACKEND=agg" in ran.stdout and "The result is kept" in ran.stdout
