#pragma once

// Catalogue entries that are made in Python.

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <assay/extend/catalogue.h>
#include <assay/extend/spec.h>
#include "python/src/bindings.h"

namespace assay::python {

// A Python object that may end in any thread.
class PythonObject {
 public:
  explicit PythonObject(nb::object object)
      : object_(new nb::object(std::move(object)), [](nb::object* held) {
          if (Py_IsInitialized() == 0) return;
          const nb::gil_scoped_acquire lock;
          delete held;
        }) {}
  // REQUIRES the interpreter's lock.
  const nb::object& get() const { return *object_; }

 private:
  std::shared_ptr<nb::object> object_;
};

// What Python says of an entry.
struct Entry {
  explicit Entry(const nb::dict& given);
  std::string name, summary, definition;
  std::vector<SpecOption> options;
  bool known = false;  // made in Python before: defined anew in a notebook
};

// Keeps what `registered()` gives.
void remember(const std::string& kind, const std::string& name, const nb::object& object);

// Options with their values, as keyword arguments.
nb::dict options_of(const SpecOptions& options, const std::vector<SpecOption>& declared);

// An entry that was made in Python takes the place of the one before; others throw Error{usage}.
template <typename Info>
void add_or_replace(Catalogue<Info>& catalogue, Info info, bool known) {
  if (known)
    const_cast<Info&>(catalogue.find(info.name)) =
        std::move(info);  // the catalogue's own, which is not const
  else
    catalogue.add(std::move(info));
}

}  // namespace assay::python
