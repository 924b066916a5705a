"""Measurements while a network is trained, in loops and as callbacks of trainers; and which records to train on."""

from ._history import CoverageHistory, History
from ._keras import KerasCoverage
from ._sampler import RecordSampler

__all__ = ["CoverageHistory", "History", "KerasCoverage", "RecordSampler"]
