"""Coverage, surprise and orders of tests, as dnn-tip computes them from activations.

Activations are Assay's on both sides, so that the figures are about the definitions.
"""

import numpy as np
import pytest

import assay
from conftest import learn

coverage = pytest.importorskip("dnn_tip.neuron_coverage", reason="SKIPPED: dnn-tip is not installed (PyPI)")
surprise = pytest.importorskip("dnn_tip.surprise")
torch = pytest.importorskip("torch")

pytestmark = pytest.mark.filterwarnings("ignore:The version of scipy")


def total_of(found):
    """The row of a result's only criterion that is about all layers."""
    (line,) = [line for line in found.table("criteria") if line["layer"] == "all"]
    return line


class Observed:
    """A network with activations of all layers for training and test records, and the classes that it names."""

    def __init__(self, model, train, test, reduction="mean"):
        self.model, self.train, self.test = model, train, test
        names = [layer.name for layer in model.layers()]
        self.of_train, self.of_test = ([model.activations(x, name, reduction=reduction) for name in names] for x, _ in (train, test))
        self.lows, self.highs, self.deviations = ([getattr(part, of)(0) for part in self.of_train] for of in ("min", "max", "std"))
        self.named_in_train, self.named_in_test = (model.predict(x)[1] for x, _ in (train, test))
        self.reduction = reduction

    def grown(self, criterion):
        """Items covered by so many of the first test records, and how many there are."""
        found = assay.cover(self.model, self.train, self.test, criterion=criterion, reduction=self.reduction)
        total = total_of(found)
        growth = [(line["records"], round(line["coverage"] * total["coverable"])) for line in found.table("growth")]
        assert len(growth) > 10 and growth[-1][1] == total["covered"]
        return growth, total["coverable"]


@pytest.fixture(scope="module")
def smooth(training_digits, digits):
    """Neurons that are never exactly equal: no ties, no value that comes again."""
    torch.manual_seed(1)
    nn = torch.nn
    net = nn.Sequential(nn.Flatten(), nn.Linear(784, 16), nn.Tanh(), nn.Linear(16, 8), nn.Tanh(), nn.Linear(8, 10))
    return Observed(learn(torch, net, training_digits), training_digits, digits)


@pytest.fixture(scope="module")
def rectified(trained, training_digits, digits):
    """Neurons that are often zero, some of them always."""
    return Observed(trained[1], training_digits, digits)


def grown(method, activations, growth):
    """The same for profiles of dnn-tip, after as many records."""
    profiles = method([part.astype(np.float64) for part in activations])[1].reshape(len(activations[0]), -1)
    covered = np.logical_or.accumulate(profiles).sum(1)
    return [(records, covered[records - 1]) for records, _ in growth], profiles.shape[1]


# By the name there: the criterion here and how it is made there.
CRITERIA = {
    "NAC": ("nc[threshold=0.98,scale=none]", lambda at: coverage.NAC(0.98)),
    "KMNC": ("kmnc[sections=20]", lambda at: coverage.KMNC(at.lows, at.highs, 20)),
    "NBC": ("nbc", lambda at: coverage.NBC(at.lows, at.highs, at.deviations, 0)),
    "NBC, scaler=0.05": ("nbc[widen=0.05]", lambda at: coverage.NBC(at.lows, at.highs, at.deviations, 0.05)),
    "SNAC": ("snac", lambda at: coverage.SNAC(at.highs, at.deviations, 0)),
    "TKNC": ("tknc[k=2]", lambda at: coverage.TKNC(2)),
}


@pytest.mark.parametrize("name", CRITERIA)
def test_criteria_cover_the_same(name, smooth, row):
    criterion, make = CRITERIA[name]
    growth, coverable = smooth.grown(criterion)
    theirs, items = grown(make(smooth), smooth.of_test, growth)
    assert growth == theirs and coverable == items and growth[-1][1] > growth[0][1]
    row("dnn-tip", f"`{name}` and `{criterion}`", f"{growth[-1][1]} of {items} items, and the same after each of {len(growth)} numbers of records")


@pytest.fixture(scope="module")
def surprised(smooth):
    """By measure, surprise there and here of all test records."""
    train, test = (part[1].astype(np.float64) for part in (smooth.of_train, smooth.of_test))
    by_class = {"lsa": lambda a, p: surprise.LSA(a), "mdsa": lambda a, p: surprise.MDSA(a)}
    theirs = {name: surprise.MultiModalSA.build_by_class(train, smooth.named_in_train, make)(test, smooth.named_in_test) for name, make in by_class.items()}
    theirs["dsa"] = surprise.DSA(train, smooth.named_in_train)(test, smooth.named_in_test)
    found = assay.cover(smooth.model, smooth.train, smooth.test, criterion=["lsc[variance=0]", "dsc", "mdsc[variance=0]"], records=1000)
    records = found.table("records")
    assert [int(record) for record in records["record"]] == list(range(len(test)))
    return {name: (theirs[name], np.array(records[name])) for name in theirs}


@pytest.mark.parametrize("name", ["lsa", "dsa"])
def test_surprise_is_the_same(name, surprised, row):
    theirs, ours = surprised[name]
    assert ours == pytest.approx(theirs, rel=1e-5)
    row("dnn-tip", f"`{name.upper()}` and `{name}` of 200 records", f"to {(np.abs(ours - theirs) / np.abs(theirs)).max():.0e}")


def test_mdsa_is_the_same_but_for_square_and_divisor(surprised, smooth, difference, row):
    theirs, ours = surprised["mdsa"]
    counts = np.bincount(smooth.named_in_train)[smooth.named_in_test]
    assert ours**2 * counts / (counts - 1) == pytest.approx(theirs, rel=1e-5)
    row("dnn-tip", "`MDSA` and `mdsa` of 200 records, once both are squared and have one divisor", f"to {np.abs(ours**2 * counts / (counts - 1) / theirs - 1).max():.0e}")
    difference("dnn-tip", "`MDSA`", "the squared distance; covariances divided by n", "the distance; covariances divided by n - 1", f"first record {theirs[0]:.2f} there, {ours[0]:.2f} here")


@pytest.mark.parametrize(("name", "upper"), [("lsa", 100), ("dsa", 2)])
def test_surprise_falls_into_the_same_buckets(name, upper, surprised, smooth, row):
    criterion = f"{name[:2]}c[buckets=50,upper={upper}]"
    covered = surprise.SurpriseCoverageMapper(50, upper).get_coverage_profile(surprised[name][0]).any(0).sum()
    line = total_of(assay.cover(smooth.model, smooth.train, smooth.test, criterion=criterion))
    assert (line["covered"], line["coverable"]) == (covered, 50) and covered > 5
    row("dnn-tip", f"`SurpriseCoverageMapper` and `{criterion}`", f"{covered} of 50 buckets")


def test_orders_are_the_same(smooth, surprised, row):
    from dnn_tip.apfd import apfd_from_order

    found = assay.select(smooth.model, smooth.test, train=smooth.train, by="dsa")
    assert (found.positions == np.argsort(-surprised["dsa"][0], kind="stable")).all()
    wrong = smooth.named_in_test != smooth.test[1]
    assert found.apfd == pytest.approx(apfd_from_order(wrong, found.positions), abs=1e-12)
    row("dnn-tip", "`apfd_from_order` and `select` by `dsa`", f"the same order; APFD {found.apfd:.4f} of both")


def test_greedy_orders_are_the_same_until_all_is_covered(smooth, row):
    from dnn_tip.prioritizers import cam

    scores, profiles = coverage.KMNC(smooth.lows, smooth.highs, 20)([part.astype(np.float64) for part in smooth.of_test])
    theirs = list(cam(scores, profiles.copy()))
    found = assay.select(smooth.model, smooth.test, train=smooth.train, by="additional", criterion="kmnc[sections=20]")
    flat = profiles.reshape(len(profiles), -1)
    needed = 1 + int(np.argmax(np.logical_or.accumulate(flat[theirs]).sum(1)))  # then nothing more is covered
    assert needed > 20 and list(found.positions[:needed]) == theirs[:needed]
    row("dnn-tip", "`cam` and `select` by `additional`, on `kmnc[sections=20]`", f"the same {needed} records, in one order, until all is covered that can be")


def test_neurons_of_convolutions_are_channels_here(trained, training_digits, digits, difference, row):
    positions = Observed(trained[1], training_digits, digits, reduction="every-position")
    growth, coverable = positions.grown("nc[threshold=0.5,scale=none]")
    assert (growth, coverable) == grown(coverage.NAC(0.5), positions.of_test, growth)
    row("dnn-tip", "`NAC` and `nc[threshold=0.5,scale=none]` with `reduction=every-position`", f"{growth[-1][1]} of {coverable} items")
    channels, fewer = Observed(trained[1], training_digits, digits).grown("nc[threshold=0.5,scale=none]")
    assert fewer < coverable
    difference("dnn-tip", "neurons of a convolution", "positions", "channels, by their mean; positions with `reduction=every-position`", f"{coverable} neurons there, {fewer} here")


def test_an_extreme_of_training_is_no_corner_here(rectified, difference):
    growth, _ = rectified.grown("nbc")
    lows, highs = ([np.nextafter(part, part.dtype.type(way)) for part in parts] for parts, way in ((rectified.lows, -np.inf), (rectified.highs, np.inf)))
    (theirs, items), (beyond, _) = (grown(coverage.NBC(*bounds, rectified.deviations, 0), rectified.of_test, growth) for bounds in ((rectified.lows, rectified.highs), (lows, highs)))
    assert growth == beyond and theirs[-1][1] > growth[-1][1]
    difference("dnn-tip", "`NBC`, `SNAC`", "an activation equal to the greatest or least of training is a corner", "only beyond it", f"{theirs[-1][1]} of {items} corners there, {growth[-1][1]} here, where a ReLU that is off has its least activation")


def test_the_last_section_has_its_upper_end_and_constant_neurons_have_none_here(rectified, difference):
    itself = Observed(rectified.model, rectified.train, rectified.train)
    growth, coverable = itself.grown("kmnc[sections=20]")
    method = coverage.KMNC([low.astype(np.float64) for low in itself.lows], [high.astype(np.float64) for high in itself.highs], 20)
    theirs, items = grown(method, itself.of_test, growth)
    constant = sum(int((low == high).sum()) for low, high in zip(itself.lows, itself.highs))
    ends = method.thresh[-1]
    method.thresh[-1] = np.where(method.thresh[0] == ends, ends, np.nextafter(ends, np.inf))
    assert growth == grown(method, itself.of_test, growth)[0] and theirs[-1][1] < growth[-1][1]
    assert coverable == items - 20 * constant and constant > 0
    difference("dnn-tip", "`KMNC`", "the greatest activation of training falls into no section; constant neurons have sections that nothing reaches", "it falls into the last section; constant neurons have none", f"the training set covers {theirs[-1][1]} of {items} there, {growth[-1][1]} of {coverable} here")


def test_ties_go_to_the_first_neuron_here(rectified, difference):
    growth, coverable = rectified.grown("tknc[k=16]")

    def first_of_ties(activations):
        chosen = []
        for part in activations:
            part = part.reshape(len(part), -1)
            profile = np.zeros(part.shape, bool)
            np.put_along_axis(profile, np.argsort(-part, 1, kind="stable")[:, :16], True, 1)
            chosen.append(profile)
        return None, coverage.flatten_layers(chosen)

    assert (growth, coverable) == grown(first_of_ties, rectified.of_test, growth)
    (theirs, items) = grown(coverage.TKNC(16), rectified.of_test, growth)
    assert theirs != growth
    difference("dnn-tip", "`TKNC`", "ties, such as zeros of a ReLU, go as `argsort` leaves them", "to the first neuron", f"{theirs[-1][1]} of {items} neurons there, {growth[-1][1]} here, k = 16")


def test_the_end_of_a_bucket_that_belongs_to_it_is_the_other_one_here(smooth, difference):
    """The surprise of a training record is 0, by its distance to itself."""
    line = total_of(assay.cover(smooth.model, smooth.train, smooth.train, criterion="dsc[buckets=50]"))
    there = surprise.SurpriseCoverageMapper(50, 2).get_coverage_profile(np.zeros(3)).any(0).sum()
    assert there == 1 and line["covered"] == 0
    difference("dnn-tip", "buckets of surprise", "from a up to, but without, b", "without a up to b; at or below the lowest end is reported beside", "training records, with DSA 0: 1 bucket there, 0 here")


def test_a_singular_covariance_is_made_regular_here(smooth, difference):
    few = tuple(part[:40] for part in smooth.train)
    traces, named = (part[:40] for part in (smooth.of_train[1].astype(np.float64), smooth.named_in_train))
    with pytest.raises((np.linalg.LinAlgError, ValueError)):
        surprise.MultiModalSA.build_by_class(traces, named, lambda a, p: surprise.LSA(a))
    found = assay.cover(smooth.model, few, smooth.test, criterion="lsc[variance=0]")
    assert "singular-covariance" in [warning["id"] for warning in found.warnings]
    difference("dnn-tip", "`LSA` of a class with fewer records than neurons", "an error of SciPy", "the least diagonal is added that makes the covariance regular, with a warning", "40 training records of 10 classes, 8 neurons")
