#include "assay/surprise/mdsa.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "assay/support/threads.h"
#include "assay/surprise/binary.h"

namespace assay::surprise {
namespace {

constexpr std::uint64_t mdsa_magic = 0x313053444d595341;  // "ASYMDS01"

}  // namespace

MdsaReference::MdsaReference(const Traces& training, const GaussianOptions& options, std::size_t threads)
    : gaussians_(learn_gaussians(training, options, threads)) {}

std::vector<SurpriseScore> MdsaReference::score(const Traces& test, std::size_t threads) const {
  require_sound(test);
  if (test.dimensions != gaussians_.dimensions)
    fail(Fault::mismatch,
         "MDSA: the test traces have {} dimensions, the training traces {}; use the same layers",
         test.dimensions, gaussians_.dimensions);
  std::vector<SurpriseScore> scores(test.records());
  const auto broken = non_finite_records(test);
  parallel_for(test.records(), threads == 0 ? available_threads() : threads, [&](std::size_t i) {
    const auto found = gaussians_.classes.find(test.classes[i]);
    if (std::binary_search(broken.begin(), broken.end(), i)) {
      scores[i] = {std::numeric_limits<double>::quiet_NaN(), SurpriseStatus::non_finite};
    } else if (found == gaussians_.classes.end()) {
      scores[i] = {infinity, SurpriseStatus::no_training};
    } else if (!found->second.usable()) {
      scores[i] = {infinity, SurpriseStatus::too_few_records};
    } else {
      double sum = 0;
      for (const double w : gaussians_.whitened(found->second, test, std::span(&i, 1), 1)) sum += w * w;
      scores[i].value = std::sqrt(sum);
    }
  });
  return scores;
}

void MdsaReference::save(std::ostream& out) const {
  surprise::write_value(out, mdsa_magic);
  save_gaussians(gaussians_, out);
}

MdsaReference MdsaReference::load(std::istream& in) {
  surprise::expect_magic(in, mdsa_magic);
  return MdsaReference(load_gaussians(in));
}

}  // namespace assay::surprise
