#include "assay/workbench/query/relations.h"

#include <algorithm>
#include <numeric>

#include <assay/error.h>
#include "assay/engine/layers/unit_views.h"
#include "assay/inspection/units/gates.h"
#include "assay/inspection/units/unit_source.h"
#include "assay/support/text/text.h"
#include "assay/workbench/query/sql_text.h"

namespace assay::workbench {
namespace {

constexpr std::size_t records_at_once = 1024;

const char* const definitions = R"(
CREATE TABLE models(mid TEXT PRIMARY KEY, epoch, path TEXT, hash TEXT, parameters INTEGER);
CREATE TABLE layers(mid TEXT, layer TEXT, layer_index INTEGER, op TEXT, units INTEGER, parameters INTEGER,
  PRIMARY KEY(mid, layer_index));
CREATE TABLE units(mid TEXT, uid TEXT, layer TEXT, layer_index INTEGER, gate TEXT, unit INTEGER,
  head INTEGER, position INTEGER, PRIMARY KEY(mid, uid));
CREATE TABLE gate_units(mid TEXT, uid TEXT, layer TEXT, layer_index INTEGER, gate TEXT, unit INTEGER,
  head INTEGER, position INTEGER, PRIMARY KEY(mid, uid));
CREATE TABLE datasets(data TEXT PRIMARY KEY, description TEXT, hash TEXT, records INTEGER);
CREATE TABLE inputs(did INTEGER PRIMARY KEY, data TEXT, record INTEGER, id TEXT, label INTEGER, class TEXT, seq TEXT);
CREATE UNIQUE INDEX inputs_by_record ON inputs(data, record);
CREATE VIEW records AS SELECT * FROM inputs;
CREATE TABLE hypotheses(h TEXT PRIMARY KEY, name TEXT, kind TEXT, classes TEXT, source TEXT, version TEXT);
CREATE TABLE inspections(inspection INTEGER PRIMARY KEY, key TEXT, query TEXT, data TEXT, records INTEGER,
  records_read INTEGER, rows_seen INTEGER);
CREATE TABLE scores(inspection INTEGER, mid TEXT, uid TEXT, hid TEXT, measure TEXT, unit_score REAL, group_score REAL,
  ci_low REAL, ci_high REAL, p REAL, q REAL, n_rows INTEGER, converged INTEGER, status TEXT, unit_group, layer TEXT,
  layer_index INTEGER, gate TEXT, unit INTEGER, group_ci_low REAL, group_ci_high REAL, group_p REAL,
  group_n_rows INTEGER, group_converged INTEGER, group_status TEXT);
CREATE INDEX scores_by_inspection ON scores(inspection);
CREATE TABLE documents(document TEXT PRIMARY KEY, command TEXT, headline TEXT);
CREATE TABLE document_tables(document TEXT, relation TEXT, title TEXT, rows INTEGER);
CREATE TABLE facts(document TEXT, id TEXT, title TEXT, value);
CREATE TABLE gates(document TEXT, gate TEXT, value REAL, covered TEXT, coverable TEXT, passed INTEGER, reason TEXT);
CREATE TABLE notices(document TEXT, notice TEXT);
CREATE TABLE definitions(document TEXT, term TEXT, definition TEXT, source TEXT);
CREATE TABLE provenance(document TEXT, key TEXT, value);
CREATE TABLE assay_views(name TEXT PRIMARY KEY, query TEXT);
)";

// What Assay writes to is a table; a view of that name would read what somebody else has chosen.
void require_tables(Database& database, const std::set<std::string>& own) {
  Statement views(database, "SELECT name FROM sqlite_master WHERE type = 'view' AND name <> 'records'");
  while (views.step()) {
    if (std::ranges::any_of(own, [&](const std::string& name) { return same_name(name, views.text(0)); }))
      fail(Fault::data, "{}: '{}' is a view, which Assay does not make", database.path().string(),
           views.text(0));
  }
}

Cell empty_or(const std::string& text) { return text.empty() ? Cell{} : Cell{text}; }

// Refuses to take one thing for another of the same name.
void require_same(Database& database, const std::string& query, const std::string& name,
                  const std::string& hash, std::string_view what, std::string_view remedy) {
  Statement known(database, query);
  known.bind({name});
  if (known.step() && known.text(0) != hash)
    fail(Fault::mismatch, "{} '{}' is another one in {} (hash {}, here {}); {}", what, name,
         database.path().empty() ? "the database" : database.path().string(), known.text(0), hash, remedy);
}

void add_attribute_column(Database& database, const std::string& name) {
  const std::vector<std::string> columns = database.columns_of("SELECT * FROM models");
  if (std::ranges::any_of(columns, [&](const std::string& column) { return same_name(column, name); }))
    return;
  database.run("ALTER TABLE models ADD COLUMN " + quoted_name(name));
}

void put_layer(Database& database, const ModelFacts& model, std::size_t index) {
  const LayerFacts& layer = model.layers[index];
  const auto number = static_cast<std::int64_t>(index);
  Statement(database, "INSERT INTO layers VALUES (?,?,?,?,?,?)")
      .run({model.name, layer.name, number, layer.op, layer.neurons, layer.parameters});
  Statement unit(database, "INSERT INTO units VALUES (?,?,?,?,'',?,?,?)");
  Statement gate_unit(database, "INSERT INTO gate_units VALUES (?,?,?,?,?,?,NULL,NULL)");
  const Cell position = layer.position ? Cell{*layer.position} : Cell{};
  for (std::int64_t i = 0; i < layer.neurons; ++i) {
    unit.run({model.name, fmt::format("{}:{}", layer.name, i), layer.name, number, i,
              layer.heads ? Cell{i} : Cell{}, position});
    for (const std::string& gate : layer.gates)
      gate_unit.run({model.name, fmt::format("{}/{}:{}", layer.name, gate, i), layer.name, number, gate, i});
  }
}

std::int64_t first_did(Database& database, const std::string& name) {
  Statement known(database, "SELECT min(did) FROM inputs WHERE data = ?1 HAVING min(did) IS NOT NULL");
  known.bind({name});
  if (known.step()) return known.integer(0);
  Statement next(database, "SELECT coalesce(max(did) + 1, 0) FROM inputs");
  next.step();
  return next.integer(0);
}

std::string kind_name(inspection::BehaviourKind kind) {
  switch (kind) {
    case inspection::BehaviourKind::binary:
      return "binary";
    case inspection::BehaviourKind::categorical:
      return "categorical";
    case inspection::BehaviourKind::numeric:
      return "numeric";
  }
  return "";
}

}  // namespace

std::vector<LayerFacts> layers_of(const std::shared_ptr<const Session>& session) {
  std::vector<LayerFacts> layers;
  for (const Layer& layer : session->layers()) {
    LayerFacts facts{.name = layer.name,
                     .op = layer.op,
                     .neurons = layer.neurons,
                     .parameters = layer.parameters,
                     .heads = shows_heads(session->graph(), layer),
                     .position = viewed_position(session->graph(), layer)};
    if (layer.kind == OperatorKind::recurrent) {
      facts.gates = inspection::gate_names(session->graph().node(layer.node).op);
      // Both directions of all steps, even those that the graph does not use.
      const inspection::UnitSource source({"", session}, {{.name = layer.name, .layer = layer.name}});
      facts.neurons = source.map(0).units.size();
    }
    layers.push_back(std::move(facts));
  }
  return layers;
}

void make_relations(Database& database) {
  if (!database.exists("models")) {
    Transaction transaction(database);
    if (!database.exists("models")) database.run(definitions);  // another process may have been quicker
    transaction.commit();
  }
  std::set<std::string> own{"models",     "layers",          "units",      "gate_units", "datasets",
                            "inputs",     "records",         "scores",     "hypotheses", "inspections",
                            "documents",  "facts",           "gates",      "notices",    "definitions",
                            "provenance", "document_tables", "behaviours", "assay_views"};
  Statement tables(database, "SELECT DISTINCT relation FROM document_tables");
  while (tables.step()) own.insert(tables.text(0));
  require_tables(database, own);
  database.keep_from_users(std::move(own));
}

void put_model(Database& database, const ModelFacts& model) {
  Transaction transaction(database);
  require_same(database, "SELECT hash FROM models WHERE mid = ?1", model.name, model.hash, "model",
               "give this network another name");
  std::int64_t parameters = 0;
  for (const LayerFacts& layer : model.layers) parameters += layer.parameters;
  std::string columns = "mid, path, hash, parameters", places = "?, ?, ?, ?", updates;
  std::vector<Cell> values{model.name, empty_or(model.path), model.hash, parameters};
  for (const auto& [name, value] : model.attributes) {
    for (const std::string_view taken : {"mid", "path", "hash", "parameters", "rowid"}) {
      if (same_name(name, taken))
        fail(Fault::usage, "model '{}': '{}' cannot be an attribute, because every model has it already",
             model.name, name);
    }
    add_attribute_column(database, name);
    columns += ", " + quoted_name(name);
    places += ", ?";
    updates += ", " + quoted_name(name) + " = excluded." + quoted_name(name);
    values.push_back(value);
  }
  Statement(database, fmt::format("INSERT INTO models({}) VALUES ({}) ON CONFLICT(mid) DO UPDATE SET path = "
                                  "excluded.path{}",
                                  columns, places, updates))
      .run(values);
  for (const std::string relation : {"layers", "units", "gate_units"})
    Statement(database, "DELETE FROM " + relation + " WHERE mid = ?").run({model.name});
  for (std::size_t i = 0; i < model.layers.size(); ++i) put_layer(database, model, i);
  transaction.commit();
}

std::string text_of_tokens(std::span<const std::int64_t> tokens, const inspection::Vocabulary& vocabulary) {
  std::string text;
  for (const std::int64_t token : tokens) {
    if (token == vocabulary.padding) continue;
    if (token >= 0 && static_cast<std::size_t>(token) < vocabulary.symbols.size())
      text += vocabulary.symbols[token];
  }
  return text;
}

void put_records(Database& database, const std::string& name, const Dataset& records,
                 const std::optional<inspection::Vocabulary>& vocabulary) {
  Transaction transaction(database);
  require_same(database, "SELECT hash FROM datasets WHERE data = ?1", name, records.hash(), "data set",
               "give these records another name");
  const std::int64_t first = first_did(database, name);
  Statement(database, "INSERT OR REPLACE INTO datasets VALUES (?,?,?,?)")
      .run({name, records.describe(), records.hash(), report::count_cell(records.size())});
  Statement insert(database, "INSERT OR REPLACE INTO inputs VALUES (?,?,?,?,?,?,?)");
  const bool is_text = vocabulary && records.dtype() == DType::int64;
  for (std::size_t begin = 0; begin < records.size(); begin += records_at_once) {
    std::vector<std::size_t> block(std::min(records_at_once, records.size() - begin));
    std::iota(block.begin(), block.end(), begin);
    const Array tokens = is_text ? records.read(block).inputs : Array();
    const std::size_t symbols = is_text ? tokens.count() / block.size() : 0;
    for (std::size_t i = 0; i < block.size(); ++i) {
      const std::int64_t number = block[i];
      Cell label, class_name, text;
      if (records.has_labels()) {
        const std::int64_t known = records.label(block[i]);
        label = known;
        if (known >= 0 && static_cast<std::size_t>(known) < records.class_names().size())
          class_name = records.class_names()[known];
      }
      if (is_text)
        text = text_of_tokens(tokens.as<std::int64_t>().subspan(i * symbols, symbols), *vocabulary);
      insert.run({first + number, name, number, records.id(block[i]), label, class_name, text});
    }
  }
  transaction.commit();
}

void put_hypotheses(Database& database, const std::string& source, const inspection::Annotator& annotator) {
  Transaction transaction(database);
  Statement known(database, "SELECT source FROM hypotheses WHERE h = ?1");
  Statement insert(database,
                   "INSERT INTO hypotheses VALUES (?1,?1,?2,?3,?4,?5) ON CONFLICT(h) DO UPDATE SET kind = "
                   "excluded.kind, classes = excluded.classes, version = excluded.version");
  for (const inspection::Hypothesis& hypothesis : annotator.hypotheses()) {
    known.bind({hypothesis.name});
    if (known.step() && known.text(0) != source)
      fail(Fault::usage, "'{}' and '{}' both have a hypothesis called '{}'; leave one out or rename it",
           known.text(0), source, hypothesis.name);
    insert.run({hypothesis.name, kind_name(hypothesis.kind), empty_or(joined(hypothesis.classes)), source,
                annotator.version()});
  }
  transaction.commit();
}

}  // namespace assay::workbench
