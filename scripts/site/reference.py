"""Pages of reference: commands from their help, catalogues from the program, Python from stubs and sources, C++ from headers."""

from __future__ import annotations

import ast
import json
import pathlib
import re
import subprocess
from collections.abc import Iterator
from typing import Optional

import assay

_catalogues = ("criteria", "attacks", "operators", "constraints", "measures", "hypotheses", "tasks")


def _said(program: str, *arguments: str) -> str:
    return subprocess.run([program, *arguments], check=True, capture_output=True, text=True).stdout


def _escaped(text: str) -> str:
    """Text as Markdown shows it unchanged: what is in backticks stays code."""

    def plain(part: str) -> str:
        return re.sub(r"([\\<*_\[\]])", r"\\\1", part)

    parts = re.split(r"(`[^`]*`)", text)
    return "".join(part if i % 2 else plain(part) for i, part in enumerate(parts)).replace("|", "\\|")


def _table(titles: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    lines = [titles, tuple("---" for _ in titles), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"


def _code(text: str) -> str:
    return f"`{text}`".replace("|", "\\|") if text else ""


# Commands.


def _flags(section: str) -> list[tuple[str, str]]:
    """Flag and description of each entry of a section of the help."""
    rows: list[tuple[str, str]] = []
    for line in section.splitlines():
        entry = re.match(r"^  (\S.*?)(?:\s{2,}(\S.*))?$", line)
        if entry:
            rows.append((entry[1], entry[2] or ""))
        elif rows and line.strip():
            rows[-1] = (rows[-1][0], f"{rows[-1][1]} {line.strip()}".strip())
    return rows


def _command_page(name: str, said: str) -> str:
    summary, _, rest = said.partition("\n")
    usage = re.search(r"Usage: (.*)", rest)
    parts = [f"# assay {name}\n", summary[:1].upper() + summary[1:] + ".\n", f"```text\n{usage[1] if usage else ''}\n```\n"]
    for title, section in re.findall(r"^([A-Z][a-z ]+)(?: \(.*\))?:[^\n]*\n(.*?)(?=^\S|\Z)", rest, flags=re.MULTILINE | re.DOTALL):
        if title == "Examples":
            lines = "\n".join(line.strip() for line in section.strip().splitlines())
            parts.append(f"## Examples\n\n```console\n{lines}\n```\n")
        elif rows := [(_code(flag), _escaped(text)) for flag, text in _flags(section)]:
            parts.append(f"## {title}\n\n" + _table(("flag", "what it does"), rows))
    return "\n".join(parts)


def command_names(program: str) -> list[str]:
    """Those words of the overview that are commands."""
    return sorted(word for word in set(re.findall(r"\b[a-z]+\b", _said(program, "--help"))) if _exists(program, word))


def _exists(program: str, name: str) -> bool:
    return subprocess.run([program, "help", name], capture_output=True).returncode == 0


def _command_pages(program: str) -> Iterator[tuple[str, str]]:
    for name in command_names(program):
        yield f"commands/{name}.md", _command_page(name, _said(program, "help", name, "--help-all"))


# Catalogues.


def _entry(program: str, catalogue: str, name: str) -> str:
    document = json.loads(_said(program, catalogue, name, "--json", "-", "--quiet"))
    parts = [f"## {name}\n", _escaped(document["headline"].partition(": ")[2]) + ".\n"]
    for definition in document["definitions"]:
        parts.append(f"**{definition['term'].capitalize()}**: {_escaped(definition['text'])}.\n")
        if definition["term"] == "definition":
            parts.append(f"**Source**: {_escaped(definition['source'])}.\n")
    for table in document["tables"].values():
        rows = [(_code(row["option"]), _code(row["fallback"] or ""), _escaped(row["summary"])) for row in table["rows"]]
        parts.append(_table(("option", "default", "what it does"), rows))
    return "\n".join(parts)


def _catalogue_page(program: str, catalogue: str) -> str:
    document = json.loads(_said(program, catalogue, "--json", "-", "--quiet"))
    presets = {"presets", "choices"}
    names = [row["name"] for key, table in document["tables"].items() if key not in presets for row in table["rows"]]
    return f"# {catalogue.capitalize()}\n\n`assay {catalogue}` lists these.\n\n" + "\n".join(_entry(program, catalogue, name) for name in names)


# Python.


def _signature(node: ast.FunctionDef) -> str:
    shown = ast.FunctionDef(
        name=node.name, args=node.args, body=[ast.Expr(ast.Constant(...))], decorator_list=[], returns=node.returns, lineno=0, col_offset=0
    )
    line = ast.unparse(ast.fix_missing_locations(shown)).replace(":\n    ...", "")
    if len(line) <= 100:
        return line
    head, _, rest = line.partition("(")
    inside, _, end = rest.rpartition(")")
    return f"{head}(\n    " + ",\n    ".join(_arguments(inside)) + f",\n){end}"


def _arguments(text: str) -> list[str]:
    """Arguments of a signature: split at commas that are in no bracket."""
    parts, depth = [""], 0
    for letter in text:
        depth += letter in "([{"
        depth -= letter in ")]}"
        if letter == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter
    return [part.strip() for part in parts]


def _doc(text: Optional[str]) -> str:
    """A docstring as Markdown: its parameters become a table."""
    body, found, parameters = (text or "").partition("Parameters\n----------\n")
    rows = [(_code(name), _escaped(" ".join(said.split()))) for name, said in re.findall(r"^(\w+)\n((?:    .*\n?)+)", parameters, flags=re.MULTILINE)]
    table = "\n" + _table(("argument", "meaning"), rows) if found and rows else ""
    return re.sub(r":(?:func|class|meth):`([^`]*)`", r"`\1`", body).replace("``", "`").strip() + "\n" + table


def _is_property(node: ast.FunctionDef) -> bool:
    return any(isinstance(known, ast.Name) and known.id == "property" for known in node.decorator_list)


def _function(node: ast.FunctionDef, doc: Optional[str], depth: int) -> str:
    shown = f"{node.name}: {ast.unparse(node.returns)}" if _is_property(node) and node.returns else _signature(node)
    return f"{'#' * depth} {_escaped(node.name)}\n\n```python\n{shown}\n```\n\n{_doc(doc)}"


def _fields(node: ast.ClassDef) -> str:
    lines = [ast.unparse(member) for member in node.body if isinstance(member, ast.AnnAssign)]
    public = [line for line in lines if not line.startswith("_")]
    return "```python\n" + "\n".join(public) + "\n```\n" if public else ""


def _class(node: ast.ClassDef) -> str:
    parts = [f"## {node.name}\n", _doc(ast.get_docstring(node)), _fields(node)]
    members = [member for member in node.body if isinstance(member, ast.FunctionDef)]
    parts += [_function(m, ast.get_docstring(m), 3) for m in members if not m.name.startswith("_") and ast.get_docstring(m)]
    return "\n".join(parts)


def _definitions(path: pathlib.Path) -> dict[str, ast.stmt]:
    """Functions, classes and names of types, by name."""
    body = ast.parse(path.read_text()).body
    found: dict[str, ast.stmt] = {node.name: node for node in body if isinstance(node, (ast.FunctionDef, ast.ClassDef))}
    types = [node for node in body if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)]
    return found | {ast.unparse(node.targets[0]): node for node in types}


def _shown(node: ast.stmt) -> str:
    if isinstance(node, ast.ClassDef):
        return _class(node)
    if isinstance(node, ast.FunctionDef):
        return _function(node, ast.get_docstring(node), 2)
    assert isinstance(node, ast.Assign)
    return f"## {ast.unparse(node.targets[0])}\n\n```python\n{ast.unparse(node)}\n```\n"


def _imported(stubs: ast.Module, package: pathlib.Path) -> dict[str, list[str]]:
    """Pages by module, of the names that the stubs import from it."""
    found: dict[str, list[str]] = {}
    for node in stubs.body:
        if isinstance(node, ast.ImportFrom) and node.level == 1 and node.module:
            known = _definitions(package / f"{node.module}.py")
            found.setdefault(node.module, []).extend(_shown(known[alias.name]) for alias in node.names if alias.name in known)
    return found


_python_titles = {
    "_data": "Data",
    "_model": "Networks",
    "_own": "Extending from Python",
    "_progress": "Progress and warnings",
    "_results": "Results",
    "errors": "Errors",
}

#: Modules that users import by name.
_modules = {
    "callbacks": "Callbacks",
    "trackers": "Trackers",
    "texts": "Texts",
    "pytest_plugin": "The pytest plug-in",
    "ci": "Continuous integration",
}


def _python_pages(project: pathlib.Path) -> Iterator[tuple[str, str]]:
    package = project / "python" / "assay"
    stubs = ast.parse((package / "__init__.pyi").read_text())
    functions = [node for node in stubs.body if isinstance(node, ast.FunctionDef)]
    commands = [_function(node, getattr(assay, node.name).__doc__, 2) for node in functions if hasattr(assay, node.name)]
    yield "python/commands.md", "# Commands as functions\n\n" + "\n".join(commands)
    for module, shown in _imported(stubs, package).items():
        title = _python_titles.get(module, module)
        yield f"python/{title.lower().replace(' ', '-')}.md", f"# {title}\n\n" + "\n".join(shown)
    for module, title in _modules.items():
        first, *rest = [ast.parse(path.read_text()) for path in _sources(package, module)]
        nodes = [node for tree in (first, *rest) for node in tree.body]
        definitions = [node for node in nodes if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and not node.name.startswith("_")]
        public = [_shown(node) for node in definitions if ast.get_docstring(node)]
        yield f"python/{module.replace('_', '-')}.md", f"# {title}\n\n`assay.{module}`\n\n{_doc(ast.get_docstring(first))}\n" + "\n".join(public)


def _sources(package: pathlib.Path, module: str) -> list[pathlib.Path]:
    """Of a module that is one file or a folder of some; the first says what it is about."""
    folder = package / module
    return sorted(folder.glob("_*.py")) if folder.is_dir() else [package / f"{module}.py"]


# C++.


def _header_page(path: pathlib.Path, name: str) -> str:
    text = path.read_text()
    about = re.match(r"#pragma once\n\n((?://.*\n)*)", text)
    said = re.sub(r"^// ?", "", about[1], flags=re.MULTILINE).strip() if about else ""
    return f"# {name}\n\n{_escaped(said)}\n\n`````cpp\n{text[about.end() if about else 0 :].strip()}\n`````\n"


def _header_pages(project: pathlib.Path) -> Iterator[tuple[str, str]]:
    folder = project / "include" / "assay"
    for path in sorted(folder.rglob("*.h")):
        name = path.relative_to(folder)
        yield f"headers/{str(name.with_suffix('')).replace('/', '-')}.md", _header_page(path, str(name))


def pages(project: pathlib.Path, program: str) -> Iterator[tuple[str, str]]:
    yield from _command_pages(program)
    for catalogue in _catalogues:
        yield f"catalogues/{catalogue}.md", _catalogue_page(program, catalogue)
    yield from _python_pages(project)
    yield from _header_pages(project)
