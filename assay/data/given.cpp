#include "assay/data/given.h"

#include <assay/error.h>

namespace assay::inline data {
namespace {

bool has_rows(const Array& values, std::size_t records) {
  return !values.shape().empty() && values.shape()[0] == static_cast<std::int64_t>(records);
}

}  // namespace

const DatasetPtr& given_data(const DatasetPtr& dataset) {
  if (!dataset) fail(Fault::usage, "no data set is given");
  return dataset;
}

Batch read_as_promised(const Dataset& dataset, std::span<const std::size_t> indices) {
  Batch batch = dataset.read(indices);
  const DatasetFacts& facts = dataset.facts();
  const std::size_t records = indices.size();
  const auto require = [&](bool kept, const std::string& what) {
    if (!kept)
      fail(Fault::data, "{}: of {} records read() gives {} that are not one each, as its facts promise",
           facts.description.empty() ? "the data set" : facts.description, records, what);
  };
  require(batch.indices.size() == records, "positions");
  require(has_rows(batch.inputs, records), "inputs");
  require(!facts.has_labels || batch.labels.size() == records, "labels");
  require(facts.target_width == 0 ||
              (has_rows(batch.targets, records) &&
               static_cast<std::size_t>(batch.targets.count()) == records * facts.target_width),
          "targets");
  require(batch.others.size() == facts.others.size(), "further inputs");
  for (const NamedArray& other : batch.others) require(has_rows(other.values, records), "inputs");
  return batch;
}

}  // namespace assay::inline data
