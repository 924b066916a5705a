#pragma once

#include <string>
#include <vector>

#include <assay/dataset.h>
#include <assay/progress.h>

namespace assay::inline engine {

// A notice of what generation_config.json in the folder of a network says of tokens that config.json lacks;
// empty: no folder.
void tell_folder_tokens(const std::string& folder, Progress& progress);

// What is wrong where a class of the data is called like another class of the network; empty: nothing is.
std::string numbering_notice(const std::vector<std::string>& of_network, const Dataset& data);
// The same as a notice, with the names that config.json in the folder gives the classes (id2label).
void tell_numbering(const std::string& folder, const Dataset& data, Progress& progress);

}  // namespace assay::inline engine
