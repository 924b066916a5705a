"""`python3 -m assay.watch`: which files are watched, what counts as a change, and a run that ends by itself."""

import os
import pathlib
import shutil
import subprocess
import sys

import pytest

import assay
from assay import watch

PACKAGE_FOLDER = pathlib.Path(assay.__file__).absolute().parents[1]


@pytest.fixture
def folder(work, tmp_path, monkeypatch):
    for name in ("net.onnx", "test.npz", "train.npz"):
        shutil.copyfile(work / name, tmp_path / name)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_files_are_found_in_flags_and_specs(folder):
    (folder / "truth.csv").touch()
    command = ["cover", "--model=net.onnx", "--test", "test.npz,labels=truth.csv[:20]", "--train", "missing.npz", "-m", "3"]
    assert [path.name for path in watch.named_files(command)] == ["net.onnx", "test.npz", "truth.csv"]


def test_a_file_with_another_time_size_or_number_has_changed(folder):
    (folder / "data").mkdir()
    (folder / "data" / "a").write_text("a")
    paths = [pathlib.Path("net.onnx"), pathlib.Path("data")]
    before = watch.stamps(paths)
    assert watch.changed(before, watch.stamps(paths)) == []
    os.utime("net.onnx", ns=(1, 1))
    assert watch.changed(before, watch.stamps(paths)) == [pathlib.Path("net.onnx")]
    (folder / "data" / "b").write_text("b")
    assert pathlib.Path("data/b") in watch.changed(before, watch.stamps(paths))
    os.remove("net.onnx")
    assert watch.stamps(paths)[pathlib.Path("net.onnx")] is None


@pytest.mark.parametrize(
    "command, said",
    [
        ([], "which command?"),
        (["evaluate", "net.onnx", "--json", "x.json"], "--json is used to compare runs"),
        (["data", "digits:10"], "names no file that is there"),
    ],
)
def test_what_cannot_be_watched_is_refused(folder, command, said):
    with pytest.raises(SystemExit, match=said):
        watch.main(command)


def test_a_command_that_is_wrong_is_not_watched(folder):
    assert watch.main(["evaluate", "net.onnx", "test.npz", "--no-such-flag"]) == 1


def test_the_command_runs_again_and_says_what_is_different(folder):
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(PACKAGE_FOLDER), os.environ.get("PYTHONPATH", "")])}
    command = [sys.executable, "-m", "assay.watch", "--every", "0.02", "--runs", "2", "cover", "net.onnx", "test.npz"]
    flags = ["--train", "train.npz", "--criterion", "nc"]
    running = subprocess.Popen([*command, *flags], env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    for line in running.stderr:
        if "watching" in line:  # the first result is there
            shutil.copyfile("train.npz", "other.npz")
            os.replace("other.npz", "test.npz")
            break
    out, said = running.communicate()
    assert running.returncode == 0, said
    assert "changed: test.npz" in said
    assert "cover: of" in out and "in the second" in out
