// Tensors joined, split, repeated and padded.

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cctype>
#include <utility>

#include "assay/model/keras/arrays.h"
#include "assay/model/keras/layers/operations/operations.h"

namespace assay::keras::operations {
namespace {

constexpr std::int64_t most_parts = 10'000;  // outputs of one node

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
    const std::int64_t size = stacked ? 1 : part.shape[axis];
    total = total < 0 || size < 0 ? -1 : total + size;
    values.push_back(stacked ? call.step("Unsqueeze", "_row", {part.value, call.list("axes", {axis})})
                             : part.value);
  }
  KerasTensor result = call.result(parts[0], "Concat", values, {{"axis", axis}});
  if (stacked)
    result.shape.insert(result.shape.begin() + axis, total);
  else
    result.shape[axis] = total;
  return {result};
}

// Parts of these sizes; `suffix` names the node and, with a number, the values.
KerasTensors split(Operation& call, const KerasTensor& x, std::int64_t axis,
                   const std::vector<std::int64_t>& sizes, const std::string& suffix) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < sizes.size(); ++i)
    names.push_back(i == 0 ? suffix : fmt::format("{}_part{}", suffix, i));
  const std::vector<std::string_view> suffixes(names.begin(), names.end());
  const auto values =
      call.layer().add("Split", suffix, {x.value, call.list("sizes", sizes)}, {{"axis", axis}}, suffixes);
  KerasTensors results;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    results.push_back(x.with(values[i]));
    results.back().shape[axis] = sizes[i];
  }
  return results;
}

// Position i of an axis repeats[i] times.
KerasTensor repeated_each(Operation& call, const KerasTensor& x, std::int64_t axis,
                          const std::vector<std::int64_t>& repeats) {
  constexpr std::int64_t most = 1'000'000;  // their list is made here
  const std::size_t at = axis;
  if (std::ssize(repeats) != x.shape[at])
    call.layer().invalid(fmt::format("repeats {} of {} positions", repeats.size(), x.shape[at]));
  std::vector<std::int64_t> positions;
  for (std::size_t i = 0; i < repeats.size(); ++i) {
    if (repeats[i] < 0 || repeats[i] > most - std::ssize(positions))
      call.layer().invalid(fmt::format("repeats position {} {} times", i, repeats[i]));
    positions.insert(positions.end(), repeats[i], i);
  }
  if (positions.empty()) call.layer().invalid("repeats nothing");
  KerasTensor result =
      call.result(x, "Gather", {x.value, call.list("positions", positions)}, {{"axis", axis}});
  result.shape[at] = std::ssize(positions);
  return result;
}

}  // namespace

KerasTensors joined(Operation& call) { return put_together(call, false); }

KerasTensors stacked(Operation& call) { return put_together(call, true); }

// Parts of equal size, between positions (Keras 3) or of given sizes (Keras 2).
KerasTensors parted(Operation& call) {
  const KerasTensor x = call.first();
  const auto axes = call.whole_numbers(2, {"axis"});
  const std::int64_t axis = call.own_axis(axes && axes->size() == 1 ? (*axes)[0] : 0, x.rank());
  const std::int64_t size = call.layer().known(x, axis);
  const bool sizes_given = call.layer().config().class_name() == "TFOpLambda";
  const auto given = call.whole_numbers(1, {"indices_or_sections", "num_or_size_splits"});
  if (!given || given->empty()) call.layer().invalid("names no parts");
  std::vector<std::int64_t> sizes;
  const bool count =
      !Operation::bare(call.argument(1, {"indices_or_sections", "num_or_size_splits"})).is_array();
  if (count) {
    const std::int64_t parts = (*given)[0];
    if (parts < 1 || parts > most_parts || size % parts != 0)
      call.layer().invalid(fmt::format("{} positions are not {} parts", size, parts));
    sizes.assign(parts, size / parts);
  } else if (sizes_given) {
    sizes = *given;
  } else {
    std::int64_t before = 0;
    for (std::int64_t at : *given) {
      if (at < -size || at > size) call.layer().invalid(fmt::format("splits {} positions at {}", size, at));
      if (at < 0) at += size;
      sizes.push_back(at - std::exchange(before, at));
    }
    sizes.push_back(size - before);
  }
  std::int64_t sum = 0;
  for (const auto part : sizes) {
    if (part < 1 || part > size)
      call.layer().invalid(fmt::format("a part of {} positions is not there", part));
    sum += part;
  }
  if (sum != size) call.layer().invalid(fmt::format("its parts are {} of {} positions", sum, size));
  return split(call, x, axis, sizes, "");
}

// The positions of an axis one by one, without the axis.
KerasTensors unstacked(Operation& call) {
  const KerasTensor x = call.first();
  const std::int64_t axis = call.own_axis(call.whole_number(2, {"axis"}).value_or(0), x.rank());
  const std::int64_t size = call.layer().known(x, axis);
  if (size > most_parts) call.layer().invalid(fmt::format("takes {} positions apart", size));
  KerasTensors results = split(call, x, axis, std::vector<std::int64_t>(size, 1), "_row");
  const ValueId dropped = call.list("dropped", {axis});
  for (std::size_t i = 0; i < results.size(); ++i) {
    const std::string name = i == 0 ? "" : fmt::format("_part{}", i);
    results[i].value = call.step("Squeeze", name, {results[i].value, dropped});
    reduce_shape(results[i].shape, {axis}, false);
  }
  return results;
}

// Axes of size 1 as long as the shape says; the records stay as many as they are.
KerasTensors broadcast_to(Operation& call) {
  const KerasTensor x = call.first();
  auto target = call.whole_numbers(1, {"shape"});
  if (!target || target->size() < x.rank()) call.layer().invalid("names no shape of its rank or more");
  if (target->size() != x.rank() || ((*target)[0] >= 0 && (*target)[0] != x.shape[0]))
    call.layer().unsupported("a shape that mixes records", "keep the batch as the first axis");
  KerasTensor result = x;
  (*target)[0] = 1;
  for (std::size_t axis = 1; axis < x.rank(); ++axis) {
    const std::int64_t from = call.layer().known(x, axis), to = (*target)[axis];
    if (from == 1)
      result.shape[axis] = call.times(1, to);
    else if (from != to)
      call.layer().invalid(fmt::format("its axis {} has {} positions, not {}", axis, from, to));
  }
  const Shape shape = result.shape;
  result = call.result(x, "Expand", {x.value, call.list("shape", *target)});
  result.shape = shape;
  return {result};
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
    result.shape[axis] = call.times(result.shape[axis], (*repeats)[axis]);
  }
  return {result};
}

// Every position of one axis as often as `repeats` says, next to each other.
KerasTensors repeated(Operation& call) {
  const KerasTensor x = call.first();
  const auto repeats = call.whole_numbers(1, {"repeats"});
  if (!repeats || repeats->empty()) call.layer().invalid("names no repeats");
  const std::int64_t axis = call.one_axis(2, x.rank());
  const std::int64_t size = call.layer().known(x, axis);
  if (repeats->size() > 1) return {repeated_each(call, x, axis, *repeats)};
  std::vector<std::int64_t> tiles(x.rank() + 1, 1), shape{-1};
  tiles[static_cast<std::size_t>(axis) + 1] = (*repeats)[0];
  KerasTensor result = x;
  result.shape[axis] = call.times(size, (*repeats)[0]);
  for (std::size_t i = 1; i < x.rank(); ++i) shape.push_back(call.layer().known(result, i));
  const ValueId apart = call.step("Unsqueeze", "_apart", {x.value, call.list("axes", {axis + 1})});
  const ValueId tiled = call.step("Tile", "_tiles", {apart, call.list("repeats", tiles)});
  return {call.result(result, "Reshape", {tiled, call.list("shape", shape)})};
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
      call.layer().unsupported("a padding that is not a pair for each axis", "name two numbers for each");
    pads[axis] = pair[0].get<std::int64_t>();
    pads[rank + axis] = pair[1].get<std::int64_t>();
    for (const std::int64_t pad : {pads[axis], pads[rank + axis]}) {
      if (pad < 0 || pad > longest_axis) call.layer().invalid("its padding is negative or too large");
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
