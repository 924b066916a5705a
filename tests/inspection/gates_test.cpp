// Gates of recurrent layers against cells written out plainly.

#include <cmath>
#include <numeric>

#include "assay/inspection/units/gates.h"
#include "assay/inspection/units/unit_source.h"
#include "assay/inspection/units/unrolled.h"
#include "tests/inspection/networks.h"

namespace assay::inspection {
namespace {

using namespace testing_networks;
using Vector = std::vector<double>;

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

// One direction's weights, read from the graph by row: gate * 4 + unit.
struct PlainCell {
  PlainCell(const Graph& graph, std::size_t direction, std::size_t gate_count)
      : gates(gate_count), d(direction) {
    const auto read = [&](const std::string& name) {
      const auto id = graph.find_value(name);
      const auto values = id ? graph.constant(*id).as<float>() : std::span<const float>();
      return Vector(values.begin(), values.end());
    };
    W = read("W"), R = read("R"), B = read("B"), P = read("P");
  }
  double input(std::size_t row, const Vector& x) const { return dot(W, d * gates * 4 * 3 + row * 3, x); }
  double state(std::size_t row, const Vector& h) const { return dot(R, d * gates * 4 * 4 + row * 4, h); }
  double bias(std::size_t row) const { return B[d * 8 * gates + row]; }
  double state_bias(std::size_t row) const { return B[d * 8 * gates + 4 * gates + row]; }
  double sum(std::size_t row, const Vector& x, const Vector& h) const {
    return input(row, x) + state(row, h) + bias(row) + state_bias(row);
  }
  double peephole(std::size_t gate, std::size_t unit) const {
    return P.empty() ? 0 : P[d * 12 + gate * 4 + unit];
  }

  static double dot(const Vector& weights, std::size_t from, const Vector& by) {
    double total = 0;
    for (std::size_t i = 0; i < by.size(); ++i) total += weights[from + i] * by[i];
    return total;
  }
  std::size_t gates, d;
  Vector W, R, B, P;
};

using Step = std::map<std::string, Vector>;  // gates of one step, and "hidden"

Step lstm_step(const PlainCell& w, const Vector& x, const Vector& h, const Vector& c) {
  Step step;
  for (std::size_t u = 0; u < 4; ++u) {
    const double in = sigmoid(w.sum(u, x, h) + w.peephole(0, u) * c[u]),
                 forget = sigmoid(w.sum(8 + u, x, h) + w.peephole(2, u) * c[u]),
                 candidate = std::tanh(w.sum(12 + u, x, h)), cell = forget * c[u] + in * candidate,
                 out = sigmoid(w.sum(4 + u, x, h) + w.peephole(1, u) * cell);
    step["input"].push_back(in), step["forget"].push_back(forget), step["candidate"].push_back(candidate);
    step["cell"].push_back(cell), step["output"].push_back(out);
    step["hidden"].push_back(out * std::tanh(cell));
  }
  return step;
}

Step gru_step(const PlainCell& w, const Vector& x, const Vector& h, bool linear_before_reset) {
  Step step;
  for (std::size_t u = 0; u < 4; ++u) {
    step["update"].push_back(sigmoid(w.sum(u, x, h)));
    step["reset"].push_back(sigmoid(w.sum(4 + u, x, h)));
  }
  for (std::size_t u = 0; u < 4; ++u) {
    Vector reset = h;
    for (std::size_t k = 0; k < 4; ++k) reset[k] *= step["reset"][k];
    const double own = linear_before_reset ? step["reset"][u] * (w.state(8 + u, h) + w.state_bias(8 + u))
                                           : w.state(8 + u, reset) + w.state_bias(8 + u);
    const double candidate = std::tanh(w.input(8 + u, x) + w.bias(8 + u) + own), z = step["update"][u];
    step["candidate"].push_back(candidate);
    step["hidden"].push_back((1 - z) * candidate + z * h[u]);
  }
  return step;
}

// Gates of one record, [step][direction * 4 + unit].
std::map<std::string, std::vector<Vector>> plain_gates(const Graph& graph, const Recurrent& form,
                                                       std::span<const std::int64_t> tokens) {
  const std::size_t directions = form.direction == "bidirectional" ? 2 : 1;
  const auto table = graph.constant(graph.find_value("table").value()).as<float>();
  std::map<std::string, std::vector<Vector>> all;
  for (std::size_t d = 0; d < directions; ++d) {
    const PlainCell weights(graph, d, form.op == "LSTM" ? 4 : 3);
    const bool backwards = form.direction == "reverse" || d == 1;
    Vector h(4), c(4);
    for (std::size_t i = 0; i < 7; ++i) {
      const std::size_t t = backwards ? 6 - i : i;
      const auto token = static_cast<std::size_t>(tokens[t]);
      const Vector x(table.begin() + static_cast<std::ptrdiff_t>(token * 3),
                     table.begin() + static_cast<std::ptrdiff_t>(token * 3 + 3));
      const Step step = form.op == "LSTM" ? lstm_step(weights, x, h, c)
                                          : gru_step(weights, x, h, form.linear_before_reset != 0);
      h = step.at("hidden");
      if (form.op == "LSTM") c = step.at("cell");
      for (const auto& [name, values] : step) {
        auto& rows = all[name];
        rows.resize(7);
        rows[t].resize(4 * directions);
        std::ranges::copy(values, rows[t].begin() + static_cast<std::ptrdiff_t>(4 * d));
      }
    }
  }
  return all;
}

class EveryCell : public testing::TestWithParam<Recurrent> {};

TEST_P(EveryCell, GatesAndStatesAreThoseOfTheCellWrittenOut) {
  const Recurrent form = GetParam();
  const InspectedModel model = inspected(recurrent_network(form));
  const Graph& graph = model.session->graph();
  const DatasetPtr data = random_tokens(9);
  std::vector<std::string> names = gate_names(form.op);
  ASSERT_FALSE(names.empty());
  names.push_back("");  // the hidden states
  std::vector<UnitGroup> groups;
  for (const std::string& name : names) groups.push_back({"g" + name, 0, "cell", name});
  const UnitSource source(model, groups);
  std::vector<std::size_t> all(names.size()), records(data->size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  std::iota(records.begin(), records.end(), std::size_t{0});
  const Batch batch = data->read(records);
  const std::vector<Array> found = source.behaviours(batch, all);
  for (const std::size_t r : records) {
    const auto plain = plain_gates(graph, form, batch.inputs.as<std::int64_t>().subspan(r * 7, 7));
    for (std::size_t g = 0; g < names.size(); ++g) {
      const auto& expected = plain.at(names[g].empty() ? "hidden" : names[g]);
      for (std::size_t t = 0; t < 7; ++t) {
        for (std::size_t u = 0; u < expected[t].size(); ++u)
          ASSERT_NEAR(found[g][static_cast<std::int64_t>(r)][static_cast<std::int64_t>(t)]
                           [static_cast<std::int64_t>(u)]
                               .item<double>(),
                      expected[t][u], 1e-5)
              << names[g] << " record " << r << " step " << t << " unit " << u;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Forms, EveryCell,
    testing::Values(Recurrent{}, Recurrent{.direction = "reverse"}, Recurrent{.direction = "bidirectional"},
                    Recurrent{.direction = "bidirectional", .layout = 1}, Recurrent{.peepholes = true},
                    Recurrent{.last_only = true}, Recurrent{.op = "GRU"},
                    Recurrent{.op = "GRU", .direction = "bidirectional", .linear_before_reset = 1},
                    Recurrent{.op = "GRU", .direction = "reverse", .layout = 1, .last_only = true}));

TEST(Gates, OfAnLstmRecombineToItsOutput) {
  const InspectedModel model = inspected(recurrent_network());
  const UnitSource source(model, {{"o", 0, "cell", "output"}, {"c", 0, "cell", "cell"}, {"h", 0, "cell"}});
  const std::vector<std::size_t> records{0, 1, 2}, all{0, 1, 2};
  const auto found = source.behaviours(random_tokens(3)->read(records), all);
  EXPECT_TRUE(array::allclose(found[0] * array::tanh(found[1]), found[2], 1e-5, 1e-6));
}

// The last state of a forward LSTM whose state after step `at` was moved.
Vector last_state(const Graph& graph, std::span<const std::int64_t> tokens, std::size_t at, std::size_t unit,
                  double by) {
  const PlainCell weights(graph, 0, 4);
  const auto table = graph.constant(graph.find_value("table").value()).as<float>();
  Vector h(4), c(4);
  for (std::size_t t = 0; t < tokens.size(); ++t) {
    const auto token = static_cast<std::ptrdiff_t>(tokens[t]);
    const Step step =
        lstm_step(weights, Vector(table.begin() + 3 * token, table.begin() + 3 * token + 3), h, c);
    h = step.at("hidden"), c = step.at("cell");
    if (t == at) h[unit] += by;
  }
  return h;
}

// The gradient of a state is that of all that later states make of it.
TEST(Gates, TheGradientOfAStateAgreesWithMovingIt) {
  const InspectedModel model = inspected(recurrent_network());
  const Graph& graph = model.session->graph();
  const DatasetPtr data = random_tokens(4);
  const UnitSource source(model, {{"g", 0, "cell", "", {}, UnitBehaviour::gradient}});
  const std::vector<std::size_t> records{0, 1, 2, 3}, first{0};
  const Batch batch = data->read(records);
  const Array found = source.behaviours(batch, first)[0];
  const auto wd = graph.constant(graph.find_value("wd").value()).as<float>();
  for (const std::size_t r : records) {
    const auto tokens = batch.inputs.as<std::int64_t>().subspan(r * 7, 7);
    const auto logits = value_of(*model.session, *data, r, model.session->logits());
    const auto best = static_cast<std::size_t>(std::ranges::max_element(logits) - logits.begin());
    for (std::size_t t = 0; t < 7; ++t) {
      for (std::size_t u = 0; u < 4; ++u) {
        constexpr double by = 1e-4;
        const Vector up = last_state(graph, tokens, t, u, by), down = last_state(graph, tokens, t, u, -by);
        double slope = 0;
        for (std::size_t k = 0; k < 4; ++k) slope += (up[k] - down[k]) / (2 * by) * wd[k * 3 + best];
        EXPECT_NEAR(
            found[static_cast<std::int64_t>(r)][static_cast<std::int64_t>(t)][static_cast<std::int64_t>(u)]
                .item<double>(),
            slope, 1e-4)
            << t << " " << u;
      }
    }
  }
}

TEST(Gates, UnrolledLayersOfEveryFormComputeTheSame) {
  for (const Recurrent& form : {Recurrent{.direction = "bidirectional", .peepholes = true},
                                Recurrent{.op = "GRU", .direction = "reverse", .layout = 1}}) {
    const Session whole(recurrent_network(form)), cells(unrolled(recurrent_network(form), "cell", 7).graph);
    const DatasetPtr data = random_tokens(3);
    for (const std::size_t r : {0, 1, 2}) {
      const auto a = value_of(whole, *data, r, whole.logits()), b = value_of(cells, *data, r, cells.logits());
      for (std::size_t k = 0; k < a.size(); ++k) EXPECT_NEAR(a[k], b[k], 1e-5);
    }
  }
}

TEST(Gates, ThoseThatALayerHasNotAreNamed) {
  const InspectedModel model = inspected(recurrent_network());
  EXPECT_THROW(UnitSource(model, {{"g", 0, "cell", "update"}}), Error);
  EXPECT_THROW(UnitSource(model, {{"g", 0, "fc", "input"}}), Error);
  EXPECT_THROW(UnitSource(model, {{"g", 0, "cell", "", {4}}}), Error);
}

}  // namespace
}  // namespace assay::inspection
