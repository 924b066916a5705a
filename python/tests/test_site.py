"""The documentation site: every page has a place, every link leads somewhere, and reference pages show what there is."""

import importlib.util
import os
import pathlib
import re
import shutil
import subprocess
import sys

import pytest

from conftest import PROGRAM

SOURCE = pathlib.Path(__file__).parents[2]
GENERATED = ("reference/", "notebooks/")

needs_program = pytest.mark.skipif(shutil.which(PROGRAM) is None, reason="SKIPPED: the program is not there")


def part(name):
    """A module of scripts/site."""
    folder = SOURCE / "scripts" / "site"
    sys.path.insert(0, str(folder))
    try:
        spec = importlib.util.spec_from_file_location(f"site_{name}", folder / f"{name}.py")
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module
    finally:
        sys.path.remove(str(folder))


def navigation():
    """Pages that the navigation names, without patterns."""
    text = (SOURCE / "mkdocs.yml").read_text().partition("\nnav:\n")[2]
    return [name for name in re.findall(r"(?:: |- )([\w/.-]+\.md)$", text, flags=re.MULTILINE)]


def test_every_page_has_one_place_in_the_navigation():
    named = navigation()
    assert len(named) == len(set(named))
    written = set(part("pages").page_names().values())
    assert {name for name in named if not name.startswith(GENERATED)} == written
    notebooks = {f"notebooks/{p.stem}.md" for p in (SOURCE / "python" / "notebooks").glob("*.py")}
    assert {name for name in named if name.startswith("notebooks/")} == notebooks


def links(text):
    """Targets of links outside code."""
    prose = re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL)
    return re.findall(r"\]\(([^)\s]+)\)", re.sub(r"`[^`\n]*`", "", prose))


def slug(heading):
    plain = re.sub(r"\[([^\]]*)\]\([^)]*\)|`", r"\1", heading)
    return re.sub(r"[-\s]+", "-", re.sub(r"[^\w\s-]", "", plain).strip().lower())


def test_every_link_of_the_documentation_leads_somewhere():
    broken = []
    for name in part("pages").page_names():
        for link in links((SOURCE / name).read_text()):
            path, _, anchor = link.partition("#")
            target = (SOURCE / name).parent / path if path else SOURCE / name
            if "://" in link or link.startswith("mailto:"):
                continue
            if not target.exists():
                broken.append(f"{name}: {link}")
            elif anchor and anchor not in {slug(h) for h in re.findall(r"^#+ (.*)$", target.read_text(), flags=re.MULTILINE)}:
                broken.append(f"{name}: {link} (no such heading)")
    assert broken == []


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    if shutil.which(PROGRAM) is None:
        pytest.skip("SKIPPED: the program is not there")
    folder = tmp_path_factory.mktemp("site") / "pages"
    pages = part("pages")
    pages.notebooks.pages = lambda folder: iter(())  # test_package.py runs them
    pages.main(shutil.which(PROGRAM), folder)
    return folder


def test_reference_pages_show_every_command_flag_and_entry(site):
    said = subprocess.run([PROGRAM, "help", "cover", "--help-all"], capture_output=True, text=True, check=True).stdout
    page = (site / "reference/commands/cover.md").read_text()
    flags = set(re.findall(r"^  (?:-\w,)?(--[\w-]+)", said, flags=re.MULTILINE))
    assert len(flags) > 40 and [flag for flag in flags if f"{flag} " not in page and f"{flag}`" not in page and f"{flag}=" not in page] == []
    import assay

    shown = {p.stem for p in (site / "reference/commands").glob("*.md")}
    renamed = {"describe_model": "model", "describe_data": "data"}
    assert {renamed.get(name, name) for name in assay.commands} <= shown
    assert {p.stem for p in (site / "reference/catalogues").glob("*.md")} == set(part("reference")._catalogues)
    criteria = (site / "reference/catalogues/criteria.md").read_text()
    assert all(f"## {name}\n" in criteria for name in ("idc", "kmnc", "nlc")) and "Pei et al." in criteria


def test_reference_pages_show_every_header_and_name_of_the_package(site):
    headers = {str(p.relative_to(SOURCE / "include/assay")) for p in (SOURCE / "include/assay").rglob("*.h")}
    assert {(p.read_text().partition("\n")[0])[2:] for p in (site / "reference/headers").glob("*.md")} == headers
    python = "".join(p.read_text() for p in (site / "reference/python").glob("*.md"))
    names = re.findall(r" as (\w+)$|^def (\w+)\(", (SOURCE / "python/assay/__init__.pyi").read_text(), flags=re.MULTILINE)
    shown = python.replace("\\_", "_")
    missing = [a or b for a, b in names if f"## {a or b}\n" not in shown]
    assert missing == []


def test_links_to_sources_lead_to_pages_that_show_them(site):
    index = (site / "index.md").read_text()
    assert "](installing.md)" in index and "](docs/" not in index.replace("](docs/pictures/", "")
    shown = (site / "files/examples/embed.md").read_text()
    assert "`CMakeLists.txt`" in shown
    written = [page for page in site.rglob("*.md") if "files" not in page.parts]
    inside = [(page, link) for page in written for link in links(page.read_text()) if "://" not in link and not link.startswith("#")]
    assert [(page.name, link) for page, link in inside if not (page.parent / link.partition("#")[0]).exists()] == []


def test_nothing_is_loaded_from_elsewhere():
    settings = (SOURCE / "mkdocs.yml").read_text()
    assert "font: false" in settings and "- offline" in settings and "assets/iframe-worker.js" in settings
    assert "://" not in settings and "://" not in (SOURCE / "docs/site/iframe-worker.js").read_text()


def test_mkdocs_builds_it_without_a_warning(site, tmp_path):
    pytest.importorskip("material", reason="SKIPPED: mkdocs-material is not installed (PyPI)")
    settings = pathlib.Path(f"{site}.yml")
    text = settings.read_text()
    # Without the notebooks, which were not run here.
    settings.write_text(re.sub(r"^.*notebooks/.*\n", "", text, flags=re.MULTILINE))
    command = [sys.executable, "-m", "mkdocs", "build", "--quiet", "--strict", "-f", str(settings), "-d", str(tmp_path / "out")]
    ended = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "NO_MKDOCS_2_WARNING": "1"})
    assert ended.returncode == 0, ended.stdout + ended.stderr
    pages = list((tmp_path / "out").rglob("*.html"))
    assert len(pages) > 150
    loaded = re.compile(r"""(?:src|href)=["']?(?:https?:)?//[^"' >]+\.(?:js|css|woff2?|png|svg)""")
    assert [page.name for page in pages if loaded.search(page.read_text())] == []
    assert (tmp_path / "out/search/search_index.js").exists()
