// Bounds, and a search for counterexamples, on boxes that are divided.

#include <algorithm>
#include <cmath>
#include <queue>

#include <assay/array_math.h>
#include <assay/bounds.h>
#include <assay/error.h>
#include <assay/extend/random.h>
#include "assay/bounds/network_at.h"

namespace assay::bounds {
namespace {

bool excluded(const std::vector<double>& least) {
  return std::ranges::any_of(least, [](double one) { return one > 0; });
}

double worst_of(const std::vector<Constraint>& constraints, const std::vector<double>& output) {
  double worst = -std::numeric_limits<double>::infinity();
  for (const Constraint& constraint : constraints) worst = std::max(worst, excess(constraint, output));
  return worst;
}

// Steps along the sign of the gradient of the constraint that is missed most, from several points at once.
class Search {
 public:
  Search(const Session& session, const SolveOptions& options)
      : session_(session),
        options_(options),
        input_(session.graph().inputs()[0]),
        output_(session.graph().outputs()[0]) {}

  std::optional<Witness> in(const Case& one, std::uint64_t purpose) const {
    const std::size_t size = one.box.low.size();
    std::vector<float> points;
    for (std::size_t s = 0; s < options_.starts; ++s) {
      Rng rng(options_.seed, {purpose, s});
      for (std::size_t i = 0; i < size; ++i)
        points.push_back(inside(one.box, i,
                                s == 0 ? 0.5 * (one.box.low[i] + one.box.high[i])
                                       : rng.uniform(one.box.low[i], one.box.high[i])));
    }
    for (std::size_t step = 0; step <= options_.steps; ++step) {
      check_interrupt();
      const RecordGradients found = gradients(one, points);
      if (auto witness = winner(one, points, found.value)) return witness;
      const double share = 0.25 * (1 - static_cast<double>(step) / (options_.steps + 1));
      move(one.box, points, found.gradients[0].at(input_), share);
    }
    return std::nullopt;
  }

 private:
  // A float32 in the box, where there is one.
  static float inside(const Box& box, std::size_t i, double wanted) {
    auto number = static_cast<float>(std::clamp(wanted, box.low[i], box.high[i]));
    if (number > box.high[i]) number = std::nextafter(number, -std::numeric_limits<float>::infinity());
    if (number < box.low[i]) number = std::nextafter(number, std::numeric_limits<float>::infinity());
    return number;
  }

  RecordGradients gradients(const Case& one, const std::vector<float>& points) const {
    Shape shape = session_.shape(input_);
    shape[0] = options_.starts;
    Tensors given;
    given.emplace(input_, Array::of<float>(shape, points));
    const auto ask = [&](std::size_t, std::span<const float> outputs, std::span<float> gradients) {
      const std::vector<double> wide(outputs.begin(), outputs.end());
      const auto worst = std::ranges::max_element(
          one.constraints, {}, [&](const Constraint& constraint) { return excess(constraint, wide); });
      if (worst == one.constraints.end()) return;
      for (const auto& [o, factor] : worst->terms) gradients[o] += static_cast<float>(factor);
    };
    return session_.gradients(given, {.read = {output_}, .numbers = 1, .gradients = ask},
                              std::span(&input_, 1));
  }

  // Judged again alone, as a checker does.
  std::optional<Witness> winner(const Case& one, const std::vector<float>& points, const Array& value) const {
    const Array outputs = value.to(DType::float64).contiguous();
    const std::size_t size = one.box.low.size(),
                      width = static_cast<std::size_t>(outputs.count()) / options_.starts;
    for (std::size_t s = 0; s < options_.starts; ++s) {
      const auto row = outputs.as<double>().subspan(s * width, width);
      if (!(worst_of(one.constraints, {row.begin(), row.end()}) <= 0)) continue;
      const auto first = points.begin() + s * size;
      Witness witness{{first, first + size}, {}};
      witness.output = outputs_at(session_, witness.input);
      const bool in_box = std::ranges::equal(witness.input, one.box.low, std::greater_equal()) &&
                          std::ranges::equal(witness.input, one.box.high, std::less_equal());
      if (in_box && worst_of(one.constraints, witness.output) <= 0) return witness;
    }
    return std::nullopt;
  }

  void move(const Box& box, std::vector<float>& points, const Array& given, double share) const {
    const Array gradients = given.to(DType::float32).contiguous();
    for (std::size_t i = 0; i < points.size(); ++i) {
      const std::size_t at = i % box.low.size();
      const float gradient = gradients.as<float>()[i];
      if (gradient == 0 || !std::isfinite(gradient)) continue;
      points[i] = inside(box, at, points[i] - std::copysign(share * (box.high[at] - box.low[at]), gradient));
    }
  }

  const Session& session_;
  const SolveOptions& options_;
  ValueId input_, output_;
};

bool only_compares(const Query& query) {
  return std::ranges::all_of(query.cases, [](const Case& one) {
    return std::ranges::all_of(one.constraints, [](const Constraint& constraint) {
      return constraint.limit == 0 && constraint.terms.size() == 2 &&
             constraint.terms[0].second == -constraint.terms[1].second;
    });
  });
}

// Both halves of a case along the widest side of its box.
std::pair<Case, Case> halves(const Case& one) {
  std::size_t widest = 0;
  const auto width = [&](std::size_t i) { return one.box.high[i] - one.box.low[i]; };
  for (std::size_t i = 1; i < one.box.low.size(); ++i)
    if (width(i) > width(widest)) widest = i;
  Case left = one, right = one;
  left.box.high[widest] = right.box.low[widest] = 0.5 * (one.box.low[widest] + one.box.high[widest]);
  return {left, right};
}

void require_fit(const Session& session, const Query& query, const BoundedNetwork& network) {
  if (network.inputs() != query.inputs || network.outputs() != query.outputs)
    fail(Fault::mismatch, "the query has {} inputs and {} outputs, and '{}' has {} and {}", query.inputs,
         query.outputs, session.graph().name(), network.inputs(), network.outputs());
}

}  // namespace

Answer solve(const Session& session, const Query& query, const SolveOptions& options, Progress& progress) {
  // A softmax keeps the order of scores.
  const bool by_scores = session.ends_in_softmax() && only_compares(query);
  const BoundedNetwork network(session, by_scores ? session.logits() : no_value);
  require_fit(session, query, network);
  const Search search(session, options);
  Answer answer;
  Stage stage(progress, "cases", query.cases.size(), "cases");
  std::vector<Case> open;
  for (std::size_t c = 0; c < query.cases.size(); ++c) {
    ++answer.boxes;
    if (!excluded(network.least_excess({&query.cases[c], 1}, options.method)[0])) {
      answer.witness = search.in(query.cases[c], c);
      if (answer.witness) break;
      open.push_back(query.cases[c]);
    }
    stage.advance(1);
  }
  for (std::size_t made = 2; !answer.witness && !open.empty() && made <= options.splits; made += 2) {
    // The oldest first, so that no part is left out for long.
    const auto [left, right] = halves(open.front());
    open.erase(open.begin());
    for (const Case& half : {left, right}) {
      ++answer.boxes;
      if (excluded(network.least_excess({&half, 1}, options.method)[0])) continue;
      if (!answer.witness) answer.witness = search.in(half, query.cases.size() + answer.boxes);
      open.push_back(half);
    }
    stage.advance(0);
  }
  answer.open = answer.witness ? 0 : open.size();
  answer.verdict = answer.witness ? Verdict::violated : open.empty() ? Verdict::holds : Verdict::open;
  return answer;
}

}  // namespace assay::bounds
