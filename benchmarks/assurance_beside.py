"""What evidence costs: assurance_beside.py [--records 1000] [--eps 0.1] [--turns 7] [JOB...].

Each job is a ratio of processor seconds of whole commands, children included, so that other work on the machine changes
little:

autoattack   the preset's attacks on records beside torchattacks' on the same LeNet-5: theirs / ours. Once with the paper's settings on both
             sides (100 steps, 5,000 queries of Square, as the preset has them), once theirs as AutoAttack(version="standard") sets it up:
             10 steps. Robust accuracies are of the same records
drop-curve   fifteen severities of PGD and of corruptions in one command, beside fifteen commands of one: ours / theirs
intervals    interval bounds of records beside their forward passes, both without what a command costs by itself; the least of
             several runs in turn. `bounds` also runs the network once, to see which records are right: with and without that
selftest     seconds of `assay selftest`

Needs onnx, torch and torchattacks of PyPI for the first one; ASSAY_PROGRAM names the program, by its whole path (default: assay).
"""

import argparse
import json
import os
import pathlib
import resource
import subprocess
import sys
import tempfile

PROGRAM = os.environ.get("ASSAY_PROGRAM", "assay")
HERE = pathlib.Path(__file__).resolve().parent

PEER = """
import sys
sys.path.insert(0, sys.argv[4])
import numpy, onnx, torch, torchattacks
from onnx import numpy_helper
from pytorch_networks import NETWORKS
torch.set_num_threads(2)
network, _ = NETWORKS["lenet5"]()
weights = [numpy_helper.to_array(one) for one in onnx.load(sys.argv[1]).graph.initializer]
weights = [one for one in weights if one.dtype == numpy.float32]
with torch.no_grad():
    for parameter in network.parameters():
        fitting = next(i for i, one in enumerate(weights) if one.shape == tuple(parameter.shape))
        parameter.copy_(torch.from_numpy(weights.pop(fitting).copy()))
records = numpy.load(sys.argv[2])
x, y = torch.from_numpy(records["x"].astype(numpy.float32)), torch.from_numpy(records["y"].astype(numpy.int64))
network.eval()
right = network(x).argmax(1) == y
eps, settings = float(sys.argv[3]), sys.argv[5]
if settings == "default":
    attack = torchattacks.AutoAttack(network, norm="Linf", eps=eps, version="standard", n_classes=10, seed=1)
elif settings == "paper":
    same = {"norm": "Linf", "eps": eps, "n_restarts": 1, "seed": 1}
    attack = torchattacks.MultiAttack([
        torchattacks.APGD(network, steps=100, loss="ce", **same),
        torchattacks.APGDT(network, steps=100, n_classes=10, **same),
        torchattacks.FAB(network, steps=100, multi_targeted=True, n_classes=10, **same),
        torchattacks.Square(network, n_queries=5000, **same),
    ])
if settings != "nothing":
    parts = attack._autoattack.attacks if settings == "default" else attack.attacks
    steps = sorted({one.steps for one in parts if hasattr(one, "steps")})
    queries = [one.n_queries for one in parts if hasattr(one, "n_queries")]
    fallen = [attack(x[i:i + 250], y[i:i + 250]) for i in range(0, len(x), 250)]
    robust = network(torch.cat(fallen)).argmax(1) == y
    print(*steps, *queries, right.float().mean().item(), (right & robust).float().mean().item())
"""


def spent(folder, command):
    """Processor seconds of the command in the folder, and what it printed."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run([str(part) for part in command], cwd=folder, capture_output=True, text=True, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode not in (0, 2):
        sys.exit(f"{' '.join(map(str, command))}: {done.stderr}")
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, done.stdout


def assay(folder, *arguments):
    return spent(folder, [PROGRAM, *arguments, "--quiet"])


def autoattack(folder, options):
    eps = options.eps
    specs = [f"apgd[eps={eps}]", f"apgd[eps={eps},loss=dlr,targets=9]", f"fab[within={eps},targets=9]", f"square[eps={eps}]"]
    attacks = [part for spec in specs for part in ("--attack", spec)]
    ours, _ = assay(folder, "attack", "net.onnx", "test.npz,range=0:1", *attacks, "--standing", "--json", "ours.json")
    facts = json.loads((folder / "ours.json").read_text())["facts"]
    print(f"autoattack, {options.records} records, eps {eps}: seconds, clean and robust accuracy")
    print(f"  ours, 100 steps, 5000 queries: {ours:.1f} s, {facts['attacked'] / facts['records']:.4f} {facts['robust_accuracy']:.4f}")
    peer = [sys.executable, "-c", PEER, "net.onnx", "test.npz", eps, HERE]
    start, _ = spent(folder, [*peer, "nothing"])
    for settings in ("paper", "default"):
        seconds, said = spent(folder, [*peer, settings])
        steps, queries, clean, robust = said.split()
        took = seconds - start
        print(f"  theirs, {steps} steps, {queries} queries ({settings}): {took:.1f} s, {float(clean):.4f} {float(robust):.4f}, {took / ours:.1f} times ours")


def drop_curve(folder, options):
    given = ("net.onnx", "test.npz,range=0:1")
    for attack, option, step in (("pgd", "eps", 0.02), ("noise", "sigma", 0.05), ("rotation", "amount", 5)):
        severities = [f"{step * i:.2f}" for i in range(1, 16)]
        curve = ("robust", *given, "--along", f"{attack}[{option}={'/'.join(severities)}]")
        alone = sum(assay(folder, "robust", *given, "--along", f"{attack}[{option}=0/{one}]")[0] for one in severities)
        ways = {"together": ()} | ({"independent": ("--independent",)} if attack == "pgd" else {})
        for name, flags in ways.items():
            ours = assay(folder, *curve, *flags)[0]
            print(f"drop-curve {attack} {name}: {ours / alone:.2f} of fifteen commands, {ours:.1f} s and {alone:.1f} s")


def intervals(folder, options):
    commands = {"bounds": ("--method", "interval", "--attack", "none", "--eps", 0.01), "evaluate": ()}
    least = {}
    for _ in range(options.turns):
        for command, flags in commands.items():
            for part in ("", "[:50]"):
                seconds, _ = assay(folder, command, "net.onnx", f"many.npz,range=0:1{part}", "--threads", 1, *flags)
                least[command, part] = min(seconds, least.get((command, part), seconds))
    bounds, forward = (least[command, ""] - least[command, "[:50]"] for command in commands)
    print(f"intervals {bounds / forward - 1:.2f} forward passes, {bounds / forward:.2f} with that of the network: {bounds:.2f} s and {forward:.2f} s")


def selftest(folder, options):
    print(f"selftest {assay(folder, 'selftest')[0]:.1f} s")


JOBS = {"autoattack": autoattack, "drop-curve": drop_curve, "intervals": intervals, "selftest": selftest}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("jobs", nargs="*", choices=[[], *JOBS])
    parser.add_argument("--records", type=int, default=1000)
    parser.add_argument("--eps", type=float, default=0.1)
    parser.add_argument("--turns", type=int, default=7)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        assay(folder, "train", "--architecture", "lenet5", "--data", "digits:5000", "--epochs", 4, "--out", "net.onnx")
        assay(folder, "data", f"digits:{options.records},seed=2", "--write", "test.npz")
        assay(folder, "data", "digits:10000,seed=3", "--write", "many.npz")
        for job in options.jobs or JOBS:
            JOBS[job](folder, options)


main()
