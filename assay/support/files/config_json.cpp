#include "assay/support/files/config_json.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include <assay/error.h>
#include "assay/support/files/file.h"

namespace assay::inline support {
namespace {

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

}  // namespace

nlohmann::json read_config_json(const std::filesystem::path& file) {
  const std::string text = with_null_for_words(read_file(file, most_config_bytes));
  nlohmann::json config;
  try {
    config = nlohmann::json::parse(text);
  } catch (const nlohmann::json::exception& error) {
    fail(Fault::data, "{}: this is not JSON: {}", file.string(), error.what());
  }
  if (!config.is_object()) fail(Fault::data, "{}: this is not a JSON object", file.string());
  return config;
}

}  // namespace assay::inline support
