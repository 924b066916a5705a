#pragma once

// The input of an attack: records and the goal for each, and the network as attacks see it: scores and their
// gradients at points in units of the valid range, one search per record.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <assay/dataset.h>
#include <assay/extend/output_change.h>
#include <assay/extend/random.h>
#include <assay/session.h>

namespace assay::attack {

// Passes of each record of a batch, and why its search ended without success if the attack knows. One entry
// per record.
struct AttackLog {
  explicit AttackLog(std::size_t n) : forward(n), backward(n), sloping(n), ending(n) {}
  std::vector<std::uint64_t> forward, backward, sloping;  // sloping: gradients that were not all 0
  std::vector<std::string> ending;
};

// The inputs of records that an attack does not touch, by graph value, records along axis 0.
using HeldInputs = Tensors;

// Inputs are in units of the valid range: every element is between 0 (the least valid value) and 1 (the
// greatest), and so are all that the attack makes of them. All arrays have one row per record.
struct AttackProblem {
  Array inputs;     // [n, record...] float32 in [0, 1]
  HeldInputs held;  // further inputs of networks with several, [n, ...] each
  Array labels;     // [n] int64: the class that the network gives the record, to be left
  Array scores;     // [n, classes] of the clean records
  Array targets;    // [n] int64: the class to be reached; undefined when any other class will do
  std::vector<std::uint64_t> keys;  // [n] what names the record's random streams: its id, not its place
  std::uint64_t seed = 1;

  std::shared_ptr<const OutputChange> change;  // null where outputs are the scores of classes

  std::shared_ptr<AttackLog> log;
  std::vector<std::size_t> places;  // [n] of these records in the log

  std::int64_t size() const { return inputs.size(0); }
  bool targeted() const { return targets.defined(); }
  // A random stream of record `row`. `purpose` tells streams of one attack apart.
  Rng rng(std::size_t row, std::uint64_t purpose = 0) const { return Rng(seed, {keys[row], purpose}); }
  // The records in `rows` ([m] int64), each still with its own log entry and random streams.
  AttackProblem at(const Array& rows) const;
  void end(std::size_t row, std::string reason) const { log->ending[places[row]] = std::move(reason); }
};

// Numbers in the shape of `problem.inputs`, drawn record by record from their own streams by `draw(Rng&)`.
Array drawn(const AttackProblem& problem, std::uint64_t purpose, const std::function<float(Rng&)>& draw);

// `values` [n] shaped so that it multiplies each record of `like` [n, ...].
Array per_record(const Array& values, const Array& like);
// [n] int64 on the host: of labels, targets.
std::vector<std::int64_t> numbers(const Array& values);
// [n] -> positions of the true entries, int64.
Array positions(const Array& mask);

// How units of the valid range become what the network takes: low + unit * span. [elements of a record] each;
// undefined when they are the same.
struct InputUnits {
  Array low, span;
  std::optional<ValidRange> range = {};  // as the data declare it
};

// Throws Error{unsupported} for an input of integers, but for bytes that become real numbers before all else.
void require_attackable(const Session& session, ValueId input);

class AttackedNetwork {
 public:
  // `input`: the graph input that is attacked, the first one if not given; others are held as they are.
  // REQUIRES require_attackable(). The session must outlive this.
  AttackedNetwork(const Session& session, InputUnits units, bool regression, ValueId input = no_value);

  const Session& session() const { return session_; }
  const std::optional<ValidRange>& range() const { return units_.range; }
  const InputUnits& units() const { return units_; }
  bool regression() const { return regression_; }
  // The graph value that decides: before a final softmax, a sigmoid and functions that keep the order.
  ValueId decision() const { return decision_; }
  // Of one output: above it the network says yes.
  float threshold() const { return threshold_; }
  // The graph input that attacks change.
  ValueId input() const { return input_; }

  // The network's inputs for any number of records [n, record...]. `held`: the further inputs of the same
  // records, if there are any.
  Tensors bind(const Array& points, const HeldInputs& held = {}) const;
  // The further inputs of bound records.
  HeldInputs held_of(const Tensors& given) const;
  // The tensor of the attacked input, records along axis 0.
  Array first(const Tensors& given) const;
  // The raw decision value [n, outputs] of inputs as the network takes them. Counts no query.
  Array outputs(const Tensors& given) const;
  // The scores of a problem, as below.
  Array scores_of(const AttackProblem& problem, const Array& outputs) const;

  // Scores [n, classes], at least two classes, whose greatest is the decision. The scores of a network with
  // one output z are -z/2 and z/2; those of a regression network tell how far the output has moved
  // (AttackProblem::direction).
  Array scores(const AttackProblem& problem, const Array& points) const;

  // A number of each record, to be differentiated: given the record's row in the problem and its scores, adds
  // to zeros how the number changes with each score. Called by several threads at a time.
  using Objective =
      std::function<void(std::size_t row, std::span<const float> scores, std::span<float> gradients)>;
  struct ScoreGradients {
    Array scores;                  // [n, classes]
    std::vector<Array> gradients;  // one per objective, shaped as the points, of each record's own number
  };
  // One forward pass and as many backward passes as objectives. Gradients that are not finite count as 0: an
  // attack does not move along them.
  ScoreGradients gradients(const AttackProblem& problem, const Array& points,
                           std::span<const Objective> objectives) const;
  // For a single objective.
  Array gradient(const AttackProblem& problem, const Array& points, const Objective& objective) const;
  // Of any values of the graph, the decision read first: scores are outputs(). Counts no query.
  ScoreGradients gradients(const Array& points, const HeldInputs& held,
                           const RecordObjective& objective) const;

  // [n] bool: records whose scores reach the goal of the problem; scores that are not finite never do.
  static Array won(const AttackProblem& problem, const Array& scores);

 private:
  const Session& session_;
  InputUnits units_;
  bool regression_;
  ValueId input_, decision_;
  int batch_axis_;
  DType type_;
  float threshold_;
};

// The problem of records in memory, [n, record...] float32 in units of the valid range: each is to
// leave the class that the network gives it. Records are told apart by their place. Throws Error{usage} for
// regression networks.
AttackProblem problem_of(const AttackedNetwork& network, const Array& inputs, std::uint64_t seed = 1);

}  // namespace assay::attack
