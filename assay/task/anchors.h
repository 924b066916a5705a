#pragma once

// Anchors: the boxes from which a detector's boxes are offsets (SSD, RetinaNet).

#include <string>
#include <utility>
#include <vector>

#include "assay/task/detection.h"

namespace assay::task {

struct AnchorSides {
  double width = 0, height = 0;
};

// A box a line: left, top, right and bottom, with commas or blanks between them. Throws Error{data} naming
// the line.
std::vector<Box> anchors_in(const std::string& file);
// Width and height of a box a line, whose middles are those of cells. Throws the same.
std::vector<AnchorSides> anchor_sides_in(const std::string& file);

// How far an anchor's middle moves, in its sides, and the logarithm of how its sides grow, times a factor
// for either (Liu et al., ECCV 2016).
struct Offsets {
  double x = 0, y = 0, width = 0, height = 0;
};
using Variances = std::pair<double, double>;
Box moved(const Box& anchor, const Offsets& offsets, const Variances& variances);

}  // namespace assay::task
