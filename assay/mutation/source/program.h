#pragma once

// One mutant of a program, or why there is none.

#include <memory>
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

// Of a plan, for the items of these records; null where it has none. `batch`: as task::settled() has it.
std::shared_ptr<const task::Task> task_for(const std::string& spec, const Session& session,
                                           const DatasetPtr& records, std::size_t batch);

// "conv1, conv2", for messages.
std::string names_of(const std::vector<Place>& places);

}  // namespace assay::mutation
