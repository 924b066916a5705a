// Results made by hand, and what their documents say.

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include <assay/error.h>
#include <assay/graph.h>
#include <assay/results.h>
#include "assay/results/catalogue.h"
#include "assay/results/data.h"
#include "assay/results/document.h"
#include "assay/results/first_rows.h"
#include "assay/results/networks/evaluation.h"
#include "assay/results/networks/inspection.h"
#include "assay/results/testing/attack.h"
#include "assay/results/testing/comparison.h"
#include "assay/results/testing/coverage.h"
#include "assay/results/testing/mutation.h"
#include "assay/results/testing/retraining.h"
#include "assay/results/testing/selection.h"
#include "assay/results/testing/suspects.h"
#include "tests/support/records.h"

namespace assay::test {
using namespace results;
namespace {

// Four records of one element, the last two of class 1.
DatasetPtr four_records() { return records({{0}, {0.25F}, {0.5F}, {1}}, {0, 0, 1, 1}); }

Graph small_network() {
  GraphBuilder build("small");
  const ValueId in = build.input("input", DType::float32, {-1, 1});
  build.output(build.add("Relu", "active", {in}));
  return build.build();
}

const report::Table& table_of(const report::Document& document, const std::string& id) {
  const auto it = std::ranges::find(document.tables, id, &report::Table::id);
  EXPECT_NE(it, document.tables.end()) << "no table " << id;
  static const report::Table none;
  return it == document.tables.end() ? none : *it;
}

report::Cell cell_of(const report::Document& document, const std::string& table, std::size_t row,
                     const std::string& column) {
  const report::Table& found = table_of(document, table);
  const auto at = std::ranges::find(found.columns, column, &report::Column::id);
  if (at == found.columns.end() || row >= found.rows.size()) {
    ADD_FAILURE() << "no cell " << column << " in row " << row << " of " << table;
    return {};
  }
  return found.rows[row].at(static_cast<std::size_t>(at - found.columns.begin()));
}

report::Cell fact_of(const report::Document& document, const std::string& id) {
  const auto it = std::ranges::find(document.facts, id, &report::Fact::id);
  EXPECT_NE(it, document.facts.end()) << "no fact " << id;
  return it == document.facts.end() ? report::Cell() : it->value;
}

report::Cell count(std::int64_t value) { return value; }

// Records 2 and 3 were asked for as 1; the network errs on 1 and 3.
report::Document evaluation_document() {
  Evaluation evaluation;
  evaluation.records = 4;
  evaluation.predictions = {0, 1, 1, 0};
  evaluation.accuracy = 0.5;
  evaluation.class_records = {2, 2};
  evaluation.class_correct = {1, 1};
  evaluation.non_finite = 1;
  evaluation.non_finite_ids = {"3"};
  return document_of(evaluation, small_network(), *four_records());
}

report::Document selection_document() {
  coverage::Selection chosen;
  chosen.records = {3, 1, 0, 2};
  chosen.undefined = 1;
  chosen.apfd = selection::apfd(chosen.records, {false, true, false, true});
  return document_of(chosen, {.by = "entropy", .criterion = {}}, *four_records());
}

// Of four records, two cover all six items.
report::Document minimised_document() {
  coverage::Selection chosen;
  chosen.records = {2, 0};
  chosen.cover = selection::Cover{.records = {2, 0}, .gain = {4, 2}, .covered = 6, .coverable = 6};
  return document_of(chosen, {.by = "minimise", .criterion = parse_spec("criterion", "kmnc")},
                     *four_records());
}

report::Document suspect_document(const std::set<std::string>& truth) {
  similarity::Suspicion suspicion;
  suspicion.suspects = {
      {0, 0.5, 0, 0.4, 1}, {1, 0.25, 1, 0.2, 0}, {2, 0.75, 1, 0.3, 2}, {3, 0.125, 0, 0.1, 0}};
  const DatasetPtr data = four_records();
  const std::vector<std::size_t> order = similarity::rank(suspicion.suspects, "similarity");
  report::Document document = document_of(suspicion, order, *data, *data, {}, 2);
  if (!truth.empty()) add_truth(document, *data, order, truth, 0);
  return document;
}

report::Document training_document() {
  training::TrainingResult result{small_network(), {}, 1, false, true};
  result.epochs = {{.loss = 2, .accuracy = 0.25, .validation_loss = {}, .validation_accuracy = 0.5},
                   {.loss = 1, .accuracy = 0.5, .validation_loss = {}, .validation_accuracy = 0.75}};
  return document_of(result, {}, *four_records(), four_records().get());
}

struct Retrained {
  retraining::RetrainingPlan plan;
  retraining::Retraining retraining;
  std::vector<retraining::ConditionScore> scores;
};

// Three repeats in which the additions help every time.
Retrained retrained() {
  Retrained r;
  r.plan.training = four_records();
  r.plan.conditions = {{"given", four_records()}, {"none", nullptr}};
  r.plan.sets = {{"test", four_records()}};
  r.plan.count = 2;
  r.plan.repeats = 3;
  r.retraining.before = {0.5};
  for (std::size_t repeat = 0; repeat < 3; ++repeat) {
    const double drift = 0.01 * static_cast<double>(repeat);
    r.retraining.runs.push_back({"given", repeat, {0.8 + 1.1 * drift}});
    r.retraining.runs.push_back({"none", repeat, {0.6 + drift}});
  }
  r.scores = retraining::compare(r.plan, r.retraining, "none", "");
  return r;
}

report::Document retraining_document() {
  const Retrained r = retrained();
  return document_of(r.plan, r.retraining, r.scores, "none", "");
}

report::Document attack_document() {
  attack::AttackSummary half;
  half.spec = {"fgsm", {}};
  half.data = "fgsm.npz";
  half.attacked = half.stored = 4;
  half.succeeded = 2;
  half.lost = 1;
  half.endings = {{"gave up", 2}};
  attack::AttackSummary none;
  none.spec = {"noise", {}};
  return document_of({half, none}, {}, small_network(), *four_records());
}

// Two mutants of which a record kills the first; classes 0 and 1.
mutation::MutationState two_mutants() {
  mutation::MutationState state("hash", "small", 2, std::nullopt);
  for (std::uint64_t r = 0; r < 2; ++r)
    state.add(mutation::MutationRecord{{{r, 0}, 0}, std::to_string(r), static_cast<std::int64_t>(r), true});
  for (const char* op : {"gf", "ws"}) {
    mutation::MutantOutcome mutant;
    mutant.id = mutant.op = mutant.operator_name = op;
    mutant.layer = "dense";
    mutant.change = mutant.decisiveness = 1;
    for (std::size_t r = 0; r < 2; ++r) mutant.known.set(r);
    if (mutant.id == "gf") mutant.killed.set(1);
    state.add(mutant);
  }
  return state;
}

report::Document mutation_document() {
  const mutation::MutationState state = two_mutants();
  const mutation::ScoreOptions options{.quality = 2};
  const mutation::RunFigures figures{.unlabelled = 1, .ran = 4};
  return document_of(state, mutation::score(state, options), options, &figures);
}

coverage::CoverageState empty_state(const std::string& model_hash) {
  auto profile = std::make_shared<coverage::Profile>();
  profile->model_hash = model_hash;
  return coverage::CoverageState(std::move(profile), {}, false);
}

report::Document comparison_document() {
  const coverage::CoverageState a = empty_state("a"), b = empty_state("b");
  coverage::Comparison comparison;
  coverage::Difference layer;
  layer.layer = "dense";
  layer.both = 3;
  layer.only_here = 2;
  layer.neurons = {{4, {1, 0}}, {7, {0, 5}}};
  comparison.criteria = {{"nc", {}, {}, {layer}}};
  comparison.records = {{true, 8, 2, {{"nc", 2}}}};
  comparison.only_here = 2;
  comparison.unmatched_there = {{"kmnc", {}}};
  return document_of(comparison, a, b, 1);
}

report::Document data_document() {
  DataSummary summary;
  summary.class_records = {2, 2};
  summary.high = 1;
  summary.duplicates = 1;
  summary.examples = {{3, 0}};
  return document_of(summary, *four_records());
}

TEST(Results, AnEvaluationIsToldByClassAndConfusion) {
  const report::Document document = evaluation_document();
  EXPECT_EQ(fact_of(document, "test_accuracy"), report::Cell(0.5));
  EXPECT_EQ(cell_of(document, "classes", 1, "correct"), count(1));
  ASSERT_EQ(table_of(document, "confusions").rows.size(), 2U);
  EXPECT_EQ(cell_of(document, "confusions", 0, "first"), report::Cell("1"));
  EXPECT_EQ(cell_of(document, "confusions", 1, "first"), report::Cell("3"));
  ASSERT_EQ(document.warnings.size(), 1U);
  EXPECT_EQ(document.warnings[0].id, "non-finite");
  EXPECT_NE(document.warnings[0].text.text().find(
                "1 of 4 records gives a NaN or an infinity; a NaN counts as a wrong answer: 3"),
            std::string::npos);
}

TEST(Results, AChoiceShowsHowCoverageGrowsWithTheChosenRecords) {
  const report::Table growth = table_of(minimised_document(), "growth");
  ASSERT_EQ(growth.rows.size(), 2U);
  EXPECT_EQ(std::get<std::string>(growth.rows[0][0]), "kmnc");
  EXPECT_DOUBLE_EQ(std::get<double>(growth.rows[0][2]), 4.0 / 6);
  EXPECT_DOUBLE_EQ(std::get<double>(growth.rows[1][2]), 1);
}

TEST(Results, AnOrderTellsHowEarlyFaultsAreFound) {
  const report::Document document = selection_document();
  EXPECT_EQ(fact_of(document, "faults"), count(2));
  // Faults at places 1 and 2 of 4: 1 - 3 / 8 + 1 / 8.
  EXPECT_EQ(fact_of(document, "apfd"), report::Cell(0.75));
  EXPECT_EQ(cell_of(document, "chosen", 0, "record"), report::Cell("3"));
  EXPECT_EQ(document.notices, std::vector<Message>{"1 record has no score and comes first"});
}

TEST(Results, SuspectsStandInTheirOrderAndTruthIsCounted) {
  const report::Document document = suspect_document({"0", "3"});
  ASSERT_EQ(table_of(document, "suspects").rows.size(), 2U);
  EXPECT_EQ(cell_of(document, "suspects", 0, "record"), report::Cell("2"));
  EXPECT_EQ(cell_of(document, "suspects", 1, "record"), report::Cell("0"));
  EXPECT_EQ(fact_of(document, "inspected"), count(2));
  EXPECT_EQ(fact_of(document, "found"), count(1));
  EXPECT_EQ(fact_of(document, "recall"), report::Cell(0.5));
}

TEST(Results, TrainingNamesTheEpochThatWasKept) {
  const report::Document document = training_document();
  EXPECT_EQ(fact_of(document, "best_epoch"), count(2));
  EXPECT_NE(document.headline.find("epoch 2, validation accuracy 75.00 %"), std::string::npos)
      << document.headline;
  EXPECT_EQ(cell_of(document, "epochs", 0, "validation_accuracy"), report::Cell(0.5));
}

TEST(Results, DataSayOfHowManyClassesThereAreRecords) {
  EXPECT_TRUE(data_document().warnings.empty());
  DataSummary summary;
  summary.class_records = {4, 0};
  const report::Document document = document_of(summary, *four_records());
  EXPECT_TRUE(document.headline.ends_with("; there are records of 1 of them")) << document.headline;
  ASSERT_EQ(document.warnings.size(), 1U);
  EXPECT_EQ(document.warnings[0].id, "one-class");
}

TEST(Results, LabelsThatContradictEachOtherAreAWarning) {
  DataSummary summary;
  summary.class_records = {2, 2};
  summary.duplicates = 2;
  summary.conflicting = 1;
  const report::Document document = document_of(summary, *four_records());
  ASSERT_EQ(document.warnings.size(), 1U);
  EXPECT_EQ(document.warnings[0].id, "contradicting-labels");
  EXPECT_TRUE(document.warnings[0].text.text().starts_with("1 of 2 records that repeat"))
      << document.warnings[0].text.text();
}

coverage::CoverageState state_of_layers(const std::string& model_hash,
                                        const std::vector<std::string>& layers) {
  auto profile = std::make_shared<coverage::Profile>();
  profile->model_hash = model_hash;
  for (const std::string& layer : layers) {
    profile->statistics.emplace_back();
    profile->statistics.back().layer = layer;
  }
  return coverage::CoverageState(std::move(profile), {}, false);
}

TEST(Results, NetworksWithFewLayersInCommonAreAWarning) {
  const auto warnings = [](const std::vector<std::string>& here, const std::vector<std::string>& there) {
    coverage::Comparison comparison;
    coverage::Difference layer;
    layer.layer = "dense";
    comparison.criteria = {{"nc", {}, {}, {layer}}};
    return document_of(comparison, state_of_layers("a", here), state_of_layers("b", there), 1).warnings;
  };
  EXPECT_TRUE(warnings({"a", "b", "dense"}, {"a", "dense"}).empty());
  const auto found = warnings({"a", "b", "dense"}, {"c", "d", "dense"});
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].id, "unrelated-networks");
  EXPECT_NE(found[0].text.text().find("1 of 3 layers in common"), std::string::npos) << found[0].text.text();
}

TEST(Results, ManyRecordsThatAreLeftOutOfAnInspectionAreAWarning) {
  inspection::Inspection inspection;
  inspection.notices = {"a: 93 of 100 records do not parse, and are left out of its hypotheses",
                        "b: 5 of 100 records do not parse, and are left out of its hypotheses",
                        "c: 90 of 100 records have several parses, of which the simplest is taken"};
  const report::Document document = document_of(inspection, "net", {}, {});
  ASSERT_EQ(document.warnings.size(), 1U);
  EXPECT_EQ(document.warnings[0].id, "left-out-records");
  EXPECT_EQ(document.warnings[0].text, inspection.notices[0]);
  EXPECT_EQ(document.notices, (std::vector<Message>{inspection.notices[1], inspection.notices[2]}));
}

TEST(Results, AGroupWhoseScoreSaysNothingTellsWhy) {
  inspection::Inspection inspection;
  inspection.measures = {"logistic_l1"};
  for (const char* group : {"conv", "dense"}) {
    inspection::ScoreRow row;
    row.model = "net", row.layer = row.group = group, row.hypothesis = "label:3", row.measure = "logistic_l1";
    if (row.group == "conv") row.score.status = "no_predicted_positives";
    inspection.rows.push_back(row);
  }
  const report::Document document = document_of(inspection, "net", {}, {});
  EXPECT_EQ(cell_of(document, "groups", 0, "status"),
            report::Cell("the probe names the hypothesis on no held-out row; F1 is 0"));
  EXPECT_EQ(cell_of(document, "groups", 1, "status"), report::Cell());
  EXPECT_EQ(cell_of(document, "scores", 0, "status"), report::Cell("no_predicted_positives"));
}

TEST(Results, ATableOfFirstRowsTellsOfHowMany) {
  EXPECT_EQ(title_of_first("Records that kill most", 5, 79), "Records that kill most (5 of 79)");
  EXPECT_EQ(title_of_first("Records that kill most", 5, 5), "Records that kill most");
}

TEST(Results, AScoreOfAClassIsTheShareOfMutantsThatItKills) {
  // A record of class 1 kills one of two mutants, one of class 0 none.
  EXPECT_EQ(cell_of(mutation_document(), "mutation_classes", 0, "score"), report::Cell(0.0));
  EXPECT_EQ(cell_of(mutation_document(), "mutation_classes", 1, "score"), report::Cell(0.5));
}

TEST(Results, AnAttackOnNoRecordHasNoRate) {
  EXPECT_NE(
      attack_document().headline.find("success of fgsm 50.00 %, noise undefined (no record was attacked)"),
      std::string::npos)
      << attack_document().headline;
}

TEST(Results, RepeatsThatDifferByTheSameTellNothingApart) {
  Retrained r = retrained();
  for (retraining::RetrainingRun& run : r.retraining.runs)
    run.scores = {run.condition == "none" ? 0.5 : 0.25};
  r.scores = retraining::compare(r.plan, r.retraining, "none", "");
  const report::Document document = document_of(r.plan, r.retraining, r.scores, "none", "");
  EXPECT_EQ(cell_of(document, "differences", 0, "low"), report::Cell());
  EXPECT_EQ(cell_of(document, "differences", 0, "finding"),
            report::Cell("not told apart: all repeats differ by the same"));
}

TEST(Results, RetrainingIsComparedWithTheControlByRepeat) {
  const report::Document document = retraining_document();
  EXPECT_EQ(cell_of(document, "retraining", 0, "condition"), report::Cell("before"));
  ASSERT_EQ(table_of(document, "differences").rows.size(), 1U);
  EXPECT_EQ(cell_of(document, "differences", 0, "to"), report::Cell("none"));
  EXPECT_NEAR(std::get<double>(cell_of(document, "differences", 0, "mean")), 20.1, 1e-9);
  EXPECT_EQ(cell_of(document, "differences", 0, "finding"), report::Cell("better"));
  const Retrained r = retrained();
  const std::vector<report::Measurement> measurements = measurements_of(r.retraining, r.scores);
  ASSERT_EQ(measurements.size(), 2U);
  EXPECT_EQ(measurements[0].criterion, "retrained[condition=given,set=test]");
}

TEST(Results, AttacksAreToldBySuccess) {
  const report::Document document = attack_document();
  EXPECT_EQ(cell_of(document, "attacks", 0, "success"), report::Cell(0.5));
  EXPECT_EQ(cell_of(document, "attacks", 1, "success"), report::Cell()) << "of no records there is no share";
  EXPECT_EQ(cell_of(document, "endings", 0, "records"), count(2));
  ASSERT_EQ(document.notices.size(), 2U);
  EXPECT_NE(document.notices[1].text().find("nothing to attack"), std::string::npos);
}

TEST(Results, MutantsAreToldByOperatorAndClass) {
  const report::Document document = mutation_document();
  EXPECT_EQ(fact_of(document, "mutation_score"), report::Cell(0.25)) << "one class of one of two mutants";
  EXPECT_EQ(fact_of(document, "killed"), count(1));
  EXPECT_EQ(fact_of(document, "ran"), count(4));
  EXPECT_EQ(table_of(document, "mutation_operators").rows.size(), 2U);
  EXPECT_EQ(cell_of(document, "killers", 0, "record"), report::Cell("1"));
  const mutation::MutationState state = two_mutants();
  const report::Table matrix = matrix_table(state, mutation::score(state, {.quality = 2}));
  ASSERT_EQ(matrix.rows.size(), 2U);
  EXPECT_EQ(matrix.rows[1][2], count(1));
  EXPECT_EQ(matrix.rows[0][2], count(0));
}

TEST(Results, AComparisonNamesWhatTellsTwoStatesApart) {
  const report::Document document = comparison_document();
  EXPECT_EQ(cell_of(document, "difference", 0, "only_a"), count(2));
  ASSERT_EQ(table_of(document, "changed_neurons").rows.size(), 1U) << "one was asked for";
  EXPECT_EQ(cell_of(document, "changed_neurons", 0, "neuron"), count(7)) << "the one that changed most";
  EXPECT_EQ(cell_of(document, "changed_records", 0, "criteria"), report::Cell("nc 2"));
  ASSERT_EQ(document.notices.size(), 2U);
  EXPECT_EQ(document.notices[0], "kmnc was measured in the second state only");
}

TEST(Results, DocumentsAreAppendedPartByPart) {
  report::Document document = evaluation_document();
  const std::size_t tables = document.tables.size();
  append(document, {});
  EXPECT_EQ(document.headline, evaluation_document().headline) << "nothing replaces no headline";
  append(document, data_document());
  EXPECT_EQ(document.headline, data_document().headline);
  EXPECT_EQ(document.tables.size(), tables + data_document().tables.size());
  EXPECT_EQ(document.notices.back(), "record '3' repeats '0'");
}

// What readers of documents rely on, whatever the analysis.
void expect_valid(const report::Document& document) {
  SCOPED_TRACE(document.headline);
  EXPECT_FALSE(document.headline.empty());
  std::set<std::string> facts, tables;
  for (const report::Fact& fact : document.facts) {
    EXPECT_TRUE(facts.insert(fact.id).second) << "two facts " << fact.id;
    EXPECT_FALSE(fact.title.empty()) << fact.id;
  }
  for (const report::Table& table : document.tables) {
    EXPECT_TRUE(tables.insert(table.id).second) << "two tables " << table.id;
    EXPECT_FALSE(table.title.empty()) << table.id;
    std::set<std::string> columns;
    for (const report::Column& column : table.columns)
      EXPECT_TRUE(columns.insert(column.id).second) << "two columns " << column.id << " in " << table.id;
    for (const auto& row : table.rows) EXPECT_EQ(row.size(), table.columns.size()) << table.id;
  }
  for (const report::Definition& definition : document.definitions) {
    EXPECT_FALSE(definition.term.empty() || definition.text.empty()) << definition.term;
    EXPECT_FALSE(definition.source.empty()) << definition.term << " is without a source";
  }
  const std::string text = report::to_json(document);
  EXPECT_EQ(report::to_json(report::read_document(text)), text);
}

TEST(UnitsOfDocuments, AreThoseOfTheAnswerOrTheFaultIsNamed) {
  report::Document answer;
  answer.command = "inspect";
  answer.tables = {{"answer", "Answer", {{"uid", "uid"}}, {}}};
  answer.tables[0].rows = {{std::string("fc2:17")}, {std::string("lstm/forget:3")}};
  const std::vector<NamedUnit> units = units_of(answer, {});
  ASSERT_EQ(units.size(), 2U);
  EXPECT_EQ(units[0], (NamedUnit{"", "fc2", 17}));
  EXPECT_EQ(units[1], (NamedUnit{"", "lstm/forget", 3}));
  for (const char* const text : {"fc2", "fc2:", "fc2:x", "fc2:99999999999999999999999", "fc2:1x"}) {
    answer.tables[0].rows = {{std::string(text)}};
    EXPECT_THROW(units_of(answer, {}), Error) << text;
  }
  report::Document damaged;
  damaged.command = "inspect";
  damaged.tables = {{"scores", "Scores", {{"unit", "unit"}}, {}}};
  damaged.tables[0].rows = {{std::int64_t{1}}};
  EXPECT_THROW(units_of(damaged, {.hypothesis = "depth", .measure = ""}), Error);
}

TEST(ResultLaws, EveryDocumentIsSound) {
  const coverage::CoverageState state = empty_state("a");
  for (const report::Document& document :
       {evaluation_document(), selection_document(), minimised_document(), suspect_document({}),
        suspect_document({"2"}), training_document(), retraining_document(), attack_document(),
        mutation_document(), comparison_document(), data_document(), document_of(state, "small on records"),
        combined_document_of(state, "2 states")})
    expect_valid(document);
}

TEST(ResultLaws, EveryCatalogueIsExplained) {
  using Explain = report::Document (*)(const std::string&);
  for (const Explain explain : {explain_criteria, explain_attacks, explain_operators, explain_constraints}) {
    const report::Document all = explain("");
    expect_valid(all);
    ASSERT_FALSE(all.tables.empty());
    ASSERT_FALSE(all.tables[0].rows.empty());
    for (const auto& row : all.tables[0].rows) {
      const report::Document one = explain(std::get<std::string>(row[0]));
      expect_valid(one);
      EXPECT_EQ(one.definitions.size(), 2U) << one.headline;
    }
  }
}

}  // namespace
}  // namespace assay::test
