"""Notebooks as pages: their cells are run, and what they print and show stands after them."""

from __future__ import annotations

import ast
import contextlib
import io
import os
import pathlib
import re
import tempfile
from collections.abc import Iterator
from typing import Any


def _cells(text: str) -> Iterator[tuple[bool, str]]:
    """Whether a cell is text, and what it holds."""
    for cell in re.split(r"^# %%", text, flags=re.MULTILINE)[1:]:
        first, _, body = cell.partition("\n")
        if "[markdown]" in first:
            yield True, re.sub(r"^# ?", "", body, flags=re.MULTILINE).strip()
        elif body.strip():
            yield False, body.strip()


def _run(code: str, names: dict[str, Any]) -> tuple[str, Any]:
    """What the cell printed, and the value of its last line where that is an expression."""
    tree = ast.parse(code)
    last = ast.Expression(tree.body.pop().value) if isinstance(tree.body[-1], ast.Expr) else None
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(tree, "cell", "exec"), names)  # noqa: S102
        value = None if last is None else eval(compile(last, "cell", "eval"), names)  # noqa: S307
    return printed.getvalue(), value


def _shown(value: Any) -> str:
    if value is None:
        return ""
    html = getattr(value, "_repr_html_", lambda: None)()
    if html:
        lines = "\n".join(line for line in html.splitlines() if line.strip())
        return f'<div class="assay-result">\n{lines}\n</div>\n'
    return f"```text\n{value!r}\n```\n"


def _page(notebook: pathlib.Path) -> str:
    parts, names = [], {"__name__": "__notebook__"}
    for is_text, cell in _cells(notebook.read_text(encoding="utf-8")):
        if is_text:
            parts.append(cell + "\n")
            continue
        printed, value = _run(cell, names)
        parts.append(f"```python\n{cell}\n```\n")
        parts.append(f"```text\n{printed.rstrip()}\n```\n" if printed.strip() else "")
        parts.append(_shown(value))
    return "\n".join(part for part in parts if part)


def _without_running(notebook: pathlib.Path, reason: str) -> str:
    parts = [cell if is_text else f"```python\n{cell}\n```" for is_text, cell in _cells(notebook.read_text(encoding="utf-8"))]
    return "\n\n".join([parts[0], f'!!! note "Not run here: {reason}"', *parts[1:]]) + "\n"


def pages(folder: pathlib.Path) -> Iterator[tuple[str, str]]:
    here = os.getcwd()
    for notebook in sorted(folder.glob("*.py")):
        with tempfile.TemporaryDirectory() as work:
            os.chdir(work)
            try:
                text = _page(notebook)
            except ImportError as error:
                text = _without_running(notebook, f"{error}")
            finally:
                os.chdir(here)
        yield notebook.stem + ".md", text
