#include "assay/workbench/behaviours.h"

#include <assay/array_math.h>
#include <sqlite3.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <tuple>

#include <assay/error.h>
#include <assay/progress.h>
#include "assay/inspection/symbols/text_records.h"
#include "assay/inspection/units/unit_source.h"

namespace assay::workbench {
namespace {

enum Column { did_column, position_column, symbol_column, mid_column, uid_column, h_column, value_column };

// Numbers that may be in memory at a time, but for one record's.
constexpr std::size_t room_for_values = std::size_t{1} << 22;
constexpr std::size_t most_records_at_once = 256;

// The choices left by conditions, as far as they were handed over.
struct Choice {
  struct Bound {
    int op;
    std::int64_t did;
  };
  std::vector<Bound> dids;
  std::optional<std::string> mid, uid, h;
  bool nothing = false;  // compared with NULL
};

// Units of one layer and gate, in the order of the tensor's columns.
struct Part {
  std::string mid;
  std::vector<std::string> uids;
  std::size_t source = 0, group = 0;
};

struct Record {
  std::int64_t did = 0;
  std::string data;
  std::size_t place = 0;
};

struct Row {
  std::int64_t did = 0, position = 0;
  const std::string *symbol = nullptr, *mid = nullptr, *uid = nullptr, *h = nullptr;
  double value = 0;
};

class Walk {
 public:
  Walk(Database& database, const OpenWorld& world, const Choice& choice)
      : database_(database), world_(world) {
    if (choice.nothing) return;
    choose_records(choice);
    if (!choice.h) choose_units(choice);
    if (!choice.mid && !choice.uid) choose_hypotheses(choice);
    if (!units_.empty() || !hypotheses_.empty()) next();
  }

  bool done() const { return place_ >= rows_.size(); }
  const Row& row() const { return rows_[place_]; }
  std::int64_t number() const { return number_; }
  void next() {
    ++place_, ++number_;
    while (place_ >= rows_.size() && record_ < records_.size()) fill();
  }

 private:
  void choose_records(const Choice& choice) {
    std::string conditions;
    for (const Choice::Bound& bound : choice.dids) {
      const char* op = bound.op == SQLITE_INDEX_CONSTRAINT_EQ   ? "="
                       : bound.op == SQLITE_INDEX_CONSTRAINT_GT ? ">"
                       : bound.op == SQLITE_INDEX_CONSTRAINT_GE ? ">="
                       : bound.op == SQLITE_INDEX_CONSTRAINT_LT ? "<"
                                                                : "<=";
      conditions += fmt::format(" AND did {} {}", op, bound.did);
    }
    Statement find(database_,
                   "SELECT did, data, record FROM main.inputs WHERE TRUE" + conditions + " ORDER BY did");
    while (find.step()) {
      if (world_.datasets.contains(find.text(1)))
        records_.push_back({find.integer(0), find.text(1), static_cast<std::size_t>(find.integer(2))});
    }
  }

  void choose_units(const Choice& choice) {
    Statement find(
        database_,
        "SELECT mid, uid, layer, gate, unit, layer_index FROM (SELECT * FROM main.units UNION ALL SELECT * "
        "FROM main.gate_units) WHERE (?1 IS NULL OR mid = ?1) AND (?2 IS NULL OR uid = ?2) ORDER BY mid, "
        "layer_index, gate, unit");
    find.bind({choice.mid ? Cell{*choice.mid} : Cell{}, choice.uid ? Cell{*choice.uid} : Cell{}});
    std::map<std::string, std::vector<inspection::UnitGroup>> groups;  // by network
    while (find.step()) {
      const std::string mid = find.text(0), layer = find.text(2), gate = find.text(3);
      const auto open = world_.models.find(mid);
      if (open == world_.models.end() || !open->second.session) continue;
      auto& own = groups[mid];
      if (own.empty() || own.back().layer != layer || own.back().gate != gate) {
        own.push_back({.name = fmt::format("{}", own.size()),
                       .layer = layer,
                       .gate = gate,
                       .behaviour = world_.behaviour});
        units_.push_back({.mid = mid, .uids = {}, .source = 0, .group = own.size() - 1});
      }
      own.back().units.push_back(find.integer(4));
      units_.back().uids.push_back(find.text(1));
    }
    for (auto& [mid, own] : groups) {
      for (Part& part : units_)
        if (part.mid == mid) part.source = sources_.size();
      sources_.emplace_back(world_.models.at(mid), std::move(own));
    }
  }

  void choose_hypotheses(const Choice& choice) {
    for (const auto& [source, annotator] : world_.hypotheses) {
      const auto& names = annotator->hypotheses();
      const bool wanted =
          !choice.h || std::ranges::any_of(names, [&](const inspection::Hypothesis& hypothesis) {
            return hypothesis.name == *choice.h;
          });
      if (wanted) hypotheses_.push_back(annotator.get());
    }
    if (choice.h) only_ = choice.h;
  }

  // Some more records of one data set.
  void fill() {
    check_interrupt();
    rows_.clear(), symbols_.clear(), values_.clear();
    place_ = 0;
    const std::size_t first = record_;
    const Dataset& dataset = *world_.datasets.at(records_[first].data);
    std::vector<std::size_t> places;
    while (record_ < records_.size() && records_[record_].data == records_[first].data &&
           places.size() < at_once_)
      places.push_back(records_[record_++].place);
    const Batch batch = dataset.read(places);
    read_symbols(batch);
    for (const Part& part : units_) extract(batch, part);
    ask_hypotheses(batch, dataset);
    at_once_ = std::clamp<std::size_t>(
        room_for_values * places.size() / std::max<std::size_t>(rows_.size(), 1), 1, most_records_at_once);
    for (Row& row : rows_) row.did = records_[first + static_cast<std::size_t>(row.did)].did;
    std::ranges::stable_sort(rows_, {}, [](const Row& row) { return row.did; });
  }

  void read_symbols(const Batch& batch) {
    const auto& vocabulary = world_.options.vocabulary;
    if (!vocabulary || batch.inputs.dtype() != DType::int64) return;
    per_record_ = batch.inputs.count() / batch.indices.size();
    for (const std::int64_t token : batch.inputs.as<std::int64_t>()) {
      const bool known = token >= 0 && static_cast<std::size_t>(token) < vocabulary->symbols.size();
      symbols_.push_back(known ? &vocabulary->symbols[token] : nullptr);
    }
  }

  const std::string* symbol(std::size_t record, std::size_t position, std::size_t positions) const {
    return !symbols_.empty() && positions == per_record_ ? symbols_[record * per_record_ + position]
                                                         : nullptr;
  }

  void extract(const Batch& batch, const Part& part) {
    const std::vector<std::size_t> group{part.group};
    values_.push_back(sources_[part.source].behaviours(batch, group).front());
    const Array& values = values_.back();
    const std::size_t positions = values.size(1), units = values.size(2);
    const float* from = values.elements<float>();
    for (std::size_t r = 0; r < batch.indices.size(); ++r) {
      for (std::size_t p = 0; p < positions; ++p) {
        for (std::size_t u = 0; u < units; ++u)
          rows_.push_back({.did = static_cast<std::int64_t>(r),
                           .position = static_cast<std::int64_t>(p),
                           .symbol = symbol(r, p, positions),
                           .mid = &part.mid,
                           .uid = &part.uids[u],
                           .value = from[(r * positions + p) * units + u]});
      }
    }
  }

  void ask_hypotheses(const Batch& batch, const Dataset& dataset) {
    if (hypotheses_.empty()) return;
    std::vector<inspection::RecordText> texts;
    if (world_.options.vocabulary && batch.inputs.dtype() == DType::int64)
      texts = inspection::texts_of(*world_.options.vocabulary, batch, dataset);
    for (const inspection::Annotator* annotator : hypotheses_) {
      const inspection::Behaviours behaviours = annotator->annotate({dataset, batch, texts});
      const auto& names = annotator->hypotheses();
      const std::size_t positions = element_count(behaviours.positions);
      for (std::size_t r = 0; r < batch.indices.size(); ++r) {
        for (std::size_t h = 0; h < names.size(); ++h) {
          if (only_ && names[h].name != *only_) continue;
          for (std::size_t p = 0; p < positions; ++p)
            rows_.push_back({.did = static_cast<std::int64_t>(r),
                             .position = static_cast<std::int64_t>(p),
                             .symbol = symbol(r, p, positions),
                             .h = &names[h].name,
                             .value = behaviours.values[(r * names.size() + h) * positions + p]});
        }
      }
    }
  }

  Database& database_;
  const OpenWorld& world_;
  std::vector<Record> records_;
  std::vector<Part> units_;
  std::vector<inspection::UnitSource> sources_;
  std::vector<const inspection::Annotator*> hypotheses_;
  std::optional<std::string> only_;
  std::size_t record_ = 0, at_once_ = 1, per_record_ = 0;
  std::vector<Array> values_;
  std::vector<const std::string*> symbols_;
  std::vector<Row> rows_;
  std::size_t place_ = 0;
  std::int64_t number_ = -1;
};

// SQLite's view of it
// ---------------------------------------------------------------------------------------------------------

struct Offer {
  Database* database;
  const OpenWorld* world;
};

struct BehaviourTable {
  sqlite3_vtab base;  // first, as SQLite wants it
  Offer offer;
};

struct BehaviourCursor {
  sqlite3_vtab_cursor base;
  std::optional<Walk> walk;
};

// Calls `act` for SQLite, which knows no exceptions.
template <typename Act>
int guarded(sqlite3_vtab* table, const Act& act) {
  try {
    act();
    return SQLITE_OK;
  } catch (const Error& error) {
    if (error.fault() == Fault::interrupted) return SQLITE_INTERRUPT;
    sqlite3_free(table->zErrMsg);
    table->zErrMsg = sqlite3_mprintf("behaviours: %s", error.what());
    return SQLITE_ERROR;
  } catch (const std::bad_alloc&) {
    return SQLITE_NOMEM;
  } catch (const std::exception& error) {
    sqlite3_free(table->zErrMsg);
    table->zErrMsg = sqlite3_mprintf("behaviours: %s", error.what());
    return SQLITE_ERROR;
  }
}

int connect(sqlite3* handle, void* data, int, const char* const*, sqlite3_vtab** table, char**) {
  const int code = sqlite3_declare_vtab(
      handle,
      "CREATE TABLE x(did INTEGER, position INTEGER, symbol TEXT, mid TEXT, uid TEXT, h TEXT, value REAL)");
  if (code != SQLITE_OK) return code;
  sqlite3_vtab_config(handle, SQLITE_VTAB_INNOCUOUS);
  *table = &(new BehaviourTable{{}, *static_cast<const Offer*>(data)})->base;
  return SQLITE_OK;
}

int disconnect(sqlite3_vtab* table) {
  delete reinterpret_cast<BehaviourTable*>(table);
  return SQLITE_OK;
}

// Conditions that choose what is computed are requested, as pairs of column and comparison in idxStr.
int best_index(sqlite3_vtab*, sqlite3_index_info* info) {
  std::string plan;
  double rows = 1e9;
  for (int i = 0; i < info->nConstraint; ++i) {
    const auto& constraint = info->aConstraint[i];
    const bool equal = constraint.op == SQLITE_INDEX_CONSTRAINT_EQ;
    const bool bound =
        constraint.op == SQLITE_INDEX_CONSTRAINT_GT || constraint.op == SQLITE_INDEX_CONSTRAINT_GE ||
        constraint.op == SQLITE_INDEX_CONSTRAINT_LT || constraint.op == SQLITE_INDEX_CONSTRAINT_LE;
    const bool names = constraint.iColumn == mid_column || constraint.iColumn == uid_column ||
                       constraint.iColumn == h_column;
    if (constraint.usable == 0 ||
        !((equal && names) || ((equal || bound) && constraint.iColumn == did_column)))
      continue;
    plan += fmt::format("{}/{};", constraint.iColumn, static_cast<int>(constraint.op));
    info->aConstraintUsage[i].argvIndex = static_cast<int>(std::ranges::count(plan, ';'));
    rows /= equal ? 300 : 3;
  }
  info->idxStr = sqlite3_mprintf("%s", plan.c_str());
  info->needToFreeIdxStr = 1;
  info->estimatedCost = rows;
  info->estimatedRows = static_cast<sqlite3_int64>(std::max(rows, 1.0));
  return info->idxStr == nullptr ? SQLITE_NOMEM : SQLITE_OK;
}

int open_cursor(sqlite3_vtab*, sqlite3_vtab_cursor** cursor) {
  *cursor = &(new BehaviourCursor{})->base;
  return SQLITE_OK;
}

int close_cursor(sqlite3_vtab_cursor* cursor) {
  delete reinterpret_cast<BehaviourCursor*>(cursor);
  return SQLITE_OK;
}

std::string text_of(sqlite3_value* value) {
  const auto* text = reinterpret_cast<const char*>(sqlite3_value_text(value));
  return text == nullptr ? "" : std::string(text, static_cast<std::size_t>(sqlite3_value_bytes(value)));
}

Choice choice_of(const char* plan, int count, sqlite3_value** values) {
  Choice choice;
  for (int i = 0; i < count; ++i) {
    int column = 0, op = 0, read = 0;
    if (std::sscanf(plan, "%d/%d;%n", &column, &op, &read) != 2) break;
    plan += read;
    const int type = sqlite3_value_type(values[i]);
    if (type == SQLITE_NULL) choice.nothing = true;
    if (column == mid_column) choice.mid = text_of(values[i]);
    if (column == uid_column) choice.uid = text_of(values[i]);
    if (column == h_column) choice.h = text_of(values[i]);
    // Other types are compared by SQLite alone.
    if (column == did_column && type == SQLITE_INTEGER)
      choice.dids.push_back({op, sqlite3_value_int64(values[i])});
  }
  return choice;
}

int filter(sqlite3_vtab_cursor* base, int, const char* plan, int count, sqlite3_value** values) {
  auto& cursor = *reinterpret_cast<BehaviourCursor*>(base);
  const auto& offer = reinterpret_cast<BehaviourTable*>(base->pVtab)->offer;
  return guarded(base->pVtab, [&] {
    cursor.walk.reset();
    cursor.walk.emplace(*offer.database, *offer.world, choice_of(plan, count, values));
  });
}

int next_row(sqlite3_vtab_cursor* base) {
  return guarded(base->pVtab, [&] { reinterpret_cast<BehaviourCursor*>(base)->walk->next(); });
}

int at_end(sqlite3_vtab_cursor* base) {
  const auto& walk = reinterpret_cast<BehaviourCursor*>(base)->walk;
  return !walk || walk->done() ? 1 : 0;
}

int column_value(sqlite3_vtab_cursor* base, sqlite3_context* context, int column) {
  const Row& row = reinterpret_cast<BehaviourCursor*>(base)->walk->row();
  const auto text = [&](const std::string* value) {
    if (value == nullptr)
      sqlite3_result_null(context);
    else
      sqlite3_result_text64(context, value->data(), value->size(), SQLITE_TRANSIENT, SQLITE_UTF8);
  };
  switch (column) {
    case did_column:
      sqlite3_result_int64(context, row.did);
      break;
    case position_column:
      sqlite3_result_int64(context, row.position);
      break;
    case symbol_column:
      text(row.symbol);
      break;
    case mid_column:
      text(row.mid);
      break;
    case uid_column:
      text(row.uid);
      break;
    case h_column:
      text(row.h);
      break;
    default:
      sqlite3_result_double(context, row.value);
  }
  return SQLITE_OK;
}

int row_number(sqlite3_vtab_cursor* base, sqlite3_int64* number) {
  *number = reinterpret_cast<BehaviourCursor*>(base)->walk->number();
  return SQLITE_OK;
}

}  // namespace

void offer_behaviours(Database& database, const OpenWorld& world) {
  static const sqlite3_module module = [] {
    sqlite3_module m{};
    m.xConnect = connect;
    m.xBestIndex = best_index;
    m.xDisconnect = disconnect;
    m.xDestroy = disconnect;
    m.xOpen = open_cursor;
    m.xClose = close_cursor;
    m.xFilter = filter;
    m.xNext = next_row;
    m.xEof = at_end;
    m.xColumn = column_value;
    m.xRowid = row_number;
    return m;
  }();
  const int code =
      sqlite3_create_module_v2(database.handle(), "behaviours", &module, new Offer{&database, &world},
                               [](void* offer) { delete static_cast<Offer*>(offer); });
  if (code != SQLITE_OK) database.fail_with(code, "");
}

}  // namespace assay::workbench
