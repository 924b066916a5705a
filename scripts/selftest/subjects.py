"""The networks and data sets of the suite: small, drawn from one seed, with numbers that float32 holds exactly."""

import io

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

SEED = 20260101


def rounded(values, parts):
    return (np.round(np.asarray(values) * parts) / parts).astype(np.float32)


def weights(rng, *shape):
    fan_in = int(np.prod(shape[1:]))
    return rounded(rng.normal(0, 2.5 / np.sqrt(fan_in), shape), 64)


def network(nodes, initializers, shape, outputs, opset=17):
    graph = helper.make_graph(
        nodes, "net", [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N", *shape])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["N", outputs])],
        [numpy_helper.from_array(value, name) for name, value in initializers.items()])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)
    return model


def dense(rng, sizes):
    """Layers fc1, fc2, ... with ReLU between them; the last one gives scores."""
    nodes, initializers, value = [], {}, "x"
    for i, (inputs, outputs) in enumerate(zip(sizes, sizes[1:]), 1):
        name, last = f"fc{i}", i == len(sizes) - 1
        initializers[f"{name}.w"] = weights(rng, outputs, inputs)
        initializers[f"{name}.b"] = rounded(rng.normal(0, 0.2, outputs), 64)
        nodes.append(helper.make_node("Gemm", [value, f"{name}.w", f"{name}.b"], ["y" if last else f"{name}.z"],
                                      name, transB=1))
        if not last:
            nodes.append(helper.make_node("Relu", [f"{name}.z"], [f"{name}.a"], f"{name}.relu"))
        value = f"{name}.a"
    return network(nodes, initializers, [sizes[0]], sizes[-1])


def convolutional(rng):
    initializers = {"conv.w": weights(rng, 3, 1, 3, 3), "conv.b": rounded(rng.normal(0, 0.2, 3), 64),
                    "fc.w": weights(rng, 3, 12), "fc.b": rounded(rng.normal(0, 0.2, 3), 64)}
    nodes = [helper.make_node("Conv", ["x", "conv.w", "conv.b"], ["conv.z"], "conv"),
             helper.make_node("Relu", ["conv.z"], ["conv.a"], "conv.relu"),
             helper.make_node("MaxPool", ["conv.a"], ["pool"], "pool", kernel_shape=[2, 2], strides=[2, 2]),
             helper.make_node("Flatten", ["pool"], ["flat"], "flatten"),
             helper.make_node("Gemm", ["flat", "fc.w", "fc.b"], ["y"], "fc", transB=1)]
    return network(nodes, initializers, [1, 6, 6], 3)


def bytes_of(model):
    return model.SerializeToString(deterministic=True)


def arrays_of(model):
    return {tensor.name: numpy_helper.to_array(tensor) for tensor in model.graph.initializer}


def scores(model, x):
    """What onnxruntime computes."""
    import onnxruntime
    session = onnxruntime.InferenceSession(bytes_of(model), providers=["CPUExecutionProvider"])
    return session.run(None, {"x": x.astype(np.float32)})[0]


def activations(model, x, names):
    """What onnxruntime computes on the way."""
    import onnxruntime
    copy = onnx.ModelProto()
    copy.CopyFrom(model)
    for name in names:
        if name != "y":
            copy.graph.output.append(helper.make_tensor_value_info(name, TensorProto.FLOAT, None))
    if not names:
        return {}
    session = onnxruntime.InferenceSession(bytes_of(copy), providers=["CPUExecutionProvider"])
    return dict(zip(names, session.run(names, {"x": x.astype(np.float32)})))


def records(rng, count, shape):
    return rounded(rng.random((count, *shape)), 256)


def labels(rng, model, x, wrong):
    """What the network decides, but for a share of records that have another class."""
    decided = scores(model, x).argmax(1)
    classes = int(decided.max()) + 1
    off = rng.random(len(x)) < wrong
    return np.where(off, (decided + rng.integers(1, max(classes, 2), len(x))) % classes, decided).astype(np.int64)


def windows(x, size, step):
    """Views of [N, C, H, W] as [N, C, rows, columns, size, size]."""
    return np.lib.stride_tricks.sliding_window_view(x, (size, size), axis=(2, 3))[:, :, ::step, ::step]


def forward(model, x):
    """All values of the network in float64, by names: a plain second implementation of what is in it."""
    arrays, values = arrays_of(model), {"x": x.astype(np.float64)}
    for node in model.graph.node:
        first = values[node.input[0]]
        if node.op_type == "Gemm":
            result = first @ arrays[node.input[1]].T.astype(np.float64) + arrays[node.input[2]]
        elif node.op_type == "Conv":
            weight = arrays[node.input[1]].astype(np.float64)
            result = np.einsum("nchwij,ocij->nohw", windows(first, 3, 1), weight) + arrays[node.input[2]][None, :, None, None]
        elif node.op_type == "MaxPool":
            result = windows(first, 2, 2).max((4, 5))
        else:
            result = {"Relu": lambda v: np.maximum(v, 0), "Flatten": lambda v: v.reshape(len(v), -1)}[node.op_type](first)
        values[node.output[0]] = result
    return values


def is_lively(model, x):
    """Whether no neuron is silent, or on for every record."""
    hidden = [node.output[0] for node in model.graph.node if node.op_type == "Relu"]
    found = forward(model, x)
    for values in (found[name] for name in hidden):
        on = (values.reshape(*values.shape[:2], -1).max(2) > 0).mean(0)
        if on.min() < 0.15 or (values.ndim == 2 and on.max() > 0.95):
            return False
    return True


def balanced(rng, make, x, classes, least):
    """The first network of the stream that names each class for at least this share of the records."""
    while True:
        model = make(rng)
        shares = np.bincount(forward(model, x)["y"].argmax(1), minlength=classes) / len(x)
        if shares.min() >= least and is_lively(model, x):
            return model


def npz(**arrays):
    file = io.BytesIO()
    np.savez(file, **arrays)
    return file.getvalue()


class Subjects:
    def __init__(self):
        rng = np.random.default_rng(SEED)
        self.train_x, self.test_x = records(rng, 90, [4]), records(rng, 40, [4])
        self.net = balanced(rng, lambda r: dense(r, [4, 6, 5, 3]), self.train_x, 3, 0.2)
        self.twin = balanced(rng, lambda r: dense(r, [4, 6, 5, 3]), self.train_x, 3, 0.2)
        self.linear = balanced(rng, lambda r: dense(r, [4, 2]), self.train_x, 2, 0.35)
        self.linear_twin = balanced(rng, lambda r: dense(r, [4, 2]), self.train_x, 2, 0.35)
        self.regression = dense(rng, [4, 5, 1])
        self.train_y = labels(rng, self.net, self.train_x, 0.1)
        self.test_y = labels(rng, self.net, self.test_x, 0.15)
        self.linear_y = labels(rng, self.linear, self.test_x, 0.0)
        self.pictures_train, self.pictures_test = records(rng, 60, [1, 6, 6]), records(rng, 30, [1, 6, 6])
        self.conv = balanced(rng, convolutional, self.pictures_train, 3, 0.15)
        self.pictures_train_y = labels(rng, self.conv, self.pictures_train, 0.1)
        self.pictures_test_y = labels(rng, self.conv, self.pictures_test, 0.1)
        self.targets = rounded(scores(self.regression, self.test_x) + rng.normal(0, 0.2, (40, 1)), 64)
        self.weather = rng.choice(["fog", "sun"], 40)

    def files(self):
        """Name to bytes of every file of the suite."""
        table = "a,b,c,d,class\n" + "".join(
            ",".join(repr(float(v)) for v in row) + f",{label}\n" for row, label in zip(self.test_x, self.test_y))
        columns = "id,weather,size\n" + "".join(
            f"{i},{w},{float(v)!r}\n" for i, (w, v) in enumerate(zip(self.weather, self.test_x[:, 0])))
        return {
            "net.onnx": bytes_of(self.net), "twin.onnx": bytes_of(self.twin), "linear.onnx": bytes_of(self.linear),
            "linear-twin.onnx": bytes_of(self.linear_twin), "regression.onnx": bytes_of(self.regression), "conv.onnx": bytes_of(self.conv),
            "train.npz": npz(x=self.train_x, y=self.train_y), "test.npz": npz(x=self.test_x, y=self.test_y),
            "linear.npz": npz(x=self.test_x, y=self.linear_y), "targets.npz": npz(x=self.test_x, y=self.targets),
            "pictures-train.npz": npz(x=self.pictures_train, y=self.pictures_train_y),
            "pictures.npz": npz(x=self.pictures_test, y=self.pictures_test_y),
            "test.csv": table.encode(), "columns.csv": columns.encode(),
        }
