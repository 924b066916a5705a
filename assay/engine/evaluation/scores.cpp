#include "assay/engine/evaluation/scores.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <assay/error.h>
#include <assay/extend/operator_traits.h>
#include <assay/model.h>
#include <assay/threshold.h>
#include "assay/engine/evaluation/rows.h"
#include "assay/model/element_type.h"

namespace assay::inline engine {
namespace {

using ScalarFunction = std::function<double(double)>;

// A node as an element-wise function of one operand: increasing everywhere, or decreasing.
struct Step {
  ValueId from = no_value;
  bool falls = false;
  bool bends = false;            // more than scaling, shifting and clipping
  ScalarFunction function = {};  // of each element; empty where it differs by record
};

struct Bend {
  std::string_view op;
  double (*function)(double);
};

constexpr std::array<Bend, 11> bends{{{"Sigmoid", [](double x) { return 1 / (1 + std::exp(-x)); }},
                                      {"Tanh", [](double x) { return std::tanh(x); }},
                                      {"Softsign", [](double x) { return x / (1 + std::abs(x)); }},
                                      {"Atan", [](double x) { return std::atan(x); }},
                                      {"Erf", [](double x) { return std::erf(x); }},
                                      {"Exp", [](double x) { return std::exp(x); }},
                                      {"Log", [](double x) { return std::log(x); }},
                                      {"Sqrt", [](double x) { return std::sqrt(x); }},
                                      {"Softplus", [](double x) { return std::log1p(std::exp(x)); }},
                                      {"Asinh", [](double x) { return std::asinh(x); }},
                                      {"Sinh", [](double x) { return std::sinh(x); }}}};

class StepFinder {
 public:
  // `several`: rows have several classes, so that what is one number for a record keeps their order.
  StepFinder(const DecisionRows& rows, bool several) : rows_(rows), several_(several) {}

  std::optional<Step> at(const Node& node) const {
    if (node.inputs.empty() || node.inputs[0] == no_value) return std::nullopt;
    const ValueId from = node.inputs[0];
    if (rows_.passes_through(node) || takes_one_of_one(node)) return Step{.from = from, .function = same};
    if (several_ && (is_softmax(node.op) || node.op == "Hardmax") && rows_.is_over_rows(node))
      return Step{.from = from, .bends = true};
    if (several_ && node.op == "LpNormalization" && rows_.is_over_rows(node)) return Step{.from = from};
    if (node.op == "HardSigmoid") {
      const double alpha = node.real("alpha", 0.2F), beta = node.real("beta", 0.5F);
      return Step{.from = from, .bends = true, .function = [=](double x) {
                    return std::clamp(alpha * x + beta, 0.0, 1.0);
                  }};
    }
    const auto bend = std::ranges::find(bends, node.op, &Bend::op);
    if (bend != bends.end()) return Step{.from = from, .bends = true, .function = bend->function};
    if (node.op == "Neg") return Step{.from = from, .falls = true, .function = [](double x) { return -x; }};
    if (node.op == "Clip") return clipped(node);
    if (node.op == "Reciprocal") return inverse(from, 1);
    return node.inputs.size() == 2 ? of_two(node) : std::nullopt;
  }

 private:
  static double same(double x) { return x; }

  // The only element of a record.
  bool takes_one_of_one(const Node& node) const {
    const bool moves = has_trait(node.op, Trait::reshapes) || node.op == "Transpose" || node.op == "Gather" ||
                       node.op == "Slice";
    return !several_ && moves && rows_.holds_rows(node.inputs[0]) && rows_.width(node.inputs[0]) == 1;
  }

  std::optional<Step> clipped(const Node& node) const {
    double low = node.real("min", -std::numeric_limits<float>::infinity()),
           high = node.real("max", std::numeric_limits<float>::infinity());
    for (std::size_t i = 1; i < node.inputs.size(); ++i) {
      if (node.inputs[i] == no_value) continue;
      const auto bound = rows_.constant(node.inputs[i]);
      if (!bound) return std::nullopt;
      (i == 1 ? low : high) = *bound;
    }
    return Step{.from = node.inputs[0],
                .function = [=](double x) { return std::min(std::max(x, low), high); }};
  }

  // The other operand, if it does not change the order: a number, or nullopt for one number a record.
  struct Other {
    bool fits = false;
    std::optional<double> number;
  };
  Other other(ValueId id) const {
    const auto number = rows_.constant(id);
    return {number.has_value() || (several_ && rows_.one_per_record(id)), number};
  }

  std::optional<Step> of_two(const Node& node) const {
    constexpr std::array<std::string_view, 8> all{"Add", "Sub", "Mul", "Div", "Max", "Min", "Pow", "Sum"};
    if (std::ranges::find(all, node.op) == all.end()) return std::nullopt;
    const ValueId a = node.inputs[0], b = node.inputs[1];
    if (a == no_value || b == no_value) return std::nullopt;
    if (const Other second = other(b); second.fits) return with_second(node, a, b, second.number);
    if (const Other first = other(a); first.fits) return with_first(node, a, b, first.number);
    return std::nullopt;
  }

  std::optional<Step> with_second(const Node& node, ValueId from, ValueId by, std::optional<double> c) const {
    if (node.op == "Sub") return shifted(from, false, c ? std::optional(-*c) : c);
    if (node.op == "Div") return scaled(from, by, c ? std::optional(1 / *c) : c);
    if (node.op == "Pow")
      return c && *c > 0 && rows_.is_negative_nowhere(from)
                 ? std::optional(Step{.from = from,
                                      .bends = true,
                                      .function = [p = *c](double x) { return std::pow(x, p); }})
                 : std::nullopt;
    return with_first(node, by, from, c);
  }

  // Of Add, Mul, Max and Min the operands may change places.
  std::optional<Step> with_first(const Node& node, ValueId by, ValueId from, std::optional<double> c) const {
    if (node.op == "Add" || node.op == "Sum") return shifted(from, false, c);
    if (node.op == "Sub") return shifted(from, true, c);
    if (node.op == "Mul") return scaled(from, by, c);
    if (node.op == "Div") return c ? inverse(from, *c) : std::nullopt;
    if (node.op != "Max" && node.op != "Min") return std::nullopt;
    if (!c) return std::nullopt;
    if (node.op == "Max")
      return Step{.from = from, .function = [c = *c](double x) { return std::max(x, c); }};
    return Step{.from = from, .function = [c = *c](double x) { return std::min(x, c); }};
  }

  // Taking another number from each record's scores is what a softmax does inside.
  static Step shifted(ValueId from, bool falls, std::optional<double> c) {
    const double sign = falls ? -1 : 1;
    return {.from = from,
            .falls = falls,
            .bends = !c,
            .function = c ? ScalarFunction([=](double x) { return sign * x + *c; }) : ScalarFunction()};
  }

  std::optional<Step> scaled(ValueId from, ValueId by, std::optional<double> c) const {
    if (!c) return rows_.is_negative_nowhere(by) ? std::optional(Step{.from = from}) : std::nullopt;
    if (!(*c != 0) || !std::isfinite(*c)) return std::nullopt;
    return Step{.from = from, .falls = *c < 0, .function = [c = *c](double x) { return c * x; }};
  }

  std::optional<Step> inverse(ValueId from, double c) const {
    if (c == 0 || !rows_.is_negative_nowhere(from)) return std::nullopt;
    return Step{.from = from, .falls = c > 0, .function = [=](double x) { return c / x; }};
  }

  const DecisionRows& rows_;
  bool several_;
};

// The last step first.
double value_at(const std::vector<ScalarFunction>& steps, double x) {
  for (std::size_t i = steps.size(); i-- > 0;) x = steps[i](x);
  return x;
}

// A value, and what computes the decision value of it, where that is a function of single numbers.
struct Start {
  ValueId value = no_value;
  std::vector<ScalarFunction> functions = {};
};

// As far back as an order of scores, or the side of the threshold that a single one is on, is that of the
// decision value, and something bends them in between.
Start before_bends(const DecisionRows& rows, ValueId decision, bool several, double threshold) {
  constexpr double rounding = 1e-6;
  const StepFinder finder(rows, several);
  Start found{.value = decision};
  ValueId id = decision;
  bool falls = false, bent = false;
  std::vector<ScalarFunction> functions;
  for (const Node* node = rows.producer(id); node != nullptr; node = rows.producer(id)) {
    const std::optional<Step> step = finder.at(*node);
    if (!step || !rows.holds_rows(step->from)) break;
    id = step->from;
    falls ^= step->falls;
    bent |= step->bends;
    functions.push_back(step->function);
    if (falls || !bent) continue;
    if (!several && std::abs(value_at(functions, 0) - threshold) > rounding) continue;
    found = {id, functions};
    bent = false;
  }
  return found;
}

std::vector<ValueInfo> infos_of(const Session& session) {
  const Graph& graph = session.graph();
  const std::vector<DType> types = element_types(graph);
  std::vector<ValueInfo> infos(graph.values().size());
  for (const ValueId id : graph.value_ids()) {
    const Session::RecordAxis at = session.record_axis(id);
    ValueInfo& info = infos[index_of(id)];
    info.shape = session.shape(id);
    info.computed = true;
    info.floating = is_real(types[index_of(id)]);
    info.batch_axis = at.axis;
    info.batch_multiple = at.rows;
  }
  return infos;
}

// The greatest number that a function which nowhere falls does not take above the limit.
std::optional<double> last_within(const std::vector<ScalarFunction>& steps, double limit) {
  constexpr double rounding = 1e-9;
  double low = -1e4, high = 1e4;
  if (value_at(steps, low) > limit || !(value_at(steps, high) > limit)) return std::nullopt;
  for (double middle = 0; low < middle && middle < high; middle = (low + high) / 2)
    (value_at(steps, middle) > limit ? high : low) = middle;
  if (std::abs(value_at(steps, low) - limit) > rounding * std::max(1.0, std::abs(limit))) return std::nullopt;
  return low;
}

struct Found {
  DecisionScores scores;
  std::vector<ScalarFunction> functions = {};  // from one score to the decision value
};

Found found_scores(const Session& session) {
  const ValueId decision = session.logits();
  const double threshold = session.ends_in_sigmoid() ? 0.5 : 0;
  const std::vector<ValueInfo> infos = infos_of(session);
  const DecisionRows rows(session.graph(), infos);
  if (!rows.holds_rows(decision)) return {.scores = {.value = decision}};
  const bool several = rows.width(decision) != 1;
  Start start = before_bends(rows, decision, several, threshold);
  return {.scores = {.value = start.value,
                     .threshold = several || start.value != decision ? 0 : threshold,
                     .single = !several},
          .functions = several ? std::vector<ScalarFunction>() : std::move(start.functions)};
}

// Of one number a record: the score at which the decision value is that. Nothing where it is nowhere.
std::optional<double> score_where(const Found& found, double decision) {
  return found.functions.empty() ? decision : last_within(found.functions, decision);
}

// Of the decision value, where class 1 is to begin.
double limit_of(const Session& session, const Threshold& threshold) {
  const bool probability = session.ends_in_sigmoid();
  if ((probability || !threshold.of_score) && !(threshold.value > 0 && threshold.value < 1))
    fail(Fault::usage, "threshold {:g}: a probability is between 0 and 1{}", threshold.value,
         probability ? "; give one in between"
                     : "; give one in between, or add of=score for one of the score itself");
  return probability || threshold.of_score ? threshold.value
                                           : std::log(threshold.value) - std::log1p(-threshold.value);
}

// A number that a node adds to its result.
struct Bias {
  ValueId constant = no_value;
  float sign = 1;
};

// The one of a node that has one of its own, for one score a record.
std::optional<Bias> bias_of(const Graph& graph, const Node& node) {
  std::vector<std::size_t> places;
  if ((node.op == "Gemm" && node.real("beta", 1) == 1) || node.op == "Conv") places = {2};
  if (node.op == "Add") places = {0, 1};
  if (node.op == "Sub") places = {1};
  for (const std::size_t place : places) {
    if (place >= node.inputs.size() || !graph.is_constant(node.inputs[place])) continue;
    const ValueId constant = node.inputs[place];
    const Array& array = graph.constant(constant);
    if (array.count() == 1 && array.dtype() == DType::float32 && graph.consumers(constant).size() == 1)
      return Bias{constant, node.op == "Sub" ? -1.0F : 1.0F};
  }
  return std::nullopt;
}

// What computes the value, past nodes that give it another shape.
const Node* computed_by(const Graph& graph, ValueId value) {
  for (NodeId n = graph.producer(value); n != no_node; n = graph.producer(value)) {
    const Node& node = graph.node(n);
    if (node.op != "Identity" && !has_trait(node.op, Trait::reshapes)) return &node;
    value = node.inputs[0];
  }
  return nullptr;
}

Graph shifted(const Graph& graph, ValueId score, float shift, std::string notice, FileForm& form) {
  GraphBuilder edit(graph);
  edit.notice(std::move(notice));
  const Node* const last = computed_by(graph, score);
  if (const std::optional<Bias> bias = last == nullptr ? std::nullopt : bias_of(graph, *last)) {
    form.shifted = graph.value(bias->constant).name;
    form.there = graph.constant(bias->constant);
    form.running = Array::of<float>(form.there.shape(),
                                    std::vector<float>{form.there.item<float>() + bias->sign * shift});
    edit.replace_constant(bias->constant, form.running);
    return edit.build();
  }
  form.shifting = edit.unused_name(graph.value(score).name + "/shifted");
  const ValueId by = edit.constant(edit.unused_name(graph.value(score).name + "/shift"),
                                   Array::of<float>({}, std::vector<float>{shift}));
  edit.insert_after(score, "Add", form.shifting, {by});
  return edit.build();
}

}  // namespace

DecisionScores scores_of(const Session& session) { return found_scores(session).scores; }

std::string Threshold::describe() const {
  return fmt::format("the {} {:g}", of_score ? "score" : "probability", value);
}

Graph with_threshold(const Session& session, const Threshold& threshold, FileForm& form) {
  const Graph& graph = session.graph();
  const Found found = found_scores(session);
  const DecisionScores& scores = found.scores;
  if (!scores.single)
    fail(Fault::usage,
         "network '{}' does not give one score a record, and a threshold is for one; leave the threshold out",
         graph.name());
  const double limit = limit_of(session, threshold);
  if (scores.value == session.logits() && session.ends_in_sigmoid())
    fail(Fault::unsupported,
         "network '{}' gives a probability that does not come from one score, which could be shifted; name "
         "the task labels[threshold={:g}] and give y as floating-point numbers 0 and 1",
         graph.name(), threshold.value);
  const std::optional<double> begin = score_where(found, limit);
  if (!begin)
    fail(Fault::usage,
         "threshold {:g}: it is not among the values that network '{}' makes of its score, so that all "
         "records "
         "would be of one class; give one in between",
         threshold.value, graph.name());
  return shifted(
      graph, scores.value, static_cast<float>(scores.threshold - *begin),
      fmt::format("class 1 begins above {}: the score of network '{}' is shifted to that, and so are the "
                  "scores and probabilities that are reported",
                  threshold.describe(), graph.name()),
      form);
}

}  // namespace assay::inline engine
