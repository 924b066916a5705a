#include "assay/inspection/aligned_rows.h"

#include <algorithm>
#include <bit>

#include "assay/support/threads.h"

namespace assay::inspection {
namespace {

bool all_finite(std::span<const float> values) {
  constexpr std::uint32_t exponent = 0x7f800000;
  bool finite = true;
  for (const float value : values) finite &= (std::bit_cast<std::uint32_t>(value) & exponent) != exponent;
  return finite;
}

}  // namespace

AlignedRows aligned_rows(const Chunk& chunk, std::size_t count, const StatePair& pair,
                         const Alignment& alignment, const RequestedHypotheses& hypotheses,
                         std::span<const std::uint32_t> documents, std::size_t threads) {
  const Array& values = chunk.units[pair.group];
  const std::size_t width = pair.units.size(), columns = pair.hypotheses.size(),
                    per_record = alignment.rows();
  const std::size_t positions = values.size(1);
  const std::size_t symbols = chunk.size() == 0 ? 0 : chunk.padding.size() / chunk.size();
  const bool has_tokens = chunk.batch.inputs.dtype() == DType::int64 &&
                          alignment.rows() == hypotheses.symbols() && hypotheses.symbols() > 1;
  AlignedRows rows;
  rows.units.resize(count * per_record * width);
  rows.behaviours.resize(count * per_record * columns);
  std::vector<char> kept(count * per_record, 1);  // 0: not finite, 2: padding
  parallel_for(count, threads, [&](std::size_t r) {
    const std::span<const char> padding = std::span(chunk.padding).subspan(r * symbols, symbols);
    const std::span<float> own(rows.units.data() + r * per_record * width, per_record * width);
    alignment.units({values.elements<float>() + r * positions * width, positions * width}, width, padding,
                    own);
    for (std::size_t c = 0; c < columns; ++c) {
      const std::size_t at = r * per_record * columns + c;
      alignment.behaviour(chunk.behaviours.of(r, pair.hypotheses[c]),
                          hypotheses.hypotheses()[pair.hypotheses[c]].kind, padding, columns,
                          {rows.behaviours.data() + at, rows.behaviours.size() - at});
    }
    for (std::size_t k = 0; k < per_record; ++k) {
      if (alignment.is_padding(k, padding))
        kept[r * per_record + k] = 2;
      else if (!all_finite(own.subspan(k * width, width)))
        kept[r * per_record + k] = 0;
    }
  });
  std::size_t to = 0;
  for (std::size_t row = 0; row < kept.size(); ++row) {
    rows.padding += kept[row] == 2, rows.not_finite += kept[row] == 0;
    if (kept[row] != 1) continue;
    if (to != row) {
      std::copy_n(rows.units.begin() + row * width, width, rows.units.begin() + to * width);
      std::copy_n(rows.behaviours.begin() + row * columns, columns, rows.behaviours.begin() + to * columns);
    }
    rows.records.push_back(documents[chunk.batch.indices[row / per_record]]);
    if (has_tokens)
      rows.symbols.push_back(static_cast<std::uint32_t>(chunk.batch.inputs.as<std::int64_t>()[row]));
    ++to;
  }
  rows.units.resize(to * width), rows.behaviours.resize(to * columns);
  return rows;
}

std::vector<float> raw_rows(const Chunk& chunk, std::size_t group) {
  const Array& values = chunk.units[group];
  const std::size_t positions = values.size(1), width = values.size(2);
  const std::size_t symbols = chunk.padding.size() / chunk.size();
  std::vector<float> rows;
  for (std::size_t r = 0; r < chunk.size(); ++r) {
    for (std::size_t p = 0; p < positions; ++p) {
      const std::span<const float> row(values.elements<float>() + (r * positions + p) * width, width);
      const bool padded = symbols == positions && chunk.padding[r * symbols + p] != 0;
      if (!padded && all_finite(row)) rows.insert(rows.end(), row.begin(), row.end());
    }
  }
  return rows;
}

}  // namespace assay::inspection
