// The labels of items: the class of each pixel or token, boxes of a class, several labels, numbers.

#include <algorithm>
#include <cmath>
#include <limits>

#include <assay/error.h>
#include <assay/extend/hypothesis.h>
#include "assay/inspection/symbols/annotations.h"

namespace assay::inspection {
namespace {

constexpr std::size_t most_item_classes = 1000, box_width = 5;
enum class ItemKind { positions, boxes, labels, numbers };

// What the labels of a data set are, told by their shape.
struct ItemLabels {
  ItemKind kind = ItemKind::labels;
  Shape positions;  // of a record's labels
};

// What the values of labels may be.
struct ItemValues {
  bool yes_or_no = true;  // 0 and 1
  bool whole = true;      // as classes are
};

// Of a picture, a volume, steps of features, or a signal [channels, steps].
Shape positions_of(const Dataset& data) {
  const Shape& record = data.record_shape();
  const std::int64_t width = data.target_width();
  const Shape behind(record.begin() + (record.empty() ? 0 : 1), record.end());
  if (record.size() >= 3 && element_count(behind) == width) return behind;
  const bool steps = !record.empty() && record.size() < 3 && (record[0] == width || record.back() == width);
  return steps && width > 1 ? Shape{width} : Shape{};
}

// Labels along the second axis of [a, b]: of the steps of a signal, or one for each of b features.
bool may_be_signal(const Dataset& data) {
  const Shape& record = data.record_shape();
  const std::int64_t width = data.target_width();
  return record.size() == 2 && record[0] != width && record[1] == width;
}

[[noreturn]] void refuse_unclear(const Dataset& data, const ItemValues& values) {
  const char* const other = values.yes_or_no ? "labels" : "numbers";
  fail(Fault::usage,
       "hypothesis 'items': {} {} a record of {} may be those of the positions of a signal or not; say "
       "items[of=positions] or items[of={}]",
       data.target_width(), other, to_string(data.record_shape()), other);
}

ItemLabels labels_of(const Dataset& data, const std::string& of, const ItemValues& values) {
  const Shape positions = positions_of(data);
  const auto fail_for = [&](const char* what) {
    fail(Fault::mismatch, "hypothesis 'items': {} labels a record of {} are not {}", data.target_width(),
         data.describe(), what);
  };
  const bool boxes = data.record_shape().size() == 3 && data.target_width() % box_width == 0;
  if (of == "positions" && positions.empty()) fail_for("one for each position of a record");
  if (of == "boxes" && !boxes) fail_for("rows of class and corners over pictures");
  if (of == "numbers") return {ItemKind::numbers, {}};
  if (of == "labels" && !values.yes_or_no) fail_for("0 and 1");
  if (of == "labels") return {ItemKind::labels, {}};
  if (of == "boxes" || (of == "auto" && positions.empty() && boxes && !data.class_names().empty()))
    return {ItemKind::boxes, {data.record_shape()[1], data.record_shape()[2]}};
  if (of == "auto" && may_be_signal(data)) {
    if (values.whole) refuse_unclear(data, values);
    return {ItemKind::numbers, {}};
  }
  if (of == "positions" || (of == "auto" && !positions.empty())) return {ItemKind::positions, positions};
  return {values.yes_or_no ? ItemKind::labels : ItemKind::numbers, {}};
}

class ItemsOfData final : public Annotator {
 public:
  explicit ItemsOfData(const AnnotatorSetup& setup) : name_(setup.options.text("name")) {
    const Dataset& data = *setup.dataset;
    if (data.target_width() == 0)
      fail(Fault::mismatch,
           "hypothesis 'items': {} has no labels of items; for one class a record there is label",
           data.describe());
    ignores_given_ = !setup.options.text("ignore").empty();
    if (ignores_given_) ignored_ = static_cast<float>(setup.options.number("ignore"));
    look_at(setup.dataset);
    labels_ = labels_of(data, setup.options.word("of", kinds), values_);
    names_ = setup.options.words("names");
    if (names_.empty() && labels_.kind != ItemKind::labels && labels_.kind != ItemKind::numbers)
      names_ = data.class_names();
    name_hypotheses(data.target_width());
  }

  const std::vector<Hypothesis>& hypotheses() const override { return hypotheses_; }
  std::string version() const override {
    std::string text = "1 " + std::to_string(ignored_);
    for (const Hypothesis& one : hypotheses_) text += " " + one.name;
    return text;
  }

  Behaviours annotate(const RecordBlock& records) const override {
    Behaviours behaviours{labels_.positions, {}};
    const std::span<const float> all = records.batch.targets.as<float>();
    const std::size_t width = all.size() / std::max<std::size_t>(1, records.size());
    for (std::size_t r = 0; r < records.size(); ++r) {
      const std::span<const float> own = all.subspan(r * width, width);
      const std::string id = records.dataset.id(records.batch.indices[r]);
      if (labels_.kind == ItemKind::positions)
        append_positions(own, id, behaviours.values);
      else if (labels_.kind == ItemKind::boxes)
        append_boxes(own, id, behaviours.values);
      else
        for (const float value : own)
          behaviours.values.push_back(labels_.kind == ItemKind::labels || ignores_given_ ? known(value)
                                                                                         : value);
    }
    return behaviours;
  }

 private:
  static inline const std::vector<std::string> kinds{"auto", "positions", "boxes", "labels", "numbers"};

  // One pass over the labels.
  void look_at(const DatasetPtr& data) {
    constexpr std::size_t batch = 1024;
    BatchReader reader(data, batch);
    while (const std::optional<Batch> read = reader.next()) {
      for (const float value : read->targets.as<float>()) {
        if (std::isnan(known(value))) continue;
        values_.yes_or_no = values_.yes_or_no && (value == 0 || value == 1);
        values_.whole = values_.whole && value == std::floor(value);
        greatest_ = std::max(greatest_, value);
      }
      for (std::size_t at = 0; at < read->targets.as<float>().size(); at += box_width)
        greatest_box_ = std::max(greatest_box_, read->targets.as<float>()[at]);
    }
  }

  void name_hypotheses(std::size_t width) {
    if (labels_.kind == ItemKind::labels || labels_.kind == ItemKind::numbers) {
      if (!names_.empty() && names_.size() != width)
        fail(Fault::usage, "hypothesis 'items': {} names for {} labels a record", names_.size(), width);
      const BehaviourKind told =
          labels_.kind == ItemKind::labels ? BehaviourKind::binary : BehaviourKind::numeric;
      for (std::size_t k = 0; k < width; ++k)
        hypotheses_.push_back({name_ + ":" + (names_.empty() ? std::to_string(k) : names_[k]), told});
      return;
    }
    const float greatest = labels_.kind == ItemKind::boxes ? greatest_box_ : greatest_;
    if (names_.empty() && !(greatest < static_cast<float>(most_item_classes)))
      fail(Fault::data,
           "hypothesis 'items': label {} is beyond {} classes; of=numbers takes labels as numbers", greatest,
           most_item_classes);
    const bool named = !names_.empty();
    for (std::size_t c = 0; !named && c < static_cast<std::size_t>(greatest + 1); ++c)
      names_.push_back(std::to_string(c));
    hypotheses_ = class_hypotheses(name_, names_);
    if (labels_.kind == ItemKind::boxes) hypotheses_.erase(hypotheses_.begin());  // boxes lie over each other
  }

  float known(float value) const {
    return value == ignored_ ? std::numeric_limits<float>::quiet_NaN() : value;
  }

  std::size_t class_of_item(float label, const std::string& id) const {
    if (label >= 0 && label < static_cast<float>(names_.size()) && label == std::floor(label)) return label;
    fail(Fault::data,
         "hypothesis 'items', record '{}': label {} is not one of {} classes, from 0 on; if it means that an "
         "item does not count, items[ignore={}] leaves it out",
         id, label, names_.size(), label);
  }

  void append_positions(std::span<const float> own, const std::string& id, std::vector<float>& values) const {
    std::vector<std::optional<std::size_t>> codes;
    for (const float label : own)
      codes.push_back(std::isnan(known(label)) ? std::nullopt : std::optional(class_of_item(label, id)));
    append_classes(values, codes, names_.size());
  }

  // Pixels whose middle is in a box of the class.
  void append_boxes(std::span<const float> own, const std::string& id, std::vector<float>& values) const {
    const std::size_t height = labels_.positions[0], width = labels_.positions[1];
    const std::size_t begin = values.size();
    values.resize(begin + names_.size() * height * width);
    for (std::size_t at = 0; at + box_width <= own.size(); at += box_width) {
      if (own[at] == -1) continue;
      const bool ignored = own[at] < 0;
      const std::size_t c = class_of_item(ignored ? -2 - own[at] : own[at], id);
      const auto range = [](float from, float to, std::size_t size) {
        const auto cell = [&](float side) {
          return static_cast<std::size_t>(std::clamp(std::ceil(side - 0.5F), 0.0F, static_cast<float>(size)));
        };
        return std::pair(cell(from), cell(to));
      };
      const auto [left, right] = range(own[at + 1], own[at + 3], width);
      const auto [top, bottom] = range(own[at + 2], own[at + 4], height);
      for (std::size_t y = top; y < bottom; ++y) {
        for (std::size_t x = left; x < right; ++x)
          values[begin + (c * height + y) * width + x] =
              ignored ? std::numeric_limits<float>::quiet_NaN() : 1;
      }
    }
  }

  std::string name_;
  float ignored_ = -1, greatest_ = 0, greatest_box_ = 0;
  bool ignores_given_ = false;
  ItemValues values_;
  ItemLabels labels_;
  std::vector<std::string> names_;
  std::vector<Hypothesis> hypotheses_;
};

}  // namespace

AnnotatorInfo items_annotator() {
  return {
      .name = "items",
      .summary = "labels of items: the class of each pixel or token, boxes, several labels, numbers",
      .definition =
          "of one label for each pixel or token, 'items' is its class and 'items:CLASS' is 1 where it is "
          "that "
          "one. Of boxes, 'items:CLASS' is 1 at pixels whose middle is in a box of the class. Of several "
          "labels "
          "or numbers a record, 'items:NAME' is that label or number. Labels are those of the data (y, "
          "masks=, "
          "boxes=), as the tasks pixels, tokens, boxes and labels have them",
      .limits = "labels are taken as they are, right or wrong; up to 1,000 classes",
      .paper = "Bau et al., Network Dissection, CVPR 2017, for pixels; Sellam et al., SIGMOD 2019",
      .options = {{"of", "auto", "positions, boxes, labels or numbers; auto: told from shapes and values"},
                  {"names", "",
                   "names of classes, labels or numbers, joined by +; empty: the data's, or numbers"},
                  {"ignore", "",
                   "label that means don't-care, such as 255 or -100; empty: -1, but of numbers none"},
                  {"name", "items", "what results call it"}},
      .make = [](const AnnotatorSetup& setup) -> std::unique_ptr<Annotator> {
        return std::make_unique<ItemsOfData>(setup);
      }};
}

}  // namespace assay::inspection
