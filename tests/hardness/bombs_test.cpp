// Files that promise more than they hold, hold more than they promise, or never end: one message each, in
// bounded memory and processor time.

#include <sqlite3.h>

#include <assay/error.h>
#include <assay/model.h>
#include <nlohmann/json.hpp>
#include "assay/data/files/image.h"
#include "assay/data/files/numpy.h"
#include "tests/hardness/little_memory.h"
#include "tests/program/program.h"

#include "tests/model/keras_build.h"  // after it, for its namespace `testing`

namespace assay {
namespace {

namespace fs = std::filesystem;
using assay::testing::Hdf5Writer;

std::string little_endian(std::uint64_t value, int bytes) {
  std::string text;
  for (int i = 0; i < bytes; ++i) text += static_cast<char>(value >> (8 * i));
  return text;
}

std::string big_endian(std::uint32_t value) {
  std::string text = little_endian(value, 4);
  std::reverse(text.begin(), text.end());
  return text;
}

std::string repeated(std::string_view part, std::size_t times) {
  std::string text;
  text.reserve(part.size() * times);
  for (std::size_t i = 0; i < times; ++i) text += part;
  return text;
}

class Bombs : public Program {
 protected:
  // Refused with one message, by code below 70, in the address space and the processor time of a small
  // machine.
  void expect_refused(const std::string& arguments, const std::string& what) const {
    const Outcome outcome = told(arguments, what);
    EXPECT_NE(outcome.code, 0) << what;
    EXPECT_EQ(std::ranges::count(outcome.err, '\n'), 1) << what << ": " << outcome.err.substr(0, 2000);
    EXPECT_TRUE(outcome.err.starts_with("assay: ")) << what << ": " << outcome.err.substr(0, 2000);
    EXPECT_LT(outcome.err.size(), 2000U) << what;
  }
  // The same, but it may be a result.
  Outcome told(const std::string& arguments, const std::string& what) const {
    const Outcome outcome = shell(little_memory(4) + little_time + "$assay " + arguments +
                                  " --quiet --memory 0.5" + one_thread(arguments));
    EXPECT_LT(outcome.code, 70) << what << ": " << outcome.err;
    EXPECT_GE(outcome.code, 0) << what;
    EXPECT_EQ(outcome.err.find("out of memory"), std::string::npos) << what << ": " << outcome.err;
    return outcome;
  }
};

TEST_F(Bombs, Safetensors) {
  const auto refused = [&](const std::string& header, const std::string& data, std::uint64_t length,
                           const std::string& what) {
    write_file(folder / "w.safetensors", little_endian(length, 8) + header + data);
    expect_refused("model net.onnx,weights=w.safetensors", what);
  };
  const auto tensors = [&](const std::string& header, const std::string& what) {
    refused(header, std::string(64, '\0'), header.size(), what);
  };
  refused("{}", "", std::uint64_t{1} << 63, "a header of 2^63 bytes");
  refused("{}", "", ~std::uint64_t{0}, "a header of 2^64 - 1 bytes");
  refused("{}", "", std::uint64_t{1} << 40, "a header of 2^40 bytes");
  tensors(repeated("{\"a\":", 2'000'000), "a header nested two million times");
  tensors("{\"__metadata__\":" + repeated("[", 3'000'000), "metadata nested three million times");
  tensors(
      "{\"w1\":{\"dtype\":\"F32\",\"shape\":[" + repeated("1,", 7'000'000) + "1],\"data_offsets\":[0,4]}}",
      "a shape of seven million dimensions");
  std::string many = "{";
  for (int i = 0; i < 400'000; ++i) many += fmt::format("\"{}\":{{\"dtype\":\"F32\",\"shape\":[0]}},", i);
  many.back() = '}';
  tensors(many, "400,000 tensors");
  tensors("{\"w1\":{\"dtype\":\"F32\",\"shape\":[4294967296,4294967296],\"data_offsets\":[0,0]}}",
          "a product of 2^64");
  tensors("{\"w1\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[8,0]}}", "an end before its beginning");
  tensors(
      "{\"w1\":{\"dtype\":\"F32\",\"shape\":[8],\"data_offsets\":[0,32]},"
      "\"w2\":{\"dtype\":\"F32\",\"shape\":[8],\"data_offsets\":[16,48]}}",
      "overlapping tensors");
  tensors("{\"w1\":{\"dtype\":\"F32\",\"shape\":[-1,-8],\"data_offsets\":[0,32]}}", "negative sizes");
}

TEST_F(Bombs, NumPyArrays) {
  const auto array = [](const std::string& shape, const std::string& type, std::size_t bytes) {
    std::string header = "{'descr': '" + type + "', 'fortran_order': False, 'shape': (" + shape + "), }";
    header.resize((header.size() + 10 + 64) / 64 * 64 - 10, ' ');
    return "\x93NUMPY\x01" + std::string(1, '\0') + little_endian(header.size(), 2) + header +
           std::string(bytes, '\1');
  };
  const std::string huge = "4611686018427387904";
  for (const std::string& shape :
       {"0, " + huge + ", " + huge, huge + ", 0", huge + ", 4", std::string("4294967296, 4294967296"),
        std::string("9223372036854775807, 3"), std::string("18446744073709551616"), std::string("-1, -4"),
        repeated("1, ", 40), repeated("0, ", 33), std::string("1e9"), std::string("")}) {
    for (const char* type : {"<f4", "|u1", "<U268435455", "|O"}) {
      write_file(folder / "x.npy", array(shape, type, 16));
      expect_refused("data x.npy", "an array of shape (" + shape.substr(0, 60) + ") and type " + type);
    }
  }
  write_file(folder / "x.npy", "\x93NUMPY\x02" + std::string(1, '\0') + little_endian(0xFFFFFFFF, 4) + "{");
  expect_refused("data x.npy", "a header of 4 GiB");
}

// Sizes in an archive's directory that are not those of its members.
TEST_F(Bombs, ArchivesOfArraysWithFalseSizes) {
  write_npz(folder / "x.npz", {{"x", Array::of<float>({100, 4}, std::vector<float>(400, 1.0F))},
                               {"y", Array::of<std::int64_t>({100}, std::vector<std::int64_t>(100))}});
  const std::string sound = read_file(folder / "x.npz");
  std::size_t places = 0;
  for (const std::string signature : {"PK\x01\x02", "PK\x03\x04"}) {
    const std::size_t sizes = signature[2] == '\x01' ? 20 : 18;
    for (std::size_t at = sound.find(signature); at != std::string::npos;
         at = sound.find(signature, at + 1)) {
      for (const std::uint32_t size : {0U, 1U, 0x7FFFFFFFU, 0xFFFFFFFFU}) {
        for (const std::size_t field : {sizes, sizes + 4}) {
          std::string other = sound;
          other.replace(at + field, 4, little_endian(size, 4));
          write_file(folder / "x.npz", other);
          // What stands before a member is not what archives are read by.
          told("data x.npz", fmt::format("size {} at {} of {}", size, at, field));
        }
        ++places;
      }
    }
  }
  EXPECT_EQ(places, 16U);
}

TEST_F(Bombs, ArchivesOfManyMembers) {
  std::map<std::string, std::string> files;
  for (int i = 0; i < 70'000; ++i) files.emplace(fmt::format("{}/x", i), "");
  assay::testing::write_zip(folder / "many.zip", files);
  expect_refused("data many.zip", "70,000 members of no kind");
  fs::copy_file(folder / "many.zip", folder / "many.npz");
  expect_refused("data many.npz", "70,000 members that are no arrays");
  fs::copy_file(folder / "many.zip", folder / "many.keras");
  expect_refused("model many.keras", "70,000 members that are no network");
}

TEST_F(Bombs, KerasNetworks) {
  const std::vector<std::pair<std::string, std::string>> texts{
      {repeated("[", 8'000'000), "a description nested eight million times"},
      {"{\"class_name\":\"Sequential\",\"config\":{\"layers\":[" + repeated("{},", 2'000'000) + "0]}}",
       "two million layers that are none"},
      {"{\"class_name\":\"Sequential\",\"config\":{\"name\":\"" + std::string(24 << 20, 'x') + "\"}}",
       "a name of 24 MiB"},
      {std::string(32 << 20, ' '), "blanks"}};
  for (const auto& [text, what] : texts) {
    {
      Hdf5Writer file(folder / "net.h5");
      file.text("/", "model_config", text);
    }
    expect_refused("model net.h5", "HDF5: " + what);
    assay::testing::write_zip(folder / "net.keras", {{"config.json", text}, {"metadata.json", "{}"}});
    expect_refused("model net.keras", "Keras: " + what);
  }
  // Links that lead in circles and out of the file.
  {
    Hdf5Writer file(folder / "links.h5");
    file.text("/", "model_config", "{\"class_name\":\"Sequential\",\"config\":{\"layers\":[]}}");
    file.soft_link("/model_weights", "/model_weights");
    file.external_link("/out", "/dev/zero", "/");
  }
  expect_refused("model links.h5", "links in circles");
}

// Constants that networks promise to make.
TEST_F(Bombs, NetworksThatGrow) {
  const std::int64_t huge = std::int64_t{1} << 40;
  const auto whole = [](GraphBuilder& build, std::vector<std::int64_t> values) {
    const Shape shape{static_cast<std::int64_t>(values.size())};
    return build.constant("c" + std::to_string(build.values().size()),
                          Array::of<std::int64_t>(shape, values));
  };
  const std::vector<std::pair<std::string, std::function<ValueId(GraphBuilder&, ValueId)>>> makers{
      {"ConstantOfShape",
       [&](GraphBuilder& b, ValueId) {
         return b.add("ConstantOfShape", "big", {whole(b, {huge, huge})});
       }},
      {"Expand",
       [&](GraphBuilder& b, ValueId x) {
         return b.add("Expand", "big", {x, whole(b, {huge, 1, 1, 1})});
       }},
      {"Tile",
       [&](GraphBuilder& b, ValueId x) {
         return b.add("Tile", "big", {x, whole(b, {1, huge, 1, 1})});
       }},
      {"Reshape",
       [&](GraphBuilder& b, ValueId x) {
         return b.add("Reshape", "big", {x, whole(b, {huge, huge, huge})});
       }},
      {"Pad", [&](GraphBuilder& b, ValueId x) {
         return b.add("Pad", "big", {x, whole(b, {0, 0, 0, 0, 0, 0, 0, huge})});
       }}};
  for (const auto& [name, make] : makers) {
    GraphBuilder build(name);
    const ValueId in = build.input("input", DType::float32, {-1, 1, 4, 4});
    build.output(make(build, in));
    try {
      write_onnx(build.build(), folder / "big.onnx");
    } catch (const Error&) {
      continue;  // not even built
    }
    expect_refused("evaluate --model big.onnx --data images-idx3-ubyte", name);
  }
}

TEST_F(Bombs, ResultsOfOthers) {
  ASSERT_EQ(assay("evaluate --quiet --model net.onnx --data images-idx3-ubyte --json r.json").code, 0);
  const std::string sound = read_file(folder / "r.json");
  const std::size_t rows = sound.find("\"rows\": [") + 9;
  ASSERT_NE(rows, std::string::npos + 9);
  const auto with = [&](const std::string& part) {
    return sound.substr(0, rows) + part + sound.substr(rows);
  };
  std::string keys;
  for (int i = 0; i < 400'000; ++i) keys += fmt::format("\"{}\":0,", i);
  const std::vector<std::pair<std::string, std::string>> documents{
      {with(repeated("0,", 50'000'000)), "a table of fifty million rows that are none"},
      {with(repeated("{},", 30'000'000)), "a table of thirty million empty rows"},
      {with("[" + repeated("\"\",", 30'000'000) + "0],"), "a row of thirty million texts"},
      {with("{" + keys + "\"\":0},"), "a row of 400,000 keys"},
      {repeated("[", 10'000'000), "ten million lists in each other"},
      {"{\"a\":" + std::string(100'000'000, '1') + "}", "a number of a hundred million digits"},
      {"\"" + repeated("\\u202e", 20'000'000), "a text without an end"}};
  for (const auto& [text, what] : documents) {
    write_file(folder / "other.json", text);
    expect_refused("report other.json --out page.html", what);
    EXPECT_FALSE(fs::exists(folder / "page.html"));
  }
}

TEST_F(Bombs, DamagedDatabases) {
  const std::string ask = "inspect --db study.db 'SELECT * FROM scores'";
  ASSERT_EQ(
      assay("inspect --quiet --model net.onnx --data images-idx3-ubyte --hypotheses label --db study.db")
          .code,
      0);
  ASSERT_EQ(assay(ask).code, 0);
  const std::string sound = read_file(folder / "study.db");
  const auto asked = [&](const std::string& bytes, const std::string& what) {
    write_file(folder / "study.db", bytes);
    for (const char* more : {"-wal", "-journal", "-shm"})
      fs::remove(folder / (std::string("study.db") + more));
    const Outcome outcome = told(ask, what);
    EXPECT_TRUE(outcome.code == 0 || outcome.err.starts_with("assay: ")) << what << outcome.err;
  };
  for (const std::size_t size : {1U, 15U, 100U, 1024U, 4096U, 5000U}) asked(sound.substr(0, size), "cut off");
  asked(sound.substr(0, sound.size() / 2), "half of it");
  for (const std::size_t at : {16U, 18U, 20U, 24U, 28U, 32U, 36U, 44U, 52U, 56U, 100U, 103U, 105U, 108U})
    asked(sound.substr(0, at) + "\xff\xfe" + sound.substr(at + 2), fmt::format("byte {}", at));
  Rng rng(3, {1});
  for (int turn = 0; turn < 12; ++turn) {
    std::string other = sound;
    for (int i = 0; i < 40; ++i)
      other[100 + rng.below(other.size() - 100)] = static_cast<char>(rng.below(256));
    asked(other, fmt::format("damage {}", turn));
  }
}

// A database of others whose tables are questions without an end.
TEST_F(Bombs, DatabasesThatNeverEnd) {
  ASSERT_EQ(
      assay("inspect --quiet --model net.onnx --data images-idx3-ubyte --hypotheses label --db study.db")
          .code,
      0);
  sqlite3* database = nullptr;
  ASSERT_EQ(sqlite3_open((folder / "study.db").c_str(), &database), SQLITE_OK);
  for (const char* change :
       {"CREATE VIEW big AS SELECT zeroblob(900000000) AS a, randomblob(900000000) AS b",
        "CREATE VIEW wide AS WITH RECURSIVE n(i, t) AS (SELECT 1, 'x' UNION ALL SELECT i + 1, t || t FROM n "
        "WHERE i < 40) SELECT * FROM n",
        "CREATE VIEW escapes AS SELECT load_extension('/tmp/x')",
        "CREATE VIEW reads AS SELECT readfile('/etc/passwd')",
        "CREATE TRIGGER planted AFTER INSERT ON scores BEGIN DELETE FROM scores; END"})
    ASSERT_EQ(sqlite3_exec(database, change, nullptr, nullptr, nullptr), SQLITE_OK)
        << sqlite3_errmsg(database);
  sqlite3_close(database);
  for (const char* view : {"big", "wide", "escapes", "reads"})
    expect_refused(std::string("inspect --db study.db 'SELECT * FROM ") + view + "'", view);
}

TEST_F(Bombs, Grammars) {
  GraphBuilder build("reader");
  const ValueId in = build.input("input", DType::float32, {-1, 30});
  build.output(build.add("Gemm", "units",
                         {in, build.constant("w", Array::of<float>({30, 3}, std::vector<float>(90, 0.1F)))}));
  write_onnx(build.build(), folder / "reader.onnx");
  std::string chain = "s ::= a0\n";
  for (int i = 0; i < 60; ++i)
    chain += fmt::format("a{} ::= a{} a{} | [^#x0]\n", i, (i + 1) % 60, (i + 1) % 60);
  const std::vector<std::pair<std::string, std::string>> grammars{
      {"s ::= s s | s s s | [^#x0]*", "exponential ambiguity"},
      {"s ::= s s | ()", "nothing but emptiness"},
      {"s ::= s", "a rule that is itself"},
      {"s ::= s | t\nt ::= s t s | [^#x0]", "left recursion through others"},
      {"s ::= ((((([^#x0]*)*)*)*)*)*", "stars of stars"},
      {chain, "sixty rules that double"},
      {"s ::= " + repeated("(", 200'000) + "'a'" + repeated(")", 200'000), "brackets"},
      {"s ::= " + repeated("'a'? ", 200'000), "200,000 parts that may be absent"},
      {"s ::= " + repeated("'a' | ", 200'000) + "'a'", "200,000 alternatives"},
      {"s ::= '" + std::string(8 << 20, 'a') + "'", "a text of 8 MiB"},
      {std::string(17 << 20, '\n'), "17 MiB of empty lines"}};
  for (const auto& [text, what] : grammars) {
    write_file(folder / "g.grammar", text);
    told("inspect --model reader.onnx --data sql:20 --hypotheses g.grammar", what);
  }
}

TEST_F(Bombs, Configurations) {
  for (const auto& [text, what] : std::vector<std::pair<std::string, std::string>>{
           {"a = " + repeated("[", 1'000'000), "a million lists"},
           {"a = " + repeated("{a=", 1'000'000), "a million tables"},
           {"[" + repeated("a.", 1'000'000) + "a]", "a name of a million parts"},
           {repeated("'a' . ", 1'000'000) + "a = 1", "a key of a million parts"},
           {repeated("[[a]]\n", 1'000'000), "a million tables of one name"},
           {"a = \"" + std::string(64 << 20, 'x'), "a text without an end"},
           {std::string(1 << 20, '\0'), "zeros"}}) {
    write_file(folder / "assay.toml", text);
    expect_refused("data images-idx3-ubyte", what);
  }
}

TEST_F(Bombs, FoldersInCircles) {
  const fs::path pictures = folder / "pictures";
  fs::create_directories(pictures / "a");
  fs::create_directories(pictures / "b");
  for (const char* name : {"a", "b"}) write_png(pictures / name / "0.png", make_image(4, 4, 1));
  fs::create_directory_symlink("..", pictures / "a" / "up");
  fs::create_directory_symlink(pictures, pictures / "b" / "all");
  const Outcome seen = told("data pictures --json r.json", "folders in circles");
  EXPECT_EQ(seen.code, 0) << seen.err;
  EXPECT_EQ(nlohmann::json::parse(read_file(folder / "r.json"))["facts"]["records"], 2);
  fs::create_symlink("itself.png", pictures / "a" / "itself.png");
  EXPECT_EQ(told("data pictures", "a picture that is a link to itself").code, 0);
  fs::remove(pictures / "a" / "itself.png");
  fs::create_symlink("/dev/zero", pictures / "a" / "zero.png");
  EXPECT_EQ(told("data pictures", "a picture that is a device").code, 0);
  if (::geteuid() == 0) return;  // who may read everything
  fs::permissions(pictures / "b", fs::perms::none);
  expect_refused("data pictures", "a class that may not be read");
  fs::permissions(pictures / "b", fs::perms::owner_all);
}

TEST_F(Bombs, PicturesWithFalseSizes) {
  write_png(folder / "sound.png", make_image(4, 4, 1));
  const std::string sound = read_file(folder / "sound.png");
  fs::create_directories(folder / "pictures");
  const std::size_t sizes = sound.find("IHDR") + 4;
  for (const auto& [width, height] :
       std::vector<std::pair<std::uint32_t, std::uint32_t>>{{0x7FFFFFFF, 0x7FFFFFFF},
                                                            {0xFFFFFFFF, 1},
                                                            {0, 4},
                                                            {8192, 8192},
                                                            {8193, 8192},
                                                            {1, 67108865},
                                                            {65536, 65536}}) {
    std::string other = sound;
    other.replace(sizes, 8, big_endian(width) + big_endian(height));
    std::uint32_t check = 0xFFFFFFFF;  // of the header, so that it is believed
    for (std::size_t i = sizes - 4; i < sizes + 13; ++i) {
      check ^= static_cast<unsigned char>(other[i]);
      for (int bit = 0; bit < 8; ++bit) check = check >> 1 ^ ((check & 1) != 0 ? 0xEDB88320U : 0);
    }
    other.replace(sizes + 13, 4, big_endian(~check));
    write_file(folder / "pictures" / "0.png", other);
    expect_refused("data pictures", fmt::format("a PNG of {} x {}", width, height));
  }
  fs::remove(folder / "pictures" / "0.png");
  // A JPEG header alone, of each kind.
  for (const char kind : {'\xC0', '\xC2', '\xC9'}) {
    for (const char* size : {"\xFF\xFF\xFF\xFF", "\x20\x00\x20\x00", "\xFF\xFF\x00\x01"}) {
      const std::string frame =
          std::string("\x08", 1) + std::string(size, 4) + std::string("\x01\x01\x11\x00", 4);
      write_file(folder / "pictures" / "0.jpg",
                 std::string("\xFF\xD8\xFF") + kind + std::string("\0\x0B", 2) + frame +
                     std::string("\xFF\xDA\0\x08\x01\x01\0\0\x3F\0", 10) + std::string(100, '\0'));
      expect_refused("data pictures", "a JPEG of a header alone");
    }
  }
}

}  // namespace
}  // namespace assay
