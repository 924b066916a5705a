#include "assay/workbench/hypothesis_choice.h"

#include <algorithm>

namespace assay::workbench {
namespace {

class SomeHypotheses final : public inspection::Annotator {
 public:
  SomeHypotheses(std::shared_ptr<const inspection::Annotator> whole, std::vector<std::size_t> places)
      : whole_(std::move(whole)), places_(std::move(places)) {
    for (const std::size_t place : places_) chosen_.push_back(whole_->hypotheses()[place]);
  }
  const std::vector<inspection::Hypothesis>& hypotheses() const override { return chosen_; }

  inspection::Behaviours annotate(const inspection::RecordBlock& records) const override {
    inspection::Behaviours all = whole_->annotate(records);
    const std::size_t count = whole_->hypotheses().size();
    const std::size_t positions = records.size() == 0 ? 0 : all.values.size() / (records.size() * count);
    inspection::Behaviours some{.positions = std::move(all.positions), .values = {}};
    some.values.reserve(records.size() * places_.size() * positions);
    for (std::size_t r = 0; r < records.size(); ++r) {
      for (const std::size_t place : places_) {
        const auto begin = all.values.begin() + (r * count + place) * positions;
        some.values.insert(some.values.end(), begin, begin + positions);
      }
    }
    return some;
  }

  std::string version() const override {
    std::string version = whole_->version();
    if (version.empty()) return version;
    for (const std::size_t place : places_) version += fmt::format("/{}", place);
    return version;
  }
  std::vector<std::string> notices() const override { return whole_->notices(); }

 private:
  std::shared_ptr<const inspection::Annotator> whole_;
  std::vector<std::size_t> places_;
  std::vector<inspection::Hypothesis> chosen_;
};

// Speaks of records by their positions in the whole set, as annotators that look them up need.
class OfWholeSet final : public inspection::Annotator {
 public:
  OfWholeSet(std::shared_ptr<const inspection::Annotator> annotator, DatasetPtr whole,
             std::vector<std::size_t> positions)
      : annotator_(std::move(annotator)), whole_(std::move(whole)), positions_(std::move(positions)) {}
  const std::vector<inspection::Hypothesis>& hypotheses() const override { return annotator_->hypotheses(); }
  inspection::Behaviours annotate(const inspection::RecordBlock& records) const override {
    Batch batch = records.batch;
    for (std::size_t& index : batch.indices) index = positions_.at(index);
    return annotator_->annotate({*whole_, batch, records.texts});
  }
  std::string version() const override { return annotator_->version(); }
  std::vector<std::string> notices() const override { return annotator_->notices(); }

 private:
  std::shared_ptr<const inspection::Annotator> annotator_;
  DatasetPtr whole_;
  std::vector<std::size_t> positions_;
};

}  // namespace

std::shared_ptr<const inspection::Annotator> only_hypotheses(
    std::shared_ptr<const inspection::Annotator> annotator, const std::vector<std::string>& wanted) {
  std::vector<std::size_t> places;
  const auto& all = annotator->hypotheses();
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (std::ranges::find(wanted, all[i].name) != wanted.end()) places.push_back(i);
  }
  if (places.empty()) return nullptr;
  if (places.size() == all.size()) return annotator;
  return std::make_shared<SomeHypotheses>(std::move(annotator), std::move(places));
}

std::shared_ptr<const inspection::Annotator> for_records(
    std::shared_ptr<const inspection::Annotator> annotator, DatasetPtr whole,
    std::vector<std::size_t> positions) {
  return std::make_shared<OfWholeSet>(std::move(annotator), std::move(whole), std::move(positions));
}

}  // namespace assay::workbench
