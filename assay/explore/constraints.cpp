#include <assay/extend/constraint.h>

#include <assay/array_math.h>

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include <assay/error.h>
#include "assay/attack/given_tensor.h"
#include "assay/engine/elements.h"

namespace assay::explore {
namespace {

// [n] bool each.
Array both(const Array& a, const Array& b) {
  const std::vector<bool> of_a = truths_of(a), of_b = truths_of(b);
  const Array result = array::empty({a.size(0)}, DType::boolean);
  for (std::size_t i = 0; i < of_a.size(); ++i) result.elements<bool>()[i] = of_a[i] && of_b[i];
  return result;
}

struct Member {
  std::shared_ptr<const Constraint> constraint;
  std::string name;
  bool own = false;  // an object of the caller's, in no catalogue

  // What a method gives in place of `like`, of which an own constraint gets a copy.
  template <typename Call>
  Array asked(const char* method, const Array& like, const Call& call) const {
    const Array given = call(own ? like.clone() : like);
    return in_memory(attack::given_tensor(fmt::format("constraint {}: {}", name, method), given, like, own),
                     DType::float32);
  }
};

// Gives each of them contiguous arrays of float32.
class Together final : public Constraint {
 public:
  explicit Together(std::vector<Member> parts) : parts_(std::move(parts)) {}

  Array direction(const Searches& searches, const Array& points, const Array& wanted) const override {
    const Array here = in_memory(points, DType::float32);
    Array allowed = in_memory(wanted, DType::float32);
    for (const Member& part : parts_) {
      allowed = part.asked("direction()", allowed, [&](const Array& given) {
        return part.constraint->direction(searches, part.own ? here.clone() : here, given);
      });
    }
    return allowed;
  }
  Array kept(const Searches& searches, const Array& points) const override {
    if (parts_.size() < 2 || !on_a_line())
      return kept_by(searches, points, [](const Member&) { return true; });
    return shortened(
        searches, kept_by(searches, points, [](const Member& part) { return part.constraint->on_a_line(); }));
  }
  Array shown(const Searches& searches, const Array& points) const override {
    Array result = in_memory(points, DType::float32);
    for (const Member& part : parts_) {
      result = part.asked("shown()", result,
                          [&](const Array& given) { return part.constraint->shown(searches, given); });
    }
    return result;
  }
  bool on_a_line() const override {
    return std::ranges::any_of(parts_, [](const Member& part) { return part.constraint->on_a_line(); });
  }
  bool by_element() const override {
    return std::ranges::any_of(parts_, [](const Member& part) { return part.constraint->by_element(); });
  }
  Array admits(const Searches& searches, const Array& records) const override {
    const Array here = in_memory(records, DType::float32);
    Array all;
    for (const Member& part : parts_) {
      const Array own = part.constraint->admits(searches, part.own ? here.clone() : here);
      if (!own.defined()) continue;
      attack::given_tensor(fmt::format("constraint {}: admits()", part.name), own,
                           array::empty({searches.size()}, DType::boolean));
      all = all.defined() ? both(all, own) : own;
    }
    return all;
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
  Array integers(std::int64_t elements) const override {
    Array all;
    for (const Member& part : parts_) {
      const Array own = part.constraint->integers(elements);
      if (!own.defined()) continue;
      attack::given_tensor(fmt::format("constraint {}: integers()", part.name), own,
                           array::empty({elements}, DType::boolean));
      all = all.defined() ? all.logical_or(own) : own;
    }
    return all;
  }

 private:
  Array kept_by(const Searches& searches, const Array& points,
                const std::function<bool(const Member&)>& counts) const {
    Array result = in_memory(points, DType::float32);
    for (const Member& part : parts_) {
      if (!counts(part)) continue;
      result = part.asked("kept()", result,
                          [&](const Array& given) { return part.constraint->kept(searches, given); });
    }
    return result;
  }

  // The greatest part of each change along a line that the others allow. What they do themselves, cutting
  // single elements, would leave the line.
  Array shortened(const Searches& searches, const Array& points) const {
    constexpr int halvings = 20;
    constexpr double rounding = 2e-7;
    const Array change = points - searches.seeds;
    const auto allowed = [&](const Array& candidates) {
      const Array cut =
          kept_by(searches, candidates, [](const Member& part) { return !part.constraint->on_a_line(); });
      return (cut - candidates).abs().flatten(1).amax(1).le(rounding);
    };
    const Array whole = allowed(points);
    if (whole.all().item<bool>()) return points;
    Array low = array::zeros({points.size(0)}, points.dtype()), high = array::ones_like(low);
    for (int i = 0; i < halvings; ++i) {
      const Array middle = (low + high) / 2;
      const Array good = allowed(searches.seeds + change * attack::per_record(middle, change));
      low = array::where(good, middle, low);
      high = array::where(good, high, middle);
    }
    const Array some = searches.seeds + change * attack::per_record(low, change);
    return array::where(attack::per_record(whole, change), points, some);
  }

  std::vector<Member> parts_;
};

// A change of the whole record at once and one that looks at single elements allow nothing together, nor do
// two different changes of the whole record.
void require_compatible(const std::vector<Member>& parts) {
  for (const Member& whole : parts) {
    if (!whole.constraint->on_a_line()) continue;
    for (const Member& other : parts) {
      if (&other == &whole) continue;
      if (other.constraint->by_element())
        fail(Fault::usage,
             "constraints '{}' and '{}' cannot hold together: '{}' changes the whole record at once, '{}' "
             "only some of its elements or each in its own way; give one of them",
             whole.name, other.name, whole.name, other.name);
      if (other.constraint->on_a_line())
        fail(Fault::usage,
             "constraints '{}' and '{}' cannot hold together: each changes the whole record in its own way; "
             "give one of them",
             whole.name, other.name);
    }
  }
}

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
  require_compatible(parts);
  return std::make_unique<Together>(std::move(parts));
}

}  // namespace assay::explore
