#include "assay/inspection/symbols/text.h"

#include <algorithm>
#include <limits>

#include <assay/error.h>
#include "assay/support/ascii.h"
#include "assay/support/files/file.h"
#include "assay/support/text/characters.h"
#include "assay/support/text/visible.h"

namespace assay::inspection {
Characters characters_of(std::string_view text) {
  Characters characters;
  for (std::size_t at = 0; at < text.size();) {
    characters.begins.push_back(at);
    const std::size_t length = utf8_length(text.substr(at));
    const char32_t code =
        length == 0 ? no_character + byte_of(text[at]) : character_code(text.substr(at, length));
    characters.codes.push_back(code);
    at += std::max<std::size_t>(length, 1);
  }
  characters.begins.push_back(text.size());
  return characters;
}

std::vector<std::string> read_lines(const std::filesystem::path& path) {
  const std::string text = read_file(path, std::uint64_t{1} << 30);
  std::vector<std::string> lines;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    std::string line = text.substr(at, end - at);
    if (line.ends_with('\r')) line.pop_back();
    const Characters characters = characters_of(line);
    for (const char32_t code : characters.codes) {
      if (code >= no_character && code < no_character + 256)
        fail(Fault::data, "{}, line {}: this is not UTF-8", path.string(), lines.size() + 1);
    }
    lines.push_back(std::move(line));
    at = end + 1;
  }
  return lines;
}

std::string trimmed_line(std::string_view line) {
  const std::size_t begin = line.find_first_not_of(" \t");
  if (begin == std::string_view::npos) return {};
  return std::string(line.substr(begin, line.find_last_not_of(" \t") - begin + 1));
}

std::size_t symbols_of(const RecordBlock& records, std::string_view annotator) {
  if (records.texts.size() != records.size()) {
    fail(Fault::usage, "hypothesis '{}' reads records as text; give the vocabulary of their tokens",
         annotator);
  }
  const std::size_t symbols = records.texts.empty() ? 0 : records.texts[0].begins.size() - 1;
  for (std::size_t r = 0; r < records.size(); ++r) {
    const std::size_t own = records.texts[r].begins.size() - 1;
    if (own != symbols) {
      fail(Fault::data, "hypothesis '{}', record '{}': {} symbols, but {} in other records", annotator,
           records.dataset.id(records.batch.indices[r]), own, symbols);
    }
  }
  return symbols;
}

TextBehaviours::TextBehaviours(const RecordBlock& records, std::size_t hypotheses, std::string_view annotator)
    : texts_(records.texts),
      hypotheses_(hypotheses),
      symbols_(symbols_of(records, annotator)),
      values_(records.size() * hypotheses * symbols_) {
  for (std::size_t r = 0; r < texts_.size(); ++r) {
    for (std::size_t k = 0; k < symbols_; ++k) {
      if (!is_padding(r, k)) continue;
      for (std::size_t h = 0; h < hypotheses_; ++h) row(r, h)[k] = std::numeric_limits<float>::quiet_NaN();
    }
  }
}

std::span<float> TextBehaviours::row(std::size_t record, std::size_t hypothesis) {
  return std::span(values_).subspan((record * hypotheses_ + hypothesis) * symbols_, symbols_);
}

TextBehaviours::SymbolRange TextBehaviours::symbols(std::size_t record, std::size_t begin,
                                                    std::size_t end) const {
  const std::vector<std::size_t>& begins = texts_[record].begins;
  if (begin >= end) return {0, 0};
  const auto first = std::upper_bound(begins.begin() + 1, begins.end(), begin) - begins.begin() - 1;
  const auto last = std::lower_bound(begins.begin(), begins.end() - 1, end) - begins.begin();
  return {static_cast<std::size_t>(first), static_cast<std::size_t>(last)};
}

bool TextBehaviours::is_padding(std::size_t record, std::size_t symbol) const {
  return texts_[record].begins[symbol] == texts_[record].begins[symbol + 1];
}

void TextBehaviours::mark(std::size_t record, std::size_t hypothesis, std::size_t begin, std::size_t end,
                          float value) {
  const SymbolRange range = symbols(record, begin, end);
  const std::span<float> values = row(record, hypothesis);
  for (std::size_t k = range.first; k < range.last; ++k) {
    if (!is_padding(record, k)) values[k] = value;
  }
}

void TextBehaviours::dont_care(std::size_t record) {
  const std::span<float> values =
      std::span(values_).subspan(record * hypotheses_ * symbols_, hypotheses_ * symbols_);
  std::ranges::fill(values, std::numeric_limits<float>::quiet_NaN());
}

Behaviours TextBehaviours::take() { return {{static_cast<std::int64_t>(symbols_)}, std::move(values_)}; }

}  // namespace assay::inspection
