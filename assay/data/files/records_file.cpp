#include "assay/data/files/records_file.h"

#include <algorithm>
#include <map>

#include "assay/data/files/numpy.h"
#include "assay/support/files/file.h"
#include "assay/support/text/visible.h"

namespace assay {

void write_records(const std::filesystem::path& path, const Dataset& data,
                   std::span<const std::size_t> positions) {
  const Batch batch = data.read(positions);
  std::map<std::string, Array> arrays{{"x", batch.inputs}};
  if (data.has_labels())
    arrays.emplace("y",
                   Array::of<std::int64_t>({static_cast<std::int64_t>(batch.labels.size())}, batch.labels));
  else if (data.target_width() > 0)
    arrays.emplace("y", batch.targets);
  write_npz(path, arrays);
}

std::string id_line(const std::string& id) { return visible(id); }

void write_ids(const std::filesystem::path& path, const Dataset& data,
               std::span<const std::size_t> positions) {
  std::string text;
  for (const std::size_t record : positions) text += id_line(data.id(record)) + "\n";
  write_file(path, text);
}

std::set<std::string> read_id_lines(const std::filesystem::path& path) {
  std::set<std::string> ids;
  const std::string text = read_file(path);
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    if (end > begin) ids.insert(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return ids;
}

}  // namespace assay
