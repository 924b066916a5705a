#include "assay/audit/values.h"

#include <algorithm>
#include <bit>

#include "assay/support/numbers/vectorised.h"

namespace assay::audit {
namespace {

ASSAY_VECTORISED void join(const std::uint64_t* __restrict row, std::size_t words,
                           std::uint64_t* __restrict bits) {
  for (std::size_t w = 0; w < words; ++w) bits[w] |= row[w];
}
ASSAY_VECTORISED std::uint64_t count_bits(const std::uint64_t* bits, std::size_t words) {
  std::uint64_t count = 0;
  for (std::size_t w = 0; w < words; ++w) count += std::popcount(bits[w]);
  return count;
}

}  // namespace

Valuer::Valuer(const selection::CoveredRows& rows, std::size_t records)
    : rows_(&rows), items_(rows.item_limit()) {
  constexpr std::size_t most_words = std::size_t{1} << 25;  // 256 MiB
  const std::size_t words = (items_ + 63) / 64;
  // Marking an item takes about as long as joining four words.
  if (words == 0 || records * words > most_words || words * records > 4 * rows.items.size()) return;
  words_ = words;
  bits_.resize(records * words_);
  for (std::size_t r = 0; r < records; ++r) {
    for (const std::uint32_t item : rows.row(r))
      bits_[r * words_ + item / 64] |= std::uint64_t{1} << (item % 64);
  }
}

Valuer::Valuer(const Measured& measured)
    : Valuer(measured.rows, measured.scores.empty() ? measured.rows.records() : 0) {
  if (!measured.scores.empty()) scores_ = &measured.scores;
}

double Valuer::value(std::span<const std::uint32_t> subset, std::span<const std::uint32_t> place,
                     std::vector<std::uint64_t>& bits, std::vector<std::uint32_t>& marks,
                     std::uint32_t& mark) const {
  const auto row_of = [&](std::uint32_t record) { return place.empty() ? record : place[record]; };
  if (scores_ != nullptr) {
    double sum = 0;
    for (const std::uint32_t record : subset) sum += (*scores_)[row_of(record)];
    return sum;
  }
  if (words_ > 0) {
    std::ranges::fill(bits, 0);
    for (const std::uint32_t record : subset)
      join(bits_.data() + row_of(record) * words_, words_, bits.data());
    return count_bits(bits.data(), words_);
  }
  ++mark;
  std::uint64_t count = 0;
  for (const std::uint32_t record : subset) {
    for (const std::uint32_t item : rows_->row(row_of(record))) {
      count += marks[item] != mark;
      marks[item] = mark;
    }
  }
  return count;
}

Values Valuer::values(const std::vector<Stratum>& strata, std::span<const std::uint32_t> place) const {
  std::vector<std::uint64_t> bits(words_);
  std::vector<std::uint32_t> marks(words_ > 0 || scores_ != nullptr ? 0 : items_);
  std::uint32_t mark = 0;
  Values all;
  for (const Stratum& stratum : strata) {
    std::vector<double>& of_stratum = all.emplace_back();
    for (const auto& subset : stratum.subsets) of_stratum.push_back(value(subset, place, bits, marks, mark));
  }
  return all;
}

}  // namespace assay::audit
