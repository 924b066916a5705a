#include "assay/explore/plausibility.h"

#include <algorithm>
#include <cmath>

#include <assay/dataset.h>
#include <assay/error.h>
#include <assay/evaluate.h>
#include "assay/coverage/observer.h"
#include "assay/surprise/dsa.h"
#include "assay/surprise/lsa.h"

namespace assay::explore {
namespace {

struct Observed {
  std::vector<float> values;
  std::vector<std::int32_t> classes;
};

std::vector<std::int32_t> classes_of(const std::vector<std::int64_t>& predicted, std::size_t records) {
  if (predicted.empty()) return std::vector<std::int32_t>(records, 0);
  return {predicted.begin(), predicted.end()};
}

Observed observed(const Session& session, const coverage::Profile& profile, std::size_t layer,
                  DatasetPtr data, const WalkOptions& options, Progress& progress) {
  const coverage::Observer observer(session, profile, false);
  const bool classifies = data->target_width() == 0;
  Observed all;
  walk(session, data, options, progress, [&](const Batch& batch, const Tensors& given) {
    const coverage::Observer::Seen seen = observer.observe(given, batch.indices.size(), classifies);
    all.values.insert(all.values.end(), seen.layers[layer].values.begin(), seen.layers[layer].values.end());
    const auto classes = classes_of(seen.predicted, batch.indices.size());
    all.classes.insert(all.classes.end(), classes.begin(), classes.end());
  });
  return all;
}

std::vector<double> surprise_of(const std::string& measure, const surprise::Traces& training,
                                const surprise::Traces& test) {
  std::vector<double> values;
  if (measure == "dsa") {
    for (const surprise::DsaScore& score : surprise::DsaReference(training).score(test))
      values.push_back(score.dsa);
  } else {
    for (const surprise::SurpriseScore& score : surprise::LsaReference(training).score(test))
      values.push_back(score.value);
  }
  return values;
}

std::vector<std::size_t> spread(std::size_t size, std::size_t most) {
  std::vector<std::size_t> positions;
  const std::size_t count = std::min(size, most);
  for (std::size_t i = 0; i < count; ++i) positions.push_back(i * size / count);
  return positions;
}

}  // namespace

std::size_t Plausibility::implausible_count() const { return std::ranges::count(implausible, true); }

Plausibility judge_plausibility(const Session& session, const coverage::Profile& profile,
                                const std::string& measure, DatasetPtr seeds, DatasetPtr findings,
                                double share, std::size_t most, std::size_t batch, Progress& progress) {
  if (measure != "dsa" && measure != "lsa")
    fail(Fault::usage, "plausibility is judged by dsa or lsa, not by '{}'", measure);
  if (profile.traces.empty())
    fail(Fault::mismatch, "the profile has no training traces; learn it {}, or {}",
         About{"from training records", "with {train}"},
         About{"judge no plausibility", "choose {plausibility=none}"});
  const coverage::LayerTraces& training = *profile.traces.front();
  const std::size_t layer = profile.position(training.layer);
  const std::vector<std::int32_t> classes =
      classes_of(training.predicted, training.values.size() / training.dimensions);
  const surprise::Traces reference{training.values, training.dimensions, classes};
  const Observed usual = observed(
      session, profile, layer, seeds,
      {.batch = batch, .stage = "surprise of seeds", .records = spread(seeds->size(), most)}, progress);
  const Observed found = observed(session, profile, layer, findings,
                                  {.batch = batch, .stage = "surprise of findings"}, progress);
  Plausibility result{
      .measure = measure, .layer = training.layer, .share = share, .surprise = {}, .implausible = {}};
  std::vector<double> sorted =
      surprise_of(measure, reference, {usual.values, training.dimensions, usual.classes});
  std::erase_if(sorted, [](double value) { return !std::isfinite(value); });
  if (sorted.empty())
    fail(Fault::data, "no seed has a {} against the training set; more classes or records are needed, or {}",
         measure, About{"no judging of plausibility", "{plausibility=none}"});
  std::ranges::sort(sorted);
  result.seeds = sorted.size();
  // The least value that at least this share do not exceed.
  const double below = std::ceil(share * sorted.size() - 1e-9);
  result.bound = sorted[static_cast<std::size_t>(std::max(below, 1.0)) - 1];
  result.surprise = surprise_of(measure, reference, {found.values, training.dimensions, found.classes});
  for (const double value : result.surprise) result.implausible.push_back(!(value <= result.bound));
  return result;
}

}  // namespace assay::explore
