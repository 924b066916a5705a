#pragma once

// Bounds of a network's outputs over boxes of inputs, queries in VNN-LIB, and records that no attack can
// change (docs/bounds.md).

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <assay/dataset.h>
#include <assay/progress.h>
#include <assay/session.h>

namespace assay::bounds {

// How bounds are found: from node to node, or by linear functions of the inputs (CROWN), which is tighter and
// takes longer.
enum class Method { interval, crown };

// One interval for each element of a network's input, in order.
struct Box {
  std::vector<double> low, high;
};

// The sum of factor * output over the terms is at most `limit`.
struct Constraint {
  std::vector<std::pair<std::size_t, double>> terms = {};  // output, factor
  double limit = 0;
};

// Inputs in a box whose outputs meet all constraints.
struct Case {
  Box box;
  std::vector<Constraint> constraints;
};

// What must not be: an input with its outputs that is one of the cases. A counterexample is such an input.
struct Query {
  std::size_t inputs = 0, outputs = 0;
  std::vector<Case> cases;
  std::size_t empty_cases = 0;  // left out of `cases`: their bounds on an input contradict each other
};

// VNN-LIB as the competitions until 2024 use it: X_i and Y_i declared as Real, asserts of <= and >= between
// them and linear terms, and, or. `name`: for messages. Throws Error{data} naming the line.
Query parse_vnnlib(const std::string& text, const std::string& name);
// The same query as a file, `comment` in its first lines.
std::string to_vnnlib(const Query& query, const std::string& comment);

// Sound for real arithmetic on the float32 weights, and for every computation in float32 that sums products
// in any order (docs/bounds.md).
class BoundedNetwork {
 public:
  // `output`: the value that is bounded; the first output if not given. The session must outlive this. Throws
  // Error{unsupported} naming the node for which there is no rule, and for networks with several inputs.
  explicit BoundedNetwork(const Session& session, ValueId output = no_value);
  ~BoundedNetwork();
  BoundedNetwork(BoundedNetwork&&) noexcept;

  std::size_t inputs() const;   // elements of a record
  std::size_t outputs() const;  // elements of the bounded value
  // Throws Error{usage} for a box of another size or without inputs.
  std::vector<Box> outputs_over(std::span<const Box> boxes, Method method) const;
  // For each constraint of each case a number that the sum less its limit is never below in the box. A case
  // with one above 0 has no counterexample. NaN where numbers are beyond float32.
  std::vector<std::vector<double>> least_excess(std::span<const Case> cases, Method method) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// An input and its outputs, as a competition's tool writes it.
struct Witness {
  std::vector<double> input, output;
};
// "sat ((X_0 0.1) ... (Y_0 0.3))". Throws Error{data} for a number that is missing.
Witness parse_witness(const std::string& text, const Query& query, const std::string& name);
std::string to_text(const Witness& witness);

// As the competition scores: outputs that the network gives differ by at most a thousandth of the greatest
// that is claimed, and box and constraints hold up to 1e-4 for what is claimed.
struct WitnessCheck {
  double difference = 0;      // greatest of outputs, as a share of the greatest that is claimed
  double claimed_excess = 0;  // by which the nearest case is missed, with the claimed outputs
  double excess = 0;          // the same with the network's own: at most 0 without any tolerance
  bool outputs_agree() const { return difference <= 1e-3; }
  bool counterexample() const { return outputs_agree() && claimed_excess <= 1e-4; }
};
WitnessCheck check_witness(const Session& session, const Query& query, const Witness& witness);

struct SolveOptions {
  Method method = Method::crown;
  std::size_t splits = 1000;             // boxes that a box is divided into at most
  std::size_t starts = 10, steps = 100;  // of the search for counterexamples, in each case
  std::uint64_t seed = 1;
};
enum class Verdict { holds, violated, open };
struct Answer {
  Verdict verdict = Verdict::open;
  std::optional<Witness> witness = {};  // where it is violated
  std::size_t boxes = 0, open = 0;      // bounded, and left without an answer
};
// Bounds, search and division of boxes until an answer is found or `splits` is reached.
Answer solve(const Session& session, const Query& query, const SolveOptions& options, Progress& progress);

enum class Outcome { wrong, certified, attacked, open };
struct RecordBounds {
  std::size_t record = 0;
  std::int64_t label = 0;
  Outcome outcome = Outcome::wrong;
  double margin = 0;  // lower bound of the label's score less the greatest other, over the ball
  // With radii: the greatest radius that is certified, the least at which an attack succeeds.
  double certified_radius = 0;
  std::optional<double> attacked_radius = {};
};
struct CertifyOptions {
  double radius = 0.02;  // in the maximum norm, as a share of the valid range
  Method method = Method::crown;
  std::string attack = "pgd[steps=40]";  // its eps is the radius; "none": no attack
  std::size_t bisections = 0;            // of the radius of each record between 0 and `radius`; 0: none
  std::size_t batch = 0;
  std::uint64_t seed = 1;
};
// Of the records that are right: no change within the radius changes the decision, an attack changes it, or
// neither is known. Throws as attack_dataset() and BoundedNetwork.
std::vector<RecordBounds> certify(const Session& session, const DatasetPtr& dataset,
                                  const CertifyOptions& options, Progress& progress);
// The same question for one record as a query on the network's first output: the label's score is at most
// that of another class. Throws Error{usage} for a record that is wrong.
Query query_of(const Session& session, const DatasetPtr& dataset, std::size_t record, double radius);

}  // namespace assay::bounds
