#include <assay/token_decision.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include <fmt/ranges.h>

#include <assay/error.h>
#include <assay/tokenizer.h>
#include "assay/engine/preparation/token_checks.h"
#include "assay/model/folder.h"
#include "assay/model/token_decision.h"
#include "assay/support/text/parse.h"
#include "assay/support/text/text.h"

namespace assay::inline engine {
namespace {

namespace fs = std::filesystem;

const std::vector<std::string> decision_words{"position", "answers", "contrast", "tokenizer", "mask"};

std::map<std::string, std::string> words_of(const std::string& text) {
  std::map<std::string, std::string> words;
  std::string_view rest = text;
  while (!rest.empty()) {
    const std::size_t equals = std::min(rest.find('='), rest.size());
    const std::string key(rest.substr(0, equals));
    if (std::ranges::find(decision_words, key) == decision_words.end())
      fail(Fault::usage, "decision '{}': there is no '{}'{}; there are {}", text, key,
           did_you_mean(key, decision_words), fmt::join(decision_words, ", "));
    rest.remove_prefix(std::min(equals + 1, rest.size()));
    const std::optional<std::string> value = take_part(rest, ",");
    if (!value || value->empty()) fail(Fault::usage, "decision '{}': {}= has no value", text, key);
    if (!words.emplace(key, *value).second)
      fail(Fault::usage, "decision '{}': {}= is there twice", text, key);
    rest.remove_prefix(std::min<std::size_t>(1, rest.size()));
  }
  return words;
}

std::string trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(' ');
  if (begin == text.npos) return {};
  return std::string(text.substr(begin, text.find_last_not_of(' ') - begin + 1));
}

// Makes the decision of its words. A tokenizer is read only where one is needed.
class DecisionReader {
 public:
  DecisionReader(const std::string& text, const std::string& folder)
      : text_(text), words_(words_of(text)), folder_(folder) {}

  TokenDecision read() {
    TokenDecision decision;
    read_position(decision);
    if (words_.contains("answers") && words_.contains("contrast"))
      fail(Fault::usage, "decision '{}': answers= or contrast=, not both", text_);
    if (words_.contains("answers")) names_ = parts_of(words_.at("answers"), "+");
    if (words_.contains("contrast")) {
      decision.contrast = true;
      names_ = parts_of(words_.at("contrast"), "-");
      if (names_.size() != 2)
        fail(Fault::usage, "decision '{}': contrast= is of two answers, as in contrast=Yes-No", text_);
    }
    if (names_.size() == 1)
      fail(Fault::usage, "decision '{}': one answer decides nothing; give several, as in answers=Yes+No",
           text_);
    for (const std::string& name : names_) decision.answers.push_back(token_of(name));
    require_distinct(decision.answers);
    if (const text::Tokenizer* const tokenizer = found_tokenizer())
      decision.padding_token = tokenizer->padding().value_or(-1);
    return decision;
  }

  const std::vector<std::string>& names() const { return names_; }

 private:
  using Position = TokenDecision::Position;

  void read_position(TokenDecision& decision) {
    static const std::map<std::string, Position> positions{{"last", Position::last},
                                                           {"first", Position::first},
                                                           {"mask", Position::mask},
                                                           {"all", Position::all}};
    const std::string word = words_.contains("position") ? words_.at("position") : "last";
    if (const auto found = positions.find(word); found != positions.end()) {
      decision.position = found->second;
    } else if (const auto number = number_of<std::int32_t>(word)) {
      decision.position = Position::number;
      decision.number = *number;
    } else {
      fail(Fault::usage,
           "decision '{}': position={} is not last, first, mask, all or a number (from 0; -1: last)", text_,
           word);
    }
    if (words_.contains("mask") && decision.position != Position::mask)
      fail(Fault::usage, "decision '{}': mask= has no effect without position=mask", text_);
    if (decision.position == Position::mask) decision.mask_token = mask_token();
  }

  std::int64_t mask_token() {
    if (words_.contains("mask")) return token_of(words_.at("mask"));
    for (const char* const usual : {"[MASK]", "<mask>"}) {
      if (const auto id = tokenizer().id(usual)) return *id;
    }
    fail(Fault::usage, "decision '{}': {} has neither [MASK] nor <mask>; say mask=TOKEN", text_,
         tokenizer().name());
  }

  // "#42" is a number itself; else a token as it stands in the vocabulary, or a text that is one token.
  std::int64_t token_of(const std::string& answer) {
    if (answer.starts_with('#')) {
      const auto number = number_of<std::int64_t>(std::string_view(answer).substr(1));
      if (number && *number >= 0) return *number;
    }
    if (const auto id = tokenizer().id(answer)) return *id;
    const std::vector<std::int64_t> ids = ids_of(answer);
    if (ids.size() != 1) {
      std::vector<std::string> tokens;
      for (const std::int64_t id : ids) tokens.push_back(tokenizer().token(id).value_or("?"));
      fail(Fault::usage,
           "decision '{}': answer '{}' is {} tokens ({}); an answer is one token of {}, and texts before "
           "which a space stands are others, as in answers=\" Yes+ No\"",
           text_, answer, tokens.size(), fmt::join(tokens, ", "), tokenizer().name());
    }
    if (tokenizer().is_special(ids[0]) || stands_for_unknown(ids))
      fail(Fault::usage, "decision '{}': answer '{}' is not in the vocabulary of {}", text_, answer,
           tokenizer().name());
    return ids[0];
  }

  // Not every tokenizer marks as special what stands for all that is not in its vocabulary, such as this
  // letter.
  bool stands_for_unknown(const std::vector<std::int64_t>& ids) {
    try {
      return ids == ids_of("ꙮ");
    } catch (const Error&) {
      return false;  // there is no such token
    }
  }

  // Its tokens, without what fills up.
  std::vector<std::int64_t> ids_of(const std::string& text) {
    std::vector<std::int64_t> ids;
    const text::Encoding encoding = tokenizer().encode(text, {.special = false});
    for (std::size_t i = 0; i < encoding.size(); ++i)
      if (encoding.attention[i] != 0) ids.push_back(encoding.ids[i]);
    return ids;
  }

  void require_distinct(const std::vector<std::int64_t>& answers) const {
    for (std::size_t i = 0; i < answers.size(); ++i) {
      const auto same = std::ranges::find(answers, answers[i]) - answers.begin();
      if (same < std::ssize(answers) && static_cast<std::size_t>(same) != i)
        fail(Fault::usage, "decision '{}': answers '{}' and '{}' are the same token", text_, names_[same],
             names_[i]);
    }
  }

  // The one that is named, or is in the folder. nullptr without either.
  const text::Tokenizer* found_tokenizer() {
    if (tokenizer_) return &*tokenizer_;
    std::error_code code;
    if (words_.contains("tokenizer"))
      tokenizer_.emplace(fs::path(words_.at("tokenizer")));
    else if (!folder_.empty() && fs::exists(fs::path(folder_) / "tokenizer.json", code))
      tokenizer_.emplace(fs::path(folder_));
    return tokenizer_ ? &*tokenizer_ : nullptr;
  }

  const text::Tokenizer& tokenizer() {
    if (found_tokenizer() == nullptr)
      fail(Fault::usage,
           "decision '{}': no tokenizer.json is next to the network, so tokens are not known; name one, as "
           "tokenizer=FILE, or give numbers, as answers=#12+#45",
           text_);
    return *tokenizer_;
  }

  const std::string& text_;
  std::map<std::string, std::string> words_;
  const std::string& folder_;
  std::vector<std::string> names_;  // of the answers
  std::optional<text::Tokenizer> tokenizer_;
};

// Where all classes of the data are called like answers: the answers in the order of the classes, further
// ones after them. Nothing where they are not.
std::optional<std::vector<std::size_t>> order_of_classes(const std::vector<std::string>& answers,
                                                         const std::vector<std::string>& classes) {
  std::vector<std::string> plain;
  for (const std::string& answer : answers) plain.push_back(trimmed(answer));
  std::vector<std::size_t> order;
  for (const std::string& name : classes) {
    const auto found = std::ranges::find(plain, trimmed(name));
    if (found == plain.end()) return std::nullopt;
    order.push_back(found - plain.begin());
  }
  for (std::size_t i = 0; i < answers.size(); ++i)
    if (std::ranges::find(order, i) == order.end()) order.push_back(i);
  return order;
}

// Class 1 of a contrast is its first answer.
std::vector<std::string> answers_by_class(const std::vector<std::string>& names, bool contrast) {
  return contrast ? std::vector<std::string>{names[1], names[0]} : names;
}

void put_in_order(TokenDecision& decision, const std::vector<std::string>& names, const Dataset& data,
                  Progress& progress) {
  if (names.empty() || decision.position == TokenDecision::Position::all || !data.has_labels()) return;
  const std::vector<std::string> answers = answers_by_class(names, decision.contrast);
  if (const auto order = order_of_classes(answers, data.class_names())) {
    if (decision.contrast && (*order)[0] == 1) std::swap(decision.answers[0], decision.answers[1]);
    if (decision.contrast) return;
    std::vector<std::int64_t> tokens;
    for (const std::size_t i : *order) tokens.push_back(decision.answers[i]);
    decision.answers = std::move(tokens);
    return;
  }
  std::vector<std::string> said;
  for (std::size_t c = 0; c < std::min(answers.size(), data.class_names().size()); ++c)
    said.push_back(fmt::format("'{}' is answer '{}'", data.class_names()[c], answers[c]));
  progress.notice(fmt::format("class {}", fmt::join(said, ", ")));
}

// The array of a batch that holds numbers of tokens; undefined where none does.
Array tokens_of(const Batch& batch) {
  if (batch.input_name == "input_ids" || (batch.input_name.empty() && batch.others.empty()))
    return batch.inputs;
  for (const NamedArray& other : batch.others)
    if (other.name == "input_ids") return other.values;
  return {};
}

// No record has a token where none is so long.
void require_position_in(const Dataset& data, const TokenDecision& decision, const std::string& text) {
  if (decision.position != TokenDecision::Position::number || data.record_shape().size() != 1) return;
  const std::int64_t length = data.record_shape()[0], at = decision.number;
  if (at >= -length && at < length) return;
  fail(Fault::mismatch,
       "decision '{}': records of {} are {} tokens long, so there is none at position {}; positions are 0 to "
       "{}, or -1 (last) to -{}",
       text, data.describe(), length, at, length - 1, length);
}

void require_enough_positions(const std::string& folder, const Dataset& data) {
  if (folder.empty() || data.record_shape().size() != 1) return;
  const std::optional<TextConfig> config = read_text_config(folder);
  if (!config || config->positions == 0 || data.record_shape()[0] <= config->positions) return;
  fail(Fault::mismatch,
       "{}: records are {} tokens long, and the network has {} positions ({}); cut them, as data option "
       "length={}",
       data.describe(), data.record_shape()[0], config->positions,
       (fs::path(folder) / "config.json").string(), config->positions);
}

class FittingTokens final : public TokenCheck {
 public:
  FittingTokens(const Graph& graph, const Dataset& data, std::int64_t known)
      : graph_(graph), data_(data), known_(known) {}

  void look(const Batch& batch) override {
    const Array tokens = tokens_of(batch);
    if (!tokens.defined() || tokens.dtype() != DType::int64 || tokens.count() == 0) return;
    const auto numbers = tokens.as<std::int64_t>();
    const auto wrong = std::ranges::find_if(numbers, [&](std::int64_t n) { return n >= known_ || n < 0; });
    if (wrong == numbers.end()) return;
    const std::size_t row = (wrong - numbers.begin()) * batch.indices.size() / numbers.size();
    fail(Fault::mismatch,
         "{}: record '{}' holds token {}, and network '{}' knows tokens 0 to {}; the tokenizer is that of "
         "another network",
         data_.describe(), data_.id(batch.indices[row]), *wrong, graph_.name(), known_ - 1);
  }

 private:
  const Graph& graph_;
  const Dataset& data_;
  std::int64_t known_;
};

}  // namespace

bool is_token_decision(const std::string& text) {
  return std::ranges::any_of(decision_words, [&](const std::string& word) {
    return text.starts_with(word + "=") || text.find("," + word + "=") != text.npos;
  });
}

Graph with_token_decision(const Graph& graph, const std::string& text, const std::string& folder,
                          const Dataset* data, Progress& progress) {
  DecisionReader reader(text, folder);
  TokenDecision decision = reader.read();
  if (data != nullptr) {
    require_position_in(*data, decision, text);
    put_in_order(decision, reader.names(), *data, progress);
  }
  return with_token_decision(graph, decision);
}

TokenCheckPtr fitting_tokens(const Graph& graph, const std::string& folder, const Dataset& data) {
  const std::int64_t known = known_tokens(graph);
  if (known == 0 || data.dtype() != DType::int64) return nullptr;
  require_enough_positions(folder, data);
  return std::make_unique<FittingTokens>(graph, data, known);
}

}  // namespace assay::inline engine
