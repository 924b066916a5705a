#include <assay/retraining.h>

#include <algorithm>
#include <map>
#include <optional>

#include <assay/adapt.h>
#include <assay/dataset.h>
#include <assay/error.h>
#include <assay/evaluate.h>
#include <assay/extend/random.h>
#include <assay/model.h>
#include <assay/task.h>
#include "assay/data/views.h"
#include "assay/support/conditions.h"
#include "assay/support/files/binary.h"
#include "assay/support/files/file.h"
#include "assay/support/files/hash.h"
#include "assay/support/files/journal.h"

namespace assay::retraining {
namespace {

// Names the run in front of each of its stages.
class RunProgress final : public Progress {
 public:
  RunProgress(Progress& to, std::string run) : to_(to), run_(std::move(run)) {}
  void begin(std::string_view stage, std::size_t total, std::string_view unit) override {
    to_.begin(fmt::format("{}, {}", run_, stage), total, unit);
  }
  void advance(std::size_t done, std::string_view note) override { to_.advance(done, note); }
  void end() override { to_.end(); }
  void notice(std::string_view message) override { to_.notice(message); }

 private:
  Progress& to_;
  std::string run_;
};

// Finished runs by what decides them, a hash that is the id of their entry: a plan with other conditions or
// more repeats finds the runs that it shares.
class FinishedRuns {
 public:
  struct Outcome {
    std::vector<double> scores;
    std::string network;  // hash of the network's file; empty when none was written
  };

  explicit FinishedRuns(const std::filesystem::path& path) {
    if (path.empty()) return;
    journal_.emplace(path, JournalKey("retraining"));
    try {
      for (const Journal::Entry& entry : journal_->found()) {
        const nlohmann::json json = from_bytes(entry.bytes);
        known_[std::string(entry.id)] = {from_binary<double>(json.at("scores")),
                                         json.at("network").get<std::string>()};
      }
    } catch (const std::exception& error) {
      pass_on_condition();
      journal_->refuse(error.what());
    }
  }

  const Outcome* find(const std::string& key) const {
    const auto it = known_.find(key);
    return it == known_.end() ? nullptr : &it->second;
  }
  void add(const std::string& key, const Outcome& outcome) {
    if (journal_)
      journal_->append(key, to_bytes({{"scores", to_binary(outcome.scores)}, {"network", outcome.network}}));
  }

 private:
  std::optional<Journal> journal_;
  std::map<std::string, Outcome> known_;
};

class Retrainer {
 public:
  Retrainer(const Graph& graph, const RetrainingPlan& plan, const SessionOptions& options, Progress& progress)
      : graph_(graph), plan_(plan), options_(options), progress_(progress), finished_(plan.journal) {
    if (plan.conditions.empty() || plan.sets.empty() || plan.repeats < 1)
      fail(Fault::usage, "retraining needs a condition, a data set to evaluate on and a repeat");
    for (const Condition& condition : plan.conditions) {
      if (!condition.candidates) continue;
      if (plan.count < 1 || plan.count > condition.candidates->size()) {
        fail(Fault::usage,
             "'{}': {} additions are wanted, but there are only {} ({}); ask for fewer{}, or give more "
             "records",
             condition.name, plan.count, condition.candidates->size(), condition.candidates->describe(),
             About{" additions", " ({count})"});
      }
      joined({plan.training, condition.candidates});  // what does not fit shows before any work
    }
    what_stays_ = Hasher()
                      .text(graph.hash())
                      .text(plan.training->hash())
                      .text(training::recipe_hash(plan.recipe))
                      .number(static_cast<std::int64_t>(plan.recipe.epochs))
                      .number(static_cast<std::int64_t>(plan.count))
                      .number(static_cast<std::int64_t>(plan.seed))
                      .number(static_cast<std::int64_t>(plan.batch))
                      .number(options.threads)
                      .text(options.device)
                      .text(plan.task ? plan.task->describe() : "")
                      .hex();
  }

  Retraining run() {
    Retraining result;
    result.before = scores(graph_, "before", result.higher_is_better);
    for (std::size_t repeat = 0; repeat < plan_.repeats; ++repeat) {
      for (const Condition& condition : plan_.conditions) {
        const std::string key = key_of(condition, repeat);
        const FinishedRuns::Outcome* known = finished_.find(key);
        if (known != nullptr && is_written(*known, condition, repeat)) {
          result.runs.push_back({condition.name, repeat, known->scores});
          ++result.reused;
          continue;
        }
        const FinishedRuns::Outcome outcome = run(condition, repeat);
        finished_.add(key, outcome);
        result.runs.push_back({condition.name, repeat, outcome.scores});
      }
    }
    return result;
  }

 private:
  std::string key_of(const Condition& condition, std::size_t repeat) const {
    Hasher key;
    key.text(what_stays_)
        .number(static_cast<std::int64_t>(repeat))
        .text(condition.candidates ? condition.candidates->hash() : "none");
    for (const EvaluationSet& set : plan_.sets) key.text(set.data->hash());
    return key.hex();
  }

  std::filesystem::path file_of(const Condition& condition, std::size_t repeat) const {
    return plan_.networks.empty() || repeat > 0 ? std::filesystem::path()
                                                : plan_.networks / (condition.name + ".onnx");
  }

  // Whether the network that the run should have left behind is there.
  bool is_written(const FinishedRuns::Outcome& outcome, const Condition& condition,
                  std::size_t repeat) const {
    const std::filesystem::path file = file_of(condition, repeat);
    return file.empty() || (std::filesystem::exists(file) && hash_hex(read_file(file)) == outcome.network);
  }

  FinishedRuns::Outcome run(const Condition& condition, std::size_t repeat) {
    const std::string name = fmt::format("{} {}/{}", condition.name, repeat + 1, plan_.repeats);
    RunProgress progress(progress_, name);
    DatasetPtr training = plan_.training;
    if (condition.candidates) {
      training =
          joined({training,
                  selected(condition.candidates,
                           Rng(plan_.seed, {repeat, 0}).sample(condition.candidates->size(), plan_.count))});
    }
    training::Recipe recipe = plan_.recipe;
    recipe.initialiser = "keep";
    recipe.seed = Rng(plan_.seed, {repeat, 1}).next();
    recipe.best_epoch = false;
    recipe.checkpoint.clear();
    const Graph graph =
        training::train(graph_, training, nullptr, recipe, options_, progress, nullptr, plan_.task).graph;
    bool ignored = true;
    FinishedRuns::Outcome outcome{scores(graph, name, ignored), {}};
    const std::filesystem::path file = file_of(condition, repeat);
    if (!file.empty()) {
      write_onnx(in_form_of_file(graph, plan_.form), file);
      outcome.network = hash_hex(read_file(file));
    }
    return outcome;
  }

  std::vector<double> scores(const Graph& graph, const std::string& name, bool& higher_is_better) const {
    const Session session(graph, options_);
    std::vector<double> scores;
    for (const EvaluationSet& set : plan_.sets) {
      const Evaluation evaluation = task::evaluate_decisions(
          session, set.data, plan_.task.get(),
          {.batch = plan_.batch, .stage = fmt::format("{}, evaluating on {}", name, set.name)}, progress_);
      if (!evaluation.accuracy && !evaluation.mean_squared_error) {
        fail(Fault::mismatch,
             "{} has neither labels nor targets that fit the network: nothing can be evaluated on it",
             set.data->describe());
      }
      higher_is_better = evaluation.accuracy.has_value();
      scores.push_back(evaluation.accuracy ? *evaluation.accuracy : *evaluation.mean_squared_error);
    }
    return scores;
  }

  const Graph& graph_;
  const RetrainingPlan& plan_;
  SessionOptions options_;
  Progress& progress_;
  FinishedRuns finished_;
  std::string what_stays_;
};

// Scores of a condition on one set, by repeat; empty for a condition that is not there.
std::vector<double> scores_of(const Retraining& retraining, const std::string& condition, std::size_t set) {
  std::vector<double> scores;
  for (const RetrainingRun& run : retraining.runs) {
    if (run.condition == condition) scores.push_back(run.scores.at(set));
  }
  return scores;
}

}  // namespace

Retraining retrain(const Graph& graph, const RetrainingPlan& plan, const SessionOptions& options,
                   Progress& progress) {
  return Retrainer(graph, plan, options, progress).run();
}

std::vector<ConditionScore> compare(const RetrainingPlan& plan, const Retraining& retraining,
                                    const std::string& control, const std::string& reference) {
  std::vector<ConditionScore> rows;
  for (std::size_t s = 0; s < plan.sets.size(); ++s) {
    for (const Condition& condition : plan.conditions) {
      const std::vector<double> scores = scores_of(retraining, condition.name, s);
      const auto difference_to = [&](const std::string& other) -> std::optional<Interval> {
        const std::vector<double> theirs = scores_of(retraining, other, s);
        if (other == condition.name || condition.name == control || theirs.empty()) return std::nullopt;
        return paired_difference(scores, theirs);
      };
      rows.push_back({condition.name, plan.sets[s].name, interval_of(scores), difference_to(control),
                      difference_to(reference)});
    }
  }
  return rows;
}

}  // namespace assay::retraining
