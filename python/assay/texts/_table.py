"""Texts of a file with their labels, as data options of the program read them: ``text=COLUMN``, ``label=COLUMN``."""

from __future__ import annotations

import contextlib
import csv
import itertools
import json
import pathlib
import re
from collections.abc import Iterator
from typing import Any, Optional

from ..errors import DataError, FileError, UsageError

_longest_field = 2**31 - 1


def texts_and_labels(path: pathlib.Path, text: str, label: Optional[str]) -> tuple[list[str], Optional[list[Any]]]:
    """Columns of a table ``.csv``, ``.tsv`` or ``.jsonl``; of a file ``.txt`` a text a line, with its label after the last tab."""
    content = read_text(path)
    if path.suffix == ".txt":
        if label is not None:
            raise UsageError(f"{path}: lines of text have no columns; leave out --label")
        return _lines(path, content)
    rows = _objects(path, content) if path.suffix == ".jsonl" else _rows(path, content)
    if not rows:
        each = "an object a line" if path.suffix == ".jsonl" else "a row of names of columns, then a row a text"
        raise DataError(f"{path}: there are no texts; give {each}")
    texts = [str(_cell(path, rows, place, text)) for place in range(len(rows))]
    return texts, None if label is None else [_cell(path, rows, place, label) for place in range(len(rows))]


def read_text(path: pathlib.Path) -> str:
    """What a file in UTF-8 says."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise FileError(f"{path}: {error.strerror}") from error
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise DataError(f"{path}: line {line} is not UTF-8; write the file in UTF-8") from error


@contextlib.contextmanager
def long_fields() -> Iterator[None]:
    """Here ``csv`` reads fields of any length."""
    before = csv.field_size_limit(_longest_field)
    try:
        yield
    finally:
        csv.field_size_limit(before)


def _lines(path: pathlib.Path, content: str) -> tuple[list[str], Optional[list[Any]]]:
    if not content:
        raise DataError(f"{path}: there are no texts; give a text a line")
    lines = content.replace("\r\n", "\n").removesuffix("\n").split("\n")
    parts = [line.rpartition("\t") for line in lines]
    labelled = sum(bool(tab) for _, tab, _ in parts)
    if labelled == 0:
        return lines, None
    if labelled < len(lines):
        raise DataError(f"{path}: {labelled} of {len(lines)} lines have a label after a tab; all or none must")
    return [before for before, _, _ in parts], [after.strip() for _, _, after in parts]


def _rows(path: pathlib.Path, content: str) -> list[dict[str, Any]]:
    separator = "\t" if path.suffix == ".tsv" else ","
    fields = list(_fields(path, content, separator))
    header, rows = (fields[0], fields[1:]) if fields else ([], [])
    for place, row in enumerate(rows):
        if len(row) > len(header):
            what = "tabs" if separator == "\t" else "commas"
            raise DataError(
                f"{path}: record {place} has {len(row)} fields, and there are {len(header)} columns; "
                f"put texts with {what} in double quotes"
            )
    return [dict(itertools.zip_longest(header, row)) for row in rows]


def _fields(path: pathlib.Path, content: str, separator: str) -> Iterator[list[str]]:
    """Rows as the program has them: they end at line feeds, and carriage returns are kept in quotes alone."""
    pattern = rf'(?:\r*"([^"]*(?:""[^"]*)*)("?))?([^{separator}\n]*)({separator}|\n|\Z)'
    row: list[str] = []
    for match in re.finditer(pattern, content):
        quoted, closed, plain, end = match.groups()
        if quoted is not None and not closed:
            line = content.count("\n", 0, match.start()) + 1
            raise DataError(f"{path}: line {line}: a quote is never closed; close it, and write quotes within it twice")
        row.append((quoted or "").replace('""', '"') + plain.replace("\r", ""))
        if end != separator:
            if row != [""]:
                yield row
            row = []


def _objects(path: pathlib.Path, content: str) -> list[dict[str, Any]]:
    rows = []
    for number, line in enumerate(content.split("\n"), 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except ValueError as error:
            raise DataError(f"{path}: line {number}: {error}") from error
        if not isinstance(row, dict):
            raise DataError(f"{path}: line {number} is not an object")
        rows.append(row)
    return rows


def _cell(path: pathlib.Path, rows: list[dict[str, Any]], place: int, column: str) -> Any:
    row = rows[place]
    if all(column not in one for one in rows):
        raise DataError(f"{path}: there is no column '{column}'; there are {', '.join(rows[0])}")
    if row.get(column) is None:
        raise DataError(f"{path}: record {place} has no '{column}'; leave it out")
    return row[column]
