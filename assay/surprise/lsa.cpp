#include "assay/surprise/lsa.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "assay/support/threads.h"
#include "assay/surprise/binary.h"

namespace assay::surprise {
namespace {

constexpr std::uint64_t lsa_magic = 0x313041534c595341;  // "ASYLSA01"

// Scott's factor of the standard deviations.
double scott(std::size_t records, std::size_t dimensions) {
  return std::pow(static_cast<double>(records), -1.0 / (static_cast<double>(dimensions) + 4));
}

}  // namespace

LsaReference::LsaReference(const Traces& training, const GaussianOptions& options, std::size_t threads)
    : gaussians_(learn_gaussians(training, options, threads)) {
  const std::size_t n = gaussians_.kept.size();
  std::map<std::int32_t, std::vector<std::size_t>> members;
  for (std::size_t i = 0; i < training.records(); ++i) {
    if (!std::binary_search(gaussians_.left_out.begin(), gaussians_.left_out.end(), i))
      members[training.classes[i]].push_back(i);
  }
  for (const auto& [c, fitted] : gaussians_.classes) {
    if (!fitted.usable()) continue;
    const auto& records = members[c];
    const double factor = scott(fitted.records, n);
    std::vector<double> white = gaussians_.whitened(fitted, training, records, threads);
    for (double& value : white) value /= factor;
    prepare(c, std::move(white));
  }
}

void LsaReference::prepare(std::int32_t c, std::vector<double> white) {
  const std::size_t n = gaussians_.kept.size();
  const ClassGaussian& fitted = gaussians_.classes.at(c);
  Kernel& kernel = kernels_[c];
  kernel.white = std::move(white);
  kernel.constant = std::log(static_cast<double>(fitted.records)) +
                    n * (std::log(2 * std::numbers::pi) / 2 + std::log(scott(fitted.records, n)));
  for (std::size_t i = 0; i < n; ++i) kernel.constant += std::log(fitted.cholesky[i * n + i]);
  kernel.references = std::make_unique<surprise::References<double>>(kernel.white, n);
}

std::vector<SurpriseScore> LsaReference::score(const Traces& test, const BlockOptions& options) const {
  require_sound(test);
  if (test.dimensions != gaussians_.dimensions)
    fail(Fault::mismatch,
         "LSA: the test traces have {} dimensions, the training traces {}; use the same layers",
         test.dimensions, gaussians_.dimensions);
  std::vector<SurpriseScore> scores(test.records());
  const auto broken = non_finite_records(test);
  std::map<std::int32_t, std::vector<std::size_t>> by_class;
  for (std::size_t i = 0; i < test.records(); ++i) {
    const bool unusable = std::binary_search(broken.begin(), broken.end(), i);
    if (unusable)
      scores[i] = {std::numeric_limits<double>::quiet_NaN(), SurpriseStatus::non_finite};
    else if (!gaussians_.classes.contains(test.classes[i]))
      scores[i] = {infinity, SurpriseStatus::no_training};
    else if (!kernels_.contains(test.classes[i]))
      scores[i] = {infinity, SurpriseStatus::too_few_records};
    else
      by_class[test.classes[i]].push_back(i);
  }
  for (const auto& [c, records] : by_class) score_class(test, records, c, scores, options);
  return scores;
}

// The nearest training trace gives the largest term, exp(-m/2). Terms at a squared distance over m + margin
// sum to less than n exp(-(m + margin)/2) = 1e-12 exp(-m/2), so leaving them out changes the logarithm by
// less than 1e-12. Which terms are left out is decided on float64 distances, hence the same for every block
// size.
void LsaReference::score_class(const Traces& test, const std::vector<std::size_t>& records, std::int32_t c,
                               std::vector<SurpriseScore>& scores, const BlockOptions& options) const {
  const std::size_t n = gaussians_.kept.size();
  const ClassGaussian& fitted = gaussians_.classes.at(c);
  const Kernel& kernel = kernels_.at(c);
  const double factor = scott(fitted.records, n),
               margin = 2 * (std::log(static_cast<double>(fitted.records)) - std::log(1e-12));
  std::vector<double> white = gaussians_.whitened(fitted, test, records, options.threads),
                      limits(records.size()), sums(records.size(), 0.0);
  for (double& value : white) value /= factor;
  std::vector<const double*> queries(records.size());
  for (std::size_t i = 0; i < records.size(); ++i) queries[i] = white.data() + i * n;
  const surprise::Range all{0, kernel.white.size() / n};
  const auto nearest = kernel.references->nearest(queries, {&all, 1}, {}, options);
  for (std::size_t i = 0; i < records.size(); ++i) limits[i] = nearest[i].squared + margin;
  kernel.references->within(
      queries, limits,
      [&](std::size_t q, std::size_t, double squared) {
        if (squared <= limits[q]) sums[q] += std::exp((nearest[q].squared - squared) / 2);
      },
      options);
  for (std::size_t i = 0; i < records.size(); ++i)
    scores[records[i]].value = nearest[i].squared / 2 - std::log(sums[i]) + kernel.constant;
}

void LsaReference::save(std::ostream& out) const {
  surprise::write_value(out, lsa_magic);
  save_gaussians(gaussians_, out);
  for (const auto& [c, kernel] : kernels_) surprise::write_array(out, kernel.white);
}

LsaReference LsaReference::load(std::istream& in) {
  surprise::expect_magic(in, lsa_magic);
  LsaReference reference;
  reference.gaussians_ = load_gaussians(in);
  const std::size_t n = reference.gaussians_.kept.size();
  for (const auto& [c, fitted] : reference.gaussians_.classes) {
    if (!fitted.usable()) continue;
    std::vector<double> white = surprise::read_array<double>(in);
    const bool sound = white.size() % n == 0 && white.size() / n == fitted.records &&
                       std::all_of(white.begin(), white.end(), [](double v) { return std::isfinite(v); });
    if (!sound) surprise::damaged("the traces of a class are not sound");
    reference.prepare(c, std::move(white));
  }
  return reference;
}

}  // namespace assay::surprise
