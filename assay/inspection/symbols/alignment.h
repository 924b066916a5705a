#pragma once

// Maps the positions of units and those of hypotheses to the rows that measures see.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <assay/inspection.h>
#include "assay/inspection/symbols/receptive_field.h"

namespace assay::inspection {

// Of one group of units and the hypotheses that have the same positions.
class Alignment {
 public:
  // `units`, `hypotheses`: positions of one record. `recurrent`: the last position of the units has seen all
  // of it. `extent`: of a record along the same axes, from which `centres` are counted (empty: spread
  // evenly). `symbols`: of a record that may be padding, 0 for none. Throws std::invalid_argument, saying
  // why, where they cannot be aligned.
  Alignment(const Shape& units, const Shape& hypotheses, const AlignOptions& options, bool recurrent,
            const Shape& extent, std::vector<Centres> centres, std::size_t symbols);

  std::size_t rows() const { return rows_; }  // of one record
  const std::string& describe() const { return description_; }

  // Units of one record, [positions, width], as [rows, width]. `padding`: one entry per symbol, or empty.
  void units(std::span<const float> from, std::size_t width, std::span<const char> padding,
             std::span<float> to) const;
  // Values of one hypothesis in one record, written to every `step`th element of `to`.
  void behaviour(std::span<const float> from, BehaviourKind kind, std::span<const char> padding,
                 std::size_t step, std::span<float> to) const;
  // True where the row is a position that is padding.
  bool is_padding(std::size_t row, std::span<const char> padding) const;

 private:
  struct Weighted {
    std::uint32_t position;
    float weight;
  };
  void reduce_both(const Shape& units, const Shape& hypotheses, const AlignOptions& options, bool recurrent);
  void interpolate(const Shape& units, const Shape& hypotheses, const Shape& extent,
                   const std::vector<Centres>& centres);
  void take_nearest(const Shape& units, const Shape& hypotheses, const Shape& extent,
                    const std::vector<Centres>& centres);

  std::size_t rows_ = 1, unit_positions_ = 1, hypothesis_positions_ = 1;
  bool reduced_ = false;  // one row a record
  AlignOptions::Reduce reduce_units_ = AlignOptions::Reduce::mean,
                       reduce_behaviours_ = AlignOptions::Reduce::mean;
  // Of each row; empty: row and position are the same.
  std::vector<std::vector<Weighted>> from_units_;
  std::vector<std::uint32_t> from_behaviours_, from_symbols_;
  std::string description_;
};

}  // namespace assay::inspection
