#pragma once

// Attacking a data set: records are chosen, attacked in batches, stored as a data set, read back and checked
// again (docs/algorithms/attacks.md). What your own attack sees is in <assay/extend/attack_problem.h>.

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <assay/dataset.h>
#include <assay/extend/attack_problem.h>
#include <assay/extend/catalogue.h>
#include <assay/progress.h>
#include <assay/session.h>

namespace assay::task {
class Task;
}

namespace assay::attack {

class AttackedNetwork;
struct AttackProblem;

// Immutable; may be used for any number of batches.
class Attack {
 public:
  static constexpr const char* kind = "attack";
  virtual ~Attack() = default;
  // Changed inputs, in the order of the problem's records, in [0, 1]. Every record has a separate search: its
  // result depends only on the record, its random stream and the options, up to float rounding. Records for
  // which nothing was found come back as the search left them. The result must be a tensor shaped as
  // problem.inputs, float32 without NaN; anything else ends the analysis with an error.
  virtual Array perturb(const AttackedNetwork& network, const AttackProblem& problem) const = 0;
};

// An option that says how strong the change is, so that accuracy can be measured along it.
struct Severity {
  std::string option;   // "eps"
  double nothing = 0;   // the value with which every record stays as it is
  bool nested = false;  // what a weaker change may make, a stronger one may, too: the radius of a ball
};

struct AttackInfo {
  std::string name, summary;  // "fgsm", one line
  std::string definition;     // what it does, exactly
  std::string limits;         // when not to believe it
  std::string paper;
  std::vector<SpecOption> options;
  std::vector<Severity> severities = {};
  // Default of the class to reach: "none" (any other) or a word of target_option(). Empty: the attack has no
  // targets.
  std::string target = "none";
  std::function<std::unique_ptr<Attack>(const SpecOptions& options)> make = {};
};

Catalogue<AttackInfo>& attacks();
// Attacks with the options that a paper uses.
Catalogue<Preset>& presets();

// An attack by name, or the caller's object that is in no catalogue. An object ignores options.
using AttackChoice = Choice<Attack>;

// Throws Error{usage} for options that do not exist or make no sense.
std::shared_ptr<const Attack> make_attack(const AttackChoice& choice);
// The choice's spec with all options of the attack, its own and `target`, defaults filled in.
Spec whole_spec(const AttackChoice& choice);

// "fgsm,pgd[eps=0.1,steps=5],deepimportance": attacks separated by commas outside of brackets; the name of a
// preset stands for all of its attacks. Throws Error{usage} for attacks and options that do not exist.
std::vector<Spec> parse_attacks(const std::string& text);

// Attacks that can aim have this option in addition to their own: the class to reach.
SpecOption target_option(const AttackInfo& info);

// One record that was attacked. Distances are shares of the valid range; passes are those of the network.
struct AttackedRecord {
  std::size_t original = 0;    // position in the data set
  std::int64_t predicted = 0;  // class of the changed record; for regression 0, or 1: moved
  bool success = false;
  bool finite = true;  // what the network gives; a NaN is a wrong decision, but no success
  double l0 = 0, l2 = 0, linf = 0;
  std::uint64_t forward = 0, backward = 0;
};

// What an attack on records with many items is to reach.
struct ItemGoal {
  enum class Kind { change, hide, appear };
  Kind kind = Kind::change;
  std::int64_t of_class = -1;  // all of whose items are to be hidden, or that is to appear
};

struct AttackOptions {
  std::size_t batch = 0;  // 0: chosen for the network
  std::uint64_t seed = 1;
  bool all = false;  // attack also records that the network gets wrong (they are to leave the class it names)
  bool only_successful = false;         // store only records that succeed
  std::set<std::size_t> left_out = {};  // positions of records that are not attacked
  // Store 8-bit levels of the valid range, not float32; always so where the network takes levels.
  bool levels = false;
  std::filesystem::path journal = {};  // of finished batches, to go on from them; empty: nowhere
  // Regression: outputs that move by more than this away from their targets are a success. Items: more than
  // this share of those decided correctly has to be decided differently, or of others to become the class.
  double margin = 0.2;
  ItemGoal goal = {};
  std::shared_ptr<const task::Task> task = {};  // decides if records have many items
};

// The ending of a search without any gradient, for example where functions saturate.
inline constexpr std::string_view no_gradient = "every gradient was 0";

// Summary of one attack. Success, distances and predictions are those of the records as read back from the
// file; distances are shares of the valid range, means over the successful records.
struct AttackSummary {
  Spec spec;  // with all options
  std::filesystem::path
      file;          // holds x, y, ids, original, success, predicted, l0, l2, linf, forward, backward
  std::string data;  // the spec under which the file is to be opened: path and preprocessing
  std::size_t walked = 0, attacked = 0, stored = 0, succeeded = 0;
  std::size_t lost = 0;                        // succeeded in the search and no more after storing
  bool levels = false;                         // stored as 8-bit levels
  double l0 = 0, l2 = 0, linf = 0;             // l0: elements changed by more than 1e-6 of the range
  double forward = 0, backward = 0;            // passes per attacked record
  double seconds = 0;                          // of the search
  std::vector<AttackedRecord> records;         // as the file has them, without their inputs
  std::map<std::string, std::size_t> endings;  // why searches ended without success, where attacks say so
};

// Writes `file` (.npz; under a temporary name, renamed). After an interruption the file is unchanged and the
// journal holds what was finished. A journal also remains after a finished attack: the caller removes it
// (Journal::remove) once nothing has to be repeated. Throws Error{mismatch} for the journal of another
// attack.
AttackSummary attack_dataset(const Session& session, DatasetPtr dataset, const AttackChoice& attack,
                             const std::filesystem::path& file, const AttackOptions& options,
                             Progress& progress);

// Journal of an attack that makes `file`: next to it.
std::filesystem::path journal_of(const std::filesystem::path& file);

// Unique names of attacks: fgsm, noise, fgsm-2.
std::vector<std::string> names_of(std::span<const Spec> attacks);

}  // namespace assay::attack
