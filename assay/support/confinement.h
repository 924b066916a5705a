#pragma once

namespace assay::inline support {

// From now on this process, and what it runs, makes, changes and removes files in `folder` and /dev only.
// Does nothing where the system has no Landlock. May be called between fork() and exec().
void confine_writes(const char* folder);

}  // namespace assay::inline support
