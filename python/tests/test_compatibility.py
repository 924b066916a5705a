"""What docs/compatibility.md promises: files of earlier versions are read, others are refused with what to do."""

import json
import pathlib
import shutil
import subprocess

import pytest

import assay

from conftest import PROGRAM

FILES = pathlib.Path(__file__).parent
EARLIER = sorted(FILES.glob("files_of_[0-9]*"))
OTHER = FILES / "files_of_another_format"
CRITERIA = ["-m", "3", "--criterion", "idc,nc,kmnc"]


@pytest.fixture(params=EARLIER, ids=lambda folder: folder.name)
def earlier(request, tmp_path):
    """A copy of the files that an earlier version wrote."""
    return pathlib.Path(shutil.copytree(request.param, tmp_path / "files"))


def rows(document, table="criteria"):
    """Counts by criterion and layer, which no later version changes."""
    return {(row["criterion"], row["layer"]): (row["covered"], row["coverable"]) for row in document["tables"][table]["rows"]}


def written(folder, name):
    return json.loads((folder / name).read_text())


def refusal(folder, *arguments):
    ended = subprocess.run([PROGRAM, *arguments, "--quiet"], cwd=folder, capture_output=True, text=True)
    return ended.returncode, ended.stderr


def test_there_are_files_of_an_earlier_version():
    assert EARLIER


def test_a_profile_gives_the_figures_that_it_gave(earlier, program):
    now = program(earlier, "cover", "net.onnx", "test.npz", "--profile", "net.profile", *CRITERIA, "--no-worse-than", "cover.json")
    assert all(gate["passed"] for gate in now["gates"]) and now["gates"]
    assert rows(now) == rows(written(earlier, "cover.json"))


def test_a_coverage_state_has_the_figures_that_it_had_and_merges_with_one_of_today(earlier, program):
    before = rows(written(earlier, "cover.json"))
    assert rows(program(earlier, "combine", "net.cov")) == before
    program(earlier, "cover", "net.onnx", "test.npz[:7]", "--profile", "net.profile", *CRITERIA, "--state", "today.cov")
    assert rows(program(earlier, "combine", "today.cov")) != before
    assert rows(program(earlier, "combine", "net.cov", "today.cov")) == before


def test_a_mutation_state_has_the_figures_that_it_had(earlier, program):
    now, before = program(earlier, "combine", "net.mut")["facts"], written(earlier, "mutate.json")["facts"]
    assert before["killed"] > 0
    for fact in ("mutants", "killed", "survived", "mutation_score", "average_error_rate"):
        assert now[fact] == before[fact], fact


def test_documents_are_read_by_program_and_package(earlier):
    assert assay.read_result(earlier / "cover.json").headline == written(earlier, "cover.json")["headline"]
    code, said = refusal(earlier, "report", "cover.json", "mutate.json", "--out", "page.html")
    assert (code, said) == (0, "") and (earlier / "page.html").stat().st_size > 100_000


READERS = [
    ("net.cov", ["combine", OTHER / "net.cov"]),
    ("net.mut", ["combine", OTHER / "net.mut"]),
    ("net.profile", ["cover", "net.onnx", "test.npz", "--profile", OTHER / "net.profile", "--criterion", "nc"]),
    ("cover.json", ["report", OTHER / "cover.json", "--out", "page.html"]),
    ("cover.json", ["cover", "net.onnx", "test.npz", "--profile", "net.profile", "--criterion", "nc", "--no-worse-than", OTHER / "cover.json"]),
]


@pytest.mark.parametrize("name, arguments", READERS, ids=[f"{name}-{arguments[0]}" for name, arguments in READERS])
def test_files_of_a_later_format_are_refused_with_what_to_do(tmp_path, name, arguments):
    files = shutil.copytree(EARLIER[-1], tmp_path / "files")
    code, said = refusal(files, *map(str, arguments))
    assert code == 5
    assert name in said and "its format has version 23, this program reads" in said and "use a newer Assay" in said


def test_python_refuses_a_document_of_a_later_format():
    with pytest.raises(assay.DataError, match="use a newer Assay"):
        assay.read_result(OTHER / "cover.json")


def test_a_flag_that_is_gone_is_answered_with_the_one_in_use(work):
    code, said = refusal(work, "cover", "net.onnx", "test.npz", "--training", "train.npz")
    assert code == 1 and "did you mean '--train'?" in said


def test_a_renamed_flag_works_with_a_notice(work, tmp_path):
    code, said = refusal(work, "attack", "net.onnx", "test.npz[:3]", "--attack", "fgsm", "--pictures", "0", "--output", str(tmp_path / "out"))
    assert code == 0 and "--out" in said
    assert (tmp_path / "out").is_dir()


def test_a_baseline_of_another_network_is_refused_with_what_to_do(work, program, tmp_path):
    files = shutil.copytree(EARLIER[-1], tmp_path / "files")
    (files / "other.onnx").write_bytes((work / "net.onnx").read_bytes())
    baseline = ["--no-worse-than", "cover.json"]
    code, said = refusal(files, "cover", "other.onnx", "test.npz", "--train", "test.npz", "--criterion", "nc", *baseline)
    assert code == 6 and "another network" in said and "--any-baseline" in said
