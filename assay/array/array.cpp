#include <assay/array.h>

#include <algorithm>
#include <cstring>
#include <numeric>

#include <assay/error.h>
#include "assay/array/loops.h"
#include "assay/array/tape.h"
#include "assay/support/memory.h"

namespace assay::array {
std::size_t size_of(DType dtype) {
  return array::with_type(dtype, [](auto zero) { return sizeof zero; });
}

bool is_real(DType dtype) { return dtype == DType::float32 || dtype == DType::float64 || is_short(dtype); }

std::string to_string(DType dtype) {
  switch (dtype) {
    case DType::float32:
      return "float32";
    case DType::float64:
      return "float64";
    case DType::int64:
      return "int64";
    case DType::int32:
      return "int32";
    case DType::int8:
      return "int8";
    case DType::uint8:
      return "uint8";
    case DType::boolean:
      return "bool";
    case DType::float16:
      return "float16";
    case DType::bfloat16:
      return "bfloat16";
    case DType::int16:
      return "int16";
    case DType::uint16:
      return "uint16";
    case DType::uint32:
      return "uint32";
    case DType::uint64:
      return "uint64";
  }
  return "?";
}

std::string to_string(const Shape& shape) {
  std::string text = "[";
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (i > 0) text += ", ";
    text += shape[i] < 0 ? "N" : std::to_string(shape[i]);
  }
  return text + "]";
}

std::int64_t element_count(const Shape& shape) {
  std::int64_t count = 1;
  bool overflow = false;
  for (const std::int64_t dim : shape) {
    if (dim < 0) fail(Fault::resources, "shape {} has a negative dimension", to_string(shape));
    std::int64_t product = 0;
    overflow |= __builtin_mul_overflow(count, dim, &product);
    count = product;
  }
  if (std::find(shape.begin(), shape.end(), 0) != shape.end()) return 0;
  if (overflow) fail(Fault::resources, "shape {} has more elements than 64 bits can count", to_string(shape));
  return count;
}

namespace {

Shape contiguous_strides(const Shape& shape) {
  Shape strides(shape.size());
  std::int64_t step = 1;
  for (std::size_t axis = shape.size(); axis-- > 0;) {
    strides[axis] = step;
    step *= std::max<std::int64_t>(1, shape[axis]);
  }
  return strides;
}

// Blocks are refused above the limit on memory for every caller.
std::shared_ptr<std::byte> allocate(std::size_t bytes) {
  if (bytes > memory_limit())
    fail(Fault::resources,
         "one array would take {:.3g} GB, more than the limit of {:.3g} GB; raise the memory limit",
         bytes / 1e9, memory_limit() / 1e9);
  return {static_cast<std::byte*>(allocate_block(std::max<std::size_t>(bytes, 1))), FreeBlock()};
}

std::size_t bytes_of(DType dtype, const Shape& shape) {
  std::size_t bytes = 0;
  if (__builtin_mul_overflow(static_cast<std::size_t>(element_count(shape)), size_of(dtype), &bytes))
    fail(Fault::resources, "shape {} has more bytes than 64 bits can count", to_string(shape));
  return bytes;
}

// Whether axes in this shape can be looked at in another one; the strides that they have there.
bool restrided(const Array& array, const Shape& shape, Shape& strides) {
  strides.assign(shape.size(), 0);
  std::size_t to = shape.size();
  for (std::size_t end = array.shape().size(); end > 0;) {
    // Axes [begin, end) that lie one after the other.
    std::size_t begin = end - 1;
    std::int64_t size = array.shape()[begin];
    const std::int64_t step = array.strides()[begin];
    while (begin > 0 && (array.shape()[begin - 1] == 1 || array.strides()[begin - 1] == step * size))
      size *= array.shape()[--begin];
    std::int64_t reached = 1;
    while (to > 0 && (reached < size || shape[to - 1] == 1)) {
      strides[--to] = step * reached;
      reached *= shape[to];
    }
    if (reached != size) return false;
    end = begin;
  }
  return to == 0 || std::all_of(shape.begin(), shape.begin() + to, [](auto size) { return size == 1; });
}

// The gradient of a view: zeros, with the gradient where the view looks.
template <typename View>
Array recorded_view(Array view, const Array& from, const View& look) {
  if (!array::records(from)) return view;
  return array::recorded_map(std::move(view), from,
                             [shape = from.shape(), type = from.dtype(), look](const Array& gradient) {
                               Array whole = Array::zeros(type, shape);
                               look(whole).copy_(gradient);
                               return whole;
                             });
}

}  // namespace

std::int64_t axis_of(std::int64_t axis, std::int64_t rank) {
  if (axis < -rank || axis >= rank) fail(Fault::model, "axis {} is outside of [{}, {})", axis, -rank, rank);
  return axis < 0 ? axis + rank : axis;
}

std::vector<bool> chosen_axes(const Shape& axes, std::int64_t rank) {
  std::vector<bool> chosen(rank, axes.empty());
  for (const std::int64_t axis : axes) chosen[axis_of(axis, rank)] = true;
  return chosen;
}

Shape broadcast_shape(const Shape& a, const Shape& b) {
  if (a == b) return a;
  Shape shape(std::max(a.size(), b.size()));
  for (std::size_t i = 0; i < shape.size(); ++i) {
    const std::int64_t x = i < a.size() ? a[a.size() - 1 - i] : 1, y = i < b.size() ? b[b.size() - 1 - i] : 1;
    if (x != y && x != 1 && y != 1)
      fail(Fault::model, "shapes {} and {} cannot be broadcast to one", to_string(a), to_string(b));
    shape[shape.size() - 1 - i] = x == 1 ? y : x;
  }
  return shape;
}

Shape strides_in(const Array& array, const Shape& shape) {
  Shape strides(shape.size(), 0);
  const std::size_t rank = array.shape().size();
  for (std::size_t i = 0; i < rank; ++i) {
    const std::int64_t size = array.shape()[rank - 1 - i];
    if (i >= shape.size() || (size != 1 && size != shape[shape.size() - 1 - i]))
      fail(Fault::model, "shape {} cannot be broadcast to {}", to_string(array.shape()), to_string(shape));
    strides[shape.size() - 1 - i] = size == 1 ? 0 : array.strides()[rank - 1 - i];
  }
  return strides;
}

Array::Array(DType dtype, Shape shape, std::vector<std::byte> bytes)
    : dtype_(dtype), shape_(std::move(shape)) {
  const std::size_t count = element_count(shape_);
  if (bytes.size() / size_of(dtype) != count || bytes.size() % size_of(dtype) != 0) {
    fail(Fault::data, "an array of shape {} and type {} was given {} bytes", to_string(shape_),
         to_string(dtype), bytes.size());
  }
  strides_ = contiguous_strides(shape_);
  const auto held = std::make_shared<std::vector<std::byte>>(std::move(bytes));
  if (held->empty()) held->resize(1);
  bytes_ = {held, held->data()};
  settle();
}

Array Array::uninitialised(DType dtype, Shape shape) {
  Array made;
  made.dtype_ = dtype;
  made.bytes_ = allocate(bytes_of(dtype, shape));
  made.strides_ = contiguous_strides(shape);
  made.shape_ = std::move(shape);
  made.settle();
  return made;
}

Array Array::zeros(DType dtype, Shape shape) {
  Array made = uninitialised(dtype, std::move(shape));
  std::memset(made.data(), 0, made.byte_size());
  return made;
}

Array Array::around(void* elements, DType dtype, Shape shape, std::function<void()> done) {
  Array made;
  made.dtype_ = dtype;
  made.strides_ = contiguous_strides(shape);
  made.shape_ = std::move(shape);
  made.settle();
  static std::byte none;
  auto* const begin = elements != nullptr ? static_cast<std::byte*>(elements) : &none;
  made.bytes_ = std::shared_ptr<std::byte>(begin, [done = std::move(done)](std::byte*) {
    if (done) done();
  });
  return made;
}

void Array::settle() {
  count_ = element_count(shape_);
  std::int64_t step = 1;
  contiguous_ = true;
  for (std::size_t axis = shape_.size(); axis-- > 0;) {
    if (shape_[axis] == 1) continue;
    contiguous_ &= strides_[axis] == step;
    step *= shape_[axis];
  }
  contiguous_ |= count_ == 0;
}

std::size_t Array::index_of(std::int64_t axis) const { return array::axis_of(axis, rank()); }

Scalar Array::scalar() const {
  if (count_ != 1) fail(Fault::internal, "an array of shape {} is not a single number", to_string(shape_));
  return array::with_type(dtype_, [&](auto zero) {
    using T = decltype(zero);
    const T element = *reinterpret_cast<const T*>(data());
    if constexpr (array::is_short_real<T>)
      return Scalar(static_cast<float>(element));
    else
      return Scalar(element);
  });
}

Array Array::to(DType dtype) const {
  if (dtype == dtype_) return *this;
  const DType wide = array::computing_type(dtype_);
  if (wide != dtype_ && wide != dtype) return to(wide).to(dtype);  // exact so far
  Array made = uninitialised(dtype, shape_);
  array::with_type(dtype_, [&](auto from) {
    using From = decltype(from);
    if constexpr (array::is_narrow_type<From>) {
      using To = array::ComputingType<From>;
      array::map_into<From, To>(made, *this, [](From value) { return array::convert<To>(value); });
    } else {
      array::with_type(dtype, [&](auto to) {
        using To = decltype(to);
        array::map_into<From, To>(made, *this, [](From value) { return array::convert<To>(value); });
      });
    }
  });
  return array::recorded_map(std::move(made), *this,
                             [from = dtype_](const Array& gradient) { return gradient.to(from); });
}

Array Array::clone() const {
  Array made = uninitialised(dtype_, shape_);
  made.copy_(detach());
  return array::recorded_map(std::move(made), *this, [](const Array& gradient) { return gradient; });
}

Array Array::contiguous() const { return contiguous_ ? *this : clone(); }

Array Array::viewed(Shape shape, Shape strides, std::int64_t offset) const {
  Array view = detach();
  view.shape_ = std::move(shape);
  view.strides_ = std::move(strides);
  view.offset_ += offset * static_cast<std::int64_t>(size_of(dtype_));
  view.settle();
  return view;
}

Array Array::reshape(Shape shape) const {
  const auto refuse = [&] {
    fail(Fault::model, "shape {} cannot be viewed as {}", to_string(shape_), to_string(shape));
  };
  const auto open = std::find(shape.begin(), shape.end(), -1);
  if (open != shape.end()) *open = 1;
  if (std::any_of(shape.begin(), shape.end(), [](auto size) { return size < 0; })) refuse();
  const std::int64_t known = element_count(shape);
  if (open != shape.end()) {
    *open = -1;
    if (known == 0 || count_ % known != 0) refuse();
    *open = count_ / known;
  } else if (known != count_) {
    refuse();
  }
  if (shape == shape_) return *this;
  Shape strides;
  const bool view = count_ == 0 || contiguous_ || restrided(*this, shape, strides);
  if (count_ == 0 || contiguous_) strides = contiguous_strides(shape);
  Array made = view ? viewed(shape, strides) : detach().clone().viewed(shape, contiguous_strides(shape));
  return array::recorded_map(std::move(made), *this,
                             [from = shape_](const Array& gradient) { return gradient.reshape(from); });
}

Array Array::flatten(std::int64_t first, std::int64_t last) const {
  if (rank() == 0) return reshape({1});
  const auto begin = static_cast<std::ptrdiff_t>(index_of(first)),
             end = static_cast<std::ptrdiff_t>(index_of(last)) + 1;
  if (begin >= end)
    fail(Fault::model, "there are no axes {} to {} in shape {}", first, last, to_string(shape_));
  Shape shape(shape_.begin(), shape_.begin() + begin);
  shape.push_back(element_count(Shape(shape_.begin() + begin, shape_.begin() + end)));
  shape.insert(shape.end(), shape_.begin() + end, shape_.end());
  return reshape(std::move(shape));
}

Array Array::select(std::int64_t axis, std::int64_t position) const {
  const std::size_t at = index_of(axis);
  const std::int64_t size = shape_[at];
  if (position < -size || position >= size)
    fail(Fault::model, "position {} is outside of axis {} of shape {}", position, axis, to_string(shape_));
  const std::int64_t from = position < 0 ? position + size : position;
  const auto look = [at, from](const Array& whole) {
    Shape shape = whole.shape(), strides = whole.strides();
    const std::int64_t offset = from * strides[at];
    shape.erase(shape.begin() + at);
    strides.erase(strides.begin() + at);
    return whole.viewed(std::move(shape), std::move(strides), offset);
  };
  return recorded_view(look(*this), *this, look);
}

Array Array::narrow(std::int64_t axis, std::int64_t begin, std::int64_t length) const {
  const std::size_t at = index_of(axis);
  const std::int64_t size = shape_[at], from = begin < 0 ? begin + size : begin;
  if (from < 0 || from > size || length < 0 || length > size - from)
    fail(Fault::model, "{} positions from {} are outside of axis {} of shape {}", length, begin, axis,
         to_string(shape_));
  return slice(at, from, from + length);
}

Array Array::slice(std::int64_t axis, std::int64_t begin, std::int64_t end, std::int64_t step) const {
  const std::size_t at = index_of(axis);
  const std::int64_t size = shape_[at];
  if (step < 1) fail(Fault::internal, "the step of a slice is {}; it must be at least 1", step);
  const auto inside = [&](std::int64_t position) {
    return std::clamp<std::int64_t>(position < 0 ? position + size : position, 0, size);
  };
  const std::int64_t from = inside(begin), length = std::max(from, inside(end)) - from;
  const std::int64_t count = length / step + (length % step != 0 ? 1 : 0);
  if (from == 0 && count == size) return *this;
  const auto look = [=](const Array& whole) {
    Shape shape = whole.shape(), strides = whole.strides();
    const std::int64_t offset = from * strides[at];
    shape[at] = count;
    if (count > 1) strides[at] *= step;
    return whole.viewed(std::move(shape), std::move(strides), offset);
  };
  return recorded_view(look(*this), *this, look);
}

Array Array::permute(const Shape& axes) const {
  if (axes.size() != shape_.size())
    fail(Fault::model, "axes {} are not a permutation of those of shape {}", to_string(axes),
         to_string(shape_));
  Shape shape, strides, back(axes.size(), -1);
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const std::size_t from = index_of(axes[i]);
    if (back[from] != -1) fail(Fault::model, "axes {} name one of them twice", to_string(axes));
    back[from] = i;
    shape.push_back(shape_[from]);
    strides.push_back(strides_[from]);
  }
  return array::recorded_map(viewed(std::move(shape), std::move(strides)), *this,
                             [back](const Array& gradient) { return gradient.permute(back); });
}

Array Array::transpose(std::int64_t a, std::int64_t b) const {
  if (rank() == 0) return *this;
  Shape axes(shape_.size());
  std::iota(axes.begin(), axes.end(), 0);
  std::swap(axes[index_of(a)], axes[index_of(b)]);
  return permute(axes);
}

Array Array::t() const {
  if (rank() < 2) return *this;
  if (rank() > 2) fail(Fault::internal, "t() needs at most 2 axes, not shape {}", to_string(shape_));
  return permute({1, 0});
}

Array Array::movedim(std::int64_t from, std::int64_t to) const {
  const std::size_t a = index_of(from), b = index_of(to);
  if (a == b) return *this;
  Shape axes(shape_.size());
  std::iota(axes.begin(), axes.end(), 0);
  axes.erase(axes.begin() + a);
  axes.insert(axes.begin() + b, a);
  return permute(axes);
}

Array Array::unsqueeze(std::int64_t axis) const {
  const std::int64_t at = array::axis_of(axis, rank() + 1);
  Shape shape = shape_, strides = strides_;
  shape.insert(shape.begin() + at, 1);
  strides.insert(strides.begin() + at, 1);
  return array::recorded_map(viewed(std::move(shape), std::move(strides)), *this,
                             [from = shape_](const Array& gradient) { return gradient.reshape(from); });
}

Array Array::squeeze(std::int64_t axis) const {
  if (rank() == 0) return *this;
  const std::size_t at = index_of(axis);
  if (shape_[at] != 1) return *this;
  Shape shape = shape_;
  shape.erase(shape.begin() + at);
  return reshape(std::move(shape));
}

Array Array::squeeze() const {
  Shape shape;
  for (const std::int64_t size : shape_) {
    if (size != 1) shape.push_back(size);
  }
  return reshape(std::move(shape));
}

Array Array::expand(const Shape& sizes) const {
  Shape shape = sizes;
  for (std::size_t i = 0; i < std::min(shape.size(), shape_.size()); ++i) {
    std::int64_t& size = shape[shape.size() - 1 - i];
    if (size == -1) size = shape_[shape_.size() - 1 - i];
  }
  if (std::any_of(shape.begin(), shape.end(), [](auto size) { return size < 0; }))
    fail(Fault::model, "shape {} cannot be broadcast to {}", to_string(shape_), to_string(sizes));
  if (shape == shape_) return *this;
  static_cast<void>(bytes_of(dtype_, shape));
  Shape strides = array::strides_in(*this, shape);
  return array::recorded_map(
      viewed(std::move(shape), std::move(strides)), *this,
      [from = shape_](const Array& gradient) { return array::sum_to(gradient, from); });
}

Array Array::unfold(std::int64_t axis, std::int64_t size, std::int64_t step) const {
  const std::size_t at = index_of(axis);
  if (size < 0 || size > shape_[at] || step < 1)
    fail(Fault::model, "windows of {} with a step of {} do not fit an axis of {}", size, step, shape_[at]);
  Shape shape = shape_, strides = strides_;
  shape[at] = (shape_[at] - size) / step + 1;
  if (shape[at] > 1) strides[at] *= step;
  shape.push_back(size);
  strides.push_back(strides_[at]);
  return array::recorded_map(viewed(std::move(shape), std::move(strides)), *this,
                             [=, from = shape_, type = dtype_](const Array& gradient) {
                               Array whole = Array::zeros(type, from);
                               const std::int64_t along = at;
                               const std::int64_t windows = gradient.size(along);
                               for (std::int64_t i = 0; windows > 0 && i < size; ++i) {
                                 Array part = whole.slice(along, i, i + (windows - 1) * step + 1, step);
                                 part.add_(gradient.select(-1, i));
                               }
                               return whole;
                             });
}

void require_dtype(DType actual, DType wanted) {
  if (actual != wanted)
    fail(Fault::data, "{} values where {} are needed", to_string(actual), to_string(wanted));
}

void require_contiguous(const Array& array) {
  if (!array.is_contiguous())
    fail(Fault::internal, "elements of shape {} are read in order, but they are not stored in order",
         to_string(array.shape()));
}

}  // namespace assay::array
