// Tokenizers from arbitrary files, and arbitrary texts: up to the last line a tokenizer.json, then a text.
// Anything but tokens or an Error is a defect.

#include <cstdint>
#include <cstdlib>

#include <assay/error.h>
#include <assay/tokenizer.h>
#include "seeds.h"

namespace {

std::string file_of(const std::string& model, const std::string& parts) {
  return "{\"model\":" + model + parts + "}\na b\xC3\xA9 <x>c'd 12\xE4\xB8\xAD";
}

std::vector<std::string> seeds() {
  const std::string unigram = R"({"type":"Unigram","unk_id":0,"vocab":[["?",0],["a",-1.5],["b",-2]]})";
  return {
      file_of(
          R"({"type":"BPE","vocab":{"a":0,"b":1,"ab":2,"<0xC3>":3},"merges":["a b"],"byte_fallback":true})",
          R"(,"pre_tokenizer":{"type":"ByteLevel","add_prefix_space":true,"trim_offsets":true},)"
          R"("post_processor":{"type":"ByteLevel","add_prefix_space":true,"trim_offsets":true},)"
          R"("decoder":{"type":"ByteLevel"})"),
      file_of(R"({"type":"WordPiece","unk_token":"?","continuing_subword_prefix":"##",)"
              R"("max_input_chars_per_word":9,"vocab":{"?":0,"a":1,"##b":2}})",
              R"(,"normalizer":{"type":"BertNormalizer","clean_text":true,"handle_chinese_chars":true,)"
              R"("strip_accents":null,"lowercase":true},"pre_tokenizer":{"type":"BertPreTokenizer"},)"
              R"("post_processor":{"type":"BertProcessing","sep":["s",1],"cls":["c",2]},)"
              R"("truncation":{"max_length":3,"strategy":"LongestFirst","stride":0})"),
      file_of(unigram,
              R"(,"normalizer":{"type":"Sequence","normalizers":[{"type":"NFKC"},{"type":"Precompiled",)"
              R"("precompiled_charsmap":"CAAAAAAEAAAAAAAAYgA="}]},"pre_tokenizer":{"type":"Metaspace",)"
              R"("replacement":"_"},"added_tokens":[{"id":9,"content":"<x>","lstrip":true}])"),
      file_of(unigram, R"(,"pre_tokenizer":{"type":"Split","pattern":{"Regex":"\\s+(?!\\S)|[^\\p{L}]+"},)"
                       R"("behavior":"Contiguous","invert":true},"padding":{"strategy":{"Fixed":9},)"
                       R"("pad_id":1,"pad_token":"a","pad_type_id":0})")};
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  assay::fuzz::write_seeds_if_asked(seeds());
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string all(reinterpret_cast<const char*>(data), size);
  const std::size_t line = std::min(all.rfind('\n'), all.size());
  const std::string text = line < all.size() ? all.substr(line + 1) : std::string();
  try {
    const assay::text::Tokenizer tokenizer(all.substr(0, line), "t.json");
    const auto encoding = tokenizer.encode(text);
    if (encoding.offsets.size() != encoding.ids.size()) std::abort();
    tokenizer.decode(encoding.ids, true);
    tokenizer.encode(text, text, {.length = 7});
  } catch (const assay::Error&) {
  }
  return 0;
}
