// The Python module `_assay`.

#include <assay/version.h>
#include "python/src/bindings.h"

namespace {

// While everything still works. What is registered may hold networks and data sets, and so do threads that
// Python does not wait for, of which nanobind would say that it was lost.
void before_python_ends() {
  assay::python::forget_registered();
  const auto threads = nanobind::module_::import_("threading").attr("active_count")();
  if (nanobind::cast<int>(threads) > 1) nanobind::set_leak_warnings(false);
}

}  // namespace

NB_MODULE(_assay, module) {
  module.doc() = "Bindings of Assay's library; use the package `assay`.";
  module.attr("__version__") = ASSAY_VERSION_TEXT;
  assay::python::bind_errors();
  assay::python::bind_data(module);
  assay::python::bind_network(module);
  assay::python::bind_question(module);
  assay::python::bind_tokenizer(module);
  assay::python::bind_own_analyses(module);
  assay::python::bind_own_searches(module);
  nanobind::module_::import_("atexit").attr("register")(nanobind::cpp_function(before_python_ends));
}
