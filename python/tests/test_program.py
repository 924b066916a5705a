"""`python -m assay` is the program, wherever the package was installed with it."""

import os
import re
import shutil
import stat
import subprocess
import sys

import pytest

import assay
from assay import _loading, _program

from conftest import PROGRAM

needs_program = pytest.mark.skipif(shutil.which(PROGRAM) is None, reason="SKIPPED: the program is not there")


@needs_program
def test_the_module_runs_the_program_with_its_arguments_and_its_exit_code():
    asked = [["--version"], ["model", "no-such-file.onnx"], ["catalogue", "criteria", "--json", "-"]]
    for arguments in asked:
        by_module = subprocess.run([sys.executable, "-m", "assay", *arguments], capture_output=True, text=True)
        by_program = subprocess.run([PROGRAM, *arguments], capture_output=True, text=True)
        assert (by_module.returncode, by_module.stdout) == (by_program.returncode, by_program.stdout)


def installed_wheel(folder):
    """A folder of packages as an installer leaves it, with a program that ends with code 7."""
    packages, program = folder / "lib" / "python3" / "site-packages", folder / "bin" / "assay"
    package = packages / "assay"
    shutil.copytree(os.path.dirname(assay.__file__), package, symlinks=False, ignore=shutil.ignore_patterns("__pycache__"))
    program.parent.mkdir(parents=True)
    program.write_text("#!/bin/sh\nexit 7\n")
    program.chmod(stat.S_IRWXU)
    about = packages / "assay-1.0.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: assay\nVersion: 1.0.0\n")
    (about / "RECORD").write_text("../../../bin/assay,,\nassay/__init__.py,,\n")
    return package, program


def run(package, path):
    environment = {**os.environ, "PYTHONPATH": str(package.parent), "PATH": path}
    return subprocess.run([sys.executable, "-m", "assay"], env=environment, cwd=package.parent, capture_output=True, text=True)


def test_the_program_of_the_wheel_is_found_through_what_was_installed(tmp_path):
    package, _ = installed_wheel(tmp_path)
    assert run(package, "/nowhere").returncode == 7


def test_without_a_program_a_sentence_says_what_to_do(tmp_path):
    package, program = installed_wheel(tmp_path)
    program.unlink()
    said = run(package, "/nowhere")
    assert said.returncode == 1
    assert "neither next to this package nor in PATH; install the wheel" in said.stderr


def test_a_relative_folder_of_the_path_is_not_searched(tmp_path, monkeypatch):
    (tmp_path / "assay").write_text("#!/bin/sh\n")
    (tmp_path / "assay").chmod(stat.S_IRWXU)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", ".")
    found = _program.program_file()
    assert found is None or not found.startswith(str(tmp_path))


def said_by_import(package):
    """The last line of an import of this copy of the package that fails."""
    environment = {**os.environ, "PYTHONPATH": str(package.parent)}
    ran = subprocess.run([sys.executable, "-c", "import assay"], env=environment, cwd=package.parent, capture_output=True, text=True)
    assert ran.returncode == 1
    return ran.stderr.splitlines()[-1]


def without_module(folder):
    package, _ = installed_wheel(folder)
    for module in package.glob("_assay*.so"):
        module.unlink()
    return package


def test_a_module_of_another_python_is_a_sentence(tmp_path):
    package = without_module(tmp_path)
    assert "it has no module for Python 3." in said_by_import(package) and "(there is none)" in said_by_import(package)
    (package / "_assay.cpython-21-x86_64-linux-gnu.so").touch()
    assert "(what there is: _assay.cpython-21-x86_64-linux-gnu.so); install the wheel" in said_by_import(package)


def test_a_module_that_the_system_does_not_load_is_a_sentence(tmp_path):
    package = without_module(tmp_path)
    (package / "_assay.abi3.so").write_bytes(b"of another processor")
    said = said_by_import(package)
    assert "its module cannot be loaded: " in said and said.endswith("take the static program or build from source (docs/installing.md)")


@pytest.mark.parametrize("part", [0, 0.000001, 0.001, 0.5, 0.99])
def test_a_module_that_is_half_there_is_a_sentence(tmp_path, part):
    """As pip leaves it where a disk is full; the loader would end the process with a bus error."""
    package, _ = installed_wheel(tmp_path)
    (module,) = package.glob("_assay*.so")
    content = module.read_bytes()
    module.unlink()  # it may be a link
    module.write_bytes(content[: int(len(content) * part)])
    assert said_by_import(package).endswith(f"{module} is only half there, as after an installation on a full disk; install the wheel again")


def test_a_python_that_is_too_old_is_named(monkeypatch):
    monkeypatch.setattr(sys, "version_info", (3, 9, 2, "final", 0))
    assert "is too old; install Python 3.11 or newer" in _loading.what_to_do(ImportError())


@needs_program
def test_the_papers_of_criteria_are_bibtex():
    said = subprocess.run([PROGRAM, "criteria", "--bibtex"], capture_output=True, text=True, check=True).stdout
    keys = re.findall(r"^@\w+\{(\w+),$", said, flags=re.MULTILINE)
    assert len(keys) >= 8 and len(set(keys)) == len(keys)
    bibtexparser = pytest.importorskip("bibtexparser", minversion="2", reason="SKIPPED: bibtexparser 2 is not installed (PyPI)")
    library = bibtexparser.parse_string(said)
    assert not library.failed_blocks and [entry.key for entry in library.entries] == keys
    assert all({"author", "title", "year"} <= set(entry.fields_dict) for entry in library.entries)


@needs_program
def test_one_criterion_has_the_papers_that_its_explanation_names():
    said = subprocess.run([PROGRAM, "criteria", "nc", "--bibtex"], capture_output=True, text=True, check=True).stdout
    assert re.findall(r"\{(\w+),$", said, flags=re.MULTILINE) == ["pei2017deepxplore", "gerasimou2020importance"]


def test_a_page_says_of_how_many_results_it_is(inside, program):
    (inside / "one.json").write_text(assay.evaluate("net.onnx", "test.npz").to_json())
    for results, count in ((["one.json"], "1 result,"), (["one.json", "one.json"], "2 results,")):
        assert count in program(inside, "report", *results, "--out", "page.html")["headline"]
