// Counterexamples as tools of the competition write them, and the competition's check.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include <assay/bounds.h>
#include <assay/error.h>
#include "assay/bounds/network_at.h"
#include "assay/support/text/parse.h"

namespace assay::bounds {
namespace {

// By how much the worst of the case's conditions is missed.
double excess_of(const Case& one, const std::vector<double>& input, const std::vector<double>& output) {
  double worst = -std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < input.size(); ++i)
    worst = std::max({worst, one.box.low[i] - input[i], input[i] - one.box.high[i]});
  for (const Constraint& constraint : one.constraints) worst = std::max(worst, excess(constraint, output));
  return worst;
}

}  // namespace

double excess(const Constraint& constraint, const std::vector<double>& output) {
  double sum = -constraint.limit;
  for (const auto& [o, factor] : constraint.terms) sum += factor * output[o];
  return sum;
}

std::vector<double> outputs_at(const Session& session, const std::vector<double>& input) {
  const Graph& graph = session.graph();
  Shape shape = session.shape(graph.inputs()[0]);
  const std::vector<float> numbers(input.begin(), input.end());
  Tensors given;
  given.emplace(graph.inputs()[0], Array::of<float>(shape, numbers));
  const ValueId output = graph.outputs()[0];
  const Array found = session.run(given, std::span(&output, 1)).at(output).to(DType::float64).contiguous();
  const auto elements = found.as<double>();
  return {elements.begin(), elements.end()};
}

Witness parse_witness(const std::string& text, const Query& query, const std::string& name) {
  Witness witness{std::vector<double>(query.inputs, std::numeric_limits<double>::quiet_NaN()),
                  std::vector<double>(query.outputs, std::numeric_limits<double>::quiet_NaN())};
  std::vector<std::string> words;
  for (std::string& word : parts_of(text, "() \t\r\n"))
    if (!word.empty()) words.push_back(std::move(word));
  for (std::size_t w = 0; w + 1 < words.size(); ++w) {
    const bool input = words[w].starts_with("X_");
    if (!input && !words[w].starts_with("Y_")) continue;
    const auto index = number_of<std::size_t>(words[w].substr(2));
    const auto number = number_of<double>(words[w + 1]);
    std::vector<double>& all = input ? witness.input : witness.output;
    if (!index || *index >= all.size() || !number)
      fail(Fault::data, "{}: ({} {}) is not a number of a variable of the query", name, words[w],
           words[w + 1]);
    all[*index] = *number;
  }
  for (const auto* all : {&witness.input, &witness.output})
    for (std::size_t i = 0; i < all->size(); ++i)
      if (std::isnan((*all)[i]))
        fail(Fault::data, "{}: it has no number for {}_{}; a counterexample is ((X_0 0.1) ... (Y_0 0.3) ...)",
             name, all == &witness.input ? 'X' : 'Y', i);
  return witness;
}

std::string to_text(const Witness& witness) {
  std::string text = "sat\n(";
  for (std::size_t i = 0; i < witness.input.size(); ++i)
    text += fmt::format("{}(X_{} {})", i == 0 ? "" : "\n", i, witness.input[i]);
  for (std::size_t i = 0; i < witness.output.size(); ++i)
    text += fmt::format("\n(Y_{} {})", i, witness.output[i]);
  return text + ")\n";
}

WitnessCheck check_witness(const Session& session, const Query& query, const Witness& witness) {
  constexpr double least_size = 1e-6;  // of claimed outputs that differences are compared with
  const std::vector<double> outputs = outputs_at(session, witness.input);
  double difference = 0, size = 0;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    difference = std::max(difference, std::abs(outputs[i] - witness.output[i]));
    size = std::max(size, std::abs(witness.output[i]));
  }
  WitnessCheck check{.difference = size < least_size ? 0 : difference / size};
  check.excess = check.claimed_excess = std::numeric_limits<double>::infinity();
  for (const Case& one : query.cases) {
    check.excess = std::min(check.excess, excess_of(one, witness.input, outputs));
    check.claimed_excess = std::min(check.claimed_excess, excess_of(one, witness.input, witness.output));
  }
  return check;
}

}  // namespace assay::bounds
