// Training programs, several at a time, each once.

#include <atomic>

#include <assay/error.h>
#include <assay/source_mutation.h>
#include <assay/task.h>
#include "assay/mutation/outcome.h"
#include "assay/mutation/source/external.h"
#include "assay/mutation/source/program.h"
#include "assay/support/conditions.h"
#include "assay/support/files/binary.h"
#include "assay/support/files/file_lock.h"
#include "assay/support/files/hash.h"
#include "assay/support/ranks/shared_work.h"
#include "assay/support/threads.h"

namespace assay::mutation {
namespace {

// Progress of a training that runs with others: it only asks whether to stop.
class Stoppable final : public Progress {
 public:
  explicit Stoppable(const std::atomic<bool>& stop) : stop_(stop) {}
  void begin(std::string_view, std::size_t, std::string_view) override {}
  void advance(std::size_t, std::string_view) override {
    if (stop_) throw Error(Fault::interrupted, "interrupted");
  }
  void end() override {}
  void notice(std::string_view) override {}

 private:
  const std::atomic<bool>& stop_;
};

class ProgramTrainer {
 public:
  ProgramTrainer(const TrainingPlan& plan, std::size_t jobs, Progress& progress)
      : plan_(plan),
        store_(plan.store),
        progress_(progress),
        stage_(progress, "training", jobs, "networks") {}

  // Called by several threads.
  Trained train(const TrainingJob& job) {
    Trained trained;
    try {
      const Program program = job.make();
      trained.key = key_of(program);
      look_up(trained);
      if (trained.known && !has_left_overs(trained.key)) return trained;
      // Another run may train the same one: then its network is taken.
      const FileLock lock(store_.folder() / trained.key, FileLock::Taken::wait);
      look_up(trained);
      if (!trained.known) trained.failure = fresh(job, program, trained.key);
      std::error_code ignored;  // what a kill may have left
      std::filesystem::remove(store_.checkpoint(trained.key), ignored);
    } catch (...) {
      stop_ = true;
      throw;
    }
    return trained;
  }

  void note(const TrainingJob& job, const Trained& trained) {
    known_ += trained.known;
    if (!trained.failure.empty()) progress_.notice(fmt::format("{}: {}", job.what, trained.failure));
    stage_.advance(1, known_ == 0 ? std::string() : fmt::format("{} were trained before", known_));
  }

  // Networks that other ranks have trained are read from the store.
  void require_there(const TrainingJob& job, const Trained& trained) const {
    if (trained.failure.empty() && !store_.holds(trained.key))
      fail(Fault::io,
           "{}: the network of {} is not there; either the store is not a folder that all ranks share, or "
           "the file was removed",
           store_.folder().string(), job.what);
  }

 private:
  std::string key_of(const Program& program) const {
    Hasher hasher;
    hasher.text(hash_of(program)).text(plan_.command + (plan_.pictures ? " of pictures" : ""));
    if (!plan_.task.empty()) hasher.text(plan_.task);
    return hasher.hex();
  }

  void look_up(Trained& trained) const {
    trained.failure = store_.failure(trained.key);
    trained.known = !trained.failure.empty() || store_.find(trained.key).has_value();
  }

  // Of a run that was killed, or of one that is under way.
  bool has_left_overs(const std::string& key) const {
    std::error_code ignored;
    return std::filesystem::exists(store_.checkpoint(key), ignored) ||
           std::filesystem::exists(store_.folder() / (key + ".lock"), ignored);
  }

  // Why it failed; empty when the network is in the store.
  std::string fresh(const TrainingJob& job, const Program& program, const std::string& key) {
    try {
      const Graph network = plan_.command.empty()
                                ? train_here(program, key)
                                : train_by_command(job, program, key, plan_, [this] { return stop_asked(); });
      require_running(network);
      store_.keep(key, job.what, network);
      return {};
    } catch (const Error& error) {
      if (error.fault() == Fault::interrupted || error.fault() == Fault::internal) throw;
      // Without a command the same would happen again.
      if (plan_.command.empty() && error.fault() == Fault::data)
        store_.keep_failure(key, job.what, error.what());
      return error.what();
    } catch (const std::exception& error) {  // of the engine's libraries
      pass_on_condition();
      return fmt::format("training stopped: {}", std::string_view(error.what()).substr(0, 200));
    }
  }

  // One that cannot run is none.
  void require_running(const Graph& network) const {
    SessionOptions options = plan_.session;
    options.threads = 1;
    const Session session(network, options);
    if (session.shape(session.logits()).empty())
      fail(Fault::unsupported, "network '{}' gives nothing that can be judged", network.name());
  }

  Graph train_here(Program program, const std::string& key) {
    program.recipe.checkpoint = store_.checkpoint(key);
    Stoppable progress(stop_);
    SessionOptions options = plan_.session;
    options.threads = 1;
    set_record_shapes(options, program.training->facts());
    const std::shared_ptr<const task::Task> task =
        task_for(plan_.task, Session(program.graph, options), program.training, 0);
    const auto train = [&] {
      return training::train(program.graph, program.training, program.validation, program.recipe, options,
                             progress, nullptr, task)
          .graph;
    };
    std::error_code unreadable;
    const bool resumed = std::filesystem::exists(program.recipe.checkpoint, unreadable);
    try {
      return train();
    } catch (const Error& error) {
      if (!resumed || error.fault() == Fault::interrupted) throw;
    }
    // A checkpoint that was spoilt must not stand in the way.
    std::filesystem::remove(program.recipe.checkpoint, unreadable);
    return train();
  }

  bool stop_asked() {
    if (stop_) return true;
    try {
      check_interrupt();
    } catch (const Error&) {
      stop_ = true;
    }
    return stop_;
  }

  const TrainingPlan& plan_;
  TrainedStore store_;
  Progress& progress_;
  Stage stage_;
  std::size_t known_ = 0;
  std::atomic<bool> stop_{false};
};

}  // namespace

std::shared_ptr<const task::Task> task_for(const std::string& spec, const Session& session,
                                           const DatasetPtr& records, std::size_t batch) {
  if (spec.empty()) return nullptr;
  return task::settled(session, records, task::task_of(session, records, spec), batch, silence());
}

std::vector<Trained> train_programs(const std::vector<TrainingJob>& jobs, const TrainingPlan& plan,
                                    Progress& progress) {
  std::vector<Trained> trained(jobs.size());
  ProgramTrainer trainer(plan, jobs.size(), progress);
  const std::size_t at_a_time = plan.jobs > 0 ? plan.jobs : available_threads();
  try {
    do_together(
        jobs.size(), at_a_time,
        [&](std::size_t i) {
          if (plan.command.empty()) set_engine_threads(1);
          const Trained found = trainer.train(jobs[i]);
          return to_bytes({found.key, found.failure, found.known});
        },
        [&](std::size_t i, std::string_view bytes) {
          const nlohmann::json found = from_bytes(bytes);
          trained[i] = {found.at(0), found.at(1), found.at(2)};
          trainer.note(jobs[i], trained[i]);
        });
  } catch (...) {
    set_engine_threads(plan.session.threads);
    throw;
  }
  set_engine_threads(plan.session.threads);
  for (std::size_t i = 0; i < jobs.size(); ++i) trainer.require_there(jobs[i], trained[i]);
  return trained;
}

PlannedMutant planned(std::shared_ptr<const TrainedStore> store, const Mutant& mutant,
                      const ProgramMutation& made, const Trained& trained) {
  return {outcome_of(mutant, made.sites, made.summary),
          [store = std::move(store), key = trained.key, what = mutant.text()] {
            std::optional<Graph> network = store->find(key);
            if (!network)
              fail(Fault::io, "{}: the network of {} is gone; run the same command again",
                   store->folder().string(), what);
            return std::move(*network);
          },
          true};
}

}  // namespace assay::mutation
