"""``--watch``: the program runs a command again when its files change, and shows what became different."""

import os
import shutil
import signal
import subprocess

import pytest

from assay._program import program_file


@pytest.fixture
def folder(work, tmp_path, monkeypatch):
    for name in ("net.onnx", "test.npz", "train.npz"):
        shutil.copyfile(work / name, tmp_path / name)
    monkeypatch.chdir(tmp_path)
    return tmp_path


class Watched:
    """The program with ``--watch``, until it is told to end."""

    def __init__(self, *arguments):
        program = program_file()
        if program is None:
            pytest.skip("SKIPPED: the program assay is not there")
        self._process = subprocess.Popen([program, *arguments, "--watch"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.said = []

    def until(self, words):
        for line in self._process.stderr:
            self.said.append(line)
            if words in line:
                return line
        raise AssertionError(f"{words!r} was not said: {self.said}")

    def end(self, by=signal.SIGINT):
        self._process.send_signal(by)
        out, said = self._process.communicate(timeout=60)
        return self._process.returncode, out, "".join(self.said) + said


def replace(name, by):
    shutil.copyfile(by, "other.npz")
    os.replace("other.npz", name)


def test_the_command_runs_again_and_says_what_is_different(folder):
    running = Watched("cover", "net.onnx", "test.npz", "--train", "train.npz", "--criterion", "nc", "--json", "r.json", "--state", "s.cov")
    line = running.until("watching")
    assert "net.onnx" in line and "test.npz" in line and "r.json" not in line and "s.cov" not in line
    replace("test.npz", "train.npz")
    assert "test.npz" in running.until("changed:")
    running.until("watching")
    code, out, said = running.end()
    assert code == 0, said
    assert "cover: of" in out and "in the second" in out
    assert "--watch" not in (folder / "r.json").read_text()  # a recorded command is one that ends


def test_the_exit_code_is_that_of_the_last_run(folder):
    running = Watched("evaluate", "net.onnx", "test.npz", "--fail-under", "accuracy=1.0")
    running.until("watching")
    assert running.end(signal.SIGTERM)[0] == 2


def test_a_run_that_fails_is_followed_by_another(folder):
    running = Watched("evaluate", "net.onnx", "test.npz")
    running.until("watching")
    (folder / "bad").write_text("no network")
    os.replace("bad", "net.onnx")
    running.until("assay: net.onnx")
    running.until("watching")
    code, _, said = running.end()
    assert code == 3, said


def test_a_file_that_is_gone_is_waited_for(folder):
    running = Watched("evaluate", "net.onnx", "test.npz")
    running.until("watching")
    os.rename("test.npz", "moved.npz")
    replace("test.npz", "train.npz")
    assert "test.npz" in running.until("changed:")
    running.until("watching")
    assert running.end()[0] == 0


def test_an_assay_toml_is_watched_and_read_again(folder):
    (folder / "assay.toml").write_text('[evaluate]\ndata = "test.npz"\n')
    running = Watched("evaluate", "net.onnx")
    running.until("watching")
    (folder / "assay.toml").write_text('[evaluate]\ndata = "test.npz[:20]"\n')
    assert "assay.toml" in running.until("changed:")
    running.until("watching")
    assert running.end()[0] == 0


@pytest.mark.parametrize("arguments, said", [(["criteria"], "reads no file"), (["evaluate", "net.onnx", "test.npz", "--no-such-flag"], "--no-such-flag")])
def test_what_cannot_be_watched_ends_at_once(folder, arguments, said):
    done = subprocess.run([program_file(), *arguments, "--watch"], capture_output=True, text=True, timeout=60)
    assert done.returncode == 1 and said in done.stderr


def test_a_result_that_cannot_be_kept_is_shown(folder, monkeypatch):
    (folder / "temporary").mkdir()
    monkeypatch.setenv("TMPDIR", str(folder / "temporary"))
    running = Watched("evaluate", "net.onnx", "test.npz", "--json", "r.json")
    running.until("watching")
    (kept,) = (folder / "temporary").glob("*/last.json")
    kept.unlink()
    (kept.parent / "next.json").mkdir()
    replace("test.npz", "train.npz")
    running.until("next.json")
    running.until("watching")
    code, out, _ = running.end()
    assert code != 0 and out.count("accuracy") >= 2 and (folder / "r.json").exists()
