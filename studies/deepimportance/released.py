#!/usr/bin/env python3
"""Importance-Driven Coverage as the released code of DeepImportance computes it (docs/deepimportance-released.md).

What differs from the paper and from `assay cover` can be switched one by one, so that each difference has its figure.
For a network whose subject layer is the dense one before its scores, as the published LeNet-4 and LeNet-5.

Usage: PYTHONPATH=build/release/python studies/deepimportance/released.py TRAIN TEST NETWORK:LAYER [--neurons 6,8,10,12]
           [--without DIFFERENCE]... [--each]
"""

import argparse
import pathlib
import re
import tempfile

import assay
import numpy as np

# Each is a thing that the released code does; without it, what `assay cover` does.
DIFFERENCES = {
    "by-class": "one coverage for each class, of its right training records and its test records; the mean is reported",
    "linear-convolutions": "relevance of the network without the activation functions of its convolutions",
    "drop-zeros": "zeros take no part in the clustering",
    "rounding": "centroids are rounded to 2 decimals",
    "mixed-order": "activations in the order of relevance meet centroids in the order of neurons",
}


def without_activations(network, folder):
    """The network without the activation functions of its convolutions, as the toolbox's own format lost them."""
    file = pathlib.Path(folder) / "original.onnx"
    network.save(str(file))
    for layer in network.layers():
        if layer.op.startswith("Conv") and "+" in layer.op:
            following = file.with_name(f"without-{layer.name}.onnx")
            assay.mutate(action="export", model=str(file), mutant=f"afrm@{layer.name}#1", out=str(following))
            file = following
    return assay.load(str(file))


def in_batches(data):
    for batch in data.batches(500):
        yield next(iter(batch.values()))


def activations(network, data, layer):
    return np.concatenate([network.activations(x, layer, reduction="mean") for x in in_batches(data)])


def decided(network, data):
    return np.concatenate([np.argmax(network.predict(x)[0], axis=1) for x in in_batches(data)])


def ranked(network, data, layer):
    """Neurons by the relevance for what the network decides, right or wrong."""
    winners = data.relabelled(decided(network, data))
    found = assay.importance(network, winners, layer=layer, method="lrp-0", top=10_000)
    return [int(row["neuron"]) for row in found.table("neurons")]


def centroids(network, data, layer, neurons, used):
    """Of these neurons, in this order, as `assay cover` finds them."""
    units = f"layer={layer},units={'+'.join(map(str, neurons))}"
    result = assay.cover(
        network,
        data,
        data[:1],
        criterion=["idc"],
        units=[units],
        drop_zeros="drop-zeros" in used,
        round=2 if "rounding" in used else -1,
    )
    found = {int(row["neuron"]): row["centroids"] for row in result.table("clusters")}
    return [np.array([float(c) for c in re.findall(r"(-?[\d.]+) \(", found[n])]) for n in neurons]


def covered(values, all_centroids):
    nearest = [c[np.abs(column[:, None] - c).argmin(1)] for column, c in zip(values.T, all_centroids)]
    return len(set(zip(*(column.tolist() for column in nearest))))


def coverages(network, linear, train, test, layer, sizes, used):
    """Coverage by number of neurons, for one pair of sets."""
    ranking = ranked(linear if "linear-convolutions" in used else network, train, layer)[: max(sizes)]
    found = dict(zip(ranking, centroids(network, train, layer, ranking, used)))
    values = activations(network, test, layer)
    result = {}
    for m in sizes:
        neurons = ranking[:m]
        met = sorted(neurons) if "mixed-order" in used else neurons
        result[m] = covered(values[:, neurons], [found[n] for n in met]) / np.prod([float(len(found[n])) for n in neurons])
    return result


def mean_coverages(network, linear, train, test, layer, sizes, used):
    right = np.flatnonzero(decided(network, train) == train.labels)
    train = train.select(right)
    if "by-class" not in used:
        return {m: [c] for m, c in coverages(network, linear, train, test, layer, sizes, used).items()}
    each = [
        coverages(network, linear, of_class(train, c), of_class(test, c), layer, sizes, used)
        for c in range(len(train.class_names))
    ]
    return {m: [one[m] for one in each] for m in sizes}


def of_class(data, c):
    return data.select(np.flatnonzero(data.labels == c))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("train")
    parser.add_argument("test")
    parser.add_argument("network", help="FILE:LAYER")
    parser.add_argument("--neurons", default="6,8,10,12")
    parser.add_argument("--without", action="append", default=[], choices=DIFFERENCES, help="do this as assay cover does")
    parser.add_argument("--each", action="store_true", help="also without each difference alone")
    args = parser.parse_args()
    train, test = assay.data(args.train), assay.data(args.test)
    file, _, layer = args.network.partition(":")
    network, sizes = assay.load(file), [int(m) for m in args.neurons.split(",")]
    choices = [tuple(args.without)] + ([(name,) for name in DIFFERENCES] + [tuple(DIFFERENCES)] if args.each else [])
    print("| without | " + " | ".join(f"m = {m}" for m in sizes) + " |\n|---|" + "---|" * len(sizes))
    with tempfile.TemporaryDirectory() as folder:
        linear = without_activations(network, folder)
        for without in choices:
            used = [name for name in DIFFERENCES if name not in without]
            found = mean_coverages(network, linear, train, test, layer, sizes, used)
            cells = [f"{100 * np.mean(found[m]):.2f} ({100 * np.std(found[m]):.1f})" for m in sizes]
            print(f"| {', '.join(without) or 'nothing'} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
