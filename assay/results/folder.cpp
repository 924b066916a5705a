#include "assay/results/folder.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>
#include <optional>
#include <set>

#include <assay/error.h>
#include <assay/tokenizer.h>
#include "assay/model/folder.h"
#include "assay/support/files/config_json.h"
#include "assay/support/files/file.h"
#include "assay/support/files/hash.h"
#include "assay/text/folder_tokens.h"

namespace assay::results {
namespace {

namespace fs = std::filesystem;
using Facts = std::vector<std::pair<std::string, report::Cell>>;
constexpr std::size_t most_classes = 20;  // that are named

bool is_there(const fs::path& file) {
  std::error_code code;
  return fs::is_regular_file(file, code);
}

void add_config(const TextConfig& config, Facts& facts) {
  if (!config.kind.empty()) facts.emplace_back("config_model_type", config.kind);
  if (config.vocabulary > 0) facts.emplace_back("config_vocabulary", config.vocabulary);
  if (config.positions > 0) facts.emplace_back("config_positions", config.positions);
  if (config.labels.empty()) return;
  if (config.labels.size() > most_classes)
    facts.emplace_back("config_classes", static_cast<std::int64_t>(config.labels.size()));
  else
    facts.emplace_back("config_classes", fmt::format("{}", fmt::join(config.labels, ", ")));
}

void add_token(const std::string& key, const std::optional<text::FolderTokens::Said>& said,
               const std::optional<text::Tokenizer>& tokenizer, Facts& facts) {
  if (!said) return;
  const auto text = tokenizer ? tokenizer->token(said->token) : std::nullopt;
  facts.emplace_back(key, fmt::format("{}{}, by {}", said->token, text ? fmt::format(" ('{}')", *text) : "",
                                      said->by_generation ? "generation_config.json" : "config.json"));
}

void add_tokens(const fs::path& folder, Facts& facts) {
  const auto [padding, end, begin] = text::read_folder_tokens(folder);
  std::optional<text::Tokenizer> tokenizer;
  if ((padding || end) && is_there(folder / "tokenizer.json")) tokenizer.emplace(folder);
  add_token("padding_token", padding, tokenizer, facts);
  add_token("end_token", end, tokenizer, facts);
}

}  // namespace

Facts folder_provenance(const std::string& network) {
  const std::optional<fs::path> folder = folder_of_network(network);
  if (!folder) return {};
  Facts facts;
  // Of files that nothing else may have read; a result is not lost because of them.
  std::set<std::string> faults;
  const auto add = [&](const std::string& unread, const auto& from) {
    try {
      from();
    } catch (const Error& error) {
      if (faults.insert(error.message()).second) facts.emplace_back(unread, error.message());
    }
  };
  add("config_unread", [&] {
    if (const std::optional<TextConfig> config = read_text_config(*folder)) add_config(*config, facts);
  });
  add("tokens_unread", [&] { add_tokens(*folder, facts); });
  // Not "..._hash": such keys are of networks and records, by which evidence compares results.
  for (const auto& [key, name] : {std::pair("config_checksum", "config.json"),
                                  std::pair("generation_config_checksum", "generation_config.json")}) {
    if (!is_there(*folder / name)) continue;
    add(fmt::format("{}_unread", key), [&, file = *folder / name, key = key] {
      facts.emplace_back(key, hash_hex(read_file(file, most_config_bytes)));
    });
  }
  return facts;
}

}  // namespace assay::results
