"""A trainer for `assay mutate --trainer "python3 train_keras.py"`: replace network() by yours.

It reads the description that Assay gives it, trains with the settings there and leaves trained.keras. Records come channels
first; Keras takes them channels last.
"""

import json
import pathlib
import sys

import numpy
from tensorflow import keras


def network(record_shape, classes):
    channels, height, width = record_shape
    return keras.Sequential([
        keras.Input((channels, height, width)), keras.layers.Permute((2, 3, 1)),
        keras.layers.Conv2D(8, 3, activation="relu"), keras.layers.MaxPooling2D(),
        keras.layers.Flatten(), keras.layers.Dense(classes, activation="softmax")])


def records(path):
    with numpy.load(path) as arrays:
        return arrays["x"].astype("float32"), arrays["y"]


def main(path):
    description = json.loads(pathlib.Path(path).read_text())
    if description["protocol"] != 1:
        sys.exit("this trainer knows protocol 1")
    recipe = description["recipe"]
    keras.utils.set_random_seed(description["seed"])
    x, y = records(description["training"])
    model = network(x.shape[1:], len(description["classes"]))
    steps = keras.optimizers.get({"class_name": recipe["optimiser"]["name"],
                                  "config": {"learning_rate": recipe["learning_rate"]}})
    model.compile(optimizer=steps, loss="sparse_categorical_crossentropy")
    validation = records(description["validation"]) if description["validation"] else None
    stops = []
    if recipe["patience"] is not None:
        stops.append(keras.callbacks.EarlyStopping(patience=recipe["patience"], min_delta=recipe["min_delta"]))
    model.fit(x, y, batch_size=recipe["batch"], epochs=recipe["epochs"], shuffle=recipe["shuffle"],
              validation_data=validation, callbacks=stops, verbose=2)
    model.save(pathlib.Path(description["out"]) / "trained.keras")


if __name__ == "__main__":
    main(sys.argv[1])
