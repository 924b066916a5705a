#pragma once

// Pages that a command names, as links of the terminal (OSC 8).

#include <filesystem>
#include <string>
#include <string_view>

namespace assay::frame {

// "file:///home/a%20b/page.html".
std::string address_of(const std::filesystem::path& file);

// Whether links are shown on standard output, `terminal` if that is one. FORCE_HYPERLINK asks for them, or
// with 0 forbids them; otherwise a terminal has them, unless it is a dumb one or NO_COLOR is set.
bool links_are_shown(bool terminal);

// The text with names of .html files that are there as links. Colours in it stay.
std::string with_links(std::string_view text);

}  // namespace assay::frame
