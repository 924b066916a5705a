// A custom criterion: neurons that are the most active of their layer for some record. It does what
// every criterion must (observe, merge, result, save, load) and nothing of what only some can.
#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include <assay/extend/criteria.h>
#include <assay/extend/plugin.h>

namespace {

using namespace assay::coverage;

class Busiest final : public Criterion {
 public:
  explicit Busiest(const CriterionSetup& setup) : layers_(setup.layers), seen_(setup.layers.size()) {
    for (const std::size_t position : layers_) {
      const LayerStatistics& layer = setup.profile.statistics[position];
      names_.push_back(layer.layer);
      neurons_.push_back(layer.neurons());
    }
  }

  void observe(const ActivationBatch& batch) override {
    for (std::size_t l = 0; l < layers_.size(); ++l) {
      for (std::size_t r = 0; r < batch.indices.size(); ++r) {
        const auto row = batch.layers[layers_[l]].row(r);
        seen_[l].insert(static_cast<std::size_t>(std::ranges::max_element(row) - row.begin()));
      }
    }
  }
  void merge(const Criterion& other) override {
    const auto& theirs = dynamic_cast<const Busiest&>(other).seen_;
    for (std::size_t l = 0; l < seen_.size(); ++l) seen_[l].insert(theirs[l].begin(), theirs[l].end());
  }
  std::vector<Coverage> result() const override {
    std::vector<Coverage> rows;
    std::uint64_t covered = 0, all = 0;
    for (std::size_t l = 0; l < seen_.size(); ++l) {
      rows.push_back(coverage_of(names_[l], seen_[l].size(), neurons_[l]));
      covered += seen_[l].size();
      all += neurons_[l];
    }
    rows.push_back(coverage_of("all", covered, all));
    return rows;
  }
  nlohmann::json save() const override { return seen_; }
  void load(const nlohmann::json& state) override { state.get_to(seen_); }

 private:
  std::vector<std::size_t> layers_, neurons_;
  std::vector<std::string> names_;
  std::vector<std::set<std::size_t>> seen_;
};

void enter() {
  criteria().add({.name = "busiest",
                  .summary = "neurons that are the most active of their layer for some record",
                  .definition =
                      "neurons that had the greatest activation of their layer on at least one record, of "
                      "all neurons",
                  .limits = "an example",
                  .paper = "an example",
                  .options = {},
                  .make = [](const CriterionSetup& setup) -> std::unique_ptr<Criterion> {
                    return std::make_unique<Busiest>(setup);
                  }});
}

}  // namespace

ASSAY_PLUGIN("busiest", enter)
