#include "assay/support/text/characters.h"

#include "assay/support/ascii.h"
#include "assay/support/text/visible.h"

namespace assay::inline support {

char32_t character_code(std::string_view character) {
  const auto byte = [&](std::size_t i) { return char32_t{byte_of(character[i])}; };
  char32_t code = character.size() == 1 ? byte(0) : byte(0) & (0xFFU >> (character.size() + 1));
  for (std::size_t i = 1; i < character.size(); ++i) code = code << 6U | (byte(i) & 0x3FU);
  return code;
}

std::optional<std::vector<char32_t>> character_codes(std::string_view utf8) {
  std::vector<char32_t> codes;
  while (!utf8.empty()) {
    const std::size_t length = utf8_length(utf8);
    if (length == 0) return std::nullopt;
    codes.push_back(character_code(utf8.substr(0, length)));
    utf8.remove_prefix(length);
  }
  return codes;
}

std::string character_of(char32_t code) {
  if (code < 0x80) return {static_cast<char>(code)};
  const std::size_t length = code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
  std::string bytes(length, '\0');
  for (std::size_t i = length - 1; i > 0; --i, code >>= 6U)
    bytes[i] = static_cast<char>(0x80U | (code & 0x3FU));
  bytes[0] = static_cast<char>((0xF00U >> length) | code);
  return bytes;
}

}  // namespace assay::inline support
