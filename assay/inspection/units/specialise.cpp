#include "assay/inspection/units/specialise.h"

#include <assay/array_math.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>

#include <assay/error.h>
#include "assay/data/portions.h"
#include "assay/inspection/requested_hypotheses.h"
#include "assay/inspection/units/unit_source.h"
#include "assay/support/files/hash.h"
#include "assay/support/text/text.h"
#include "assay/support/text/unit_numbers.h"
#include "assay/support/threads.h"

namespace assay::inspection {
namespace {

constexpr std::size_t records_together = 256;

// The target behaviour of units in each record.
struct Behaviour {
  std::size_t positions = 1;
  std::vector<float> values;  // [records, positions]; NaN: anything
};

std::size_t place_of(const std::vector<Hypothesis>& hypotheses, const std::string& name) {
  std::vector<std::string> names;
  for (const Hypothesis& hypothesis : hypotheses) names.push_back(hypothesis.name);
  const auto found = std::ranges::find(names, name);
  if (found == names.end())
    fail(Fault::usage, "no hypothesis is named '{}'{}; there are {}", name, did_you_mean(name, names),
         joined(names));
  const std::size_t place = found - names.begin();
  if (hypotheses[place].kind == BehaviourKind::categorical)
    fail(Fault::usage, "hypothesis '{}' has no order that a unit could follow; name one of its classes",
         name);
  return place;
}

void scale(Behaviour& behaviour, const std::string& name) {
  float low = std::numeric_limits<float>::infinity(), high = -low;
  for (const float value : behaviour.values) {
    if (!std::isnan(value)) low = std::min(low, value), high = std::max(high, value);
  }
  if (!(low < high))
    fail(Fault::mismatch, "hypothesis '{}' is constant on the training records: there is nothing to follow",
         name);
  for (float& value : behaviour.values) value = (value - low) / (high - low);
}

// Behaviours of these hypotheses in all records.
std::vector<Behaviour> behaviours_of(RequestedHypotheses& asked, const std::vector<std::size_t>& hypotheses,
                                     const DatasetPtr& records, Progress& progress) {
  std::vector<char> annotators(asked.size(), 0);
  std::vector<Behaviour> all(hypotheses.size());
  for (std::size_t i = 0; i < hypotheses.size(); ++i) {
    annotators[asked.annotator_of(hypotheses[i])] = 1;
    all[i].positions = element_count(asked.positions_of(hypotheses[i]));
  }
  Stage stage(progress, "annotating", records->size(), "records");
  BatchReader reader(records, records_at_once(*records, records_together));
  while (const std::optional<Batch> batch = reader.next()) {
    const RequestedHypotheses::Values values = asked.annotate(*batch, annotators);
    const std::vector<char> padding = asked.padding(*batch);
    for (std::size_t i = 0; i < hypotheses.size(); ++i) {
      for (std::size_t r = 0; r < batch->indices.size(); ++r) {
        const std::span<const float> own = values.of(r, hypotheses[i]);
        for (std::size_t p = 0; p < own.size(); ++p) {
          const bool padded =
              padding.size() == batch->indices.size() * own.size() && padding[r * own.size() + p] != 0;
          all[i].values.push_back(padded ? std::numeric_limits<float>::quiet_NaN() : own[p]);
        }
      }
    }
    stage.advance(batch->indices.size());
  }
  return all;
}

// Mean square of the difference over all positions that say something.
Array difference(const Array& units, const Behaviour& behaviour, const Batch& batch) {
  const std::int64_t records = batch.indices.size();
  std::vector<float> rows;
  for (const std::size_t r : batch.indices) {
    const auto begin = behaviour.values.begin() + r * behaviour.positions;
    rows.insert(rows.end(), begin, begin + behaviour.positions);
  }
  const Array wanted =
      array::tensor(rows).reshape({records, static_cast<std::int64_t>(behaviour.positions), 1});
  const Array known = array::isnan(wanted).logical_not();
  const Array squares = (units - array::where(known, wanted, array::zeros_like(wanted))).pow(2) * known;
  return squares.sum() / (known.expand(squares.shape()).sum().clamp_min(1));
}

}  // namespace

Specialisation parse_specialisation(const std::string& text) {
  static const std::vector<SpecOption> options{
      {"layer", "", "the layer of the units"},
      {"units", "", "their numbers, as in 0-3+7"},
      {"weight", "0.5", "of their difference from the hypothesis in the whole loss"}};
  const Spec spec = parse_spec("specialisation", text);
  const SpecOptions given("specialisation", spec, options);
  if (given.text("layer").empty() || given.text("units").empty())
    fail(Fault::usage, "{} '{}': which units? add layer=NAME,units=0-3",
         About{"to specialise", "{specialise}"}, text);
  return {spec.name, given.text("layer"), parse_unit_numbers(given.text("units")), given.number("weight", 0)};
}

SpecialisedTraining specialised_training(const Graph& graph, const std::vector<Specialisation>& wanted,
                                         const DatasetPtr& records,
                                         const std::vector<AnnotatorChoice>& hypotheses,
                                         const InspectOptions& options, const SessionOptions& session,
                                         Progress& progress) {
  double weight = 0;
  std::vector<UnitGroup> groups;
  for (const Specialisation& one : wanted) {
    if (!(one.weight > 0))
      fail(Fault::usage, "hypothesis '{}': a weight of {} teaches nothing", one.hypothesis, one.weight);
    weight += one.weight;
    groups.push_back({.name = std::to_string(groups.size()), .layer = one.layer, .units = one.units});
  }
  if (weight > 1 + 1e-9)
    fail(Fault::usage, "the weights of specialised units are {} together; the whole loss is 1", weight);
  const auto source = std::make_shared<UnitSource>(
      InspectedModel{graph.name(), std::make_shared<const Session>(graph, session)}, std::move(groups));
  const std::size_t threads =
      session.threads > 0 ? static_cast<std::size_t>(session.threads) : available_threads();
  RequestedHypotheses asked(records, hypotheses, options, session, threads);
  const std::size_t first = 0;
  asked.probe(records->read(std::span(&first, 1)));
  std::vector<std::size_t> places;
  for (const Specialisation& one : wanted) places.push_back(place_of(asked.hypotheses(), one.hypothesis));
  auto behaviours = std::make_shared<std::vector<Behaviour>>(behaviours_of(asked, places, records, progress));
  SpecialisedTraining result{source->session().graph(), {weight, {}, {}, {}}};
  Hasher version;
  version.text(asked.version());
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const Shape &units = source->map(i).positions, &own = asked.positions_of(places[i]);
    if (!own.empty() && own != units)
      fail(Fault::mismatch, "units of layer '{}' have positions {}, hypothesis '{}' has {}",
           source->map(i).layer, to_string(units), wanted[i].hypothesis, to_string(own));
    scale((*behaviours)[i], wanted[i].hypothesis);
    result.loss.values.push_back(source->map(i).value);
    version.text(wanted[i].hypothesis).text(source->map(i).layer).real(wanted[i].weight);
    for (const std::size_t unit : source->map(i).units) version.number(static_cast<std::int64_t>(unit));
  }
  result.loss.version = version.hex();
  result.loss.value = [=](const Batch& batch, const Tensors& values) {
    Array sum = array::zeros({});
    for (std::size_t i = 0; i < wanted.size(); ++i)
      sum = sum +
            wanted[i].weight / weight * difference(source->activations(i, values), (*behaviours)[i], batch);
    return sum;
  };
  return result;
}

}  // namespace assay::inspection
