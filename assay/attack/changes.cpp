#include "assay/attack/changes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "assay/engine/elements.h"

namespace assay::attack {
namespace {

class MovedAway final : public OutputChange {
 public:
  MovedAway(const Array& outputs, const Array& targets, double margin)
      : reference_(floats_of(outputs)),
        direction_(reference_.size()),
        size_(outputs.size(1)),
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
    for (float& one : to) one = static_cast<float>(length > 1e-6 ? one / length : 1 / std::sqrt(size_));
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
    const task::Items& items = items_[place];
    const task::Standing standing = task::standing_of(task_->leads(outputs, items), items, share_);
    if (standing.items == 0) return std::numeric_limits<float>::quiet_NaN();
    const float ahead = standing.deciding.value;
    return ahead == 0 && standing.beyond ? least : -ahead;
  }

  std::vector<float> explained(std::size_t place, std::span<const float> outputs) const override {
    return task::item_scores(*task_, outputs, items_[place]).weights;
  }

  void differentiate(std::size_t place, std::span<const float> outputs, float weight,
                     std::span<float> gradients) const override {
    const task::Items& items = items_[place];
    const std::vector<task::Lead> leads = task_->leads(outputs, items);
    const task::Standing standing = task::standing_of(leads, items, share_);
    const bool all = standing.changed == standing.items;
    const auto counted = static_cast<float>(all ? standing.items : standing.items - standing.changed);
    for (std::size_t i = 0; i < leads.size(); ++i) {
      if (items.classes[i] < 0 || !(all || leads[i].holds)) continue;
      task_->differentiate(outputs, leads[i], -weight / counted, gradients);
    }
  }

 private:
  static constexpr float least = 1e-30F;

  std::shared_ptr<const task::Task> task_;
  task::RightItems items_;
  double share_;
};

class ItemsAppear final : public OutputChange {
 public:
  ItemsAppear(std::shared_ptr<const task::Task> task, std::vector<task::Items> before, std::int64_t of_class,
              double share)
      : task_(std::move(task)), class_(of_class), share_(share), before_(std::move(before)) {}

  float beyond(std::size_t place, std::span<const float> outputs) const override {
    const std::vector<task::Lead> leads = nearest(place, outputs);
    if (leads.empty()) return std::numeric_limits<float>::quiet_NaN();
    const task::Lead& deciding = leads.back();
    return deciding.value == 0 && deciding.holds ? least : deciding.value;
  }

  std::vector<float> explained(std::size_t place, std::span<const float> outputs) const override {
    std::vector<float> weights(outputs.size());
    for (const task::Lead& lead : nearest(place, outputs)) task_->explain(outputs, lead, weights);
    return weights;
  }

  void differentiate(std::size_t place, std::span<const float> outputs, float weight,
                     std::span<float> gradients) const override {
    const std::vector<task::Lead> leads = nearest(place, outputs);
    const std::size_t left = std::ranges::count(leads, false, &task::Lead::holds);
    const auto counted = static_cast<float>(left > 0 ? left : leads.size());
    for (const task::Lead& lead : leads) {
      if (left == 0 || !lead.holds) task_->differentiate(outputs, lead, weight / counted, gradients);
    }
  }

 private:
  static constexpr float least = 1e-30F;

  // As many leads as have to hold, the greatest first.
  std::vector<task::Lead> nearest(std::size_t place, std::span<const float> outputs) const {
    std::vector<task::Lead> leads = task_->appearing(outputs, class_, before_[place]);
    if (leads.empty()) return leads;
    const auto needed = std::min(leads.size(), static_cast<std::size_t>(share_ * leads.size()) + 1);
    const auto value = [](const task::Lead& lead) {
      return std::isnan(lead.value) ? -std::numeric_limits<float>::infinity() : lead.value;
    };
    std::ranges::partial_sort(leads, leads.begin() + needed, std::greater<>(), value);
    leads.resize(needed);
    return leads;
  }

  std::shared_ptr<const task::Task> task_;
  std::int64_t class_;
  double share_;
  std::vector<task::Items> before_;  // by record
};

}  // namespace

std::shared_ptr<const OutputChange> moved_away(const Array& outputs, const Array& targets, double margin) {
  return std::make_shared<MovedAway>(outputs, targets, margin);
}

std::shared_ptr<const OutputChange> items_changed(std::shared_ptr<const task::Task> task,
                                                  task::RightItems items, double share) {
  return std::make_shared<ItemsChanged>(std::move(task), std::move(items), share);
}

std::shared_ptr<const OutputChange> items_appear(std::shared_ptr<const task::Task> task,
                                                 std::vector<task::Items> before, std::int64_t of_class,
                                                 double share) {
  return std::make_shared<ItemsAppear>(std::move(task), std::move(before), of_class, share);
}

std::string goal_in_words(const AttackOptions& options, const task::Task& task) {
  const auto name = [&] { return task.class_names().at(options.goal.of_class); };
  switch (options.goal.kind) {
    case ItemGoal::Kind::hide:
      return fmt::format("every item of '{}' is decided otherwise", name());
    case ItemGoal::Kind::appear:
      return options.margin == 0
                 ? fmt::format("an item of '{}' appears", name())
                 : fmt::format("more than {:.4g} of the items become '{}'", options.margin, name());
    default:
      return task::change_in_words(options.margin);
  }
}

}  // namespace assay::attack
