#pragma once

// All models; their catalogue is in catalogue.cpp.

#include "assay/text/parts.h"

namespace assay::text {

PartInfo<TokenModel> bpe_model();
PartInfo<TokenModel> unigram_model();
PartInfo<TokenModel> word_level_model();
PartInfo<TokenModel> word_piece_model();

}  // namespace assay::text
