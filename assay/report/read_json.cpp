#include <array>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>

#include <assay/error.h>
#include <assay/report.h>
#include "assay/support/files/format_version.h"
#include "assay/support/memory.h"
#include "assay/support/text/text.h"

namespace assay::report {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t largest_document = std::size_t{256} << 20;
constexpr std::size_t deepest_nesting = 8;                                // six are used
constexpr std::uint64_t bytes_of_value = 64, most_looks = 2'000'000'000;  // some seconds

class Reader {
 public:
  explicit Reader(std::string_view name) : name_(name) {}

  Document read(std::string_view text) const {
    if (text.size() > largest_document) refuse("it is larger than 256 MiB");
    check_size(text);
    const Json json = Json::parse(text, nullptr, false);
    if (json.is_discarded()) refuse("it is not JSON");
    if (!json.is_object() || json.value("schema", Json()) != "assay/result")
      refuse("it does not say \"schema\": \"assay/result\"");
    if (const std::string fault = other_format(json.value("version", Json()), document_schema_version);
        !fault.empty())
      fail(Fault::data, "{}: the result document cannot be used: {}", name_, fault);
    only(json,
         {"schema", "version", "command", "headline", "facts", "fact_columns", "tables", "gates", "warnings",
          "pictures", "notices", "definitions", "provenance"},
         "document");
    Document document;
    document.command = text_at(json, "command");
    document.headline = text_at(json, "headline");
    read_facts(json, document);
    for (const auto& [id, table] : object_at(json, "tables").items())
      document.tables.push_back(read_table(id, table));
    for (const Json& gate : array_at(json, "gates")) document.gates.push_back(read_gate(gate));
    // Documents of earlier programs have none.
    for (const Json& w : json.contains("warnings") ? array_at(json, "warnings") : Json::array()) {
      only(w, {"id", "text", "cause"}, "warning");
      document.warnings.push_back({text_at(w, "id"), text_at(w, "text"), text_at(w, "cause")});
    }
    for (const Json& picture : array_at(json, "pictures")) {
      only(picture, {"title", "path"}, "picture");
      document.pictures.push_back({text_at(picture, "title"), text_at(picture, "path")});
    }
    for (const Json& notice : array_at(json, "notices")) {
      if (!notice.is_string()) refuse("a notice is not a text");
      document.notices.push_back(notice.get<std::string>());
    }
    for (const Json& d : array_at(json, "definitions")) {
      only(d, {"term", "text", "source"}, "definition");
      document.definitions.push_back({text_at(d, "term"), text_at(d, "text"), text_at(d, "source")});
    }
    for (const auto& [key, value] : object_at(json, "provenance").items()) {
      document.provenance.emplace_back(key, read_cell(value, Column::Kind::text));
    }
    return document;
  }

 private:
  [[noreturn]] void refuse(const std::string& fault) const {
    fail(Fault::data, "{}: not a result document of this version: {}; write {}", name_, fault,
         About{"a new one", "one with {json}"});
  }

  // Before anything is built from the text. An object looks through its keys for each new one.
  void check_size(std::string_view text) const {
    std::size_t depth = 0;
    bool quoted = false;
    std::uint64_t values = 0, looks = 0;
    std::array<std::uint64_t, deepest_nesting + 1> keys{};
    for (std::size_t i = 0; i < text.size(); ++i) {
      const char c = text[i];
      if (quoted) {
        if (c == '\\') ++i;
        quoted = c != '"';
      } else if (c == '"') {
        quoted = true;
      } else if (c == '{' || c == '[') {
        if (++depth > deepest_nesting) refuse("it is nested too deeply");
        keys[depth] = 0;
        ++values;
      } else if (c == '}' || c == ']') {
        depth -= depth > 0 ? 1 : 0;
      } else if (c == ',') {
        ++values;
      } else if (c == ':') {
        looks += keys[depth]++;
        if (looks > most_looks) refuse("its objects have too many keys");
      }
    }
    require_memory(text.size() + values * bytes_of_value, name_);
  }

  void only(const Json& object, const std::vector<std::string>& keys, std::string_view what) const {
    if (!object.is_object()) refuse(fmt::format("a {} is not an object", what));
    const std::set<std::string> known(keys.begin(), keys.end());
    for (const auto& [key, value] : object.items()) {
      if (known.count(key) == 0)
        refuse(fmt::format("a {} has the unknown key '{:.80}'{}", what, key,
                           did_you_mean(key.substr(0, 80), keys)));
    }
  }

  const Json& at(const Json& object, const char* key) const {
    if (!object.is_object() || !object.contains(key)) refuse(fmt::format("'{}' is missing", key));
    return object.at(key);
  }
  const Json& object_at(const Json& object, const char* key) const {
    const Json& found = at(object, key);
    if (!found.is_object()) refuse(fmt::format("'{}' is not an object", key));
    return found;
  }
  const Json& array_at(const Json& object, const char* key) const {
    const Json& found = at(object, key);
    if (!found.is_array()) refuse(fmt::format("'{}' is not a list", key));
    return found;
  }
  std::string text_at(const Json& object, const char* key) const {
    const Json& found = at(object, key);
    if (!found.is_string()) refuse(fmt::format("'{}' is not a text", key));
    return found.get<std::string>();
  }

  // Of what documents of earlier programs may leave out: false.
  bool truth_at(const Json& object, const char* key) const {
    if (!object.contains(key)) return false;
    if (!object.at(key).is_boolean()) refuse(fmt::format("'{}' is neither true nor false", key));
    return object.at(key).get<bool>();
  }

  int decimals_at(const Json& object) const {
    const Json& found = at(object, "decimals");
    if (!found.is_number_integer() || found < 0 || found > 30) refuse("'decimals' is not between 0 and 30");
    return found.get<int>();
  }

  Column::Kind kind_at(const Json& object) const {
    const std::string kind = text_at(object, "kind");
    if (kind == "text") return Column::Kind::text;
    if (kind == "count") return Column::Kind::count;
    if (kind == "number") return Column::Kind::number;
    if (kind == "fraction") return Column::Kind::percent;
    refuse(fmt::format("there is no kind '{:.40}'", kind));
  }

  // Non-finite numbers are written as text.
  Cell read_cell(const Json& json, Column::Kind kind) const {
    if (json.is_null()) return std::monostate{};
    if (json.is_boolean()) return json.get<bool>();
    if (json.is_number_float()) return json.get<double>();
    if (json.is_number_integer()) {
      if (json.is_number_unsigned() &&
          json.get<std::uint64_t>() > std::uint64_t{std::numeric_limits<std::int64_t>::max()}) {
        refuse("an integer exceeds 64 bits");
      }
      return json.get<std::int64_t>();
    }
    if (!json.is_string()) refuse("a cell is neither text, number, truth value nor null");
    const std::string text = json.get<std::string>();
    if (kind != Column::Kind::text) {
      if (text == "NaN") return std::nan("");
      if (text == "Infinity") return std::numeric_limits<double>::infinity();
      if (text == "-Infinity") return -std::numeric_limits<double>::infinity();
    }
    return text;
  }

  void read_facts(const Json& json, Document& document) const {
    const Json& facts = object_at(json, "facts");
    const Json& columns = object_at(json, "fact_columns");
    if (facts.size() != columns.size()) refuse("'facts' and 'fact_columns' differ in their keys");
    auto column = columns.begin();
    for (const auto& [id, value] : facts.items()) {
      if (column.key() != id) refuse("'facts' and 'fact_columns' differ in their keys");
      only(*column, {"title", "kind", "decimals"}, "fact");
      const Column::Kind kind = kind_at(*column);
      document.facts.push_back(
          {id, text_at(*column, "title"), read_cell(value, kind), kind, decimals_at(*column)});
      ++column;
    }
  }

  Table read_table(const std::string& id, const Json& json) const {
    only(json, {"title", "detail", "columns", "rows"}, "table");
    Table table{id, text_at(json, "title"), {}, {}, truth_at(json, "detail")};
    std::set<std::string> ids;
    for (const Json& column : array_at(json, "columns")) {
      only(column, {"id", "title", "kind", "decimals"}, "column");
      table.columns.push_back(
          {text_at(column, "id"), text_at(column, "title"), kind_at(column), decimals_at(column)});
      if (!ids.insert(table.columns.back().id).second)
        refuse(fmt::format("table '{:.80}' has a column twice", id));
    }
    for (const Json& row : array_at(json, "rows")) {
      if (!row.is_object() || row.size() != table.columns.size())
        refuse(fmt::format("a row of table '{:.80}' does not fit its columns", id));
      auto& cells = table.rows.emplace_back();
      auto cell = row.begin();
      for (const Column& column : table.columns) {
        if (cell.key() != column.id)
          refuse(fmt::format("a row of table '{:.80}' does not fit its columns", id));
        cells.push_back(read_cell(*cell, column.kind));
        ++cell;
      }
    }
    return table;
  }

  Gate read_gate(const Json& json) const {
    only(json,
         {"text", "passed", "reason", "criterion", "layer", "class", "context", "relation", "threshold",
          "covered", "coverable", "value"},
         "gate");
    Gate gate;
    gate.text = text_at(json, "text");
    gate.criterion = text_at(json, "criterion");
    gate.layer = text_at(json, "layer");
    gate.class_name = text_at(json, "class");
    gate.context = text_at(json, "context");
    gate.relation = text_at(json, "relation");
    gate.threshold = text_at(json, "threshold");
    gate.covered = text_at(json, "covered");
    gate.coverable = text_at(json, "coverable");
    gate.reason = text_at(json, "reason");
    if (!at(json, "passed").is_boolean()) refuse("'passed' is neither true nor false");
    gate.passed = json.at("passed").get<bool>();
    const Json& value = at(json, "value");
    if (!value.is_null() && !value.is_number()) refuse("'value' is not a number");
    if (value.is_number()) gate.value = value.get<double>();
    return gate;
  }

  std::string_view name_;
};

}  // namespace

Document read_document(std::string_view text, std::string_view name) { return Reader(name).read(text); }

}  // namespace assay::report
