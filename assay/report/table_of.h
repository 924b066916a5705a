#pragma once

// Tables whose columns are declared together with the getter of their cells:
//
//   table_of("layers", "Layers", layers,
//            {{"layer", &Layer::name},
//             {"neurons", "neurons that count", &Layer::counted},
//             {"low", "least", 4, &Layer::low},
//             {when(tested), "coverage", Kind::percent, [&](const Layer& one) { return covered(one) / all;
//             }}});
//
// Rows may be any range: records, positions, entries of a map. A column has its id, its title where that is
// another, its format where the type of its cells does not say it, and the getter.

#include <concepts>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <optional>
#include <ranges>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <assay/report.h>

namespace assay::report {

template <typename Value>
inline constexpr bool is_optional = false;
template <typename Value>
inline constexpr bool is_optional<std::optional<Value>> = true;

// Nothing as an empty cell.
template <typename Value>
Cell cell_of(const Value& value) {
  if constexpr (std::is_same_v<Value, Cell>)
    return value;
  else if constexpr (is_optional<Value>)
    return value ? cell_of(*value) : Cell();
  else if constexpr (std::is_same_v<Value, bool>)
    return value;
  else if constexpr (std::is_integral_v<Value>)
    return static_cast<std::int64_t>(value);
  else if constexpr (std::is_floating_point_v<Value>)
    return static_cast<double>(value);
  else
    return std::string(value);
}

// What cells show as nothing.
std::optional<std::string> unless_empty(std::string text);
std::optional<double> if_finite(double value);

// How cells are shown. Numbers may have their decimals alone.
struct Format {
  Format(Column::Kind shown_as, int digits = 2) : kind(shown_as), decimals(digits) {}
  Format(int digits) : Format(Column::Kind::number, digits) {}

  Column::Kind kind;
  int decimals;
};

// That of cells whose type says it: integers are counts, floating-point numbers have two decimals.
template <typename Value>
Format format_of() {
  static_assert(!std::is_same_v<Value, Cell>, "a column of cells of any type needs its format");
  if constexpr (is_optional<Value>)
    return format_of<typename Value::value_type>();
  else if constexpr (std::is_floating_point_v<Value>)
    return Column::Kind::number;
  else
    return std::is_integral_v<Value> && !std::is_same_v<Value, bool> ? Column::Kind::count
                                                                     : Column::Kind::text;
}

// A column that is there only if this holds. Its getter may rely on that.
struct When {
  bool holds;
};
inline When when(bool holds) { return {holds}; }

struct DeclaredColumn {
  Column column;
  std::function<Cell(const void* row)> cell;
  bool present = true;
};

template <typename Get, typename Row>
concept GetterOf = std::invocable<const Get&, const Row&>;

template <typename Row>
struct ColumnOf : DeclaredColumn {
  template <GetterOf<Row> Get>
  ColumnOf(std::string id, std::string title, Format format, Get get)
      : DeclaredColumn{
            {std::move(id), std::move(title), format.kind, format.decimals},
            [get](const void* row) { return cell_of(std::invoke(get, *static_cast<const Row*>(row))); }} {}
  template <GetterOf<Row> Get>
  ColumnOf(const std::string& id, std::string title, Get get)
      : ColumnOf(id, std::move(title),
                 format_of<std::decay_t<std::invoke_result_t<const Get&, const Row&>>>(), get) {}
  template <GetterOf<Row> Get>
  ColumnOf(const std::string& id, Format format, Get get) : ColumnOf(id, id, format, get) {}
  template <GetterOf<Row> Get>
  ColumnOf(const std::string& id, Get get) : ColumnOf(id, id, get) {}

  template <typename... Declared>
  ColumnOf(When condition, Declared&&... declared) : ColumnOf(std::forward<Declared>(declared)...) {
    present = condition.holds;
  }
};

// To be extended where the columns themselves are data.
template <typename Row>
class ColumnsOf {
 public:
  ColumnsOf(std::initializer_list<ColumnOf<Row>> columns) : columns_(columns.begin(), columns.end()) {}
  void add(ColumnOf<Row> column) { columns_.push_back(std::move(column)); }
  const std::vector<DeclaredColumn>& declared() const { return columns_; }

 private:
  std::vector<DeclaredColumn> columns_;
};

Table empty_table(std::string id, std::string title, const std::vector<DeclaredColumn>& columns);
void add_row(Table& table, const std::vector<DeclaredColumn>& columns, const void* row);

template <std::ranges::input_range Rows, typename Row = std::ranges::range_value_t<Rows>>
Table table_of(std::string id, std::string title, Rows&& rows,
               const ColumnsOf<std::ranges::range_value_t<Rows>>& columns) {
  Table table = empty_table(std::move(id), std::move(title), columns.declared());
  for (const Row& row : rows) add_row(table, columns.declared(), &row);
  return table;
}

// Rows that are positions.
inline auto positions(std::size_t count) { return std::views::iota(std::size_t{0}, count); }

// For files and the report, too long for a console.
inline Table detailed(Table table) {
  table.detail = true;
  return table;
}

}  // namespace assay::report
