#pragma once

// Data files that tests write, and how they look at what was read.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <assay/dataset.h>
#include <assay/error.h>
#include "assay/data/files/image.h"

namespace assay::testing {

// A path in an empty folder of the running test's own.
std::filesystem::path temporary(const std::string& name);

// Writes bytes under a temporary name and returns the path as text.
std::string put(const std::string& name, std::string_view bytes);

std::string gzipped(std::string_view bytes);

// IDX with the given element type, e.g. 0x08, and big-endian element bytes.
std::string idx_bytes(int type, const std::vector<std::uint32_t>& shape, std::string_view elements);

// .npy version 1 with the header's dictionary as text.
std::string npy_bytes(const std::string& dictionary, std::string_view elements);
template <typename T>
std::string raw_bytes(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

struct Entry {
  std::string name, bytes;
  enum class Kind { file, folder, symlink, hardlink } kind = Kind::file;  // of links, `bytes` is the target
};
// An archive made by libarchive; the ending of the name chooses .tar, .tar.gz or .zip.
std::string put_archive(const std::string& name, const std::vector<Entry>& entries);

// A picture whose pixels follow from its size and a number.
Image picture(int width, int height, int channels, int number);
std::string png_bytes(const Image& image);
std::string jpeg_bytes(const Image& image, bool progressive = false);

// Elements of one record, or of all records in order.
std::vector<float> values(const Dataset& dataset, std::size_t index);
std::vector<float> all_values(const Dataset& dataset);
std::vector<std::int64_t> labels(const Dataset& dataset);
std::vector<std::string> ids(const Dataset& dataset);

// Expects an Error of this kind whose message holds every one of the parts.
void expect_error(Fault fault, const std::vector<std::string>& parts, const std::function<void()>& act);
// The same, opening the data set and reading it whole.
void expect_data_error(Fault fault, const std::vector<std::string>& parts, const std::string& spec);

}  // namespace assay::testing
