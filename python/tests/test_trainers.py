"""Measurements during real trainings of tiny networks: a loop of PyTorch, Keras 3, Lightning, transformers.Trainer."""

import importlib.util
import os
import subprocess
import sys
import warnings

import numpy as np
import pytest

import assay
from assay.callbacks import CoverageHistory, History

rng = np.random.default_rng(1)
Y = np.arange(80) % 2
X = (rng.standard_normal((80, 4)) + np.where(Y == 0, -1.5, 1.5)[:, None]).astype(np.float32)


def needs(name):
    return pytest.importorskip(name, reason=f"SKIPPED: {name} is not installed (PyPI)")


def accuracy(network):
    return assay.evaluate(network, (X, Y))


def small_network(torch):
    torch.manual_seed(1)
    return torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.ReLU(), torch.nn.Linear(8, 2))


def test_a_plain_loop(tmp_path):
    torch = needs("torch")
    net, x, y = small_network(torch), torch.from_numpy(X), torch.from_numpy(Y)
    optimiser = torch.optim.SGD(net.parameters(), 0.5)
    right, covered = History(accuracy), CoverageHistory(X, X, criterion=["nc[threshold=0.5]", "kmnc[sections=4]"])
    expected = []
    for epoch in range(2):
        with torch.no_grad():
            expected.append(float((net(x).argmax(1) == y).float().mean()))
        right.measure(net, epoch)
        covered.measure(net)
        optimiser.zero_grad()
        torch.nn.functional.cross_entropy(net(x), y).backward()
        optimiser.step()
    assert right.values("test_accuracy") == pytest.approx(expected) and right.steps == covered.steps == [0, 1]
    assert expected[-1] > expected[0]
    assert covered.values("nc") == [result.nc for result in covered.results]
    with pytest.raises(assay.UsageError, match="evaluate has no figure 'nc'; there are records, test_accuracy"):
        right.values("nc")


class Measured:
    """A question whose figure comes from a list."""

    def __init__(self, model, figures):
        self.found, self.figures = assay.evaluate(model, "digits:20"), iter(figures)

    def __call__(self, _):
        import copy

        result = copy.copy(self.found)
        figures = {"nc": next(self.figures)}
        result.figures = lambda: figures
        return result


def moves(model, figures, margin=0.1, **keywords):
    history = History(Measured(model, figures), margins={"nc": margin}, **keywords)
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        for _ in figures:
            history.measure(None)
    assert [str(w.message) for w in seen if w.category is assay.AssayWarning] == history.warnings
    return history.warnings


def test_a_figure_that_moves_beyond_its_margin_is_a_warning(model):
    assert moves(model, [0.5, 0.45, 0.4]) == []
    assert moves(model, [0.5, 0.45, 0.2, 0.35]) == [
        "nc fell from 0.45 at 1 to 0.2 at 2, by more than 0.1",
        "nc rose from 0.2 at 2 to 0.35 at 3, by more than 0.1",
    ]
    slow = [0.5, 0.45, 0.41, 0.37]
    assert moves(model, slow) == []
    assert moves(model, slow, against="first") == ["nc fell from 0.5 at 0 to 0.37 at 3, by more than 0.1"]
    assert moves(model, [0.5, 0.9, 0.85, 0.7], margin=(0.1, None)) == ["nc fell from 0.85 at 2 to 0.7 at 3, by more than 0.1"]
    assert moves(model, [0.5, 0.1, 0.35], margin=(None, 0.2)) == ["nc rose from 0.1 at 1 to 0.35 at 2, by more than 0.2"]
    assert moves(model, [0.5, float("nan")], margin=(0.1, None)) == ["nc went from 0.5 at 0 to nan at 1, by more than 0.1"]
    assert moves(model, [0.5, float("nan")]) == ["nc went from 0.5 at 0 to nan at 1, by more than 0.1"]


def test_what_cannot_be_measured_is_said_at_once(model):
    for make, fault in (
        (lambda: History("nc"), "needs a function"),
        (lambda: History(accuracy, against="last"), "'last' is not one of 'before', 'first'"),
        (lambda: History(accuracy, margins={"nc": -0.1}), "nc: -0.1 is neither a number from 0 nor two"),
        (lambda: History(accuracy, margins={"nc": (0.1, 0.1, 0.1)}), "neither a number from 0 nor two"),
        (lambda: History(accuracy, to="mlfow"), "did you mean 'mlflow'"),
        (lambda: History(accuracy).keras(every_epochs=1, every_steps=2), "exclude each other"),
        (lambda: History(accuracy).keras(every_steps=0), "every_steps: 0 is less than 1"),
        (lambda: History(lambda net: 0.5).measure(model), "returns what an analysis gave, not a float"),
        (lambda: History(lambda net: assay.evaluate(net, "digits:20"), margins={"nc": 1}).measure(model), "evaluate has no figure 'nc'; there are records"),
    ):
        with pytest.raises(assay.UsageError, match=fault):
            make()


def test_measurements_go_to_trackers(model):
    from assay import trackers

    entries = []
    mine = trackers.Tracker("mine", "mine", "", "", lambda value: False, lambda entry, run: entries.append(entry))
    history = History(lambda net: assay.evaluate(net, "digits:20"), to=mine)
    history.measure(model, 5)
    history.measure(model, 10)
    assert [(e.step, e.folder) for e in entries] == [(5, None), (10, None)]
    assert entries[0].metrics["evaluate/test_accuracy"] == history.values("test_accuracy")[0]


def test_lightning(tmp_path):
    torch, lightning = needs("torch"), needs("lightning")

    class Small(lightning.LightningModule):
        def __init__(self):
            super().__init__()
            self.net = small_network(torch)

        def forward(self, x):
            return self.net(x)

        def training_step(self, batch, _):
            return torch.nn.functional.cross_entropy(self(batch[0]), batch[1])

        def configure_optimizers(self):
            return torch.optim.SGD(self.parameters(), 0.5)

    rows = torch.utils.data.TensorDataset(torch.from_numpy(X), torch.from_numpy(Y))
    loader = torch.utils.data.DataLoader(rows, batch_size=20)
    by_epoch, by_step = History(accuracy), History(accuracy)
    module = Small()
    stops = lightning.pytorch.callbacks.EarlyStopping("evaluate/test_accuracy", mode="max", patience=9, check_on_train_epoch_end=True)
    trainer = lightning.Trainer(
        max_epochs=4,
        accelerator="cpu",
        logger=False,
        enable_checkpointing=False,
        enable_progress_bar=False,
        enable_model_summary=False,
        default_root_dir=tmp_path,
        callbacks=[by_epoch.lightning(every_epochs=2), by_step.lightning(every_steps=5)],
    )
    trainer.fit(module, loader)
    assert by_epoch.steps == [1, 3] and by_step.steps == [5, 10, 15]
    assert by_epoch.values("test_accuracy")[-1] == accuracy(module.eval()).test_accuracy > 0.9
    assert trainer.callback_metrics["evaluate/test_accuracy"] == pytest.approx(by_epoch.values("test_accuracy")[-1])
    again = lightning.Trainer(max_epochs=2, accelerator="cpu", logger=False, enable_checkpointing=False, enable_progress_bar=False, enable_model_summary=False, callbacks=[History(accuracy).lightning(), stops])
    again.fit(Small(), loader)
    assert stops.best_score > 0.5


def test_transformers_trainer(tmp_path):
    torch, transformers = needs("torch"), needs("transformers")
    needs("accelerate")
    torch.manual_seed(1)
    sizes = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 16, "num_labels": 2}
    net = transformers.BertForSequenceClassification(transformers.BertConfig(vocab_size=20, max_position_embeddings=8, **sizes))
    tokens = np.where(Y[:, None] == 0, 3, 12) + np.random.default_rng(2).integers(0, 5, (80, 6))
    rows = [{"input_ids": t, "attention_mask": np.ones(6, np.int64), "labels": int(y)} for t, y in zip(tokens, Y)]
    test = ({"input_ids": tokens, "attention_mask": np.ones((80, 6), np.int64)}, Y)
    histories = [History(lambda network: assay.evaluate(network, test)) for _ in range(2)]
    settings = transformers.TrainingArguments(
        str(tmp_path), num_train_epochs=3, per_device_train_batch_size=20, learning_rate=5e-3, report_to=[], use_cpu=True, disable_tqdm=True, save_strategy="no"
    )
    callbacks = [histories[0].transformers(), histories[1].transformers(every_steps=6)]
    trainer = transformers.Trainer(net, settings, train_dataset=rows, callbacks=callbacks)
    trainer.train()
    assert histories[0].steps == [1, 2, 3] and histories[1].steps == [6, 12]
    found = histories[0].values("test_accuracy")
    with torch.no_grad():
        said = net.eval()(torch.from_numpy(tokens)).logits.argmax(1).numpy()
    assert found[-1] == pytest.approx((said == Y).mean()) and found[-1] > 0.9
    logged = [entry["evaluate/test_accuracy"] for entry in trainer.state.log_history if "evaluate/test_accuracy" in entry]
    assert logged[0] == found[0] and len(logged) == 5


KERAS = """
import numpy as np, keras, assay, warnings
from assay.callbacks import History, KerasCoverage
rng = np.random.default_rng(1)
y = np.arange(80) % 2
x = (rng.standard_normal((80, 4)) + np.where(y == 0, -1.5, 1.5)[:, None]).astype(np.float32)
keras.utils.set_random_seed(1)
net = keras.Sequential([keras.layers.Input((4,)), keras.layers.Dense(8, "relu"), keras.layers.Dense(2)])
net.compile(keras.optimizers.SGD(0.5), keras.losses.SparseCategoricalCrossentropy(from_logits=True))
by_epoch, by_step = (History(lambda net: assay.evaluate(net, (x, y))) for _ in range(2))
coverage = KerasCoverage(x, x, criterion="nc")
stop = keras.callbacks.EarlyStopping("evaluate/test_accuracy", patience=9, mode="max")
fitted = net.fit(x, y, epochs=3, batch_size=20, verbose=0, callbacks=[by_epoch.keras(), by_step.keras(every_steps=5), coverage, stop])
assert by_epoch.steps == [0, 1, 2] and by_step.steps == [5, 10], (by_epoch.steps, by_step.steps)
assert fitted.history["evaluate/test_accuracy"] == by_epoch.values("test_accuracy")
assert fitted.history["coverage_nc"] == coverage.values("nc") and stop.best == max(by_epoch.values("test_accuracy"))
expected = float((net.predict(x, verbose=0).argmax(1) == y).mean())
assert abs(by_epoch.values("test_accuracy")[-1] - expected) < 1e-6 and expected > 0.9
print("measured", expected)
"""


def test_keras(tmp_path):
    backend = next((name for name in ("torch", "jax", "tensorflow") if importlib.util.find_spec(name)), None)
    if backend is None or importlib.util.find_spec("keras") is None:
        pytest.skip("SKIPPED: Keras, or one of torch, jax and tensorflow that it runs on, is not installed (PyPI)")
    ended = subprocess.run(
        [sys.executable, "-c", KERAS], cwd=tmp_path, env={**os.environ, "KERAS_BACKEND": backend}, capture_output=True, text=True
    )
    assert ended.returncode == 0 and "measured" in ended.stdout, ended.stdout + ended.stderr


@pytest.mark.parametrize("package, call", [("transformers", lambda h: h.transformers()), ("lightning", lambda h: h.lightning())])
def test_a_trainer_that_is_not_installed_is_a_sentence(package, call, monkeypatch):
    for name in [name for name in sys.modules if name.split(".")[0] in (package, "pytorch_lightning")]:
        monkeypatch.delitem(sys.modules, name)
    for name in (package, "lightning.pytorch", "pytorch_lightning"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(assay.UsageError, match=f"is not installed; `pip install {package}`"):
        call(History(accuracy))
