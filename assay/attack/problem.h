#pragma once

// What an attack is given: a batch of records and what is to happen to each of them.

#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "assay/engine/tensor.h"
#include "assay/support/random.h"

namespace assay {

// How often each record of a batch went through the network, and why its search ended without success where the attack
// knows. One entry per record of the batch as it came.
struct AttackLog {
  explicit AttackLog(std::size_t records) : forward(records), backward(records), ending(records) {}
  std::vector<std::uint64_t> forward, backward;
  std::vector<std::string_view> ending;
};

// Inputs are in units of the valid range: every element is between 0 (the least valid value) and 1 (the greatest), and so
// are all that the attack makes of them. All tensors are on one device and have one row per record.
struct AttackProblem {
  Tensor inputs;               // [n, record...] float32 in [0, 1]
  Tensor labels;               // [n] int64: the class that the network gives the record, to be left
  Tensor scores;               // [n, classes] of the clean records
  Tensor targets;              // [n] int64: the class to be reached; undefined when any other class will do
  std::vector<std::uint64_t> keys;  // [n] what names the record's random streams: its id, not its place
  std::uint64_t seed = 1;

  // Regression only (undefined otherwise): the network's output [n, t] for the clean record, and the unit vector [n, t]
  // along which it is to move by more than `margin`. Scores are then two classes, "has not moved" (the label) and "has".
  Tensor reference, direction;
  double margin = 0;

  std::shared_ptr<AttackLog> log;
  std::vector<std::size_t> places;  // [n] of these records in the log

  std::int64_t size() const { return inputs.size(0); }
  bool targeted() const { return targets.defined(); }
  // A random stream of record `row`. `purpose` tells streams of one attack apart.
  Rng rng(std::size_t row, std::uint64_t purpose = 0) const { return Rng(seed, {keys[row], purpose}); }
  // The records in `rows` ([m] int64), each still with its own log entry and random streams.
  AttackProblem at(const Tensor& rows) const;
  void end(std::size_t row, std::string_view reason) const { log->ending[places[row]] = reason; }
};

// Numbers in the shape of `problem.inputs`, drawn record by record from their own streams by `draw(Rng&)`.
Tensor drawn(const AttackProblem& problem, std::uint64_t purpose, const std::function<float(Rng&)>& draw);

// `values` [n] shaped so that it multiplies each record of `like` [n, ...].
Tensor per_record(const Tensor& values, const Tensor& like);
// [n] -> positions of the true entries, int64.
Tensor positions(const Tensor& mask);

}  // namespace assay
