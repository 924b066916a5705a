#pragma once

// Views of units: heads of attention, neurons at one token of each record, projections onto directions, as
// layers of a network that analyses look at (docs/text.md). What the network decides does not change.

#include <span>
#include <string>

#include <assay/session.h>

namespace assay::inline engine {

// A session of the same network with views, each as text such as "heads=norm,tokens=last"; without a layer,
// of every attention, or every layer that the lens fits. `folder`: with the tokenizer whose padding is left
// out where the network has no attention_mask; empty: none. Throws Error{usage} for text that says something
// else, layers without the form that a view needs and names that are taken, Error{mismatch} for directions of
// another width, and Error{unsupported} for a view that does not hold its records along its first axis.
Session with_unit_views(const Session& session, std::span<const std::string> texts,
                        const std::string& folder = {});

}  // namespace assay::inline engine
