#pragma once

// Work in pieces that take long and whose results everybody needs: trainings, say.

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

namespace assay::inline support {

// Calls work(piece) for every piece in [0, count), each once, on whichever rank and, of at most `threads`
// there, thread is free; and on every rank take(piece, what work gave) for all pieces, one at a time: on the
// first rank as they come, on the others when all are done. To be called by all ranks. The first exception is
// rethrown after all threads of its rank have stopped.
void do_together(std::size_t count, std::size_t threads,
                 const std::function<std::string(std::size_t piece)>& work,
                 const std::function<void(std::size_t piece, std::string_view bytes)>& take);

}  // namespace assay::inline support
