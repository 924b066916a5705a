// Hostile files, made small: bombs, absurd sizes, names that act. Each is a clear error in little memory, or
// shown harmlessly.

#include <sys/stat.h>
#include <zlib.h>

#include <assay/dataset.h>
#include <assay/error.h>
#include <nlohmann/json.hpp>
#include "assay/data/files/image.h"
#include "assay/data/files/numpy.h"
#include "tests/hardness/little_memory.h"
#include "tests/program/program.h"

namespace assay {
namespace {

namespace fs = std::filesystem;

class Hostile : public Program {
 protected:
  // Compressed piece by piece, so that bombs take no memory here.
  fs::path gzip_bomb(const std::string& name, const std::string& head, char fill,
                     std::size_t mebibytes) const {
    const fs::path path = folder / name;
    gzFile file = gzopen(path.c_str(), "wb1");
    gzwrite(file, head.data(), static_cast<unsigned>(head.size()));
    const std::string piece(1 << 20, fill);
    for (std::size_t i = 0; i < mebibytes; ++i) gzwrite(file, piece.data(), 1 << 20);
    gzclose(file);
    return path;
  }

  // The program in an address space of 6 GiB, which libraries alone take a third of.
  void expect_refused(const std::string& arguments, int code, const std::string& words) const {
    const Outcome outcome = shell(little_memory(6) + "$assay " + arguments);
    EXPECT_EQ(outcome.code, code) << arguments << ": " << outcome.err;
    EXPECT_NE(outcome.err.find(words), std::string::npos) << arguments << ": " << outcome.err;
  }
};

TEST_F(Hostile, CompressedBombs) {
  gzip_bomb("rows.csv.gz", "a,b\n", '\n', 260);
  expect_refused("data rows.csv.gz", 8, "unpacks to more than");
  gzip_bomb("bomb-images-idx3-ubyte.gz", std::string("\0\0\x08\x03\x7f\0\0\0\0\0\0\x20\0\0\0\x20", 16), '\0',
            300);
  expect_refused("data bomb-images-idx3-ubyte.gz", 8, "unpacks to more than");
  gzip_bomb("words.txt.gz", "a", 'a', 260);
  expect_refused("data words.txt.gz,format=text", 8, "unpacks to more than");
}

TEST_F(Hostile, TablesAndTextsOfNoReasonableShape) {
  write_file(folder / "wide.csv", std::string(3 << 20, ','));
  expect_refused("data wide.csv", 5, "columns are not reasonable");
  write_file(folder / "field.csv", "1," + std::string(2 << 20, '1'));
  expect_refused("data field.csv", 5, "a field of more than");
  write_file(folder / "line.txt", "ab\n" + std::string(2 << 20, 'x'));
  expect_refused("data line.txt", 5, "line.txt:2: a line of more than");
  write_file(folder / "fields.csv", std::string(400'000, '1').replace(200'000, 1, "\n"));
  std::string rows;
  for (int i = 0; i < 200'000; ++i) rows += "1,2,3,4\n";
  write_file(folder / "rows.csv", rows);
  expect_refused("data rows.csv --memory 0.02", 8, "rows.csv");
  EXPECT_EQ(assay("data rows.csv").code, 0);
}

TEST_F(Hostile, ArraysLargerThanTheLimit) {
  write_npz(folder / "x.npz", {{"x", Array::of<float>({1'000'000, 4}, std::vector<float>(4'000'000))}});
  expect_refused("data x.npz --memory 0.01", 8, "x.npz");
  EXPECT_EQ(assay("data x.npz --quiet").code, 0);
}

TEST_F(Hostile, LargePicturesAreReadFewAtATime) {
  fs::create_directories(folder / "pictures");
  for (int i = 0; i < 12; ++i)
    write_png(folder / "pictures" / (std::to_string(i) + ".png"), make_image(1500, 1500, 1));
  EXPECT_EQ(assay("data pictures --quiet --memory 0.07 --write x.npz").code, 8) << "all at once is too much";
  EXPECT_EQ(assay("evaluate --model net.onnx --data pictures --memory 0.07").code, 6);
  write_png(folder / "small.png", make_image(2, 2, 1));
  EXPECT_EQ(assay("data pictures,resize=8193x8192").code, 1);
}

TEST_F(Hostile, PipesAndDevicesAreNoData) {
  for (const char* name : {"pipe", "pipe.npz"}) ASSERT_EQ(::mkfifo((folder / name).c_str(), 0600), 0);
  for (const char* name : {"pipe", "pipe,format=numpy", "/dev/zero", "pipe.npz"}) {
    expect_refused(std::string("data ") + name, 7, "pipe or device");
  }
}

TEST_F(Hostile, NamesActOnNothing) {
  const std::string evil = "\x1b[2J\x1b]0;owned\x07\xE2\x80\xAEgnp=cmd";
  fs::create_directories(folder / "pictures" / evil);
  fs::create_directories(folder / "pictures" / "=1+1");
  for (const std::string& name : {evil, std::string("=1+1")}) {
    for (int i = 0; i < 2; ++i)
      write_png(folder / "pictures" / name / (std::to_string(i) + ".png"), make_image(4, 4, 1));
  }
  const Outcome outcome =
      assay("data pictures --json r.json --csv tables --html r.html --markdown r.md --junit r.xml");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const auto acts = [](const std::string& text) {
    return text.find('\x1b') != std::string::npos || text.find("\xE2\x80\xAE") != std::string::npos ||
           text.find('\x07') != std::string::npos;
  };
  EXPECT_FALSE(acts(outcome.out)) << outcome.out;
  EXPECT_FALSE(acts(outcome.err)) << outcome.err;
  for (const char* file : {"tables/classes.csv", "r.md", "r.xml"})
    EXPECT_FALSE(acts(read_file(folder / file))) << file;
  const std::string page = read_file(folder / "r.html");
  EXPECT_EQ(page.find("\\u001b[2J"), std::string::npos);
  EXPECT_NE(read_file(folder / "tables" / "classes.csv").find("'=1+1"), std::string::npos);
  EXPECT_NE(nlohmann::json::parse(read_file(folder / "r.json")).dump().find("\\u001b[2J"), std::string::npos)
      << "exact in JSON";
  const Outcome missing =
      shell("$assay evaluate --model \"$(printf 'no\\033[2Jne.onnx')\" --data images-idx3-ubyte");
  EXPECT_EQ(missing.code, 7);
  EXPECT_FALSE(acts(missing.err)) << missing.err;
}

TEST_F(Hostile, ADocumentPutsOnlyPicturesIntoAPage) {
  write_file(folder / "secret", "root:x:0:0:secret-content");
  write_png(folder / "real.png", make_image(4, 4, 1));
  write_file(folder / "disguised.png", "\x89PNG\r\n\x1a\n secret-content");
  ASSERT_EQ(assay("evaluate --quiet --model net.onnx --data images-idx3-ubyte --json r.json").code, 0);
  auto document = nlohmann::ordered_json::parse(read_file(folder / "r.json"));
  document["pictures"] = nlohmann::ordered_json::array();
  for (const char* path : {"secret", "real.png", "disguised.png", "/dev/zero", "/proc/self/environ", "."})
    document["pictures"].push_back({{"title", path}, {"path", path}});
  write_file(folder / "r.json", document.dump());
  const Outcome outcome = assay("report r.json --out page.html");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const std::string page = read_file(folder / "page.html");
  std::size_t pictures = 0;
  for (std::size_t at = page.find("\"data:image/png;base64,"); at != std::string::npos;
       at = page.find("\"data:image/png;base64,", at + 1))
    ++pictures;
  EXPECT_EQ(pictures, 1U);
}

}  // namespace
}  // namespace assay
