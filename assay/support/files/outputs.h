#pragma once

// Outputs of a run, checked before its work begins: a path that cannot be written is reported at once, not
// after hours, and nothing that the run reads is overwritten.

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace assay::inline support {

struct Output {
  enum class Kind { file, folder, journal };
  std::string name;  // for messages: "--state"
  std::string path;  // empty: not requested
  Kind kind = Kind::file;
  // Of a folder: names of the files that are written into it, as patterns of a shell. "*" is any file, in
  // folders inside as well.
  std::vector<std::string> members = {"*"};
  bool goes_on = false;  // what it holds is read first: states to add to, checkpoints
};

// A file that a run may read, whether or not it is there, or a folder with all that lies in it, and what
// names it.
using NamedPath = std::pair<std::filesystem::path, std::string>;

// Whether two names in a folder are one file there, which need not be there yet.
using SameNames =
    std::function<bool(const std::filesystem::path& folder, const std::string& a, const std::string& b)>;
// Found out by a file of such names, which is gone again: file systems differ in how they fold letters.
bool are_one_name(const std::filesystem::path& folder, const std::string& a, const std::string& b);

// All paths are compared as absolute ones, through links, and files also by what they are on the disk. Throws
// Error{io} for what cannot be written or has no folder to go into, Error{usage} for two outputs in one place
// and for an output over an input, Error{data} for a foreign file where a journal goes.
void check_outputs(const std::vector<Output>& outputs, const std::vector<NamedPath>& inputs,
                   const SameNames& same = are_one_name);

// Protects expensive files: throws Error{mismatch} if `path` is a file with contents, and `belongs` throws or
// returns false.
void check_replaced(const std::filesystem::path& path, std::string_view what,
                    const std::function<bool()>& belongs);

}  // namespace assay::inline support
