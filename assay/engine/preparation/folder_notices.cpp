#include "assay/engine/preparation/folder_notices.h"

#include <fmt/ranges.h>

#include <cstdint>
#include <filesystem>
#include <vector>

#include <assay/tokenizer.h>
#include "assay/text/folder_tokens.h"

namespace assay::inline engine {
namespace {

namespace fs = std::filesystem;

std::string said_of(std::int64_t token, const text::Tokenizer& tokenizer, const char* what) {
  const auto text = tokenizer.token(token);
  return fmt::format("token {}{} {}", token, text ? fmt::format(" ('{}')", *text) : "", what);
}

}  // namespace

void tell_folder_tokens(const std::string& folder, Progress& progress) {
  std::error_code code;
  if (folder.empty() || !fs::exists(fs::path(folder) / "tokenizer.json", code)) return;
  const auto [padding, end, begin] = text::read_folder_tokens(folder);
  if (!(padding && padding->by_generation) && !(end && end->by_generation)) return;
  const text::Tokenizer tokenizer{fs::path(folder)};
  std::vector<std::string> said;
  if (padding && padding->by_generation) said.push_back(said_of(padding->token, tokenizer, "fills up"));
  if (end && end->by_generation) said.push_back(said_of(end->token, tokenizer, "ends texts"));
  progress.notice(fmt::format("{}: {}, which config.json does not say",
                              (fs::path(folder) / "generation_config.json").string(), fmt::join(said, ", ")));
}

}  // namespace assay::inline engine
