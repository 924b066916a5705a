#include <nlohmann/json.hpp>

#include <numeric>

#include "assay/model/keras/layers/operations/operations.h"
#include "assay/model/keras/layers/operations/pair.h"

namespace assay::keras::operations {

// The sides of a product, in Keras's layout.
KerasTensors product(Operation& call) {
  LayerBuilder& layer = call.layer();
  KerasTensor a = layer.as_keras(call.tensor(0, {"x1", "a"})),
              b = layer.as_keras(call.tensor(1, {"x2", "b"}));
  if (a.rank() < 2 || b.rank() < 2) layer.unsupported("a product of vectors", "use Dot");
  const auto turn = [&](KerasTensor& x, const char* name) {
    std::vector<std::int64_t> order(x.rank());
    std::iota(order.begin(), order.end(), 0);
    std::swap(order[x.rank() - 1], order[x.rank() - 2]);
    x.value = call.step("Transpose", name, {x.value}, {{"perm", order}});
    std::swap(x.shape[x.rank() - 1], x.shape[x.rank() - 2]);
  };
  if (call.flag(2, {"transpose_a"}, false)) turn(a, "_turned_left");
  if (call.flag(3, {"transpose_b"}, false)) turn(b, "_turned_right");
  if (a.rank() == 2 && b.rank() == 2)
    layer.unsupported("a product of records with each other", "keep records apart, with Dot");
  KerasTensor result = call.result(a, "MatMul", {a.value, b.value});
  Shape left(a.shape.begin(), a.shape.end() - 2), right(b.shape.begin(), b.shape.end() - 2);
  result.shape = broadcast_shape(layer, left, right);
  result.shape.push_back(a.shape[a.rank() - 2]);
  result.shape.push_back(b.shape.back());
  return {result};
}

// A product by an equation of which every tensor has the records first ("bid,bjd->bij").
KerasTensors product_by_equation(Operation& call) {
  LayerBuilder& layer = call.layer();
  const json& named = layer.config().value("subscripts");
  std::string equation = named.is_string() ? named.get<std::string>() : "";
  std::erase(equation, ' ');
  const std::size_t arrow = equation.find("->");
  if (arrow == std::string::npos || equation.find('.') != std::string::npos)
    layer.unsupported(fmt::format("the equation '{}'", equation), "write all axes and the result");
  KerasTensor result;
  std::vector<ValueId> values;
  std::map<char, std::int64_t> sizes;
  std::size_t at = 0;
  for (std::size_t i = 0; at <= arrow; ++i) {
    const std::string side = equation.substr(at, std::min(equation.find(',', at), arrow) - at);
    at += side.size() + 1;
    const KerasTensor x = layer.as_keras(call.tensor(i, {}));
    if (side.size() != x.rank() || side[0] != equation[0])
      layer.unsupported(fmt::format("the equation '{}'", equation),
                        "give every tensor all its axes, the records first");
    for (std::size_t axis = 0; axis < side.size(); ++axis) sizes[side[axis]] = x.shape[axis];
    values.push_back(x.value);
    if (i == 0) result = x;
  }
  const std::string made = equation.substr(arrow + 2);
  if (made.empty() || made[0] != equation[0])
    layer.unsupported(fmt::format("the equation '{}'", equation), "keep the records as the first axis");
  result = call.result(result, "Einsum", values, {{"equation", equation}});
  result.shape.clear();
  for (const char letter : made) {
    if (!sizes.contains(letter))
      layer.invalid(fmt::format("its equation '{}' has '{}' on one side only", equation, letter));
    result.shape.push_back(sizes[letter]);
  }
  return {result};
}

}  // namespace assay::keras::operations
