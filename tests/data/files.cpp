#include "files.h"

#include <archive.h>
#include <archive_entry.h>
#include <jpeglib.h>
#include <zlib.h>

#include <cstdlib>
#include <numeric>

#include <assay/dataset.h>
#include "assay/support/files/file.h"

namespace assay::testing {
namespace fs = std::filesystem;

fs::path temporary(const std::string& name) {
  const auto* const info = ::testing::UnitTest::GetInstance()->current_test_info();
  static std::string last;
  std::string test = fmt::format("{}_{}", info->test_suite_name(), info->name());
  for (char& c : test) c = c == '/' ? '_' : c;
  const fs::path folder = fs::path(::testing::TempDir()) / "assay_data" / test;
  if (last != test) fs::remove_all(folder);
  last = test;
  fs::create_directories((folder / name).parent_path());
  return folder / name;
}

std::string put(const std::string& name, std::string_view bytes) {
  const fs::path path = temporary(name);
  write_file(path, bytes);
  return path.string();
}

std::string gzipped(std::string_view bytes) {
  z_stream stream{};
  deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
  std::string result(deflateBound(&stream, bytes.size()) + 32, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(result.data());
  stream.avail_out = static_cast<uInt>(result.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  result.resize(stream.total_out);
  deflateEnd(&stream);
  return result;
}

std::string idx_bytes(int type, const std::vector<std::uint32_t>& shape, std::string_view elements) {
  std::string bytes{'\0', '\0', static_cast<char>(type), static_cast<char>(shape.size())};
  for (const std::uint32_t dim : shape) {
    for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(dim >> shift & 255);
  }
  return bytes.append(elements);
}

std::string npy_bytes(const std::string& dictionary, std::string_view elements) {
  std::string header = dictionary;
  header.append(63 - (header.size() + 10) % 64, ' ');
  header += '\n';
  std::string bytes("\x93NUMPY\x01\0", 8);
  bytes += static_cast<char>(header.size() & 255);
  bytes += static_cast<char>(header.size() >> 8);
  return (bytes + header).append(elements);
}

std::string put_archive(const std::string& name, const std::vector<Entry>& entries) {
  const fs::path path = temporary(name);
  archive* const out = archive_write_new();
  if (name.ends_with(".zip"))
    archive_write_set_format_zip(out);
  else
    archive_write_set_format_pax_restricted(out);
  if (name.ends_with(".gz")) archive_write_add_filter_gzip(out);
  EXPECT_EQ(archive_write_open_filename(out, path.c_str()), ARCHIVE_OK);
  for (const Entry& item : entries) {
    archive_entry* const entry = archive_entry_new();
    archive_entry_set_pathname(entry, item.name.c_str());
    archive_entry_set_perm(entry, 0644);
    archive_entry_set_filetype(entry, item.kind == Entry::Kind::folder    ? AE_IFDIR
                                      : item.kind == Entry::Kind::symlink ? AE_IFLNK
                                                                          : AE_IFREG);
    if (item.kind == Entry::Kind::symlink) archive_entry_set_symlink(entry, item.bytes.c_str());
    if (item.kind == Entry::Kind::hardlink) archive_entry_set_hardlink(entry, item.bytes.c_str());
    const bool is_file = item.kind == Entry::Kind::file;
    archive_entry_set_size(entry, is_file ? static_cast<la_int64_t>(item.bytes.size()) : 0);
    EXPECT_EQ(archive_write_header(out, entry), ARCHIVE_OK) << archive_error_string(out);
    if (is_file) archive_write_data(out, item.bytes.data(), item.bytes.size());
    archive_entry_free(entry);
  }
  EXPECT_EQ(archive_write_close(out), ARCHIVE_OK);
  archive_write_free(out);
  return path.string();
}

Image picture(int width, int height, int channels, int number) {
  Image image = make_image(width, height, channels);
  for (std::size_t i = 0; i < image.pixels.size(); ++i)
    image.pixels[i] = static_cast<std::uint8_t>((static_cast<std::size_t>(number) * 41 + i * 7) % 256);
  return image;
}

std::string png_bytes(const Image& image) {
  const fs::path path = temporary("picture.png.tmp");
  write_png(path, image);
  std::string bytes = read_file(path);
  fs::remove(path);
  return bytes;
}

std::string jpeg_bytes(const Image& image, bool progressive) {
  jpeg_compress_struct jpeg;
  jpeg_error_mgr errors;
  jpeg.err = jpeg_std_error(&errors);
  jpeg_create_compress(&jpeg);
  unsigned char* memory = nullptr;
  unsigned long size = 0;
  jpeg_mem_dest(&jpeg, &memory, &size);
  jpeg.image_width = static_cast<JDIMENSION>(image.width);
  jpeg.image_height = static_cast<JDIMENSION>(image.height);
  jpeg.input_components = image.channels;
  jpeg.in_color_space = image.channels == 3 ? JCS_RGB : JCS_GRAYSCALE;
  jpeg_set_defaults(&jpeg);
  jpeg_set_quality(&jpeg, 100, TRUE);
  if (progressive) jpeg_simple_progression(&jpeg);
  jpeg_start_compress(&jpeg, TRUE);
  while (jpeg.next_scanline < jpeg.image_height) {
    auto* row = const_cast<JSAMPROW>(
        image.pixels.data() + jpeg.next_scanline * static_cast<std::size_t>(image.width * image.channels));
    jpeg_write_scanlines(&jpeg, &row, 1);
  }
  jpeg_finish_compress(&jpeg);
  std::string bytes(reinterpret_cast<char*>(memory), size);
  jpeg_destroy_compress(&jpeg);
  std::free(memory);
  return bytes;
}

namespace {
Batch read_all(const Dataset& dataset) {
  std::vector<std::size_t> indices(dataset.size());
  std::iota(indices.begin(), indices.end(), std::size_t{0});
  return dataset.read(indices);
}
}  // namespace

std::vector<float> values(const Dataset& dataset, std::size_t index) {
  const std::size_t indices[] = {index};
  const Batch batch = dataset.read(indices);
  const auto elements = batch.inputs.as<float>();
  return {elements.begin(), elements.end()};
}

std::vector<float> all_values(const Dataset& dataset) {
  const Batch batch = read_all(dataset);
  const auto elements = batch.inputs.as<float>();
  return {elements.begin(), elements.end()};
}

std::vector<std::int64_t> labels(const Dataset& dataset) { return read_all(dataset).labels; }

std::vector<std::string> ids(const Dataset& dataset) {
  std::vector<std::string> result;
  for (std::size_t i = 0; i < dataset.size(); ++i) result.push_back(dataset.id(i));
  return result;
}

void expect_error(Fault fault, const std::vector<std::string>& parts, const std::function<void()>& act) {
  try {
    act();
  } catch (const Error& error) {
    EXPECT_EQ(error.fault(), fault) << error.what();
    for (const std::string& part : parts) EXPECT_THAT(error.what(), ::testing::HasSubstr(part));
    return;
  }
  ADD_FAILURE() << "no error; expected: " << ::testing::PrintToString(parts);
}

void expect_data_error(Fault fault, const std::vector<std::string>& parts, const std::string& spec) {
  expect_error(fault, parts, [&] { read_all(*open_dataset(spec)); });
}

}  // namespace assay::testing
