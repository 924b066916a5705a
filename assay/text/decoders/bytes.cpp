// Tokens that stand for bytes, as text again.

#include "assay/support/ascii.h"
#include "assay/support/text/characters.h"
#include "assay/support/text/parse.h"
#include "assay/support/text/visible.h"
#include "assay/text/byte_letters.h"
#include "assay/text/decoders/catalogue.h"

namespace assay::text {
namespace {

// Nothing where a letter stands for no byte.
std::optional<std::string> bytes_of_letters(const std::string& token) {
  std::string bytes;
  for (const Change& letter : unchanged(token)) {
    const auto byte = byte_of_letter(letter.code);
    if (!byte) return std::nullopt;
    bytes += static_cast<char>(*byte);
  }
  return bytes;
}

// Bytes of a character that is cut short or damaged, from its beginning: one replacement stands for them.
std::size_t damaged_length(std::string_view bytes) {
  const auto at = [&](std::size_t i) { return byte_of(bytes[i]); };
  const unsigned char first = at(0);
  const std::size_t wanted = first >= 0xF0 && first <= 0xF4  ? 4
                             : first >= 0xE0 && first < 0xF0 ? 3
                             : first >= 0xC2 && first < 0xE0 ? 2
                                                             : 1;
  std::size_t length = 1;
  for (; length < wanted && length < bytes.size(); ++length) {
    unsigned char least = 0x80, most = 0xBF;
    if (length == 1 && first == 0xE0) least = 0xA0;
    if (length == 1 && first == 0xED) most = 0x9F;
    if (length == 1 && first == 0xF0) least = 0x90;
    if (length == 1 && first == 0xF4) most = 0x8F;
    if (at(length) < least || at(length) > most) break;
  }
  return length;
}

std::string with_replacements(std::string_view bytes) {
  std::string text;
  while (!bytes.empty()) {
    const std::size_t length = utf8_length(bytes);
    text += length > 0 ? bytes.substr(0, length) : replacement_character;
    bytes.remove_prefix(length > 0 ? length : damaged_length(bytes));
  }
  return text;
}

class ByteLevelDecoder final : public Decoder {
 public:
  explicit ByteLevelDecoder(const Settings&) {}
  std::vector<std::string> decode(std::vector<std::string> tokens) const override {
    std::string bytes;
    for (const std::string& token : tokens) bytes += bytes_of_letters(token).value_or(token);
    return {with_replacements(bytes)};
  }
};

// <0xC3> <0xA9>
class ByteFallbackDecoder final : public Decoder {
 public:
  explicit ByteFallbackDecoder(const Settings&) {}
  std::vector<std::string> decode(std::vector<std::string> tokens) const override {
    return with_bytes(std::move(tokens), [](const std::string& bytes) {
      if (character_codes(bytes)) return std::vector{bytes};
      return std::vector(bytes.size(), std::string(replacement_character));
    });
  }
};

}  // namespace

std::vector<std::string> with_bytes(std::vector<std::string> tokens, const TextsOfBytes& texts_of) {
  std::vector<std::string> all;
  std::string bytes;
  const auto end_bytes = [&] {
    if (bytes.empty()) return;
    const std::vector<std::string> texts = texts_of(bytes);
    all.insert(all.end(), texts.begin(), texts.end());
    bytes.clear();
  };
  for (std::string& token : tokens) {
    if (const auto byte = byte_written(token)) {
      bytes += static_cast<char>(*byte);
      continue;
    }
    end_bytes();
    all.push_back(std::move(token));
  }
  end_bytes();
  return all;
}

PartInfo<Decoder> byte_level_decoder() {
  return part_info<Decoder, ByteLevelDecoder>("ByteLevel", "letters for bytes as text");
}
PartInfo<Decoder> byte_fallback_decoder() {
  return part_info<Decoder, ByteFallbackDecoder>("ByteFallback", "tokens of bytes as text");
}

}  // namespace assay::text
