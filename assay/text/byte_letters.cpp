#include "assay/text/byte_letters.h"

#include <array>
#include <charconv>
#include <system_error>

#include "assay/support/ascii.h"

namespace assay::text {
namespace {

bool is_seen(unsigned byte) {
  return (byte >= '!' && byte <= '~') || (byte >= 0xA1 && byte <= 0xAC) || byte >= 0xAE;
}

std::array<char32_t, 256> make_letters() {
  std::array<char32_t, 256> letters{};
  char32_t next = 0x100;
  for (unsigned byte = 0; byte < 256; ++byte) letters[byte] = is_seen(byte) ? byte : next++;
  return letters;
}

const std::array<char32_t, 256>& letters_of_bytes() {
  static const std::array<char32_t, 256> letters = make_letters();
  return letters;
}

}  // namespace

char32_t letter_of_byte(unsigned char byte) { return letters_of_bytes()[byte]; }

std::optional<unsigned char> byte_of_letter(char32_t letter) {
  if (letter < 256) {
    if (!is_seen(static_cast<unsigned>(letter))) return std::nullopt;
    return static_cast<unsigned char>(letter);
  }
  for (unsigned byte = 0; byte < 256; ++byte) {
    if (letters_of_bytes()[byte] == letter) return static_cast<unsigned char>(byte);
  }
  return std::nullopt;
}

std::optional<unsigned char> byte_written(std::string_view token) {
  if (token.size() != 6 || !token.starts_with("<0x") || token[5] != '>') return std::nullopt;
  unsigned char byte = 0;
  const char* const begin = token.data() + 3;
  const auto [end, error] = std::from_chars(begin, begin + 2, byte, 16);
  if (error != std::errc() || end != begin + 2) return std::nullopt;
  return byte;
}

void put_byte_letters(AlignedText& text) {
  std::vector<Change> changes;
  const std::string& bytes = text.text();
  changes.reserve(bytes.size());
  for (const char c : bytes) {
    changes.push_back({letter_of_byte(byte_of(c)), continues_character(c) ? 1 : 0});
  }
  text.transform(changes);
}

}  // namespace assay::text
