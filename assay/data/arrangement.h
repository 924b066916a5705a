#pragma once

// How the numbers of a source become those of a data set: the options layout, flatten, scale, mean, std,
// range.

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <assay/dataset.h>
#include <assay/extend/data_format.h>

namespace assay::inline data {

class Arrangement {
 public:
  // Throws Error{usage} for options that do not fit the source, Error{data} and Error{resources} for records
  // without elements and giant ones. `text`: the data set as it was written, for messages.
  Arrangement(const DataSpec& spec, const std::string& text, const Source& source);

  // Of a record as it is given out.
  const Shape& record_shape() const { return record_shape_; }
  const std::vector<InputFacts>& others() const { return others_; }
  const std::optional<ValidRange>& valid_range() const { return valid_range_; }

  // Changes a record of the first input, as the source gave it, in place. False where it holds a NaN or an
  // infinity then.
  bool apply(std::span<float> values) const;
  // The same of a further input, which is taken as it is but for pictures with channels last.
  void apply_to_other(std::size_t which, std::span<std::byte> elements) const;

 private:
  // Valid values before mean and std, one pair for all channels or one for each.
  struct Bounds {
    std::vector<double> low, high;
  };

  void arrange(const DataSpec& spec, const std::string& text, const Source& source);
  void set_factors(const std::vector<double>& mean, const std::vector<double>& deviation, double scale,
                   const std::string& text);
  static std::optional<Bounds> bounds_of_values(const DataSpec& spec, const Source& source, double scale);
  static Bounds bounds_in(const std::string& text);
  void add_range(double low, double high, double mean, double deviation, const std::string& text);

  Shape record_shape_;
  std::vector<InputFacts> others_;
  std::optional<ValidRange> valid_range_;
  std::vector<float> scale_{1}, shift_{0};  // value * scale + shift, one for all or one per channel
  std::size_t channels_last_ = 0;           // channels of the source's records, where they are the last axis
};

}  // namespace assay::inline data
