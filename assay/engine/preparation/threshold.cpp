#include "assay/engine/preparation/threshold.h"

#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <assay/error.h>
#include <assay/extend/operator_traits.h>
#include <assay/model.h>
#include "assay/engine/evaluation/scores.h"

namespace assay::inline engine {
namespace {

// Of the decision value, where class 1 is to begin.
double limit_of(const Session& session, const Threshold& threshold) {
  const bool probability = session.ends_in_sigmoid();
  if ((probability || !threshold.of_score) && !(threshold.value > 0 && threshold.value < 1))
    fail(Fault::usage, "threshold {:g}: a probability is between 0 and 1{}", threshold.value,
         probability ? "" : "; add of=score for a threshold of the score itself");
  return probability || threshold.of_score ? threshold.value
                                           : std::log(threshold.value) - std::log1p(-threshold.value);
}

// A number that a node adds to its result.
struct Bias {
  ValueId constant = no_value;
  float sign = 1;
};

// The one of a node that has one of its own, for one score a record.
std::optional<Bias> bias_of(const Graph& graph, const Node& node) {
  std::vector<std::size_t> places;
  if ((node.op == "Gemm" && node.real("beta", 1) == 1) || node.op == "Conv") places = {2};
  if (node.op == "Add") places = {0, 1};
  if (node.op == "Sub") places = {1};
  for (const std::size_t place : places) {
    if (place >= node.inputs.size() || !graph.is_constant(node.inputs[place])) continue;
    const ValueId constant = node.inputs[place];
    const Array& array = graph.constant(constant);
    if (array.count() == 1 && array.dtype() == DType::float32 && graph.consumers(constant).size() == 1)
      return Bias{constant, node.op == "Sub" ? -1.0F : 1.0F};
  }
  return std::nullopt;
}

// What computes the value, past nodes that give it another shape.
const Node* computed_by(const Graph& graph, ValueId value) {
  for (NodeId n = graph.producer(value); n != no_node; n = graph.producer(value)) {
    const Node& node = graph.node(n);
    if (node.op != "Identity" && !has_trait(node.op, Trait::reshapes)) return &node;
    value = node.inputs[0];
  }
  return nullptr;
}

Graph shifted(const Graph& graph, ValueId score, float shift, std::string notice, FileForm& form) {
  GraphBuilder edit(graph);
  edit.notice(std::move(notice));
  const Node* const last = computed_by(graph, score);
  if (const std::optional<Bias> bias = last == nullptr ? std::nullopt : bias_of(graph, *last)) {
    form.shifted = graph.value(bias->constant).name;
    form.there = graph.constant(bias->constant);
    form.running = Array::of<float>(form.there.shape(),
                                    std::vector<float>{form.there.item<float>() + bias->sign * shift});
    edit.replace_constant(bias->constant, form.running);
    return edit.build();
  }
  form.shifting = edit.unused_name(graph.value(score).name + "/shifted");
  const ValueId by = edit.constant(edit.unused_name(graph.value(score).name + "/shift"),
                                   Array::of<float>({}, std::vector<float>{shift}));
  edit.insert_after(score, "Add", form.shifting, {by});
  return edit.build();
}

}  // namespace

std::string Threshold::describe() const {
  return fmt::format("the {} {:g}", of_score ? "score" : "probability", value);
}

Graph with_threshold(const Session& session, const Threshold& threshold, FileForm& form) {
  const Graph& graph = session.graph();
  const DecisionScores scores = scores_of(session);
  if (!scores.single)
    fail(Fault::usage,
         "network '{}' does not give one score a record, and a threshold is for one; leave the threshold out",
         graph.name());
  const double limit = limit_of(session, threshold);
  if (scores.value == session.logits() && session.ends_in_sigmoid())
    fail(Fault::unsupported,
         "network '{}' gives a probability that does not come from one score, which could be shifted; name "
         "the task labels[threshold={:g}] and give y as floating-point numbers 0 and 1",
         graph.name(), threshold.value);
  const std::optional<double> begin = score_where(session, limit);
  if (!begin)
    fail(Fault::usage, "threshold {:g}: no record reaches it, by what network '{}' does with its score",
         threshold.value, graph.name());
  return shifted(
      graph, scores.value, static_cast<float>(scores.threshold - *begin),
      fmt::format("class 1 begins above {}: the score of network '{}' is shifted to that, and so are the "
                  "scores and probabilities that are reported",
                  threshold.describe(), graph.name()),
      form);
}

}  // namespace assay::inline engine
