#pragma once

// The result document: the structure that every analysis returns. JSON is its complete form; console tables
// and all other outputs are renderings of it.

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <ostream>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <assay/extend/catalogue.h>
#include <assay/message.h>

namespace assay::report {

// Empty, text, integer, number, truth value. Numbers carry their own display precision in the column.
using Cell = std::variant<std::monostate, std::string, std::int64_t, double, bool>;
// A count as a cell.
inline Cell count_cell(std::uint64_t count) { return static_cast<std::int64_t>(count); }

struct Column {
  std::string id;     // JSON key, stable: "output_shape"
  std::string title;  // heading for people: "output shape"
  enum class Kind {
    text,
    count,
    number,
    percent
  } kind = Kind::text;  // percent: a fraction in [0, 1], shown in %
  int decimals = 2;
};

struct Table {
  std::string id, title;
  std::vector<Column> columns;
  std::vector<std::vector<Cell>> rows;  // each as long as `columns`
  bool detail = false;                  // for files and the report, too long for a console
};

struct Fact {
  std::string id, title;
  Cell value;
  Column::Kind kind = Column::Kind::text;
  int decimals = 2;
};

struct Picture {
  std::string title;
  std::filesystem::path path;
};

struct Definition {  // the exact meaning of a number in this document
  std::string term, text, source;
};

// A condition on a measured number and its outcome (assay/gate.h).
struct Gate {
  std::string text;                                   // as it was written: "kmnc[layer=conv2]=0.6"
  std::string criterion, layer, class_name, context;  // what it asks about; empty: not asked
  std::string relation = ">=";                        // ">=" or "<="
  std::string threshold;           // exact decimal "0.6", or a fraction of exact counts "3/7"
  std::string covered, coverable;  // exact counts measured; empty for measures that are not counts
  std::optional<double> value;     // measured; nothing when there is no such number
  bool passed = false;             // fail closed: what could not be evaluated has not passed
  std::string reason;              // why it could not be evaluated, or what to know about the outcome
};

// A reason to doubt figures, and its likely cause.
struct Warning {
  std::string id;  // stable: "same-data"
  Message text;    // one sentence with the figures
  Message cause;   // the likely cause and the remedy; may be empty
};

struct Document {
  std::string command;   // "cover"
  std::string headline;  // one line that answers the question
  std::vector<Fact> facts;
  std::vector<Table> tables;
  std::vector<Gate> gates;
  std::vector<Warning> warnings;
  std::vector<Picture> pictures;
  std::vector<Message> notices;
  std::vector<Definition> definitions;
  // Provenance: model and data hashes, options, seed, versions, times. Key and value.
  std::vector<std::pair<std::string, Cell>> provenance;
};

inline constexpr int document_schema_version = 1;

// A fraction as text: "99.99 %". Cut, not rounded, so that only all of it shows as 100 %.
std::string percent(double fraction, int decimals = 2);

// A cell as people read it: counts in groups of three, fractions as percentages, "-" for nothing.
std::string shown(const Cell& cell, Column::Kind kind, int decimals);

std::string to_json(const Document& document);  // docs/schema/result.schema.json
// The inverse: to_json(read_document(text)) == text for every text that to_json gave. Throws Error{data} for
// anything that is not a result document of this version, is nested too deeply or is larger than 256 MiB.
// `name`: for messages.
Document read_document(std::string_view text, std::string_view name = "result document");
struct ConsoleStyle {
  bool colour = false;  // ANSI colours and box drawing; off in a pipe
  int width = 100;
  bool details = false;  // tables of detail as well, and what the result rests on
};
void print(const Document& document, std::ostream& out, const ConsoleStyle& style);

// One self-contained page that shows the documents; opens from disk and makes no network requests
// (docs/report.md).
std::string to_html(std::span<const Document> documents);
std::string to_html(const Document& document);

struct Renderer {
  std::string name;                                             // "junit", also the flag that asks for it
  std::string extension;                                        // ".xml"; empty: a folder of files
  std::string summary;                                          // one line for --help
  std::function<std::string(const Document& document)> render;  // of one file
  // Files of a folder, by name; instead of `render`.
  std::function<std::vector<std::pair<std::string, std::string>>(const Document& document)> render_files = {};
  std::string table = {};  // the one, by id, of which it tells; empty: all of the document
  bool tells_of(const Document& document) const;
};

Catalogue<Renderer>& renderers();

// RFC 4180. Numbers in full precision, fractions in [0, 1], nothing for empty cells.
std::string to_csv(const Table& table);
// One file for each table, named after its id ("criteria.csv"), and facts, gates and warnings where there are
// any.
std::vector<std::pair<std::string, std::string>> to_csv_files(const Document& document);
// A comment for a pull request: headline, gates, facts, and the tables folded, each cut after 50 rows.
std::string to_markdown(const Document& document);
// JUnit XML: a test case per gate, or without gates per row of the table "criteria".
std::string to_junit(const Document& document);
// The report schema of mutation-testing-elements, version 2: layers as files, the rows of the table "mutants"
// as mutants.
std::string to_elements(const Document& document);
// SARIF 2.1.0: an error per failed gate, a warning per warning, a rule per criterion. What they are about is
// the file of the network, or of the data where there is none (provenance "model_file", "data_file").
std::string to_sarif(const Document& document);

}  // namespace assay::report
