#include "apps/assay/suspect_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace assay::app {
namespace {

using Kind = Column::Kind;

std::string label_of(const Dataset& data, std::size_t record) {
  return data.has_labels() ? data.class_names().at(static_cast<std::size_t>(data.label(record))) : "";
}

// RFC 4180.
std::string csv_field(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? "\"\"" : std::string(1, c);
  return quoted + "\"";
}

}  // namespace

Table suspect_table(const Dataset& training, const Dataset& findings, const Suspicion& suspicion, const std::vector<std::size_t>& order, std::size_t rows) {
  Table table{"suspects", "Most suspicious training records",
              {{"rank", "rank", Kind::count}, {"record", "record"}, {"label", "label"}, {"similarity", "similarity", Kind::number, 4}, {"finding", "to finding"},
               {"mean", "to all, mean", Kind::number, 4}, {"votes", "votes", Kind::count}},
              {}, false};
  for (std::size_t i = 0; i < std::min(rows, order.size()); ++i) {
    const Suspect& s = suspicion.suspects[order[i]];
    table.rows.push_back({static_cast<std::int64_t>(i + 1), training.id(s.record), label_of(training, s.record), s.similarity, findings.id(s.finding), s.mean,
                          static_cast<std::int64_t>(s.votes)});
  }
  return table;
}

Table inspection_table(const std::vector<bool>& polluted, std::size_t all) {
  Table table{"inspection", "Polluted records found",
              {{"inspected", "suspects inspected", Kind::count}, {"found", "found", Kind::count}, {"recall", "of the polluted", Kind::percent},
               {"precision", "of the inspected", Kind::percent}},
              {}, false};
  for (const double share : {0.1, 0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 2.0}) {
    const auto inspected = static_cast<std::size_t>(std::llround(share * static_cast<double>(all)));
    if (inspected < 1 || inspected > polluted.size()) continue;
    const auto found = std::count(polluted.begin(), polluted.begin() + static_cast<std::ptrdiff_t>(inspected), true);
    table.rows.push_back({static_cast<std::int64_t>(inspected), static_cast<std::int64_t>(found), static_cast<double>(found) / static_cast<double>(all),
                          static_cast<double>(found) / static_cast<double>(inspected)});
  }
  return table;
}

std::string suspects_as_csv(const Dataset& training, const Dataset& findings, const Suspicion& suspicion, const std::vector<std::size_t>& order) {
  std::string text = "rank,id,label,similarity,mean,votes,finding\n";
  for (std::size_t i = 0; i < order.size(); ++i) {
    const Suspect& s = suspicion.suspects[order[i]];
    text += fmt::format("{},{},{},{:.17g},{:.17g},{},{}\n", i + 1, csv_field(training.id(s.record)), csv_field(label_of(training, s.record)), s.similarity, s.mean, s.votes,
                        csv_field(findings.id(s.finding)));
  }
  return text;
}

}  // namespace assay::app
