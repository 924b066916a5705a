"""Networks of torch of several shapes, for records of digits, and what peers need done to them first."""

import copy

import torch
from torch import nn


class Sum(nn.Module):
    """Of the last axis, as a layer, since peers give rules to layers."""

    def forward(self, branches):
        return branches.sum(-1)


class Join(nn.Module):
    def __init__(self):
        super().__init__()
        self.sum = Sum()

    def forward(self, one, other):
        return self.sum(torch.stack([one, other], -1))


class Residual(nn.Module):
    def __init__(self, *body):
        super().__init__()
        self.body = nn.Sequential(*body)
        self.join = Join()

    def forward(self, x):
        return self.join(x, self.body(x))


def normalisation(channels):
    """As after training: with statistics that are not 0 and 1."""
    layer = nn.BatchNorm2d(channels)
    for values, low, high in ((layer.running_mean, -0.2, 0.2), (layer.running_var, 0.5, 1.5), (layer.weight, 0.5, 1.5), (layer.bias, -0.2, 0.2)):
        nn.init.uniform_(values, low, high)
    return layer


def networks():
    yield "dense", nn.Sequential(nn.Flatten(), nn.Linear(784, 32), nn.ReLU(), nn.Linear(32, 16), nn.ReLU(), nn.Linear(16, 10))
    yield "LeNet with mean pooling", nn.Sequential(
        nn.Conv2d(1, 6, 5), nn.ReLU(), nn.AvgPool2d(2), nn.Conv2d(6, 12, 5), nn.ReLU(), nn.AvgPool2d(2), nn.Flatten(), nn.Linear(192, 10)
    )
    yield "max pooling", nn.Sequential(nn.Conv2d(1, 4, 5, stride=2), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(144, 10))
    yield "tanh", nn.Sequential(nn.Conv2d(1, 4, 7, stride=3), nn.Tanh(), nn.Flatten(), nn.Linear(256, 10))
    convolutions = [layer for inputs in (1, 4, 4, 4) for layer in (nn.Conv2d(inputs, 4, 3, padding=1), nn.ReLU())]
    yield "deep", nn.Sequential(*convolutions, nn.Flatten(), nn.Linear(3136, 10))
    yield "strides and padding", nn.Sequential(
        nn.Conv2d(1, 6, 3, stride=2, padding=1), nn.ReLU(), nn.Conv2d(6, 8, 3, stride=2, padding=1, groups=2), nn.ReLU(), nn.Flatten(), nn.Linear(392, 10)
    )
    yield "max and mean pooling", nn.Sequential(
        nn.Conv2d(1, 6, 5), nn.MaxPool2d(2), nn.ReLU(), nn.Conv2d(6, 12, 5), nn.ReLU(), nn.AvgPool2d(2), nn.Flatten(), nn.Linear(192, 10)
    )
    yield "max pooling of a linear map", nn.Sequential(nn.Conv2d(1, 4, 5, stride=2), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(144, 10))
    yield "normalised", nn.Sequential(
        nn.Conv2d(1, 6, 3, stride=2), normalisation(6), nn.ReLU(), nn.Conv2d(6, 8, 3, stride=2), normalisation(8), nn.ReLU(), nn.Flatten(), nn.Linear(288, 10)
    )
    yield "residual", nn.Sequential(
        nn.Conv2d(1, 6, 5, stride=3),
        nn.ReLU(),
        Residual(nn.Conv2d(6, 6, 3, padding=1), normalisation(6), nn.ReLU(), nn.Conv2d(6, 6, 3, padding=1)),
        nn.ReLU(),
        nn.Flatten(),
        nn.Linear(384, 10),
    )
    yield "depthwise", nn.Sequential(
        nn.Conv2d(1, 8, 3, stride=2), nn.ReLU(), nn.Conv2d(8, 8, 3, stride=2, groups=8), nn.Conv2d(8, 12, 1), nn.ReLU(), nn.Flatten(), nn.Linear(432, 10)
    )
    yield "one dimension", nn.Sequential(
        nn.Flatten(1, 2), nn.Conv1d(28, 12, 5, stride=2), nn.ReLU(), nn.Conv1d(12, 8, 3), nn.ReLU(), nn.Flatten(), nn.Linear(80, 10)
    )


def folded(net):
    """A copy whose normalisations are part of the convolutions before them, as relevance has it here."""
    if isinstance(net, Residual):
        return Residual(*folded(net.body)).eval()
    if not isinstance(net, nn.Sequential):
        return copy.deepcopy(net)
    layers = []
    for layer in net:
        if isinstance(layer, nn.BatchNorm2d):
            layers[-1] = nn.utils.fusion.fuse_conv_bn_eval(layers[-1], layer)
        else:
            layers.append(folded(layer))
    return type(net)(*layers).eval()


def without_biases(net):
    """A folded copy."""
    bare = folded(net)
    for name, parameter in bare.named_parameters():
        if name.endswith("bias"):
            nn.init.zeros_(parameter)
    return bare


def of_few_bits(net):
    """A copy whose sums are exact, whatever their order, so that equal values are equal everywhere."""
    coarse = copy.deepcopy(net)
    for parameter in coarse.parameters():
        parameter.data = (parameter.data * 64).round() / 64
    return coarse


def leaves(net):
    return [layer for layer in net.modules() if not list(layer.children())]
