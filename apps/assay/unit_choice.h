#pragma once

#include <string>
#include <vector>

#include "apps/assay/command.h"
#include "assay/results/networks/chosen_units.h"

namespace assay::app {

// --units SPEC of commands that deal with chosen units of a network.
class UnitsInput {
 public:
  explicit UnitsInput(std::string help) : help_(std::move(help)) {}
  CLI::Option* declare(Flags& flags) {
    return flags.naming(Concept::input)
        .add("--units SPEC", texts_,
             help_ +
                 ": layer=fc1,units=3+5+8-11, or those that an answer of `assay inspect --json` names: "
                 "from=answer.json of a query with a column uid, from=seen.json,hypothesis=label:7,top=5 of "
                 "an inspection; may be repeated")
        ->allow_extra_args(false);
  }
  bool given() const { return !texts_.empty(); }
  const std::vector<std::string>& texts() const { return texts_; }
  std::map<std::string, std::vector<std::size_t>> of(const std::shared_ptr<const Session>& session) const {
    return results::chosen_units(texts_, session);
  }

 private:
  std::string help_;
  std::vector<std::string> texts_;
};

}  // namespace assay::app
