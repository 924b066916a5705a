#include "assay/text/folder_tokens.h"

#include "assay/support/files/config_json.h"

namespace assay::text {
namespace {

nlohmann::json config_in(const std::filesystem::path& file) {
  std::error_code code;
  if (!std::filesystem::is_regular_file(file, code)) return nlohmann::json::object();
  return read_config_json(file);
}

// A number from 0, or the first of several.
std::optional<std::int64_t> token_in(const nlohmann::json& config, const char* key) {
  const auto found = config.find(key);
  if (found == config.end()) return std::nullopt;
  const nlohmann::json& value = found->is_array() && !found->empty() ? found->front() : *found;
  if (!value.is_number_integer() || value.get<std::int64_t>() < 0) return std::nullopt;
  return value.get<std::int64_t>();
}

}  // namespace

FolderTokens read_folder_tokens(const std::filesystem::path& folder) {
  const nlohmann::json config = config_in(folder / "config.json"),
                       generation = config_in(folder / "generation_config.json");
  const auto said = [&](const char* key) -> std::optional<FolderTokens::Said> {
    if (const auto token = token_in(config, key)) return FolderTokens::Said{*token, false};
    if (const auto token = token_in(generation, key)) return FolderTokens::Said{*token, true};
    return std::nullopt;
  };
  return {said("pad_token_id"), said("eos_token_id"), said("bos_token_id")};
}

}  // namespace assay::text
