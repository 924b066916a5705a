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

// Texts of the library may quote bytes of files that are not UTF-8.
void raise(const char* name, const std::string& message) {
  const nb::object text =
      nb::steal(PyUnicode_DecodeUTF8(message.data(), static_cast<Py_ssize_t>(message.size()), "replace"));
  const nb::object type = nb::module_::import_("assay.errors").attr(name);
  PyErr_SetObject(type.ptr(), text.ptr());
}

// "ValueError: what it says"
std::string said_by(const nb::python_error& error) {
  std::string name = type_name_of(error.value());
  try {
    return name + ": " + text_of(error.value());
  } catch (const std::exception&) {  // what it says cannot be said
    return name;
  }
}

}  // namespace

std::string text_of(const nb::handle& object) { return taken<std::string>(nb::str(object)); }
std::string repr_of(const nb::handle& object) {
  return taken<std::string>(nb::module_::import_("reprlib").attr("repr")(object));
}
std::string type_name_of(const nb::handle& object) { return text_of(object.type().attr("__name__")); }

PythonFailure::PythonFailure(nb::python_error&& error)
    : Error(Fault::usage, said_by(error)),
      error_(std::make_shared<const nb::python_error>(std::move(error))) {}

void PythonFailure::restore() const { nb::python_error(*error_).restore(); }

void bind_errors() {
  nb::register_exception_translator([](const std::exception_ptr& thrown, void*) {
    try {
      std::rethrow_exception(thrown);
    } catch (const PythonFailure& failure) {
      failure.restore();
    } catch (const Error& error) {
      raise(class_of(error.fault()), error.what());
    } catch (const std::bad_alloc&) {
      raise("ResourcesError", "out of memory; give less data, or smaller batches where they can be set");
    }
  });
}

}  // namespace assay::python
