#include <assay/monitor.h>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include <assay/error.h>
#include <assay/evaluate.h>
#include "assay/monitor/features.h"
#include "assay/monitor/score_graph.h"
#include "assay/support/text/text.h"

namespace assay::monitor {
namespace {

constexpr std::array<std::pair<Score, const char*>, 4> score_names{
    {{Score::max_logit, "max-logit"}, {Score::energy, "energy"}, {Score::mdsa, "mdsa"}, {Score::dsa, "dsa"}}};

// The least number that the share of further records above it is at most `share`, on average: of n scores the
// one of rank ceil((n + 1) (1 - share)).
double threshold_of(std::vector<double> found, double share) {
  const double n = found.size();
  const double rank = std::ceil((n + 1) * (1 - share));
  if (rank > n)
    fail(Fault::data,
         "{} calibration records are too few for {} of false alarms: at least {} are needed; take more of "
         "them or allow more false alarms",
         found.size(), share, std::ceil(1 / share) - 1);
  const auto place = found.begin() + static_cast<std::ptrdiff_t>(std::max(1.0, rank) - 1);
  std::ranges::nth_element(found, place);
  return *place;
}

}  // namespace

Score parse_score(const std::string& name) {
  std::vector<std::string> names;
  for (const auto& [score, text] : score_names) {
    if (name == text) return score;
    names.emplace_back(text);
  }
  fail(Fault::usage, "there is no score '{}'; there are {}{}", name, joined(names),
       did_you_mean(name, names));
}

std::string to_string(Score score) {
  return std::ranges::find(score_names, score, [](const auto& one) { return one.first; })->second;
}

std::vector<double> scores_of(const Session& monitor, const DatasetPtr& dataset, std::size_t batch,
                              Progress& progress) {
  const ValueId score = *monitor.graph().find_value(score_name);
  std::vector<double> found;
  walk(monitor, dataset, {.batch = batch, .stage = "monitoring"}, progress,
       [&](const Batch&, const Tensors& given) {
         const Array values =
             monitor.run(given, std::span(&score, 1)).at(score).to(DType::float64).contiguous();
         found.insert(found.end(), values.as<double>().begin(), values.as<double>().end());
       });
  return found;
}

Monitor make_monitor(const Session& session, const DatasetPtr& training, const DatasetPtr& calibration,
                     const MonitorOptions& options, Progress& progress) {
  if (class_count(session) < 2)
    fail(Fault::unsupported, "monitors are for networks with scores of classes, and '{}' has none",
         session.graph().name());
  Monitor made;
  made.options = options;
  made.classes = class_count(session);
  if (options.score == Score::mdsa) fit_distance(made, session, training, progress);
  if (options.score == Score::dsa) fit_references(made, session, training, progress);
  // The threshold does not change the score.
  made.graph = with_score(session, made);
  std::vector<double> found =
      scores_of(Session(made.graph, session.options()), calibration, options.batch, progress);
  std::erase_if(found, [](double one) { return std::isnan(one); });
  made.calibration_records = found.size();
  made.threshold = threshold_of(std::move(found), options.false_alarms);
  if (!std::isfinite(made.threshold))
    fail(Fault::data,
         "more than {} of the {} calibration records are of classes that no training record has, whose score "
         "is "
         "infinite; take training records of all classes or allow more false alarms",
         options.false_alarms, made.calibration_records);
  made.graph = with_score(session, made);
  return made;
}

double auroc(std::span<const double> usual, std::span<const double> foreign) {
  std::vector<double> sorted(usual.begin(), usual.end());
  std::ranges::sort(sorted);
  double sum = 0;
  for (const double one : foreign) {
    const auto [first, last] = std::ranges::equal_range(sorted, one);
    sum += static_cast<double>(first - sorted.begin()) + 0.5 * (last - first);
  }
  return sum / (static_cast<double>(usual.size()) * foreign.size());
}

Detection detection_of(const std::string& name, std::span<const double> foreign,
                       std::span<const double> usual, double threshold) {
  // A score that is not a number is an alarm, as in the network.
  const auto alarms = std::ranges::count_if(foreign, [&](double one) { return !(one <= threshold); });
  return {.name = name,
          .records = foreign.size(),
          .alarms = static_cast<std::size_t>(alarms),
          .auroc = foreign.empty() ? 0.5 : auroc(usual, foreign)};
}

}  // namespace assay::monitor
