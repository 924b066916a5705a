#pragma once

// From records of a data set to the problem that an attack is given, and back.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <assay/attack.h>
#include <assay/dataset.h>
#include <assay/extend/attack_problem.h>

namespace assay::attack {

// Whether an attackable input takes 8-bit levels, so that records have to be stored as such.
bool takes_levels(const Session& session, ValueId input);

// Whether records are numbers of tokens that the network looks up in a table.
bool takes_tokens(const Session& session, const Dataset& dataset);

// Throws Error{usage} for a target that is neither a word of target_option() nor a number.
void require_target(const std::string& target);

struct PreparationOptions {
  std::uint64_t seed = 1;
  // Regression: an output that moves by more than this is a success; of items, this share of them.
  double margin = 0.2;
  std::string target = "none";                  // see target_option()
  std::shared_ptr<const task::Task> task = {};  // of records with many items
  ItemGoal goal = {};
  bool tokens = false;  // the attack is on texts as numbers of tokens
};

// Of two records, in shares of the valid range; l0: elements that differ by more than rounding.
struct Distance {
  double l0 = 0, l2 = 0, linf = 0;
};

class Preparation {
 public:
  // Throws Error{data} when the data declare no valid range or not that of the levels, Error{usage} for a
  // target that does not exist. Session and data set must outlive this.
  Preparation(const Session& session, const Dataset& dataset, PreparationOptions options);

  const AttackedNetwork& network() const { return network_; }
  // The problem of all records of a batch. Throws Error{data} naming a record
  // with elements outside the valid range.
  AttackProblem problem(const Batch& batch) const;
  // The same records with another class to reach. Throws Error{usage} for a class that the network has not.
  AttackProblem aimed(AttackProblem problem, const std::string& target) const;
  // Records for which an attack makes sense, positions in the batch: finite scores, not yet at their target,
  // and with `right` only those whose label the network names.
  std::vector<std::int64_t> attackable(const Batch& batch, const AttackProblem& problem, bool right) const;

  // Changed inputs of a problem as records of the data set, one after the other. What was not changed is the
  // clean record bit for bit.
  std::vector<float> to_records(const Array& clean, const AttackProblem& problem, const Array& points) const;
  // The same of tokens.
  std::vector<std::int64_t> to_tokens(const Array& points) const;
  // The same as levels 0 to 255 of the valid range.
  static std::vector<std::uint8_t> to_levels(const Array& points);
  // Records `rows` of a batch as they would be read back from the file that holds them with these points.
  Batch read_back(const Batch& batch, const std::vector<std::int64_t>& rows, const AttackProblem& problem,
                  const Array& points, bool levels) const;
  // Between records [n, record...], one after the other. Another token is as far as can be.
  std::vector<Distance> distances(const Array& records, const Array& clean) const;

 private:
  // The records of a batch in units of the valid range. Throws as problem().
  Array in_units(const Batch& batch) const;
  Array targets(const AttackProblem& problem, const std::string& target) const;
  // Numbers of a record that stands in a file as levels, as the data of that file are prepared.
  std::vector<float> of_levels(const std::vector<std::uint8_t>& levels) const;
  std::shared_ptr<const OutputChange> change(const Array& outputs, const Batch& batch) const;

  const Dataset& dataset_;
  PreparationOptions options_;
  std::vector<float> low_, span_;  // of each element of a record
  AttackedNetwork network_;
};

}  // namespace assay::attack
