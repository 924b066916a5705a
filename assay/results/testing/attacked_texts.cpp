#include "assay/results/testing/attacked_texts.h"

#include <algorithm>

#include <assay/tokenizer.h>
#include "assay/results/document.h"
#include "assay/results/networks/text_map.h"

namespace assay::results {
namespace {

struct AttackedText {
  std::string attack, record;
  bool success;
  std::string predicted, before, after;
};

report::Table texts_table(std::span<const AttackedText> texts) {
  return table_of("attacked_texts", "Texts", texts,
                  {{"attack", &AttackedText::attack},
                   {"record", &AttackedText::record},
                   {"success", &AttackedText::success},
                   {"predicted", "class", &AttackedText::predicted},
                   {"before", &AttackedText::before},
                   {"after", &AttackedText::after}});
}

std::string attacked_text(const Array& records, std::size_t row, const text::Tokenizer& tokenizer) {
  const auto tokens = records.as<std::int64_t>();
  const std::size_t length = records.size(1);
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
  std::vector<AttackedText> texts;
  for (std::size_t i = 0; i < shown.size(); ++i) {
    const attack::AttackedRecord& record = summary.records[shown[i]];
    texts.push_back({summary.spec.name, data.id(record.original), record.success,
                     class_name(data.class_names(), record.predicted),
                     attacked_text(before.inputs, i, tokenizer), attacked_text(after.inputs, i, tokenizer)});
  }
  report::Table table = texts_table(texts);
  const auto earlier = std::ranges::find(document.tables, table.id, &report::Table::id);
  if (earlier == document.tables.end())
    document.tables.push_back(std::move(table));
  else
    std::ranges::move(table.rows, std::back_inserter(earlier->rows));
}

}  // namespace assay::results
