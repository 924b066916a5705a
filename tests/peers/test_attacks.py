"""Attacks of Foolbox and torchattacks beside those of Assay: one norm, one budget, one judge."""

import numpy as np
import pytest

import assay
from conftest import timed
from judge import classes, successes

torch = pytest.importorskip("torch")

#: There, here, the norm, and the budget (None: the smallest change that they find).
FOOLBOX = {
    "FGSM": (lambda fb: fb.attacks.FGSM(), "fgsm[eps=0.1]", "linf", 0.1),
    "LinfPGD": (lambda fb: fb.attacks.LinfPGD(steps=20, rel_stepsize=0.1, random_start=False), "pgd[eps=0.1,steps=20,step=0.01]", "linf", 0.1),
    "L2PGD": (lambda fb: fb.attacks.L2PGD(steps=20, rel_stepsize=0.1, random_start=False), "bim[eps=1,steps=20,step=0.1,norm=l2]", "l2", 1.0),
    "LinfBasicIterativeAttack": (lambda fb: fb.attacks.LinfBasicIterativeAttack(steps=10, rel_stepsize=0.2, random_start=False), "bim[eps=0.1,steps=10,step=0.02]", "linf", 0.1),
    "L2DeepFoolAttack": (lambda fb: fb.attacks.L2DeepFoolAttack(), "deepfool", "l2", None),
    "L2CarliniWagnerAttack": (lambda fb: fb.attacks.L2CarliniWagnerAttack(binary_search_steps=5, steps=200), "cw[search=5,iterations=200,rate=0.01,constant=1]", "l2", None),
}
TORCHATTACKS = {
    "FGSM": (lambda ta, net: ta.FGSM(net, eps=0.1), "fgsm[eps=0.1]", 0.1),
    "PGD": (lambda ta, net: ta.PGD(net, eps=0.1, alpha=0.01, steps=20), "pgd[eps=0.1,steps=20,step=0.01]", 0.1),
    "MIFGSM": (lambda ta, net: ta.MIFGSM(net, eps=0.1, alpha=0.01, steps=20), "mi-fgsm[eps=0.1,steps=20,step=0.01]", 0.1),
    "APGD": (lambda ta, net: ta.APGD(net, eps=0.1, steps=20, n_restarts=1), "apgd[eps=0.1,steps=20]", 0.1),
    "Square": (lambda ta, net: ta.Square(net, eps=0.1, n_queries=200, n_restarts=1), "square[eps=0.1,queries=200]", 0.1),
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


#: Records by which a search at random may miss what the other one found.
LUCK = {"Square": 3}


def compared(what, trained, correct, theirs, ours, budget, norm):
    """How many succeed there and here, and the medians of the changes where there is no budget."""
    (x, y), path = correct, trained[2]
    there = successes(path, x, y, theirs, budget, norm)
    here = successes(path, x, y, ours, budget, norm)
    assert here.sum() >= there.sum() - LUCK.get(what, 0), what
    text = f"{there.sum()} of {len(y)} records there, {here.sum()} here"
    if budget is None:
        sizes = [np.median(np.sqrt(((c - x)[s].reshape(s.sum(), -1) ** 2).sum(1))) for c, s in ((theirs, there), (ours, here))]
        assert sizes[1] <= 1.1 * sizes[0], what
        text += f"; median change {sizes[0]:.3f} there, {sizes[1]:.3f} here"
    return text


@pytest.mark.parametrize("name", FOOLBOX)
def test_foolbox(name, trained, correct, row):
    foolbox = pytest.importorskip("foolbox", reason="SKIPPED: foolbox is not installed (PyPI)")
    make, attack, norm, budget = FOOLBOX[name]
    network = foolbox.PyTorchModel(trained[0], bounds=(0, 1), device="cpu")
    x, y = torch.from_numpy(correct[0]), torch.from_numpy(correct[1])
    theirs, there = timed(lambda: make(foolbox)(network, x, y, epsilons=budget)[1].detach().numpy())
    ours, here = timed(lambda: attacked(trained[1], correct, attack))
    row("foolbox", f"`{name}` and `{attack}`", compared(name, trained, correct, theirs, ours, budget, norm), (there, here))


@pytest.mark.parametrize("name", TORCHATTACKS)
def test_torchattacks(name, trained, correct, row):
    torchattacks = pytest.importorskip("torchattacks", reason="SKIPPED: torchattacks is not installed (PyPI)")
    make, attack, budget = TORCHATTACKS[name]
    x, y = torch.from_numpy(correct[0]), torch.from_numpy(correct[1])
    theirs, there = timed(lambda: make(torchattacks, trained[0])(x, y).detach().numpy())
    ours, here = timed(lambda: attacked(trained[1], correct, attack))
    row("torchattacks", f"`{name}` and `{attack}`", compared(name, trained, correct, theirs, ours, budget, "linf"), (there, here))
