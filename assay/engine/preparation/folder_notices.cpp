#include "assay/engine/preparation/folder_notices.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <vector>

#include <assay/error.h>
#include <assay/tokenizer.h>
#include "assay/data/tokenized.h"
#include "assay/engine/preparation/token_checks.h"
#include "assay/model/folder.h"
#include "assay/support/text/so_many.h"
#include "assay/text/folder_tokens.h"

namespace assay::inline engine {
namespace {

namespace fs = std::filesystem;

std::string said_of(std::int64_t token, const text::Tokenizer& tokenizer, const char* what) {
  const auto text = tokenizer.token(token);
  return fmt::format("token {}{} {}", token, text ? fmt::format(" ('{}')", *text) : "", what);
}

// Classes without names are called by their numbers.
bool are_numbers(const std::vector<std::string>& names) {
  for (std::size_t c = 0; c < names.size(); ++c)
    if (names[c] != std::to_string(c)) return false;
  return true;
}

// Names that several classes have say nothing of their numbers.
bool is_there_once(const std::string& name, const std::vector<std::string>& names) {
  return std::ranges::count(names, name) == 1;
}

class EmptyTexts final : public TokenCheck {
 public:
  explicit EmptyTexts(const Dataset& data) : data_(data) {}

  void look(const Batch& batch) override {
    const auto mask = std::ranges::find(batch.others, "attention_mask", &NamedArray::name);
    if (mask == batch.others.end()) return;
    const auto attention = mask->values.as<std::int64_t>();
    const std::size_t length = mask->values.shape().back();
    for (std::size_t row = 0; row < batch.indices.size(); ++row) {
      const auto text = attention.subspan(row * length, length);
      if (std::ranges::any_of(text, [](std::int64_t counts) { return counts != 0; })) continue;
      if (empty_++ < most_named) named_.push_back(fmt::format("'{}'", data_.id(batch.indices[row])));
    }
  }

  void tell(Progress& progress) const override {
    if (empty_ > 0)
      progress.notice(
          fmt::format("{} no token ({}{}): what fills up decides there; leave empty texts out",
                      so_many(empty_, "record has", "records have"), fmt::join(named_, ", "),
                      empty_ > most_named ? fmt::format(" and {} more", empty_ - most_named) : ""));
  }

 private:
  static constexpr std::size_t most_named = 5;
  const Dataset& data_;
  std::size_t empty_ = 0;
  std::vector<std::string> named_;
};

}  // namespace

TokenCheckPtr empty_texts(const Dataset& data) {
  return tokenizer_of(data) != nullptr ? std::make_unique<EmptyTexts>(data) : nullptr;
}

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

std::string numbering_notice(const std::vector<std::string>& of_network, const Dataset& data) {
  const std::vector<std::string> classes = data.class_names();
  if (!data.has_labels() || of_network.empty() || are_numbers(classes)) return {};
  std::vector<std::string> differing;
  for (std::size_t c = 0; c < classes.size(); ++c) {
    const std::optional<std::size_t> found = class_called(classes[c], of_network);
    if (found && *found != c && is_there_once(classes[c], classes) &&
        is_there_once(of_network[*found], of_network))
      differing.push_back(
          fmt::format("'{}' is class {} of the data and {} of the network", classes[c], c, *found));
  }
  if (differing.empty()) return {};
  const std::size_t first = std::min<std::size_t>(differing.size(), 3);
  return fmt::format(
      "{}: {}{}; number the labels as the network does, or, where the numbers are right, name the classes in "
      "its order",
      data.describe(), fmt::join(differing.begin(), differing.begin() + first, ", "),
      differing.size() > first ? fmt::format(" and {} more", differing.size() - first) : "");
}

void tell_numbering(const std::string& folder, const Dataset& data, Progress& progress) {
  if (folder.empty() || !data.has_labels() || are_numbers(data.class_names())) return;
  std::optional<TextConfig> config;
  try {
    config = read_text_config(folder);
  } catch (const Error&) {
    return;  // nothing else may have to read it, and the facts of a result say what is wrong in it
  }
  if (!config) return;
  if (const std::string notice = numbering_notice(config->labels, data); !notice.empty())
    progress.notice(fmt::format("{} (by {})", notice, (fs::path(folder) / "config.json").string()));
}

}  // namespace assay::inline engine
