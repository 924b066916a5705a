"""What calling through Python costs, for 10,000 records: the time of a call beyond what the library itself takes, and the
library's time beside that of the program, which asks the same of files.

    PYTHONPATH=build/release/python /usr/bin/python3 benchmarks/python_cost.py [RECORDS] [PROGRAM]

Medians of seven calls each, by turns.
"""

import json
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np

import assay

CALLS = 7


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


def of_program(program, folder, command, flags):
    typed = [part for name, value in flags for part in (f"--{name}", value)]
    found = subprocess.run(
        [program, command, *typed, "--json", "-", "--quiet"], cwd=folder, capture_output=True, text=True, check=True
    )
    return json.loads(found.stdout)["provenance"]["seconds"]


def main() -> None:
    records = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    program = pathlib.Path(sys.argv[2] if len(sys.argv) > 2 else "build/release/bin/assay").resolve()
    drawn = assay.data(f"digits:{records}").read(range(records))
    test = assay.data(drawn["x"], drawn["y"])
    network = assay.train("digits:300", architecture="lenet5", epochs=1).model
    with tempfile.TemporaryDirectory() as folder:
        network.save(pathlib.Path(folder, "net.onnx"))
        np.savez(pathlib.Path(folder, "test.npz"), x=drawn["x"], y=drawn["y"])
        files = [("model", "net.onnx"), ("train", "digits:300"), ("test", "test.npz")]
        same = [*files, ("criterion", "nc"), ("criterion", "kmnc")]
        for name, question, command, flags in (
            ("evaluate", lambda: assay.evaluate(network, test), "evaluate", [files[0], ("data", "test.npz")]),
            ("cover", lambda: assay.cover(network, "digits:300", test, criterion=["nc", "kmnc"]), "cover", same),
            (
                "cover, also by Python",
                lambda: assay.cover(network, "digits:300", test, criterion=["nc", "kmnc", Nothing]),
                "cover",
                same,
            ),
        ):
            question()
            wholes, insides, programs = [], [], []
            for _ in range(CALLS):
                begin = time.perf_counter()
                inside = question().provenance["seconds"]
                wholes.append(time.perf_counter() - begin)
                insides.append(inside)
                programs.append(of_program(program, folder, command, flags))
            around = statistics.median(whole - inside for whole, inside in zip(wholes, insides))
            inside = statistics.median(insides)
            print(
                f"{name:22} library {inside:.3f} s, Python around it {around * 1e3:.1f} ms ({around / inside:.2%}); "
                f"the program {statistics.median(programs):.3f} s"
            )


if __name__ == "__main__":
    main()
