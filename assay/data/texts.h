#pragma once

// Texts that belong to records, such as what is written in a picture.

#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace assay::inline data {

// The characters of each record's text, by number, in the order of the ids. From JSON (an object of texts by
// name), or a text file with a line a record, in order, or with a name, a tab and a text in every line.
// Throws Error{data} naming file and line for what is not UTF-8, for a record without a text and for texts of
// more than 100,000 characters.
std::vector<std::vector<char32_t>> read_texts(const std::filesystem::path& file,
                                              std::span<const std::string> ids);

// The same of one text; `where` stands in messages.
std::vector<char32_t> text_characters(const std::string& text, const std::string& where);

// A row of numbers for each text, filled up with -1.
std::vector<float> text_row(std::span<const char32_t> text, std::size_t width);

}  // namespace assay::inline data
