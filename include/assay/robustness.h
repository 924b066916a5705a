#pragma once

// Drop curves: how many records stay right while an attack or a corruption grows stronger
// (docs/robustness.md).

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <assay/attack.h>
#include <assay/dataset.h>
#include <assay/extend/spec.h>
#include <assay/progress.h>
#include <assay/session.h>

namespace assay::attack {

// An attack with a range for one of its options, the severity.
struct Along {
  std::string text;                     // "pgd[eps=0:0.3:0.02]", as it was written
  Spec attack;                          // without that option
  std::string option;                   // "eps"
  std::vector<std::string> severities;  // decimal numbers, each greater than the last or each smaller

  std::size_t size() const { return severities.size(); }
  double severity(std::size_t i) const;
  // The attack at one severity: pgd[eps=0.02].
  Spec at(std::size_t i) const;
  // Whether every record stays as it is at a severity.
  bool changes_nothing(std::size_t i) const;
  // Whether what a weaker change may make, a stronger one may make as well (Severity::nested).
  bool nested() const;
};

// "pgd[eps=0:0.3:0.02]": 0, 0.02, ... 0.3; the end is one of them where steps meet it.
// "noise[sigma=0/0.1/0.3]": these. Throws Error{usage} for an attack, an option or a number that is none, for
// other than one range, and for other than 2 to 1,000 severities.
Along parse_along(const std::string& text);

struct CurveOptions {
  std::size_t batch = 0;  // 0: chosen for the network
  std::uint64_t seed = 1;
  // Records are judged as 8-bit levels of the valid range; always so where the network takes levels.
  bool levels = false;
  // Along a severity that is nested, a record that fell is also down at every greater severity, and is not
  // attacked there: what changed it is allowed there as well. With this, each severity is attacked anew.
  bool independent = false;
  double margin = 0.2;                          // as of AttackOptions
  std::shared_ptr<const task::Task> task = {};  // decides if records have many items
  // Where finished records are kept, so that the same curves go on from them; empty: nowhere.
  std::filesystem::path journal = {};
};

struct DropCurve {
  std::string name;  // of its figures: "pgd", and "pgd-2" for a second one
  Along along;
  std::size_t records = 0;         // of the data set
  std::size_t clean = 0;           // of them right as they are
  std::vector<std::size_t> right;  // of them still right, by severity
  std::size_t flat =
      0;  // most records of a severity for which every gradient was 0, so that nothing was tried

  double accuracy(std::size_t i) const;
  double clean_accuracy() const;
  // The mean accuracy over the range of severities, which the curve joins by straight lines: the area under
  // it over the length of the range.
  double area() const;
  // The first severity at which the accuracy is half of the clean one, on these lines. Nothing where it stays
  // above, is not above at the first severity, or no record is right.
  std::optional<double> half_drop() const;
  bool is_half_at_first() const;
  // Between the severities `end` - 1 and `end` the accuracy falls most, by `drop`; the first of several.
  // Nothing where it never falls.
  struct Step {
    std::size_t end = 0;
    double drop = 0;
  };
  std::optional<Step> worst_step() const;
};

// One curve for each, from one pass over the records. A record counts as right at a severity exactly where
// attack_dataset() with the attack at that severity and the same seed would attack it in vain, or would not
// attack a right one as it has the class to reach already; along a nested severity, also at all smaller ones.
// With a class to reach, any other decision is wrong. Throws as attack_dataset(). A journal also remains when
// all is done: the caller removes it.
std::vector<DropCurve> drop_curves(const Session& session, DatasetPtr dataset, std::span<const Along> along,
                                   const CurveOptions& options, Progress& progress);

}  // namespace assay::attack
