#include "assay/data/texts.h"

#include <algorithm>
#include <utility>

#include <nlohmann/json.hpp>

#include <assay/error.h>
#include "assay/data/name_index.h"
#include "assay/support/files/file.h"
#include "assay/support/text/characters.h"
#include "assay/support/text/parse.h"

namespace assay::inline data {
namespace {

constexpr std::uint64_t most_text_bytes = std::uint64_t{1} << 30;

struct NamedText {
  std::string name, text;
};

std::vector<NamedText> texts_of_json(const std::filesystem::path& file) {
  std::vector<NamedText> texts;
  try {
    const auto root = nlohmann::json::parse(read_file(file, most_text_bytes));
    for (const auto& [name, text] : root.get_ref<const nlohmann::json::object_t&>())
      texts.push_back({name, text.get<std::string>()});
  } catch (const nlohmann::json::exception& error) {
    fail(Fault::data, "{}: this is not a JSON object of texts by the names of records: {}", file.string(),
         error.what());
  }
  return texts;
}

std::vector<std::string> lines_of(const std::filesystem::path& file) {
  std::vector<std::string> lines = parts_of(read_file(file, most_text_bytes), "\n");
  if (lines.back().empty()) lines.pop_back();
  for (std::string& line : lines) {
    if (line.ends_with('\r')) line.pop_back();
  }
  return lines;
}

// Names stand before tabs.
std::vector<NamedText> named_lines(const std::vector<std::string>& lines) {
  std::vector<NamedText> texts;
  for (const std::string& line : lines) {
    const std::size_t tab = line.find('\t');
    texts.push_back({line.substr(0, tab), line.substr(tab + 1)});
  }
  return texts;
}

std::vector<std::vector<char32_t>> in_order(const std::filesystem::path& file,
                                            const std::vector<NamedText>& texts,
                                            std::span<const std::string> ids) {
  NameIndex names;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    if (!names.add(texts[i].name, i))
      fail(Fault::data, "{}: two texts have the name '{}'", file.string(), texts[i].name);
  }
  std::vector<std::vector<char32_t>> all;
  for (const std::string& id : ids) {
    const auto found = names.find(id);
    if (!found) fail(Fault::data, "{}: the text of record '{}' is missing", file.string(), id);
    all.push_back(
        text_characters(texts[*found].text, fmt::format("{}: '{}'", file.string(), texts[*found].name)));
  }
  return all;
}

std::vector<std::vector<char32_t>> a_line_each(const std::filesystem::path& file,
                                               const std::vector<std::string>& lines, std::size_t records) {
  if (lines.size() != records)
    fail(Fault::data,
         "{}: {} lines for {} records; give one line a record, or a name and a tab before each text",
         file.string(), lines.size(), records);
  std::vector<std::vector<char32_t>> all;
  for (std::size_t i = 0; i < lines.size(); ++i)
    all.push_back(text_characters(lines[i], fmt::format("{}: line {}", file.string(), i + 1)));
  return all;
}

}  // namespace

std::vector<char32_t> text_characters(const std::string& text, const std::string& where) {
  constexpr std::size_t most = 100'000;
  auto codes = character_codes(text);
  if (!codes) fail(Fault::data, "{}: the text is not UTF-8", where);
  if (codes->size() > most)
    fail(Fault::resources, "{}: the text has {} characters, and at most {} are read", where, codes->size(),
         most);
  return *std::move(codes);
}

std::vector<std::vector<char32_t>> read_texts(const std::filesystem::path& file,
                                              std::span<const std::string> ids) {
  if (file.extension() == ".json") return in_order(file, texts_of_json(file), ids);
  const std::vector<std::string> lines = lines_of(file);
  const bool named =
      std::ranges::all_of(lines, [](const std::string& line) { return line.find('\t') != line.npos; });
  return named && !lines.empty() ? in_order(file, named_lines(lines), ids)
                                 : a_line_each(file, lines, ids.size());
}

std::vector<float> text_row(std::span<const char32_t> text, std::size_t width) {
  std::vector<float> row(text.begin(), text.end());
  row.resize(width, -1);
  return row;
}

}  // namespace assay::inline data
