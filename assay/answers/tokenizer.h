#pragma once

// The tokenizer with which records were made, where a question needs the words that tokens stand for.

#include <string>

namespace assay::answers {

// The one that the spec of the data names, or the one in the folder of the network; empty without either.
std::string tokenizer_for(const std::string& data_spec, const std::string& network);

}  // namespace assay::answers
