#include "assay/evidence/zip.h"

#include <zip.h>

#include <algorithm>
#include <ctime>
#include <memory>
#include <string>
#include <vector>

#include <assay/error.h>
#include "assay/evidence/manifest.h"
#include "assay/support/files/file.h"

namespace assay::evidence {
namespace {

namespace fs = std::filesystem;

struct Discard {
  void operator()(zip_t* archive) const { zip_discard(archive); }
};

}  // namespace

void write_zip(const fs::path& folder, const fs::path& archive) {
  std::vector<std::string> paths;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder)) {
    const std::string path = entry.path().lexically_relative(folder).generic_string();
    if (entry.is_regular_file() && path != journal_name) paths.push_back(path);
  }
  std::ranges::sort(paths);
  // In memory, then written as every file is: at once or not at all.
  zip_error_t error;
  zip_error_init(&error);
  zip_source_t* memory = zip_source_buffer_create(nullptr, 0, 0, &error);
  if (memory == nullptr) fail(Fault::io, "{}: {}", archive.string(), zip_error_strerror(&error));
  zip_source_keep(memory);
  const std::unique_ptr<zip_source_t, void (*)(zip_source_t*)> kept(memory, zip_source_free);
  std::unique_ptr<zip_t, Discard> open(zip_open_from_source(memory, ZIP_TRUNCATE, &error));
  if (!open) fail(Fault::io, "{}: {}", archive.string(), zip_error_strerror(&error));
  constexpr std::time_t no_time = 315532800;  // the first that a zip archive can hold
  for (const std::string& path : paths) {
    zip_source_t* source = zip_source_file(open.get(), (folder / path).c_str(), 0, -1);
    const zip_int64_t index =
        source == nullptr ? -1 : zip_file_add(open.get(), path.c_str(), source, ZIP_FL_ENC_UTF_8);
    if (index < 0) fail(Fault::io, "{}: {}: {}", archive.string(), path, zip_strerror(open.get()));
    zip_file_set_mtime(open.get(), static_cast<zip_uint64_t>(index), no_time, 0);
  }
  if (zip_close(open.get()) != 0) fail(Fault::io, "{}: {}", archive.string(), zip_strerror(open.get()));
  open.release();
  if (zip_source_open(memory) != 0) fail(Fault::io, "{}: it cannot be read back", archive.string());
  zip_source_seek(memory, 0, SEEK_END);
  std::string bytes(static_cast<std::size_t>(std::max<zip_int64_t>(0, zip_source_tell(memory))), '\0');
  zip_source_seek(memory, 0, SEEK_SET);
  const bool whole =
      zip_source_read(memory, bytes.data(), bytes.size()) == static_cast<zip_int64_t>(bytes.size());
  zip_source_close(memory);
  if (!whole) fail(Fault::io, "{}: it cannot be read back", archive.string());
  write_file(archive, bytes);
}

}  // namespace assay::evidence
