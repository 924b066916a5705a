#pragma once

// The search for the value of a numeric option from which a mutant is killed, and DeepCrime's scores of
// operators (Humbatova et al., ISSTA 2021; docs/algorithms/statistical-killing.md).

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include <assay/extend/mutation_program.h>
#include <assay/statistical_killing.h>

namespace assay::mutation {

// The search for the mildest value of a numeric option that is killed: first the extreme, then by halves of
// what lies between a value that is killed and one that is not, until they are a step apart. Values are whole
// steps from the mildest. Takes killing to grow with the change; where it does not, it finds one boundary of
// several.
class BoundarySearch {
 public:
  explicit BoundarySearch(const OptionRange& range);
  std::optional<double> next() const { return next_; }  // to be tried; nothing at the end
  void tell(bool killed);                               // of next()
  std::optional<double> boundary() const;               // the mildest killed value; nothing where none is
  double unkilled() const { return unkilled_; }         // the most extreme value that is not, next to it
  std::size_t tried() const { return tried_; }

 private:
  double rounded(double value) const;

  OptionRange range_;
  double unkilled_, killed_;
  std::optional<double> next_;
  bool found_ = false;
  std::size_t tried_ = 0;
};

// An operator whose option is sought over a range: (extreme - test) / (extreme - training) of the boundaries,
// from 0 to 1. Nothing where the training data kill no value, or the extreme alone:
// the operator is left out.
std::optional<double> range_score(double extreme, std::optional<double> by_training,
                                  std::optional<double> by_test);
// An operator whose mutants are all tried: of those that the training data kill with this power, the share
// that the test set kills; nothing where there are none. REQUIRES as many verdicts in both.
std::optional<double> exhaustive_score(std::span<const KillVerdict> by_training,
                                       std::span<const KillVerdict> by_test, double power);

// Mean over the operators that have a score and no unstable mutant; nothing where there is none.
std::optional<double> overall_score(std::span<const OperatorKilling> operators);

}  // namespace assay::mutation
