#include "assay/model/token_decision.h"

#include <algorithm>
#include <limits>
#include <string>

#include <assay/error.h>
#include <assay/extend/operator_traits.h>
#include <assay/model.h>
#include "assay/model/real_tokens.h"

namespace assay::inline model {
namespace {

class TokenDecisionEdit {
 public:
  TokenDecisionEdit(const Graph& graph, const TokenDecision& decision)
      : graph_(graph), decision_(decision), edit_(graph), scores_(graph.outputs()[0]) {}

  Graph build() {
    require_scores();
    const ValueId result = answered(at_position());
    std::vector<ValueId> outputs{result};
    outputs.insert(outputs.end(), graph_.outputs().begin(), graph_.outputs().end());
    edit_.set_outputs(std::move(outputs));
    return edit_.build();
  }

 private:
  using Position = TokenDecision::Position;
  using Attributes = std::map<std::string, Attribute>;

  void require_scores() const {
    const Value& scores = graph_.value(scores_);
    if (!scores.shape.empty() && scores.shape.size() != 3)
      fail(Fault::usage,
           "output '{}' is {}; positions decide of scores of tokens, [records, positions, tokens]",
           scores.name, array::to_string(scores.shape));
    const std::int64_t tokens = scores.shape.empty() ? -1 : scores.shape.back();
    for (const std::int64_t answer : decision_.answers) {
      if (tokens >= 0 && answer >= tokens)
        fail(Fault::usage,
             "the answer is token {}, and output '{}' has scores of {} tokens; give a number below that, or "
             "the "
             "tokenizer of this network",
             answer, scores.name, tokens);
    }
  }

  // [records, tokens] of the position; of all positions as they are.
  ValueId at_position() {
    if (decision_.position == Position::all) return scores_;
    const ValueId ids = tokens_input(graph_);
    if (ids == no_value)
      fail(Fault::usage, "network '{}' has no input of tokens, so positions of records are not known",
           graph_.name());
    const ValueId hits = hits_of(ids);
    const ValueId where = add("ArgMax", "position", {hits}, {{"axis", one}, {"keepdims", one}});
    const ValueId picked = add("GatherND", "at_position", {scores_, where}, {{"batch_dims", one}});
    if (decision_.position != Position::number && decision_.position != Position::mask) return picked;
    const ValueId any = nodes_.as_truth(nodes_.reduced("ReduceMax", "hits", hits, 1, true), "has_position");
    return add("Where", "scores",
               {any, picked, nodes_.real("undecided", std::numeric_limits<float>::quiet_NaN())});
  }

  // [records, positions] float: greatest at the position, first among equals.
  ValueId hits_of(ValueId ids) {
    if (decision_.position == Position::mask) return is_token(ids, decision_.mask_token, "is_mask");
    const ValueId real = tokens(ids);
    if (decision_.position == Position::first) return real;
    const ValueId counted = counted_tokens(nodes_, real);
    if (decision_.position == Position::last) return counted;
    ValueId wanted = nodes_.real("wanted", static_cast<float>(decision_.number + 1));
    if (decision_.number < 0) {
      const ValueId all = nodes_.reduced("ReduceMax", "count", counted, 1, true);
      wanted = add("Add", "wanted_place", {all, wanted});
    }
    // A place below 1 is not a token's, though what fills up counts as 0.
    return add("Mul", "is_wanted", {as_float(add("Equal", "equals", {counted, wanted}), "equal"), real});
  }

  ValueId tokens(ValueId ids) {
    const ValueId real = real_tokens(graph_, nodes_, decision_.padding_token);
    return real != no_value ? real : as_float(add("Equal", "is_token", {ids, ids}), "attention");
  }

  ValueId is_token(ValueId ids, std::int64_t token, const std::string& role) {
    return as_float(add("Equal", role, {ids, number(role + "/token", token)}), role + "/number");
  }

  ValueId answered(ValueId scores) {
    if (decision_.answers.empty()) return add("Identity", {}, {scores});
    if (!decision_.contrast)
      return add("Gather", {}, {scores, whole("answers", decision_.answers)}, {{"axis", last}});
    const auto column = [&](const std::string& role, std::int64_t answer) {
      return add("Gather", role, {scores, whole(role + "/token", {answer})}, {{"axis", last}});
    };
    return add("Sub", {}, {column("first", decision_.answers[0]), column("second", decision_.answers[1])});
  }

  ValueId as_float(ValueId id, const std::string& role) { return nodes_.as_float(id, role); }
  // `role`: what the value is; empty: the decision itself.
  ValueId add(const std::string& op, const std::string& role, std::vector<ValueId> inputs,
              Attributes attributes = {}) {
    return nodes_.add(op, role, std::move(inputs), std::move(attributes));
  }
  ValueId whole(const std::string& role, const std::vector<std::int64_t>& numbers) {
    return nodes_.whole(role, numbers);
  }
  // Of the type of tokens, with which it is compared.
  ValueId number(const std::string& role, std::int64_t value) {
    const ValueId ids = tokens_input(graph_);
    const DType type = ids == no_value ? DType::int64 : graph_.value(ids).dtype;
    return edit_.constant(nodes_.name(role), Array::of<std::int64_t>({}, std::vector{value}).to(type));
  }

  static constexpr std::int64_t one = 1, last = -1;

  const Graph& graph_;
  const TokenDecision& decision_;
  GraphBuilder edit_;
  NamedNodes nodes_{edit_, "decision"};
  ValueId scores_;
};

// Rows of a table by the numbers of tokens.
bool is_lookup(const Node& node, ValueId tokens) {
  return node.op == "Gather" && node.inputs.size() > 1 && node.inputs[1] == tokens;
}

}  // namespace

Graph with_token_decision(const Graph& graph, const TokenDecision& decision) {
  return TokenDecisionEdit(graph, decision).build();
}

bool keeps_tokens(const Node& node, ValueId tokens) {
  const bool moves = has_trait(node.op, Trait::reshapes) && node.inputs[0] == tokens;
  return moves || node.op == "Cast" || node.op == "Identity";
}

std::vector<NodeId> table_lookups(const Graph& graph, ValueId tokens) {
  std::vector<ValueId> pending{tokens};
  std::vector<NodeId> found;
  while (!pending.empty()) {
    const ValueId id = pending.back();
    pending.pop_back();
    for (const NodeId n : graph.consumers(id)) {
      const Node& node = graph.node(n);
      if (keeps_tokens(node, id)) pending.push_back(node.outputs[0]);
      const bool looks_up = is_lookup(node, id) && node.integer("axis", 0) == 0;
      if (looks_up && graph.is_constant(node.inputs[0]) && graph.constant(node.inputs[0]).rank() == 2)
        found.push_back(n);
    }
  }
  return found;
}

std::int64_t known_tokens(const Graph& graph) {
  std::vector<ValueId> pending{tokens_input(graph)};
  std::int64_t rows = 0;
  while (!pending.empty()) {
    const ValueId id = pending.back();
    pending.pop_back();
    if (id == no_value) continue;
    for (const NodeId n : graph.consumers(id)) {
      const Node& node = graph.node(n);
      if (keeps_tokens(node, id)) pending.push_back(node.outputs[0]);
      if (!is_lookup(node, id) || !graph.is_constant(node.inputs[0])) continue;
      const std::int64_t table = graph.constant(node.inputs[0]).shape()[0];
      if (node.integer("axis", 0) == 0) rows = rows == 0 ? table : std::min(rows, table);
    }
  }
  return rows;
}

}  // namespace assay::inline model
