#pragma once

// What scores of activations learn from: those of training records, with the class that the network names.

#include <cstdint>
#include <vector>

#include <assay/monitor.h>

namespace assay::monitor {

struct Features {
  std::size_t width = 0;
  std::vector<float> rows;  // [records, width], finite
  std::vector<std::int64_t> classes;
};

// Sets the monitor's layer and number of features. Throws Error{usage} without training records, Error{data}
// if none has finite activations.
Features training_features(Monitor& monitor, const Session& session, const DatasetPtr& training,
                           Progress& progress);

// Of mdsa: means and whitening.
void fit_distance(Monitor& monitor, const Session& session, const DatasetPtr& training, Progress& progress);
// Of dsa: references, their classes and how far those of other classes are. Throws Error{data} where all
// training records have one class.
void fit_references(Monitor& monitor, const Session& session, const DatasetPtr& training, Progress& progress);

}  // namespace assay::monitor
