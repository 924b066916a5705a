#!/usr/bin/env python3
"""write_cases.py FOLDER: the node cases of the installed package `onnx`, as its conformance data lie on disk.

Exit code 77 where the package is not there, or of a release that the installed NumPy is too new for.
"""

import sys
import warnings
from pathlib import Path

try:
    import numpy
    import onnx
    from onnx import numpy_helper
    from onnx.backend.test.case import node
except ImportError as missing:
    print(f"SKIPPED: {missing}")
    sys.exit(77)

WRITERS = {
    "sequence_type": numpy_helper.from_list,
    "optional_type": numpy_helper.from_optional,
    "map_type": numpy_helper.from_dict,
}


def message(value, info):
    """The message of a value, as the type that the network declares."""
    if isinstance(value, onnx.TensorProto):
        return value
    writer = WRITERS.get(info.type.WhichOneof("value"))
    return writer(value, info.name) if writer else numpy_helper.from_array(numpy.asarray(value), info.name)


def write(case, folder):
    folder.mkdir(parents=True)
    (folder / "model.onnx").write_bytes(case.model.SerializeToString())
    for number, (inputs, outputs) in enumerate(case.data_sets or []):
        place = folder / f"test_data_set_{number}"
        place.mkdir()
        graph = case.model.graph
        for kind, values, infos in ("input", inputs, graph.input), ("output", outputs, graph.output):
            for position, (value, info) in enumerate(zip(values, infos)):
                (place / f"{kind}_{position}.pb").write_bytes(message(value, info).SerializeToString())


warnings.filterwarnings("ignore")
target = Path(sys.argv[1]) / "node"
try:
    cases = node.collect_testcases(None)
except (AttributeError, TypeError) as error:
    print(f"SKIPPED: onnx {onnx.__version__} makes no cases with NumPy {numpy.__version__}: {error}")
    sys.exit(77)
for one in cases:
    write(one, target / one.name)
print(f"onnx {onnx.__version__}: {len(cases)} cases")
