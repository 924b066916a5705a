#include "assay/explore/shrink.h"

#include <ATen/ATen.h>

#include <assay/extend/attack_problem.h>

namespace assay::explore {
namespace {

constexpr int halvings = 6;
constexpr std::int64_t parts = 4;

Tensor mask_of(const std::vector<bool>& truths) {
  const Tensor mask = at::empty({static_cast<std::int64_t>(truths.size())}, at::kBool);
  std::copy(truths.begin(), truths.end(), mask.data_ptr<bool>());
  return mask;
}

// Positions of each row's elements from the least to the greatest.
Tensor order(const Tensor& rows) { return std::get<1>(rows.sort(/*stable=*/true, 1, /*descending=*/false)); }

class Shrinker {
 public:
  Shrinker(const Searches& searches, Found found,
           const std::function<Tensor(const Searches&, const Tensor&)>& record_of,
           const std::function<std::vector<bool>(const Tensor&)>& differs)
      : searches_(searches), found_(std::move(found)), record_of_(record_of), differs_(differs) {}

  Tensor records() const { return found_.records; }

  // The least share of the change that does.
  void scale() {
    const std::int64_t n = searches_.size();
    const Tensor change = found_.points - searches_.seeds;
    Tensor low = at::zeros({n}), high = at::ones({n});
    for (int i = 0; i < halvings; ++i) {
      const Tensor middle = (low + high) / 2;
      const Tensor good =
          attempt(searches_.seeds + change * attack::per_record(middle.to(change.device()), change));
      high = at::where(good, middle, high);
      low = at::where(good, low, middle);
    }
  }

  // Without as many of the smallest elements of the change as can be.
  void drop_smallest() {
    const std::int64_t n = searches_.size();
    const Tensor change = (found_.points - searches_.seeds).flatten(1), moved = change.ne(0);
    // The place of each element by the size of its change; elements that did not move come first.
    const Tensor place = order(order(change.abs())), idle = moved.logical_not().sum(1);
    const Tensor origin = found_.points;
    Tensor low = at::zeros({n}), high = moved.sum(1).to(at::kFloat).to(at::kCPU);
    for (int i = 0; i < halvings; ++i) {
      const Tensor middle = ((low + high) / 2).floor();
      const Tensor back =
          place.lt((idle + middle.to(idle.device(), at::kLong)).unsqueeze(1)).reshape_as(origin);
      const Tensor good = attempt(at::where(back, searches_.seeds, origin));
      low = at::where(good, middle, low);
      high = at::where(good, high, middle);
    }
  }

  // Without those quarters of the changed elements that are not needed, one after the other.
  void drop_parts() {
    const Tensor moved = (found_.points - searches_.seeds).flatten(1).ne(0), count = moved.sum(1, true);
    const Tensor part = ((moved.cumsum(1) - 1) * parts).div(count.clamp_min(1), "floor");
    for (std::int64_t i = 0; i < parts; ++i) {
      attempt(
          at::where(part.eq(i).logical_and(moved).reshape_as(found_.points), searches_.seeds, found_.points));
    }
  }

 private:
  // Takes over candidates on which networks disagree. [n] bool on the host: which.
  Tensor attempt(const Tensor& candidate) {
    const Tensor records = record_of_(searches_, candidate);
    const Tensor good = mask_of(differs_(records));
    const Tensor taken = attack::per_record(good.to(records.device()), records);
    found_.points = at::where(taken, candidate, found_.points);
    found_.records = at::where(taken, records, found_.records);
    return good;
  }

  const Searches& searches_;
  Found found_;
  const std::function<Tensor(const Searches&, const Tensor&)>& record_of_;
  const std::function<std::vector<bool>(const Tensor&)>& differs_;
};

}  // namespace

Tensor shrink(const Searches& searches, Found found, const Shrinking& allowed,
              const std::function<Tensor(const Searches&, const Tensor&)>& record_of,
              const std::function<std::vector<bool>(const Tensor&)>& differs) {
  Shrinker shrinker(searches, std::move(found), record_of, differs);
  if (allowed.scale) shrinker.scale();
  if (allowed.elements) {
    shrinker.drop_smallest();
    shrinker.drop_parts();
  }
  return shrinker.records();
}

}  // namespace assay::explore
