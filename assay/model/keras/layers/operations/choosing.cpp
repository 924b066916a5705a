// Elements chosen by their positions, and put in the order of their sizes.

#include <nlohmann/json.hpp>

#include <algorithm>

#include "assay/model/keras/arrays.h"
#include "assay/model/keras/layers/operations/operations.h"

namespace assay::keras::operations {
namespace {

// A shape in which one axis is replaced by others.
Shape replaced_axis(Shape shape, std::int64_t axis, Shape::const_iterator first, Shape::const_iterator last) {
  const auto at = shape.erase(shape.begin() + axis);
  shape.insert(at, first, last);
  return shape;
}

void check_positions(const LayerBuilder& layer, const Array& positions, std::int64_t size) {
  if (positions.dtype() != DType::int64) layer.invalid("its indices are not whole numbers");
  for (const std::int64_t at : positions.as<std::int64_t>()) {
    if (at < -size || at >= size) layer.invalid(fmt::format("its index {} is not among {}", at, size));
  }
}

// The same positions of all records.
KerasTensor fixed_positions(Operation& call, const KerasTensor& x, std::int64_t axis,
                            const Array& positions) {
  check_positions(call.layer(), positions, call.layer().known(x, axis));
  KerasTensor result =
      call.result(x, "Gather", {x.value, call.layer().constant("indices", positions)}, {{"axis", axis}});
  const Shape& places = positions.shape();
  result.shape = replaced_axis(x.shape, axis, places.begin(), places.end());
  return result;
}

ValueId whole_positions(Operation& call, const KerasTensor& places) {
  return places.dtype == DType::int64 ? places.value
                                      : call.step("Cast", "_numbers", {places.value}, {{"to", whole_type}});
}

// Rows of a table in the file, by the numbers that records hold.
KerasTensor rows_of_table(Operation& call, const Array& table, const KerasTensor& places) {
  if (table.shape().empty()) call.layer().invalid("takes positions of a single number");
  KerasTensor result =
      call.result(places, "Gather", {call.layer().constant("table", table), whole_positions(call, places)},
                  {{"axis", std::int64_t{0}}});
  result.shape.insert(result.shape.end(), table.shape().begin() + 1, table.shape().end());
  result.dtype = table.dtype();
  return result;
}

// For each record separate rows (tf.gather with batch_dims 1).
KerasTensor own_rows(Operation& call, const KerasTensor& x, const KerasTensor& places) {
  const ValueId upright =
      call.step("Unsqueeze", "_upright", {whole_positions(call, places), call.list("last", {-1})});
  KerasTensor result = call.result(x, "GatherND", {x.value, upright}, {{"batch_dims", std::int64_t{1}}});
  result.shape = replaced_axis(x.shape, 1, places.shape.begin() + 1, places.shape.end());
  return result;
}

// The largest elements along an axis, or the smallest, and their positions.
KerasTensors in_order(Operation& call, const KerasTensor& x, std::int64_t axis, std::int64_t count,
                      bool largest, std::string_view values, std::string_view positions) {
  const std::string_view suffixes[] = {values, positions};
  const auto outputs = call.layer().add("TopK", "", {x.value, call.list("k", {count})},
                                        {{"axis", axis}, {"largest", std::int64_t{largest}}}, suffixes);
  KerasTensors results{x.with(outputs[0]), x.with(outputs[1])};
  for (KerasTensor& result : results) result.shape[axis] = count;
  results[1].dtype = DType::int64;
  return results;
}

KerasTensors all_in_order(Operation& call, std::string_view values, std::string_view positions) {
  const KerasTensor x = call.first();
  // Keras 3 writes its axis down, null for all elements; in Keras 2 an axis that is not there is the last.
  const bool keras2 = call.layer().config().class_name() == "TFOpLambda";
  const std::int64_t axis = keras2 && call.argument(1, {"axis"}).is_null() ? call.own_axis(-1, x.rank())
                                                                           : call.one_axis(1, x.rank());
  const json& direction = call.argument(2, {"direction"});
  const bool falls = direction.is_string() && direction.get<std::string>() == "DESCENDING";
  const std::int64_t size = call.layer().known(x, axis);
  return in_order(call, x, axis, size, falls, values, positions);
}

}  // namespace

KerasTensors take(Operation& call) {
  const Operand x = call.operand(0, {"x", "params"}), places = call.operand(1, {"indices"});
  LayerBuilder& layer = call.layer();
  if (x.constant && places.constant) layer.invalid("both its operands are constants");
  const bool gather = call.name() == "gather";
  const json& axis = call.argument(gather ? 3 : 2, {"axis"});
  if (x.constant) {
    if (x.rank() != 1 && !(axis.is_number_integer() && axis.get<std::int64_t>() == 0) &&
        !(gather && axis.is_null()))
      layer.unsupported("an axis of a table other than the first", "take along axis 0");
    return {rows_of_table(call, x.array, layer.as_keras(places.tensor).without_mask())};
  }
  const KerasTensor tensor = layer.as_keras(x.tensor).without_mask();
  if (places.constant)
    return {fixed_positions(call, tensor, call.one_axis(gather ? 3 : 2, tensor.rank()), places.array)};
  const bool own = gather && call.number(4, {"batch_dims"}, 0) == 1 && call.number(3, {"axis"}, 1) == 1;
  if (!own || tensor.rank() < 2)
    layer.unsupported("positions that records name for each other", "use take_along_axis");
  return {own_rows(call, tensor, layer.as_keras(places.tensor))};
}

KerasTensors take_along_axis(Operation& call) {
  LayerBuilder& layer = call.layer();
  const KerasTensor x = call.first(), places = layer.as_keras(call.tensor(1, {"indices"}));
  const std::int64_t axis = call.one_axis(2, x.rank());
  if (places.rank() != x.rank()) layer.invalid("its indices have another rank than its input");
  for (std::size_t i = 1; i < x.rank(); ++i) {
    if (static_cast<std::int64_t>(i) != axis && layer.known(x, i) != layer.known(places, i))
      layer.unsupported(fmt::format("indices of shape {} for an input of shape {}", to_string(places.shape),
                                    to_string(x.shape)),
                        "give both the same sizes but along the axis");
  }
  KerasTensor result =
      call.result(x, "GatherElements", {x.value, whole_positions(call, places)}, {{"axis", axis}});
  result.shape[axis] = places.shape[axis];
  return {result};
}

KerasTensors top_k(Operation& call) {
  const KerasTensor x = call.first();
  const std::int64_t last = call.own_axis(-1, x.rank());
  const std::int64_t size = call.layer().known(x, last);
  const std::int64_t count = call.whole_number(1, {"k"}).value_or(1);
  if (count < 1 || count > size) call.layer().invalid(fmt::format("takes {} of {} elements", count, size));
  return in_order(call, x, last, count, true, "", "_indices");
}

KerasTensors sorted(Operation& call) { return {all_in_order(call, "", "_indices")[0]}; }

KerasTensors sorting_order(Operation& call) { return {all_in_order(call, "_values", "")[1]}; }

}  // namespace assay::keras::operations
