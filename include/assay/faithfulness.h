#pragma once

// How far explanations of single records can be believed: deletion and insertion curves, sensitivity,
// infidelity, faithfulness correlation (docs/algorithms/faithfulness.md).

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <assay/dataset.h>
#include <assay/extend/catalogue.h>
#include <assay/progress.h>
#include <assay/relevance.h>
#include <assay/session.h>

namespace assay::relevance {

// The records of a batch, explained by one method for the class that the network names. A position is one
// element of a record; where records have channels, all of them at one point, whose relevance is added up.
class ExplainedBatch {
 public:
  using Rows = std::vector<std::vector<double>>;  // a row for each record, a number for each position
  using Marks = std::vector<std::vector<bool>>;   // the same; one row alone is meant for all records
  virtual ~ExplainedBatch() = default;
  virtual std::size_t positions() const = 0;
  virtual std::size_t elements() const = 0;  // of a record
  virtual const Rows& relevance() const = 0;
  // Of records that are moved by `change`, a number for each element, times their greatest less their
  // smallest element; for the classes of the records as they are.
  virtual Rows relevance_moved(std::span<const float> change) const = 0;
  // The explained score, and the probability of the class, of each record where positions that are not kept
  // have the elements of the baseline.
  virtual std::vector<double> scores(const Marks& kept) const = 0;
  virtual std::vector<double> probabilities(const Marks& kept) const = 0;
};

// What a measure says of each record of a batch.
struct QualityValues {
  std::vector<double> values;               // NaN where it is not defined
  std::vector<double> shares = {};          // of the positions, where the measure is of a curve
  std::vector<std::vector<double>> curves;  // a point for each share, by record
};

class Quality {
 public:
  virtual ~Quality() = default;
  virtual QualityValues of(const ExplainedBatch& batch) const = 0;
};

struct QualityInfo {
  std::string name, summary, definition, paper;
  bool higher_is_better = true;
  std::vector<SpecOption> options;
  std::function<std::unique_ptr<Quality>(const SpecOptions&)> make;
};

Catalogue<QualityInfo>& qualities();

struct FaithfulnessOptions {
  std::vector<std::string> methods = {"epsilon"};  // attributions
  std::vector<std::string> measures = {};          // of qualities(), with options; empty: all
  AttributionOptions attribution = {};             // without `wanted` and `outputs`
  std::size_t batch = 0;
  std::uint64_t seed = 1;  // of methods and measures that draw at random and name none
};

// Whether a method or a measure draws at random with the seed of the options.
bool heeds_seed(const FaithfulnessOptions& options);

// One measure of one method.
struct QualityFigures {
  std::string method, measure;  // as they were named
  bool higher_is_better = true;
  std::vector<double> values;         // of the records for which it is defined
  std::vector<double> shares, curve;  // mean of these records' curves; empty where there is none

  double mean() const;       // NaN without values
  double deviation() const;  // of the values; 0 for fewer than two
};

struct Faithfulness {
  std::size_t records = 0, used = 0;    // walked; with finite scores
  std::vector<QualityFigures> figures;  // methods in order, their measures in order
};

// What there will be without running anything: figures without values. Throws Error{usage} for unknown names
// and wrong options of measures.
Faithfulness expected_faithfulness(const FaithfulnessOptions& options);
// Throws also Error{unsupported} for networks without one input of real numbers, or whose decision is not a
// class, and as make_attribution().
Faithfulness measure_faithfulness(const Session& session, const DatasetPtr& data,
                                  const FaithfulnessOptions& options, Progress& progress);

}  // namespace assay::relevance
