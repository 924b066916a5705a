// Tables no wider than a terminal.

#include "assay/report/console_table.h"

#include <gmock/gmock.h>

#include <sstream>

namespace assay::report {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Table attacks() {
  Table table;
  table.id = "attacks";
  table.columns = {{"attack", "attack", Column::Kind::text, 0},
                   {"records", "records", Column::Kind::count, 0},
                   {"rate", "success rate", Column::Kind::percent, 2},
                   {"l2", "mean L2 distance", Column::Kind::number, 3}};
  table.rows = {{std::string("fgsm[eps=0.3]"), std::int64_t{297}, 0.9461, 6.101},
                {std::string("pgd[eps=0.3,norm=linf,starts=1,step=0.01]"), std::int64_t{1297}, 1.0, 5.228}};
  return table;
}

std::size_t widest(const TextTable& text) {
  std::size_t most = 0;
  for (const auto* lines : {&text.heading, &text.rows})
    for (const std::string& line : *lines) most = std::max(most, width_of(line));
  return most;
}

TEST(ConsoleTable, IsAsWideAsItsCellsWhereNoWidthIsTold) {
  const TextTable text = text_table(attacks(), {});
  EXPECT_EQ(text.heading.size(), 2);
  EXPECT_EQ(text.rows.size(), 2);
  EXPECT_THAT(text.rows[1], HasSubstr("pgd[eps=0.3,norm=linf,starts=1,step=0.01]    1,297"));
  EXPECT_THAT(text.left_out, ElementsAre());
}

TEST(ConsoleTable, KeepsToTheWidthAndLosesNoCellOfWhatItShows) {
  for (std::size_t width = 30; width < 100; ++width) {
    const TextTable text = text_table(attacks(), {.width = width});
    EXPECT_LE(widest(text), width);
    std::string first;
    for (const std::string& line : text.rows) first += line.substr(2, line.find(' ', 2) - 2);
    EXPECT_THAT(first, HasSubstr("pgd[eps=0.3,norm=linf,starts=1,step=0.01]")) << width;
  }
  EXPECT_THAT(text_table(attacks(), {.width = 60}).left_out, ElementsAre());
  EXPECT_THAT(text_table(attacks(), {.width = 42}).left_out, ElementsAre("mean L2 distance"));
  EXPECT_THAT(text_table(attacks(), {.width = 8}).left_out,
              ElementsAre("records", "success rate", "mean L2 distance"));
}

TEST(ConsoleTable, PrintsWhatItLeavesOut) {
  Document document;
  document.command = "attack";
  document.headline = "a headline of several words that is wider than forty-four columns are";
  document.tables = {attacks()};
  document.tables[0].title = "a title of several words that is wider than forty-four columns are";
  document.facts = {
      {"file", "file", std::string("a value of many words, too many for the line that it is on")}};
  document.pictures = {{"what the picture shows, at some length", "a/path/that/stays/whole.png"}};
  std::ostringstream fitted, plain;
  print_fitted(document, fitted, {.width = 44}, "-v shows them");
  print(document, plain, {.width = 40});
  EXPECT_THAT(fitted.str(), HasSubstr("not shown: mean L2 distance; -v shows them"));
  std::istringstream lines(fitted.str());
  for (std::string line; std::getline(lines, line);) EXPECT_LE(width_of(line), 44) << line;
  EXPECT_THAT(plain.str(), HasSubstr("mean L2 distance"));
  EXPECT_EQ(plain.str().find("not shown"), std::string::npos);
}

TEST(ConsoleTable, BreaksTextAtSpacesAndMarksByCodePoints) {
  EXPECT_THAT(lines_of("one two,three", 8), ElementsAre("one two,", "three"));
  EXPECT_THAT(lines_of("ääääää", 4), ElementsAre("ääää", "ää"));
  EXPECT_THAT(lines_of("abc", 0), ElementsAre("abc"));
  EXPECT_THAT(lines_of("abcd efgh", 4), ElementsAre("abcd", "efgh"));
}

}  // namespace
}  // namespace assay::report
