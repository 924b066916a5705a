#pragma once

// The parts of a tokenizer that a file of SentencePiece describes (Kudo and Richardson, SentencePiece, EMNLP
// 2018).

#include <memory>

#include "assay/text/parts.h"
#include "assay/text/sentencepiece/file.h"

namespace assay::text {

std::unique_ptr<const TokenModel> model_of(const SentencePieceFile& file);
std::unique_ptr<const Normalizer> normalizer_of(const SentencePieceFile& file);
std::unique_ptr<const Decoder> decoder_of(const SentencePieceFile& file);

}  // namespace assay::text
