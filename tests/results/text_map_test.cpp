// Heat maps of texts.

#include "assay/results/networks/text_map.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "assay/support/files/file.h"

namespace assay::results {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

const std::vector<ShadedWord> words{{"good", 1}, {"film", 0}, {"<bad>", -0.5}};

TEST(TextMap, ShowsSharesAsBars) {
  EXPECT_EQ(shaded_line(words), "good█ film▁ <bad>-▅");
  EXPECT_EQ(shaded_line({}), "");
}

TEST(TextMap, DrawsSharesAsColours) {
  const std::string picture = shaded_picture(words);
  EXPECT_THAT(picture,
              HasSubstr("fill=\"rgb(255,0,0)\"/><text x=\"11\" y=\"24\" fill=\"black\">good</text>"));
  EXPECT_THAT(picture, HasSubstr("fill=\"rgb(255,255,255)\""));
  EXPECT_THAT(picture, HasSubstr("fill=\"rgb(74,74,255)\""));
  EXPECT_THAT(picture, HasSubstr("fill=\"white\">&lt;bad&gt;"));
  EXPECT_THAT(picture, Not(HasSubstr("<bad>")));
}

TEST(TextMap, BreaksLinesOfLongTexts) {
  const std::vector<ShadedWord> many(100, {"word", 0.1});
  EXPECT_THAT(shaded_picture(many), HasSubstr("y=\"36\""));
}

TEST(TextMap, TravelsInsideThePage) {
  const auto folder = std::filesystem::path(::testing::TempDir()) / "text_map";
  report::Document document;
  document.command = "importance";
  document.pictures = {{"drawn", folder / "drawn.svg"}, {"other", folder / "other.svg"}};
  write_file(folder / "drawn.svg", shaded_picture(words));
  write_file(folder / "other.svg", "<html><script>alert(1)</script></html>");
  const std::string page = report::to_html(document);
  EXPECT_THAT(page, HasSubstr("data:image/svg+xml;base64,PHN2Zy"));
  EXPECT_THAT(page.substr(page.find("data:image/svg+xml;base64,PHN2Zy") + 1),
              Not(HasSubstr("data:image/svg+xml;base64,")));
}

}  // namespace
}  // namespace assay::results
