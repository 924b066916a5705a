#pragma once

// What has been covered so far: every criterion, by context, data set and class, with the hashes of network,
// profile and data. States of the same network, profile and criteria can be combined in any order with the
// same result, bit for bit.

#include <cstddef>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <utility>
#include <vector>

#include <assay/extend/criteria.h>

namespace assay::coverage {

// Sets of record positions as disjoint ranges.
class RecordRanges {
 public:
  // [begin, end). Ranges that touch become one.
  void add(std::size_t begin, std::size_t end);
  bool overlaps(const RecordRanges& other) const;
  std::size_t size() const;
  // Positions of [begin, end) that are not in the set, ascending.
  std::vector<std::size_t> missing(std::size_t begin, std::size_t end) const;
  const std::vector<std::pair<std::size_t, std::size_t>>& ranges() const { return ranges_; }

 private:
  std::vector<std::pair<std::size_t, std::size_t>> ranges_;  // ascending, disjoint, not touching
};

// One data set under one context ("night", "supplier-B"; "" when none was named).
struct CoveragePart {
  std::string context, data_hash, data;     // label; hash and description of the data set
  std::size_t data_size = 0;                // records of the whole data set
  RecordRanges walked;                      // records that were looked at
  std::uint64_t records = 0;                // of them with finite activations
  std::uint64_t labelled = 0, correct = 0;  // of those with labels; classified as labelled
  std::vector<std::size_t> non_finite;      // records left out because an activation is not finite
  std::map<std::int64_t, std::vector<std::unique_ptr<Criterion>>>
      criteria;  // by class; every_class unless by class
  // Ids of records that covered something first, where they are not simply their positions in the data set.
  std::map<std::size_t, std::string> ids;
};

inline constexpr std::int64_t every_class = -1;

// One figure of a state.
struct CoverageFigure {
  std::size_t criterion = 0;    // position in CoverageState::specs
  std::string name;             // the criterion's spec as text
  std::string context = "all";  // "all" or a context
  std::int64_t only_class = every_class;
  Coverage coverage;
};

class CoverageState {
 public:
  // `by_class`: keep criteria apart by the class that the network names.
  CoverageState(std::shared_ptr<const Profile> profile, std::vector<CriterionChoice> criteria, bool by_class);

  const Profile& profile() const { return *profile_; }
  const std::string& profile_hash() const { return profile_hash_; }
  const std::vector<CriterionChoice>& choices() const { return choices_; }
  // The same as they are named in results.
  const std::vector<Spec>& specs() const { return specs_; }
  bool by_class() const { return by_class_; }
  // Ordered by context, then data hash.
  const std::vector<std::unique_ptr<CoveragePart>>& parts() const { return parts_; }
  std::size_t records() const;

  // The part of a context and data set, made when there is none.
  CoveragePart& part(const std::string& context, const std::string& data_hash, const std::string& data,
                     std::size_t data_size);
  // Criteria of a part for a class, made when there are none.
  std::vector<std::unique_ptr<Criterion>>& criteria(CoveragePart& part, std::int64_t only_class) const;

  // Brings part.ids up to date with what is covered; id_of(record) is only called for records whose id is not
  // yet known.
  void name_records(CoveragePart& part, const std::function<std::string(std::size_t)>& id_of) const;
  // The id of a record as far as the state knows it. It is the position in the data set if ids are positions,
  // or if the state holds several data sets and does not know which one the record is from.
  std::string record_name(std::size_t record) const;

  // Adds all that `other` has seen. Throws Error{mismatch} for a state of another network, profile or
  // criteria, and for records that both have seen, naming them: nothing is counted twice.
  void merge(const CoverageState& other);

  // All parts of a context ("all": of every context) and class (every_class: of every class) together.
  std::unique_ptr<Criterion> total(std::size_t criterion, const std::string& context = "all",
                                   std::int64_t only_class = every_class) const;
  // Its results, as result_of().
  std::vector<Coverage> result(std::size_t criterion, const std::string& context = "all",
                               std::int64_t only_class = every_class) const;
  std::vector<std::string> contexts() const;
  std::vector<std::int64_t> classes() const;  // empty unless by class
  std::vector<CoverageFigure> figures() const;

  // All of it; the same state gives the same bytes. The profile is inside, without traces. load() replaces
  // what this state holds by that of one with the same profile and criteria, and throws std::runtime_error
  // for what does not fit.
  nlohmann::json save() const;
  void load(const nlohmann::json& json);

  // Writes save() as CBOR with a checksum, under a temporary name, and renames.
  void write(const std::filesystem::path& path) const;
  // Criteria are found in the catalogue by name: add those that were given as objects to it before. Throws
  // Error{io} or Error{data}. With a profile, criteria can observe more records; throws
  // Error{mismatch} when the state was measured with another one.
  static CoverageState read(const std::filesystem::path& path,
                            std::shared_ptr<const Profile> profile = nullptr);

 private:
  std::vector<std::unique_ptr<Criterion>> fresh() const;
  void read_parts(const nlohmann::json& json);
  void read_part(const nlohmann::json& json);

  std::shared_ptr<const Profile> profile_;
  std::string profile_hash_;
  std::vector<CriterionChoice> choices_;
  std::vector<Spec> specs_;
  bool by_class_;
  std::vector<std::unique_ptr<CoveragePart>> parts_;
};

}  // namespace assay::coverage
