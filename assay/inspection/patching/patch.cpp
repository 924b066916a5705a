#include <algorithm>
#include <cmath>

#include <assay/error.h>
#include "assay/inspection/patching/patched_values.h"
#include "assay/support/text/text.h"

namespace assay::inspection {
namespace {

// The sums that attention and dense layers are added to; without any, layers with weights.
std::vector<Layer> usual_layers_of(const Session& session) {
  std::vector<Layer> chosen;
  const auto take = [&](auto counts) {
    if (chosen.empty()) std::ranges::copy_if(session.layers(), std::back_inserter(chosen), counts);
  };
  take([](const Layer& layer) { return layer.op == "Add" && layer.shape.size() == 2; });
  take([](const Layer& layer) { return layer.carries_weights && layer.parameters > 0; });
  return chosen;
}

std::vector<PatchedValue> asked_values(const Session& session, const PatchOptions& options) {
  const bool usual = options.layers.empty() && !options.heads;
  std::vector<Layer> layers;
  for (const std::string& name : options.layers) layers.push_back(session.layer(name));
  if (usual) layers = usual_layers_of(session);
  std::vector<PatchedValue> values;
  for (const Layer& layer : layers) values.push_back(patched_value(session, layer));
  if (options.heads || usual) {
    for (PatchedValue& value : options.heads ? required_heads(session) : heads_of_attention(session))
      values.push_back(std::move(value));
  }
  if (values.empty())
    fail(Fault::usage, "network '{}' has no layer to patch; name some", session.graph().name());
  if (options.positions &&
      std::ranges::none_of(values, [](const PatchedValue& value) { return value.positions > 0; }))
    fail(Fault::usage, "{} has no effect: no layer that is patched has positions",
         About{"patching each position by itself", "{positions}"});
  return values;
}

std::vector<PatchSite> sites_of(const PatchedValue& value, bool by_position) {
  std::vector<PatchSite> sites;
  for (std::int64_t head = 0; head < std::max<std::int64_t>(value.heads, 1); ++head) {
    PatchSite site{.layer = value.layer};
    if (value.heads > 0) site.head = head;
    if (!by_position || value.positions == 0) {
      sites.push_back(site);
      continue;
    }
    for (site.position = 0; *site.position < value.positions; ++*site.position) sites.push_back(site);
  }
  return sites;
}

// What is measured of a pair: how far the run that receives has come towards the one that gives.
struct Contrast {
  bool counts = false;
  std::size_t giving = 0, receiving = 0;  // classes
  double sign = 1;                        // of one score

  double of(std::span<const float> scores) const {
    if (scores.size() == 1) return sign * scores[0];
    return static_cast<double>(scores[giving]) - scores[receiving];
  }
};

Contrast contrast_of(const ScoreRows& giving, const ScoreRows& receiving, std::size_t pair) {
  if (!giving.finite(pair) || !receiving.finite(pair)) return {};
  Contrast contrast{.giving = giving.decided(pair), .receiving = receiving.decided(pair)};
  contrast.counts = contrast.giving != contrast.receiving;
  if (giving.of(pair)[0] < receiving.of(pair)[0]) contrast.sign = -1;
  return contrast;
}

void require_pairs(const Dataset& clean, const Dataset& corrupted) {
  if (clean.size() != corrupted.size())
    fail(Fault::mismatch, "{} and {} are not pairs: {} records and {}", clean.describe(),
         corrupted.describe(), clean.size(), corrupted.size());
  if (clean.record_shape() != corrupted.record_shape())
    fail(Fault::mismatch,
         "{} and {} are not pairs: records are {} and {}; of texts say the same length= for both",
         clean.describe(), corrupted.describe(), to_string(clean.record_shape()),
         to_string(corrupted.record_shape()));
}

// Sums over pairs of one site.
struct SiteSums {
  PatchSite site;
  Ratio ratio = {};
  std::size_t turned = 0;
};

class Patcher {
 public:
  Patcher(const Session& session, const PatchOptions& options) : session_(session) {
    for (PatchedValue& value : asked_values(session, options)) {
      std::vector<SiteSums> sums;
      for (PatchSite& site : sites_of(value, options.positions)) sums.push_back({std::move(site)});
      patched_.emplace_back(std::move(value), std::move(sums));
    }
  }

  std::size_t sites() const {
    std::size_t count = 0;
    for (const auto& [value, sums] : patched_) count += sums.size();
    return count;
  }

  void take(const Tensors& giving, const Tensors& receiving, std::size_t pairs, Stage& stage) {
    const std::vector<ValueId> logits{session_.logits()};
    const ScoreRows there(session_, session_.run(giving, logits)),
        here(session_, session_.run(receiving, logits));
    contrasts_.clear();
    for (std::size_t pair = 0; pair < pairs; ++pair) contrasts_.push_back(contrast_of(there, here, pair));
    for (auto& [value, sums] : patched_) {
      const std::vector<ValueId> wanted{value.value};
      const Array from = session_.run(giving, wanted).at(value.value),
                  into = session_.run(receiving, wanted).at(value.value).contiguous();
      for (SiteSums& site : sums) {
        Tensors given = receiving;
        given.insert_or_assign(value.value, replaced(into, from, value, site.site));
        add(site, ScoreRows(session_, session_.run(given, logits)), there, here);
        stage.advance(pairs);
      }
    }
    for (std::size_t pair = 0; pair < pairs; ++pair)
      if (contrasts_[pair].counts)
        whole_.add(1, contrasts_[pair].of(there.of(pair)) - contrasts_[pair].of(here.of(pair)));
  }

  Patching result(std::size_t pairs) const {
    if (whole_.count() == 0)
      fail(Fault::data, "none of {} pairs decides differently, so that there is nothing to make good", pairs);
    Patching found{
        .pairs = pairs, .counted = whole_.count(), .difference = whole_.mean_denominator(), .effects = {}};
    for (const auto& [value, sums] : patched_)
      for (const SiteSums& site : sums)
        found.effects.push_back(effect_of(site.site, site.ratio, site.turned));
    return found;
  }

 private:
  void add(SiteSums& site, const ScoreRows& patched, const ScoreRows& there, const ScoreRows& here) const {
    for (std::size_t pair = 0; pair < contrasts_.size(); ++pair) {
      const Contrast& contrast = contrasts_[pair];
      if (!contrast.counts) continue;
      const double before = contrast.of(here.of(pair));
      site.ratio.add(contrast.of(patched.of(pair)) - before, contrast.of(there.of(pair)) - before);
      site.turned += patched.decided(pair) == contrast.giving;
    }
  }

  const Session& session_;
  std::vector<std::pair<PatchedValue, std::vector<SiteSums>>> patched_;
  std::vector<Contrast> contrasts_;  // of the batch
  Ratio whole_;
};

}  // namespace

std::vector<PatchSite> patch_sites(const Session& session, const PatchOptions& options) {
  std::vector<PatchSite> all;
  for (const PatchedValue& value : asked_values(session, options))
    for (PatchSite& site : sites_of(value, options.positions)) all.push_back(std::move(site));
  return all;
}

Patching patch(const Session& session, const DatasetPtr& clean, const DatasetPtr& corrupted,
               const PatchOptions& options, Progress& progress) {
  require_pairs(*clean, *corrupted);
  require_scores(session, *clean);
  Patcher patcher(session, options);
  const std::size_t step = options.batch > 0 ? options.batch : session.preferred_batch();
  Stage stage(progress, "patching", clean->size() * patcher.sites(), "runs");
  BatchReader of_clean(clean, step), of_corrupted(corrupted, step);
  while (const auto batch = of_clean.next()) {
    const Tensors a = session.bind(*batch), b = session.bind(*of_corrupted.next());
    patcher.take(options.into_clean ? b : a, options.into_clean ? a : b, batch->indices.size(), stage);
  }
  return patcher.result(clean->size());
}

}  // namespace assay::inspection
