"""What calling through Python costs: the time of a call beyond what the library itself takes, for 10,000 records.

    PYTHONPATH=build/release/python /usr/bin/python3 benchmarks/python_cost.py [RECORDS]
"""

import sys
import time

import assay


class Nothing(assay.Criterion):
    """Sees batches and does nothing."""

    def __init__(self, layers, options):
        self.batches = 0

    def observe(self, batch):
        self.batches += 1

    def merge(self, other):
        self.batches += other.batches

    def result(self):
        return self.batches

    def save(self):
        return self.batches

    def load(self, state):
        self.batches = state


def main() -> None:
    records = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    drawn = assay.data(f"digits:{records}").read(range(records))
    test = assay.data(drawn["x"], drawn["y"])
    network = assay.train("digits:300", architecture="lenet5", epochs=1).model
    for name, question in {
        "evaluate": lambda: assay.evaluate(network, test),
        "cover, nc and kmnc": lambda: assay.cover(network, "digits:300", test, criterion=["nc", "kmnc"]),
        "cover, also by Python": lambda: assay.cover(network, "digits:300", test, criterion=["nc", "kmnc", Nothing]),
    }.items():
        question()
        costs = []
        for _ in range(3):
            begin = time.perf_counter()
            inside = question().provenance["seconds"]
            whole = time.perf_counter() - begin
            costs.append((whole - inside, inside))
        outside, inside = min(costs)
        print(f"{name:24} library {inside:.3f} s, Python around it {outside * 1e3:.1f} ms, {outside / inside:.2%}")


if __name__ == "__main__":
    main()
