// Arrays of NumPy and of whatever speaks DLPack, without copies.

#include "python/src/bindings.h"

#include <ATen/ATen.h>
#include <ATen/DLConvertor.h>

#include <map>
#include <optional>
#include <vector>

namespace assay::python {
namespace {

// Types are asked by NumPy's attributes: the structs behind them differ between NumPy 1 and 2.
std::string type_name(const py::handle& dtype) {
  return py::str(dtype.attr("str")).cast<std::string>().substr(1);
}

std::optional<at::ScalarType> type_of(const py::handle& dtype) {
  const std::string type = type_name(dtype);
  static const std::map<std::string, at::ScalarType> types{
      {"f4", at::kFloat}, {"f8", at::kDouble}, {"f2", at::kHalf}, {"i8", at::kLong}, {"i4", at::kInt},
      {"i2", at::kShort}, {"i1", at::kChar},   {"u1", at::kByte}, {"b1", at::kBool}};
  if (const auto it = types.find(type); it != types.end()) return it->second;
  return std::nullopt;
}

py::ssize_t item_bytes(const py::handle& array) { return array.attr("itemsize").cast<py::ssize_t>(); }

std::string text_of(const py::handle& object) { return py::str(object).cast<std::string>(); }

[[noreturn]] void fail_type(const py::handle& dtype) {
  fail(Fault::usage,
       "arrays of {} are not understood; convert to float32 (in the range that the network takes) or int64 "
       "(tokens, labels)",
       text_of(dtype));
}

// Whether a tensor can lie where the array lies.
bool shareable(const py::array& array) {
  const py::ssize_t bytes = item_bytes(array);
  const bool native = array.attr("dtype").attr("isnative").cast<bool>();
  const bool aligned = array.attr("flags").attr("aligned").cast<bool>();
  if (!native || !aligned) return false;
  for (py::ssize_t axis = 0; axis < array.ndim(); ++axis) {
    if (array.strides(axis) < 0 || array.strides(axis) % bytes != 0) return false;
  }
  return true;
}

// Lets go of a Python object wherever the last tensor on its memory ends.
void release(PyObject* object) {
  if (Py_IsInitialized() == 0) return;
  const py::gil_scoped_acquire lock;
  Py_DECREF(object);
}

Tensor tensor_of_numpy(py::array array) {
  const py::object dtype = array.attr("dtype");
  const auto type = type_of(dtype);
  if (!type) fail_type(dtype);
  if (!shareable(array)) {
    const py::object native = dtype.attr("newbyteorder")("=");
    array = py::module_::import("numpy").attr("array")(array, native, py::arg("order") = "C");
  }
  std::vector<std::int64_t> sizes(array.shape(), array.shape() + array.ndim()), strides;
  for (py::ssize_t axis = 0; axis < array.ndim(); ++axis)
    strides.push_back(array.strides(axis) / item_bytes(array));
  PyObject* const owner = array.ptr();
  void* const data = const_cast<void*>(array.data());
  Py_INCREF(owner);
  return at::from_blob(
      data, sizes, strides, [owner](void*) { release(owner); }, at::TensorOptions().dtype(*type));
}

// What an object gives to others that want its memory.
py::object capsule_of(const py::handle& object) {
  try {
    return object.attr("__dlpack__")();
  } catch (const py::error_already_set& error) {
    if (!error.matches(PyExc_Exception)) throw;
    fail(Fault::usage, "a {} cannot be taken as an array: {}",
         text_of(py::type::handle_of(object).attr("__name__")), text_of(error.value()));
  }
}

Tensor tensor_of_dlpack(const py::handle& object) {
  const py::object capsule = capsule_of(object);
  if (PyCapsule_IsValid(capsule.ptr(), "dltensor") == 0)
    fail(Fault::usage, "a {} gives no array that can be taken, or gave it to somebody else",
         text_of(py::type::handle_of(object).attr("__name__")));
  auto* managed = static_cast<DLManagedTensor*>(PyCapsule_GetPointer(capsule.ptr(), "dltensor"));
  Tensor tensor = at::fromDLPack(managed);
  PyCapsule_SetName(capsule.ptr(), "used_dltensor");
  return tensor;
}

const char* dtype_of(at::ScalarType type) {
  switch (type) {
    case at::kFloat:
      return "float32";
    case at::kDouble:
      return "float64";
    case at::kLong:
      return "int64";
    case at::kInt:
      return "int32";
    case at::kShort:
      return "int16";
    case at::kChar:
      return "int8";
    case at::kByte:
      return "uint8";
    case at::kBool:
      return "bool";
    default:
      fail(Fault::internal, "there is no NumPy array of {}", toString(type));
  }
}

}  // namespace

Tensor tensor_of(const py::handle& object) {
  if (py::isinstance<py::array>(object)) return tensor_of_numpy(py::reinterpret_borrow<py::array>(object));
  if (py::hasattr(object, "__dlpack__")) return tensor_of_dlpack(object);
  fail(Fault::usage, "a {} is no array; give a NumPy array, a torch tensor or what speaks DLPack",
       text_of(py::type::handle_of(object).attr("__name__")));
}

Array array_of(const py::handle& object) {
  const Tensor tensor = tensor_of(object);
  const at::ScalarType type = tensor.scalar_type();
  const bool known = type == at::kFloat || type == at::kDouble || type == at::kLong || type == at::kInt ||
                     type == at::kChar || type == at::kByte || type == at::kBool;
  return to_array(known ? tensor : tensor.to(tensor.is_floating_point() ? at::kFloat : at::kLong));
}

py::array numpy_of(const Tensor& given) {
  Tensor tensor = given.detach().to(at::kCPU).contiguous();
  if (tensor.scalar_type() == at::kHalf || tensor.scalar_type() == at::kBFloat16)
    tensor = tensor.to(at::kFloat);
  auto* const kept = new Tensor(std::move(tensor));
  const py::capsule owner(kept, [](void* pointer) { delete static_cast<Tensor*>(pointer); });
  std::vector<py::ssize_t> strides;
  for (const std::int64_t stride : kept->strides())
    strides.push_back(stride * static_cast<py::ssize_t>(kept->element_size()));
  return py::array(py::dtype(dtype_of(kept->scalar_type())), kept->sizes().vec(), strides, kept->data_ptr(),
                   owner);
}

py::array numpy_of(const Array& array) { return numpy_of(to_tensor(array)); }

py::array read_only(py::array array) {
  array.attr("setflags")(py::arg("write") = false);
  return array;
}

}  // namespace assay::python
