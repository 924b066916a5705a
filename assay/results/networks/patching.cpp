#include "assay/results/networks/patching.h"

#include <algorithm>
#include <functional>
#include <optional>

#include <fmt/format.h>

#include "assay/report/escape.h"
#include "assay/results/document.h"
#include "assay/results/figures.h"
#include "assay/results/networks/text_map.h"
#include "assay/support/files/file.h"
#include "assay/support/text/so_many.h"

namespace assay::results {
namespace {

using inspection::AblatedHead;
using inspection::PatchEffect;
using inspection::PatchSite;

const std::string patching_page = "docs/patching.md";

// One pair or record says nothing about others: its bound is left out.
std::optional<double> bound(double value, std::size_t counted) {
  return counted > 1 ? std::optional(value) : std::nullopt;
}

report::Table effects_table(std::string id, std::string title, std::span<const PatchEffect> effects,
                            std::size_t counted) {
  return table_of(std::move(id), std::move(title), effects,
                  {{"layer", [](auto& effect) { return effect.site.layer; }},
                   {"head", [](auto& effect) { return effect.site.head; }},
                   {"position", [](auto& effect) { return effect.site.position; }},
                   {"share", "made good", Kind::percent, &PatchEffect::share},
                   {"low", "from", Kind::percent, [=](auto& effect) { return bound(effect.low, counted); }},
                   {"high", "to", Kind::percent, [=](auto& effect) { return bound(effect.high, counted); }},
                   {"turned", "decisions turned", &PatchEffect::turned}});
}

std::string site_in_words(const PatchSite& site) {
  std::string text = fmt::format("'{}'", site.layer);
  if (site.head) text += fmt::format(" head {}", *site.head);
  if (site.position) text += fmt::format(" position {}", *site.position);
  return text;
}

std::string number_or_all(const std::optional<std::int64_t>& number) {
  return number ? fmt::format("{}", *number) : "all";
}

report::Measurement figure_of(std::string name, const PatchEffect& effect, bool higher_is_better) {
  report::Measurement figure = number_figure(std::move(name), effect.share, higher_is_better);
  figure.layer = effect.site.layer;
  return figure;
}

std::vector<PatchEffect> strongest_first(std::vector<PatchEffect> effects) {
  std::ranges::stable_sort(effects, std::ranges::greater(), &PatchEffect::share);
  return effects;
}

// Rows and columns of a map.
struct EffectGrid {
  std::vector<std::string> rows;
  std::size_t columns = 0;
  std::vector<std::tuple<std::size_t, std::size_t, double>> cells;
};

EffectGrid grid_of(std::span<const PatchEffect> effects) {
  EffectGrid grid;
  for (const PatchEffect& effect : effects) {
    const PatchSite& site = effect.site;
    std::string row = site.layer;
    if (site.head && site.position) row += fmt::format(" head {}", *site.head);
    if (grid.rows.empty() || grid.rows.back() != row) grid.rows.push_back(row);
    const std::size_t column = site.position.value_or(site.head.value_or(0));
    grid.columns = std::max(grid.columns, column + 1);
    grid.cells.emplace_back(grid.rows.size() - 1, column, effect.share);
  }
  return grid;
}

}  // namespace

std::vector<report::Measurement> measurements_of(const inspection::Patching& found) {
  std::vector<report::Measurement> all;
  for (const PatchEffect& effect : found.effects)
    all.push_back(figure_of(fmt::format("made-good[head={},position={}]", number_or_all(effect.site.head),
                                        number_or_all(effect.site.position)),
                            effect, true));
  return all;
}

std::vector<report::Measurement> measurements_of(const inspection::Ablation& found) {
  std::vector<report::Measurement> all;
  for (const AblatedHead& head : found.heads)
    all.push_back(figure_of(fmt::format("lead-lost[head={}]", number_or_all(head.effect.site.head)),
                            head.effect, false));
  return all;
}

std::string effect_map(std::span<const PatchEffect> effects) {
  constexpr std::size_t cell = 44, line = 22, letter = 8, edge = 10;
  const EffectGrid grid = grid_of(effects);
  std::size_t longest = 0;
  for (const std::string& row : grid.rows) longest = std::max(longest, row.size());
  const std::size_t left = edge + longest * letter + edge, top = edge + line;
  std::string body;
  for (std::size_t column = 0; column < grid.columns; ++column)
    body += fmt::format("<text x=\"{}\" y=\"{}\" text-anchor=\"middle\">{}</text>\n",
                        left + column * cell + cell / 2, top - 7, column);
  for (std::size_t row = 0; row < grid.rows.size(); ++row)
    body += fmt::format("<text x=\"{}\" y=\"{}\" text-anchor=\"end\">{}</text>\n", left - edge,
                        top + row * line + line - 7, report::xml_escaped(grid.rows[row]));
  for (const auto& [row, column, share] : grid.cells)
    body += fmt::format(
        "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"{}\"/><text x=\"{}\" y=\"{}\" "
        "text-anchor=\"middle\">{:.0f}</text>\n",
        left + column * cell, top + row * line, cell - 2, line - 2, shade_colour(share),
        left + column * cell + cell / 2, top + row * line + line - 7, 100 * share);
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{}\" height=\"{}\" font-family=\"monospace\" "
      "font-size=\"13\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n{}</svg>\n",
      left + grid.columns * cell + edge, top + grid.rows.size() * line + edge, body);
}

std::vector<report::Picture> draw_effects(const inspection::Patching& found,
                                          const std::filesystem::path& folder) {
  std::vector<report::Picture> pictures;
  for (const bool heads : {false, true}) {
    std::vector<PatchEffect> shown;
    std::ranges::copy_if(found.effects, std::back_inserter(shown),
                         [&](const PatchEffect& effect) { return effect.site.head.has_value() == heads; });
    if (shown.empty()) continue;
    const auto path = folder / (heads ? "patched-heads.svg" : "patched-layers.svg");
    write_file(path, effect_map(shown));
    const std::string columns = shown[0].site.position ? "positions" : heads ? "heads" : "whole layers";
    pictures.push_back({fmt::format("{} by {}: per cent of the difference that are made good",
                                    heads ? "attention" : "layers", columns),
                        path});
  }
  return pictures;
}

report::Document document_of(const inspection::Patching& found, const inspection::PatchOptions& options,
                             const Graph& network, std::size_t top) {
  const char *const from = options.into_clean ? "corrupted" : "clean", *const into = options.into_clean
                                                                                         ? "clean"
                                                                                         : "corrupted";
  const std::vector<PatchEffect> strongest = strongest_first(found.effects);
  report::Document document;
  document.headline =
      fmt::format("{}: {} activations of {} make good {} of the difference in {} runs, over {} of {} pairs",
                  network.name(), from, site_in_words(strongest[0].site), report::percent(strongest[0].share),
                  into, found.counted, found.pairs);
  document.facts = {count_fact("pairs", "pairs", found.pairs),
                    count_fact("counted", "of them with different decisions, which count", found.counted),
                    {"difference", "difference of the score, mean", found.difference, Kind::number, 4},
                    {"into", "activations go into", std::string(into) + " runs"}};
  document.tables = {
      effects_table("strongest", "Strongest sites",
                    std::span(strongest).first(std::min(top, strongest.size())), found.counted),
      detailed(effects_table("patches", "All sites", found.effects, found.counted))};
  document.definitions = {
      {"made good",
       fmt::format("of the difference of the score between the {} and the {} run of a pair, the part that is "
                   "there once the site's activations are those of the {} run; sums over pairs that count, "
                   "with an interval of 95 % (delta method)",
                   from, into, from),
       "Meng et al., Locating and Editing Factual Associations in GPT, NeurIPS 2022"},
      {"score",
       fmt::format("that of the class which the {} run decides, less that of the class which the {} run "
                   "decides; with one output the output",
                   from, into),
       "Wang et al., Interpretability in the Wild, ICLR 2023"},
      {"decisions turned", fmt::format("pairs whose {} run then decides as the {} run", into, from),
       patching_page}};
  return document;
}

report::Document document_of(const inspection::Ablation& found, const inspection::AblationOptions& options,
                             const Graph& network) {
  const auto of_effect = [](auto get) {
    return [get](const AblatedHead& head) { return std::invoke(get, head.effect); };
  };
  const auto if_controlled = [controlled = options.controls > 0](double AblatedHead::*get) {
    return [=](const AblatedHead& head) { return controlled ? std::optional(head.*get) : std::nullopt; };
  };
  const AblatedHead& most =
      *std::ranges::max_element(found.heads, {}, [](const AblatedHead& head) { return head.effect.share; });
  report::Document document;
  document.headline =
      fmt::format("{}: without {} the lead of decisions is {} less, over {} of {}", network.name(),
                  site_in_words(most.effect.site), report::percent(most.effect.share), found.counted,
                  so_many(found.records, "record"));
  document.facts = {
      count_fact("records", "records", found.records),
      count_fact("with_scores", "of them with finite scores", found.counted),
      {"lead", "lead of the decided class, mean", found.lead, Kind::number, 4},
      {"instead", "heads give instead", std::string(options.mean ? "their mean over the records" : "0")},
      count_fact("controls", "controls of each attention", options.controls)};
  document.tables = {table_of(
      "ablated_heads", "Heads taken out, each by itself", found.heads,
      {{"layer", [](auto& head) { return head.effect.site.layer; }},
       {"head", [](auto& head) { return head.effect.site.head; }},
       {"share", "lead lost", Kind::percent, of_effect(&PatchEffect::share)},
       {"low", "from", Kind::percent, [n = found.counted](auto& head) { return bound(head.effect.low, n); }},
       {"high", "to", Kind::percent, [n = found.counted](auto& head) { return bound(head.effect.high, n); }},
       {"turned", "decisions turned", of_effect(&PatchEffect::turned)},
       {"control", "lost by controls", Kind::percent, if_controlled(&AblatedHead::control)},
       {"p", 4, if_controlled(&AblatedHead::p)}})};
  document.definitions = {
      {"lead lost",
       "of the lead of the decided class over the next (with one output, of its distance from the "
       "threshold), the part that is gone without the head; sums over records, with an interval of 95 % "
       "(delta method)",
       patching_page},
      {"controls", "as many numbers of the same attention as a head has, drawn at random over its heads",
       patching_page},
      {"p", "of the head and its controls, those that lose at least as much as the head", patching_page}};
  return document;
}

}  // namespace assay::results
