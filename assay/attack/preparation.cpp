#include "assay/attack/preparation.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include <assay/dataset.h>
#include <assay/error.h>
#include <assay/extend/attack_problem.h>
#include "assay/support/files/hash.h"

namespace assay::attack {
namespace {

constexpr double tolerance = 1e-4;               // of the range, for elements that rounding puts outside
constexpr std::uint64_t target_stream = 0x7a67;  // random targets, apart from the attack's own streams

// One bound for each element of a record, from one for all or one per channel.
Tensor bounds(const std::vector<float>& values, const Shape& record) {
  const std::int64_t elements = element_count(record), width = static_cast<std::int64_t>(values.size());
  Shape shape = record;
  shape.insert(shape.begin(), 1);
  return at::tensor(values).repeat_interleave(elements / width).reshape(shape);
}

bool are_levels(const ValidRange& range) {
  return std::ranges::all_of(range.low, [](float low) { return low == 0; }) &&
         std::ranges::all_of(range.high, [](float high) { return high == 255; });
}

ValidRange declared_range(const Session& session, const Dataset& dataset) {
  const ValueId input = session.first_input(dataset.facts());
  require_attackable(session, input);
  const auto range = dataset.valid_range();
  if (range && takes_levels(session, input) && !are_levels(*range))
    fail(Fault::data,
         "network '{}' takes levels from 0 to 255, but values of '{}' are valid in another range; of "
         "pictures, "
         "say scale=1 in the data specification",
         session.graph().name(), dataset.describe());
  if (range) return *range;
  fail(Fault::data,
       "data '{}' do not say which values are valid, and attacks must stay among them; add range=LOW:HIGH, "
       "such as range=0:1",
       dataset.describe());
}

InputUnits units_of(const Session& session, const Dataset& dataset, const Tensor& low, const Tensor& span) {
  if (low.eq(0).all().item<bool>() && span.eq(1).all().item<bool>()) return {{}, {}, dataset.valid_range()};
  const c10::Device device(session.options().device);
  return {low.flatten().to(device), span.flatten().to(device), dataset.valid_range()};
}

std::optional<std::int64_t> class_number(const std::string& text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

std::uint64_t key_of(const std::string& id) { return hash_128(id.data(), id.size())[0]; }

}  // namespace

bool takes_levels(const Session& session, ValueId input) {
  return session.graph().value(input).dtype == DType::uint8;
}

Preparation::Preparation(const Session& session, const Dataset& dataset, PreparationOptions options)
    : dataset_(dataset),
      options_(std::move(options)),
      low_(bounds(declared_range(session, dataset).low, dataset.record_shape())),
      span_(bounds(declared_range(session, dataset).high, dataset.record_shape()) - low_),
      network_(session, units_of(session, dataset, low_, span_), dataset.target_width() > 0,
               session.first_input(dataset.facts())) {
  const std::string& target = options_.target;
  const bool word = target == "none" || target == "next" || target == "random" || target == "least-likely";
  if (!word && !class_number(target))
    fail(Fault::usage, "target={}: a class number, next, random, least-likely or none", target);
}

AttackProblem Preparation::problem(const Batch& batch) const {
  const at::NoGradGuard no_grad;
  AttackProblem problem;
  const auto records = static_cast<std::int64_t>(batch.indices.size());
  const Tensors given = network_.session().bind(batch);
  const Tensor units = ((to_tensor(batch.inputs).to(at::kFloat) - low_) / span_).reshape({records, -1});
  const Tensor outside = units.lt(-tolerance).logical_or(units.gt(1 + tolerance)).any(1);
  if (outside.any().item<bool>()) {
    const auto row = static_cast<std::size_t>(outside.nonzero()[0].item<std::int64_t>());
    fail(Fault::data,
         "record '{}' has values outside the valid range that the data declare; check range, scale, mean and "
         "std of '{}'",
         dataset_.id(batch.indices[row]), dataset_.describe());
  }
  const Tensor shaped = network_.first(given);
  problem.inputs = units.clamp(0, 1).reshape(shaped.sizes()).to(shaped.device());
  problem.held = network_.held_of(given);
  problem.seed = options_.seed;
  for (std::size_t i = 0; i < batch.indices.size(); ++i) {
    problem.keys.push_back(key_of(dataset_.id(batch.indices[i])));
    problem.places.push_back(i);
  }
  problem.log = std::make_shared<AttackLog>(batch.indices.size());
  const Tensor outputs = network_.outputs(given);
  if (network_.regression()) {
    problem.reference = outputs;
    set_direction(problem, batch);
  }
  problem.scores = network_.scores_of(problem, outputs);
  problem.labels = problem.scores.argmax(1);
  problem.targets = targets(problem);
  return problem;
}

// Away from the target, where there is one and the output differs from it; otherwise up.
void Preparation::set_direction(AttackProblem& problem, const Batch& batch) const {
  problem.margin = options_.margin;
  const Tensor& outputs = problem.reference;
  const Tensor up = at::full_like(outputs, 1 / std::sqrt(static_cast<double>(outputs.size(1))));
  const Tensor wanted = to_tensor(batch.targets).to(outputs.device());
  if (wanted.numel() != outputs.numel()) {
    problem.direction = up;
    return;
  }
  const Tensor error = outputs - wanted.reshape_as(outputs), length = error.norm(2, 1, true);
  problem.direction = at::where(length.gt(1e-6), error / length.clamp_min(1e-6), up);
}

Tensor Preparation::targets(const AttackProblem& problem) const {
  const std::string& target = options_.target;
  const std::int64_t classes = problem.scores.size(1);
  if (target == "none") return {};
  if (target == "next") return (problem.labels + 1).remainder(classes);
  if (target == "least-likely") return problem.scores.argmin(1);
  if (target != "random") {
    const std::int64_t number = *class_number(target);
    if (number < 0 || number >= classes)
      fail(Fault::usage, "target={}: the network has classes 0 to {}", number, classes - 1);
    return at::full_like(problem.labels, number);
  }
  std::vector<std::int64_t> steps;  // to one of the other classes
  for (std::size_t row = 0; row < problem.keys.size(); ++row) {
    steps.push_back(1 + static_cast<std::int64_t>(
                            problem.rng(row, target_stream).below(static_cast<std::uint64_t>(classes - 1))));
  }
  return (problem.labels + at::tensor(steps, at::kLong).to(problem.labels.device())).remainder(classes);
}

std::vector<std::int64_t> Preparation::attackable(const Batch& batch, const AttackProblem& problem,
                                                  bool right) const {
  const Tensor finite = at::isfinite(problem.scores).all(1).to(at::kCPU).contiguous();
  const Tensor labels = problem.labels.to(at::kCPU).contiguous();
  const Tensor aims = problem.targeted() ? problem.targets.to(at::kCPU).contiguous() : Tensor();
  std::vector<std::int64_t> rows;
  for (std::int64_t i = 0; i < problem.size(); ++i) {
    const std::int64_t label = labels.data_ptr<std::int64_t>()[i];
    const bool correct =
        network_.regression() || batch.labels.empty() || batch.labels[static_cast<std::size_t>(i)] == label;
    const bool there = aims.defined() && aims.data_ptr<std::int64_t>()[i] == label;
    if (finite.data_ptr<bool>()[i] && !there && (correct || !right)) rows.push_back(i);
  }
  return rows;
}

Tensor Preparation::to_records(const Tensor& clean, const AttackProblem& problem,
                               const Tensor& points) const {
  const Tensor changed = points.ne(problem.inputs).to(at::kCPU).reshape_as(clean);
  return at::where(changed, points.to(at::kCPU).reshape_as(clean) * span_ + low_, clean);
}

Tensor Preparation::to_levels(const Tensor& points) const {
  return (points * 255).round().clamp(0, 255).to(at::kCPU, at::kByte).contiguous();
}

Tensor Preparation::difference(const Tensor& records, const Tensor& clean) const {
  return ((records.to(at::kDouble) - clean.to(at::kDouble)) / span_.to(at::kDouble)).flatten(1);
}

}  // namespace assay::attack
