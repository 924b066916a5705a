"""PyTorch's decisions for records in memory, for bench_mutation: pytorch_forward.py NETWORK RECORDS THREADS DEVICE.

Prints the seconds of one pass over all records at the best of several batch sizes: what one more mutant costs
somebody who runs whole networks.
"""

import sys
import time

import torch

from pytorch_networks import NETWORKS


def main():
    name, records, threads, device = sys.argv[1], *map(int, sys.argv[2:4]), sys.argv[4]
    torch.set_num_threads(threads)
    torch.manual_seed(1)
    network, shape = NETWORKS[name]()
    network.eval().to(device)
    inputs = torch.rand(records, *shape).to(device)
    best = float("inf")
    with torch.inference_mode():
        for batch in (32, 128, 256, 1024):
            if batch > 2 * records:
                continue
            network(inputs[:batch])
            for _ in range(2):
                start = time.perf_counter()
                for begin in range(0, records, batch):
                    classes = network(inputs[begin:begin + batch]).argmax(1)
                classes.cpu()  # a device is done when its last result is there
                best = min(best, time.perf_counter() - start)
    print(best)


main()
