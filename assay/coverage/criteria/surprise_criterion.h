#pragma once

// Base of the criteria that put the surprise of each record into buckets (Kim et al., ICSE 2019).

#include <functional>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include <assay/extend/abilities.h>
#include <assay/extend/spec.h>
#include "assay/coverage/criteria/items.h"
#include "assay/surprise/traces.h"

namespace assay::coverage {

// The counted layers that have traces, with so many items each. States carry profiles without traces, but
// with the names of the layers that had some.
std::vector<WholeLayer> traced_layers(const CriterionSetup& setup, std::size_t items);
// Null in states read without the profile.
std::shared_ptr<const LayerTraces> traces_of(const Profile& profile, const std::string& layer);

// A class whose training traces have a singular covariance in a layer, and what was added to their variances.
struct SingularCovariance {
  std::string layer;
  std::int32_t of_class = 0;
  double added = 0;
};

class SurpriseCriterion : public ItemCriterion, public Valued {
 public:
  // Layer by layer, classes ascending; none in states read without the profile.
  std::vector<SingularCovariance> singular_covariances() const;
  void observe(const ActivationBatch& batch) override;
  void merge(const Criterion& other) override;
  std::vector<Coverage> result() const override;
  nlohmann::json save() const override;
  void load(const nlohmann::json& state) override;
  std::vector<Difference> difference(const Criterion& other, std::size_t examples) const override;
  RecordValues values() const override;
  std::vector<std::size_t> first_records() const override;
  // Surprise grows away from usual training records, in any bucket.
  std::vector<std::vector<Aim>> aims(const ActivationBatch& batch, std::size_t row) const override;

 protected:
  // Reads the options lower, upper, buckets and classes. Buckets are of the profile's layers with traces that
  // count.
  explicit SurpriseCriterion(const CriterionSetup& setup);
  std::string whole_item_name(const LayerItems&, std::size_t item) const override;
  Wanted wanted(const LayerItems&, const ActivationBatch&, std::size_t) const override {
    return [](std::size_t) { return std::nullopt; };
  }
  std::string remark(std::size_t layer) const override;
  // Surprise of each record; NaN or infinity where it is not defined.
  virtual std::vector<double> score(const LayerTraces& training, const surprise::Traces& test) const = 0;
  // What was added to the variances of each class with a singular covariance.
  virtual std::map<std::int32_t, double> regularised(const LayerTraces&) const { return {}; }
  // Training traces per layer; null in states read without the profile.
  std::span<const std::shared_ptr<const LayerTraces>> traces() const { return traces_; }
  // Classes of the training traces as the option asks; all 0 for regression.
  std::vector<std::int32_t> training_classes(const LayerTraces& training) const;

 private:
  struct Waiting {
    std::vector<std::size_t> records;
    std::vector<float> values;
    std::vector<std::int32_t> classes;
  };
  // Scores the records collected so far. Scoring many records at once is faster than batch by batch.
  void settle() const;

  double lower_, upper_;
  std::size_t buckets_;
  bool by_label_;
  std::vector<std::vector<double>> means_;  // per layer, over the training set
  std::vector<std::shared_ptr<const LayerTraces>>
      traces_;                            // per layer; null in states read without the profile
  mutable std::vector<Waiting> waiting_;  // per layer
  mutable std::vector<std::map<std::size_t, double>> values_;  // per layer, by record
};

// Options that the surprise criteria share.
std::vector<SpecOption> surprise_options(const std::string& upper);

}  // namespace assay::coverage
