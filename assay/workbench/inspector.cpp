#include "assay/workbench/inspector.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <tuple>

#include <assay/error.h>
#include "assay/data/views.h"
#include "assay/support/files/hash.h"
#include "assay/support/files/journal.h"
#include "assay/support/text/text.h"
#include "assay/workbench/hypothesis_choice.h"
#include "assay/workbench/query/names.h"

namespace assay::workbench {
namespace {

using inspection::Score;
using inspection::ScoreRow;

// Units of one layer and gate of one network, which the inspector takes together.
using PartKey = std::tuple<std::string, std::int64_t, std::string, std::vector<std::size_t>>;

class WorkMaker {
 public:
  WorkMaker(Database& database, const OpenWorld& world, const Plan& plan)
      : database_(database),
        world_(world),
        plan_(plan),
        neurons_(database, "SELECT units FROM layers WHERE mid = ?1 AND layer_index = ?2") {}

  Work make() {
    open_records();
    choose_hypotheses();
    for (const PlannedGroup& group : plan_.groups) add_group(group);
    work_.options = world_.options;
    work_.options.measures.clear();
    for (const PlannedMeasure& measure : plan_.measures) work_.options.measures.push_back(measure.choice);
    make_key();
    return std::move(work_);
  }

 private:
  void open_records() {
    const auto found = world_.datasets.find(plan_.data);
    if (found == world_.datasets.end())
      fail(Fault::usage, "the records of '{}' are known from before and not open now; give them again{}",
           plan_.data, About{"", " with {data}"});
    whole_ = found->second;
    every_record_ = plan_.every_record || plan_.records.size() == whole_->size();
    work_.records = every_record_ ? whole_ : selected(whole_, plan_.records);
  }

  void choose_hypotheses() {
    std::set<std::string> open;
    for (const auto& [source, annotator] : world_.hypotheses) {
      const auto some = only_hypotheses(annotator, plan_.hypotheses);
      if (!some) continue;
      for (const inspection::Hypothesis& hypothesis : some->hypotheses()) open.insert(hypothesis.name);
      work_.hypotheses.emplace_back(source, every_record_ ? some : for_records(some, whole_, plan_.records));
      versions_.push_back(source + "\n" + some->version());
      versioned_ = versioned_ && !some->version().empty();
    }
    for (const std::string& name : plan_.hypotheses) {
      if (!open.contains(name))
        fail(Fault::usage, "hypothesis '{}' is known from before and not open now; give {}", name,
             About{"its source again", "it again with {hypotheses}"});
    }
  }

  void add_group(const PlannedGroup& group) {
    std::map<std::tuple<std::string, std::int64_t, std::string>, std::vector<std::size_t>> layers;
    for (const std::size_t u : group.units) {
      const PlannedUnit& unit = plan_.units[u];
      layers[{unit.model, unit.layer_index, unit.gate}].push_back(u);
    }
    auto& parts = work_.parts.emplace_back();
    for (const auto& [layer, units] : layers) {
      const std::size_t part = part_of(units);
      for (const std::size_t u : units) parts.emplace(u, part);
    }
  }

  std::size_t part_of(const std::vector<std::size_t>& units) {
    const PlannedUnit& first = plan_.units[units.front()];
    std::vector<std::size_t> numbers;
    for (const std::size_t u : units) numbers.push_back(plan_.units[u].unit);
    neurons_.bind({first.model, first.layer_index});
    if (neurons_.step() && static_cast<std::size_t>(neurons_.integer(0)) == numbers.size()) numbers.clear();
    const auto [known, fresh] =
        parts_.emplace(PartKey{first.model, first.layer_index, first.gate, numbers}, work_.groups.size());
    if (!fresh) return known->second;
    inspection::UnitGroup group{.name = first.gate.empty() ? first.layer : first.layer + "/" + first.gate,
                                .model = model_of(first.model),
                                .layer = first.layer,
                                .gate = first.gate,
                                .units = std::move(numbers),
                                .behaviour = world_.behaviour};
    if (!names_.insert({group.model, group.name}).second)
      group.name += fmt::format(" ({})", work_.groups.size() + 1);
    names_.insert({group.model, group.name});
    work_.groups.push_back(std::move(group));
    return known->second;
  }

  std::size_t model_of(const std::string& name) {
    const auto known = std::ranges::find(work_.models, name, &inspection::InspectedModel::name);
    if (known != work_.models.end()) return known - work_.models.begin();
    const auto open = world_.models.find(name);
    if (open == world_.models.end())
      fail(Fault::usage, "model '{}' is known from before and not open now; give {}", name,
           About{"its file again", "it again with {model=NAME=FILE}"});
    work_.models.push_back(open->second);
    return work_.models.size() - 1;
  }

  void make_key() {
    if (!versioned_) return;
    Hasher hash;
    Statement model_hash(database_, "SELECT hash FROM models WHERE mid = ?1");
    for (const inspection::InspectedModel& model : work_.models) {
      model_hash.bind({model.name});
      model_hash.step();
      hash.text(model.name).text(model_hash.text(0));
    }
    Statement data_hash(database_, "SELECT hash FROM datasets WHERE data = ?1");
    data_hash.bind({plan_.data});
    data_hash.step();
    hash.text(data_hash.text(0)).number(plan_.every_record ? -1 : std::ssize(plan_.records));
    for (const std::size_t record : plan_.records) hash.number(record);
    for (const std::string& version : versions_) hash.text(version);
    for (const PlannedMeasure& measure : plan_.measures)
      hash.text(measure.written).text(measure.choice.spec().text());
    add_groups(hash);
    add_options(hash);
    work_.key = hash.hex();
  }

  void add_groups(Hasher& hash) const {
    for (const PlannedUnit& unit : plan_.units) hash.text(unit.model).text(unit.uid);
    for (const std::string& hypothesis : plan_.hypotheses) hash.text(hypothesis);
    for (const PlannedGroup& group : plan_.groups) {
      hash.text(report::shown(group.label, report::Column::Kind::text, 17)).number(group.label.index());
      for (const std::size_t unit : group.units) hash.number(unit);
      hash.number(-1);
      for (const std::size_t hypothesis : group.hypotheses) hash.number(hypothesis);
      hash.number(-1);
      for (const auto& [unit, hypothesis] : group.pairs) hash.number(unit).number(hypothesis);
      hash.number(-1);
    }
  }

  void add_options(Hasher& hash) const {
    const inspection::InspectOptions& o = world_.options;
    hash.number(o.stop_early).real(o.tolerance).real(o.confidence).number(o.block);
    hash.number(o.permutations).number(o.bootstrap);
    if (!o.documents.empty()) hash.text(o.documents);
    hash.number(static_cast<int>(o.align.rows)).number(static_cast<int>(o.align.reduce));
    hash.number(o.seed).number(static_cast<int>(world_.behaviour));
    if (!o.vocabulary) return;
    for (const std::string& symbol : o.vocabulary->symbols) hash.text(symbol);
    hash.number(o.vocabulary->padding.value_or(-1));
  }

  Database& database_;
  const OpenWorld& world_;
  const Plan& plan_;
  Statement neurons_;
  Work work_;
  std::map<PartKey, std::size_t> parts_;
  std::set<std::pair<std::size_t, std::string>> names_;
  std::vector<std::string> versions_;
  DatasetPtr whole_;
  bool every_record_ = true, versioned_ = true;
};

// Scores by where they belong.
class ScoreTable {
 public:
  ScoreTable(const Work& work, const inspection::Inspection& seen) {
    std::map<std::pair<std::string, std::string>, std::size_t> groups;
    for (std::size_t g = 0; g < work.groups.size(); ++g)
      groups.emplace(std::pair{work.models[work.groups[g].model].name, work.groups[g].name}, g);
    for (const ScoreRow& row : seen.rows) {
      const auto group = groups.find({row.model, row.group});
      if (group == groups.end()) continue;
      const std::int64_t unit = row.unit ? static_cast<std::int64_t>(*row.unit) : -1;
      rows_.emplace(std::tuple{group->second, unit, row.hypothesis, row.measure}, &row);
    }
  }
  // Null where there is none. A unit of -1: the group's own.
  const ScoreRow* find(std::size_t part, std::int64_t unit, const std::string& hypothesis,
                       const std::string& measure) const {
    const auto found = rows_.find({part, unit, hypothesis, measure});
    return found == rows_.end() ? nullptr : found->second;
  }

 private:
  std::map<std::tuple<std::size_t, std::int64_t, std::string, std::string>, const ScoreRow*> rows_;
};

Cell finite(double value) { return std::isfinite(value) ? Cell{value} : Cell{}; }

void append(std::vector<Cell>& cells, std::initializer_list<Cell> more) {
  cells.insert(cells.end(), more.begin(), more.end());
}

// Confidence interval, p, rows and so on are the unit's where it has a score, else its group's.
std::vector<Cell> cells_of(const PlannedGroup& group, const PlannedUnit& unit, const std::string& hypothesis,
                           const std::string& measure, const ScoreRow* of_unit, const ScoreRow* of_group) {
  static const ScoreRow nothing;
  const ScoreRow& own = of_unit != nullptr ? *of_unit : of_group != nullptr ? *of_group : nothing;
  const Score& whole = of_group != nullptr ? of_group->score : nothing.score;
  std::vector<Cell> cells{unit.model,
                          unit.uid,
                          hypothesis,
                          measure,
                          of_unit != nullptr ? finite(of_unit->score.value) : Cell{},
                          finite(whole.value)};
  append(cells, {finite(own.score.low), finite(own.score.high), finite(own.score.p), finite(own.q),
                 report::count_cell(own.score.rows), own.score.converged, own.score.status, group.label});
  append(cells, {unit.layer, unit.layer_index, unit.gate, unit.unit});
  if (of_group == nullptr)
    cells.resize(score_columns().size());
  else
    append(cells, {finite(whole.low), finite(whole.high), finite(whole.p), report::count_cell(whole.rows),
                   whole.converged, whole.status});
  return cells;
}

std::string places_for_scores(std::size_t more) {
  std::string places = "?";
  for (std::size_t i = 1; i < score_columns().size() + more; ++i) places += ",?";
  return places;
}

// One row for each unit, hypothesis and measure of each group, in the order of the plan.
void insert_scores(Database& database, const Work& work, const Plan& plan, const inspection::Inspection& seen,
                   const std::string& scores) {
  const ScoreTable table(work, seen);
  Statement insert(database, fmt::format("INSERT INTO {} VALUES ({})", scores, places_for_scores(0)));
  for (std::size_t g = 0; g < plan.groups.size(); ++g) {
    const PlannedGroup& group = plan.groups[g];
    for (const std::size_t u : group.units) {
      for (const std::size_t h : group.hypotheses) {
        if (!group.pairs.empty() && !std::ranges::binary_search(group.pairs, std::pair{u, h})) continue;
        for (const PlannedMeasure& measure : plan.measures) {
          const std::size_t part = work.parts[g].at(u);
          const std::string name = measure.choice.spec().text();
          const ScoreRow* of_unit = table.find(part, plan.units[u].unit, plan.hypotheses[h], name);
          const ScoreRow* of_group = table.find(part, -1, plan.hypotheses[h], name);
          insert.run(cells_of(group, plan.units[u], plan.hypotheses[h], measure.written, of_unit, of_group));
        }
      }
    }
  }
}

// Returns its number.
std::int64_t add_inspection(Database& database, const Inspected& inspected, const std::string& key,
                            const std::string& query, const std::string& data) {
  Statement(
      database,
      "INSERT INTO inspections(key, query, data, records, records_read, rows_seen) VALUES (?,?,?,?,?,?)")
      .run({key, query, data, report::count_cell(inspected.records),
            report::count_cell(inspected.records_read), report::count_cell(inspected.rows_seen)});
  Statement number(database, "SELECT last_insert_rowid()");
  number.step();
  return number.integer(0);
}

Inspected figures_of(const inspection::Inspection& seen) {
  Inspected inspected{.records = seen.records, .records_read = seen.records_read, .notices = seen.notices};
  for (const inspection::AlignedPair& pair : seen.pairs) inspected.rows_seen += pair.rows;
  return inspected;
}

// Keeps an inspection in the file, whole or not at all.
void keep(Database& database, const Inspected& inspected, const std::string& key, const std::string& query,
          const std::string& data, const std::string& scores) {
  Transaction transaction(database);
  if (kept_inspection(database, key) != 0) return;  // another process was quicker
  const std::int64_t inspection = add_inspection(database, inspected, key, query, data);
  database.run(
      fmt::format("INSERT INTO main.scores SELECT {}, * FROM {} ORDER BY rowid", inspection, scores));
  transaction.commit();
}

Inspected take_kept(Database& database, std::int64_t inspection, const std::string& scores) {
  database.run(fmt::format("INSERT INTO {} SELECT {} FROM main.scores WHERE inspection = {} ORDER BY rowid",
                           scores, joined(score_columns()), inspection));
  Statement known(database, "SELECT records, records_read, rows_seen FROM inspections WHERE inspection = ?1");
  known.bind({inspection});
  known.step();
  return {.records = static_cast<std::size_t>(known.integer(0)),
          .records_read = static_cast<std::size_t>(known.integer(1)),
          .rows_seen = static_cast<std::uint64_t>(known.integer(2)),
          .kept_before = true,
          .notices = {}};
}

}  // namespace

Work work_of(Database& database, const OpenWorld& world, const Plan& plan) {
  return WorkMaker(database, world, plan).make();
}

void keep_inspection(Database& database, const std::string& data, const inspection::Inspection& seen,
                     const std::vector<inspection::UnitGroup>& groups, const std::string& key) {
  using Question = std::tuple<std::string, std::string, std::string, std::string>;
  const auto question = [](const ScoreRow& row) {
    return Question{row.model, row.group, row.hypothesis, row.measure};
  };
  std::map<Question, const ScoreRow*> of_groups;
  for (const ScoreRow& row : seen.rows)
    if (!row.unit) of_groups.emplace(question(row), &row);
  Transaction transaction(database);
  if (const std::int64_t before = kept_inspection(database, key)) {
    Statement(database, "DELETE FROM main.scores WHERE inspection = ?").run({before});
    Statement(database, "DELETE FROM inspections WHERE inspection = ?").run({before});
  }
  const std::int64_t inspection = add_inspection(database, figures_of(seen), key, "", data);
  Statement place(database, "SELECT layer_index FROM layers WHERE mid = ?1 AND layer = ?2");
  Statement insert(database, fmt::format("INSERT INTO main.scores VALUES ({})", places_for_scores(1)));
  for (const ScoreRow& row : seen.rows) {
    if (!row.unit) continue;
    const auto group = std::ranges::find(groups, row.group, &inspection::UnitGroup::name);
    const std::string gate = group == groups.end() ? "" : group->gate;
    const std::string head = gate.empty() ? row.layer : row.layer + "/" + gate;
    place.bind({row.model, row.layer});
    const PlannedUnit unit{.model = row.model,
                           .uid = fmt::format("{}:{}", head, *row.unit),
                           .layer = row.layer,
                           .gate = gate,
                           .layer_index = place.step() ? place.integer(0) : -1,
                           .unit = static_cast<std::int64_t>(*row.unit)};
    const auto of_group = of_groups.find(question(row));
    std::vector<Cell> cells{inspection};
    for (Cell& cell :
         cells_of({.label = row.group, .units = {}, .hypotheses = {}, .pairs = {}}, unit, row.hypothesis,
                  row.measure, &row, of_group == of_groups.end() ? nullptr : of_group->second))
      cells.push_back(std::move(cell));
    insert.run(cells);
  }
  transaction.commit();
}

std::int64_t kept_inspection(Database& database, const std::string& key) {
  Statement known(database, "SELECT inspection FROM inspections WHERE key = ?1");
  known.bind({key});
  return !key.empty() && known.step() ? known.integer(0) : 0;
}

void make_empty_scores(Database& database, const std::string& scores) {
  std::string columns;
  for (const std::string& name : score_columns())
    columns += (columns.empty() ? "" : ", ") + quoted_name(name);
  database.run(fmt::format("CREATE TEMP TABLE {0}({1}); CREATE INDEX temp.{0}_by_unit ON {0}(mid, uid, hid)",
                           scores, columns));
}

Inspected make_scores(Database& database, const OpenWorld& world, const Plan& plan, const std::string& scores,
                      const std::string& query, Progress& progress) {
  make_empty_scores(database, scores);
  if (plan.empty()) return {};
  Work work = work_of(database, world, plan);
  const std::string table = "temp." + scores;
  if (const std::int64_t kept = kept_inspection(database, work.key)) return take_kept(database, kept, table);
  // Other queries may be under way in the same file: each has a separate journal.
  const bool in_file = !database.path().empty() && !work.key.empty();
  if (in_file && work.options.journal.empty())
    work.options.journal = fmt::format("{}.{}.journal", database.path().string(), work.key.substr(0, 8));
  const inspection::Inspection seen =
      world.inspect(work.models, work.groups, work.records, work.hypotheses, work.options, progress);
  const Inspected inspected = figures_of(seen);
  database.run("SAVEPOINT fill");
  insert_scores(database, work, plan, seen, table);
  database.run("RELEASE fill");
  if (!database.path().empty()) keep(database, inspected, work.key, query, plan.data, table);
  if (!work.options.journal.empty()) Journal::remove(work.options.journal);
  return inspected;
}

}  // namespace assay::workbench
