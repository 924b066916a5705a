"""What else may be in the process: refused in a sentence where it would end the process, understood elsewhere."""

import importlib.machinery
import os
import subprocess
import sys

import numpy as np
import pytest

import assay
from assay import _beside


def mine():
    file = _beside.first_named(_beside.loaded_libraries(), "libtorch_cpu.so")
    if file is None:
        pytest.skip("SKIPPED: this build of assay is linked with libtorch statically, or the system has no /proc")
    return file


def test_a_library_is_found_by_its_name():
    libraries = ["/usr/lib/libc.so.6", "/x/libtorch_cpu.so.1.13", "/y/libtorch_cpu.so"]
    assert _beside.first_named(libraries, "libtorch_cpu.so") == "/x/libtorch_cpu.so.1.13"
    assert _beside.first_named(libraries, "libtorch_cuda.so") is None
    assert _beside.loaded_libraries("/no/such/file") == []


def test_what_clashes_is_refused_before_the_module_loads(tmp_path):
    other = tmp_path / "libtorch_cpu.so"
    other.write_bytes(b"")
    with pytest.raises(ImportError, match="both would end the process; use them in two processes"):
        _beside.refuse_libraries_that_clash([str(other)])
    with pytest.raises(ImportError, match="cannot be imported after tensorflow"):
        _beside.refuse_libraries_that_clash(["/x/tensorflow/libtensorflow_framework.so.2"])
    _beside.refuse_libraries_that_clash([])
    _beside.refuse_libraries_that_clash([mine()])


def package(folder, name, library=False):
    (folder / name / "lib").mkdir(parents=True)
    (folder / name / "__init__.py").write_text("loaded = True\n")
    if library:
        (folder / name / "lib" / "libtorch_cpu.so").write_bytes(b"another build")


def imported_after_assay(folder, name):
    code = f"import assay, {name}; print({name}.loaded)"
    paths = os.pathsep.join([str(folder), *(os.environ.get("PYTHONPATH") or "").split(os.pathsep)])
    return subprocess.run(
        [sys.executable, "-c", code], env={**os.environ, "PYTHONPATH": paths}, capture_output=True, text=True
    )


def test_another_torch_is_refused_when_it_is_imported_after_assay(tmp_path):
    mine()
    package(tmp_path, "torch", library=True)
    found = imported_after_assay(tmp_path, "torch")
    assert found.returncode == 1
    assert "ImportError: torch (" in found.stderr and "cannot be imported after assay" in found.stderr


def test_a_torch_without_a_library_of_another_build_is_imported(tmp_path):
    package(tmp_path, "torch")
    found = imported_after_assay(tmp_path, "torch")
    assert found.stdout == "True\n", found.stderr
    assert _beside.clash("torch", str(tmp_path / "torch"), []) is None
    assert isinstance(sys.meta_path[0], _beside._OtherTorch)
    assert sys.meta_path[0].find_spec("json") is None


def test_torch_of_the_package_index_before_and_after():
    """The real package, where it is installed and is not the one that assay was built with."""
    found = importlib.machinery.PathFinder.find_spec("torch")
    if found is None or _beside.clash("torch", os.path.dirname(found.origin), _beside.loaded_libraries()) is None:
        pytest.skip("SKIPPED: no torch is installed that brings a libtorch of another build")
    for code in ("import torch, assay", "import assay, torch"):
        ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
        assert ran.returncode == 1 and "ImportError" in ran.stderr and "process" in ran.stderr


def test_every_type_of_array_of_this_numpy_is_understood():
    """The layout of NumPy's types differs between its versions 1 and 2."""
    for dtype in ("float16", "float32", "float64", "int64"):
        values = np.arange(12).reshape(3, 4).astype(dtype)
        for array in (values, values[:, ::2], values[::-1], values.T.copy().T, values.astype(values.dtype.newbyteorder(">"))):
            read = assay.data(array).read([0, 2])["x"]
            assert read.dtype == np.float32 or read.dtype == np.int64
            assert np.array_equal(read, np.asarray(array[[0, 2]], dtype=read.dtype)), dtype
