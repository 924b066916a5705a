#include "assay/engine/preparation/view_words.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <vector>

#include <fmt/ranges.h>

#include <assay/error.h>
#include "assay/support/text/parse.h"
#include "assay/support/text/text.h"

namespace assay::inline engine {
namespace {

using Words = std::map<std::string, std::string>;
using Names = std::vector<std::string>;

const Names view_words{"layer", "heads", "attention", "directions", "lens", "tokens", "threshold", "name"};
const Names head_statistics{"norm", "mean", "variance", "skewness", "kurtosis"};
const Names weight_statistics{"mean", "variance", "skewness", "kurtosis"};
const Names token_reductions{"last", "first", "mean", "max", "any", "share"};

bool is_in(const Names& names, const std::string& name) {
  return std::ranges::find(names, name) != names.end();
}

Words read_view_words(const std::string& text) {
  Words words;
  std::string_view rest = text;
  while (!rest.empty()) {
    const std::size_t equals = std::min(rest.find_first_of("=,"), rest.size());
    const std::string key(rest.substr(0, equals));
    if (!is_in(view_words, key))
      fail(Fault::usage, "view '{}': there is no '{}'{}; there are {}", text, key,
           did_you_mean(key, view_words), fmt::join(view_words, ", "));
    rest.remove_prefix(equals);
    if (rest.starts_with('=')) rest.remove_prefix(1);
    const std::optional<std::string> value = take_part(rest, ",");
    if (!value || value->empty()) fail(Fault::usage, "view '{}': {}= has no value", text, key);
    if (!words.emplace(key, *value).second) fail(Fault::usage, "view '{}': {}= is there twice", text, key);
    if (!rest.empty()) rest.remove_prefix(1);
  }
  return words;
}

// The value of a word that is one of `known`; empty without the word.
std::string one_of(const std::string& text, const Words& words, const std::string& key, const Names& known) {
  const auto found = words.find(key);
  if (found == words.end()) return {};
  if (!is_in(known, found->second))
    fail(Fault::usage, "view '{}': {}={} is not known{}; there are {}", text, key, found->second,
         did_you_mean(found->second, known), fmt::join(known, ", "));
  return found->second;
}

float threshold_of(const std::string& text, const std::string& number, const std::string& tokens) {
  if (tokens != "any" && tokens != "share")
    fail(Fault::usage, "view '{}': threshold= has no effect without tokens=any or tokens=share", text);
  const auto value = number_of<float>(number);
  if (!value) fail(Fault::usage, "view '{}': threshold={} is not a number", text, number);
  return *value;
}

void require_sense(const ViewWords& view) {
  Names units;
  if (!view.heads.empty()) units.emplace_back("heads=");
  if (!view.attention.empty()) units.emplace_back("attention=");
  if (!view.directions.empty()) units.emplace_back("directions=");
  if (!view.lens.empty()) units.emplace_back("lens=");
  if (units.size() > 1)
    fail(Fault::usage, "view '{}': {} are other units each; give a view for each of them", view.text,
         fmt::join(units, " and "));
  if (units.empty() && view.tokens.empty())
    fail(Fault::usage,
         "view '{}' shows what the layer is anyway; say heads=, attention=, directions=, lens= or tokens=",
         view.text);
  const bool of_many = !view.heads.empty() || !view.attention.empty() || !view.lens.empty();
  if (view.layer.empty() && !of_many)
    fail(Fault::usage, "view '{}': of which layer? say layer=NAME", view.text);
  if (view.layer.empty() && !view.name.empty())
    fail(Fault::usage, "view '{}': name= is for the view of one layer; say layer=NAME, too", view.text);
}

}  // namespace

ViewWords parse_view(const std::string& text) {
  Words words = read_view_words(text);
  ViewWords view{.text = text,
                 .layer = words["layer"],
                 .heads = {},
                 .attention = {},
                 .directions = words["directions"],
                 .lens = words["lens"],
                 .tokens = {},
                 .name = words["name"]};
  std::erase_if(words, [](const auto& word) { return word.second.empty(); });
  view.heads = one_of(text, words, "heads", head_statistics);
  view.attention = one_of(text, words, "attention", weight_statistics);
  view.tokens = one_of(text, words, "tokens", token_reductions);
  if (words.contains("threshold")) view.threshold = threshold_of(text, words["threshold"], view.tokens);
  if (std::ranges::any_of(view.name, [](char one) { return one >= 0 && one < ' '; }))
    fail(Fault::usage, "view: name= holds a character that is not printed; take another name");
  require_sense(view);
  return view;
}

}  // namespace assay::inline engine
