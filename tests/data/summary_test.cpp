#include "assay/data/summary.h"

#include <set>

#include <assay/dataset.h>
#include <assay/extend/data_format.h>
#include "files.h"

namespace assay::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;

TEST(Summary, RangeBalanceDuplicatesAndConflicts) {
  const std::string path = put("s.csv", "a,b,k,t\n1,2,0,5\n3,4,2,7\n1,2,0,1\n1,2,2,3\n");
  const DataSummary summary = summarise(open_dataset(path + ",label=k,target=t"), silence());
  EXPECT_EQ(summary.low, 1);
  EXPECT_EQ(summary.high, 4);
  EXPECT_DOUBLE_EQ(summary.mean, 2);       // 1 2 3 4 1 2 1 2
  EXPECT_DOUBLE_EQ(summary.deviation, 1);  // squares 40, 40 / 8 - 4 = 1
  EXPECT_THAT(summary.class_records, ElementsAre(2, 0, 2));
  EXPECT_EQ(summary.duplicates, 2U);
  EXPECT_EQ(summary.conflicting, 1U);
  EXPECT_THAT(summary.examples, ElementsAre(Pair(2, 0), Pair(3, 0)));
  EXPECT_THAT(summary.target_low, ElementsAre(1));
  EXPECT_THAT(summary.target_high, ElementsAre(7));
  EXPECT_THAT(summary.target_mean, ElementsAre(4));
}

// 1,000 records, several batches of them.
TEST(Summary, ValuesFarFromZeroHaveTheirDeviation) {
  std::string rows = "a\n";
  for (int i = 0; i < 1000; ++i) rows += i % 2 == 0 ? "8000000\n" : "8000001\n";
  const DataSummary summary = summarise(open_dataset(put("far.csv", rows)), silence());
  EXPECT_DOUBLE_EQ(summary.mean, 8000000.5);
  EXPECT_DOUBLE_EQ(summary.deviation, 0.5);
}

TEST(Summary, ContactSheets) {
  const auto digits = open_dataset("digits:100");
  const Image sheet = contact_sheet(*digits, 4, 3, 1);
  EXPECT_EQ(sheet.width, 2 + 4 * (56 + 2));
  EXPECT_EQ(sheet.height, 2 + 10 * (56 + 2)) << "a row for each class";
  EXPECT_EQ(sheet.pixels, contact_sheet(*digits, 4, 3, 1).pixels);
  EXPECT_NE(sheet.pixels, contact_sheet(*digits, 4, 3, 2).pixels);
  expect_error(Fault::usage, {"not pictures"},
               [] { contact_sheet(*open_dataset(put("x.csv", "1,2\n")), 4, 3, 1); });
  expect_error(Fault::usage, {"contact sheet"}, [&] { contact_sheet(*digits, 0, 3, 1); });
}

TEST(Summary, PicturesMapTheRangeToBlackAndWhite) {
  const std::vector<float> elements{-1, 0, 1, 5};
  EXPECT_THAT(picture_of(elements, {1, 2, 2}, -1, 1).pixels, ElementsAre(0, 128, 255, 255));
}

TEST(Formats, EveryFormatHasANameOfItsOwnAndRefusesNonsense) {
  ASSERT_FALSE(data_formats().empty());
  std::set<std::string> names;
  for (const FormatInfo& format : data_formats()) {
    EXPECT_TRUE(names.insert(format.name).second);
    EXPECT_FALSE(format.summary.empty());
    EXPECT_FALSE(format.recognises("picture.gif", "GIF89a")) << format.name;
    if (format.name == "text") continue;  // any bytes are text
    EXPECT_THROW(open_dataset(put("nonsense", "abc\ndef,1\n") + ",format=" + format.name), Error)
        << format.name;
  }
}

}  // namespace
}  // namespace assay::testing
