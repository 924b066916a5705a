"""Networks that peers and Assay run alike, and the page on peers: each test adds a row to it.

``python3 -m pytest tests/peers --write-page docs/peers.md`` writes the page, if no test was skipped.
"""

import importlib.metadata
import os
import pathlib
import time

import numpy as np
import pytest

import assay

HEAD = """# Beside other tools

Figures of Assay beside those of packages that do the same. `tests/peers` makes them and writes this page; each row is a
test that fails if the figures part. Attacks are judged by ONNX Runtime; a search at random (`Square`) may miss three
records that the other one found.

Ratios of time above 1 mean that Assay is faster. They are only for orientation: small networks, Assay with a thread for
each of {} cores and PyTorch with one, a single run on a machine that does other work, and for attacks the call of
Assay also stores, reads back and judges what it made.

{}

| tool | what | how they agree | speed ratio |
|---|---|---|---|
{}
"""

rows = []
skipped = []


def pytest_addoption(parser):
    parser.addoption("--write-page", metavar="FILE.md", help="write the page on peers")


def pytest_runtest_logreport(report):
    if report.skipped:
        skipped.append(report.nodeid)


def pytest_sessionfinish(session, exitstatus):
    path = session.config.getoption("--write-page")
    if not path or exitstatus != 0 or skipped:
        return
    tools = list(dict.fromkeys(tool for tool, *_ in rows))
    versions = ", ".join(f"{tool} {importlib.metadata.version(tool)}" for tool in [*tools, "torch"])
    lines = [f"| {tool} | {what} | {agreement} | {ratio} |" for tool, what, agreement, ratio in rows]
    pathlib.Path(path).write_text(HEAD.format(os.cpu_count(), f"Versions: {versions}.", "\n".join(lines)))


@pytest.fixture
def row():
    """Adds a row: tool, what is compared, how it agrees, seconds there and here if they were measured."""

    def add(tool, what, agreement, seconds=None):
        rows.append((tool, what, agreement, "" if seconds is None else f"{seconds[0] / max(seconds[1], 1e-9):.1f}"))

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


def networks(torch):
    nn = torch.nn
    yield "dense", nn.Sequential(nn.Flatten(), nn.Linear(784, 32), nn.ReLU(), nn.Linear(32, 16), nn.ReLU(), nn.Linear(16, 10))
    yield "LeNet with mean pooling", nn.Sequential(
        nn.Conv2d(1, 6, 5), nn.ReLU(), nn.AvgPool2d(2), nn.Conv2d(6, 12, 5), nn.ReLU(), nn.AvgPool2d(2), nn.Flatten(), nn.Linear(192, 10)
    )
    yield "max pooling", nn.Sequential(nn.Conv2d(1, 4, 5, stride=2), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(144, 10))
    yield "tanh", nn.Sequential(nn.Conv2d(1, 4, 7, stride=3), nn.Tanh(), nn.Flatten(), nn.Linear(256, 10))
    convolutions = [layer for inputs in (1, 4, 4, 4) for layer in (nn.Conv2d(inputs, 4, 3, padding=1), nn.ReLU())]
    yield "deep", nn.Sequential(*convolutions, nn.Flatten(), nn.Linear(3136, 10))
    yield "strides and padding", nn.Sequential(
        nn.Conv2d(1, 6, 3, stride=2, padding=1), nn.ReLU(), nn.Conv2d(6, 8, 3, stride=2, padding=1, groups=2), nn.ReLU(), nn.Flatten(), nn.Linear(392, 10)
    )


@pytest.fixture(scope="session")
def pairs(torch):
    """By name, networks of torch and the same in Assay, not trained."""
    torch.manual_seed(1)
    return {name: (net.eval(), assay.load(net.eval(), torch.zeros(1, 1, 28, 28))) for name, net in networks(torch)}


@pytest.fixture(scope="session")
def digits():
    data = assay.data("digits:200,seed=2,range=0:1")
    return data.read(range(200))["x"], np.asarray(data.labels)


@pytest.fixture(scope="session")
def trained(torch, tmp_path_factory):
    """A network of torch that knows digits, the same in Assay, and its ONNX file."""
    torch.manual_seed(1)
    nn = torch.nn
    net = nn.Sequential(nn.Conv2d(1, 8, 5, stride=2), nn.ReLU(), nn.Flatten(), nn.Linear(1152, 32), nn.ReLU(), nn.Linear(32, 10))
    data = assay.data("digits:1500,range=0:1")
    x, y = torch.from_numpy(data.read(range(1500))["x"]), torch.from_numpy(np.asarray(data.labels))
    optimiser = torch.optim.Adam(net.parameters(), 3e-3)
    for _ in range(8):
        for part in torch.randperm(1500).split(50):
            optimiser.zero_grad()
            nn.functional.cross_entropy(net(x[part]), y[part]).backward()
            optimiser.step()
    model = assay.load(net.eval(), torch.zeros(1, 1, 28, 28))
    path = tmp_path_factory.mktemp("peers") / "net.onnx"
    model.save(path)
    return net, model, path
