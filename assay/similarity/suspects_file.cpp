#include <fmt/format.h>

#include "assay/similarity/suspects.h"
#include "assay/support/files/file.h"
#include "assay/support/text/visible.h"

namespace assay::similarity {
namespace {

std::string label_field(const Dataset& data, std::size_t record) {
  return data.has_labels() ? csv_field(data.class_names().at(static_cast<std::size_t>(data.label(record))))
                           : "";
}

}  // namespace

void write_suspects(const std::filesystem::path& path, const Suspicion& suspicion,
                    const std::vector<std::size_t>& order, const Dataset& training, const Dataset& findings) {
  std::string text = "rank,id,label,similarity,mean,votes,finding\n";
  for (std::size_t i = 0; i < order.size(); ++i) {
    const Suspect& s = suspicion.suspects[order[i]];
    text += fmt::format("{},{},{},{:.17g},{:.17g},{},{}\n", i + 1, csv_field(training.id(s.record)),
                        label_field(training, s.record), s.similarity, s.mean, s.votes,
                        csv_field(findings.id(s.finding)));
  }
  write_file(path, text);
}

}  // namespace assay::similarity
