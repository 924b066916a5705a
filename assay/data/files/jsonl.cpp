// JSON lines: an object a line, whose members are the columns of a table.

#include <algorithm>
#include <nlohmann/json.hpp>

#include <assay/error.h>
#include <assay/extend/data_format.h>
#include "assay/data/bytes.h"
#include "assay/data/files/table.h"
#include "assay/support/memory.h"
#include "assay/support/text/characters.h"
#include "assay/support/text/nesting.h"
#include "assay/support/text/parse.h"

namespace assay::inline data {
namespace {

using Json = nlohmann::ordered_json;

std::string cell_of(const Json& value) {
  return value.is_string() ? value.get<std::string>() : value.is_null() ? "" : value.dump();
}

Json object_of(const std::string& line, const std::string& where) {
  if (nesting_of_json(line) > most_nested)
    fail(Fault::data, "{}: JSON nested deeper than {} levels", where, most_nested);
  if (!character_codes(line)) fail(Fault::data, "{}: this line is not UTF-8; write the file in UTF-8", where);
  try {
    Json object = Json::parse(line);
    if (object.is_object()) return object;
  } catch (const Json::exception&) {
  }
  fail(Fault::data, "{}: this line is not a JSON object", where);
}

// The members of the first line are the columns, in their order; lines may leave out what is empty.
CsvTable read_json_lines(const std::string& path) {
  CsvTable table;
  table.path = path;
  const std::string contents = read_maybe_gzipped(path);
  require_memory(3 * contents.size(), path);
  std::size_t number = 0;
  for (const std::string& line : parts_of(contents, "\n")) {
    ++number;
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    const std::string where = fmt::format("{}:{}", path, number);
    const Json object = object_of(line, where);
    if (table.rows.empty()) {
      for (const auto& [name, value] : object.items()) table.header.push_back(name);
    }
    std::vector<std::string> row(table.header.size());
    for (const auto& [name, value] : object.items()) {
      const auto column = std::ranges::find(table.header, name);
      if (column == table.header.end())
        fail(Fault::data, "{}: '{}' is not a member of the first line", where, name);
      row[column - table.header.begin()] = cell_of(value);
    }
    table.rows.push_back(std::move(row));
  }
  if (table.rows.empty() || table.header.empty()) fail(Fault::data, "{}: there are no records", path);
  return table;
}

bool is_json_lines(std::string_view name) { return name.ends_with(".jsonl") || name.ends_with(".jsonl.gz"); }

}  // namespace

FormatInfo jsonl_format() {
  return {"jsonl", "JSON lines, read as a table of their members", options_of_tables(),
          [](const std::filesystem::path& path, std::string_view) { return is_json_lines(path.string()); },
          [](const DataSpec& spec) { return table_source(read_json_lines(spec.path), spec); }};
}

}  // namespace assay::inline data
