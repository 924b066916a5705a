#include "assay/engine/evaluation/records_apart.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <optional>
#include <vector>

#include <assay/extend/operator_traits.h>
#include "assay/engine/elements.h"

namespace assay::inline engine {
namespace {

// Records lie along axis 0 of a value, each in adjacent rows, and depend on the same record of the inputs; or
// a value follows from shapes alone, of which the number of records is one.
enum class Depends { on_nothing, on_shapes, on_records };

class Proof {
 public:
  explicit Proof(const Session& session)
      : session_(session), graph_(session.graph()), depends_(graph_.values().size()) {}

  std::optional<std::vector<ValueId>> remaining() && {
    for (const ValueId id : graph_.inputs()) {
      if (!set_input(id)) return std::nullopt;
    }
    for (const Node& node : graph_.nodes()) {
      if (!look_at(node)) return std::nullopt;
    }
    std::ranges::sort(may_mix_);
    may_mix_.erase(std::ranges::unique(may_mix_).begin(), may_mix_.end());
    return std::move(may_mix_);
  }

 private:
  bool set_input(ValueId id) {
    const Session::RecordAxis at = session_.record_axis(id);
    set(id, Depends::on_records);
    return at.axis == 0 && at.rows == 1;
  }

  bool look_at(const Node& node) {
    // How many there are, not what they hold.
    const bool counts = node.op == "Shape" || node.op == "Size";
    const bool reads = std::ranges::any_of(node.inputs, [&](ValueId id) { return of_records(id); });
    const std::size_t before = may_mix_.size();
    const bool apart = counts || !reads || keeps_apart(node);
    if (!apart) may_mix_.resize(before, no_value);  // its results are compared, not what it reads
    const bool fixed = !reads && std::ranges::all_of(
                                     node.inputs, [&](ValueId id) { return id == no_value || is_fixed(id); });
    for (const ValueId id : node.outputs) {
      if (id == no_value) continue;
      set(id, fixed ? Depends::on_nothing : counts || !reads ? Depends::on_shapes : Depends::on_records);
      if (apart) continue;
      if (!holds_records_in_front(id)) return false;
      may_mix_.push_back(id);
    }
    return true;
  }

  void set(ValueId id, Depends how) { depends_[index_of(id)] = how; }
  bool depends(ValueId id, Depends how) const { return id != no_value && depends_[index_of(id)] == how; }
  bool of_records(ValueId id) const { return depends(id, Depends::on_records); }
  // A constant, or computed of constants alone.
  bool is_fixed(ValueId id) const { return depends(id, Depends::on_nothing); }
  // The same for all records if it is the same for any number of them.
  bool is_compared(ValueId id) {
    if (!depends(id, Depends::on_shapes)) return false;
    may_mix_.push_back(id);
    return true;
  }
  const Shape& shape(ValueId id) const {
    return graph_.is_constant(id) ? graph_.constant(id).shape() : session_.shape(id);
  }
  int rank(ValueId id) const { return static_cast<int>(shape(id).size()); }

  // Whether a value that does not depend on records is the same for each record where it is broadcast to so
  // many axes.
  bool is_shared(ValueId id, int axes) {
    if (id == no_value || is_compared(id)) return true;
    if (!is_fixed(id) || (shape(id).empty() && !graph_.is_constant(id))) return false;  // or not known
    return rank(id) < axes || (rank(id) == axes && shape(id).front() == 1);
  }

  // Of operators with data as their first operand and parameters after it.
  bool has_data_in_front(const Node& node) {
    const int axes = rank(node.inputs[0]);
    if (!of_records(node.inputs[0]) || axes < 1) return false;
    return std::all_of(node.inputs.begin() + 1, node.inputs.end(),
                       [&](ValueId id) { return id == no_value || is_fixed(id) || is_compared(id); });
  }
  static bool has_one_result(const Node& node) {
    return std::all_of(node.outputs.begin() + 1, node.outputs.end(),
                       [](ValueId id) { return id == no_value; });
  }

  bool broadcasts_within_records(const Node& node) {
    const int axes = rank(node.outputs[0]);
    return axes >= 1 && std::ranges::all_of(node.inputs, [&](ValueId id) {
             return of_records(id) ? rank(id) == axes : is_shared(id, axes);
           });
  }

  // Whether so many axes leave out the first one. Nothing: they are all there are.
  static bool leaves_records(const std::optional<Shape>& axes, int of) {
    return axes && !axes->empty() &&
           std::ranges::all_of(*axes, [&](std::int64_t axis) { return (axis < 0 ? axis + of : axis) > 0; });
  }
  bool leaves_records(const Node& node, const char* attribute, std::int64_t fallback) const {
    return leaves_records(Shape{node.integer(attribute, fallback)}, rank(node.inputs[0]));
  }
  // Integers of an operand, where they are constant.
  std::optional<Shape> numbers(const Node& node, std::size_t at) const {
    if (node.inputs.size() <= at || !graph_.is_constant(node.inputs[at])) return std::nullopt;
    const std::vector<double> all = doubles_of(graph_.constant(node.inputs[at]));
    return Shape(all.begin(), all.end());
  }

  bool multiplies_within_records(const Node& node) const {
    const ValueId left = node.inputs[0], right = node.inputs[1];
    if (of_records(left) && of_records(right)) return rank(left) == rank(right) && rank(left) >= 3;
    if (of_records(left)) return rank(left) >= 2 && is_fixed(right) && rank(right) == 2;
    return rank(right) >= 3 && is_fixed(left) && rank(left) == 2;
  }

  // Whether the first axis stays what it is, by its size or since the others hold a record; or is of whole
  // records before and after, whose elements keep their order.
  bool reshapes_within_records(const Node& node) const {
    if (!of_records(node.inputs[0]) || of_records(node.inputs[1])) return false;
    if (holds_records_in_front(node.inputs[0]) && holds_records_in_front(node.outputs[0])) return true;
    const std::optional<Shape> target = numbers(node, 1);
    const Shape& record = session_.shape(node.inputs[0]);
    if (!target || target->empty() || record.empty() || node.integer("allowzero", 0) != 0) return false;
    if (target->front() == 0) return true;
    const bool known =
        std::all_of(target->begin() + 1, target->end(), [](std::int64_t size) { return size > 0; });
    const auto product = [](auto first, auto last) {
      return std::accumulate(first, last, std::int64_t{1}, std::multiplies<>());
    };
    return target->front() == -1 && known &&
           product(target->begin() + 1, target->end()) == product(record.begin() + 1, record.end());
  }

  bool pads_within_records(const Node& node) const {
    const std::optional<Shape> amounts = numbers(node, 1);
    return amounts && !amounts->empty() && amounts->front() == 0 && (*amounts)[amounts->size() / 2] == 0 &&
           (node.inputs.size() < 4 || node.inputs[3] == no_value);
  }

  bool holds_records_in_front(ValueId id) const {
    const Session::RecordAxis at = session_.record_axis(id);
    return at.axis == 0 && at.rows >= 1;
  }
  // As many rows of each record, in the same order.
  bool has_as_many_rows(ValueId a, ValueId b) const {
    return holds_records_in_front(a) && holds_records_in_front(b) &&
           session_.record_axis(a).rows == session_.record_axis(b).rows;
  }
  bool has_rows_as_before(const Node& node) const {
    return has_as_many_rows(node.inputs[0], node.outputs[0]);
  }
  bool expands_within_records(const Node& node) const {
    return of_records(node.inputs[0]) && !of_records(node.inputs[1]) && has_rows_as_before(node) &&
           rank(node.inputs[0]) == rank(node.outputs[0]);
  }
  // By positions of the same record.
  bool picks_within_records(const Node& node) const {
    const bool by_axis = node.op == "GatherElements", by_batch = node.op == "GatherND";
    if ((!by_axis && !by_batch) || !of_records(node.inputs[0]) || !of_records(node.inputs[1])) return false;
    if (by_batch) return node.integer("batch_dims", 0) > 0;
    return leaves_records(node, "axis", 0) && has_as_many_rows(node.inputs[0], node.inputs[1]);
  }
  // Rows of a table that is the same for all.
  bool looks_up(const Node& node) const {
    return is_fixed(node.inputs[0]) && of_records(node.inputs[1]) && rank(node.inputs[1]) >= 1 &&
           node.integer("axis", 0) == 0;
  }

  // Few records remain as many by a scale that is almost 1, though they are mixed.
  bool scales_records(const Node& node) const {
    if (node.inputs.size() < 3 || node.inputs[2] == no_value) return false;
    if (!graph_.is_constant(node.inputs[2])) return true;
    const std::vector<double> scales = doubles_of(graph_.constant(node.inputs[2]));
    const int axes = rank(node.inputs[0]);
    Shape scaled(scales.size());
    std::iota(scaled.begin(), scaled.end(), 0);
    scaled = node.integers("axes", scaled);
    for (std::size_t i = 0; i < std::min(scaled.size(), scales.size()); ++i)
      if ((scaled[i] < 0 ? scaled[i] + axes : scaled[i]) == 0 && scales[i] != 1) return true;
    return false;
  }

  // As many records as before: along their axis nothing is interpolated. Sizes may be computed from shapes.
  bool resizes_within_records(const Node& node) const {
    const bool crops = node.text("coordinate_transformation_mode", "half_pixel") == "tf_crop_and_resize";
    return !crops && !scales_records(node) && of_records(node.inputs[0]) && has_rows_as_before(node) &&
           std::none_of(node.inputs.begin() + 1, node.inputs.end(),
                        [&](ValueId id) { return of_records(id); });
  }

  // Numbers of the same record, with nothing, or with what is the same for all.
  bool joins_within_records(const Node& node) {
    return leaves_records(node, "axis", 0) &&
           std::ranges::any_of(node.inputs, [&](ValueId id) { return of_records(id); }) &&
           std::ranges::all_of(node.inputs,
                               [&](ValueId id) { return of_records(id) || is_empty(id) || is_compared(id); });
  }
  bool is_empty(ValueId id) const {
    const Shape& of = shape(id);
    return std::ranges::find(of, 0) != of.end();
  }

  bool moves_within_records(const Node& node) {
    const std::string& op = node.op;
    if (op == "Resize") return resizes_within_records(node);
    if (op == "Reshape") return reshapes_within_records(node);
    if (op == "Expand") return expands_within_records(node);
    if ((op == "Gather" && looks_up(node)) || picks_within_records(node)) return true;
    const int axes = rank(node.inputs[0]);
    if (op == "Concat") return joins_within_records(node);
    if (!has_data_in_front(node)) return false;
    if (op == "Flatten") return node.integer("axis", 1) == 1;
    if (op == "Transpose") return node.integers("perm", {-1}).front() == 0;
    if (op == "Split" || op == "Gather") return leaves_records(node, "axis", 0);
    if (op == "Slice") return leaves_records(numbers(node, 3), axes);
    if (op == "Squeeze") return leaves_records(numbers(node, 1), axes);
    if (op == "Unsqueeze") return leaves_records(numbers(node, 1), rank(node.outputs[0]));
    if (op == "Pad") return pads_within_records(node);
    return op == "DepthToSpace" || op == "SpaceToDepth";
  }

  bool normalises_within_records(const Node& node) const {
    const std::string& op = node.op;
    if (op == "LayerNormalization") return leaves_records(node, "axis", -1) && has_one_result(node);
    if (op == "LpNormalization") return leaves_records(node, "axis", -1);
    if (op == "BatchNormalization") return node.integer("training_mode", 0) == 0;
    return op == "GroupNormalization" || op == "InstanceNormalization" || op == "LRN";
  }

  // A scale for each number along an axis, and a dropout that is told to draw, do not depend on a record
  // alone.
  bool passes_within_records(const Node& node, const OperatorTraits& known) {
    return known.has(Trait::by_channel) && has_one_result(node) && has_data_in_front(node) &&
           leaves_records(node, "axis", 1) && (node.op != "Dropout" || node.inputs.size() < 3);
  }

  bool keeps_apart(const Node& node) {
    const OperatorTraits* const known = traits_of(node.op);
    if (known == nullptr) return false;
    switch (known->kind) {
      case OperatorKind::activation:
      case OperatorKind::arithmetic:
      case OperatorKind::function:
      case OperatorKind::truth:
        return broadcasts_within_records(node);
      case OperatorKind::pass_through:
        return passes_within_records(node, *known);
      case OperatorKind::convolution:
        return has_data_in_front(node);
      case OperatorKind::pooling:
        return has_data_in_front(node) && has_one_result(node);
      case OperatorKind::normalisation:
        return has_data_in_front(node) && has_one_result(node) && normalises_within_records(node);
      case OperatorKind::softmax:
        return has_data_in_front(node) && leaves_records(node, "axis", -1);
      case OperatorKind::reduction:
        return has_data_in_front(node) && leaves_records(numbers(node, 1), rank(node.inputs[0]));
      case OperatorKind::dense:
        if (node.op == "MatMul") return multiplies_within_records(node);
        return node.op == "Gemm" && has_data_in_front(node) && node.integer("transA", 0) == 0 &&
               (node.inputs.size() < 3 || is_shared(node.inputs[2], 2));
      case OperatorKind::movement:
        return node.op == "Where" ? broadcasts_within_records(node) : moves_within_records(node);
      default:
        return false;
    }
  }

  const Session& session_;
  const Graph& graph_;
  std::vector<Depends> depends_;
  std::vector<ValueId> may_mix_;
};

}  // namespace

std::optional<std::vector<ValueId>> values_that_may_mix(const Session& session) {
  return Proof(session).remaining();
}

}  // namespace assay::inline engine
