#pragma once

// The result document: the one structure that every command produces. JSON is its faithful form; console tables
// and all other outputs are renderings of it, one file each.

#include <cstdint>
#include <filesystem>
#include <ostream>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace assay {

// Empty, text, integer, number, truth value. Numbers carry their own display precision in the column.
using Cell = std::variant<std::monostate, std::string, std::int64_t, double, bool>;

struct Column {
  std::string id;              // JSON key, stable: "output_shape"
  std::string title;           // heading for people: "output shape"
  enum class Kind { text, count, number, percent } kind = Kind::text;  // percent: a fraction in [0, 1], shown in %
  int decimals = 2;
};

struct Table {
  std::string id, title;
  std::vector<Column> columns;
  std::vector<std::vector<Cell>> rows;   // each as long as `columns`
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

struct Definition {             // the exact meaning of a number in this document
  std::string term, text, source;
};

struct Document {
  std::string command;          // "cover"
  std::string headline;         // one line that answers the question
  std::vector<Fact> facts;
  std::vector<Table> tables;
  std::vector<Picture> pictures;
  std::vector<std::string> notices;
  std::vector<Definition> definitions;
  // What the answer rests on: model and data hashes, options, seed, versions, times. Key and value.
  std::vector<std::pair<std::string, Cell>> provenance;
};

inline constexpr int document_schema_version = 1;

// A fraction as text: "99.99 %". Cut, not rounded, so that nothing below all of it shows as 100 %.
std::string percent(double fraction, int decimals = 2);

// Renderers.
std::string to_json(const Document& document);                     // docs/schema/result.schema.json
struct ConsoleStyle {
  bool colour = false;    // ANSI colours and box drawing; off in a pipe
  int width = 100;
};
void print(const Document& document, std::ostream& out, const ConsoleStyle& style);

}  // namespace assay
