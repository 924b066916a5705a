// Errors of the library as exceptions of the package, and the way back.

#include "python/src/bindings.h"

#include <new>

namespace assay::python {
namespace {

const char* class_of(Fault fault) {
  switch (fault) {
    case Fault::usage:
      return "UsageError";
    case Fault::model:
      return "ModelError";
    case Fault::unsupported:
      return "UnsupportedError";
    case Fault::data:
      return "DataError";
    case Fault::mismatch:
      return "MismatchError";
    case Fault::io:
      return "FileError";
    case Fault::resources:
      return "ResourcesError";
    case Fault::interrupted:
    case Fault::internal:
      return "InternalError";
  }
  return "InternalError";
}

// Texts of the library may quote bytes of files that are no UTF-8.
void raise(const char* name, const std::string& message) {
  const py::object text = py::reinterpret_steal<py::object>(
      PyUnicode_DecodeUTF8(message.data(), static_cast<py::ssize_t>(message.size()), "replace"));
  const py::object type = py::module_::import("assay.errors").attr(name);
  PyErr_SetObject(type.ptr(), text.ptr());
}

}  // namespace

PythonFailure::PythonFailure(py::error_already_set& error)
    : Error(Fault::usage, error.what()),
      error_(new py::error_already_set(error), [](py::error_already_set* held) {
        const py::gil_scoped_acquire lock;
        delete held;
      }) {}

void PythonFailure::restore() const { error_->restore(); }

void bind_errors(py::module_&) {
  py::register_exception_translator([](std::exception_ptr thrown) {
    try {
      if (thrown) std::rethrow_exception(thrown);
    } catch (const PythonFailure& failure) {
      failure.restore();
    } catch (const Error& error) {
      raise(class_of(error.fault()), error.what());
    } catch (const std::bad_alloc&) {
      raise("ResourcesError", "out of memory; use a smaller --batch");
    }
  });
}

}  // namespace assay::python
