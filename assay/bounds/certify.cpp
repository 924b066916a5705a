// Records with a ball around each: certified, attacked or open.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include <assay/array_math.h>
#include <assay/attack.h>
#include <assay/bounds.h>
#include <assay/error.h>
#include <assay/evaluate.h>
#include "assay/attack/attempt.h"
#include "assay/attack/outputs_of_rows.h"
#include "assay/attack/preparation.h"
#include "assay/engine/elements.h"
#include "assay/support/numbers/vectorised.h"

namespace assay::bounds {
namespace {

using attack::AttackProblem;

// The label's score less that of each other class is at most 0. Of one score, what says the other thing.
std::vector<Constraint> other_decisions(std::size_t outputs, std::int64_t label, double threshold) {
  const std::size_t named = label;
  if (outputs == 1)
    return {named == 1 ? Constraint{.terms = {{0, 1}}, .limit = threshold}
                       : Constraint{.terms = {{0, -1}}, .limit = -threshold}};
  std::vector<Constraint> all;
  for (std::size_t other = 0; other < outputs; ++other)
    if (other != named) all.push_back({.terms = {{named, 1}, {other, -1}}, .limit = 0});
  return all;
}

ASSAY_VECTORISED void move(const float* __restrict units, std::size_t count, double by,
                           float* __restrict moved) {
  for (std::size_t i = 0; i < count; ++i) {
    const double at = units[i] + by;
    moved[i] = static_cast<float>(at < 0 ? 0 : at > 1 ? 1 : at);
  }
}
// By what float32 can take away.
template <typename Number>
ASSAY_VECTORISED void widen(const Number* __restrict numbers, const double* __restrict span,
                            std::size_t count, double share, double* __restrict wider) {
  for (std::size_t i = 0; i < count; ++i) {
    const double number = numbers[i];
    wider[i] = number + share * (std::abs(number) + span[i]);
  }
}

// The numbers that a network may be given within a radius, and a little more, since attacks compute them in
// float32.
class Balls {
 public:
  Balls(const attack::AttackedNetwork& network, const AttackProblem& problem)
      : network_(network), problem_(problem) {}

  std::vector<Box> around(const std::vector<std::int64_t>& rows, const std::vector<double>& radii) const {
    const Array units = problem_.inputs.index_select(0, array::tensor(rows)).to(DType::float32).contiguous();
    std::vector<Box> boxes(rows.size());
    add_ends(units, radii, -1, &Box::low, boxes);
    add_ends(units, radii, 1, &Box::high, boxes);
    return boxes;
  }

 private:
  void add_ends(const Array& units, const std::vector<double>& radii, double sign,
                std::vector<double> Box::*end, std::vector<Box>& boxes) const {
    Array moved = array::empty(units.shape());
    const std::size_t size = static_cast<std::size_t>(units.count()) / boxes.size();
    for (std::size_t r = 0; r < boxes.size(); ++r)
      move(units.as<float>().data() + r * size, size, sign * radii[r], moved.elements<float>() + r * size);
    const Array bound = network_.first(network_.bind(moved)).contiguous();
    const Array ends = bound.dtype() == DType::float32 ? bound : bound.to(DType::float64);
    const std::size_t taken = static_cast<std::size_t>(ends.count()) / boxes.size();
    const std::vector<double> span = spans(taken);
    for (std::size_t r = 0; r < boxes.size(); ++r) {
      std::vector<double>& to = boxes[r].*end;
      to.resize(taken);
      const double wider = radii[r] == 0 ? 0 : sign * 0x1p-21;
      if (ends.dtype() == DType::float32)
        widen(ends.as<float>().data() + r * taken, span.data(), taken, wider, to.data());
      else
        widen(ends.as<double>().data() + r * taken, span.data(), taken, wider, to.data());
    }
  }
  std::vector<double> spans(std::size_t count) const {
    std::vector<double> all(count, 1);
    const Array& span = network_.units().span;
    if (!span.defined()) return all;
    const Array wide = span.to(DType::float64).contiguous();
    for (std::size_t i = 0; i < count; ++i)
      all[i] = std::abs(wide.as<double>()[i % wide.as<double>().size()]);
    return all;
  }

  const attack::AttackedNetwork& network_;
  const AttackProblem& problem_;
};

void require_classes(const attack::Preparation& preparation) {
  if (preparation.network().regression())
    fail(Fault::unsupported,
         "bounds of records are for classes; of a regression, write the query in VNN-LIB and give it with {}",
         About{"a query", "{vnnlib=FILE}"});
}

class Certification {
 public:
  Certification(const Session& session, const DatasetPtr& dataset, const CertifyOptions& options)
      : session_(session),
        dataset_(dataset),
        options_(options),
        preparation_(session, *dataset, {.seed = options.seed}),
        bounds_(session, preparation_.network().decision()) {
    require_classes(preparation_);
  }

  std::vector<RecordBounds> run(Progress& progress) {
    std::vector<RecordBounds> all;
    const std::size_t batch = options_.batch == 0 ? attack::attack_batch(session_) : options_.batch;
    walk(session_, dataset_, {.batch = batch, .stage = "bounds"}, progress,
         [&](const Batch& some, const Tensors&) {
           for (const RecordBounds& one : of(some)) all.push_back(one);
         });
    return all;
  }

 private:
  std::vector<RecordBounds> of(const Batch& batch) {
    const array::Recording unrecorded(false);
    const AttackProblem problem = preparation_.problem(batch);
    const std::vector<std::int64_t> labels = attack::numbers(problem.labels),
                                    right = preparation_.attackable(batch, problem, /*right=*/true);
    std::vector<RecordBounds> all;
    for (std::size_t i = 0; i < batch.indices.size(); ++i)
      all.push_back({.record = batch.indices[i], .label = labels[i]});
    if (right.empty()) return all;
    const std::vector<double> margins =
        margins_of(problem, right, std::vector<double>(right.size(), options_.radius));
    std::vector<std::int64_t> rest;
    for (std::size_t r = 0; r < right.size(); ++r) {
      RecordBounds& one = all[right[r]];
      one.margin = margins[r];
      one.outcome = margins[r] > 0 ? Outcome::certified : Outcome::open;
      if (one.outcome == Outcome::open) rest.push_back(right[r]);
    }
    for (const std::int64_t row : fallen(problem, rest, options_.radius))
      all[row].outcome = Outcome::attacked;
    if (options_.bisections > 0) find_radii(problem, right, all);
    return all;
  }

  std::vector<double> margins_of(const AttackProblem& problem, const std::vector<std::int64_t>& rows,
                                 const std::vector<double>& radii) const {
    const Balls balls(preparation_.network(), problem);
    const std::vector<std::int64_t> labels = attack::numbers(problem.labels);
    std::vector<Case> cases;
    std::vector<Box> boxes = balls.around(rows, radii);
    for (std::size_t r = 0; r < rows.size(); ++r)
      cases.push_back(
          {std::move(boxes[r]), other_decisions(bounds_.outputs(), labels[rows[r]],
                                                static_cast<double>(preparation_.network().threshold()))});
    std::vector<double> margins;
    for (const std::vector<double>& least : bounds_.least_excess(cases, options_.method)) {
      double margin = std::numeric_limits<double>::infinity();
      for (const double one : least)
        margin = std::isnan(one) ? -std::numeric_limits<double>::infinity() : std::min(margin, one);
      margins.push_back(margin);
    }
    return margins;
  }

  // Those whose decision an attack changes within the radius.
  std::vector<std::int64_t> fallen(AttackProblem problem, const std::vector<std::int64_t>& rows,
                                   double radius) const {
    if (options_.attack == "none" || rows.empty() || radius == 0) return {};
    Spec spec = parse_spec("attack", options_.attack);
    spec.options["eps"] = fmt::format("{}", radius);
    problem.log = std::make_shared<attack::AttackLog>(problem.places.size());
    const auto [chosen, points] =
        attack::attempt(*attack::make_attack(spec), spec.name, preparation_.network(), problem, rows);
    const attack::AttackedNetwork& network = preparation_.network();
    const Array scores = network.scores_of(chosen, network.outputs(network.bind(points, chosen.held)));
    const std::vector<bool> won = truths_of(attack::AttackedNetwork::won(chosen, scores));
    std::vector<std::int64_t> all;
    for (std::size_t r = 0; r < rows.size(); ++r)
      if (won[r]) all.push_back(rows[r]);
    return all;
  }

  // Bisection of the greatest radius that is certified, and then of the least at which the attack succeeds.
  void find_radii(const AttackProblem& problem, const std::vector<std::int64_t>& right,
                  std::vector<RecordBounds>& all) {
    const auto at = [&](std::size_t r) -> RecordBounds& { return all[right[r]]; };
    std::vector<double> low(right.size(), 0), high(right.size(), options_.radius);
    for (std::size_t r = 0; r < right.size(); ++r)
      if (at(r).outcome == Outcome::certified) low[r] = high[r];
    for (std::size_t step = 0; step < options_.bisections; ++step) {
      std::vector<double> middle(right.size());
      for (std::size_t r = 0; r < right.size(); ++r) middle[r] = 0.5 * (low[r] + high[r]);
      const std::vector<double> margins = margins_of(problem, right, middle);
      for (std::size_t r = 0; r < right.size(); ++r) (margins[r] > 0 ? low : high)[r] = middle[r];
    }
    for (std::size_t r = 0; r < right.size(); ++r) {
      at(r).certified_radius = low[r];
      if (at(r).outcome == Outcome::attacked) at(r).attacked_radius = options_.radius;
    }
    for (std::size_t step = 0; step < options_.bisections; ++step) attack_between(problem, right, all, low);
  }

  // Records by the radius in the middle of what is known: few have one of their own at first.
  void attack_between(const AttackProblem& problem, const std::vector<std::int64_t>& right,
                      std::vector<RecordBounds>& all, std::vector<double>& low) {
    std::map<double, std::vector<std::size_t>> by_radius;
    for (std::size_t r = 0; r < right.size(); ++r) {
      const std::optional<double>& high = all[right[r]].attacked_radius;
      if (high && *high > low[r]) by_radius[0.5 * (low[r] + *high)].push_back(r);
    }
    for (const auto& [radius, members] : by_radius) {
      check_interrupt();
      std::vector<std::int64_t> rows;
      for (const std::size_t r : members) rows.push_back(right[r]);
      const std::vector<std::int64_t> down = fallen(problem, rows, radius);
      for (const std::size_t r : members) {
        if (std::ranges::find(down, right[r]) != down.end())
          all[right[r]].attacked_radius = radius;
        else
          low[r] = radius;
      }
    }
  }

  const Session& session_;
  DatasetPtr dataset_;
  const CertifyOptions& options_;
  attack::Preparation preparation_;
  BoundedNetwork bounds_;
};

}  // namespace

std::vector<RecordBounds> certify(const Session& session, const DatasetPtr& dataset,
                                  const CertifyOptions& options, Progress& progress) {
  if (options.attack != "none") {
    const Spec spec = parse_spec("attack", options.attack);
    const attack::AttackInfo& info = attack::attacks().find(spec.name);
    if (std::ranges::find(info.severities, "eps", &attack::Severity::option) == info.severities.end() ||
        spec.options.contains("eps"))
      fail(Fault::usage, "attack {} has to have an option eps, which the radius gives", options.attack);
  }
  return Certification(session, dataset, options).run(progress);
}

Query query_of(const Session& session, const DatasetPtr& dataset, std::size_t record, double radius) {
  const attack::Preparation preparation(session, *dataset, {});
  require_classes(preparation);
  const std::size_t index[] = {record};
  const Batch batch = dataset->read(index);
  const AttackProblem problem = preparation.problem(batch);
  if (preparation.attackable(batch, problem, /*right=*/true).empty())
    fail(Fault::usage, "record '{}' is wrong as it is, so that there is nothing to ask", dataset->id(record));
  const std::size_t outputs = element_count(session.shape(session.graph().outputs()[0]));
  const std::int64_t label = attack::numbers(problem.labels)[0];
  // A probability is compared with one half, a logit with what it says yes above.
  const double threshold =
      session.ends_in_sigmoid() ? 0.5 : static_cast<double>(preparation.network().threshold());
  const Box box = Balls(preparation.network(), problem).around({0}, {radius}).front();
  Query query{.inputs = box.low.size(), .outputs = outputs, .cases = {}};
  for (const Constraint& constraint : other_decisions(outputs, label, threshold))
    query.cases.push_back({box, {constraint}});
  return query;
}

}  // namespace assay::bounds
