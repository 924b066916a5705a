// The Python module `_assay`.

#include <assay/version.h>
#include "python/src/bindings.h"

PYBIND11_MODULE(_assay, module) {
  module.doc() = "Bindings of Assay's library; use the package `assay`.";
  module.attr("__version__") = ASSAY_VERSION_TEXT;
  assay::python::bind_errors(module);
  assay::python::bind_data(module);
  assay::python::bind_network(module);
  assay::python::bind_question(module);
  assay::python::bind_own_analyses(module);
  assay::python::bind_own_searches(module);
}
