#pragma once

// Texts that other programs read: every way to write a result document. Adding one: a file in assay/report/, a line in
// renderer.cpp.

#include <span>
#include <string>
#include <string_view>

#include "assay/report/document.h"

namespace assay {

struct Renderer {
  std::string_view name;        // "junit", also the flag that asks for it
  std::string_view extension;   // ".xml"
  std::string_view summary;     // one line for --help
  std::string (*render)(const Document& document);
};

std::span<const Renderer> renderers();

// RFC 4180. Numbers in full precision, fractions in [0, 1], nothing for empty cells. A document with one table and no
// gates gives that table; else each table is a section: a line with its id, the table, an empty line.
std::string to_csv(const Document& document);
std::string to_csv(const Table& table);
// A comment for a pull request: headline, gates, facts, and the tables folded, each cut after 50 rows.
std::string to_markdown(const Document& document);
// JUnit XML: a test case per gate, or without gates per row of the table "criteria".
std::string to_junit(const Document& document);
// The report schema of mutation-testing-elements, version 2: layers as files, the rows of the table "mutants" as mutants.
std::string to_elements(const Document& document);
// SARIF 2.1.0: an error per failed gate, a rule per criterion.
std::string to_sarif(const Document& document);

}  // namespace assay
