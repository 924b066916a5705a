#pragma once

// Figures of results over time: a file that grows by a line for each result (docs/history.md).

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include <assay/gate.h>
#include <assay/report.h>

namespace assay::report {

struct HistoryEntry {
  std::string finished, command, network;  // network: may be empty
  struct Figure {
    std::string name;  // as gates have it
    double value = 0;
    bool higher_is_better = true;
    bool operator==(const Figure&) const = default;
  };
  std::vector<Figure> figures;
  bool operator==(const HistoryEntry&) const = default;
};

// Figures of all records and layers together, as gates have them; of a document without such figures the
// facts that are numbers. `name`: for messages. Throws Error{data} for a document without a time or without
// figures.
HistoryEntry entry_of(const Document& document, std::string_view name);

// Entries by the time at which their results were finished. A file that there is not has none. Throws
// Error{data} naming the line that is not an entry.
std::vector<HistoryEntry> read_history(const std::filesystem::path& file);
void write_history(const std::filesystem::path& file, const std::vector<HistoryEntry>& entries);
// In order of time; false where the same is there already.
bool add_entry(std::vector<HistoryEntry>& entries, HistoryEntry entry);

// The values of one figure of one command on one network.
struct Series {
  std::string network, command, figure;
  bool higher_is_better = true;
  std::vector<std::string> times;
  std::vector<double> values;
  // The last value is worse than the one before.
  bool fell() const;
};
std::vector<Series> series_of(const std::vector<HistoryEntry>& entries);

// "▁▄█" of the last values, lowest to highest; the middle where all are equal.
std::string sparkline(const std::vector<double>& values);

// Every series with first and last value, and every value. `added`: how many results are new.
Document document_of(const std::vector<HistoryEntry>& entries, std::size_t added);

// A picture of one value, as pages of projects show them: SVG without fonts or scripts of its own.
std::string badge_of(const Series& series);

}  // namespace assay::report
