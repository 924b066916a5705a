#pragma once

// Whether files have changed, by what their folders say of them.

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace assay::frame {

// Time, size and number of a file. One that was replaced by another of its size and time has another number.
struct Stamp {
  std::int64_t seconds = 0, nanoseconds = 0, size = 0;
  std::uint64_t number = 0;
  bool operator==(const Stamp&) const = default;
};

// By path; nothing where there is no file.
using Stamps = std::map<std::filesystem::path, std::optional<Stamp>>;

// Of each path, or of all files in it where it is a folder, but for what is or lies in one of `left_out`,
// which are absolute paths.
Stamps stamps_of(const std::vector<std::filesystem::path>& paths,
                 const std::vector<std::filesystem::path>& left_out);

// Files that are other ones, new or gone.
std::vector<std::string> changed(const Stamps& before, const Stamps& after);

}  // namespace assay::frame
