"""Intervals of shares of counts."""

from __future__ import annotations

import math

__all__ = ["clopper_pearson", "wilson"]


def _log_beta_tail(hits: int, trials: int, p: float) -> float:
    """Logarithm of the probability of at least ``hits`` of ``trials``, by the sum of its terms."""
    if hits <= 0:
        return 0.0
    term = (
        math.lgamma(trials + 1) - math.lgamma(hits + 1) - math.lgamma(trials - hits + 1)
        + hits * math.log(p) + (trials - hits) * math.log1p(-p)
    )
    whole, part = 1.0, 1.0
    for k in range(hits, trials):
        part *= (trials - k) / (k + 1) * p / (1 - p)
        whole += part
        if part < 1e-17 * whole:
            break
    return term + math.log(whole)


def _lower(hits: int, trials: int, miss: float) -> float:
    """The probability with which as many hits are as seldom as ``miss``."""
    if hits == 0:
        return 0.0
    low, high = 0.0, 1.0
    for _ in range(200):
        middle = (low + high) / 2
        if middle in (low, high):
            break
        if middle < hits / trials and _log_beta_tail(hits, trials, middle) < math.log(miss):
            low = middle
        else:
            high = middle
    return (low + high) / 2


def clopper_pearson(hits: int, trials: int, confidence: float = 0.95) -> tuple[float, float]:
    """The exact interval of Clopper and Pearson (Biometrika 1934); 0 to 1 without trials."""
    if trials == 0:
        return 0.0, 1.0
    miss = (1 - confidence) / 2
    return _lower(hits, trials, miss), 1 - _lower(trials - hits, trials, miss)


def wilson(hits: int, trials: int, confidence: float = 0.95) -> tuple[float, float]:
    """The score interval of Wilson (JASA 1927); 0 to 1 without trials."""
    if trials == 0:
        return 0.0, 1.0
    from statistics import NormalDist

    z = NormalDist().inv_cdf((1 + confidence) / 2)
    share, spread = hits / trials, z * z / trials
    centre = (share + spread / 2) / (1 + spread)
    half = z / (1 + spread) * math.sqrt(share * (1 - share) / trials + spread / (4 * trials))
    low = 0.0 if hits == 0 else max(0.0, centre - half)
    high = 1.0 if hits == trials else min(1.0, centre + half)
    return low, high
