// A custom data format: files of 32-bit floats, one record after another, with shape=CxHxW in the spec.
#include <bit>
#include <fstream>

#include <assay/error.h>
#include <assay/extend/data_format.h>
#include <assay/extend/plugin.h>

namespace {

using namespace assay;

Shape shape_of(const std::string& text) {
  Shape shape;
  for (std::size_t begin = 0; begin < text.size(); begin = text.find('x', begin) + 1) {
    shape.push_back(std::strtol(text.c_str() + begin, nullptr, 10));
    if (shape.back() < 1 || text.find('x', begin) == std::string::npos) break;
  }
  if (shape.empty() || shape.back() < 1) fail(Fault::usage, "data option shape={}: 1x28x28, say", text);
  return shape;
}

class FloatsSource final : public Source {
 public:
  explicit FloatsSource(const DataSpec& spec) : path_(spec.path), shape_(shape_of(spec.text("shape"))) {
    for (const std::int64_t extent : shape_) elements_ *= static_cast<std::size_t>(extent);
    const std::size_t bytes = std::filesystem::file_size(path_);
    if (bytes % (elements_ * sizeof(float)) != 0)
      fail(Fault::data, "{}: {} bytes are not a whole number of records of {} floats", path_, bytes,
           elements_);
    size_ = bytes / (elements_ * sizeof(float));
  }

  std::size_t size() const override { return size_; }
  Shape shape() const override { return shape_; }
  std::string format() const override { return "floats"; }
  // From several threads at once, hence a stream for each call.
  void read(std::size_t index, void* out) const override {
    static_assert(std::endian::native == std::endian::little);
    const auto bytes = static_cast<std::streamsize>(elements_ * sizeof(float));
    std::ifstream file(path_, std::ios::binary);
    file.seekg(static_cast<std::streamoff>(index) * bytes);
    if (!file.read(static_cast<char*>(out), bytes))
      fail(Fault::data, "{}: record {} cannot be read", path_, index);
  }

 private:
  std::string path_;
  Shape shape_;
  std::size_t elements_ = 1, size_ = 0;
};

void enter() {
  data_formats().add({.name = "floats",
                      .summary = "32-bit floats, little-endian, one record after another; shape=CxHxW",
                      .options = {"shape"},
                      .recognises = [](const std::filesystem::path& path,
                                       std::string_view) { return path.extension() == ".f32"; },
                      .open = [](const DataSpec& spec) -> std::unique_ptr<Source> {
                        return std::make_unique<FloatsSource>(spec);
                      }});
}

}  // namespace

ASSAY_PLUGIN("floats", enter)
