#pragma once

// NumPy's .npy arrays: a header that tells type and shape, then the elements.

#include <cstdint>
#include <string>
#include <string_view>

#include <assay/array.h>

namespace assay::inline data {

struct NpyHeader {
  char order = '|';
  std::string type;  // "f4"
  Shape shape;
  bool fortran = false;     // columns first
  std::uint64_t begin = 0;  // of the elements, in the file
  // Whether its numbers have their bytes in another order than this machine's.
  bool is_foreign() const;
  bool is_text() const { return type.starts_with('U') || type.starts_with('S'); }
};

// No supported header is longer.
inline constexpr std::size_t longest_npy_header = std::size_t{1} << 16;

// From the first bytes of a file, `longest_npy_header` of them or all. `name` stands in messages. Throws
// Error{data}.
NpyHeader parse_npy_header(std::string_view bytes, const std::string& name);

// Bytes of one element of a number. Throws Error{data} for Python objects.
std::size_t npy_element_size(const NpyHeader& header, const std::string& name);
// Throws Error{data} unless `body` bytes of elements are as many as the shape says.
void require_npy_body(const NpyHeader& header, std::uint64_t body, const std::string& name);

// Elements of a type ("f4"), of the same one. REQUIRES as many bytes as the shape needs.
// Throws Error{data} for types that are not known.
Array npy_elements(std::string_view type, const Shape& shape, std::string_view bytes,
                   const std::string& name);
// The element type that these have.
DType npy_dtype(std::string_view type, const std::string& name);

// Puts elements of so many bytes into this machine's order.
void npy_to_native(const NpyHeader& header, std::size_t element_size, char* bytes, std::size_t count);

// Column-major bytes in row-major order.
std::string npy_transposed(std::string_view bytes, const Shape& shape, std::size_t element_size);

// Parses one .npy file. Arrays in Fortran order and big-endian numbers are converted. `name` stands in
// messages. Throws Error{data}.
Array parse_npy(std::string_view bytes, const std::string& name);

// The texts of a file of them ("<U5", "|S5"), as rows of bytes (name_rows()). Throws Error{data}.
Array parse_npy_texts(std::string_view bytes, const std::string& name);

}  // namespace assay::inline data
