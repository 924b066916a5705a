#include "assay/data/files/records_file.h"

#include <algorithm>
#include <map>

#include <assay/error.h>

#include "assay/data/files/numpy.h"
#include "assay/support/files/file.h"
#include "assay/support/text/parse.h"
#include "assay/support/text/visible.h"

namespace assay::inline data {

void write_records(const std::filesystem::path& path, const Dataset& data,
                   std::span<const std::size_t> positions) {
  std::map<std::string, Array> arrays = arrays_of(data.read(positions));
  add_facts(data, data.dtype(), arrays);
  for (std::size_t c = 0; c < data.characteristics().size(); ++c) {
    std::vector<std::string> values;
    for (const std::size_t record : positions) values.push_back(data.characteristic(c, record));
    const std::string& name = data.characteristics()[c];
    if (!arrays.emplace(name, name_rows(values)).second)
      fail(Fault::usage, "{}: the records have an array '{}' already; rename the characteristic",
           path.string(), name);
  }
  write_npz(path, arrays);
}

std::string id_line(const std::string& id) { return visible(id); }

void write_ids(const std::filesystem::path& path, const Dataset& data,
               std::span<const std::size_t> positions) {
  std::string text;
  for (const std::size_t record : positions) text += id_line(data.id(record)) + "\n";
  write_file(path, text);
}

std::vector<std::string> id_lines(const std::filesystem::path& path) {
  std::vector<std::string> ids = parts_of(read_file(path), "\n");
  std::erase(ids, "");
  return ids;
}

}  // namespace assay::inline data
