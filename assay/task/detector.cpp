#include "assay/task/detector.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include <assay/error.h>
#include "assay/engine/preparation/filled_rows.h"
#include "assay/support/text/parse.h"
#include "assay/support/text/text.h"
#include "assay/task/detector_form.h"

namespace assay::task {
namespace {

bool has_part(const std::vector<BoxPart>& parts, BoxPart part) {
  return std::ranges::find(parts, part) != parts.end();
}

// Without axes of size 1 in front.
Shape squeezed(Shape shape, std::size_t rank) {
  while (shape.size() > rank && shape.front() == 1) shape.erase(shape.begin());
  return shape;
}

// Numbers that a box has in an output of this shape; nothing where there are no rows or columns of boxes.
std::optional<std::size_t> box_width(const Shape& given, const std::vector<BoxPart>& parts, bool columns) {
  const std::size_t fixed = fixed_width(parts);
  const bool scores = has_part(parts, BoxPart::scores);
  if (fixed == 1 && !scores) return 1;  // one number a box, in whatever shape
  const Shape shape = squeezed(given, 2);
  if (shape.size() < 2 || (columns && shape.size() != 2)) return std::nullopt;
  const std::size_t width = columns ? shape[0] : shape.back();
  if (scores ? width <= fixed : width != fixed) return std::nullopt;
  return width;
}

// Forms of one output that a shape may have: boxes are many, their numbers few.
std::vector<std::string> forms_of(const TaskSubject& subject) {
  if (subject.outputs.empty()) return {};
  const Shape shape = squeezed(subject.outputs[0].shape, 2);
  if (shape.size() != 2 || subject.outputs.size() > 1) return {};
  constexpr std::int64_t least_columns = 6, least_rows = 5;
  if (shape[0] < shape[1] && shape[0] >= least_rows) return {"yolo8"};
  if (shape[0] <= shape[1] || shape[1] < least_columns) return {};
  if (shape[1] == least_columns) return {"yolo10", "yolo5"};
  return {"yolo5"};
}

// The format that is named or that shapes tell, or "parts=" where options describe the outputs.
std::string format_of(const SpecOptions& options, const TaskSubject& subject) {
  const std::string& given = options.text("format");
  if (!given.empty()) {
    const std::vector<std::string> formats = detector_formats();
    if (std::ranges::find(formats, given) == formats.end())
      fail(Fault::usage, "{}: format={} is none of {}{}", options.owner(), given, fmt::join(formats, ", "),
           did_you_mean(given, formats));
    return given;
  }
  if (!options.text("parts").empty()) return "parts=";
  const std::vector<std::string> forms = forms_of(subject);
  if (forms.size() == 1) return forms[0];
  std::vector<std::string> outputs;
  for (const TaskOutput& one : subject.outputs)
    if (!joins_others(one, subject.outputs)) outputs.push_back(one.name + " " + to_string(one.shape));
  fail(Fault::usage, "{}: the outputs {} do not tell what boxes are; give format={}", options.owner(),
       fmt::join(outputs, ", "), fmt::join(forms.empty() ? detector_formats() : forms, " or "));
}

// The picture's of [channels, height, width] or [height, width, channels], where that is clear.
std::optional<PictureSize> size_of_picture(const SpecOptions& options, const Shape& input) {
  if (const std::string& text = options.text("size"); !text.empty()) {
    const std::vector<std::int64_t> sides = parse_positive(text, 'x', options.owner() + ": size", "640x640");
    if (sides.size() != 2) fail(Fault::usage, "{}: size={} is not HEIGHTxWIDTH", options.owner(), text);
    return PictureSize{static_cast<double>(sides[1]), static_cast<double>(sides[0])};
  }
  const auto channels = [](std::int64_t axis) { return axis == 1 || axis == 3; };
  if (input.size() != 3 || channels(input[0]) == channels(input[2])) return std::nullopt;
  const std::size_t height = channels(input[0]) ? 1 : 0;
  return PictureSize{static_cast<double>(input[height + 1]), static_cast<double>(input[height])};
}

// Whether a name or an element type says that an output is this part: 2 surely, 1 perhaps, 0 not.
int likeness(const TaskOutput& output, BoxPart part) {
  const auto named = [&](std::initializer_list<std::string_view> words) {
    return std::ranges::any_of(words,
                               [&](std::string_view w) { return output.name.find(w) != std::string::npos; });
  };
  switch (part) {
    case BoxPart::box:
      return named({"box", "loc"}) ? 2 : 1;
    case BoxPart::number:
      return output.whole || named({"class", "label"}) ? 2 : 1;
    default:
      return output.whole || named({"box"}) ? 0 : named({"score", "conf", "prob", "logit", "cls"}) ? 2 : 1;
  }
}

void make_softmax(std::span<float> scores) {
  const float greatest = *std::ranges::max_element(scores);
  float sum = 0;
  for (float& score : scores) sum += score = std::exp(score - greatest);
  for (float& score : scores) score /= sum;
}

}  // namespace

std::size_t width_of(BoxPart part, std::size_t scores) {
  return part == BoxPart::box ? 4 : part == BoxPart::scores ? scores : 1;
}

std::size_t fixed_width(const std::vector<BoxPart>& parts) {
  return std::accumulate(parts.begin(), parts.end(), std::size_t{0},
                         [](std::size_t sum, BoxPart part) { return sum + width_of(part, 0); });
}

bool joins_others(const TaskOutput& output, const std::vector<TaskOutput>& all) {
  const auto is_output = [&](const std::string& name) {
    return std::ranges::find(all, name, &TaskOutput::name) != all.end();
  };
  if (output.name.ends_with(filled_rows) &&
      is_output(output.name.substr(0, output.name.size() - filled_rows.size())))
    return true;
  const std::vector<std::string> names = parts_of(output.name, "+");
  return names.size() > 1 && std::ranges::all_of(names, is_output);
}

float probability_of(ScoreKind kind, float score) {
  return kind == ScoreKind::sigmoid ? 1 / (1 + std::exp(-score)) : score;
}

std::vector<SpecOption> Detector::options() {
  return {
      {"format", "",
       "yolo5, yolox, yolo8, yolo10, ssd, retinanet, detr, torchvision, tensorflow, yolo5-heads, "
       "yolo3-heads; empty: as shapes tell"},
      {"outputs", "", "names of the outputs, in the order of the parts, joined by +; empty: those that fit"},
      {"parts", "",
       "what numbers of a box are: box, objectness, scores, or score and number (of the class), skip; + "
       "joins them, / parts outputs; empty, as all below: the format's"},
      {"layout", "", "rows or columns: where a box is in an output"},
      {"boxes", "",
       "xyxy, xywh, cxcywh, yxyx, or cells: the middle from the corner of a cell of a grid, logarithms of "
       "sides; offsets: from anchors; grid or darknet: heads of YOLO before they are decoded"},
      {"strides", "", "of cells and heads: the sides of the cells of each grid, in pixels, joined by +"},
      {"anchors", "",
       "of offsets: a file with left, top, right, bottom of an anchor a line, as boxes are; of heads: with "
       "width and height in pixels, as many lines for each grid, in the order of strides"},
      {"variances", "", "of offsets: factors of middles and of logarithms of sides, such as 0.1+0.2"},
      {"normalised", "", "yes where 1 is the picture's side, no for pixels of the network's input"},
      {"score", "", "probability, sigmoid or softmax: what makes probabilities of scores"},
      {"background", "", "none, first or last: the score that no object is there"},
      {"labels", "", "all or best: classes of which one box is a detection"},
      {"first", "", "number of the first class, of outputs that give numbers"},
      {"nms", "", "overlap above which the lower of two detections of a class goes; none: nothing goes"},
      {"size", "", "HEIGHTxWIDTH of the network's input; empty: the record's"},
      {"least", "0.001", "least score of a detection"},
      {"most", "100", "detections of a record and class, those with the highest scores"}};
}

bool Detector::fits(const TaskSubject& subject) { return forms_of(subject).size() == 1; }

Detector::Detector(const SpecOptions& options, const TaskSubject& subject)
    : owner_(options.owner()),
      format_(format_of(options, subject)),
      form_(form_of(options, format_)),
      size_(size_of_picture(options, subject.input)),
      least_(options.number("least", 0)),
      most_(options.count("most", 1)) {
  if ((form_.normalised || form_.has_cells()) && !size_)
    fail(Fault::usage, "{}: records {} do not tell the size of a picture; give size=HEIGHTxWIDTH",
         options.owner(), to_string(subject.input));
  if (form_.has_heads()) {
    choose_heads(options.words("outputs"), subject);
    return;
  }
  choose_outputs(options.words("outputs"), subject);
  if (form_.corners == Corners::cells) place_cells();
  if (form_.corners == Corners::offsets)
    require_boxes(form_.anchors.size(),
                  fmt::format("{} holds {} anchors", options.text("anchors"), form_.anchors.size()));
}

void Detector::add_cells(std::int64_t side, const AnchorSides& anchor) {
  constexpr double most_cells = 1e6;  // of a grid
  const double stride = side;
  const double rows = std::ceil(size_->height / stride), columns = std::ceil(size_->width / stride);
  if (rows * columns > most_cells)
    fail(Fault::usage, "{}: cells of {} pixels are {:g} of a picture", owner_, side, rows * columns);
  for (double row = 0; row < rows; ++row) {
    for (double column = 0; column < columns; ++column) cells_.push_back({column, row, stride, anchor});
  }
}

void Detector::place_cells() {
  for (const std::int64_t side : form_.strides) add_cells(side, {});
  require_boxes(cells_.size(),
                fmt::format("grids of cells of {} pixels have {} cells in a picture of {:g}x{:g}",
                            fmt::join(form_.strides, " and "), cells_.size(), size_->height, size_->width));
}

void Detector::require_boxes(std::size_t count, const std::string& what) const {
  const std::size_t output =
      std::ranges::find_if(form_.parts, [](const auto& parts) { return has_part(parts, BoxPart::box); }) -
      form_.parts.begin();
  const std::size_t boxes = sizes_[output] / widths_[output];
  if (boxes != count)
    fail(Fault::mismatch, "{}: {}, and output '{}' holds {} boxes; give {}", owner_, what, outputs_[output],
         boxes,
         cells_.empty() ? "the anchors of this network, in the order of its boxes"
                        : "strides= or size=HEIGHTxWIDTH");
}

const TaskOutput& Detector::chosen_output(std::size_t p, const std::string& name,
                                          std::vector<const TaskOutput*>& free) const {
  const std::vector<BoxPart>& parts = form_.parts[p];
  const auto rank = [&](const TaskOutput* one) {
    const bool fits = one != nullptr && (name.empty() || one->name == name) &&
                      box_width(one->shape, parts, form_.columns).has_value();
    return fits ? likeness(*one, parts[0]) : -1;
  };
  const std::string& part = name_of(parts[0]);
  const auto best = std::ranges::max_element(free, {}, rank);
  if (best == free.end() || rank(*best) < 0)
    fail(Fault::mismatch,
         "{}: no output{} holds the part '{}' as {} has it; say how outputs are with parts=, layout= and "
         "outputs=",
         owner_, name.empty() ? "" : " '" + name + "'", part, format_);
  const auto alike = std::ranges::count(free, rank(*best), rank);
  if (name.empty() && form_.parts.size() > 1 && alike > 1)
    fail(Fault::usage,
         "{}: {} outputs may hold the part '{}'; name one for each part, as outputs=boxes+scores", owner_,
         alike, part);
  return **best;
}

void Detector::choose_outputs(const std::vector<std::string>& names, const TaskSubject& subject) {
  if (!names.empty() && names.size() != form_.parts.size())
    fail(Fault::usage, "{}: {} names in outputs= for {} outputs of {}", owner_, names.size(),
         form_.parts.size(), format_);
  std::vector<const TaskOutput*> free;
  for (const TaskOutput& one : subject.outputs) {
    if (!joins_others(one, subject.outputs)) free.push_back(&one);
  }
  for (std::size_t p = 0; p < form_.parts.size(); ++p) {
    const TaskOutput& output = chosen_output(p, names.empty() ? "" : names[p], free);
    std::ranges::replace(free, &output, static_cast<const TaskOutput*>(nullptr));
    outputs_.push_back(output.name);
    sizes_.push_back(std::max<std::int64_t>(0, element_count(output.shape)));
    widths_.push_back(*box_width(output.shape, form_.parts[p], form_.columns));
    if (has_part(form_.parts[p], BoxPart::scores)) scores_ = widths_.back() - fixed_width(form_.parts[p]);
  }
  settle_classes();
}

void Detector::settle_classes() {
  const std::size_t no_object = form_.background == Background::none ? 0 : 1;
  if (scores_ > 0 && scores_ == no_object)
    fail(Fault::mismatch, "{}: the one score of a box is that of the background, which leaves no class",
         owner_);
  if (scores_ > 0) classes_ = scores_ - no_object;
}

std::string Detector::describe() const {
  std::string text =
      fmt::format("{} ({} {}", format_, name_of(form_.corners), form_.normalised ? "of 1" : "in pixels");
  if (form_.suppression < 1) text += fmt::format(", suppressed above {:g}", form_.suppression);
  return text + fmt::format(", outputs {})", fmt::join(outputs_, " and "));
}

// Outputs one after the other are those of a network that joins them.
std::vector<Detector::Part> Detector::parts_of_record(const JudgedRecord& record) const {
  std::vector<Part> parts;
  if (record.others.empty() && widths_.size() > 1) {
    const std::size_t all = std::accumulate(sizes_.begin(), sizes_.end(), std::size_t{0}),
                      of_box = std::accumulate(widths_.begin(), widths_.end(), std::size_t{0}),
                      boxes = record.output.size() / of_box;
    const bool any_number = !form_.columns && !form_.has_heads() && record.output.size() % of_box == 0;
    if (!record.output.empty() && record.output.size() != all && !any_number)
      fail(Fault::unsupported,
           "boxes are read from the outputs {} with {} numbers together, and there are {}",
           fmt::join(outputs_, " and "), all, record.output.size());
    std::size_t begin = 0;
    for (std::size_t o = 0; o < widths_.size(); ++o) {
      const std::size_t size =
          record.output.empty() || record.output.size() == all ? sizes_[o] : boxes * widths_[o];
      parts.emplace_back(record.output.first(record.output.empty() ? 0 : begin + size), begin);
      begin += size;
    }
    return parts;
  }
  parts.emplace_back(record.output, 0);
  for (const std::span<const float> other : record.others) parts.emplace_back(other, 0);
  return parts;
}

void Detector::add_rows(const Part& part, std::size_t output, Views& views) const {
  const auto& [values, begin] = part;
  const std::size_t boxes = (values.size() - std::min(begin, values.size())) / widths_[output];
  if (output > 0 && boxes != views.boxes)
    fail(Fault::mismatch, "output '{}' holds {} boxes, and output '{}' {}", outputs_[0], views.boxes,
         outputs_[output], boxes);
  if (const std::size_t most = std::max(cells_.size(), form_.anchors.size()); most > 0 && boxes > most)
    fail(Fault::mismatch, "output '{}' holds {} boxes of {} {}", outputs_[output], boxes, most,
         cells_.empty() ? "anchors" : "cells");
  views.boxes = boxes;
  std::size_t at = 0;
  for (const BoxPart one : form_.parts[output]) {
    const std::size_t step = form_.columns ? boxes : 1;
    views.parts[one].add({.values = values,
                          .boxes = boxes,
                          .start = begin + at * step,
                          .box_step = form_.columns ? 1 : widths_[output],
                          .step = step});
    at += width_of(one, scores_);
  }
}

Detector::Views Detector::views_of(const JudgedRecord& record) const {
  Views views;
  const auto outputs = parts_of_record(record);
  for (std::size_t o = 0; o < widths_.size(); ++o) {
    if (form_.has_heads())
      add_head(outputs[o], o, views);
    else
      add_rows(outputs[o], o, views);
  }
  return views;
}

Box Detector::box_of(const PartView& view, std::size_t box) const {
  const double a = view.at(box, 0), b = view.at(box, 1), c = view.at(box, 2), d = view.at(box, 3);
  Box found{a, b, c, d};
  if (form_.corners == Corners::xywh) found = {a, b, a + c, b + d};
  if (form_.corners == Corners::cxcywh) found = around(a, b, c, d);
  if (form_.corners == Corners::yxyx) found = {b, a, d, c};
  if (form_.corners == Corners::cells) {
    const Cell& cell = cells_[box];
    return around((a + cell.column) * cell.stride, (b + cell.row) * cell.stride, std::exp(c) * cell.stride,
                  std::exp(d) * cell.stride);
  }
  if (form_.has_heads()) return box_in_head(box, {a, b, c, d});
  if (form_.corners == Corners::offsets) found = moved(form_.anchors[box], {a, b, c, d}, form_.variances);
  if (!form_.normalised) return found;
  return {found.left * size_->width, found.top * size_->height, found.right * size_->width,
          found.bottom * size_->height};
}

std::vector<float> Detector::class_probabilities(const PartView& scores, std::size_t box) const {
  std::vector<float> all(std::max<std::size_t>(scores_, 1));
  for (std::size_t k = 0; k < all.size(); ++k) all[k] = probability_of(form_.scores, scores.at(box, k));
  if (form_.scores == ScoreKind::softmax) make_softmax(all);
  return all;
}

std::vector<Detector::Score> Detector::scores_of(const Views& views, std::size_t box) const {
  const float object = objectness_of(views, box);
  const std::vector<float> scores = class_probabilities(scores_in(views), box);
  if (!classes_) {
    constexpr float greatest = 1e6;  // beyond which no class has a number
    const float number = views.parts.at(BoxPart::number).at(box);
    if (std::isnan(number)) return {};
    return {{std::llround(std::clamp(number, -greatest, greatest)) - form_.first, object * scores[0]}};
  }
  std::vector<Score> all;
  for (std::size_t k = 0; k < *classes_; ++k) {
    const std::int64_t of_class = k;
    all.push_back({of_class, object * scores[column_of(of_class)]});
  }
  if (!form_.all_labels) all = {*std::ranges::max_element(all, {}, &Score::score)};
  return all;
}

bool Detector::only_fills(const PartView& boxes, std::size_t box) {
  for (std::size_t i = 0; i < 4; ++i)
    if (boxes.at(box, i) != -1) return false;
  return true;
}

// Scores that depend on no other one, in the order in which they lie in memory.
void Detector::collect_columns(const Views& views, std::vector<std::vector<Detection>>& found) const {
  const PartView &scores = scores_in(views), &boxes = views.parts.at(BoxPart::box);
  std::vector<float> objectness(views.boxes);
  for (std::size_t b = 0; b < views.boxes; ++b) objectness[b] = objectness_of(views, b);
  const auto look_at = [&](std::size_t b, std::size_t k) {
    const std::int64_t of_class = k;
    const float score = objectness[b] * probability_of(form_.scores, scores.at(b, column_of(of_class)));
    if (!(score >= least_)) return;
    const Box box = box_of(boxes, b);
    if (std::isfinite(box.left + box.top + box.right + box.bottom) && !only_fills(boxes, b))
      found[k].push_back({box, of_class, score, b});
  };
  const std::size_t outer = form_.columns ? *classes_ : views.boxes,
                    inner = form_.columns ? views.boxes : *classes_;
  for (std::size_t i = 0; i < outer; ++i) {
    for (std::size_t j = 0; j < inner; ++j) look_at(form_.columns ? j : i, form_.columns ? i : j);
  }
}

void Detector::collect_boxes(const Views& views, std::vector<std::vector<Detection>>& found) const {
  for (std::size_t b = 0; b < views.boxes; ++b) {
    const Box box = box_of(views.parts.at(BoxPart::box), b);
    if (!std::isfinite(box.left + box.top + box.right + box.bottom)) continue;
    if (only_fills(views.parts.at(BoxPart::box), b)) continue;
    for (const auto& [of_class, score] : scores_of(views, b)) {
      if (!(score >= least_)) continue;
      const std::size_t count = found.size();
      if (of_class < 0 || of_class >= static_cast<std::int64_t>(count))
        fail(Fault::mismatch,
             "the network names class {} (number {} of its output), and there are {} classes; give first=, "
             "the number of the first class, or the names of all as names=",
             of_class, of_class + form_.first, count);
      found[of_class].push_back({box, of_class, score, b});
    }
  }
}

std::vector<std::vector<Detection>> Detector::read(const JudgedRecord& record, std::size_t count) const {
  const Views views = views_of(record);
  std::vector<std::vector<Detection>> found(count);
  if (classes_ && form_.all_labels && form_.scores != ScoreKind::softmax && count >= *classes_)
    collect_columns(views, found);
  else
    collect_boxes(views, found);
  for (std::vector<Detection>& one : found) one = suppressed(one, form_.suppression, most_);
  return found;
}

}  // namespace assay::task
