"""What else may be in the process: other frameworks, before and after, and any NumPy."""

import importlib.util
import subprocess
import sys

import numpy as np
import pytest

import assay

CODE = """
import sys
{imports}
assert assay.load(sys.argv[1]).predict(assay.data("digits:20"))[1].shape == (20,)
{work}
print("both work")
"""
WORK = {
    "torch": "assert torch.nn.Linear(4, 2)(torch.ones(3, 4)).sum().backward() is None",
    "tensorflow": "assert tensorflow.ones((2, 2)).numpy().sum() == 4",
    "onnxruntime": "assert onnxruntime.get_available_providers()",
    "jax": "assert jax.numpy.ones(3).sum() == 3",
    "sklearn": "import sklearn.linear_model",
}


@pytest.mark.parametrize("order", ["{other}, assay", "assay, {other}"])
@pytest.mark.parametrize("other", sorted(WORK))
def test_beside_another_framework(work, other, order):
    if importlib.util.find_spec(other) is None:
        pytest.skip(f"SKIPPED: {other} is not installed")
    code = CODE.format(imports="import " + order.format(other=other), work=WORK[other])
    ran = subprocess.run([sys.executable, "-c", code, "net.onnx"], cwd=work, capture_output=True, text=True)
    assert ran.returncode == 0 and ran.stdout.endswith("both work\n"), (ran.returncode, ran.stderr[-2000:])


def test_every_type_of_array_of_this_numpy_is_understood():
    """The layout of NumPy's types differs between its versions 1 and 2."""
    for dtype in ("float16", "float32", "float64", "int64"):
        values = np.arange(12).reshape(3, 4).astype(dtype)
        for array in (values, values[:, ::2], values[::-1], values.T.copy().T, values.astype(values.dtype.newbyteorder(">"))):
            read = assay.data(array).read([0, 2])["x"]
            assert read.dtype == np.float32 or read.dtype == np.int64
            assert np.array_equal(read, np.asarray(array[[0, 2]], dtype=read.dtype)), dtype
