"""Attacks of Foolbox, torchattacks and ART beside those of Assay: one norm, one budget, one judge."""

import dataclasses
from collections.abc import Callable

import numpy as np
import pytest

import assay
from conftest import timed
from judge import classes, sizes, successes

torch = pytest.importorskip("torch")


@dataclasses.dataclass
class Pair:
    """An attack there, the same here, and what both have to keep to."""

    theirs: Callable
    ours: str
    norm: str = "linf"
    #: None: the smallest change that they find.
    budget: float | None = 0.1
    #: The class after its own is the goal, in place of any other class.
    aims_at_next: bool = False
    #: Records by which a search at random may miss what the other one found.
    luck: int = 0


FOOLBOX = {
    "FGSM": Pair(lambda fb: fb.attacks.FGSM(), "fgsm[eps=0.1]"),
    "LinfPGD": Pair(lambda fb: fb.attacks.LinfPGD(steps=20, rel_stepsize=0.1, random_start=False), "pgd[eps=0.1,steps=20,step=0.01]"),
    "L2PGD": Pair(lambda fb: fb.attacks.L2PGD(steps=20, rel_stepsize=0.1, random_start=False), "bim[eps=1,steps=20,step=0.1,norm=l2]", "l2", 1.0),
    "LinfBasicIterativeAttack": Pair(lambda fb: fb.attacks.LinfBasicIterativeAttack(steps=10, rel_stepsize=0.2, random_start=False), "bim[eps=0.1,steps=10,step=0.02]"),
    "L2DeepFoolAttack": Pair(lambda fb: fb.attacks.L2DeepFoolAttack(), "deepfool", "l2", None),
    "L2CarliniWagnerAttack": Pair(
        lambda fb: fb.attacks.L2CarliniWagnerAttack(binary_search_steps=5, steps=200), "cw[search=5,iterations=200,rate=0.01,constant=1]", "l2", None
    ),
}
TORCHATTACKS = {
    "FGSM": Pair(lambda ta, net: ta.FGSM(net, eps=0.1), "fgsm[eps=0.1]"),
    "BIM": Pair(lambda ta, net: ta.BIM(net, eps=0.1, alpha=0.02, steps=10), "bim[eps=0.1,steps=10,step=0.02]"),
    "PGD": Pair(lambda ta, net: ta.PGD(net, eps=0.1, alpha=0.01, steps=20), "pgd[eps=0.1,steps=20,step=0.01]"),
    "PGDL2": Pair(lambda ta, net: ta.PGDL2(net, eps=1.0, alpha=0.1, steps=20), "pgd[eps=1,steps=20,step=0.1,norm=l2]", "l2", 1.0, luck=1),
    "MIFGSM": Pair(lambda ta, net: ta.MIFGSM(net, eps=0.1, alpha=0.01, steps=20), "mi-fgsm[eps=0.1,steps=20,step=0.01]"),
    "APGD": Pair(lambda ta, net: ta.APGD(net, eps=0.1, steps=20, n_restarts=1), "apgd[eps=0.1,steps=20]"),
    "APGDT": Pair(lambda ta, net: ta.APGDT(net, eps=0.1, steps=20, n_restarts=1), "apgd[eps=0.1,steps=20,loss=dlr,targets=9]"),
    "FAB": Pair(lambda ta, net: ta.FAB(net, eps=0.1, steps=20, n_restarts=1), "fab[within=0.1,steps=20]"),
    "Square": Pair(lambda ta, net: ta.Square(net, eps=0.1, n_queries=200, n_restarts=1), "square[eps=0.1,queries=200]", luck=3),
    "DeepFool": Pair(lambda ta, net: ta.DeepFool(net, steps=50, overshoot=0.02), "deepfool", "l2", None),
    "CW": Pair(lambda ta, net: ta.CW(net, c=1, steps=200, lr=0.01), "cw[search=1,iterations=200,rate=0.01,constant=1,abort=no]", "l2", None),
    "JSMA": Pair(lambda ta, net: ta.JSMA(net, theta=1.0, gamma=0.0985), "jsma[theta=1,gamma=0.1,target=next]", "l0", 78, aims_at_next=True),
}
ART = {
    "FastGradientMethod": Pair(lambda art, net: art.FastGradientMethod(net, eps=0.1), "fgsm[eps=0.1]"),
    "BasicIterativeMethod": Pair(lambda art, net: art.BasicIterativeMethod(net, eps=0.1, eps_step=0.02, max_iter=10, verbose=False), "bim[eps=0.1,steps=10,step=0.02]"),
    "ProjectedGradientDescent": Pair(
        lambda art, net: art.ProjectedGradientDescent(net, eps=0.1, eps_step=0.01, max_iter=20, num_random_init=1, verbose=False), "pgd[eps=0.1,steps=20,step=0.01]"
    ),
    "ProjectedGradientDescent, norm=2": Pair(
        lambda art, net: art.ProjectedGradientDescent(net, norm=2, eps=1.0, eps_step=0.1, max_iter=20, verbose=False), "bim[eps=1,steps=20,step=0.1,norm=l2]", "l2", 1.0
    ),
    "MomentumIterativeMethod": Pair(
        lambda art, net: art.MomentumIterativeMethod(net, eps=0.1, eps_step=0.01, max_iter=20, verbose=False), "mi-fgsm[eps=0.1,steps=20,step=0.01]"
    ),
    "AutoProjectedGradientDescent": Pair(
        lambda art, net: art.AutoProjectedGradientDescent(net, eps=0.1, eps_step=0.2, max_iter=20, nb_random_init=1, verbose=False), "apgd[eps=0.1,steps=20]"
    ),
    "SquareAttack": Pair(lambda art, net: art.SquareAttack(net, eps=0.1, max_iter=200, verbose=False), "square[eps=0.1,queries=200]", luck=3),
    "DeepFool": Pair(lambda art, net: art.DeepFool(net, max_iter=50, epsilon=0.02, batch_size=50, verbose=False), "deepfool", "l2", None),
    "CarliniL2Method": Pair(
        lambda art, net: art.CarliniL2Method(net, binary_search_steps=5, max_iter=20, initial_const=1, batch_size=50, verbose=False),
        "cw[search=5,iterations=200,rate=0.01,constant=1]",  # there a step tries up to ten lengths
        "l2",
        None,
    ),
}


@pytest.fixture(scope="module")
def correct(trained, digits):
    """Records that the network knows, since only these are attacked."""
    x, y = digits
    known = classes(trained[2], x) == y
    assert known.mean() > 0.8
    return np.ascontiguousarray(x[known][:50]), y[known][:50]


def attacked(model, correct, attack):
    """Each record as the attack left it."""
    found = assay.attack(model, assay.data(*correct, range=(0, 1)), attack=attack, all=True, pictures=0)
    (arrays,) = found.arrays.values()
    assert len(arrays["x"]) == len(correct[0]) and (arrays["original"] == np.arange(len(correct[0]))).all()
    return arrays["x"]


def compared(pair, trained, correct, theirs, ours):
    """How many succeed there and here, and the medians of the changes of those that both fooled, where there is no budget."""
    (x, y), path = correct, trained[2]
    target = (y + 1) % 10 if pair.aims_at_next else None
    there, here = (successes(path, x, y, changed, pair.budget, pair.norm, target) for changed in (theirs, ours))
    assert here.sum() >= there.sum() - pair.luck
    text = f"{there.sum()} of {len(y)} records there, {here.sum()} here"
    if pair.budget is None:
        both = there & here  # one that turns only the easy records changes less
        medians = [np.median(sizes(x, changed, pair.norm)[both]) for changed in (theirs, ours)]
        assert medians[1] <= 1.1 * medians[0]
        text += f"; median change of those that both fooled {medians[0]:.3f} there, {medians[1]:.3f} here"
    return text


def side_by_side(tool, name, pair, call, trained, correct, row):
    theirs, there = timed(call)
    ours, here = timed(lambda: attacked(trained[1], correct, pair.ours))
    row(tool, f"`{name}` and `{pair.ours}`", compared(pair, trained, correct, theirs, ours), (there, here))


@pytest.mark.parametrize("name", FOOLBOX)
def test_foolbox(name, trained, correct, row):
    foolbox = pytest.importorskip("foolbox", reason="SKIPPED: foolbox is not installed (PyPI)")
    pair = FOOLBOX[name]
    network = foolbox.PyTorchModel(trained[0], bounds=(0, 1), device="cpu")
    x, y = torch.from_numpy(correct[0]), torch.from_numpy(correct[1])
    side_by_side("foolbox", name, pair, lambda: pair.theirs(foolbox)(network, x, y, epsilons=pair.budget)[1].detach().numpy(), trained, correct, row)


@pytest.mark.parametrize("name", TORCHATTACKS)
def test_torchattacks(name, trained, correct, row):
    torchattacks = pytest.importorskip("torchattacks", reason="SKIPPED: torchattacks is not installed (PyPI)")
    pair = TORCHATTACKS[name]
    x, y = torch.from_numpy(correct[0]), torch.from_numpy(correct[1])
    side_by_side("torchattacks", name, pair, lambda: pair.theirs(torchattacks, trained[0])(x, y).detach().numpy(), trained, correct, row)


@pytest.fixture
def art(trained):
    """ART's attacks and its wrapper of the network."""
    evasion = pytest.importorskip("art.attacks.evasion", reason="SKIPPED: adversarial-robustness-toolbox is not installed (PyPI)")
    from art.estimators.classification import PyTorchClassifier

    np.random.seed(1)
    return evasion, PyTorchClassifier(trained[0], torch.nn.CrossEntropyLoss(), (1, 28, 28), 10, clip_values=(0, 1), device_type="cpu")


@pytest.mark.parametrize("name", ART)
def test_art(name, art, trained, correct, row):
    (x, y), pair = correct, ART[name]
    one_hot = np.eye(10, dtype=np.float32)[y]
    side_by_side("adversarial-robustness-toolbox", name, pair, lambda: pair.theirs(*art).generate(x, one_hot), trained, correct, row)


def test_art_chooses_features_by_the_target_alone(art, trained, correct, difference):
    """What torchattacks has and what is here is the formula of the paper."""
    (x, y), (evasion, network) = correct, art
    goal = (y + 1) % 10
    theirs = evasion.SaliencyMapMethod(network, theta=1, gamma=0.099, batch_size=50, verbose=False).generate(x, np.eye(10, dtype=np.float32)[goal])
    ours = attacked(trained[1], correct, "jsma[theta=1,gamma=0.1,target=next]")
    there, here = (successes(trained[2], x, y, changed, 78, "l0", goal) for changed in (theirs, ours))
    features = [np.median(sizes(x, changed, "l0")[success]) for changed, success in ((theirs, there), (ours, here))]
    assert min(there.sum(), here.sum()) >= 40 and features[0] != features[1]
    difference(
        "adversarial-robustness-toolbox",
        "`SaliencyMapMethod` and `jsma[theta=1,gamma=0.1,target=next]`",
        "the two features that raise the target most",
        "the pair that raises the target and lowers the other classes most, as in the paper",
        f"{there.sum()} of {len(y)} records there with {features[0]:.0f} features (median), {here.sum()} here with {features[1]:.0f}",
    )
