#pragma once

// Threads of the engine, OpenMP's, and what a fork makes of them.

namespace assay {

// Throws Error{usage} in a process that was forked from one whose engine used several threads: OpenMP does
// not make them anew, work on more than one thread would wait for ever. Cheap.
void require_engine_threads();

// Gives libtorch, on a thread that has not set a number of its own, the number that was set last. Cheap.
void adopt_engine_threads();

// A program that loads libtorch with the first function that it calls of it says so before its engine runs,
// and, by the thread that loaded it, when it is there: until then threads are those of OpenMP alone.
void libtorch_comes_later();
void libtorch_is_here();

}  // namespace assay
