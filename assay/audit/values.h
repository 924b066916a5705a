#pragma once

// Values of subsets by a measurement, for many of them: the number of different items, or the sum of scores.

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <assay/audit.h>
#include "assay/audit/subsets.h"

namespace assay::audit {

// Values of subsets, stratum by stratum.
using Values = std::vector<std::vector<double>>;

class Valuer {
 public:
  // Keeps rows as bits where that is less work than lists. `measured` must outlive this.
  explicit Valuer(const Measured& measured);
  Valuer(const selection::CoveredRows& rows, std::size_t records);

  // Of all subsets, with the row of record place[r] instead of that of record r; `place` empty: each its own.
  // Thread-safe.
  Values values(const std::vector<Stratum>& strata, std::span<const std::uint32_t> place = {}) const;

 private:
  double value(std::span<const std::uint32_t> subset, std::span<const std::uint32_t> place,
               std::vector<std::uint64_t>& bits, std::vector<std::uint32_t>& marks,
               std::uint32_t& mark) const;

  const selection::CoveredRows* rows_;
  const std::vector<double>* scores_ = nullptr;
  std::size_t items_ = 0, words_ = 0;  // words_: of a record's bits; 0: lists
  std::vector<std::uint64_t> bits_;    // [records, words_]
};

}  // namespace assay::audit
