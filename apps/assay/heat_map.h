#pragma once

// Relevance of inputs as pictures.

#include <filesystem>
#include <string>
#include <vector>

#include "assay/relevance/attribution.h"
#include "assay/report/document.h"

namespace assay::app {

// True when a record can be drawn: float32, [channels, height, width].
bool is_picture(const Dataset& data);

// How many random records are drawn, and where the files relevance-INDEX.png go.
struct Drawing {
  std::size_t count = 0;
  std::uint64_t seed = 1;
  std::filesystem::path folder;
};

// Attributes the decisions on random records to their inputs and writes a heat map for each: the record beside the relevance
// of its elements, summed over channels and scaled to its largest absolute value; red speaks for the decision, blue
// against it, white is silent. REQUIRES is_picture().
std::vector<Picture> draw_relevance(const Session& session, const Dataset& data, const std::string& method,
                                    AttributionOptions options, const Drawing& drawing);

}  // namespace assay::app
