#pragma once

// "position=last,answers=Yes+No": which scores of a model of language decide, in words (docs/text.md), and
// whether texts as numbers of tokens fit a network.

#include <string>

#include <assay/dataset.h>
#include <assay/graph.h>
#include <assay/progress.h>

namespace assay::inline engine {

// Whether the text of a decision is of this kind, not the name of an output.
bool is_token_decision(const std::string& text);

// The network with that decision. `folder`: where its tokenizer is, unless the text names one; empty:
// unknown. Where classes of the data (may be null) are called like answers, scores are in the order of the
// classes; else what class is what answer is a notice. Throws Error{usage} for text that says something else,
// answers that are not one token, and for want of a tokenizer, and as with_token_decision().
Graph with_token_decision(const Graph& graph, const std::string& text, const std::string& folder,
                          const Dataset* data, Progress& progress);

// Throws Error{mismatch} where records have more tokens than the network has positions, by the folder's
// config.json, and, naming a record, where they hold tokens that the network does not know, or that are other
// texts by the folder's tokenizer.json. Notices tell of texts without tokens, and of what speaks against the
// tokenizer where the folder has none. Reads the data once.
void require_fitting_tokens(const Graph& graph, const std::string& folder, const Dataset& data,
                            Progress& progress);

}  // namespace assay::inline engine
