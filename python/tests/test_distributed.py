"""Studies in parts: each way of running them leaves the bytes of one process, and a worker that dies loses nothing."""

import os
import pathlib
import stat
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import numpy as np
import pytest

import assay
from assay import distributed
from assay.distributed import _part

ARGUMENTS = {"model": "net.onnx", "test": "test.npz", "criterion": ["kmnc[sections=10]", "nc"]}


@pytest.fixture(scope="module")
def whole(work, program):
    """The state of one process."""
    program(work, "cover", "net.onnx", "--train", "train.npz", "--test", "test.npz", "--criterion", "kmnc[sections=10]",
            "--criterion", "nc", "--profile", "whole.profile", "--state", "whole.cov")  # fmt: skip
    return (work / "whole.cov").read_bytes()


def run_cover(folder, **more):
    return distributed.run("cover", **ARGUMENTS, train="train.npz", folder=folder, shards=3, **more)


@pytest.mark.usefixtures("inside")
def test_parts_leave_the_bytes_of_one_process(whole, tmp_path):
    result = run_cover(tmp_path / "study", on=2, fail_under="nc=0")
    assert (tmp_path / "study" / "combined.cov").read_bytes() == whole
    assert result.records == 60 and result.passed


@pytest.mark.usefixtures("inside")
def test_parts_that_are_done_are_not_run_again(whole, tmp_path):
    run_cover(tmp_path)
    times = {file.name: file.stat().st_mtime_ns for file in tmp_path.glob("part-*")}
    (tmp_path / "part-2-of-3.cov").unlink()
    run_cover(tmp_path)
    again = {file.name: file.stat().st_mtime_ns for file in tmp_path.glob("part-*")}
    assert {name for name in times if times[name] != again[name]} == {"part-2-of-3.cov"}
    assert (tmp_path / "combined.cov").read_bytes() == whole


def program_that_dies(folder, monkeypatch, times):
    """A program that is killed at the first so many starts of part 2."""
    script = folder / "assay"
    script.write_text(
        f"""#!/bin/sh
case "$*" in *"--shard 2/3"*)
  echo x >> {folder}/starts
  [ $(wc -l < {folder}/starts) -gt {times} ] || kill -9 $$ ;;
esac
exec {os.environ.get("ASSAY_PROGRAM", "assay")} "$@"
"""
    )
    script.chmod(script.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setattr(_part, "program_file", lambda: str(script))


@pytest.mark.usefixtures("inside")
def test_a_worker_that_dies_is_replaced(whole, tmp_path, monkeypatch):
    program_that_dies(tmp_path, monkeypatch, 2)
    with pytest.raises(_part.WorkerLost, match="part 2 of 3 was killed by SIGKILL"):
        run_cover(tmp_path / "study", retries=1)
    (tmp_path / "starts").unlink()
    run_cover(tmp_path / "study", retries=2)
    assert (tmp_path / "study" / "combined.cov").read_bytes() == whole


@pytest.mark.usefixtures("inside")
def test_errors_of_the_program_are_raised_at_once(tmp_path, monkeypatch):
    program_that_dies(tmp_path, monkeypatch, 0)
    with pytest.raises(assay.DataError, match=r"part \d of 3: .*no"):
        distributed.run("cover", "net.onnx", test="digits:10[:0]", profile=tmp_path / "none", folder=tmp_path / "a", shards=3)
    assert not (tmp_path / "starts").exists() or (tmp_path / "starts").read_text().count("x") == 1
    with pytest.raises(assay.FileError, match=r"no such file"):
        distributed.run("mutate", "none.onnx", "test.npz", folder=tmp_path / "b", shards=2)


@pytest.mark.usefixtures("inside")
def test_what_parts_cannot_take_is_refused(tmp_path):
    for call, words in [
        (lambda: distributed.run("attack", folder=tmp_path, shards=2), "does not run in parts"),
        (lambda: run_cover(tmp_path, state="x.cov"), "state: a study in parts says this itself"),
        (lambda: distributed.run("cover", folder=tmp_path, shards=0), "shards: 0 is less than 1"),
        (lambda: run_cover(tmp_path, on="nowhere"), "give a number of processes"),
        (lambda: run_cover(tmp_path, on=0), "on: 0 processes"),
        (lambda: distributed.run("cover", object(), folder=tmp_path, shards=1), "model: workers cannot read an object"),
        (lambda: distributed.combine(tmp_path / "empty"), "there is no study here"),
    ]:
        with pytest.raises(assay.UsageError, match=words):
            call()


@pytest.mark.usefixtures("inside")
def test_a_folder_holds_one_study(tmp_path):
    distributed.prepare("mutate", "net.onnx", "test.npz", count=3, folder=tmp_path, shards=2)
    with pytest.raises(assay.MismatchError, match="parts of another study .flags"):
        distributed.prepare("mutate", "net.onnx", "test.npz", count=4, folder=tmp_path, shards=2)
    with pytest.raises(assay.UsageError, match="2 of 2 parts are not done: 1, 2"):
        distributed.combine(tmp_path)


@pytest.mark.usefixtures("inside")
def test_other_content_under_the_same_name_is_another_study(arrays, tmp_path):
    x, y = arrays
    np.savez(tmp_path / "t.npz", x=x[:20], y=y[:20])
    asked = {"count": 2, "folder": tmp_path / "study", "shards": 2}
    distributed.prepare("mutate", "net.onnx", tmp_path / "t.npz", **asked)
    distributed.prepare("mutate", "net.onnx", tmp_path / "t.npz", **asked)
    np.savez(tmp_path / "t.npz", x=x[:30], y=y[:30])
    with pytest.raises(assay.MismatchError, match=r"t\.npz has changed since parts of this study ran"):
        distributed.prepare("mutate", "net.onnx", tmp_path / "t.npz", **asked)
    asked["folder"] = tmp_path / "memory"
    distributed.prepare("mutate", "net.onnx", (x[:20], y[:20]), **asked)
    distributed.prepare("mutate", "net.onnx", (x[:20], y[:20]), **asked)
    with pytest.raises(assay.MismatchError, match="parts of another study .flags"):
        distributed.prepare("mutate", "net.onnx", (x[1:21], y[1:21]), **asked)


@pytest.mark.usefixtures("inside")
def test_networks_and_arrays_in_memory_are_written_for_the_workers(model, arrays, tmp_path):
    x, y = arrays
    found = distributed.run("mutate", model, (x[:20], y[:20]), count=3, operator="gf", folder=tmp_path, shards=2)
    alone = assay.mutate(model, (x[:20], y[:20]), count=3, operator="gf")
    assert found.tables["mutants"].rows == alone.tables["mutants"].rows


@pytest.mark.usefixtures("inside")
def test_inspections_run_in_parts(tmp_path):
    asked = {"hypotheses": "label", "measure": "pearson"}
    found = distributed.run("inspect", "net.onnx", "test.npz", **asked, folder=tmp_path, shards=2)
    alone = assay.inspect("net.onnx", "test.npz", **asked)
    for one, other in zip(found.tables["scores"].rows, alone.tables["scores"].rows, strict=True):
        assert one == {name: pytest.approx(value, rel=1e-9) if isinstance(value, float) else value for name, value in other.items()}


@pytest.mark.usefixtures("inside")
def test_tasks_of_a_job_array(whole, tmp_path):
    distributed.prepare("cover", **ARGUMENTS, train="train.npz", folder=tmp_path, shards=2)
    environment = {**os.environ, "PYTHONPATH": str(pathlib.Path(assay.__file__).parents[1])}
    tasks = [
        subprocess.Popen(
            [sys.executable, "-m", "assay.distributed", str(tmp_path)],
            env={**environment, "SLURM_ARRAY_TASK_ID": str(task), "SLURM_ARRAY_TASK_MIN": "4", "SLURM_ARRAY_TASK_STEP": "2"},
        )
        for task in (4, 6)
    ]
    assert [task.wait() for task in tasks] == [0, 0]
    command = [sys.executable, "-m", "assay.distributed", str(tmp_path), "--combine"]
    found = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert "60 records" in found.stdout
    assert (tmp_path / "combined.cov").read_bytes() == whole


@pytest.mark.usefixtures("inside")
def test_an_executor_of_processes(whole, tmp_path):
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        run_cover(tmp_path, on=pool)
    assert (tmp_path / "combined.cov").read_bytes() == whole


@pytest.mark.usefixtures("inside")
def test_dask(whole, tmp_path):
    dask = pytest.importorskip("dask.distributed", reason="SKIPPED: dask.distributed is not installed (PyPI)")
    with dask.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster, dask.Client(cluster) as client:
        run_cover(tmp_path, on=client)
        with pytest.raises(assay.FileError, match="no such file"):
            distributed.run("mutate", "none.onnx", "test.npz", folder=tmp_path / "b", shards=2, on=client)
    assert (tmp_path / "combined.cov").read_bytes() == whole


@pytest.mark.usefixtures("inside")
def test_ray(whole, tmp_path, monkeypatch):
    monkeypatch.setenv("RAY_USAGE_STATS_ENABLED", "0")
    ray = pytest.importorskip("ray", reason="SKIPPED: ray is not installed (PyPI)")
    path = {"PYTHONPATH": str(pathlib.Path(assay.__file__).parents[1])}
    ray.init(num_cpus=2, include_dashboard=False, runtime_env={"env_vars": path}, configure_logging=False, log_to_driver=False)
    try:
        run_cover(tmp_path, on="ray")
        with pytest.raises(assay.FileError, match="no such file"):
            distributed.run("mutate", "none.onnx", "test.npz", folder=tmp_path / "b", shards=2, on="ray")
    finally:
        ray.shutdown()
    assert (tmp_path / "combined.cov").read_bytes() == whole
