// Every data format on arbitrary bytes, through the catalogue: the first byte chooses the format, a line of
// options follows, the rest is the file. Anything but a data set or an Error is a defect.

#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>

#include <assay/dataset.h>
#include <assay/error.h>
#include <assay/extend/data_format.h>
#include "assay/data/files/image.h"
#include "assay/data/files/npy_rows.h"
#include "assay/data/files/numpy.h"
#include "assay/data/spec.h"
#include "seeds.h"

namespace {

namespace fs = std::filesystem;

// In memory where the system has a place for that.
fs::path scratch_file() {
  const fs::path memory = "/dev/shm";
  const fs::path folder = fs::exists(memory) ? memory : fs::temp_directory_path();
  setenv("TMPDIR", folder.c_str(), 1);  // of decompressed archives, too
  return folder / ("assay_fuzz_" + std::to_string(getpid()) + ".bin");
}

std::string made(const std::function<void(const fs::path&)>& write) {
  const fs::path file = scratch_file();
  write(file);
  const std::string bytes = assay::read_file(file);
  fs::remove(file);
  return bytes;
}

// One small file of each kind; archives of pictures are found from the tar header of the first.
std::vector<std::string> seeds() {
  using assay::Array;
  const std::string png =
      made([](const fs::path& file) { assay::write_png(file, assay::make_image(3, 2, 3)); });
  const std::string npz = made([](const fs::path& file) {
    assay::write_npz(file,
                     {{"x", Array::of<float>({2, 1}, {1, 2})}, {"y", Array::of<std::int64_t>({2}, {0, 1})}});
  });
  const std::string npy = npz.substr(npz.find("\x93NUMPY"), 128 + 8);
  std::string tar(512, '\0');
  const auto field = [&](std::size_t at, const std::string& text) { tar.replace(at, text.size(), text); };
  field(0, "a/0.png");
  field(100, "0000644");
  char size[12];
  std::snprintf(size, sizeof size, "%011zo", png.size());
  field(124, size);
  field(136, "00000000000");
  field(148, "        ");
  field(156, "0");
  field(257, std::string("ustar\00000", 8));
  unsigned sum = 0;
  for (const char c : tar) sum += static_cast<unsigned char>(c);
  char checksum[8];
  std::snprintf(checksum, sizeof checksum, "%06o", sum);
  field(148, std::string(checksum, 7));
  tar += png;
  tar.resize((tar.size() + 511) / 512 * 512 + 1024, '\0');
  std::vector<std::string> bodies{"",
                                  npy,
                                  std::string("\0\0\x08\x03\0\0\0\2\0\0\0\1\0\0\0\2abcd", 20),
                                  std::string(3073, '\1'),
                                  tar,
                                  "a,b\n1,2\n3,4\n",
                                  "ab cd\tx\ne\ty\n"};
  std::vector<std::string> result;
  for (std::size_t i = 0; i < bodies.size(); ++i)
    result.push_back(static_cast<char>(i) + std::string("\n") + bodies[i]);
  result.push_back("\x01.npz\n" + npz);
  result.push_back(std::string("\x02") + ",scale=1/255,mean=0.5,std=0.25,range=0:1,layout=nhwc[1:][::-1]\n" +
                   bodies[2]);
  result.push_back(std::string("\x04") + ",color=grey,resize=2x2,under=a[:1]\n" + tar);
  result.push_back(std::string("\x05") + ",label=b,classes=2,per_class=1,seed=3\n" + bodies[5]);
  result.push_back("\x07\n" + png);
  return result;
}

void open_and_read(const std::string& spec) {
  const assay::DatasetPtr data = assay::open_dataset(spec);
  if (assay::element_count(data->record_shape()) > 1 << 22) return;  // allowed, but slow
  const std::vector<std::size_t> ends{0, data->size() - 1};
  data->read(ends);
  data->id(0);
  data->describe();
  data->class_names();
}

// As arrays that are too large for memory.
void read_in_place(const std::string& file) {
  const assay::NpzFile archive(file);
  for (const assay::NpzEntry& entry : archive.entries()) {
    if (entry.header.shape.empty() || entry.header.shape[0] == 0) continue;
    const assay::NpyRows rows(archive, entry, 0);
    const std::int64_t count = assay::element_count(rows.shape());
    if (count > 1 << 22) continue;
    std::vector<std::int64_t> row(static_cast<std::size_t>(count / rows.shape()[0]));
    rows.read(0, assay::DType::int64, row.data());
  }
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  assay::fuzz::write_seeds_if_asked(seeds());
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const std::string file = scratch_file().string();
  static const std::string npz = file + ".npz";
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const std::size_t line = bytes.find('\n', 1);
  if (line == std::string_view::npos) return 0;
  static const std::vector<std::string> formats = assay::data_formats().names();
  const std::size_t choice = data[0] % (formats.size() + 1);
  std::string options(bytes.substr(1, line - 1));
  const bool is_npz = options.starts_with(".npz");
  if (is_npz) options.erase(0, 4);
  const std::string& path = is_npz ? npz : file;
  std::ofstream(path, std::ios::binary)
      .write(bytes.data() + line + 1, static_cast<std::streamsize>(size - line - 1));
  try {
    if (choice == formats.size()) {
      assay::decode_image(bytes.substr(line + 1), "picture");
    } else if (formats[choice] == "digits") {
      assay::parse_spec(std::string(bytes.substr(1)));
    } else {
      if (is_npz) read_in_place(path);
      open_and_read(path + ",format=" + formats[choice] + options);
    }
  } catch (const assay::Error&) {
  }
  fs::remove(path);
  return 0;
}
