"""Gates in pipelines: what `python3 -m assay.ci` does, and the steps of the action and of the templates, run here."""

import json
import os
import pathlib
import re
import stat
import subprocess
import sys
import xml.etree.ElementTree

import pytest

import assay
from assay import ci

PACKAGE_FOLDER = pathlib.Path(assay.__file__).absolute().parents[1]
FLAGS = "-m 3 --criterion idc,nc"


def settings_of(folder, **changed):
    """Variables of a pipeline that measures the test set of the fixture in a folder of its own."""
    own = {key: value for key, value in os.environ.items() if not key.startswith(("ASSAY_CI_", "GITHUB_"))}
    own["PYTHONPATH"] = os.pathsep.join([str(PACKAGE_FOLDER), os.environ.get("PYTHONPATH", "")])
    own["ASSAY_CI_OUT"] = str(folder / "results")
    settings = {"model": "net.onnx", "train": "train.npz", "test": "test.npz", "flags": FLAGS, **changed}
    return {**own, **{f"ASSAY_CI_{name.upper()}": str(value) for name, value in settings.items()}}


def run_ci(work, folder, *arguments, **changed):
    command = [sys.executable, "-m", "assay.ci", *arguments]
    return subprocess.run(command, cwd=work, env=settings_of(folder, **changed), capture_output=True, text=True)


def figure(folder, criterion):
    document = json.loads((folder / "results" / "result.json").read_text())
    return next(row["coverage"] for row in document["tables"]["criteria"]["rows"] if row["criterion"] == criterion and row["layer"] == "all")


def test_a_gate_that_holds_leaves_all_that_a_pipeline_shows(work, tmp_path):
    ended = run_ci(work, tmp_path, gates="idc[m=3]=0.01\nnc>=0.01")
    assert ended.returncode == 0, ended.stderr
    assert sorted(p.name for p in (tmp_path / "results").iterdir()) == ["junit.xml", "report.html", "result.json", "result.sarif", "summary.md"]
    assert len(json.loads((tmp_path / "results" / "result.json").read_text())["gates"]) == 2
    assert xml.etree.ElementTree.parse(tmp_path / "results" / "junit.xml").getroot().find("testsuite").get("failures") == "0"


def test_a_gate_that_fails_ends_with_2_and_is_annotated(work, tmp_path):
    ended = run_ci(work, tmp_path, "--gate", "nc=1", gates="nc=0")
    assert ended.returncode == 2
    results = json.loads((tmp_path / "results" / "result.sarif").read_text())["runs"][0]["results"]
    failed = [r for r in results if r["level"] == "error"]
    assert [r["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] for r in failed] == ["net.onnx"]
    assert "nc=1" in failed[0]["message"]["text"]


def test_the_profile_of_an_earlier_run_is_used(work, tmp_path):
    profiles = tmp_path / "profiles"
    assert run_ci(work, tmp_path, profiles=profiles).returncode == 0
    first, learned = figure(tmp_path, "idc[m=3]"), list(profiles.iterdir())
    assert len(learned) == 1
    again = run_ci(work, tmp_path, profiles=profiles)
    assert "--train" not in again.stderr and "--train" in run_ci(work, tmp_path).stderr
    assert list(profiles.iterdir()) == learned and figure(tmp_path, "idc[m=3]") == first


def test_a_profile_of_other_training_records_network_or_flags_is_not_used(work, tmp_path):
    (tmp_path / "other.npz").write_bytes((work / "test.npz").read_bytes())
    (tmp_path / "net.onnx").write_bytes((work / "net.onnx").read_bytes() + b"\0")
    changes = [{}, {"train": tmp_path / "other.npz"}, {"model": tmp_path / "net.onnx"}, {"flags": "--criterion nc"}, {"command": "mutate"}]
    keys = [run_ci(work, tmp_path, "--key", **change).stdout for change in changes]
    assert all(re.fullmatch(r"[0-9a-f]{32}\n", key) for key in keys)
    assert len(set(keys)) == len(keys)
    assert run_ci(work, tmp_path, "--key").stdout == keys[0]


@pytest.mark.parametrize("spec, file", [("a.npz", "a.npz"), ("a.npz,range=0:1[:9]", "a.npz"), ("a.npz[:9]", "a.npz"), ('"a,b.npz",x=1', "a,b.npz")])
def test_the_file_of_a_spec_is_what_stands_before_its_options(spec, file):
    assert ci._file_of(spec) == pathlib.Path(file)


def test_the_ratchet_keeps_a_result_and_refuses_a_worse_one(work, tmp_path):
    baseline = tmp_path / "baseline.json"
    first = run_ci(work, tmp_path, "--ratchet", baseline=baseline, test="test.npz[:20]")
    assert first.returncode == 0 and "does not exist" in first.stderr
    kept = baseline.read_bytes()
    worse = run_ci(work, tmp_path, "--ratchet", baseline=baseline, test="test.npz[:2]", flags=FLAGS + " --any-baseline")
    assert worse.returncode == 2 and baseline.read_bytes() == kept
    better = run_ci(work, tmp_path, ratchet="true", baseline=baseline, flags=FLAGS + " --any-baseline")
    assert better.returncode == 0 and baseline.read_bytes() != kept


def test_a_baseline_of_another_network_ends_with_6_and_says_what_to_do(work, tmp_path, program):
    program(tmp_path, "train", "--architecture", "lenet1", "--data", "digits:50", "--epochs", "1", "--out", "other.onnx")
    baseline = tmp_path / "baseline.json"
    assert run_ci(work, tmp_path, "--ratchet", baseline=baseline).returncode == 0
    ended = run_ci(work, tmp_path, baseline=baseline, model=tmp_path / "other.onnx")
    assert ended.returncode == 6
    assert "another network" in ended.stderr and "--any-baseline" in ended.stderr


def test_results_of_an_earlier_run_do_not_stay(work, tmp_path):
    assert run_ci(work, tmp_path).returncode == 0
    assert run_ci(work, tmp_path, model="no-such.onnx").returncode not in (0, 2)
    assert list((tmp_path / "results").iterdir()) == []


def test_a_ratchet_without_a_baseline_is_refused(work, tmp_path):
    ended = run_ci(work, tmp_path, ratchet="true")
    assert ended.returncode == 1 and "name the file with --baseline" in ended.stderr


def read_yaml(source, name):
    return pytest.importorskip("yaml", reason="SKIPPED: PyYAML is not installed").safe_load((source / name).read_text())


def installed_here(python):
    """An interpreter where a pipeline has installed the package: this one, with the package of the build."""
    python.parent.mkdir(parents=True)
    python.write_text(f'#!/bin/sh\nPYTHONPATH="{PACKAGE_FOLDER}:$PYTHONPATH" exec "{sys.executable}" "$@"\n')
    python.chmod(stat.S_IRWXU)


class Action:
    """Runs the steps of action.yml that have a script, as a runner does; steps of other actions are left out."""

    def __init__(self, source, work, folder, **inputs):
        self.action = read_yaml(source, "action.yml")
        self.inputs = {name: known.get("default", "") for name, known in self.action["inputs"].items()} | inputs
        self.work, self.folder, self.outputs = work, folder, {}
        installed_here(folder / "temp" / "assay" / "bin" / "python")

    def value(self, text):
        def known(found):
            first, *path = found[1].strip().split(".")
            return {"inputs": lambda: self.inputs[path[0]], "steps": lambda: self.outputs[path[-1]], "runner": lambda: str(self.folder / "temp")}[first]()

        return re.sub(r"\$\{\{(.*?)\}\}", known, text)

    def run(self, name):
        step = next(s for s in self.action["runs"]["steps"] if s["name"] == name)
        said, output, summary = self.value(step["run"]), self.folder / "output", self.folder / "summary.md"
        environment = settings_of(self.folder) | {key: self.value(value) for key, value in step["env"].items()}
        environment |= {"RUNNER_TEMP": str(self.folder / "temp"), "GITHUB_OUTPUT": str(output), "GITHUB_STEP_SUMMARY": str(summary)}
        ended = subprocess.run(["bash", "-eo", "pipefail", "-c", said], cwd=self.work, env=environment, capture_output=True, text=True)
        for line in output.read_text().splitlines() if output.exists() else []:
            key, _, value = line.partition("=")
            self.outputs[key] = value
        return ended


def inputs_of(folder, **changed):
    return {"model": "net.onnx", "train": "train.npz", "test": "test.npz", "flags": FLAGS, "out": str(folder / "results"), **changed}


def test_the_steps_of_the_action_measure_cache_and_summarise(work, tmp_path, source):
    action = Action(source, work, tmp_path, **inputs_of(tmp_path, gates="nc=0.01\nidc[m=3]=0.01\n"))
    assert action.run("Key of the profile").returncode == 0
    ended = action.run("Gates")
    assert ended.returncode == 0, ended.stderr
    assert [p.stem for p in (tmp_path / "temp" / "assay-profiles").iterdir()] == [action.outputs["key"]]
    assert "gates: 2 of 2 passed" in (tmp_path / "summary.md").read_text()


def test_the_action_fails_where_a_gate_does_or_a_file_is_missing(work, tmp_path, source):
    failing = Action(source, work, tmp_path, **inputs_of(tmp_path, gates="nc=1"))
    assert failing.run("Gates").returncode == 2
    assert "FAILED" in (tmp_path / "summary.md").read_text()
    missing = Action(source, work, tmp_path / "missing", **inputs_of(tmp_path, model="no-such.onnx"))
    assert missing.run("Gates").returncode not in (0, 2)
    assert "did not finish" in (tmp_path / "missing" / "summary.md").read_text()


def test_what_an_action_is_given_is_never_a_command(work, tmp_path, source):
    action = read_yaml(source, "action.yml")
    assert not [s["name"] for s in action["runs"]["steps"] if "${{" in s.get("run", "")]
    hostile = Action(source, work, tmp_path, **inputs_of(tmp_path, gates=f"nc=0; touch {tmp_path}/spoiled; $(touch {tmp_path}/spoiled)"))
    assert hostile.run("Gates").returncode == 1
    assert not (tmp_path / "spoiled").exists()


def test_the_action_installs_a_wheel(work, tmp_path, source):
    wheel = os.environ.get("ASSAY_WHEEL")
    if not wheel:
        pytest.skip("SKIPPED: ASSAY_WHEEL names no wheel to install")
    action = Action(source, work, tmp_path, **inputs_of(tmp_path, package=wheel))
    (tmp_path / "temp" / "assay" / "bin" / "python").unlink()
    assert action.run("Install Assay").returncode == 0
    assert (tmp_path / "temp" / "assay" / "bin" / "assay").exists()


def run_template(scripts, work, folder, **variables):
    """The scripts of a template in a copy of the folder; what they install is there already."""
    for name in ("net.onnx", "train.npz", "test.npz"):
        (folder / name).write_bytes((work / name).read_bytes())
    if not (folder / ".assay-venv").exists():
        installed_here(folder / ".assay-venv" / "bin" / "python")
    commands = [c for c in scripts if "-m venv" not in c and "pip install" not in c]
    assert commands and len(commands) < len(scripts)
    environment = settings_of(folder) | {"ASSAY_CI_OUT": "assay-results"} | variables
    return subprocess.run(["sh", "-ec", "\n".join(commands)], cwd=folder, env=environment, capture_output=True, text=True)


def test_the_template_of_gitlab_runs_and_keeps_its_profile(work, tmp_path, source):
    job = read_yaml(source, "ci/gitlab.yml")[".assay"]
    ended = run_template(job["script"], work, tmp_path, **{k: v for k, v in job["variables"].items() if k.startswith("ASSAY")})
    assert ended.returncode == 0, ended.stderr
    kept = [p for p in [*job["cache"]["paths"], *job["artifacts"]["paths"]] if (tmp_path / p).exists()]
    assert kept == [".assay-profiles", "assay-results"]
    assert (tmp_path / job["artifacts"]["reports"]["junit"]).exists()


def test_the_template_of_jenkins_runs_and_fails_with_its_gate(work, tmp_path, source):
    text = (source / "ci" / "Jenkinsfile").read_text()
    variables = dict(re.findall(r"(ASSAY\w+) = '(.*?)'", text))
    scripts = [line.strip() for block in re.findall(r"sh '''(.*?)'''", text, re.DOTALL) for line in block.strip().splitlines()]
    held = run_template(scripts, work, tmp_path, **variables, ASSAY_CI_FLAGS="-m 3,6")
    assert held.returncode in (0, 2), held.stderr
    assert (tmp_path / re.search(r"junit testResults: '(.*?)'", text)[1]).exists()
    variables["ASSAY_CI_GATES"] = "idc[m=3]=1"
    assert run_template(scripts, work, tmp_path, **variables, ASSAY_CI_FLAGS="-m 3").returncode == 2


def test_every_command_gets_its_records_by_its_own_flag():
    for command, flag in [("cover", "--test"), ("mutate", "--test"), ("evaluate", "--data"), ("robust", "--data"), ("attack", "--data")]:
        settings = ci._settings(["--command", command, "--model", "net.onnx", "--test", "test.npz"])
        line = ci.command_line(settings, "assay", lambda: "key")
        assert line[line.index("test.npz") - 1] == flag
