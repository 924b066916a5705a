// IDX, the format of MNIST: big-endian header, then elements; gzipped or not. Labels are found next to the
// images.

#include <bit>
#include <optional>

#include <assay/error.h>
#include <assay/extend/data_format.h>
#include "assay/data/bytes.h"
#include "assay/data/files/csv.h"
#include "assay/data/storage.h"
#include "assay/support/ascii.h"

namespace assay::inline data {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t largest_rank = 5;

struct Idx {
  int type = 0;              // 0x08 uint8, 0x09 int8, 0x0B int16, 0x0C int32, 0x0D float, 0x0E double
  Shape shape;               // records first
  std::uint64_t offset = 0;  // of the first element
  std::optional<StoredBytes> bytes;
};

std::size_t element_size(int type) {
  switch (type) {
    case 0x08:
    case 0x09:
      return 1;
    case 0x0B:
      return 2;
    case 0x0C:
    case 0x0D:
      return 4;
    case 0x0E:
      return 8;
    default:
      return 0;
  }
}

std::uint64_t big_endian(const char* at, std::size_t size) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < size; ++i) value = value << 8 | byte_of(at[i]);
  return value;
}

double element(int type, const char* at) {
  const std::uint64_t bits = big_endian(at, element_size(type));
  switch (type) {
    case 0x08:
      return bits;
    case 0x09:
      return static_cast<std::int8_t>(bits);
    case 0x0B:
      return static_cast<std::int16_t>(bits);
    case 0x0C:
      return static_cast<std::int32_t>(bits);
    case 0x0D:
      return std::bit_cast<float>(static_cast<std::uint32_t>(bits));
    default:
      return std::bit_cast<double>(bits);
  }
}

Idx read_idx(const fs::path& path) {
  Idx idx;
  require_file(path);
  const std::string head = read_head(path, 4 + 4 * largest_rank);
  if (head.size() < 4 || head[0] != 0 || head[1] != 0)
    fail(Fault::data, "{}: not an IDX file, or cut short", path.string());
  idx.type = byte_of(head[2]);
  const std::size_t rank = byte_of(head[3]);
  if (element_size(idx.type) == 0 || rank == 0 || rank > largest_rank) {
    fail(Fault::data, "{}: IDX with element type {:#x} and {} dimensions is not known", path.string(),
         idx.type, rank);
  }
  idx.offset = 4 + 4 * rank;
  if (head.size() < idx.offset) fail(Fault::data, "{}: the IDX header is cut short", path.string());
  for (std::size_t d = 0; d < rank; ++d) idx.shape.push_back(big_endian(head.data() + 4 + 4 * d, 4));
  const std::uint64_t count = element_count(idx.shape);
  if (count > (UINT64_MAX - idx.offset) / element_size(idx.type)) {
    fail(Fault::data, "{}: the IDX header promises {} elements, which is too many", path.string(),
         to_string(idx.shape));
  }
  idx.bytes.emplace(path, idx.offset + count * element_size(idx.type));
  return idx;
}

// One class number per record.
std::vector<std::int64_t> read_idx_labels(const fs::path& path, std::int64_t records,
                                          const std::string& images) {
  const Idx idx = read_idx(path);
  if (idx.shape.size() != 1 || idx.shape[0] != records) {
    fail(Fault::data, "{}: labels of shape {} do not fit {} records in {}", path.string(),
         to_string(idx.shape), records, images);
  }
  if (idx.type == 0x0D || idx.type == 0x0E)
    fail(Fault::data, "{}: labels are floating-point numbers, but must be class numbers", path.string());
  const std::size_t size = element_size(idx.type);
  std::string bytes(static_cast<std::size_t>(records) * size, '\0');
  idx.bytes->read(idx.offset, bytes.data(), bytes.size());
  std::vector<std::int64_t> labels;
  for (std::size_t at = 0; at < bytes.size(); at += size)
    labels.push_back(static_cast<std::int64_t>(element(idx.type, bytes.data() + at)));
  return labels;
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
  for (const std::string& candidate :
       {name, name + ".gz", name.ends_with(".gz") ? name.substr(0, name.size() - 3) : name}) {
    if (fs::exists(images.parent_path() / candidate)) return images.parent_path() / candidate;
  }
  return {};
}

class IdxSource final : public Source {
 public:
  explicit IdxSource(const DataSpec& spec) : images_(read_idx(spec.path)) {
    const fs::path labels = spec.has("labels") ? fs::path(spec.text("labels")) : labels_beside(spec.path);
    if (!labels.empty() && !is_table_name(labels.string()))
      labels_ = read_idx_labels(labels, images_.shape[0], spec.path);
    shape_.assign(images_.shape.begin() + 1, images_.shape.end());
    if (shape_.size() == 2) shape_.insert(shape_.begin(), 1);  // a grey image has one channel
    elements_ = element_count(shape_);
  }

  std::size_t size() const override { return images_.shape[0]; }
  Shape shape() const override { return shape_; }
  bool is_8bit() const override { return images_.type == 0x08; }
  std::optional<std::int64_t> label(std::size_t index) const override {
    if (labels_.empty()) return std::nullopt;
    return labels_[index];
  }
  bool takes_labels() const override { return true; }
  void read(std::size_t index, void* out) const override {
    auto* values = static_cast<float*>(out);
    const std::size_t size = element_size(images_.type);
    std::string bytes(elements_ * size, '\0');
    images_.bytes->read(images_.offset + index * bytes.size(), bytes.data(), bytes.size());
    if (images_.type == 0x08) {
      for (std::size_t i = 0; i < elements_; ++i) values[i] = byte_of(bytes[i]);
      return;
    }
    for (std::size_t i = 0; i < elements_; ++i)
      values[i] = static_cast<float>(element(images_.type, bytes.data() + i * size));
  }
  std::string format() const override { return "IDX"; }

 private:
  Idx images_;
  std::vector<std::int64_t> labels_;
  Shape shape_;
  std::size_t elements_ = 0;
};

}  // namespace

FormatInfo idx_format() {
  return {"idx",
          "IDX as MNIST uses it, gzipped or not; labels in the same folder or labels=FILE",
          {},
          [](const fs::path&, std::string_view head) {
            return head.size() >= 4 && head[0] == 0 && head[1] == 0 && element_size(byte_of(head[2])) > 0 &&
                   head[3] >= 1 && head[3] <= 5;
          },
          [](const DataSpec& spec) -> std::unique_ptr<Source> { return std::make_unique<IdxSource>(spec); }};
}

}  // namespace assay::inline data
