// Pools made from a network, records and mutants: what each record covers and reveals is what the analyses
// say of it alone.

#include <gmock/gmock.h>

#include <assay/audit.h>
#include <assay/coverage.h>
#include <assay/error.h>
#include <assay/mutation.h>
#include <assay/records.h>

#include "assay/audit/choices.h"
#include "tests/engine/graphs.h"

namespace assay::audit {
namespace {

using testing::HasSubstr;

DatasetPtr pictures(std::int64_t records, std::uint64_t seed) {
  Rng rng(seed);
  std::vector<float> values;
  std::vector<std::int64_t> labels;
  for (std::int64_t i = 0; i < records; ++i) {
    for (std::int64_t p = 0; p < 144; ++p)
      values.push_back(static_cast<float>(20 * rng.normal() + 15 * (static_cast<double>(i % 3) - 1)));
    labels.push_back(i % 5);
  }
  return from_arrays(Array::of<float>({records, 1, 12, 12}, values), std::move(labels),
                     {.name = "pictures", .class_names = {"a", "b", "c", "d", "e"}});
}

class PoolOfNetwork : public testing::Test {
 protected:
  const Session session{test::lenet_like()};
  const DatasetPtr train = pictures(80, 1), test = pictures(60, 2);
  const std::vector<std::string> criteria{"nc[threshold=0.5]", "kmnc[sections=10]", "dsc"};
  std::shared_ptr<const coverage::Profile> profile = [&] {
    coverage::LearnOptions options;
    for (const std::string& text : criteria) options.criteria.emplace_back(parse_spec("criterion", text));
    return std::make_shared<const coverage::Profile>(
        coverage::learn_profile(session, train, options, silence()).profile);
  }();
};

TEST_F(PoolOfNetwork, CountsWhatASubsetAloneCovers) {
  const Pool pool = make_pool(session, profile, criteria, test, {}, silence());
  ASSERT_EQ(pool.records(), 60U);
  // The subset of every third record, measured by itself.
  std::vector<std::size_t> subset;
  for (std::size_t r = 0; r < 60; r += 3) subset.push_back(r);
  for (std::size_t c = 0; c < criteria.size(); ++c) {
    EXPECT_EQ(pool.criteria[c].name, parse_spec("criterion", criteria[c]).text());
    std::set<std::uint32_t> items;
    std::vector<float> values;
    for (const std::size_t r : subset) {
      for (const std::uint32_t item : pool.criteria[c].rows.row(r)) items.insert(item);
      const Batch one = test->read(std::span(&r, 1));
      values.insert(values.end(), one.inputs.as<float>().begin(), one.inputs.as<float>().end());
    }
    const DatasetPtr alone =
        from_arrays(Array::of<float>({static_cast<std::int64_t>(subset.size()), 1, 12, 12}, values), {},
                    {.name = "part"});
    coverage::CoverageState state(profile, {parse_spec("criterion", criteria[c])}, false);
    coverage::measure(session, state, alone, {}, silence());
    EXPECT_EQ(std::to_string(items.size()), state.total(0)->result().back().covered) << criteria[c];
    EXPECT_EQ(pool.criteria[c].coverable, std::stod(state.total(0)->result().back().coverable));
  }
}

TEST_F(PoolOfNetwork, HasBaselinesClustersAndMistakes) {
  const Pool pool = make_pool(session, profile, criteria, test, {.clusters = 6}, silence());
  std::vector<std::string> baselines;
  for (const Measured& measured : pool.criteria) {
    if (measured.baseline) baselines.push_back(measured.name);
  }
  EXPECT_THAT(baselines, testing::ElementsAre("sum of dsc", "different classes", "sum of deepgini"));
  EXPECT_LE(*std::ranges::max_element(pool.clusters), 5);
  EXPECT_EQ(std::set(pool.clusters.begin(), pool.clusters.end()).size(), 6U);
  const Evaluation evaluation = evaluate(session, test, {}, silence());
  ASSERT_EQ(pool.faults.at(0).name, "misclassified");
  for (std::size_t r = 0; r < 60; ++r) {
    EXPECT_EQ(pool.faults[0].rows.row(r).size() == 1, evaluation.predictions[r] != test->label(r));
  }
}

TEST_F(PoolOfNetwork, TakesMutantsByContent) {
  Pool pool = make_pool(session, profile, criteria, test, {}, silence());
  const mutation::Subject subject(session);
  mutation::DrawOptions draw;
  draw.operators.emplace_back("gf[ratio=0.5,sigma=5]");
  draw.per_operator = 12;
  std::vector<mutation::PlannedMutant> planned;
  for (const mutation::Mutant& mutant : mutation::draw_mutants(subject, draw).mutants)
    planned.push_back(mutation::planned(subject, mutant));
  mutation::RunFigures figures;
  mutation::RunOptions run;
  run.quality = 2;
  const mutation::MutationState state =
      mutation::run_mutants(session, planned, test, run, nullptr, figures, silence());
  add_mutants(pool, state, 2, test);
  const Faults& faults = pool.faults.back();
  ASSERT_EQ(faults.name, "mutants");
  // By id instead of content.
  std::map<std::string, std::size_t> known;
  for (std::size_t r = 0; r < state.records().size(); ++r) known[state.records()[r].id] = r;
  std::size_t killing = 0;
  for (std::size_t r = 0; r < 60; ++r) {
    const std::size_t record = known.at(test->id(r));
    std::size_t killed = 0;
    for (const mutation::MutantOutcome& mutant : state.mutants())
      killed += state.records()[record].judged && mutant.killed[record];
    EXPECT_EQ(faults.rows.row(r).size(), killed);
    killing += killed;
  }
  EXPECT_GT(killing, 0U);
  Pool other = make_pool(session, profile, criteria, train, {}, silence());
  try {
    add_mutants(other, state, 2, train);
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("none of them is known"));
  }
  mutation::MutationState part = state;
  std::vector<bool> keep(part.records().size(), true);
  keep.front() = false;
  part.keep_records(keep);
  try {
    add_mutants(pool, part, 2, test);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.fault(), Fault::mismatch);
    EXPECT_THAT(error.what(), HasSubstr("judged by 59 of the 60 records"));
  }
}

TEST_F(PoolOfNetwork, TakesFindingsByTheRecordsTheyWereMadeOf) {
  Pool pool = make_pool(session, profile, criteria, test, {}, silence());
  const auto made_of = [&](std::vector<std::string> ids) {
    const auto count = static_cast<std::int64_t>(ids.size());
    return from_arrays(Array::zeros(DType::float32, {count, 1, 12, 12}), {},
                       {.name = "found", .ids = std::move(ids)});
  };
  add_findings(pool, made_of({test->id(7), test->id(3), test->id(7) + "~2", "elsewhere"}), test);
  const Faults& faults = pool.faults.back();
  EXPECT_EQ(faults.name, "findings");
  for (std::size_t r = 0; r < 60; ++r)
    EXPECT_EQ(faults.rows.row(r).size(), r == 7 ? 2U : r == 3 ? 1U : 0U) << r;
  EXPECT_THAT(pool.notices.back(), HasSubstr("3 of 4"));
  try {
    add_findings(pool, made_of({"elsewhere", "nowhere~2"}), test);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.fault(), Fault::mismatch);
    EXPECT_THAT(error.what(), HasSubstr("no id is the same"));
  }
}

TEST_F(PoolOfNetwork, IsMeasuredAgain) {
  Pool pool = make_pool(session, profile, criteria, test, {.noise = 1e-9}, silence());
  measure_again(pool, "itself", session, profile, criteria, test, {}, silence());
  AuditOptions options;
  options.sizes = {10};
  options.subsets = 20;
  options.permutations = 19;
  options.resamples = options.orders = 20;
  const Audit result = audit(pool, options, silence());
  EXPECT_NEAR(result.criteria[0].again.at("itself"), 1, 1e-12);
  EXPECT_NEAR(result.criteria[1].again.at("noise 1e-09"), 1, 1e-12);
  EXPECT_THROW(measure_again(pool, "train", session, profile, criteria, train, {}, silence()), Error);
}

TEST_F(PoolOfNetwork, RefusesCriteriaWithoutItems) {
  coverage::LearnOptions options;
  options.criteria.emplace_back(parse_spec("criterion", "nlc"));
  const auto learned = std::make_shared<const coverage::Profile>(
      coverage::learn_profile(session, train, options, silence()).profile);
  try {
    make_pool(session, learned, {"nlc"}, test, {}, silence());
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("nlc has no items"));
  }
}

TEST_F(PoolOfNetwork, CriteriaAreAskedLayerByLayer) {
  std::vector<std::string> expected{"nc[threshold=0.5]"};
  for (const Layer& layer : session.layers())
    expected.push_back("nc[layer=" + layer.name + ",threshold=0.5]");
  expected.emplace_back("dsc");
  EXPECT_EQ(with_layers({"nc[threshold=0.5]", "dsc"}, *profile), expected);
}

TEST_F(PoolOfNetwork, MutantsOfRegressionAreToBeJudgedBefore) {
  Rng rng(3);
  const DatasetPtr targets = from_arrays(test::uniform_array(rng, {10, 1, 12, 12}), {},
                                         {.name = "targets", .targets = test::uniform_array(rng, {10, 5})});
  try {
    judged_mutants(session, targets, {.count = 2}, silence());
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.fault(), Fault::usage);
    EXPECT_THAT(error.what(), HasSubstr("have mutants judged by how far outputs differ"));
  }
}

TEST_F(PoolOfNetwork, MutantsAreDrawnOfDeepMutationsOperators) {
  const mutation::MutationState state = judged_mutants(session, test, {.count = 2, .quality = 1}, silence());
  EXPECT_EQ(state.model_hash(), session.graph().hash());
  EXPECT_GT(state.mutants().size(), mutation::presets().find("deepmutation").specs.size());
  EXPECT_EQ(judged_mutants(session, test, {.count = 0}, silence()).mutants().size(), 0U);
}

}  // namespace
}  // namespace assay::audit
