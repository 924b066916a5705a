#include "assay/inspection/units/unrolled.h"

#include <assay/array_math.h>

#include <algorithm>
#include <tuple>

#include <assay/error.h>
#include <assay/model.h>
#include "assay/engine/evaluation/scores.h"

namespace assay::inspection {
namespace {

using Ints = std::vector<std::int64_t>;

// Writes the cells of one recurrent node.
class Unroller {
 public:
  Unroller(const Graph& graph, const std::string& node, std::int64_t steps)
      : node_(graph.node(graph.find_node(node).value())),
        edit_(graph),
        steps_(steps),
        batch_first_(node_.integer("layout", 0) != 0) {
    if (has(4))
      fail(Fault::unsupported,
           "{}: the gradient of its states needs sequences of one length; inspect activations",
           node_.describe());
  }

  Unrolled unroll() {
    Unrolled result;
    const ValueId input =
        batch_first_ ? edit_.add("Transpose", name("time"), {node_.inputs[0]}, {{"perm", Ints{1, 0, 2}}})
                     : node_.inputs[0];
    const std::string direction = node_.text("direction", "forward");
    const std::size_t directions = direction == "bidirectional" ? 2 : 1;
    std::vector<ValueId> sequences, last, cells;
    for (std::size_t d = 0; d < directions; ++d) {
      const bool backwards = direction == "reverse" || d == 1;
      result.states.push_back(chain(input, d, backwards));
      const auto& states = result.states.back();
      std::vector<ValueId> ordered;
      for (const ValueId state : states) ordered.push_back(edit_.add("Unsqueeze", "", {state, axis(1)}));
      sequences.push_back(edit_.add("Concat", "", ordered, {{"axis", std::int64_t{0}}}));
      last.push_back(backwards ? states.front() : states.back());
      cells.push_back(cell_);
    }
    // [steps, directions, records, hidden], and the last states [directions, records, hidden].
    replace(0, joined(sequences, 1), Ints{2, 0, 1, 3});
    replace(1, joined(last, 0), Ints{1, 0, 2});
    if (node_.op == "LSTM") replace(2, joined(cells, 0), Ints{1, 0, 2});
    result.graph = edit_.build();
    return result;
  }

 private:
  bool has(std::size_t i) const { return i < node_.inputs.size() && node_.inputs[i] != no_value; }
  std::string name(const std::string& what) const { return edit_.unused_name(node_.name + "_" + what); }
  ValueId axis(std::int64_t number) {
    return edit_.constant(name("axis"), Array::of<std::int64_t>({1}, Ints{number}));
  }
  ValueId joined(const std::vector<ValueId>& parts, std::int64_t along) {
    return parts.size() == 1 ? parts[0] : edit_.add("Concat", "", parts, {{"axis", along}});
  }

  // A direction's share of a weight, or of an initial state.
  ValueId share(std::size_t i, std::size_t direction) {
    if (!has(i)) return no_value;
    const std::int64_t d = direction;
    const auto bound = [&](std::int64_t at) {
      return edit_.constant(name("bound"), Array::of<std::int64_t>({1}, Ints{at}));
    };
    const bool state = i == 5 || i == 6;
    const ValueId whole = state && batch_first_
                              ? edit_.add("Transpose", "", {node_.inputs[i]}, {{"perm", Ints{1, 0, 2}}})
                              : node_.inputs[i];
    return edit_.add("Slice", "", {whole, bound(d), bound(d + 1), axis(0)});
  }

  // Hidden states by step.
  std::vector<ValueId> chain(ValueId input, std::size_t d, bool backwards) {
    const bool lstm = node_.op == "LSTM";
    const ValueId W = share(1, d), R = share(2, d), B = share(3, d), P = share(7, d);
    ValueId hidden = share(5, d);
    cell_ = lstm ? share(6, d) : no_value;
    std::map<std::string, Attribute> attributes = node_.attributes;
    attributes.erase("layout"), attributes["direction"] = std::string("forward");
    for (const char* own : {"activations", "activation_alpha", "activation_beta"}) halve(attributes, own, d);
    std::vector<ValueId> states(steps_);
    for (std::int64_t i = 0; i < steps_; ++i) {
      const std::int64_t t = backwards ? steps_ - 1 - i : i;
      const auto bound = [&](std::int64_t at) {
        return edit_.constant(name("bound"), Array::of<std::int64_t>({1}, Ints{at}));
      };
      const ValueId x = edit_.add("Slice", "", {input, bound(t), bound(t + 1), axis(0)});
      std::vector<ValueId> inputs{x, W, R, B, no_value, hidden};
      if (lstm) inputs.insert(inputs.end(), {cell_, P});
      hidden = edit_.value(name("state"));
      std::vector<ValueId> outputs{no_value, hidden};
      if (lstm) outputs.push_back(cell_ = edit_.value(name("cell")));
      edit_.node({name("step"), node_.op, inputs, outputs, attributes});
      states[t] = hidden;
    }
    return states;
  }

  // Attributes that list one part for each direction.
  void halve(std::map<std::string, Attribute>& attributes, const char* key, std::size_t direction) const {
    if (node_.text("direction", "forward") != "bidirectional" || !attributes.contains(key)) return;
    std::visit(
        [&](auto& list) {
          if constexpr (requires {
                          list.begin();
                          list.erase(list.begin());
                          list.resize(1);
                        }) {
            const std::ptrdiff_t half = list.size() / 2;
            if (direction == 0)
              list.resize(list.size() / 2);
            else
              list.erase(list.begin(), list.begin() + half);
          }
        },
        attributes.at(key));
  }

  void replace(std::size_t output, ValueId by, const Ints& to_batch_first) {
    if (output >= node_.outputs.size() || node_.outputs[output] == no_value) return;
    edit_.redirect(node_.outputs[output],
                   batch_first_ ? edit_.add("Transpose", "", {by}, {{"perm", to_batch_first}}) : by);
  }

  const Node& node_;
  GraphBuilder edit_;
  std::int64_t steps_;
  bool batch_first_;
  ValueId cell_ = no_value;  // the last one written
};

}  // namespace

Tensors decision_gradients(const Session& session, const Tensors& given, std::span<const ValueId> values,
                           bool outputs) {
  const DecisionScores scores = outputs ? DecisionScores{.value = session.logits()} : scores_of(session);
  return session.gradients(
      given, std::span(&scores.value, 1),
      [&](const Tensors& read) {
        const Array& value = read.at(scores.value);
        if (scores.single) return (value - scores.threshold).abs().sum() / 2;
        return array::max(value.reshape({value.size(0), -1}), 1).values.sum();
      },
      values);
}

Unrolled unrolled(const Graph& graph, const std::string& node, std::int64_t steps) {
  return Unroller(graph, node, steps).unroll();
}

}  // namespace assay::inspection
