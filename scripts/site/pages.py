"""Writes the pages of the documentation site, and the configuration that names them all.

Usage: pages.py PROGRAM FOLDER
  PROGRAM: the built program; FOLDER: where the pages go, FOLDER.yml is the configuration
Pages are those of docs/ and others of the repository, with links to sources turned into links to pages that show them, and
what reference.py and notebooks.py make.
"""

from __future__ import annotations

import os
import pathlib
import re
import shutil
import sys

import notebooks
import reference

PROJECT = pathlib.Path(__file__).resolve().parents[2]
_languages = {".cpp": "cpp", ".h": "cpp", ".py": "python", ".sh": "bash", ".cmake": "cmake", ".json": "json", ".toml": "toml"}
_link = re.compile(r"(\]\()([^)\s#]*)(#[^)\s]*)?\)")  # its text may have begun in an earlier line
_listed = re.compile(r"^ *([-*]|\d+\.) ")


def page_names() -> dict[str, str]:
    """Pages of the repository with where they are in the site."""
    pages = {str(p.relative_to(PROJECT)): str(p.relative_to(PROJECT / "docs")) for p in (PROJECT / "docs").rglob("*.md")}
    for folder in ("studies", "benchmarks"):
        pages |= {str(p.relative_to(PROJECT)): str(p.relative_to(PROJECT)) for p in (PROJECT / folder).rglob("*.md")}
    pages |= {name: name for name in ("CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md")}
    return pages | {"README.md": "index.md", "docs/README.md": "index.md"}


def _shown(path: pathlib.Path, name: str) -> str:
    if path.is_dir():
        entries = sorted(p.name + ("/" if p.is_dir() else "") for p in path.iterdir() if not p.name.startswith("."))
        return f"# {name}/\n\n" + "\n".join(f"- `{entry}`" for entry in entries) + "\n"
    return f"# {name}\n\n`````{_languages.get(path.suffix, 'text')}\n{path.read_text(encoding='utf-8')}\n`````\n"


class Site:
    def __init__(self, folder: pathlib.Path) -> None:
        self.folder, self.pages = folder, page_names()

    def write(self, name: str, text: str) -> None:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def _target(self, page: str, link: str) -> str | None:
        """Where in the site a link of a page leads; None where it names nothing of the repository."""
        path = pathlib.Path(os.path.normpath(PROJECT / page)).parent / link
        name = os.path.relpath(path, PROJECT)
        if name in self.pages:
            return self.pages[name]
        if not path.exists() or name.startswith(".."):
            return None
        if path.suffix in {".png", ".svg"}:
            self._copy(path, name)
            return name
        if path.is_dir() and f"{name}/README.md" in self.pages:
            return self.pages[f"{name}/README.md"]
        self.write(f"files/{name}.md", _shown(path, name))
        return f"files/{name}.md"

    def _copy(self, path: pathlib.Path, name: str) -> None:
        (self.folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, self.folder / name)

    def _linked(self, page: str, line: str) -> str:
        def changed(found: re.Match[str]) -> str:
            target = found[2] and "://" not in found[2] and self._target(page, found[2])
            if not target:
                return found[0]
            return f"{found[1]}{os.path.relpath(target, os.path.dirname(self.pages[page]) or '.')}{found[3] or ''})"

        return "".join(part if i % 2 else _link.sub(changed, part) for i, part in enumerate(re.split(r"(`[^`]*`)", line)))

    def page(self, name: str) -> None:
        """A page of the repository: links lead to pages of the site, and a list begins after an empty line, as MkDocs needs it."""
        lines = ["---", "hide: [navigation]", "---", ""] if self.pages[name] == "index.md" else []
        fenced, before = False, ""
        for line in (PROJECT / name).read_text(encoding="utf-8").splitlines():
            fenced ^= line.lstrip().startswith("```")
            if not fenced:
                if _listed.match(line) and before and not _listed.match(before) and not before.startswith(" "):
                    lines.append("")
                line = self._linked(name, line)
            lines.append(line)
            before = line
        self.write(self.pages[name], "\n".join(lines) + "\n")


def _expanded(folder: pathlib.Path) -> str:
    """mkdocs.yml with each pattern of the navigation replaced by the pages that fit it."""

    def entries(found: re.Match[str]) -> str:
        pages = sorted(folder.glob(found[2]), key=lambda p: (p.name != "index.md", p.name))
        return "\n".join(f"{found[1]}- {p.relative_to(folder)}" for p in pages)

    text = (PROJECT / "mkdocs.yml").read_text()
    text = re.sub(r"^( *)- (reference/.*\*\.md)$", entries, text, flags=re.MULTILINE)
    return re.sub(r"^docs_dir: .*$", f"docs_dir: {folder.resolve()}", text, flags=re.MULTILINE)


def main(program: str, folder: pathlib.Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    site = Site(folder)
    for name in site.pages:
        if name != "docs/README.md":
            site.page(name)
    for name in ("iframe-worker.js", "style.css"):
        site._copy(PROJECT / "docs" / "site" / name, f"assets/{name}")
    for name, text in reference.pages(PROJECT, program):
        site.write(f"reference/{name}", text)
    for name, text in notebooks.pages(PROJECT / "python" / "notebooks"):
        site.write(f"notebooks/{name}", text)
    pathlib.Path(f"{folder}.yml").write_text(_expanded(folder))


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(os.path.abspath(sys.argv[1]), pathlib.Path(sys.argv[2]))
