// IDX, the format of MNIST: big-endian header, then elements; gzipped or not. Labels are found beside the images.

#include <bit>
#include <cstring>

#include "assay/data/bytes.h"
#include "assay/data/formats.h"
#include "assay/support/error.h"

namespace assay {
namespace {

namespace fs = std::filesystem;

struct Idx {
  int type = 0;              // 0x08 uint8, 0x09 int8, 0x0B int16, 0x0C int32, 0x0D float, 0x0E double
  Shape shape;               // records first
  std::string bytes;
  std::size_t offset = 0;    // of the first element
};

std::size_t element_size(int type) {
  switch (type) {
    case 0x08: case 0x09: return 1;
    case 0x0B: return 2;
    case 0x0C: case 0x0D: return 4;
    case 0x0E: return 8;
    default: return 0;
  }
}

std::uint64_t big_endian(const char* at, std::size_t size) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < size; ++i) value = value << 8 | static_cast<unsigned char>(at[i]);
  return value;
}

double element(const Idx& idx, std::size_t i) {
  const std::size_t size = element_size(idx.type);
  const std::uint64_t bits = big_endian(idx.bytes.data() + idx.offset + i * size, size);
  switch (idx.type) {
    case 0x08: return static_cast<double>(bits);
    case 0x09: return static_cast<std::int8_t>(bits);
    case 0x0B: return static_cast<std::int16_t>(bits);
    case 0x0C: return static_cast<std::int32_t>(bits);
    case 0x0D: return std::bit_cast<float>(static_cast<std::uint32_t>(bits));
    default: return std::bit_cast<double>(bits);
  }
}

Idx read_idx(const fs::path& path) {
  Idx idx;
  idx.bytes = read_maybe_gzipped(path);
  if (idx.bytes.size() < 4 || idx.bytes[0] != 0 || idx.bytes[1] != 0) fail(Fault::data, "{}: not an IDX file", path.string());
  idx.type = static_cast<unsigned char>(idx.bytes[2]);
  const auto rank = static_cast<std::size_t>(static_cast<unsigned char>(idx.bytes[3]));
  if (element_size(idx.type) == 0 || rank == 0 || rank > 5) {
    fail(Fault::data, "{}: IDX with element type {:#x} and {} dimensions is not known", path.string(), idx.type, rank);
  }
  idx.offset = 4 + 4 * rank;
  if (idx.bytes.size() < idx.offset) fail(Fault::data, "{}: the IDX header is cut short", path.string());
  for (std::size_t d = 0; d < rank; ++d) idx.shape.push_back(static_cast<std::int64_t>(big_endian(idx.bytes.data() + 4 + 4 * d, 4)));
  const auto count = static_cast<std::uint64_t>(element_count(idx.shape));
  const std::uint64_t have = (idx.bytes.size() - idx.offset) / element_size(idx.type);
  if (have != count) {
    fail(Fault::data, "{}: the IDX header promises {} elements {}, the file holds {}; fetch it again", path.string(), count,
         to_string(idx.shape), have);
  }
  return idx;
}

// train-images-idx3-ubyte.gz -> train-labels-idx1-ubyte.gz, with or without .gz.
fs::path labels_beside(const fs::path& images) {
  std::string name = images.filename().string();
  const auto replace = [&](std::string_view from, std::string_view to) {
    const std::size_t at = name.find(from);
    if (at != std::string::npos) name.replace(at, from.size(), to);
    return at != std::string::npos;
  };
  if (!replace("images", "labels")) return {};
  replace("idx3", "idx1");
  replace("idx4", "idx1");
  for (const std::string& candidate : {name, name + ".gz", name.ends_with(".gz") ? name.substr(0, name.size() - 3) : name}) {
    if (fs::exists(images.parent_path() / candidate)) return images.parent_path() / candidate;
  }
  return {};
}

class IdxSource final : public Source {
 public:
  explicit IdxSource(const DataSpec& spec) : images_(read_idx(spec.path)) {
    const fs::path labels = spec.has("labels") ? fs::path(spec.text("labels")) : labels_beside(spec.path);
    if (!labels.empty() && !labels.string().ends_with(".csv")) {
      labels_ = read_idx(labels);
      if (labels_->shape.size() != 1 || labels_->shape[0] != images_.shape[0]) {
        fail(Fault::data, "{}: labels of shape {} do not fit {} records in {}", labels.string(), to_string(labels_->shape),
             images_.shape[0], spec.path);
      }
    }
    shape_.assign(images_.shape.begin() + 1, images_.shape.end());
    if (shape_.size() == 2) shape_.insert(shape_.begin(), 1);  // a grey image has one channel
    elements_ = static_cast<std::size_t>(element_count(shape_));
  }

  std::size_t size() const override { return static_cast<std::size_t>(images_.shape[0]); }
  Shape shape() const override { return shape_; }
  bool is_8bit() const override { return images_.type == 0x08; }
  std::optional<std::int64_t> label(std::size_t index) const override {
    if (!labels_) return std::nullopt;
    return static_cast<std::int64_t>(element(*labels_, index));
  }
  void read(std::size_t index, void* out) const override {
    auto* values = static_cast<float*>(out);
    if (images_.type == 0x08) {
      const auto* from = reinterpret_cast<const unsigned char*>(images_.bytes.data() + images_.offset + index * elements_);
      for (std::size_t i = 0; i < elements_; ++i) values[i] = from[i];
      return;
    }
    for (std::size_t i = 0; i < elements_; ++i) values[i] = static_cast<float>(element(images_, index * elements_ + i));
  }
  std::string format() const override { return "IDX"; }

 private:
  Idx images_;
  std::optional<Idx> labels_;
  Shape shape_;
  std::size_t elements_ = 0;
};

}  // namespace

FormatInfo idx_format() {
  return {"idx", "IDX as MNIST uses it, gzipped or not; labels beside it or labels=FILE",
          [](const fs::path&, std::string_view head) {
            return head.size() >= 4 && head[0] == 0 && head[1] == 0 && element_size(static_cast<unsigned char>(head[2])) > 0 &&
                   head[3] >= 1 && head[3] <= 5;
          },
          [](const DataSpec& spec) -> std::unique_ptr<Source> { return std::make_unique<IdxSource>(spec); }};
}

}  // namespace assay
