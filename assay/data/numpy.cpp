#include "assay/data/numpy.h"

#include <zip.h>
#include <zlib.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <memory>
#include <ostream>

#include <assay/data_format.h>
#include <assay/dataset.h>
#include <assay/error.h>
#include <assay/progress.h>
#include "assay/data/bytes.h"
#include "assay/data/csv.h"
#include "assay/support/file.h"
#include "assay/support/memory.h"
#include "assay/support/text.h"

namespace assay {
namespace {

namespace fs = std::filesystem;

// The text after 'key': in the header's dictionary.
std::string_view field(std::string_view header, std::string_view key, const std::string& name) {
  const std::size_t at = header.find(fmt::format("'{}'", key));
  const std::size_t colon = at == std::string_view::npos ? at : header.find(':', at);
  if (colon == std::string_view::npos) fail(Fault::data, "{}: the npy header has no '{}'", name, key);
  const std::size_t value = header.find_first_not_of(' ', colon + 1);
  return value == std::string_view::npos ? std::string_view() : header.substr(value);
}

Shape parse_shape(std::string_view text, const std::string& name) {
  const std::size_t close = text.find(')');
  if (text.empty() || text[0] != '(' || close == std::string_view::npos)
    fail(Fault::data, "{}: the npy header has no shape", name);
  Shape shape;
  const char* at = text.data() + 1;
  const char* const end = text.data() + close;
  while (at < end) {
    if (*at == ' ' || *at == ',' || *at == 'L') {
      ++at;
      continue;
    }
    std::int64_t dim = 0;
    const auto [next, code] = std::from_chars(at, end, dim);
    if (code != std::errc() || dim < 0 || shape.size() == 32)
      fail(Fault::data, "{}: the npy header has a wrong shape", name);
    shape.push_back(dim);
    at = next;
  }
  return shape;
}

float half_to_float(std::uint16_t half) {
  const int exponent = half >> 10 & 31, mantissa = half & 1023;
  const float sign = half & 0x8000 ? -1.0F : 1.0F;
  if (exponent == 31) return mantissa ? std::nanf("") : sign * INFINITY;
  if (exponent == 0) return sign * std::ldexp(static_cast<float>(mantissa), -24);
  return sign * std::ldexp(static_cast<float>(mantissa + 1024), exponent - 25);
}

template <typename From, typename To>
Array converted(const Shape& shape, std::string_view bytes, std::int64_t count) {
  std::vector<To> values(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < values.size(); ++i) {
    From value;
    std::memcpy(&value, bytes.data() + i * sizeof(From), sizeof(From));
    values[i] = static_cast<To>(value);
  }
  return Array::of<To>(shape, values);
}

Array raw(DType dtype, const Shape& shape, std::string_view bytes) {
  const auto* begin = reinterpret_cast<const std::byte*>(bytes.data());
  return Array(dtype, shape, {begin, begin + bytes.size()});
}

Array elements(std::string_view type, const Shape& shape, std::string_view bytes, const std::string& name) {
  const std::int64_t count = element_count(shape);
  if (type == "f4") return raw(DType::float32, shape, bytes);
  if (type == "f8") return raw(DType::float64, shape, bytes);
  if (type == "i8") return raw(DType::int64, shape, bytes);
  if (type == "i4") return raw(DType::int32, shape, bytes);
  if (type == "i1") return raw(DType::int8, shape, bytes);
  if (type == "u1") return raw(DType::uint8, shape, bytes);
  if (type == "b1") return converted<std::uint8_t, std::uint8_t>(shape, bytes, count).to(DType::boolean);
  if (type == "i2") return converted<std::int16_t, std::int32_t>(shape, bytes, count);
  if (type == "u2") return converted<std::uint16_t, std::int32_t>(shape, bytes, count);
  if (type == "u4") return converted<std::uint32_t, std::int64_t>(shape, bytes, count);
  if (type == "u8") return converted<std::uint64_t, std::int64_t>(shape, bytes, count);
  if (type == "f2") {
    std::vector<float> values(static_cast<std::size_t>(count));
    for (std::size_t i = 0; i < values.size(); ++i) {
      std::uint16_t half;
      std::memcpy(&half, bytes.data() + 2 * i, 2);
      values[i] = half_to_float(half);
    }
    return Array::of<float>(shape, values);
  }
  fail(Fault::data, "{}: element type '{}' is not known; save numbers (float, int, uint8 or bool)", name,
       type);
}

// Column-major bytes in row-major order.
std::string turned(std::string_view bytes, const Shape& shape, std::size_t size) {
  std::string result(bytes.size(), '\0');
  std::vector<std::int64_t> at(shape.size(), 0);
  for (std::size_t row = 0; row < bytes.size() / size; ++row) {
    std::size_t column = 0, stride = 1;
    for (std::size_t d = 0; d < shape.size(); ++d) {
      column += static_cast<std::size_t>(at[d]) * stride;
      stride *= static_cast<std::size_t>(shape[d]);
    }
    std::memcpy(result.data() + row * size, bytes.data() + column * size, size);
    for (std::size_t d = shape.size(); d-- > 0 && ++at[d] == shape[d];) at[d] = 0;
  }
  return result;
}

struct CloseZip {
  void operator()(zip_t* archive) const { zip_discard(archive); }
};

std::string npy_header(const Array& array) {
  const auto type = [&] {
    switch (array.dtype()) {
      case DType::float32:
        return "<f4";
      case DType::float64:
        return "<f8";
      case DType::int64:
        return "<i8";
      case DType::int32:
        return "<i4";
      case DType::int8:
        return "|i1";
      case DType::uint8:
        return "|u1";
      case DType::boolean:
        return "|b1";
    }
    return "";
  }();
  std::string shape;
  for (const std::int64_t dim : array.shape()) shape += fmt::format("{},", dim);
  std::string header = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}), }}", type, shape);
  header.append(63 - (header.size() + 10) % 64, ' ');
  header += '\n';
  const auto length = static_cast<std::uint16_t>(header.size());
  return std::string("\x93NUMPY\x01\0", 8) + static_cast<char>(length & 255) +
         static_cast<char>(length >> 8) + header;
}

// An archive of entries as they are, not compressed and without dates: the same bytes every time.
class StoredZip {
 public:
  explicit StoredZip(std::ostream& out) : out_(out) {}

  // An entry that consists of these parts.
  void add(const std::string& name, std::initializer_list<std::string_view> parts) {
    Entry entry{name, 0, 0, at_};
    uLong sum = crc32(0, nullptr, 0);
    for (const std::string_view part : parts) {
      if (part.empty()) continue;  // of which zlib would begin anew
      sum = crc32_z(sum, reinterpret_cast<const Bytef*>(part.data()), part.size());
      entry.size += part.size();
    }
    entry.sum = static_cast<std::uint32_t>(sum);
    put(number(local_header, 4) + head(entry) + name + large(entry, false));
    for (const std::string_view part : parts) put(part);
    entries_.push_back(std::move(entry));
  }

  void finish() {
    const std::uint64_t begin = at_;
    for (const Entry& entry : entries_) {
      const std::string extra = large(entry, true);
      put(number(central_header, 4) + number(version, 2) + head(entry, extra.size()) +
          number(0, 2 + 2 + 2 + 4) + number(std::min(entry.offset, most), 4) + entry.name + extra);
    }
    const std::uint64_t size = at_ - begin, count = entries_.size();
    if (begin >= most || size >= most || count >= 0xFFFF) {
      const std::uint64_t end = at_;
      put(number(large_end, 4) + number(44, 8) + number(version, 2) + number(version, 2) + number(0, 8) +
          number(count, 8) + number(count, 8) + number(size, 8) + number(begin, 8));
      put(number(large_end_place, 4) + number(0, 4) + number(end, 8) + number(1, 4));
    }
    const std::uint64_t shown = std::min<std::uint64_t>(count, 0xFFFF);
    put(number(central_end, 4) + number(0, 4) + number(shown, 2) + number(shown, 2) +
        number(std::min(size, most), 4) + number(std::min(begin, most), 4) + number(0, 2));
  }

 private:
  struct Entry {
    std::string name;
    std::uint32_t sum = 0;
    std::uint64_t size = 0, offset = 0;
  };
  // Signatures of the format (PKWARE's APPNOTE); sizes from `most` on stand in fields of their own.
  static constexpr std::uint64_t local_header = 0x04034b50, central_header = 0x02014b50,
                                 central_end = 0x06054b50, large_end = 0x06064b50,
                                 large_end_place = 0x07064b50, version = 45, most = 0xFFFFFFFF,
                                 first_of_1980 = 0x0021;

  // Little-endian, in so many bytes.
  static std::string number(std::uint64_t value, std::size_t bytes) {
    std::string text;
    for (std::size_t i = 0; i < bytes; ++i) text += static_cast<char>(i < 8 ? value >> 8 * i & 255 : 0);
    return text;
  }

  // What headers at the entry and in the directory have in common.
  static std::string head(const Entry& entry, std::optional<std::size_t> extra = std::nullopt) {
    const std::uint64_t size = std::min(entry.size, most);
    return number(version, 2) + number(0, 2 + 2 + 2) + number(first_of_1980, 2) + number(entry.sum, 4) +
           number(size, 4) + number(size, 4) + number(entry.name.size(), 2) +
           number(extra.value_or(large(entry, false).size()), 2);
  }

  // The field for sizes, and in the directory the place, that are too large for the header.
  static std::string large(const Entry& entry, bool in_directory) {
    std::string numbers;
    if (entry.size >= most) numbers += number(entry.size, 8) + number(entry.size, 8);
    if (in_directory && entry.offset >= most) numbers += number(entry.offset, 8);
    return numbers.empty() ? numbers : number(1, 2) + number(numbers.size(), 2) + numbers;
  }

  void put(std::string_view bytes) {
    out_.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    at_ += bytes.size();
  }

  std::ostream& out_;
  std::uint64_t at_ = 0;
  std::vector<Entry> entries_;
};

// Finds the array for a role: the one named by the option, else one of the usual names.
const Array* find_array(const std::map<std::string, Array>& arrays, const DataSpec& spec,
                        const std::string& role, const std::vector<std::string>& usual) {
  if (spec.has(role)) {
    const auto it = arrays.find(spec.text(role));
    if (it != arrays.end()) return &it->second;
    std::vector<std::string> names;
    for (const auto& [name, array] : arrays) names.push_back(name);
    fail(Fault::data, "{}: no array is named '{}'; there are {}", spec.path, spec.text(role), joined(names));
  }
  for (const std::string& name : usual) {
    const auto it = arrays.find(name);
    if (it != arrays.end()) return &it->second;
  }
  return nullptr;
}

class NumpySource final : public Source {
 public:
  NumpySource(const DataSpec& spec, Array inputs, std::optional<Array> outputs,
              std::optional<Array> ids = std::nullopt, std::string name = {},
              const std::vector<NamedArray>& others = {})
      : path_(spec.path), name_(std::move(name)) {
    if (inputs.shape().empty())
      fail(Fault::data, "{}: the inputs are a single number; records along the first axis are needed", path_);
    tokens_ = inputs.dtype() == DType::int64 || inputs.dtype() == DType::int32;
    bytes_ = inputs.dtype() == DType::uint8;
    inputs_ = tokens_ ? inputs.to(DType::int64) : bytes_ ? std::move(inputs) : inputs.to(DType::float32);
    shape_.assign(inputs_.shape().begin() + 1, inputs_.shape().end());
    elements_ = static_cast<std::size_t>(element_count(shape_));
    if (outputs) take_outputs(*outputs);
    if (ids) take_ids(*ids);
    for (const NamedArray& other : others) take_other(other);
  }

  std::size_t size() const override { return static_cast<std::size_t>(inputs_.shape()[0]); }
  Shape shape() const override { return shape_; }
  DType dtype() const override { return tokens_ ? DType::int64 : DType::float32; }
  bool is_8bit() const override { return bytes_; }
  std::string input_name() const override { return name_; }
  std::vector<InputFacts> others() const override {
    std::vector<InputFacts> facts;
    for (const NamedArray& other : others_)
      facts.push_back(
          {other.name, {other.values.shape().begin() + 1, other.values.shape().end()}, other.values.dtype()});
    return facts;
  }
  void read_other(std::size_t which, std::size_t index, void* out) const override {
    const Array& values = others_[which].values;
    const std::size_t step = values.byte_size() / size();
    std::memcpy(out, values.data() + index * step, step);
  }
  std::string id(std::size_t index) const override {
    return ids_.empty() ? std::to_string(index) : ids_[index];
  }
  std::optional<std::int64_t> label(std::size_t index) const override {
    if (labels_.empty()) return std::nullopt;
    return labels_[index];
  }
  bool takes_labels() const override { return path_.ends_with(".npy"); }
  std::vector<float> target(std::size_t index) const override {
    if (width_ == 0) return {};
    const auto values = targets_.as<float>().subspan(index * width_, width_);
    return {values.begin(), values.end()};
  }
  void read(std::size_t index, void* out) const override {
    if (tokens_) {
      const auto values = inputs_.as<std::int64_t>().subspan(index * elements_, elements_);
      std::copy(values.begin(), values.end(), static_cast<std::int64_t*>(out));
    } else if (bytes_) {
      const auto values = inputs_.as<std::uint8_t>().subspan(index * elements_, elements_);
      std::copy(values.begin(), values.end(), static_cast<float*>(out));
    } else {
      const auto values = inputs_.as<float>().subspan(index * elements_, elements_);
      std::copy(values.begin(), values.end(), static_cast<float*>(out));
    }
  }
  std::string format() const override { return "NumPy"; }

 private:
  // Integers, one per record or one-hot, are classes; anything else are regression targets.
  void take_outputs(const Array& outputs) {
    const Shape& shape = outputs.shape();
    if (shape.empty() || shape[0] != inputs_.shape()[0]) {
      fail(Fault::data, "{}: outputs of shape {} do not fit {} records", path_, to_string(shape),
           inputs_.shape()[0]);
    }
    const std::int64_t width = shape[0] == 0 ? 1 : outputs.count() / shape[0];
    const bool floating = outputs.dtype() == DType::float32 || outputs.dtype() == DType::float64;
    const Array values = outputs.to(DType::float32);
    if (width == 1 && !floating) {
      const Array classes = outputs.to(DType::int64);
      labels_.assign(classes.as<std::int64_t>().begin(), classes.as<std::int64_t>().end());
    } else if (width > 1 && is_one_hot(values.as<float>(), static_cast<std::size_t>(width))) {
      const auto flags = values.as<float>();
      for (std::size_t i = 0; i < flags.size(); ++i) {
        if (flags[i] == 1.0F)
          labels_.push_back(static_cast<std::int64_t>(i % static_cast<std::size_t>(width)));
      }
    } else {
      targets_ = values;
      width_ = static_cast<std::size_t>(width);
    }
  }

  // One row of bytes per record, filled up with zeros.
  void take_ids(const Array& ids) {
    if (ids.dtype() != DType::uint8 || ids.shape().size() != 2 || ids.shape()[0] != inputs_.shape()[0]) {
      fail(Fault::data, "{}: 'ids' must be one row of bytes (uint8) per record, not {} of {} for {} records",
           path_, to_string(ids.shape()), to_string(ids.dtype()), inputs_.shape()[0]);
    }
    const auto width = static_cast<std::size_t>(ids.shape()[1]);
    const char* const bytes = reinterpret_cast<const char*>(ids.data());
    for (std::size_t i = 0; i < size(); ++i)
      ids_.emplace_back(bytes + i * width, strnlen(bytes + i * width, width));
  }

  // Whole numbers are delivered as int64, others as float32.
  void take_other(const NamedArray& other) {
    const Shape& shape = other.values.shape();
    if (shape.empty() || shape[0] != inputs_.shape()[0] || other.values.count() == 0)
      fail(Fault::data, "{}: input '{}' of shape {} does not fit {} records of input '{}'", path_, other.name,
           to_string(shape), inputs_.shape()[0], name_);
    const DType type = other.values.dtype();
    const bool floating = type == DType::float32 || type == DType::float64;
    others_.push_back({other.name, other.values.to(floating ? DType::float32 : DType::int64)});
  }

  static bool is_one_hot(std::span<const float> values, std::size_t width) {
    for (std::size_t row = 0; row < values.size(); row += width) {
      std::size_t ones = 0;
      for (std::size_t i = 0; i < width; ++i) {
        if (values[row + i] != 0.0F && values[row + i] != 1.0F) return false;
        ones += values[row + i] == 1.0F;
      }
      if (ones != 1) return false;
    }
    return true;
  }

  std::string path_, name_;
  Array inputs_, targets_;
  std::vector<NamedArray> others_;
  std::vector<std::int64_t> labels_;
  std::vector<std::string> ids_;
  std::size_t elements_ = 0, width_ = 0;
  Shape shape_;
  bool tokens_ = false, bytes_ = false;
};

// inputs=ids+mask: one array for each input of the network, which has the same name.
std::vector<NamedArray> named_inputs(const std::map<std::string, Array>& arrays, const DataSpec& spec) {
  if (spec.has("x"))
    fail(Fault::usage, "{}: x= names the only input and inputs= several; say one of them", spec.path);
  std::vector<NamedArray> inputs;
  for (const std::string& name : spec.words("inputs")) {
    const auto it = arrays.find(name);
    if (it == arrays.end()) {
      std::vector<std::string> names;
      for (const auto& [other, array] : arrays) names.push_back(other);
      fail(Fault::data, "{}: no array is named '{}'; there are {}", spec.path, name, joined(names));
    }
    if (std::ranges::any_of(inputs, [&](const NamedArray& input) { return input.name == name; }))
      fail(Fault::usage, "{}: inputs= names '{}' twice", spec.path, name);
    inputs.push_back({name, it->second});
  }
  return inputs;
}

std::unique_ptr<Source> open_numpy(const DataSpec& spec) {
  require_file(spec.path);
  if (!spec.path.ends_with(".npz")) {
    std::optional<Array> outputs;
    const std::string labels = spec.text("labels");
    if (!labels.empty() && !is_table_name(labels)) outputs = parse_npy(read_file(labels), labels);
    return std::make_unique<NumpySource>(spec, parse_npy(read_file(spec.path), spec.path), outputs);
  }
  const std::map<std::string, Array> arrays = read_npz(spec.path);
  const std::string part = spec.text("part");
  const std::vector<std::string> inputs =
      part.empty() ? std::vector<std::string>{"x", "X", "inputs", "images", "data", "arr_0", "x_train"}
                   : std::vector<std::string>{"x_" + part};
  const std::vector<std::string> outputs =
      part.empty() ? std::vector<std::string>{"y", "Y", "labels", "targets", "arr_1", "y_train"}
                   : std::vector<std::string>{"y_" + part};
  const auto chosen = spec.has("inputs") ? named_inputs(arrays, spec) : std::vector<NamedArray>();
  const Array* const x = chosen.empty() ? find_array(arrays, spec, "x", inputs) : &chosen.front().values;
  if (x == nullptr) {
    std::vector<std::string> names;
    for (const auto& [name, array] : arrays) names.push_back(name);
    fail(Fault::data, "{}: which array holds the inputs? there are {}; say x=NAME", spec.path, joined(names));
  }
  const Array* const y = find_array(arrays, spec, "y", outputs);
  // An input of token ids may be called so, too.
  const auto ids = arrays.find("ids");
  const bool with_ids = ids != arrays.end() && std::ranges::none_of(chosen, [](const NamedArray& input) {
                          return input.name == "ids";
                        });
  return std::make_unique<NumpySource>(
      spec, *x, y == nullptr ? std::nullopt : std::optional(*y),
      !with_ids ? std::nullopt : std::optional(ids->second), chosen.empty() ? "" : chosen.front().name,
      chosen.empty() ? chosen : std::vector(chosen.begin() + 1, chosen.end()));
}

// What the header of an .npy file says of the bytes behind it.
struct NpyParts {
  char order = '|';
  std::string_view type;  // "f4"
  Shape shape;
  bool fortran = false;
  std::string_view body;
};

NpyParts npy_parts(std::string_view bytes, const std::string& name) {
  if (bytes.size() < 10 || !bytes.starts_with("\x93NUMPY")) fail(Fault::data, "{}: not an npy file", name);
  const bool version1 = bytes[6] == 1;
  const auto byte = [&](std::size_t i) {
    return static_cast<std::size_t>(static_cast<unsigned char>(bytes[i]));
  };
  const std::size_t prefix = version1 ? 10 : 12;
  if (bytes.size() < prefix) fail(Fault::data, "{}: the npy header is cut short", name);
  const std::size_t length =
      version1 ? byte(8) | byte(9) << 8 : byte(8) | byte(9) << 8 | byte(10) << 16 | byte(11) << 24;
  if (bytes.size() - prefix < length) fail(Fault::data, "{}: the npy header is cut short", name);
  const std::string_view header = bytes.substr(prefix, length);
  const std::string_view type = field(header, "descr", name);
  const std::size_t close = type.size() > 1 ? type.find('\'', 1) : std::string_view::npos;
  if (close == std::string_view::npos || close < 3 || type[0] != '\'')
    fail(Fault::data, "{}: structured arrays are not known; save plain numbers", name);
  return {type[1], type.substr(2, close - 2), parse_shape(field(header, "shape", name), name),
          field(header, "fortran_order", name).starts_with("True"), bytes.substr(prefix + length)};
}

void append_utf8(std::string& text, std::uint32_t code, const std::string& name) {
  if (code >= 0x110000) fail(Fault::data, "{}: a text holds what is no character", name);
  const auto put = [&](std::uint32_t value) { text += static_cast<char>(value); };
  if (code < 0x80) {
    put(code);
  } else if (code < 0x800) {
    put(0xC0 | code >> 6), put(0x80 | (code & 63));
  } else if (code < 0x10000) {
    put(0xE0 | code >> 12), put(0x80 | (code >> 6 & 63)), put(0x80 | (code & 63));
  } else {
    put(0xF0 | code >> 18), put(0x80 | (code >> 12 & 63)), put(0x80 | (code >> 6 & 63)),
        put(0x80 | (code & 63));
  }
}

// The texts of an array of them ("<U5", "|S5"), as rows of bytes; nothing for an array of numbers.
std::optional<Array> text_rows(std::string_view bytes, const std::string& name) {
  const NpyParts parts = npy_parts(bytes, name);
  if (parts.type.empty() || (parts.type[0] != 'U' && parts.type[0] != 'S')) return std::nullopt;
  std::size_t width = 0;
  const auto [end, code] =
      std::from_chars(parts.type.data() + 1, parts.type.data() + parts.type.size(), width);
  const std::size_t size = width * (parts.type[0] == 'U' ? 4 : 1);
  const auto count = static_cast<std::size_t>(element_count(parts.shape));
  const bool fits = code == std::errc() && end == parts.type.data() + parts.type.size() &&
                    width <= parts.body.size() && size > 0 && parts.body.size() % size == 0 &&
                    parts.body.size() / size == count;
  if (!fits || parts.shape.size() != 1)
    fail(Fault::data, "{}: texts of type {} and shape {} are not those that the file holds", name, parts.type,
         to_string(parts.shape));
  if (parts.type[0] == 'U' && parts.order == '>')
    fail(Fault::data, "{}: big-endian texts are not known; save with .astype('<U{}')", name, width);
  std::vector<std::string> texts(count);
  for (std::size_t i = 0; i < count; ++i) {
    const char* const at = parts.body.data() + i * size;
    for (std::size_t c = 0; parts.type[0] == 'U' && c < width; ++c) {
      std::uint32_t character = 0;
      std::memcpy(&character, at + 4 * c, 4);
      if (character == 0) break;
      append_utf8(texts[i], character, name);
    }
    if (parts.type[0] == 'S') texts[i].assign(at, strnlen(at, width));
  }
  return name_rows(texts);
}

}  // namespace

Array parse_npy(std::string_view bytes, const std::string& name) {
  const NpyParts parts = npy_parts(bytes, name);
  const auto& [order, type, shape, fortran, body] = parts;
  if (order == '>') fail(Fault::data, "{}: big-endian numbers are not known; save with .astype('<f4')", name);
  const auto count = static_cast<std::uint64_t>(element_count(shape));
  const std::size_t size = type.empty() ? 0 : static_cast<std::size_t>(type.back() - '0');
  if (size == 0 || size > 8 || count > body.size() / size || count * size != body.size()) {
    fail(Fault::data, "{}: the npy header promises {} elements {} of type {}, the file holds {} bytes", name,
         count, to_string(shape), type, body.size());
  }
  if (fortran && shape.size() > 1) return elements(type, shape, turned(body, shape, size), name);
  return elements(type, shape, body, name);
}

std::map<std::string, Array> read_npz(const fs::path& path, std::uint64_t limit) {
  int code = 0;
  require_file(path);
  const std::unique_ptr<zip_t, CloseZip> archive(zip_open(path.c_str(), ZIP_RDONLY, &code));
  if (!archive) {
    fail(Fault::data, "{}: not a readable npz archive; fetch or save it again", path.string());
  }
  std::map<std::string, Array> arrays;
  std::uint64_t total = 0;
  for (zip_int64_t i = 0; i < zip_get_num_entries(archive.get(), 0); ++i) {
    zip_stat_t stat;
    if (zip_stat_index(archive.get(), static_cast<zip_uint64_t>(i), 0, &stat) != 0 ||
        (stat.valid & ZIP_STAT_SIZE) == 0) {
      fail(Fault::data, "{}: entry {} is damaged", path.string(), i);
    }
    std::string name = stat.name;
    if (!name.ends_with(".npy")) continue;
    if (stat.size > limit - total)
      fail(Fault::resources, "{}: unpacks to more than {} bytes", path.string(), limit);
    total += stat.size;
    require_memory(total + stat.size, path.string());  // an array, and the bytes it is made of
    check_interrupt();
    std::unique_ptr<zip_file_t, int (*)(zip_file_t*)> file(
        zip_fopen_index(archive.get(), static_cast<zip_uint64_t>(i), 0), zip_fclose);
    std::string bytes;
    std::string chunk(1 << 20, '\0');
    // Grows with what is really there, whatever the directory promises.
    for (zip_int64_t got = 1; file && bytes.size() <= stat.size && got > 0;) {
      got = zip_fread(file.get(), chunk.data(), chunk.size());
      if (got > 0) bytes.append(chunk.data(), static_cast<std::size_t>(got));
    }
    if (!file || bytes.size() != stat.size)
      fail(Fault::data, "{}: entry '{}' is damaged or cut short", path.string(), name);
    name.resize(name.size() - 4);
    // Texts name records; others are for whoever wrote them.
    const std::string entry = path.string() + ":" + name;
    if (const auto texts = text_rows(bytes, entry)) {
      if (name == "ids") arrays.emplace(name, *texts);
      continue;
    }
    arrays.emplace(name, parse_npy(bytes, entry));
  }
  return arrays;
}

Array name_rows(const std::vector<std::string>& names) {
  std::size_t width = 1;
  for (const std::string& name : names) width = std::max(width, name.size());
  std::vector<std::uint8_t> bytes(names.size() * width, 0);
  for (std::size_t i = 0; i < names.size(); ++i)
    std::copy(names[i].begin(), names[i].end(), bytes.begin() + static_cast<std::ptrdiff_t>(i * width));
  return Array::of<std::uint8_t>({static_cast<std::int64_t>(names.size()), static_cast<std::int64_t>(width)},
                                 bytes);
}

std::map<std::string, Array> arrays_of(const Batch& batch) {
  std::map<std::string, Array> arrays{{batch.others.empty() ? "x" : batch.input_name, batch.inputs}};
  for (const NamedArray& other : batch.others) arrays.emplace(other.name, other.values);
  if (!batch.labels.empty())
    arrays.emplace("y",
                   Array::of<std::int64_t>({static_cast<std::int64_t>(batch.labels.size())}, batch.labels));
  else if (batch.targets.count() > 0)
    arrays.emplace("y", batch.targets);
  return arrays;
}

void write_npz(const fs::path& path, const std::map<std::string, Array>& arrays) {
  write_file(path, [&](std::ostream& out) {
    StoredZip zip(out);
    for (const auto& [name, array] : arrays)
      zip.add(name + ".npy",
              {npy_header(array), {reinterpret_cast<const char*>(array.data()), array.byte_size()}});
    zip.finish();
  });
}

FormatInfo numpy_format() {
  return {"numpy",
          ".npy arrays and .npz archives; x=NAME and y=NAME choose arrays, part=test takes x_test and y_test",
          {"x", "y", "part", "inputs"},
          [](const fs::path& path, std::string_view head) {
            return head.starts_with("\x93NUMPY") || (head.starts_with("PK") && path.extension() == ".npz");
          },
          open_numpy};
}

}  // namespace assay
