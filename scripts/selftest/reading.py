"""What is read from files, and what is refused."""

import numpy as np

from subjects import bytes_of, scores
from suite import cell, fact

DATA = "docs/data.md"


def add(suite):
    s = suite.subjects
    for name, spec, source in [("npz", "$/test.npz", "numpy"), ("csv", "$/test.csv,label=class", "csv")]:
        question = suite.ask(f"read {name}", DATA, "data", data=spec)
        functions = [f"format:{source}"]
        question.expect("records", functions, fact("records"), len(s.test_x), "NumPy")
        question.expect("shape", functions, fact("shape"), "[4]", "NumPy")
        question.expect("mean", functions, fact("mean"), s.test_x.astype(np.float64).mean(), "NumPy", 1e-9)
        question.expect("deviation", functions, fact("deviation"), s.test_x.astype(np.float64).std(), "NumPy", 1e-9)
        question.expect("greatest element", functions, fact("high"), float(s.test_x.max()), "NumPy", 1e-12)
        for c, count in enumerate(np.bincount(s.test_y)):
            question.expect(f"records of class {c}", functions, cell("classes", "records", **{"class": c}), int(count), "NumPy")
    question = suite.ask("read onnx", "docs/models.md", "model", model="$/conv.onnx")
    question.expect("parameters", [], fact("parameters"), 3 * 9 + 3 + 3 * 12 + 3, "onnx (shapes of initializers)")
    question.expect("neurons", [], fact("neurons"), 9, "onnx (channels and units)")
    question.expect("operator of layer conv", [], cell("layers", "operator", name="conv"), "Conv + Relu", "onnx")
    question = suite.ask("accuracy of a table of numbers", DATA, "evaluate", model="$/net.onnx", data="$/test.csv,label=class")
    question.expect("accuracy", ["format:csv"], fact("test_accuracy"),
                    np.mean(scores(s.net, s.test_x).argmax(1) == s.test_y), "onnxruntime, NumPy", 1e-12)
    refused(suite)


def refused(suite):
    s = suite.subjects
    suite.files["cut-off.onnx"] = bytes_of(s.net)[:-40]
    suite.files["cut-off.npz"] = suite.files["test.npz"][:700]
    suite.files["words.csv"] = b"a,b,c,d,class\n0.5,fog,0.25,0.125,1\n"
    suite.refuse("a network that is cut off", "docs/models.md", "evaluate", "cut-off.onnx", model="$/cut-off.onnx", data="$/test.npz")
    suite.refuse("data that are cut off", DATA, "evaluate", "cut-off.npz", ["format:numpy"], model="$/net.onnx", data="$/cut-off.npz")
    suite.refuse("a word where a number belongs", DATA, "data", "fog", ["format:csv"], data="$/words.csv,label=class")
    suite.refuse("records of another shape", DATA, "evaluate", "takes [4]", model="$/net.onnx", data="$/pictures.npz")
    suite.refuse("a criterion that does not exist", "docs/coverage.md", "cover", "nueron", model="$/net.onnx",
                 test="$/test.npz", train="$/train.npz", criterion="nueron")
