#include "assay/mutation/divergence.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include <fmt/format.h>

#include <assay/error.h>
#include <assay/evaluate.h>
#include <assay/extend/mutation_operator.h>
#include "assay/data/given.h"
#include "assay/engine/elements.h"

namespace assay::mutation {
namespace {

// What answers of float32 cannot tell apart.
constexpr double least_floor = 1e-9;
const std::vector<std::string> roundings{"bf16", "fp16", "int8"};

// Logarithms of the probabilities, which stay exact where these are tiny.
std::vector<double> log_probabilities(std::span<const float> scores, bool is_probability) {
  if (scores.size() == 1) {
    const double z = is_probability ? std::log(scores[0]) - std::log1p(-scores[0]) : scores[0];
    const double beyond = std::log1p(std::exp(-std::abs(z)));
    return {std::min(z, 0.0) - beyond, std::min(-z, 0.0) - beyond};
  }
  const double most = *std::ranges::max_element(scores);
  double sum = 0;
  for (const double score : scores) sum += std::exp(score - most);
  std::vector<double> logs;
  for (const double score : scores) logs.push_back(score - most - std::log(sum));
  return logs;
}

double term(double log_p, double log_q) {
  const double p = std::exp(log_p);
  return p == 0 ? 0 : p * (log_p - log_q);
}

double kullback_leibler(std::span<const double> p, std::span<const double> q) {
  double sum = 0;
  for (std::size_t i = 0; i < p.size(); ++i) sum += term(p[i], q[i]);
  return sum;
}

double jensen_shannon(std::span<const double> p, std::span<const double> q) {
  std::vector<double> middle;
  for (std::size_t i = 0; i < p.size(); ++i) {
    const double most = std::max(p[i], q[i]);
    const double apart = std::isfinite(most) ? std::abs(p[i] - q[i]) : 0;
    middle.push_back(most + std::log1p(std::exp(-apart)) - std::log(2.0));
  }
  return (kullback_leibler(p, middle) + kullback_leibler(q, middle)) / 2;
}

Graph rounded_network(const Subject& subject, const std::string& rounding) {
  const OperatorChoice choice(rounding);
  const SpecOptions options = options_of(choice);
  Edit edit(subject, 0);
  Rng unused(0);
  for (const SubjectLayer& layer : subject.layers())
    if (info_of(choice).refusal(layer, options).empty())
      info_of(choice).apply({layer, options, {}, unused}, edit);
  return edit.build();
}

Array decisions_of(const Session& session, const Batch& batch) {
  const ValueId decision = session.logits();
  Array values = session.run(session.bind(batch), std::span(&decision, 1)).at(decision);
  require_rows(session, values, batch.indices.size());
  return as_rows(engine::in_memory(values, DType::float32));
}

}  // namespace

double divergence_of(Divergence::Kind kind, std::span<const float> was, std::span<const float> now,
                     bool is_probability) {
  const std::vector<double> p = log_probabilities(was, is_probability),
                            q = log_probabilities(now, is_probability);
  const double apart =
      kind == Divergence::Kind::kullback_leibler ? kullback_leibler(p, q) : jensen_shannon(p, q);
  return std::max(apart, 0.0);  // rounding may leave less
}

std::string Divergence::describe() const {
  return fmt::format("{} above {:.6g} nats", kind == Kind::jensen_shannon ? "js" : "kl", above);
}

double noise_floor(const Session& session, DatasetPtr given, Divergence::Kind kind,
                   const std::string& rounding, std::size_t batch, Progress& progress) {
  const DatasetPtr dataset = given_data(given);
  const Subject subject(session);
  const Session rounded(rounded_network(subject, rounding), session.options());
  double floor = least_floor;
  const auto take = [&](const Batch& records, const Tensors&) {
    const Array was = decisions_of(session, records), now = decisions_of(rounded, records);
    const std::size_t width = was.size(1);
    for (std::size_t r = 0; r < records.indices.size(); ++r) {
      const double apart =
          divergence_of(kind, {was.elements<float>() + r * width, width},
                        {now.elements<float>() + r * width, width}, session.ends_in_sigmoid());
      if (std::isfinite(apart)) floor = std::max(floor, apart);
    }
  };
  walk(session, dataset, {.batch = batch, .stage = "measuring the noise floor"}, progress, take);
  return floor;
}

Divergence divergence_from(const std::string& text, const Session& session, const DatasetPtr& dataset,
                           std::size_t batch, Progress& progress) {
  const Spec spec = parse_spec("divergence", text);
  if (spec.name != "js" && spec.name != "kl")
    fail(Fault::usage, "unknown divergence '{}'; there are js (Jensen-Shannon) and kl (Kullback-Leibler)",
         spec.name);
  const std::vector<SpecOption> declared{
      {"above", "", "nats; in place of a noise floor"},
      {"floor", "bf16", "what weights are rounded to where the noise floor is measured"}};
  const SpecOptions options("divergence", spec, declared);
  if (spec.options.contains("above") && spec.options.contains("floor"))
    fail(Fault::usage, "divergence '{}': above says what the noise floor would; leave out one of them", text);
  Divergence divergence{.kind = spec.name == "js" ? Divergence::Kind::jensen_shannon
                                                  : Divergence::Kind::kullback_leibler};
  divergence.above =
      spec.options.contains("above")
          ? options.number("above", 0)
          : noise_floor(session, dataset, divergence.kind, options.word("floor", roundings), batch, progress);
  return divergence;
}

}  // namespace assay::mutation
