#include "assay/results/testing/attacked_texts.h"

#include <algorithm>

#include <assay/tokenizer.h>
#include "assay/results/networks/text_map.h"

namespace assay::results {
namespace {

report::Table& texts_table(report::Document& document) {
  const auto found = std::ranges::find(document.tables, "attacked_texts", &report::Table::id);
  if (found != document.tables.end()) return *found;
  return document.tables.emplace_back(report::Table{.id = "attacked_texts",
                                                    .title = "Texts",
                                                    .columns = {{"attack", "attack"},
                                                                {"record", "record"},
                                                                {"success", "success"},
                                                                {"predicted", "class"},
                                                                {"before", "before"},
                                                                {"after", "after"}},
                                                    .rows = {}});
}

std::string attacked_text(const Array& records, std::size_t row, const text::Tokenizer& tokenizer) {
  const auto tokens = records.as<std::int64_t>();
  const auto length = static_cast<std::size_t>(records.size(1));
  return tokenizer.decode(tokens.subspan(row * length, length));
}

}  // namespace

void add_attacked_texts(report::Document& document, const attack::AttackSummary& summary, const Dataset& data,
                        const std::string& tokenizer_file, std::size_t count) {
  if (!is_text(data) || summary.records.empty() || count == 0) return;
  const bool any = summary.succeeded > 0;
  std::vector<std::size_t> shown, originals;
  for (std::size_t i = 0; i < summary.records.size() && shown.size() < count; ++i) {
    if (any && !summary.records[i].success) continue;
    shown.push_back(i);
    originals.push_back(summary.records[i].original);
  }
  const text::Tokenizer tokenizer{std::filesystem::path(tokenizer_file)};
  const Batch before = data.read(originals), after = open_dataset(summary.data)->read(shown);
  report::Table& table = texts_table(document);
  for (std::size_t i = 0; i < shown.size(); ++i) {
    const attack::AttackedRecord& record = summary.records[shown[i]];
    const auto named = static_cast<std::size_t>(record.predicted);
    table.rows.push_back(
        {summary.spec.name, data.id(record.original), record.success,
         named < data.class_names().size() ? data.class_names()[named] : std::to_string(named),
         attacked_text(before.inputs, i, tokenizer), attacked_text(after.inputs, i, tokenizer)});
  }
}

}  // namespace assay::results
