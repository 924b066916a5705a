"""PyTorch's own training loop, for bench_training: pytorch_training.py NETWORK BATCH RECORDS EPOCHS THREADS.

Records are one tensor in memory, shuffled by an index, which is quicker than a DataLoader. Prints seconds and
processor seconds of the epochs, without the first batch of each run, which warms up.
"""

import sys
import time

import torch
from torch import nn


def lenet5():
    return nn.Sequential(
        nn.Conv2d(1, 6, 5, padding=2), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(6, 16, 5, padding=2), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(),
        nn.Linear(784, 120), nn.ReLU(), nn.Linear(120, 84), nn.ReLU(), nn.Linear(84, 10)), (1, 28, 28)


def network_b():
    return nn.Sequential(
        nn.Conv2d(1, 32, 3, padding=1), nn.ReLU(), nn.Conv2d(32, 32, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(32, 64, 3, padding=1), nn.ReLU(), nn.Conv2d(64, 64, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
        nn.Flatten(), nn.Linear(3136, 200), nn.ReLU(), nn.Linear(200, 10)), (1, 28, 28)


class Residual(nn.Module):
    def __init__(self, channels, out, stride):
        super().__init__()
        self.main = nn.Sequential(
            nn.Conv2d(channels, out, 3, stride, 1), nn.BatchNorm2d(out), nn.ReLU(),
            nn.Conv2d(out, out, 3, 1, 1), nn.BatchNorm2d(out))
        self.shortcut = nn.Sequential()
        if stride != 1 or out != channels:
            self.shortcut = nn.Sequential(nn.Conv2d(channels, out, 1, stride), nn.BatchNorm2d(out))

    def forward(self, x):
        return torch.relu(self.main(x) + self.shortcut(x))


def resnet():
    return nn.Sequential(
        nn.Conv2d(3, 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU(),
        Residual(16, 16, 1), Residual(16, 32, 2), Residual(32, 64, 2),
        nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(64, 10)), (3, 32, 32)


def main():
    name, batch, records, epochs, threads = sys.argv[1], *map(int, sys.argv[2:])
    torch.set_num_threads(threads)
    torch.manual_seed(1)
    network, shape = {"lenet5": lenet5, "deepmutation-b": network_b, "resnet": resnet}[name]()
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
