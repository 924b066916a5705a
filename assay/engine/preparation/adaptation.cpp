#include "assay/engine/preparation/adaptation.h"

#include <assay/array_math.h>

#include <algorithm>
#include <numeric>

#include <assay/error.h>
#include <assay/token_decision.h>
#include "assay/model/folder.h"

namespace assay {
namespace {

constexpr std::size_t compared_records = 500;

// Inputs that are fixed, and the output that decides: the network apart from its precision.
Graph with_choices(Graph graph, const AdaptOptions& options, const Dataset* data, Progress& progress) {
  for (const auto& [input, number] : options.fixed) graph = with_fixed_input(graph, input, number);
  if (options.decision.empty()) return graph;
  if (is_token_decision(options.decision))
    return with_token_decision(graph, options.decision, options.folder, data, progress);
  return with_decision(graph, options.decision);
}

}  // namespace

AdaptOptions adapt_options_of(AdaptOptions options, const std::string& network) {
  if (const auto folder = folder_of_network(network)) options.folder = folder->string();
  return options;
}

AdaptedNetwork adapted(Graph graph, const AdaptOptions& options, const Dataset* data, Progress& progress) {
  FileForm form;
  if (!options.decision.empty()) {
    const std::optional<std::size_t> position =
        is_token_decision(options.decision) ? std::nullopt : output_position(graph, options.decision);
    form.decision = position.value_or(0);
    form.added = !position;
  }
  if (data != nullptr) require_fitting_tokens(graph, options.folder, *data);
  graph = with_choices(std::move(graph), options, data, progress);
  if (data != nullptr && data->facts().others.empty() && graph.inputs().size() == 1 &&
      takes_channels_last(graph, graph.inputs()[0], data->record_shape())) {
    progress.notice(
        fmt::format("network '{}' takes channels last; it is turned to take them first, as records "
                    "have them",
                    graph.name()));
    graph = with_channels_first(graph, graph.inputs()[0]);
    form.channels_last = true;
  }
  if (options.straight_through) {
    Graph passing = straight_through(graph);
    if (passing.hash() == graph.hash())
      fail(Fault::usage, "{}: network '{}' has no Sign, Round, Floor or Ceil",
           About{"to pass straight through", "{straight-through}"}, graph.name());
    graph = std::move(passing);
  }
  return {in_precision(graph, options.precision), form};
}

Session session_of(AdaptedNetwork& network, const SessionOptions& options, const Dataset* data,
                   Progress& progress) {
  Session session(network.graph, options);
  for (const std::string& notice : session.notices()) progress.notice(notice);
  // Where a record has one label, scores along another axis are a mistake more often than items.
  if (data == nullptr || data->target_width() < 2) return session;
  const ValueId first = session.graph().outputs()[0];
  const int axis = session.record_axis(first).axis;
  if (axis <= 0 || session.shape(first).size() < 3) return session;
  progress.notice(fmt::format("records lie along axis {} of output '{}'; it is turned to have them first",
                              axis, session.graph().value(first).name));
  network.graph = with_records_first(session.graph(), axis, session.shape(first).size());
  network.form.added = true;
  return Session(network.graph, options);
}

void tell_rounding(const Graph& plain, const Session& session, const AdaptOptions& options,
                   const Dataset* data, Progress& progress) {
  if (options.precision == Precision::float32 || data == nullptr || data->size() == 0) return;
  Graph graph = with_choices(plain, options, data, silence());
  if (takes_channels_last(graph, graph.inputs()[0], data->record_shape()))
    graph = with_channels_first(graph, graph.inputs()[0]);
  const Session exact(std::move(graph), session.options());
  std::vector<std::size_t> indices(std::min(compared_records, data->size()));
  std::iota(indices.begin(), indices.end(), std::size_t{0});
  const Batch batch = data->read(indices);
  const auto decisions = [&](const Session& one) {
    const ValueId logits = one.logits();
    const auto rows = static_cast<std::int64_t>(indices.size());
    return one.run(one.bind(batch), std::span(&logits, 1)).at(logits).reshape({rows, -1}).to(DType::float64);
  };
  const Array wanted = decisions(exact), rounded = decisions(session);
  const double most = (wanted - rounded).abs().max().item<double>(),
               scale = wanted.abs().max().item<double>();
  std::string changed;
  if (wanted.size(1) > 1) {
    const auto others = wanted.argmax(1).ne(rounded.argmax(1)).sum().item<std::int64_t>();
    changed = fmt::format("; {} of {} classifications change", others, indices.size());
  }
  progress.notice(
      fmt::format("in {}: decision values of the first {} records differ from float32 by {:.3g} "
                  "at most, where the greatest is {:.3g}{}",
                  to_string(options.precision), indices.size(), most, scale, changed));
}

}  // namespace assay
