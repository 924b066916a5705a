#pragma once

// Common parts of BIM, PGD and MI-FGSM: steps of steepest ascent that stay in a ball around the record and in
// range.

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include <assay/attack.h>
#include <assay/extend/attack_problem.h>
#include <assay/extend/spec.h>
#include "assay/attack/norms.h"

namespace assay::attack {

struct Ball {
  // Reads eps and norm; throws Error{usage} when the norm is not linf or l2.
  explicit Ball(const SpecOptions& options);
  double eps;
  Norm norm;
};

// A ball around each record, as far as it is in range.
class Region {
 public:
  Region(const Ball& ball, const Array& centre);
  // Moves the point into the ball, then into [0, 1].
  void keep(Array& point) const;
  // A step of length `step` along the steepest direction of a gradient, clipped, then kept in the ball.
  void climb(Array& point, const Array& gradient, double step) const;
  // From a point a step of each record's own length along the steepest direction, kept in the ball. With the
  // point before, three quarters of the way there and a quarter of the last step, kept again.
  Array advanced(const Array& point, const Array& gradient, const std::vector<float>& lengths,
                 const Array* before) const;

 private:
  Array advanced_in_box(const Array& point, const Array& gradient, const std::vector<float>& lengths,
                        const Array* before) const;
  // body(i, element, low, high) for every element of a ball that is a box, of floats in order. False for
  // others.
  template <typename Body>
  bool in_box(Array& point, const Body& body) const;

  Ball ball_;
  Array centre_;
};

// A point of each record's own ball, uniform and in range; `draw` tells several apart.
Array random_point(const AttackProblem& problem, const Ball& ball, std::size_t draw);

// Calls search(records, run) for run = 0, 1, ... with the records whose class no earlier run changed. Each
// comes back as its last run left it.
Array in_runs(const AttackedNetwork& network, const AttackProblem& problem, std::size_t runs,
              const std::function<Array(const AttackProblem& records, std::size_t run)>& search);

// `steps` times: a step of length `step` along the steepest direction of the loss, clipped, then kept in the
// ball.
Array ascend(const AttackedNetwork& network, const AttackProblem& problem, Array point, const Ball& ball,
             double step, std::size_t steps);

}  // namespace assay::attack
