#include "assay/inspection/verify.h"

#include <assay/array_math.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include <assay/error.h>
#include <assay/extend/random.h>
#include "assay/inspection/symbols/text_records.h"
#include "assay/inspection/units/unit_source.h"
#include "assay/support/numbers/mean.h"

namespace assay::inspection {
namespace {

constexpr std::uint64_t swap_stream = 0x73776170, random_group_stream = 0x72616e64;
constexpr std::size_t tried_symbols = 24;   // in place of one
constexpr std::size_t tries_per_swap = 20;  // records looked at for each swap wanted
constexpr double not_known = std::numeric_limits<double>::quiet_NaN();

// Copies of one record, one symbol of each another.
Batch swapped(const Batch& record, std::size_t position, const std::vector<std::int64_t>& symbols) {
  const auto own = record.inputs.as<std::int64_t>();
  std::vector<std::int64_t> tokens;
  Batch copies;
  for (const std::int64_t symbol : symbols) {
    tokens.insert(tokens.end(), own.begin(), own.end());
    tokens[tokens.size() - own.size() + position] = symbol;
    copies.indices.push_back(record.indices[0]);
    if (!record.labels.empty()) copies.labels.push_back(record.labels[0]);
  }
  copies.inputs = Array::of<std::int64_t>(
      {static_cast<std::int64_t>(symbols.size()), static_cast<std::int64_t>(own.size())}, tokens);
  copies.input_name = record.input_name;
  return copies;
}

// The annotator of a hypothesis, and which of its hypotheses it is.
struct Asked {
  std::shared_ptr<const Annotator> annotator;
  std::size_t place = 0;
};

Asked asked_for(const std::string& name, const std::vector<std::shared_ptr<const Annotator>>& annotators) {
  for (const auto& annotator : annotators) {
    const auto& own = annotator->hypotheses();
    const auto found = std::ranges::find(own, name, &Hypothesis::name);
    if (found != own.end()) return {annotator, static_cast<std::size_t>(found - own.begin())};
  }
  fail(Fault::usage, "no hypothesis is named '{}'", name);
}

// The changes of all units of a group when one symbol is replaced, under swaps of both kinds.
struct Changes {
  std::size_t width = 0;
  std::vector<double> values;  // [swaps, width]
  std::vector<char> treatment;
  std::size_t count(bool kind) const { return std::ranges::count(treatment, kind ? 1 : 0); }
};

class Verifier {
 public:
  Verifier(const UnitSource& units, std::size_t group, const Asked& asked, const Dataset& data,
           const Vocabulary& vocabulary, const VerifyOptions& how)
      : units_(units), group_(group), asked_(asked), data_(data), vocabulary_(vocabulary), how_(how) {}

  Changes changes() {
    Changes all;
    all.width = units_.map(group_).units.size();
    for (std::size_t attempt = 0; attempt < tries_per_swap * how_.swaps; ++attempt) {
      if (all.count(true) >= how_.swaps && all.count(false) >= how_.swaps) break;
      add(Rng(how_.seed, {swap_stream, attempt}), all);
    }
    return all;
  }

 private:
  // Looks for a swap of each kind at one position of one record; a position that lacks one is skipped.
  void add(Rng rng, Changes& all) {
    const std::size_t index = rng.below(data_.size());
    const Batch record = data_.read(std::span(&index, 1));
    const auto tokens = record.inputs.as<std::int64_t>();
    std::vector<std::size_t> places;
    for (std::size_t k = 0; k < tokens.size(); ++k) {
      if (tokens[k] != vocabulary_.padding) places.push_back(k);
    }
    if (places.empty()) return;
    const std::size_t place = places[rng.below(places.size())];
    std::vector<std::int64_t> symbols;
    for (std::size_t s = 0; s < vocabulary_.symbols.size(); ++s) {
      const std::int64_t symbol = s;
      if (symbol != tokens[place] && symbol != vocabulary_.padding) symbols.push_back(symbol);
    }
    rng.shuffle(symbols);
    symbols.resize(std::min(symbols.size(), tried_symbols));
    symbols.insert(symbols.begin(), tokens[place]);
    const Batch copies = swapped(record, place, symbols);
    const std::array<std::size_t, 2> chosen = swaps_of(copies, place);
    if (chosen[0] == 0 || chosen[1] == 0) return;
    const Batch picked = swapped(record, place, {symbols[0], symbols[chosen[0]], symbols[chosen[1]]});
    const Array values = units_.behaviours(picked, std::span(&group_, 1))[0];
    if (values.size(1) != static_cast<std::int64_t>(tokens.size()))
      fail(Fault::usage,
           "verification swaps symbols, but the units of layer '{}' do not have a value for each symbol",
           units_.map(group_).layer);
    const float* const at = values.elements<float>();
    const auto value = [&](std::size_t copy, std::size_t u) {
      return static_cast<double>(at[(copy * tokens.size() + place) * all.width + u]);
    };
    for (const std::size_t kind : {0, 1}) {
      for (std::size_t u = 0; u < all.width; ++u) all.values.push_back(value(kind + 1, u) - value(0, u));
      all.treatment.push_back(static_cast<char>(kind));
    }
  }

  // The first copy with the behaviour of the record at the position, and the first with another; 0: none.
  std::array<std::size_t, 2> swaps_of(const Batch& copies, std::size_t place) const {
    const std::vector<RecordText> texts = texts_of(vocabulary_, copies, data_);
    const Behaviours behaviours = asked_.annotator->annotate({data_, copies, texts});
    const std::size_t positions = element_count(behaviours.positions);
    const std::size_t at = positions == 1 ? 0 : place, count = asked_.annotator->hypotheses().size();
    const auto value = [&](std::size_t copy) {
      return behaviours.values[(copy * count + asked_.place) * positions + at];
    };
    std::array<std::size_t, 2> first{0, 0};
    if (std::isnan(value(0))) return first;
    for (std::size_t copy = 1; copy < copies.indices.size(); ++copy) {
      if (std::isnan(value(copy))) continue;
      std::size_t& slot = first[value(copy) == value(0) ? 0 : 1];
      if (slot == 0) slot = copy;
    }
    return first;
  }

  const UnitSource& units_;
  std::size_t group_;
  const Asked& asked_;
  const Dataset& data_;
  const Vocabulary& vocabulary_;
  const VerifyOptions& how_;
};

// The changes of some units, each scaled to deviation 1, without those that never change.
std::vector<double> scaled(const Changes& all, const std::vector<std::size_t>& columns, std::size_t& width) {
  const std::size_t rows = all.treatment.size();
  std::vector<std::vector<double>> kept;
  for (const std::size_t c : columns) {
    std::vector<double> values(rows);
    for (std::size_t r = 0; r < rows; ++r) values[r] = all.values[r * all.width + c];
    const double mean = mean_of(values);
    double squares = 0;
    for (double& value : values) value -= mean, squares += value * value;
    const double deviation = std::sqrt(squares / rows);
    if (!(deviation > 0)) continue;
    for (double& value : values) value /= deviation;
    kept.push_back(std::move(values));
  }
  width = kept.size();
  std::vector<double> points(rows * width);
  for (std::size_t c = 0; c < width; ++c) {
    for (std::size_t r = 0; r < rows; ++r) points[r * width + c] = kept[c][r];
  }
  return points;
}

double separation(const Changes& all, const std::vector<std::size_t>& columns) {
  std::size_t width = 0;
  const std::vector<double> points = scaled(all, columns, width);
  return width == 0 ? not_known : silhouette_of(points, width, all.treatment);
}

void judge(const Changes& all, const std::vector<std::size_t>& columns, const VerifyOptions& how,
           Verification& result) {
  result.baseline = all.count(false), result.treatment = all.count(true);
  result.silhouette = result.random_mean = result.random_greatest = result.p = not_known;
  if (result.treatment < 2 || result.baseline < 2) {
    result.status = "too_few_swaps";
    return;
  }
  result.silhouette = separation(all, columns);
  if (std::isnan(result.silhouette)) {
    result.status = "constant_units";
    return;
  }
  double sum = 0, greatest = -1;
  std::size_t known = 0, as_good = 1;
  for (std::size_t i = 0; i < how.random_groups; ++i) {
    Rng rng(how.seed, {random_group_stream, i});
    const double other = separation(all, rng.sample(all.width, columns.size()));
    if (std::isnan(other)) continue;
    ++known, sum += other, greatest = std::max(greatest, other);
    as_good += other >= result.silhouette;
  }
  if (known == 0) return;
  result.random_mean = sum / known, result.random_greatest = greatest;
  result.p = static_cast<double>(as_good) / (known + 1);
}

}  // namespace

double silhouette_of(std::span<const double> points, std::size_t width, std::span<const char> labels) {
  const std::size_t rows = labels.size();
  const auto distance = [&](std::size_t a, std::size_t b) {
    double sum = 0;
    for (std::size_t c = 0; c < width; ++c) {
      const double d = points[a * width + c] - points[b * width + c];
      sum += d * d;
    }
    return std::sqrt(sum);
  };
  const auto sizes = std::array{std::ranges::count(labels, 0), std::ranges::count(labels, 1)};
  double total = 0;
  for (std::size_t r = 0; r < rows; ++r) {
    std::array<double, 2> sums{0, 0};
    for (std::size_t other = 0; other < rows; ++other) sums[labels[other]] += distance(r, other);
    const std::size_t mine = labels[r];
    if (sizes[mine] < 2) continue;
    const double own = sums[mine] / (sizes[mine] - 1), next = sums[1 - mine] / sizes[1 - mine];
    if (std::max(own, next) > 0) total += (next - own) / std::max(own, next);
  }
  return total / rows;
}

std::vector<Verification> verify(const std::vector<InspectedModel>& models,
                                 const std::vector<UnitGroup>& groups, const DatasetPtr& dataset,
                                 const std::vector<AnnotatorChoice>& hypotheses,
                                 const InspectOptions& options, std::span<const Claim> claims,
                                 const VerifyOptions& how, Progress& progress) {
  const bool tokens = dataset->dtype() == DType::int64 && dataset->record_shape().size() == 1;
  if (!tokens || !options.vocabulary)
    fail(Fault::usage, "verification swaps symbols of records; it needs records of tokens and a vocabulary");
  std::vector<std::shared_ptr<const Annotator>> annotators;
  for (const AnnotatorChoice& choice : hypotheses)
    annotators.push_back(make_annotator(choice, dataset, models.at(0).session->options()));
  std::vector<Verification> results;
  Stage stage(progress, "verifying", claims.size(), "affinities");
  for (const Claim& claim : claims) {
    UnitGroup whole = groups.at(claim.group);
    whole.units.clear();  // random groups are drawn from the whole layer
    const UnitSource units(models.at(whole.model), {whole});
    const std::vector<std::size_t>& known = units.map(0).units;
    std::vector<std::size_t> columns;
    for (const std::size_t unit : claim.units) {
      const auto found = std::ranges::find(known, unit);
      if (found == known.end()) fail(Fault::usage, "group '{}' has no unit {}", whole.name, unit);
      columns.push_back(found - known.begin());
    }
    const Asked asked = asked_for(claim.hypothesis, annotators);
    Verification result;
    result.claim = claim;
    const Changes changes = Verifier(units, 0, asked, *dataset, *options.vocabulary, how).changes();
    judge(changes, columns, how, result);
    results.push_back(std::move(result));
    stage.advance(1);
  }
  return results;
}

}  // namespace assay::inspection
