#pragma once

#include <span>
#include <string>

#include <assay/session.h>

namespace assay::inline engine {

// The session's graph with views of units (layers/unit_views.h), each as parse_view() reads it; without a
// layer, of every attention, or every layer that the lens fits. `folder`: with the tokenizer whose padding is
// left out where the network has no attention_mask; empty: none. Throws Error{usage} for layers without the
// form that a view needs and names that are taken, Error{mismatch} for directions of another width, and as
// parse_view() and read_directions().
Graph with_unit_views(const Session& session, std::span<const std::string> texts, const std::string& folder);

}  // namespace assay::inline engine
