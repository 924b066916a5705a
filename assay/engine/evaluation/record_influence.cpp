#include "assay/engine/evaluation/record_influence.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include <assay/error.h>
#include <assay/extend/operator_traits.h>
#include "assay/engine/elements.h"
#include "assay/engine/evaluation/decision.h"
#include "assay/engine/evaluation/records_apart.h"
#include "assay/engine/preparation/plan.h"

namespace assay::inline engine {
namespace {

constexpr std::int64_t most_compared = 2;
// Of the value's greatest magnitude. Records together with others pass through the same sums as with copies;
// alone they may pass through other ones.
constexpr double within_same_sums = 1e-6, within_rounding = 1e-3;

bool is_one_of(const Node& node, std::span<const std::string_view> some) {
  return std::ranges::find(some, node.op) != some.end();
}

bool has_operator(const Graph& graph, std::span<const std::string_view> some) {
  return std::ranges::any_of(graph.nodes(), [&](const Node& node) { return is_one_of(node, some); });
}

// That run to get these values.
std::vector<NodeId> nodes_before(const Graph& graph, std::span<const ValueId> values) {
  std::vector<bool> there(graph.values().size());
  for (const ValueId id : graph.value_ids()) there[index_of(id)] = graph.is_constant(id);
  for (const ValueId id : graph.inputs()) there[index_of(id)] = true;
  return make_plan(graph, there, values).nodes;
}

bool draws_numbers(const Graph& graph) {
  constexpr std::array<std::string_view, 6> random{"RandomNormal",      "RandomNormalLike", "RandomUniform",
                                                   "RandomUniformLike", "Bernoulli",        "Multinomial"};
  return has_operator(graph, random);
}

// Whether rounding of sums may be enlarged to steps.
bool round(const Graph& graph, std::span<const ValueId> values) {
  constexpr std::array<std::string_view, 6> all{
      "QuantizeLinear", "DynamicQuantizeLinear", "Round", "Floor", "Ceil", "Sign"};
  return std::ranges::any_of(nodes_before(graph, values),
                             [&](NodeId n) { return is_one_of(graph.node(n), all); });
}

// Whether back ends run all of it: what they compile passes through for each record by itself.
bool run_apart(const Session& session) {
  const std::vector<PlannedSegment> plan = session.plan();
  return !plan.empty() && std::ranges::none_of(plan, [](const PlannedSegment& segment) {
    return segment.engine == "reference";
  });
}

// Whether no matrix is multiplied to get the values.
bool are_quick(const Graph& graph, std::span<const ValueId> values) {
  return std::ranges::none_of(nodes_before(graph, values),
                              [&](NodeId n) { return is_weighted(graph.node(n).op); });
}

class Comparison {
 public:
  Comparison(const Session& session, const Tensors& given, std::vector<ValueId> compared)
      : session_(session), given_(given), compared_(std::move(compared)) {
    for (const auto& [id, tensor] : given) {
      const Session::RecordAxis at = session.record_axis(id);
      if (at.axis >= 0)
        records_ = std::max(records_, tensor.size(at.axis) / std::max<std::int64_t>(1, at.rows));
    }
    records_ = std::min(records_, most_compared);
  }

  std::optional<RecordInfluence> find() {
    if (records_ < 2 || compared_.empty()) return std::nullopt;
    std::vector<std::int64_t> all(static_cast<std::size_t>(records_));
    for (std::int64_t r = 0; r < records_; ++r) all[r] = r;
    const bool rounds = round(session_.graph(), compared_);
    const Tensors together = run(all);
    for (std::int64_t r = 0; r < records_; ++r) {
      const Tensors copies = run(std::vector<std::int64_t>(all.size(), r));
      compare(together, r, copies, r, r, within_same_sums);
      // Their number and a record's position differ from those of the record alone.
      if (!rounds) compare(copies, r, run({r}), 0, r, within_rounding);
    }
    return found_;
  }

  // Whether all values could be compared and are the same, number by number: those of masks make others look
  // small.
  bool agree() {
    by_number_ = true;
    return records_ >= 2 && !find() && !differ_;
  }

 private:
  Tensors run(const std::vector<std::int64_t>& records) const {
    Tensors chosen;
    for (const auto& [id, tensor] : given_) {
      const Session::RecordAxis at = session_.record_axis(id);
      std::vector<std::int64_t> rows;
      for (const std::int64_t record : records) {
        for (std::int64_t i = 0; i < at.rows; ++i) rows.push_back(record * at.rows + i);
      }
      chosen.emplace(id, at.axis < 0 ? tensor : picked(tensor, rows, at.axis));
    }
    return session_.run(chosen, compared_);
  }

  // A record's numbers of a value, or what is the same for all.
  std::vector<double> of_record(ValueId id, const Array& value, std::int64_t record) const {
    const Session::RecordAxis at = session_.record_axis(id);
    if (at.axis < 0) return doubles_of(value);
    if (value.rank() <= at.axis || (record + 1) * at.rows > value.size(at.axis)) return {};
    std::vector<std::int64_t> rows;
    for (std::int64_t i = 0; i < at.rows; ++i) rows.push_back(record * at.rows + i);
    return doubles_of(picked(value, rows, at.axis));
  }

  void compare(const Tensors& a, std::int64_t of_a, const Tensors& b, std::int64_t of_b, std::int64_t record,
               double tolerance) {
    for (const ValueId id : compared_) {
      const std::vector<double> x = of_record(id, a.at(id), of_a), y = of_record(id, b.at(id), of_b);
      // Shapes that follow from contents are not compared.
      differ_ |= x.size() != y.size() || x.empty();
      if (x.size() != y.size()) continue;
      double change = 0, scale = 0;
      for (std::size_t i = 0; i < x.size(); ++i) {
        const double apart = std::abs(x[i] - y[i]), size = std::max(std::abs(x[i]), std::abs(y[i]));
        if (!std::isfinite(size)) {
          differ_ |= x[i] != y[i] && !(std::isnan(x[i]) && std::isnan(y[i]));
          continue;
        }
        differ_ |= by_number_ && apart > tolerance * size;
        change = std::max(change, apart);
        scale = std::max(scale, size);
      }
      if (!(change > tolerance * scale) || (found_ && found_->change >= change)) continue;
      found_ = RecordInfluence{.value = session_.graph().value(id).name,
                               .record = static_cast<std::size_t>(record),
                               .change = change,
                               .scale = scale,
                               .cause = cause()};
    }
  }

  std::string cause() const {
    const Graph& graph = session_.graph();
    constexpr std::array<std::string_view, 1> dynamic{"DynamicQuantizeLinear"};
    if (has_operator(graph, dynamic))
      return "dynamic quantisation takes one scale for all records of a batch; a network with fixed scales, "
             "or "
             "batches of one record, give each record its own result";
    for (const ValueId id : graph.inputs()) {
      const int axis = session_.record_axis(id).axis;
      if (axis > 0)
        return fmt::format(
            "axis {} of input '{}' is taken for that of the records, since it is open; where it "
            "is a width or a length, fix it in the export or give the records' own axis",
            axis, graph.value(id).name);
    }
    return "a softmax, mean, sum or product over the axis of records, or an open first axis that holds the "
           "steps of one sequence and not records; export the network for records along the first axis";
  }

  const Session& session_;
  const Tensors& given_;
  std::int64_t records_ = 0;
  std::vector<ValueId> compared_;
  std::optional<RecordInfluence> found_;
  bool by_number_ = false, differ_ = false;
};

std::vector<ValueId> decision_values(const Session& session) {
  std::vector<ValueId> values;
  const ValueId logits = session.logits();
  for (const ValueId id : {logits, deciding_output(session.graph(), logits)}) {
    if (session.record_axis(id).axis >= 0 && std::ranges::find(values, id) == values.end())
      values.push_back(id);
  }
  return values;
}

}  // namespace

std::optional<RecordInfluence> find_record_influence(const Session& session, const Tensors& given) {
  if (draws_numbers(session.graph())) return std::nullopt;
  const auto may_mix = values_that_may_mix(session);
  if (may_mix && may_mix->empty()) return std::nullopt;
  try {
    const auto agree = [&] { return Comparison(session, given, *may_mix).agree(); };
    const bool quick = may_mix && are_quick(session.graph(), *may_mix);
    if ((quick && agree()) || run_apart(session) || (may_mix && !quick && agree())) return std::nullopt;
    return Comparison(session, given, decision_values(session)).find();
  } catch (const Error& error) {
    if (error.fault() == Fault::interrupted) throw;
    return std::nullopt;  // what does not run says so where it is needed
  }
}

std::optional<RecordInfluence> find_record_influence(const Session& session) {
  const SessionOptions& options = session.options();
  Tensors given;
  try {
    given = tiny_batch(session.graph(), {options.record_shape, options.record_shapes}, most_compared,
                       {.integers = 2});
  } catch (const Error& error) {
    if (error.fault() == Fault::interrupted) throw;
    return std::nullopt;  // the records' shape is not known
  }
  return find_record_influence(session, given);
}

}  // namespace assay::inline engine
