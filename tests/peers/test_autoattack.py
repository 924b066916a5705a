"""AutoAttack, standard version, of torchattacks and of ART beside that of Assay: robust accuracy, record by record.

The four attacks and their order are those of the standard version of torchattacks; ART has DeepFool in place of FAB, and no targets. Steps and queries are fewer, alike on both sides, since torch
takes minutes otherwise; ASSAY_LONG_TESTS=1 takes those of the paper. Both sides draw at random, so records near the edge of what the attacks reach may fall with one seed and stand with
another. Assay runs with three seeds. LUCK is how many records may part.
"""

import dataclasses
import os
import time
from collections.abc import Callable

import numpy as np
import pytest

import assay
from conftest import learn
from judge import classes, successes

torch = pytest.importorskip("torch", reason="SKIPPED: torch is not installed (PyPI)")
pytest.importorskip("onnxruntime", reason="SKIPPED: onnxruntime is not installed (PyPI)")
nn = torch.nn

RECORDS = 40
SEEDS = (1, 2, 3)
PUBLISHED = 100, 5000
STEPS, QUERIES = PUBLISHED if os.environ.get("ASSAY_LONG_TESTS") == "1" else (20, 1000)
LUCK = 2


class Attention(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.of = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)

    def forward(self, x):
        query, key, value = self.of(x).chunk(3, -1)
        return self.out(torch.softmax(query @ key.transpose(1, 2) / query.shape[-1] ** 0.5, -1) @ value)


class VisionTransformer(nn.Module):
    """Of 16 patches, one block, classes from the mean."""

    def __init__(self, width=24):
        super().__init__()
        self.patches = nn.Conv2d(1, width, 7, stride=7)
        self.places = nn.Parameter(torch.randn(1, 16, width) * 0.02)
        self.before, self.attention = nn.LayerNorm(width), Attention(width)
        self.between = nn.LayerNorm(width)
        self.dense = nn.Sequential(nn.Linear(width, 2 * width), nn.GELU(), nn.Linear(2 * width, width))
        self.head = nn.Linear(width, 10)

    def forward(self, x):
        x = self.patches(x).flatten(2).transpose(1, 2) + self.places
        x = x + self.attention(self.before(x))
        x = x + self.dense(self.between(x))
        return self.head(x.mean(1))


class Block(nn.Module):
    def __init__(self, channels):
        super().__init__()
        layers = [nn.Conv2d(channels, channels, 3, padding=1, bias=False), nn.BatchNorm2d(channels)]
        self.body = nn.Sequential(*layers, nn.ReLU(), nn.Conv2d(channels, channels, 3, padding=1, bias=False), nn.BatchNorm2d(channels))

    def forward(self, x):
        return torch.relu(x + self.body(x))


def lenet():
    convolutions = (nn.Conv2d(1, 6, 5), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(6, 16, 5), nn.ReLU(), nn.MaxPool2d(2))
    return nn.Sequential(*convolutions, nn.Flatten(), nn.Linear(256, 84), nn.ReLU(), nn.Linear(84, 10))


def residual():
    head = (nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(12, 10))
    return nn.Sequential(nn.Conv2d(1, 12, 5, stride=3), nn.BatchNorm2d(12), nn.ReLU(), Block(12), Block(12), *head)


@dataclasses.dataclass
class Case:
    net: Callable
    eps: float
    #: How often it learns from all epochs.
    turns: int = 1


CASES = {"LeNet-5": Case(lenet, 0.07), "residual network with BatchNorm": Case(residual, 0.03), "vision transformer": Case(VisionTransformer, 0.015, 3)}


@dataclasses.dataclass
class Trained:
    name: str
    net: nn.Module
    model: object
    path: object
    eps: float
    x: np.ndarray
    y: np.ndarray

    def robust(self, changed):
        """Records that stay right as ONNX Runtime has it, where each was left as it was or changed within the radius."""
        return ~successes(self.path, self.x, self.y, changed, self.eps)


@pytest.fixture(scope="module", params=CASES)
def trained(request, training_digits, digits, tmp_path_factory):
    """Records are those that the network knows, since the others count as fallen on both sides."""
    case = CASES[request.param]
    torch.manual_seed(3)
    net = case.net()
    for _ in range(case.turns):
        model = learn(torch, net.train(), training_digits)
    path = tmp_path_factory.mktemp("autoattack") / "net.onnx"
    model.save(path)
    x, y = digits
    known = classes(path, x) == y
    assert known.sum() >= RECORDS
    return Trained(request.param, net, model, path, case.eps, np.ascontiguousarray(x[known][:RECORDS]), y[known][:RECORDS])


def clocked(call):
    """The result, and its seconds. One run: these take long."""
    begin = time.perf_counter()
    found = call()
    return found, time.perf_counter() - begin


def ours(trained, seed):
    """Each record as the attack left it that turned it; the others as they were. Also the robust accuracy that is reported."""
    eps = trained.eps
    gradients = [f"apgd[eps={eps},steps={STEPS}]", f"apgd[eps={eps},steps={STEPS},loss=dlr,targets=9]"]
    attacks = [*gradients, f"fab[within={eps},steps={STEPS},targets=9]", f"square[eps={eps},queries={QUERIES}]"]
    found = assay.attack(trained.model, assay.data(trained.x, trained.y, range=(0, 1)), attack=attacks, standing=True, seed=seed, only_successful=True, pictures=0)
    changed = trained.x.copy()
    for arrays in found.arrays.values():
        changed[arrays["original"]] = arrays["x"]
    touched = np.abs(changed - trained.x).reshape(len(changed), -1).max(1) > 0
    return changed, touched, found.facts["robust_accuracy"]


@pytest.fixture(scope="module")
def standing(trained):
    """Which records stand with each of the seeds, and the seconds of one run."""
    runs, seconds = [], []
    for seed in SEEDS:
        (changed, touched, reported), spent = clocked(lambda seed=seed: ours(trained, seed))
        stand = trained.robust(changed)
        np.testing.assert_array_equal(stand, ~touched, "what Assay counts as turned is turned in ONNX Runtime, too")
        assert reported == pytest.approx(stand.mean())
        runs.append(stand)
        seconds.append(spent)
    assert 0.1 < np.mean(runs) < 0.9, "neither all nor nothing falls"
    return np.array(runs), min(seconds)


def compare(tool, what, trained, standing, theirs, row, seconds):
    runs, here = standing
    counts = runs.sum(1)
    assert np.ptp(counts) <= LUCK
    assert np.abs(counts - theirs.sum()).max() <= LUCK
    only_there, only_here = (runs.any(0) & ~theirs).sum(), (theirs & ~runs.all(0)).sum()
    assert only_there <= LUCK and only_here <= LUCK
    said = f"{counts.min()} to {counts.max()}" if np.ptp(counts) else f"{counts[0]}"
    text = f"{STEPS} steps, {QUERIES} queries: of {len(theirs)} records {theirs.sum()} stand there, {said} here with three seeds; {only_there} fell there alone, {only_here} here alone"
    row(tool, f"{what} (linf, {trained.eps}) and AutoAttack standard by `--standing`, {trained.name}", text, (seconds, here))


def test_torchattacks(trained, standing, row, difference):
    torchattacks = pytest.importorskip("torchattacks", reason="SKIPPED: torchattacks is not installed (PyPI)")
    attack = torchattacks.AutoAttack(trained.net, norm="Linf", eps=trained.eps, version="standard", n_classes=10, seed=1)
    x, y = torch.from_numpy(trained.x), torch.from_numpy(trained.y)
    steps = {one.steps for one in attack._autoattack.attacks if hasattr(one, "steps")}
    for one in attack._autoattack.attacks:
        if hasattr(one, "steps"):
            one.steps = STEPS
        if hasattr(one, "n_queries"):
            one.n_queries = QUERIES
    changed, seconds = clocked(lambda: attack(x, y).detach().numpy())
    compare("torchattacks", "AutoAttack standard", trained, standing, trained.robust(changed), row, seconds)
    published, _ = PUBLISHED
    if steps != {published} and trained.name == "LeNet-5":
        difference(
            "torchattacks",
            "steps of `AutoAttack(version='standard')`",
            f"{', '.join(map(str, steps))} for APGD and FAB",
            f"{published}, as in the paper and its program",
            "none with equal steps, as in the rows above",
        )


def test_art(trained, standing, row):
    evasion = pytest.importorskip("art.attacks.evasion", reason="SKIPPED: adversarial-robustness-toolbox is not installed (PyPI)")
    pytest.importorskip("multiprocess", reason="SKIPPED: multiprocess, which ART's AutoAttack imports, is not installed (PyPI)")
    from art.estimators.classification import PyTorchClassifier

    np.random.seed(1)
    eps = trained.eps
    network = PyTorchClassifier(trained.net, nn.CrossEntropyLoss(), (1, 28, 28), 10, clip_values=(0, 1), device_type="cpu")
    gradients = [
        evasion.AutoProjectedGradientDescent(network, eps=eps, eps_step=2 * eps, max_iter=STEPS, nb_random_init=1, loss_type=loss, verbose=False)
        for loss in ("cross_entropy", "difference_logits_ratio")
    ]
    attacks = [*gradients, evasion.DeepFool(network, max_iter=STEPS, epsilon=1e-3, batch_size=RECORDS, verbose=False)]
    attacks.append(evasion.SquareAttack(network, eps=eps, max_iter=QUERIES, nb_restarts=1, verbose=False))
    attack = evasion.AutoAttack(network, eps=eps, eps_step=2 * eps, attacks=attacks, batch_size=RECORDS)
    changed, seconds = clocked(lambda: attack.generate(trained.x, np.eye(10, dtype=np.float32)[trained.y]))
    compare("adversarial-robustness-toolbox", "`AutoAttack` of APGD twice, DeepFool and Square", trained, standing, trained.robust(changed), row, seconds)
