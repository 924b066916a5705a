#pragma once

// What tests say about failures in operation: bounds on their probability, calibrated probabilities, other
// training seeds, and test records that were trained on (docs/assurance.md).

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <assay/dataset.h>
#include <assay/progress.h>
#include <assay/session.h>

namespace assay::reliability {

// Interval of Clopper and Pearson (1934) for a probability with `hits` of `trials`; each end is missed with a
// probability of at most `miss`. REQUIRES hits <= trials; 0 to 1 without trials.
std::pair<double, double> clopper_pearson(std::size_t hits, std::size_t trials, double miss);

// Records of one kind in operation.
struct Stratum {
  std::string name;
  double weight = 0;  // share in operation; the weights of all sum to 1
  std::size_t failures = 0, records = 0;
};
struct WeightedBound {
  double estimate = 0;  // weighted share of failures; kinds without records count as failing
  double upper = 1;     // holds for all kinds together (Bonferroni)
};
WeightedBound weighted_bound(std::span<const Stratum> strata, double miss);

// An upper bound on the probability of failure, with what has to be true for it.
struct NamedBound {
  std::string name, value_of, assumptions, source;
  double bound = 1;  // 1: says nothing
};
struct BoundInputs {
  std::size_t failures = 0, records = 0;
  double miss = 0.05;
  std::size_t candidates = 1;  // networks among which this one was chosen by these records
  // Of training records, where they are known.
  std::optional<std::pair<std::size_t, std::size_t>> training = {};  // failures, records
  double bits = 0;                                                   // that describe the network
};
std::vector<NamedBound> generalisation_bounds(const BoundInputs& inputs);

// Scores before a final softmax or sigmoid, of records with a label.
struct Scores {
  std::size_t classes = 0;  // 1: of one score
  std::vector<float> rows;  // [records, classes]
  std::vector<std::int64_t> labels;
  ValueId value = no_value;  // whose they are
};
// Throws Error{usage} for data without labels, Error{unsupported} for outputs that are not scores of classes.
Scores scores_of_records(const Session& session, const DatasetPtr& dataset, std::size_t batch,
                         Progress& progress);

// Mean negative log-likelihood, in nats, of scores divided by a temperature.
double negative_log_likelihood(const Scores& scores, double temperature);
// The temperature with the least (Guo et al., ICML 2017), between 0.001 and 1000. Throws Error{data} where
// there is none between: where every record is right, or no score tells anything.
double fitted_temperature(const Scores& scores);
// The network with these scores divided by the temperature: its decisions stay the same.
Graph with_temperature(const Graph& graph, ValueId scores, double temperature);

// Several networks for the same task, such as of other training seeds, on the same records.
struct Stability {
  std::vector<double> accuracies;
  double mean = 0, deviation = 0;  // of the accuracies
  std::optional<std::pair<double, double>> interval =
      {};                   // 95 %, of the mean accuracy of such networks (Student's t)
  double disagreement = 0;  // share of records on which two of them differ, mean over pairs
  std::size_t all_right = 0, some_right = 0, none_right = 0, records = 0;
};
// `classes`: what each network names of each record.
Stability stability_of(std::span<const std::vector<std::int64_t>> classes,
                       std::span<const std::int64_t> labels);

// A test record and the training record that is nearest to it.
struct Twin {
  std::size_t record = 0, training = 0;
  double distance =
      0;  // root mean square of the differences, as a share of that of the training records' spread
  bool same_label = true;  // where both have labels
};
struct Leakage {
  std::vector<Twin> twins;        // within the distance, the nearest first
  std::size_t exact = 0;          // of them, element by element
  std::size_t contradicting = 0;  // of them with another label
  double spread = 0;              // root mean square of the training records' differences from their mean
};
// O(test * training * elements). Throws Error{mismatch} for records of other shapes, Error{unsupported} for
// records of integers.
Leakage find_leakage(const DatasetPtr& test, const DatasetPtr& training, double distance, Progress& progress);

}  // namespace assay::reliability
