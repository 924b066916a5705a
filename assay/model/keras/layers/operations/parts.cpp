// Tensors joined, split, repeated and padded.

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cctype>
#include <utility>

#include "assay/model/keras/arrays.h"
#include "assay/model/keras/layers/operations/operations.h"

namespace assay::keras::operations {
namespace {

KerasTensors put_together(Operation& call, bool stacked) {
  KerasTensors parts = call.tensors(0, {"xs", "x", "values"});
  const auto axes = call.whole_numbers(1, {"axis"});
  const std::int64_t given = axes && axes->size() == 1 ? (*axes)[0] : 0;
  const std::size_t rank = parts[0].rank() + (stacked ? 1 : 0);
  const std::int64_t axis = call.own_axis(given, rank);
  std::vector<ValueId> values;
  std::int64_t total = 0;
  for (KerasTensor& part : parts) {
    part = call.layer().as_keras(part);
    if (part.rank() + (stacked ? 1 : 0) != rank) call.layer().invalid("its inputs have different ranks");
    const std::int64_t size = stacked ? 1 : part.shape[static_cast<std::size_t>(axis)];
    total = total < 0 || size < 0 ? -1 : total + size;
    values.push_back(stacked ? call.step("Unsqueeze", "_row", {part.value, call.list("axes", {axis})})
                             : part.value);
  }
  KerasTensor result = call.result(parts[0], "Concat", values, {{"axis", axis}});
  if (stacked)
    result.shape.insert(result.shape.begin() + axis, total);
  else
    result.shape[static_cast<std::size_t>(axis)] = total;
  return {result};
}

}  // namespace

KerasTensors joined(Operation& call) { return put_together(call, false); }

KerasTensors stacked(Operation& call) { return put_together(call, true); }

// Parts of equal size, between positions (Keras 3) or of given sizes (Keras 2).
KerasTensors parted(Operation& call) {
  const KerasTensor x = call.first();
  const auto axes = call.whole_numbers(2, {"axis"});
  const std::int64_t axis = call.own_axis(axes && axes->size() == 1 ? (*axes)[0] : 0, x.rank());
  const std::int64_t size = call.layer().known(x, static_cast<std::size_t>(axis));
  const bool sizes_given = call.layer().config().class_name() == "TFOpLambda";
  const auto given = call.whole_numbers(1, {"indices_or_sections", "num_or_size_splits"});
  if (!given || given->empty()) call.layer().invalid("names no parts");
  std::vector<std::int64_t> sizes;
  const bool count =
      !Operation::bare(call.argument(1, {"indices_or_sections", "num_or_size_splits"})).is_array();
  if (count) {
    const std::int64_t parts = (*given)[0];
    if (parts < 1 || parts > 10'000 || size % parts != 0)
      call.layer().invalid(fmt::format("{} positions are not {} parts", size, parts));
    sizes.assign(static_cast<std::size_t>(parts), size / parts);
  } else if (sizes_given) {
    sizes = *given;
  } else {
    std::int64_t before = 0;
    for (const auto at : *given) sizes.push_back(at - std::exchange(before, at));
    sizes.push_back(size - before);
  }
  std::int64_t sum = 0;
  for (const auto part : sizes) {
    if (part < 1 || part > size)
      call.layer().invalid(fmt::format("a part of {} positions is not there", part));
    sum += part;
  }
  if (sum != size) call.layer().invalid(fmt::format("its parts are {} of {} positions", sum, size));
  std::vector<std::string> names;
  for (std::size_t i = 0; i < sizes.size(); ++i) names.push_back(i == 0 ? "" : fmt::format("_part{}", i));
  const std::vector<std::string_view> suffixes(names.begin(), names.end());
  const auto values =
      call.layer().add("Split", "", {x.value, call.list("sizes", sizes)}, {{"axis", axis}}, suffixes);
  KerasTensors results;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    results.push_back(x.with(values[i]));
    results.back().shape[static_cast<std::size_t>(axis)] = sizes[i];
  }
  return results;
}

// Every axis as many times as `repeats` says, the records once.
KerasTensors tiled(Operation& call) {
  const KerasTensor x = call.first();
  auto repeats = call.whole_numbers(1, {"repeats", "multiples"});
  if (!repeats || repeats->size() > x.rank()) call.layer().invalid("names no repeats for its axes");
  repeats->insert(repeats->begin(), x.rank() - repeats->size(), 1);
  if ((*repeats)[0] != 1) call.layer().unsupported("repeating records", "keep records once");
  KerasTensor result = call.result(x, "Tile", {x.value, call.list("repeats", *repeats)});
  for (std::size_t axis = 1; axis < x.rank(); ++axis) {
    const std::int64_t count = (*repeats)[axis];
    if (count < 1 || count > most_copies) call.layer().invalid("its repeats are no counts");
    if (result.shape[axis] > 0) result.shape[axis] *= count;
  }
  return {result};
}

// Every position of one axis several times, beside each other.
KerasTensors repeated(Operation& call) {
  const KerasTensor x = call.first();
  const auto count = call.whole_numbers(1, {"repeats"}), axes = call.whole_numbers(2, {"axis"});
  if (!count || count->size() != 1 || !axes || axes->size() != 1)
    call.layer().unsupported("repeats that differ, or without an axis", "name one number and one axis");
  const std::int64_t axis = call.own_axis((*axes)[0], x.rank()), times = (*count)[0];
  if (times < 1 || times > most_copies) call.layer().invalid("its repeats are no count");
  const std::int64_t size = call.layer().known(x, static_cast<std::size_t>(axis));
  std::vector<std::int64_t> repeats(x.rank() + 1, 1), shape(x.rank(), 0);
  repeats[static_cast<std::size_t>(axis) + 1] = times;
  shape[static_cast<std::size_t>(axis)] = size * times;
  const ValueId apart = call.step("Unsqueeze", "_apart", {x.value, call.list("axes", {axis + 1})});
  const ValueId tiles = call.step("Tile", "_tiles", {apart, call.list("repeats", repeats)});
  KerasTensor result = call.result(x, "Reshape", {tiles, call.list("shape", shape)});
  result.shape[static_cast<std::size_t>(axis)] = size * times;
  return {result};
}

// Zeros around, or another number.
KerasTensors padded(Operation& call) {
  const KerasTensor x = call.first();
  const json& given = Operation::bare(call.argument(1, {"pad_width", "paddings"}));
  const std::size_t rank = x.rank();
  std::vector<std::int64_t> pads(2 * rank, 0);
  KerasTensor result = x;
  for (std::size_t axis = 0; axis < rank; ++axis) {
    const json pair = given.is_array() && given.size() == rank ? Operation::bare(given[axis]) : json();
    if (!pair.is_array() || pair.size() != 2 || !pair[0].is_number_integer() || !pair[1].is_number_integer())
      call.layer().unsupported("a padding that is no pair for each axis", "name two numbers for each");
    pads[axis] = pair[0].get<std::int64_t>();
    pads[rank + axis] = pair[1].get<std::int64_t>();
    for (const std::int64_t pad : {pads[axis], pads[rank + axis]}) {
      if (pad < 0 || pad > most_copies) call.layer().invalid("its padding is negative or too large");
    }
    if (result.shape[axis] >= 0) result.shape[axis] += pads[axis] + pads[rank + axis];
  }
  if (pads[0] != 0 || pads[rank] != 0) call.layer().unsupported("padding records", "pad other axes");
  const json& mode = call.argument(2, {"mode"});
  std::string name = mode.is_string() ? mode.get<std::string>() : "constant";
  std::ranges::transform(name, name.begin(), [](unsigned char c) { return std::tolower(c); });
  if (name != "constant") call.layer().unsupported(fmt::format("mode '{}'", name), "pad with a constant");
  const auto value = static_cast<float>(call.number(3, {"constant_values"}, 0));
  const Shape shape = result.shape;
  result = call.result(x, "Pad",
                       {x.value, call.list("pads", pads), call.layer().constant("filling", scalar(value))},
                       {{"mode", std::string("constant")}});
  result.shape = shape;
  return {result};
}

}  // namespace assay::keras::operations
