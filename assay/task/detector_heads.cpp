// Heads of YOLO as they leave the network: an output for each grid, with some boxes of every cell.

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include <assay/error.h>
#include "assay/task/detector.h"

namespace assay::task {
namespace {

// What an output with so many boxes of each cell has to be.
struct HeadShape {
  std::int64_t anchors = 0, rows = 0, columns = 0, stride = 0;
};

// Numbers of a box in an output of this shape: [anchors * numbers, rows, columns], or with boxes as rows
// [anchors, rows, columns, numbers]. Nothing where it is neither.
std::optional<std::size_t> numbers_of_box(const Shape& shape, const HeadShape& head,
                                          const DetectorForm& form) {
  if (shape.size() < 3) return std::nullopt;
  const std::size_t grid = shape.size() - (form.columns ? 2 : 3);
  if (shape[grid] != head.rows || shape[grid + 1] != head.columns) return std::nullopt;
  const std::int64_t before =
      std::accumulate(shape.begin(), shape.begin() + grid, std::int64_t{1}, std::multiplies<>());
  const std::int64_t numbers = form.columns ? before / head.anchors : shape.back();
  if (before != head.anchors * (form.columns ? numbers : 1)) return std::nullopt;
  const std::int64_t fixed = fixed_width(form.parts[0]);
  const bool scores = std::ranges::find(form.parts[0], BoxPart::scores) != form.parts[0].end();
  if (scores ? numbers <= fixed : numbers != fixed) return std::nullopt;
  return static_cast<std::size_t>(numbers);
}

double sigmoid_of(double z) { return 1 / (1 + std::exp(-z)); }

}  // namespace

void Detector::choose_heads(const std::vector<std::string>& names, const TaskSubject& subject) {
  const std::size_t grids = form_.strides.size(), anchors = form_.sides.size() / grids;
  if (!names.empty() && names.size() != grids)
    fail(Fault::usage, "{}: {} names in outputs= for {} grids (strides=)", owner_, names.size(), grids);
  for (std::size_t g = 0; g < grids; ++g) {
    const auto [output, numbers] = head_output(g, names.empty() ? "" : names[g], subject);
    if (g > 0 && numbers != widths_[0])
      fail(Fault::mismatch, "{}: a box has {} numbers in output '{}', and {} in output '{}'", owner_,
           widths_[0], outputs_[0], numbers, output->name);
    if (std::ranges::find(outputs_, output->name) != outputs_.end())
      fail(Fault::usage, "{}: output '{}' would be two of the {} grids (strides=)", owner_, output->name,
           grids);
    outputs_.push_back(output->name);
    widths_.push_back(numbers);
    sizes_.push_back(element_count(output->shape));
    for (std::size_t a = 0; a < anchors; ++a) add_cells(form_.strides[g], form_.sides[g * anchors + a]);
  }
  scores_ = widths_[0] - fixed_width(form_.parts[0]);
  settle_classes();
}

std::pair<const TaskOutput*, std::size_t> Detector::head_output(std::size_t grid, const std::string& name,
                                                                const TaskSubject& subject) const {
  const std::int64_t stride = form_.strides[grid];
  const auto cells = [&](double side) { return static_cast<std::int64_t>(std::ceil(side / stride)); };
  const HeadShape head{static_cast<std::int64_t>(form_.sides.size() / form_.strides.size()),
                       cells(size_->height), cells(size_->width), stride};
  std::pair<const TaskOutput*, std::size_t> found{};
  for (const TaskOutput& one : subject.outputs) {
    if (joins_others(one, subject.outputs) || (!name.empty() && one.name != name)) continue;
    const auto numbers = numbers_of_box(one.shape, head, form_);
    if (!numbers) continue;
    if (found.first != nullptr)
      fail(Fault::usage,
           "{}: outputs '{}' and '{}' may both be of the grid of {} x {} cells; name one for each "
           "of strides=, as outputs=small+middle+large",
           owner_, found.first->name, one.name, head.rows, head.columns);
    found = {&one, *numbers};
  }
  if (found.first == nullptr)
    fail(Fault::mismatch,
         "{}: no output{} holds {} boxes for each of {} x {} cells of {} pixels ({}); say how heads are with "
         "strides=, anchors=, layout= and size=HEIGHTxWIDTH",
         owner_, name.empty() ? "" : " '" + name + "'", head.anchors, head.rows, head.columns, stride,
         form_.columns ? "[anchors * numbers, rows, columns]" : "[anchors, rows, columns, numbers]");
  return found;
}

// Boxes are counted by output, anchor and cell.
void Detector::add_head(const Part& part, std::size_t output, Views& views) const {
  const auto& [values, begin] = part;
  const std::size_t width = widths_[output], anchors = form_.sides.size() / form_.strides.size(),
                    cells = sizes_[output] / (width * anchors);
  if (!values.empty() && values.size() < begin + sizes_[output])
    fail(Fault::mismatch, "output '{}' holds {} numbers, and {} of one record", outputs_[output],
         sizes_[output], values.size() - std::min(begin, values.size()));
  const std::size_t boxes = values.empty() ? 0 : cells;
  std::size_t at = 0;
  for (const BoxPart one : form_.parts[0]) {
    for (std::size_t a = 0; a < anchors; ++a) {
      const std::size_t start = a * width * cells;
      views.parts[one].add({.values = values,
                            .first = views.boxes + a * boxes,
                            .boxes = boxes,
                            .start = begin + start + at * (form_.columns ? cells : 1),
                            .box_step = form_.columns ? 1 : width,
                            .step = form_.columns ? cells : 1});
    }
    at += width_of(one, scores_);
  }
  views.boxes += anchors * boxes;
}

// Redmon, Farhadi, arXiv 1804.02767, and the change of Ultralytics' YOLOv5, which bounds the sides.
Box Detector::box_in_head(std::size_t box, const Offsets& numbers) const {
  const Cell& cell = cells_[box];
  const auto [x, y, width, height] = numbers;
  if (form_.corners == Corners::darknet)
    return around((sigmoid_of(x) + cell.column) * cell.stride, (sigmoid_of(y) + cell.row) * cell.stride,
                  cell.anchor.width * std::exp(width), cell.anchor.height * std::exp(height));
  const auto side = [](double anchor, double z) { return anchor * std::pow(2 * sigmoid_of(z), 2); };
  const auto middle = [](double place, double z) { return 2 * sigmoid_of(z) - 0.5 + place; };
  return around(middle(cell.column, x) * cell.stride, middle(cell.row, y) * cell.stride,
                side(cell.anchor.width, width), side(cell.anchor.height, height));
}

}  // namespace assay::task
