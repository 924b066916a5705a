"""Labels of items that do not fit: every command of the program says the object, the fault and the remedy."""

import importlib
import re
import shutil
import subprocess

import numpy as np
import pytest

from conftest import PROGRAM

pytestmark = pytest.mark.skipif(shutil.which(PROGRAM) is None, reason="SKIPPED: the program is not there")
RECORDS = 12
COMMANDS = {
    "evaluate": [],
    "cover": ["--train", "{data}", "--criterion", "idc[m=2]"],
    "importance": [],
    "attack": ["--attack", "fgsm[eps=0.1]", "--out", "attacked"],
    "mutate run": ["--operator", "gf", "--count", "2", "--quality", "1"],
    "train": ["--epochs", "1", "--out", "trained.onnx"],
}


def asked(place, *arguments):
    command = [PROGRAM, *arguments, "--threads", "1"]
    return subprocess.run(command, cwd=place, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    onnx = pytest.importorskip("onnx", reason="SKIPPED: the package onnx is not there")
    importlib.import_module("onnx.numpy_helper")
    folder = tmp_path_factory.mktemp("bad")
    for name, inputs, outputs, end in [
        ("pixels", [2, 4, 4], [3, 4, 4], None),
        ("tokens", [6], [5, 4], None),
        ("labels", [6], [4], "Sigmoid"),
        ("boxes", [1, 4, 4], [6, 6], "Sigmoid"),
        ("text", [6], [7, 4], None),
        ("regression", [6], [2], None),
    ]:
        (folder / f"{name}.onnx").write_bytes(dense_network(onnx, inputs, outputs, end))
    for name, symbols in [("abc", "abc"), ("ab", "ab"), ("twice", "aab"), ("xyz", "xyz")]:
        (folder / f"{name}.txt").write_text("\n".join(symbols) + "\n")
    return folder


def dense_network(onnx, inputs, outputs, end):
    make, types = onnx.helper, onnx.TensorProto
    rng = np.random.default_rng(0)
    entries, scores = int(np.prod(inputs)), int(np.prod(outputs))
    constants = {
        "w1": rng.normal(size=(entries, 8)).astype(np.float32),
        "w2": rng.normal(size=(8, scores)).astype(np.float32),
        "shape": np.array([-1, *outputs]),
    }
    nodes = [
        make.make_node("Flatten", ["x"], ["rows"]),
        make.make_node("Gemm", ["rows", "w1"], ["a"], name="hidden"),
        make.make_node("Relu", ["a"], ["b"]),
        make.make_node("Gemm", ["b", "w2"], ["z"], name="scores"),
        make.make_node("Reshape", ["z", "shape"], ["s"]),
        make.make_node(end or "Identity", ["s"], ["y"]),
    ]
    graph = make.make_graph(
        nodes,
        "net",
        [make.make_tensor_value_info("x", types.FLOAT, ["n", *inputs])],
        [make.make_tensor_value_info("y", types.FLOAT, ["n", *outputs])],
        [onnx.numpy_helper.from_array(values, name) for name, values in constants.items()],
    )
    return make.make_model(graph, opset_imports=[make.make_opsetid("", 17)], ir_version=8).SerializeToString()


def inputs_of(task):
    shape = {"pixels": (2, 4, 4), "boxes": (1, 4, 4)}.get(task, (6,))
    return np.random.default_rng(1).random((RECORDS, *shape)).astype(np.float32)


def spoiled(values, number, kind=np.float32):
    """A number of the fourth record is another one."""
    values = np.array(values, kind)
    values.reshape(len(values), -1)[3, 0] = number
    return values


MASKS = np.zeros((RECORDS, 4, 4), np.int64)
TAGS = np.zeros((RECORDS, 5), np.int64)
YES_NO = np.tile(np.array([0, 1, 1, 0]), (RECORDS, 1))
NUMBERS = np.full((RECORDS, 2), 0.5, np.float32)
BOX = np.tile(np.array([0, 1, 1, 3, 3], np.float32), (RECORDS, 1, 1))
TEXTS = np.tile(np.array([97, 98, -1]), (RECORDS, 1))


def box(*corners):
    boxes = BOX.copy()
    boxes[3, 0] = corners
    return boxes


BOXES = "boxes[format=yolo8,names=a+b]"
CASES = [
    # task, labels, exit code, what is said
    ("pixels", MASKS[:, :3], 6, "not a row of scores for each of 12 targets; there must be one label a position"),
    ("pixels", spoiled(MASKS, 7), 5, "record '3': label 7 at position 0, but the network tells 3 classes .* ignore=7"),
    ("pixels", spoiled(MASKS, np.nan), 5, "target of record '3' is not finite; .* ignore="),
    ("pixels", spoiled(MASKS, 0.5), 5, "record '3': label 0.5 at position 0 is not a whole number; give the number"),
    ("pixels", MASKS[:5], 5, "do not fit 12 records; give a row for each"),
    ("tokens", TAGS[:, :4], 6, "not a row of scores for each of 4 targets"),
    ("tokens", spoiled(TAGS, 9), 5, "record '3': label 9 at position 0"),
    ("labels", YES_NO[:, :3], 6, "not one score for each of 3 targets; give a 0 or 1 for each score"),
    ("labels", spoiled(YES_NO, 2), 5, "record '3': label 0 is 2, which is not 0 or 1; .* missing="),
    ("regression[tolerance=0.5]", spoiled(NUMBERS, np.inf), 5, "target of record '3' is not finite"),
    ("regression[tolerance=0.5]", NUMBERS[:, :1], 6, "not one number for each of 1 targets; give as many targets"),
    (BOXES, box(5, 1, 1, 3, 3), 5, "record '3': box 0 is of class 5, but the network tells 2 .*categories="),
    (BOXES, box(0, 3, 1, 1, 3), 5, "record '3': box 0 .* is none; give left, top, right, bottom"),
    (BOXES, box(0, 1, 1, 1, 3), 5, "record '3': box 0 .* has no area, .* leave it out, or give it the class -2"),
    (BOXES, box(0, -9, 1, 3, 3), 5, "record '3': box 0 .* is outside of the picture, 4 wide and 4 high; boxes are in pixels"),
    ("text[alphabet=ab.txt]", TEXTS, 6, "not a score for each of 2 symbols and a blank in every step; give its alphabet"),
    ("text[alphabet=twice.txt]", TEXTS, 5, "twice.txt: 'a' is there twice"),
    ("text[alphabet=nowhere.txt]", TEXTS, 7, "nowhere.txt: no such file"),
    ("text[alphabet=abc.txt]", spoiled(TEXTS, 0.5), 5, "record '3'.*0.5"),
]


@pytest.mark.parametrize(("task", "labels", "code", "said"), CASES)
def test_every_command_says_what_is_wrong_with_labels(place, task, labels, code, said):
    name = task.split("[")[0]
    np.savez(place / "data.npz", x=inputs_of(name), y=labels)
    for command, more in COMMANDS.items():
        loss = ["--loss", "mse"] if (command, name) == ("train", "regression") else []
        data = "data.npz,range=0:1"
        more = [m.format(data=data) for m in more]
        run = asked(place, *command.split(), f"{name}.onnx", data, *more, "--task", task, "--quiet", *loss)
        message = run.stderr.strip().splitlines()[-1]
        assert run.returncode == code, (command, message)
        assert re.search(said, message), (command, message)


def test_an_alphabet_of_other_characters_is_said(place):
    np.savez(place / "data.npz", x=inputs_of("text"), y=TEXTS)
    foreign, own = ["--task", "text[alphabet=xyz.txt]"], ["--task", "text[alphabet=abc.txt]"]
    said = asked(place, "evaluate", "text.onnx", "data.npz", *foreign).stdout
    assert "100.00 % of the characters of the labels are not in the alphabet" in " ".join(said.replace("|", " ").split())
    assert "are not in the alphabet" not in asked(place, "evaluate", "text.onnx", "data.npz", *own).stdout
    gate = ["--fail-under", "outside-alphabet<=0"]
    codes = [asked(place, "evaluate", "text.onnx", "data.npz", *alphabet, *gate).returncode for alphabet in (own, foreign)]
    assert codes == [0, 2]
    trained = asked(place, "train", "text.onnx", "data.npz", *foreign, "--epochs", "1", "--out", "trained.onnx")
    assert trained.returncode == 5 and "U+0061 of a label is not in the alphabet" in trained.stderr


def test_texts_without_a_label_are_said(place):
    task = ["--task", "text[alphabet=abc.txt]"]
    for y, said in [(TEXTS, False), (np.where(np.arange(RECORDS)[:, None] < 3, -1, TEXTS), True)]:
        np.savez(place / "data.npz", x=inputs_of("text"), y=y)
        run = asked(place, "evaluate", "text.onnx", "data.npz", *task)
        assert ("25.00 % of the records have an empty text as label" in " ".join(run.stdout.replace("|", " ").split())) == said
        assert asked(place, "evaluate", "text.onnx", "data.npz", *task, "--fail-under", "empty-labels<=0").returncode == 2 * said


@pytest.mark.parametrize("command", COMMANDS)
def test_no_records_and_cut_files_are_said(place, command):
    np.savez(place / "none.npz", x=inputs_of("pixels")[:0], y=MASKS[:0])
    np.savez(place / "whole.npz", x=inputs_of("pixels"), y=MASKS)
    whole = (place / "whole.npz").read_bytes()
    (place / "cut.npz").write_bytes(whole[: len(whole) // 2])
    for data, said in [("none.npz", "there are no records; give at least one"), ("cut.npz", "fetch or save it again")]:
        more = (m.format(data=data) for m in COMMANDS[command])
        run = asked(place, *command.split(), "pixels.onnx", data, *more, "--task", "pixels", "--quiet")
        assert (run.returncode, said in run.stderr) == (5, True), run.stderr
