#include <cmath>

#include "fixture.h"

namespace assay::testing {
namespace {

struct Case {
  std::string op;
  std::string direction = "forward";
  std::int64_t layout = 0;
  bool bias = true, lengths = false, states = false, peepholes = false;
  Attributes attributes = {};  // linear_before_reset, input_forget, clip, activations
};

std::ostream& operator<<(std::ostream& out, const Case& c) {
  out << c.op << ' ' << c.direction << " layout " << c.layout << " bias " << c.bias << " lengths "
      << c.lengths << " states " << c.states << " peepholes " << c.peepholes;
  for (const auto& [name, value] : c.attributes) out << ' ' << name;
  return out;
}

constexpr std::int64_t steps = 4, batch = 3, features = 2, hidden = 2;

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }
double activation(const std::string& name, double x) {
  if (name == "Sigmoid") return sigmoid(x);
  if (name == "Tanh") return std::tanh(x);
  if (name == "Relu") return std::max(0.0, x);
  if (name == "HardSigmoid")
    return std::min(1.0, std::max(0.0, 0.25 * x + 0.5));  // with the attributes below
  if (name == "LeakyRelu" || name == "leakyrelu") return x < 0 ? 0.5 * x : x;
  ADD_FAILURE() << name;
  return 0;
}

// One record in one direction, cell by cell, as the ONNX document writes the equations.
struct PlainCell {
  const Case& c;
  const Tensor &w, &r, &b, &p;
  std::int64_t d;
  std::vector<std::string> f;

  double clip(double x) const {
    const auto found = c.attributes.find("clip");
    if (found == c.attributes.end()) return x;
    const double bound = std::get<float>(found->second);
    return std::min(bound, std::max(-bound, x));
  }
  bool flag(const std::string& name) const { return c.attributes.contains(name); }
  std::int64_t gates() const { return c.op == "RNN" ? 1 : c.op == "GRU" ? 3 : 4; }
  double bias(std::int64_t gate, std::int64_t unit, bool recurrent) const {
    if (!b.defined()) return 0;
    return at_index(b, {d, (recurrent ? gates() * hidden : 0) + gate * hidden + unit});
  }
  double input(const std::vector<double>& x, std::int64_t gate, std::int64_t unit) const {
    double sum = bias(gate, unit, false);
    for (std::int64_t k = 0; k < features; ++k) sum += x[k] * at_index(w, {d, gate * hidden + unit, k});
    return sum;
  }
  double recurrent(const std::vector<double>& h, std::int64_t gate, std::int64_t unit) const {
    double sum = bias(gate, unit, true);
    for (std::int64_t k = 0; k < hidden; ++k) sum += h[k] * at_index(r, {d, gate * hidden + unit, k});
    return sum;
  }
  double peep(std::int64_t which, std::int64_t unit, double cell) const {
    return p.defined() ? at_index(p, {d, which * hidden + unit}) * cell : 0;
  }

  void rnn(const std::vector<double>& x, std::vector<double>& h) const {
    std::vector<double> next(hidden);
    for (std::int64_t u = 0; u < hidden; ++u)
      next[u] = activation(f[0], clip(input(x, 0, u) + recurrent(h, 0, u)));
    h = next;
  }
  void gru(const std::vector<double>& x, std::vector<double>& h) const {
    std::vector<double> z(hidden), reset(hidden), reset_h(hidden), next(hidden);
    for (std::int64_t u = 0; u < hidden; ++u) {
      z[u] = activation(f[0], clip(input(x, 0, u) + recurrent(h, 0, u)));
      reset[u] = activation(f[0], clip(input(x, 1, u) + recurrent(h, 1, u)));
      reset_h[u] = reset[u] * h[u];
    }
    for (std::int64_t u = 0; u < hidden; ++u) {
      const double candidate = input(x, 2, u) + (flag("linear_before_reset") ? reset[u] * recurrent(h, 2, u)
                                                                             : recurrent(reset_h, 2, u));
      next[u] = (1 - z[u]) * activation(f[1], clip(candidate)) + z[u] * h[u];
    }
    h = next;
  }
  void lstm(const std::vector<double>& x, std::vector<double>& h, std::vector<double>& cell) const {
    std::vector<double> next(hidden);
    for (std::int64_t u = 0; u < hidden; ++u) {
      const auto gate = [&](std::int64_t g) { return input(x, g, u) + recurrent(h, g, u); };
      const double in = activation(f[0], clip(gate(0) + peep(0, u, cell[u])));
      const double forget =
          flag("input_forget") ? 1 - in : activation(f[0], clip(gate(2) + peep(2, u, cell[u])));
      cell[u] = forget * cell[u] + in * activation(f[1], clip(gate(3)));
      const double out = activation(f[0], clip(gate(1) + peep(1, u, cell[u])));
      next[u] = out * activation(f[2], clip(cell[u]));
    }
    h = next;
  }
};

class Recurrent : public ::testing::TestWithParam<Case> {
 protected:
  Recurrent() {
    const Case& c = GetParam();
    const std::int64_t g = c.op == "RNN" ? 1 : c.op == "GRU" ? 3 : 4;
    directions = c.direction == "bidirectional" ? 2 : 1;
    const Ints state = c.layout ? Ints{batch, directions, hidden} : Ints{directions, batch, hidden};
    inputs = {random_tensor(c.layout ? Ints{batch, steps, features} : Ints{steps, batch, features}, 1),
              random_tensor({directions, g * hidden, features}, 2),
              random_tensor({directions, g * hidden, hidden}, 3),
              c.bias ? random_tensor({directions, 2 * g * hidden}, 4) : Tensor(),
              c.lengths ? ints({4, 1, 3}).to(at::kInt) : Tensor(),
              c.states ? random_tensor(state, 5) : Tensor()};
    if (c.op == "LSTM") {
      inputs.push_back(c.states ? random_tensor(state, 6) : Tensor());
      inputs.push_back(c.peepholes ? random_tensor({directions, 3 * hidden}, 7) : Tensor());
    }
    attributes = c.attributes;
    attributes["direction"] = c.direction;
    attributes["layout"] = c.layout;
    attributes["hidden_size"] = hidden;
    outputs = c.op == "LSTM" ? 3 : 2;
  }

  double state_of(const Tensor& t, std::int64_t d, std::int64_t record, std::int64_t unit) const {
    if (!t.defined()) return 0;
    return at_index(t, GetParam().layout ? Ints{record, d, unit} : Ints{d, record, unit});
  }
  std::vector<std::string> functions(std::int64_t d) const {
    const std::map<std::string, std::vector<std::string>> defaults{
        {"RNN", {"Tanh"}}, {"GRU", {"Sigmoid", "Tanh"}}, {"LSTM", {"Sigmoid", "Tanh", "Tanh"}}};
    const auto& own = defaults.at(GetParam().op);
    const auto given = attributes.find("activations");
    if (given == attributes.end()) return own;
    const auto& all = std::get<std::vector<std::string>>(given->second);
    const auto each = static_cast<std::ptrdiff_t>(own.size());
    return {all.begin() + d * each, all.begin() + (d + 1) * each};
  }

  // Y, Y_h, Y_c with layout 0.
  std::vector<Tensor> written_out() const {
    const Case& c = GetParam();
    std::vector<Tensor> result{at::zeros({steps, directions, batch, hidden}),
                               at::zeros({directions, batch, hidden}),
                               at::zeros({directions, batch, hidden})};
    const Tensor none;
    for (std::int64_t d = 0; d < directions; ++d) {
      const PlainCell cell{c, inputs[1],   inputs[2], inputs[3], c.op == "LSTM" ? inputs[7] : none,
                           d, functions(d)};
      for (std::int64_t n = 0; n < batch; ++n) {
        std::vector<double> h, carry;
        for (std::int64_t u = 0; u < hidden; ++u) {
          h.push_back(state_of(inputs[5], d, n, u));
          carry.push_back(c.op == "LSTM" ? state_of(inputs[6], d, n, u) : 0);
        }
        const auto length = c.lengths ? static_cast<std::int64_t>(at_index(inputs[4], {n})) : steps;
        for (std::int64_t i = 0; i < length; ++i) {
          const std::int64_t t = c.direction == "reverse" || d == 1 ? length - 1 - i : i;
          std::vector<double> x;
          for (std::int64_t k = 0; k < features; ++k)
            x.push_back(at_index(inputs[0], c.layout ? Ints{n, t, k} : Ints{t, n, k}));
          if (c.op == "RNN") cell.rnn(x, h);
          if (c.op == "GRU") cell.gru(x, h);
          if (c.op == "LSTM") cell.lstm(x, h, carry);
          for (std::int64_t u = 0; u < hidden; ++u) result[0][t][d][n][u] = h[u];
        }
        for (std::int64_t u = 0; u < hidden; ++u) result[1][d][n][u] = h[u], result[2][d][n][u] = carry[u];
      }
    }
    return result;
  }

  std::int64_t directions = 1;
  std::vector<Tensor> inputs;
  Attributes attributes;
  std::size_t outputs = 2;
};

TEST_P(Recurrent, AgreesWithTheEquationsWrittenOut) {
  const auto actual = run_all(GetParam().op, inputs, attributes, outputs);
  auto expected = written_out();
  if (GetParam().layout != 0) {
    expected[0] = expected[0].permute({2, 0, 1, 3});
    expected[1] = expected[1].transpose(0, 1), expected[2] = expected[2].transpose(0, 1);
  }
  for (std::size_t i = 0; i < outputs; ++i) EXPECT_TRUE(same(actual[i], expected[i])) << i;
}

TEST_P(Recurrent, HasTheRightGradients) {
  EXPECT_TRUE(gradients_agree(GetParam().op, inputs, attributes, outputs));
}

const Attribute on = std::int64_t{1};
Attribute names(std::vector<std::string> list) { return list; }

INSTANTIATE_TEST_SUITE_P(
    All, Recurrent,
    ::testing::Values(
        Case{.op = "RNN"}, Case{.op = "RNN", .direction = "reverse", .lengths = true},
        Case{.op = "RNN",
             .direction = "bidirectional",
             .layout = 1,
             .states = true,
             .attributes = {{"activations", names({"Relu", "Tanh"})}}},
        Case{.op = "RNN", .bias = false, .attributes = {{"clip", 0.5f}}},
        Case{.op = "RNN",
             .direction = "bidirectional",
             .attributes = {{"activations", names({"leakyrelu", "Tanh"})},
                            {"activation_alpha", std::vector<float>{0.5f}}}},
        Case{.op = "GRU"}, Case{.op = "GRU", .attributes = {{"linear_before_reset", on}}},
        Case{.op = "GRU", .bias = false, .attributes = {{"linear_before_reset", on}}},
        Case{.op = "GRU",
             .direction = "bidirectional",
             .lengths = true,
             .states = true,
             .attributes = {{"linear_before_reset", on}}},
        Case{.op = "GRU", .direction = "reverse", .layout = 1, .lengths = true, .states = true},
        Case{.op = "GRU", .bias = false, .attributes = {{"clip", 0.4f}}}, Case{.op = "LSTM"},
        Case{.op = "LSTM", .bias = false, .states = true},
        Case{.op = "LSTM", .direction = "reverse", .lengths = true, .states = true, .peepholes = true},
        Case{.op = "LSTM",
             .direction = "bidirectional",
             .layout = 1,
             .lengths = true,
             .states = true,
             .peepholes = true},
        Case{.op = "LSTM", .peepholes = true, .attributes = {{"input_forget", on}}},
        Case{.op = "LSTM", .attributes = {{"clip", 0.4f}}},
        Case{.op = "LSTM",
             .attributes = {{"activations", names({"HardSigmoid", "LeakyRelu", "Tanh"})},
                            {"activation_alpha", std::vector<float>{0.25f, 0.5f}},
                            {"activation_beta", std::vector<float>{0.5f}}}}));

TEST(Recurrent, RefusesWhatMakesNoSense) {
  const Tensor x = at::ones({4, 3, 2}), w = at::ones({1, 8, 2}), r = at::ones({1, 8, 2}), none;
  const auto fault = [&](std::vector<Tensor> inputs, Attributes attributes = {}) {
    return fault_of("LSTM", inputs, std::move(attributes));
  };
  EXPECT_EQ(fault({x, w}), Fault::model);
  EXPECT_EQ(fault({x, w, at::ones({1, 6, 2})}), Fault::model);
  EXPECT_EQ(fault({x, w, r, at::ones({1, 8})}), Fault::model);
  EXPECT_EQ(fault({x, w, r, none, ints({4, 5, 1})}), Fault::model);
  EXPECT_EQ(fault({x, w, r, none, ints({4, -1, 1})}), Fault::model);
  EXPECT_EQ(fault({x, w, r, none, ints({4})}), Fault::model);
  EXPECT_EQ(fault({x, w, r}, {{"hidden_size", std::int64_t{3}}}), Fault::model);
  EXPECT_EQ(fault({x, w, r}, {{"direction", std::string("sideways")}}), Fault::model);
  EXPECT_EQ(fault({x, w, r}, {{"direction", std::string("bidirectional")}}), Fault::model);
  EXPECT_EQ(fault({x, w, r}, {{"activations", names({"Tanh"})}}), Fault::model);
  EXPECT_EQ(fault({x, w, r}, {{"activations", names({"Tanh", "Tanh", "Sine"})}}), Fault::unsupported);
  EXPECT_EQ(fault({at::ones({0, 3, 2}), w, r}), Fault::model);
}

}  // namespace
}  // namespace assay::testing
