#pragma once

// Arrays of numbers in memory: element type, shape, strides, and bytes that copies and views share. Weights,
// constants, batches of records and all results of computations are Arrays. Arithmetic is in
// <assay/array_math.h>.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <span>
#include <vector>

#include <assay/element_type.h>

namespace assay::array {

class GradientStep;  // array/tape.h
// Cheap to copy: copies and views share the bytes, and a change of elements shows in all of them. Methods
// that change elements end in an underscore or return a pointer. Arrays in a graph are never changed.
class Array {
 public:
  Array() = default;  // not defined: no elements, no bytes
  Array(const Array&) = default;
  Array(Array&&) noexcept = default;
  Array& operator=(const Array&) & = default;  // not of a view: a[i].copy_(b) writes elements
  Array& operator=(Array&&) & noexcept = default;
  // Takes the bytes as they are. REQUIRES bytes.size() == element_count(shape) * size_of(dtype).
  Array(DType dtype, Shape shape, std::vector<std::byte> bytes);
  // Contiguous; elements are not set. Throws Error{resources} above the memory limit.
  static Array uninitialised(DType dtype, Shape shape);
  static Array zeros(DType dtype, Shape shape);
  // Contiguous elements in foreign memory that stays valid until `done` is called.
  static Array around(void* elements, DType dtype, Shape shape, std::function<void()> done = {});
  template <typename T>
  static Array of(Shape shape, std::span<const T> values);
  template <typename T>
  static Array of(Shape shape, const std::vector<T>& values);

  bool defined() const { return bytes_ != nullptr; }
  DType dtype() const { return dtype_; }
  const Shape& shape() const { return shape_; }
  // In elements, like the two below.
  const Shape& strides() const { return strides_; }
  std::int64_t size(std::int64_t axis) const { return shape_[index_of(axis)]; }  // negative: from the end
  std::int64_t stride(std::int64_t axis) const { return strides_[index_of(axis)]; }
  std::int64_t rank() const { return std::ssize(shape_); }
  std::int64_t count() const { return count_; }
  bool is_contiguous() const { return contiguous_; }
  // First element, and bytes of all elements.
  const std::byte* data() const { return bytes_.get() + offset_; }
  std::byte* data() { return bytes_.get() + offset_; }
  std::size_t byte_size() const { return static_cast<std::size_t>(count_) * size_of(dtype_); }
  // The elements in order. REQUIRES dtype() == dtype_of<T>() and is_contiguous(); throws Error{internal}.
  template <typename T>
  std::span<const T> as() const;
  // The same, writable; only for the maker of the array.
  template <typename T>
  T* elements() const;
  // The only element, converted. Throws Error{internal} where there are more or fewer.
  template <typename T>
  T item() const {
    return scalar().to<T>();
  }
  Scalar scalar() const;
  // Converted to another element type (saturating from floating point to integers); itself where it has it.
  Array to(DType dtype) const;
  // Itself if it is contiguous, otherwise a contiguous copy; and a copy in any case.
  Array contiguous() const;
  Array clone() const;
  // Views. Axes and positions may be negative: from the end.
  Array reshape(
      Shape shape) const;  // a size of -1 follows from the others; a copy where a view is not possible
  Array flatten(std::int64_t first = 0, std::int64_t last = -1) const;
  Array select(std::int64_t axis, std::int64_t position) const;
  Array operator[](std::int64_t position) const { return select(0, position); }
  Array narrow(std::int64_t axis, std::int64_t begin, std::int64_t length) const;
  Array slice(std::int64_t axis, std::int64_t begin, std::int64_t end = from_end,
              std::int64_t step = 1) const;
  Array permute(const Shape& axes) const;
  Array transpose(std::int64_t a, std::int64_t b) const;
  Array t() const;  // a matrix's
  Array movedim(std::int64_t from, std::int64_t to) const;
  Array unsqueeze(std::int64_t axis) const;
  Array squeeze(std::int64_t axis) const;  // itself where the axis has several
  Array squeeze() const;
  Array expand(const Shape& shape) const;  // axes of one element repeated; -1 keeps an axis
  Array unfold(std::int64_t axis, std::int64_t size,
               std::int64_t step) const;  // windows, along a new last axis
  // Any view within the same bytes; the offset counts elements from data().
  Array viewed(Shape shape, Shape strides, std::int64_t offset = 0) const;
  // Element by element; the second operand is broadcast as in NumPy.
  Array abs() const, neg() const, sign() const, square() const, sqrt() const, exp() const, log() const,
      log1p() const, tanh() const, sigmoid() const, round() const, floor() const, isnan() const,
      isfinite() const, logical_not() const;
  Array eq(const Array&) const, ne(const Array&) const, lt(const Array&) const, le(const Array&) const,
      gt(const Array&) const, ge(const Array&) const, logical_and(const Array&) const,
      logical_or(const Array&) const;
  Array eq(Scalar) const, ne(Scalar) const, lt(Scalar) const, le(Scalar) const, gt(Scalar) const,
      ge(Scalar) const;
  Array clamp(Scalar low, Scalar high) const, clamp_min(Scalar) const, clamp_max(Scalar) const,
      pow(Scalar) const;
  Array masked_fill(const Array& mask, Scalar value) const;
  // Over axes, which stay with size 1 on request; over all axes if none are given.
  Array sum() const, mean() const, amax() const, amin() const, max() const, min() const, any() const,
      all() const;
  Array sum(const Shape&axes, bool keep = false) const, mean(const Shape&axes, bool keep = false) const,
      amax(const Shape&axes, bool keep = false) const, amin(const Shape&axes, bool keep = false) const;
  Array sum(std::int64_t axis, bool keep = false) const, mean(std::int64_t axis, bool keep = false) const,
      amax(std::int64_t axis, bool keep = false) const, amin(std::int64_t axis, bool keep = false) const,
      any(std::int64_t axis, bool keep = false) const, all(std::int64_t axis, bool keep = false) const,
      argmax(std::int64_t axis, bool keep = false) const, argmin(std::int64_t axis, bool keep = false) const;
  // By positions along an axis: int64, not negative.
  Array index_select(std::int64_t axis, const Array&positions) const,
      gather(std::int64_t axis, const Array&) const;
  // In place. REQUIRES that no recorded gradients go back through it.
  Array &copy_(const Array&), &fill_(Scalar), &zero_(), &add_(const Array&, Scalar times = 1), &add_(Scalar),
      &sub_(const Array&), &mul_(const Array&), &mul_(Scalar), &div_(const Array&), &div_(Scalar),
      &clamp_(Scalar low, Scalar high), &masked_fill_(const Array&mask, Scalar value), &sqrt_(),
      &addcmul_(const Array&a, const Array&b, double times = 1),
      &addcdiv_(const Array&a, const Array&b, double times = 1);
  // In shape, type and every element.
  bool equal(const Array& other) const;
  // True when both share the same storage, as edits of a graph guarantee for unchanged weights.
  bool shares_storage(const Array& other) const { return bytes_ == other.bytes_; }
  // Gradients (array_math.h): whether they go back through this, the same numbers without, and from here on.
  bool requires_grad() const { return step_ != nullptr; }
  Array detach() const;
  Array requires_grad_() const;  // detached, a point that gradients can be requested

  static constexpr std::int64_t from_end = std::numeric_limits<std::int64_t>::max();

 private:
  friend class GradientStep;
  std::size_t index_of(std::int64_t axis) const;
  void settle();  // count_ and contiguous_ from shape and strides

  DType dtype_ = DType::float32;
  bool contiguous_ = true;
  Shape shape_{0}, strides_{1};
  std::int64_t count_ = 0, offset_ = 0;  // the latter in bytes
  std::shared_ptr<std::byte> bytes_;
  std::shared_ptr<GradientStep> step_;
  std::size_t output_ = 0;  // of the step
};

}  // namespace assay::array

#include <assay/array_elements.h>
