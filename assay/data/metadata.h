#pragma once

// Tables beside records that say what each is: CSV, lines of JSON objects, COCO's images.

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include <assay/extend/data_format.h>
#include <assay/records.h>

namespace assay::inline data {

// What meta= names of the records of a source with these ids, from the table or file of metadata= or from the
// source itself. Throws as characterised(); Error{usage} for a column that there is not, Error{data} as
// below.
std::vector<Characteristic> characteristics_of(const DataSpec& spec, const Source& source,
                                               std::span<const std::string> ids);

// The columns of these names, in the order of the ids, from JSON: an object a line (.jsonl), a list of
// objects, or COCO's list `images`. `id_field`: the field that names the record; empty: the first of id,
// file_name, name, image and path that an object has. Empty where an object has no such field, or null.
// Throws Error{data} naming file and object for what is none of these, a record without an object, and a
// field that is not an object has.
std::vector<Characteristic> read_json_columns(const std::filesystem::path& file,
                                              std::span<const std::string> ids, const std::string& id_field,
                                              const std::vector<std::string>& names);

}  // namespace assay::inline data
