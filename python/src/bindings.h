#pragma once

// What the sources of the Python module share: arrays, errors and long calls on both sides of the
// interpreter's lock. The package in python/assay makes of these bindings what people use.

#include <nanobind/nanobind.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <assay/array.h>
#include <assay/dataset.h>
#include <assay/error.h>
#include <assay/graph.h>
#include <assay/progress.h>
#include <assay/tensor.h>

namespace assay::python {

namespace nb = nanobind;

// --- errors.cpp

void bind_errors();

// A Python exception on its way through the library; it arrives on the other side as it was raised.
class PythonFailure : public Error {
 public:
  // REQUIRES the interpreter's lock.
  explicit PythonFailure(nb::python_error&& error);
  // Makes the exception the current one. REQUIRES the interpreter's lock.
  void restore() const;

 private:
  std::shared_ptr<const nb::python_error> error_;
};

// Calls Python from the library: with the interpreter's lock, and what it raises as PythonFailure.
template <typename Call>
auto in_python(Call&& call) {
  const nb::gil_scoped_acquire lock;
  try {
    return call();
  } catch (nb::python_error& error) {
    throw PythonFailure(std::move(error));
  }
}

std::string text_of(const nb::handle& object);       // as str() has it
std::string type_name_of(const nb::handle& object);  // of its class
std::string repr_of(const nb::handle& object);       // as repr() has it, not too long

// A Python object as C++ has it. Throws Error{usage} where it is something else.
template <typename T>
T taken(const nb::handle& object) {
  T value{};
  if (!nb::try_cast(object, value))
    fail(Fault::usage, "a value of another type was expected from Python than {}", repr_of(object));
  return value;
}

// --- calls.cpp

// Ctrl-C while it lives also ends the library's work; in the main thread, where Python listens for it.
class Interruptible {
 public:
  Interruptible();
  ~Interruptible();
  Interruptible(const Interruptible&) = delete;
  Interruptible& operator=(const Interruptible&) = delete;

 private:
  bool installed_ = false;
};

// Throws the exception that Python has for Ctrl-C.
[[noreturn]] void throw_interrupted();

// Long work of the library without the interpreter's lock. The result is made before the lock is taken back.
template <typename Work>
auto unlocked(Work&& work) {
  const Interruptible interruptible;
  try {
    const nb::gil_scoped_release release;
    return work();
  } catch (const PythonFailure&) {
    throw;
  } catch (const Error& error) {
    if (error.fault() == Fault::interrupted) throw_interrupted();
    throw;
  }
}

// Hands stages to an object with begin(), advance(), end() and notice(), at most some times a second.
std::unique_ptr<Progress> make_progress(const nb::object& listener);
// At the end of the work: throws what the object raised when a stage ended, where nothing can be thrown.
void finish(Progress& progress);

// --- arrays.cpp

// Shares the memory of a NumPy array, or of what speaks DLPack (PyTorch, JAX); NumPy arrays whose strides or
// byte order no Array can have are copied. Throws Error{usage}.
Array tensor_of(const nb::handle& object);
// A copy. Throws Error{usage}.
Array array_of(const nb::handle& object);
// NumPy arrays that share the memory, which lives as long as they do (of bfloat16, without the package
// ml_dtypes, an object that has only DLPack); by NumPy's own name of the type, as the
// types that buffers name are others to it, though they are the same numbers.
nb::object numpy_around(const void* elements, DType type, const Shape& shape, const nb::capsule& owner,
                        bool writable);
nb::object numpy_of(const Array& array);
// A view of memory that the library keeps using: Python may read it.
nb::object read_only_numpy_of(const Array& array);
template <typename T>
nb::object numpy_of(std::vector<T> values) {
  auto* const kept = new std::vector<T>(std::move(values));
  const nb::capsule owner(kept, [](void* pointer) noexcept { delete static_cast<std::vector<T>*>(pointer); });
  return numpy_around(kept->data(), dtype_of<T>(), {static_cast<std::int64_t>(kept->size())}, owner, true);
}

// --- data.cpp, network.cpp, question.cpp, own_analyses.cpp, own_searches.cpp, tokenizer.cpp

// A data set, and the arrays that it holds rather than copies.
struct Records {
  DatasetPtr set;
  std::vector<Array> held = {};
};

// Of a bound network. Throws nb::cast_error for anything else.
const Graph& graph_of(const nb::handle& network);

void bind_data(nb::module_& module);
void bind_network(nb::module_& module);
void bind_question(nb::module_& module);
void bind_tokenizer(nb::module_& module);
void bind_own_analyses(nb::module_& module);
void bind_own_searches(nb::module_& module);

// The Python object that a catalogue entry made in Python stands for now: `kind` as messages name it.
nb::object registered(const std::string& kind, const std::string& name);
// Lets go of all of them.
void forget_registered();

}  // namespace assay::python
