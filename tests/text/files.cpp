#include "files.h"

#include <gmock/gmock.h>

namespace assay::text::testing {

Tokenizer tokenizer_of(const std::string& model, const std::vector<std::string>& members) {
  std::string file = "{\"model\": " + model;
  for (const std::string& member : members) file += ", " + member;
  return Tokenizer(file + "}", "t.json");
}

// Byte-pair encoding without merges or unknown token leaves nothing of a piece, but WordPiece's pieces of
// unknown words are offsets of the whole.
std::vector<std::string> pieces(const std::string& text, const std::vector<std::string>& members) {
  const Tokenizer words =
      tokenizer_of(R"({"type": "WordLevel", "unk_token": "?", "vocab": {"?": 0}})", members);
  std::vector<std::string> all;
  for (const auto& [begin, end] : words.encode(text).offsets) all.push_back(text.substr(begin, end - begin));
  return all;
}

void expect_error(Fault fault, const std::vector<std::string>& words, const std::function<void()>& work) {
  try {
    work();
  } catch (const Error& error) {
    EXPECT_EQ(error.fault(), fault) << error.what();
    for (const std::string& word : words) EXPECT_THAT(error.what(), ::testing::HasSubstr(word));
    return;
  }
  ADD_FAILURE() << "no error";
}

}  // namespace assay::text::testing
