"""Results in trackers: the real packages, whose stores are read back; and what is said where one is not there."""

import builtins
import copy
import json
import os
import pathlib
import shutil
import socket
import subprocess
import sys
import warnings

import pytest

import assay
from assay.callbacks import History
from assay import trackers


@pytest.fixture(scope="module")
def found(work):
    return assay.cover(
        work / "net.onnx", work / "train.npz", work / "test.npz", criterion=["nc", "idc[m=3]"], fail_under="nc=0"
    )


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("MLFLOW_TRACKING_URI", "WANDB_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    with warnings.catch_warnings():
        # What happens within packages of others.
        warnings.simplefilter("ignore")
        warnings.simplefilter("error", assay.AssayWarning)
        yield tmp_path


def needs(name):
    return pytest.importorskip(name, reason=f"SKIPPED: {name} is not installed (PyPI)")


def test_figures_are_the_facts_and_criteria(found):
    figures = found.figures()
    assert figures["test_accuracy"] == found.test_accuracy and figures["records"] == 60
    assert figures["nc"] == found.coverage("nc") and figures["nc/conv2"] == found.coverage("nc", "conv2")
    assert all(isinstance(value, float) for value in figures.values())


def test_mlflow_has_metrics_tags_and_files(found, here):
    mlflow = needs("mlflow")
    mlflow.set_tracking_uri(f"sqlite:///{here}/runs.db")
    mlflow.set_experiment(experiment_id=mlflow.create_experiment("e", artifact_location=f"file://{here}/files"))
    assert found.log(to="mlflow") is found
    with mlflow.start_run() as active:
        found.log(to="mlflow", step=1).log(to=active, step=2, files=False)
    own, run = sorted(mlflow.search_runs(output_format="list"), key=lambda r: r.info.run_name != "assay cover")
    assert (own.info.run_name, run.info.run_id) == ("assay cover", active.info.run_id) and own.info.status == "FINISHED"
    assert own.data.metrics["cover/nc"] == found.nc and run.data.metrics["cover/idc_m_3"] == found.idc
    assert own.data.tags["cover/headline"] == found.headline and own.data.tags["cover/gates"] == "passed"
    client = mlflow.MlflowClient()
    assert [m.step for m in client.get_metric_history(run.info.run_id, "cover/nc")] == [1, 2]
    report = pathlib.Path(client.download_artifacts(own.info.run_id, "assay-cover")) / "report.html"
    assert report.read_text() == found.to_html()
    assert {"criteria.csv", "facts.csv"} <= {path.name for path in (report.parent / "tables").iterdir()}
    assert [file.path for file in client.list_artifacts(run.info.run_id)] == ["assay-cover-1"]


def test_layers_as_exporters_of_torch_name_them(found, here):
    """ "/0/Gemm", which MLflow takes for a path."""
    named = {"nc//0/Gemm": 0.25, "nc/./a": 0.5, "nc/../b": 0.75, "nc[x=1]//c//": 1.0}
    assert [trackers.plain(name) for name in named] == ["nc/0/Gemm", "nc/_/a", "nc/__/b", "nc_x_1/c"]
    mlflow = needs("mlflow")
    mlflow.set_tracking_uri(f"sqlite:///{here}/runs.db")
    mlflow.set_experiment("paths")
    result = copy.copy(found)
    result.figures = lambda: named
    with mlflow.start_run() as run:
        result.log(to="mlflow", files=False)
    kept = mlflow.get_run(run.info.run_id).data.metrics
    assert kept == {"cover/nc/0/Gemm": 0.25, "cover/nc/_/a": 0.5, "cover/nc/__/b": 0.75, "cover/nc_x_1/c": 1.0}


def test_mlflow_gets_no_more_at_once_than_it_takes(here, monkeypatch):
    mlflow = needs("mlflow")
    mlflow.set_tracking_uri(f"sqlite:///{here}/runs.db")
    mlflow.set_experiment("many")  # other tests name others
    calls = []

    def log_batch(self, run_id, metrics=(), params=(), tags=()):
        calls.append((len(metrics), len(tags)))

    monkeypatch.setattr(mlflow.MlflowClient, "log_batch", log_batch)
    for count in (0, 3, 1000, 2500):
        calls.clear()
        figures = {f"cover/{i}": float(i) for i in range(count)}
        with mlflow.start_run() as run:
            trackers.catalogue["mlflow"].log(trackers.Entry("cover", figures, {"cover/headline": "a"}, "", None, None), run)
        assert [sum(sent) for sent in zip(*calls)] == [count, 1]
        assert all(sum(sent) <= 1000 for sent in calls), calls


def test_a_server_that_does_not_answer_is_a_sentence(found, here):
    mlflow = needs("mlflow")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        mlflow.set_tracking_uri(f"http://127.0.0.1:{free.getsockname()[1]}")
    with pytest.warns(assay.AssayWarning, match="mlflow: .* does not answer .*; start the server, .* The result is kept"):
        assert found.log(to="mlflow") is found


def test_wandb_has_metrics_and_files_offline(found, here, monkeypatch):
    wandb = needs("wandb")
    monkeypatch.setenv("WANDB_MODE", "offline")
    monkeypatch.setenv("WANDB_DIR", str(here))
    monkeypatch.setenv("WANDB_SILENT", "true")
    monkeypatch.setenv("WANDB_DATA_DIR", str(here))
    monkeypatch.setenv("WANDB_CACHE_DIR", str(here))
    with wandb.init(project="p") as run:
        found.log(to="wandb", step=3)
        found.log(to=run, step=1, files=False)  # earlier steps are no matter
        assert run.summary["cover/headline"] == found.headline and run.summary["cover/gates"] == "passed"
    wandb.teardown()  # its process writes until then
    (kept,) = here.rglob("run-*.wandb")
    assert [(record["cover/nc"], record["cover/step"]) for record in wandb_history(kept)] == [(found.nc, 3), (found.nc, 1)]
    (page,) = here.rglob("media/html/**/*.html")
    assert "<title>" in page.read_text() and len(page.read_text()) >= len(found.to_html())
    found.log(to="wandb")
    assert len(list(here.rglob("run-*.wandb"))) == 2


def test_wandb_that_does_not_answer_is_a_sentence(found, here, monkeypatch):
    wandb = needs("wandb")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{free.getsockname()[1]}"
    for name in ("http_proxy", "HTTP_PROXY"):
        monkeypatch.delenv(name, raising=False)
    for name, value in {"MODE": "online", "BASE_URL": address, "API_KEY": "0" * 40, "SILENT": "true", "DIR": str(here)}.items():
        monkeypatch.setenv(f"WANDB_{name}", value)
    monkeypatch.setattr(wandb, "init", lambda *_, **__: pytest.fail("its client asks for a minute"))
    wandb.teardown()  # what it has read of the environment
    with pytest.warns(assay.AssayWarning, match=f"wandb: .* {address} does not answer .*WANDB_MODE=offline.* The result is kept"):
        assert found.log(to="wandb") is found
    wandb.teardown()


def wandb_history(path):
    """Its file is a log as LevelDB has it: blocks of 32 KiB with pieces of records, after a header of seven bytes."""
    from wandb.proto.wandb_internal_pb2 import Record

    content, at, record = path.read_bytes(), 7, b""
    while at + 7 <= len(content):
        if 32768 - at % 32768 < 7:
            at += 32768 - at % 32768
            continue
        size, kind = int.from_bytes(content[at + 4 : at + 6], "little"), content[at + 6]
        record += content[at + 7 : at + 7 + size]
        at += 7 + size
        if kind in (1, 4):  # whole, or the last piece
            items = {item.key or "/".join(item.nested_key): json.loads(item.value_json) for item in Record.FromString(record).history.item}
            record = b""
            if "cover/nc" in items:
                yield items


def scalars(folder):
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    events = EventAccumulator(str(folder))
    events.Reload()
    return events


@pytest.mark.parametrize("package", ["torch.utils.tensorboard", "tensorboardX"])
def test_tensorboard_has_scalars_and_a_text(package, found, here):
    needs("tensorboard")
    with needs(package).SummaryWriter(str(here / "events")) as writer:
        found.log(to=writer, step=1).log(to=writer, step=2, files=False)
    events = scalars(here / "events")
    assert [(e.step, round(e.value, 6)) for e in events.Scalars("cover/nc")] == [(1, round(found.nc, 6)), (2, round(found.nc, 6))]
    assert "cover/idc_m_3" in events.Tags()["scalars"]
    (text, _) = events.Tensors("cover/result/text_summary")
    assert "| conv2 |" in text.tensor_proto.string_val[0].decode()
    assert (here / "events" / "assay-cover-1" / "report.html").read_text() == found.to_html()
    assert (here / "events" / "assay-cover-1").stat().st_mode == (here / "events").stat().st_mode
    assert not (here / "events" / "assay-cover-2").exists()


def test_tensorboard_by_its_name(found, here):
    needs("tensorboard")
    if not trackers.log(found, "tensorboard"):
        pytest.skip("SKIPPED: neither torch nor tensorboardX is installed")
    (folder,) = (here / "runs").iterdir()
    assert "cover/nc" in scalars(folder).Tags()["scalars"]


def test_aim_has_metrics_and_texts(found, here):
    aim = needs("aim")
    run = aim.Run(repo=str(here))
    run.set_artifacts_uri(f"file://{here}/files")
    found.log(to=run, step=4)
    assert run["cover/headline"] == found.headline
    (metric,) = [m for m in run.metrics() if m.name == "cover/nc"]
    (row,) = metric.dataframe()[["step", "value"]].values.tolist()
    assert row == [4, found.nc]
    assert list((here / "files").rglob("report.html"))
    run.close()


def test_a_run_of_aim_without_a_place_for_files_has_the_figures(found, here):
    aim = needs("aim")
    run = aim.Run(repo=str(here))
    found.log(to=run).log(to="aim")
    assert run["cover/headline"] == found.headline and "cover/nc" in [metric.name for metric in run.metrics()]
    run.close()


def test_dvclive_has_metrics_and_files(found, here):
    dvclive = needs("dvclive")
    with dvclive.Live("live", save_dvc_exp=False, dvcyaml=None) as live:
        for step in (0, 1):
            found.log(to=live, step=step, files=step == 1)
    metrics = json.loads((here / "live" / "metrics.json").read_text())["cover"]
    assert metrics["nc"] == pytest.approx(found.nc) and metrics["nc.conv2"] == pytest.approx(found.figures()["nc/conv2"])
    rows = (here / "live" / "plots" / "metrics" / "cover" / "test_accuracy.tsv").read_text().splitlines()
    assert [row.split("\t")[0] for row in rows[1:]] == ["0", "1"]
    assert (here / "live" / "assay-cover-1" / "report.html").exists() and not (here / "live" / "assay-cover-0").exists()


STAGE = """stages:
  assess:
    cmd: '"{python}" stage.py'
    deps: [stage.py]
    metrics:
      - dvclive/metrics.json: {{cache: false}}
"""


def test_a_stage_of_dvc(work, model, found, here):
    needs("dvclive")
    needs("dvc")
    if shutil.which("git") is None:
        pytest.skip("SKIPPED: git is not installed")
    alone = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "DVC_NO_ANALYTICS": "1", "DVC_GLOBAL_CONFIG_DIR": str(here), "DVC_SYSTEM_CONFIG_DIR": str(here)}

    def call(*command):
        return subprocess.run(command, cwd=here, env=alone, capture_output=True, text=True, check=True).stdout

    call("git", "init", "-q")
    with pytest.warns(assay.AssayWarning, match="dvclive: .* which has a commit if it is a repository"):
        found.log(to="dvclive")
    test = f"assay.evaluate({str(work / 'net.onnx')!r}, 'digits:20')"
    (here / "stage.py").write_text(f"import assay\n{test}.log(to='dvclive', files=False)\n")
    (here / "dvc.yaml").write_text(STAGE.format(python=sys.executable))
    call(sys.executable, "-m", "dvc", "init", "-q", "-f")  # logging has begun one
    call("git", "add", "-A")
    call("git", "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "first")
    call(sys.executable, "-m", "dvc", "repro", "-q")
    said = json.loads(call(sys.executable, "-m", "dvc", "metrics", "show", "--json"))
    (metrics,) = (data["data"] for data in said[""]["data"].values())
    assert metrics["evaluate"]["test_accuracy"] == pytest.approx(assay.evaluate(model, "digits:20").test_accuracy)


def measured_twice(model, to):
    history = History(lambda net: assay.evaluate(net, "digits:20"), to=to)
    history.measure(model, 0)
    history.measure(model, 1)
    return history


def test_a_history_is_one_run_of_mlflow(model, here):
    mlflow = needs("mlflow")
    mlflow.set_tracking_uri(f"sqlite:///{here}/runs.db")
    mlflow.set_experiment("history")
    measured_twice(model, "mlflow")
    assert mlflow.active_run() is None  # what the program logs itself does not go there
    (run,) = mlflow.search_runs(output_format="list")
    steps = mlflow.MlflowClient().get_metric_history(run.info.run_id, "evaluate/test_accuracy")
    assert [m.step for m in steps] == [0, 1] and run.info.status == "FINISHED"
    with mlflow.start_run() as active:
        measured_twice(model, "mlflow")
    assert "evaluate/test_accuracy" in mlflow.get_run(active.info.run_id).data.metrics


def test_a_history_stays_in_its_run(model, here):
    mlflow = needs("mlflow")
    mlflow.set_tracking_uri(f"sqlite:///{here}/runs.db")
    mlflow.set_experiment("staying")
    history = measured_twice(model, "mlflow")
    with mlflow.start_run(run_name="begun later") as active:
        history.measure(model, 2)
    assert mlflow.get_run(active.info.run_id).data.metrics == {}
    (own,) = [run for run in mlflow.search_runs(output_format="list") if run.info.run_id != active.info.run_id]
    assert len(mlflow.MlflowClient().get_metric_history(own.info.run_id, "evaluate/test_accuracy")) == 3


def test_a_run_of_mlflow_that_misses_something_failed(found, here, monkeypatch):
    mlflow = needs("mlflow")
    mlflow.set_tracking_uri(f"sqlite:///{here}/runs.db")
    mlflow.set_experiment("failing")

    def refuse(*_, **__):
        raise OSError("no space is left")

    monkeypatch.setattr(mlflow.MlflowClient, "log_artifacts", refuse)
    with pytest.warns(assay.AssayWarning, match="was not logged: no space is left"):
        found.log(to="mlflow")
    (run,) = mlflow.search_runs(output_format="list")
    assert run.info.status == "FAILED"


def test_a_history_is_one_folder_of_tensorboard_and_of_dvclive(model, here):
    needs("tensorboard")
    needs("torch")
    needs("dvclive")
    history = measured_twice(model, ["tensorboard", "dvclive"])
    (folder,) = (here / "runs").iterdir()
    assert [event.step for event in scalars(folder).Scalars("evaluate/test_accuracy")] == [0, 1]
    rows = (here / "dvclive" / "plots" / "metrics" / "evaluate" / "test_accuracy.tsv").read_text().splitlines()
    assert [row.split("\t")[0] for row in rows[1:]] == ["0", "1"]
    assert history.steps == [0, 1]


def test_a_history_is_one_run_of_wandb(model, here, monkeypatch):
    wandb = needs("wandb")
    for name, value in (("WANDB_MODE", "offline"), ("WANDB_SILENT", "true")):
        monkeypatch.setenv(name, value)
    for name in ("WANDB_DIR", "WANDB_DATA_DIR", "WANDB_CACHE_DIR"):
        monkeypatch.setenv(name, str(here))
    begun = []
    monkeypatch.setattr(wandb, "init", lambda *given, real=wandb.init, **words: begun.append(real(*given, **words)) or begun[-1])
    history = measured_twice(model, "wandb")
    (own,) = begun
    try:
        wandb.Settings(reinit="create_new")
    except Exception:
        pytest.skip("SKIPPED: this version of wandb has one run at a time (0.19.10 has several)")
    assert wandb.run is None, "what the program logs itself does not go there"
    with wandb.init(project="of the program", reinit="create_new") as other:
        history.measure(model, 2)
        assert own.summary["evaluate/step"] == 2 and other.summary.get("evaluate/step") is None
    del history
    with pytest.raises(Exception, match="finished"):
        own.log({"evaluate/step": 3})


@pytest.mark.parametrize("name", ["tensorboard", "dvclive"])
def test_files_are_written_where_they_stay(name, found, here, monkeypatch):
    needs(name)
    if name == "tensorboard":
        needs("torch")

    def refuse(*_, **__):
        raise AssertionError("a temporary folder was made")

    monkeypatch.setattr("tempfile.TemporaryDirectory", refuse)
    found.log(to=name)
    (report,) = here.rglob("assay-cover/report.html")
    assert report.read_text() == found.to_html() and (report.parent / "tables" / "criteria.csv").exists()


@pytest.mark.parametrize("name", sorted(trackers.catalogue))
def test_a_tracker_that_is_not_installed_is_a_sentence(name, found, here, monkeypatch):
    asked = {"mlflow", "wandb", "torch", "tensorboardX", "tensorboard", "aim", "dvclive"}
    real = builtins.__import__

    def without(module, *arguments, **keywords):
        level = arguments[3] if len(arguments) > 3 else keywords.get("level", 0)
        if level == 0 and module.split(".")[0] in asked:
            raise ModuleNotFoundError(f"No module named '{module}'", name=module.split(".")[0])
        return real(module, *arguments, **keywords)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.warns(assay.AssayWarning, match=rf"{name}: \w+ is not installed; `pip install .*{name}.*The result is kept"):
        assert found.log(to=name) is found


def test_a_tracker_that_refuses_is_a_sentence(found, here):
    def refuse(entry, run):
        raise RuntimeError("the disk is full.\nTraceback ...")

    refusing = assay.trackers.Tracker("mine", "mine", "a Mine", "free some space", lambda value: False, refuse)
    with pytest.warns(assay.AssayWarning, match="mine: the result of cover was not logged: the disk is full; free some space"):
        assert found.log(to=refusing) is found


def test_another_tracker_is_one_object(found, here, monkeypatch):
    class Lines(list):
        pass

    Lines.__module__ = "linesofmine.core"
    seen = Lines()
    mine = trackers.Tracker("lines", "lines", "Lines", "", trackers.objects_of("linesofmine.Lines"), lambda entry, run: run.append(entry))
    monkeypatch.setitem(trackers.catalogue, "lines", mine)
    found.log(to=[seen, seen], step=2)
    assert [entry.place for entry in seen] == ["assay-cover-2"] * 2
    assert seen[0].metrics["cover/nc"] == found.nc and "| conv2 |" in seen[0].markdown


def test_what_is_no_tracker_is_refused_before_anything_is_logged(found, here):
    with pytest.raises(assay.UsageError, match="to: no tracker 'mlfow'; did you mean 'mlflow'"):
        found.log(to=["tensorboard", "mlfow"])
    with pytest.raises(assay.UsageError, match="an int is not an object of a tracker; give one of mlflow, wandb"):
        found.log(to=3)
    assert list(here.iterdir()) == []


