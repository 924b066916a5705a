#pragma once

// Configuration files in TOML, with messages that name file and line. For few sources: toml++ is slow to
// read.

#include <toml++/toml.h>
#include <filesystem>
#include <string>
#include <vector>

namespace assay::inline support {

// "assay.toml:3".
std::string place_in(const std::filesystem::path& file, const toml::node& node);

// Throws Error{usage} for files that are not TOML, and for names of very many parts (a.a.a...), each of which
// would be a table in another.
toml::table read_toml(const std::filesystem::path& file);

// The table that configures Assay: of a pyproject.toml [tool.assay], of other files all. Throws Error{usage}
// also for a pyproject.toml without it.
toml::table read_configuration(const std::filesystem::path& file);

// Whether a pyproject.toml has that table, with anything in it. Throws Error{usage} for files that are not
// TOML.
bool has_configuration(const std::filesystem::path& pyproject);

// A text, number or truth value, or the elements of a list of them, as texts. Throws Error{usage} for
// anything else.
std::string text_of(const std::filesystem::path& file, const toml::node& node);
std::vector<std::string> texts_of(const std::filesystem::path& file, const toml::node& node);

}  // namespace assay::inline support
