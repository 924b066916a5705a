#pragma once

// A text that is changed while each of its bytes keeps knowing which bytes of the original it stands for.

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "assay/text/pattern.h"
#include "assay/text/unicode.h"

namespace assay::text {

class AlignedText {
 public:
  // REQUIRES valid UTF-8 of less than 4 GiB.
  explicit AlignedText(std::string original);

  const std::string& text() const { return text_; }
  bool empty() const { return text_.empty(); }
  // Where in the original this part of it begins.
  std::size_t begin() const { return begin_; }
  // Bytes of the original for bytes of the text.
  Range original(Range range) const;
  AlignedText slice(Range range) const;

  // The characters of the new text; `removed` characters at the beginning are gone.
  void transform(const std::vector<Change>& changes, std::size_t removed = 0);
  void filter(const std::function<bool(char32_t)>& keep);
  void map(const std::function<char32_t(char32_t)>& changed);
  void prepend(std::string_view before);
  void replace(const Pattern& pattern, std::string_view content);
  void lower_case();
  void strip(bool left, bool right);

 private:
  struct Bytes {
    std::uint32_t begin = 0, end = 0;  // of the original
  };
  AlignedText() = default;
  void append(char32_t code, Bytes from, std::string& text, std::vector<Bytes>& bytes) const;

  std::string text_;
  std::vector<Bytes> bytes_;  // one for each byte of the text
  std::size_t begin_ = 0;
};

// The characters of a text, by number, with nothing changed.
std::vector<Change> unchanged(std::string_view text);

}  // namespace assay::text
