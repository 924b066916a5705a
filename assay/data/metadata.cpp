#include "assay/data/metadata.h"

#include <algorithm>
#include <set>

#include <nlohmann/json.hpp>

#include <assay/error.h>
#include "assay/data/characteristics.h"
#include "assay/data/name_index.h"
#include "assay/data/table_rows.h"
#include "assay/support/files/file.h"
#include "assay/support/text/nesting.h"
#include "assay/support/text/parse.h"
#include "assay/support/text/text.h"

namespace assay::inline data {
namespace {

constexpr std::uint64_t most_metadata_bytes = std::uint64_t{2} << 30;

// Polygons take most of COCO's files, and are deeper than what describes pictures.
bool is_wanted_of_coco(int depth, nlohmann::json::parse_event_t event, nlohmann::json& value) {
  static const std::set<std::string> passed = {"annotations", "categories", "segmentation"};
  constexpr int most_deep = 8;
  if (event == nlohmann::json::parse_event_t::key)
    return !passed.contains(value.get_ref<const std::string&>());
  return depth < most_deep;
}

std::vector<nlohmann::json> json_lines(const std::string& text, const std::filesystem::path& file) {
  std::vector<nlohmann::json> objects;
  for (const std::string& line : parts_of(text, "\n")) {
    if (nesting_of_json(line) > most_nested)
      fail(Fault::data, "{}: JSON nested deeper than {} levels", file.string(), most_nested);
    if (line.find_first_not_of(" \t\r") != std::string::npos) objects.push_back(nlohmann::json::parse(line));
  }
  return objects;
}

std::vector<nlohmann::json> objects_in(const std::filesystem::path& file) {
  std::vector<nlohmann::json> objects;
  try {
    const std::string text = read_file(file, most_metadata_bytes);
    if (file.extension() == ".jsonl") {
      objects = json_lines(text, file);
    } else {
      nlohmann::json root = nlohmann::json::parse(text, is_wanted_of_coco);
      if (root.is_object() && root.contains("images")) root = nlohmann::json(root["images"]);
      objects = root.get<std::vector<nlohmann::json>>();
    }
  } catch (const nlohmann::json::exception& error) {
    fail(Fault::data, "{}: this is neither an object a line (.jsonl), nor a list of objects, nor COCO's: {}",
         file.string(), error.what());
  }
  for (std::size_t i = 0; i < objects.size(); ++i)
    if (!objects[i].is_object()) fail(Fault::data, "{}: entry {} is not an object", file.string(), i);
  return objects;
}

std::string text_of_field(const nlohmann::json& object, const std::string& name) {
  const auto field = object.find(name);
  if (field == object.end() || field->is_null()) return {};
  return field->is_string() ? field->get<std::string>() : field->dump();
}

std::string name_of_object(const nlohmann::json& object, const std::string& id_field,
                           const std::string& where) {
  if (!id_field.empty()) return text_of_field(object, id_field);
  // COCO's numbers of pictures are not their names.
  for (const char* const usual : {"file_name", "id", "name", "image", "path"}) {
    if (object.contains(usual)) return text_of_field(object, usual);
  }
  fail(Fault::data, "{}: there is none of file_name, id, name, image and path; say id=FIELD", where);
}

std::vector<std::string> field_names_of(const std::vector<nlohmann::json>& objects) {
  std::set<std::string> names;
  for (const nlohmann::json& object : objects)
    for (const auto& [name, value] : object.items()) names.insert(name);
  return {names.begin(), names.end()};
}

// The object of each record.
std::vector<std::size_t> objects_by_id(const std::filesystem::path& file,
                                       const std::vector<nlohmann::json>& objects,
                                       std::span<const std::string> ids, const std::string& id_field) {
  NameIndex index;
  for (std::size_t i = 0; i < objects.size(); ++i) {
    const std::string name =
        name_of_object(objects[i], id_field, fmt::format("{}: entry {}", file.string(), i));
    if (!index.add(name, i)) fail(Fault::data, "{}: two objects are of '{}'", file.string(), name);
  }
  std::vector<std::size_t> found;
  for (const std::string& id : ids) {
    const auto object = index.find(id);
    if (!object) fail(Fault::data, "{}: no object is of record '{}'", file.string(), id);
    found.push_back(*object);
  }
  return found;
}

std::vector<Characteristic> table_columns(const DataSpec& spec, std::span<const std::string> ids,
                                          const std::vector<std::string>& names) {
  const CsvTable table = read_csv(spec.text("metadata"));
  const TableRows rows(table, spec.text("id"), spec.path);
  std::vector<Characteristic> columns;
  for (const std::string& name : names) {
    const std::size_t column = table.column(name);
    columns.push_back({name, {}});
    for (const std::string& id : ids) columns.back().values.push_back(table.rows[rows.of(id)][column]);
  }
  return columns;
}

std::vector<Characteristic> columns_of_source(const DataSpec& spec, const Source& source,
                                              const std::vector<std::string>& names) {
  std::vector<Characteristic> columns;
  for (const std::string& name : names) {
    auto values = source.column(name);
    const std::vector<std::string> known = source.columns();
    if (!values)
      fail(Fault::usage,
           "data '{}': there is no column '{}'{}; {}, and metadata=FILE names a table of others", spec.path,
           name, did_you_mean(name, known),
           known.empty() ? source.format() + " has none itself" : "there are " + support::joined(known));
    columns.push_back({name, *std::move(values)});
  }
  return columns;
}

}  // namespace

std::vector<Characteristic> characteristics_of(const DataSpec& spec, const Source& source,
                                               std::span<const std::string> ids) {
  const std::vector<std::string> wanted = spec.words("meta"), names = column_names(wanted);
  const std::string file = spec.text("metadata");
  std::vector<Characteristic> columns = file.empty() ? columns_of_source(spec, source, names)
                                        : is_table_name(file)
                                            ? table_columns(spec, ids, names)
                                            : read_json_columns(file, ids, spec.text("id"), names);
  const std::string where = fmt::format("data '{}'", spec.path);
  for (std::size_t i = 0; i < columns.size(); ++i) {
    columns[i].name = wanted[i];
    columns[i] = in_ranges(std::move(columns[i]), where);
  }
  check_characteristics(columns, ids.size(), where);
  return columns;
}

std::vector<Characteristic> read_json_columns(const std::filesystem::path& file,
                                              std::span<const std::string> ids, const std::string& id_field,
                                              const std::vector<std::string>& names) {
  const std::vector<nlohmann::json> objects = objects_in(file);
  const std::vector<std::size_t> of_record = objects_by_id(file, objects, ids, id_field);
  const std::vector<std::string> known = field_names_of(objects);
  std::vector<Characteristic> columns;
  for (const std::string& name : names) {
    if (std::ranges::find(known, name) == known.end())
      fail(Fault::usage, "{}: no object has the field '{}'{}; there are {}", file.string(), name,
           did_you_mean(name, known), support::joined(known));
    columns.push_back({name, {}});
    for (const std::size_t object : of_record)
      columns.back().values.push_back(text_of_field(objects[object], name));
  }
  return columns;
}

}  // namespace assay::inline data
