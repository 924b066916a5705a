#pragma once

// How this program was started: alone, or by a launcher as one of several processes.

#include <memory>

#include "assay/support/ranks/ranks.h"

namespace assay::inline support {

// The ranks that an MPI launcher started; null where none did, or only one process. Loads the MPI module.
// Throws Error{unsupported} where that is missing, Error{usage} where MPI does not see the processes that
// there are.
std::unique_ptr<Ranks> launched_ranks();

// Threads for this rank where the user names no number: the cores that ranks on this machine share. 0: all
// that this process may use.
int threads_of_rank(const Ranks& ranks);

}  // namespace assay::inline support
