// Layers that came with Keras 3, those of keras.applications, and some of Keras 1 and 2.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>

#include <assay/error.h>
#include "assay/model/keras/read.h"
#include "network.h"

namespace assay::testing {
namespace {

// {"class_name": "__keras_tensor__", ...} of a layer's output.
std::string tensor_json(const std::string& layer) {
  return R"({"class_name": "__keras_tensor__", "config": {"shape": [null, 3], "dtype": "float32", "keras_history": [")" +
         layer + R"(", 0, 0]}})";
}

std::string call3(const std::string& arguments, const std::string& named = "") {
  return R"([{"args": [)" + arguments + R"(], "kwargs": {)" + named + "}}]";
}

std::string input3(const std::string& name, const std::string& shape, const std::string& dtype = "float32") {
  return R"({"class_name": "InputLayer", "name": ")" + name +
         R"(", "inbound_nodes": [], "config": {"batch_shape": )" + shape + R"(, "dtype": ")" + dtype +
         R"(", "name": ")" + name + "\"}}";
}

// The outputs of a functional model of Keras 3.
std::vector<Values> run3(const std::vector<std::string>& layers, const std::vector<std::string>& inputs,
                         const std::string& output, const std::map<std::string, Values>& weights,
                         const std::vector<Values>& x) {
  const auto path = temporary("functional.keras");
  write_keras(path, functional_json(layers, inputs, {output}), weights, "3.15.1");
  return run_graph(read_keras_zip(path), x);
}

std::string refusal(const std::string& class_name, const std::string& more = "", const Shape& record = {4}) {
  Network network(record, "3.15.1");
  network.add(class_name, more);
  try {
    network.read();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(Keras3Calls, TrainingThatACallRecordsIsNotThatOfPredict) {
  const Values x = random_values({2, 4, 4, 1}, 1);
  const auto y = run3(
      {input3("x", "[null, 4, 4, 1]"),
       node_json("RandomFlip", "flip", R"("mode": "horizontal")",
                 call3(tensor_json("x"), R"("training": true)")),
       node_json("Dropout", "drop", R"("rate": 0.5)", call3(tensor_json("flip"), R"("training": true)"))},
      {"x"}, "drop", {}, {x});
  EXPECT_TRUE(same(y[0], x));
  // Keras 2 keeps what the call says.
  const auto path = temporary("always.h5");
  write_h5(path,
           functional_json({input_json("x", {3}), node_json("Dropout", "drop", R"("rate": 0.5)",
                                                            R"([[["x", 0, 0, {"training": true}]]])")},
                           {"x"}, {"drop"}),
           {});
  EXPECT_THROW(read_keras_h5(path), Error);
}

TEST(Keras3Augmentation, DoesNothingInUse) {
  const Values x = random_values({2, 4, 4, 3}, 1);
  for (const char* name : {"AugMix",
                           "CutMix",
                           "Equalization",
                           "MixUp",
                           "RandAugment",
                           "RandomBrightness",
                           "RandomColorDegeneration",
                           "RandomColorJitter",
                           "RandomContrast",
                           "RandomElasticTransform",
                           "RandomErasing",
                           "RandomFlip",
                           "RandomGaussianBlur",
                           "RandomGrayscale",
                           "RandomHue",
                           "RandomInvert",
                           "RandomPerspective",
                           "RandomPosterization",
                           "RandomRotation",
                           "RandomSaturation",
                           "RandomSharpness",
                           "RandomShear",
                           "RandomTranslation",
                           "RandomZoom",
                           "Solarization"}) {
    Network network({4, 4, 3}, "3.15.1");
    network.add(name);
    EXPECT_TRUE(same(network.run(x), x)) << name;
  }
}

TEST(KerasSpectralNormalization, InAnArchiveTheKernelStandsTwice) {
  const Values kernel = random_values({1, 2}, 1), bias = random_values({2}, 2),
               vector = random_values({1, 2}, 3), other = random_values({1, 2}, 4),
               x = random_values({3, 1}, 5);
  const std::string json = sequential_json({layer_json(
      "SpectralNormalization", "s",
      R"("batch_input_shape": [null, 1], "power_iterations": 1, "layer": {"class_name": "Dense", "config": {"name": "d", "units": 2}})")});
  const std::map<std::string, Values> inner{{"layers/spectral_normalization/layer/vars/0", kernel},
                                            {"layers/spectral_normalization/layer/vars/1", bias}};
  std::map<std::string, Values> twice = inner, once = inner;
  twice["layers/spectral_normalization/vars/0"] = other;
  twice["layers/spectral_normalization/vars/1"] = vector;
  once["layers/spectral_normalization/vars/0"] = vector;  // older files
  for (const auto& weights : {twice, once}) {
    const auto path = temporary("spectral.keras");
    write_keras(path, json, weights, "3.15.1");
    EXPECT_TRUE(same(run_graph(read_keras_zip(path), {x}).front(), plain_dense(x, kernel, bias)));
  }
}

TEST(KerasApplications, ScaleLayersAndSumsOfConvNextAndInceptionResNet) {
  Network scale({2, 2, 3});
  const auto gamma = scale.add("LayerScale", R"("init_values": 1e-6, "projection_dim": 3)", {{3}});
  const Values x = random_values({2, 2, 2, 3}, 9);
  EXPECT_TRUE(same(scale.run(x), tabulate(x.shape, [&](const Shape& i) {
                     return double{at(x, i)} * at(gamma[0], {i[3]});
                   })));
  const Values a = numbers({1, 2}, {1, 2}), b = numbers({1, 2}, {10, 20});
  const auto y = run3({input3("a", "[null, 2]"), input3("b", "[null, 2]"),
                       node_json("CustomScaleLayer", "sum", R"("scale": 0.5)",
                                 call3("[" + tensor_json("a") + ", " + tensor_json("b") + "]"))},
                      {"a", "b"}, "sum", {}, {a, b});
  EXPECT_TRUE(same(y[0], numbers({1, 2}, {6, 12})));
}

TEST(Keras3Inputs, OfOneNumberARecord) {
  const auto y = run3(
      {input3("a", "[null]"), node_json("Reshape", "row", R"("target_shape": [1])", call3(tensor_json("a"))),
       node_json("Dense", "out", R"("units": 2)", call3(tensor_json("row")))},
      {"a"}, "out",
      {{"layers/dense/vars/0", numbers({1, 2}, {2, -1})}, {"layers/dense/vars/1", numbers({2}, {0, 5})}},
      {numbers({3}, {1, 2, 3})});
  EXPECT_TRUE(same(y[0], numbers({3, 2}, {2, 4, 4, 3, 6, 2})));
}

TEST(KerasBatchNormalization, OfAnAxisInTheMiddle) {
  Network network({3, 2, 2});
  network.add_with("BatchNormalization", R"("axis": 2, "epsilon": 0.0)",
                   {numbers({2}, {1, 2}), numbers({2}, {0, 1}), numbers({2}, {1, 2}), numbers({2}, {4, 9})});
  const Values x = random_values({2, 3, 2, 2}, 1);
  EXPECT_TRUE(same(network.run(x), tabulate(x.shape, [&](const Shape& i) {
                     return i[2] == 0 ? (at(x, i) - 1) / 2 : (at(x, i) - 2) / 3 * 2 + 1;
                   })));
}

TEST(KerasNormalization, OfSeveralAxesAndItsInverse) {
  const Values x = random_values({2, 2, 2}, 1);
  Network several({2, 2}), inverse({2, 2});
  several.add("Normalization", R"("axis": [1, 2], "mean": [[0, 1], [2, 3]], "variance": [[1, 4], [9, 16]])");
  EXPECT_TRUE(same(several.run(x), tabulate(x.shape, [&](const Shape& i) {
                     const auto k = static_cast<double>(2 * i[1] + i[2]);
                     return (at(x, i) - k) / (k + 1);
                   })));
  inverse.add("Normalization", R"("axis": -1, "mean": [0, 1], "variance": [1, 4], "invert": true)");
  EXPECT_TRUE(same(inverse.run(x), tabulate(x.shape, [&](const Shape& i) {
                     return i[2] == 0 ? double{at(x, i)} : at(x, i) * 2.0 + 1;
                   })));
}

// Windows from floor(i * n / m) up to ceil((i + 1) * n / m).
TEST(KerasAdaptivePooling, TakesWindowsThatCoverAll) {
  const Values x = random_values({1, 5, 7, 2}, 1);
  for (const bool mean_wanted : {true, false}) {
    for (const Shape& size : {Shape{2, 3}, Shape{5, 7}, Shape{1, 1}, Shape{7, 4}}) {
      Network network({5, 7, 2}, "3.15.1");
      network.add(mean_wanted ? "AdaptiveAveragePooling2D" : "AdaptiveMaxPooling2D",
                  "\"output_size\": " + to_string(size));
      EXPECT_TRUE(same(network.run(x), tabulate({1, size[0], size[1], 2},
                                                [&](const Shape& i) {
                                                  std::vector<double> seen;
                                                  for (std::int64_t r = i[1] * 5 / size[0];
                                                       r < ((i[1] + 1) * 5 + size[0] - 1) / size[0]; ++r) {
                                                    for (std::int64_t c = i[2] * 7 / size[1];
                                                         c < ((i[2] + 1) * 7 + size[1] - 1) / size[1]; ++c)
                                                      seen.push_back(at(x, {0, r, c, i[3]}));
                                                  }
                                                  return mean_wanted ? mean(seen) : largest(seen);
                                                })))
          << to_string(size);
    }
  }
}

// Keys' cubic with a = -1/2, and Lanczos' kernel, over the pixels there are; smaller pictures stretch them
// where antialias says so.
double kernel_of(const std::string& method, double d) {
  if (method == "bilinear") return std::max(0.0, 1 - d);
  if (method == "bicubic")
    return d < 1 ? (1.5 * d - 2.5) * d * d + 1 : d < 2 ? ((-0.5 * d + 2.5) * d - 4) * d + 2 : 0;
  const double radius = method == "lanczos3" ? 3 : 5, angle = std::numbers::pi * d;
  if (d < 1e-3) return 1;
  return d < radius ? radius * std::sin(angle) * std::sin(angle / radius) / (angle * angle) : 0;
}

Values plain_resize(const Values& x, std::int64_t height, std::int64_t width, const std::string& method,
                    bool antialias) {
  const auto share = [&](std::int64_t to, std::int64_t at_pixel, std::int64_t i, std::int64_t from) {
    const double step = static_cast<double>(from) / static_cast<double>(to),
                 wide = antialias ? std::max(step, 1.0) : 1;
    const double centre = (static_cast<double>(i) + 0.5) * step - 0.5;
    double sum = 0;
    for (std::int64_t k = 0; k < from; ++k)
      sum += kernel_of(method, std::abs(centre - static_cast<double>(k)) / wide);
    return kernel_of(method, std::abs(centre - static_cast<double>(at_pixel)) / wide) / sum;
  };
  return tabulate({x.shape[0], height, width, x.shape[3]}, [&](const Shape& i) {
    double sum = 0;
    for (std::int64_t r = 0; r < x.shape[1]; ++r) {
      for (std::int64_t c = 0; c < x.shape[2]; ++c)
        sum += share(height, r, i[1], x.shape[1]) * share(width, c, i[2], x.shape[2]) *
               at(x, {i[0], r, c, i[3]});
    }
    return sum;
  });
}

TEST(KerasResizing, InterpolatesByEveryKernel) {
  const Values x = random_values({1, 7, 6, 2}, 3);
  for (const std::string method : {"bilinear", "bicubic", "lanczos3", "lanczos5"}) {
    for (const bool antialias : {false, true}) {
      for (const Shape& size : {Shape{3, 9}, Shape{12, 2}}) {
        Network network({7, 6, 2}, "3.15.1");
        network.add("Resizing", "\"height\": " + std::to_string(size[0]) +
                                    ", \"width\": " + std::to_string(size[1]) + R"(, "interpolation": ")" +
                                    method + R"(", "antialias": )" + (antialias ? "true" : "false"));
        EXPECT_TRUE(same(network.run(x), plain_resize(x, size[0], size[1], method, antialias)))
            << method << antialias << to_string(size);
      }
    }
  }
}

TEST(KerasResizing, KeepsTheRatioOfTheSidesByCuttingOrPadding) {
  const Values x = random_values({1, 4, 6, 1}, 3);
  Network cut({4, 6, 1}, "3.15.1"), padded({4, 6, 1}, "3.15.1");
  cut.add("Resizing", R"("height": 2, "width": 2, "interpolation": "nearest", "crop_to_aspect_ratio": true)");
  // The middle 4 x 4, from column 1; the nearest of two pixels at the same distance is the second one.
  EXPECT_TRUE(same(cut.run(x), tabulate({1, 2, 2, 1}, [&](const Shape& i) {
                     return at(x, {0, 2 * i[1] + 1, 2 + 2 * i[2], 0});
                   })));
  padded.add(
      "Resizing",
      R"("height": 6, "width": 6, "interpolation": "nearest", "pad_to_aspect_ratio": true, "fill_value": 7)");
  EXPECT_TRUE(same(padded.run(x), tabulate({1, 6, 6, 1}, [&](const Shape& i) {
                     return i[1] < 1 || i[1] > 4 ? 7.0 : double{at(x, {0, i[1] - 1, i[2], 0})};
                   })));
}

TEST(KerasAutoContrast, SpreadsEachChannelOverTheRange) {
  Network network({1, 3, 2}, "3.15.1");
  network.add("AutoContrast", R"("value_range": [0, 255])");
  const Values x = numbers({1, 1, 3, 2}, {10, 5, 20, 5, 30, 5});
  EXPECT_TRUE(same(network.run(x), numbers({1, 1, 3, 2}, {0, 5, 127.5F, 5, 255, 5})));
}

TEST(KerasSound, MelBandsOfFrames) {
  Network network({20}, "3.15.1");
  network.add(
      "MelSpectrogram",
      R"("fft_length": 8, "sequence_stride": 4, "sequence_length": 6, "sampling_rate": 8000, "num_mel_bins": 3,
                 "min_freq": 100.0, "max_freq": 4000, "power_to_db": true, "top_db": 20.0, "mag_exp": 2.0, "window": "hann")");
  const Values x = random_values({2, 20}, 4);
  const auto sample = [&](std::int64_t n, std::int64_t t) {  // reflected at both ends
    t = std::abs(t - 4);
    return double{at(x, {n, t > 19 ? 38 - t : t})};
  };
  const auto power = [&](std::int64_t n, std::int64_t frame, int bin) {
    std::complex<double> sum = 0;
    for (int k = 0; k < 6; ++k) {  // the window stands in the middle of a frame
      const double window = 0.5 - 0.5 * std::cos(2 * std::numbers::pi * k / 6);
      sum +=
          window * sample(n, 4 * frame + k + 1) * std::polar(1.0, -2 * std::numbers::pi * bin * (k + 1) / 8);
    }
    return std::norm(sum);
  };
  const auto mel = [](double hertz) { return 1127 * std::log(1 + hertz / 700); };
  Values level = tabulate({2, 3, 6}, [&](const Shape& i) {
    const double step = (mel(4000) - mel(100)) / 4, centre = mel(100) + step * static_cast<double>(i[1] + 1);
    double sum = 0;
    for (int bin = 1; bin <= 4; ++bin)
      sum += std::max(0.0, 1 - std::abs(mel(1000.0 * bin) - centre) / step) * power(i[0], i[2], bin);
    return 10 * std::log10(std::max(sum, 1e-10));
  });
  const double floor = *std::ranges::max_element(level.data) - 20;
  EXPECT_TRUE(same(network.run(x), map(level, [&](double v) { return std::max(v, floor); })));
}

TEST(KerasSound, SpectrogramOfEachChannel) {
  Network network({10, 2}, "3.15.1");
  const auto w =
      network.add("STFTSpectrogram", R"("mode": "psd", "frame_length": 4, "frame_step": 3, "fft_length": 4)",
                  {{4, 1, 3}, {4, 1, 3}});
  const Values x = random_values({2, 10, 2}, 4);
  EXPECT_TRUE(same(network.run(x), tabulate({2, 3, 6}, [&](const Shape& i) {
                     const std::int64_t channel = i[2] / 3, bin = i[2] % 3;
                     double re = 0, im = 0;
                     for (std::int64_t k = 0; k < 4; ++k) {
                       const double s = at(x, {i[0], 3 * i[1] + k, channel});
                       re += s * at(w[0], {k, 0, bin});
                       im += s * at(w[1], {k, 0, bin});
                     }
                     return (re * re + im * im) * (bin == 1 ? 2 : 1);
                   })));
}

TEST(KerasAttention, GroupsOfHeadsShareKeysAndValuesWithinAWindow) {
  // 2 heads of the query, 1 of keys and values, all of width 1: features and steps small enough for loops.
  const Values q = random_values({1, 3, 2}, 1), wq = random_values({2, 2, 1}, 2),
               wk = random_values({2, 1, 1}, 3), wg = random_values({2, 2, 1}, 4),
               wv = random_values({2, 1, 1}, 5), wo = random_values({2, 1, 2}, 6);
  const std::string base = "layers/grouped_query_attention/_";
  const auto y =
      run3({input3("x", "[null, 3, 2]"),
            node_json("GroupQueryAttention", "a",
                      R"("head_dim": 1, "num_query_heads": 2, "num_key_value_heads": 1, "use_bias": false,
                                    "use_gate": true, "sliding_window": 2)",
                      call3(tensor_json("x") + ", " + tensor_json("x"), R"("use_causal_mask": true)"))},
           {"x"}, "a",
           {{base + "query_dense/vars/0", wq},
            {base + "key_dense/vars/0", wk},
            {base + "gate_dense/vars/0", wg},
            {base + "value_dense/vars/0", wv},
            {base + "output_dense/vars/0", wo}},
           {q});
  const auto part = [&](const Values& w, std::int64_t t, std::int64_t head) {
    return double{at(q, {0, t, 0})} * at(w, {0, head, 0}) + double{at(q, {0, t, 1})} * at(w, {1, head, 0});
  };
  const auto context = [&](std::int64_t t, std::int64_t head) {
    double above = 0, below = 0;
    for (std::int64_t s = std::max<std::int64_t>(t - 1, 0); s <= t; ++s) {
      const double weight = std::exp(part(wq, t, head) * part(wk, s, 0));
      above += weight * part(wv, s, 0);
      below += weight;
    }
    return above / below * sigmoid(part(wg, t, head));
  };
  EXPECT_TRUE(same(y[0], tabulate({1, 3, 2}, [&](const Shape& i) {
                     return context(i[1], 0) * at(wo, {0, 0, i[2]}) + context(i[1], 1) * at(wo, {1, 0, i[2]});
                   })));
}

TEST(KerasEmbedding, ThatIsReadBackwards) {
  const Values table = numbers({3, 2}, {1, 0, 0, 1, 2, 2});
  const std::string embedding = R"("input_dim": 3, "output_dim": 2, "logit_soft_cap": 2.0)";
  const std::string again = tensor_json("e");
  const std::string calls = R"([{"args": [)" + tensor_json("x") + R"(], "kwargs": {}}, {"args": [)" + again +
                            R"(], "kwargs": {"reverse": true}}])";
  std::string model = functional_json(
      {input3("x", "[null, 1]", "int32"), node_json("ReversibleEmbedding", "e", embedding, calls)}, {"x"},
      {"e"});
  model.replace(model.rfind(R"(["e", 0, 0])"), 11, R"(["e", 1, 0])");
  const auto path = temporary("reversible.keras");
  write_keras(path, model, {{"layers/reversible_embedding/vars/0", table}}, "3.15.1");
  const auto y = run_graph(read_keras_zip(path), {numbers({2, 1}, {0, 2})});
  const auto capped = [](double v) { return 2 * std::tanh(v / 2); };
  EXPECT_TRUE(same(y[0], map(numbers({2, 1, 3}, {1, 0, 2, 2, 2, 8}), capped)));
}

// Keras 1 stored each gate apart: i, c, f, o of an LSTM, z, r, h of a GRU.
TEST(Keras1Recurrent, GatesThatAreStoredApart) {
  const Values x = random_values({2, 3, 2}, 1);
  for (const std::string cell : {"LSTM", "GRU"}) {
    const std::vector<int> order = cell == "LSTM" ? std::vector<int>{0, 2, 1, 3} : std::vector<int>{0, 1, 2};
    const auto gates = static_cast<std::int64_t>(order.size());
    Network old({3, 2}, "1.2.2"), today({3, 2});
    std::vector<Values> apart;
    Values kernel{{2, 2 * gates}, std::vector<float>(static_cast<std::size_t>(4 * gates))},
        recurrent = kernel, bias{{2 * gates}, std::vector<float>(static_cast<std::size_t>(2 * gates))};
    for (std::size_t g = 0; g < order.size(); ++g) {
      const Values w = random_values({2, 2}, 10 * g + 1), u = random_values({2, 2}, 10 * g + 2),
                   b = random_values({2}, 10 * g + 3);
      apart.insert(apart.end(), {w, u, b});
      for (std::size_t c = 0; c < 2; ++c) {
        const std::size_t column = 2 * static_cast<std::size_t>(order[g]) + c, width = 2 * order.size();
        for (std::size_t r = 0; r < 2; ++r) {
          kernel.data[r * width + column] = w.data[2 * r + c];
          recurrent.data[r * width + column] = u.data[2 * r + c];
        }
        bias.data[column] = b.data[c];
      }
    }
    old.add_with(
        cell,
        R"("output_dim": 2, "inner_activation": "sigmoid", "activation": "tanh", "return_sequences": true)",
        apart);
    today.add_with(
        cell,
        R"("units": 2, "recurrent_activation": "sigmoid", "activation": "tanh", "return_sequences": true)",
        {kernel, recurrent, bias});
    EXPECT_TRUE(same(old.run(x), today.run(x))) << cell;
  }
}

TEST(KerasLocallyConnected, HasAKernelForEachPosition) {
  const Values x = random_values({2, 5, 4, 2}, 1);
  Network network({5, 4, 2});
  const auto w = network.add("LocallyConnected2D",
                             R"("filters": 3, "kernel_size": [2, 3], "strides": [2, 1], "implementation": 1)",
                             {{4, 12, 3}, {2, 2, 3}});
  EXPECT_TRUE(same(network.run(x), tabulate({2, 2, 2, 3}, [&](const Shape& i) {
                     double sum = at(w[1], {i[1], i[2], i[3]});
                     for (std::int64_t k = 0; k < 12; ++k)
                       sum += double{at(x, {i[0], 2 * i[1] + k / 6, i[2] + k / 2 % 3, k % 2})} *
                              at(w[0], {2 * i[1] + i[2], k, i[3]});
                     return sum;
                   })));
  // The other way to store it is a kernel between all pairs of positions, of which only the window's count.
  const Values row = random_values({2, 4, 2}, 2);
  Network whole({4, 2});
  const auto v = whole.add(
      "LocallyConnected1D",
      R"("filters": 3, "kernel_size": [3], "padding": "same", "use_bias": false, "implementation": 2)",
      {{4, 2, 4, 3}});
  EXPECT_TRUE(same(whole.run(row), tabulate({2, 4, 3}, [&](const Shape& i) {
                     double sum = 0;
                     for (std::int64_t t = std::max<std::int64_t>(i[1] - 1, 0);
                          t <= std::min<std::int64_t>(i[1] + 1, 3); ++t) {
                       for (std::int64_t c = 0; c < 2; ++c)
                         sum += double{at(row, {i[0], t, c})} * at(v[0], {t, c, i[1], i[2]});
                     }
                     return sum;
                   })));
}

// Both directions of ConvLSTM are one layer forward and one over the steps turned round.
TEST(KerasConvLstm, InBothDirections) {
  const std::string config =
      R"("filters": 2, "kernel_size": [3], "padding": "same", "return_sequences": true)";
  const Values x = random_values({2, 3, 4, 1}, 1);
  Values turned = tabulate(x.shape, [&](const Shape& i) { return at(x, {i[0], 2 - i[1], i[2], i[3]}); });
  const std::vector<Shape> shapes{{3, 1, 8}, {3, 2, 8}, {8}};
  std::vector<Values> w;
  for (int direction = 0; direction < 2; ++direction) {
    for (const Shape& shape : shapes) w.push_back(random_values(shape, w.size() + 1));
  }
  Network forward({3, 4, 1}), backward({3, 4, 1}), both({3, 4, 1});
  forward.add_with("ConvLSTM1D", config, {w[0], w[1], w[2]});
  backward.add_with("ConvLSTM1D", config, {w[3], w[4], w[5]});
  both.add_with("Bidirectional",
                R"("merge_mode": "concat", "layer": {"class_name": "ConvLSTM1D", "config": {"name": "l", )" +
                    config + "}}",
                w);
  const Values there = forward.run(x), back = backward.run(turned);
  EXPECT_TRUE(same(both.run(x), tabulate({2, 3, 4, 4}, [&](const Shape& i) {
                     return i[3] < 2 ? at(there, i) : at(back, {i[0], 2 - i[1], i[2], i[3] - 2});
                   })));
}

TEST(Keras3Refusals, NameLayerAndRemedy) {
  for (const char* name : {"Hashing", "StringLookup", "TextVectorization"})
    EXPECT_NE(refusal(name).find("takes text"), std::string::npos) << name;
  EXPECT_NE(refusal("ContrastLimitedAdaptiveHistogramEqualization").find("apply it to the data"),
            std::string::npos);
  for (const char* mode : {"int4", "float8"}) {
    const std::string policy =
        std::string(R"("units": 2, "dtype": {"class_name": "QuantizedDTypePolicy", "config": {"mode": ")") +
        mode + R"(", "source_name": "float32"}})";
    const std::string message = refusal("Dense", policy);
    EXPECT_NE(message.find(mode), std::string::npos) << message;
    EXPECT_NE(message.find("before model.quantize()"), std::string::npos) << message;
  }
}

}  // namespace
}  // namespace assay::testing
