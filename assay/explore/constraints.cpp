#include "assay/explore/constraints.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <array>

#include "assay/support/error.h"
#include "assay/support/text.h"

namespace assay {
namespace {

class Together final : public Constraint {
 public:
  explicit Together(std::vector<std::unique_ptr<Constraint>> parts) : parts_(std::move(parts)) {}

  Tensor direction(const Searches& searches, const Tensor& points, const Tensor& wanted) const override {
    Tensor allowed = wanted;
    for (const auto& part : parts_) allowed = part->direction(searches, points, allowed);
    return allowed;
  }
  Tensor kept(const Searches& searches, const Tensor& points) const override {
    Tensor result = points;
    for (const auto& part : parts_) result = part->kept(searches, result);
    return result;
  }
  Tensor shown(const Searches& searches, const Tensor& points) const override {
    Tensor result = points;
    for (const auto& part : parts_) result = part->shown(searches, result);
    return result;
  }
  bool on_a_line() const override {
    return std::ranges::any_of(parts_, [](const auto& part) { return part->on_a_line(); });
  }
  Shrinking shrinking() const override {
    Shrinking common;
    for (const auto& part : parts_) {
      common.scale &= part->shrinking().scale;
      common.elements &= part->shrinking().elements;
    }
    return common;
  }
  std::size_t patience() const override {
    std::size_t longest = Constraint::patience();
    for (const auto& part : parts_) longest = std::max(longest, part->patience());
    return longest;
  }
  Tensor integers(std::int64_t elements) const override {
    Tensor all;
    for (const auto& part : parts_) {
      const Tensor own = part->integers(elements);
      if (own.defined()) all = all.defined() ? all.logical_or(own) : own;
    }
    return all;
  }

 private:
  std::vector<std::unique_ptr<Constraint>> parts_;
};

}  // namespace

std::span<const ConstraintInfo> constraints() {
  static const std::array all{
      light_constraint(), occl_constraint(), blackout_constraint(), contrast_constraint(), blur_constraint(),
      linf_constraint(), l2_constraint(), mask_constraint(), additive_constraint(), features_constraint(),
  };
  return all;
}

const ConstraintInfo& find_constraint(const std::string& name) {
  std::vector<std::string> names;
  for (const ConstraintInfo& info : constraints()) {
    if (info.name == name) return info;
    names.push_back(info.name);
  }
  fail(Fault::usage, "no constraint is named '{}'{}; there are {} (`assay constraints` explains them)", name, did_you_mean(name, names), joined(names));
}

std::unique_ptr<Constraint> make_constraint(std::span<const Spec> specs) {
  std::vector<std::unique_ptr<Constraint>> parts;
  for (const Spec& spec : specs) {
    const ConstraintInfo& info = find_constraint(spec.name);
    parts.push_back(info.make(SpecOptions("constraint", spec, info.options)));
  }
  return std::make_unique<Together>(std::move(parts));
}

}  // namespace assay
