"""A custom attack, in Python: one step against the gradient of the score that is to fall."""

from __future__ import annotations

from typing import Any

import numpy as np

import assay


class OneStep(assay.Attack):
    """x - eps * sign(gradient of the label's score)."""

    name = "one-step"
    options = {"eps": 0.3}

    def __init__(self, eps: str) -> None:
        self.eps = float(eps)

    def perturb(self, network: Any, problem: assay.AttackProblem) -> np.ndarray[Any, Any]:
        weights = np.zeros_like(problem.scores)
        weights[np.arange(len(weights)), problem.labels] = 1
        gradient = network.gradients(problem.inputs, weights)
        changed: np.ndarray[Any, Any] = problem.inputs - self.eps * np.sign(gradient)
        return changed


network = assay.train("digits:300", architecture="lenet1", epochs=1).model
found = assay.attack(network, "digits:40,seed=3", attack=[OneStep, "fgsm[eps=0.3]"], all=True)
for name, arrays in found.arrays.items():
    print(name, int(arrays["success"].sum()), "of", len(arrays["success"]), "leave their class")
