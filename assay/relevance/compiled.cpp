#include "assay/relevance/compiled.h"

#include <assay/array_math.h>

#include <algorithm>
#include <cmath>

#include <assay/error.h>
#include "assay/engine/elements.h"
#include "assay/support/threads.h"

namespace assay::relevance {
namespace {

enum class Way { none, as_gradient, by_ratio, in_proportion };

bool is_one_of(std::string_view op, std::initializer_list<std::string_view> some) {
  return std::ranges::find(some, op) != some.end();
}

// 0 lies within the bounds.
bool clips_around_zero(const Graph& graph, const Node& node) {
  const auto bound = [&](std::size_t i, float none) {
    if (i >= node.inputs.size() || node.inputs[i] == no_value) return none;
    const ValueId id = node.inputs[i];
    const bool known = graph.is_constant(id) && graph.constant(id).dtype() == DType::float32 &&
                       graph.constant(id).count() == 1;
    return known ? graph.constant(id).as<float>()[0] : std::nanf("");
  };
  return bound(1, -1) <= 0 && bound(2, 1) >= 0;
}

// How m passes a node that is not a linear layer.
Way way_of(const Graph& graph, const Node& node) {
  if (is_one_of(node.op, {"Abs", "Concat", "Dropout", "Flatten", "GlobalMaxPool", "Identity", "LeakyRelu",
                          "MaxPool", "Neg", "Pad", "ReduceMax", "Relu", "Reshape", "Slice", "Split",
                          "Squeeze", "Transpose", "Unsqueeze"}))
    return Way::as_gradient;
  if (is_one_of(node.op, {"Atan", "Elu", "Erf", "Gelu", "HardSwish", "Selu", "Softsign", "Tanh"}) ||
      (node.op == "Clip" && clips_around_zero(graph, node)))
    return Way::by_ratio;
  if (is_one_of(node.op, {"Add", "AveragePool", "GlobalAveragePool", "ReduceMean", "ReduceSum", "Sub"}))
    return Way::in_proportion;
  const bool scales =
      (node.op == "Mul" && (graph.is_constant(node.inputs[0]) || graph.is_constant(node.inputs[1]))) ||
      (node.op == "Div" && graph.is_constant(node.inputs[1]));
  return scales ? Way::as_gradient : Way::none;
}

// Where the factor of a value is best applied: after a ReLU that alone reads it, which lets nothing back
// where the value is negative, so that a back end may compute both in one.
ValueId after_rectifier(const Graph& graph, ValueId id, ValueId start) {
  const auto readers = graph.consumers(id);
  const bool result = id == start || std::ranges::find(graph.outputs(), id) != graph.outputs().end();
  if (result || readers.size() != 1) return id;
  const Node& reader = graph.node(readers[0]);
  return reader.op == "Relu" ? reader.outputs[0] : id;
}

}  // namespace

std::unique_ptr<const CompiledRelevance> CompiledRelevance::make(const Session& session, const Start& start,
                                                                 ValueId wanted,
                                                                 std::span<const Passing> passed,
                                                                 bool maxima_share) {
  const Graph& graph = session.graph();
  const std::string& engine = session.options().engine;
  if (passed.empty() || session.group() > 0) return nullptr;
  std::unique_ptr<CompiledRelevance> made(new CompiledRelevance(session, start, wanted));
  SegmentRequest request{.graph = &graph,
                         .nodes = {},
                         .shape_of = [&session](ValueId id) -> const Shape& { return session.shape(id); },
                         .keep = {start.value()},
                         .taps = {},
                         .redistribution = Redistribution{.maxima_share = maxima_share},
                         .threads = session.options().threads > 0 ? session.options().threads
                                                                  : static_cast<int>(available_threads())};
  const auto plain = [&](ValueId id) {
    const Session::RecordAxis at = session.record_axis(id);
    return id == no_value || graph.is_constant(id) || (at.axis == 0 && at.rows == 1);
  };
  for (const Passing& one : passed) {
    const Node& node = graph.node(one.node);
    request.nodes.push_back(one.node);
    // Shape arithmetic of views is not read.
    if (!plain(node.inputs[0]) || !std::ranges::all_of(node.outputs, plain)) return nullptr;
    Redistribution& to = *request.redistribution;
    if (one.part_of_unit) {
      if (one.end != no_value)
        to.stabilised.push_back({after_rectifier(graph, one.end, start.value()), one.epsilon});
      continue;
    }
    switch (way_of(graph, node)) {
      case Way::none:
        return nullptr;
      case Way::as_gradient:
        break;
      case Way::by_ratio:
        to.by_ratio.push_back(node.outputs[0]);
        break;
      case Way::in_proportion:
        to.stabilised.push_back({after_rectifier(graph, node.outputs[0], start.value()), one.epsilon});
        break;
    }
  }
  for (const Backend* backend : backends()) {
    if (!backend->redistributes() || (engine != "auto" && engine != backend->name())) continue;
    double bytes = 0;
    const bool supported = std::ranges::all_of(request.nodes, [&](NodeId n) {
      const Node& node = graph.node(n);
      if (!backend->supports(graph, node, request.shape_of) || backend->stands_alone(node)) return false;
      bytes += backend->kept_bytes(node, request.shape_of);
      return true;
    });
    constexpr double most_bytes = 1e9;  // of all threads
    if (!supported || bytes * request.threads > most_bytes) continue;
    made->segment_ = backend->compile(std::move(request));
    const auto inputs = made->segment_->inputs();
    if (std::ranges::find(inputs, wanted) == inputs.end() || !std::ranges::all_of(inputs, plain))
      return nullptr;
    return made;
  }
  return nullptr;
}

double CompiledRelevance::put_in(std::span<const float> elements, const Target& target, std::size_t record,
                                 std::span<float> gradients) const {
  start_.add_weights(elements, target, record, gradients);
  const double threshold = start_.threshold(target);
  double relevance = 0;
  for (std::size_t i = 0; i < elements.size(); ++i) {
    const double weight = gradients[i];
    if (weight == 0) continue;  // the element may be infinite
    relevance += weight * (elements[i] - threshold);
    if (threshold != 0 && elements[i] != 0)
      gradients[i] = static_cast<float>(weight * (elements[i] - threshold) / elements[i]);
  }
  return relevance;
}

Relevance CompiledRelevance::attribute(const Tensors& values, const Target& target) const {
  Tensors inputs;
  for (const ValueId id : segment_->inputs()) inputs.emplace(id, values.at(id));
  const std::size_t records = inputs.at(wanted_).size(0);
  start_.check(target, records, element_count(session_.shape(start_.value())));
  Relevance result{.values = {}, .start = std::vector<double>(records, 0.0)};
  const RecordObjective chosen{
      .read = {start_.value()},
      .numbers = 1,
      .gradients = [&](std::size_t record, std::span<const float> elements, std::span<float> gradients) {
        result.start[record] = put_in(elements, target, record, gradients);
      }};
  const RecordGradients found = segment_->gradients(inputs, chosen, std::span(&wanted_, 1));
  result.values[wanted_] = found.gradients[0].at(wanted_) * inputs.at(wanted_);
  return result;
}

}  // namespace assay::relevance
