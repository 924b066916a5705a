#include "assay/attack/changes.h"

#include <cmath>
#include <limits>

#include "assay/engine/elements.h"

namespace assay::attack {
namespace {

class MovedAway final : public OutputChange {
 public:
  MovedAway(const Array& outputs, const Array& targets, double margin)
      : reference_(floats_of(outputs)),
        direction_(reference_.size()),
        size_(static_cast<std::size_t>(outputs.size(1))),
        margin_(static_cast<float>(margin)) {
    const std::vector<float> wanted = floats_of(targets);
    for (std::size_t begin = 0; begin < reference_.size(); begin += size_)
      set_direction(begin, wanted.size() == reference_.size() ? std::span(wanted).subspan(begin, size_)
                                                              : std::span<const float>());
  }

  float beyond(std::size_t place, std::span<const float> outputs) const override {
    float moved = -margin_;
    for (std::size_t i = 0; i < size_; ++i)
      moved += direction_[place * size_ + i] * (outputs[i] - reference_[place * size_ + i]);
    return moved;
  }

  void differentiate(std::size_t place, std::span<const float> /*outputs*/, float weight,
                     std::span<float> gradients) const override {
    for (std::size_t i = 0; i < size_; ++i) gradients[i] += weight * direction_[place * size_ + i];
  }

 private:
  // Away from the target, where there is one and the output differs from it; otherwise up.
  void set_direction(std::size_t begin, std::span<const float> wanted) {
    const std::span to = std::span(direction_).subspan(begin, size_);
    double length = 0;
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      to[i] = reference_[begin + i] - wanted[i];
      length += static_cast<double>(to[i]) * to[i];
    }
    length = std::sqrt(length);
    for (float& one : to)
      one = static_cast<float>(length > 1e-6 ? one / length : 1 / std::sqrt(static_cast<double>(size_)));
  }

  std::vector<float> reference_, direction_;
  std::size_t size_;
  float margin_;
};

class ItemsChanged final : public OutputChange {
 public:
  ItemsChanged(std::shared_ptr<const task::Task> task, task::RightItems items, double share)
      : task_(std::move(task)), items_(std::move(items)), share_(share) {}

  // A lead of 0 that does not hold counts as passed, however little.
  float beyond(std::size_t place, std::span<const float> outputs) const override {
    const std::vector<std::int64_t>& classes = items_[place];
    const task::Standing standing = task::standing_of(task_->leads(outputs, classes), classes, share_);
    if (standing.items == 0) return std::numeric_limits<float>::quiet_NaN();
    const float ahead = standing.deciding.value;
    return ahead == 0 && standing.beyond ? least : -ahead;
  }

  std::vector<float> explained(std::size_t place, std::span<const float> outputs) const override {
    const std::vector<std::int64_t>& classes = items_[place];
    return task::item_scores(task_->leads(outputs, classes), classes, outputs.size()).weights;
  }

  void differentiate(std::size_t place, std::span<const float> outputs, float weight,
                     std::span<float> gradients) const override {
    const std::vector<std::int64_t>& classes = items_[place];
    const std::vector<task::Lead> leads = task_->leads(outputs, classes);
    const task::Standing standing = task::standing_of(leads, classes, share_);
    const bool all = standing.changed == standing.items;
    const auto counted = static_cast<float>(all ? standing.items : standing.items - standing.changed);
    for (std::size_t i = 0; i < classes.size(); ++i) {
      if (classes[i] < 0 || !(all || leads[i].holds)) continue;
      add(leads[i].own, -weight / counted, gradients);
      add(leads[i].rival, weight / counted, gradients);
    }
  }

 private:
  static constexpr float least = 1e-30F;

  static void add(std::int64_t place, float gradient, std::span<float> gradients) {
    if (place != task::Lead::none) gradients[static_cast<std::size_t>(place)] += gradient;
  }

  std::shared_ptr<const task::Task> task_;
  task::RightItems items_;
  double share_;
};

}  // namespace

std::shared_ptr<const OutputChange> moved_away(const Array& outputs, const Array& targets, double margin) {
  return std::make_shared<MovedAway>(outputs, targets, margin);
}

std::shared_ptr<const OutputChange> items_changed(std::shared_ptr<const task::Task> task,
                                                  task::RightItems items, double share) {
  return std::make_shared<ItemsChanged>(std::move(task), std::move(items), share);
}

}  // namespace assay::attack
