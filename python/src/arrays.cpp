// Arrays of NumPy and of any object with DLPack, without copies.

#include "python/src/bindings.h"

#include <nanobind/ndarray.h>

#include <algorithm>
#include <map>
#include <optional>
#include <vector>

#include "python/src/dlpack.h"

namespace assay::python {
namespace {

nb::object numpy(const char* name) { return nb::module_::import_("numpy").attr(name); }

// Types are asked by NumPy's attributes: the structs behind them differ between NumPy 1 and 2.
std::optional<DType> type_of(const nb::handle& dtype) {
  // A type of ml_dtypes, which NumPy takes for plain bytes.
  if (text_of(dtype.attr("name")) == "bfloat16") return DType::bfloat16;
  const std::string name = text_of(dtype.attr("str")).substr(1);
  static const std::map<std::string, DType> types{
      {"f4", DType::float32}, {"f8", DType::float64}, {"i8", DType::int64},   {"i4", DType::int32},
      {"i1", DType::int8},    {"u1", DType::uint8},   {"b1", DType::boolean}, {"f2", DType::float16},
      {"i2", DType::int16},   {"u2", DType::uint16},  {"u4", DType::uint32},  {"u8", DType::uint64}};
  if (const auto it = types.find(name); it != types.end()) return it->second;
  return std::nullopt;
}

[[noreturn]] void fail_type(const std::string& type) {
  fail(Fault::usage,
       "arrays of {} are not understood; convert to float32 (in the range that the network takes) or int64 "
       "(tokens, labels)",
       type);
}

// Whether an Array can lie where the array lies.
bool shareable(const nb::object& array) {
  const auto bytes = taken<std::int64_t>(array.attr("itemsize"));
  const bool native = taken<bool>(array.attr("dtype").attr("isnative"));
  const bool aligned = taken<bool>(array.attr("flags").attr("aligned"));
  return native && aligned &&
         std::ranges::all_of(taken<Shape>(array.attr("strides")),
                             [&](std::int64_t stride) { return stride >= 0 && stride % bytes == 0; });
}

// Lets go of a Python object wherever the last Array on its memory ends.
void release(PyObject* object) {
  if (Py_IsInitialized() == 0) return;
  const nb::gil_scoped_acquire lock;
  Py_DECREF(object);
}

// Elements of some memory, so many elements apart; they stay there until `done`. REQUIRES that no stride is
// negative.
Array strided(void* elements, DType type, const Shape& shape, const Shape& strides,
              std::function<void()> done) {
  std::int64_t extent = 1;  // from the first to the last
  for (std::size_t axis = 0; axis < shape.size(); ++axis) extent += (shape[axis] - 1) * strides[axis];
  if (std::ranges::find(shape, 0) != shape.end()) extent = 0;
  return Array::around(elements, type, {extent}, std::move(done)).viewed(shape, strides);
}

Array tensor_of_numpy(nb::object array) {
  nb::object dtype = array.attr("dtype");
  const auto type = type_of(dtype);
  if (!type) fail_type(text_of(dtype));
  if (!shareable(array)) {
    if (!taken<bool>(dtype.attr("isnative"))) dtype = dtype.attr("newbyteorder")("=");
    array = numpy("array")(array, dtype, nb::arg("order") = "C");
  }
  Shape strides = taken<Shape>(array.attr("strides"));
  for (std::int64_t& stride : strides) stride /= static_cast<std::int64_t>(size_of(*type));
  const nb::object interface = array.attr("__array_interface__");
  auto* const data = reinterpret_cast<void*>(taken<std::uintptr_t>(interface["data"][0]));
  const auto shape = taken<Shape>(array.attr("shape"));
  PyObject* const owner = array.release().ptr();
  return strided(data, *type, shape, strides, [owner] { release(owner); });
}

// What an object gives to others that want its memory.
nb::object capsule_of(const nb::handle& object) {
  try {
    return object.attr("__dlpack__")();
  } catch (const nb::python_error& error) {
    if (!error.matches(PyExc_Exception)) throw;
    fail(Fault::usage, "a {} cannot be taken as an array: {}", type_name_of(object), text_of(error.value()));
  }
}

std::string text_of(const DLDataType& type) {
  static const std::map<std::uint8_t, std::string> kinds{
      {dl_int, "int"}, {dl_uint, "uint"}, {dl_float, "float"}, {dl_bfloat, "bfloat"}, {dl_bool, "bool"}};
  const auto kind = kinds.find(type.code);
  if (kind == kinds.end() || type.lanes != 1)
    return fmt::format("elements of DLPack's kind {} and {} lanes", type.code, type.lanes);
  return fmt::format("{}{}", kind->second, type.bits);
}

std::optional<DType> type_of(const DLDataType& type) {
  static const std::map<std::pair<std::uint8_t, std::uint8_t>, DType> types{
      {{dl_float, 32}, DType::float32}, {{dl_float, 64}, DType::float64},   {{dl_int, 64}, DType::int64},
      {{dl_int, 32}, DType::int32},     {{dl_int, 8}, DType::int8},         {{dl_uint, 8}, DType::uint8},
      {{dl_bool, 8}, DType::boolean},   {{dl_bfloat, 16}, DType::bfloat16}, {{dl_float, 16}, DType::float16},
      {{dl_int, 16}, DType::int16},     {{dl_uint, 16}, DType::uint16},     {{dl_uint, 32}, DType::uint32},
      {{dl_uint, 64}, DType::uint64}};
  const auto it = types.find({type.code, type.bits});
  if (type.lanes != 1 || it == types.end()) return std::nullopt;
  return it->second;
}

Shape strides_of(const DLTensor& given) {
  if (given.strides != nullptr) return Shape(given.strides, given.strides + given.ndim);
  Shape strides(static_cast<std::size_t>(given.ndim), 1);
  for (std::size_t axis = strides.size(); axis-- > 1;) strides[axis - 1] = strides[axis] * given.shape[axis];
  return strides;
}

void require_readable(const DLTensor& given, const std::string& type_name) {
  if (given.device.type != dl_cpu && given.device.type != dl_cuda_host)
    fail(Fault::usage, "a {} is not in the processor's memory; copy it there first, for instance with .cpu()",
         type_name);
  if (!type_of(given.dtype)) fail_type(text_of(given.dtype));
  static_cast<void>(element_count(Shape(given.shape, given.shape + given.ndim)));
  const Shape strides = strides_of(given);
  if (std::ranges::any_of(strides, [](std::int64_t stride) { return stride < 0; }))
    fail(Fault::usage, "a {} has negative strides; copy it first", type_name);
}

Array tensor_of_dlpack(const nb::handle& object) {
  const nb::object capsule = capsule_of(object);
  const std::string type_name = type_name_of(object);
  if (PyCapsule_IsValid(capsule.ptr(), "dltensor") == 0)
    fail(Fault::usage, "a {} gives no array that can be used, or has given it away already", type_name);
  auto* const managed = static_cast<DLManagedTensor*>(PyCapsule_GetPointer(capsule.ptr(), "dltensor"));
  const DLTensor& given = managed->dl_tensor;
  require_readable(given, type_name);
  const Shape shape(given.shape, given.shape + given.ndim), strides = strides_of(given);
  const Array array = strided(static_cast<std::byte*>(given.data) + given.byte_offset, *type_of(given.dtype),
                              shape, strides, [managed] {
                                if (managed->deleter != nullptr) managed->deleter(managed);
                              });
  PyCapsule_SetName(capsule.ptr(), "used_dltensor");
  return array;
}

// NumPy has no such numbers, and takes those of the package ml_dtypes.
std::optional<nb::object> bfloat16_of_numpy() {
  try {
    return nb::module_::import_("ml_dtypes").attr("bfloat16");
  } catch (const nb::python_error& error) {
    if (!error.matches(PyExc_ImportError)) throw;
    return std::nullopt;
  }
}

// What has DLPack, for libraries that have such numbers.
nb::object bfloat16_around(const void* elements, const Shape& shape, const nb::capsule& owner) {
  const std::vector<std::size_t> sizes(shape.begin(), shape.end());
  return nb::cast(nb::ndarray<nb::array_api>(const_cast<void*>(elements), sizes.size(), sizes.data(), owner,
                                             nullptr, nb::dlpack::dtype{dl_bfloat, 16, 1}));
}

nb::object numpy_of(const Array& array, bool writable) {
  auto* const kept = new Array(array.detach().contiguous());
  const nb::capsule owner(kept, [](void* pointer) noexcept { delete static_cast<Array*>(pointer); });
  return numpy_around(kept->data(), kept->dtype(), kept->shape(), owner, writable);
}

}  // namespace

Array tensor_of(const nb::handle& object) {
  if (nb::isinstance(object, numpy("ndarray"))) return tensor_of_numpy(nb::borrow(object));
  if (nb::hasattr(object, "__dlpack__")) return tensor_of_dlpack(object);
  fail(Fault::usage, "a {} is not an array; give a NumPy array, a torch tensor, or an object with DLPack",
       type_name_of(object));
}

Array array_of(const nb::handle& object) { return tensor_of(object).clone(); }

nb::object numpy_around(const void* elements, DType type, const Shape& shape, const nb::capsule& owner,
                        bool writable) {
  const auto of_ml_dtypes = type == DType::bfloat16 ? bfloat16_of_numpy() : std::nullopt;
  if (type == DType::bfloat16 && !of_ml_dtypes) return bfloat16_around(elements, shape, owner);
  void* const bytes = const_cast<void*>(elements);
  const std::size_t size = static_cast<std::size_t>(element_count(shape)) * size_of(type);
  const nb::object memory =
      writable ? nb::cast(nb::ndarray<nb::memview, std::uint8_t>(bytes, {size}, owner))
               : nb::cast(nb::ndarray<nb::memview, const std::uint8_t>(bytes, {size}, owner));
  return numpy("ndarray")(shape, type == DType::bfloat16 ? *of_ml_dtypes : nb::cast(to_string(type)), memory);
}

nb::object numpy_of(const Array& array) { return numpy_of(array, true); }
nb::object read_only_numpy_of(const Array& array) { return numpy_of(array, false); }

}  // namespace assay::python
