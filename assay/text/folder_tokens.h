#pragma once

// What exporters write of special tokens beside a tokenizer: in config.json, and what that lacks in
// generation_config.json.

#include <cstdint>
#include <filesystem>
#include <optional>

namespace assay::text {

struct FolderTokens {
  struct Said {
    std::int64_t token = 0;
    bool by_generation = false;  // by generation_config.json alone
  };
  std::optional<Said> padding;  // what fills up
  std::optional<Said> end;      // what ends a text; the first where there are several
  std::optional<Said> begin;    // what begins one
};

// Nothing of what neither file says. Throws Error{data} for files that are not JSON objects.
FolderTokens read_folder_tokens(const std::filesystem::path& folder);

}  // namespace assay::text
