// From networks, records and states to what an audit looks at.

#include <algorithm>
#include <cmath>
#include <limits>

#include <assay/audit_pool.h>
#include <assay/coverage.h>
#include <assay/error.h>
#include <assay/evaluate.h>
#include <assay/extend/abilities.h>
#include <assay/mutation.h>
#include <assay/records.h>
#include "assay/audit/rank_correlation.h"
#include "assay/coverage/item_doubts.h"
#include "assay/coverage/select.h"
#include "assay/data/portions.h"
#include "assay/mutation/record_keys.h"

namespace assay::audit {
namespace {

struct Seen {
  std::vector<Measured> criteria;    // with items
  std::vector<Measured> surprising;  // sums of surprise
  coverage::Observations observations;
};

// Coverable items over all layers; those of the only layer if layers do not add up.
double coverable_of(const std::vector<coverage::Coverage>& result) {
  if (result.empty() || result.back().coverable.empty()) return 0;
  if (result.size() > 1 && result.back().layer != "all") return 0;
  return std::stod(result.back().coverable);
}

// Places instead of scores, so that one infinite surprise does not outweigh everything; what has no score
// comes first.
std::vector<double> places_of(std::vector<double> scores) {
  for (double& score : scores) {
    if (std::isnan(score)) score = std::numeric_limits<double>::infinity();
  }
  return ranks(scores);
}

Seen measured(const Session& session, std::shared_ptr<const coverage::Profile> profile,
              const std::vector<std::string>& criteria, const DatasetPtr& test, const PoolOptions& options,
              Progress& progress) {
  std::vector<coverage::CriterionChoice> choices;
  for (const std::string& criterion : criteria) choices.emplace_back(parse_spec("criterion", criterion));
  coverage::CoverageState state(std::move(profile), choices, false);
  for (std::size_t c = 0; c < choices.size(); ++c)
    coverage::required<coverage::Itemised>(*state.total(c), state.specs()[c].text());
  Seen seen;
  seen.observations = coverage::measure(
      session, state, test,
      {.batch = options.batch, .remember_records = true, .remember_items = true, .items = options.items},
      progress);
  for (std::size_t c = 0; c < choices.size(); ++c) {
    const auto total = state.total(c);
    seen.criteria.push_back(
        {.name = state.specs()[c].text(),
         .rows = coverage::rows_of(std::move(seen.observations.items[c])).canonical(),
         .coverable = coverable_of(coverage::result_of(*total, state.specs()[c].text()))});
    const auto* valued = coverage::ability<coverage::Valued>(*total);
    if (valued == nullptr) continue;
    const coverage::RecordValues values = valued->values();
    std::vector<double> scores(test->size(), std::numeric_limits<double>::quiet_NaN());
    for (const auto& [record, value] : values.values) scores[record] = value;
    const std::string name = "sum of " + values.name;
    const bool known =
        std::ranges::any_of(seen.surprising, [&](const Measured& other) { return other.name == name; });
    if (!known)
      seen.surprising.push_back(
          {.name = name, .rows = {}, .scores = places_of(std::move(scores)), .baseline = true});
  }
  return seen;
}

// The farthest-first traversal (Gonzalez 1985) from record 0, each record with the nearest of the centres:
// O(records * clusters * neurons).
std::vector<std::int32_t> clusters_of(const Session& session, const DatasetPtr& test, std::size_t clusters,
                                      std::size_t batch, Progress& progress) {
  const Layer& layer = session.penultimate_layer();
  const std::vector<Tap> taps{{&layer, Reduction::mean}};
  std::vector<float> values;
  std::size_t width = 0;
  walk(session, test, {.batch = batch, .stage = "clustering records"}, progress,
       [&](const Batch&, const Tensors& given) {
         const Session::Observed seen = session.observe(given, taps, {});
         width = seen.layers[0].columns;
         values.insert(values.end(), seen.layers[0].values.begin(), seen.layers[0].values.end());
       });
  const std::size_t records = test->size();
  for (float& value : values) value = std::isfinite(value) ? value : 0;
  std::vector<double> distance(records, std::numeric_limits<double>::infinity());
  std::vector<std::int32_t> nearest(records, 0);
  std::size_t centre = 0;
  for (std::size_t k = 0; k < clusters; ++k) {
    for (std::size_t r = 0; r < records; ++r) {
      double square = 0;
      for (std::size_t i = 0; i < width; ++i) {
        const double difference = values[r * width + i] - values[centre * width + i];
        square += difference * difference;
      }
      if (square >= distance[r]) continue;
      distance[r] = square;
      nearest[r] = static_cast<std::int32_t>(k);
    }
    const auto farthest = std::ranges::max_element(distance);
    if (*farthest <= 0) break;
    centre = farthest - distance.begin();
  }
  return nearest;
}

// The records with Gaussian noise, kept within their range.
DatasetPtr noisy(const DatasetPtr& test, double sigma, std::uint64_t seed) {
  if (test->dtype() != DType::float32 || !test->facts().others.empty())
    fail(Fault::usage, "noise is added to records with one input of real numbers; {} has others",
         test->describe());
  DatasetFacts facts = test->facts();
  facts.description = fmt::format("{} with noise {}", test->describe(), sigma);
  const std::optional<ValidRange> range = test->valid_range();
  return from_function(std::move(facts), [=](std::size_t index, Record& record) {
    const Batch read = test->read(std::span(&index, 1));
    const std::span<const float> clean = read.inputs.as<float>();
    Rng rng(seed, {6, index});
    const std::span<float> out = record.inputs[0].values;
    const std::size_t channels = range ? range->low.size() : 1;
    for (std::size_t i = 0; i < clean.size(); ++i) {
      out[i] = clean[i] + static_cast<float>(sigma * rng.normal());
      const std::size_t channel = i / (clean.size() / channels);
      if (range) out[i] = std::clamp(out[i], range->low[channel], range->high[channel]);
    }
    if (!read.labels.empty()) record.label = read.labels[0];
    if (!record.targets.empty()) std::ranges::copy(read.targets.as<float>(), record.targets.begin());
  });
}

// Of records, or by record the mean over its items; nothing where there are neither.
std::vector<double> doubts_of(const Session& session, const DatasetPtr& test, const PoolOptions& options,
                              const coverage::Observations& seen, Progress& progress) {
  if (options.items && test->target_width() > 0)
    return coverage::doubts_of_items(session, test, *options.items->task,
                                     selection::doubts().find("deepgini").score, options.batch, progress);
  if (seen.records.size() != test->size()) return {};
  std::vector<double> doubt(test->size(), std::numeric_limits<double>::quiet_NaN());
  for (const coverage::RecordFacts& record : seen.records) doubt[record.record] = record.doubt("deepgini");
  return doubt;
}

// The balance of classes by itself, where there are several, and doubt.
void add_baselines(Pool& pool, std::vector<double> doubts) {
  if (std::ranges::adjacent_find(pool.classes, std::ranges::not_equal_to()) != pool.classes.end()) {
    Measured classes{.name = "different classes", .rows = {}, .baseline = true};
    for (const std::int32_t name : pool.classes) {
      const auto item = static_cast<std::uint32_t>(name);
      classes.rows.add(std::span(&item, 1));
    }
    pool.criteria.push_back(std::move(classes));
  }
  if (doubts.empty()) return;
  pool.criteria.push_back(
      {.name = "sum of deepgini", .rows = {}, .scores = places_of(std::move(doubts)), .baseline = true});
}

void add_misclassified(Pool& pool, const coverage::Observations& seen) {
  Faults faults{"misclassified", "misclassified records found", {}};
  std::vector<std::vector<std::uint32_t>> rows(pool.records());
  std::uint32_t count = 0;
  for (const coverage::RecordFacts& record : seen.records) {
    if (record.label >= 0 && record.label != record.predicted) rows[record.record].push_back(count++);
  }
  for (const auto& row : rows) faults.rows.add(row);
  if (count == 0) {
    pool.notices.emplace_back("no record is misclassified, so there are no faults to find");
    return;
  }
  pool.faults.push_back(std::move(faults));
}

}  // namespace

Pool make_pool(const Session& session, std::shared_ptr<const coverage::Profile> profile,
               const std::vector<std::string>& criteria, const DatasetPtr& test, const PoolOptions& options,
               Progress& progress) {
  Seen seen = measured(session, profile, criteria, test, options, progress);
  Pool pool;
  pool.classes.assign(test->size(), 0);
  std::int32_t classes = 1;
  for (const coverage::RecordFacts& record : seen.observations.records) {
    const std::int64_t name = record.label >= 0 ? record.label : record.predicted;
    pool.classes[record.record] = static_cast<std::int32_t>(std::max<std::int64_t>(name, 0));
    classes = std::max(classes, pool.classes[record.record] + 1);
  }
  const std::size_t clusters = options.clusters > 0
                                   ? options.clusters
                                   : std::clamp<std::size_t>(static_cast<std::size_t>(classes) * 2, 4, 40);
  pool.clusters = clusters_of(session, test, std::min(clusters, test->size()), options.batch, progress);
  pool.criteria = std::move(seen.criteria);
  if (options.noise)
    measure_again(pool, fmt::format("noise {}", *options.noise), session, profile, criteria,
                  noisy(test, *options.noise, options.seed), options, progress);
  std::ranges::move(seen.surprising, std::back_inserter(pool.criteria));
  add_baselines(pool, doubts_of(session, test, options, seen.observations, progress));
  add_misclassified(pool, seen.observations);
  return pool;
}

void measure_again(Pool& pool, const std::string& name, const Session& session,
                   std::shared_ptr<const coverage::Profile> profile, const std::vector<std::string>& criteria,
                   const DatasetPtr& test, const PoolOptions& options, Progress& progress) {
  if (test->size() != pool.records())
    fail(Fault::mismatch, "'{}' has {} records, and the audit {}", name, test->size(), pool.records());
  pool.again[name] = measured(session, std::move(profile), criteria, test, options, progress).criteria;
}

void measure_predicted(Pool& pool, const Session& session, std::shared_ptr<const coverage::Profile> profile,
                       const std::vector<std::string>& criteria, const DatasetPtr& other,
                       const PoolOptions& options, Progress& progress) {
  pool.predicted_name = other->describe();
  pool.predicted = measured(session, std::move(profile), criteria, other, options, progress).criteria;
}

void add_mutants(Pool& pool, const mutation::MutationState& state, double quality, const DatasetPtr& test) {
  std::map<mutation::RecordKey, std::size_t> known;
  for (std::size_t r = 0; r < state.records().size(); ++r) known.emplace(state.records()[r].key, r);
  mutation::ScoreOptions scoring;
  scoring.quality = quality;
  scoring.resamples = 0;
  const mutation::MutationScore score = mutation::score(state, scoring);
  std::vector<std::size_t> counted;
  for (std::size_t m = 0; m < state.mutants().size(); ++m) {
    const mutation::MutantStatus status = score.mutants.at(m).status;
    if (status == mutation::MutantStatus::killed || status == mutation::MutantStatus::survived)
      counted.push_back(m);
  }
  Faults faults{"mutants", "mutants killed", {}};
  mutation::RecordKeys keys;
  std::size_t found = 0;
  BatchReader reader(test, records_at_once(*test, 256));
  std::vector<std::uint32_t> row;
  while (const std::optional<Batch> batch = reader.next()) {
    for (std::size_t r = 0; r < batch->indices.size(); ++r) {
      row.clear();
      const auto record = known.find(keys.next(*batch, r));
      if (record != known.end()) {
        ++found;
        for (std::size_t m = 0; m < counted.size(); ++m) {
          if (state.records()[record->second].judged && state.mutants()[counted[m]].killed[record->second])
            row.push_back(static_cast<std::uint32_t>(m));
        }
      }
      faults.rows.add(row);
    }
  }
  if (found == 0)
    fail(Fault::mismatch, "the mutants were judged by other records than {}: none of them is known",
         test->describe());
  if (found < test->size())
    fail(Fault::mismatch,
         "the mutants were judged by {} of the {} records of {}, and what the others kill is unknown; judge "
         "the mutants by all records, or audit the records they were judged by",
         found, test->size(), test->describe());
  pool.notices.push_back(
      fmt::format("{} of {} mutants count as faults: the others are beyond the quality "
                  "bound or did not run to the end",
                  counted.size(), state.mutants().size()));
  pool.faults.push_back(std::move(faults));
}

void add_findings(Pool& pool, const DatasetPtr& findings, const DatasetPtr& test) {
  std::map<std::string, std::size_t> known;
  for (std::size_t r = 0; r < test->size(); ++r) known.emplace(test->id(r), r);
  const auto original = [&](const std::string& id) {
    const auto found = known.find(id);
    return found != known.end() ? found : known.find(id.substr(0, id.rfind('~')));
  };
  std::vector<std::vector<std::uint32_t>> rows(pool.records());
  std::uint32_t count = 0;
  for (std::size_t f = 0; f < findings->size(); ++f) {
    const auto found = original(findings->id(f));
    if (found != known.end()) rows[found->second].push_back(count++);
  }
  if (count == 0)
    fail(Fault::mismatch, "no record of {} was made of a record of {}: no id is the same",
         findings->describe(), test->describe());
  pool.notices.push_back(fmt::format("{} of {} findings were made of the audited records and count as faults",
                                     count, findings->size()));
  Faults faults{"findings", "findings reached", {}};
  for (const auto& row : rows) faults.rows.add(row);
  pool.faults.push_back(std::move(faults));
}

}  // namespace assay::audit
