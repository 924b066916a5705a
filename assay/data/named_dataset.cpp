#include <assay/dataset.h>

#include "assay/data/given.h"
#include "assay/data/named.h"
#include "assay/data/spec.h"
#include "assay/data/views.h"
#include "assay/support/text/named.h"

namespace assay::inline data {
namespace {

NamedObjects<DatasetPtr>& named_datasets() {
  static NamedObjects<DatasetPtr> all("data set");
  return all;
}

}  // namespace

NamedDataset::NamedDataset(std::string name, DatasetPtr dataset) : name_(std::move(name)) {
  named_datasets().add(name_, given_data(dataset));
}

NamedDataset::~NamedDataset() { named_datasets().remove(name_); }

DatasetPtr open_named(const DataSpec& spec) {
  DatasetPtr dataset = named_datasets().find(spec.path);
  if (!spec.options.empty())
    fail(Fault::usage, "{} is in memory: it takes slices such as [:100], but no option {}=", spec.path,
         spec.options.begin()->first);
  for (const Slice& slice : spec.slices) {
    const std::vector<std::size_t> positions = slice_positions(slice, dataset->size());
    if (positions.empty()) fail(Fault::data, "data '{}': no records are left", spec.path);
    dataset = selected(std::move(dataset), positions);
  }
  return dataset;
}

}  // namespace assay::inline data
