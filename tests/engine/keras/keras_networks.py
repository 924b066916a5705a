"""Writes small models of every layer that Keras has, with what Keras predicts: python3 keras_networks.py FOLDER

Each network is NAME.keras (and NAME.h5) beside NAME.npz, which holds its inputs x0, x1, ... and outputs y0, y1, ...
A line of refused.txt names a network that must be refused, and words of the message.
Keras and one of its back ends come from PyPI; nothing here is needed to build or to use the program.
"""

import inspect
import logging
import os
import pathlib
import sys
import zlib

os.environ.setdefault("KERAS_BACKEND", "jax")
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import keras
import numpy as np
from keras import layers as L

logging.disable(logging.WARNING)

# Classes that are part of others, hold code, or need another package to run.
NOT_ALONE = {
    "Layer", "Wrapper", "InputLayer", "FlaxLayer", "JaxLayer", "TFSMLayer", "TorchModuleWrapper",
    "GRUCell", "LSTMCell", "SimpleRNNCell", "StackedRNNCells",
    "Hashing", "HashedCrossing", "TextVectorization", "MaxNumBoundingBoxes",
}  # fmt: skip


class Writer:
    def __init__(self, folder, only):
        self.folder, self.only, self.seen, self.refused = pathlib.Path(folder), only, set(), []

    def wanted(self, name):
        return not self.only or any(part in name for part in self.only)

    def note(self, model):
        for layer in model._flatten_layers(include_self=False):
            self.seen.add(type(layer).__name__)

    def save(self, name, *arguments, **options):
        try:
            self.saved(name, *arguments, **options)
        except Exception as error:
            print("left out, Keras does not run it:", name, str(error).strip().splitlines()[0])

    def saved(self, name, model, inputs, refused=None, h5=True):
        randomise(model, zlib.crc32(name.encode()))
        model.compile(run_eagerly=True)
        self.note(model)
        if not self.wanted(name):
            return
        arrays = {f"x{i}": x for i, x in enumerate(inputs)}
        if refused is None:
            given = inputs if len(inputs) > 1 else inputs[0]
            outputs = model.predict(given, verbose=0)
            outputs = outputs if isinstance(outputs, (list, tuple)) else [outputs]
            arrays |= {f"y{i}": np.asarray(y) for i, y in enumerate(outputs)}
        np.savez(self.folder / f"{name}.npz", **arrays)
        model.save(self.folder / f"{name}.keras")
        if h5:
            self.save_h5(model, self.folder / f"{name}.h5")
        if refused is not None:
            self.refused.append(f"{name}\t{refused}")

    @staticmethod
    def save_h5(model, path):
        try:
            model.save(path)
        except TypeError:  # layers with a generator of random numbers, which Keras cannot write in this format
            path.unlink(missing_ok=True)

    def chain(self, name, shape, make, refused=None, h5=True, x=None, dtype=None):
        """Layers one after the other, as a functional and as a Sequential model."""
        if not self.wanted(name):
            self.seen |= {type(layer).__name__ for layer in made(make)}
            return
        x = sample(name, shape, dtype) if x is None else x
        self.both_forms(name, shape, make, refused, h5, x, dtype)

    def both_forms(self, name, shape, make, refused, h5, x, dtype):
        for form in ("functional", "sequential"):
            chain, entry = made(make), keras.Input(shape, dtype=dtype)
            if form == "sequential":
                model = keras.Sequential([entry, *chain])
            else:
                value = entry
                for layer in chain:
                    value = layer(value)
                model = keras.Model(entry, value)
            self.save(f"{name}-{form}", model, [x], refused, h5)


def made(make):
    chain = make()
    return chain if isinstance(chain, (list, tuple)) else [chain]


def sample(name, shape, dtype=None, records=4):
    rng = np.random.default_rng(zlib.crc32(name.encode()))
    if dtype and dtype.startswith("int"):
        return rng.integers(0, 6, (records, *shape)).astype(dtype)
    return rng.normal(size=(records, *shape)).astype("float32")


def randomise(model, seed):
    """Weights that are not what they start as."""
    rng = np.random.default_rng(seed)
    for variable in model.variables:
        if "float" not in str(variable.dtype) or "kernel_scale" in variable.path or variable.path.startswith("normalization"):
            continue
        values = rng.normal(scale=0.5, size=variable.shape)
        if "variance" in variable.path:
            values = np.abs(values) + 0.5
        if "spectrogram" not in variable.path:
            variable.assign(values.astype("float32"))


def simple(w):
    grey, image, row, vector, video = (8, 8, 1), (9, 8, 3), (7, 5), (6,), (5, 6, 4, 2)
    one = w.chain
    for name in ("relu", "selu", "gelu", "silu", "mish", "softmax", "log_softmax", "hard_sigmoid", "hard_silu", "elu",
                 "exponential", "leaky_relu", "linear", "relu6", "sigmoid", "softplus", "softsign", "tanh", "celu",
                 "glu", "hard_tanh", "hard_shrink", "tanh_shrink", "soft_shrink", "sparse_plus", "sparsemax",
                 "squareplus", "sparse_sigmoid", "log_sigmoid"):  # fmt: skip
        one(f"Activation-{name}", vector, lambda n=name: L.Activation(n))
        one(f"Dense-{name}", vector, lambda n=name: L.Dense(4, activation=n))
    one("ActivityRegularization", vector, lambda: L.ActivityRegularization(0.1, 0.1))
    for noise in (L.AlphaDropout, L.Dropout, L.GaussianDropout, L.GaussianNoise):
        one(noise.__name__, vector, lambda n=noise: [n(0.3), L.Dense(3)])
    one("Dropout-shape", row, lambda: [L.Dropout(0.3, noise_shape=(None, 1, 5)), L.Dense(3)])
    one("SpatialDropout1D", row, lambda: L.SpatialDropout1D(0.3))
    one("SpatialDropout2D", image, lambda: L.SpatialDropout2D(0.3))
    one("SpatialDropout3D", video, lambda: L.SpatialDropout3D(0.3))
    one("BatchNormalization", image, lambda: L.BatchNormalization())
    one("BatchNormalization-bare", vector, lambda: L.BatchNormalization(center=False, scale=False, epsilon=0.1))
    one("BatchNormalization-axis1", row, lambda: L.BatchNormalization(axis=1))
    one("BatchNormalization-axis2", image, lambda: L.BatchNormalization(axis=2))
    one("BatchNormalization-renorm", image, lambda: L.BatchNormalization(renorm=True))
    one("LayerNormalization", row, lambda: L.LayerNormalization())
    one("LayerNormalization-image", image, lambda: L.LayerNormalization())
    one("LayerNormalization-axis1", image, lambda: L.LayerNormalization(axis=1))
    one("LayerNormalization-axes", image, lambda: L.LayerNormalization(axis=[1, 2], center=False))
    one("LayerNormalization-bare", row, lambda: L.LayerNormalization(center=False, scale=False))
    one("GroupNormalization", (4, 4, 6), lambda: L.GroupNormalization(3))
    one("GroupNormalization-instance", (4, 4, 6), lambda: L.GroupNormalization(-1, scale=False))
    one("GroupNormalization-row", (4, 6), lambda: L.GroupNormalization(2))
    one("GroupNormalization-vector", (6,), lambda: L.GroupNormalization(2))
    one("GroupNormalization-axis1", (6, 4, 4), lambda: L.GroupNormalization(2, axis=1))
    one("GroupNormalization-axis2", (4, 6, 5), lambda: L.GroupNormalization(2, axis=2))
    one("RMSNormalization", row, lambda: L.RMSNormalization())
    one("RMSNormalization-axis1", row, lambda: L.RMSNormalization(axis=1))
    one("RMSNormalization-axes", image, lambda: L.RMSNormalization(axis=[1, 2]))
    one("UnitNormalization", row, lambda: L.UnitNormalization())
    one("UnitNormalization-axes", row, lambda: L.UnitNormalization(axis=[1, 2]))
    one("SpectralNormalization-dense", vector, lambda: L.SpectralNormalization(L.Dense(8)))
    one("SpectralNormalization-one", vector, lambda: [L.SpectralNormalization(L.Dense(1)), L.Dense(2)])
    one("SpectralNormalization-first", (1,), lambda: [L.SpectralNormalization(L.Dense(4)), L.Dense(2)])
    one("SpectralNormalization-conv", image,
        lambda: L.SpectralNormalization(L.Conv2D(4, 3, activation="relu"), power_iterations=2))
    one("SpectralNormalization-bare", image, lambda: L.SpectralNormalization(L.Conv2D(4, 3, use_bias=False)))
    one("SpectralNormalization-embedding", row[:1],
        lambda: L.SpectralNormalization(L.Embedding(6, 3)), dtype="int32", h5=False)
    one("Rescaling", image, lambda: L.Rescaling(1 / 255, -0.5))
    one("Rescaling-channels", image, lambda: L.Rescaling([1.0, 2.0, 3.0], [0.1, 0.2, 0.3]))
    one("Normalization-given", image, lambda: L.Normalization(mean=[1.0, 2, 3], variance=[4.0, 5, 6]))
    one("Normalization-invert", image, lambda: L.Normalization(mean=[1.0, 2, 3], variance=[4.0, 5, 6], invert=True))
    one("Normalization-axes", row, lambda: L.Normalization(axis=(1, 2), mean=np.arange(35.0).reshape(7, 5),
                                                          variance=1 + np.arange(35.0).reshape(7, 5)))
    one("Normalization-axis1", row, lambda: L.Normalization(axis=1, mean=np.arange(7.0), variance=1 + np.arange(7.0)))
    one("Normalization-none", row, lambda: L.Normalization(axis=None, mean=2.0, variance=3.0))
    adapted = sample("adapted", row) * 3 + 1

    def learned(**options):
        layer = L.Normalization(**options)
        layer.adapt(adapted)
        return layer

    one("Normalization", row, learned)
    one("Normalization-adapted", row, lambda: learned(axis=(1, 2)))
    one("Normalization-one", row, lambda: learned(axis=None))
    for name, layer in {
        "relu": lambda: L.ReLU(), "relu-all": lambda: L.ReLU(max_value=1.0, negative_slope=0.2, threshold=0.3),
        "relu-max": lambda: L.ReLU(1.0), "leaky": lambda: L.LeakyReLU(0.2), "elu": lambda: L.ELU(0.7),
        "softmax": lambda: L.Softmax(), "softmax-1": lambda: L.Softmax(axis=1), "softmax-2": lambda: L.Softmax(axis=[1, 2]),
        "prelu": lambda: L.PReLU(), "prelu-shared": lambda: L.PReLU(shared_axes=[1]),
    }.items():  # fmt: skip
        one(f"Activations-{name}", row, layer)
    one("Activations-prelu-image", image, lambda: L.PReLU(shared_axes=[1, 2]))
    one("Activations-prelu-all", image, lambda: L.PReLU())
    one("Identity", vector, lambda: [L.Identity(), L.Dense(2)])
    one("Flatten", image, lambda: [L.Flatten(), L.Dense(3)])
    one("Flatten-first", (3, 8, 8), lambda: [L.Flatten("channels_first"), L.Dense(3)])
    one("Flatten-vector", vector, lambda: [L.Flatten(), L.Dense(3)])
    one("Flatten-scalar", (), lambda: [L.Flatten(), L.Dense(3)])
    one("Reshape", image, lambda: L.Reshape((12, -1)))
    one("Reshape-scalar", (), lambda: [L.Reshape((1,)), L.Dense(2)])
    one("Permute", image, lambda: L.Permute((3, 1, 2)))
    one("RepeatVector", vector, lambda: L.RepeatVector(3))
    for rank, shape in ((1, row), (2, image), (3, video)):
        padding = [(1, 2), (2, 1), (0, 1)][:rank]
        padding = padding[0] if rank == 1 else padding
        one(f"ZeroPadding{rank}D", shape, lambda r=rank, p=padding: getattr(L, f"ZeroPadding{r}D")(p))
        one(f"Cropping{rank}D", shape, lambda r=rank, p=padding: getattr(L, f"Cropping{r}D")(p))
        one(f"UpSampling{rank}D", shape, lambda r=rank: getattr(L, f"UpSampling{r}D")(2))
        for kind in ("Max", "Average"):
            pool = getattr(L, f"{kind}Pooling{rank}D")
            one(f"{kind}Pooling{rank}D", shape, lambda p=pool: p(2))
            one(f"{kind}Pooling{rank}D-same", shape, lambda p=pool: p(3, strides=2, padding="same"))
            whole = getattr(L, f"Global{kind}Pooling{rank}D")
            one(f"Global{kind}Pooling{rank}D", shape, lambda p=whole: p())
            one(f"Global{kind}Pooling{rank}D-keep", shape, lambda p=whole: p(keepdims=True))
            adaptive = getattr(L, f"Adaptive{kind}Pooling{rank}D")
            for size in ((1, 2, 3, 4, 5, 9) if rank == 1 else (1, 2, (2, 3, 4)[:rank], (5, 3, 4)[:rank])):
                title = "".join(map(str, np.ravel(size)))
                one(f"Adaptive{kind}Pooling{rank}D-{title}", shape, lambda p=adaptive, s=size: p(s))
            one(f"Adaptive{kind}Pooling{rank}D-first", shape,
                lambda p=adaptive: p(2, data_format="channels_first"))
    for method in ("nearest", "bilinear", "bicubic", "lanczos3", "lanczos5"):
        one(f"UpSampling2D-{method}", image, lambda m=method: L.UpSampling2D((2, 3), interpolation=m))
    one("Dense", row, lambda: L.Dense(4, "tanh", use_bias=False))
    one("Embedding", (5,), lambda: [L.Embedding(6, 3), L.Dense(2)], dtype="int32")
    one("Embedding-float", (5,), lambda: [L.Embedding(6, 3), L.Flatten(), L.Dense(2)], x=sample("e", (5,), "int32").astype("float32"))
    one("Embedding-scalar", (), lambda: [L.Embedding(6, 3), L.Dense(2)], dtype="int32")
    one("EinsumDense", row, lambda: L.EinsumDense("abc,cd->abd", (None, 4), bias_axes="d", activation="relu"))
    one("EinsumDense-heads", row, lambda: L.EinsumDense("abc,cde->abde", (None, 2, 3), bias_axes="de"))
    one("EinsumDense-dots", row, lambda: L.EinsumDense("...x,xy->...y", 3, bias_axes="y"))


def convolutions(w):
    shapes = {1: (9, 4), 2: (9, 8, 4), 3: (5, 6, 7, 4)}
    options = {
        "plain": {}, "same": {"padding": "same", "strides": 2}, "dilated": {"dilation_rate": 2},
        "bare": {"use_bias": False, "activation": "relu"},
    }  # fmt: skip
    for rank, shape in shapes.items():
        for title, more in options.items():
            w.chain(f"Conv{rank}D-{title}", shape, lambda r=rank, m=more: getattr(L, f"Conv{r}D")(6, 3, **m))
            if title != "dilated":
                w.chain(f"Conv{rank}DTranspose-{title}", shape,
                        lambda r=rank, m=more: getattr(L, f"Conv{r}DTranspose")(3, 3, **m))
            if rank < 3:
                w.chain(f"DepthwiseConv{rank}D-{title}", shape,
                        lambda r=rank, m=more: getattr(L, f"DepthwiseConv{r}D")(3, depth_multiplier=2, **m))
                w.chain(f"SeparableConv{rank}D-{title}", shape,
                        lambda r=rank, m=more: getattr(L, f"SeparableConv{r}D")(5, 3, depth_multiplier=2, **m))
        w.chain(f"Conv{rank}D-groups", shape, lambda r=rank: getattr(L, f"Conv{r}D")(6, 3, groups=2))
        w.chain(f"Conv{rank}DTranspose-more", shape,
                lambda r=rank: getattr(L, f"Conv{r}DTranspose")(3, 3, strides=2, output_padding=1))
    w.chain("Conv1D-causal", (9, 4), lambda: L.Conv1D(3, 3, padding="causal", dilation_rate=2))
    w.chain("SeparableConv1D-causal", (9, 4), lambda: L.SeparableConv1D(3, 3, padding="causal"))
    w.chain("Conv2D-first", (4, 9, 8), lambda: [L.Conv2D(3, 3, data_format="channels_first"), L.Flatten(), L.Dense(2)])


PICTURE = "picture"


def augmentation(w):
    """Layers that change pictures in training. What they do in use is what predict() gives."""
    image, x = (8, 10, 3), np.random.default_rng(1).integers(0, 256, (4, 8, 10, 3)).astype("float32")
    kinds = {
        "AugMix": lambda: L.AugMix(), "CutMix": lambda: L.CutMix(), "MixUp": lambda: L.MixUp(),
        "RandAugment": lambda: L.RandAugment(), "RandomBrightness": lambda: L.RandomBrightness(0.3),
        "RandomColorDegeneration": lambda: L.RandomColorDegeneration(0.3),
        "RandomColorJitter": lambda: L.RandomColorJitter(brightness_factor=0.2, contrast_factor=0.3, saturation_factor=0.4, hue_factor=0.1),
        "RandomContrast": lambda: L.RandomContrast(0.3), "RandomElasticTransform": lambda: L.RandomElasticTransform(),
        "RandomErasing": lambda: L.RandomErasing(), "RandomFlip": lambda: L.RandomFlip(),
        "RandomGaussianBlur": lambda: L.RandomGaussianBlur(), "RandomGrayscale": lambda: L.RandomGrayscale(),
        "RandomHue": lambda: L.RandomHue(0.3), "RandomInvert": lambda: L.RandomInvert(),
        "RandomPerspective": lambda: L.RandomPerspective(), "RandomPosterization": lambda: L.RandomPosterization(3),
        "RandomRotation": lambda: L.RandomRotation(0.3), "RandomSaturation": lambda: L.RandomSaturation(0.3),
        "RandomSharpness": lambda: L.RandomSharpness(0.3), "RandomShear": lambda: L.RandomShear(0.3, 0.2),
        "RandomTranslation": lambda: L.RandomTranslation(0.2, 0.3), "RandomZoom": lambda: L.RandomZoom(0.3),
        "RandomCrop": lambda: L.RandomCrop(4, 5), "RandomCrop-larger": lambda: L.RandomCrop(8, 12),
        "Solarization": lambda: L.Solarization(0.3, 0.4), "Equalization": lambda: L.Equalization(),
        "AutoContrast": lambda: L.AutoContrast(), "AutoContrast-first": lambda: L.AutoContrast(data_format="channels_first"),
        "CLAHE": lambda: L.ContrastLimitedAdaptiveHistogramEqualization(tile_grid_size=(2, 3)),
        "CLAHE-whole": lambda: L.ContrastLimitedAdaptiveHistogramEqualization(tile_grid_size=(2, 2)),
        "CenterCrop": lambda: L.CenterCrop(5, 6), "CenterCrop-larger": lambda: L.CenterCrop(12, 9),
        "Pipeline": lambda: L.Pipeline([L.RandomFlip(), L.Rescaling(0.1), L.CenterCrop(4, 4)]),
    }  # fmt: skip
    for name, make in kinds.items():
        refused = "apply it to the data" if name.startswith("CLAHE") else None
        w.chain(name, image, lambda m=make: [m(), L.Flatten(), L.Dense(3)], refused, x=x, h5=name != "Pipeline")
    unit = x / 255
    w.chain("AutoContrast-unit", image, lambda: L.AutoContrast(value_range=(0, 1)), x=unit)
    flat = x.copy()
    flat[0, :, :, 1] = 7
    w.chain("AutoContrast-flat", image, lambda: L.AutoContrast(), x=flat)
    w.chain("Equalization-unit", image, lambda: L.Equalization((0, 1)), x=unit)
    for method in ("nearest", "bilinear", "bicubic", "lanczos3", "lanczos5"):
        for size in ((4, 4), (16, 13), (5, 20)):
            for anti in (False, True):
                w.chain(f"Resizing-{method}-{size[0]}x{size[1]}{'-antialias' if anti else ''}", image,
                        lambda m=method, s=size, a=anti: L.Resizing(*s, interpolation=m, antialias=a), x=x)
    for size in ((4, 4), (16, 13), (5, 20), (20, 5)):
        for key in ("crop_to_aspect_ratio", "pad_to_aspect_ratio"):
            w.chain(f"Resizing-{key}-{size[0]}x{size[1]}", image,
                    lambda s=size, k=key: L.Resizing(*s, fill_value=9.0 if k.startswith("pad") else 0.0, **{k: True}), x=x)
    w.chain("Resizing-first", (3, 8, 10), lambda: L.Resizing(5, 7, "bicubic", data_format="channels_first"))


def sound(w):
    row = (64, 2)
    for mode in ("log", "magnitude", "psd", "real", "imag", "angle", "stft"):
        w.chain(f"STFTSpectrogram-{mode}", row,
                lambda m=mode: L.STFTSpectrogram(mode=m, frame_length=16, frame_step=5, fft_length=32))
    w.chain("STFTSpectrogram-image", row, lambda: L.STFTSpectrogram(frame_length=16, expand_dims=True, padding="same"))
    w.chain("STFTSpectrogram-first", (2, 64), lambda: L.STFTSpectrogram(frame_length=16, data_format="channels_first"))
    w.chain("STFTSpectrogram-window", row, lambda: L.STFTSpectrogram(frame_length=16, window=None, scaling="spectrum"))
    for title, more in {
        "plain": {}, "window": {"window": "hamming"}, "short": {"sequence_length": 20}, "power": {"power_to_db": False, "mag_exp": 1.0},
        "floor": {"top_db": 5.0}, "reference": {"ref_power": 0.5, "min_power": 1e-3}, "bare": {"window": None},
        "edges": {"min_freq": 300.0, "max_freq": 3000.0},
    }.items():  # fmt: skip
        w.chain(f"MelSpectrogram-{title}", (100,),
                lambda m=more: L.MelSpectrogram(fft_length=32, sequence_stride=12, sampling_rate=8000, num_mel_bins=10, **m))


def merging(w):
    a, b, c = (sample(n, (4, 5)) for n in "abc")
    for kind in ("Add", "Subtract", "Multiply", "Average", "Maximum", "Minimum", "Concatenate"):
        inputs = [keras.Input((4, 5)) for _ in range(2 if kind == "Subtract" else 3)]
        w.save(f"{kind}-merge", keras.Model(inputs, getattr(L, kind)()(inputs)), [a, b, c][: len(inputs)])
    inputs = [keras.Input((4, 5)) for _ in range(2)]
    w.save("Concatenate-axis1", keras.Model(inputs, L.Concatenate(axis=1)(inputs)), [a, b])
    w.save("Dot-merge", keras.Model(inputs, L.Dot(axes=2)(inputs)), [a, b])
    w.save("Dot-normalised", keras.Model(inputs, L.Dot(axes=(1, 1), normalize=True)(inputs)), [a, b])
    inputs = [keras.Input((5,)) for _ in range(2)]
    w.save("Dot-vectors", keras.Model(inputs, L.Dot(axes=1)(inputs)), [a[:, 0], b[:, 0]])
    inputs = [keras.Input((4, 5)), keras.Input((1, 5))]
    w.save("Add-broadcast", keras.Model(inputs, L.Add()(inputs)), [a, b[:, :1]])
    inputs = [keras.Input(()), keras.Input(())]
    model = keras.Model(inputs, L.Dense(2)(L.Reshape((1,))(L.Add()(inputs))))
    w.save("Input-scalars", model, [a[:, 0, 0], b[:, 0, 0]])
    inputs = {"age": keras.Input((), name="age"), "hours": keras.Input((1,), name="hours")}
    value = L.Concatenate()([keras.ops.expand_dims(inputs["age"], -1), inputs["hours"]])
    w.save("Input-dictionary", keras.Model(list(inputs.values()), L.Dense(2)(value)), [a[:, 0, 0], b[:, 0, :1]])


def attending(w):
    q, v = sample("q", (4, 6)), sample("v", (5, 6))
    inputs = [keras.Input((4, 6)), keras.Input((5, 6))]

    def case(name, layer, *, call=None, refused=None):
        w.save(name, keras.Model(inputs, (call or (lambda one: one(*inputs)))(layer)), [q, v], refused)

    case("MultiHeadAttention", L.MultiHeadAttention(2, 3))
    case("MultiHeadAttention-sizes", L.MultiHeadAttention(2, 3, output_shape=7, use_bias=False))
    case("MultiHeadAttention-causal", L.MultiHeadAttention(2, 3), call=lambda one: one(*inputs, use_causal_mask=True))
    case("MultiHeadAttention-scores", L.MultiHeadAttention(2, 3), call=lambda one: one(*inputs, return_attention_scores=True))
    case("MultiHeadAttention-gate", L.MultiHeadAttention(2, 3, use_gate=True))
    case("MultiHeadAttention-dropout", L.MultiHeadAttention(2, 3, dropout=0.2))
    image = keras.Input((3, 4, 6))
    w.save("MultiHeadAttention-image", keras.Model(image, L.MultiHeadAttention(2, 3)(image, image)), [sample("i", (3, 4, 6))])
    w.save("MultiHeadAttention-axes", keras.Model(image, L.MultiHeadAttention(2, 3, attention_axes=(2,))(image, image)),
           [sample("i", (3, 4, 6))], "attention_axes")
    w.save("MultiHeadAttention-shape", keras.Model(inputs, L.MultiHeadAttention(2, 3, output_shape=(2, 4))(*inputs)), [q, v])
    case("GroupQueryAttention", L.GroupQueryAttention(3, 4, 2))
    case("GroupQueryAttention-one", L.GroupQueryAttention(3, 4, 1, use_bias=False))
    case("GroupQueryAttention-gate", L.GroupQueryAttention(3, 4, 4, use_gate=True))
    case("GroupQueryAttention-window", L.GroupQueryAttention(3, 4, 2, sliding_window=2))
    case("GroupQueryAttention-causal", L.GroupQueryAttention(3, 4, 2), call=lambda one: one(*inputs, use_causal_mask=True))
    case("GroupQueryAttention-causal-window", L.GroupQueryAttention(3, 4, 2, sliding_window=2),
         call=lambda one: one(*inputs, use_causal_mask=True))
    case("GroupQueryAttention-scores", L.GroupQueryAttention(3, 4, 2), call=lambda one: one(*inputs, return_attention_scores=True))
    case("Attention", L.Attention(), call=lambda one: one(inputs))
    case("Attention-scale", L.Attention(use_scale=True), call=lambda one: one(inputs))
    case("Attention-concat", L.Attention(score_mode="concat", use_scale=True), call=lambda one: one(inputs))
    case("Attention-concat-plain", L.Attention(score_mode="concat"), call=lambda one: one(inputs))
    case("Attention-causal", L.Attention(), call=lambda one: one(inputs, use_causal_mask=True))
    case("AdditiveAttention", L.AdditiveAttention(), call=lambda one: one(inputs))
    case("AdditiveAttention-plain", L.AdditiveAttention(use_scale=False), call=lambda one: one(inputs))
    words = keras.Input((5,), dtype="int32")
    text = L.Embedding(6, 6, mask_zero=True)(words)
    for name, layer in (("GroupQueryAttention", L.GroupQueryAttention(3, 4, 2)), ("MultiHeadAttention", L.MultiHeadAttention(2, 3))):
        model = keras.Model(words, layer(text, text))
        w.save(f"{name}-masked", model, [np.array([[1, 2, 3, 0, 0], [1, 1, 1, 1, 1], [5, 0, 0, 0, 0], [4, 2, 0, 0, 0]], "int32")])


def recurrent(w):
    row, x = (5, 3), None
    for kind in (L.LSTM, L.GRU, L.SimpleRNN):
        name = kind.__name__
        w.chain(name, row, lambda k=kind: k(4))
        w.chain(f"{name}-steps", row, lambda k=kind: k(4, return_sequences=True, go_backwards=True))
        w.chain(f"{name}-bare", row, lambda k=kind: k(4, use_bias=False, activation="relu"))
        w.chain(f"{name}-both", row, lambda k=kind: L.Bidirectional(k(4, return_sequences=True)))
        w.chain(f"{name}-both-sum", row, lambda k=kind: L.Bidirectional(k(4), merge_mode="sum"))
        w.chain(f"{name}-unrolled", row, lambda k=kind: k(4, unroll=True, dropout=0.2, recurrent_dropout=0.1))
        entry = keras.Input(row)
        w.save(f"{name}-states", keras.Model(entry, kind(4, return_state=True)(entry)), [sample(name, row)])
        w.save(f"{name}-two", keras.Model(entry, L.Bidirectional(kind(4), merge_mode=None)(entry)), [sample(name, row)])
        w.save(f"{name}-two-steps", keras.Model(entry, L.Bidirectional(kind(4, return_sequences=True), merge_mode=None)(entry)), [sample(name, row)])
    w.chain("GRU-before", row, lambda: L.GRU(4, reset_after=False))
    w.chain("RNN", row, lambda: L.RNN(L.LSTMCell(4)))
    w.chain("RNN-stack", row, lambda: L.RNN([L.LSTMCell(4), L.GRUCell(3)], return_sequences=True))
    for rank, shape in ((1, (3, 6, 2)), (2, (3, 5, 6, 2)), (3, (2, 4, 3, 5, 2))):
        kind = getattr(L, f"ConvLSTM{rank}D")
        w.chain(f"ConvLSTM{rank}D", shape, lambda k=kind: k(3, 3))
        w.chain(f"ConvLSTM{rank}D-steps", shape, lambda k=kind: k(3, 3, return_sequences=True, padding="same", go_backwards=True))
        for mode in ("concat", "sum", "mul", "ave"):
            w.chain(f"ConvLSTM{rank}D-both-{mode}", shape, lambda k=kind, m=mode: L.Bidirectional(k(3, 3), merge_mode=m))
            w.chain(f"ConvLSTM{rank}D-both-steps-{mode}", shape,
                    lambda k=kind, m=mode: L.Bidirectional(k(3, 3, return_sequences=True, padding="same"), merge_mode=m))
        entry = keras.Input(shape)
        w.save(f"ConvLSTM{rank}D-two", keras.Model(entry, L.Bidirectional(kind(3, 3), merge_mode=None)(entry)), [sample("two", shape)])
        w.save(f"ConvLSTM{rank}D-both-states", keras.Model(entry, L.Bidirectional(kind(3, 3, return_state=True))(entry)), [sample("two", shape)])
        w.save(f"ConvLSTM{rank}D-states", keras.Model(entry, kind(3, 3, return_state=True)(entry)), [sample("two", shape)])
    w.chain("ConvLSTM2D-both-first", (3, 2, 5, 6), lambda: L.Bidirectional(L.ConvLSTM2D(3, 3, data_format="channels_first")))
    w.chain("TimeDistributed", (4, 8, 8, 3), lambda: L.TimeDistributed(L.Conv2D(4, 3)))
    w.chain("TimeDistributed-dense", row, lambda: L.TimeDistributed(L.Dense(4)))
    w.chain("Masking", row, lambda: [L.Masking(), L.LSTM(4)])
    w.chain("Lambda", row, lambda: L.Lambda(lambda t: t * 2), refused="Lambda", h5=False)


def categories(w):
    numbers, x = (3,), np.array([[0, 1, 5], [2, 2, 3], [4, 0, 1], [5, 5, 5]], "int32")
    w.chain("Discretization", numbers, lambda: L.Discretization([0.0, 1.0, 2.5]), h5=False)
    for mode in ("one_hot", "multi_hot", "count"):
        w.chain(f"CategoryEncoding-{mode}", numbers, lambda m=mode: L.CategoryEncoding(6, output_mode=m), dtype="int32", x=x)
    w.chain("CategoryEncoding-one", (), lambda: L.CategoryEncoding(6, output_mode="one_hot"), dtype="int32", x=x[:, 0])
    try:
        w.chain("IntegerLookup", numbers, lambda: L.IntegerLookup(vocabulary=[1, 5, 3]), dtype="int64", x=x.astype("int64"), h5=False)
        w.chain("StringLookup", numbers, lambda: L.StringLookup(vocabulary=["a", "b"]), dtype="string", refused="StringLookup", h5=False)
    except ImportError as error:
        print("left out:", error)
        w.seen |= {"IntegerLookup", "StringLookup"}
    words = keras.Input((4,), dtype="int32")
    w.save("ReversibleEmbedding", keras.Model(words, L.ReversibleEmbedding(6, 3)(words)), [sample("w", (4,), "int32")])
    for title, more in {"tied": {}, "own": {"tie_weights": False}, "capped": {"logit_soft_cap": 0.5}}.items():
        layer = L.ReversibleEmbedding(6, 3, **more)
        model = keras.Model(words, layer(L.Dense(3)(layer(words)), reverse=True))
        w.save(f"ReversibleEmbedding-{title}", model, [sample("w", (4,), "int32")])


def quantised(w):
    for mode in ("int8", "int4", "float8"):
        model = keras.Sequential([keras.Input((8,)), L.Dense(4, activation="relu"), L.Dense(3)])
        randomise(model, 3)
        try:
            model.quantize(mode)
        except Exception as error:  # versions differ in what they quantise
            print("left out:", mode, error)
            continue
        model.save(w.folder / f"quantised-{mode}.keras")
    for name, layer in {
        "Dense": lambda: L.Dense(4), "EinsumDense": lambda: L.EinsumDense("ab,bc->ac", 4, bias_axes="c"),
    }.items():  # fmt: skip
        model = keras.Sequential([keras.Input((8,)), layer()])
        model.layers[0].enable_lora(2)
        w.save(f"lora-{name}", model, [sample("lora", (8,))], h5=False)


def published(w):
    """Blocks of keras.applications with classes of their own."""
    x = np.random.default_rng(1).normal(size=(2, 32, 32, 3)).astype("float32")
    entry = keras.Input((32, 32, 3))
    from keras.src.applications import convnext, inception_resnet_v2

    value = L.Conv2D(4, 3)(entry)
    w.save("LayerScale", keras.Model(entry, convnext.LayerScale(0.1, 4)(value)), [x])
    both = [value, L.Conv2D(4, 3)(entry)]
    w.save("CustomScaleLayer", keras.Model(entry, inception_resnet_v2.CustomScaleLayer(0.17)(both)), [x])
    w.save("training", keras.Model(entry, L.BatchNormalization()(L.Dropout(0.5)(L.RandomFlip()(entry), training=True), training=True)), [x])


GROUPS = (simple, convolutions, augmentation, sound, merging, attending, recurrent, categories, quantised, published)


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    writer = Writer(folder, sys.argv[2:])
    for group in GROUPS:
        group(writer)
    known = {
        name for name, value in inspect.getmembers(L, inspect.isclass)
        if issubclass(value, L.Layer) and value.__name__ == name
    }  # fmt: skip
    missing = known - writer.seen - NOT_ALONE
    print("layers without a network:", ", ".join(sorted(missing)) or "none")
    (folder / "refused.txt").write_text("".join(line + "\n" for line in writer.refused))


if __name__ == "__main__":
    main()
