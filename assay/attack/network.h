#pragma once

// A network as attacks see it: scores and their gradients at points in units of the valid range, one search per record.

#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "assay/attack/problem.h"
#include "assay/engine/session.h"

namespace assay {

// How units of the valid range become what the network takes: low + unit * span. [elements of a record] each; undefined
// when they are the same.
struct InputUnits {
  Tensor low, span;
  std::optional<ValidRange> range = {};  // as the data declare it
};

// Throws Error{unsupported} for networks with several inputs or an input of integers.
void require_attackable(const Session& session);

class AttackedNetwork {
 public:
  // REQUIRES require_attackable(). The session must outlive this.
  AttackedNetwork(const Session& session, InputUnits units, bool regression);

  const Session& session() const { return session_; }
  const std::optional<ValidRange>& range() const { return units_.range; }
  const InputUnits& units() const { return units_; }
  bool regression() const { return regression_; }
  // The graph value that decides: before a final softmax or sigmoid.
  ValueId decision() const { return decision_; }

  // What the network takes, of any number of records [n, record...].
  Tensors bind(const Tensor& points) const;
  // The tensor of the one input, records along axis 0.
  Tensor first(const Tensors& given) const;
  // The raw decision value [n, outputs] of inputs as the network takes them. Counts no query.
  Tensor outputs(const Tensors& given) const;
  // What it means for a problem: the scores below.
  Tensor scores_of(const AttackProblem& problem, const Tensor& outputs) const;

  // Scores [n, classes], at least two classes, whose greatest is the decision. The scores of a network with one output z are
  // -z/2 and z/2; those of a regression network tell how far the output has moved (AttackProblem::direction).
  Tensor scores(const AttackProblem& problem, const Tensor& points) const;

  // An objective is given scores [n, classes] and returns one number per record, [n].
  using Objective = std::function<Tensor(const Tensor&)>;
  struct Slopes {
    Tensor scores;                  // [n, classes]
    std::vector<Tensor> gradients;  // one per objective, shaped as the points, of each record's own number
  };
  // One forward pass and as many backward passes as objectives. Gradients that are not finite count as 0: an attack does not
  // move along them.
  Slopes slopes(const AttackProblem& problem, const Tensor& points, std::span<const Objective> objectives) const;
  // For a single objective.
  Tensor slope(const AttackProblem& problem, const Tensor& points, const Objective& objective) const;

  // [n] bool: records whose scores are what the problem wants. Scores that are not finite are no success.
  static Tensor won(const AttackProblem& problem, const Tensor& scores);

 private:
  const Session& session_;
  InputUnits units_;
  bool regression_;
  ValueId input_, decision_;
  int batch_axis_;
  c10::ScalarType type_;
  bool sigmoid_;  // the decision value is a probability, which says yes above one half
};

}  // namespace assay
