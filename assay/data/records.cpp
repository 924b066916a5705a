#include <assay/records.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <set>

#include <assay/dataset.h>
#include <assay/error.h>
#include "assay/data/rows.h"
#include "assay/support/text/so_many.h"

namespace assay::inline data {
namespace {

constexpr std::int64_t largest_label = 1'000'000;

std::string summary_of(const DatasetFacts& facts, const std::string& name, const std::string& kind) {
  std::string text =
      fmt::format("{} ({}, {} {}", name, kind, so_many(facts.size, "record"), to_string(facts.record_shape));
  for (const InputFacts& other : facts.others)
    text += fmt::format(" + {} {}", other.name, to_string(other.record_shape));
  if (facts.has_labels) text += ", " + so_many(facts.class_names.size(), "class", "classes");
  if (facts.target_width > 0) text += ", " + so_many(facts.target_width, "target");
  return text + ")";
}

// The inputs in the order of reading, the first one as well.
std::vector<InputFacts> inputs_of(const DatasetFacts& facts) {
  std::vector<InputFacts> inputs{{facts.input_name, facts.record_shape, facts.dtype}};
  inputs.insert(inputs.end(), facts.others.begin(), facts.others.end());
  return inputs;
}

void check_range(const std::string& name, const DatasetFacts& facts) {
  const ValidRange& range = *facts.valid_range;
  const std::int64_t channels = facts.record_shape.empty() ? 1 : facts.record_shape[0];
  const bool fits = range.low.size() == range.high.size() &&
                    (range.low.size() == 1 || static_cast<std::int64_t>(range.low.size()) == channels);
  if (!fits)
    fail(Fault::usage,
         "{}: a valid range of {} lower and {} upper bounds for {} channels; give one or one each", name,
         range.low.size(), range.high.size(), channels);
  for (std::size_t c = 0; c < range.low.size(); ++c) {
    if (!(range.low[c] < range.high[c]))
      fail(Fault::usage, "{}: the valid range {} to {} is empty", name, range.low[c], range.high[c]);
  }
}

void check_facts(const std::string& name, const DatasetFacts& facts) {
  if (facts.size == 0) fail(Fault::usage, "{}: there are no records", name);
  const std::vector<InputFacts> inputs = inputs_of(facts);
  std::set<std::string> names;
  for (const InputFacts& input : inputs) {
    if (element_count(input.record_shape) == 0)
      fail(Fault::usage, "{}: records of shape {} have no elements", name, to_string(input.record_shape));
    if (input.dtype != DType::float32 && input.dtype != DType::int64)
      fail(Fault::usage, "{}: records are float32, or int64 for tokens, not {}", name,
           to_string(input.dtype));
    if (inputs.size() > 1 && (input.name.empty() || !names.insert(input.name).second))
      fail(Fault::usage, "{}: each of several inputs needs a different, non-empty name; '{}' does not do",
           name, input.name);
  }
  if (facts.valid_range) check_range(name, facts);
}

// NaN and infinities have all bits of the exponent. Numbers are looked at as bits, which vectors do for many
// at once.
bool all_finite(std::span<const float> values) {
  constexpr std::int32_t exponent = 0x7f800000;
  std::int32_t found = 0;
  for (const float value : values)
    found |= (std::bit_cast<std::int32_t>(value) & exponent) == exponent ? -1 : 0;
  return found == 0;
}

// Throws Error{data} naming the record that holds a NaN or an infinity.
void require_finite(const Array& rows, const std::string& what, const Dataset& dataset,
                    std::span<const std::size_t> indices) {
  if (rows.dtype() != DType::float32) return;
  const auto values = rows.as<float>();
  if (all_finite(values)) return;
  const auto at = std::ranges::find_if_not(values, [](float v) { return std::isfinite(v); });
  const auto row = static_cast<std::size_t>(at - values.begin()) / (values.size() / indices.size());
  fail(Fault::data, "{}: {} of record '{}' holds a NaN or an infinity; repair or leave it out",
       dataset.describe(), what, dataset.id(indices[row]));
}

void require_finite(const Batch& batch, const Dataset& dataset) {
  const std::string& name = batch.input_name;
  require_finite(batch.inputs, name.empty() ? "the input" : fmt::format("input '{}'", name), dataset,
                 batch.indices);
  for (const NamedArray& other : batch.others)
    require_finite(other.values, fmt::format("input '{}'", other.name), dataset, batch.indices);
  if (batch.targets.count() > 0) require_finite(batch.targets, "a target", dataset, batch.indices);
}

void require_positions(std::span<const std::size_t> indices, const Dataset& dataset) {
  for (const std::size_t i : indices) {
    if (i >= dataset.size()) fail(Fault::usage, "{} has no record at position {}", dataset.describe(), i);
  }
}

// Records whose rows are taken from somewhere; labels, targets and ids are in memory.
class RowRecords final : public Dataset {
 public:
  RowRecords(std::vector<Rows> inputs, std::vector<std::int64_t> labels, RecordOptions options)
      : inputs_(std::move(inputs)), labels_(std::move(labels)), ids_(std::move(options.ids)) {
    if (inputs_.empty()) fail(Fault::usage, "{}: there are no inputs", options.name);
    facts_.size = inputs_[0].count;
    facts_.record_shape = inputs_[0].input.record_shape;
    facts_.dtype = inputs_[0].input.dtype;
    facts_.input_name = inputs_[0].input.name;
    for (std::size_t i = 1; i < inputs_.size(); ++i) facts_.others.push_back(inputs_[i].input);
    facts_.valid_range = std::move(options.valid_range);
    check_facts(options.name, facts_);
    for (const Rows& rows : inputs_)
      check_count(options.name, "rows of input '" + rows.input.name + "'", rows.count);
    if (!ids_.empty()) check_count(options.name, "ids", ids_.size());
    take_labels(options);
    take_targets(options);
    facts_.description = summary_of(facts_, options.name, "arrays");
  }

  std::string id(std::size_t index) const override {
    return ids_.empty() ? std::to_string(index) : ids_.at(index);
  }
  std::int64_t label(std::size_t index) const override { return labels_.at(index); }

  Batch read(std::span<const std::size_t> indices) const override {
    require_positions(indices, *this);
    Batch batch;
    batch.indices.assign(indices.begin(), indices.end());
    batch.input_name = facts_.input_name;
    batch.inputs = inputs_[0].take(indices);
    for (std::size_t i = 1; i < inputs_.size(); ++i)
      batch.others.push_back({inputs_[i].input.name, inputs_[i].take(indices)});
    if (has_labels()) {
      for (const std::size_t i : indices) batch.labels.push_back(labels_[i]);
    }
    if (target_width() > 0) {
      batch.targets =
          Array(DType::float32,
                {static_cast<std::int64_t>(indices.size()), static_cast<std::int64_t>(target_width())},
                gathered(targets_.data(), target_width() * sizeof(float), indices));
    }
    require_finite(batch, *this);
    return batch;
  }

 private:
  void check_count(const std::string& name, const std::string& what, std::size_t count) const {
    if (count != size()) fail(Fault::mismatch, "{}: {} {} for {} records", name, count, what, size());
  }

  void take_labels(RecordOptions& options) {
    facts_.has_labels = !labels_.empty();
    if (labels_.empty()) {
      if (!options.class_names.empty() && options.targets.count() == 0)
        fail(Fault::usage, "{}: there are names of classes, but no labels", options.name);
      facts_.class_names = std::move(options.class_names);
      return;
    }
    check_count(options.name, "labels", labels_.size());
    facts_.class_names = std::move(options.class_names);
    const bool named = !facts_.class_names.empty();
    const std::int64_t classes = facts_.class_names.size();
    for (std::size_t i = 0; i < labels_.size(); ++i) {
      if (labels_[i] < 0 || labels_[i] > largest_label)
        fail(Fault::usage, "{}: record '{}' has label {}, which is not a class number", options.name, id(i),
             labels_[i]);
      if (named && labels_[i] >= classes)
        fail(Fault::usage, "{}: record '{}' has label {}, but there are names for {} classes", options.name,
             id(i), labels_[i], classes);
    }
    if (named) return;
    for (std::int64_t c = 0; c <= *std::ranges::max_element(labels_); ++c)
      facts_.class_names.push_back(std::to_string(c));
  }

  void take_targets(const RecordOptions& options) {
    const Array& given = options.targets;
    if (given.count() == 0) return;
    if (!is_real(given.dtype()))
      fail(Fault::usage, "{}: regression targets are floating-point numbers, not {}", options.name,
           to_string(given.dtype()));
    if (given.shape().empty())
      fail(Fault::usage, "{}: targets of shape []; [records] or [records, targets] is needed", options.name);
    check_count(options.name, "rows of targets", given.shape()[0]);
    require_upright(facts_.record_shape, given.shape(), options.name);
    targets_ = given.to(DType::float32);
    facts_.target_width = static_cast<std::size_t>(given.count()) / size();
  }

  std::vector<Rows> inputs_;
  std::vector<std::int64_t> labels_;
  std::vector<std::string> ids_;
  Array targets_;
};

// Records that a function writes into rows when they are read.
class WrittenRecords final : public Dataset {
 public:
  WrittenRecords(DatasetFacts facts, std::function<void(std::size_t, Record&)> write,
                 std::function<std::string(std::size_t)> id)
      : Dataset(std::move(facts)), inputs_(inputs_of(facts_)), write_(std::move(write)), id_(std::move(id)) {
    const std::string name = facts_.description.empty() ? "records" : facts_.description;
    if (!write_) fail(Fault::usage, "{}: there is no function to write records", name);
    facts_.has_labels = !facts_.class_names.empty();
    facts_.characteristics.clear();  // which a function does not write
    check_facts(name, facts_);
    if (facts_.description.empty()) facts_.description = summary_of(facts_, name, "function");
  }

  std::string id(std::size_t index) const override { return id_ ? id_(index) : std::to_string(index); }

  Batch read(std::span<const std::size_t> indices) const override {
    require_positions(indices, *this);
    std::vector<std::vector<std::byte>> bytes;
    for (const InputFacts& input : inputs_) bytes.emplace_back(indices.size() * row_bytes(input));
    std::vector<float> targets(indices.size() * target_width());
    Batch batch;
    batch.indices.assign(indices.begin(), indices.end());
    for (std::size_t row = 0; row < indices.size(); ++row) {
      Record record;
      for (std::size_t i = 0; i < inputs_.size(); ++i) record.inputs.push_back(place(i, bytes[i], row));
      record.targets = std::span(targets).subspan(row * target_width(), target_width());
      write_(indices[row], record);
      if (has_labels()) batch.labels.push_back(checked_label(record.label, indices[row]));
    }
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
      Shape shape = inputs_[i].record_shape;
      shape.insert(shape.begin(), indices.size());
      Array rows(inputs_[i].dtype, std::move(shape), std::move(bytes[i]));
      if (i == 0)
        batch.inputs = std::move(rows);
      else
        batch.others.push_back({inputs_[i].name, std::move(rows)});
    }
    batch.input_name = facts_.input_name;
    if (target_width() > 0) {
      batch.targets = Array::of<float>(
          {static_cast<std::int64_t>(indices.size()), static_cast<std::int64_t>(target_width())}, targets);
    }
    require_finite(batch, *this);
    return batch;
  }

 private:
  static std::size_t row_bytes(const InputFacts& input) {
    return element_count(input.record_shape) * size_of(input.dtype);
  }

  Record::Input place(std::size_t input, std::vector<std::byte>& bytes, std::size_t row) const {
    const std::size_t step = row_bytes(inputs_[input]);
    std::byte* const at = bytes.data() + row * step;
    if (inputs_[input].dtype == DType::int64)
      return {{}, {reinterpret_cast<std::int64_t*>(at), step / sizeof(std::int64_t)}};
    return {{reinterpret_cast<float*>(at), step / sizeof(float)}, {}};
  }

  std::int64_t checked_label(std::int64_t label, std::size_t index) const {
    if (label < 0 || label >= static_cast<std::int64_t>(class_count()))
      fail(Fault::data, "{}: record '{}' has label {}, but there are {} classes", describe(), id(index),
           label, class_count());
    return label;
  }

  std::vector<InputFacts> inputs_;
  std::function<void(std::size_t, Record&)> write_;
  std::function<std::string(std::size_t)> id_;
};

Rows rows_of(std::string name, const Array& given) {
  if (given.shape().empty())
    fail(Fault::usage, "the inputs are a single number; records along the first axis are needed");
  require_int64(given, name.empty() ? "the inputs" : name);
  const Array array = given.to(record_dtype(given.dtype()));
  Rows rows{.input = {std::move(name), {array.shape().begin() + 1, array.shape().end()}, array.dtype()},
            .count = static_cast<std::size_t>(array.shape()[0]),
            .take = {}};
  rows.take = [array](std::span<const std::size_t> indices) {
    Shape shape = array.shape();
    shape[0] = indices.size();
    const std::size_t step = array.byte_size() / static_cast<std::size_t>(array.shape()[0]);
    return Array(array.dtype(), std::move(shape), gathered(array.data(), step, indices));
  };
  return rows;
}

}  // namespace

void require_upright(const Shape& picture, const Shape& labels, const std::string& owner) {
  if (picture.size() != 3 || labels.size() != 3 || picture[1] == picture[2]) return;
  if (labels[1] != picture[2] || labels[2] != picture[1]) return;
  fail(Fault::data,
       "{}: labels of {} x {} are turned, as records are {} high and {} wide; swap their last two axes, or "
       "give "
       "[records, {}] where the output of the network is turned as well",
       owner, labels[1], labels[2], picture[1], picture[2], labels[1] * labels[2]);
}

DType record_dtype(DType given) {
  if (is_real(given)) return DType::float32;
  if (size_of(given) > 1) return DType::int64;
  fail(Fault::usage,
       "records are given as float32 (in the range that the network takes) or int64 (tokens), not {}; "
       "convert them",
       to_string(given));
}

void require_int64(const Array& elements, const std::string& what) {
  if (elements.dtype() != DType::uint64 || elements.count() == 0) return;
  const auto most = elements.amax().item<std::uint64_t>();
  if (most > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()))
    fail(Fault::data, "{}: {} is more than an int64 holds; tokens and classes are smaller numbers", what,
         most);
}

std::vector<std::byte> gathered(const std::byte* from, std::size_t row_bytes,
                                std::span<const std::size_t> rows) {
  std::vector<std::byte> bytes(rows.size() * row_bytes);
  for (std::size_t i = 0; i < rows.size(); ++i)
    std::memcpy(bytes.data() + i * row_bytes, from + rows[i] * row_bytes, row_bytes);
  return bytes;
}

DatasetPtr from_rows(std::vector<Rows> inputs, std::vector<std::int64_t> labels, RecordOptions options) {
  return std::make_shared<RowRecords>(std::move(inputs), std::move(labels), std::move(options));
}

DatasetPtr from_arrays(Array inputs, std::vector<std::int64_t> labels, RecordOptions options) {
  return from_rows({rows_of({}, inputs)}, std::move(labels), std::move(options));
}

DatasetPtr from_arrays(std::vector<NamedArray> inputs, std::vector<std::int64_t> labels,
                       RecordOptions options) {
  std::vector<Rows> rows;
  for (NamedArray& input : inputs) rows.push_back(rows_of(std::move(input.name), input.values));
  return from_rows(std::move(rows), std::move(labels), std::move(options));
}

DatasetPtr from_function(DatasetFacts facts, std::function<void(std::size_t, Record&)> write,
                         std::function<std::string(std::size_t)> id) {
  return std::make_shared<WrittenRecords>(std::move(facts), std::move(write), std::move(id));
}

}  // namespace assay::inline data
