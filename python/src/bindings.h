#pragma once

// What the sources of the Python module share: arrays, errors and long calls on both sides of the
// interpreter's lock. The package in python/assay makes of these bindings what people use.

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

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

namespace py = pybind11;

// --- errors.cpp

void bind_errors(py::module_& module);

// A Python exception on its way through the library; it arrives on the other side as it was raised.
class PythonFailure : public Error {
 public:
  // REQUIRES the interpreter's lock.
  explicit PythonFailure(py::error_already_set& error);
  // Makes the exception the current one. REQUIRES the interpreter's lock.
  void restore() const;

 private:
  std::shared_ptr<py::error_already_set> error_;
};

// Calls Python from the library: with the interpreter's lock, and what it raises as PythonFailure.
template <typename Call>
auto in_python(Call&& call) {
  const py::gil_scoped_acquire lock;
  try {
    return call();
  } catch (py::error_already_set& error) {
    throw PythonFailure(error);
  } catch (const py::cast_error& error) {
    fail(Fault::usage, "a value of another type was expected from Python: {}", error.what());
  }
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
    const py::gil_scoped_release release;
    return work();
  } catch (const PythonFailure&) {
    throw;
  } catch (const Error& error) {
    if (error.fault() == Fault::interrupted) throw_interrupted();
    throw;
  }
}

// Hands stages to an object with begin(), advance(), end() and notice(), at most some times a second.
std::unique_ptr<Progress> make_progress(const py::object& listener);
// At the end of the work: throws what the object raised when a stage ended, where nothing can be thrown.
void finish(Progress& progress);

// --- arrays.cpp

// Shares the memory of a NumPy array, or of what speaks DLPack (PyTorch, JAX); NumPy arrays whose strides or
// byte order no Array can have are copied, and elements of 16 bits become float32 or int32. Throws
// Error{usage}.
Array tensor_of(const py::handle& object);
// A copy. Throws Error{usage}.
Array array_of(const py::handle& object);
// Shares the memory, which lives as long as the result.
py::array numpy_of(const Array& array);
// Of memory that the library goes on using: Python may look at it.
py::array read_only(py::array array);
template <typename T>
py::array_t<T> numpy_of(std::vector<T> values) {
  auto* kept = new std::vector<T>(std::move(values));
  const py::capsule owner(kept, [](void* pointer) { delete static_cast<std::vector<T>*>(pointer); });
  return py::array_t<T>(static_cast<py::ssize_t>(kept->size()), kept->data(), owner);
}

// --- data.cpp, network.cpp, question.cpp, own.cpp, attack.cpp

// A data set, and the arrays that it holds rather than copies.
struct Records {
  DatasetPtr set;
  std::vector<Array> held = {};
};

// Of a bound network. Throws py::cast_error for anything else.
const Graph& graph_of(const py::handle& network);

void bind_data(py::module_& module);
void bind_network(py::module_& module);
void bind_question(py::module_& module);
void bind_own_analyses(py::module_& module);
void bind_own_searches(py::module_& module);

// The Python object that a catalogue entry made in Python stands for now: `kind` as messages name it.
py::object registered(const std::string& kind, const std::string& name);

}  // namespace assay::python
