#include <assay/coverage_state.h>
#include <assay/extend/abilities.h>

#include <algorithm>
#include <set>

#include <assay/error.h>
#include "assay/engine/preparation/other_threshold.h"

namespace assay::coverage {
namespace {

std::string spec_list(std::span<const Spec> specs) {
  std::string text;
  for (const Spec& spec : specs) text += (text.empty() ? "" : ", ") + spec.text();
  return text;
}

std::shared_ptr<const Profile> given(std::shared_ptr<const Profile> profile) {
  if (!profile) fail(Fault::usage, "no profile is given; learn_profile() makes one");
  return profile;
}

}  // namespace

CoverageState::CoverageState(std::shared_ptr<const Profile> profile, std::vector<CriterionChoice> criteria,
                             bool by_class)
    : profile_(given(std::move(profile))),
      profile_hash_(profile_->hash()),
      choices_(std::move(criteria)),
      by_class_(by_class) {
  std::set<std::string> seen;
  for (const CriterionChoice& choice : choices_) {
    make_criterion(*profile_, choice);  // throws for what cannot be made
    const Spec& spec = specs_.emplace_back(choice.spec());
    if (!seen.insert(spec.text()).second) fail(Fault::usage, "criterion {} is asked for twice", spec.text());
  }
}

std::size_t CoverageState::records() const {
  std::size_t count = 0;
  for (const auto& part : parts_) count += part->records;
  return count;
}

std::vector<std::unique_ptr<Criterion>> CoverageState::fresh() const {
  std::vector<std::unique_ptr<Criterion>> made;
  for (const CriterionChoice& choice : choices_) made.push_back(make_criterion(*profile_, choice));
  return made;
}

CoveragePart& CoverageState::part(const std::string& context, const std::string& data_hash,
                                  const std::string& data, std::size_t data_size) {
  for (const auto& part : parts_) {
    if (part->context == context && part->data_hash == data_hash) return *part;
  }
  auto made = std::make_unique<CoveragePart>();
  made->context = context;
  made->data_hash = data_hash;
  made->data = data;
  made->data_size = data_size;
  const auto before = [](const auto& a, const auto& b) {
    return std::tie(a->context, a->data_hash) < std::tie(b->context, b->data_hash);
  };
  return **parts_.insert(std::ranges::upper_bound(parts_, made, before), std::move(made));
}

std::vector<std::unique_ptr<Criterion>>& CoverageState::criteria(CoveragePart& part,
                                                                 std::int64_t only_class) const {
  auto& list = part.criteria[only_class];
  if (list.empty()) list = fresh();
  return list;
}

void CoverageState::merge(const CoverageState& other) {
  if (other.profile_->model_hash != profile_->model_hash) {
    fail(Fault::mismatch,
         "states of two networks{} cannot be combined (hashes {} and {}); `assay diff` compares them",
         other_threshold, profile_->model_hash, other.profile_->model_hash);
  }
  if (other.profile_hash_ != profile_hash_)
    fail(Fault::mismatch, "states measured with two profiles cannot be combined; measure again with one {}",
         About{"profile", "{profile}"});
  if (other.specs_ != specs_ || other.by_class_ != by_class_) {
    fail(Fault::mismatch, "states of different criteria cannot be combined: {}{} and {}{}", spec_list(specs_),
         by_class_ ? " by class" : "", spec_list(other.specs_), other.by_class_ ? " by class" : "");
  }
  for (const auto& theirs : other.parts_) {
    const CoveragePart& ours = part(theirs->context, theirs->data_hash, theirs->data, theirs->data_size);
    if (ours.walked.overlaps(theirs->walked)) {
      fail(Fault::mismatch, "both states have seen the same records of {}{}; nothing may be counted twice",
           theirs->data, theirs->context.empty() ? "" : " in context " + theirs->context);
    }
  }
  for (const auto& theirs : other.parts_) {
    CoveragePart& ours = part(theirs->context, theirs->data_hash, theirs->data, theirs->data_size);
    for (const auto& [begin, end] : theirs->walked.ranges()) ours.walked.add(begin, end);
    ours.records += theirs->records;
    ours.labelled += theirs->labelled;
    ours.correct += theirs->correct;
    ours.non_finite.insert(ours.non_finite.end(), theirs->non_finite.begin(), theirs->non_finite.end());
    std::ranges::sort(ours.non_finite);
    for (const auto& [only_class, list] : theirs->criteria) {
      auto& mine = criteria(ours, only_class);
      for (std::size_t c = 0; c < mine.size(); ++c) mine[c]->merge(*list[c]);
    }
    ours.ids.insert(theirs->ids.begin(), theirs->ids.end());
    name_records(ours, [](std::size_t record) { return std::to_string(record); });
  }
}

void CoverageState::name_records(CoveragePart& part,
                                 const std::function<std::string(std::size_t)>& id_of) const {
  std::set<std::size_t> first;
  for (const auto& [only_class, list] : part.criteria) {
    for (const auto& criterion : list) {
      const auto* itemised = ability<Itemised>(*criterion);
      if (itemised == nullptr) continue;
      const std::vector<std::size_t> records = itemised->first_records();
      first.insert(records.begin(), records.end());
    }
  }
  std::map<std::size_t, std::string> ids;
  for (const std::size_t record : first) {
    const auto known = part.ids.find(record);
    std::string id = known != part.ids.end() ? known->second : id_of(record);
    if (id != std::to_string(record)) ids.emplace_hint(ids.end(), record, std::move(id));
  }
  part.ids = std::move(ids);
}

std::string CoverageState::record_name(std::size_t record) const {
  for (const auto& part : parts_) {
    if (part->data_hash != parts_.front()->data_hash) return std::to_string(record);
  }
  for (const auto& part : parts_) {
    if (const auto known = part->ids.find(record); known != part->ids.end()) return known->second;
  }
  return std::to_string(record);
}

std::unique_ptr<Criterion> CoverageState::total(std::size_t criterion, const std::string& context,
                                                std::int64_t only_class) const {
  auto sum = make_criterion(*profile_, choices_[criterion]);
  for (const auto& part : parts_) {
    if (context != "all" && part->context != context) continue;
    for (const auto& [of_class, list] : part->criteria) {
      if (only_class == every_class || of_class == only_class) sum->merge(*list[criterion]);
    }
  }
  return sum;
}

std::vector<Coverage> CoverageState::result(std::size_t criterion, const std::string& context,
                                            std::int64_t only_class) const {
  return result_of(*total(criterion, context, only_class), specs_[criterion].text());
}

std::vector<std::string> CoverageState::contexts() const {
  std::vector<std::string> names;
  for (const auto& part : parts_) {
    if (!part->context.empty() && (names.empty() || names.back() != part->context))
      names.push_back(part->context);
  }
  return names;
}

std::vector<std::int64_t> CoverageState::classes() const {
  std::set<std::int64_t> found;
  for (const auto& part : parts_) {
    for (const auto& [only_class, list] : part->criteria) {
      if (only_class != every_class) found.insert(only_class);
    }
  }
  return {found.begin(), found.end()};
}

std::vector<CoverageFigure> CoverageState::figures() const {
  std::vector<CoverageFigure> all;
  std::vector<std::string> contexts_of{"all"};
  for (const std::string& context : contexts()) contexts_of.push_back(context);
  std::vector<std::int64_t> classes_of{every_class};
  for (const std::int64_t c : classes()) classes_of.push_back(c);
  for (std::size_t c = 0; c < specs_.size(); ++c) {
    for (const std::string& context : contexts_of) {
      for (const std::int64_t only_class : classes_of) {
        for (Coverage& coverage : result(c, context, only_class))
          all.push_back({c, specs_[c].text(), context, only_class, std::move(coverage)});
      }
    }
  }
  return all;
}

}  // namespace assay::coverage
