// Another share of dropped activations (change_dropout_rate of Humbatova et al., DeepCrime, ISSTA 2021).

#include <fmt/format.h>

#include <optional>

#include <assay/error.h>
#include <assay/extend/mutation_operator.h>
#include <assay/model.h>
#include "assay/mutation/operators/program/program_options.h"

namespace assay::mutation {
namespace {

const Node& dropout_named(const Graph& graph, const std::string& name) {
  for (const Node& node : graph.nodes())
    if (node.op == "Dropout" && node.name == name) return node;
  fail(Fault::internal, "there is no dropout {}", name);
}

// Nothing when it is computed.
std::optional<double> rate_of(const Graph& graph, const Node& node) {
  if (node.inputs.size() < 2 || node.inputs[1] == no_value) return 0.5;
  if (!graph.is_constant(node.inputs[1])) return std::nullopt;
  const Array& rate = graph.constant(node.inputs[1]);
  if (rate.dtype() != DType::float32 || rate.count() != 1) return std::nullopt;
  return rate.as<float>()[0];
}

std::vector<std::string> other_rates(const Graph& graph, const Node& node) {
  std::vector<std::string> rates{"0.125", "0.25", "0.5", "0.75", "1"};
  std::erase_if(rates, [&](const std::string& rate) {
    return static_cast<float>(std::stod(rate)) == static_cast<float>(rate_of(graph, node).value_or(-1));
  });
  return rates;
}

std::vector<Place> dropout_places(const Program& program, const Subject&, const SpecOptions& options) {
  const bool any = options.text("to") == "any";
  const double to = any ? 0.5 : options.number("to", 0);
  if (to > 1) fail(Fault::usage, "mutation operator dropout: to={} is not a share", to);
  std::vector<Place> places;
  for (const Node& node : program.graph.nodes()) {
    if (node.op != "Dropout") continue;
    const auto rate = rate_of(program.graph, node);
    const bool same = rate && !any && static_cast<float>(*rate) == static_cast<float>(to);
    places.push_back({node.name, !rate ? "its rate is computed" : same ? "it is its rate" : ""});
  }
  return or_nowhere(std::move(places), "it has no dropout");
}

ProgramChange change_dropout(const ProgramSite& site, Program& program) {
  const Graph& graph = site.subject.graph();
  Node node = dropout_named(graph, site.place);
  const std::string& to = site.options.text("to");
  const std::vector<std::string> others = other_rates(graph, node);
  const double rate =
      to == "any" ? std::stod(others[site.rng.below(others.size())]) : site.options.number("to", 0);
  const double before = *rate_of(graph, node);
  GraphBuilder builder(graph);
  if (node.inputs.size() < 2) node.inputs.resize(2, no_value);
  node.inputs[1] = builder.constant(builder.unused_name(node.name + "/rate"),
                                    Array::of<float>({}, std::vector<float>{static_cast<float>(rate)}));
  builder.replace_node(graph.producer(node.outputs[0]), node);
  program.graph = builder.build();
  return {1, fmt::format("{} drops {:.6g} instead of {:.6g}", site.place, rate, before)};
}

}  // namespace

OperatorInfo dropout_operator() {
  return {.name = "dropout",
          .title = "dropout rate changed",
          .summary = "dropout drops another share of activations in training",
          .definition =
              "the rate of one dropout becomes `to`; a rate of 1 drops everything, so the layers before it "
              "learn nothing",
          .limits = "needs a dropout in the network; any: 0.125, 0.25, 0.5, 0.75 or 1",
          .paper = "Humbatova et al., DeepCrime, ISSTA 2021 (change_dropout_rate)",
          .level = OperatorInfo::Level::structure,
          .options = {to_option("the rate, from 0 to 1")},
          .program = {.places = dropout_places,
                      .apply = change_dropout,
                      .option = "to",
                      .values = [](const Program&, const Subject& subject, const std::string& place) {
                        return other_rates(subject.graph(), dropout_named(subject.graph(), place));
                      }}};
}

}  // namespace assay::mutation
