#pragma once

// Results about mutants: which record kills which. States of the same network can be combined in any order
// with the same result: over other mutants (shards), other records (more tests), or both.

#include <array>
#include <compare>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace assay::mutation {

// A record by its content, so that results outlive a data set that grows or is put in another order. Equal
// records are numbered in the order in which they come.
struct RecordKey {
  std::array<std::uint64_t, 2> content{};
  std::uint32_t repetition = 0;
  auto operator<=>(const RecordKey&) const = default;
};

struct MutationRecord {
  RecordKey key;
  std::string id;  // as the data set names it
  std::int64_t expected =
      0;                // the class that the original gives, which is the record's label; 0 for regression
  bool judged = false;  // whether it belongs to T': the original is right about it, and finite
  // Of tasks of items: the classes of those that the original decides correctly, ascending.
  std::vector<std::int64_t> item_classes = {};
};

// One bit a record.
class Bits {
 public:
  bool operator[](std::size_t i) const {
    return i / 64 < words_.size() && (words_[i / 64] >> (i % 64) & 1) != 0;
  }
  void set(std::size_t i);
  std::size_t count() const;
  const std::vector<std::uint64_t>& words() const { return words_; }
  // Throws std::runtime_error when bits beyond `size` are set.
  static Bits from(std::vector<std::uint64_t> words, std::size_t size);
  bool operator==(const Bits&) const = default;

 private:
  std::vector<std::uint64_t> words_;  // without zero words at the end
};

// How near a record came to killing.
struct NearMiss {
  double slack = std::numeric_limits<double>::infinity();  // of Judge::Verdict
  std::size_t record = 0;
};

struct MutantOutcome {
  std::string id;  // "gf-conv2-17"
  std::string op, operator_name,
      layer;  // the operator as it was requested, its name, the layer; "" for the whole network
  std::uint64_t seed = 0;
  std::int64_t sites = 0;        // weights or neurons or layers changed
  std::string summary, changes;  // in words; the first few changes, one by one
  Bits known, killed;            // per record of the state; only judged records count
  Bits non_finite;               // those it answers with a NaN or infinity, which kills
  // Of tasks of items, by class: the records of which it decides more than the share of the right items of
  // the class differently.
  std::map<std::int64_t, Bits> killed_of = {};
  double change = 0;  // largest change of a decision value
  double decisiveness =
      0;  // of its surest kill: distance beyond the other answer over the size of the values
  std::vector<NearMiss>
      nearest;  // up to `nearest_kept` records that came nearest to killing without doing so, nearest first
  // Whether the training data kill it; a mutant that they do not kill does not count. Unknown unless
  // requested.
  std::optional<bool> killable = {};

  static constexpr std::size_t nearest_kept = 3;
  void note_miss(NearMiss miss);
  // Identity of a mutant within a network: operator, layer and seed.
  std::string key() const;
};

class MutationState {
 public:
  // `task`: what decided (Task::describe()) where a record has many items; empty: one decision a record.
  MutationState(std::string model_hash, std::string model, std::size_t classes, std::optional<double> margin,
                std::string task = {})
      : model_hash_(std::move(model_hash)),
        model_(std::move(model)),
        task_(std::move(task)),
        classes_(classes),
        margin_(margin) {}

  const std::string& model_hash() const { return model_hash_; }
  const std::string& model() const { return model_; }
  std::size_t classes() const { return classes_; }  // 1 for regression and for tasks of items
  const std::string& task() const { return task_; }
  const std::optional<double>& margin() const { return margin_; }

  const std::vector<MutationRecord>& records() const { return records_; }
  const std::vector<MutantOutcome>& mutants() const { return mutants_; }
  MutantOutcome& mutant(std::size_t i) { return mutants_[i]; }
  std::size_t judged() const;  // records in T'
  // Class names, of items where records have many; numbers where there are none.
  std::vector<std::string> class_names;
  std::string divergence;  // Divergence::describe() of what kills beside decisions; empty: nothing does
  // Operators that do not apply, with layer and reason.
  struct NotApplicable {
    std::string op, layer, reason;
    auto operator<=>(const NotApplicable&) const = default;
  };
  std::vector<NotApplicable> not_applicable;

  // Position of a record or mutant, added when it is not there. Throws Error{mismatch} when a record is known
  // with another label.
  std::size_t add(const MutationRecord& record);
  std::size_t add(const MutantOutcome& mutant);
  // Keeps only records (or mutants) that are marked.
  void keep_records(const std::vector<bool>& keep);
  void keep_mutants(const std::vector<bool>& keep);

  // Adds all that `other` knows; positions of what is here stay. Throws Error{mismatch} for a state of
  // another network, task or margin, when both know an outcome and differ, or when one knows what the
  // training data kill and the other does not.
  void merge(const MutationState& other);
  // Records and mutants in the order of their keys: states with the same content become equal.
  void sort();

  // CBOR with a checksum; the same content gives the same bytes.
  void write(const std::filesystem::path& path) const;
  // Throws Error{io} or Error{data}.
  static MutationState read(const std::filesystem::path& path);

 private:
  void reorder(
      const std::vector<std::size_t>& records);  // new order as old positions; those not named are dropped

  std::string model_hash_, model_, task_;
  std::size_t classes_;
  std::optional<double> margin_;
  std::vector<MutationRecord> records_;
  std::vector<MutantOutcome> mutants_;
  std::map<RecordKey, std::size_t> record_at_;
  std::map<std::string, std::size_t> mutant_at_;
};

}  // namespace assay::mutation
