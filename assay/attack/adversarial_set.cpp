#include "assay/attack/adversarial_set.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include <assay/dataset.h>
#include <assay/error.h>
#include "assay/data/files/numpy.h"
#include "assay/data/spec.h"
#include "assay/support/text/parse.h"

namespace assay::attack {
namespace {

// Names that mean something else in the files written here.
const std::set<std::string> taken_names{"y",        "ids",       "valid_range", "class_names",
                                        "original", "predicted", "success",     "l0",
                                        "l2",       "linf",      "forward",     "backward"};

// Several inputs are stored under their names.
std::string inputs_option(const Dataset& dataset) {
  const DatasetFacts& facts = dataset.facts();
  if (facts.others.empty()) return {};
  std::string text = ",inputs=" + facts.input_name;
  for (const InputFacts& other : facts.others) text += "+" + other.name;
  return text;
}

void require_names(const Dataset& dataset) {
  const DatasetFacts& facts = dataset.facts();
  if (facts.others.empty()) return;
  std::vector<std::string> names{facts.input_name};
  for (const InputFacts& other : facts.others) names.push_back(other.name);
  for (const std::string& name : names) {
    if (taken_names.contains(name) || name.find_first_of(",[]=+/") != std::string::npos)
      fail(Fault::unsupported,
           "adversarial records of input '{}' cannot be stored under its name; rename the input of the "
           "network",
           name);
  }
}

}  // namespace

AdversarialSet::AdversarialSet(const Dataset& dataset, DType type)
    : dataset_(dataset), type_(type), record_bytes_(element_count(dataset.record_shape()) * size_of(type)) {
  require_names(dataset);
}

void AdversarialSet::add(std::span<const Record> records, std::span<const std::byte> inputs) {
  records_.insert(records_.end(), records.begin(), records.end());
  inputs_.insert(inputs_.end(), inputs.begin(), inputs.end());
}

void AdversarialSet::keep_successful() {
  std::size_t kept = 0;
  for (std::size_t i = 0; i < records_.size(); ++i) {
    if (!records_[i].success) continue;
    std::copy_n(inputs_.begin() + i * record_bytes_, record_bytes_, inputs_.begin() + kept * record_bytes_);
    records_[kept++] = records_[i];
  }
  records_.resize(kept);
  inputs_.resize(kept * record_bytes_);
}

Array AdversarialSet::ids() const {
  std::vector<std::string> names;
  for (const Record& record : records_) names.push_back(dataset_.id(record.original));
  return name_rows(names);
}

std::vector<std::size_t> AdversarialSet::originals() const {
  std::vector<std::size_t> originals;
  for (const Record& record : records_) originals.push_back(record.original);
  return originals;
}

std::map<std::string, Array> AdversarialSet::held_inputs() const {
  std::map<std::string, Array> arrays{{"ids", ids()}};
  for (const NamedArray& other : dataset_.read(originals()).others)
    arrays.insert_or_assign(other.name, other.values);
  return arrays;
}

void AdversarialSet::write(const std::filesystem::path& file) const {
  const std::int64_t rows = records_.size();
  Shape shape = dataset_.record_shape();
  shape.insert(shape.begin(), rows);
  std::map<std::string, Array> arrays{{"ids", ids()}};
  const DatasetFacts& facts = dataset_.facts();
  if (!facts.others.empty()) arrays = held_inputs();
  arrays.emplace(facts.others.empty() ? "x" : facts.input_name, Array(type_, shape, inputs_));
  const auto column = [&]<typename T>(const std::string& name, T Record::*field, auto as) {
    std::vector<decltype(as)> values;
    for (const Record& record : records_) values.push_back(static_cast<decltype(as)>(record.*field));
    arrays.emplace(name, Array::of<decltype(as)>({rows}, values));
  };
  add_facts(dataset_, type_, arrays);
  column("original", &Record::original, std::int64_t{});
  column("predicted", &Record::predicted, std::int64_t{});
  column("success", &Record::success, std::uint8_t{});
  column("l0", &Record::l0, std::int64_t{});
  column("l2", &Record::l2, double{});
  column("linf", &Record::linf, double{});
  column("forward", &Record::forward, std::int64_t{});
  column("backward", &Record::backward, std::int64_t{});
  if (dataset_.has_labels()) {
    std::vector<std::int64_t> labels;
    for (const Record& record : records_) labels.push_back(dataset_.label(record.original));
    arrays.emplace("y", Array::of<std::int64_t>({rows}, labels));
  } else if (dataset_.target_width() > 0) {
    arrays.emplace("y", dataset_.read(originals()).targets);
  }
  write_npz(file, arrays);
}

UncheckedFile::~UncheckedFile() {
  std::error_code ignored;
  std::filesystem::remove(path_, ignored);
}

std::string spec_of_file(const std::filesystem::path& file, const Dataset& dataset, DType type) {
  const std::string path = part_in_quotes(file.string(), ",[]=");
  const auto range = dataset.valid_range();
  const std::string inputs = inputs_option(dataset);
  if (!range) return path + inputs;
  if (type != DType::uint8) return path + inputs + "," + range_option(*range);
  // Levels are scaled to [0, 1]; then (v - mean) / std has the bounds low and high.
  const std::vector<float> nothing(range->low.size(), 0), all(range->low.size(), 255);
  if (range->low == nothing && range->high == all) return path + inputs + ",scale=1";
  std::vector<double> means, deviations;
  bool unit = true;
  for (std::size_t c = 0; c < range->low.size(); ++c) {
    const double low = range->low[c], deviation = 1 / (range->high[c] - low);
    means.push_back(-low * deviation);
    deviations.push_back(deviation);
    unit &= range->low[c] == 0 && range->high[c] == 1;
  }
  return unit ? path + inputs
              : fmt::format("{}{},mean={},std={}", path, inputs, fmt::join(means, "/"),
                            fmt::join(deviations, "/"));
}

}  // namespace assay::attack
