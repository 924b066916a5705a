#pragma once

// Commands of a pack that are run again: which are allowed, and the folder in which they run.

#include <filesystem>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "assay/evidence/study.h"
#include "assay/support/files/temporary_folder.h"

namespace assay::evidence {

// The arguments of a command after its first word: names of flags without dashes (of -m as well), "" for
// positions, and values, "" for none.
using NamedValues = std::vector<std::pair<std::string, std::string>>;
NamedValues named_values(const std::vector<std::string>& typed);

// The part of a flag's value that may name files: a task's name is none, what its options are may be.
std::string text_with_files(const std::string& flag, const std::string& value);

// Why a command of a pack is not run again; empty: it may be. Only commands that measure are, with flags that
// make no files. Throws Error{data}, beginning with `what`, for other flags.
std::string why_not_repeated(const std::vector<std::string>& typed, const std::string& what);

// Where commands run again, gone when this is.
class FreshFolder {
 public:
  // With links to those of `inputs` that are in the folder `from`, under the names by which commands there
  // would find them. Throws Error{io}.
  FreshFolder(std::span<const InputFile> inputs, const std::filesystem::path& from);

  const std::filesystem::path& path() const { return folder_.path(); }
  // Where commands run.
  const std::filesystem::path& work() const { return work_; }

 private:
  void link(const InputFile& input, const std::filesystem::path& from) const;

  TemporaryFolder folder_{"verify"};
  std::filesystem::path work_;
};

// Files that the commands of steps read, by their flags, and that the inputs lack: each as the command names
// it.
std::vector<std::string> unlisted_inputs(std::span<const std::vector<std::string>> commands,
                                         std::span<const InputFile> inputs,
                                         const std::filesystem::path& from);

}  // namespace assay::evidence
