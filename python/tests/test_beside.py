"""What else may be in the process: other frameworks, before and after, and any NumPy."""

import importlib.util
import os
import subprocess
import sys

import numpy as np
import pytest

import assay

# Keras looks for TensorFlow unless it is told otherwise.
BACKENDS = [name for name in ("tensorflow", "jax", "torch") if importlib.util.find_spec(name) is not None]
if BACKENDS:
    os.environ.setdefault("KERAS_BACKEND", BACKENDS[0])

CODE = """
import sys
{imports}
import numpy
digits = assay.data("digits:200")
before = assay.load(sys.argv[1]).predict(digits)[0]
{work}
after = assay.load(sys.argv[1]).predict(digits)[0]
assert after.shape == (200, 10) and (before == after).all()
print("both work")
"""
# Each with its own threads at work, where it has some.
WORK = {
    "torch": "assert torch.nn.Linear(400, 2)(torch.ones(300, 400)).sum().backward() is None",
    "tensorflow": "assert tensorflow.linalg.matmul(tensorflow.ones((400, 400)), tensorflow.ones((400, 400))).numpy().sum() == 400**3",
    "keras": "assert keras.Sequential([keras.Input((4,)), keras.layers.Dense(2)]).predict(numpy.ones((3, 4)), verbose=0).shape == (3, 2)",
    "onnxruntime": "assert len(onnxruntime.InferenceSession(sys.argv[1]).get_inputs()) == 1",
    "jax": "assert (jax.numpy.ones((400, 400)) @ jax.numpy.ones((400, 400))).sum() == 400**3",
    "sklearn": "import sklearn.ensemble as e; e.HistGradientBoostingClassifier(max_iter=3).fit(before, before.argmax(1) % 2)",
    "pandas": "assert pandas.DataFrame(before).shape == (200, 10)",
    "polars": "assert polars.DataFrame(before).shape == (200, 10)",
    "pyarrow": "assert pyarrow.array(before[:, 0]).sum() is not None",
}


@pytest.mark.parametrize("order", ["{other}, assay", "assay, {other}"])
@pytest.mark.parametrize("other", sorted(WORK))
def test_beside_another_framework(work, other, order):
    if importlib.util.find_spec(other) is None:
        pytest.skip(f"SKIPPED: {other} is not installed")
    code = CODE.format(imports="import " + order.format(other=other), work=WORK[other])
    ran = subprocess.run([sys.executable, "-c", code, "net.onnx"], cwd=work, capture_output=True, text=True)
    assert ran.returncode == 0 and ran.stdout.endswith("both work\n"), (ran.returncode, ran.stderr[-2000:])


@pytest.mark.parametrize("order", ["{others}, assay", "assay, {others}"])
def test_beside_all_that_are_here(work, order):
    """Threads of OpenMP, MKL and whatever else they bring are alive at once."""
    here = [other for other in WORK if importlib.util.find_spec(other) is not None]
    if len(here) < 2:
        pytest.skip(f"SKIPPED: of {', '.join(WORK)} only {here} are installed")
    work_of_all = "\n".join(WORK[other] for other in here)
    code = CODE.format(imports="import " + order.format(others=", ".join(here)), work=work_of_all)
    ran = subprocess.run([sys.executable, "-c", code, "net.onnx"], cwd=work, capture_output=True, text=True)
    assert ran.returncode == 0 and ran.stdout.endswith("both work\n"), (ran.returncode, ran.stderr[-2000:])


def test_in_a_notebook(work):
    """In a kernel of its own: figures come back, a result shows itself, an error is one of Assay's."""
    if importlib.util.find_spec("nbclient") is None or importlib.util.find_spec("ipykernel") is None:
        pytest.skip("SKIPPED: nbclient or ipykernel is not installed")
    import nbclient
    import nbformat

    cells = [
        "import assay\nresult = assay.evaluate('net.onnx', 'test.npz', progress=True)",
        "result",
        "try:\n    assay.data(3)\nexcept assay.UsageError as error:\n    print('said:', error)",
    ]
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    nbclient.NotebookClient(book, timeout=120, resources={"metadata": {"path": str(work)}}).execute()
    assert "correctly" in book.cells[1].outputs[0].data["text/html"]
    assert book.cells[2].outputs[0].text.startswith("said: ")


WORKERS = """
import sys

import assay
import torch


class Decided(torch.utils.data.Dataset):
    def __init__(self, network):
        self.network = network

    def __len__(self):
        return 6

    def __getitem__(self, at):
        return assay.load(self.network).predict(assay.data(f"digits:4,seed={at}"))[1]


if __name__ == "__main__":
    decided = Decided(sys.argv[1])
    here = [decided[at].tolist() for at in range(6)]  # the library's threads are there when workers start
    for start in ("fork", "spawn"):
        loaded = torch.utils.data.DataLoader(decided, batch_size=None, num_workers=2, multiprocessing_context=start)
        assert [one.tolist() for one in loaded] == here, start
    print("both work")
"""


def test_workers_of_a_data_loader_use_the_library(work, tmp_path):
    if importlib.util.find_spec("torch") is None:
        pytest.skip("SKIPPED: torch is not installed")
    script = tmp_path / "workers.py"  # workers that are spawned read it again
    script.write_text(WORKERS)
    ran = subprocess.run([sys.executable, str(script), "net.onnx"], cwd=work, capture_output=True, text=True)
    assert ran.returncode == 0 and ran.stdout.endswith("both work\n"), (ran.returncode, ran.stderr[-2000:])


def test_every_type_of_array_of_this_numpy_is_understood():
    """The layout of NumPy's types differs between its versions 1 and 2."""
    for dtype in ("float16", "float32", "float64", "int64"):
        values = np.arange(12).reshape(3, 4).astype(dtype)
        for array in (values, values[:, ::2], values[::-1], values.T.copy().T, values.astype(values.dtype.newbyteorder(">"))):
            read = assay.data(array).read([0, 2])["x"]
            assert read.dtype == np.float32 or read.dtype == np.int64
            assert np.array_equal(read, np.asarray(array[[0, 2]], dtype=read.dtype)), dtype
