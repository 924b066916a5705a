#include "assay/text/folder_tokens.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <string_view>

#include <assay/error.h>
#include "assay/support/files/file.h"

namespace assay::text {
namespace {

constexpr std::uint64_t most_config_bytes = 1 << 24;

// Python writes numbers without bound as words, which are not JSON (Mamba's "time_step_limit": [0.0,
// Infinity]).
std::string with_null_for_words(const std::string& json) {
  constexpr std::array<std::string_view, 3> words{"-Infinity", "Infinity", "NaN"};
  std::string result;
  bool in_text = false;
  for (std::string_view rest = json; !rest.empty();) {
    const auto word =
        std::ranges::find_if(words, [&](std::string_view one) { return rest.starts_with(one); });
    const bool is_word = !in_text && word != words.end();
    const std::size_t taken = is_word                      ? word->size()
                              : in_text && rest[0] == '\\' ? std::min<std::size_t>(2, rest.size())
                                                           : 1;
    if (rest[0] == '"') in_text = !in_text;
    result += is_word ? "null" : rest.substr(0, taken);
    rest.remove_prefix(taken);
  }
  return result;
}

nlohmann::json config_in(const std::filesystem::path& file) {
  std::error_code code;
  if (!std::filesystem::is_regular_file(file, code)) return nlohmann::json::object();
  const nlohmann::json config =
      nlohmann::json::parse(with_null_for_words(read_file(file, most_config_bytes)), nullptr, false);
  if (!config.is_object()) fail(Fault::data, "{}: this is not a JSON object", file.string());
  return config;
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
  return {said("pad_token_id"), said("eos_token_id")};
}

}  // namespace assay::text
