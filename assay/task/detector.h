#pragma once

// What detectors give for a record, in whichever of their forms, as detections.

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <assay/array.h>
#include <assay/extend/spec.h>
#include <assay/extend/task.h>
#include "assay/task/anchors.h"
#include "assay/task/detection.h"

namespace assay::task {

// What the numbers of a box are in one output, side by side: four corners, one objectness, as many scores as
// there are classes (and perhaps a background), the score of one class and its number, one to be left out.
enum class BoxPart { box, objectness, scores, score, number, skip };
// Cells: of boxes that belong to the cells of grids over the picture, the middle's distance from the
// cell's corner and the logarithms of the sides, all in sides of a cell. Offsets: from anchors. Grid and
// darknet: of heads of YOLO, an output for each grid that has some boxes of every cell, each with an anchor.
enum class Corners { xyxy, xywh, cxcywh, yxyx, cells, offsets, grid, darknet };
enum class ScoreKind { probability, sigmoid, softmax };
enum class Background { none, first, last };

struct DetectorForm {
  std::vector<std::vector<BoxPart>> parts = {};  // by output
  bool columns = false;                          // a box is a column of its output, not a row
  Corners corners = Corners::xyxy;
  bool normalised = false;  // 1 is the picture's width and height
  ScoreKind scores = ScoreKind::probability;
  Background background = Background::none;
  bool all_labels = true;                  // a box is a detection of every class, not of its likeliest alone
  std::int64_t first = 0;                  // number of the first class, of outputs that give numbers
  std::vector<std::int64_t> strides = {};  // pixels of a cell's side, by grid
  std::vector<Box> anchors = {};           // by box, of offsets
  std::vector<AnchorSides> sides = {};     // of the anchors of heads, as many for each grid, in its order
  Variances variances = {1, 1};
  double suppression = 1;  // overlap above which detections of a class hide each other; 1: none do

  bool has_heads() const { return corners == Corners::grid || corners == Corners::darknet; }
  bool has_cells() const { return corners == Corners::cells || has_heads(); }
};

struct PictureSize {
  double width = 0, height = 0;
};

// Where the numbers of a part are in a record, for boxes one after the other: of the b-th of them the number
// j at start + b * box_step + j * step.
struct BoxBlock {
  std::span<const float> values;
  std::size_t first = 0, boxes = 0;  // numbers of the boxes
  std::size_t start = 0, box_step = 0, step = 1;
};

// The same for all boxes.
class PartView {
 public:
  void add(const BoxBlock& block) { blocks_.push_back(block); }
  std::span<const BoxBlock> blocks() const { return blocks_; }
  std::size_t index(std::size_t box, std::size_t j = 0) const { return index(block_of(box), box, j); }
  float at(std::size_t box, std::size_t j = 0) const {
    const BoxBlock& block = block_of(box);
    return block.values[index(block, box, j)];
  }

 private:
  static std::size_t index(const BoxBlock& block, std::size_t box, std::size_t j) {
    return block.start + (box - block.first) * block.box_step + j * block.step;
  }
  const BoxBlock& block_of(std::size_t box) const {
    std::size_t at = 0;
    while (at + 1 < blocks_.size() && box >= blocks_[at + 1].first) ++at;
    return blocks_[at];
  }

  std::vector<BoxBlock> blocks_;  // few
};

// Numbers of a part, and of all parts but the scores.
std::size_t width_of(BoxPart part, std::size_t scores);
std::size_t fixed_width(const std::vector<BoxPart>& parts);
// Whether an output is others one after the other, or the first rows of another one, as its name says.
bool joins_others(const TaskOutput& output, const std::vector<TaskOutput>& all);

// Of a number that is not one among several (softmax).
float probability_of(ScoreKind kind, float score);

class Detector {
 public:
  // Throws Error{usage} for options that do not fit together, Error{mismatch} where no form, or no output of
  // the network, is as they say.
  Detector(const SpecOptions& options, const TaskSubject& subject);

  // Whether the network's outputs have the shapes of exactly one form.
  static bool fits(const TaskSubject& subject);
  // Of Detector's constructor, for catalogues.
  static std::vector<SpecOption> options();

  const std::vector<std::string>& outputs() const { return outputs_; }
  // Classes that the shapes tell; nothing where the network gives numbers of classes.
  std::optional<std::size_t> classes() const { return classes_; }
  // "yolo8 (cxcywh in pixels, suppressed above 0.7, outputs output0)".
  std::string describe() const;

  // By class, each suppressed, by falling score, at most `most` of a class; boxes in pixels of the record.
  // `count`: of classes. A NaN is never a detection. Throws Error{mismatch} for a number that is not a class.
  std::vector<std::vector<Detection>> read(const JudgedRecord& record, std::size_t count) const;

  // The score of a box for a class less the least one that counts; its own number is that of the class. Of
  // outputs in one, or one after the other, as the next functions.
  Lead lead(std::span<const float> output, std::size_t box, std::int64_t of_class, double least) const;
  // Of all boxes that overlap none of the others by so much or more.
  std::vector<Lead> leads_apart(std::span<const float> output, std::int64_t of_class, double least,
                                std::span<const Box> others, double overlap) const;
  // Task::differentiate() and Task::explain(), of such leads.
  void differentiate(std::span<const float> output, const Lead& lead, float weight,
                     std::span<float> gradients) const;
  void explain(std::span<const float> output, const Lead& lead, std::span<float> weights) const;
  // Probabilities that boxes are of classes, [pairs], with gradients. `outputs`: [records, ...].
  struct Pair {
    std::size_t record = 0, box = 0;
    std::int64_t of_class = 0;
  };
  Array probabilities(const Array& outputs, std::span<const Pair> pairs) const;

  // Of a record, where that is known.
  const std::optional<PictureSize>& size() const { return size_; }

 private:
  // Of one record.
  struct Views {
    std::size_t boxes = 0;
    std::map<BoxPart, PartView> parts;
  };
  struct Score {
    std::int64_t of_class = 0;
    float score = 0;
  };
  const TaskOutput& chosen_output(std::size_t part, const std::string& name,
                                  std::vector<const TaskOutput*>& free) const;
  void choose_outputs(const std::vector<std::string>& names, const TaskSubject& subject);
  void place_cells();
  // Of heads: the outputs by their shapes, and the cells and anchors of their boxes.
  void choose_heads(const std::vector<std::string>& names, const TaskSubject& subject);
  // With the numbers of a box in it.
  std::pair<const TaskOutput*, std::size_t> head_output(std::size_t grid, const std::string& name,
                                                        const TaskSubject& subject) const;
  void settle_classes();
  // Throws Error{mismatch} unless the output with boxes holds so many; `what` they are.
  void require_boxes(std::size_t count, const std::string& what) const;
  Views views_of(const JudgedRecord& record) const;
  // An output's numbers, and where it begins in these.
  using Part = std::pair<std::span<const float>, std::size_t>;
  std::vector<Part> parts_of_record(const JudgedRecord& record) const;
  void add_rows(const Part& part, std::size_t output, Views& views) const;
  void add_head(const Part& part, std::size_t output, Views& views) const;
  Box box_of(const PartView& view, std::size_t box) const;
  Box box_in_head(std::size_t box, const Offsets& numbers) const;
  std::vector<Score> scores_of(const Views& views, std::size_t box) const;
  // A row of -1, which fills up outputs of another number of rows for each record.
  static bool only_fills(const PartView& boxes, std::size_t box);
  // Detections that are sure enough, by class, before any is suppressed.
  void collect_columns(const Views& views, std::vector<std::vector<Detection>>& found) const;
  void collect_boxes(const Views& views, std::vector<std::vector<Detection>>& found) const;
  // Which box and which of its scores a number of the output is.
  std::pair<std::size_t, std::size_t> box_and_column(const PartView& scores, std::int64_t number) const;
  std::size_t column_of(std::int64_t of_class) const;
  const PartView& scores_in(const Views& views) const;
  Lead lead(const Views& views, std::size_t box, std::int64_t of_class, double least) const;
  std::vector<float> class_probabilities(const PartView& scores, std::size_t box) const;
  bool may_be(const Views& views, std::size_t box, std::int64_t of_class) const;
  float objectness_of(const Views& views, std::size_t box) const;  // 1 where there is none
  float slope_at(float probability) const;                         // of a factor by its number

  std::string owner_, format_;
  DetectorForm form_;
  std::vector<std::string> outputs_;
  std::vector<std::size_t> widths_;  // numbers of a box, by output
  std::vector<std::size_t> sizes_;   // numbers of a record, by output
  std::size_t scores_ = 0;           // that a box has side by side
  std::optional<std::size_t> classes_;
  std::optional<PictureSize> size_;
  // By box, of forms with cells.
  struct Cell {
    double column = 0, row = 0, stride = 1;
    AnchorSides anchor = {};  // of heads
  };
  // Of the grid with cells of this side.
  void add_cells(std::int64_t side, const AnchorSides& anchor);
  std::vector<Cell> cells_;
  double least_ = 0;
  std::size_t most_ = 0;
};

}  // namespace assay::task
