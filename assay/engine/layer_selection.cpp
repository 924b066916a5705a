#include <algorithm>
#include <charconv>

#include "assay/engine/session.h"
#include "assay/support/error.h"
#include "assay/support/text.h"

namespace assay {
namespace {

// "2" is the third layer, "-1" the last. Nothing for other text or when there is no such layer.
std::optional<std::size_t> index_in(std::string_view selector, std::size_t count) {
  long long number = 0;
  const auto [end, error] = std::from_chars(selector.data(), selector.data() + selector.size(), number);
  if (error != std::errc() || end != selector.data() + selector.size()) return std::nullopt;
  if (number < 0) number += static_cast<long long>(count);
  if (number < 0 || number >= static_cast<long long>(count)) return std::nullopt;
  return static_cast<std::size_t>(number);
}

constexpr std::size_t most_names = 60;  // that an error message lists

}  // namespace

const Layer& Session::layer(std::string_view selector) const {
  const std::vector<Layer>& all = layers();
  std::vector<std::string> names;
  for (const Layer& layer : all) names.push_back(layer.name);
  if (const auto named = std::ranges::find(names, selector); named != names.end()) {
    return all[static_cast<std::size_t>(named - names.begin())];
  }
  for (const Layer& layer : all) {
    const bool same = graph().value(layer.value).name == selector || graph().value(layer.linear_value).name == selector;
    if (same) return layer;
  }
  if (const auto index = index_in(selector, all.size())) return all[*index];
  const std::string suggestion = did_you_mean(selector, names);
  if (names.size() > most_names) names.resize(most_names);
  fail(Fault::usage, "network '{}' has no layer '{}'{}; its {} layers are {}{} (`assay model` shows them)",
       graph().name(), selector, suggestion, all.size(), joined(names), names.size() < all.size() ? ", ..." : "");
}

const Layer& Session::penultimate_layer() const {
  const Layer* last = nullptr;
  const Layer* before = nullptr;
  for (const Layer& layer : layers()) {
    if (!layer.carries_weights) continue;
    before = last;
    last = &layer;
  }
  if (!last) fail(Fault::usage, "network '{}' has no layer with weights", graph().name());
  return before ? *before : *last;
}

}  // namespace assay
