#pragma once

// One mutant of a program, or why there is none.

#include <optional>
#include <string>
#include <vector>

#include <assay/source_mutation.h>

namespace assay::mutation {

struct Struck {
  std::optional<ProgramMutation> mutation = {};
  std::string reason = {};
  bool random = false;  // whether another seed may give another mutant
};

// Throws Error{usage} for operators, options and places that do not exist.
Struck strike_program(const Program& program, const Subject& subject, const Mutant& mutant);

// "conv1, conv2", for messages.
std::string names_of(const std::vector<Place>& places);

}  // namespace assay::mutation
