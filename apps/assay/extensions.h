#pragma once

// assay cover --extend-with: the coverage of a test set beside that of the set extended by attacked records.

#include <filesystem>
#include <string>
#include <vector>

#include "apps/assay/command.h"
#include "assay/coverage/measure.h"
#include "assay/data/dataset.h"

namespace assay::app {

class Extensions {
 public:
  void declare(CLI::App& app);
  // Throws Error{usage} for attacks that do not exist, before any work.
  void check() const;
  // Attacks all records of `test` with each attack, measures what they cover and adds the table to the document. `state`: of
  // the test set, by `profile`; it is not changed.
  void measure(const Session& session, const std::shared_ptr<const Profile>& profile, const CoverageState& state, DatasetPtr test,
               Context& context, Document& document) const;

 private:
  std::string attacks_, folder_ = "assay-attack";
};

// Where attacks that make `file` keep what is finished until the whole command is done.
std::filesystem::path journal_of(const std::filesystem::path& file);

// "fgsm,pgd[eps=0.1,steps=5]" at the commas outside of brackets.
std::vector<std::string> split_specs(const std::string& text);

}  // namespace assay::app
