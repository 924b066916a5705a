#include "assay/relevance/paths.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <assay/array_math.h>
#include <assay/error.h>
#include <assay/model.h>
#include "assay/model/bodies.h"
#include "assay/relevance/methods.h"

namespace assay::relevance {
namespace {

// A branch or loop, and the value that tells what it does: its condition, the numbers of its rounds, or what
// it scans along an axis.
struct Choice {
  std::string node, op;
  ValueId told_by;
  std::int64_t axis = 0;

  std::int64_t taken(const Array& value) const {
    if (op == "If") return value.to(DType::int64).item<std::int64_t>();
    if (op == "Loop") return value.count();
    return value.size(axis < 0 ? axis + value.rank() : axis);
  }
};

// By the first value that is scanned, which comes after the states.
Choice choice_of_scan(const Node& node) {
  const std::int64_t scanned = node.integer("num_scan_inputs", 1) + node.integer("captured", 0);
  const std::vector<std::int64_t> axes = node.integers("scan_input_axes", {});
  return {node.name, node.op, node.inputs.at(node.inputs.size() - static_cast<std::size_t>(scanned)),
          axes.empty() ? 0 : axes[0]};
}

// A network whose branches are taken as far as is known.
class PartOfPath {
 public:
  PartOfPath(Graph graph, const SessionOptions& options) : graph_(std::move(graph)) {
    std::map<std::string, ValueId> rounds;
    const Graph counted = with_counted_rounds(graph_, rounds);
    for (const Node& node : counted.nodes()) {
      if (node.op == "If") choices_.push_back({node.name, node.op, node.inputs[0]});
      if (node.op == "Loop") choices_.push_back({node.name, node.op, rounds.at(node.name)});
      if (node.op == "Scan" && chooses_path(node)) choices_.push_back(choice_of_scan(node));
    }
    session_.emplace(choices_.empty() ? graph_ : counted, options);
  }

  const Session& session() const { return *session_; }
  bool is_whole() const { return choices_.empty(); }

  // What every choice is for these records.
  std::vector<std::int64_t> taken(const Tensors& inputs) const {
    std::vector<ValueId> wanted;
    for (const Choice& choice : choices_) wanted.push_back(choice.told_by);
    std::ranges::sort(wanted);
    wanted.erase(std::unique(wanted.begin(), wanted.end()), wanted.end());
    const Tensors values = session_->run(inputs, wanted);
    std::vector<std::int64_t> all;
    for (const Choice& choice : choices_) all.push_back(choice.taken(values.at(choice.told_by)));
    return all;
  }

  PartOfPath& after(const std::vector<std::int64_t>& taken) {
    std::unique_ptr<PartOfPath>& next = next_[taken];
    if (next) return *next;
    std::map<std::string, bool> conditions;
    std::map<std::string, std::int64_t> rounds;
    for (std::size_t i = 0; i < choices_.size(); ++i) {
      if (choices_[i].op == "If")
        conditions[choices_[i].node] = taken[i] != 0;
      else
        rounds[choices_[i].node] = taken[i];
    }
    next = std::make_unique<PartOfPath>(with_rounds(with_conditions(graph_, conditions), rounds),
                                        session_->options());
    next->require_fewer(choices_);
    return *next;
  }

  Attribution& method(const MakeMethod& make, const AttributionOptions& options) {
    if (!method_) method_ = make(*session_, options);
    return *method_;
  }

 private:
  // Loops of many rounds stay as they are.
  void require_fewer(const std::vector<Choice>& before) const {
    for (const Choice& choice : choices_) {
      if (std::ranges::find(before, choice.node, &Choice::node) == before.end()) continue;
      fail(Fault::unsupported,
           "node '{}' ({}): it runs too many rounds for relevance to pass, or none where it collects what "
           "rounds make; choose gradient-x-input or integrated-gradients",
           choice.node, choice.op);
    }
  }

  Graph graph_;
  std::vector<Choice> choices_;
  std::optional<Session> session_;
  std::map<std::vector<std::int64_t>, std::unique_ptr<PartOfPath>> next_;
  std::unique_ptr<Attribution> method_;
};

// The value of the same name in another graph.
std::optional<ValueId> same_value(const Graph& from, ValueId id, const Graph& to) {
  return to.find_value(from.value(id).name);
}

class OfPathTaken final : public Attribution {
 public:
  OfPathTaken(const Session& session, AttributionOptions options, MakeMethod make)
      : session_(session), options_(std::move(options)), make_(std::move(make)) {}

  Relevance attribute(const Tensors& given, const Target& target,
                      std::span<const ValueId> wanted) const override {
    const Tensors inputs = inputs_of(session_, given);
    PartOfPath& part = part_for(inputs);
    const Graph& graph = part.session().graph();
    std::vector<ValueId> there;
    std::map<ValueId, ValueId> here;
    for (const ValueId id : wanted) {
      const auto same = same_value(session_.graph(), id, graph);
      if (!same) continue;
      there.push_back(*same);
      here[*same] = id;
    }
    Relevance found = part.method(make_, options_for(graph)).attribute(moved(inputs, graph), target, there);
    Relevance result{.values = {}, .start = std::move(found.start)};
    for (const auto& [id, relevance] : found.values)
      if (const auto own = here.find(id); own != here.end()) result.values[own->second] = relevance;
    add_zeros(inputs, wanted, result);
    return result;
  }

  std::vector<ValueId> reads(std::span<const ValueId>) const override { return {session_.logits()}; }
  std::string describe() const override {
    AttributionOptions nothing = options_;
    nothing.wanted = {session_.logits()};
    return make_(session_, nothing)->describe() + ", through the branches taken and the rounds run";
  }

 private:
  PartOfPath& part_for(const Tensors& inputs) const {
    if (!first_) first_ = std::make_unique<PartOfPath>(session_.graph(), session_.options());
    PartOfPath* part = first_.get();
    while (!part->is_whole()) part = &part->after(part->taken(moved(inputs, part->session().graph())));
    return *part;
  }

  Tensors moved(const Tensors& inputs, const Graph& graph) const {
    Tensors there;
    for (const auto& [id, tensor] : inputs)
      if (const auto same = same_value(session_.graph(), id, graph)) there.emplace(*same, tensor);
    return there;
  }

  AttributionOptions options_for(const Graph& graph) const {
    AttributionOptions options = options_;
    options.wanted.clear();
    for (const ValueId id : options_.wanted)
      if (const auto same = same_value(session_.graph(), id, graph)) options.wanted.push_back(*same);
    return options;
  }

  // Of values that the path leaves out.
  void add_zeros(const Tensors& inputs, std::span<const ValueId> wanted, Relevance& result) const {
    std::vector<ValueId> missing(wanted.begin(), wanted.end());
    std::erase_if(missing, [&](ValueId id) { return result.values.contains(id); });
    if (missing.empty()) return;
    const Tensors values = session_.run(inputs, missing);
    for (const ValueId id : missing) result.values[id] = array::zeros_like(values.at(id), DType::float32);
  }

  const Session& session_;
  AttributionOptions options_;
  MakeMethod make_;
  mutable std::unique_ptr<PartOfPath> first_;
};

}  // namespace

bool chooses_path(const Node& node) {
  return node.op == "If" || node.op == "Loop" || (node.op == "Scan" && !node.has("batched"));
}

bool chooses_paths(const Graph& graph) { return std::ranges::any_of(graph.nodes(), chooses_path); }

std::unique_ptr<Attribution> of_path_taken(const Session& session, const AttributionOptions& options,
                                           MakeMethod make) {
  return std::make_unique<OfPathTaken>(session, options, std::move(make));
}

}  // namespace assay::relevance
