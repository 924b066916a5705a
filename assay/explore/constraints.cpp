#include <assay/extend/constraint.h>

#include <ATen/ATen.h>

#include <fmt/format.h>

#include <algorithm>

#include "assay/attack/given_tensor.h"

namespace assay::explore {
namespace {

struct Member {
  std::shared_ptr<const Constraint> constraint;
  std::string name;
  bool own = false;  // an object of the caller's, in no catalogue

  // What a method gives in place of `like`, of which an own constraint gets a copy.
  template <typename Call>
  Tensor asked(const char* method, const Tensor& like, const Call& call) const {
    return attack::given_tensor(fmt::format("constraint {}: {}", name, method),
                                call(own ? like.clone() : like), like, own);
  }
};

class Together final : public Constraint {
 public:
  explicit Together(std::vector<Member> parts) : parts_(std::move(parts)) {}

  Tensor direction(const Searches& searches, const Tensor& points, const Tensor& wanted) const override {
    Tensor allowed = wanted;
    for (const Member& part : parts_) {
      allowed = part.asked("direction()", allowed, [&](const Tensor& given) {
        return part.constraint->direction(searches, part.own ? points.clone() : points, given);
      });
    }
    return allowed;
  }
  Tensor kept(const Searches& searches, const Tensor& points) const override {
    Tensor result = points;
    for (const Member& part : parts_) {
      result = part.asked("kept()", result,
                          [&](const Tensor& given) { return part.constraint->kept(searches, given); });
    }
    return result;
  }
  Tensor shown(const Searches& searches, const Tensor& points) const override {
    Tensor result = points;
    for (const Member& part : parts_) {
      result = part.asked("shown()", result,
                          [&](const Tensor& given) { return part.constraint->shown(searches, given); });
    }
    return result;
  }
  bool on_a_line() const override {
    return std::ranges::any_of(parts_, [](const Member& part) { return part.constraint->on_a_line(); });
  }
  Shrinking shrinking() const override {
    Shrinking common;
    for (const Member& part : parts_) {
      common.scale &= part.constraint->shrinking().scale;
      common.elements &= part.constraint->shrinking().elements;
    }
    return common;
  }
  std::size_t patience() const override {
    std::size_t longest = Constraint::patience();
    for (const Member& part : parts_) longest = std::max(longest, part.constraint->patience());
    return longest;
  }
  Tensor integers(std::int64_t elements) const override {
    Tensor all;
    for (const Member& part : parts_) {
      const Tensor own = part.constraint->integers(elements);
      if (!own.defined()) continue;
      attack::given_tensor(fmt::format("constraint {}: integers()", part.name), own,
                           at::zeros({elements}, at::kBool));
      all = all.defined() ? all.logical_or(own) : own;
    }
    return all;
  }

 private:
  std::vector<Member> parts_;
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
  std::vector<Member> parts;
  for (const ConstraintChoice& choice : choices) {
    if (choice.object()) {
      parts.push_back({choice.object(), choice.spec().name, true});
      continue;
    }
    const ConstraintInfo& info = constraints().find(choice.spec().name);
    parts.push_back({info.make(SpecOptions("constraint", choice.spec(), info.options)), info.name});
  }
  return std::make_unique<Together>(std::move(parts));
}

}  // namespace assay::explore
