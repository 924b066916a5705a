#include "assay/results/networks/text_map.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <fstream>
#include <numeric>
#include <optional>
#include <string_view>

#include <fmt/format.h>

#include <assay/error.h>
#include <assay/evaluate.h>
#include <assay/extend/random.h>
#include <assay/tokenizer.h>
#include "assay/relevance/item_target.h"
#include "assay/report/escape.h"
#include "assay/results/document.h"
#include "assay/results/networks/explained.h"
#include "assay/support/files/file.h"
#include "assay/support/text/characters.h"
#include "assay/task/standing.h"
#include "assay/text/words.h"

namespace assay::results {
namespace {

// Sizes of the picture, in its units.
constexpr int letter_width = 9, line_height = 28, page_margin = 8, page_width = 900;

struct TokenRow {
  std::vector<std::int64_t> ids;  // without those that fill up
  std::vector<double> relevance;
};

bool is_filling(const Batch& batch, std::size_t element, std::int64_t id,
                const std::optional<text::Tokenizer>& tokenizer) {
  for (const NamedArray& other : batch.others)
    if (other.name == "attention_mask") return other.values.as<std::int64_t>()[element] == 0;
  return tokenizer && tokenizer->padding() == id;
}

TokenRow tokens_of_row(const Batch& batch, const Array& relevance, std::size_t row,
                       const std::optional<text::Tokenizer>& tokenizer) {
  const auto ids = batch.inputs.as<std::int64_t>();
  const auto heat = relevance.as<float>();
  const std::size_t length = ids.size() / batch.indices.size();
  TokenRow tokens;
  for (std::size_t i = row * length; i < (row + 1) * length; ++i) {
    if (is_filling(batch, i, ids[i], tokenizer)) continue;
    tokens.ids.push_back(ids[i]);
    tokens.relevance.push_back(heat[i]);
  }
  return tokens;
}

std::vector<text::Word> words_of_row(const TokenRow& row, const std::optional<text::Tokenizer>& tokenizer) {
  if (tokenizer) return text::words_of(*tokenizer, row.ids);
  std::vector<text::Word> words;
  for (std::size_t i = 0; i < row.ids.size(); ++i)
    words.push_back({i, i + 1, fmt::format("#{}", row.ids[i])});
  return words;
}

struct ExplainedText {
  std::string record;
  std::optional<std::string> named;
  double start, arriving;
  std::string text;
};

report::Table text_table(std::span<const ExplainedText> texts) {
  return table_of("texts", "Words that speak for the decision, and against it (-)", texts,
                  {{"record", &ExplainedText::record},
                   {"class", &ExplainedText::named},
                   {"start", "relevance put in", 4, &ExplainedText::start},
                   {"arriving", "at the tokens", 4, &ExplainedText::arriving},
                   {"text", &ExplainedText::text}});
}

struct ExplainedWord {
  std::string record;
  text::Word word;
  double relevance, share;
};

report::Table word_table(std::span<const ExplainedWord> words) {
  return detailed(table_of("words", "Relevance of words", words,
                           {{"record", &ExplainedWord::record},
                            {"position", "first token", [](auto& one) { return one.word.begin; }},
                            {"tokens", [](auto& one) { return one.word.end - one.word.begin; }},
                            {"word", [](auto& one) { return one.word.text; }},
                            {"relevance", 6, &ExplainedWord::relevance},
                            {"share", "share of the strongest", 3, &ExplainedWord::share}}));
}

struct Codes {
  char32_t first, last;
};
// Characters as wide as two letters, and those that change the one before.
constexpr std::array<Codes, 8> wide{{{0x1100, 0x115F},
                                     {0x2E80, 0xA4CF},
                                     {0xAC00, 0xD7A3},
                                     {0xF900, 0xFAFF},
                                     {0xFE30, 0xFE6F},
                                     {0xFF00, 0xFF60},
                                     {0x1F000, 0x1FAFF},
                                     {0x20000, 0x3FFFD}}};
constexpr std::array<Codes, 6> joining{
    {{0x300, 0x36F}, {0x591, 0x5BD}, {0x64B, 0x65F}, {0x200B, 0x200F}, {0xFE00, 0xFE0F}, {0x1F3FB, 0x1F3FF}}};
constexpr char32_t joiner = 0x200D;

bool is_in(std::span<const Codes> all, char32_t code) {
  return std::ranges::any_of(all, [code](Codes one) { return code >= one.first && code <= one.last; });
}

std::size_t letters_of(const std::string& text) {
  const auto codes = character_codes(text);
  if (!codes) return text.size();
  std::size_t letters = 0;
  char32_t before = 0;
  for (const char32_t code : *codes) {
    if (before != joiner && !is_in(joining, code)) letters += is_in(wide, code) ? 2 : 1;
    before = code;
  }
  return letters;
}

// Black is hard to read on a strong blue.
std::string_view letter_colour(double share) { return share < -0.39 ? "white" : "black"; }

}  // namespace

std::string shade_colour(double share) {
  const auto faded = static_cast<int>(255 * (1 - std::sqrt(std::min(1.0, std::abs(share)))));
  return fmt::format("rgb({},{},{})", share >= 0 ? 255 : faded, faded, share >= 0 ? faded : 255);
}

std::string shaded_line(std::span<const ShadedWord> words) {
  constexpr std::array<std::string_view, 8> bars{"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  std::string text;
  for (const ShadedWord& word : words) {
    const double height = std::min(1.0, std::abs(word.share)) * (bars.size() - 1);
    text += fmt::format("{}{}{}{}", text.empty() ? "" : " ", word.text, word.share < 0 ? "-" : "",
                        bars[std::lround(height)]);
  }
  return text;
}

std::string shaded_picture(std::span<const ShadedWord> words) {
  int x = page_margin, y = page_margin;
  std::string body;
  for (const ShadedWord& word : words) {
    const int width = letter_width * static_cast<int>(letters_of(word.text)) + 6;
    if (x > page_margin && x + width > page_width) x = page_margin, y += line_height;
    body += fmt::format(
        "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" rx=\"3\" fill=\"{}\"/>"
        "<text x=\"{}\" y=\"{}\" fill=\"{}\">{}</text>\n",
        x, y, width, line_height - 6, shade_colour(word.share), x + 3, y + line_height - 12,
        letter_colour(word.share), report::xml_escaped(word.text));
    x += width + 4;
  }
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{}\" height=\"{}\" font-family=\"monospace\" "
      "font-size=\"15\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n{}</svg>\n",
      page_width + 2 * page_margin, y + line_height + page_margin, body);
}

bool is_text(const Dataset& data) { return data.dtype() == DType::int64 && data.record_shape().size() == 1; }

void add_text_maps(report::Document& document, const Session& session, const Dataset& data,
                   const std::string& method, relevance::AttributionOptions options, const Drawing& drawing,
                   const std::string& tokenizer_file, const task::Task* task) {
  std::optional<text::Tokenizer> tokenizer;
  if (!tokenizer_file.empty()) tokenizer.emplace(std::filesystem::path(tokenizer_file));
  const std::vector<std::size_t> chosen =
      Rng(drawing.seed).sample(data.size(), std::min(drawing.count, data.size()));
  const Batch batch = data.read(chosen);
  const Tensors given = session.bind(batch);
  const ValueId input = session.first_input(data.facts());
  options.wanted = {input};
  options.outputs = data.target_width() > 0 && task == nullptr;
  const Explained explained = explained_of(session, batch, given, data, task);
  const relevance::Relevance found = relevance::make_attribution(method, session, options)
                                         ->attribute(given, explained.target, std::span(&input, 1));
  const Array relevance = found.values.at(input).contiguous();
  std::vector<ExplainedText> records;
  std::vector<ExplainedWord> all;
  for (std::size_t r = 0; r < chosen.size(); ++r) {
    const TokenRow row = tokens_of_row(batch, relevance, r, tokenizer);
    const std::string id = data.id(chosen[r]);
    double strongest = 0, arriving = 0;
    std::vector<ShadedWord> shaded;
    const std::vector<text::Word> words = words_of_row(row, tokenizer);
    std::vector<double> sums;
    for (const text::Word& word : words) {
      sums.push_back(
          std::accumulate(row.relevance.begin() + word.begin, row.relevance.begin() + word.end, 0.0));
      strongest = std::max(strongest, std::abs(sums.back()));
      arriving += sums.back();
    }
    for (std::size_t w = 0; w < words.size(); ++w) {
      const double share = strongest > 0 ? sums[w] / strongest : 0;
      shaded.push_back({words[w].text, share});
      all.push_back({id, words[w], sums[w], share});
    }
    records.push_back({id, named_class(explained, r, data), found.start[r], arriving, shaded_line(shaded)});
    const auto path = drawing.folder / fmt::format("relevance-{}.svg", chosen[r]);
    write_file(path, shaded_picture(shaded));
    document.pictures.push_back({caption_of(explained, r, id, data), path});
  }
  document.tables.push_back(text_table(records));
  document.tables.push_back(word_table(all));
}

}  // namespace assay::results
