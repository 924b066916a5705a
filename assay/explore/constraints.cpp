#include <assay/extend/constraint.h>

#include <ATen/ATen.h>

#include <algorithm>

namespace assay::explore {
namespace {

class Together final : public Constraint {
 public:
  explicit Together(std::vector<std::shared_ptr<const Constraint>> parts) : parts_(std::move(parts)) {}

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
  std::vector<std::shared_ptr<const Constraint>> parts_;
};

}  // namespace

// One line for each: NAME_constraint() is defined in the file of that name.
#define ASSAY_CONSTRAINTS(X) \
  X(light)                   \
  X(occl)                    \
  X(blackout)                \
  X(contrast)                \
  X(blur)                    \
  X(linf)                    \
  X(l2)                      \
  X(mask)                    \
  X(additive)                \
  X(features)

#define DECLARE(name) ConstraintInfo name##_constraint();
ASSAY_CONSTRAINTS(DECLARE)
#undef DECLARE
#define LIST(name) name##_constraint(),

Catalogue<ConstraintInfo>& constraints() {
  static Catalogue<ConstraintInfo> all({"constraint", "`assay constraints` explains them"},
                                       {ASSAY_CONSTRAINTS(LIST)});
  return all;
}
#undef LIST

std::unique_ptr<Constraint> make_constraint(std::span<const ConstraintChoice> choices) {
  std::vector<std::shared_ptr<const Constraint>> parts;
  for (const ConstraintChoice& choice : choices) {
    if (choice.object()) {
      parts.push_back(choice.object());
      continue;
    }
    const ConstraintInfo& info = constraints().find(choice.spec().name);
    parts.push_back(info.make(SpecOptions("constraint", choice.spec(), info.options)));
  }
  return std::make_unique<Together>(std::move(parts));
}

}  // namespace assay::explore
