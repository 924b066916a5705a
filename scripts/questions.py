"""Asks the installed package questions and keeps the documents; or compares two folders of them. See check-aarch64.sh.

Usage: questions.py                      (in a folder; trains net.onnx where it is not there)
       questions.py --compare ONE OTHER  (ends with 1 where more differs than rounding)
"""

import json
import math
import os
import pathlib
import sys

TEST = "digits:100,seed=7"
LARGEST = 1e-6, 1e-4  # differences of numbers that are rounding: absolute, or of the greater one
# Times, hashes of what is rounded, and files in folders of the day.
LEFT_OUT = {"seconds", "finished", "versions", "commit", "profile_hash", "options", "path", "file", "data"}


def ask():
    import assay

    if not os.path.exists("net.onnx"):
        recipe = {"optimiser": "adam", "learning_rate": 0.002, "train_batch": 32, "epochs": 2}
        assay.train("digits:1500", architecture="lenet5", **recipe).model.save("net.onnx")
    criteria = ["idc[m=4]", "nc", "kmnc", "nbc", "tknc", "lsc", "dsc", "nlc"]
    attacks = ["fgsm[eps=0.3]", "pgd[eps=0.2,steps=3]", "deepfool", "cw[iterations=5]"]
    questions = {
        "evaluate": lambda: assay.evaluate("net.onnx", TEST),
        "importance": lambda: assay.importance("net.onnx", TEST, layer="conv2", top=5),
        "cover": lambda: assay.cover("net.onnx", "digits:200", TEST, criterion=criteria),
        "mutate": lambda: assay.mutate("net.onnx", TEST, operator=["gf[sigma=0.5]", "ns", "nai", "ws"], count=3),
        "attack": lambda: assay.attack("net.onnx", "digits:30,seed=7", attack=attacks),
        "inspect": lambda: assay.inspect("net.onnx", TEST, hypotheses="label"),
        "select": lambda: assay.select("net.onnx", TEST, by="deepgini", size=20),
    }
    for name, question in questions.items():
        result = question()
        result.save_json(f"{name}.json")
        print(f"{name}: {result.headline}", flush=True)


class Comparison:
    def __init__(self):
        self.numbers, self.greatest, self.others = 0, 0.0, []

    def compare(self, one, other, where):
        if isinstance(one, dict) and isinstance(other, dict):
            for name in sorted((one.keys() | other.keys()) - LEFT_OUT):
                self.compare(one.get(name), other.get(name), f"{where}/{name}")
        elif isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
            for position, pair in enumerate(zip(one, other)):
                self.compare(*pair, f"{where}/{position}")
        elif isinstance(one, float) or isinstance(other, float):
            self.compare_numbers(one, other, where)
        elif one != other:
            self.others.append((where, one, other))

    def compare_numbers(self, one, other, where):
        self.numbers += 1
        absolute, relative = LARGEST
        if not all(isinstance(number, (int, float)) for number in (one, other)):
            return self.others.append((where, one, other))
        if not math.isclose(one, other, rel_tol=relative, abs_tol=absolute):
            self.others.append((where, one, other))
        elif max(abs(one), abs(other)) > 1e-3:
            self.greatest = max(self.greatest, abs(one - other) / max(abs(one), abs(other)))


def compare(one, other):
    found = Comparison()
    files = sorted(path.name for path in pathlib.Path(one).glob("*.json"))
    for name in files:
        documents = (json.loads(pathlib.Path(folder, name).read_text()) for folder in (one, other))
        found.compare(*documents, name)
    for where, mine, theirs in found.others[:20]:
        print(f"differs: {where}: {str(mine)[:100]} and {str(theirs)[:100]}")
    rounding = f"rounding is at most {found.greatest:.1e} of a number above 0.001"
    print(f"{len(files)} documents, {found.numbers} numbers: {len(found.others)} parts differ; {rounding}")
    return 1 if found.others or not files else 0


if __name__ == "__main__":
    if len(sys.argv) == 4 and sys.argv[1] == "--compare":
        sys.exit(compare(*sys.argv[2:]))
    if len(sys.argv) != 1:
        sys.exit(__doc__)
    ask()
