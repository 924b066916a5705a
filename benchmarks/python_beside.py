"""Whether threads get slower where Assay and another framework share a process: the time of each alone and beside the other, both
orders of import, with the other's threads alive.

    PYTHONPATH=build/release/python python benchmarks/python_beside.py [FRAMEWORK]...

FRAMEWORK: torch, tensorflow, onnxruntime, jax, sklearn; default all that are installed. Each figure is the median of the rounds' best
times, each round a fresh process of every kind by turns. Ratios near 1 mean that neither slows the other.
"""

import importlib.util
import os
import statistics
import subprocess
import sys
import tempfile
import time

ROUNDS, CALLS = 3, 5

# What a framework does with many threads: an expression to prepare and one to time.
WORK = {
    "torch": ("a = torch.rand(1500, 1500)", "(a @ a).sum().item()"),
    "tensorflow": ("a = tensorflow.random.uniform((1500, 1500))", "tensorflow.linalg.matmul(a, a).numpy()"),
    "onnxruntime": (
        "import assay; x = assay.data('digits:1000').read(range(1000))['x']; s = onnxruntime.InferenceSession('net.onnx')",
        "s.run(None, {s.get_inputs()[0].name: x})",
    ),
    "jax": ("a = jax.numpy.ones((1500, 1500))", "(a @ a).block_until_ready()"),
    "sklearn": (
        "import numpy; from sklearn.ensemble import HistGradientBoostingClassifier as H; a = numpy.random.default_rng(1).random((4000, 20))",
        "H(max_iter=20).fit(a, a[:, 0] > 0.5)",
    ),
}
ASSAY = ("n = assay.load('net.onnx'); d = assay.data('digits:3000')", "assay.cover(n, d, d, criterion=['nc', 'kmnc', 'nlc'])")


def best_of(calls, statement, names):
    code = compile(statement, "work", "exec")
    times = []
    for _ in range(calls):
        begin = time.perf_counter()
        exec(code, names)
        times.append(time.perf_counter() - begin)
    return min(times)


def child(order, timed):
    """Imports in this order, lets everything that is imported work once, then times one of them."""
    names = {}
    for name in order:
        exec(f"import {name}", names)
    for name in order:
        prepare, work = ASSAY if name == "assay" else WORK[name]
        exec(prepare, names)
        exec(work, names)
    prepare, work = ASSAY if timed == "assay" else WORK[timed]
    exec(prepare, names)  # names of both may be the same
    print(best_of(CALLS, work, names))


def seconds(folder, order, timed):
    command = [sys.executable, os.path.abspath(__file__), "--child", ",".join(order), timed]
    paths = os.pathsep.join(os.path.abspath(path) for path in sys.path)
    ran = subprocess.run(command, cwd=folder, env={**os.environ, "PYTHONPATH": paths}, capture_output=True, text=True)
    if ran.returncode != 0:
        sys.exit(f"{' '.join(command)} ended with {ran.returncode}: {ran.stderr[-2000:]}")
    return float(ran.stdout.split()[-1])


def compared(folder, other):
    kinds = [(order, timed) for timed in ("assay", other) for order in ((timed,), ("assay", other), (other, "assay"))]
    rounds = [[seconds(folder, *kind) for kind in kinds] for _ in range(ROUNDS)]
    medians = [statistics.median(times) for times in zip(*rounds)]
    for name, (alone, first, second) in (("assay", medians[:3]), (other, medians[3:])):
        beside = other if name == "assay" else "assay"
        print(
            f"{name:12} alone {alone:.3f} s, beside {beside}: {first / alone:.2f} times (assay imported first), "
            f"{second / alone:.2f} times ({other} first)",
            flush=True,
        )


def main():
    if sys.argv[1:2] == ["--child"]:
        return child(sys.argv[2].split(","), sys.argv[3])
    others = sys.argv[1:] or [name for name in WORK if importlib.util.find_spec(name) is not None]
    import assay

    with tempfile.TemporaryDirectory() as folder:
        assay.train("digits:300", architecture="lenet5", epochs=1).model.save(f"{folder}/net.onnx")
        for other in others:
            compared(folder, other)


if __name__ == "__main__":
    main()
