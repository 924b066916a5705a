#pragma once

// When a mutant decides differently than the original: another class, or a regression value further away than
// a margin.

#include <optional>
#include <vector>

#include <assay/session.h>

namespace assay::mutation {

class Judge {
 public:
  // Of a classifier, or with a margin of a regression network.
  Judge(const Session& original, std::optional<double> margin) : session_(original), margin_(margin) {}

  struct Verdict {
    bool killed = false;
    bool finite = true;  // false: the mutant's decision holds a NaN or infinity, which kills
    // Distance from the other decision, in units of the decision value: the expected class's score less the
    // best other, or the margin less the deviation. Negative when killed; relative to `scale` its size shows
    // how clear the verdict is.
    double slack = 0;
    double scale = 0;   // largest magnitude among the values compared
    double change = 0;  // largest difference between the mutant's decision values and the original's
  };
  // One verdict a record. `original`, `mutant`: decision values [n, ...]; `expected`: the original's classes
  // (unused with a margin). Throws Error{unsupported} when classes cannot be read off.
  std::vector<Verdict> judge(const Array& original, const Array& mutant,
                             std::span<const std::int64_t> expected) const;

 private:
  const Session& session_;
  std::optional<double> margin_;
};

}  // namespace assay::mutation
