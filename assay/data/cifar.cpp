// CIFAR-10 and CIFAR-100 in the binary version: one or two label bytes, then 3072 pixel bytes, channels first.

#include <algorithm>

#include "assay/data/bytes.h"
#include "assay/data/formats.h"
#include "assay/support/error.h"

namespace assay {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t pixels = 3 * 32 * 32;

bool is_cifar_name(const fs::path& path) {
  const std::string name = path.filename().string();
  return name.starts_with("data_batch") || name.starts_with("test_batch") || name == "train.bin" || name == "test.bin";
}

class CifarSource final : public Source {
 public:
  explicit CifarSource(const DataSpec& spec) {
    const fs::path path = spec.path;
    std::vector<fs::path> files{path};
    if (fs::is_directory(path)) {
      files.clear();
      for (const auto& entry : fs::directory_iterator(path)) {
        const bool test = entry.path().filename().string().starts_with("test");
        if (entry.path().extension() == ".bin" && is_cifar_name(entry.path()) && test == (spec.text("part") == "test")) files.push_back(entry.path());
      }
      std::sort(files.begin(), files.end());
    }
    const std::string first = files.empty() ? "" : files[0].filename().string();
    label_bytes_ = first == "train.bin" || first == "test.bin" ? 2 : 1;
    for (const fs::path& file : files) {
      const std::string bytes = read_maybe_gzipped(file);
      if (bytes.empty() || bytes.size() % (label_bytes_ + pixels) != 0) {
        fail(Fault::data, "{}: {} bytes are not whole CIFAR records of {}", file.string(), bytes.size(), label_bytes_ + pixels);
      }
      bytes_ += bytes;
    }
    if (bytes_.empty()) fail(Fault::data, "{}: no CIFAR batches here", spec.path);
  }

  std::size_t size() const override { return bytes_.size() / (label_bytes_ + pixels); }
  Shape shape() const override { return {3, 32, 32}; }
  bool is_8bit() const override { return true; }
  std::optional<std::int64_t> label(std::size_t index) const override {
    // Of CIFAR-100's two labels the second is the fine one.
    return static_cast<unsigned char>(bytes_[index * (label_bytes_ + pixels) + label_bytes_ - 1]);
  }
  void read(std::size_t index, void* out) const override {
    const auto* from = reinterpret_cast<const unsigned char*>(bytes_.data() + index * (label_bytes_ + pixels) + label_bytes_);
    std::copy_n(from, pixels, static_cast<float*>(out));
  }
  std::string format() const override { return label_bytes_ == 1 ? "CIFAR-10 binary" : "CIFAR-100 binary"; }

 private:
  std::string bytes_;
  std::size_t label_bytes_ = 1;
};

}  // namespace

FormatInfo cifar_format() {
  return {"cifar", "CIFAR-10/100 binary: a batch file, or a folder of them (part=test for the test batch)",
          [](const fs::path& path, std::string_view) {
            if (!fs::is_directory(path)) return path.extension() == ".bin" && is_cifar_name(path);
            return std::any_of(fs::directory_iterator(path), fs::directory_iterator(), [](const auto& entry) {
              return entry.path().extension() == ".bin" && is_cifar_name(entry.path());
            });
          },
          [](const DataSpec& spec) -> std::unique_ptr<Source> { return std::make_unique<CifarSource>(spec); }};
}

}  // namespace assay
