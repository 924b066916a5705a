#pragma once

#include <string>

#include <assay/dataset.h>
#include <assay/progress.h>

namespace assay::inline engine {

// A notice of what generation_config.json in the folder of a network says of tokens that config.json lacks;
// empty: no folder.
void tell_folder_tokens(const std::string& folder, Progress& progress);

// A notice of records, made of texts, that have no token: what fills up decides there.
void tell_empty_texts(const Dataset& data, Progress& progress);

}  // namespace assay::inline engine
