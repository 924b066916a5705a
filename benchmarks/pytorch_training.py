"""PyTorch's own training loop, for bench_training: pytorch_training.py NETWORK BATCH RECORDS EPOCHS THREADS.

Records are one tensor in memory, shuffled by an index, which is quicker than a DataLoader. Prints seconds and
processor seconds of the epochs, without the first batch of each run, which warms up.
"""

import sys
import time

import torch
from torch import nn

from pytorch_networks import NETWORKS


def main():
    name, batch, records, epochs, threads = sys.argv[1], *map(int, sys.argv[2:])
    torch.set_num_threads(threads)
    torch.manual_seed(1)
    network, shape = NETWORKS[name]()
    inputs, labels = torch.rand(records, *shape), torch.randint(0, 10, (records,))
    optimiser = torch.optim.Adam(network.parameters(), lr=0.001)
    loss = nn.CrossEntropyLoss()

    def step(chosen):
        optimiser.zero_grad(set_to_none=True)
        output = network(inputs[chosen])
        value = loss(output, labels[chosen])
        value.backward()
        optimiser.step()
        return value.item(), (output.argmax(1) == labels[chosen]).sum().item()

    network.train()
    step(torch.arange(batch))
    start, cpu = time.perf_counter(), time.process_time()
    for _ in range(epochs):
        order = torch.randperm(records)
        for begin in range(0, records, batch):
            step(order[begin:begin + batch])
    print(time.perf_counter() - start, time.process_time() - cpu)


main()
