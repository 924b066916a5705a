#include "assay/text/decoders/catalogue.h"
#include "assay/text/models/catalogue.h"
#include "assay/text/normalizers/catalogue.h"
#include "assay/text/post_processors/catalogue.h"
#include "assay/text/pre_tokenizers/catalogue.h"

namespace assay::text {

Catalogue<PartInfo<Normalizer>>& normalizers() {
  static Catalogue<PartInfo<Normalizer>> catalogue(
      {.one = "normalizer"},
      {normalizer_sequence(), nfc_normalizer(), nfd_normalizer(), nfkc_normalizer(), nfkd_normalizer(),
       lowercase_normalizer(), strip_accents_normalizer(), strip_normalizer(), replace_normalizer(),
       prepend_normalizer(), bert_normalizer(), byte_level_normalizer(), character_map_normalizer(),
       nmt_normalizer()});
  return catalogue;
}

Catalogue<PartInfo<PreTokenizer>>& pre_tokenizers() {
  static Catalogue<PartInfo<PreTokenizer>> catalogue(
      {.one = "pre-tokenizer"},
      {pre_tokenizer_sequence(), bert_pre_tokenizer(), byte_level_pre_tokenizer(), delimiter_pre_tokenizer(),
       digits_pre_tokenizer(), fixed_length_pre_tokenizer(), metaspace_pre_tokenizer(),
       punctuation_pre_tokenizer(), split_pre_tokenizer(), whitespace_pre_tokenizer(),
       whitespace_split_pre_tokenizer()});
  return catalogue;
}

Catalogue<PartInfo<TokenModel>>& token_models() {
  static Catalogue<PartInfo<TokenModel>> catalogue(
      {.one = "model"}, {bpe_model(), unigram_model(), word_level_model(), word_piece_model()});
  return catalogue;
}

Catalogue<PartInfo<PostProcessor>>& post_processors() {
  static Catalogue<PartInfo<PostProcessor>> catalogue(
      {.one = "post-processor"}, {post_processor_sequence(), bert_processing(), byte_level_processing(),
                                  roberta_processing(), template_processing()});
  return catalogue;
}

Catalogue<PartInfo<Decoder>>& decoders() {
  static Catalogue<PartInfo<Decoder>> catalogue(
      {.one = "decoder"},
      {decoder_sequence(), bpe_decoder(), byte_fallback_decoder(), byte_level_decoder(), ctc_decoder(),
       fuse_decoder(), metaspace_decoder(), replace_decoder(), strip_decoder(), word_piece_decoder()});
  return catalogue;
}

}  // namespace assay::text
