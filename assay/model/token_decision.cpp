#include "assay/model/token_decision.h"

#include <algorithm>
#include <limits>
#include <string>

#include <assay/error.h>
#include <assay/model.h>

namespace assay {
namespace {

constexpr std::int64_t onnx_float = 1, onnx_bool = 9;

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
           scores.name, to_string(scores.shape));
    const std::int64_t tokens = scores.shape.empty() ? -1 : scores.shape.back();
    for (const std::int64_t answer : decision_.answers) {
      if (tokens >= 0 && answer >= tokens)
        fail(Fault::usage,
             "the answer is token {}, and output '{}' has scores of {} tokens; the tokenizer is that of "
             "another "
             "network",
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
    const ValueId any = add("Cast", "has_position",
                            {add("ReduceMax", "hits", {hits, whole("hits/axis", {1})}, {{"keepdims", one}})},
                            {{"to", onnx_bool}});
    return add("Where", "scores", {any, picked, edit_.constant(name("undecided"), undecided())});
  }

  // [records, positions] float: greatest at the position, first among equals.
  ValueId hits_of(ValueId ids) {
    if (decision_.position == Position::mask) return is_token(ids, decision_.mask_token, "is_mask");
    const ValueId real = real_tokens(ids);
    if (decision_.position == Position::first) return real;
    // 1, 2, ... of tokens, 0 of what fills up.
    const ValueId counted = add("Mul", "places", {add("CumSum", "counted", {real, number("axis", 1)}), real});
    if (decision_.position == Position::last) return counted;
    ValueId wanted = edit_.constant(
        name("wanted"), Array::of<float>({}, std::vector{static_cast<float>(decision_.number + 1)}));
    if (decision_.number < 0) {
      const ValueId all = add("ReduceMax", "count", {counted, whole("count/axis", {1})}, {{"keepdims", one}});
      wanted = add("Add", "wanted_place", {all, wanted});
    }
    // A place below 1 is no token's, though what fills up counts as 0.
    return add("Mul", "is_wanted", {as_float(add("Equal", "equals", {counted, wanted}), "equal"), real});
  }

  // 1 for tokens of the record, 0 for those that fill up.
  ValueId real_tokens(ValueId ids) {
    if (const auto mask = graph_.find_value("attention_mask");
        mask && std::ranges::find(graph_.inputs(), *mask) != graph_.inputs().end() &&
        graph_.value(*mask).shape.size() == 2)
      return as_float(*mask, "attention");
    if (decision_.padding_token >= 0) {
      const ValueId fills = add("Equal", "is_padding", {ids, number("padding", decision_.padding_token)});
      return as_float(add("Not", "is_token", {fills}), "attention");
    }
    const ValueId same = add("Equal", "is_token", {ids, ids});
    return as_float(same, "attention");
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

  ValueId as_float(ValueId id, const std::string& role) {
    return add("Cast", role, {id}, {{"to", onnx_float}});
  }
  // `role`: what the value is; empty: the decision itself.
  ValueId add(const std::string& op, const std::string& role, std::vector<ValueId> inputs,
              Attributes attributes = {}) {
    return edit_.add(op, name(role), std::move(inputs), std::move(attributes));
  }
  std::string name(const std::string& role) const {
    return edit_.unused_name(role.empty() ? "decision" : "decision/" + role);
  }
  ValueId whole(const std::string& role, const std::vector<std::int64_t>& numbers) {
    return edit_.constant(name(role),
                          Array::of<std::int64_t>({static_cast<std::int64_t>(numbers.size())}, numbers));
  }
  ValueId number(const std::string& role, std::int64_t value) {
    return edit_.constant(name(role), Array::of<std::int64_t>({}, std::vector{value}).to(ids_type()));
  }
  // Of tokens, with which numbers are compared.
  DType ids_type() const {
    const ValueId ids = tokens_input(graph_);
    return ids == no_value ? DType::int64 : graph_.value(ids).dtype;
  }
  static Array undecided() {
    return Array::of<float>({}, std::vector{std::numeric_limits<float>::quiet_NaN()});
  }

  static constexpr std::int64_t one = 1, last = -1;

  const Graph& graph_;
  const TokenDecision& decision_;
  GraphBuilder edit_;
  ValueId scores_;
};

bool is_whole(DType type) { return type == DType::int64 || type == DType::int32; }

}  // namespace

Graph with_token_decision(const Graph& graph, const TokenDecision& decision) {
  return TokenDecisionEdit(graph, decision).build();
}

ValueId tokens_input(const Graph& graph) {
  const auto is_input = [&](ValueId id) {
    return std::ranges::find(graph.inputs(), id) != graph.inputs().end();
  };
  if (const auto named = graph.find_value("input_ids"); named && is_input(*named)) return *named;
  ValueId only = no_value;
  for (const ValueId id : graph.inputs()) {
    if (!is_whole(graph.value(id).dtype)) continue;
    if (only != no_value) return no_value;
    only = id;
  }
  return only;
}

std::int64_t known_tokens(const Graph& graph) {
  std::vector<ValueId> pending{tokens_input(graph)};
  std::int64_t rows = 0;
  while (!pending.empty()) {
    const ValueId id = pending.back();
    pending.pop_back();
    if (id == no_value) continue;
    for (const int n : graph.consumers(id)) {
      const Node& node = graph.node(n);
      if (node.op == "Cast" || node.op == "Identity") pending.push_back(node.outputs[0]);
      if (node.op != "Gather" || node.inputs[1] != id || !graph.is_constant(node.inputs[0])) continue;
      const std::int64_t table = graph.constant(node.inputs[0]).shape()[0];
      if (node.integer("axis", 0) == 0) rows = rows == 0 ? table : std::min(rows, table);
    }
  }
  return rows;
}

}  // namespace assay
