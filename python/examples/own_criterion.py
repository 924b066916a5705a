"""A custom criterion, in Python: how far the activations of a test set reach."""

from __future__ import annotations

import assay


class Reach(assay.Criterion):
    """The greatest activation of all neurons."""

    def __init__(self, layers: list[assay.LayerProfile], options: dict[str, str]) -> None:
        self.top = 0.0

    def observe(self, batch: assay.ActivationBatch) -> None:
        self.top = max(self.top, *(float(layer.max()) for layer in batch.layers))

    def merge(self, other: Reach) -> None:
        self.top = max(self.top, other.top)

    def result(self) -> float:
        return self.top

    def save(self) -> float:
        return self.top

    def load(self, state: float) -> None:
        self.top = state


network = assay.train("digits:100", architecture="lenet1", epochs=1).model
found = assay.cover(network, "digits:50", "digits:50,seed=2", criterion=[Reach, "nc"])
print("activations reach", found.coverage("reach"))
