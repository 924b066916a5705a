#include <assay/profile.h>

#include <algorithm>

#include <assay/error.h>
#include "assay/coverage/learning/profile_json.h"
#include "assay/engine/preparation/other_threshold.h"
#include "assay/support/text/text.h"

namespace assay::coverage {

std::size_t Profile::position(const std::string& layer) const {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < statistics.size(); ++i) {
    if (statistics[i].layer == layer) return i;
    names.push_back(statistics[i].layer);
  }
  fail(Fault::usage, "the profile has no layer '{}'{}; it has {}", layer, did_you_mean(layer, names),
       joined(names));
}

std::size_t histogram_bin(float value, float low, float high, std::size_t bins) {
  if (bins < 3) return 0;
  if (value < low) return 0;
  if (value > high) return bins - 1;
  const double parts = bins - 2;
  const double place =
      high > low ? parts * (static_cast<double>(value) - low) / (static_cast<double>(high) - low) : 0;
  return 1 + std::min(bins - 3, static_cast<std::size_t>(place));
}

Profile carried_over(Profile profile, const Session& session) {
  for (const LayerStatistics& wanted : profile.statistics) {
    const auto found = std::ranges::find(session.layers(), wanted.layer, &Layer::name);
    if (found == session.layers().end())
      fail(Fault::mismatch,
           "the profile has a layer '{}', which network '{}' lacks; the profile does not belong to a form of "
           "this network",
           wanted.layer, session.graph().name());
    if (static_cast<std::size_t>(found->neurons) != wanted.neurons())
      fail(Fault::mismatch, "layer '{}' has {} neurons in the profile and {} in network '{}'", wanted.layer,
           wanted.neurons(), found->neurons, session.graph().name());
  }
  profile.model_hash = session.graph().hash();
  return profile;
}

void require_profile_fits(const Profile& profile, const std::string& model_hash,
                          const std::string& model_name) {
  if (profile.model_hash == model_hash) return;
  fail(Fault::mismatch,
       "the profile was learned from another network{} (hash {}) than '{}' (hash {}); learn it again {}",
       other_threshold, profile.model_hash, model_name, model_hash,
       About{"from the training data", "with {train}"});
}

}  // namespace assay::coverage
