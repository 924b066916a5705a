#!/usr/bin/env python3
"""Do the neurons that the analysis names decide? (Gerasimou et al., ICSE 2020, Table 2)

The most relevant tenth of the pixels of each test record is turned into its opposite; how far do the activations of the
important neurons move, and how far those of as many others? Mean L2 distance (standard deviation) over the records.

Usage: PYTHONPATH=build/release/python studies/deepimportance/importance.py TRAIN TEST [--neurons M] [--draws N] [--fill low] NETWORK[:LAYER]...
"""

import argparse

import assay
import numpy as np


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("train")
    parser.add_argument("test")
    parser.add_argument("networks", nargs="+")
    parser.add_argument("--neurons", type=int, default=6)
    parser.add_argument("--draws", type=int, default=20, help="of random neurons")
    parser.add_argument("--fill", default="opposite", help="what a pixel becomes: opposite, or low")
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    train, test = assay.data(args.train), assay.data(args.test)

    print("| network | layer | important neurons | random neurons | ratio |\n|---|---|---|---|---|")
    for entry in args.networks:
        file, _, layer = entry.partition(":")
        network = assay.load(file)
        if not layer:  # the last one with weights before the output
            layer = [one.name for one in network.layers(test) if one.carries_weights][-2]
        found = assay.importance(network, train, layer=layer, top=args.neurons, seed=args.seed)
        important = [int(row["neuron"]) for row in found.table("neurons")]

        attack = f"removal[share=0.1,fill={args.fill}]"
        with_opposite = assay.attack(network, test, attack=attack, all=True, seed=args.seed).data["removal"]
        assert with_opposite.ids == test.ids
        moved = np.concatenate(
            [
                network.activations(after, layer, reduction="mean") - network.activations(before, layer, reduction="mean")
                for before, after in zip(inputs(test), inputs(with_opposite))
            ]
        )
        others = np.setdiff1d(np.arange(moved.shape[1]), important)
        rng = np.random.default_rng(args.seed)
        draws = [rng.choice(others, min(len(important), len(others)), replace=False) for _ in range(args.draws)]
        of_important = np.linalg.norm(moved[:, important], axis=1)
        of_random = np.concatenate([np.linalg.norm(moved[:, draw], axis=1) for draw in draws])
        print(
            f"| {network.name} | {layer} | {of_important.mean():.2f} ({of_important.std():.2f}) "
            f"| {of_random.mean():.2f} ({of_random.std():.2f}) | {of_important.mean() / of_random.mean():.2f} |"
        )


def inputs(data: assay.Data):
    """The records' first input, batch by batch."""
    for batch in data.batches(500):
        yield next(iter(batch.values()))


if __name__ == "__main__":
    main()
