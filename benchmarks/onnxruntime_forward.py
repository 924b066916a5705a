"""Forward passes of ONNX Runtime, for side_by_side.sh: onnxruntime_forward.py MODEL RECORDS THREADS SHAPE.

SHAPE is that of a record, such as 1x28x28. Prints the best microseconds a record over batch sizes, that batch size and
the version.
"""

import sys
import time

import numpy
import onnxruntime


def timed(session, name, batch, records):
    """Seconds of all records, in batches of this array; None where the file fixes another size."""
    try:
        session.run(None, {name: batch})
    except onnxruntime.capi.onnxruntime_pybind11_state.InvalidArgument:
        return None
    start = time.perf_counter()
    for _ in range(0, records, len(batch)):
        session.run(None, {name: batch})
    return time.perf_counter() - start


def main():
    model, records, threads, shape = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), map(int, sys.argv[4].split("x"))
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
    session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    name, shape = session.get_inputs()[0].name, list(shape)
    best, of = float("inf"), 0
    for size in (1, 16, 64, 256, 1024):
        if size > records:
            continue
        batch = numpy.random.default_rng(1).random((size, *shape), numpy.float32)
        for _ in range(3):
            took = timed(session, name, batch, records)
            if took is not None and took / (-(-records // size) * size) < best:
                best, of = took / (-(-records // size) * size), size
    print(f"{best * 1e6:.4f} {of} {onnxruntime.__version__}")


main()
