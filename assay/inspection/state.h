#pragma once

// The state of an inspection: the states of all measures over all groups. States of parts of a data set
// merge; a state can be written, read and continued.

#include <filesystem>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <utility>
#include <vector>

#include <assay/inspection.h>

namespace assay::inspection {

// One measure over one pair.
struct MeasuredPair {
  std::size_t measure = 0;
  std::vector<std::size_t> columns;     // hypotheses of the pair that it is defined for
  std::unique_ptr<MeasureState> state;  // null where there are none
  std::vector<char> open;               // of each of them: more rows are needed
};

struct StatePair {
  AlignedPair facts;
  std::size_t group = 0;
  std::vector<std::size_t> units, hypotheses;  // numbers in the layer; positions among all hypotheses
  std::vector<MeasuredPair> measured;
  bool open() const;
};

// The subject of the states of measures.
struct StateOptions {
  double confidence = 0.95, tolerance = 0;
  std::size_t permutations = 0, bootstrap = 0;
  std::uint64_t seed = 1;
};

class InspectionState {
 public:
  // What results depend on apart from the following, named for messages: networks, data, options.
  using Facts = std::vector<std::pair<std::string, std::string>>;

  InspectionState(Facts facts, std::vector<Hypothesis> hypotheses, std::vector<MeasureChoice> measures,
                  StateOptions options);

  // Fresh measures. `facts` needs all but its counts.
  void add_pair(StatePair pair);
  std::vector<StatePair>& pairs() { return pairs_; }
  const Facts& facts() const { return facts_; }

  std::size_t size = 0;          // records of the whole data set
  std::size_t records = 0;       // that there are for this state
  std::size_t records_read = 0;  // of those
  std::uint64_t cached = 0;
  std::size_t shards = 1;
  std::vector<std::size_t> parts{1};  // shards that are in it
  std::vector<std::string> notices;

  Inspection result() const;

  // Throws Error{mismatch} for a state of other work or with a part that is here already, Error{usage} for
  // measures that do not merge.
  void merge(const InspectionState& other);

  // Throws std::runtime_error for anything that is not a state of this measure.
  nlohmann::json save() const;
  void load(const nlohmann::json& json);
  // Throws Error{io}; Error{data} for other files.
  void write(const std::filesystem::path& path) const;
  static InspectionState read(const std::filesystem::path& path);

 private:
  Facts facts_;
  std::vector<Hypothesis> hypotheses_;
  std::vector<MeasureChoice> measures_;
  StateOptions options_;
  std::vector<StatePair> pairs_;
};

}  // namespace assay::inspection
