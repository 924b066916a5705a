#include "assay/report/history.h"

#include <gtest/gtest.h>

#include <assay/error.h>
#include "assay/support/files/file.h"

namespace assay::report {
namespace {

Document result(const std::string& finished, double covered, double error = 0.25) {
  Measurement coverage, loss, of_a_layer;
  coverage.criterion = "idc[m=6]", coverage.value = covered;
  loss.criterion = "mean-squared-error", loss.value = error, loss.higher_is_better = false;
  of_a_layer.criterion = "nc", of_a_layer.layer = "conv1", of_a_layer.value = 1;
  Document document;
  document.command = "cover";
  document.tables = {criteria_table(std::vector{coverage, loss, of_a_layer})};
  document.provenance = {{"model", std::string("net")}, {"finished", finished}};
  return document;
}

std::vector<HistoryEntry> three_weeks() {
  std::vector<HistoryEntry> entries;
  for (const auto& [day, covered] : {std::pair("2026-03-16", 0.75), {"2026-03-02", 0.5}, {"2026-03-09", 1.0}})
    EXPECT_TRUE(add_entry(entries, entry_of(result(day, covered), "a result")));
  return entries;
}

TEST(History, FollowsFiguresOfAllLayersInOrderOfTime) {
  const std::vector<Series> all = series_of(three_weeks());
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].figure, "idc[m=6]");
  EXPECT_EQ(all[0].network, "net");
  EXPECT_EQ(all[0].values, (std::vector<double>{0.5, 1, 0.75}));
  EXPECT_EQ(all[0].times.back(), "2026-03-16");
  EXPECT_TRUE(all[0].fell());
  EXPECT_FALSE(all[1].higher_is_better);
  EXPECT_FALSE(all[1].fell()) << "it stayed";
}

TEST(History, LessIsBetterForErrors) {
  std::vector<HistoryEntry> entries;
  add_entry(entries, entry_of(result("1", 1, 0.2), "a"));
  add_entry(entries, entry_of(result("2", 1, 0.3), "b"));
  EXPECT_TRUE(series_of(entries)[1].fell());
}

TEST(History, TheSameResultIsThereOnce) {
  std::vector<HistoryEntry> entries = three_weeks();
  EXPECT_FALSE(add_entry(entries, entry_of(result("2026-03-09", 1.0), "again")));
  EXPECT_EQ(entries.size(), 3U);
}

TEST(History, IsReadAsItWasWritten) {
  const auto file = std::filesystem::path(testing::TempDir()) / "assay_history_test.jsonl";
  std::filesystem::remove(file);
  EXPECT_TRUE(read_history(file).empty());
  const std::vector<HistoryEntry> entries = three_weeks();
  write_history(file, entries);
  EXPECT_EQ(read_history(file), entries);
}

TEST(History, ADamagedLineIsNamed) {
  const auto file = std::filesystem::path(testing::TempDir()) / "assay_damaged_history_test.jsonl";
  write_file(file, "{\"finished\": \"1\"}\n");
  try {
    read_history(file);
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("line 1 is not an entry"), std::string::npos) << error.what();
  }
}

TEST(History, FactsStandInWhereThereAreNoFigures) {
  Document document = result("1", 1);
  document.tables.clear();
  EXPECT_THROW(entry_of(document, "nothing"), Error);
  document.facts = {{"accuracy", "accuracy", 0.5, Column::Kind::percent}, {"note", "note", std::string("x")}};
  const HistoryEntry entry = entry_of(document, "facts");
  ASSERT_EQ(entry.figures.size(), 1U);
  EXPECT_EQ(entry.figures[0].name, "accuracy");
  document.provenance.clear();
  EXPECT_THROW(entry_of(document, "no time"), Error);
}

TEST(History, SaysWhatBecameWorse) {
  const Document document = document_of(three_weeks(), 3);
  EXPECT_NE(document.headline.find("worse than the time before: idc[m=6] 0.75 after 1"), std::string::npos)
      << document.headline;
  EXPECT_EQ(document.tables[0].rows.size(), 2U);
  EXPECT_EQ(document.tables[1].rows.size(), 6U);
  EXPECT_NE(document_of({}, 0).headline.find("empty"), std::string::npos);
  const std::vector<HistoryEntry> first{three_weeks()[0]};
  EXPECT_NE(document_of(first, 1).headline.find("no figure has a second value yet"), std::string::npos);
}

TEST(Sparkline, GoesFromLowestToHighest) {
  EXPECT_EQ(sparkline({0, 1, 0.5}), "▁█▅");
  EXPECT_EQ(sparkline({2, 2}), "▄▄");
  std::vector<double> long_line(30, 0.0);
  long_line.back() = 1;
  EXPECT_EQ(sparkline(long_line).size(), 20 * std::string("▁").size());
}

TEST(Badge, HasTheValueAndSaysByColourWhatBecameWorse) {
  Series series{"net", "cover", "a<b", true, {"1", "2"}, {0.5, 0.25}};
  const std::string worse = badge_of(series);
  EXPECT_NE(worse.find("a&lt;b: 0.25"), std::string::npos) << worse;
  EXPECT_EQ(worse.find("a<b"), std::string::npos);
  series.values = {0.25, 0.5};
  EXPECT_NE(badge_of(series).substr(badge_of(series).find("fill=\"#1")),
            worse.substr(worse.find("fill=\"#9")));
}

}  // namespace
}  // namespace assay::report
