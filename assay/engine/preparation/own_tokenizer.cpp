#include "assay/engine/preparation/own_tokenizer.h"

#include <fmt/ranges.h>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <unordered_set>
#include <utility>
#include <vector>

#include <assay/error.h>
#include <assay/tokenizer.h>
#include "assay/data/tokenized.h"
#include "assay/engine/preparation/token_checks.h"
#include "assay/model/real_tokens.h"
#include "assay/model/token_decision.h"
#include "assay/text/folder_tokens.h"

namespace assay::inline engine {
namespace {

namespace fs = std::filesystem;

// Tables are padded to sizes that are quick: 50,257 tokens have 50,304 rows, 50,295 have 51,200.
constexpr std::int64_t most_percent_padded = 3;

fs::path own_file(const std::string& folder) { return fs::path(folder) / "tokenizer.json"; }
bool has_own_file(const std::string& folder) {
  std::error_code code;
  return !folder.empty() && fs::exists(own_file(folder), code);
}

// Of the file in the folder, if it is another one than that given, and can be read.
std::optional<text::Tokenizer> other_tokenizer_in(const std::string& folder, const text::Tokenizer& given,
                                                  Progress& progress) {
  std::error_code code;
  const fs::path file = own_file(folder);
  if (fs::equivalent(file, given.name(), code) || fs::equivalent(folder, given.name(), code))
    return std::nullopt;
  try {
    return text::Tokenizer(file);
  } catch (const Error& error) {
    progress.notice(fmt::format("{}; so tokens are not compared with it", error.what()));
    return std::nullopt;
  }
}

std::string quoted(const std::optional<std::string>& token) {
  return token ? fmt::format("'{}'", *token) : "none";
}

class OwnTokens final : public TokenCheck {
 public:
  OwnTokens(const Graph& graph, const Dataset& data, const text::Tokenizer& given, text::Tokenizer own)
      : graph_(graph), data_(data), given_(given), own_(std::move(own)) {}

  void look(const Batch& batch) override {
    const auto numbers = batch.inputs.as<std::int64_t>();
    const std::size_t length = batch.indices.empty() ? 1 : numbers.size() / batch.indices.size();
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      // Numbers may lie outside of both vocabularies, and far apart.
      if (compared_.insert(numbers[i]).second && given_.token(numbers[i]) != own_.token(numbers[i]))
        refuse(batch.indices[i / length], numbers[i]);
    }
  }

 private:
  [[noreturn]] void refuse(std::size_t record, std::int64_t token) const {
    fail(Fault::mismatch,
         "{}: record '{}' holds token {}, which is {} in {} and {} in {} beside network '{}'; make tokens "
         "with that file (tokenizer=), or move it away if it is not that of the network",
         data_.describe(), data_.id(record), token, quoted(given_.token(token)), given_.name(),
         quoted(own_.token(token)), own_.name(), graph_.name());
  }

  const Graph& graph_;
  const Dataset& data_;
  const text::Tokenizer& given_;
  text::Tokenizer own_;
  std::unordered_set<std::int64_t> compared_;
};

// What makes the tokens that the network reads; nullptr where they are not made of texts.
const text::Tokenizer* tokenizer_for(const Graph& graph, const Dataset& data) {
  const bool reads_tokens = data.facts().input_name == "input_ids" && data.dtype() == DType::int64;
  return reads_tokens && tokens_input(graph) != no_value ? tokenizer_of(data) : nullptr;
}

// Special tokens are marked so in the file, or stand in brackets, as [PAD] and <s> do.
bool is_special(const text::Tokenizer& tokenizer, std::int64_t number) {
  const std::optional<std::string> token = tokenizer.token(number);
  if (!token) return false;
  const bool bracketed = token->size() > 2 && ((token->front() == '[' && token->back() == ']') ||
                                               (token->front() == '<' && token->back() == '>'));
  return bracketed || tokenizer.is_special(number) || tokenizer.padding() == number;
}

// What speaks against the tokenizer, in words.
std::vector<std::string> doubts(const Graph& graph, const std::string& folder,
                                const text::Tokenizer& tokenizer) {
  std::vector<std::string> found;
  const std::int64_t numbers = tokenizer.numbers();
  const std::int64_t rows = known_tokens(graph);
  if (100 * (rows - numbers) > most_percent_padded * rows)
    found.push_back(fmt::format("it has numbers for {} tokens, and the network knows {}", numbers, rows));
  if (folder.empty()) return found;
  const text::FolderTokens named = text::read_folder_tokens(folder);
  const auto compare = [&](const std::optional<text::FolderTokens::Said>& said, const char* does) {
    if (!said || is_special(tokenizer, said->token)) return;
    found.push_back(fmt::format(
        "token {}, which {} by {}, is {} there", said->token, does,
        (fs::path(folder) / (said->by_generation ? "generation_config.json" : "config.json")).string(),
        quoted(tokenizer.token(said->token))));
  };
  compare(named.padding, "fills up");
  compare(named.begin, "begins texts");
  compare(named.end, "ends texts");
  return found;
}

}  // namespace

TokenCheckPtr own_tokens(const Graph& graph, const std::string& folder, const Dataset& data,
                         Progress& progress) {
  const text::Tokenizer* const given = tokenizer_for(graph, data);
  if (given == nullptr || !has_own_file(folder)) return nullptr;
  std::optional<text::Tokenizer> own = other_tokenizer_in(folder, *given, progress);
  return own ? std::make_unique<OwnTokens>(graph, data, *given, *std::move(own)) : nullptr;
}

void tell_other_tokenizer(const Graph& graph, const std::string& folder, const Dataset& data,
                          Progress& progress) {
  const text::Tokenizer* const given = tokenizer_for(graph, data);
  if (given == nullptr || has_own_file(folder)) return;
  const std::vector<std::string> found = doubts(graph, folder, *given);
  if (!found.empty())
    progress.notice(fmt::format("{} may be the tokenizer of another network than '{}': {}", given->name(),
                                graph.name(), fmt::join(found, "; ")));
}

}  // namespace assay::inline engine
