#pragma once

// Importance analysis (Gerasimou et al., ICSE 2020, section 3.1): which neurons of a layer decide.

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "assay/engine/evaluate.h"
#include "assay/relevance/attribution.h"

namespace assay {

struct ImportanceOptions {
  std::string method = "epsilon";        // an attribution
  AttributionOptions attribution = {};
  bool normalised = false;               // divide each record's relevance by its decision value before summing
  bool absolute = false;                 // sum absolute values (signed sums can cancel)
  std::optional<std::int64_t> only_class = {};
  std::size_t batch = 0;
};

// Relevance of one layer's neurons summed over the correctly classified records (all records for regression).
struct LayerImportance {
  Layer layer;
  std::vector<double> relevance;           // [neurons], the ranking criterion (signed or absolute as asked)
  std::vector<double> absolute;            // [neurons], always the absolute sums
  std::vector<std::vector<double>> by_class;  // [classes][neurons], same criterion as `relevance`
  double total_in = 0, total_here = 0;     // relevance put in at the output, and arriving at this layer (conservation)
  // Neurons by descending relevance, ties to the lower index.
  std::vector<std::size_t> ranking() const;
  // Smallest m whose top neurons hold `share` of the absolute sum, at most `cap`.
  std::size_t smallest_m(double share, std::size_t cap) const;
};

struct Importance {
  std::vector<LayerImportance> layers;
  std::size_t records = 0, used = 0;       // walked; correctly classified and finite
  Evaluation evaluation;
};

Importance analyse_importance(const Session& session, DatasetPtr training, std::span<const Layer> layers,
                              const ImportanceOptions& options, Progress& progress);

}  // namespace assay
