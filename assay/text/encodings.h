#pragma once

// Encodings as they are put together.

#include <string>
#include <vector>

#include <assay/tokenizer.h>

namespace assay::text {

// A token that is not of the text.
struct SpecialToken {
  std::int64_t id = 0;
  std::string text;
};

void append(Encoding& to, const Encoding& from);
void append_special(Encoding& to, const SpecialToken& token, std::int64_t type);
// The tokens from `begin` up to `end`.
Encoding part_of(const Encoding& all, std::size_t begin, std::size_t end);
Encoding joined_encodings(const std::vector<Encoding>& parts);

// Takes white space off the ends of what tokens with letters for bytes stand for. `blank`: a blank was put
// before the text.
void trim_offsets(Encoding& encoding, bool blank);

}  // namespace assay::text
