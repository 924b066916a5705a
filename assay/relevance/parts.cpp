#include "assay/relevance/parts.h"

#include <assay/array_math.h>

#include <algorithm>

#include <assay/error.h>
#include "assay/engine/elements.h"

namespace assay::relevance {
namespace {

struct Extent {
  std::int64_t begin, end;
};
using Extents = std::vector<Extent>;  // by axis

constexpr std::int64_t most_channels = 4;  // that may be along the last axis
constexpr std::int64_t usual_patch = 4;

// -1: there are none.
std::int64_t channel_axis(const Shape& record) {
  if (record.size() < 3) return -1;
  const bool last = record.back() <= most_channels && record.front() > most_channels;
  return last ? std::ssize(record) - 1 : 0;
}

std::vector<Extent> windows_along(std::int64_t length, std::int64_t patch, std::int64_t stride) {
  std::vector<Extent> all;
  for (std::int64_t begin = 0; begin < length; begin += stride) {
    all.push_back({begin, std::min(begin + patch, length)});
    if (all.back().end == length) break;
  }
  return all;
}

Part elements_in(const Extents& box, const Shape& record) {
  Part elements{0};
  for (std::size_t axis = 0; axis < box.size(); ++axis) {
    Part longer;
    for (const std::int64_t offset : elements) {
      for (std::int64_t i = box[axis].begin; i < box[axis].end; ++i)
        longer.push_back(offset * record[axis] + i);
    }
    elements = std::move(longer);
  }
  return elements;
}

std::vector<int> neuron_axes(const Session& session, ValueId id, const Array& value) {
  const auto layer = std::ranges::find(session.layers(), id, &Layer::value);
  if (layer != session.layers().end()) return layer->neuron_axes;
  return value.rank() > 1 ? std::vector<int>{1} : std::vector<int>{};
}

}  // namespace

std::vector<Part> windows_of(const Shape& record, std::int64_t patch, std::int64_t stride) {
  const std::int64_t length = patch > 0            ? patch
                              : record.size() == 1 ? 1
                                                   : usual_patch,
                     step = stride > 0 ? stride : length;
  std::vector<Extents> boxes{{}};
  for (std::int64_t axis = 0; axis < std::ssize(record); ++axis) {
    const std::int64_t size = record[axis];
    const std::vector<Extent> along =
        axis == channel_axis(record) ? std::vector<Extent>{{0, size}} : windows_along(size, length, step);
    std::vector<Extents> more;
    for (const Extents& box : boxes) {
      for (const Extent& extent : along) {
        more.push_back(box);
        more.back().push_back(extent);
      }
    }
    boxes = std::move(more);
  }
  std::vector<Part> parts;
  for (const Extents& box : boxes) parts.push_back(elements_in(box, record));
  return parts;
}

std::vector<Part> neurons_of(const Session& session, ValueId id, const Array& value) {
  Array number = array::zeros(Shape(value.shape().size(), 1), DType::int64);
  std::int64_t count = 1;
  for (const int axis : neuron_axes(session, id, value)) {
    Shape shape(value.shape().size(), 1);
    shape[axis] = value.size(axis);
    number = number * value.size(axis) + array::arange(value.size(axis), DType::int64).reshape(shape);
    count *= value.size(axis);
  }
  const Array of_elements =
      RecordRows(session, id, value).rows(number.expand(value.shape()).to(DType::float32));
  std::vector<Part> parts(count);
  const float* const first = of_elements.elements<float>();
  for (std::int64_t i = 0; i < of_elements.size(1); ++i) parts[first[i]].push_back(i);
  return parts;
}

RecordRows::RecordRows(const Session& session, ValueId id, const Array& value)
    : axis_(session.record_axis(id).axis), type_(value.dtype()) {
  if (axis_ < 0 || !is_real(type_)) {
    fail(
        Fault::unsupported,
        "value '{}' has no parts to take away: {}; explain another value, or use 'epsilon'",
        session.graph().value(id).name,
        axis_ < 0 ? "which of its elements belong to which record is not known" : "it holds no real numbers");
  }
  moved_ = value.movedim(axis_, 0).shape();
  const std::int64_t rows = std::max<std::int64_t>(1, session.record_axis(id).rows);
  record_.assign(moved_.begin() + 1, moved_.end());
  if (rows > 1) record_.insert(record_.begin(), rows);
}

Array RecordRows::rows(const Array& value) const {
  std::int64_t width = 1;
  for (const std::int64_t size : record_) width *= size;
  const Array moved = in_memory(value.movedim(axis_, 0), DType::float32);
  return moved.reshape({moved.count() / std::max<std::int64_t>(1, width), width});
}

Array RecordRows::value(const Array& rows) const {
  return rows.to(type_).reshape(moved_).movedim(0, axis_).contiguous();
}

}  // namespace assay::relevance
