// Arithmetic that a functional model has outside layers: Keras 3's operations (module keras.src.ops) and
// Keras 2's TFOpLambda and SlicingOpLambda.

#include <algorithm>
#include <array>

#include "assay/model/keras/layers/layers.h"
#include "assay/model/keras/layers/operations/operations.h"

namespace assay::keras {
namespace operations {
namespace {

// One operation by its name in snake case, and what translates it.
class OperationKind {
 public:
  using Alone = KerasTensors (*)(Operation& call);
  using Shared = KerasTensors (*)(Operation& call, const char* op);

  constexpr OperationKind(std::string_view name, Alone function) : name_(name), alone_(function) {}
  constexpr OperationKind(std::string_view name, Shared function, const char* op)
      : name_(name), shared_(function), op_(op) {}

  constexpr std::string_view name() const { return name_; }
  KerasTensors build(Operation& call) const { return alone_ ? alone_(call) : shared_(call, op_); }

 private:
  std::string_view name_;
  Alone alone_ = nullptr;
  Shared shared_ = nullptr;
  const char* op_ = nullptr;
};

constexpr std::array kinds{
    OperationKind{"absolute", elementwise, "Abs"},
    OperationKind{"add", arithmetic, "Add"},
    OperationKind{"all", reduction, "all"},
    OperationKind{"amax", reduction, "ReduceMax"},
    OperationKind{"amin", reduction, "ReduceMin"},
    OperationKind{"any", reduction, "any"},
    OperationKind{"arctan", elementwise, "Atan"},
    OperationKind{"argmax", arg_extreme, "ArgMax"},
    OperationKind{"argmin", arg_extreme, "ArgMin"},
    OperationKind{"argsort", sorting_order},
    OperationKind{"atan", elementwise, "Atan"},
    OperationKind{"bias_add", arithmetic, "Add"},
    OperationKind{"broadcast_to", broadcast_to},
    OperationKind{"cast", cast},
    OperationKind{"ceil", elementwise, "Ceil"},
    OperationKind{"clip", clipped},
    OperationKind{"concatenate", joined},
    OperationKind{"cos", elementwise, "Cos"},
    OperationKind{"cosh", elementwise, "Cosh"},
    OperationKind{"cumsum", summed_so_far},
    OperationKind{"divide", arithmetic, "Div"},
    OperationKind{"einsum", product_by_equation},
    OperationKind{"elu", elu},
    OperationKind{"equal", comparison, "Equal"},
    OperationKind{"erf", elementwise, "Erf"},
    OperationKind{"exp", elementwise, "Exp"},
    OperationKind{"expand_dims", expand_dims},
    OperationKind{"expm1", beside_one, "Exp"},
    OperationKind{"flip", flipped},
    OperationKind{"floor", elementwise, "Floor"},
    OperationKind{"gather", take},
    OperationKind{"gelu", gelu},
    OperationKind{"get_item", get_item},
    OperationKind{"greater", comparison, "Greater"},
    OperationKind{"greater_equal", comparison, "GreaterOrEqual"},
    OperationKind{"hard_sigmoid", activated, "hard_sigmoid"},
    OperationKind{"hard_silu", activated, "hard_silu"},
    OperationKind{"hard_tanh", activated, "hard_tanh"},
    OperationKind{"identity", elementwise, "Identity"},
    OperationKind{"l2_normalize", unit_length},
    OperationKind{"leaky_relu", leaky_relu},
    OperationKind{"less", comparison, "Less"},
    OperationKind{"less_equal", comparison, "LessOrEqual"},
    OperationKind{"log", elementwise, "Log"},
    OperationKind{"log1p", beside_one, "Log"},
    OperationKind{"log_sigmoid", activated, "log_sigmoid"},
    OperationKind{"log_softmax", log_softmax},
    OperationKind{"logical_and", comparison, "And"},
    OperationKind{"logical_not", elementwise, "Not"},
    OperationKind{"logical_or", comparison, "Or"},
    OperationKind{"logsumexp", reduction, "ReduceLogSumExp"},
    OperationKind{"matmul", product},
    OperationKind{"max", reduction, "ReduceMax"},
    OperationKind{"maximum", arithmetic, "Max"},
    OperationKind{"mean", reduction, "ReduceMean"},
    OperationKind{"min", reduction, "ReduceMin"},
    OperationKind{"minimum", arithmetic, "Min"},
    OperationKind{"mish", activated, "mish"},
    OperationKind{"moveaxis", moved_axes},
    OperationKind{"multiply", arithmetic, "Mul"},
    OperationKind{"negative", elementwise, "Neg"},
    OperationKind{"norm", norm},
    OperationKind{"normalize", unit_length},
    OperationKind{"not_equal", comparison, "Not"},
    OperationKind{"one_hot", one_hot},
    OperationKind{"ones_like", ones_like},
    OperationKind{"pad", padded},
    OperationKind{"power", arithmetic, "Pow"},
    OperationKind{"prod", reduction, "ReduceProd"},
    OperationKind{"reciprocal", elementwise, "Reciprocal"},
    OperationKind{"reduce_std", deviation},
    OperationKind{"reduce_variance", variance},
    OperationKind{"relu", activated, "relu"},
    OperationKind{"relu6", activated, "relu6"},
    OperationKind{"repeat", repeated},
    OperationKind{"reshape", reshaped},
    OperationKind{"reverse", flipped},
    OperationKind{"roll", rolled},
    OperationKind{"round", elementwise, "Round"},
    OperationKind{"rsqrt", reciprocal_root},
    OperationKind{"selu", activated, "selu"},
    OperationKind{"sigmoid", activated, "sigmoid"},
    OperationKind{"sign", elementwise, "Sign"},
    OperationKind{"silu", activated, "silu"},
    OperationKind{"sin", elementwise, "Sin"},
    OperationKind{"sinh", elementwise, "Sinh"},
    OperationKind{"softmax", softmax},
    OperationKind{"softplus", activated, "softplus"},
    OperationKind{"softsign", activated, "softsign"},
    OperationKind{"sort", sorted},
    OperationKind{"split", parted},
    OperationKind{"sqrt", elementwise, "Sqrt"},
    OperationKind{"square", square},
    OperationKind{"squared_difference", squared_difference},
    OperationKind{"squareplus", activated, "squareplus"},
    OperationKind{"squeeze", squeeze},
    OperationKind{"stack", stacked},
    OperationKind{"std", deviation},
    OperationKind{"subtract", arithmetic, "Sub"},
    OperationKind{"sum", reduction, "ReduceSum"},
    OperationKind{"swapaxes", swapped_axes},
    OperationKind{"take", take},
    OperationKind{"take_along_axis", take_along_axis},
    OperationKind{"tan", elementwise, "Tan"},
    OperationKind{"tanh", activated, "tanh"},
    OperationKind{"tanh_shrink", activated, "tanh_shrink"},
    OperationKind{"tile", tiled},
    OperationKind{"top_k", top_k},
    OperationKind{"transpose", transposition},
    OperationKind{"unstack", unstacked},
    OperationKind{"var", variance},
    OperationKind{"where", choice},
    OperationKind{"zeros_like", zeros_like},
};

const OperationKind* find(std::string_view name) {
  const auto it = std::ranges::find(kinds, name, &OperationKind::name);
  return it == kinds.end() ? nullptr : &*it;
}

}  // namespace
}  // namespace operations

KerasTensors operation(LayerBuilder& layer, std::span<const KerasTensor> inputs) {
  operations::Operation call(layer, inputs);
  const auto* kind = operations::find(call.name());
  if (!kind) {
    layer.unsupported(fmt::format("the operation '{}'", call.name()),
                      "use a layer that does the same, or export the model to ONNX");
  }
  return kind->build(call);
}

}  // namespace assay::keras

namespace assay::inline model {

bool is_keras_operation(const std::string& class_name) {
  return !is_keras_layer(class_name) && keras::operations::find(keras_snake_case(class_name)) != nullptr;
}

}  // namespace assay::inline model
