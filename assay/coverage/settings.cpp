#include "assay/coverage/settings.h"

#include <fmt/format.h>

#include <algorithm>

#include <assay/error.h>
#include "assay/engine/layers/layer_selection.h"
#include "assay/support/text/text.h"
#include "assay/support/text/unit_numbers.h"

namespace assay::coverage {
namespace {

std::vector<std::string> layer_names(const Session& session, const std::vector<std::string>& selectors) {
  std::vector<std::string> names;
  for (const std::string& selector : selectors) names.push_back(session.layer(selector).name);
  return names;
}

std::string reduction_name(Reduction reduction) {
  switch (reduction) {
    case Reduction::mean:
      return "mean";
    case Reduction::max:
      return "max";
    case Reduction::min:
      return "min";
    case Reduction::every_position:
      break;
  }
  return "every-position";
}

// Whether something is learned of a subject layer at all.
bool has_subjects(const LearnOptions& options) {
  return std::ranges::any_of(options.criteria, [](const CriterionChoice& choice) {
    return info_of(choice).needs > CriterionInfo::Needs::quantiles;
  });
}

}  // namespace

Reduction reduction_named(const std::string& name) {
  for (const Reduction reduction : {Reduction::mean, Reduction::max, Reduction::every_position}) {
    if (reduction_name(reduction) == name) return reduction;
  }
  fail(Fault::usage, "'{}' is not a reduction; the reductions are mean, max and every-position", name);
}

Settings settings_of(const Session& session, const LearnOptions& options) {
  std::vector<std::string> subjects = layer_names(session, options.subjects), units;
  for (const auto& [layer, numbers] : options.units)
    units.push_back(fmt::format("layer={},units={}", layer, unit_numbers_text(numbers)));
  if (subjects.empty() && units.empty() && has_subjects(options))
    for (const Layer& layer : subject_layers(session)) subjects.push_back(layer.name);
  const auto yes_no = [](bool value) { return std::vector<std::string>{value ? "true" : "false"}; };
  const auto number = [](auto value) { return std::vector<std::string>{fmt::format("{}", value)}; };
  Settings settings{{"subjects", std::move(subjects)},
                    {"layers", layer_names(session, options.layers)},
                    {"share", number(options.share)},
                    {"cap", number(options.cap)},
                    {"method", {options.importance.method}},
                    {"absolute", yes_no(options.importance.absolute)},
                    {"normalised", yes_no(options.importance.normalised)},
                    {"min_k", number(options.clusters.min_k)},
                    {"max_k", number(options.clusters.max_k)},
                    {"drop_zeros", yes_no(options.clusters.drop_zeros)},
                    {"round", number(options.clusters.round_decimals)},
                    {"clusterer", {options.clusterer.spec().text()}},
                    {"reduction", {reduction_name(options.reduction)}}};
  if (options.reached)
    settings["reached"] = {options.reached->describe(), "content " + options.reached->hash()};
  if (options.items) settings["items"] = {options.items->text()};
  if (!units.empty()) settings["units"] = std::move(units);
  return settings;
}

std::string text_of(const Settings& settings) {
  std::string text;
  for (const auto& [name, values] : settings) {
    if (!values.empty()) text += (text.empty() ? "" : "; ") + name + "=" + joined(values);
  }
  if (!settings.contains("units")) text += "; units=all";
  return text;
}

}  // namespace assay::coverage
