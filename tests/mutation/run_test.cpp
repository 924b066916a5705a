#include <assay/mutation.h>

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include <assay/array_math.h>
#include <assay/dataset.h>
#include <assay/error.h>
#include <assay/extend/random.h>
#include <assay/model.h>
#include <assay/tensor_records.h>
#include "assay/data/views.h"
#include "assay/mutation/kept_run.h"
#include "assay/support/files/file.h"
#include "networks.h"

namespace assay::mutation {
namespace {

namespace fs = std::filesystem;

// Random records for a network, labelled by it, every seventh wrongly.
DatasetPtr labelled(const Session& session, std::int64_t count) {
  const Tensors inputs = testing_mutation::inputs_of(session, count);
  const ValueId decision = session.logits();
  const Array classes = session.run(inputs, std::span(&decision, 1)).at(decision).argmax(1);
  const Array wrong = array::remainder(array::arange(count), 7).eq(3).to(DType::int64);
  RecordOptions options{.name = "labelled"};
  for (std::int64_t i = 0; i < count; ++i) options.ids.push_back("record " + std::to_string(i));
  options.class_names = {"a", "b", "c"};
  return from_tensors(inputs.begin()->second, array::remainder(classes + wrong, 3), std::move(options));
}

// Weights of one layer with noise, in growing measure.
std::vector<PlannedMutant> noisy_mutants(const Graph& graph, std::size_t count) {
  std::vector<PlannedMutant> mutants;
  const char* const nodes[] = {"conv1", "conv2", "fc1", "logits"};
  for (std::size_t i = 0; i < count; ++i) {
    MutantOutcome description;
    description.layer = nodes[i % 4];
    description.op = description.operator_name = i % 2 == 0 ? "noise" : "one";
    description.seed = i;
    description.id = description.op + "-" + std::to_string(i);
    mutants.push_back({description, [=] {
                         const ValueId id =
                             graph.node(graph.find_node(description.layer).value()).inputs.at(1);
                         std::vector<float> values(graph.constant(id).as<float>().begin(),
                                                   graph.constant(id).as<float>().end());
                         Rng rng(i);
                         if (i % 2 == 0) {
                           for (float& v : values)
                             v += static_cast<float>(rng.normal() * 0.02 * static_cast<double>(i));
                         } else {
                           values[rng.below(values.size())] += static_cast<float>(i) * 0.2F;
                         }
                         GraphBuilder edit(graph);
                         edit.replace_constant(id, Array::of<float>(graph.constant(id).shape(), values));
                         return edit.build();
                       }});
  }
  return mutants;
}

class RunOfMutants : public testing::Test {
 protected:
  Graph graph = testing_mutation::small_cnn();
  Session session{graph};
  DatasetPtr data = labelled(session, 90);
  std::vector<PlannedMutant> mutants = noisy_mutants(graph, 16);
  RunFigures figures;

  MutationState run(const RunOptions& options, DatasetPtr records = nullptr,
                    const MutationState* earlier = nullptr) {
    figures = {};
    return run_mutants(session, mutants, records ? records : data, options, earlier, figures, silence());
  }
  static std::string bytes(const MutationState& state) {
    const fs::path path = fs::path(testing::TempDir()) / "mutation.state";
    state.write(path);
    return read_file(path);
  }
  // Verdicts only: which mutant is killed by which record.
  static std::vector<std::vector<bool>> matrix(const MutationState& state) {
    std::vector<std::vector<bool>> rows;
    for (const MutantOutcome& mutant : state.mutants()) {
      auto& row = rows.emplace_back();
      for (std::size_t r = 0; r < state.records().size(); ++r) {
        row.push_back(mutant.known[r]);
        row.push_back(mutant.killed[r]);
      }
    }
    return rows;
  }
};

TEST_F(RunOfMutants, FastEqualsNaive) {
  const MutationState fast = run({.quality = 2, .batch = 20}),
                      naive = run({.quality = 2, .naive = true, .batch = 20});
  EXPECT_EQ(matrix(fast), matrix(naive));
  const MutationScore score = mutation::score(fast, {.quality = 2});
  EXPECT_GT(score.all.killed, 0U);
  EXPECT_GT(score.all.survived, 0U);
  EXPECT_EQ(score.records, 90U);
  EXPECT_EQ(score.judged, 90U - 13U);  // every seventh label is wrong
}

TEST(MutantsOfScoresWithPositions, AreJudgedLikeThoseOfRows) {
  // The same scores as [N, 3, 1, 1] and as [N, 3].
  const auto build = [](bool rows) {
    GraphBuilder b("positions");
    testing_mutation::Weights w(b);
    ValueId x = b.input("x", DType::float32, {-1, 2, 4, 4});
    x = b.add("Relu", "relu", {b.add("Conv", "conv", {x, w("w1", {4, 2, 3, 3}), w("b1", {4})})});
    x = b.add("Conv", "scores", {x, w("w2", {3, 4, 2, 2}), w("b2", {3})});
    b.output(rows ? b.add("Flatten", "flat", {x}) : x);
    return b.build();
  };
  const auto killed = [&](bool rows) {
    const Graph graph = build(rows);
    const Session session(graph);
    const Tensors inputs = testing_mutation::inputs_of(session, 30);
    const ValueId decision = session.logits();
    const Array labels = session.run(inputs, std::span(&decision, 1)).at(decision).reshape({30, 3}).argmax(1);
    const DatasetPtr data =
        from_tensors(inputs.begin()->second, labels, {.name = "data", .class_names = {"a", "b", "c"}});
    std::vector<PlannedMutant> mutants;
    for (int i = 0; i < 4; ++i) {
      MutantOutcome description;
      description.layer = "scores";
      description.op = description.operator_name = "bias";
      description.id = "bias-" + std::to_string(i);
      description.seed = static_cast<std::uint64_t>(i);
      mutants.push_back({description, [=] {
                           GraphBuilder edit(graph);
                           edit.replace_constant(
                               *graph.find_value("b2"),
                               Array::of<float>({3}, {static_cast<float>(i), 0.0F, -static_cast<float>(i)}));
                           return edit.build();
                         }});
    }
    RunFigures figures;
    const MutationState state =
        run_mutants(session, mutants, data, {.quality = 2}, nullptr, figures, silence());
    std::vector<Bits> found;
    for (const MutantOutcome& mutant : state.mutants()) found.push_back(mutant.killed);
    return found;
  };
  EXPECT_EQ(killed(false), killed(true));
}

TEST_F(RunOfMutants, BatchAndMemoryChangeNothing) {
  const auto expected = matrix(run({.quality = 2}));
  EXPECT_EQ(matrix(run({.quality = 2, .batch = 7})), expected);
  EXPECT_EQ(matrix(run({.quality = 2, .batch = 10, .memory = 1})), expected);
}

TEST_F(RunOfMutants, WhatIsKnownOfHopelessMutantsDoesNotDependOnBatches) {
  const MutationState reference = run({.quality = 0.1, .batch = 90});
  EXPECT_GT(figures.stopped, 0U);
  for (const std::size_t batch : {1U, 7U, 20U, 64U}) {
    const MutationState other = run({.quality = 0.1, .batch = batch});
    EXPECT_EQ(matrix(other), matrix(reference)) << batch;
  }
  EXPECT_EQ(matrix(run({.quality = 0.1, .batch = 10, .memory = 1})), matrix(reference));
  const MutationScore score = mutation::score(reference, {.quality = 0.1});
  for (const MutantScore& mutant : score.mutants) {
    if (mutant.status != MutantStatus::excluded) continue;
    // As many killers as are needed to be beyond the bound: 8 of 77, the last record that ran being one.
    EXPECT_EQ(mutant.killers, 8U);
    EXPECT_DOUBLE_EQ(mutant.error_rate, 8.0 / static_cast<double>(mutant.ran));
  }
}

TEST_F(RunOfMutants, HopelessMutantsStopEarlyAndAreExcluded) {
  const MutationState all = run({.quality = 2, .batch = 10}), some = run({.quality = 0.1, .batch = 10});
  EXPECT_GT(figures.stopped, 0U);
  const MutationScore a = mutation::score(all, {.quality = 0.1}), b = mutation::score(some, {.quality = 0.1});
  EXPECT_EQ(a.all.excluded, b.all.excluded);
  EXPECT_GT(b.all.excluded, 0U);
  EXPECT_EQ(a.all.killed_classes, b.all.killed_classes);
  EXPECT_EQ(a.all.score, b.all.score);
  EXPECT_EQ(a.all.error_rate, b.all.error_rate);
}

TEST_F(RunOfMutants, ShardsOfMutantsAndPartsOfTheDataCombineToTheWhole) {
  const std::string whole = bytes(run({.quality = 2, .batch = 15}));
  const std::vector<PlannedMutant> everyone = mutants;
  std::vector<MutationState> parts;
  for (std::size_t k = 0; k < 3; ++k) {
    mutants.clear();
    for (std::size_t i = k; i < everyone.size(); i += 3) mutants.push_back(everyone[i]);
    parts.push_back(run({.quality = 2, .batch = 15}));
  }
  MutationState one = parts[0], other = parts[2];
  one.merge(parts[1]);
  one.merge(parts[2]);
  other.merge(parts[0]);
  other.merge(parts[1]);
  other.merge(parts[1]);
  EXPECT_EQ(bytes(one), whole);
  EXPECT_EQ(bytes(other), whole);
}

TEST_F(RunOfMutants, ChangedDataRunsOnlyWhatIsNew) {
  const auto front = selected(data, {0, 1, 2, 4, 5, 6, 7, 8, 9, 11}),
             back = selected(data, {20, 21, 22, 5, 6, 7, 23});
  const MutationState earlier = run({.quality = 2}, front);
  const MutationState continued = run({.quality = 2}, back, &earlier);
  EXPECT_EQ(matrix(continued), matrix(run({.quality = 2}, back)));
  run({.quality = 2}, back, &earlier);
  EXPECT_EQ(figures.reused, 3 * mutants.size());
  EXPECT_EQ(figures.ran, 4 * mutants.size());
  run({.quality = 2}, front, &earlier);
  EXPECT_EQ(figures.ran, 0U);
}

TEST_F(RunOfMutants, GoesOnFromItsJournalAfterAKillAtAnyByte) {
  const fs::path journal = fs::path(testing::TempDir()) / "mutation.journal";
  fs::remove(journal);
  const RunOptions options{.quality = 2, .batch = 30, .journal = journal};
  const std::string whole = bytes(run(options));
  const std::string written = read_file(journal);
  for (std::size_t cut = 0; cut < written.size(); cut += written.size() / 23 + 1) {
    write_file(journal, std::string_view(written).substr(0, cut));
    EXPECT_EQ(bytes(run(options)), whole) << cut;
    EXPECT_EQ(figures.ran + figures.reused, figures.judged * mutants.size());
    EXPECT_EQ(read_file(journal).size(), written.size()) << "in some order, every result is there once";
  }
  run(options);
  EXPECT_EQ(figures.ran, 0U);
  EXPECT_THROW(run(options, selected(data, {1, 2, 4})), Error) << "the journal is of other records";
}

TEST_F(RunOfMutants, RepeatedRecordsCountAsOften) {
  const MutationState state = run({.quality = 2}, selected(data, {0, 0, 0, 1}));
  EXPECT_EQ(state.judged(), 4U);
}

TEST_F(RunOfMutants, StatesSurviveTheirFileAndRefuseOthers) {
  const MutationState state = run({.quality = 2});
  const fs::path path = fs::path(testing::TempDir()) / "mutation.state";
  state.write(path);
  MutationState back = MutationState::read(path);
  EXPECT_EQ(bytes(back), bytes(state));
  MutationState other("0123", "another", 3, std::nullopt);
  EXPECT_THROW(other.merge(back), Error);
  const std::string whole = read_file(path);
  for (std::size_t cut = 0; cut < whole.size(); cut += whole.size() / 11 + 1) {
    write_file(path, std::string_view(whole).substr(0, cut));
    EXPECT_THROW(MutationState::read(path), Error);
  }
}

TEST_F(RunOfMutants, StatesOfATaskKeepItAndRefuseThoseOfAnother) {
  const MutationState pixels("hash", "net", 1, 0.1, "pixels: 3 classes");
  const fs::path path = fs::path(testing::TempDir()) / "task.state";
  pixels.write(path);
  EXPECT_EQ(MutationState::read(path).task(), "pixels: 3 classes");
  MutationState same("hash", "net", 1, 0.1, "pixels: 3 classes"), other("hash", "net", 1, 0.1);
  EXPECT_NO_THROW(same.merge(pixels));
  EXPECT_THROW(other.merge(pixels), Error);
}

TEST_F(RunOfMutants, MoreTestsNeverLowerTheScore) {
  double before = 0;
  for (std::size_t size = 10; size <= 90; size += 20) {
    std::vector<std::size_t> records(size);
    for (std::size_t i = 0; i < size; ++i) records[i] = i;
    const double now = score(run({.quality = 2}, selected(data, records)), {.quality = 2}).all.score.value();
    EXPECT_GE(now, before);
    before = now;
  }
  EXPECT_GT(before, 0);
}

TEST_F(RunOfMutants, WithoutRightAnswersThereIsNothingToJudgeBy) {
  EXPECT_THROW(run({}, selected(data, {3, 10, 17})), Error);
}

TEST_F(RunOfMutants, ResultsKeptInAFileAreNotRunAgain) {
  const fs::path path = fs::path(testing::TempDir()) / "assay_kept.mut";
  fs::remove(path);
  const std::vector<NotApplicable> left_out{{parse_spec("operator", "neb"), "pool", "no neurons"}};
  const MutationState first =
      run_kept(session, mutants, left_out, data, {.quality = 2}, {path, false}, figures, silence());
  EXPECT_EQ(first.not_applicable.size(), 1U);
  EXPECT_EQ(bytes(MutationState::read(path)), bytes(first));
  EXPECT_FALSE(fs::exists(journal_of(path)));
  run_kept(session, mutants, left_out, data, {.quality = 2}, {path, false}, figures = {}, silence());
  EXPECT_EQ(figures.ran, 0U);
  EXPECT_GT(figures.reused, 0U);
  run_kept(session, mutants, left_out, data, {.quality = 2}, {path, true}, figures = {}, silence());
  EXPECT_EQ(figures.reused, 0U);
  fs::remove(path);
}

// A network that is not an edit of the original's graph, even if its maker says so.
TEST_F(RunOfMutants, NetworksOfTheirOwnAreKnownAsSuch) {
  GraphBuilder build("other");
  testing_mutation::Weights w(build);
  const Shape record = session.shape(session.graph().inputs()[0]);
  Shape free = record;
  free[0] = -1;
  const ValueId flat = build.add("Flatten", "flat", {build.input("image", DType::float32, free)});
  build.output(build.add("MatMul", "scores", {flat, w("w", {element_count(record), 3})}));
  const Graph other = build.build();
  MutantOutcome description;
  description.id = description.op = description.operator_name = "other";
  mutants = {{description, [=] { return other; }, true}};
  const auto expected = matrix(run({.quality = 2}));
  mutants[0].separate = false;
  EXPECT_EQ(matrix(run({.quality = 2})), expected);
}

TEST_F(RunOfMutants, MutantsHaveNetworks) {
  for (const std::function<Graph()>& make :
       {std::function<Graph()>(), std::function<Graph()>([] { return Graph(); })}) {
    mutants[0].make = make;
    try {
      run({});
      FAIL();
    } catch (const Error& error) {
      EXPECT_EQ(error.fault(), Fault::usage) << error.what();
      EXPECT_NE(std::string(error.what()).find("mutant '"), std::string::npos) << error.what();
    }
  }
}

}  // namespace
}  // namespace assay::mutation
