#pragma once

// The held-out records of probes, and how probes are judged on them.

#include <cstdint>
#include <string>
#include <vector>

#include <assay/extend/measure.h>

namespace assay::inspection {

// The same records for the same seed, for any order, measure and other data.
bool is_held_out(std::uint64_t seed, std::uint32_t record, double share);

// How often which class (row) was taken for which (column).
struct Confusion {
  explicit Confusion(std::size_t size = 0) : classes(size), counts(size * size) {}
  std::size_t classes;
  std::vector<double> counts;

  double& at(std::size_t truth, std::size_t named) { return counts[truth * classes + named]; }
  double at(std::size_t truth, std::size_t named) const { return counts[truth * classes + named]; }
  double rows() const;
  double right() const;
};

// accuracy; or f1: of class 1 where there are two, else the mean over the classes that occur. Value,
// interval, rows and status: too_few_rows, no_positives, no_predicted_positives.
Score judge(const Confusion& confusion, const std::string& what, double z);

extern const std::vector<std::string> judgements;       // {"f1", "accuracy"}
extern const std::vector<SpecOption> held_out_options;  // score, held_out
// Definition of the two, for the texts of measures.
extern const char* const judgement_definition;

}  // namespace assay::inspection
