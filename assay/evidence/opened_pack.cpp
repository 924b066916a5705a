#include "assay/evidence/opened_pack.h"

#include <assay/error.h>
#include "assay/evidence/zip.h"
#include "assay/support/files/file.h"

namespace assay::evidence {
namespace {

namespace fs = std::filesystem;

// The pack lies at the top of the archive, or in its only folder, as archives made by hand have it.
fs::path pack_in(const fs::path& folder) {
  if (fs::exists(folder / manifest_name)) return folder;
  std::vector<fs::path> entries;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) entries.push_back(entry.path());
  return entries.size() == 1 && fs::is_directory(entries.front()) ? entries.front() : folder;
}

}  // namespace

fs::path unpack(const fs::path& archive, const fs::path& folder) {
  unpack_zip(archive, folder);
  return pack_in(folder);
}

OpenedPack::OpenedPack(const fs::path& pack) : folder_(pack) {
  std::error_code unknown;
  if (!fs::exists(pack, unknown))
    fail(Fault::io, "{}: no such file or folder; name the folder or the archive that `assay evidence` wrote",
         pack.string());
  if (!fs::is_regular_file(pack, unknown)) return;
  unpacked_.emplace("unpacked");
  folder_ = unpack(pack, unpacked_->path());
}

PackContents contents_of(const Manifest& manifest, const fs::path& folder) {
  PackContents contents;
  contents.study.title = manifest.title;
  contents.study.requirements = manifest.requirements;
  contents.study.not_done = manifest.not_done;
  contents.study.approvals = manifest.approvals;
  contents.study.document_id = manifest.document_id;
  contents.inputs = manifest.inputs;
  contents.program = manifest.program;
  contents.machine = manifest.machine;
  contents.created = manifest.created;
  contents.is_signed = manifest.is_signed;
  for (const ManifestStep& step : manifest.steps) {
    contents.study.steps.push_back({step.name, step.command, {}, step.collected});
    const fs::path file = folder / step.file;
    contents.results.push_back({contents.study.steps.back(),
                                report::read_document(read_file(file), file.string()), step.exit_code,
                                step.typed, step.file});
  }
  return contents;
}

}  // namespace assay::evidence
