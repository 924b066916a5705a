#pragma once

// Anchors: the boxes from which a detector's boxes are offsets (SSD, RetinaNet).

#include <string>
#include <utility>
#include <vector>

#include "assay/task/detection.h"

namespace assay::task {

// A box a line: left, top, right and bottom, with commas or blanks between them. Throws Error{data} naming
// the line.
std::vector<Box> anchors_in(const std::string& file);

// How far an anchor's middle moves, in its sides, and the logarithm of how its sides grow, times a factor
// for either (Liu et al., ECCV 2016).
struct Offsets {
  double x = 0, y = 0, width = 0, height = 0;
};
using Variances = std::pair<double, double>;
Box moved(const Box& anchor, const Offsets& offsets, const Variances& variances);

}  // namespace assay::task
