// CIFAR-10 and CIFAR-100 in the binary version: one or two label bytes, then 3072 pixel bytes, channels
// first.

#include <algorithm>

#include <assay/error.h>
#include <assay/extend/data_format.h>
#include "assay/data/bytes.h"
#include "assay/data/files/archive.h"
#include "assay/support/ascii.h"
#include "assay/support/files/input_file.h"

namespace assay::inline data {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t picture_bytes = 3 * 32 * 32;

bool is_cifar_name(const fs::path& path) {
  const std::string name = path.filename().string();
  return name.starts_with("data_batch") || name.starts_with("test_batch") || name == "train.bin" ||
         name == "test.bin";
}

bool is_batch(const fs::path& path) { return path.extension() == ".bin" && is_cifar_name(path); }

// Of a folder or archive either the training batches or the test batch count.
bool is_part(const fs::path& path, const std::string& part) {
  return is_batch(path) && path.filename().string().starts_with("test") == (part == "test");
}

class CifarSource final : public Source {
 public:
  explicit CifarSource(const DataSpec& spec) {
    const fs::path path = spec.path;
    const std::string part = spec.text("part");
    if (is_archive_name(path)) {
      const Archive archive(path, [&](const std::string& name) { return is_part(name, part); });
      for (std::size_t i = 0; i < archive.size(); ++i)
        add(archive.name(i), archive.read(i), path.string() + ": ");
    } else if (fs::is_directory(path)) {
      for (const fs::path& file : files_in(path, false)) {
        if (is_part(file, part)) add(file, read_maybe_gzipped(file), "");
      }
    } else {
      add(path, read_maybe_gzipped(path), "");
    }
    if (bytes_.empty()) fail(Fault::data, "{}: no CIFAR batches here", spec.path);
  }

  std::size_t size() const override { return bytes_.size() / (label_bytes_ + picture_bytes); }
  Shape shape() const override { return {3, 32, 32}; }
  bool is_8bit() const override { return true; }
  std::optional<std::int64_t> label(std::size_t index) const override {
    // Of CIFAR-100's two labels the second is the fine one.
    return byte_of(bytes_[index * (label_bytes_ + picture_bytes) + label_bytes_ - 1]);
  }
  void read(std::size_t index, void* out) const override {
    const auto* from = reinterpret_cast<const unsigned char*>(
        bytes_.data() + index * (label_bytes_ + picture_bytes) + label_bytes_);
    std::copy_n(from, picture_bytes, static_cast<float*>(out));
  }
  std::string format() const override { return label_bytes_ == 1 ? "CIFAR-10 binary" : "CIFAR-100 binary"; }

 private:
  // Appends one batch after checking it. CIFAR-100 files are known by their names.
  void add(const fs::path& file, const std::string& batch, const std::string& where) {
    const std::string name = file.filename().string();
    const std::size_t label_bytes = name.starts_with("train.") || name.starts_with("test.") ? 2 : 1,
                      record = label_bytes + picture_bytes;
    if (!bytes_.empty() && label_bytes != label_bytes_)
      fail(Fault::data, "{}{}: CIFAR-10 and CIFAR-100 batches side by side", where, file.string());
    label_bytes_ = label_bytes;
    if (batch.empty() || batch.size() % record != 0) {
      fail(Fault::data, "{}{}: {} bytes are not whole CIFAR records of {}; is the file cut short?", where,
           file.string(), batch.size(), record);
    }
    const int classes = label_bytes == 1 ? 10 : 100;
    for (std::size_t at = 0; at < batch.size(); at += record) {
      const int label = byte_of(batch[at + label_bytes - 1]);
      if (label >= classes)
        fail(Fault::data, "{}{}: record {} has label {} of {} classes", where, file.string(), at / record,
             label, classes);
    }
    bytes_ += batch;
  }

  std::string bytes_;
  std::size_t label_bytes_ = 1;
};

}  // namespace

FormatInfo cifar_format() {
  return {
      "cifar",
      "CIFAR-10/100 binary: a batch file, or a folder or archive of them (part=test for the test batch)",
      {"part"},
      [](const fs::path& path, std::string_view) {
        if (is_archive_name(path))
          return archive_begins_with(path, [](const std::string& name) { return is_batch(name); });
        if (!fs::is_directory(path)) return is_batch(path);
        return std::ranges::any_of(files_in(path, false), is_batch);
      },
      [](const DataSpec& spec) -> std::unique_ptr<Source> { return std::make_unique<CifarSource>(spec); }};
}

}  // namespace assay::inline data
