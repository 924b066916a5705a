#pragma once

#include <string>

#include <assay/progress.h>

namespace assay::inline engine {

// A notice of what generation_config.json in the folder of a network says of tokens that config.json lacks;
// empty: no folder.
void tell_folder_tokens(const std::string& folder, Progress& progress);

}  // namespace assay::inline engine
