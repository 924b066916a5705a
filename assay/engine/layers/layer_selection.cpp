#include <algorithm>
#include <charconv>
#include <map>

#include <assay/error.h>
#include <assay/session.h>
#include "assay/engine/layers/layer_selection.h"
#include "assay/engine/layers/unit_views.h"
#include "assay/engine/session_state.h"
#include "assay/support/text/text.h"

namespace assay::inline engine {
namespace {

// "2" is the third layer, "-1" the last of the network's `own`, which come before views. Nothing for other
// text or when there is no such layer.
std::optional<std::size_t> index_in(std::string_view selector, std::size_t own, std::size_t count) {
  long long number = 0;
  const auto [end, error] = std::from_chars(selector.data(), selector.data() + selector.size(), number);
  if (error != std::errc() || end != selector.data() + selector.size()) return std::nullopt;
  if (number < 0) number += static_cast<long long>(own);
  if (number < 0 || number >= static_cast<long long>(count)) return std::nullopt;
  return static_cast<std::size_t>(number);
}

constexpr std::size_t most_names = 60;  // that an error message lists

// True when the selector is one part of the name, as exporters write them: "lstm" of "/lstm/LSTM".
bool is_part(std::string_view selector, std::string_view name) {
  for (std::size_t begin = 0; begin <= name.size();) {
    const std::size_t end = std::min(name.find_first_of("/.", begin), name.size());
    if (end > begin && name.substr(begin, end - begin) == selector) return true;
    begin = end + 1;
  }
  return false;
}

}  // namespace

const Layer& Session::layer(std::string_view selector) const {
  const std::vector<Layer>& all = layers();
  std::vector<std::string> names;
  for (const Layer& layer : all) names.push_back(layer.name);
  if (const auto named = std::ranges::find(names, selector); named != names.end()) {
    return all[named - names.begin()];
  }
  for (const Layer& layer : all) {
    const bool same =
        graph().value(layer.value).name == selector || graph().value(layer.linear_value).name == selector;
    if (same) return layer;
  }
  const std::span<const Layer> own(all.data(), all.size() - unit_view_layers(*this).size());
  if (const auto index = index_in(selector, own.size(), all.size())) return all[*index];
  const auto fits = [&](const Layer& layer) { return is_part(selector, layer.name); };
  if (std::ranges::count_if(own, fits) == 1) return *std::ranges::find_if(own, fits);
  state_->refuse_layer_left_out(selector);
  const std::string suggestion = did_you_mean(selector, names);
  if (names.size() > most_names) names.resize(most_names);
  fail(Fault::usage, "network '{}' has no layer '{}'{}; its {} layers are {}{} (`assay model` shows them)",
       graph().name(), selector, suggestion, all.size(), joined(names),
       names.size() < all.size() ? ", ..." : "");
}

const Layer* penultimate_among(const Session& session, const std::function<bool(const Layer&)>& counts) {
  const Graph& graph = session.graph();
  std::map<NodeId, const Layer*> weighted;  // by the node that gives it its character
  for (const Layer& layer : session.layers()) {
    if (layer.carries_weights && counts(layer)) weighted.emplace(layer.node, &layer);
  }
  // Along the path with most weighted layers: how many come before a value, the last of them, and the one
  // before that.
  struct Path {
    int length = 0;
    const Layer* last = nullptr;
    const Layer* before = nullptr;
  };
  std::vector<Path> paths(graph.values().size());
  for (const NodeId n : graph.node_ids()) {
    Path longest;
    for (const ValueId id : graph.node(n).inputs) {
      if (id == no_value) continue;
      const Path& path = paths[index_of(id)];
      if (path.length > longest.length) longest = path;
    }
    if (const auto found = weighted.find(n); found != weighted.end()) {
      longest = {longest.length + 1, found->second, longest.last};
    }
    for (const ValueId id : graph.node(n).outputs) {
      if (id != no_value) paths[index_of(id)] = longest;
    }
  }
  const Path& decision = paths[index_of(session.logits())];
  return decision.before != nullptr ? decision.before : decision.last;
}

const Layer& Session::penultimate_layer() const {
  const Layer* const found = penultimate_among(*this, [](const Layer&) { return true; });
  if (found == nullptr)
    fail(Fault::usage, "network '{}' has no layer with weights before its output", graph().name());
  return *found;
}

std::vector<Layer> subject_layers(const Session& session) {
  std::vector<Layer> views = unit_view_layers(session);
  return views.empty() ? std::vector{session.penultimate_layer()} : views;
}

std::vector<Layer> counted_layers(const Session& session) {
  std::vector<Layer> views = unit_view_layers(session);
  return views.empty() ? session.layers() : views;
}

}  // namespace assay::inline engine
