#pragma once

// Walking a data set by several ranks (ranks.h).

#include <functional>
#include <string>
#include <string_view>

#include <assay/evaluate.h>
#include "assay/support/files/binary.h"
#include "assay/support/ranks/ranks.h"

namespace assay::inline engine {

// Calls look(batch, bound inputs) for every batch of walk(), on whichever rank is free, and take(what look
// returned) on the first rank, in the order of the batches.
void walk_pieces(const Session& session, const DatasetPtr& dataset, const WalkOptions& options,
                 Progress& progress, const std::function<std::string(const Batch&, const Tensors&)>& look,
                 const std::function<void(std::string_view)>& take);

// The same with what was seen of a batch as a type of the caller's, which to_json() and from_json() (as
// nlohmann has them) turn into bytes where it has to travel: add(look(batch, bound inputs)).
template <typename Seen, typename Look, typename Add>
void walk_together(const Session& session, const DatasetPtr& dataset, const WalkOptions& options,
                   Progress& progress, const Look& look, const Add& add) {
  if (ranks().alone()) {
    walk(session, dataset, options, progress,
         [&](const Batch& batch, const Tensors& inputs) { add(look(batch, inputs)); });
    return;
  }
  walk_pieces(
      session, dataset, options, progress,
      [&](const Batch& batch, const Tensors& inputs) {
        return to_bytes(nlohmann::json(look(batch, inputs)));
      },
      [&](std::string_view bytes) { add(from_bytes(bytes).template get<Seen>()); });
}

// Gives every rank what the first one has found.
template <typename Found>
void broadcast(Found& found) {
  if (ranks().alone()) return;
  std::string bytes;
  if (ranks().first()) bytes = to_bytes(nlohmann::json(found));
  ranks().broadcast(bytes);
  if (!ranks().first()) found = from_bytes(bytes).get<Found>();
}

}  // namespace assay::inline engine
