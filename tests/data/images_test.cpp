#include <cstdlib>
#include <thread>

#include <assay/dataset.h>
#include <assay/extend/random.h>
#include "assay/data/files/archive.h"
#include "assay/support/files/file.h"
#include "files.h"

namespace assay::testing {
namespace {

using ::testing::ElementsAre;
namespace fs = std::filesystem;

std::vector<float> channels_first(const Image& image) {
  std::vector<float> result;
  for (int c = 0; c < image.channels; ++c) {
    for (int y = 0; y < image.height; ++y) {
      for (int x = 0; x < image.width; ++x) result.push_back(image.at(x, y, c));
    }
  }
  return result;
}

std::vector<Entry> four_pictures() {
  return {{"dog/2.png", png_bytes(picture(4, 3, 3, 2))},
          {"cat/1.png", png_bytes(picture(4, 3, 3, 1))},
          {"cat/0.png", png_bytes(picture(4, 3, 3, 0))},
          {"dog/3.png", png_bytes(picture(4, 3, 3, 3))}};
}

std::string put_folder(const std::string& name, const std::vector<Entry>& entries) {
  for (const Entry& entry : entries) put(name + "/" + entry.name, entry.bytes);
  return temporary(name).string();
}

TEST(Images, FoldersAndArchivesAreTheSame) {
  const auto entries = four_pictures();
  for (const std::string& path : {put_folder("set", entries), put_archive("set.tar", entries),
                                  put_archive("set.tar.gz", entries), put_archive("set.zip", entries)}) {
    const auto data = open_dataset(path + ",scale=1");
    EXPECT_THAT(ids(*data), ElementsAre("cat/0.png", "cat/1.png", "dog/2.png", "dog/3.png")) << path;
    EXPECT_THAT(labels(*data), ElementsAre(0, 0, 1, 1));
    EXPECT_THAT(data->class_names(), ElementsAre("cat", "dog"));
    EXPECT_EQ(data->record_shape(), (Shape{3, 3, 4}));
    for (int i = 0; i < 4; ++i)
      EXPECT_EQ(values(*data, static_cast<std::size_t>(i)), channels_first(picture(4, 3, 3, i))) << path;
  }
}

std::vector<Entry> a_shard(const std::vector<std::string>& classes) {
  std::vector<Entry> entries;
  for (std::size_t i = 0; i < classes.size(); ++i) {
    const std::string key = "00" + std::to_string(i);
    entries.push_back({key + ".png", png_bytes(picture(4, 3, 3, static_cast<int>(i)))});
    entries.push_back({key + ".cls", classes[i] + "\n"});
    const std::string speed = i == 1 ? "null" : std::to_string(10 * i);
    entries.push_back({key + ".json", "{\"weather\": \"" + std::string(i == 0 ? "fog" : "sun") +
                                          "\", \"speed\": " + speed + "}"});
  }
  return entries;
}

// As WebDataset has them.
TEST(Images, ClassesAndCharacteristicsOfShardsLieBesideThePictures) {
  const auto entries = a_shard({"2", "0", "2"});
  for (const std::string& path : {put_folder("shard", entries), put_archive("shard.tar", entries),
                                  put_archive("shard.tar.gz", entries)}) {
    const auto data = open_dataset(path + ",meta=weather+speed");
    EXPECT_THAT(ids(*data), ElementsAre("000.png", "001.png", "002.png")) << path;
    EXPECT_THAT(labels(*data), ElementsAre(2, 0, 2));
    EXPECT_EQ(data->class_names().size(), 3U);
    EXPECT_THAT(data->characteristics(), ElementsAre("weather", "speed"));
    EXPECT_EQ(data->characteristic(0, 0), "fog");
    EXPECT_EQ(data->characteristic(1, 1), "");
    EXPECT_EQ(data->characteristic(1, 2), "20");
    EXPECT_EQ(values(*open_dataset(path + ",scale=1"), 1), channels_first(picture(4, 3, 3, 1)));
  }
  const auto named = open_dataset(put_archive("named.tar", a_shard({"dog", "cat", "dog"})));
  EXPECT_THAT(labels(*named), ElementsAre(1, 0, 1));
  EXPECT_THAT(named->class_names(), ElementsAre("cat", "dog"));
}

TEST(Images, ShardsThatNumberTheirClassesInAnotherWayAreNotJoined) {
  const std::string first = put_archive("first.tar", a_shard({"cat", "dog", "cat"}));
  expect_data_error(Fault::mismatch, {"class 0 is 'cat' and 'dog'"},
                    first + " + " + put_archive("second.tar", a_shard({"dog", "fox", "dog"})));
  const auto both = open_dataset(first + " + " + put_archive("third.tar", a_shard({"dog", "cat", "dog"})));
  EXPECT_THAT(labels(*both), ElementsAre(0, 1, 0, 1, 0, 1));
  const auto numbers = open_dataset(first + " + " + put_archive("numbers.tar", a_shard({"1", "0", "1"})));
  EXPECT_THAT(labels(*numbers), ElementsAre(0, 1, 0, 1, 0, 1));
}

TEST(Images, CharacteristicsThatAreNestedTooDeepAreRefused) {
  auto entries = a_shard({"2", "0", "2"});
  const std::string deep = std::string(500'000, '[') + std::string(500'000, ']');
  for (auto& entry : entries)
    if (entry.name.ends_with(".json")) entry.bytes = "{\"weather\": " + deep + "}";
  expect_data_error(Fault::data, {"nested deeper than 200 levels"},
                    put_archive("deep.tar", entries) + ",meta=weather");
}

TEST(Images, AShardWhoseFilesLackOneSaysWhich) {
  auto entries = a_shard({"1", "0"});
  const std::string whole = put_archive("whole.tar", entries);
  expect_data_error(Fault::usage, {"colour"}, whole + ",meta=colour");
  entries.push_back({"odd.png", png_bytes(picture(4, 3, 3, 5))});
  expect_data_error(Fault::data, {"lacking.tar", "'odd.png' has no 'odd.cls'"},
                    put_archive("lacking.tar", entries));
  entries.push_back({"odd.cls", " \n"});
  expect_data_error(Fault::data, {"'odd.cls' is empty"}, put_archive("empty.tar", entries));
  entries.back() = {"odd.cls", "-1"};
  expect_data_error(Fault::data, {"label of a .cls file '-1' is not a class number"},
                    put_archive("below.tar", entries));
  entries.back() = {"odd.cls", "1"};
  entries.push_back({"odd.json", "[1]"});
  expect_data_error(Fault::data, {"'odd.json' is not a JSON object"},
                    put_archive("list.tar", entries) + ",meta=weather");
}

// As archives from a Mac have them.
TEST(Images, FilesThatOtherSystemsPutBesideThemAreNoPictures) {
  auto entries = four_pictures();
  entries.push_back({"__MACOSX/cat/._0.png", "what a system noted of a file"});
  for (const std::string& path : {put_folder("mac", entries), put_archive("mac.zip", entries)}) {
    EXPECT_THAT(ids(*open_dataset(path)), ElementsAre("cat/0.png", "cat/1.png", "dog/2.png", "dog/3.png"));
    EXPECT_THAT(open_dataset(path)->class_names(), ElementsAre("cat", "dog"));
  }
}

// As programs of Windows have written them.
TEST(Images, FoldersOfAnArchiveMayBeMarkedByBackslashes) {
  const std::string path = put_archive("windows.zip", four_pictures());
  std::string bytes = read_file(path);
  for (std::size_t at = 0; (at = bytes.find("PK\x01\x02", at)) != std::string::npos; at += 4)
    bytes[at + 5] = 0;  // the system: not Unix
  for (const std::string name : {"cat/0.png", "cat/1.png", "dog/2.png", "dog/3.png"})
    for (std::size_t at = 0; (at = bytes.find(name, at)) != std::string::npos;) bytes[at + 3] = '\\';
  write_file(path, bytes);
  const auto data = open_dataset(path);
  EXPECT_THAT(ids(*data), ElementsAre("cat/0.png", "cat/1.png", "dog/2.png", "dog/3.png"));
  EXPECT_THAT(labels(*data), ElementsAre(0, 0, 1, 1));
}

TEST(Images, ColourResizeAndUnder) {
  const std::string path = put_archive("set.tar", four_pictures());
  const auto grey = open_dataset(path + ",scale=1,color=grey,resize=2x2,under=dog");
  EXPECT_EQ(grey->record_shape(), (Shape{1, 2, 2}));
  EXPECT_THAT(ids(*grey), ElementsAre("dog/2.png", "dog/3.png"));
  EXPECT_EQ(values(*grey, 0), channels_first(resized(with_channels(picture(4, 3, 3, 2), 1), 2, 2)));
  EXPECT_EQ(open_dataset(path + ",color=rgb")->record_shape(), (Shape{3, 3, 4}));
  expect_data_error(Fault::usage, {"color=blue"}, path + ",color=blue");
  for (const char* size : {"0x2", "2x", "2x2x2", "9999x2", "-1x3", "x"})
    expect_data_error(Fault::usage, {"resize="}, path + ",resize=" + size);
}

TEST(Images, LongNamesInPlainArchivesAreReadInPlace) {
  const std::string name = std::string(300, 'n') + "/" + std::string(200, 'm') + ".png";
  const std::string bytes = png_bytes(picture(4, 3, 3, 9));
  const Archive archive(put_archive("long.tar", {{"a.png", png_bytes(picture(2, 2, 1, 1))}, {name, bytes}}),
                        [](const std::string&) { return true; });
  ASSERT_EQ(archive.size(), 2U);
  EXPECT_EQ(archive.name(1), name);
  EXPECT_EQ(archive.read(1), bytes);
}

TEST(Images, OddEntriesOfArchives) {
  const std::string one = png_bytes(picture(4, 3, 3, 1)), two = png_bytes(picture(4, 3, 3, 2));
  for (const char* file : {"odd.tar", "odd.tar.gz"}) {
    const std::string path = put_archive(file, {{"folder.png", "", Entry::Kind::folder},
                                                {"notes.txt", "hello"},
                                                {"/absolute/a.png", one},
                                                {"./here/b.png", one},
                                                {"../outside/c.png", one},
                                                {"twice.png", one},
                                                {"twice.png", two},
                                                {"symbolic.png", "twice.png", Entry::Kind::symlink},
                                                {"hard.png", "twice.png", Entry::Kind::hardlink}});
    const auto data = open_dataset(path + ",scale=1");
    EXPECT_THAT(ids(*data),
                ElementsAre("../outside/c.png", "absolute/a.png", "hard.png", "here/b.png", "twice.png"))
        << file;
    EXPECT_EQ(values(*data, 4), channels_first(picture(4, 3, 3, 2))) << "the last of two counts";
    EXPECT_EQ(values(*data, 2), values(*data, 4));
  }
  expect_data_error(Fault::data, {"link.tar", "hard link to 'absent.png'"},
                    put_archive("link.tar", {{"a.png", "absent.png", Entry::Kind::hardlink}}));
}

// Relative names followed the link and led outside.
TEST(Images, LinkedPicturesInFoldersKeepTheirNames) {
  const std::string folder = put_folder("set", {{"a.png", png_bytes(picture(2, 2, 1, 1))}});
  fs::create_symlink(put("elsewhere.png", png_bytes(picture(2, 2, 1, 2))), fs::path(folder) / "b.png");
  EXPECT_THAT(ids(*open_dataset(folder)), ElementsAre("a.png", "b.png"));
}

TEST(Images, ThreadsReadTheSameRecords) {
  const auto data = open_dataset(put_archive("set.tar.gz", four_pictures()) + ",scale=1");
  std::vector<std::thread> threads;
  std::vector<int> wrong(4);
  for (std::size_t t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (std::size_t i = 0; i < 200; ++i)
        wrong[t] +=
            values(*data, (i + t) % 4) != channels_first(picture(4, 3, 3, static_cast<int>((i + t) % 4)));
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_THAT(wrong, ElementsAre(0, 0, 0, 0));
}

TEST(ImagesErrors, TruncatedArchives) {
  Image noise = make_image(60, 60, 3);
  Rng rng(1);
  for (std::uint8_t& pixel : noise.pixels) pixel = static_cast<std::uint8_t>(rng.below(256));
  for (const char* name : {"cut.tar", "cut.tar.gz"}) {
    const std::string path =
        put_archive(name, {{"a/1.png", png_bytes(noise)}, {"b/2.png", png_bytes(noise)}});
    fs::resize_file(path, 8'000);
    expect_data_error(Fault::data, {name, "cut short"}, path);
  }
  expect_data_error(Fault::data, {"bad.tar", "archive is damaged"}, put("bad.tar", "this is no archive"));
  expect_data_error(Fault::io, {"absent.tar", "no such file"}, temporary("absent.tar").string());
}

TEST(ImagesErrors, DamagedPicturesAreNamed) {
  const std::string png = png_bytes(picture(9, 9, 1, 1));
  const std::string path = put_archive(
      "set.tar", {{"a.png", png}, {"b.png", png.substr(0, 50)}, {"c.jpg", "nothing"}, {"d.png", ""}});
  expect_data_error(Fault::data, {"set.tar", "b.png", "damaged PNG"}, path + "[1:2]");
  expect_data_error(Fault::data, {"set.tar", "c.jpg", "neither PNG nor JPEG"}, path + "[2:3]");
  expect_data_error(Fault::data, {"set.tar", "d.png", "neither PNG nor JPEG"}, path + "[3:]");
}

TEST(ImagesErrors, SizesThatDifferAndNoPictures) {
  const std::string path = put_archive(
      "set.tar", {{"a.png", png_bytes(picture(4, 3, 1, 1))}, {"b.png", png_bytes(picture(5, 3, 1, 1))}});
  expect_data_error(Fault::data, {"set.tar", "b.png is 3x5 where others are 3x4", "resize=3x4"}, path);
  expect_data_error(Fault::data, {"set.tar", "no PNG or JPEG", "under cat"}, path + ",under=cat");
  fs::create_directories(temporary("empty/x"));
  expect_data_error(Fault::data, {"empty", "no PNG or JPEG"}, temporary("empty").string());
}

TEST(ImagesErrors, BombsStopBeforeTheDiskIsFull) {
  const std::string zeros(300'000'000, '\0');
  const std::string path = put_archive("bomb.tar.gz", {{"a.png", zeros}});
  EXPECT_LT(fs::file_size(path), 1'000'000U);
  expect_data_error(Fault::resources, {"bomb.tar.gz", "bytes"}, path);
}

TEST(ImagesErrors, NoRoomForDecompressedPictures) {
  const std::string path = put_archive("set.tar.gz", four_pictures());
  const char* const before = std::getenv("TMPDIR");
  const std::string saved = before == nullptr ? "" : before;
  setenv("TMPDIR", "/nonexistent", 1);
  expect_data_error(Fault::io, {"set.tar.gz", "/nonexistent", "TMPDIR"}, path);
  if (before == nullptr)
    unsetenv("TMPDIR");
  else
    setenv("TMPDIR", saved.c_str(), 1);
}

}  // namespace
}  // namespace assay::testing
