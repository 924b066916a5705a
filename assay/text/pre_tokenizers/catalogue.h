#pragma once

// All pre-tokenizers; their catalogue is in catalogue.cpp.

#include "assay/text/parts.h"

namespace assay::text {

PartInfo<PreTokenizer> bert_pre_tokenizer();
PartInfo<PreTokenizer> byte_level_pre_tokenizer();
PartInfo<PreTokenizer> delimiter_pre_tokenizer();
PartInfo<PreTokenizer> digits_pre_tokenizer();
PartInfo<PreTokenizer> fixed_length_pre_tokenizer();
PartInfo<PreTokenizer> metaspace_pre_tokenizer();
PartInfo<PreTokenizer> pre_tokenizer_sequence();
PartInfo<PreTokenizer> punctuation_pre_tokenizer();
PartInfo<PreTokenizer> split_pre_tokenizer();
PartInfo<PreTokenizer> whitespace_pre_tokenizer();
PartInfo<PreTokenizer> whitespace_split_pre_tokenizer();

}  // namespace assay::text
