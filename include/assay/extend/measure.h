#pragma once

// Measures of affinity between the units of a group and hypotheses, computed from a stream of blocks
// (docs/algorithms/inspection.md). Independent measures score every pair of unit and hypothesis by itself;
// joint ones fit one model over the group and score it as a whole, and its units by their share.

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <assay/extend/catalogue.h>
#include <assay/extend/hypothesis.h>

namespace assay::inspection {

// Aligned behaviours of some records; a row is one position of one record. Rows of a record are consecutive.
// Units are finite: rows where one is not, and rows of padding, were left out before.
struct Block {
  std::size_t rows = 0;
  std::span<const std::uint32_t> records;  // [rows] position of the record in the data set
  std::span<const float> units;            // [rows, units], row-major
  std::span<const float> behaviours;       // [rows, hypotheses], row-major; NaN: don't care
  // [rows] the token at the position; empty where records are not tokens. Control tasks are drawn from it.
  std::span<const std::uint32_t> symbols = {};
  // [any, units] for calibrate() only: activations before they were up-sampled to the positions of
  // hypotheses; empty where they were not. Thresholds are taken from here.
  std::span<const float> raw_units = {};
};

struct Score {
  double value = std::numeric_limits<double>::quiet_NaN();
  double low = value, high = value;  // confidence interval; NaN where none is known
  double p = value;                  // against no affinity; NaN where none is known
  std::uint64_t rows = 0;            // that the value rests on
  bool converged = false;            // within the tolerance, or settled by the measure's own rule
  std::string status;                // empty, or the degenerate case: constant_unit, constant_hypothesis, ...
};

// Of one measure over one group.
struct Scores {
  std::vector<Score> units;   // [units, hypotheses], row-major; empty where units have no score
  std::vector<Score> groups;  // [hypotheses]; empty where groups have none
};

// The subject of a state.
struct MeasureSetup {
  const SpecOptions& options;
  std::size_t units = 0;
  std::vector<Hypothesis> hypotheses;
  double confidence = 0.95;  // of intervals
  double tolerance = 0;      // of early stopping, half a confidence interval; 0: the measure's own default
  std::uint64_t seed = 1;
};

// The state of one group so far. Not thread-safe.
class MeasureState {
 public:
  virtual ~MeasureState() = default;
  // Called once, before observe(), with records drawn from the whole data set: bin edges, thresholds and
  // scales that must not depend on how the set is split are taken from here. These records are observed later
  // as well.
  virtual void calibrate(const Block&) {}
  // Blocks of shuffled records, whole records each.
  virtual void observe(const Block& block) = 0;
  // The scores as they are now.
  virtual Scores result() const = 0;
  // Which hypotheses still need rows, with the tolerance of the setup: 0 for those whose scores have all
  // converged. Those that are settled are frozen: observe() may leave them out from then on, and result()
  // says how many rows they rest on. Called between blocks, only when early stopping is on.
  virtual std::vector<char> settle() = 0;
  // Freezes the hypotheses that are 0, as settle() does with those that have converged: copies of a state
  // that see permuted behaviours end with the original. By default they continue.
  virtual void freeze(std::span<const char> /*open*/) {}

  // Adds what another state of the same setup and calibration has seen. Commutative and associative up to
  // rounding of float64 sums. Joint measures that learn row by row cannot, see MeasureInfo::merges.
  virtual void merge(const MeasureState& other);
  // Everything, calibration included; load() replaces what this fresh state holds and throws
  // std::runtime_error for what does not fit.
  virtual nlohmann::json save() const = 0;
  virtual void load(const nlohmann::json& state) = 0;
};

struct MeasureInfo {
  static constexpr const char* kind = "measure";
  std::string name, summary;  // "pearson", one line
  std::string definition;     // the formula, and what interval and p value are
  std::string limits, paper;
  std::vector<SpecOption> options;
  std::vector<std::string> aliases = {};  // other names that measure_choice() takes
  bool joint = false;
  bool merges = true;  // merge() works: shards, bootstrap
  // The kinds of hypotheses it is defined for; others have the status "not_applicable".
  std::vector<BehaviourKind> kinds = {BehaviourKind::binary, BehaviourKind::numeric};
  // The value that says "no affinity" where values on either side of it are one; without it, more is more.
  std::optional<double> neutral = std::nullopt;
  std::function<std::unique_ptr<MeasureState>(const MeasureSetup&)> make;
};

Catalogue<MeasureInfo>& measures();

// A measure by name with options, or one of the caller's own that is in no catalogue.
using MeasureChoice = Choice<MeasureInfo>;
// The same from text, aliases replaced: "corr" -> pearson.
MeasureChoice measure_choice(const std::string& text);
const MeasureInfo& info_of(const MeasureChoice& choice);

}  // namespace assay::inspection
