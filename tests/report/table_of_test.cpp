// Tables whose columns are declared with their getters.
#include "assay/report/table_of.h"

#include <gtest/gtest.h>

#include <limits>
#include <map>

namespace assay::report {
namespace {

struct Layer {
  std::string name;
  std::size_t neurons = 0;
  float low = 0;
  double covered = 0;
  std::optional<std::string> record = {};
  bool dead = false;
};

Table layer_table(const std::vector<Layer>& layers, bool tested) {
  return table_of(
      "layers", "Layers", layers,
      {{"layer", &Layer::name},
       {"neurons", "neurons that count", &Layer::neurons},
       {"low", "least", 4, &Layer::low},
       {"share", Column::Kind::percent, [](auto& layer) { return layer.covered / layer.neurons; }},
       {when(tested), "record", "first record", &Layer::record}});
}

const std::vector<Layer> two_layers{{"conv", 4, -0.5F, 1, "r7"}, {"dense", 10, 0.25F, 10}};

std::vector<std::string> ids_of(const Table& table) {
  std::vector<std::string> ids;
  for (const Column& column : table.columns) ids.push_back(column.id);
  return ids;
}

TEST(TableOf, HasTheColumnsAndCellsThatAreDeclared) {
  const Table table = layer_table(two_layers, true);
  EXPECT_EQ(table.id, "layers");
  EXPECT_EQ(table.title, "Layers");
  EXPECT_FALSE(table.detail);
  EXPECT_EQ(ids_of(table), (std::vector<std::string>{"layer", "neurons", "low", "share", "record"}));
  const std::vector<std::vector<Cell>> rows{
      {std::string("conv"), std::int64_t{4}, -0.5, 0.25, std::string("r7")},
      {std::string("dense"), std::int64_t{10}, 0.25, 1.0, std::monostate{}}};
  EXPECT_EQ(table.rows, rows);
}

TEST(TableOf, TakesTitlesFromIdsAndFormatsFromTypes) {
  const Table table = layer_table(two_layers, true);
  EXPECT_EQ(table.columns[0].title, "layer");
  EXPECT_EQ(table.columns[1].title, "neurons that count");
  EXPECT_EQ(table.columns[0].kind, Column::Kind::text);
  EXPECT_EQ(table.columns[1].kind, Column::Kind::count);
  EXPECT_EQ(table.columns[2].kind, Column::Kind::number);
  EXPECT_EQ(table.columns[2].decimals, 4);
  EXPECT_EQ(table.columns[3].kind, Column::Kind::percent);
  EXPECT_EQ(table.columns[3].decimals, 2);
  const Table typed = table_of("typed", "", two_layers,
                               {{"number", &Layer::covered},
                                {"truth", &Layer::dead},
                                {"maybe", [](auto& layer) { return std::optional(layer.neurons); }}});
  EXPECT_EQ(typed.columns[0].kind, Column::Kind::number);
  EXPECT_EQ(typed.columns[0].decimals, 2);
  EXPECT_EQ(typed.columns[1].kind, Column::Kind::text);
  EXPECT_EQ(typed.rows[0][1], Cell(false));
  EXPECT_EQ(typed.columns[2].kind, Column::Kind::count);
}

TEST(TableOf, LeavesOutColumnsWhoseConditionDoesNotHoldAndDoesNotAskForTheirCells) {
  EXPECT_EQ(ids_of(layer_table(two_layers, false)),
            (std::vector<std::string>{"layer", "neurons", "low", "share"}));
  const std::vector<int>* const none = nullptr;
  const Table table = table_of("t", "", positions(1),
                               {{when(none != nullptr), "value", [&](auto i) { return none->at(i); }},
                                {"place", [](auto i) { return i + 1; }}});
  EXPECT_EQ(table.rows, (std::vector<std::vector<Cell>>{{std::int64_t{1}}}));
}

TEST(TableOf, TakesColumnsThatAreData) {
  ColumnsOf<Layer> columns{{"layer", &Layer::name}};
  for (const int factor : {2, 3})
    columns.add({"times" + std::to_string(factor), [factor](auto& layer) { return factor * layer.neurons; }});
  const Table table = table_of("t", "", two_layers, columns);
  EXPECT_EQ(ids_of(table), (std::vector<std::string>{"layer", "times2", "times3"}));
  EXPECT_EQ(table.rows[1], (std::vector<Cell>{std::string("dense"), std::int64_t{20}, std::int64_t{30}}));
}

TEST(TableOf, TakesRowsFromMapsAndViews) {
  const std::map<std::string, int> counts{{"a", 1}, {"b", 2}, {"c", 3}};
  const auto is_odd = [](const auto& entry) { return entry.second % 2 == 1; };
  const Table table = table_of("t", "", counts | std::views::filter(is_odd),
                               {{"name", [](auto& entry) { return entry.first; }},
                                {"count", [](auto& entry) { return entry.second; }}});
  EXPECT_EQ(table.rows, (std::vector<std::vector<Cell>>{{std::string("a"), std::int64_t{1}},
                                                        {std::string("c"), std::int64_t{3}}}));
  EXPECT_TRUE(table_of("t", "", std::vector<Layer>{}, {{"layer", &Layer::name}}).rows.empty());
}

TEST(TableOf, ShowsNothingForEmptyTextsAndNumbersThatAreNone) {
  EXPECT_EQ(cell_of(unless_empty("")), Cell());
  EXPECT_EQ(cell_of(unless_empty("x")), Cell(std::string("x")));
  EXPECT_EQ(cell_of(if_finite(std::numeric_limits<double>::quiet_NaN())), Cell());
  EXPECT_EQ(cell_of(if_finite(-std::numeric_limits<double>::infinity())), Cell());
  EXPECT_EQ(cell_of(if_finite(0.5)), Cell(0.5));
}

TEST(TableOf, IsForFilesWhereItIsDetailed) { EXPECT_TRUE(detailed(layer_table({}, false)).detail); }

// A column without a getter, or with one of other rows, is an error of the compiler.
static_assert(std::is_constructible_v<ColumnOf<Layer>, const char*, std::string Layer::*>);
static_assert(!std::is_constructible_v<ColumnOf<Layer>, const char*, const char*>);
static_assert(!std::is_constructible_v<ColumnOf<Layer>, const char*, std::string Column::*>);

}  // namespace
}  // namespace assay::report
