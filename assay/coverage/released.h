#pragma once

// Importance-Driven Coverage as the released code of DeepImportance computes it, which is not what its paper
// defines (docs/deepimportance-released.md): for each class one coverage, of its right training records and
// its test records, of which the mean is reported; relevance of the network without the activation functions
// of its convolutions; clusters without zeros, centroids rounded to two decimals; and activations in the
// order of relevance that meet centroids in the order of neurons.

#include <cstdint>
#include <string>
#include <vector>

#include <assay/dataset.h>
#include <assay/progress.h>
#include <assay/session.h>

namespace assay::coverage {

inline constexpr const char* released_preset = "deepimportance-released";

struct ReleasedOptions {
  std::string layer = {};         // subject layer; empty: the penultimate one
  std::vector<std::size_t> ms{};  // numbers of important neurons
  std::size_t batch = 0;
};

// Of one class and number of neurons.
struct ReleasedCoverage {
  std::int64_t class_number = 0;
  std::size_t m = 0;
  std::size_t training = 0, test = 0;  // right training records and test records of the class
  std::size_t covered = 0;             // different combinations of centroids
  double coverable = 1;                // product of the numbers of centroids
  double value() const { return covered / coverable; }
};

struct ReleasedCoverages {
  std::string layer;
  std::size_t neurons = 0;
  double linear_accuracy = 0;          // on the training records, without the activation functions
  std::vector<ReleasedCoverage> each;  // by class, then m; of classes that have records in both sets
  std::vector<std::int64_t> left_out;  // classes that have none in one of them

  std::vector<double> values(std::size_t m) const;  // of all classes
};

// The network without the activation functions that follow convolutions, as the toolbox's text format kept
// it.
Graph without_convolution_activations(const Session& session);

// Throws Error{usage} for data without labels and layers with fewer neurons than asked for,
// Error{unsupported} for layers that do not keep one activation a neuron, Error{data} if no class has records
// in both sets.
ReleasedCoverages released_coverage(const Session& session, const DatasetPtr& training,
                                    const DatasetPtr& test, const ReleasedOptions& options,
                                    Progress& progress);

}  // namespace assay::coverage
