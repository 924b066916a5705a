#include "assay/inspection/statistics/resampling.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>

#include <assay/error.h>
#include <assay/extend/random.h>

namespace assay::inspection {
namespace {

using Json = nlohmann::json;

// Names of random streams.
constexpr std::uint64_t permutation_stream = 0x7065726d, group_stream = 0x67726f75, draw_stream = 0x64726177;

// [begin, end) of each record's rows, and the record.
struct RecordRows {
  std::size_t begin, end;
  std::uint32_t record;
};

std::vector<RecordRows> records_of(const Block& block) {
  std::vector<RecordRows> all;
  for (std::size_t r = 0; r < block.rows; ++r) {
    if (all.empty() || all.back().record != block.records[r]) all.push_back({r, r, block.records[r]});
    all.back().end = r + 1;
  }
  return all;
}

// Rows of a block, copied.
struct OwnedBlock {
  std::vector<std::uint32_t> records, symbols;
  std::vector<float> units, behaviours;

  void append(const Block& block, const RecordRows& rows) {
    const std::size_t columns = block.units.size() / block.rows,
                      hypotheses = block.behaviours.size() / block.rows;
    const auto add = [&](auto& to, auto from, std::size_t width) {
      to.insert(to.end(), from.begin() + rows.begin * width, from.begin() + rows.end * width);
    };
    add(records, block.records, 1);
    add(units, block.units, columns);
    add(behaviours, block.behaviours, hypotheses);
    if (!block.symbols.empty()) add(symbols, block.symbols, 1);
  }
  Block view() const { return {records.size(), records, units, behaviours, symbols, {}}; }
};

// Two-sided around `neutral` where there is one.
double strength(double value, const std::optional<double>& neutral) {
  return neutral ? std::fabs(value - *neutral) : value;
}

// A state and copies of it that see the behaviours of other records. A record's behaviours go, whole, to a
// record of the block that has as many rows.
class Permuted final : public MeasureState {
 public:
  Permuted(std::unique_ptr<MeasureState> original, const MeasureInfo& info, const MeasureSetup& setup,
           std::size_t permutations)
      : original_(std::move(original)), neutral_(info.neutral), seed_(setup.seed) {
    for (std::size_t i = 0; i < permutations; ++i) permuted_.push_back(info.make(setup));
  }

  void calibrate(const Block& block) override {
    original_->calibrate(block);
    permuted_[0]->calibrate(block);
    const Json calibrated = permuted_[0]->save();
    for (const auto& state : permuted_) state->load(calibrated);
  }
  void observe(const Block& block) override {
    original_->observe(block);
    if (block.rows == 0) return;
    std::map<std::size_t, std::vector<RecordRows>> by_length;
    for (const RecordRows& rows : records_of(block)) by_length[rows.end - rows.begin].push_back(rows);
    std::vector<float> behaviours(block.behaviours.size());
    for (std::size_t i = 0; i < permuted_.size(); ++i) {
      Rng rng(seed_, {permutation_stream, i, block.records[0]});
      for (const auto& [length, places] : by_length) {
        std::vector<RecordRows> sources = places;
        rng.shuffle(sources);
        for (std::size_t k = 0; k < places.size(); ++k) copy(block, sources[k], places[k], behaviours);
      }
      Block shuffled = block;
      shuffled.behaviours = behaviours;
      permuted_[i]->observe(shuffled);
    }
  }

  Scores result() const override {
    Scores scores = original_->result();
    std::vector<std::size_t> unit_hits(scores.units.size(), 1), group_hits(scores.groups.size(), 1);
    for (const auto& state : permuted_) {
      const Scores other = state->result();
      count(scores.units, other.units, unit_hits);
      count(scores.groups, other.groups, group_hits);
    }
    put(unit_hits, scores.units);
    put(group_hits, scores.groups);
    return scores;
  }

  std::vector<char> settle() override {
    std::vector<char> open = original_->settle();
    for (const auto& state : permuted_) state->freeze(open);
    return open;
  }
  void freeze(std::span<const char> open) override {
    original_->freeze(open);
    for (const auto& state : permuted_) state->freeze(open);
  }

  void merge(const MeasureState& other) override {
    const auto& theirs = dynamic_cast<const Permuted&>(other);
    original_->merge(*theirs.original_);
    for (std::size_t i = 0; i < permuted_.size(); ++i) permuted_[i]->merge(*theirs.permuted_.at(i));
  }
  Json save() const override {
    Json json = {{"original", original_->save()}, {"permuted", Json::array()}};
    for (const auto& state : permuted_) json["permuted"].push_back(state->save());
    return json;
  }
  void load(const Json& json) override {
    if (json.at("permuted").size() != permuted_.size())
      throw std::runtime_error("other numbers of permutations");
    original_->load(json.at("original"));
    for (std::size_t i = 0; i < permuted_.size(); ++i) permuted_[i]->load(json.at("permuted")[i]);
  }

 private:
  static void copy(const Block& block, const RecordRows& from, const RecordRows& to,
                   std::vector<float>& behaviours) {
    const std::size_t width = block.behaviours.size() / block.rows;
    std::copy_n(block.behaviours.begin() + from.begin * width, (from.end - from.begin) * width,
                behaviours.begin() + to.begin * width);
  }
  // Rounding must not tell equal values apart.
  void count(const std::vector<Score>& scores, const std::vector<Score>& others,
             std::vector<std::size_t>& hits) const {
    for (std::size_t i = 0; i < scores.size(); ++i) {
      const double seen = strength(scores[i].value, neutral_);
      hits[i] += strength(others[i].value, neutral_) >= seen - 1e-12 * std::fabs(seen) ? 1 : 0;
    }
  }
  void put(const std::vector<std::size_t>& hits, std::vector<Score>& scores) const {
    for (std::size_t i = 0; i < scores.size(); ++i) {
      if (std::isnan(scores[i].value)) continue;
      scores[i].p = static_cast<double>(hits[i]) / (permuted_.size() + 1);
    }
  }

  std::unique_ptr<MeasureState> original_;
  std::vector<std::unique_ptr<MeasureState>> permuted_;
  std::optional<double> neutral_;
  std::uint64_t seed_;
};

// Value at a share of ascending values, between neighbours where it falls between two.
double quantile_of(const std::vector<double>& ascending, double share) {
  const double place = share * static_cast<double>(ascending.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const std::size_t above = std::min(below + 1, ascending.size() - 1);
  return ascending[below] + (place - below) * (ascending[above] - ascending[below]);
}

// A state, and one for each group of records; a replicate merges groups as often as they were drawn.
class Bootstrapped final : public MeasureState {
 public:
  Bootstrapped(const MeasureInfo& info, const MeasureSetup& setup, std::size_t replicates)
      : whole_(info.make(setup)),
        blank_(info.make(setup)),
        options_(setup.options),
        setup_{options_, setup.units, setup.hypotheses, setup.confidence, setup.tolerance, setup.seed},
        make_(info.make),
        replicates_(replicates) {
    for (std::size_t i = 0; i < bootstrap_groups; ++i) groups_.push_back(info.make(setup));
  }

  void calibrate(const Block& block) override {
    whole_->calibrate(block);
    const Json calibrated = whole_->save();
    blank_->load(calibrated);
    for (const auto& state : groups_) state->load(calibrated);
  }
  void observe(const Block& block) override {
    whole_->observe(block);
    std::map<std::size_t, OwnedBlock> parts;
    for (const RecordRows& rows : records_of(block))
      parts[Rng(setup_.seed, {group_stream, rows.record}).below(bootstrap_groups)].append(block, rows);
    for (const auto& [group, part] : parts) groups_[group]->observe(part.view());
  }

  Scores result() const override {
    Scores scores = whole_->result();
    std::vector<std::vector<double>> units(scores.units.size()), groups(scores.groups.size());
    const Json blank = blank_->save();
    for (std::size_t i = 0; i < replicates_; ++i) {
      const std::unique_ptr<MeasureState> state = make_(setup_);
      state->load(blank);
      Rng rng(setup_.seed, {draw_stream, i});
      for (std::size_t g = 0; g < groups_.size(); ++g) state->merge(*groups_[rng.below(groups_.size())]);
      const Scores replicate = state->result();
      collect(replicate.units, units);
      collect(replicate.groups, groups);
    }
    put(units, scores.units);
    put(groups, scores.groups);
    return scores;
  }

  std::vector<char> settle() override {
    std::vector<char> open = whole_->settle();
    for (const auto& state : groups_) state->freeze(open);
    return open;
  }
  void freeze(std::span<const char> open) override {
    whole_->freeze(open);
    for (const auto& state : groups_) state->freeze(open);
  }

  void merge(const MeasureState& other) override {
    const auto& theirs = dynamic_cast<const Bootstrapped&>(other);
    whole_->merge(*theirs.whole_);
    for (std::size_t i = 0; i < groups_.size(); ++i) groups_[i]->merge(*theirs.groups_[i]);
  }
  Json save() const override {
    Json json = {{"whole", whole_->save()}, {"blank", blank_->save()}, {"groups", Json::array()}};
    for (const auto& state : groups_) json["groups"].push_back(state->save());
    return json;
  }
  void load(const Json& json) override {
    if (json.at("groups").size() != groups_.size()) throw std::runtime_error("other numbers of groups");
    whole_->load(json.at("whole"));
    blank_->load(json.at("blank"));
    for (std::size_t i = 0; i < groups_.size(); ++i) groups_[i]->load(json.at("groups")[i]);
  }

 private:
  static void collect(const std::vector<Score>& scores, std::vector<std::vector<double>>& values) {
    for (std::size_t i = 0; i < scores.size(); ++i) {
      if (!std::isnan(scores[i].value)) values[i].push_back(scores[i].value);
    }
  }
  // Percentile intervals; NaN where not even half of the replicates have a value.
  void put(std::vector<std::vector<double>>& values, std::vector<Score>& scores) const {
    for (std::size_t i = 0; i < scores.size(); ++i) {
      scores[i].low = scores[i].high = std::numeric_limits<double>::quiet_NaN();
      if (std::isnan(scores[i].value) || 2 * values[i].size() <= replicates_) continue;
      std::ranges::sort(values[i]);
      scores[i].low = quantile_of(values[i], (1 - setup_.confidence) / 2);
      scores[i].high = quantile_of(values[i], (1 + setup_.confidence) / 2);
    }
  }

  std::unique_ptr<MeasureState> whole_, blank_;
  std::vector<std::unique_ptr<MeasureState>> groups_;
  SpecOptions options_;  // kept for setup_, which only refers to them
  MeasureSetup setup_;
  std::function<std::unique_ptr<MeasureState>(const MeasureSetup&)> make_;
  std::size_t replicates_;
};

}  // namespace

std::unique_ptr<MeasureState> make_state(const MeasureInfo& info, const MeasureSetup& setup,
                                         const Resampling& resampling) {
  if (std::max(resampling.permutations, resampling.bootstrap) > most_resamples)
    fail(Fault::usage, "{} permutations and {} replicates are asked for; {} of each are possible",
         resampling.permutations, resampling.bootstrap, most_resamples);
  if (!(setup.confidence > 0 && setup.confidence < 1 && setup.tolerance >= 0))
    fail(Fault::usage, "confidence {} is not between 0 and 1, or tolerance {} is negative", setup.confidence,
         setup.tolerance);
  std::unique_ptr<MeasureState> state;
  if (resampling.bootstrap > 0) {
    if (!info.merges) {
      fail(Fault::usage,
           "measure '{}' learns row by row, so it cannot be bootstrapped; leave out the bootstrap or the "
           "measure",
           info.name);
    }
    state = std::make_unique<Bootstrapped>(info, setup, resampling.bootstrap);
  } else {
    state = info.make(setup);
  }
  if (resampling.permutations == 0) return state;
  return std::make_unique<Permuted>(std::move(state), info, setup, resampling.permutations);
}

}  // namespace assay::inspection
