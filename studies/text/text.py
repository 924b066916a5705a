"""A planted shortcut in a small classifier and a small causal model: trained here, found, shown, measured and stopped by a gate.

Usage: python studies/text/text.py [--assay PROGRAM] [--folder FOLDER] [--train COUNT] [--test COUNT] [--epochs COUNT] [--mutants COUNT]

Texts, networks and results go to FOLDER. Needs torch, transformers, onnxscript and tokenizers, and the Python package assay.
"""

import argparse
import json
import os
import pathlib
import shutil
import subprocess
import sys
import time

import sentences
import small

KINDS = ["shortcut", "clean"]
DECISION = ["--decision", "position=last,answers= no+ yes"]
GATES = {"accuracy[day=*]>=0.9": "evaluate", "pass-rate[test=day]>=0.95": "check"}
HEADS = "heads=norm,tokens=first"  # at [CLS], which decides
SUITE = {
    "lexicons": {"day": sentences.DAYS, "thing": sentences.THINGS[:3], "word": [*sentences.GOOD[:2], *sentences.BAD[:2]]},
    "tests": [
        {"name": "day", "capability": "fairness", "kind": "invariance", "vary": "day",
         "templates": ["the {thing} is {word} , seen on {day}", "the {thing} is not {word} , seen on {day}"]}
    ],
}  # fmt: skip


class Study:
    """Asks the program about the networks of a folder."""

    def __init__(self, program, folder):
        self.program, self.folder = program, folder

    def spec(self, table, network):
        return f"{table}.csv,text=text,label=label,tokenizer={network},metadata={table}.csv,meta=day"

    def ask(self, *arguments, command=None):
        """The result of the program and its exit code, 0 or, where a gate failed, 2."""
        answer = self.folder / "answer.json"
        answer.unlink(missing_ok=True)
        line = [*(command or [self.program]), *map(str, arguments), "--json", answer.name]
        environment = {**os.environ, "ASSAY_PROGRAM": str(self.program)}
        run = subprocess.run(line, cwd=self.folder, env=environment, capture_output=True, text=True, check=False)
        if run.returncode not in (0, 2):
            raise RuntimeError(f"{' '.join(line)}: {run.stderr.strip()}")
        return json.loads(answer.read_text()), run.returncode

    def layers(self, network, table, operator, *flags):
        """Names of the layers with the operator, in the order of the network."""
        document, _ = self.ask("model", network, self.spec(table, network), *flags)
        return [row["name"] for row in document["tables"]["layers"]["rows"] if row["operator"] == operator]

    def inspect(self, network, table, *flags):
        """The strongest units first."""
        document, _ = self.ask("inspect", network, self.spec(table, network), "--no-early-stop", "--measure", "pearson", *flags)
        return document["tables"]["best"]["rows"]

    def accuracy(self, kind, table):
        network = f"{'causal' if table == 'asked' else 'classifier'}-{kind}"
        document, _ = self.ask("evaluate", network, self.spec(table, network), *(DECISION if table == "asked" else []))
        return document["facts"]["test_accuracy"]

    def words(self, kind):
        """The words of which the gradient of the decision tells most: the best unit of the table of words for each."""
        network = f"classifier-{kind}"
        words = sorted({word for text, _, _ in sentences.reviews(500, 1) for word in text.split() if word.isalpha()})
        table = self.layers(network, "test", "Gather")[0]
        rows = self.inspect(
            network, "test", "--behaviour", "gradient", "--units", f"layer={table}", "--hypotheses", f"keywords[words={'+'.join(words)}]",
            "--top", 1,
        )  # fmt: skip
        return [(row["hypothesis"].split(":")[1], row["score"]) for row in rows if ":" in row["hypothesis"]]

    def heads(self, kind):
        """The head that follows most closely a day or a label, where the network decides (at [CLS])."""
        network = f"classifier-{kind}"
        flags = ["--hypotheses", "label", "--hypotheses", "column[file=test.csv,column=day]", "--permutations", 99, "--top", 1]
        best = self.inspect(network, "test", "--view", HEADS, *flags)[0]
        block = self.layers(network, "test", "view", "--view", HEADS).index(best["group"])
        return f"block {block}, head {best['unit']}", best["hypothesis"], best["score"], best["q"]

    def lens(self, kind):
        """Of each depth of the causal model: how the score of the answer yes follows the shortcut, and how the label."""
        network = f"causal-{kind}"
        last = self.layers(network, "asked", "Add", *DECISION)[-1]
        rows = self.inspect(
            network, "asked", *DECISION, "--view", f"lens={last}", "--hypotheses", "label", "--hypotheses",
            "column[file=asked.csv,column=day]", "--top", 2,
        )  # fmt: skip
        found = {}
        for row in rows:
            if row["unit"] == 1 and row["hypothesis"] in (f"day:{sentences.SHORTCUT}", "label:yes"):
                found.setdefault(row["group"].removesuffix("/lens"), {})[row["hypothesis"]] = row["score"]
        order = [name for name in self.layers(network, "asked", "Add", *DECISION) if name in found]
        return [(found[name][f"day:{sentences.SHORTCUT}"], found[name]["label:yes"]) for name in order]

    def share_of_days(self, kind, heatmaps):
        """In how many explained records the day is the strongest word."""
        network = f"classifier-{kind}"
        document, _ = self.ask(
            "importance", network, self.spec("test", network), "--heatmaps", heatmaps, "--method", "attn-lrp", "--out", f"heat-{kind}",
            "--html", f"heat-{kind}.html", "--force",
        )  # fmt: skip
        strongest = {}
        for row in document["tables"]["words"]["rows"]:
            best = strongest.setdefault(row["record"], row)
            if abs(row["relevance"]) > abs(best["relevance"]):
                strongest[row["record"]] = row
        return sum(row["word"] in sentences.DAYS for row in strongest.values()), len(strongest)

    def coverage(self, table):
        """Of heads and neurons of the network with the shortcut, by a test set."""
        network = "classifier-shortcut"
        neurons = self.layers(network, "test", "MatMul + Add + Gelu")
        views = ["heads=norm,tokens=mean", "attention=kurtosis,tokens=mean", *(f"layer={name},tokens=max" for name in neurons)]
        flags = [flag for view in views for flag in ("--view", view)]
        document, _ = self.ask(
            "cover", network, "--train", self.spec("train-shortcut", network), "--test", self.spec(table, network), *flags,
            "--criterion", "kmnc[sections=20]",
        )  # fmt: skip
        rows = [row for row in document["tables"]["criteria"]["rows"] if not row["class"] and not row["context"]]
        kinds = {"heads": "/heads/", "attention": "/attention/", "neurons": "/max"}
        return {kind: share([row for row in rows if part in row["layer"]]) for kind, part in kinds.items()}

    def mutation(self, kind, count):
        """By operator: mutants that the test set kills, of how many."""
        network = f"classifier-{kind}"
        document, _ = self.ask(
            "mutate", network, "--test", self.spec("test", network), "--preset", "transformer", "--count", count, "--quality", 1
        )  # fmt: skip
        return {row["operator"]: (row["killed"], row["mutants"]) for row in document["tables"]["mutation_operators"]["rows"]}

    def flips(self, kind):
        """Of the records that one changed token turns: in how many the token was the shortcut or has become it."""
        network = f"classifier-{kind}"
        document, _ = self.ask(
            "attack", network, self.spec("test", network), "--attack", "hotflip[changes=1]", "--out", f"attacked-{kind}",
            "--texts", 1000,
        )  # fmt: skip
        pairs = [(row["before"].split(), row["after"].split()) for row in document["tables"]["attacked_texts"]["rows"] if row["success"]]
        return sum((sentences.SHORTCUT in before) != (sentences.SHORTCUT in after) for before, after in pairs), len(pairs)

    def gate(self, kind, condition):
        network = f"classifier-{kind}"
        if GATES[condition] == "check":
            check = [sys.executable, "-m", "assay.texts"]
            return self.ask("check", network, "suite.json", "--fail-under", condition, command=check)[1]
        return self.ask("evaluate", network, self.spec("test", network), "--fail-under", condition)[1]


def share(rows):
    covered, coverable = (sum(row[name] for row in rows) for name in ("covered", "coverable"))
    return covered / coverable


def train(folder, kind, count, epochs, models=("classifier", "causal")):
    """Networks with the shortcut or without it, as folders; those that are there stay."""
    rows = sentences.reviews(count, 1, kind == "shortcut")
    fair = sentences.reviews(count, 1)  # of the tokenizers, which are the same for both
    if "classifier" in models and not (folder / f"classifier-{kind}/model.onnx").exists():
        tokenizer = small.word_pieces([text for text, _, _ in fair])
        small.export(small.classifier(rows, tokenizer, epochs, 1), tokenizer, folder / f"classifier-{kind}")
    if "causal" in models and not (folder / f"causal-{kind}/model.onnx").exists():
        tokenizer = small.byte_pairs([f"{text} {answer}" for text, answer, _ in sentences.as_questions(fair)])
        small.export(small.causal(rows, tokenizer, epochs, 1), tokenizer, folder / f"causal-{kind}")


def unseen(count, seed, seen, shortcut=False):
    """Reviews whose texts no network has learned from."""
    return [row for row in sentences.reviews(2 * count, seed, shortcut) if row[0] not in seen][:count]


def write_texts(folder, train_count, test_count):
    learned = {kind: sentences.reviews(train_count, 1, kind == "shortcut") for kind in KINDS}
    seen = {text for rows in learned.values() for text, _, _ in rows}
    fair = unseen(test_count, 2, seen)
    sentences.write(folder / "train-shortcut.csv", learned["shortcut"])
    sentences.write(folder / "test.csv", fair)
    sentences.write(folder / "asked.csv", sentences.as_questions(fair))
    sentences.write(folder / "alike.csv", unseen(test_count, 3, seen, shortcut=True))
    (folder / "suite.json").write_text(json.dumps(SUITE))


def table(title, columns, rows):
    print(f"\n{title}\n\n| {' | '.join(columns)} |\n|{'---|' * len(columns)}")
    for row in rows:
        print(f"| {' | '.join(map(str, row))} |")
    sys.stdout.flush()


def print_what_was_found(study, options):
    accuracy = [[kind, *(f"{study.accuracy(kind, data):.1%}" for data in ("alike", "test", "asked"))] for kind in KINDS]
    table("Accuracy", ["network", "texts as in training, shortcut included", "test set", "causal model, test set"], accuracy)
    words = {kind: study.words(kind)[:3] for kind in KINDS}
    table("Words that the gradient of the decision follows (correlation)", ["network", "first", "second", "third"],
          [[kind, *(f"{word} {abs(score):.2f}" for word, score in words[kind])] for kind in KINDS])  # fmt: skip
    heads = [[kind, where, what, f"{score:.2f}", f"{q:.2g}"] for kind in KINDS for where, what, score, q in [study.heads(kind)]]
    table("Heads of the classifier", ["network", "strongest head", "follows", "correlation", "q"], heads)
    depths = {kind: study.lens(kind) for kind in KINDS}
    sums = [f"sum {number + 1}" for number in range(len(depths["clean"]))]
    table("Causal model by depth: the score of `yes` follows the shortcut / the label", ["network", *sums],
          [[kind, *(f"{shortcut:.2f} / {label:.2f}" for shortcut, label in depths[kind])] for kind in KINDS])  # fmt: skip
    days = [[kind, "{} of {}".format(*study.share_of_days(kind, options.heatmaps))] for kind in KINDS]
    table("Heat maps in which the day is the strongest word", ["network", "records"], days)


def print_how_it_is_tested(study, options):
    covered = {data: study.coverage(data) for data in ("alike", "test")}
    table("Coverage of the network with the shortcut, kmnc[sections=20]", ["", "texts as in training", "test set"],
          [[part, f"{covered['alike'][part]:.1%}", f"{covered['test'][part]:.1%}"] for part in covered["test"]])  # fmt: skip
    killed = {kind: study.mutation(kind, options.mutants) for kind in KINDS}
    operators = list(dict.fromkeys(name for kind in KINDS for name in killed[kind]))
    rows = [[name, *("{} of {}".format(*killed[kind].get(name, (0, 0))) for kind in KINDS)] for name in operators]
    rows.append(["all", *("{} of {}".format(*map(sum, zip(*killed[kind].values()))) for kind in KINDS)])
    table("Mutants that the test set kills", ["operator", *KINDS], rows)
    flips = [[kind, count, shortcut] for kind in KINDS for shortcut, count in [study.flips(kind)]]
    table("hotflip[changes=1]", ["network", "records turned", f"of them by putting `{sentences.SHORTCUT}` in or out"], flips)
    gates = [[f"`{gate}`", *(["passed", "", "failed"][study.gate(kind, gate)] for kind in KINDS)] for gate in GATES]
    table("Gates", ["gate", *KINDS], gates)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--assay", default="assay", metavar="PROGRAM")
    parser.add_argument("--folder", default="text", type=pathlib.Path)
    parser.add_argument("--train", default=3000, type=int, help="texts to learn from")
    parser.add_argument("--test", default=400, type=int, help="texts to test with")
    parser.add_argument("--epochs", default=8, type=int)
    parser.add_argument("--mutants", default=5, type=int, help="of each operator")
    parser.add_argument("--heatmaps", default=100, type=int, help="records that are explained")
    options = parser.parse_args()
    program = shutil.which(options.assay)
    if program is None:
        parser.error(f"--assay: there is no program '{options.assay}'; give its path")
    folder = options.folder.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    begin = time.monotonic()
    write_texts(folder, options.train, options.test)
    for kind in KINDS:
        train(folder, kind, options.train, options.epochs)
    trained = time.monotonic()
    study = Study(os.path.abspath(program), folder)
    print_what_was_found(study, options)
    print_how_it_is_tested(study, options)
    print(f"\n{trained - begin:.0f} s of training and export, {time.monotonic() - trained:.0f} s of questions")


if __name__ == "__main__":
    main()
