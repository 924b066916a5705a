#pragma once

// Pieces of files that can only grow: texts with their length in front, and frames, which are followed by a
// checksum, so that one that a kill cut off or that was damaged is told from a whole one.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace assay::inline support {

// Appends a text with its length in front.
void put_text(std::string& to, std::string_view text);
// Takes such a text from the front of `from`; nothing, and `from` as it was, when it is not all there.
std::optional<std::string_view> take_text(std::string_view& from);

// A text with its length in front and a checksum of both after it.
std::string framed(std::string_view text);
// Takes a frame from the front of `from`; nothing, and `from` as it was, when it is not whole.
std::optional<std::string_view> take_framed(std::string_view& from);
// What a frame takes in addition to its text.
constexpr std::size_t frame_overhead = sizeof(std::uint64_t) + 16;

// Whether all of `bytes` could be written at `place`; errno says why not.
bool write_at(int file, std::size_t place, std::string_view bytes);

}  // namespace assay::inline support
