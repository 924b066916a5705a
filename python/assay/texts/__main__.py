"""Usage: python3 -m assay.texts check NETWORK SUITE [SETTING...]
       python3 -m assay.texts attack NETWORK TEXTS [SETTING...]
       python3 -m assay.texts explore NETWORK OTHER TEXTS [SETTING...]

`check` runs tests of behaviour from templates; `attack` edits the texts of a table until decisions change, `explore` until two
networks decide differently. All end with code 2 where a gate fails, and with the codes of the program where something is wrong
(docs/exit-codes.md).
"""

from __future__ import annotations

import argparse
import pathlib
import sys
from collections.abc import Sequence
from typing import Any, Optional

from .._results import Result
from ..errors import AssayError, FileError
from . import attack, check, explore
from ._table import texts_and_labels
from .edits import catalogue

_gates_failed = 2


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python3 -m assay.texts", description="Tests networks that decide about texts.")
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    checking = actions.add_parser("check", help="tests of behaviour from templates")
    checking.add_argument("network", help="an ONNX file, or the folder of an exported model")
    checking.add_argument("suite", help="templates and lexicons, .toml or .json")
    checking.add_argument("--shown", type=int, default=5, help="failing cases that are listed of each test (default: 5)")
    attacking = actions.add_parser("attack", help="edits of characters and words against decisions")
    exploring = actions.add_parser("explore", help="edits on which a network and another version of it disagree")
    for one in (attacking, exploring):
        one.add_argument("network", help="an ONNX file, or the folder of an exported model")
        if one is exploring:
            one.add_argument("other", help="the same of its quantised, pruned or fine-tuned self")
        one.add_argument("texts", help="a table .csv, .tsv or .jsonl, or .txt with a text a line")
        one.add_argument("--text", default="text", help="column of the texts (default: text)")
        one.add_argument("--edits", default="swap,insert,delete,keyboard", help=f"some of {', '.join(catalogue)}")
        one.add_argument("--changes", type=float, default=0.2, help="most words that change, or a share below 1 (default: 0.2)")
        one.add_argument("--protect", default="", help="words that stay, joined by +")
        one.add_argument("--tried", type=int, default=64, help="most edits of one word that are judged (default: 64)")
    attacking.add_argument("--label", help="column of the classes (default: what the network decides)")
    attacking.add_argument("--out", help="CSV file of the texts before and after, which is read back and judged again")
    for one in (checking, attacking, exploring):
        one.add_argument("--tokenizer", help="tokenizer.json or its folder (default: that of the network)")
        one.add_argument("--words", help="network whose words texts become, for a mutant of it (default: the network, if it takes texts)")
        one.add_argument("--synonyms", help="JSON file: lists of words by word, for the edit synonym")
        one.add_argument("--decision", help="as of the program, such as position=last,answers=Yes+No")
        one.add_argument("--length", type=int, help="tokens or words of a record (default: those of the longest text)")
        one.add_argument("--seed", type=int, default=1)
        one.add_argument("--fail-under", action="append", default=[], metavar="GATE", help="such as pass-rate[test=negation]>=0.9; may be repeated")
        for rendering in ("json", "html", "junit", "markdown", "sarif"):
            one.add_argument(f"--{rendering}", metavar="FILE", help=f"write the result as {rendering}")
    return parser


def _answer(given: argparse.Namespace) -> Result:
    common: dict[str, Any] = {name: getattr(given, name) for name in ("tokenizer", "words", "synonyms", "decision", "length", "seed", "fail_under")}
    if given.action == "check":
        return check(given.network, given.suite, shown=given.shown, **common)
    common.update(
        edits=given.edits.split(","), changes=given.changes, tried=given.tried, protect=[word for word in given.protect.split("+") if word]
    )
    texts, labels = texts_and_labels(pathlib.Path(given.texts), given.text, getattr(given, "label", None))
    if given.action == "explore":
        return explore(given.network, given.other, texts, **common)
    return attack(given.network, texts, labels, out=given.out, **common)


def _write(result: Result, given: argparse.Namespace) -> None:
    if given.json:
        result.save_json(given.json)
    if given.html:
        result.save_html(given.html)
    for rendering in ("junit", "markdown", "sarif"):
        if getattr(given, rendering):
            _write_text(pathlib.Path(getattr(given, rendering)), result.render(rendering))


def _write_text(path: pathlib.Path, text: str) -> None:
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise FileError(f"{path}: {error.strerror}") from error


def main(arguments: Optional[Sequence[str]] = None) -> int:
    given = _parser().parse_args(arguments)
    try:
        result = _answer(given)
        _write(result, given)
    except AssayError as error:
        print(f"assay.texts: {error}", file=sys.stderr)
        return int(getattr(error, "exit_code", 1))
    print(result)
    return 0 if result.passed else _gates_failed


if __name__ == "__main__":
    sys.exit(main())
