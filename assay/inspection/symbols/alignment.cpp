#include "assay/inspection/symbols/alignment.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <stdexcept>

namespace assay::inspection {
namespace {

using AlignAt = AlignOptions::Rows;
using ReduceTo = AlignOptions::Reduce;

std::string positions_text(const Shape& positions) {
  return positions.empty() ? "one value a record" : "positions " + to_string(positions);
}

// Position k of `positions` along an axis with `others`: the one that covers the same part of it.
std::size_t covering(std::size_t k, std::size_t positions, std::size_t others) {
  return std::min(others - 1, (2 * k + 1) * others / (2 * positions));
}

// The positions of a shape with one or two axes, as one number per axis.
std::vector<std::int64_t> coordinates(const Shape& shape, std::size_t position) {
  std::vector<std::int64_t> at(shape.size());
  for (std::size_t axis = shape.size(); axis-- > 0;) {
    const std::size_t size = shape[axis];
    at[axis] = position % size;
    position /= size;
  }
  return at;
}

// Whether this position of a record of so many is one of padding. One value of a whole record of several
// symbols is none.
bool padded(std::size_t position, std::size_t positions, std::span<const char> padding) {
  if (positions == 1 && padding.size() > 1) return false;
  return !padding.empty() && padding[covering(position, positions, padding.size())] != 0;
}

float most_frequent(const std::map<float, std::size_t>& counts) {
  const auto most = std::ranges::max_element(counts, {}, [](const auto& entry) { return entry.second; });
  return most == counts.end() ? std::numeric_limits<float>::quiet_NaN() : most->first;
}

}  // namespace

Alignment::Alignment(const Shape& units, const Shape& hypotheses, const AlignOptions& options, bool recurrent,
                     const Shape& extent, std::vector<Centres> centres, std::size_t symbols)
    : unit_positions_(element_count(units)), hypothesis_positions_(element_count(hypotheses)) {
  const bool one = units.empty() || hypotheses.empty();
  if (options.rows == AlignAt::record || (one && (options.rows == AlignAt::hypothesis || units.empty()))) {
    reduce_both(units, hypotheses, options, recurrent);
  } else if (hypotheses.empty()) {
    rows_ = unit_positions_;
    from_behaviours_.assign(rows_, 0);
    description_ = "the value of the record at every position";
  } else if (units == hypotheses) {
    rows_ = unit_positions_;
    description_ = "position by position";
  } else {
    if (units.size() != hypotheses.size() || units.size() > 2)
      throw std::invalid_argument(fmt::format("units have {}, the hypothesis has {}", positions_text(units),
                                              positions_text(hypotheses)));
    for (std::size_t axis = centres.size(); axis < units.size(); ++axis)
      centres.push_back(evenly(units[axis], extent[axis]));
    options.rows == AlignAt::units ? take_nearest(units, hypotheses, extent, centres)
                                   : interpolate(units, hypotheses, extent, centres);
  }
  if (symbols == 0 || reduced_) return;
  for (std::size_t r = 0; r < rows_; ++r)
    from_symbols_.push_back(static_cast<std::uint32_t>(covering(r, rows_, symbols)));
}

void Alignment::reduce_both(const Shape& units, const Shape& hypotheses, const AlignOptions& options,
                            bool recurrent) {
  reduced_ = true;
  reduce_units_ = options.reduce != ReduceTo::automatic ? options.reduce
                  : recurrent                           ? ReduceTo::last
                                                        : ReduceTo::mean;
  const ReduceTo usual = hypotheses.size() == 1 ? ReduceTo::last : ReduceTo::mean;
  reduce_behaviours_ = options.reduce == ReduceTo::automatic ? usual : options.reduce;
  const auto how = [](ReduceTo reduce) {
    return reduce == ReduceTo::last  ? "the last position"
           : reduce == ReduceTo::max ? "the greatest"
                                     : "the mean";
  };
  description_ = "one row a record";
  if (!units.empty()) description_ += fmt::format("; units: {} of {}", how(reduce_units_), to_string(units));
  if (!hypotheses.empty())
    description_ += fmt::format("; hypothesis: {} of {}", how(reduce_behaviours_), to_string(hypotheses));
}

void Alignment::interpolate(const Shape& units, const Shape& hypotheses, const Shape& extent,
                            const std::vector<Centres>& centres) {
  rows_ = hypothesis_positions_;
  description_ = fmt::format("units interpolated from {} to {}", to_string(units), to_string(hypotheses));
  for (std::size_t r = 0; r < rows_; ++r) {
    const std::vector<std::int64_t> at = coordinates(hypotheses, r);
    std::vector<Weighted> sources{{0, 1}};
    for (std::size_t axis = 0; axis < units.size(); ++axis) {
      const double place = evenly(hypotheses[axis], extent[axis]).at(static_cast<double>(at[axis]));
      const double last = units[axis] - 1;
      const double exact = std::clamp(centres[axis].position(place), 0.0, last);
      const auto low = static_cast<std::uint32_t>(exact);
      const auto share = static_cast<float>(exact - low);
      std::vector<Weighted> next;
      for (const Weighted& source : sources) {
        const auto base = source.position * static_cast<std::uint32_t>(units[axis]) + low;
        if (share < 1) next.push_back({base, source.weight * (1 - share)});
        if (share > 0) next.push_back({base + 1, source.weight * share});
      }
      sources = std::move(next);
    }
    from_units_.push_back(std::move(sources));
  }
}

void Alignment::take_nearest(const Shape& units, const Shape& hypotheses, const Shape& extent,
                             const std::vector<Centres>& centres) {
  rows_ = unit_positions_;
  description_ = fmt::format("hypothesis taken where units of {} look, from {}", to_string(units),
                             to_string(hypotheses));
  for (std::size_t r = 0; r < rows_; ++r) {
    const std::vector<std::int64_t> at = coordinates(units, r);
    std::int64_t position = 0;
    for (std::size_t axis = 0; axis < units.size(); ++axis) {
      const double place = centres[axis].at(static_cast<double>(at[axis]));
      const double exact = std::floor(evenly(hypotheses[axis], extent[axis]).position(place) + 0.5);
      position = position * hypotheses[axis] +
                 static_cast<std::int64_t>(std::clamp(exact, 0.0, static_cast<double>(hypotheses[axis] - 1)));
    }
    from_behaviours_.push_back(static_cast<std::uint32_t>(position));
  }
}

void Alignment::units(std::span<const float> from, std::size_t width, std::span<const char> padding,
                      std::span<float> to) const {
  if (!reduced_ && from_units_.empty()) {
    std::ranges::copy(from, to.begin());
    return;
  }
  std::ranges::fill(to, 0.0F);
  if (!reduced_) {
    for (std::size_t r = 0; r < rows_; ++r) {
      for (const Weighted& source : from_units_[r]) {
        const float* const row = from.data() + source.position * width;
        for (std::size_t u = 0; u < width; ++u) to[r * width + u] += source.weight * row[u];
      }
    }
    return;
  }
  std::vector<double> sums(width, 0);
  std::size_t count = 0;
  for (std::size_t p = 0; p < unit_positions_; ++p) {
    if (padded(p, unit_positions_, padding)) continue;
    ++count;
    for (std::size_t u = 0; u < width; ++u) {
      const double value = from[p * width + u];
      if (reduce_units_ == ReduceTo::mean)
        sums[u] += value;
      else if (count == 1 || reduce_units_ == ReduceTo::last || value > sums[u] || std::isnan(value))
        sums[u] = value;
    }
  }
  const double divisor =
      reduce_units_ == ReduceTo::mean ? static_cast<double>(std::max<std::size_t>(count, 1)) : 1;
  for (std::size_t u = 0; u < width; ++u) to[u] = static_cast<float>(sums[u] / divisor);
}

void Alignment::behaviour(std::span<const float> from, BehaviourKind kind, std::span<const char> padding,
                          std::size_t step, std::span<float> to) const {
  if (!reduced_) {
    for (std::size_t r = 0; r < rows_; ++r)
      to[r * step] = from[from_behaviours_.empty() ? r : from_behaviours_[r]];
    return;
  }
  double sum = 0;
  float last = std::numeric_limits<float>::quiet_NaN(), most = last;
  std::size_t count = 0;
  std::map<float, std::size_t> codes;
  for (std::size_t p = 0; p < hypothesis_positions_; ++p) {
    if (padded(p, hypothesis_positions_, padding)) continue;
    last = from[p];
    if (std::isnan(last)) continue;
    ++count;
    sum += last;
    if (!(last <= most)) most = last;
    if (kind == BehaviourKind::categorical) ++codes[last];
  }
  if (reduce_behaviours_ == ReduceTo::last)
    to[0] = last;
  else if (reduce_behaviours_ == ReduceTo::max)
    to[0] = most;
  else if (kind == BehaviourKind::categorical)
    to[0] = most_frequent(codes);
  else
    to[0] = count == 0 ? std::numeric_limits<float>::quiet_NaN() : static_cast<float>(sum / count);
}

bool Alignment::is_padding(std::size_t row, std::span<const char> padding) const {
  if (padding.empty()) return false;
  if (reduced_) return std::ranges::all_of(padding, [](char flag) { return flag != 0; });
  return !from_symbols_.empty() && padding[from_symbols_[row]] != 0;
}

}  // namespace assay::inspection
