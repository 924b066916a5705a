// Data sets from Python, and what they hold for Python.

#include "python/src/bindings.h"

#include <atomic>

#include <assay/dataset.h>
#include <assay/records.h>
#include <assay/tensor_records.h>

namespace assay::python {
namespace {

using Inputs = std::vector<std::pair<std::string, nb::object>>;

RecordOptions options_of(const nb::object& targets, std::vector<std::string> ids,
                         std::vector<std::string> class_names,
                         std::optional<std::pair<std::vector<float>, std::vector<float>>> range,
                         const std::string& name) {
  RecordOptions options;
  options.name = name;
  options.ids = std::move(ids);
  options.class_names = std::move(class_names);
  if (!targets.is_none()) options.targets = array_of(targets);
  if (range) options.valid_range = ValidRange{range->first, range->second};
  return options;
}

Records records_of(const Inputs& inputs, const nb::object& labels, const nb::object& targets,
                   std::vector<std::string> ids, std::vector<std::string> class_names,
                   std::optional<std::pair<std::vector<float>, std::vector<float>>> range,
                   const std::string& name) {
  std::vector<NamedTensor> tensors;
  Records records;
  for (const auto& [input, array] : inputs) {
    tensors.push_back({inputs.size() == 1 ? std::string() : input, tensor_of(array)});
    records.held.push_back(tensors.back().values);
  }
  Array classes = labels.is_none() ? Array() : tensor_of(labels);
  RecordOptions options = options_of(targets, std::move(ids), std::move(class_names), std::move(range), name);
  const nb::gil_scoped_release release;
  records.set = from_tensors(std::move(tensors), classes, std::move(options));
  return records;
}

// Slices, by the spec that says so.
Records sliced(const Records& records, const std::string& slice) {
  static std::atomic<std::uint64_t> number{0};
  const std::string name = "slice-" + std::to_string(number++);
  const NamedDataset named(name, records.set);
  return {open_dataset("@" + name + slice), records.held};
}

nb::dict batch_of(const Batch& batch, const Dataset& set) {
  nb::dict arrays;
  const std::string first = batch.input_name.empty() ? "x" : batch.input_name;
  arrays[nb::cast(first)] = numpy_of(batch.inputs);
  for (const NamedArray& other : batch.others) arrays[nb::cast(other.name)] = numpy_of(other.values);
  if (set.has_labels()) arrays["y"] = numpy_of(batch.labels);
  if (set.target_width() > 0) arrays["targets"] = numpy_of(batch.targets);
  return arrays;
}

nb::dict read(const Records& records, const std::vector<std::size_t>& positions) {
  const Batch batch = unlocked([&] { return records.set->read(positions); });
  return batch_of(batch, *records.set);
}

}  // namespace

void bind_data(nb::module_& module) {
  nb::class_<Records>(module, "Records")
      .def_prop_ro("size", [](const Records& r) { return r.set->size(); })
      .def_prop_ro("shape", [](const Records& r) { return r.set->record_shape(); })
      .def_prop_ro("dtype", [](const Records& r) { return to_string(r.set->dtype()); })
      .def_prop_ro("has_labels", [](const Records& r) { return r.set->has_labels(); })
      .def_prop_ro("class_names", [](const Records& r) { return r.set->class_names(); })
      .def_prop_ro("target_width", [](const Records& r) { return r.set->target_width(); })
      .def_prop_ro("description", [](const Records& r) { return r.set->describe(); })
      .def_prop_ro("inputs",
                   [](const Records& r) {
                     const DatasetFacts& facts = r.set->facts();
                     std::vector<std::pair<std::string, Shape>> inputs{
                         {facts.input_name.empty() ? "x" : facts.input_name, facts.record_shape}};
                     for (const InputFacts& other : facts.others)
                       inputs.emplace_back(other.name, other.record_shape);
                     return inputs;
                   })
      .def_prop_ro("range",
                   [](const Records& r) -> std::optional<std::pair<std::vector<float>, std::vector<float>>> {
                     if (!r.set->valid_range()) return std::nullopt;
                     return std::pair(r.set->valid_range()->low, r.set->valid_range()->high);
                   })
      .def_prop_ro("addresses",
                   [](const Records& r) {
                     std::vector<std::uintptr_t> addresses;
                     for (const Array& array : r.held)
                       addresses.push_back(reinterpret_cast<std::uintptr_t>(array.data()));
                     return addresses;
                   })
      .def("read", &read, nb::arg("positions"))
      .def("ids",
           [](const Records& r) {
             std::vector<std::string> ids;
             for (std::size_t i = 0; i < r.set->size(); ++i) ids.push_back(r.set->id(i));
             return ids;
           })
      .def("labels",
           [](const Records& r) {
             std::vector<std::int64_t> labels;
             for (std::size_t i = 0; r.set->has_labels() && i < r.set->size(); ++i)
               labels.push_back(r.set->label(i));
             return numpy_of(std::move(labels));
           })
      .def("hash", [](const Records& r) { return unlocked([&] { return r.set->hash(); }); })
      .def("sliced", &sliced, nb::arg("slice"))
      .def("selected",
           [](const Records& r, std::vector<std::size_t> positions) {
             return Records{selected(r.set, std::move(positions)), r.held};
           })
      .def("relabelled",
           [](const Records& r, std::vector<std::int64_t> labels) {
             return Records{relabelled(r.set, std::move(labels)), r.held};
           })
      .def("characteristics",
           [](const Records& r) {
             std::vector<std::pair<std::string, std::vector<std::string>>> columns;
             for (std::size_t c = 0; c < r.set->characteristics().size(); ++c) {
               columns.emplace_back(r.set->characteristics()[c], std::vector<std::string>());
               for (std::size_t i = 0; i < r.set->size(); ++i)
                 columns.back().second.push_back(r.set->characteristic(c, i));
             }
             return columns;
           })
      .def("characterised",
           [](const Records& r, std::vector<std::pair<std::string, std::vector<std::string>>> columns) {
             std::vector<Characteristic> characteristics;
             for (auto& [name, values] : columns)
               characteristics.push_back({std::move(name), std::move(values)});
             return Records{characterised(r.set, std::move(characteristics)), r.held};
           });
  module.def("open_data",
             [](const std::string& spec) { return Records{unlocked([&] { return open_dataset(spec); })}; });
  module.def("records_of", &records_of, nb::arg("inputs"), nb::arg("labels").none(),
             nb::arg("targets").none(), nb::arg("ids"), nb::arg("class_names"), nb::arg("range").none(),
             nb::arg("name"));
  module.def("joined", [](const std::vector<const Records*>& parts) {
    Records all;
    std::vector<DatasetPtr> sets;
    for (const Records* part : parts) {
      sets.push_back(part->set);
      all.held.insert(all.held.end(), part->held.begin(), part->held.end());
    }
    all.set = joined(std::move(sets));
    return all;
  });
}

}  // namespace assay::python
