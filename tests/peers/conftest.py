"""Networks that peers and Assay run alike, and the page on peers: each test adds a row to it.

``python3 -m pytest tests/peers --write-page docs/peers.md`` writes the page, if no test fails or is skipped. A test that adds nothing to
the page fails.
"""

import datetime
import importlib.metadata
import os
import pathlib
import time

import numpy as np
import pytest

import assay

HEAD = """# Beside other tools

Figures of Assay beside those of packages that do the same. `tests/peers` makes them and writes this page; each row is a
test that fails if the figures part. Attacks are judged by ONNX Runtime; a search at random may miss a few
records that the other one found: three of `Square`, two of AutoAttack, one of PGD in L2.

Ratios of time above 1 mean that Assay is faster. They are only for orientation: small networks, Assay with a thread for
each of {cores} cores and PyTorch with one, a single run, and for attacks the call of Assay also stores, reads back and
judges what it made. All were measured on {day}; when the tests began, {load} of the {cores} cores did other work.

Versions: {versions}.

| tool | what | how they agree | speed ratio |
|---|---|---|---|
{rows}

## Where definitions differ

Each row is a test as well. Where a difference can be taken out, the test does so, and figures are equal then.

| tool | what | there | here | in figures |
|---|---|---|---|---|
{differences}
"""

rows = []
differences = []
skipped = []
load = os.getloadavg()[0]


def pytest_addoption(parser):
    parser.addoption("--write-page", metavar="FILE.md", help="write the page on peers, if no test fails or is skipped")


def pytest_runtest_logreport(report):
    if report.skipped:
        skipped.append(report.nodeid)


def pytest_collectreport(report):  # of whole files
    if report.skipped:
        skipped.append(report.nodeid)


@pytest.hookimpl(hookwrapper=True)
def pytest_pyfunc_call():
    before = len(rows) + len(differences)
    outcome = yield
    if outcome.excinfo is None and len(rows) + len(differences) == before:
        outcome.force_exception(pytest.fail.Exception("the test adds nothing to the page on peers: call `row` or `difference`"))


def table(rows):
    return "\n".join("| " + " | ".join(cells) + " |" for cells in rows)


def pytest_terminal_summary(terminalreporter, exitstatus, config):
    path = config.getoption("--write-page")
    if not path:
        return
    if exitstatus != 0 or skipped:
        terminalreporter.write_line(f"{path} stays as it was: tests failed, or were skipped ({len(skipped)})")
        return
    tools = list(dict.fromkeys(tool for tool, *_ in rows))
    versions = ", ".join(f"{tool} {importlib.metadata.version(tool)}" for tool in [*tools, "torch", "transformers"])
    day, busy = f"{datetime.date.today():%d %B %Y}".lstrip("0"), f"{min(load, os.cpu_count()):.1f}"
    page = HEAD.format(cores=os.cpu_count(), day=day, load=busy, versions=versions, rows=table(rows), differences=table(differences))
    pathlib.Path(path).write_text(page)


@pytest.fixture
def row():
    """Adds a row: tool, what is compared, how it agrees, seconds there and here if they were measured."""

    def add(tool, what, agreement, seconds=None):
        rows.append((tool, what, agreement, "" if seconds is None else f"{seconds[0] / max(seconds[1], 1e-9):.1f}"))

    return add


@pytest.fixture
def difference():
    """Adds a row on what is defined otherwise: tool, what, its definition there and here, how much that changes."""

    def add(*cells):
        differences.append(cells)

    return add


def timed(call):
    """The result, and the seconds of the quicker of two runs."""
    best, found = float("inf"), None
    for _ in range(2):
        begin = time.perf_counter()
        found = call()
        best = min(best, time.perf_counter() - begin)
    return found, best


@pytest.fixture(scope="session")
def torch():
    found = pytest.importorskip("torch", reason="SKIPPED: torch is not installed (PyPI)")
    found.set_num_threads(1)
    return found


@pytest.fixture(scope="session")
def pairs(torch):
    """By name, networks of torch and the same in Assay, not trained."""
    import shapes

    torch.manual_seed(1)
    return {name: (net.eval(), assay.load(net.eval(), torch.zeros(1, 1, 28, 28))) for name, net in shapes.networks()}


@pytest.fixture(scope="session")
def bare(torch, pairs):
    """The same without biases, and with normalisations folded into convolutions."""
    import shapes

    nets = {name: shapes.without_biases(net) for name, (net, _) in pairs.items()}
    return {name: (net, assay.load(net, torch.zeros(1, 1, 28, 28))) for name, net in nets.items()}


@pytest.fixture(scope="session")
def digits():
    data = assay.data("digits:200,seed=2,range=0:1")
    return data.read(range(200))["x"], np.asarray(data.labels)


@pytest.fixture(scope="session")
def training_digits():
    data = assay.data("digits:1500,range=0:1")
    return data.read(range(1500))["x"], np.asarray(data.labels)


def learn(torch, net, records):
    """Trains the network on digits; the same in Assay."""
    x, y = (torch.from_numpy(part) for part in records)
    optimiser = torch.optim.Adam(net.parameters(), 3e-3)
    for _ in range(8):
        for part in torch.randperm(len(x)).split(50):
            optimiser.zero_grad()
            torch.nn.functional.cross_entropy(net(x[part]), y[part]).backward()
            optimiser.step()
    return assay.load(net.eval(), torch.zeros(1, 1, 28, 28))


@pytest.fixture(scope="session")
def trained(torch, training_digits, tmp_path_factory):
    """A network of torch that knows digits, the same in Assay, and its ONNX file."""
    torch.manual_seed(1)
    nn = torch.nn
    net = nn.Sequential(nn.Conv2d(1, 8, 5, stride=2), nn.ReLU(), nn.Flatten(), nn.Linear(1152, 32), nn.ReLU(), nn.Linear(32, 10))
    model = learn(torch, net, training_digits)
    path = tmp_path_factory.mktemp("peers") / "net.onnx"
    model.save(path)
    return net, model, path
