#pragma once

// Trainers of the user's own.

#include <functional>

#include <assay/source_mutation.h>

namespace assay::mutation {

// Gives the program to the plan's command and reads the network that it leaves. Throws Error{data} for a
// command that fails, Error{model} and Error{unsupported} for what it leaves. What it printed is kept in the
// store. `stop`: asked now and then; true ends the command and throws Error{interrupted}.
Graph train_by_command(const TrainingJob& job, const Program& program, const std::string& key,
                       const TrainingPlan& plan, const std::function<bool()>& stop);

}  // namespace assay::mutation
