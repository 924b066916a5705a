#include "assay/mutation/operators/data_choice.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include <assay/error.h>
#include "assay/data/views.h"

namespace assay::mutation {

std::vector<SpecOption> data_options(const std::string& ratio, const std::string& share) {
  return {{"ratio", ratio, "share of the records " + share + ", in [0, 1]"},
          {"classes", "all",
           "whose records: all, random (one class, drawn by the seed) or names joined by +, such as 3+5"}};
}

std::vector<std::size_t> candidates(const ProgramStrike& strike, const Dataset& data) {
  const std::string& names = strike.options.text("classes");
  std::vector<std::size_t> all(data.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  if (names == "all") return all;
  std::set<std::int64_t> wanted;
  if (names == "random") {
    // Of the classes that occur.
    std::set<std::int64_t> present;
    for (const std::size_t i : all) present.insert(data.label(i));
    wanted.insert(*std::next(present.begin(), static_cast<std::ptrdiff_t>(strike.rng.below(present.size()))));
  } else {
    for (const std::int64_t number : classes_named(names, data)) wanted.insert(number);
  }
  std::erase_if(all, [&](std::size_t i) { return !wanted.contains(data.label(i)); });
  return all;
}

std::vector<std::size_t> chosen_records(const ProgramStrike& strike, const Dataset& data) {
  const double ratio = strike.options.number("ratio", 0);
  if (ratio > 1) fail(Fault::usage, "ratio={} is not in [0, 1]", strike.options.text("ratio"));
  std::vector<std::size_t> records = candidates(strike, data);
  strike.rng.shuffle(records);
  const auto count = static_cast<std::size_t>(std::llround(ratio * static_cast<double>(records.size())));
  records.resize(std::min(records.size(), std::max<std::size_t>(ratio > 0, count)));
  return records;
}

std::string needs_labels(const Program& program) {
  return program.training->has_labels() ? "" : "the training data have no labels";
}

std::string needs_labels_for_classes(const Program& program, const SpecOptions& options) {
  return options.text("classes") == "all" ? "" : needs_labels(program);
}

}  // namespace assay::mutation
