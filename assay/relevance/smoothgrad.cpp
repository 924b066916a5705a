// SmoothGrad (Smilkov et al., 2017): the mean gradient over copies of a record with noise.

#include <assay/array_math.h>
#include <fmt/format.h>

#include <assay/error.h>
#include <assay/extend/random.h>
#include "assay/relevance/methods.h"
#include "assay/relevance/start.h"

namespace assay::relevance {
namespace {

// The same noise for every record, so that none depends on its neighbours.
Array noise_like(const Array& records, Rng random) {
  Shape shape = records.shape();
  shape[0] = 1;
  const Array noise = array::zeros(shape, DType::float32);
  for (std::int64_t i = 0; i < noise.count(); ++i)
    noise.elements<float>()[i] = static_cast<float>(random.normal());
  return noise.to(records.dtype());
}

// Greatest less smallest element of each record, broadcasting over it.
Array spread_of(const Array& records) {
  Shape elements;
  for (std::int64_t axis = 1; axis < records.rank(); ++axis) elements.push_back(axis);
  return elements.empty() ? array::zeros_like(records)
                          : records.amax(elements, true) - records.amin(elements, true);
}

class SmoothGrad final : public Attribution {
 public:
  SmoothGrad(const Session& session, const AttributionOptions& options, const SpecOptions& own)
      : session_(session),
        start_(session, options.outputs),
        outputs_(options.outputs),
        samples_(own.count("samples", 1)),
        noise_(own.number("noise", 0)),
        seed_(own.count("seed", 0)) {}

  Relevance attribute(const Tensors& given, const Target& target,
                      std::span<const ValueId> wanted) const override {
    const array::Recording unrecorded(false);
    const Tensors inputs = inputs_of(session_, given);
    const Tensors moved = baseline_of(inputs, {});
    if (moved.empty()) {
      fail(Fault::unsupported,
           "smoothgrad needs an input of real numbers to add noise to; use 'epsilon' for networks that read "
           "tokens");
    }
    const ValueId read = start_.value();
    const Array scores = session_.run(inputs, std::span(&read, 1)).at(read);
    const Target fixed = start_.settled(scores, target);
    Relevance result{.values = {}, .start = start_.numbers(scores, fixed)};
    for (std::size_t sample = 0; sample < samples_; ++sample) {
      Tensors noisy = inputs;
      for (const auto& [id, unused] : moved) {
        const Array& records = inputs.at(id);
        const Rng random(seed_, {sample, index_of(id)});
        noisy[id] = records + noise_like(records, random) * (spread_of(records) * noise_);
      }
      add(gradients_of(session_, noisy, fixed, wanted, outputs_), result.values);
    }
    for (auto& [id, sum] : result.values) sum = sum / static_cast<double>(samples_);
    return result;
  }
  std::vector<ValueId> reads(std::span<const ValueId>) const override { return {start_.value()}; }
  std::string describe() const override {
    return fmt::format(
        "SmoothGrad: mean gradient of {} copies with Gaussian noise whose deviation is {:g} of a record's "
        "spread",
        samples_, noise_);
  }

 private:
  static void add(const Tensors& gradients, Tensors& sums) {
    for (const auto& [id, gradient] : gradients) {
      Array& sum = sums[id];
      sum = sum.defined() ? sum + gradient : gradient;
    }
  }

  const Session& session_;
  Start start_;
  bool outputs_;
  std::size_t samples_;
  double noise_;
  std::uint64_t seed_;
};

}  // namespace

AttributionInfo smoothgrad_method() {
  return {
      "smoothgrad",
      "mean gradient over copies with noise",
      "Smilkov et al., SmoothGrad, 2017",
      [](const Session& session, const AttributionOptions& options, const SpecOptions& own) {
        return std::make_unique<SmoothGrad>(session, options, own);
      },
      false,
      {{"samples", "25", "copies of a record"},
       {"noise", "0.15", "deviation of the noise, as a share of the record's greatest less smallest element"},
       {"seed", "1", "of the noise"}}};
}

}  // namespace assay::relevance
