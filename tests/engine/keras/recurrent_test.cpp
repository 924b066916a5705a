#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include <assay/error.h>
#include "assay/model/keras/read.h"
#include "network.h"

namespace assay::testing {
namespace {

constexpr std::int64_t features = 3, units = 4, steps = 5;

double hard_sigmoid(double x) { return std::min(std::max(0.2 * x + 0.5, 0.0), 1.0); }

using Function = double (*)(double);
using Row = std::vector<double>;

// x W + b for the columns of one gate.
Row gate_input(const Row& x, const Values& kernel, const Row& bias, std::int64_t gate) {
  Row result;
  for (std::int64_t u = gate * units; u < (gate + 1) * units; ++u) {
    double sum = bias.empty() ? 0 : bias[static_cast<std::size_t>(u)];
    for (std::size_t f = 0; f < x.size(); ++f) sum += x[f] * at(kernel, {static_cast<std::int64_t>(f), u});
    result.push_back(sum);
  }
  return result;
}

Row sum_of(const Row& a, const Row& b) {
  Row result = a;
  for (std::size_t i = 0; i < a.size(); ++i) result[i] += b[i];
  return result;
}
Row applied(const Row& x, Function f) {
  Row result = x;
  for (double& v : result) v = f(v);
  return result;
}
Row product(const Row& a, const Row& b) {
  Row result = a;
  for (std::size_t i = 0; i < a.size(); ++i) result[i] *= b[i];
  return result;
}
Row bias_row(const Values& bias, std::int64_t row = -1) {
  if (bias.data.empty()) return {};
  if (row < 0) return Row(bias.data.begin(), bias.data.end());
  const auto width = bias.shape[1];
  return Row(bias.data.begin() + row * width, bias.data.begin() + (row + 1) * width);
}

// One step: from the input and the state {h, c} to the new state.
using Step = std::function<void(const Row& x, Row& h, Row& c)>;

Step lstm(const std::vector<Values>& w, Function gate = sigmoid) {
  return [=](const Row& x, Row& h, Row& c) {
    const auto z = [&](std::int64_t g) {
      return sum_of(gate_input(x, w[0], w.size() > 2 ? bias_row(w[2]) : Row{}, g),
                    gate_input(h, w[1], {}, g));
    };
    const Row i = applied(z(0), gate), f = applied(z(1), gate), o = applied(z(3), gate);
    c = sum_of(product(f, c), product(i, applied(z(2), std::tanh)));
    h = product(o, applied(c, std::tanh));
  };
}

Step gru(const std::vector<Values>& w, bool reset_after) {
  return [=](const Row& x, Row& h, Row&) {
    const Row b = bias_row(w[2], reset_after ? 0 : -1), rb = reset_after ? bias_row(w[2], 1) : Row{};
    const Row z = applied(sum_of(gate_input(x, w[0], b, 0), gate_input(h, w[1], rb, 0)), sigmoid);
    const Row r = applied(sum_of(gate_input(x, w[0], b, 1), gate_input(h, w[1], rb, 1)), sigmoid);
    const Row memory =
        reset_after ? product(r, gate_input(h, w[1], rb, 2)) : gate_input(product(r, h), w[1], {}, 2);
    const Row candidate = applied(sum_of(gate_input(x, w[0], b, 2), memory), std::tanh);
    for (std::size_t u = 0; u < h.size(); ++u) h[u] = z[u] * h[u] + (1 - z[u]) * candidate[u];
  };
}

Step simple(const std::vector<Values>& w) {
  return [=](const Row& x, Row& h, Row&) {
    h = applied(sum_of(gate_input(x, w[0], bias_row(w[2]), 0), gate_input(h, w[1], {}, 0)), std::tanh);
  };
}

// States after each step, in the order they are computed: [n, steps, units].
Values plain_recurrent(const Values& x, const Step& step, bool backwards = false) {
  Values result{{x.shape[0], x.shape[1], units},
                std::vector<float>(static_cast<std::size_t>(x.shape[0] * x.shape[1] * units))};
  for (std::int64_t n = 0; n < x.shape[0]; ++n) {
    Row h(units, 0), c(units, 0);
    for (std::int64_t t = 0; t < x.shape[1]; ++t) {
      Row input;
      for (std::int64_t f = 0; f < x.shape[2]; ++f)
        input.push_back(at(x, {n, backwards ? x.shape[1] - 1 - t : t, f}));
      step(input, h, c);
      for (std::int64_t u = 0; u < units; ++u) {
        result.data[static_cast<std::size_t>((n * x.shape[1] + t) * units + u)] =
            static_cast<float>(h[static_cast<std::size_t>(u)]);
      }
    }
  }
  return result;
}

Values last(const Values& sequence) {
  return tabulate({sequence.shape[0], sequence.shape[2]}, [&](const Shape& i) {
    return at(sequence, {i[0], sequence.shape[1] - 1, i[1]});
  });
}

std::vector<Shape> weights(std::int64_t gates, bool two_biases = false) {
  return {{features, gates * units},
          {units, gates * units},
          two_biases ? Shape{2, gates * units} : Shape{gates * units}};
}

Values sequence_input() { return random_values({2, steps, features}, 50); }

std::string config(const std::string& more, bool sequences) {
  return R"("units": 4, "activation": "tanh", "recurrent_activation": "sigmoid", "return_sequences": )" +
         std::string(sequences ? "true" : "false") + (more.empty() ? "" : ", ") + more;
}

TEST(KerasRecurrent, LSTM) {
  for (const bool sequences : {true, false}) {
    Network network({steps, features});
    const auto w = network.add("LSTM", config("", sequences), weights(4));
    const Values expected = plain_recurrent(sequence_input(), lstm(w));
    EXPECT_TRUE(same(network.run(sequence_input()), sequences ? expected : last(expected)));
  }
}

TEST(KerasRecurrent, HasAsManyParametersAsInKeras) {
  const auto count = [](const std::string& class_name, const std::string& more,
                        const std::vector<Shape>& shapes) {
    Network network({steps, features});
    network.add(class_name, config(more, false), shapes);
    return network.read().parameter_count();
  };
  EXPECT_EQ(count("LSTM", "", weights(4)), 16 * (features + units + 1));
  EXPECT_EQ(count("SimpleRNN", "", weights(1)), 4 * (features + units + 1));
  EXPECT_EQ(count("GRU", R"("reset_after": false)", weights(3)), 12 * (features + units + 1));
  EXPECT_EQ(count("GRU", R"("reset_after": true)", weights(3, true)), 12 * (features + units + 2));
}

TEST(KerasRecurrent, LSTMOfKeras2HasHardSigmoidGates) {
  Network network({steps, features}, "2.2.4");
  const auto w =
      network.add("LSTM", R"("units": 4, "recurrent_activation": "hard_sigmoid", "use_bias": false)",
                  {{features, 16}, {units, 16}});
  EXPECT_TRUE(
      same(network.run(sequence_input()), last(plain_recurrent(sequence_input(), lstm(w, hard_sigmoid)))));
}

TEST(KerasRecurrent, GRUInBothForms) {
  for (const bool reset_after : {true, false}) {
    Network network({steps, features});
    const auto w =
        network.add("GRU", config(std::string(R"("reset_after": )") + (reset_after ? "true" : "false"), true),
                    weights(3, reset_after));
    EXPECT_TRUE(same(network.run(sequence_input()), plain_recurrent(sequence_input(), gru(w, reset_after))))
        << reset_after;
  }
}

TEST(KerasRecurrent, SimpleRNN) {
  Network network({steps, features});
  const auto w = network.add("SimpleRNN", R"("units": 4, "activation": "tanh")", weights(1));
  EXPECT_TRUE(same(network.run(sequence_input()), last(plain_recurrent(sequence_input(), simple(w)))));
}

TEST(KerasRecurrent, BackwardsKeepsTheOrderOfComputing) {
  for (const bool sequences : {true, false}) {
    Network network({steps, features});
    const auto w = network.add("LSTM", config(R"("go_backwards": true)", sequences), weights(4));
    const Values expected = plain_recurrent(sequence_input(), lstm(w), true);
    EXPECT_TRUE(same(network.run(sequence_input()), sequences ? expected : last(expected)));
  }
}

TEST(KerasRecurrent, StacksAndWorksOnUnknownLengths) {
  Network network({-1, features});
  const auto w = network.add("LSTM", config("", true), weights(4));
  const auto v =
      network.add("GRU", config(R"("reset_after": true)", false), {{units, 12}, {units, 12}, {2, 12}});
  EXPECT_TRUE(same(network.run(sequence_input()),
                   last(plain_recurrent(plain_recurrent(sequence_input(), lstm(w)), gru(v, true)))));
}

struct Combination {
  const char* mode;
  double (*function)(double, double);
};

TEST(KerasBidirectional, CombinesBothDirections) {
  const Combination combinations[] = {{"sum", [](double a, double b) { return a + b; }},
                                      {"mul", [](double a, double b) { return a * b; }},
                                      {"ave", [](double a, double b) { return (a + b) / 2; }},
                                      {"concat", nullptr}};
  for (const Combination& c : combinations) {
    for (const bool sequences : {true, false}) {
      Network network({steps, features});
      const auto one = weights(4);
      auto both = one;
      both.insert(both.end(), one.begin(), one.end());
      const std::string inner =
          R"("layer": {"class_name": "LSTM", "config": {"name": "inner", )" + config("", sequences) + "}}";
      const auto w =
          network.add("Bidirectional", std::string(R"("merge_mode": ")") + c.mode + "\", " + inner, both);
      const Values forward = plain_recurrent(sequence_input(), lstm({w[0], w[1], w[2]}));
      const Values backward = plain_recurrent(sequence_input(), lstm({w[3], w[4], w[5]}), true);
      const std::int64_t width = c.function ? units : 2 * units;
      const auto element = [&](double a, double b, bool second) {
        return c.function ? c.function(a, b) : second ? b : a;
      };
      // In sequences, the backward states stand at the step they belong to; without, both are the last
      // computed.
      const Values expected =
          sequences
              ? tabulate({2, steps, width},
                         [&](const Shape& i) {
                           const Shape b{i[0], steps - 1 - i[1], i[2] % units}, f{i[0], i[1], i[2] % units};
                           return element(at(forward, f), at(backward, b), i[2] >= units);
                         })
              : tabulate({2, width}, [&](const Shape& i) {
                  const Shape j{i[0], i[1] % units};
                  return element(at(last(forward), j), at(last(backward), j), i[1] >= units);
                });
      EXPECT_TRUE(same(network.run(sequence_input()), expected)) << c.mode << sequences;
    }
  }
}

std::string inner(const std::string& key, const std::string& class_name, const std::string& more) {
  return "\"" + key + R"(": {"class_name": ")" + class_name + R"(", "config": {"name": ")" + key + "\", " +
         more + "}}";
}

TEST(KerasBidirectional, ABackwardLayerOfItsOwnHasItsOwnActivations) {
  Network network({steps, features});
  const auto one = weights(4);
  auto both = one;
  both.insert(both.end(), one.begin(), one.end());
  const auto w = network.add(
      "Bidirectional",
      R"("merge_mode": "sum", )" + inner("layer", "LSTM", config("", false)) + ", " +
          inner(
              "backward_layer", "LSTM",
              R"("units": 4, "activation": "tanh", "recurrent_activation": "hard_sigmoid", "go_backwards": true)"),
      both);
  const Values forward = last(plain_recurrent(sequence_input(), lstm({w[0], w[1], w[2]})));
  const Values backward =
      last(plain_recurrent(sequence_input(), lstm({w[3], w[4], w[5]}, hard_sigmoid), true));
  EXPECT_TRUE(same(network.run(sequence_input()), tabulate({2, units}, [&](const Shape& i) {
                     return double{at(forward, i)} + at(backward, i);
                   })));
}

TEST(KerasBidirectional, ABackwardLayerOfAnotherSizeIsRefused) {
  const auto fault = [](const std::string& class_name, const std::string& more) -> std::string {
    Network network({steps, features});
    network.add("Bidirectional", R"("merge_mode": "concat", )" + inner("layer", "LSTM", config("", false)) +
                                     ", " + inner("backward_layer", class_name, more));
    try {
      network.read();
      return "";
    } catch (const Error& error) {
      EXPECT_EQ(error.fault(), Fault::unsupported);
      return error.what();
    }
  };
  EXPECT_NE(fault("LSTM", R"("units": 3)").find("a backward_layer that differs in units (4 and 3)"),
            std::string::npos);
  EXPECT_NE(fault("GRU", R"("units": 4)").find("differs in its class (LSTM and GRU)"), std::string::npos);
  EXPECT_NE(fault("LSTM", R"("units": 4, "use_bias": false)").find("differs in use_bias"), std::string::npos);
}

TEST(KerasRecurrent, StatesGoFromEncoderToDecoder) {
  const auto path = temporary("states.h5");
  std::vector<Values> e, d;
  for (std::uint64_t i = 0; i < 3; ++i)
    e.push_back(random_values(weights(4)[i], i)), d.push_back(random_values(weights(4)[i], 9 + i));
  const auto list = [](const std::string& name, const std::vector<Values>& w) {
    return LayerValues{
        name, {{name + "/kernel:0", w[0]}, {name + "/recurrent_kernel:0", w[1]}, {name + "/bias:0", w[2]}}};
  };
  write_h5(path,
           functional_json(
               {input_json("x", {steps, features}), input_json("y", {steps, features}),
                node_json("LSTM", "encoder", config(R"("return_state": true)", false),
                          "[" + call_json({"x"}) + "]"),
                node_json("LSTM", "decoder", config("", false),
                          R"([[["y", 0, 0, {"initial_state": [["encoder", 0, 1], ["encoder", 0, 2]]}]]])")},
               {"x", "y"}, {"decoder"}),
           {list("encoder", e), list("decoder", d)});
  const Values x = random_values({1, steps, features}, 30), y = random_values({1, steps, features}, 31);
  Row h(units, 0), c(units, 0);
  for (const auto& [input, step] : {std::pair{x, lstm(e)}, std::pair{y, lstm(d)}}) {
    for (std::int64_t t = 0; t < steps; ++t) {
      Row row;
      for (std::int64_t f = 0; f < features; ++f) row.push_back(at(input, {0, t, f}));
      step(row, h, c);
    }
  }
  EXPECT_TRUE(same(run_graph(read_keras_h5(path), {x, y}).front(),
                   tabulate({1, units}, [&](const Shape& i) { return h[static_cast<std::size_t>(i[1])]; })));
}

TEST(KerasTimeDistributed, DenseAndConvolution) {
  Network dense({steps, features});
  const auto w = dense.add(
      "TimeDistributed",
      R"("layer": {"class_name": "Dense", "config": {"name": "d", "units": 2, "activation": "relu"}})",
      {{features, 2}, {2}});
  EXPECT_TRUE(same(dense.run(sequence_input()), map(plain_dense(sequence_input(), w[0], w[1]),
                                                    [](double v) { return std::max(v, 0.0); })));

  Network images({2, 4, 5, 3});
  const auto k = images.add(
      "TimeDistributed",
      R"("layer": {"class_name": "Conv2D", "config": {"name": "c", "filters": 2, "kernel_size": [2, 3]}})",
      {{2, 3, 3, 2}, {2}});
  const Values x = random_values({2, 2, 4, 5, 3}, 8);
  Values expected = plain_conv({{4, 4, 5, 3}, x.data}, k[0], k[1], {{2, 3}, {1, 1}, {1, 1}, "valid"});
  expected.shape = {2, 2, 3, 3, 2};
  EXPECT_TRUE(same(images.run(x), expected));
}

TEST(KerasTimeDistributed, AModelForEachStep) {
  // Pictures through a small network, what it gives through an LSTM.
  const Values kernel = random_values({2, 2, 1, 2}, 1), bias = random_values({2}, 2),
               dense = random_values({12, features}, 3);
  std::vector<Values> w;
  for (std::uint64_t i = 0; i < 3; ++i) w.push_back(random_values(weights(4)[i], 10 + i));
  const std::string model = sequential_json(
      {layer_json("Conv2D", "conv",
                  R"("filters": 2, "kernel_size": [2, 2], "batch_input_shape": [null, 3, 4, 1])"),
       layer_json("Flatten", "flat"), layer_json("Dense", "out", R"("units": 3, "use_bias": false)")});
  const std::string config_text =
      sequential_json({layer_json("TimeDistributed", "each",
                                  "\"batch_input_shape\": [null, 5, 3, 4, 1], \"layer\": " + model),
                       layer_json("LSTM", "lstm", config("", false))});
  const auto path = temporary("pictures.h5");
  write_h5(path, config_text,
           {{"each", {{"conv/kernel:0", kernel}, {"conv/bias:0", bias}, {"out/kernel:0", dense}}},
            {"lstm", {{"lstm/kernel:0", w[0]}, {"lstm/recurrent_kernel:0", w[1]}, {"lstm/bias:0", w[2]}}}});
  const auto archive = temporary("pictures.keras");
  const std::string inside = "layers/time_distributed/layer/layers/";
  write_keras(archive, config_text,
              {{inside + "conv2d/vars/0", kernel},
               {inside + "conv2d/vars/1", bias},
               {inside + "dense/vars/0", dense},
               {"layers/lstm/cell/vars/0", w[0]},
               {"layers/lstm/cell/vars/1", w[1]},
               {"layers/lstm/cell/vars/2", w[2]}});
  const Values x = random_values({2, steps, 3, 4, 1}, 8);
  Values flat = plain_conv({{2 * steps, 3, 4, 1}, x.data}, kernel, bias, {{2, 2}, {1, 1}, {1, 1}, "valid"});
  flat.shape = {2 * steps, 12};
  Values sequence = plain_dense(flat, dense, {});
  sequence.shape = {2, steps, features};
  const Values expected = last(plain_recurrent(sequence, lstm(w)));
  EXPECT_TRUE(same(run_graph(read_keras_h5(path), {x}).front(), expected));
  EXPECT_TRUE(same(run_graph(read_keras_zip(archive), {x}).front(), expected));
}

// Words of two records and more, those that are 0 anywhere, and what a cell gives that skips them: of the
// steps that count, in their order. A step that is masked repeats what was before it.
class KerasMasks : public ::testing::Test {
 protected:
  const Values words = numbers({4, steps}, {0, 0, 3, 1, 2, 1, 0, 2, 0, 3, 2, 1, 3, 0, 0, 0, 0, 0, 0, 0});
  const Values table = random_values({4, features}, 21);

  Values expected(const Step& cell, bool sequences) const { return expected_of(words, cell, sequences); }
  Values expected_of(const Values& given, const Step& cell, bool sequences) const {
    Values result{{4, steps, units}, {}};
    for (std::size_t n = 0; n < 4; ++n) {
      Values counted{{1, 0, features}, {}};
      std::vector<std::size_t> so_far;
      for (std::size_t t = 0; t < steps; ++t) {
        const auto word = static_cast<std::int64_t>(given.data[n * steps + t]);
        if (word != 0) {
          ++counted.shape[1];
          for (std::int64_t f = 0; f < features; ++f) counted.data.push_back(at(table, {word, f}));
        }
        so_far.push_back(static_cast<std::size_t>(counted.shape[1]));
      }
      const Values all = counted.shape[1] > 0 ? plain_recurrent(counted, cell) : Values{};
      for (const std::size_t count : so_far) {
        for (std::size_t u = 0; u < units; ++u)
          result.data.push_back(count == 0 ? 0 : all.data[(count - 1) * units + u]);
      }
    }
    return sequences ? result : last(result);
  }
  // The steps that a direction from the end gives, where they belong.
  Values turned(const Step& cell) const {
    const Values other = tabulate(words.shape, [&](const Shape& i) {
      return at(words, {i[0], steps - 1 - i[1]});
    });
    const Values computed = expected_of(other, cell, true);
    return tabulate(computed.shape, [&](const Shape& i) {
      return at(computed, {i[0], steps - 1 - i[1], i[2]});
    });
  }
  Network network(const std::string& keys, bool sequences, const std::vector<Values>& w) const {
    Network made({steps});
    made.add_with("Embedding", R"("input_dim": 4, "output_dim": 3, "mask_zero": true)", {table});
    made.add_with("LSTM", config(keys, sequences), w);
    return made;
  }
};

TEST_F(KerasMasks, StepsThatDoNotCountLeaveTheState) {
  std::vector<Values> w;
  std::uint64_t seed = 30;
  for (const Shape& shape : weights(4)) w.push_back(random_values(shape, seed++));
  for (const bool sequences : {false, true}) {
    Network made = network("", sequences, w);
    EXPECT_TRUE(same(made.run(words), expected(lstm(w), sequences))) << sequences;
  }
  // The mask goes on to the next layer: the mean of what counts.
  Network averaged = network("", true, w);
  averaged.add("GlobalAveragePooling1D");
  const Values all = expected(lstm(w), true);
  Values means{{4, units}, {}};
  for (std::size_t n = 0; n < 4; ++n) {
    for (std::size_t u = 0; u < units; ++u) {
      double sum = 0, count = 0;
      for (std::size_t t = 0; t < steps; ++t) {
        if (words.data[n * steps + t] == 0) continue;
        sum += all.data[(n * steps + t) * units + u];
        ++count;
      }
      means.data.push_back(sum / count);
    }
  }
  const Values found = averaged.run(words);
  for (std::size_t i = 0; i < 3 * units; ++i) EXPECT_NEAR(found.data[i], means.data[i], 1e-5) << i;
  EXPECT_TRUE(std::isnan(found.data[3 * units])) << "nothing counts in the last record, as Keras has it";
}

TEST_F(KerasMasks, BothDirectionsSkipThem) {
  std::vector<Values> w;
  std::uint64_t seed = 40;
  for (int direction = 0; direction < 2; ++direction) {
    for (const Shape& shape : weights(4)) w.push_back(random_values(shape, seed++));
  }
  Network made({steps});
  made.add_with("Embedding", R"("input_dim": 4, "output_dim": 3, "mask_zero": true)", {table});
  made.add_with("Bidirectional",
                R"("merge_mode": "concat", "layer": {"class_name": "LSTM", "config": {"name": "inner", )" +
                    config("", false) + "}}",
                w);
  const Values found = made.run(words);
  const std::vector<Values> there(w.begin(), w.begin() + 3), back(w.begin() + 3, w.end());
  const Values forward = expected(lstm(there), false);
  Values turned = words;
  for (std::size_t n = 0; n < 4; ++n)
    std::reverse(turned.data.begin() + static_cast<std::ptrdiff_t>(n * steps),
                 turned.data.begin() + static_cast<std::ptrdiff_t>((n + 1) * steps));
  Network reversed({steps});
  reversed.add_with("Embedding", R"("input_dim": 4, "output_dim": 3, "mask_zero": true)", {table});
  reversed.add_with("LSTM", config("", false), back);
  const Values backward = reversed.run(turned);
  for (std::int64_t n = 0; n < 4; ++n) {
    for (std::int64_t u = 0; u < units; ++u) {
      EXPECT_NEAR(at(found, {n, u}), at(forward, {n, u}), 1e-5);
      EXPECT_NEAR(at(found, {n, units + u}), at(backward, {n, u}), 1e-5);
    }
  }
}

// The steps of both directions: zeros where a step is masked, whatever stands around it.
TEST_F(KerasMasks, BothDirectionsReturnTheirSteps) {
  std::vector<Values> w;
  std::uint64_t seed = 40;
  for (int direction = 0; direction < 2; ++direction) {
    for (const Shape& shape : weights(4)) w.push_back(random_values(shape, seed++));
  }
  const std::vector<Values> there(w.begin(), w.begin() + 3), back(w.begin() + 3, w.end());
  Network made({steps});
  made.add_with("Embedding", R"("input_dim": 4, "output_dim": 3, "mask_zero": true)", {table});
  made.add_with("Bidirectional",
                R"("merge_mode": "concat", "layer": {"class_name": "LSTM", "config": {"name": "inner", )" +
                    config("", true) + "}}",
                w);
  // A dense layer for each step, as taggers have it, takes no notice of masks.
  const auto dense = made.add("TimeDistributed",
                              R"("layer": {"class_name": "Dense", "config": {"name": "tag", "units": 2}})",
                              {{2 * units, 2}, {2}});
  const Values forward = expected(lstm(there), true), backward = turned(lstm(back));
  const Values both = tabulate({4, steps, 2 * units}, [&](const Shape& i) {
    if (at(words, {i[0], i[1]}) == 0) return 0.0;
    return double{i[2] < units ? at(forward, i) : at(backward, {i[0], i[1], i[2] - units})};
  });
  EXPECT_TRUE(same(made.run(words), plain_dense(both, dense[0], dense[1])));
}

TEST_F(KerasMasks, ABackwardDirectionRepeatsWhatItComputedBefore) {
  std::vector<Values> w;
  std::uint64_t seed = 30;
  for (const Shape& shape : weights(4)) w.push_back(random_values(shape, seed++));
  const Values steps_of = turned(lstm(w));
  EXPECT_TRUE(same(network(R"("go_backwards": true)", true, w).run(words),
                   tabulate({4, steps, units}, [&](const Shape& i) {  // in the order of computing
                     return at(steps_of, {i[0], steps - 1 - i[1], i[2]});
                   })));
}

// Layers that know nothing of masks end them.
TEST_F(KerasMasks, ConvolutionsEndThem) {
  for (const auto& [name, keys] : {std::pair("ZeroPadding1D", R"("padding": [1, 0])"),
                                   std::pair("Reshape", R"("target_shape": [5, 3])")}) {
    Network masked({steps}), plain({steps});
    for (Network* one : {&masked, &plain}) {
      one->add_with("Embedding",
                    std::string(R"("input_dim": 4, "output_dim": 3, "mask_zero": )") +
                        (one == &masked ? "true" : "false"),
                    {table});
      one->add(name, keys);
      one->add("LSTM", config("", false), weights(4));
    }
    EXPECT_TRUE(same(masked.run(words), plain.run(words))) << name;
  }
}

// Keras 3 writes into each call which mask it takes, and how the mask is made as operations.
TEST_F(KerasMasks, ThatCallsName) {
  std::vector<Values> w;
  std::uint64_t seed = 30;
  for (const Shape& shape : weights(4)) w.push_back(random_values(shape, seed++));
  const auto tensor = [](const std::string& name) {
    return fmt::format(R"({{"class_name": "__keras_tensor__", "config": {{"keras_history": ["{}", 0, 0]}}}})",
                       name);
  };
  const auto node = [&](const char* module, const char* class_name, const char* name, const std::string& more,
                        const std::string& args, const std::string& kwargs) {
    return fmt::format(
        R"({{"module": "{}", "class_name": "{}", "name": "{}", "config": {{"name": "{}"{}}}, "inbound_nodes": [{{"args": [{}], "kwargs": {{{}}}}}]}})",
        module, class_name, name, name, more, args, kwargs);
  };
  const auto path = temporary("masks.keras");
  // Words that are 2 do not count, which the table of the embedding does not say.
  write_keras(
      path,
      functional_json({input_json("words", {steps}),
                       node("keras.layers", "Embedding", "table", R"(, "input_dim": 4, "output_dim": 3)",
                            tensor("words"), ""),
                       node("keras.src.ops.numpy", "NotEqual", "not_equal", "", tensor("words") + ", 2", ""),
                       node("keras.layers", "LSTM", "lstm", ", " + config("", true), tensor("table"),
                            R"("mask": )" + tensor("not_equal"))},
                      {"words"}, {"lstm"}),
      {{"layers/embedding/vars/0", table},
       {"layers/lstm/cell/vars/0", w[0]},
       {"layers/lstm/cell/vars/1", w[1]},
       {"layers/lstm/cell/vars/2", w[2]}});
  // The same with the words 0 and 2 changed about.
  const auto swapped = [](double word) { return word == 0 ? 2 : word == 2 ? 0 : word; };
  Values other = table;
  for (std::int64_t f = 0; f < features; ++f)
    std::swap(other.data[static_cast<std::size_t>(f)],
              other.data[static_cast<std::size_t>(2 * features + f)]);
  Network implied({steps});
  implied.add_with("Embedding", R"("input_dim": 4, "output_dim": 3, "mask_zero": true)", {other});
  implied.add_with("LSTM", config("", true), w);
  EXPECT_TRUE(same(run_graph(read_keras_zip(path), {map(words, swapped)}).front(), implied.run(words)));
  // A call that names no mask has none, although the words carry one.
  write_keras(
      path,
      functional_json(
          {input_json("words", {steps}),
           node("keras.layers", "Embedding", "table",
                R"(, "input_dim": 4, "output_dim": 3, "mask_zero": true)", tensor("words"), ""),
           node("keras.layers", "LSTM", "lstm", ", " + config("", true), tensor("table"), R"("mask": null)")},
          {"words"}, {"lstm"}),
      {{"layers/embedding/vars/0", table},
       {"layers/lstm/cell/vars/0", w[0]},
       {"layers/lstm/cell/vars/1", w[1]},
       {"layers/lstm/cell/vars/2", w[2]}});
  Network none({steps});
  none.add_with("Embedding", R"("input_dim": 4, "output_dim": 3)", {table});
  none.add_with("LSTM", config("", true), w);
  EXPECT_TRUE(same(run_graph(read_keras_zip(path), {words}).front(), none.run(words)));
}

// The states of both directions start a decoder, as translators have it.
TEST(KerasBidirectional, ReturnsStatesThatStartAnotherLayer) {
  const auto path = temporary("states.h5");
  std::vector<Values> w, v;
  std::uint64_t seed = 60;
  for (int direction = 0; direction < 2; ++direction) {
    for (const Shape& shape : weights(4)) w.push_back(random_values(shape, seed++));
  }
  const std::string inner =
      R"("layer": {"class_name": "LSTM", "config": {"name": "inner", "return_state": true, )" +
      config("", false) + "}}";
  LayerValues encoder{"encoder", {}};
  for (std::size_t i = 0; i < w.size(); ++i)
    encoder.weights.emplace_back(fmt::format("encoder/w{}:0", i), w[i]);
  write_h5(
      path,
      functional_json(
          {input_json("x", {steps, features}),
           node_json("Bidirectional", "encoder", R"("merge_mode": "concat", )" + inner,
                     "[" + call_json({"x"}) + "]"),
           node_json(
               "Bidirectional", "decoder", R"("merge_mode": "concat", )" + inner,
               R"([[["x", 0, 0, {"initial_state": [["encoder", 0, 1], ["encoder", 0, 2], ["encoder", 0, 3], ["encoder", 0, 4]]}]]])")},
          {"x"}, {"decoder"}),
      {encoder, [&] {
         LayerValues decoder{"decoder", encoder.weights};
         for (auto& [name, values] : decoder.weights) name.replace(0, 7, "decoder");
         return decoder;
       }()});
  // A state goes on where the steps of the record before it end: twice the record in one direction each.
  const Values x = sequence_input();
  const auto twice = [&](bool backwards) {
    return tabulate({2, 2 * steps, features}, [&](const Shape& i) {
      const std::int64_t t = i[1] % steps;
      return at(x, {i[0], backwards ? steps - 1 - t : t, i[2]});
    });
  };
  const Values forward = last(plain_recurrent(twice(false), lstm({w[0], w[1], w[2]})));
  const Values backward = last(plain_recurrent(twice(true), lstm({w[3], w[4], w[5]})));
  EXPECT_TRUE(same(run_graph(read_keras_h5(path), {x}).front(), tabulate({2, 2 * units}, [&](const Shape& i) {
                     return i[1] < units ? at(forward, i) : at(backward, {i[0], i[1] - units});
                   })));
}

TEST(KerasRecurrent, CellsOnTopOfEachOther) {
  const std::string one =
      R"({"class_name": "GRUCell", "config": {"name": "a", "units": 4, "activation": "tanh", "recurrent_activation": "sigmoid", "reset_after": true}})";
  const std::string other =
      R"({"class_name": "SimpleRNNCell", "config": {"name": "b", "units": 4, "activation": "tanh"}})";
  for (const bool sequences : {true, false}) {
    std::vector<Shape> shapes = weights(3, true);
    for (const Shape& shape : {Shape{units, units}, Shape{units, units}, Shape{units}})
      shapes.push_back(shape);
    Network network({steps, features});
    const auto w = network.add(
        "RNN",
        fmt::format(
            R"("return_sequences": {}, "cell": {{"class_name": "StackedRNNCells", "config": {{"name": "stack", "cells": [{}, {}]}}}})",
            sequences, one, other),
        shapes);
    const Values below = plain_recurrent(sequence_input(), gru({w[0], w[1], w[2]}, true));
    const Values above = plain_recurrent(below, simple({w[3], w[4], w[5]}));
    EXPECT_TRUE(same(network.run(sequence_input()), sequences ? above : last(above))) << sequences;
  }
  Network single({steps, features});
  const auto w = single.add("RNN", R"("return_sequences": true, "cell": )" + one, weights(3, true));
  EXPECT_TRUE(same(single.run(sequence_input()), plain_recurrent(sequence_input(), gru(w, true))));
}

TEST(KerasBidirectional, OfCells) {
  const std::string gru_cell =
      R"({"class_name": "GRUCell", "config": {"name": "a", "units": 4, "activation": "tanh", "recurrent_activation": "sigmoid", "reset_after": true}})";
  const std::string simple_cell =
      R"({"class_name": "SimpleRNNCell", "config": {"name": "b", "units": 4, "activation": "tanh"}})";
  const std::string stack =
      fmt::format(R"({{"class_name": "StackedRNNCells", "config": {{"name": "stack", "cells": [{}, {}]}}}})",
                  gru_cell, simple_cell);
  const auto wrapped = [](const std::string& cell, bool sequences) {
    return fmt::format(
        R"("merge_mode": "concat", "layer": {{"class_name": "RNN", "config": {{"name": "rnn", "return_sequences": {}, "cell": {}}}}})",
        sequences, cell);
  };
  // What both directions give: the steps of the backward one in the order of the others, or the last ones.
  const auto both = [](const Values& forward, const Values& backward, bool sequences) {
    if (sequences) {
      return tabulate({2, steps, 2 * units}, [&](const Shape& i) {
        return double{i[2] < units ? at(forward, i) : at(backward, {i[0], steps - 1 - i[1], i[2] - units})};
      });
    }
    return tabulate({2, 2 * units}, [&](const Shape& i) {
      return double{i[1] < units ? at(last(forward), i) : at(last(backward), {i[0], i[1] - units})};
    });
  };
  std::vector<Shape> one = weights(3, true), two = one;
  for (const Shape& shape : {Shape{units, units}, Shape{units, units}, Shape{units}}) two.push_back(shape);
  for (const bool sequences : {true, false}) {
    std::vector<Shape> single_shapes = one, stack_shapes = two;
    single_shapes.insert(single_shapes.end(), one.begin(), one.end());
    stack_shapes.insert(stack_shapes.end(), two.begin(), two.end());
    Network single({steps, features}), stacked({steps, features});
    auto w = single.add("Bidirectional", wrapped(gru_cell, sequences), single_shapes);
    const auto direction = [&](std::size_t from, bool back) {
      return plain_recurrent(sequence_input(), gru({w[from], w[from + 1], w[from + 2]}, true), back);
    };
    EXPECT_TRUE(same(single.run(sequence_input()), both(direction(0, false), direction(3, true), sequences)));
    w = stacked.add("Bidirectional", wrapped(stack, sequences), stack_shapes);
    // The second cell takes the steps in the order in which the first one computed them.
    const auto above = [&](std::size_t from, bool back) {
      return plain_recurrent(direction(from, back), simple({w[from + 3], w[from + 4], w[from + 5]}));
    };
    const Values expected = both(above(0, false), above(6, true), sequences);
    EXPECT_TRUE(same(stacked.run(sequence_input()), expected)) << sequences;
    // Keras 3 has a group for each cell.
    std::map<std::string, Values> groups;
    for (std::size_t i = 0; i < w.size(); ++i) {
      groups[fmt::format("layers/bidirectional/{}_layer/cell/cells/{}/vars/{}",
                         i < 6 ? "forward" : "backward", i % 6 < 3 ? "gru_cell" : "simple_rnn_cell", i % 3)] =
          w[i];
    }
    const auto path = temporary("cells.keras");
    write_keras(path,
                sequential_json({layer_json("InputLayer", "x", R"("batch_shape": [null, 5, 3])"),
                                 layer_json("Bidirectional", "both", wrapped(stack, sequences))}),
                groups);
    EXPECT_TRUE(same(run_graph(read_keras_zip(path), {sequence_input()}).front(), expected)) << sequences;
  }
}

// Of a mask and a tensor without one Keras 2 makes the mask, Keras 3 none; of two masks their common steps or
// the steps of either; behind Multiply Keras 3 has ones in steps that do not count.
TEST(KerasRecurrent, MasksThatVersionsOfKerasMergeOtherwiseAreRefused) {
  const std::string table = R"("input_dim": 4, "output_dim": 3)", masked = table + R"(, "mask_zero": true)";
  const auto read = [&](const std::string& merge, const std::string& first, const std::string& second,
                        const std::vector<std::string>& merged) {
    const auto path = temporary("masks.h5");
    std::vector<LayerValues> weights;
    for (const char* name : {"a", "b"}) {
      weights.push_back({name, {{fmt::format("{}/embeddings:0", name), random_values({4, features}, 1)}}});
    }
    const std::int64_t width = merge == "Concatenate" ? 2 * features : features;
    weights.push_back({"last",
                       {{"last/kernel:0", random_values({width, 4 * units}, 2)},
                        {"last/recurrent_kernel:0", random_values({units, 4 * units}, 3)},
                        {"last/bias:0", random_values({4 * units}, 4)}}});
    write_h5(path,
             functional_json(
                 {input_json("x", {steps}), node_json("Embedding", "a", first, "[" + call_json({"x"}) + "]"),
                  node_json("Embedding", "b", second, "[" + call_json({"x"}) + "]"),
                  node_json(merge, "merge", "", "[" + call_json(merged) + "]"),
                  node_json("LSTM", "last", config("", false), "[" + call_json({"merge"}) + "]")},
                 {"x"}, {"last"}),
             weights);
    return read_keras_h5(path);
  };
  for (const std::string merge : {"Add", "Average", "Maximum", "Subtract", "Concatenate", "Multiply"}) {
    EXPECT_NO_THROW(read(merge, table, table, {"a", "b"})) << merge;
    using Case = std::pair<std::string, std::vector<std::string>>;
    std::vector<Case> cases{{table, {"a", "b"}}, {table, {"b", "a"}}, {masked, {"a", "b"}}};
    if (merge == "Multiply") {
      cases.push_back({table, {"a", "a"}});
    } else {
      EXPECT_NO_THROW(read(merge, masked, table, {"a", "a"})) << merge;
    }
    for (const auto& [second, merged] : cases) {
      try {
        read(merge, masked, second, merged);
        ADD_FAILURE() << merge << " of " << merged[0] << " and " << merged[1];
      } catch (const Error& error) {
        EXPECT_EQ(error.fault(), Fault::unsupported);
        EXPECT_NE(std::string(error.what()).find("layer 'last' (LSTM): the mask of layer"), std::string::npos)
            << error.what();
      }
    }
  }
}

}  // namespace
}  // namespace assay::testing
