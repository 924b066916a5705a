#pragma once

// Threads of the engine, OpenMP's, and what a fork makes of them.

namespace assay {

// Throws Error{usage} in a process that was forked from one whose engine used several threads: OpenMP does
// not make them anew, work on more than one thread would wait for ever. Cheap.
void require_engine_threads();

}  // namespace assay
