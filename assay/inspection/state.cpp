#include "assay/inspection/state.h"

#include <algorithm>
#include <cmath>
#include <tuple>

#include <assay/error.h>
#include "assay/inspection/statistics/resampling.h"
#include "assay/support/conditions.h"
#include "assay/support/files/binary.h"
#include "assay/support/files/format_version.h"
#include "assay/support/numbers/discoveries.h"

namespace assay::inspection {
namespace {

using Json = nlohmann::json;

constexpr int inspection_state_version = 1;
constexpr const char* inspection_schema = "assay/inspection";

// Over all rows of the query.
void add_false_discovery_rates(std::vector<ScoreRow>& rows) {
  std::vector<double> p;
  for (const ScoreRow& row : rows) p.push_back(row.score.p);
  const std::vector<double> q = benjamini_hochberg(p);
  for (std::size_t i = 0; i < rows.size(); ++i) rows[i].q = q[i];
}

const char* kind_name(BehaviourKind kind) {
  return kind == BehaviourKind::binary    ? "binary"
         : kind == BehaviourKind::numeric ? "numeric"
                                          : "categorical";
}

BehaviourKind kind_named(const std::string& name) {
  for (const BehaviourKind kind :
       {BehaviourKind::binary, BehaviourKind::categorical, BehaviourKind::numeric}) {
    if (name == kind_name(kind)) return kind;
  }
  throw std::runtime_error("a hypothesis is of kind '" + name + "', which is not one of them");
}

Json to_json(const Hypothesis& hypothesis) {
  return {{"name", hypothesis.name}, {"kind", kind_name(hypothesis.kind)}, {"classes", hypothesis.classes}};
}

Json pair_head(const StatePair& pair) {
  return {{"model", pair.facts.model},
          {"layer", pair.facts.layer},
          {"group", pair.facts.group},
          {"number", pair.group},
          {"units", pair.units},
          {"hypotheses", pair.hypotheses},
          {"unit_positions", pair.facts.unit_positions},
          {"hypothesis_positions", pair.facts.hypothesis_positions},
          {"how", pair.facts.how}};
}

StatePair pair_from(const Json& head) {
  StatePair pair;
  pair.facts.model = head.at("model"), pair.facts.layer = head.at("layer"),
  pair.facts.group = head.at("group");
  pair.group = head.at("number");
  pair.units = head.at("units").get<std::vector<std::size_t>>();
  pair.hypotheses = head.at("hypotheses").get<std::vector<std::size_t>>();
  pair.facts.unit_positions = head.at("unit_positions").get<Shape>();
  pair.facts.hypothesis_positions = head.at("hypothesis_positions").get<Shape>();
  pair.facts.how = head.at("how");
  return pair;
}

// A score where a measure says nothing.
Score not_applicable() {
  Score score;
  score.status = "not_applicable";
  score.converged = true;
  return score;
}

}  // namespace

bool StatePair::open() const {
  return std::ranges::any_of(measured, [](const MeasuredPair& m) {
    return std::ranges::any_of(m.open, [](char open) { return open != 0; });
  });
}

InspectionState::InspectionState(Facts facts, std::vector<Hypothesis> hypotheses,
                                 std::vector<MeasureChoice> measures, StateOptions options)
    : facts_(std::move(facts)),
      hypotheses_(std::move(hypotheses)),
      measures_(std::move(measures)),
      options_(options) {}

void InspectionState::add_pair(StatePair pair) {
  pair.facts.units = pair.units.size();
  for (const std::size_t h : pair.hypotheses) pair.facts.hypotheses.push_back(hypotheses_.at(h).name);
  for (std::size_t m = 0; m < measures_.size(); ++m) {
    const MeasureInfo& info = info_of(measures_[m]);
    const SpecOptions options("measure", measures_[m].spec(), info.options);
    MeasuredPair measured;
    measured.measure = m;
    std::vector<Hypothesis> about;
    for (std::size_t c = 0; c < pair.hypotheses.size(); ++c) {
      const Hypothesis& hypothesis = hypotheses_.at(pair.hypotheses[c]);
      if (std::ranges::find(info.kinds, hypothesis.kind) == info.kinds.end()) continue;
      measured.columns.push_back(c);
      about.push_back(hypothesis);
    }
    if (!about.empty())
      measured.state = make_state(
          info, {options, pair.units.size(), about, options_.confidence, options_.tolerance, options_.seed},
          {options_.permutations, options_.bootstrap});
    measured.open.assign(about.size(), 1);
    pair.measured.push_back(std::move(measured));
  }
  pairs_.push_back(std::move(pair));
}

Inspection InspectionState::result() const {
  Inspection result;
  result.records = records, result.records_read = records_read, result.cached = cached;
  result.notices = notices, result.hypotheses = hypotheses_;
  for (const MeasureChoice& measure : measures_) result.measures.push_back(measure.spec().text());
  // Group, measure, hypothesis, unit (0: the group itself).
  using Place = std::tuple<std::size_t, std::size_t, std::size_t, std::size_t>;
  std::vector<std::pair<Place, ScoreRow>> placed;
  for (const StatePair& pair : pairs_) {
    result.pairs.push_back(pair.facts);
    for (const MeasuredPair& measured : pair.measured) {
      const Scores scores = measured.state ? measured.state->result() : Scores();
      const std::size_t columns = measured.columns.size();
      const auto put = [&](std::size_t h, std::optional<std::size_t> u, Score score) {
        const Place place{pair.group, measured.measure, pair.hypotheses[h], u ? *u + 1 : 0};
        ScoreRow row{pair.facts.model,         pair.facts.layer,
                     pair.facts.group,         {},
                     pair.facts.hypotheses[h], result.measures[measured.measure],
                     std::move(score)};
        if (u) row.unit = pair.units[*u];
        placed.emplace_back(place, std::move(row));
      };
      for (std::size_t h = 0; h < pair.hypotheses.size(); ++h) {
        const auto found = std::ranges::find(measured.columns, h);
        const std::size_t c = found - measured.columns.begin();
        if (found == measured.columns.end()) {
          put(h, {}, not_applicable());
          continue;
        }
        const std::size_t before = placed.size();
        if (!scores.groups.empty()) put(h, {}, scores.groups.at(c));
        for (std::size_t u = 0; !scores.units.empty() && u < pair.units.size(); ++u)
          put(h, u, scores.units.at(u * columns + c));
        if (measured.open[c] == 0 && records_read > 0) result.settled += placed.size() - before;
      }
    }
  }
  std::ranges::stable_sort(placed, {}, [](const auto& entry) { return entry.first; });
  result.rows.reserve(placed.size());
  for (auto& [place, row] : placed) result.rows.push_back(std::move(row));
  add_false_discovery_rates(result.rows);
  return result;
}

void InspectionState::merge(const InspectionState& other) {
  for (const auto& [name, value] : facts_) {
    const auto found = std::ranges::find(other.facts_, name, [](const auto& fact) { return fact.first; });
    if (found == other.facts_.end() || found->second != value)
      fail(Fault::mismatch, "this is the state of another inspection: {} differs", name);
  }
  for (const std::size_t part : other.parts) {
    if (std::ranges::find(parts, part) != parts.end())
      fail(Fault::mismatch, "part {} of {} is in both states; each may be given once", part, shards);
  }
  for (const MeasureChoice& measure : measures_) {
    if (!info_of(measure).merges)
      fail(Fault::usage, "measure '{}' learns row by row, so that its states cannot be merged",
           measure.spec().text());
  }
  if (pairs_.size() != other.pairs_.size()) fail(Fault::mismatch, "this state is about other groups");
  for (std::size_t p = 0; p < pairs_.size(); ++p) {
    StatePair& mine = pairs_[p];
    const StatePair& theirs = other.pairs_[p];
    if (pair_head(mine) != pair_head(theirs)) fail(Fault::mismatch, "this state is about other groups");
    for (std::size_t m = 0; m < mine.measured.size(); ++m) {
      if (mine.measured[m].state) mine.measured[m].state->merge(*theirs.measured[m].state);
    }
    mine.facts.rows += theirs.facts.rows, mine.facts.padding += theirs.facts.padding;
    mine.facts.not_finite += theirs.facts.not_finite, mine.facts.records_used += theirs.facts.records_used;
  }
  records += other.records, records_read += other.records_read, cached += other.cached;
  parts.insert(parts.end(), other.parts.begin(), other.parts.end());
  std::ranges::sort(parts);
  for (const std::string& notice : other.notices) {
    if (std::ranges::find(notices, notice) == notices.end()) notices.push_back(notice);
  }
}

Json InspectionState::save() const {
  Json json = {{"schema", inspection_schema},
               {"version", inspection_state_version},
               {"facts", facts_},
               {"hypotheses", Json::array()},
               {"measures", Json::array()},
               {"confidence", options_.confidence},
               {"tolerance", options_.tolerance},
               {"permutations", options_.permutations},
               {"bootstrap", options_.bootstrap},
               {"seed", options_.seed},
               {"size", size},
               {"records", records},
               {"records_read", records_read},
               {"cached", cached},
               {"shards", shards},
               {"parts", parts},
               {"notices", notices},
               {"pairs", Json::array()}};
  for (const Hypothesis& hypothesis : hypotheses_) json["hypotheses"].push_back(to_json(hypothesis));
  for (const MeasureChoice& measure : measures_) json["measures"].push_back(measure.spec().text());
  for (const StatePair& pair : pairs_) {
    Json saved = {
        {"head", pair_head(pair)},
        {"counts", {pair.facts.rows, pair.facts.padding, pair.facts.not_finite, pair.facts.records_used}},
        {"measured", Json::array()}};
    for (const MeasuredPair& measured : pair.measured) {
      saved["measured"].push_back({{"state", measured.state ? measured.state->save() : Json()},
                                   {"open", std::vector<int>(measured.open.begin(), measured.open.end())}});
    }
    json["pairs"].push_back(std::move(saved));
  }
  return json;
}

void InspectionState::load(const Json& json) {
  if (json.at("facts").get<Facts>() != facts_) throw std::runtime_error("it is about another inspection");
  if (json.at("pairs").size() != pairs_.size()) throw std::runtime_error("it is about other groups");
  size = json.at("size"), records = json.at("records"), records_read = json.at("records_read");
  cached = json.at("cached"), shards = json.at("shards");
  parts = json.at("parts").get<std::vector<std::size_t>>();
  notices = json.at("notices").get<std::vector<std::string>>();
  if (records_read > records || records > size) throw std::runtime_error("its counts contradict each other");
  for (std::size_t p = 0; p < pairs_.size(); ++p) {
    StatePair& pair = pairs_[p];
    const Json& saved = json.at("pairs")[p];
    if (saved.at("head") != pair_head(pair)) throw std::runtime_error("it is about other groups");
    const auto counts = saved.at("counts").get<std::vector<std::uint64_t>>();
    if (counts.size() != 4 || saved.at("measured").size() != pair.measured.size())
      throw std::runtime_error("a group is not whole");
    pair.facts.rows = counts[0], pair.facts.padding = counts[1], pair.facts.not_finite = counts[2];
    pair.facts.records_used = counts[3];
    for (std::size_t m = 0; m < pair.measured.size(); ++m) {
      MeasuredPair& measured = pair.measured[m];
      const Json& from = saved.at("measured")[m];
      const auto open = from.at("open").get<std::vector<int>>();
      if (open.size() != measured.open.size())
        throw std::runtime_error("a measure is about other hypotheses");
      measured.open.assign(open.begin(), open.end());
      if (measured.state) measured.state->load(from.at("state"));
    }
  }
}

void InspectionState::write(const std::filesystem::path& path) const { write_binary(save(), path); }

InspectionState InspectionState::read(const std::filesystem::path& path) {
  const Json json = read_binary(path);
  try {
    if (!json.is_object() || json.value("schema", "") != inspection_schema)
      throw std::runtime_error("it is not the state of an inspection");
    if (const std::string fault = other_format(json.at("version"), inspection_state_version); !fault.empty())
      throw std::runtime_error(fault);
    std::vector<Hypothesis> hypotheses;
    for (const Json& h : json.at("hypotheses"))
      hypotheses.push_back({h.at("name"), kind_named(h.at("kind")), h.at("classes")});
    std::vector<MeasureChoice> measures;
    for (const Json& spec : json.at("measures")) measures.emplace_back(spec.get<std::string>());
    InspectionState state(json.at("facts").get<Facts>(), std::move(hypotheses), std::move(measures),
                          {json.at("confidence"), json.at("tolerance"), json.at("permutations"),
                           json.at("bootstrap"), json.at("seed")});
    for (const Json& saved : json.at("pairs")) {
      StatePair pair = pair_from(saved.at("head"));
      if (std::ranges::any_of(pair.hypotheses, [&](std::size_t h) { return h >= state.hypotheses_.size(); }))
        throw std::runtime_error("it names a hypothesis that it does not have");
      state.add_pair(std::move(pair));
    }
    state.load(json);
    return state;
  } catch (const std::exception& error) {
    pass_on_condition();
    fail(Fault::data, "{}: the state of the inspection cannot be used: {}", path.string(), error.what());
  }
}

}  // namespace assay::inspection
