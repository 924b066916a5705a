#pragma once

// Mutants of training programs: drawing and making them, training them, and storing trained networks (Ma et
// al., DeepMutation, ISSRE 2018; Humbatova et al., DeepCrime, ISSTA 2021; docs/source-mutation.md).

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <assay/extend/mutation_operator.h>
#include <assay/mutation.h>
#include <assay/progress.h>

namespace assay::mutation {

// A mutated program with what was changed.
struct ProgramMutation {
  Program program;
  std::int64_t sites = 0;
  std::string summary;  // "label error: 23 of 5000 records have another label"
};

// The original is untouched. The subject is that of the program's graph. Deterministic: randomness comes from
// streams named by seed, operator and place. `mutant.layer` is the place; empty stands for the only place of
// operators that have one. Throws Error{usage} when the operator does not apply, with the reason.
ProgramMutation apply(const Program& program, const Subject& subject, const Mutant& mutant);

// Mutants of the operators of the levels data, structure and recipe in `options`, with their places filled
// in; `options.layers` names places, `whole_network` does not matter. Every mutant changes something, and no
// two of an operator give the same program. Throws Error{usage} for operators, options and places that do not
// exist.
Drawn draw_mutants(const Program& program, const Subject& subject, const DrawOptions& options);

// The same program with its data in memory, where they take at most `most` bytes, so that all mutants share
// one reading. Nothing else changes, its hash included.
Program with_data_in_memory(Program program, std::uint64_t most = std::uint64_t{1} << 30);

// What decides the result of training, as 32 hex digits: data, graph, recipe and seed. Reads all records
// once.
std::string hash_of(const Program& program);

// Scores of a trained network on a data set.
struct TrainedScore {
  double value = 0;              // accuracy, share of right items, or mean squared error of a regression
  std::vector<bool> right = {};  // by record, of many items all that count; empty for a regression
  bool operator==(const TrainedScore&) const = default;
};

// Trained networks in a folder, each under the hash of what it was trained from. Several processes may use
// one store. Files are complete or absent; damaged files count as absent.
class TrainedStore {
 public:
  enum class Status { trained, failed, unfinished, damaged };
  struct Entry {
    std::string key, what, status_text;  // "le@data#17"; for a failure why
    Status status = Status::trained;
    std::string network;  // content hash of the graph; empty where there is none
    std::uintmax_t bytes = 0;
  };

  explicit TrainedStore(std::filesystem::path folder) : folder_(std::move(folder)) {}
  const std::filesystem::path& folder() const { return folder_; }

  // The network; nothing where there is none or its file is not what was written.
  std::optional<Graph> find(const std::string& key) const;
  // Whether there is a network, unread.
  bool holds(const std::string& key) const;
  // Why a program cannot be trained, where that is known for good; empty otherwise.
  std::string failure(const std::string& key) const;
  // `what` is for people. Throws Error{io}.
  void keep(const std::string& key, const std::string& what, const Graph& network) const;
  void keep_failure(const std::string& key, const std::string& what, const std::string& reason) const;
  // What a network scored on a data set, by that set's hash; nothing where it is not known.
  std::optional<TrainedScore> score(const std::string& key, const std::string& data) const;
  void keep_score(const std::string& key, const std::string& data, const TrainedScore& score) const;
  // Where the training of a program may leave its checkpoint.
  std::filesystem::path checkpoint(const std::string& key) const;
  // Where what a trainer printed is kept.
  std::filesystem::path log(const std::string& key) const;

  // All entries by key. `verify`: reads every network and compares it with what was written. Throws Error{io}
  // where the folder cannot be read, Error{usage} where it is not a store.
  std::vector<Entry> list(bool verify) const;
  // Removes an entry with all its files. Throws Error{io}.
  void remove(const std::string& key) const;

 private:
  std::filesystem::path folder_;
};

// How programs become networks.
struct TrainingPlan {
  std::filesystem::path store;
  std::string task = {};     // spec of the task of records with many items; empty: one decision a record
  std::string command = {};  // of a trainer of the user's own (docs/source-mutation.md); empty: Assay trains
  double time_limit = 0;     // seconds for one training by `command`; 0: any
  bool pictures = false;     // `command` gets its data as folders of pictures, not as .npz
  std::size_t jobs = 0;      // trainings at a time; 0: one a core. Assay's own take one thread each
  SessionOptions session = {};  // device and limits of Assay's own
};

// One training to be done. `make` may be called from several threads.
struct TrainingJob {
  std::string what;              // "original", or the text of a mutant
  std::optional<Mutant> mutant;  // for the user's trainer; none for the original
  std::function<Program()> make;
};

struct Trained {
  std::string key;      // in the store
  std::string failure;  // why there is no network; empty when there is one
  bool known = false;   // it was in the store
};

// Trains what is not in the store yet, in any order, several at a time; ranks of a launcher share the jobs
// and the store. What goes wrong with one is its failure. Results do not depend on the number of jobs. Throws
// Error{io} when the store cannot be written or a rank does not see what another has kept there,
// Error{interrupted} on Ctrl-C; what was finished is kept, trainings by Assay continue from their last epoch.
std::vector<Trained> train_programs(const std::vector<TrainingJob>& jobs, const TrainingPlan& plan,
                                    Progress& progress);

// A trained mutant as run_mutants() takes it. REQUIRES no failure.
PlannedMutant planned(std::shared_ptr<const TrainedStore> store, const Mutant& mutant,
                      const ProgramMutation& made, const Trained& trained);

}  // namespace assay::mutation
