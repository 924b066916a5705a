#pragma once

// What analyses found, as result documents: tables, facts and definitions that every rendering shows
// (<assay/report.h>), and measurements for gates (<assay/gate.h>).

#include <span>
#include <string>
#include <vector>

#include <assay/attack.h>
#include <assay/coverage.h>
#include <assay/dataset.h>
#include <assay/evaluate.h>
#include <assay/gate.h>
#include <assay/graph.h>
#include <assay/mutation.h>
#include <assay/relevance.h>
#include <assay/report.h>
#include <assay/retraining.h>
#include <assay/robustness.h>
#include <assay/training.h>

namespace assay::results {

// The score, by class, and what is confused most often.
report::Document document_of(const Evaluation& evaluation, const Graph& network, const Dataset& data);

// Neurons by relevance, at most `top` per layer, and how many hold `share` of it. REQUIRES at least one
// layer.
report::Document document_of(const relevance::Importance& importance, const Session& session,
                             const relevance::ImportanceOptions& options, double share, std::size_t top);

// Facts beyond the figures.
struct CoverageDetails {
  const Dataset* test = nullptr;  // walked last: tells ids and pictures of its records; null: no records
  const coverage::Observations* seen = nullptr;  // of that walk, with `test`: neurons, histograms, growth and
                                                 // records, too long for a console; null: none of them
  std::size_t uncovered = 5, combinations = 5;   // combinations of IDC listed per layer and m
  std::size_t records = 12;                      // misclassified and most surprising ones, of each kind
};

// Criteria, IDC with its clusters, contexts and layers. `subject` begins the headline: "lenet5 on digits".
report::Document document_of(const coverage::CoverageState& state, const std::string& subject,
                             const CoverageDetails& details = {});

// What learning a profile found: accuracy on the training data, records left out.
report::Document document_of(const coverage::Learned& learned);

// One measurement per figure, for gates. Criteria are named as requested, kmnc or idc[m=6]. A criterion that
// looks at one layer only is there twice, by layer and as "all".
std::vector<report::Measurement> measurements_of(const coverage::CoverageState& state);

// Score, error rate, operators, layers, classes, survivors, killers and every mutant. `figures`: of the run
// that the state comes from, where there was one.
report::Document document_of(const mutation::MutationState& state, const mutation::MutationScore& score,
                             const mutation::ScoreOptions& options,
                             const mutation::RunFigures* figures = nullptr);

// Criteria "mutation" (killed classes of mutants: over all, by layer, by class), "mutation[operator=...]" and
// "killed-mutants", for gates.
std::vector<report::Measurement> measurements_of(const mutation::MutationState& state,
                                                 const mutation::MutationScore& score);

// What one mutant changes, at most `most` changes of it.
report::Document document_of(const mutation::Mutation& made, std::size_t most);

// Success, distances and cost of each attack. REQUIRES at least one.
report::Document document_of(const std::vector<attack::AttackSummary>& summaries,
                             const attack::AttackOptions& options, const Graph& network, const Dataset& data);

// Drop curves with their figures, and every severity with its interval. REQUIRES at least one.
report::Document document_of(std::span<const attack::DropCurve> curves, const attack::CurveOptions& options,
                             const Graph& network, const Dataset& data);

// Every epoch, and the one whose weights were kept. `validation` may be null.
report::Document document_of(const training::TrainingResult& result, const training::Recipe& recipe,
                             const Dataset& data, const Dataset* validation);

// Scores by evaluation set and condition with intervals, differences to the conditions `control` and
// `reference` (in percentage points for accuracies), and every run. `scores`: of compare().
report::Document document_of(const retraining::RetrainingPlan& plan, const retraining::Retraining& retraining,
                             const std::vector<retraining::ConditionScore>& scores,
                             const std::string& control, const std::string& reference);

// retrained[condition=NAME,set=NAME], for gates: the mean over the repeats.
std::vector<report::Measurement> measurements_of(const retraining::Retraining& retraining,
                                                 const std::vector<retraining::ConditionScore>& scores);

// What an answer rests on: a data set's description and hash, as NAME and NAME_hash; a network's as model and
// model_hash.
void add_provenance(report::Document& document, const std::string& name, const Dataset& data);
void add_provenance(report::Document& document, const Graph& network,
                    const std::vector<std::pair<std::string, DatasetPtr>>& datasets);
// The same of a network that runs, with what is noticed about it and not said yet.
void add_provenance(report::Document& document, const Session& session,
                    const std::vector<std::pair<std::string, DatasetPtr>>& datasets);
void add_network_notices(report::Document& document, const Session& session);

}  // namespace assay::results
