"""A mixture of Gaussians over activations: how unusual a text is beside those that were seen."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import DataError

Rows = np.ndarray[Any, Any]

_ridge = 1e-3  # of the mean variance, added to that of each neuron
_rounds, _still = 200, 1e-6


class Mixture:
    """Fitted by expectation and maximisation (Dempster, Laird and Rubin 1977), from clusters around rows that are far from
    each other."""

    def __init__(self, rows: Rows, components: int) -> None:
        if len(rows) <= components:
            raise DataError(f"{len(rows)} texts are too few for a mixture of {components} components")
        self._ridge = _ridge * max(float(rows.var(0).mean()), 1e-12)
        self._take(rows, np.eye(components)[_clusters(rows, components)])
        before = -np.inf
        for _ in range(_rounds):
            joint = self._joint(rows)
            whole = _log_sum(joint)
            self._take(rows, np.exp(joint - whole[:, None]))
            if abs(whole.mean() - before) < _still:
                break
            before = whole.mean()

    def surprise(self, rows: Rows) -> Rows:
        """The negative logarithm of the density at each row."""
        return np.asarray(-_log_sum(self._joint(rows)))

    def _take(self, rows: Rows, belongs: Rows) -> None:
        """Weights, means and covariances of rows that belong to components by shares."""
        counts = belongs.sum(0) + 10 * np.finfo(np.float64).eps
        self.weights, self.means = counts / counts.sum(), belongs.T @ rows / counts[:, None]
        self.covariances = np.empty((len(counts), rows.shape[1], rows.shape[1]))
        for k, mean in enumerate(self.means):
            apart = rows - mean
            self.covariances[k] = (belongs[:, k] * apart.T) @ apart / counts[k]
        self.covariances[:, range(rows.shape[1]), range(rows.shape[1])] += self._ridge

    def _joint(self, rows: Rows) -> Rows:
        """The logarithm of weight and density by row and component."""
        found = np.empty((len(rows), len(self.weights)))
        for k, (weight, mean, covariance) in enumerate(zip(self.weights, self.means, self.covariances)):
            factor = np.linalg.cholesky(covariance)
            distances = (np.linalg.solve(factor, (rows - mean).T) ** 2).sum(0)
            found[:, k] = np.log(weight) - (distances + len(mean) * np.log(2 * np.pi)) / 2 - np.log(np.diag(factor)).sum()
        return found


def _log_sum(values: Rows) -> Rows:
    most = values.max(1)
    return np.asarray(most + np.log(np.exp(values - most[:, None]).sum(1)))


def _clusters(rows: Rows, count: int) -> Rows:
    """For each row the nearest of those that are far from each other, from the one nearest to the mean on."""

    def to(place: int) -> Rows:
        return np.asarray(((rows - rows[place]) ** 2).sum(1))

    chosen = [int(((rows - rows.mean(0)) ** 2).sum(1).argmin())]
    distances = [to(chosen[0])]
    while len(chosen) < count:
        chosen.append(int(np.min(distances, 0).argmax()))
        distances.append(to(chosen[-1]))
    return np.asarray(np.argmin(distances, 0))
