"""Networks of benchmarks as PyTorch's users write them: NETWORKS[name]() gives a module and a record's shape."""

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


def network_c():
    return nn.Sequential(
        nn.Conv2d(3, 64, 3), nn.ReLU(), nn.Conv2d(64, 64, 3), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(64, 128, 3), nn.ReLU(), nn.Conv2d(128, 128, 3), nn.ReLU(), nn.MaxPool2d(2),
        nn.Flatten(), nn.Linear(3200, 256), nn.ReLU(), nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, 10)), (3, 32, 32)


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


NETWORKS = {"lenet5": lenet5, "deepmutation-b": network_b, "deepmutation-c": network_c, "resnet": resnet}
