"""benchmarks/text_networks.py measures what it says, with small networks."""

import os
import re
import subprocess
import sys

import pytest

from conftest import PROGRAM

ROWS = {
    "bert": ["bert: evaluate beside ONNX Runtime", "bert: importance, epsilon", "bert: importance, attn-lrp", "bert: cover"],
    "gpt2-cache": ["gpt2-cache: evaluate beside ONNX Runtime"],
    "gcg": ["gpt2: candidates of GCG a second", "llama: candidates of GCG a second"],
    "gcg-all": ["gpt2-all: candidates of GCG a second", "llama-all: candidates of GCG a second"],
    "memory": ["bert: peak of `assay evaluate`"],
}


@pytest.mark.parametrize("part", ROWS)
def test_networks_of_language_are_measured(source, tmp_path, part):
    for needed in ("torch", "transformers", "onnxscript", "onnxruntime"):
        pytest.importorskip(needed, reason=f"SKIPPED: the package {needed} is not there")
    script = source / "benchmarks" / "text_networks.py"
    done = subprocess.run([sys.executable, script, "--small", "--times=1", "--seconds=0.2", part], capture_output=True, text=True, check=False,
                          env={**os.environ, "ASSAY_PROGRAM": str(PROGRAM), "TMPDIR": str(tmp_path)})  # fmt: skip
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()[1:]
    assert len(lines) == len(ROWS[part])
    for line, what in zip(lines, ROWS[part]):
        assert line.startswith(what)
        assert float(line[58:].split()[0]) > 0
        if part.startswith("gcg"):
            ours, theirs = (float(number) for number in re.findall(r"([\d.e+]+) a second, of [1-9]", line))
            assert float(line[58:].split()[0]) == pytest.approx(ours / theirs, abs=0.01, rel=0.01)
