#include "assay/surprise/dsa.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>

#include "assay/support/memory.h"
#include "assay/surprise/binary.h"

namespace assay::surprise {
namespace {

constexpr std::uint64_t dsa_magic = 0x3130415344595341;  // "ASYDSA01"
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

DsaScore undefined(SurpriseStatus status) { return {nan, 0, nan, nan, status}; }

void finish(DsaScore& score) {
  if (score.dist_b > 0) {
    score.dsa = score.dist_a / score.dist_b;
    return;
  }
  score.dsa = score.dist_a == 0 ? 0 : std::numeric_limits<double>::infinity();
  score.status = SurpriseStatus::coinciding;
}

}  // namespace

DsaReference::DsaReference(const Traces& training) : dimensions_(training.dimensions) {
  require_sound(training);
  left_out_ = non_finite_records(training);
  for (std::size_t i = 0; i < training.records(); ++i) {
    if (!std::binary_search(left_out_.begin(), left_out_.end(), i)) original_.push_back(i);
  }
  std::stable_sort(original_.begin(), original_.end(),
                   [&](std::size_t a, std::size_t b) { return training.classes[a] < training.classes[b]; });
  reserve_block(values_, original_.size() * dimensions_);
  for (const std::size_t i : original_) {
    classes_.push_back(training.classes[i]);
    values_.insert(values_.end(), training.row(i), training.row(i) + dimensions_);
  }
  index();
}

void DsaReference::index() {
  references_ = std::make_unique<surprise::References<float>>(values_, dimensions_);
}

surprise::Range DsaReference::range_of(std::int32_t c) const {
  const auto [first, last] = std::equal_range(classes_.begin(), classes_.end(), c);
  return {static_cast<std::size_t>(first - classes_.begin()),
          static_cast<std::size_t>(last - classes_.begin())};
}

std::vector<DsaScore> DsaReference::score(const Traces& test, const BlockOptions& options) const {
  require_sound(test);
  if (test.dimensions != dimensions_)
    fail(Fault::mismatch,
         "DSA: the test traces have {} dimensions, the training traces {}; use the same layers",
         test.dimensions, dimensions_);
  std::vector<DsaScore> scores(test.records());
  std::vector<std::size_t> places(test.records());
  const auto broken = non_finite_records(test);
  std::map<std::int32_t, std::vector<std::size_t>> by_class;
  for (std::size_t i = 0; i < test.records(); ++i) {
    if (std::binary_search(broken.begin(), broken.end(), i))
      scores[i] = undefined(SurpriseStatus::non_finite);
    else
      by_class[test.classes[i]].push_back(i);
  }
  for (const auto& [c, records] : by_class) {
    const surprise::Range own = range_of(c);
    const bool missing = own.begin == own.end, alone = own.end - own.begin == classes_.size();
    if (missing || alone) {
      for (const std::size_t i : records)
        scores[i] = undefined(missing ? SurpriseStatus::no_training : SurpriseStatus::single_class);
      continue;
    }
    add_dist_a(test, records, own, scores, places, options);
    add_dist_b(records, own, scores, places, options);
    for (const std::size_t i : records) finish(scores[i]);
  }
  return scores;
}

void DsaReference::add_dist_a(const Traces& test, std::span<const std::size_t> records, surprise::Range own,
                              std::vector<DsaScore>& scores, std::vector<std::size_t>& places,
                              const BlockOptions& options) const {
  std::vector<const float*> queries;
  for (const std::size_t i : records) queries.push_back(test.row(i));
  const auto found = references_->nearest(queries, {&own, 1}, {}, options);
  for (std::size_t k = 0; k < records.size(); ++k) {
    places[records[k]] = found[k].index;
    scores[records[k]].nearest = original_[found[k].index];
    scores[records[k]].dist_a = std::sqrt(found[k].squared);
  }
}

void DsaReference::add_dist_b(std::span<const std::size_t> records, surprise::Range own,
                              std::vector<DsaScore>& scores, std::span<const std::size_t> places,
                              const BlockOptions& options) const {
  std::vector<std::size_t> unique;
  for (const std::size_t i : records) unique.push_back(places[i]);
  std::sort(unique.begin(), unique.end());
  unique.erase(std::unique(unique.begin(), unique.end()), unique.end());
  std::vector<const float*> queries;
  for (const std::size_t place : unique) queries.push_back(values_.data() + place * dimensions_);
  const std::array<surprise::Range, 2> others{surprise::Range{0, own.begin},
                                              surprise::Range{own.end, classes_.size()}};
  const auto found = references_->nearest(queries, others, original_, options);
  for (const std::size_t i : records) {
    const auto at = std::lower_bound(unique.begin(), unique.end(), places[i]) - unique.begin();
    scores[i].dist_b = std::sqrt(found[at].squared);
  }
}

void DsaReference::save(std::ostream& out) const {
  surprise::write_value(out, dsa_magic);
  surprise::write_value(out, static_cast<std::uint64_t>(dimensions_));
  surprise::write_array(out, classes_);
  surprise::write_array(out, original_);
  surprise::write_array(out, left_out_);
  surprise::write_array(out, values_);
}

DsaReference DsaReference::load(std::istream& in) {
  surprise::expect_magic(in, dsa_magic);
  DsaReference reference;
  reference.dimensions_ = surprise::read_value<std::uint64_t>(in);
  reference.classes_ = surprise::read_array<std::int32_t>(in);
  reference.original_ = surprise::read_array<std::size_t>(in);
  reference.left_out_ = surprise::read_array<std::size_t>(in);
  reference.values_ = surprise::read_array<float>(in);
  if (reference.dimensions_ == 0 || reference.original_.size() != reference.classes_.size())
    surprise::damaged("its sizes do not fit together");
  const Traces traces{reference.values_, reference.dimensions_, reference.classes_};
  if (traces.values.size() % traces.dimensions != 0 ||
      traces.values.size() / traces.dimensions != traces.records())
    surprise::damaged("its sizes do not fit together");
  if (!std::is_sorted(reference.classes_.begin(), reference.classes_.end()))
    surprise::damaged("its classes are not in order");
  if (!non_finite_records(traces).empty()) surprise::damaged("it holds values that are not finite");
  reference.index();
  return reference;
}

}  // namespace assay::surprise
