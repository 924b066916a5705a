#pragma once

// The neurons that decide, and heat maps of single records.

#include <string>
#include <vector>

#include <assay/relevance.h>
#include <assay/report.h>
#include "assay/answers/accuracy.h"
#include "assay/answers/setting.h"

namespace assay::answers {

struct ImportanceQuestion {
  std::string task = {};                 // spec of a task; empty: the one that network and data have
  std::vector<std::string> layers = {};  // selectors; none: the layer before the last with weights
  double share = 0.9;                    // of the relevance, which the fewest neurons are told to hold
  std::size_t top = 12;                  // neurons listed of each layer
  std::size_t heat_maps = 0;             // of random records
  std::string folder = {};               // for them
  std::string tokenizer = {};            // file, for the words of texts; empty: they are numbers of tokens
  relevance::ImportanceOptions options = {};
  DeclaredAccuracy accuracy = {};
};

// Only the first rank returns.
report::Document find_importance(const Session& session, const DatasetPtr& data,
                                 const ImportanceQuestion& question, const Setting& setting,
                                 Progress& progress);

}  // namespace assay::answers
