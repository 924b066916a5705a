#include "assay/attack/tokens/tail_scores.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>
#include <vector>

#include <assay/array_math.h>
#include <assay/error.h>
#include "assay/engine/elements.h"

namespace assay::attack {
namespace {

// Below this share of its positions a text without the first ones is not worth another network.
constexpr double least_saved = 0.25;
constexpr double rounding = 1e-4;  // of the greatest number

InputUnits units_from(const InputUnits& units, std::int64_t first) {
  const auto rest = [first](const Array& bounds) {
    return bounds.defined() ? bounds.slice(0, first) : bounds;
  };
  return {rest(units.low).contiguous(), rest(units.span).contiguous(), units.range};
}

bool are_close(const Array& found, const Array& wanted) {
  const std::vector<float> one = floats_of(found.to(DType::float32)),
                           other = floats_of(wanted.to(DType::float32));
  if (one.size() != other.size()) return false;
  double greatest = 0, apart = 0;
  for (std::size_t i = 0; i < one.size(); ++i) {
    const double difference = std::abs(static_cast<double>(one[i]) - other[i]);
    const bool same = one[i] == other[i] || (std::isnan(one[i]) && std::isnan(other[i]));
    if (!same && !std::isfinite(difference)) return false;
    if (!std::isfinite(other[i])) continue;
    greatest = std::max(greatest, std::abs(static_cast<double>(other[i])));
    apart = std::max(apart, difference);
  }
  return apart <= rounding * greatest;
}

}  // namespace

std::unique_ptr<TailScores> TailScores::of(const TokenSpace& whole, std::int64_t first) {
  const AttackedNetwork& network = whole.network();
  const Shape& tokens = network.session().shape(network.input());
  if (tokens.size() != 2 || first < least_saved * tokens[1]) return nullptr;
  std::optional<TokenTail> tail = tail_of(network.session(), network.input(), first);
  if (!tail) return nullptr;
  try {
    return std::unique_ptr<TailScores>(new TailScores(whole, std::move(*tail), first));
  } catch (const Error& error) {
    if (error.fault() == Fault::interrupted) throw;
    return nullptr;  // the whole network gives the scores
  }
}

TailScores::TailScores(const TokenSpace& whole, TokenTail tail, std::int64_t first)
    : whole_(whole.network()),
      first_(first),
      tail_(std::move(tail)),
      session_(tail_.graph, tail_.options),
      network_(session_, units_from(whole_.units(), first), whole_.regression(), tail_.tokens),
      space_(network_, whole.limits()) {}

// What an input of the tail takes of both texts; undefined where they differ, or where the position lies
// before the tail.
Array TailScores::part_of(const Tensors& values, const TokenTail::Given& given) const {
  const Array& both = values.at(given.of_whole);
  Array part = given.axis < 0 ? both : both.narrow(given.axis, given.begin, given.length);
  if (!are_close(part.narrow(0, 1, 1), part.narrow(0, 0, 1))) return {};
  part = part.narrow(0, 0, 1);
  if (!given.is_place) return part.contiguous();
  const std::vector<std::int64_t> places = numbers(part - first_);
  return places[0] < 0 ? Array() : (part - first_).contiguous();
}

bool TailScores::take(const AttackProblem& alone, const Array& point, const Array& other) {
  const AttackProblem twice = alone.at(array::tensor(std::vector<std::int64_t>{0, 0}));
  for (const std::size_t place : twice.places) ++twice.log->forward[place];
  std::vector<ValueId> wanted;
  for (const TokenTail::Given& given : tail_.given) wanted.push_back(given.of_whole);
  std::ranges::sort(wanted);
  wanted.erase(std::unique(wanted.begin(), wanted.end()), wanted.end());
  const Tensors found = whole_.session().run(whole_.bind(array::cat({point, other}), twice.held), wanted);
  held_.clear();
  for (const TokenTail::Given& given : tail_.given) {
    const Array part = part_of(found, given);
    if (!part.defined()) return false;
    held_[given.here] = part;
  }
  const Array wanted_scores = whole_.scores(alone, other);
  const AttackLog counted = *alone.log;
  const bool same = are_close(scores(alone, other), wanted_scores);
  *alone.log = counted;
  return same;
}

// The problem with what is held of the record taken.
AttackProblem TailScores::of_rest(const AttackProblem& problem) const {
  AttackProblem rest = problem;
  rest.held.clear();
  for (const auto& [id, of_record] : held_) {
    Shape shape = of_record.shape();
    shape[0] = problem.size();
    rest.held.emplace(id, of_record.expand(shape));
  }
  return rest;
}

Array TailScores::scores(const AttackProblem& problem, const Array& points) const {
  AttackProblem unheld = problem;
  unheld.held.clear();
  const std::int64_t most = session_.preferred_batch();
  std::vector<Array> parts;
  for (std::int64_t begin = 0; begin < points.size(0); begin += most) {
    std::vector<std::int64_t> rows(std::min(most, points.size(0) - begin));
    std::iota(rows.begin(), rows.end(), begin);
    const Array rest = points.narrow(0, begin, std::ssize(rows)).slice(1, first_).contiguous();
    parts.push_back(network_.scores(of_rest(unheld.at(array::tensor(rows))), rest));
  }
  return array::cat(parts);
}

Array TailScores::gradients(const AttackProblem& problem, const Array& points,
                            const AttackedNetwork::Objective& objective) const {
  const Array rest = points.slice(1, first_).contiguous();
  const Array found = space_.gradients(of_rest(problem), rest, {}, objective);
  return array::cat({array::full({found.size(0), first_, found.size(2)}, 0), found}, 1);
}

}  // namespace assay::attack
