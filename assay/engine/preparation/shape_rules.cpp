#include "assay/engine/preparation/shape_rules.h"

#include <algorithm>
#include <array>

#include "assay/engine/operators/parts/window.h"
#include "assay/engine/preparation/shape_rule.h"

namespace assay::inline engine {
namespace shape_rules {
namespace {

using operators::Ints;
using operators::Window;

Shape same(const Rules& r) {
  require(r.operands.size() == 1);
  return r.shape(0);
}

Shape of_both(const Rules& r) {
  require(r.operands.size() == 2);
  return broadcast(r.shape(0), r.shape(1));
}

Shape of_all(const Rules& r) {
  Shape shape = r.shape(0);
  for (std::size_t i = 1; i < r.operands.size(); ++i) shape = broadcast(shape, r.shape(i));
  return shape;
}

Shape clip(const Rules& r) {
  for (std::size_t i = 1; i < r.operands.size(); ++i) require(!r.has(i) || element_count(r.shape(i)) == 1);
  return r.shape(0);
}

Shape dropout(const Rules& r) {
  require(!r.has(2) && (!r.has(1) || element_count(r.shape(1)) == 1));
  return r.shape(0);
}

Shape gelu(const Rules& r) {
  const std::string approximate = r.node.text("approximate", "none");
  require(approximate == "none" || approximate == "tanh");
  return same(r);
}

Shape pad(const Rules& r) {
  Shape shape = r.shape(0);
  const Ints amounts = r.integers(1);
  require(r.node.text("mode", "constant") == "constant" && amounts.size() == 2 * shape.size());
  require(!r.has(3) && (!r.has(2) || element_count(r.shape(2)) == 1));
  for (std::size_t i = 0; i < shape.size(); ++i) {
    for (const std::int64_t amount : {amounts[i], amounts[shape.size() + i]}) {
      require(amount >= -operators::largest_extent && amount <= operators::largest_extent);
      shape[i] += amount;
    }
    require(shape[i] >= 0);
  }
  return shape;
}

Shape of_positions(const Rules& r, std::int64_t channels, Ints kernel) {
  const Shape& x = r.shape(0);
  require(x.size() >= 3 && x.size() <= 5);
  const Ints sizes(x.begin() + 2, x.end());
  KernelContext context;
  const Window window = operators::read_window({r.node, {}, context}, std::move(kernel), sizes);
  Shape result{x[0], channels};
  for (std::size_t i = 0; i < sizes.size(); ++i) result.push_back(window.places(i, sizes[i]));
  return result;
}

Shape convolution(const Rules& r) {
  const Shape &x = r.shape(0), &filter = r.shape(1);
  const std::int64_t group = r.node.integer("group", 1);
  require(x.size() >= 3 && filter.size() == x.size() && filter[0] > 0 && group > 0 && filter[0] % group == 0);
  require(x[1] == filter[1] * group);
  require(!r.has(2) || r.shape(2) == Shape{filter[0]});
  const Ints kernel(filter.begin() + 2, filter.end());
  require(r.node.integers("kernel_shape", kernel) == kernel);
  return of_positions(r, filter[0], kernel);
}

Shape pool(const Rules& r) {
  require(r.rank() >= 3);
  return of_positions(r, r.shape(0)[1], r.node.integers("kernel_shape", {}));
}

Shape global_pool(const Rules& r) {
  require(r.rank() >= 3);
  Shape shape = r.shape(0);
  std::fill(shape.begin() + 2, shape.end(), 1);
  return shape;
}

Shape gemm(const Rules& r) {
  const auto side = [&](std::size_t i, std::string_view transposed) {
    Shape shape = r.shape(i);
    require(shape.size() == 2);
    if (r.node.integer(transposed, 0) != 0) std::swap(shape[0], shape[1]);
    return shape;
  };
  const Shape a = side(0, "transA"), b = side(1, "transB"), result{a[0], b[1]};
  require(a[1] == b[0] && (!r.has(2) || broadcast(r.shape(2), result) == result));
  return result;
}

Shape matmul(const Rules& r) {
  const Shape &a = r.shape(0), &b = r.shape(1);
  require(a.size() >= 2 && b.size() >= 2 && a.back() == b[b.size() - 2]);
  Shape result = broadcast({a.begin(), a.end() - 2}, {b.begin(), b.end() - 2});
  result.insert(result.end(), {a[a.size() - 2], b.back()});
  return result;
}

void require_usual_epsilon(const Rules& r) {
  const float epsilon = r.node.real("epsilon", 1e-5F);
  require(epsilon > 0 && epsilon < 1);
}

Shape batch_normalization(const Rules& r) {
  require_usual_epsilon(r);
  require(r.rank() >= 2 && r.node.integer("training_mode", 0) == 0);
  for (std::size_t i = 1; i <= 4; ++i) require(r.shape(i) == Shape{r.shape(0)[1]});
  return r.shape(0);
}

Shape layer_normalization(const Rules& r) {
  require_usual_epsilon(r);
  const Shape& x = r.shape(0);
  const Shape normalised(x.begin() + r.axis_in(r.node.integer("axis", -1), r.rank()), x.end());
  for (std::size_t i = 1; i < r.operands.size(); ++i) require(!r.has(i) || r.shape(i) == normalised);
  require(r.has(1));
  return x;
}

Shape softmax(const Rules& r) {
  r.axis_in(r.node.integer("axis", -1), r.rank());
  return r.shape(0);
}

Shape reduce(const Rules& r) {
  const std::vector<bool> gone = r.named_axes(r.rank());
  require(!r.integers(1).empty());
  const bool keep = r.node.integer("keepdims", 1) != 0;
  Shape result;
  for (std::size_t i = 0; i < gone.size(); ++i) {
    if (!gone[i] || keep) result.push_back(gone[i] ? 1 : r.shape(0)[i]);
  }
  return result;
}

Shape trees(const Rules& r) {
  require(r.rank() == 2 && r.node.integer("n_targets", 1) > 0);
  return {r.shape(0)[0], r.node.integer("n_targets", 1)};
}

Shape where(const Rules& r) {
  require(r.operands.size() == 3);
  return of_all(r);
}

// What is held as float32 without rounding.
Shape cast(const Rules& r) {
  constexpr std::int64_t float32_type = 1;  // in ONNX
  require(r.node.has("to") && r.node.integer("to", 0) == float32_type);
  return same(r);
}

// The types for which a rule holds, and that of the result.
enum class Types {
  singles,   // all float32
  counts,    // float32, and integers from operand 1 on
  elements,  // any, which stays, and integers from operand 1 on
  compared,  // float32 becomes true or false
  truths,    // all true or false
  chosen,    // true or false, and float32 from operand 1 on
  cast       // any becomes float32
};

DType operand_type(Types types, std::size_t operand) {
  return types == Types::truths || (types == Types::chosen && operand == 0) ? DType::boolean : DType::float32;
}

bool fits(Types types, std::span<const OperandShape> operands) {
  if (types == Types::elements || types == Types::cast) return true;
  const std::size_t count = types == Types::counts ? 1 : operands.size();
  for (std::size_t i = 0; i < count; ++i) {
    if (operands[i].shape != nullptr && operands[i].type != operand_type(types, i)) return false;
  }
  return true;
}

DType result_type(Types types, const OperandShape& first) {
  if (types == Types::elements) return first.type;
  return types == Types::compared || types == Types::truths ? DType::boolean : DType::float32;
}

struct Rule {
  std::string_view op;
  Shape (*shape)(const Rules&);
  Types types = Types::singles;
};

constexpr std::array rules = std::to_array<Rule>({
    {"Abs", same},
    {"Add", of_both},
    {"And", of_both, Types::truths},
    {"AveragePool", pool},
    {"BatchNormalization", batch_normalization},
    {"Cast", cast, Types::cast},
    {"Ceil", same},
    {"Celu", same},
    {"Clip", clip},
    {"Concat", concat},
    {"Conv", convolution},
    {"Cos", same},
    {"Div", of_both},
    {"Dropout", dropout},
    {"Elu", same},
    {"Equal", of_both, Types::compared},
    {"Erf", same},
    {"Exp", same},
    {"Expand", expand, Types::elements},
    {"Flatten", flatten},
    {"Floor", same},
    {"Gather", gather, Types::elements},
    {"GatherElements", gather_elements, Types::elements},
    {"GatherND", gather_nd, Types::elements},
    {"Gelu", gelu},
    {"Gemm", gemm},
    {"GlobalAveragePool", global_pool},
    {"GlobalMaxPool", global_pool},
    {"Greater", of_both, Types::compared},
    {"GreaterOrEqual", of_both, Types::compared},
    {"HardSigmoid", same},
    {"HardSwish", same},
    {"Identity", same, Types::elements},
    {"IsNaN", same, Types::compared},
    {"LayerNormalization", layer_normalization},
    {"LeakyRelu", same},
    {"Less", of_both, Types::compared},
    {"LessOrEqual", of_both, Types::compared},
    {"Log", same},
    {"LogSoftmax", softmax},
    {"MatMul", matmul},
    {"Max", of_all},
    {"MaxPool", pool},
    {"Mean", of_all},
    {"Min", of_all},
    {"Mish", same},
    {"Mul", of_both},
    {"Neg", same},
    {"Not", same, Types::truths},
    {"Or", of_both, Types::truths},
    {"PRelu", of_both},
    {"Pad", pad, Types::counts},
    {"Pow", of_both},
    {"Reciprocal", same},
    {"ReduceMax", reduce, Types::counts},
    {"ReduceMean", reduce, Types::counts},
    {"ReduceMin", reduce, Types::counts},
    {"ReduceSum", reduce, Types::counts},
    {"Relu", same},
    {"Reshape", reshape, Types::elements},
    {"Round", same},
    {"Selu", same},
    {"Sigmoid", same},
    {"Sign", same},
    {"Sin", same},
    {"Slice", slice, Types::elements},
    {"Softmax", softmax},
    {"Softplus", same},
    {"Softsign", same},
    {"Sqrt", same},
    {"Squeeze", squeeze, Types::elements},
    {"Sub", of_both},
    {"Sum", of_all},
    {"Tanh", same},
    {"Transpose", transpose, Types::elements},
    {"TreeEnsemble", trees},
    {"Unsqueeze", unsqueeze, Types::elements},
    {"Where", where, Types::chosen},
    {"Xor", of_both, Types::truths},
});
static_assert(std::ranges::is_sorted(rules, {}, &Rule::op));

std::vector<ResultForm> by_rule(const Rules& r) {
  if (r.operands.empty()) return {};
  if (r.node.op == "Split") return split(r);
  const auto rule = std::ranges::lower_bound(rules, r.node.op, {}, &Rule::op);
  const auto named = std::ranges::count_if(r.node.outputs, [](ValueId id) { return id != no_value; });
  const bool known = rule != rules.end() && rule->op == r.node.op && named == 1 &&
                     r.node.outputs[0] != no_value && fits(rule->types, r.operands);
  if (!known) return {};
  return {{rule->shape(r), result_type(rule->types, r.operands[0])}};
}

}  // namespace
}  // namespace shape_rules

std::vector<ResultForm> result_forms(const Node& node, std::span<const OperandShape> operands) {
  try {
    std::vector<ResultForm> results = shape_rules::by_rule({node, operands});
    for (const ResultForm& result : results) check_size(result.shape, size_of(result.type));
    return results;
  } catch (const Error&) {
    return {};
  }
}

}  // namespace assay::inline engine
