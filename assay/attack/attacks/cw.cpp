// Carlini and Wagner's attack: the smallest change in L2 that moves the scores as wanted.

#include <ATen/ATen.h>

#include <cmath>
#include <limits>

#include <assay/attack.h>
#include <assay/extend/attack_problem.h>
#include "assay/attack/objective.h"

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
    const auto numbers = problem.inputs.options();
    rows_ = at::arange(n, problem.labels.options());
    base_ = at::atanh(0.999999 * (2 * problem.inputs - 1));
    origin_ = (at::tanh(base_) + 1) / 2;
    best_ = problem.inputs.clone();
    change_ = at::zeros_like(base_);
    first_ = at::zeros_like(base_);
    second_ = at::zeros_like(base_);
    constant_ = at::full({n}, settings.constant, numbers);
    lower_ = at::zeros({n}, numbers);
    upper_ = at::full({n}, unknown, numbers);
    least_ = at::full({n}, std::numeric_limits<float>::infinity(), numbers);
    loss_ = at::full({n}, no_loss, numbers);
    found_ = at::zeros({n}, numbers.dtype(at::kBool));
    iteration_ = at::zeros({n}, numbers.dtype(at::kLong));
    search_ = at::zeros({n}, numbers.dtype(at::kLong));
  }

  Tensor run(const AttackedNetwork& network) {
    while (problem_.size() > 0) iterate(network);
    return result_;
  }

 private:
  void iterate(const AttackedNetwork& network) {
    const Tensor tanh = at::tanh(base_ + change_), point = (tanh + 1) / 2;
    const AttackedNetwork::Objective objective = hinge_of_margin(problem_, constant_, settings_.confidence);
    const auto slopes = network.slopes(problem_, point, std::span(&objective, 1));
    const Tensor hinge = constant_ * (margin(problem_, slopes.scores) + settings_.confidence).clamp_min(0);
    const Tensor away = point - origin_, distance = away.flatten(1).square().sum(1);
    const Tensor wanted = slopes.gradients[0] + 2 * away, gradient = wanted * (1 - tanh * tanh) / 2;
    const Tensor stop = stopping(distance + hinge, held_at_ends(wanted, gradient));
    note(point, distance, slopes.scores, stop.logical_not());
    iteration_ += 1;
    step(gradient);
    const Tensor ended = stop.logical_or(iteration_.ge(static_cast<std::int64_t>(settings_.iterations)));
    if (ended.any().item<bool>()) next_search(ended);
  }

  // Records whose elements are where the tanh is flat, at the ends of their range: a step hardly moves them,
  // so that the loss does not say yet whether the search makes progress.
  static Tensor held_at_ends(const Tensor& wanted, const Tensor& gradient) {
    constexpr double flat = 1e-3;
    return gradient.flatten(1).abs().amax(1).lt(flat * wanted.flatten(1).abs().amax(1));
  }

  // Records whose loss has not fallen by a ten-thousandth since the last check, though they can move.
  Tensor stopping(const Tensor& loss, const Tensor& held) {
    const auto every = static_cast<std::int64_t>(std::max<std::size_t>(1, settings_.iterations / 10));
    const Tensor due = iteration_.remainder(every).eq(0);
    if (!settings_.abort) return at::zeros_like(due);
    const Tensor stop = due.logical_and(loss.gt(0.9999 * loss_)).logical_and(held.logical_not());
    loss_ = at::where(due, loss, loss_);
    return stop;
  }

  // Remembers the nearest points that are what is wanted, by the confidence asked for.
  void note(const Tensor& point, const Tensor& distance, const Tensor& scores, const Tensor& counted) {
    const Tensor won = succeeds(scores).logical_and(counted);
    found_ = found_.logical_or(won);
    const Tensor nearer = won.logical_and(distance.lt(least_));
    least_ = at::where(nearer, distance, least_);
    best_ = at::where(per_record(nearer, point), point, best_);
  }

  Tensor succeeds(const Tensor& scores) const {
    if (settings_.confidence == 0) return AttackedNetwork::won(problem_, scores);
    const Tensor index = (problem_.targeted() ? problem_.targets : problem_.labels).unsqueeze(1);
    const double handicap = problem_.targeted() ? -settings_.confidence : settings_.confidence;
    return AttackedNetwork::won(
        problem_, scores.scatter_add(1, index, at::full_like(index, handicap, scores.options())));
  }

  // Adam, each record at its own iteration.
  void step(const Tensor& gradient) {
    first_.mul_(beta1).add_(gradient, 1 - beta1);
    second_.mul_(beta2).addcmul_(gradient, gradient, 1 - beta2);
    const Tensor time = iteration_.to(at::kDouble);
    const Tensor rate = settings_.rate * (1 - at::pow(beta2, time)).sqrt() / (1 - at::pow(beta1, time));
    change_.sub_(per_record(rate.to(at::kFloat), change_) * first_ / (second_.sqrt() + epsilon));
  }

  // New constants for the records in `ended`; those with all searches done leave.
  void next_search(const Tensor& ended) {
    upper_ = at::where(ended.logical_and(found_), at::minimum(upper_, constant_), upper_);
    lower_ = at::where(ended.logical_and(found_.logical_not()), at::maximum(lower_, constant_), lower_);
    const Tensor next = at::where(upper_.lt(known), (lower_ + upper_) / 2, constant_ * 10);
    constant_ = at::where(ended, next, constant_);
    search_ = search_ + ended.to(at::kLong);
    if (settings_.searches >= many_searches) use_greatest_constant();
    iteration_ = at::where(ended, at::zeros_like(iteration_), iteration_);
    loss_ = at::where(ended, at::full_like(loss_, no_loss), loss_);
    found_ = found_.logical_and(ended.logical_not());
    const Tensor going_on = per_record(ended.logical_not().to(at::kFloat), change_);
    for (Tensor* tensor : {&change_, &first_, &second_}) tensor->mul_(going_on);
    const Tensor done = search_.ge(static_cast<std::int64_t>(settings_.searches));
    if (done.any().item<bool>()) leave(done);
  }

  // The last of many searches tries the greatest constant there is.
  void use_greatest_constant() {
    constant_ = at::where(search_.eq(static_cast<std::int64_t>(settings_.searches) - 1), upper_, constant_);
  }

  void leave(const Tensor& done) {
    const Tensor leaving = positions(done), kept = positions(done.logical_not());
    result_.index_copy_(0, rows_.index_select(0, leaving), best_.index_select(0, leaving));
    problem_ = problem_.at(kept);
    for (Tensor* tensor : {&rows_, &base_, &origin_, &best_, &change_, &first_, &second_, &constant_, &lower_,
                           &upper_, &least_, &loss_, &found_, &iteration_, &search_}) {
      *tensor = tensor->index_select(0, kept);
    }
  }

  const Settings& settings_;
  AttackProblem problem_;
  Tensor result_;
  Tensor rows_;                     // [n] where the record is in the batch
  Tensor base_, origin_, best_;     // [n, record...] in the space of artanh; its point; nearest success
  Tensor change_, first_, second_;  // [n, record...] what is searched for; Adam's moments
  Tensor constant_, lower_, upper_, least_, loss_;  // [n]
  Tensor found_, iteration_, search_;               // [n] whether this search succeeded; where each record is
};

class CarliniWagner final : public Attack {
 public:
  explicit CarliniWagner(const SpecOptions& options)
      : settings_{options.number("confidence", 0), options.number("rate", 0),
                  options.number("constant", 0),   options.count("search", 1),
                  options.count("iterations", 1),  options.word("abort", yes_no) == "yes"} {}

  Tensor perturb(const AttackedNetwork& network, const AttackProblem& problem) const override {
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
          "max of the others + confidence) (with a "
          "target: max of the others - Z_t) over d from 0. A search ends after `iterations`, or when the "
          "loss has not fallen by 1/10000 since "
          "the last tenth of them (abort), unless all elements that would change are at ends of their range, "
          "where the tanh is flat. c is halved between bounds after success, multiplied by 10 until "
          "there is one. The nearest "
          "success of all searches is the result; without any it is the record itself.",
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
