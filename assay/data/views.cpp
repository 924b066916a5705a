#include "assay/data/views.h"

#include <algorithm>
#include <numeric>

#include "assay/support/error.h"
#include "assay/support/hash.h"

namespace assay {
namespace {

// Answers everything as the data set below does.
class View : public Dataset {
 public:
  explicit View(DatasetPtr below) : below_(std::move(below)) {}
  std::size_t size() const override { return below_->size(); }
  Shape record_shape() const override { return below_->record_shape(); }
  DType dtype() const override { return below_->dtype(); }
  std::string id(std::size_t index) const override { return below_->id(index); }
  bool has_labels() const override { return below_->has_labels(); }
  std::int64_t label(std::size_t index) const override { return below_->label(index); }
  std::size_t class_count() const override { return below_->class_count(); }
  std::vector<std::string> class_names() const override { return below_->class_names(); }
  std::size_t target_width() const override { return below_->target_width(); }
  std::optional<ValidRange> valid_range() const override { return below_->valid_range(); }

 protected:
  const Dataset& below() const { return *below_; }

 private:
  DatasetPtr below_;
};

class Joined final : public View {
 public:
  explicit Joined(std::vector<DatasetPtr> parts) : View(parts.front()), parts_(std::move(parts)) {
    for (const DatasetPtr& part : parts_) {
      check(*part);
      ends_.push_back((ends_.empty() ? 0 : ends_.back()) + part->size());
    }
  }

  std::size_t size() const override { return ends_.back(); }
  std::string id(std::size_t index) const override {
    const auto [part, place] = find(index);
    return parts_[part]->id(place);
  }
  std::int64_t label(std::size_t index) const override {
    const auto [part, place] = find(index);
    return parts_[part]->label(place);
  }

  Batch read(std::span<const std::size_t> indices) const override {
    std::vector<std::vector<std::size_t>> wanted(parts_.size()), rows(parts_.size());
    for (std::size_t row = 0; row < indices.size(); ++row) {
      const auto [part, place] = find(indices[row]);
      wanted[part].push_back(place);
      rows[part].push_back(row);
    }
    Batch batch;
    batch.indices.assign(indices.begin(), indices.end());
    std::vector<std::byte> inputs(indices.size() * record_bytes());
    std::vector<float> targets(indices.size() * target_width());
    if (has_labels()) batch.labels.resize(indices.size());
    for (std::size_t p = 0; p < parts_.size(); ++p) {
      if (wanted[p].empty()) continue;
      const Batch piece = parts_[p]->read(wanted[p]);
      const auto piece_targets = target_width() > 0 ? piece.targets.as<float>() : std::span<const float>();
      for (std::size_t i = 0; i < rows[p].size(); ++i) {
        std::copy_n(piece.inputs.data() + i * record_bytes(), record_bytes(), inputs.data() + rows[p][i] * record_bytes());
        if (has_labels()) batch.labels[rows[p][i]] = piece.labels[i];
        for (std::size_t t = 0; t < target_width(); ++t) targets[rows[p][i] * target_width() + t] = piece_targets[i * target_width() + t];
      }
    }
    Shape shape = record_shape();
    shape.insert(shape.begin(), static_cast<std::int64_t>(indices.size()));
    batch.inputs = Array(dtype(), std::move(shape), std::move(inputs));
    if (target_width() > 0) {
      batch.targets = Array::of<float>({static_cast<std::int64_t>(indices.size()), static_cast<std::int64_t>(target_width())}, targets);
    }
    return batch;
  }

  std::string hash() const override {
    Hasher hasher;
    hasher.text("joined");
    for (const DatasetPtr& part : parts_) hasher.text(part->hash());
    return hasher.hex();
  }
  std::string describe() const override {
    std::string text;
    for (const DatasetPtr& part : parts_) text += (text.empty() ? "" : " + ") + part->describe();
    return text;
  }

 private:
  void check(const Dataset& part) const {
    const auto differ = [&](const char* what, const auto& here, const auto& there) {
      fail(Fault::mismatch, "{} and {} cannot be joined: {} {} and {}", below().describe(), part.describe(), what, here, there);
    };
    if (part.record_shape() != record_shape()) differ("record shapes", to_string(record_shape()), to_string(part.record_shape()));
    if (part.dtype() != dtype()) differ("element types", to_string(dtype()), to_string(part.dtype()));
    if (has_labels()) {
      if (!part.has_labels()) fail(Fault::mismatch, "{} has no labels, but {} has", part.describe(), below().describe());
      for (std::size_t i = 0; i < part.size(); ++i) {
        if (static_cast<std::size_t>(part.label(i)) < class_count()) continue;
        fail(Fault::mismatch, "{}: record '{}' has label {}, but {} has {} classes", part.describe(), part.id(i), part.label(i), below().describe(), class_count());
      }
    } else if (part.target_width() != target_width()) {
      differ("targets per record", target_width(), part.target_width());
    }
  }

  std::size_t record_bytes() const { return static_cast<std::size_t>(element_count(record_shape())) * size_of(dtype()); }

  // Which part an index falls into, and its place there.
  std::pair<std::size_t, std::size_t> find(std::size_t index) const {
    const auto end = std::upper_bound(ends_.begin(), ends_.end(), index);
    const auto part = static_cast<std::size_t>(end - ends_.begin());
    return {part, part == 0 ? index : index - ends_[part - 1]};
  }

  std::vector<DatasetPtr> parts_;
  std::vector<std::size_t> ends_;  // one past the last index of each part
};

class Selected final : public View {
 public:
  Selected(DatasetPtr whole, std::vector<std::size_t> positions) : View(std::move(whole)), positions_(std::move(positions)) {
    if (positions_.empty()) fail(Fault::usage, "no record of {} is selected", below().describe());
    for (const std::size_t p : positions_) {
      if (p >= below().size()) fail(Fault::usage, "{} has no record at position {}", below().describe(), p);
    }
  }
  std::size_t size() const override { return positions_.size(); }
  std::string id(std::size_t index) const override { return below().id(positions_.at(index)); }
  std::int64_t label(std::size_t index) const override { return below().label(positions_.at(index)); }
  Batch read(std::span<const std::size_t> indices) const override {
    std::vector<std::size_t> places;
    for (const std::size_t i : indices) places.push_back(positions_.at(i));
    Batch batch = below().read(places);
    batch.indices.assign(indices.begin(), indices.end());
    return batch;
  }
  std::string hash() const override {
    Hasher hasher;
    hasher.text("selected").text(below().hash());
    for (const std::size_t p : positions_) hasher.number(static_cast<std::int64_t>(p));
    return hasher.hex();
  }
  std::string describe() const override { return fmt::format("{} of {}", positions_.size(), below().describe()); }

 private:
  std::vector<std::size_t> positions_;
};

class Relabelled final : public View {
 public:
  Relabelled(DatasetPtr whole, std::vector<std::int64_t> labels) : View(std::move(whole)), labels_(std::move(labels)) {
    if (labels_.size() != below().size()) fail(Fault::usage, "{} labels for {} records of {}", labels_.size(), below().size(), below().describe());
    names_ = below().class_names();
    for (std::size_t i = 0; i < labels_.size(); ++i) {
      if (labels_[i] < 0 || labels_[i] > 1'000'000) fail(Fault::usage, "record '{}': {} is no class number", id(i), labels_[i]);
      for (auto c = static_cast<std::int64_t>(names_.size()); c <= labels_[i]; ++c) names_.push_back(std::to_string(c));
    }
  }
  bool has_labels() const override { return true; }
  std::int64_t label(std::size_t index) const override { return labels_.at(index); }
  std::size_t class_count() const override { return names_.size(); }
  std::vector<std::string> class_names() const override { return names_; }
  std::size_t target_width() const override { return 0; }
  Batch read(std::span<const std::size_t> indices) const override {
    Batch batch = below().read(indices);
    batch.labels.clear();
    for (const std::size_t i : indices) batch.labels.push_back(labels_.at(i));
    batch.targets = Array();
    return batch;
  }
  std::string hash() const override {
    Hasher hasher;
    hasher.text("relabelled").text(below().hash());
    for (const std::int64_t label : labels_) hasher.number(label);
    return hasher.hex();
  }
  std::string describe() const override { return below().describe() + " with other labels"; }

 private:
  std::vector<std::int64_t> labels_;
  std::vector<std::string> names_;
};

}  // namespace

DatasetPtr joined(std::vector<DatasetPtr> parts) {
  if (parts.empty()) fail(Fault::usage, "nothing to join: no data sets");
  return parts.size() == 1 ? parts.front() : std::make_shared<Joined>(std::move(parts));
}

DatasetPtr selected(DatasetPtr whole, std::vector<std::size_t> positions) {
  return std::make_shared<Selected>(std::move(whole), std::move(positions));
}

DatasetPtr relabelled(DatasetPtr whole, std::vector<std::int64_t> labels) {
  return std::make_shared<Relabelled>(std::move(whole), std::move(labels));
}

}  // namespace assay
