#pragma once

// Making any bytes safe inside other formats.

#include <string>
#include <string_view>

namespace assay::report {

// For XML 1.0 attributes and text: the five special characters as entities, line breaks and tabs as
// references, what XML cannot hold (U+FFFE, U+FFFF, invalid UTF-8) as U+FFFD, other characters that act as
// visible() shows them.
std::string xml_escaped(std::string_view bytes);

// One line of Markdown that shows the text itself: no markup, no HTML, no table columns, no notified users.
std::string markdown_escaped(std::string_view bytes);

}  // namespace assay::report
