// Texts that are the labels of records.

#include <assay/dataset.h>
#include "files.h"

namespace assay::testing {
namespace {

using ::testing::ElementsAre;

std::string two_pages(const std::string& name) {
  put(name + "/pages/a.png", png_bytes(picture(4, 2, 1, 0)));
  put(name + "/pages/b.png", png_bytes(picture(4, 2, 1, 1)));
  return temporary(name + "/pages").string();
}

std::vector<float> written(const Dataset& dataset) {
  const std::vector<std::size_t> both = {0, 1};
  const Batch batch = dataset.read(both);
  const auto read = batch.targets.as<float>();
  return {read.begin(), read.end()};
}

TEST(Texts, AreNumbersOfCharacters) {
  const std::string pages = two_pages("texts");
  for (const auto& [name, bytes] : std::vector<std::pair<std::string, std::string>>{
           {"lines.txt", "h\xC3\xA9\r\n a\xF0\x9F\x98\x80\n"},
           {"named.txt", "b.png\t a\xF0\x9F\x98\x80\npages/a.png\th\xC3\xA9"},
           {"named.json", R"({"b": " a\ud83d\ude00", "a.png": "h\u00e9", "c": "more"})"},
           {"table.csv", "file,text\nb.png,\" a\xF0\x9F\x98\x80\"\na.png,h\xC3\xA9\n"}}) {
    SCOPED_TRACE(name);
    const auto data = open_dataset(pages + ",texts=" + put("texts/" + name, bytes));
    EXPECT_EQ(data->target_width(), 3U);
    EXPECT_FALSE(data->has_labels());
    EXPECT_THAT(written(*data), ElementsAre('h', 0xE9, -1, ' ', 'a', 0x1F600));
    EXPECT_NE(data->describe().find("texts of up to 3 characters"), std::string::npos) << data->describe();
  }
  const std::string table = put("texts/columns.csv", "text,file,other\nx,a.png,1\nyz,b.png,2\n");
  EXPECT_THAT(written(*open_dataset(pages + ",id=file,label=text,texts=" + table)),
              ElementsAre('x', -1, 'y', 'z'));
}

TEST(Texts, ThatAreWrongAreNamed) {
  const std::string pages = two_pages("no_texts");
  const auto expect = [&](const std::string& name, const std::string& bytes, const std::string& said) {
    expect_data_error(Fault::data, {said}, pages + ",texts=" + put("no_texts/" + name, bytes));
  };
  expect("few.txt", "one\n", "few.txt: 1 lines for 2 records; give one line a record");
  expect("none.txt", "a.png\tone\n", "none.txt: the text of record 'b.png'");
  expect("twice.txt", "a.png\tone\na.png\ttwo\n", "two texts have the name 'a.png'");
  expect("bytes.txt", "one\n\xFF\n", "bytes.txt: line 2: the text is not UTF-8");
  expect("list.json", "[1]", "not a JSON object of texts");
  expect("number.json", R"({"a": 1})", "not a JSON object of texts");
  expect("broken.json", "{", "not a JSON object of texts");
  expect_data_error(Fault::usage, {"masks= are the labels; leave out texts="},
                    pages + ",masks=x,texts=" + put("no_texts/t.txt", "a\nb\n"));
}

}  // namespace
}  // namespace assay::testing
