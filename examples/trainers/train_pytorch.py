"""A trainer for `assay mutate --trainer "python3 train_pytorch.py"`: replace network() by yours.

It reads the description that Assay gives it, trains with the settings there and leaves trained.onnx. Mutants of the
network's structure need the network that Assay wrote (description["network"]); a network written down here, as below, is for
mutants of data and recipe.
"""

import json
import pathlib
import sys

import numpy
import torch


def network(record_shape, classes):
    channels, height, width = record_shape
    return torch.nn.Sequential(
        torch.nn.Conv2d(channels, 8, 3), torch.nn.ReLU(), torch.nn.MaxPool2d(2),
        torch.nn.Flatten(), torch.nn.Linear(8 * ((height - 2) // 2) * ((width - 2) // 2), classes))


def optimiser(recipe, parameters):
    rate, name = recipe["learning_rate"], recipe["optimiser"]["name"]
    options = recipe["optimiser"]["options"]
    made = {
        "sgd": lambda: torch.optim.SGD(parameters, rate, momentum=float(options.get("momentum", 0))),
        "adam": lambda: torch.optim.Adam(parameters, rate),
        "rmsprop": lambda: torch.optim.RMSprop(parameters, rate),
        "adadelta": lambda: torch.optim.Adadelta(parameters, rate),
        "adagrad": lambda: torch.optim.Adagrad(parameters, rate),
    }
    if name not in made:
        sys.exit(f"this trainer has no optimiser {name}")
    return made[name]()


def records(path):
    with numpy.load(path) as arrays:
        return torch.from_numpy(arrays["x"]).float(), torch.from_numpy(arrays["y"]).long()


def main(path):
    description = json.loads(pathlib.Path(path).read_text())
    if description["protocol"] != 1:
        sys.exit("this trainer knows protocol 1")
    recipe = description["recipe"]
    torch.manual_seed(description["seed"])
    x, y = records(description["training"])
    model = network(x.shape[1:], len(description["classes"]))
    steps = optimiser(recipe, model.parameters())
    loss = torch.nn.CrossEntropyLoss()
    for _ in range(recipe["epochs"]):
        order = torch.randperm(len(x)) if recipe["shuffle"] else torch.arange(len(x))
        for batch in order.split(recipe["batch"]):
            steps.zero_grad()
            loss(model(x[batch]), y[batch]).backward()
            steps.step()
    model.eval()
    out = str(pathlib.Path(description["out"]) / "trained.onnx")
    torch.onnx.export(model, x[:1], out, input_names=["x"], output_names=["scores"],
                      dynamic_axes={"x": {0: "batch"}, "scores": {0: "batch"}})


if __name__ == "__main__":
    main(sys.argv[1])
