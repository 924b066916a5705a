#pragma once

// Texts for a shell.

#include <string>
#include <string_view>
#include <vector>

namespace assay::inline support {

// One word of a POSIX shell that means exactly `text`: as it is where nothing in it is special, else in
// single quotes.
std::string shell_word(std::string_view text);

// The inverse for words with blanks between them: shell_words("a 'b c'") is {a, b c}. Throws Error{usage} for
// a quotation that does not end.
std::vector<std::string> shell_words(std::string_view text);

}  // namespace assay::inline support
