#include "apps/assay/adaptation.h"

#include <ATen/ATen.h>

#include <charconv>
#include <numeric>

#include <assay/adapt.h>
#include <assay/dataset.h>
#include <assay/error.h>

namespace assay::app {
namespace {

constexpr std::size_t compared_records = 500;

}  // namespace

void Adaptation::declare(CLI::App& app) {
  app.add_option("--fix", fixed_,
                 "an input that is this number for all records, such as a sampling rate; may be repeated")
      ->type_name("NAME=NUMBER");
  app.add_option(
         "--decision", decision_,
         "output that decides, by name or number from 0, where the network has several (default: the first "
         "one of floating-point numbers)")
      ->type_name("NAME");
  app.add_option(
         "--precision", precision_,
         "float16 or bfloat16: weights and results of every node rounded to it, and the difference to "
         "float32 said")
      ->type_name("TYPE");
  app.add_flag("--straight-through", straight_,
               "gradients and relevance pass straight through Sign, Round, Floor and Ceil");
}

Graph Adaptation::chosen(Graph graph) const {
  for (const std::string& text : fixed_) {
    const std::size_t equals = text.rfind('=');
    double number = 0;
    const char* const end = text.data() + text.size();
    const bool read = equals != std::string::npos &&
                      std::from_chars(text.data() + equals + 1, end, number).ptr == end &&
                      equals + 1 < text.size();
    if (!read) fail(Fault::usage, "--fix {}: NAME=NUMBER is needed, such as sr=16000", text);
    graph = with_fixed_input(graph, text.substr(0, equals), number);
  }
  return decision_.empty() ? graph : with_decision(graph, decision_);
}

Graph Adaptation::apply(Graph graph, const Dataset* data, Context& context) const {
  graph = chosen(std::move(graph));
  if (data != nullptr && data->facts().others.empty() && graph.inputs().size() == 1 &&
      takes_channels_last(graph, graph.inputs()[0], data->record_shape())) {
    context.progress.notice(
        fmt::format("network '{}' takes channels last; it is turned to take them first, as records "
                    "have them",
                    graph.name()));
    graph = with_channels_first(graph, graph.inputs()[0]);
  }
  if (straight_) {
    Graph passing = straight_through(graph);
    if (passing.hash() == graph.hash())
      fail(Fault::usage, "--straight-through: network '{}' has no Sign, Round, Floor or Ceil", graph.name());
    graph = std::move(passing);
  }
  return in_precision(graph, parse_precision(precision_));
}

void Adaptation::compare(const Graph& plain, const Session& session, const Dataset* data,
                         Context& context) const {
  if (parse_precision(precision_) == Precision::float32 || data == nullptr || data->size() == 0) return;
  Graph graph = chosen(plain);
  if (takes_channels_last(graph, graph.inputs()[0], data->record_shape()))
    graph = with_channels_first(graph, graph.inputs()[0]);
  const Session exact(std::move(graph), session.options());
  std::vector<std::size_t> indices(std::min(compared_records, data->size()));
  std::iota(indices.begin(), indices.end(), std::size_t{0});
  const Batch batch = data->read(indices);
  const auto decisions = [&](const Session& one) {
    const ValueId logits = one.logits();
    const auto rows = static_cast<std::int64_t>(indices.size());
    return one.run(one.bind(batch), std::span(&logits, 1))
        .at(logits)
        .reshape({rows, -1})
        .to(at::kCPU, at::kDouble);
  };
  const Tensor wanted = decisions(exact), rounded = decisions(session);
  const double most = (wanted - rounded).abs().max().item<double>(),
               scale = wanted.abs().max().item<double>();
  std::string changed;
  if (wanted.size(1) > 1) {
    const auto others = wanted.argmax(1).ne(rounded.argmax(1)).sum().item<std::int64_t>();
    changed = fmt::format("; {} of {} classifications change", others, indices.size());
  }
  context.progress.notice(
      fmt::format("in {}: decision values of the first {} records differ from float32 by {:.3g} "
                  "at most, where the greatest is {:.3g}{}",
                  precision_, indices.size(), most, scale, changed));
}

}  // namespace assay::app
