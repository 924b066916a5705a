#include <assay/mutation.h>

#include <algorithm>
#include <cmath>
#include <map>

#include <assay/extend/random.h>

namespace assay::mutation {
namespace {

constexpr std::size_t most_item_classes = 1000;  // of which there are figures

bool of_items(const MutationState& state) { return !state.task().empty(); }

// That have figures of their own.
std::size_t classes_with_figures(const MutationState& state) {
  if (!of_items(state)) return state.classes();
  return state.class_names.size() > most_item_classes ? 0 : state.class_names.size();
}

void count_killed_items(const MutationState& state, const MutantOutcome& mutant, MutantScore& result) {
  for (const auto& [of_class, killed] : mutant.killed_of) {
    const std::size_t c = of_class;
    if (c >= result.by_class.size()) continue;
    for (std::size_t r = 0; r < state.records().size(); ++r)
      result.by_class[c] += state.records()[r].judged && killed[r];
  }
}

MutantScore judge(const MutationState& state, const MutantOutcome& mutant, std::size_t judged,
                  const ScoreOptions& options) {
  MutantScore result;
  result.by_class.assign(classes_with_figures(state), 0);
  for (std::size_t r = 0; r < state.records().size(); ++r) {
    const MutationRecord& record = state.records()[r];
    if (!record.judged || !mutant.known[r]) continue;
    ++result.ran;
    if (!mutant.killed[r]) continue;
    ++result.killers;
    if (!of_items(state)) ++result.by_class[record.expected];
  }
  result.killed_classes = of_items(state) ? (result.killers > 0 ? 1 : 0)
                                          : static_cast<std::size_t>(std::ranges::count_if(
                                                result.by_class, [](std::size_t n) { return n > 0; }));
  if (of_items(state)) count_killed_items(state, mutant, result);
  result.error_rate = result.ran == 0 ? 0 : static_cast<double>(result.killers) / result.ran;
  const double least = judged == 0 ? 0 : static_cast<double>(result.killers) / judged;
  result.uncounted = mutant.killable.has_value() && !*mutant.killable;
  if (result.uncounted || least > options.quality) {
    result.status = MutantStatus::excluded;  // however the records that did not run would have answered
  } else if (result.ran < judged) {
    result.status = MutantStatus::incomplete;
  } else {
    result.status = result.killers > 0 ? MutantStatus::killed : MutantStatus::survived;
  }
  result.looks_equivalent = result.killers == 0 && result.ran > 0 && mutant.change <= options.unchanged;
  result.trivial = result.ran > 0 && result.error_rate >= options.trivial;
  result.unstable = result.killers > 0 && mutant.decisiveness < options.indecisive;
  return result;
}

bool counts(const MutantScore& mutant) {
  return mutant.status == MutantStatus::killed || mutant.status == MutantStatus::survived;
}

// Percentiles of the mean of `values` drawn with replacement.
std::pair<double, double> interval(const std::vector<double>& values, const ScoreOptions& options) {
  std::vector<double> means;
  for (std::size_t b = 0; b < options.resamples; ++b) {
    Rng rng(options.seed, {b});
    double sum = 0;
    for (std::size_t i = 0; i < values.size(); ++i) sum += values[rng.below(values.size())];
    means.push_back(sum / values.size());
  }
  std::ranges::sort(means);
  const auto at = [&](double share) { return means[std::lround(share * (means.size() - 1))]; };
  return {at(0.025), at(0.975)};
}

GroupScore group(const std::string& name, const std::vector<const MutantScore*>& mutants, std::size_t classes,
                 const ScoreOptions& options) {
  GroupScore result;
  result.name = name;
  std::vector<double> shares;
  double errors = 0;
  for (const MutantScore* mutant : mutants) {
    ++result.mutants;
    result.killed += mutant->status == MutantStatus::killed;
    result.survived += mutant->status == MutantStatus::survived;
    result.excluded += mutant->status == MutantStatus::excluded;
    result.uncounted += mutant->uncounted;
    result.incomplete += mutant->status == MutantStatus::incomplete;
    if (!counts(*mutant)) continue;
    result.killed_classes += mutant->killed_classes;
    result.coverable += classes;
    shares.push_back(static_cast<double>(mutant->killed_classes) / classes);
    errors += mutant->error_rate;
  }
  if (shares.empty()) return result;
  result.score = static_cast<double>(result.killed_classes) / result.coverable;
  result.error_rate = errors / shares.size();
  if (shares.size() > 1 && options.resamples > 0)
    std::tie(result.low, result.high) = interval(shares, options);
  return result;
}

std::vector<GroupScore> grouped(const MutationState& state, const MutationScore& result,
                                const ScoreOptions& options, const auto& name) {
  std::map<std::string, std::vector<const MutantScore*>> groups;
  std::vector<std::string> order;
  for (std::size_t i = 0; i < result.mutants.size(); ++i) {
    auto& list = groups[name(state.mutants()[i])];
    if (list.empty()) order.push_back(name(state.mutants()[i]));
    list.push_back(&result.mutants[i]);
  }
  std::vector<GroupScore> scores;
  for (const std::string& key : order) scores.push_back(group(key, groups[key], state.classes(), options));
  return scores;
}

std::vector<ClassScore> by_class(const MutationState& state, const MutationScore& result) {
  std::vector<ClassScore> classes(classes_with_figures(state));
  for (std::size_t c = 0; c < classes.size(); ++c) classes[c].number = c;
  for (const MutationRecord& record : state.records()) {
    if (!record.judged) continue;
    if (!of_items(state)) ++classes[record.expected].records;
    for (const std::int64_t c : record.item_classes) {
      if (static_cast<std::size_t>(c) < classes.size()) ++classes[c].records;
    }
  }
  std::size_t counted = 0;
  std::vector<double> errors(classes.size());
  for (const MutantScore& mutant : result.mutants) {
    if (!counts(mutant)) continue;
    ++counted;
    for (std::size_t c = 0; c < classes.size(); ++c) {
      classes[c].killed += mutant.by_class[c] > 0;
      if (classes[c].records > 0) errors[c] += static_cast<double>(mutant.by_class[c]) / classes[c].records;
    }
  }
  for (std::size_t c = 0; c < classes.size(); ++c) {
    classes[c].coverable = counted * state.classes();
    if (counted == 0 || classes[c].records == 0) continue;
    classes[c].score = static_cast<double>(classes[c].killed) / classes[c].coverable;
    classes[c].error_rate = errors[c] / counted;
  }
  return classes;
}

}  // namespace

std::string to_string(MutantStatus status) {
  switch (status) {
    case MutantStatus::killed:
      return "killed";
    case MutantStatus::survived:
      return "survived";
    case MutantStatus::excluded:
      return "excluded";
    case MutantStatus::incomplete:
      break;
  }
  return "incomplete";
}

MutationScore score(const MutationState& state, const ScoreOptions& options) {
  MutationScore result;
  result.records = state.records().size();
  result.judged = state.judged();
  for (const MutantOutcome& mutant : state.mutants())
    result.mutants.push_back(judge(state, mutant, result.judged, options));
  std::vector<const MutantScore*> everyone;
  for (const MutantScore& mutant : result.mutants) everyone.push_back(&mutant);
  result.all = group("all", everyone, state.classes(), options);
  result.by_operator = grouped(state, result, options, [](const MutantOutcome& mutant) { return mutant.op; });
  result.by_layer = grouped(state, result, options, [](const MutantOutcome& mutant) {
    return mutant.layer.empty() ? std::string("whole network") : mutant.layer;
  });
  result.by_class = by_class(state, result);
  for (std::size_t r = 0; r < state.records().size(); ++r) {
    if (!state.records()[r].judged) continue;
    bool kills = false;
    for (std::size_t m = 0; m < result.mutants.size() && !kills; ++m)
      kills = counts(result.mutants[m]) && state.mutants()[m].killed[r];
    if (!kills) result.idle.push_back(r);
  }
  return result;
}

selection::Cover killing_subset(const MutationState& state, const MutationScore& score) {
  selection::CoveredRows rows;
  std::map<std::pair<std::size_t, std::int64_t>, std::uint32_t>
      items;  // mutant and class, numbered as they come
  for (std::size_t r = 0; r < state.records().size(); ++r) {
    const MutationRecord& record = state.records()[r];
    std::vector<std::uint32_t> row;
    for (std::size_t m = 0; record.judged && m < score.mutants.size(); ++m) {
      if (!counts(score.mutants[m]) || !state.mutants()[m].killed[r]) continue;
      row.push_back(items.emplace(std::pair(m, record.expected), static_cast<std::uint32_t>(items.size()))
                        .first->second);
    }
    rows.add(row);
  }
  return selection::minimise(rows);
}

}  // namespace assay::mutation
