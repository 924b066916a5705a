// The data set that all formats share: records arranged, labelled, chosen and read in batches.

#include <algorithm>
#include <cmath>
#include <memory>

#include <assay/dataset.h>
#include <assay/error.h>
#include <assay/extend/data_format.h>
#include <assay/records.h>
#include "assay/data/arrangement.h"
#include "assay/data/bytes.h"
#include "assay/data/choosing.h"
#include "assay/data/labels.h"
#include "assay/data/metadata.h"
#include "assay/data/named.h"
#include "assay/data/option_checks.h"
#include "assay/data/spec.h"
#include "assay/data/tokenized.h"
#include "assay/support/files/hash.h"
#include "assay/support/files/pointer_file.h"
#include "assay/support/memory.h"
#include "assay/support/text/named.h"
#include "assay/support/text/parse.h"
#include "assay/support/text/so_many.h"
#include "assay/support/text/text.h"
#include "assay/support/threads.h"

namespace assay::inline data {
namespace {

class Prepared final : public Dataset, public FromTexts {
 public:
  Prepared(DataSpec spec, std::string text, std::unique_ptr<Source> source)
      : spec_(std::move(spec)),
        text_(std::move(text)),
        source_(std::move(source)),
        arrangement_(spec_, text_, *source_),
        classes_(class_labels_of(spec_, text_, *source_)),
        targets_(targets_of(spec_, text_, *source_, arrangement_.record_shape())) {
    if (!targets_.class_names.empty()) classes_.class_names = targets_.class_names;
    if (spec_.has("meta")) read_characteristics();
    chosen_ = chosen_records(spec_, text_,
                             {.size = source_->size(),
                              .id = [this](std::size_t record) { return source_->id(record); },
                              .labels = classes_.labels,
                              .class_names = classes_.class_names});
    if (source_->size() == 0) fail(Fault::data, "data '{}': there are no records; give at least one", text_);
    if (chosen_.empty())
      fail(Fault::data, "data '{}': no records are left of {}; choose others", text_, source_->size());
    state_facts();
  }

  std::string id(std::size_t index) const override { return source_->id(chosen_.at(index)); }
  std::int64_t label(std::size_t index) const override { return classes_.labels.at(chosen_.at(index)); }
  std::string characteristic(std::size_t which, std::size_t index) const override {
    return characteristics_.at(which).values.at(chosen_.at(index));
  }
  const text::Tokenizer* tokenizer() const override {
    const auto* const texts = dynamic_cast<const FromTexts*>(source_.get());
    return texts == nullptr ? nullptr : texts->tokenizer();
  }

  Batch read(std::span<const std::size_t> indices) const override {
    Batch batch;
    batch.indices.assign(indices.begin(), indices.end());
    batch.inputs = read_first(indices);
    batch.input_name = facts_.input_name;
    for (std::size_t o = 0; o < facts_.others.size(); ++o) batch.others.push_back(read_other(o, indices));
    for (const std::size_t i : indices) {
      if (has_labels()) batch.labels.push_back(label(i));
    }
    if (facts_.target_width > 0) batch.targets = read_targets(indices);
    return batch;
  }

 private:
  void read_characteristics() {
    std::vector<std::string> ids;
    for (std::size_t i = 0; i < source_->size(); ++i) ids.push_back(source_->id(i));
    characteristics_ = characteristics_of(spec_, *source_, ids);
    for (const Characteristic& one : characteristics_) facts_.characteristics.push_back(one.name);
  }

  void state_facts() {
    facts_.size = chosen_.size();
    facts_.record_shape = arrangement_.record_shape();
    facts_.others = arrangement_.others();
    facts_.valid_range = arrangement_.valid_range();
    facts_.dtype = source_->dtype();
    facts_.input_name = source_->input_name();
    facts_.has_labels = !classes_.labels.empty();
    facts_.class_names = classes_.class_names;
    facts_.target_width = targets_.width;
    facts_.description = description();
  }

  std::string description() const {
    std::string text = fmt::format("{} ({}, {} {}", text_, source_->format(),
                                   so_many(chosen_.size(), "record"), to_string(record_shape()));
    for (const InputFacts& other : facts_.others)
      if (!source_->others_are_optional())
        text += fmt::format(" + {} {}", other.name, to_string(other.record_shape));
    if (has_labels()) text += ", " + so_many(class_count(), "class", "classes");
    if (target_width() > 0)
      text +=
          targets_.items_text.empty() ? ", " + so_many(target_width(), "target") : ", " + targets_.items_text;
    if (source_->is_8bit() && !spec_.has("scale")) text += ", scaled by 1/255";
    return text + ")";
  }

  Array read_first(std::span<const std::size_t> indices) const {
    const std::size_t elements = element_count(facts_.record_shape);
    const bool tokens = dtype() == DType::int64;
    const std::size_t step = elements * (tokens ? 8 : 4);
    require_memory(indices.size() * step, text_);
    std::vector<std::byte> bytes(indices.size() * step);
    parallel_for(
        indices.size(), indices.size() * elements > (1 << 16) ? available_threads() : 1, [&](std::size_t i) {
          std::byte* const at = bytes.data() + i * step;
          source_->read(chosen_.at(indices[i]), at);
          if (!tokens && !arrangement_.apply({reinterpret_cast<float*>(at), elements}))
            fail(Fault::data, "data '{}': record '{}' holds a NaN or an infinity; repair or leave it out",
                 text_, id(indices[i]));
        });
    Shape shape = facts_.record_shape;
    shape.insert(shape.begin(), indices.size());
    return Array(tokens ? DType::int64 : DType::float32, std::move(shape), std::move(bytes));
  }

  NamedArray read_other(std::size_t which, std::span<const std::size_t> indices) const {
    const InputFacts& input = facts_.others[which];
    const std::size_t step = element_count(input.record_shape) * size_of(input.dtype);
    std::vector<std::byte> bytes(indices.size() * step);
    for (std::size_t i = 0; i < indices.size(); ++i) {
      std::byte* const at = bytes.data() + i * step;
      source_->read_other(which, chosen_.at(indices[i]), at);
      arrangement_.apply_to_other(which, {at, step});
      if (input.dtype != DType::float32) continue;
      const std::span values(reinterpret_cast<const float*>(at), step / sizeof(float));
      if (!std::ranges::all_of(values, [](float v) { return std::isfinite(v); }))
        fail(Fault::data,
             "data '{}': input '{}' of record '{}' holds a NaN or an infinity; repair or leave it out", text_,
             input.name, id(indices[i]));
    }
    Shape shape = input.record_shape;
    shape.insert(shape.begin(), indices.size());
    return {input.name, Array(input.dtype, std::move(shape), std::move(bytes))};
  }

  Array read_targets(std::span<const std::size_t> indices) const {
    std::vector<float> all;
    for (const std::size_t i : indices) {
      const std::vector<float> values = targets_.of(chosen_[i]);
      all.insert(all.end(), values.begin(), values.end());
    }
    return Array::of<float>(
        {static_cast<std::int64_t>(indices.size()), static_cast<std::int64_t>(facts_.target_width)}, all);
  }

  DataSpec spec_;
  std::string text_;
  std::unique_ptr<Source> source_;
  Arrangement arrangement_;
  ClassLabels classes_;
  Targets targets_;
  std::vector<Characteristic> characteristics_;  // by position in the source
  std::vector<std::size_t> chosen_;              // positions in the source
};

const FormatInfo& format_of(const DataSpec& spec) {
  if (spec.has("format")) return data_formats().find(spec.text("format"));
  // A format may be known by its name alone ("digits:1000"), with no file behind it.
  std::error_code ignored;
  const bool exists = std::filesystem::exists(spec.path, ignored);
  for (const FormatInfo& format : data_formats()) {
    if (!exists && format.recognises(spec.path, {}) && spec.path.find(':') != std::string::npos)
      return format;
  }
  const std::string head = read_head(spec.path, 64);
  for (const FormatInfo& format : data_formats()) {
    if (format.recognises(spec.path, head)) return format;
  }
  fail(Fault::data, "{}: not a data format Assay knows ({}); say format=NAME if it is one of them", spec.path,
       support::joined(data_formats().names()));
}

DatasetPtr open_one(const std::string& text) {
  const DataSpec spec = parse_spec(text);
  if (is_named(spec.path)) return open_named(spec);
  refuse_pointer(spec.path, spec.path);
  const FormatInfo& format = format_of(spec);
  check_options(spec, text, format);
  return std::make_shared<Prepared>(spec, text, format.open(spec));
}

}  // namespace

DatasetPtr open_dataset(const std::string& text) {
  if (text.find('\0') != std::string::npos)
    fail(Fault::usage, "data '{}': a file name cannot contain a NUL character",
         text.substr(0, text.find('\0')));
  std::vector<DatasetPtr> parts;
  for (const std::string& part : joined_specs(text)) {
    try {
      parts.push_back(open_one(part));
    } catch (const std::filesystem::filesystem_error& error) {
      fail(Fault::io, "{}: {}", error.path1().empty() ? part : error.path1().string(),
           error.code().message());
    }
  }
  return joined(std::move(parts));
}

}  // namespace assay::inline data
