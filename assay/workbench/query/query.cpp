#include "assay/workbench/query/query.h"

#include <sqlite3.h>

#include <algorithm>
#include <set>

#include <assay/error.h>
#include "assay/support/deaf_work.h"
#include "assay/support/memory.h"
#include "assay/support/text/so_many.h"
#include "assay/support/text/text.h"
#include "assay/workbench/inspect_views.h"
#include "assay/workbench/layer_numbers.h"
#include "assay/workbench/query/explain.h"
#include "assay/workbench/query/inspect_clause.h"

namespace assay::workbench {
namespace {

using Kind = report::Column::Kind;

constexpr std::size_t most_statements = 1000;
constexpr std::size_t most_cells = 10'000'000;
constexpr std::size_t forms_of_text = 8;  // in memory at a time while the answer is shown and written
// Of SQLite's errors: those of reading a statement.
constexpr std::string_view likely_clause = "INSPECT";

struct StatementPlace {
  std::size_t begin = 0, end = 0;  // bytes
};

std::vector<StatementPlace> statements_of(const SqlText& sql) {
  std::vector<StatementPlace> places;
  std::size_t first = 0;
  for (std::size_t i = 0; i < sql.tokens().size(); ++i) {
    const bool last = i + 1 == sql.tokens().size();
    if (!last && !(sql.token(i).is_symbol(";") && sql.token(i).depth == 0)) continue;
    if (i > first) places.push_back({sql.token(first).begin, sql.token(i - 1).end});
    first = i + 1;
  }
  return places;
}

Kind kind_of(const std::vector<std::vector<Cell>>& rows, std::size_t column) {
  bool whole = true, number = true, any = false;
  for (const auto& row : rows) {
    const Cell& cell = row[column];
    if (cell.index() == 0) continue;
    any = true;
    whole = whole && std::holds_alternative<std::int64_t>(cell);
    number = number && !std::holds_alternative<std::string>(cell);
  }
  return !any || !number ? Kind::text : whole ? Kind::count : Kind::number;
}

// Temporary objects of one statement.
class Temporaries {
 public:
  explicit Temporaries(Database& database) : database_(database) {}
  ~Temporaries() {
    for (const std::string& name : names_) {
      try {
        database_.run("DROP TABLE temp." + name);
      } catch (const std::exception&) {
        // It goes with the connection.
      }
    }
  }
  Temporaries(const Temporaries&) = delete;

  // A name for scores that the database has nowhere.
  std::string fresh() {
    std::string name;
    do name = fmt::format("assay_scores_{}", ++count_);
    while (database_.exists(name));
    names_.push_back(name);
    return name;
  }

 private:
  Database& database_;
  std::vector<std::string> names_;
  std::size_t count_ = 0;
};

// Ends inspections whose question has had its time.
class LimitedProgress final : public Progress {
 public:
  LimitedProgress(Progress& progress, const TimeLimit& limit) : progress_(progress), limit_(limit) {}
  void begin(std::string_view stage, std::size_t total, std::string_view unit) override {
    progress_.begin(stage, total, unit);
  }
  void advance(std::size_t done, std::string_view note) override {
    limit_.check();
    progress_.advance(done, note);
  }
  void end() override { progress_.end(); }
  void notice(std::string_view message) override { progress_.notice(message); }

 private:
  Progress& progress_;
  const TimeLimit& limit_;
};

class Answer {
 public:
  Answer(Database& database, const OpenWorld& world, Progress& progress)
      : database_(database), world_(world), limit_(world.seconds), progress_(progress, limit_) {
    database_.set_time_limit(&limit_);
  }
  ~Answer() { database_.set_time_limit(nullptr); }
  Answer(const Answer&) = delete;
  Answer& operator=(const Answer&) = delete;

  report::Document run(const std::string& sql) {
    const SqlText whole(sql);
    const std::vector<StatementPlace> places = statements_of(whole);
    if (places.empty()) fail(Fault::usage, "the query is empty; ask for instance: SELECT * FROM units");
    if (places.size() > most_statements)
      fail(Fault::usage, "the query has {} statements; at most {} are run together", places.size(),
           most_statements);
    for (const StatementPlace& place : places) {
      check_interrupt();
      limit_.check();
      statement(SqlText(sql, place.begin, place.end));
    }
    finish();
    return std::move(document_);
  }

 private:
  void statement(SqlText sql) {
    if (change_views(database_, sql)) return;
    const bool explained = explains(sql);
    const std::string written = sql.text();
    Temporaries temporaries(database_);
    expand_views(database_, sql);
    number_layers(database_, sql);
    while (const auto select = first_inspect(sql)) inspect(sql, *select, temporaries, explained, written);
    if (explained) return;
    try {
      ask(sql);
    } catch (const Error& error) {
      if (error.fault() != Fault::usage) throw;
      refuse(sql, error.what());
    }
  }

  // EXPLAIN [INSPECT] before a query with INSPECT, which is then taken away.
  static bool explains(SqlText& sql) {
    if (!sql.token(0).is_word("EXPLAIN")) return false;
    const bool named = sql.token(1).is_word("INSPECT");
    SqlText query = sql;
    query.replace({0, named ? 2U : 1U}, "", 0);
    if (!first_inspect(query)) {
      if (named) sql.fail_at(sql.token(1).begin, "EXPLAIN INSPECT is followed by a query with INSPECT");
      return false;
    }
    sql = std::move(query);
    return true;
  }

  void inspect(SqlText& sql, const InspectSelect& select, Temporaries& temporaries, bool explained,
               const std::string& written) {
    const Plan plan = planned(sql, select);
    const std::string scores = temporaries.fresh();
    ++inspections_;
    try {
      if (explained) {
        make_empty_scores(database_, scores);
        explain(database_, world_, plan, inspections_ > 1 ? fmt::format("_{}", inspections_) : "", document_);
        if (inspections_ > 1)
          document_.notices.emplace_back(
              "a query around another INSPECT is planned as if the inner answer were empty");
      } else {
        note(make_scores(database_, world_, plan, scores, written, progress_), plan);
      }
    } catch (const Error& error) {
      if (error.fault() != Fault::usage || std::string_view(error.what()).starts_with("query, ")) throw;
      sql.fail_at(sql.token(select.keyword).begin, error.message());
    }
    replace_inspect(database_, sql, select, "temp." + scores);
  }

  Plan planned(SqlText& sql, const InspectSelect& select) {
    const DeafWork work(world_.seconds);
    return plan_inspect(database_, sql, select, world_.data);
  }

  void note(const Inspected& inspected, const Plan& plan) {
    records_ = std::max(records_, inspected.records);
    records_read_ = std::max(records_read_, inspected.records_read);
    kept_ += inspected.kept_before ? 1 : 0;
    units_ += plan.units.size(), hypotheses_ += plan.hypotheses.size();
    for (const std::string& notice : inspected.notices) document_.notices.push_back(notice);
    for (const PlannedMeasure& measure : plan.measures) {
      if (!defined_.insert(measure.choice.spec().name).second) continue;
      const inspection::MeasureInfo& info = inspection::info_of(measure.choice);
      document_.definitions.push_back({measure.written, info.definition, info.paper});
    }
  }

  void ask(const SqlText& sql) {
    const DeafWork work(world_.seconds);
    const Database::UserRules rules(database_);
    Statement statement(database_, sql.text());
    if (statement.has_more()) fail(Fault::usage, "more than one statement where one was expected");
    if (statement.columns() == 0) {
      while (statement.step()) {
      }
      return;
    }
    report::Table table;
    ++answers_;
    table.id = answers_ == 1 ? "answer" : fmt::format("answer_{}", answers_);
    table.title = answers_ == 1 ? "Answer" : fmt::format("Answer {}", answers_);
    std::set<std::string> ids;
    for (int i = 0; i < statement.columns(); ++i) {
      const std::string name = statement.name(i);
      std::string id = name.empty() ? "column" : name;
      for (int k = 2; !ids.insert(id).second; ++k) id = fmt::format("{}_{}", name, k);
      table.columns.push_back({.id = id, .title = name, .decimals = 4});
    }
    while (statement.step()) {
      cells_ += table.columns.size();
      if (cells_ > most_cells)
        fail(Fault::resources, "the answer has more than {} cells; add LIMIT or conditions", most_cells);
      std::vector<Cell>& row = table.rows.emplace_back();
      for (int i = 0; i < statement.columns(); ++i) {
        row.push_back(statement.value(i));
        if (const auto* text = std::get_if<std::string>(&row.back())) bytes_ += text->size();
      }
      require_memory(forms_of_text * bytes_ + cells_ * sizeof(Cell), "the answer");
    }
    for (std::size_t i = 0; i < table.columns.size(); ++i) table.columns[i].kind = kind_of(table.rows, i);
    rows_ += table.rows.size();
    document_.tables.push_back(std::move(table));
  }

  // SQLite's message, with the nearest name there is.
  [[noreturn]] void refuse(const SqlText& sql, std::string message) const {
    std::size_t at = sql.token(0).begin;
    const int offset = sqlite3_error_offset(database_.handle());
    if (offset >= 0 && static_cast<std::size_t>(offset) <= sql.text().size()) at = offset;
    const auto after = [&](std::string_view prefix) {
      return message.starts_with(prefix) ? message.substr(prefix.size()) : std::string();
    };
    if (const std::string table = after("no such table: "); !table.empty()) {
      std::vector<std::string> known = database_.relations();
      known.push_back("behaviours");
      message += did_you_mean(table, known);
    }
    if (message.find("syntax error") != std::string::npos) message += clause_hint(sql);
    sql.fail_at(at, message);
  }

  static std::string clause_hint(const SqlText& sql) {
    for (const Token& token : sql.tokens()) {
      std::string word = token.text;
      std::ranges::transform(word, word.begin(), [](unsigned char c) { return std::toupper(c); });
      if (token.kind == Token::Kind::word && word != likely_clause && word.size() > 4 &&
          !nearest_name(word, {std::string(likely_clause)}).empty())
        return fmt::format("; did you mean '{}' where it says '{}'?", likely_clause, token.text);
    }
    return {};
  }

  void finish() {
    const auto count = [&](const std::string& id, const std::string& title, std::uint64_t value) {
      document_.facts.push_back({id, title, report::count_cell(value), Kind::count});
    };
    if (answers_ > 0) count("rows", "rows", rows_);
    if (records_ > 0) {
      count("inspected_units", "units inspected", units_);
      count("inspected_hypotheses", "hypotheses", hypotheses_);
      count("records", "records", records_);
      count("records_read", "of them read until all scores had converged", records_read_);
    }
    if (kept_ > 0) count("kept", "inspections taken from the database", kept_);
    document_.headline = answers_ > 0               ? so_many(rows_, "row")
                         : document_.tables.empty() ? "done"
                                                    : "the plan; nothing was run";
  }

  Database& database_;
  const OpenWorld& world_;
  const TimeLimit limit_;
  LimitedProgress progress_;
  report::Document document_;
  std::set<std::string> defined_;
  std::size_t cells_ = 0, bytes_ = 0, answers_ = 0, rows_ = 0, inspections_ = 0, records_ = 0,
              records_read_ = 0, kept_ = 0, units_ = 0, hypotheses_ = 0;
};

}  // namespace

report::Document answer(Database& database, const OpenWorld& world, const std::string& sql,
                        Progress& progress) {
  return Answer(database, world, progress).run(sql);
}

}  // namespace assay::workbench
