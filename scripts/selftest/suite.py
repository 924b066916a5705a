"""A suite as it is built: questions with the figures that their answers must hold."""

import base64
import json


def fact(name):
    return {"column": name}


def cell(table, column, **row):
    return {"table": table, "row": {key: str(value) for key, value in row.items()}, "column": column}


def rows(table, **row):
    return {"table": table, "row": {key: str(value) for key, value in row.items()}}


def plain(value):
    """Numbers of NumPy as those of Python."""
    return value.item() if hasattr(value, "item") else value


class Question:
    def __init__(self, name, page, command, flags, refused=False):
        self.entry = {"name": name, "page": page, "command": command,
                      "flags": {key.replace("_", "-"): [value] if isinstance(value, str) else list(value)
                                for key, value in flags.items()}, "checks": []}
        if refused:
            self.entry["refused"] = True

    def expect(self, name, functions, at, expected, source, tolerance=0):
        check = {"name": name, "functions": [f"command:{self.entry['command']}", *functions], "at": at,
                 "expected": plain(expected), "source": source}
        if tolerance:
            check["tolerance"] = tolerance
        self.entry["checks"].append(check)


def text_of(entry):
    """A line for the question and one for each check."""
    head = {key: value for key, value in entry.items() if key != "checks"}
    checks = ",\n  ".join(json.dumps(check) for check in entry["checks"])
    return " " + json.dumps(head)[:-1] + ', "checks": [\n  ' + checks + "]}"


class Suite:
    def __init__(self, subjects):
        self.subjects = subjects
        self.questions, self.files, self.not_covered = [], dict(subjects.files()), {}

    def ask(self, name, page, command, **flags):
        self.questions.append(Question(name, page, command, flags))
        return self.questions[-1]

    def refuse(self, name, page, command, message, functions=(), **flags):
        question = Question(name, page, command, flags, refused=True)
        question.expect("refusal", list(functions), {}, message, "docs/exit-codes.md")
        self.questions.append(question)

    def text(self, programs):
        files = {name: {"text": content.decode()} if name.endswith((".csv", ".txt", ".toml", ".vnnlib"))
                 else {"base64": base64.b64encode(content).decode()} for name, content in self.files.items()}
        head = {"programs": programs, "files": files, "not_covered": self.not_covered}
        cases = ",\n".join(text_of(question.entry) for question in self.questions)
        return json.dumps(head, indent=1)[:-2] + ',\n "cases": [\n' + cases + "]}\n"
