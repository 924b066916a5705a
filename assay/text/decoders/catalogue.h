#pragma once

// All decoders; their catalogue is in catalogue.cpp.

#include <functional>
#include <string>
#include <vector>

#include "assay/text/parts.h"

namespace assay::text {

PartInfo<Decoder> bpe_decoder();
PartInfo<Decoder> byte_fallback_decoder();
PartInfo<Decoder> byte_level_decoder();
PartInfo<Decoder> ctc_decoder();
PartInfo<Decoder> decoder_sequence();
PartInfo<Decoder> fuse_decoder();
PartInfo<Decoder> metaspace_decoder();
PartInfo<Decoder> replace_decoder();
PartInfo<Decoder> strip_decoder();
PartInfo<Decoder> word_piece_decoder();

// Tokens such as <0xC3> as the bytes that they stand for; `texts_of`: what becomes of those after each other.
using TextsOfBytes = std::function<std::vector<std::string>(const std::string& bytes)>;
std::vector<std::string> with_bytes(std::vector<std::string> tokens, const TextsOfBytes& texts_of);

}  // namespace assay::text
