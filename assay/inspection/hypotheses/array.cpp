// Arrays of numbers or classes: a value for each record, symbol or pixel.

#include <algorithm>
#include <cmath>
#include <limits>

#include <assay/error.h>
#include <assay/extend/hypothesis.h>
#include "assay/data/files/numpy.h"
#include "assay/inspection/symbols/annotations.h"
#include "assay/support/files/file.h"
#include "assay/support/files/hash.h"
#include "assay/support/text/text.h"

namespace assay::inspection {
namespace {

constexpr std::size_t most_array_classes = 1000;

// The array in a .npy file, or that of this name in an .npz one.
Array array_in(const std::string& file, const std::string& name) {
  if (file.empty()) fail(Fault::usage, "hypothesis 'array' needs a file: array[file=x.npz,array=depth]");
  if (!file.ends_with(".npz")) return parse_npy(read_file(file), file);
  const std::map<std::string, Array> arrays = read_npz(file);
  if (arrays.empty()) fail(Fault::data, "{}: there is no array", file);
  if (name.empty() && arrays.size() == 1) return arrays.begin()->second;
  const auto found = arrays.find(name);
  if (found != arrays.end()) return found->second;
  std::vector<std::string> names;
  for (const auto& [known, array] : arrays) names.push_back(known);
  fail(Fault::usage, "{}: there is no array '{}'; it has {}", file, name, joined(names));
}

class ArrayValues final : public Annotator {
 public:
  explicit ArrayValues(const AnnotatorSetup& setup) : file_(setup.options.text("file")) {
    const std::string& array_name = setup.options.text("array");
    const Array array = array_in(file_, array_name);
    if (array.shape().empty() || array.shape().size() > 3)
      fail(Fault::data, "{}: an array of shape {}; [n], [n, symbols] or [n, height, width] is needed", file_,
           to_string(array.shape()));
    rows_ = array.shape()[0];
    positions_.assign(array.shape().begin() + 1, array.shape().end());
    width_ = element_count(positions_);
    const Array floats = array.to(DType::float32);
    values_.assign(floats.as<float>().begin(), floats.as<float>().end());
    Hasher hasher;
    hasher.text(to_string(array.shape())).bytes(values_.data(), values_.size() * sizeof(float));
    version_ = hasher.hex();
    if (const std::string& ignored = setup.options.text("ignore"); !ignored.empty()) {
      const auto code = static_cast<float>(setup.options.number("ignore"));
      std::ranges::replace(values_, code, std::numeric_limits<float>::quiet_NaN());
    }
    const std::string& given = setup.options.text("name");
    name_hypotheses(!given.empty()       ? given
                    : array_name.empty() ? "array"
                                         : array_name,
                    kind_of(array.dtype(), setup.options.word("kind", kinds)));
  }

  const std::vector<Hypothesis>& hypotheses() const override { return hypotheses_; }
  std::string version() const override { return version_; }

  Behaviours annotate(const RecordBlock& records) const override {
    Behaviours behaviours{positions_, {}};
    for (const std::size_t index : records.batch.indices) {
      const std::size_t row = record_number(records.dataset, index);
      if (row >= rows_) {
        fail(Fault::data, "hypothesis '{}', record '{}': {} has {} records only", hypotheses_[0].name,
             records.dataset.id(index), file_, rows_);
      }
      const std::span<const float> own(values_.data() + row * width_, width_);
      if (classes_ == 0) {
        behaviours.values.insert(behaviours.values.end(), own.begin(), own.end());
        continue;
      }
      std::vector<std::optional<std::size_t>> codes;
      for (const float value : own)
        codes.push_back(std::isnan(value) ? std::nullopt : std::optional(static_cast<std::size_t>(value)));
      append_classes(behaviours.values, codes, classes_);
    }
    return behaviours;
  }

 private:
  BehaviourKind kind_of(DType dtype, const std::string& wanted) const {
    const auto all = [&](auto&& fits) {
      return std::ranges::all_of(values_, [&](float value) { return std::isnan(value) || fits(value); });
    };
    const bool binary = all([](float value) { return value == 0 || value == 1; });
    const bool codes = all([](float value) {
      return value >= 0 && value < static_cast<float>(most_array_classes) && value == std::floor(value);
    });
    if (!all([](float value) { return std::isfinite(value); }))
      fail(Fault::data, "{}: there is an infinite value", file_);
    if ((wanted == "binary" && !binary) || (wanted == "categorical" && !codes))
      fail(Fault::data, "{}: not all values are {}", file_,
           wanted == "binary" ? "0 or 1" : "codes from 0 to 999");
    if (wanted == "numeric" || (wanted == "auto" && !binary && (!codes || is_real(dtype))))
      return BehaviourKind::numeric;
    return wanted == "binary" || (wanted == "auto" && binary) ? BehaviourKind::binary
                                                              : BehaviourKind::categorical;
  }
  void name_hypotheses(const std::string& name, BehaviourKind as) {
    if (as != BehaviourKind::categorical) {
      hypotheses_ = {{name, as}};
      return;
    }
    for (const float value : values_) {
      if (!std::isnan(value)) classes_ = std::max(classes_, static_cast<std::size_t>(value) + 1);
    }
    std::vector<std::string> classes;
    for (std::size_t c = 0; c < classes_; ++c) classes.push_back(std::to_string(c));
    hypotheses_ = class_hypotheses(name, classes);
  }

  static inline const std::vector<std::string> kinds{"auto", "binary", "categorical", "numeric"};
  std::string file_, version_;
  std::size_t rows_ = 0, width_ = 0, classes_ = 0;
  Shape positions_;
  std::vector<float> values_;
  std::vector<Hypothesis> hypotheses_;
};

}  // namespace

AnnotatorInfo array_annotator() {
  return {
      .name = "array",
      .summary = "an array of an .npz or .npy file, a value for each record, symbol or pixel",
      .definition =
          "an array [n], [n, symbols] or [n, height, width]. Zeros and ones are a binary hypothesis, other "
          "whole "
          "numbers of a whole-number type a categorical one and a binary one for each code, 'NAME:CODE', all "
          "else a numeric one. NaN is don't-care",
      .limits = "row k is about record k (whose id, where that is a number); codes go up to 999",
      .paper = "Sellam et al., SIGMOD 2019",
      .options = {{"file", "", "an .npz or .npy file"},
                  {"array", "", "name of the array; may be left out where there is one"},
                  {"kind", "auto", "binary, categorical, numeric, or auto: told from the values"},
                  {"ignore", "", "a value that means don't-care, such as 255"},
                  {"name", "", "what results call it, else the name of the array"}},
      .make = [](const AnnotatorSetup& setup) -> std::unique_ptr<Annotator> {
        return std::make_unique<ArrayValues>(setup);
      }};
}

}  // namespace assay::inspection
