#pragma once

#include <string>

#include <assay/dataset.h>
#include <assay/graph.h>
#include <assay/progress.h>

namespace assay::inline engine {

// Where no tokenizer.json in the network's folder says whether the tokens of the records, made of texts, are
// those of the network (own_tokens()): sizes and the special tokens that config.json and
// generation_config.json name speak for another tokenizer, or do not; what does is a notice. `folder`: empty
// if unknown.
void tell_other_tokenizer(const Graph& graph, const std::string& folder, const Dataset& data,
                          Progress& progress);

}  // namespace assay::inline engine
