#pragma once

// Behaviours of hypotheses, kept from the first time they are computed: for the next network, the next query
// and, where a folder is given, the next run.
//
// A series is the values of one annotator for one set of records; behaviour_key() names it. The values used
// last are in memory, up to a limit. In the folder there is one file a series, which only grows: records with
// a checksum each, so that records that a kill cut off, or a disk damaged, are computed again. Several
// processes may use one folder and share results.

#include <cstdint>
#include <filesystem>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include <assay/extend/hypothesis.h>

namespace assay::inspection {

// Identity of behaviours: the annotator as the user named it, its version, and `records`, a hash of the data
// set and of the vocabulary that its tokens are read with. Empty if the annotator is never cached.
std::string behaviour_key(const Annotator& annotator, const std::string& spec, const std::string& records);

// Throws Error{data} naming hypothesis and record where there are not as many values as there should be, or
// one that a hypothesis of its kind cannot have.
void check_behaviours(const Annotator& annotator, const RecordBlock& records, const Behaviours& behaviours);

class BehaviourCache {
 public:
  // Memory only where `folder` is empty; else makes the folder. Throws Error{io}.
  explicit BehaviourCache(std::filesystem::path folder = {},
                          std::uint64_t memory_bytes = std::uint64_t{1} << 30);
  ~BehaviourCache();
  BehaviourCache(const BehaviourCache&) = delete;
  BehaviourCache& operator=(const BehaviourCache&) = delete;

  // Behaviours of these records, computed (and checked) for those that are not known; of all of them where
  // `key` is empty. Thread-safe. Throws what the annotator throws.
  Behaviours get_or_compute(const Annotator& annotator, const std::string& key, const RecordBlock& records);

  std::uint64_t hits() const;    // records times annotators that were known
  std::uint64_t misses() const;  // those that were computed
  std::uint64_t memory() const;  // bytes in use
  // A notice for users: that the disk is full and nothing more is kept.
  std::vector<std::string> notices() const;

 private:
  class Series;
  struct Remembered {
    Series* series;
    std::size_t record;
    std::string row;
  };
  using Place = std::list<Remembered>::iterator;

  Series& series_of(const std::string& key, std::size_t hypotheses);
  const std::string* find(Series& series, std::size_t record);
  void remember(Series& series, std::size_t record, std::string row);

  std::filesystem::path folder_;
  std::uint64_t limit_, used_ = 0, hits_ = 0, misses_ = 0;
  mutable std::mutex mutex_;  // guards all that follows and the counts
  std::map<std::string, std::unique_ptr<Series>> series_;
  std::list<Remembered> remembered_;  // the last used first
  std::string trouble_;               // why nothing more is written
};

}  // namespace assay::inspection
