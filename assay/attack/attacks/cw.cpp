// Carlini and Wagner's attack: the smallest change in L2 that moves the scores as wanted.

#include <assay/array_math.h>

#include <cmath>
#include <limits>

#include <assay/attack.h>
#include <assay/extend/attack_problem.h>
#include "assay/attack/objective.h"
#include "assay/engine/elements.h"

namespace assay::attack {
namespace {

struct Settings {
  double confidence, rate, constant;
  std::size_t searches, iterations;
  bool abort;
};

constexpr double beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8;  // Adam
constexpr double unknown = 1e10;                              // upper bound of c until a search succeeds
constexpr double known = 1e9;
constexpr double no_loss = 1e6;            // before the first check of a search
constexpr std::size_t many_searches = 10;  // from so many on, the last one uses the greatest constant

// The records of a batch that are not done, each in its own search with its own constant and its own
// iteration. A record whose search ends begins the next at once, so the batch stays full.
class Searches {
 public:
  Searches(const Settings& settings, const AttackProblem& problem)
      : settings_(settings), problem_(problem), result_(problem.inputs.clone()) {
    const std::int64_t n = problem.size();
    const DType type = problem.inputs.dtype();
    rows_ = array::arange(n, problem.labels.dtype());
    base_ = array::atanh(0.999999 * (2 * problem.inputs - 1));
    origin_ = (array::tanh(base_) + 1) / 2;
    best_ = problem.inputs.clone();
    change_ = array::zeros_like(base_);
    first_ = array::zeros_like(base_);
    second_ = array::zeros_like(base_);
    constant_ = array::full({n}, settings.constant, type);
    lower_ = array::zeros({n}, type);
    upper_ = array::full({n}, unknown, type);
    least_ = array::full({n}, std::numeric_limits<float>::infinity(), type);
    loss_ = array::full({n}, no_loss, type);
    found_ = array::zeros({n}, DType::boolean);
    iteration_ = array::zeros({n}, DType::int64);
    search_ = array::zeros({n}, DType::int64);
  }

  Array run(const AttackedNetwork& network) {
    while (problem_.size() > 0) iterate(network);
    return result_;
  }

 private:
  void iterate(const AttackedNetwork& network) {
    const Array tanh = array::tanh(base_ + change_), point = (tanh + 1) / 2;
    const AttackedNetwork::Objective objective = hinge_of_margin(problem_, constant_, settings_.confidence);
    const auto found = network.gradients(problem_, point, std::span(&objective, 1));
    const Array hinge = constant_ * (margin(problem_, found.scores) + settings_.confidence).clamp_min(0);
    const Array away = point - origin_, distance = away.flatten(1).square().sum(1);
    const Array wanted = found.gradients[0] + 2 * away, gradient = wanted * (1 - tanh * tanh) / 2;
    const Array stop = stopping(distance + hinge, held_at_ends(wanted, gradient));
    note(point, distance, found.scores, stop.logical_not());
    iteration_ = iteration_ + 1;
    step(gradient);
    const Array ended = stop.logical_or(iteration_.ge(static_cast<std::int64_t>(settings_.iterations)));
    if (ended.any().item<bool>()) next_search(ended);
  }

  // Records whose elements are where the tanh is flat, at the ends of their range: a step hardly moves them,
  // so that the loss does not say yet whether the search makes progress.
  static Array held_at_ends(const Array& wanted, const Array& gradient) {
    constexpr double flat = 1e-3;
    return gradient.flatten(1).abs().amax(1).lt(flat * wanted.flatten(1).abs().amax(1));
  }

  // Records whose loss has not fallen by a ten-thousandth since the last check, though they can move.
  Array stopping(const Array& loss, const Array& held) {
    const std::int64_t every = std::max<std::size_t>(1, settings_.iterations / 10);
    const Array due = array::remainder(iteration_, every).eq(0);
    if (!settings_.abort) return array::zeros_like(due);
    const Array stop = due.logical_and(loss.gt(0.9999 * loss_)).logical_and(held.logical_not());
    loss_ = array::where(due, loss, loss_);
    return stop;
  }

  // Remembers the nearest points that are what is wanted, by the confidence requested.
  void note(const Array& point, const Array& distance, const Array& scores, const Array& counted) {
    const Array won = succeeds(scores).logical_and(counted);
    found_ = found_.logical_or(won);
    const Array nearer = won.logical_and(distance.lt(least_));
    least_ = array::where(nearer, distance, least_);
    best_ = array::where(per_record(nearer, point), point, best_);
  }

  Array succeeds(const Array& scores) const {
    if (settings_.confidence == 0) return AttackedNetwork::won(problem_, scores);
    const Array index = (problem_.targeted() ? problem_.targets : problem_.labels).unsqueeze(1);
    const double handicap = problem_.targeted() ? -settings_.confidence : settings_.confidence;
    const Array by = array::full(index.shape(), handicap, scores.dtype());
    return AttackedNetwork::won(problem_, array::scatter_add(scores, 1, index, by));
  }

  // Adam, each record at its own iteration.
  void step(const Array& gradient) {
    first_.mul_(beta1).add_(gradient, 1 - beta1);
    second_.mul_(beta2).addcmul_(gradient, gradient, 1 - beta2);
    const Array time = iteration_.to(DType::float64);
    const Array rate = settings_.rate * (1 - array::pow(beta2, time)).sqrt() / (1 - array::pow(beta1, time));
    change_.sub_(per_record(rate.to(DType::float32), change_) * first_ / (second_.sqrt() + epsilon));
  }

  // New constants for the records in `ended`; those with all searches done leave.
  void next_search(const Array& ended) {
    upper_ = array::where(ended.logical_and(found_), array::minimum(upper_, constant_), upper_);
    lower_ = array::where(ended.logical_and(found_.logical_not()), array::maximum(lower_, constant_), lower_);
    const Array next = array::where(upper_.lt(known), (lower_ + upper_) / 2, constant_ * 10);
    constant_ = array::where(ended, next, constant_);
    search_ = search_ + ended.to(DType::int64);
    if (settings_.searches >= many_searches) use_greatest_constant();
    iteration_ = array::where(ended, array::zeros_like(iteration_), iteration_);
    loss_ = array::where(ended, array::full_like(loss_, no_loss), loss_);
    found_ = found_.logical_and(ended.logical_not());
    const Array going_on = per_record(ended.logical_not().to(DType::float32), change_);
    for (Array* array : {&change_, &first_, &second_}) array->mul_(going_on);
    const Array done = search_.ge(settings_.searches);
    if (done.any().item<bool>()) leave(done);
  }

  // The last of many searches tries the greatest constant there is.
  void use_greatest_constant() {
    constant_ =
        array::where(search_.eq(static_cast<std::int64_t>(settings_.searches) - 1), upper_, constant_);
  }

  void leave(const Array& done) {
    const Array leaving = positions(done), kept = positions(done.logical_not());
    put(result_, numbers(rows_.index_select(0, leaving)), best_.index_select(0, leaving));
    problem_ = problem_.at(kept);
    for (Array* array : {&rows_, &base_, &origin_, &best_, &change_, &first_, &second_, &constant_, &lower_,
                         &upper_, &least_, &loss_, &found_, &iteration_, &search_}) {
      *array = array->index_select(0, kept);
    }
  }

  const Settings& settings_;
  AttackProblem problem_;
  Array result_;
  Array rows_;                     // [n] where the record is in the batch
  Array base_, origin_, best_;     // [n, record...] in the space of artanh; its point; nearest success
  Array change_, first_, second_;  // [n, record...] what is searched for; Adam's moments
  Array constant_, lower_, upper_, least_, loss_;  // [n]
  Array found_, iteration_, search_;               // [n] whether this search succeeded; where each record is
};

class CarliniWagner final : public Attack {
 public:
  explicit CarliniWagner(const SpecOptions& options)
      : settings_{options.number("confidence", 0), options.number("rate", 0),
                  options.number("constant", 0),   options.count("search", 1),
                  options.count("iterations", 1),  options.word("abort", yes_no) == "yes"} {}

  Array perturb(const AttackedNetwork& network, const AttackProblem& problem) const override {
    return Searches(settings_, problem).run(network);
  }

 private:
  inline static const std::vector<std::string> yes_no{"yes", "no"};
  Settings settings_;
};

}  // namespace

AttackInfo cw_attack() {
  return {
      .name = "cw",
      .summary =
          "Carlini and Wagner's L2 attack: the smallest change, by optimisation and a search for the right "
          "constant",
      .definition =
          "x' = (tanh(artanh(0.999999 (2x - 1)) + d) + 1) / 2; Adam minimises |x' - x|^2 + c * max(0, Z_y - "
          "max of the others + confidence) (with a target: max of the others - Z_t) over d from 0. A search "
          "ends after `iterations`, or when the loss has not fallen by 1/10000 since the last tenth of them "
          "(abort), unless all elements that would change are at ends of their range, "
          "where the tanh is flat. c is halved between bounds after success, multiplied by 10 until there is "
          "one. The nearest success of all searches is the result; without any it is the record itself.",
      .limits =
          "Up to search * iterations passes per record. Distances near the smallest are found, not proven.",
      .paper = "Carlini, Wagner, Towards Evaluating the Robustness of Neural Networks, S&P 2017",
      .options = {{"confidence", "0", "by how much the scores must differ"},
                  {"rate", "0.005", "learning rate of Adam"},
                  {"search", "5", "searches for the constant"},
                  {"iterations", "1000", "most iterations of a search"},
                  {"constant", "0.01", "first constant"},
                  {"abort", "yes", "end a search that makes no progress: yes or no"}},
      .make = [](const SpecOptions& options) -> std::unique_ptr<Attack> {
        return std::make_unique<CarliniWagner>(options);
      }};
}

}  // namespace assay::attack
