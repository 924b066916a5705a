// x[key]

#include <nlohmann/json.hpp>

#include <algorithm>
#include <limits>

#include "assay/model/keras/layers/operations/operations.h"

namespace assay::keras::operations {
namespace {

// One item of an index: what it takes of its axis.
struct Taken {
  std::int64_t start = 0, stop = std::numeric_limits<std::int64_t>::max(), step = 1;
  bool drops = false;  // one position, whose axis goes
};

// Beyond this no axis has positions, and sums stay in range.
std::int64_t bounded(std::int64_t at) { return std::clamp(at, -longest_axis, longest_axis); }

Taken read_slice(Operation& call, const json& item) {
  if (item.is_number_integer()) {
    const std::int64_t at = bounded(item.get<std::int64_t>());
    return {.start = at,
            .stop = at == -1 ? std::numeric_limits<std::int64_t>::max() : at + 1,
            .step = 1,
            .drops = true};
  }
  const json& slice = item.is_object() && item.contains("config") ? item["config"] : item;
  if (!slice.is_object() || !(slice.contains("start") || slice.contains("stop") || slice.contains("step")))
    call.layer().unsupported("an index that is neither a number nor a slice", "use slices");
  const auto read = [&](const char* key) -> std::optional<std::int64_t> {
    if (!slice.contains(key) || slice[key].is_null()) return std::nullopt;
    const json& value = Operation::bare(slice[key]);
    const json& inner = value.is_object() && value.contains("value") ? value["value"] : value;
    if (inner.is_null()) return std::nullopt;
    if (!inner.is_number_integer())
      call.layer().unsupported("an index that is computed", "use fixed indices");
    return bounded(inner.get<std::int64_t>());
  };
  Taken result;
  result.step = read("step").value_or(1);
  if (result.step == 0) call.layer().invalid("a slice has step 0");
  const bool back = result.step < 0;
  result.start = read("start").value_or(back ? -1 : 0);
  result.stop = read("stop").value_or(back ? std::numeric_limits<std::int64_t>::min()
                                           : std::numeric_limits<std::int64_t>::max());
  return result;
}

// How many positions of `size` a slice takes; -1 when unknown.
std::int64_t count_taken(const Taken& slice, std::int64_t size) {
  if (slice.drops) return 1;
  if (size < 0) return -1;
  const auto place = [&](std::int64_t at, std::int64_t low, std::int64_t high) {
    if (at < 0 && at >= -size) at += size;
    return std::clamp(at, low, high);
  };
  if (slice.step > 0) {
    const std::int64_t from = place(slice.start, 0, size), to = place(slice.stop, 0, size);
    return std::max<std::int64_t>((to - from + slice.step - 1) / slice.step, 0);
  }
  const std::int64_t from = place(slice.start, -1, size - 1);
  const std::int64_t to = slice.stop < -size ? -1 : place(slice.stop, -1, size - 1);
  return std::max<std::int64_t>((from - to - slice.step - 1) / -slice.step, 0);
}

bool is_ellipsis(const json& item) {
  return item.is_object() && item.value("class_name", "") == "__ellipsis__";
}

}  // namespace

// x[key], with numbers, slices, "..." and new axes.
KerasTensors get_item(Operation& call) {
  const KerasTensor x = call.first();
  const json& key = call.argument(1, {"key", "slice_spec"});
  const bool one = !key.is_array() && !(key.is_object() && key.value("class_name", "") == "__tuple__");
  const json items = one ? json::array({key}) : Operation::bare(key);
  std::size_t named = 0;
  for (const json& item : items) named += !item.is_null() && !is_ellipsis(item);
  if (named > x.rank()) call.layer().invalid("its index has more axes than its input");
  std::vector<std::int64_t> starts, ends, axes, steps, dropped, fresh;
  Shape sliced = x.shape;
  std::size_t axis = 0, out = 0;
  bool elided = false;
  for (const json& item : items) {
    if (is_ellipsis(item)) {
      if (elided) call.layer().invalid("its index has two '...'");
      elided = true;
      out += x.rank() - named;
      axis += x.rank() - named;
      named = x.rank();
    } else if (item.is_null()) {
      fresh.push_back(out++);
    } else {
      const Taken slice = read_slice(call, item);
      const bool all = slice.start == 0 && slice.step == 1 &&
                       slice.stop == std::numeric_limits<std::int64_t>::max() && !slice.drops;
      if (axis == 0 && !all) call.layer().unsupported("an index of records", "take all records");
      if (!all) {
        starts.push_back(slice.start);
        ends.push_back(slice.stop);
        steps.push_back(slice.step);
        axes.push_back(axis);
        sliced[axis] = count_taken(slice, x.shape[axis]);
        if (sliced[axis] == 0) call.layer().invalid("its index takes nothing");
      }
      if (slice.drops)
        dropped.push_back(axis);
      else
        ++out;
      ++axis;
    }
  }
  KerasTensor result = x.without_mask();
  const auto value = [&](const char* op, const char* suffix, std::vector<ValueId> operands) {
    result.value = call.step(op, suffix, std::move(operands));
  };
  if (!axes.empty()) {
    value("Slice", dropped.empty() && fresh.empty() ? "" : "_sliced",
          {result.value, call.list("starts", starts), call.list("ends", ends), call.list("axes", axes),
           call.list("steps", steps)});
  }
  result.shape = sliced;
  if (!dropped.empty()) {
    value("Squeeze", fresh.empty() ? "" : "_dropped", {result.value, call.list("dropped", dropped)});
    for (std::size_t i = dropped.size(); i-- > 0;) result.shape.erase(result.shape.begin() + dropped[i]);
  }
  if (!fresh.empty()) {
    if (fresh[0] == 0) call.layer().unsupported("a new axis before the batch", "keep the batch first");
    value("Unsqueeze", "", {result.value, call.list("fresh", fresh)});
    for (const auto place : fresh) result.shape.insert(result.shape.begin() + place, 1);
  }
  if (axes.empty() && fresh.empty()) result = call.result(x, "Identity", {x.value});
  return {result};
}

}  // namespace assay::keras::operations
