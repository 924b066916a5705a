// Training mutants: each once, several at a time, by Assay or by a command.

#include <gtest/gtest.h>

#include <unistd.h>

#include <filesystem>

#include <assay/error.h>
#include <assay/model.h>
#include "assay/mutation/replay/replay.h"
#include "assay/mutation/source/trained_mutants.h"
#include "assay/support/files/file.h"
#include "tests/mutation/programs.h"

namespace assay::mutation {
namespace {

namespace fs = std::filesystem;
using test::SmallStudy;

class SourceTraining : public testing::Test {
 protected:
  SourceTraining() : folder_(fs::temp_directory_path() / ("assay_source_" + std::to_string(getpid()))) {
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  ~SourceTraining() override { fs::remove_all(folder_); }

  TrainingPlan plan(const std::string& store = "store") const {
    return {.store = folder_ / store, .jobs = 2};
  }
  TrainedStore store() const { return TrainedStore(folder_ / "store"); }

  TrainingJob job(const std::string& text) const {
    if (text == "original") return {.what = text, .mutant = {}, .make = [this] { return study_.program; }};
    const Mutant mutant = parse_mutant(text);
    return {.what = text, .mutant = mutant, .make = [this, mutant] {
              return apply(study_.program, study_.subject, mutant).program;
            }};
  }
  std::vector<TrainingJob> jobs() const {
    return {job("original"), job("le[ratio=0.5]@data#1"), job("afrs@square#1"), job("epochs[to=1]@recipe#1")};
  }
  // A shell script as trainer; $1 is the description.
  TrainingPlan with_script(const std::string& script) const {
    write_file(folder_ / "train.sh", script);
    TrainingPlan plan = this->plan();
    plan.command = "sh " + (folder_ / "train.sh").string();
    return plan;
  }
  Trained by_script(const std::string& script) const {
    return train_programs({job("le[ratio=0.5]@data#1")}, with_script(script), silence()).front();
  }

  fs::path folder_;
  SmallStudy study_;
};

TEST_F(SourceTraining, GivesTheWeightsOfTheTrainerHoweverManyAtATime) {
  const auto two = train_programs(jobs(), plan(), silence());
  TrainingPlan alone = plan("alone");
  alone.jobs = 1;
  const auto one = train_programs(jobs(), alone, silence());
  for (std::size_t i = 0; i < two.size(); ++i) {
    ASSERT_TRUE(two[i].failure.empty()) << two[i].failure;
    EXPECT_FALSE(two[i].known);
    EXPECT_EQ(two[i].key, one[i].key);
    const Program program = jobs()[i].make();
    const Graph expected = training::train(program.graph, program.training, program.validation,
                                           program.recipe, {.threads = 1}, silence())
                               .graph;
    const auto a = store().find(two[i].key), b = TrainedStore(alone.store).find(one[i].key);
    ASSERT_TRUE(a && b);
    EXPECT_EQ(a->hash(), expected.hash()) << jobs()[i].what;
    EXPECT_EQ(b->hash(), expected.hash()) << jobs()[i].what;
  }
}

TEST_F(SourceTraining, TrainsNothingTwice) {
  train_programs({job("original"), job("le[ratio=0.5]@data#1")}, plan(), silence());
  const auto again = train_programs(jobs(), plan(), silence());
  EXPECT_TRUE(again[0].known);
  EXPECT_TRUE(again[1].known);
  EXPECT_FALSE(again[2].known);
  EXPECT_FALSE(again[3].known);
}

TEST_F(SourceTraining, OtherDataGraphsRecipesAndSeedsAreOtherPrograms) {
  std::set<std::string> hashes;
  for (const TrainingJob& one : jobs()) EXPECT_TRUE(hashes.insert(hash_of(one.make())).second) << one.what;
  Program program = study_.program;
  program.recipe.seed = 77;
  EXPECT_TRUE(hashes.insert(hash_of(program)).second);
  program = study_.program;
  program.validation = nullptr;
  EXPECT_TRUE(hashes.insert(hash_of(program)).second);
  program = study_.program;
  program.recipe.checkpoint = "somewhere";
  EXPECT_EQ(hash_of(program), hash_of(study_.program));
}

TEST_F(SourceTraining, TakesDamagedNetworksForNoneAndTrainsThemAgain) {
  const std::string key = train_programs({job("original")}, plan(), silence())[0].key;
  const std::string hash = store().find(key)->hash();
  std::string bytes = read_file(store().folder() / (key + ".onnx"));
  bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 1);
  write_file(store().folder() / (key + ".onnx"), bytes);
  EXPECT_FALSE(store().find(key));
  EXPECT_EQ(store().list(true).at(0).status, TrainedStore::Status::damaged);
  EXPECT_FALSE(train_programs({job("original")}, plan(), silence())[0].known);
  EXPECT_EQ(store().find(key)->hash(), hash);
  for (const char* text : {"", "{", "[1]", "{\"format\": 3}", "{\"format\": \"assay trained network 1\"}"}) {
    write_file(store().folder() / (key + ".json"), std::string_view(text));
    EXPECT_FALSE(store().find(key)) << text;
    EXPECT_EQ(store().list(true).at(0).status, TrainedStore::Status::unfinished) << text;
  }
}

TEST_F(SourceTraining, GoesOnFromACheckpointAndStandsASpoiltOne) {
  Program program = study_.program;
  const Trained calm = train_programs({job("original")}, plan("calm"), silence())[0];
  fs::create_directories(store().folder());
  program.recipe.epochs = 3;
  program.recipe.checkpoint = store().checkpoint(calm.key);
  // As a kill behind the last epoch leaves it.
  training::train(program.graph, program.training, program.validation, program.recipe, {.threads = 1},
                  silence());
  ASSERT_TRUE(fs::exists(program.recipe.checkpoint));
  EXPECT_EQ(store().list(false).at(0).status, TrainedStore::Status::unfinished);
  train_programs({job("original")}, plan(), silence());
  EXPECT_EQ(store().find(calm.key)->hash(), TrainedStore(plan("calm").store).find(calm.key)->hash());
  EXPECT_FALSE(fs::exists(program.recipe.checkpoint));
  store().remove(calm.key);
  EXPECT_TRUE(store().list(false).empty());
  write_file(program.recipe.checkpoint, std::string_view("no checkpoint"));
  EXPECT_TRUE(train_programs({job("original")}, plan(), silence())[0].failure.empty());
}

TEST_F(SourceTraining, RemembersWhatCannotBeTrained) {
  TrainingJob wild = job("original");
  wild.make = [this] {
    Program program = study_.program;
    program.recipe.learning_rate = 1e30;
    return program;
  };
  const Trained first = train_programs({wild}, plan(), silence())[0],
                again = train_programs({wild}, plan(), silence())[0];
  EXPECT_NE(first.failure.find("finite"), std::string::npos) << first.failure;
  EXPECT_EQ(again.failure, first.failure);
  EXPECT_FALSE(first.known);
  EXPECT_TRUE(again.known);
  EXPECT_EQ(store().list(true).at(0).status, TrainedStore::Status::failed);
}

TEST_F(SourceTraining, TrainedMutantsAreJudgedLikeOthers) {
  const auto trained = train_programs(jobs(), plan(), silence());
  const auto kept = std::make_shared<const TrainedStore>(store());
  const Session original(*kept->find(trained[0].key));
  std::vector<PlannedMutant> planned_mutants;
  for (std::size_t i = 1; i < trained.size(); ++i) {
    const Mutant mutant = *jobs()[i].mutant;
    planned_mutants.push_back(
        planned(kept, mutant, apply(study_.program, study_.subject, mutant), trained[i]));
  }
  // The same network under another name is never killed.
  planned_mutants.push_back(planned_mutants[0]);
  planned_mutants.back().description.seed = 99;
  planned_mutants.back().make = [&] { return *kept->find(trained[0].key); };
  RunFigures figures;
  const MutationState state = run_mutants(original, planned_mutants, study_.program.validation,
                                          {.quality = 1}, nullptr, figures, silence());
  ASSERT_EQ(state.mutants().size(), 4U);
  const ValueId decision = original.logits();
  const Batch batch = study_.program.validation->read(std::vector<std::size_t>{0, 1, 2, 3, 4, 5, 6, 7});
  for (const MutantOutcome& mutant : state.mutants()) {
    if (mutant.seed == 99) {
      EXPECT_EQ(mutant.killed.count(), 0U);
      continue;
    }
    std::size_t i = 1;
    while (jobs()[i].mutant->op.text() != mutant.op) ++i;
    // A plain second way: classes of both networks, record by record.
    const Session network(*kept->find(trained[i].key));
    const ValueId theirs = network.logits();
    const Array before = original.run(original.bind(batch), std::span(&decision, 1)).at(decision).argmax(1),
                after = network.run(network.bind(batch), std::span(&theirs, 1)).at(theirs).argmax(1);
    for (std::size_t r = 0; r < state.records().size(); ++r) {
      const std::size_t at = std::stoul(state.records()[r].id);
      if (!state.records()[r].judged || at >= 8) continue;
      const auto row = static_cast<std::int64_t>(at);
      EXPECT_EQ(mutant.killed[r], before[row].item<std::int64_t>() != after[row].item<std::int64_t>())
          << mutant.id << " " << at;
    }
  }
}

TEST_F(SourceTraining, NetworksThatTakeOrGiveSomethingElseAreNamed) {
  const Session original(study_.program.graph);
  test::Net net("narrow");
  const Graph other = net.build(net.dense("logits", net.input({-1, 6}), 6, 4));
  try {
    Replay(original, other, false, true);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.fault(), Fault::mismatch);
    EXPECT_NE(std::string(error.what()).find("narrow"), std::string::npos) << error.what();
  }
}

// The protocol: what a trainer is given, and what it may do.

TEST_F(SourceTraining, ACommandGetsDataNetworkAndDescription) {
  const std::string copy = (folder_ / "copy").string();
  const Trained trained =
      by_script("cp -r \"$(dirname \"$1\")\" '" + copy +
                "'\n"
                "cp \"$(dirname \"$1\")/network.onnx\" \"$(dirname \"$1\")/trained.onnx\"\n");
  ASSERT_TRUE(trained.failure.empty()) << trained.failure;
  const Program program = jobs()[1].make();
  EXPECT_EQ(store().find(trained.key)->hash(), program.graph.hash());
  EXPECT_EQ(test::contents_of(*open_dataset(copy + "/training.npz")).inputs,
            test::contents_of(*program.training).inputs);
  EXPECT_EQ(test::contents_of(*open_dataset(copy + "/training.npz")).labels,
            test::contents_of(*program.training).labels);
  EXPECT_EQ(open_dataset(copy + "/validation.npz")->size(), 16U);
  const std::string description = read_file(copy + "/mutant.json");
  for (const char* part :
       {"\"operator\": \"le\"", "\"ratio\": \"0.5\"", "\"place\": \"data\"", "\"batch\": 16",
        "\"name\": \"sgd\"", "\"momentum\": \"0.5\"", "\"learning_rate\": 0.1", "\"protocol\": 1"})
    EXPECT_NE(description.find(part), std::string::npos) << part << "\n" << description;
  // Nothing is left but what is kept.
  for (const auto& file : fs::directory_iterator(store().folder()))
    EXPECT_TRUE(file.is_regular_file()) << file.path();
}

TEST_F(SourceTraining, WhatCommandsDoWrongIsSaid) {
  const auto failure = [&](const std::string& script) {
    const Trained trained = by_script(script);
    EXPECT_FALSE(trained.failure.empty()) << script;
    EXPECT_FALSE(store().find(trained.key)) << script;
    return trained.failure;
  };
  EXPECT_NE(failure("echo too bad >&2; exit 3").find("exit code 3; it printed: too bad"), std::string::npos);
  EXPECT_NE(failure("kill -9 $$").find("signal 9"), std::string::npos);
  EXPECT_NE(failure("true").find("left no network"), std::string::npos);
  EXPECT_NE(failure("echo garbage > \"$(dirname \"$1\")/trained.onnx\"").find("trained.onnx"),
            std::string::npos);
  // A gigabyte would do the same; the output kept is a part of it.
  const Trained loud = by_script("yes | head -c 3000000; exit 1");
  EXPECT_NE(loud.failure.find("exit code 1"), std::string::npos);
  EXPECT_LT(fs::file_size(store().log(loud.key)), 300'000U);
}

TEST_F(SourceTraining, ACommandThatHangsIsEndedWithAllThatItStarted) {
  TrainingPlan plan = with_script("sleep 600 & sleep 600\n");
  plan.time_limit = 0.2;
  const Trained trained = train_programs({job("original")}, plan, silence())[0];
  EXPECT_NE(trained.failure.find("took more than 0.2 s"), std::string::npos) << trained.failure;
}

TEST_F(SourceTraining, OneFailureDoesNotStopTheOthers) {
  const TrainingPlan plan = with_script(
      "grep -q '\"operator\": \"le\"' \"$1\" && exit 1\n"
      "cp \"$(dirname \"$1\")/network.onnx\" \"$(dirname \"$1\")/trained.onnx\"\n");
  const auto trained = train_programs(jobs(), plan, silence());
  EXPECT_TRUE(trained[0].failure.empty()) << trained[0].failure;
  EXPECT_FALSE(trained[1].failure.empty());
  EXPECT_TRUE(trained[2].failure.empty());
  EXPECT_TRUE(trained[3].failure.empty());
  // A command may do better the next time.
  const auto again = train_programs(jobs(), plan, silence());
  EXPECT_TRUE(again[0].known);
  EXPECT_FALSE(again[1].known);
}

TEST_F(SourceTraining, MutantsAndTheOriginalAreNetworksOfTheStore) {
  const Graph original = train_original(study_.program, plan(), silence());
  const std::vector<Mutant> mutants{parse_mutant("le[ratio=0.5]@data#1"), parse_mutant("afrs@square#1")};
  const TrainedMutants found = train_mutants(study_.program, study_.subject, mutants, plan(), silence());
  ASSERT_EQ(found.trained.size(), 2U);
  ASSERT_EQ(found.planned.size(), 2U);
  EXPECT_EQ(train_mutant(study_.program, study_.subject, mutants[1], plan(), silence()).hash(),
            store().find(found.trained[1].key)->hash());
  EXPECT_EQ(store().list(false).size(), 3U) << "nothing is trained twice";
  const Session session(original, {.threads = 1});
  std::vector<PlannedMutant> planned = found.planned;
  planned.push_back(found.planned[0]);
  planned.back().description.id = "the original";
  planned.back().description.seed = 99;
  planned.back().make = [original] { return original; };
  EXPECT_TRUE(not_killed(session, planned, study_.program.training, {}, silence())
                  .contains(planned.back().description.key()));
}

TEST_F(SourceTraining, AStoreIsPrunedByKind) {
  train_programs(jobs(), plan(), silence());
  by_script("exit 1");
  const std::size_t all = store().list(false).size();
  EXPECT_EQ(prune_store(store(), "").kept.size(), all);
  const PrunedStore failed = prune_store(store(), "failed");
  EXPECT_EQ(failed.kept.size() + failed.removed, all);
  EXPECT_EQ(prune_store(store(), "all").removed, failed.kept.size());
  EXPECT_TRUE(store().list(false).empty());
}

}  // namespace
}  // namespace assay::mutation
