#include "assay/results/warnings.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

#include <assay/error.h>
#include "assay/coverage/criteria/idc.h"
#include "assay/coverage/criteria/surprise_criterion.h"
#include "assay/engine/evaluation/record_influence.h"
#include "assay/results/document.h"
#include "assay/support/text/parse.h"
#include "assay/support/text/so_many.h"
#include "assay/support/text/text.h"

namespace assay::results {
namespace {

using report::Warning;

// IDC: layers with one combination, and those with more than so many records can reach.
struct Combinations {
  std::vector<std::string> single, many;
  double largest = 0;

  void add(const std::string& name, const coverage::Coverage& row, std::size_t records) {
    const std::string where = fmt::format("{} in layer {}", name, row.layer);
    const double count = row.value > 0 ? std::stod(row.covered) / row.value : std::stod(row.coverable);
    if (row.coverable == "1")
      single.push_back(where);
    else if (count > records)
      many.push_back(fmt::format("{} ({})", where, row.coverable));
    largest = std::max(largest, count);
  }

  void tell(std::vector<Warning>& warnings, std::size_t records) const {
    if (!single.empty())
      warnings.push_back(
          {"one-combination",
           fmt::format("there is one combination only of {}: any record covers all of it", joined(single)),
           "the important neurons have collapsed: their activations form one cluster each, or are constant"});
    if (!many.empty())
      warnings.push_back(
          {"too-many-combinations",
           fmt::format("{} can reach at most this many combinations, {:.3g} % of the most there are: {}",
                       so_many(records, "record"), 100 * static_cast<double>(records) / largest,
                       joined(many)),
           "m is large for so few records; a smaller m says more"});
  }
};

void add_collapsed(std::vector<Warning>& warnings, const coverage::Profile& profile) {
  std::vector<std::string> layers;
  for (const coverage::LayerStatistics& layer : profile.statistics) {
    std::size_t useless = 0;
    for (std::size_t n = 0; n < layer.neurons(); ++n) useless += layer.constant(n) || layer.duplicate(n);
    if (2 * useless > layer.neurons())
      layers.push_back(fmt::format("{} ({} of {})", layer.layer, useless, layer.neurons()));
  }
  if (layers.empty()) return;
  warnings.push_back(
      {"collapsed-layers",
       "most neurons are constant over the training set or the same as another in " + joined(layers),
       "the network has not been trained, has been damaged, or gets inputs of another scale than it was "
       "trained on"});
}

// m chosen by the share of relevance, where the limit on it ended the choice.
void add_cap(std::vector<Warning>& warnings, const coverage::CoverageState& state) {
  const auto chosen = [](const Spec& spec) {
    const auto m = spec.options.find("m");
    return m != spec.options.end() && m->second == "auto";
  };
  const auto cap = state.profile().settings.find("cap");
  if (std::ranges::none_of(state.specs(), chosen) || cap == state.profile().settings.end()) return;
  for (const coverage::LayerClusters& layer : state.profile().clusters) {
    const std::size_t neurons = state.profile().statistics[state.profile().position(layer.layer)].neurons();
    if (std::to_string(layer.auto_m) != cap->second.at(0) || layer.auto_m == neurons) continue;
    warnings.push_back({"cap",
                        fmt::format("m of layer {} ended at its limit of {}: the neurons hold less than the "
                                    "share of relevance asked for",
                                    layer.layer, layer.auto_m),
                        "relevance is spread evenly; raise the limit, or give m"});
  }
}

// IDC in layers that have fewer neurons than m, so that the figure is that of a smaller m.
struct FewerNeurons {
  std::vector<std::string> names;

  void add(const std::string& name, const std::string& m, const coverage::Idc& idc) {
    const auto wanted = number_of<std::size_t>(m);
    for (const auto& layer : idc.layers()) {
      if (wanted && layer.neurons.size() < *wanted)
        names.push_back(fmt::format("{} in layer {} ({})", name, layer.name, layer.neurons.size()));
    }
  }

  void tell(std::vector<Warning>& warnings) const {
    if (names.empty()) return;
    warnings.push_back({"fewer-neurons", "only as many neurons count as the number after: " + joined(names),
                        "m is larger than the layer, or than the number of units that were chosen"});
  }
};

// Classes whose training traces a Gaussian cannot be fitted to as they are.
void add_singular(std::vector<Warning>& warnings, const std::string& name,
                  const std::vector<coverage::SingularCovariance>& singular) {
  if (singular.empty()) return;
  constexpr std::size_t most_named = 5;
  std::vector<std::string> classes;
  double least = singular[0].added, greatest = 0;
  for (const coverage::SingularCovariance& of : singular) {
    if (classes.size() < most_named)
      classes.push_back(fmt::format("class {} in layer {}", of.of_class, of.layer));
    least = std::min(least, of.added);
    greatest = std::max(greatest, of.added);
  }
  const std::string others = singular.size() > most_named
                                 ? fmt::format(" and {} more", singular.size() - most_named)
                                 : "",
                    added = least == greatest ? fmt::format("{:g}", least)
                                              : fmt::format("{:g} to {:g}", least, greatest);
  warnings.push_back({"singular-covariance",
                      fmt::format("the training traces have a singular covariance: {}{}; {} was added to its "
                                  "variances for {}, whose values rest on it",
                                  joined(classes), others, added, name),
                      "fewer training records of a class than neurons, or neurons that depend on each other; "
                      "take more records, a narrower layer, or leave neurons out with variance="});
}

double magnitude(const coverage::InputSummary& inputs) {
  return std::max(std::abs(inputs.low), std::abs(inputs.high));
}

// Another scale, or centred in one and not in the other.
std::optional<Warning> scale_warning(const coverage::InputSummary& train,
                                     const coverage::InputSummary& test) {
  constexpr double far = 4;  // times; test sets differ by less of themselves
  if (train.records == 0 || test.records == 0 || magnitude(train) == 0 || magnitude(test) == 0) return {};
  const double ratio = magnitude(test) / magnitude(train);
  const bool centred = (train.low < -0.1 * magnitude(train)) != (test.low < -0.1 * magnitude(test));
  if (ratio < far && ratio > 1 / far && !centred) return {};
  const std::string ranges =
      fmt::format("test inputs are in [{:.4g}, {:.4g}], training inputs in [{:.4g}, {:.4g}]", test.low,
                  test.high, train.low, train.high);
  const auto near = [&](double value) { return ratio > 0.8 * value && ratio < 1.25 * value; };
  std::string cause =
      "one of them has another preprocessing (scale, mean, standard deviation) or other units";
  if (near(255) || near(1.0 / 255))
    cause = "one of them is divided by 255 and the other is not (scale=1/255)";
  else if (centred && ratio < far && ratio > 1 / far)
    cause = "one of them is centred around 0 and the other is not (mean, standard deviation)";
  return Warning{"scale", fmt::format("{}: {:.3g} times as far from 0", ranges, ratio), cause};
}

}  // namespace

std::vector<Warning> class_warnings(const Session& session, const Dataset& data) {
  const std::size_t outputs = class_count(session), classes = data.class_count();
  if (!data.has_labels() || data.target_width() > 0 || outputs == 0 || classes == outputs) return {};
  if (classes > outputs) {
    return {
        {"more-classes",
         fmt::format("the data have {} classes, the network names {}: records of the others are always wrong",
                     classes, outputs),
         "the network was trained for fewer classes, or labels count from 1"}};
  }
  const std::vector<std::string>& names = data.class_names();
  bool numbered = true;  // labels that say themselves which class they are
  for (std::size_t c = 0; c < names.size(); ++c) numbered &= names[c] == std::to_string(c);
  if (numbered) return {};
  return {
      {"class-folders",
       fmt::format("the data have {} named classes, the network {}: classes are numbered in the order of "
                   "their names, so those after one that is missing have another class's number",
                   classes, outputs),
       "folders of some classes are missing; make them, empty for classes without records, or give labels"}};
}

namespace {

// The first record and the next one that is not the same; equal records cannot show what they do to each
// other.
std::vector<std::size_t> two_that_differ(const Dataset& data) {
  constexpr std::size_t most = 64;
  const std::size_t count = std::min(most, data.size());
  const auto inputs_of = [&](std::size_t record) {
    const std::vector<std::size_t> one{record};
    return data.read(one).inputs;
  };
  const Array first = inputs_of(0);
  for (std::size_t record = 1; record < count; ++record) {
    const Array other = inputs_of(record);
    if (other.shape() != first.shape() || !other.equal(first)) return {0, record};
  }
  return {0, 1};
}

}  // namespace

std::vector<Warning> influence_warnings(const Session& session, const Dataset* data) {
  std::vector<std::size_t> first;
  std::optional<RecordInfluence> found;
  try {
    if (data == nullptr)
      found = find_record_influence(session);
    else if (data->size() > 1)
      found = find_record_influence(session, session.bind(data->read(first = two_that_differ(*data))));
  } catch (const Error& error) {
    if (error.fault() == Fault::interrupted) throw;  // what cannot be read says so where it is needed
  }
  if (!found) return {};
  const std::string record =
      data == nullptr ? "a sample record" : fmt::format("record '{}'", data->id(first[found->record]));
  return {
      {"records-interact",
       fmt::format(
           "records change each other's results, so figures depend on the batch size: '{}' of {} differs by "
           "{:.3g} between the record alone and together with another, where its greatest number is {:.3g}",
           found->value, record, found->change, found->scale),
       found->cause}};
}

std::vector<Warning> accuracy_warnings(double accuracy, std::size_t classes) {
  constexpr double margin = 1.5;
  if (classes < 3 || accuracy > margin / classes) return {};
  return {{"chance",
           fmt::format("an accuracy of {} is about that of guessing among {} classes",
                       report::percent(accuracy), classes),
           message("labels belong to other classes (shifted, or in another order), or the preprocessing is "
                   "not that of training; {} finds the likely mistake",
                   About{"to declare the accuracy", "{expect-accuracy}"})}};
}

std::vector<Warning> coverage_warnings(const coverage::CoverageState& state) {
  std::vector<Warning> warnings;
  add_collapsed(warnings, state.profile());
  add(warnings, singular_warnings(state));
  std::size_t dropped = 0;
  for (const auto& part : state.parts()) dropped += part->non_finite.size();
  Combinations combinations;
  FewerNeurons fewer;
  for (std::size_t c = 0; c < state.specs().size(); ++c) {
    const auto total = state.total(c);
    const auto* idc = dynamic_cast<const coverage::Idc*>(total.get());
    if (idc == nullptr) continue;
    if (const auto m = state.specs()[c].options.find("m"); m != state.specs()[c].options.end())
      fewer.add(state.specs()[c].text(), m->second, *idc);
    for (const coverage::Coverage& row : idc->result())
      combinations.add(state.specs()[c].text(), row, state.records());
  }
  combinations.tell(warnings, state.records());
  fewer.tell(warnings);
  add_cap(warnings, state);
  if (dropped > 0) warnings.push_back(dropped_records(dropped, "test"));
  return warnings;
}

std::vector<Warning> left_out_warnings(const coverage::PossibleCriteria& criteria) {
  std::vector<Warning> warnings;
  for (const auto& [spec, why] : criteria.impossible)
    warnings.push_back({"left-out", message("{} was left out: {}", spec.text(), why),
                        "the criterion is not for this network or these data"});
  return warnings;
}

std::vector<Warning> data_warnings(const coverage::Profile& profile, const coverage::Observations& seen,
                                   const Dataset& test) {
  std::vector<Warning> warnings;
  if (profile.data_hash == test.hash()) {
    warnings.push_back({"same-data",
                        "the test set is the training set: coverage says nothing about new records",
                        "the same spec is given for both"});
  } else if (seen.in_training > 0) {
    warnings.push_back(
        {"overlap",
         fmt::format("{} of the test set {} also in the training set", so_many(seen.in_training, "record"),
                     seen.in_training == 1 ? "is" : "are"),
         "the sets were cut from one carelessly, or contain duplicates"});
  }
  if (auto warning = scale_warning(profile.inputs, seen.inputs)) warnings.push_back(*std::move(warning));
  return warnings;
}

std::vector<Warning> importance_warnings(const relevance::Importance& importance) {
  std::vector<Warning> warnings;
  const std::size_t dropped = importance.evaluation.non_finite;
  if (importance.used == 0)
    warnings.push_back(
        {"no-record-used",
         fmt::format("none of {} counts: importance is summed over records that are classified correctly",
                     so_many(importance.records, "record")),
         "labels or preprocessing are not those of training"});
  for (const relevance::LayerImportance& layer : importance.layers) {
    if (importance.used == 0) break;
    double absolute = 0;
    for (const double a : layer.absolute) absolute += a;
    if (absolute == 0) {
      warnings.push_back(
          {"no-relevance",
           fmt::format(
               "no neuron of {} carries any relevance: the ranking follows the numbers of the neurons",
               layer.layer.name),
           "its neurons are zero on all records, or nothing leads from them to the decision"});
      continue;
    }
    const double conserved = layer.total_in == 0 ? 0 : layer.total_here / layer.total_in;
    if (layer.total_in == 0 || conserved < 0 || conserved > 2)
      warnings.push_back(
          {"conservation",
           fmt::format("{:.1f} of relevance arrives in {}, but {:.1f} was put in: shares of it say little",
                       layer.total_here, layer.layer.name, layer.total_in),
           "large biases or values that cancel; another method (epsilon-plus, alpha2-beta1) keeps more"});
  }
  if (dropped > 0) warnings.push_back(dropped_records(dropped, "", importance.evaluation.non_finite_ids));
  return warnings;
}

Warning non_finite_records(std::size_t count, std::size_t records, const std::vector<std::string>& ids,
                           const std::string& effect) {
  return {"non-finite",
          fmt::format("{} of {} {} a NaN or an infinity{}: {}", count, so_many(records, "record"),
                      count == 1 ? "gives" : "give", effect, joined(ids)),
          "the records hold such values, or a number that is not a category of a OneHotEncoder, or no token "
          "at the "
          "position that decides, or weights of the network overflow"};
}

Warning non_finite_records(const Evaluation& evaluation) {
  return non_finite_records(
      evaluation.non_finite, evaluation.records, evaluation.non_finite_ids,
      evaluation.mean_squared_error ? ", and so do the errors" : "; a NaN counts as a wrong answer");
}

Warning dropped_records(std::size_t count, const std::string& which, const std::vector<std::string>& ids) {
  const std::string of = which.empty() ? "" : which + " ";
  return {"dropped-records",
          fmt::format("{} {}{} a NaN or an infinity and {} left out{}{}", count, of,
                      count == 1 ? "record gives" : "records give", count == 1 ? "is" : "are",
                      ids.empty() ? "" : ": ", joined(ids)),
          "the records hold such values, or weights of the network overflow"};
}

std::vector<Warning> singular_warnings(const coverage::CoverageState& state) {
  std::vector<Warning> warnings;
  for (std::size_t c = 0; c < state.specs().size(); ++c) {
    const auto total = state.total(c);
    if (const auto* surprise = dynamic_cast<const coverage::SurpriseCriterion*>(total.get()))
      add_singular(warnings, state.specs()[c].text(), surprise->singular_covariances());
  }
  return warnings;
}

void add(std::vector<Warning>& warnings, std::vector<Warning> more) {
  for (Warning& warning : more) warnings.push_back(std::move(warning));
}

void add_warnings(report::Document& document, std::vector<Warning> warnings) {
  add(document.warnings, std::move(warnings));
}

}  // namespace assay::results
