#include "assay/data/files/npy.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstring>
#include <vector>

#include <assay/error.h>
#include "assay/data/files/numpy.h"
#include "assay/support/ascii.h"
#include "assay/support/text/characters.h"

namespace assay::inline data {
namespace {

// The text after 'key': in the header's dictionary; of a key that stands twice the last counts, as in Python.
std::string_view field(std::string_view header, std::string_view key, const std::string& name) {
  const std::size_t at = header.rfind(fmt::format("'{}'", key));
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

Array raw(DType dtype, const Shape& shape, std::string_view bytes) {
  const auto* begin = reinterpret_cast<const std::byte*>(bytes.data());
  return Array(dtype, shape, {begin, begin + bytes.size()});
}

}  // namespace

NpyHeader parse_npy_header(std::string_view bytes, const std::string& name) {
  if (bytes.size() < 10 || !bytes.starts_with("\x93NUMPY")) fail(Fault::data, "{}: not an npy file", name);
  const bool version1 = bytes[6] == 1;
  const auto byte = [&](std::size_t i) { return std::size_t{byte_of(bytes[i])}; };
  const std::size_t prefix = version1 ? 10 : 12;
  if (bytes.size() < prefix) fail(Fault::data, "{}: the npy header is cut short", name);
  const std::size_t length =
      version1 ? byte(8) | byte(9) << 8 : byte(8) | byte(9) << 8 | byte(10) << 16 | byte(11) << 24;
  if (length > longest_npy_header - prefix)
    fail(Fault::data, "{}: an npy header of {} bytes; structured arrays are not known, save plain numbers",
         name, length);
  if (bytes.size() - prefix < length) fail(Fault::data, "{}: the npy header is cut short", name);
  const std::string_view header = bytes.substr(prefix, length);
  const std::string_view type = field(header, "descr", name);
  const std::size_t close = type.size() > 1 ? type.find('\'', 1) : std::string_view::npos;
  if (close == std::string_view::npos || close < 3 || type[0] != '\'')
    fail(Fault::data, "{}: structured arrays are not known; save plain numbers", name);
  return {type[1], std::string(type.substr(2, close - 2)), parse_shape(field(header, "shape", name), name),
          field(header, "fortran_order", name).starts_with("True"), prefix + length};
}

std::size_t npy_element_size(const NpyHeader& header, const std::string& name) {
  if (header.type == "O")
    fail(Fault::data, "{}: it holds Python objects; save plain numbers or texts (.astype(str))", name);
  const std::size_t size = header.type.back() - '0';
  return size <= 8 ? size : 0;
}

void require_npy_body(const NpyHeader& header, std::uint64_t body, const std::string& name) {
  const std::uint64_t count = element_count(header.shape);
  const std::size_t size = npy_element_size(header, name);
  if (size == 0 || count > body / size || count * size != body) {
    fail(Fault::data, "{}: the npy header promises {} elements {} of type {}, the file holds {} bytes", name,
         count, to_string(header.shape), header.type, body);
  }
}

bool NpyHeader::is_foreign() const {
  return order == (std::endian::native == std::endian::little ? '>' : '<');
}

void npy_to_native(const NpyHeader& header, std::size_t element_size, char* bytes, std::size_t count) {
  if (!header.is_foreign()) return;
  for (std::size_t at = 0; at + element_size <= count; at += element_size)
    std::reverse(bytes + at, bytes + at + element_size);
}

Array npy_elements(std::string_view type, const Shape& shape, std::string_view bytes,
                   const std::string& name) {
  if (type == "f4") return raw(DType::float32, shape, bytes);
  if (type == "f8") return raw(DType::float64, shape, bytes);
  if (type == "i8") return raw(DType::int64, shape, bytes);
  if (type == "i4") return raw(DType::int32, shape, bytes);
  if (type == "i1") return raw(DType::int8, shape, bytes);
  if (type == "u1") return raw(DType::uint8, shape, bytes);
  if (type == "b1") return raw(DType::uint8, shape, bytes).to(DType::boolean);
  if (type == "i2") return raw(DType::int16, shape, bytes);
  if (type == "u2") return raw(DType::uint16, shape, bytes);
  if (type == "u4") return raw(DType::uint32, shape, bytes);
  if (type == "u8") return raw(DType::uint64, shape, bytes);
  if (type == "f2") return raw(DType::float16, shape, bytes);
  fail(Fault::data, "{}: element type '{}' is not known; save numbers (float, int, uint8 or bool)", name,
       type);
}

DType npy_dtype(std::string_view type, const std::string& name) {
  return npy_elements(type, {0}, {}, name).dtype();
}

std::string npy_transposed(std::string_view bytes, const Shape& shape, std::size_t element_size) {
  std::string result(bytes.size(), '\0');
  std::vector<std::int64_t> at(shape.size(), 0);
  for (std::size_t row = 0; row < bytes.size() / element_size; ++row) {
    std::size_t column = 0, stride = 1;
    for (std::size_t d = 0; d < shape.size(); ++d) {
      column += static_cast<std::size_t>(at[d]) * stride;
      stride *= static_cast<std::size_t>(shape[d]);
    }
    std::memcpy(result.data() + row * element_size, bytes.data() + column * element_size, element_size);
    for (std::size_t d = shape.size(); d-- > 0 && ++at[d] == shape[d];) at[d] = 0;
  }
  return result;
}

Array parse_npy(std::string_view bytes, const std::string& name) {
  const NpyHeader header = parse_npy_header(bytes, name);
  const std::string_view stored = bytes.substr(header.begin);
  require_npy_body(header, stored.size(), name);
  const bool transposed = header.fortran && header.shape.size() > 1;
  if (!transposed && !header.is_foreign()) return npy_elements(header.type, header.shape, stored, name);
  const std::size_t size = npy_element_size(header, name);
  std::string body(stored);
  npy_to_native(header, size, body.data(), body.size());
  if (transposed) body = npy_transposed(body, header.shape, size);
  return npy_elements(header.type, header.shape, body, name);
}

Array parse_npy_texts(std::string_view bytes, const std::string& name) {
  const NpyHeader header = parse_npy_header(bytes, name);
  const std::string_view body = bytes.substr(header.begin);
  const bool wide = header.type.starts_with('U');
  const char* const end = header.type.data() + header.type.size();
  std::size_t width = 0;
  const auto [stop, code] = std::from_chars(header.type.data() + 1, end, width);
  const std::size_t size = width * (wide ? 4 : 1);
  const std::size_t count = element_count(header.shape);
  const bool fits = code == std::errc() && stop == end && width <= body.size() && size > 0 &&
                    body.size() % size == 0 && body.size() / size == count;
  if (!fits || header.shape.size() != 1)
    fail(Fault::data, "{}: texts of type {} and shape {} are not those that the file holds", name,
         header.type, to_string(header.shape));
  std::string characters(body);
  if (wide) npy_to_native(header, 4, characters.data(), characters.size());
  std::vector<std::string> texts(count);
  for (std::size_t i = 0; i < count; ++i) {
    const char* const at = characters.data() + i * size;
    for (std::size_t c = 0; wide && c < width; ++c) {
      std::uint32_t character = 0;
      std::memcpy(&character, at + 4 * c, 4);
      if (character == 0) break;
      if (character >= 0x110000)
        fail(Fault::data, "{}: a text contains bytes that are not a character", name);
      texts[i] += character_of(character);
    }
    if (!wide) texts[i].assign(at, strnlen(at, width));
  }
  return name_rows(texts);
}

}  // namespace assay::inline data
